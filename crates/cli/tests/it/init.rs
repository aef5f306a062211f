//! `nika init`: what it writes, and what it never does.

use std::fs;

use crate::world::{exists, world};

/// What every template writes.
const ALWAYS: &[&str] =
    &[".nika/config.yaml", ".nika/workflow.schema.json", "workflows/hello.nika.yaml", ".env.example", "README.md"];

#[test]
fn each_template_is_the_tree_that_it_promises_and_nothing_else() {
    let world = world();
    for (template, more) in [
        ("basic", &["workflows/hello.script.yaml"][..]),
        ("agent", &["workflows/hello.script.yaml", ".mcp.json"]),
        ("pipeline", &[]),
    ] {
        let ran = world.run(&["init", template, "--template", template]);
        ran.exits(0).says("\nNext:\n  cd ");
        let base = world.root().join(template);
        let mut wanted: Vec<&str> = ALWAYS.iter().chain(more).copied().collect();
        let mut found = Vec::new();
        let mut open = vec![base.clone()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).expect("a directory").flatten() {
                match entry.path() {
                    path if path.is_dir() => open.push(path),
                    path => found.push(path.strip_prefix(&base).expect("below it").display().to_string()),
                }
            }
        }
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{template}");
        for name in &wanted {
            ran.says(&format!("wrote {template}/{name}\n"));
        }
        // The name of the directory stands where the template leaves room for it.
        let readme = fs::read_to_string(base.join("README.md")).expect("it is there");
        assert!(readme.starts_with(&format!("# {template}\n")) && !readme.contains("%NAME%"), "{readme}");
    }
}

#[test]
fn the_configuration_that_it_writes_is_in_force_and_its_workflow_is_fine() {
    let world = world();
    // The server of `agent` is this program: what its tools take is known before anybody trusts anything.
    for (template, script) in [("basic", true), ("agent", true), ("pipeline", false)] {
        world.run(&["init", template, "--template", template]).exits(0);
        let root = world.root().join(template).display().to_string();
        world.run(&["config", "--root", &root]).exits(0).says("permissions.deny").says("write(.env)");
        let file = format!("{root}/workflows/hello.nika.yaml");
        world.run(&["check", "--strict", "--root", &root, &file]).exits(0).says("fine");
        if script {
            let beside = format!("{root}/workflows/hello.script.yaml");
            let both = world.run(&["check", "--strict", "--root", &root, &file, &beside]);
            both.exits(0).says("hello.script.yaml: fine, a script\n");
        }
    }
}

#[test]
fn in_a_directory_that_is_there_it_passes_the_strict_check_too() {
    for template in ["basic", "agent", "pipeline"] {
        let world = world();
        world.run(&["init", "--template", template]).exits(0);
        world.run(&["check", "--strict", "workflows/hello.nika.yaml"]).exits(0).says("fine");
    }
}

/// A server that is this program is looked at and not started; what it does not have is found, and trust is for a run.
#[test]
fn tools_of_a_server_that_is_this_program_are_known_without_starting_it() {
    let world = world();
    world.run(&["init", "--template", "agent"]).exits(0);
    let workflow = world.text("workflows/hello.nika.yaml");
    let checked = |world: &crate::world::World, from: &str, to: &str| {
        fs::write(world.root().join("workflows/other.nika.yaml"), workflow.replace(from, to)).expect("a file");
        world.run(&["check", "--strict", "workflows/other.nika.yaml"])
    };
    let slip = checked(&world, "mcp__files__nika_read]", "mcp__files__nika_raed]");
    slip.exits(1).says("no configured server has the tool `mcp__files__nika_raed`").says("`mcp__files__nika_read`");
    // Of a tool that it does not list, it says nothing.
    checked(&world, "mcp__files__nika_read]", "mcp__files__nika_write]").exits(1).says("has the tool");
    let agent = "    agent:\n      system: You answer in at most three sentences.\n";
    let call = workflow.find("    agent:").map(|at| &workflow[at..]).expect("it has one");
    let params = "    invoke: {tool: mcp__files__nika_read, params: {path: README.md}}\n\noutputs: {}\n";
    assert!(call.starts_with(agent));
    checked(&world, call, params).exits(1).says("NIKA-880").says("needs the parameter `file_path`");
    // Another program under that name, or one that is told more than words, is none that we know.
    let named = world.text(".mcp.json");
    for (from, to) in [("\"nika\"", "\"./nika\""), ("\"args\"", "\"env\": {\"A\": \"b\"}, \"args\"")] {
        let world = world_with(&named.replace(from, to));
        fs::create_dir_all(world.root().join("workflows")).expect("a directory");
        checked(&world, "one", "one").exits(1).says("cannot be looked at").says("nika trust");
    }
    let refused = world.run(&["run", "workflows/hello.nika.yaml", "--provider", "scripted", "--yes"]);
    refused.exits(3).complains("NIKA-701").complains("nika trust");
}

fn world_with(servers: &str) -> crate::world::World {
    world().file(".mcp.json", servers)
}

#[test]
fn the_second_time_it_names_what_is_there_and_writes_nothing() {
    let world = world().file(".env.example", "mine\n");
    let ran = world.run(&["init"]);
    ran.exits(2).complains("NIKA-100").complains("there already: .env.example\n").complains("nika init NAME");
    assert!(!exists(world.root().join(".nika")) && !exists(world.root().join("workflows")));
    assert_eq!(world.text(".env.example"), "mine\n");

    world.run(&["init", "demo"]).exits(0);
    fs::write(world.root().join("demo/workflows/hello.nika.yaml"), "changed").expect("a file");
    let again = world.run(&["init", "demo", "--template", "agent"]);
    again.exits(2);
    for name in ALWAYS {
        again.complains(name);
    }
    assert_eq!(world.text("demo/workflows/hello.nika.yaml"), "changed");
    assert!(!exists(world.root().join("demo/.mcp.json")));
}

#[test]
fn here_it_begins_beside_what_is_there() {
    let world = world().file("src/main.rs", "fn main() {}\n");
    world.run(&["init", "--template", "pipeline"]).exits(0).says("wrote workflows/hello.nika.yaml");
    assert_eq!(world.text("src/main.rs"), "fn main() {}\n");
    assert!(world.text("README.md").starts_with("# work\n"));
}

#[test]
fn a_repository_keeps_its_readme_and_gets_all_else() {
    for name in ["README.md", "readme.rst"] {
        let world = world().file(name, "mine\n").file("src/main.rs", "fn main() {}\n");
        let ran = world.run(&["init", "--template", "agent"]);
        ran.exits(0).says("wrote .mcp.json\n").says(&format!("left {name} as it is\n"));
        assert!(!ran.out.contains("wrote README.md"), "{ran:?}");
        assert_eq!(world.text(name), "mine\n");
        assert_eq!(exists(world.root().join("README.md")), name == "README.md");
        // A second time the others clash, and it is not the README's fault.
        let again = world.run(&["init"]);
        again.exits(2).complains(".nika/config.yaml");
        assert!(!again.err.to_lowercase().contains("readme"), "{again:?}");
    }
    // A directory that is named is to be a new one.
    let world = world().file("demo/README.md", "mine\n");
    world.run(&["init", "demo"]).exits(2).complains("there already: README.md\n");
    assert!(!exists(world.root().join("demo/.nika")));
}

#[test]
fn editors_find_the_schema_beside_the_workflow() {
    let world = world();
    world.run(&["init"]).exits(0);
    let workflow = world.text("workflows/hello.nika.yaml");
    let named = workflow.lines().next().and_then(|line| line.strip_prefix("# yaml-language-server: $schema="));
    let path = world.root().join("workflows").join(named.expect("its first line names it"));
    let schema = fs::read_to_string(path).expect("it is there");
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/workflow.schema.json");
    assert_eq!(schema, fs::read_to_string(published).expect("it is there"), "the published one");
}

#[test]
fn names_that_cannot_be_are_refused_with_what_would_work() {
    let world = world().file("file", "");
    for (name, why) in [
        ("", "empty"),
        ("a\nb", "cannot be seen"),
        ("a\u{202e}b", "cannot be seen"),
        ("no/such/place", "no directory"),
        ("file", "no directory"),
        ("demo/..", "cannot be made"),
    ] {
        world.run(&["init", name]).exits(2).complains("NIKA-100").complains(why).complains("hint");
    }
    let template = world.run(&["init", "demo", "--template", "pipline"]);
    template.exits(2).complains("basic, agent, pipeline").complains("'pipeline'");
    assert!(!exists(world.root().join("demo")));
    world.run(&["init", "日本 <b>"]).exits(0);
    assert!(world.text("日本 <b>/README.md").starts_with("# 日本 \\<b\\>\n"));
}
