//! Everything that explains: tools, codes, configuration, trust, completions, the manual.

use serde_json::Value;

use crate::world::world;

#[test]
fn the_surface_is_listed_and_each_tool_shown() {
    let world = world();
    let surface = world.run(&["tools", "--json"]).json();
    let names: Vec<&str> =
        surface.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in [
        "call",
        "change_set",
        "checkpoints",
        "edit",
        "glob",
        "grep",
        "list_dir",
        "notebook_edit",
        "read",
        "tool_search",
        "undo",
        "write",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
        world.run(&["tools", "show", name]).exits(0).says("Schema:").says("Effects:");
    }
    world.run(&["tools"]).exits(0).says("file_path! old_string! new_string! replace_all");
    world.run(&["tools", "--dialect", "claude"]).exits(0).says("Edit").says("NotebookEdit");
    world.run(&["tools", "show", "reed"]).exits(2).complains("`read`");
}

#[test]
fn codes_and_tools_are_explained() {
    let world = world();
    for what in ["NIKA-209", "209", "nika-209"] {
        world.run(&["explain", what]).exits(0).says("NOT_UNIQUE").says("replace_all");
    }
    world.run(&["explain", "edit"]).exits(0).says("old_string");
    world.run(&["explain", "brace_expansion"]).exits(0).says("Raises to").says("For example");
    world.run(&["explain", "NIKA209"]).exits(0).says("NOT_UNIQUE");
    world.run(&["explain", "brace_expansio"]).exits(2).complains("brace_expansion");
    world.run(&["explain", "NIKA-999"]).exits(2);
    world.run(&["explain", "nonsense"]).exits(2);
}

#[test]
fn a_malformed_file_is_named_with_its_position() {
    let world = world().file(".nika/config.yaml", "files:\n  fsync: sometimes\n");
    let ran = world.run(&["call", "list_dir"]);
    ran.exits(2).complains("error: NIKA-902").complains(".nika/config.yaml:2:10");
    world.run(&["serve"]).exits(2).complains("NIKA-902");
    world.run(&["config"]).exits(2).complains("NIKA-902");
}

#[test]
fn configuration_shows_where_each_value_was_written() {
    let world = world()
        .file(".nika/config.yaml", "permissions:\n  allow:\n    - write(src/**)\n  deny:\n    - write(secret/**)\n");
    let ran = world.run(&["config"]);
    ran.exits(0).says("files.fsync").says("default").says("config.yaml:5").says("Not in force");
    let json = world.run(&["config", "--output", "json", "--mode", "read-only"]).json();
    assert_eq!(json["mode"], "read-only");
    assert!(json["inactive"].as_array().is_some_and(|rows| rows.len() == 1), "{json}");
}

#[test]
fn trust_lets_a_repository_loosen_until_it_changes() {
    let world = world().file(".nika/config.yaml", "permissions:\n  allow:\n    - write(src/**)\n");
    let write = |name: &str| world.run(&["call", "write", &format!("file_path=src/{name}"), "content=x"]);
    write("a").exits(3);
    world.run(&["trust"]).exits(3).says("config.yaml").complains("--yes");
    world.run(&["trust", "--yes"]).exits(0);
    world.run(&["trust", "--status"]).exits(0).says("trusted");
    write("a").exits(0);
    std::fs::write(world.root().join(".nika/config.yaml"), "permissions:\n  allow:\n    - write(**)\n")
        .expect("a file");
    write("b").exits(3);
    world.run(&["trust", "--yes"]).exits(0);
    write("b").exits(0);
    world.run(&["trust", "--revoke"]).exits(0);
    write("c").exits(3);
}

#[test]
fn completions_and_manual_are_not_empty() {
    let world = world();
    // Of words without an option fish is told no values.
    for (shell, modes, tools) in [
        ("bash", "\"deny read-only ask accept-edits", "grep job_input"),
        ("zsh", ":MODE:(deny read-only ask accept-edits", "grep job_input"),
        ("fish", "read-only\\t''\nask\\t''", ""),
    ] {
        let ran = world.run(&["completions", shell]);
        assert!(ran.code == 0 && ran.out.contains(modes) && ran.out.contains(tools), "{shell}");
    }
    world.run(&["man"]).exits(0).says(".TH nika 1");
    world.run(&["man", "serve"]).exits(0).says("nika\\-serve").says("token");
    world.run(&["man", "policy", "check"]).exits(0).says("nika\\-policy\\-check").says("jsonl");
    world.run(&["man", "nothing"]).exits(2);
    world.run(&["man", "policy", "nothing"]).exits(2).complains("there is no command 'policy nothing'");
    world.run(&["--version"]).exits(0).says("nika 0.");
    world.run(&["--help"]).exits(0).says("Exit codes").says("nika serve --mode accept-edits");
    world.run(&["__help"]).exits(0).says("## `nika call`");
    let surface = world.run(&["__surface"]).json();
    assert!(surface["tools"].as_array().is_some_and(|tools| tools.len() >= 12));
    assert!(surface["permissions"].as_array().is_some_and(|rows| rows.len() >= 15));
}

#[test]
fn the_parser_child_refuses_what_it_does_not_know() {
    assert_eq!(world().run(&["__parse", "nothing"]).code, 1);
}

#[test]
fn without_a_home_the_state_has_no_place_and_that_is_said() {
    let world = world();
    let mut command = world.nika(&["call", "list_dir"]);
    let output = command.env_remove("HOME").env_remove("NIKA_STATE_DIR").output().expect("it starts");
    assert!(String::from_utf8_lossy(&output.stderr).contains("NIKA-901"));
    // Where only a home is known, the state goes below it.
    let mut command = world.nika(&["call", "list_dir"]);
    assert!(command.env_remove("NIKA_STATE_DIR").output().expect("it starts").status.success());
    assert!(world.path("home/.local/state/nika").is_dir());
    let _: Value = world.run(&["log", "list", "--output", "json"]).json();
}
