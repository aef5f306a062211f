//! `nika check`: what people see, and what the page about workflows shows.

use crate::first::{begun, confined, typed};
use crate::world::{World, world};

const PAGE: &str = include_str!("../../../../docs/workflows.md");

/// The blocks of a page: what stands behind their fence, and their text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(kind)) => open = Some((kind.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => text.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    blocks
}

#[test]
fn documents_of_the_page_are_fine_and_its_outputs_are_what_is_printed() {
    let mut scene: World = world().file("src/a.rs", "// TODO\n");
    let (mut fine, mut shown) = (0, 0);
    for (kind, text) in blocks(PAGE) {
        match kind.as_str() {
            "yaml" if text.starts_with("schema:") => {
                scene = scene.file("fine.nika.yaml", &text);
                scene.run(&["check", "fine.nika.yaml"]).exits(0).says("fine.nika.yaml: fine");
                fine += 1;
            }
            "yaml check" => scene = scene.file("todo.nika.yaml", &text),
            "console" => {
                let (command, output) = text.split_once('\n').expect("a command, then what it prints");
                let words: Vec<&str> = command.strip_prefix("$ nika ").expect("ours").split(' ').collect();
                let ran = scene.run(&words);
                assert_eq!(ran.out, output, "{command}");
                shown += 1;
            }
            _ => {}
        }
    }
    assert!(fine >= 1 && shown >= 2, "{fine} documents and {shown} outputs");
}

#[test]
fn exit_codes_tell_fine_from_faulty_from_unreadable() {
    let scene = world()
        .file(
            "fine.yaml",
            "schema: nika/workflow@1\npermits: {fs: {read: [\"**\"]}, exec: [ls]}\ntasks: [{id: a, exec: [ls]}]\n",
        )
        .file("faulty.yaml", "schema: nika/workflow@1\ntasks: [{id: a, exce: [ls]}]\n")
        .file("directory/a", "");
    scene.run(&["check", "fine.yaml"]).exits(0).says("fine.yaml: fine, 1 task");
    scene.run(&["validate", "fine.yaml", "faulty.yaml"]).exits(1).says("faulty.yaml:2:17: NIKA-871").says("`exec`?");
    scene.run(&["check", "none.yaml"]).exits(2).complains("none.yaml cannot be read");
    scene.run(&["check", "directory"]).exits(2).complains("no regular file").complains("directory/*.nika.yaml");
    let scene = scene.file("workflows/hello.nika.yaml", "schema: nika/workflow@1\ntasks: [{id: a, infer: hi}]\n");
    for command in ["check", "run"] {
        let ran = scene.run(&[command, "helo"]);
        ran.exits(2).complains("cannot be read").complains("did you mean workflows/hello.nika.yaml?");
    }
    scene.run(&["check"]).exits(2);
    scene.run(&["check", "fine.yaml", "--graph", "png"]).exits(2);
    let ran = scene.run_with(&["check", "-"], "schema: nika/workflow@1\ntasks: []\n");
    ran.exits(1).says("stdin:2:8: NIKA-871 `tasks` is empty");
    std::fs::write(scene.root().join("bytes.yaml"), b"schema: x\n\xff\n").expect("a file");
    scene.run(&["check", "bytes.yaml"]).exits(2).complains("line 2 is not UTF-8");
}

#[test]
fn findings_are_one_json_object() {
    let scene = world().file(
        "faulty.yaml",
        "schema: nika/workflow@1\ntasks: [{id: a, exec: [ls], timeout: 5}, {id: b, exec: [pwd]}]\n",
    );
    let ran = scene.run(&["check", "--json", "faulty.yaml"]);
    ran.exits(1);
    let object = ran.json();
    assert_eq!(object["clean"], false);
    let finding = &object["files"][0]["findings"][0];
    assert_eq!(finding["line"], 2);
    assert_eq!(finding["weight"], "error");
    assert!(finding["caret"].as_str().is_some_and(|caret| caret.ends_with('^')), "{finding}");
    // What a task needs is said of those that are not broken.
    assert_eq!(object["files"][0]["needs"]["exec"], serde_json::json!(["pwd"]));
}

#[test]
fn permits_that_were_inferred_are_enough() {
    let tasks = "tasks:\n  - {id: a, exec: [git, log, -1]}\n  - {id: b, invoke: {tool: grep, params: {pattern: x, path: src}}}\n  - {id: c, invoke: {tool: write, params: {file_path: out/a.md, content: x}}}\n  - {id: d, fetch: \"https://a.org/x\"}\n";
    let scene = world().file("src/a", "").file("a.yaml", &format!("schema: nika/workflow@1\n{tasks}"));
    scene.run(&["check", "a.yaml"]).exits(1).says("NIKA-877").says("permits.net");
    let permits = scene.run(&["check", "--infer-permits", "a.yaml"]);
    permits.exits(0).says("write: [out/a.md]").says("exec: [\"git log -1\"]").says("net: [a.org]");
    let scene = scene.file("a.yaml", &format!("schema: nika/workflow@1\n{}{tasks}", permits.out));
    scene.run(&["check", "--strict", "a.yaml"]).exits(0);
}

/// What no run of a call could mend is found where it is written; what a template makes is left to the run.
#[test]
fn patterns_addresses_and_headers_are_held_against_the_tools_that_take_them() {
    let head = "schema: nika/workflow@1\ninputs: {s: {}}\npermits: {fs: {read: [\"**\"]}, net: [a.org], tools: [grep, glob, remote_trigger, web_fetch]}\ntasks:\n";
    for (task, place, words) in [
        ("invoke: {tool: grep, params: {pattern: \"(\"}}", "`grep` does not take this: `pattern`", "literal: true"),
        ("invoke: {tool: grep, params: {pattern: x, glob: \"[a\"}}", "`glob`: the glob \"[a\" is not valid", ""),
        ("invoke: {tool: grep, params: {pattern: x, type: rsut}}", "`type`: no file type is called \"rsut\"", "rust"),
        ("invoke: {tool: glob, params: {pattern: \"{a\"}}", "`pattern`: the glob", ""),
        ("invoke: {tool: grep, params: {pattern: x, path: \"\"}}", "`grep` does not take this: the path is empty", ""),
        ("invoke: {tool: grep, params: {pattern: \"{{ inputs.s }}\", path: \"\"}}", "the path is empty", ""),
        (
            "fetch: {url: \"https://a.org/\", headers: {a b: x}}",
            "`fetch` does not take this: `headers`",
            "no name of a header",
        ),
        ("fetch: {url: \"https://a.org/{{ inputs.s }}\", headers: {a b: \"{{ inputs.s }}\"}}", "`headers`: `a b`", ""),
        ("fetch: {url: \"https://a.org/\", headers: {Host: b.org}}", "set by the connection itself", "leave it out"),
        ("fetch: \"https://u:p@a.org/\"", "`fetch` does not take this: ", "an address looks like"),
        ("fetch: \"docs.rs\"", "`docs.rs` is no address", "write it whole"),
    ] {
        let scene = world().file("a.yaml", &format!("{head}  - {{id: a, {task}}}\n"));
        let ran = scene.run(&["check", "a.yaml"]);
        ran.exits(1).says(place).says(words).says("a.yaml: 1 error\n");
    }
    for open in [
        "invoke: {tool: grep, params: {pattern: \"{{ inputs.s }}\", glob: \"*.rs\"}}",
        "invoke: {tool: glob, params: {pattern: \"{{ inputs.s }}[\"}}",
        "fetch: \"https://a.org/{{ inputs.s }}\"",
        "fetch: {url: \"https://a.org/\", headers: {a: \"{{ inputs.s }}\"}}",
    ] {
        let scene = world().file("a.yaml", &format!("{head}  - {{id: a, {open}}}\n"));
        scene.run(&["check", "a.yaml"]).exits(0);
    }
}

#[test]
fn a_script_beside_a_workflow_is_read_as_one() {
    let scene = world()
        .file("fine.yaml", "schema: nika/workflow@1\ntasks: [{id: a, infer: hi}]\n")
        .file("fine.script.yaml", "turns: [{say: hi}]\n")
        .file("faulty.script.yaml", "turns:\n  - {sya: hi}\n")
        .file("turns.yaml", "turns: [{say: hi}]\n");
    scene.run(&["check", "fine.yaml", "fine.script.yaml"]).exits(0).says("fine.script.yaml: fine, a script\n");
    let faulty = scene.run(&["check", "fine.yaml", "faulty.script.yaml"]);
    faulty.exits(1).says("faulty.script.yaml").says("sya").says("NIKA-800");
    let object = scene.run(&["check", "--json", "fine.script.yaml", "faulty.script.yaml"]).json();
    assert_eq!((&object["clean"], &object["files"][0]["clean"]), (&false.into(), &true.into()), "{object}");
    assert_eq!(object["files"][1]["findings"][0]["code"], "NIKA-800", "{object}");
    // Only the name says so: a workflow that lacks its first line is told.
    scene.run(&["check", "turns.yaml"]).exits(1).says("NIKA-871");
    let permits = scene.run(&["check", "--infer-permits", "fine.yaml", "fine.script.yaml"]);
    assert_eq!(permits.out, "permits: {}\n", "{permits:?}");
    scene.run(&["check", "--graph", "svg", "fine.script.yaml"]).exits(2).complains("this is a script");
}

#[test]
fn a_test_beside_a_workflow_is_read_as_one() {
    let scene = world()
        .file("w/fine.nika.yaml", "schema: nika/workflow@1\ntasks: [{id: a, infer: hi}]\n")
        .file("w/fine.test.yaml", "cases:\n  - {name: one, outputs: {}}\n")
        .file("faulty.test.yaml", "cases:\n  - {nmae: one}\n");
    scene.run(&["check", "w/fine.nika.yaml", "w/fine.test.yaml"]).exits(0).says("w/fine.test.yaml: fine, a test\n");
    scene.run(&["check", "faulty.test.yaml"]).exits(1).says("faulty.test.yaml").says("nmae").says("NIKA-871");
    let object = scene.run(&["check", "--json", "w/fine.test.yaml", "faulty.test.yaml"]).json();
    assert_eq!((&object["files"][0]["test"], &object["files"][0]["clean"]), (&true.into(), &true.into()), "{object}");
    assert_eq!(object["files"][1]["findings"][0]["code"], "NIKA-871", "{object}");
}

#[test]
fn a_file_that_cannot_be_read_ends_nothing() {
    let scene = world()
        .file("faulty.yaml", "schema: nika/workflow@1\ntasks: [{id: a, exce: [ls]}]\n")
        .file("fine.yaml", "schema: nika/workflow@1\ntasks: [{id: a, infer: hi}]\n");
    let ran = scene.run(&["check", "none.yaml", "faulty.yaml", "nowhere.yaml", "fine.yaml"]);
    ran.exits(2).complains("none.yaml cannot be read").complains("nowhere.yaml cannot be read");
    ran.says("faulty.yaml:2:17: NIKA-871").says("fine.yaml: fine");
    let ran = scene.run(&["check", "--json", "none.yaml", "fine.yaml"]);
    ran.exits(2);
    let object = ran.json();
    assert_eq!((&object["clean"], &object["files"][0]["clean"]), (&false.into(), &false.into()), "{object}");
    assert_eq!(object["files"][0]["findings"][0]["code"], "NIKA-100", "{object}");
    assert_eq!(object["files"][1]["clean"], true, "{object}");
    scene.run(&["check", "fine.yaml", "--graph", "svg", "--json"]).exits(2).says("cannot be used with");
}

#[test]
fn permits_are_inferred_and_what_else_is_wrong_is_said() {
    let scene = world()
        .file("no.yaml", "schema: nika/workflow@1\ntasks: [\n")
        .file(
            "broken.yaml",
            "schema: nika/workflow@1\ntasks:\n  - {id: a, exec: [pwd]}\n  - {id: b, exec: [ls], timeout: 5}\n",
        )
        .file("lacks.yaml", "schema: nika/workflow@1\ntasks: [{id: a, exec: [pwd]}]\n");
    let ran = scene.run(&["check", "--infer-permits", "no.yaml"]);
    ran.exits(1).complains("NIKA-870");
    assert!(ran.out.is_empty(), "{ran:?}");
    let ran = scene.run(&["check", "--infer-permits", "broken.yaml"]);
    ran.exits(1).complains("`timeout` takes a time").says("exec: [pwd]");
    assert!(!ran.err.contains("NIKA-877"), "that is what the statement mends: {ran:?}");
    let ran = scene.run(&["check", "--infer-permits", "lacks.yaml"]);
    ran.exits(0).says("exec: [pwd]");
    assert!(ran.err.is_empty(), "{ran:?}");
}

#[test]
fn real_tools_are_asked_about_their_parameters() {
    let all = "permits: {fs: {read: [\"**\"], write: [\"**\"]}, exec: [\"*\"], tools: [\"*\"]}";
    for (invoke, want) in [
        (
            "{tool: grep, params: {pattern: x, output_mode: bogus}}",
            "`output_mode` of `grep` takes files_with_matches, content, count, and not \"bogus\"",
        ),
        ("{tool: grep, params: {pattern: x, literal: \"yes\"}}", "without quotes: true"),
        (
            "{tool: bash, params: {command: ls, filesystem_mode: bogus}}",
            "`filesystem_mode` of `bash` takes off, workspace-only, allow-list",
        ),
        ("{tool: bash, params: {command: ls, timeout: 99999999}}", "`bash` does not take this: `timeout`"),
        (
            "{tool: change_set, params: {changes: [{kind: foo}]}}",
            "`changes[0]` of `change_set` fits none of 5 alternatives",
        ),
        ("{tool: change_set, params: {changes: []}}", "takes 1 to"),
        ("{tool: sleep, params: {duration_ms: -5}}", "`sleep` does not take this: `duration_ms`"),
        ("{tool: sleep, params: {duration_ms: 99999999}}", "`sleep` does not take this: `duration_ms`"),
        (
            "{tool: notebook_edit, params: {notebook_path: a.ipynb, cell_type: raw}}",
            "`cell_type` of `notebook_edit` takes code, markdown",
        ),
        ("{tool: repl, params: {code: x, language: perl}}", "`language` of `repl` takes python, node, bash"),
        ("{tool: grep, params: {pattern: \"{{ inputs.l }}\"}}", "`pattern` of `grep` takes string, and this is a list"),
    ] {
        let text = format!(
            "schema: nika/workflow@1\ninputs: {{l: {{type: list}}}}\n{all}\ntasks:\n  - {{id: a, invoke: {invoke}}}\n"
        );
        let scene = world().file("a.yaml", &text);
        scene.run(&["check", "a.yaml"]).exits(1).says("NIKA-880").says(want);
    }
}

#[test]
fn a_servers_tools_are_held_against_what_it_says_of_them() {
    let world = world();
    if !confined(&world) {
        return;
    }
    let (bin, _) = begun(&world, "agent");
    typed(&world, &bin, "nika trust --yes").exits(0);
    let check = |invoke: &str| {
        let text = format!(
            "schema: nika/workflow@1\npermits: {{fs: {{read: [\"**\"]}}, tools: [mcp__files, mcp__nope]}}\ntasks: [{{id: a, invoke: {invoke}}}]\n"
        );
        std::fs::write(world.root().join("demo/a.nika.yaml"), text).expect("written");
        typed(&world, &bin, "nika check --strict a.nika.yaml")
    };
    for (invoke, want) in [
        ("{mcp: files, tool: nika_read, params: {file_path: 3}}", "takes string, and this is a number"),
        ("{mcp: files, tool: nika_read, params: {}}", "needs the parameter `file_path`"),
        ("{mcp: files, tool: nika_read, params: {file_path: a, limt: 3}}", "did you mean `limit`?"),
        ("{mcp: files, tool: nika_raed, params: {file_path: a}}", "no configured server has the tool"),
        ("{mcp: nope, tool: x}", "`mcp__nope__x` cannot be looked at"),
        ("{mcp: nope, resource: \"x://y\"}", "the server `nope` cannot be looked at"),
        ("{tool: mcp_call_tool, params: {server: files, tool: nika_raed}}", "no configured server has the tool"),
        ("{tool: mcp_call_tool, params: {server: files, tool: nika_read}}", "needs the parameter `file_path`"),
        (
            "{tool: mcp_call_tool, params: {server: files, tool: nika_read, arguments: {file_path: a, limit: many}}}",
            "`limit` of `mcp__files__nika_read` takes integer",
        ),
    ] {
        check(invoke).exits(1).says(want);
    }
    for fine in [
        "{mcp: files, tool: nika_read, params: {file_path: a, limit: 3}}",
        "{tool: mcp_call_tool, params: {server: files, tool: nika_read, arguments: {file_path: a}}}",
    ] {
        check(fine).exits(0).says("fine, 1 task");
    }
}

#[test]
fn a_provider_is_one_that_a_document_may_choose() {
    for (provider, want) in [
        ("foo", Some("there is no provider `foo`")),
        ("antropic", Some("did you mean `anthropic`?")),
        ("scripted", Some("`--provider scripted`")),
        ("ollama", None),
    ] {
        let text = format!("schema: nika/workflow@1\nprovider: {provider}\ntasks: [{{id: a, infer: hi}}]\n");
        let ran = world().file("a.yaml", &text).run(&["check", "a.yaml"]);
        match want {
            Some(want) => _ = ran.exits(1).says("NIKA-873").says(want),
            None => _ = ran.exits(0),
        }
    }
}

#[test]
fn a_graph_is_drawn() {
    let text = "schema: nika/workflow@1\npermits: {fs: {read: [\"**\"]}, exec: [ls]}\ntasks:\n  - {id: one, exec: [ls]}\n  - {id: two, depends_on: one, exec: [ls]}\n";
    let scene = world().file("a.yaml", text).file("bad.yaml", "tasks: 1\n");
    scene.run(&["check", "--graph", "mermaid", "a.yaml"]).exits(0).says("t0 --> t1");
    scene.run(&["check", "--graph", "svg", "a.yaml", "-o", "a.svg"]).exits(0);
    assert!(scene.text("a.svg").starts_with("<svg ") && scene.text("a.svg").contains(">two</text>"));
    let ran = scene.run(&["check", "--graph", "svg", "bad.yaml"]);
    ran.exits(1).complains("NIKA-871");
    assert!(ran.out.is_empty(), "{}", ran.out);
}

#[test]
fn editors_get_a_schema_of_the_language() {
    let surface = world().run(&["__surface"]).json();
    let schema = &surface["workflow"];
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    for key in ["schema", "tasks", "permits", "inputs", "outputs", "flows"] {
        assert!(schema["properties"][key]["description"].is_string(), "{key}");
    }
    assert!(schema["$defs"]["task"]["properties"]["for_each"]["description"].is_string());
    assert!(schema["$id"].is_string());
    let printed = world().run(&["check", "--schema"]);
    printed.exits(0);
    assert_eq!(&printed.json(), schema);
    world().run(&["check", "--schema", "a.yaml"]).exits(2);
}

#[test]
fn a_key_that_is_missing_is_named_in_what_would_help() {
    let scene = world().file("w.yaml", "schema: nika/workflow@1\ntaskz: [{id: a, infer: hi}]\n");
    let ran = scene.run(&["check", "w.yaml"]);
    ran.exits(1).says("a workflow has no `tasks`").says("add `tasks:`").says("did you mean `tasks`?");
}
