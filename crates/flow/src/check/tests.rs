//! Scenes: a document, and what is found in it.

use std::path::PathBuf;

use nika_contract::{ToolError, code};
use nika_guard::bash::Site;
use nika_guard::{Effect, Effects, PermitKind, Place};
use serde_json::{Map, Value, json};

use super::*;

/// A world with three tools, a price and a few files.
pub(crate) struct Scene {
    pub strict: bool,
}

impl Surroundings for Scene {
    fn site(&self) -> Site {
        Site::on_paper(vec![PathBuf::from("/w")], PathBuf::from("/w"), PathBuf::from("/nonexistent"))
    }

    fn tool(&self, name: &str) -> Option<ToolFacts> {
        let text = json!({"type": "string"});
        let facts = |properties: Value, required: Value, output: Option<Value>| ToolFacts {
            input: json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
            output,
        };
        Some(match name {
            "read" => facts(
                json!({"file_path": text, "limit": {"type": "integer", "minimum": 1}}),
                json!(["file_path"]),
                None,
            ),
            "write" => facts(json!({"file_path": text, "content": text}), json!(["file_path", "content"]), None),
            "grep" => facts(
                json!({
                    "pattern": text, "path": text, "hidden": {"type": "boolean"},
                    "output_mode": {"oneOf": [{"type": "string", "const": "content"}, {"type": "string", "const": "count"}]},
                }),
                json!(["pattern"]),
                Some(json!({"type": "object", "properties": {
                    "total": {"type": "integer"},
                    "files": {"type": "array", "items": {"type": "object", "properties": {"path": text}}},
                }, "required": ["total"]})),
            ),
            "sleep" => facts(json!({"duration_ms": {"type": "integer"}}), json!(["duration_ms"]), None),
            "mcp_call_tool" => facts(
                json!({"server": text, "tool": text, "arguments": {"type": "object"}}),
                json!(["server", "tool"]),
                None,
            ),
            "change_set" => {
                let tagged = |op: &str, more: Value, required: Value| {
                    let mut properties = more;
                    properties["op"] = json!({"type": "string", "const": op});
                    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
                };
                let changes = [
                    tagged(
                        "create",
                        json!({"file_path": text, "content": text}),
                        json!(["op", "file_path", "content"]),
                    ),
                    tagged("delete", json!({"file_path": text}), json!(["op", "file_path"])),
                ];
                facts(json!({"changes": {"type": "array", "items": {"oneOf": changes}}}), json!(["changes"]), None)
            }
            "mcp__gh__issue" => facts(json!({"number": {"type": "integer"}}), json!(["number"]), None),
            _ => return None,
        })
    }

    fn tools(&self) -> Vec<String> {
        ["read", "write", "grep", "sleep", "change_set", "mcp_call_tool"].map(str::to_owned).into()
    }

    fn refusal(&self, tool: &str, arguments: &Map<String, Value>) -> Option<ToolError> {
        // As a tool that says which parameter it is, and as one that does not.
        if tool == "write" && arguments.get("file_path").is_some_and(|path| path == "") {
            return Some(ToolError::new(code::BAD_PATH, "the path is empty").hint("`.` is the root"));
        }
        let ms = arguments.get("duration_ms").and_then(Value::as_i64)?;
        (tool == "sleep" && !(0..=300_000).contains(&ms))
            .then(|| ToolError::argument("duration_ms", format!("takes at most 300000, not {ms}")))
    }

    fn provider(&self, name: &str) -> Option<String> {
        (!matches!(name, "local" | "other")).then(|| format!("there is no provider `{name}`; did you mean `local`?"))
    }

    fn missing(&self, tool: &str) -> Option<String> {
        (!tool.starts_with("mcp__gh__")).then(|| "no server of that name is configured".to_owned())
    }

    fn effects(&self, tool: &str, arguments: &Map<String, Value>) -> Option<Effects> {
        let path = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        let place = |path: &str| match path.strip_prefix('/') {
            Some(_) => Place::outside(path),
            None => Place::inside("/w", path),
        };
        Some(match tool {
            "read" => Effects::one(Effect::Read(place(path("file_path")))),
            "write" => Effects::one(Effect::Write(place(path("file_path")))),
            "grep" => Effects::one(Effect::Read(place(path("path")).tree())),
            _ => return None,
        })
    }

    fn prices(&self, provider: Option<&str>, _: Option<&str>) -> Option<Prices> {
        (provider == Some("local")).then_some(Prices { input: 1.0, output: 4.0 })
    }

    fn file(&self, path: &str) -> Option<String> {
        match path {
            "sub.nika.yaml" => Some(
                "schema: nika/workflow@1\ninputs: {who: {}, times: {type: number, default: 1}}\ntasks: [{id: a, infer: hi}]\noutputs: {said: \"{{ tasks.a }}\"}\n"
                    .to_owned(),
            ),
            "needy.nika.yaml" => Some(
                "schema: nika/workflow@1\nsecrets: [KEY]\npermits: {exec: [\"echo *\"], fs: {read: [\"**\"]}, tools: [read], env: [HOME]}\ntasks:\n  - {id: a, exec: [echo, \"{{ env.HOME }}\"]}\n  - {id: b, invoke: {tool: read, params: {file_path: a/b}}}\n"
                    .to_owned(),
            ),
            "self.nika.yaml" => Some(document(SELF, RUNS_SELF)),
            "one.nika.yaml" => Some(document(SELF, "  - {id: a, invoke: {workflow: two.nika.yaml}}\n")),
            "two.nika.yaml" => Some(document(SELF, "  - {id: b, invoke: {workflow: one.nika.yaml}}\n")),
            "dear.nika.yaml" => Some(
                "schema: nika/workflow@1\nprovider: local\ntasks: [{id: a, agent: {prompt: x, token_budget: 1000}}]\n".to_owned(),
            ),
            "loose.nika.yaml" => Some(document("provider: local\n", "  - {id: a, infer: x}\n")),
            "faulty.nika.yaml" => Some(document(SELF, "  - {id: a, infer: \"{{ use.x }}\"}\n")),
            deep if deep.starts_with("deep") => {
                let number: usize = deep["deep".len()..].strip_suffix(".nika.yaml")?.parse().ok()?;
                let next = format!("  - {{id: a, invoke: {{workflow: deep{}.nika.yaml}}}}\n", number + 1);
                Some(if number == 9 { document("", "  - {id: a, infer: x}\n") } else { document(SELF, &next) })
            }
            "answer.json" => Some(r#"{"type":"object","properties":{"n":{"type":"number"}},"additionalProperties":false}"#.to_owned()),
            _ => None,
        }
    }

    fn strict(&self) -> bool {
        self.strict
    }
}

/// A document of one or more tasks, with what stands above them.
pub(crate) fn document(above: &str, tasks: &str) -> String {
    format!("schema: nika/workflow@1\n{above}tasks:\n{tasks}")
}

/// What is found: `line:column CODE message = suggestion`, one a line.
fn found(text: &str) -> Vec<String> {
    let checked = check(text, "a.nika.yaml", &Scene { strict: false });
    lines(&checked)
}

fn lines(checked: &Checked) -> Vec<String> {
    let line = |f: &Finding| {
        let note = if f.is_error() { "" } else { "note " };
        let suggestion = f.suggestion.as_ref().map(|text| format!(" = {text}")).unwrap_or_default();
        format!("{}:{} {} {note}{}{suggestion}", f.at.line, f.at.column, f.code, f.message)
    };
    checked.findings.iter().map(line).collect()
}

const SELF: &str = "permits: {tools: [\"workflow(*)\"]}\n";
const RUNS_SELF: &str = "  - {id: a, invoke: {workflow: self.nika.yaml}}\n";

/// All permits that a scene could want.
const ALL: &str = "permits: {fs: {read: [\"**\"], write: [\"**\"]}, net: [\"*\"], exec: [\"*\"], tools: [\"*\"]}\n";

#[test]
fn a_document_that_is_fine_has_no_findings() {
    let text = document(
        "inputs: {words: {default: x}}\nsecrets: [TOKEN]\npermits: {fs: {read: [\"**\"], write: [\"report/**\"]}, exec: [\"git log *\"], net: [a.org], tools: [grep, write], env: [HOME]}\n",
        "  - id: find\n    invoke: {tool: grep, params: {pattern: \"{{ inputs.words }}\", output_mode: count}}\n  - id: log\n    exec: [git, log, --oneline]\n  - id: call\n    fetch: {url: \"https://a.org/x?q={{ inputs.words }}\", headers: {auth: \"{{ secrets.TOKEN }}\"}, read: answer}\n  - id: write\n    use: {found: find, status: call.status, log: \"log ?? 'none'\"}\n    when: use.found.total > 0 and use.status == 200\n    for_each: \"{{ use.found.files }}\"\n    as: file\n    invoke: {tool: write, params: {file_path: \"report/{{ file.path }}.md\", content: \"{{ use.log }} {{ env.HOME }}\"}}\noutputs:\n  n: \"{{ tasks.find.total }}\"\n",
    );
    assert_eq!(found(&text), Vec::<String>::new());
}

#[test]
fn names_and_types_that_are_not_there_are_found_at_their_place() {
    for (tasks, want) in [
        (
            "  - {id: a, infer: \"hi {{ inputs.nmae }}\"}\n",
            "`inputs.nmae` is not one of the workflow's inputs = did you mean `name`?",
        ),
        (
            "  - {id: a, infer: \"hi {{ use.b }}\"}\n  - {id: b, infer: x}\n",
            "`use.b` is not in this task's `use` = add `use: {b: b}`",
        ),
        (
            "  - {id: a, infer: \"hi {{ b }}\"}\n  - {id: b, infer: x}\n",
            "`b` is not a name that templates have here = add `use: {b: b}`",
        ),
        ("  - {id: a, infer: \"{{ tasks.b }}\"}\n  - {id: b, infer: x}\n", "`tasks` stands in `outputs` only"),
        ("  - {id: a, infer: \"{{ secrets.X }}\"}\n", "`secrets.X` is not one of the workflow's secrets"),
        ("  - {id: a, infer: \"{{ env.HOME }}\"}\n", "`permits.env` does not state it = env: [HOME]"),
        ("  - {id: a, infer: \"{{ inputs.name | uper }}\"}\n", "there is no filter `uper` = did you mean `upper`?"),
        ("  - {id: a, infer: \"{{ inputs.name is empty }}\"}\n", "there is no test `empty`"),
        ("  - {id: a, infer: \"{{ now() }}\"}\n", "there is no function `now`"),
        ("  - {id: a, infer: \"{{ inputs.name.upper() }}\"}\n", "has no"),
        ("  - {id: a, infer: \"{{ inputs.name \"}\n", "the template cannot be read"),
        ("  - {id: a, infer: \"x {% set a = 1 %}\"}\n", "templates here have no `{% set %}`"),
        ("  - {id: a, infer: \"x {% include 'x' %}\"}\n", "the template cannot be read"),
        ("  - {id: a, infer: \"{{ inputs.name - 1 }}\"}\n", "`inputs.name` is text, and cannot be calculated with"),
        ("  - {id: a, infer: \"{{ inputs.count | length }}\"}\n", "`inputs.count` is a number, and has no elements"),
        (
            "  - {id: a, exec: [ls]}\n  - {id: b, use: {x: a.lines}, infer: x}\n",
            "`a` is text, and has no `lines` = `capture: json`",
        ),
        (
            "  - {id: a, exec: [ls]}\n  - {id: b, use: {x: a}, infer: \"{{ use.x.lines }}\"}\n",
            "`use.x` is text, and has no `lines`",
        ),
        (
            "  - {id: a, exec: [ls]}\n  - {id: b, use: {x: a}, for_each: \"{{ use.x }}\", infer: x}\n",
            "`for_each` walks through a list, and this is text = `| lines`",
        ),
        (
            "  - {id: a, invoke: {tool: grep, params: {pattern: x}}}\n  - {id: b, use: {x: a.totl}, infer: x}\n",
            "has no `totl` = did you mean `total`?",
        ),
        (
            "  - {id: a, for_each: [1], exec: {command: [ls], capture: all}}\n  - {id: b, use: {x: a.exit}, infer: x}\n",
            "`a` is a list, and has no `exit` = an element is `[0]`",
        ),
        (
            "  - {id: a, when: \"{{ inputs.count }} > 1\", exec: [ls]}\n",
            "`when` is a text with a template in it, which is neither true nor false = write the expression alone: when: inputs.count > 1",
        ),
        (
            "  - {id: a, for_each: [1], infer: \"{{ items }}\"}\n",
            "`items` is not a name that templates have here = did you mean `item`?",
        ),
        ("  - {id: a, infer: x, output: {schema: {type: strin}}}\n", "`strin` is no type of JSON schema"),
        ("  - {id: a, infer: x, output: {schema: nowhere.json}}\n", "there is no schema file nowhere.json"),
        ("  - {id: a, infer: x, output: {schema: answer.json}}\n  - {id: b, use: {x: a.m}, infer: x}\n", "has no `m`"),
        (
            "  - {id: a, invoke: {workflow: sub.nika.yaml, params: {who: me}}}\n  - {id: b, use: {x: a.sad}, infer: x}\n",
            "has no `sad` = did you mean `said`?",
        ),
    ] {
        let seen = found(&document(&format!("inputs: {{name: {{}}, count: {{type: number}}}}\n{ALL}"), tasks));
        assert!(seen.iter().any(|line| line.contains(want)), "{tasks}\nwanted {want}\n{seen:#?}");
        assert!(seen.iter().all(|line| !line.starts_with("0:")), "{seen:#?}");
    }
}

#[test]
fn what_only_the_run_can_tell_is_no_fault() {
    for tasks in [
        "  - {id: a, exec: {command: [ls], capture: json}}\n  - {id: b, use: {x: \"a.any.thing[3]\"}, infer: \"{{ use.x.more | first }}\"}\n",
        "  - {id: a, exec: [ls]}\n  - {id: b, use: {x: \"a.lines ?? []\"}, for_each: \"{{ use.x }}\", infer: \"{{ item }}\"}\n",
        "  - {id: a, exec: [ls]}\n  - {id: b, use: {x: a}, infer: \"{{ use.x.lines ?? 'none' }}\"}\n",
        "  - {id: a, infer: x, output: {format: json}}\n  - {id: b, use: {x: a}, when: use.x.ok, infer: \"{% for y in use.x.list %}{{ y.z }}{{ loop.index }}{% endfor %}\"}\n",
        "  - {id: a, infer: x, on_error: {value: []}}\n  - {id: b, use: {x: a}, for_each: \"{{ use.x }}\", infer: \"{{ item.q }}\"}\n",
    ] {
        assert_eq!(found(&document(ALL, tasks)), Vec::<String>::new(), "{tasks}");
    }
}

#[test]
fn what_is_not_stated_is_found_with_the_line_that_states_it() {
    for (task, want) in [
        (
            "exec: [git, push]",
            "`permits.exec` does not hold for exec(git push) = to state it, line 2: permits: {exec: [\"git push\"]}",
        ),
        ("exec: [cat, src/a.rs]", "`permits.exec` does not hold"),
        ("exec: [git, \"{{ inputs.x }}\"]", "note `a`: whether `git …` may run is decided at run time"),
        ("exec: [make, \"{{ inputs.x }}\"]", "`permits.exec` does not hold for `make …`, whatever its templates make"),
        ("exec: {shell: \"git log | sh -c 'rm -rf /'\"}", "NIKA-877"),
        ("exec: {command: [git, log, -1], env: {LD_PRELOAD: x}}", "is not given the variable `LD_PRELOAD`"),
        (
            "fetch: https://b.org/",
            "`permits.net` does not hold for net(b.org) = to state it, line 2: permits: {net: [b.org]}",
        ),
        ("fetch: \"{{ inputs.x }}\"", "note `a`: the host is decided at run time"),
        (
            "invoke: {tool: read, params: {file_path: Cargo.toml}}",
            "`permits.fs.read` does not hold for read(Cargo.toml) = to state it, line 2: permits: {fs: {read: [/Cargo.toml]}}",
        ),
        ("invoke: {tool: read, params: {file_path: \"{{ inputs.x }}\"}}", "note `a`: the path is decided at run time"),
        ("invoke: {tool: write, params: {file_path: a, content: b}}", "`permits.tools` does not name `write`"),
        (
            "invoke: {mcp: gh, tool: issue, params: {number: 1}}",
            "`permits.tools` names no such tool: foreign(mcp__gh__issue) = to state it, line 2: permits: {tools: [mcp__gh__issue]}",
        ),
        ("invoke: {mcp: gh, resource: \"x://y\"}", "permits.tools"),
        ("invoke: {workflow: sub.nika.yaml, params: {who: me}}", "does not name `workflow(sub.nika.yaml)`"),
        ("agent: {prompt: x, tools: [write]}", "`permits.tools` does not name `write`"),
        ("fetch: docs.rs", "`docs.rs` is no address = write it whole"),
        ("exec: {command: [git, log, -1], cwd: ../..}", "`cwd` leads outside the workspace"),
        ("exec: [git, log, \"a\\0b\"]", "cannot hold the character NUL"),
    ] {
        let above = "permits: {fs: {read: [\"src/**\"]}, net: [a.org], exec: [\"git log *\"], tools: [read, grep]}\ninputs: {x: {}}\n";
        let seen = found(&document(above, &format!("  - {{id: a, {task}}}\n")));
        assert!(seen.iter().any(|line| line.contains(want)), "{task}\nwanted {want}\n{seen:#?}");
    }
}

#[test]
fn nothing_stated_is_nothing_allowed() {
    let seen = found(&document("", "  - {id: a, exec: [ls]}\n"));
    assert!(seen.iter().any(|line| line.contains("NIKA-877")), "{seen:#?}");
}

#[test]
fn a_line_of_permits_that_is_no_rule_is_found() {
    let seen =
        found(&document("permits: {fs: {read: [\"a[\"]}, net: [\"a b\"], tools: [raed]}\n", "  - {id: a, infer: x}\n"));
    for want in [
        "2:23 NIKA-878 `permits.fs.read`",
        "NIKA-878 `permits.net`",
        "`raed`, and there is no such tool = did you mean `read`?",
    ] {
        assert!(seen.iter().any(|line| line.contains(want)), "{want} {seen:#?}");
    }
}

#[test]
fn a_statement_is_inferred_that_the_check_is_content_with() {
    let tasks = "  - {id: a, exec: [git, log, \"{{ inputs.x }}\"]}\n  - {id: b, exec: {shell: \"cat src/a.rs | wc -l > out/n.txt\"}}\n  - {id: c, fetch: https://a.org/}\n  - {id: d, invoke: {tool: grep, params: {pattern: x, path: src}}}\n  - {id: e, invoke: {tool: write, params: {file_path: \"report/{{ inputs.x }}.md\", content: x}}}\n  - {id: f, invoke: {mcp: gh, tool: issue, params: {number: 1}}}\n  - {id: g, agent: {prompt: x, tools: [read]}}\n";
    let checked = check(&document("inputs: {x: {}}\n", tasks), "a", &Scene { strict: false });
    let block = block(&checked.needs);
    let of = |kind: PermitKind| {
        let texts: Vec<String> =
            block.iter().filter(|(of, _)| *of == kind).map(|(_, text)| json!(text).to_string()).collect();
        format!("[{}]", texts.join(", "))
    };
    assert!(block.contains(&(PermitKind::Exec, "git log *".to_owned())), "{block:?}");
    assert!(block.contains(&(PermitKind::Write, "report/**".to_owned())), "{block:?}");
    assert!(!block.contains(&(PermitKind::Read, "src/a.rs".to_owned())), "`src/**` covers it: {block:?}");
    let above = format!(
        "inputs: {{x: {{}}}}\npermits: {{fs: {{read: {}, write: {}}}, net: {}, exec: {}, tools: {}}}\n",
        of(PermitKind::Read),
        of(PermitKind::Write),
        of(PermitKind::Net),
        of(PermitKind::Exec),
        of(PermitKind::Tool)
    );
    let again = check(&document(&above, tasks), "a", &Scene { strict: false });
    assert!(again.is_clean(), "{above}\n{:#?}", lines(&again));
}

#[test]
fn parameters_are_held_against_schemas() {
    for (invoke, want) in [
        ("{tool: read, params: {path: a}}", "`read` has no parameter `path` = did you mean `file_path`?"),
        ("{tool: read}", "`read` needs the parameter `file_path`"),
        ("{tool: read, params: {file_path: 3}}", "`file_path` of `read` takes string, and this is a number"),
        (
            "{tool: read, params: {file_path: a, limit: \"5\"}}",
            "`limit` of `read` takes integer, and this is text = without quotes: 5",
        ),
        ("{tool: read, params: {file_path: a, limit: 0}}", "`limit` of `read` is 0, and must be at least 1"),
        (
            "{tool: sleep, params: {duration_ms: -5}}",
            "`sleep` does not take this: `duration_ms`: takes at most 300000, not -5",
        ),
        ("{tool: sleep, params: {duration_ms: \"{{ 400000 + 1 }}\"}}", "not 400001"),
        (
            "{tool: grep, params: {pattern: x, hidden: \"yes\"}}",
            "`hidden` of `grep` takes boolean, and this is text = without quotes: true",
        ),
        (
            "{tool: change_set, params: {changes: [{kind: foo}]}}",
            "`changes[0]` of `change_set` fits none of 2 alternatives",
        ),
        (
            "{tool: change_set, params: {changes: [{op: create, file_path: a}]}}",
            "`changes[0]` of `change_set` needs the parameter `content`",
        ),
        (
            "{tool: change_set, params: {changes: [{op: delete, file_path: 3}]}}",
            "`changes[0].file_path` of `change_set` takes string, and this is a number",
        ),
        (
            "{tool: grep, params: {pattern: \"{{ inputs.l }}\"}}",
            "`pattern` of `grep` takes string, and this is a list = `| string` makes a text of it",
        ),
        (
            "{tool: grep, params: {pattern: \"{{ inputs.n }}\"}}",
            "`pattern` of `grep` takes string, and this is a number",
        ),
        ("{tool: grep, params: {pattern: x, output_mode: \"{{ inputs.n }}\"}}", "`output_mode` of `grep` takes string"),
        ("{tool: read, params: {file_path: a, limit: \"{{ 'x' }}\"}}", "takes integer, and this is text"),
        ("{tool: read, params: {file_path: a, limit: \"n {{ inputs.n }}\"}}", "takes integer, and this is text"),
        ("{tool: mcp_call_tool, params: {server: gh, tool: issue}}", "`mcp__gh__issue` needs the parameter `number`"),
        (
            "{tool: mcp_call_tool, params: {server: gh, tool: issue, arguments: {number: one}}}",
            "`number` of `mcp__gh__issue` takes integer",
        ),
        (
            "{tool: grep, params: {pattern: x, output_mode: cuont}}",
            "takes content, count, and not \"cuont\" = did you mean `count`?",
        ),
        ("{tool: raed, params: {}}", "there is no tool `raed` = did you mean `read`?"),
        ("{workflow: sub.nika.yaml}", "needs the parameter `who`"),
        (
            "{workflow: sub.nika.yaml, params: {who: x, times: many}}",
            "`times` of `sub.nika.yaml` takes number, and this is text",
        ),
        ("{workflow: other.nika.yaml}", "there is no workflow other.nika.yaml"),
        ("{mcp: gh, tool: issue, params: {number: one}}", "takes integer, and this is text"),
    ] {
        let above = format!("inputs: {{l: {{type: list}}, n: {{type: number}}}}\n{ALL}");
        let seen = found(&document(&above, &format!("  - {{id: a, invoke: {invoke}}}\n")));
        assert!(seen.iter().any(|line| line.contains("NIKA-88") || line.contains("NIKA-873")), "{invoke}: {seen:#?}");
        assert!(seen.iter().any(|line| line.contains(want)), "{invoke}\nwanted {want}\n{seen:#?}");
    }
    let text = document(ALL, "  - {id: a, invoke: {mcp: gh, tool: isue, params: {}}}\n");
    assert!(!found(&text).iter().any(|line| line.contains("no configured server")));
    let strict = lines(&check(&text, "a", &Scene { strict: true }));
    assert!(
        strict.iter().any(|line| line.contains("no configured server has the tool `mcp__gh__isue`")),
        "{strict:#?}"
    );
    for (invoke, want) in [
        ("{mcp: nope, resource: \"x://y\"}", "the server `nope` cannot be looked at = no server of that name"),
        (
            "{tool: mcp_call_tool, params: {server: gh, tool: isue}}",
            "no configured server has the tool `mcp__gh__isue`",
        ),
        ("{tool: mcp_call_tool, params: {server: nope, tool: x}}", "`mcp__nope__x` cannot be looked at"),
    ] {
        let text = document(ALL, &format!("  - {{id: a, invoke: {invoke}}}\n"));
        let strict = lines(&check(&text, "a", &Scene { strict: true }));
        assert!(strict.iter().any(|line| line.contains(want)), "{invoke}\nwanted {want}\n{strict:#?}");
        assert!(!found(&text).iter().any(|line| line.contains(want)), "only --strict asks");
    }
}

#[test]
fn what_is_not_known_of_a_parameter_fits_anything() {
    for invoke in [
        "{tool: grep, params: {pattern: \"{{ use.x }}\", hidden: \"{{ use.x.y }}\", output_mode: \"{{ inputs.s }}\"}}",
        "{tool: read, params: {file_path: a, limit: \"{{ inputs.n }}\"}}",
        "{tool: read, params: {file_path: a, limit: null}}",
        "{tool: sleep, params: {duration_ms: \"{{ inputs.n }}\"}}",
        "{tool: change_set, params: {changes: [\"{{ use.x }}\", {op: \"{{ inputs.s }}\", file_path: a}]}}",
        "{tool: change_set, params: {changes: \"{{ use.x }}\"}}",
    ] {
        let above = format!("inputs: {{s: {{}}, n: {{type: number}}}}\n{ALL}");
        let tasks = format!(
            "  - {{id: x, exec: {{command: [ls], capture: json}}}}\n  - {{id: a, use: {{x: x}}, invoke: {invoke}}}\n"
        );
        let seen = found(&document(&above, &tasks));
        assert!(!seen.iter().any(|line| line.contains("NIKA-88")), "{invoke}: {seen:#?}");
    }
}

#[test]
fn an_element_that_is_written_is_known() {
    let seen = |items: &str, params: &str| {
        let task = format!("  - {{id: a, for_each: {items}, invoke: {{tool: grep, params: {params}}}}}\n");
        found(&document(ALL, &task))
    };
    let mode = "{pattern: x, output_mode: \"{{ item }}\"}";
    assert_eq!(seen("[count, content]", mode), Vec::<String>::new());
    let wrong = seen("[count, bogus]", mode);
    assert!(wrong.len() == 1 && wrong[0].contains("takes content, count, and not \"bogus\""), "{wrong:#?}");
    let wrong = seen("[a, 5]", "{pattern: \"{{ item }}\"}");
    assert!(wrong.len() == 1 && wrong[0].contains("takes string, and this is a number"), "{wrong:#?}");
}

#[test]
fn a_template_that_names_nothing_is_worked_out() {
    for (task, want) in [
        ("{id: a, when: \"'maybe'\", infer: x}", "the condition is the text 'maybe', which is neither true nor false"),
        ("{id: a, when: \"{{ 'maybe' }}\", infer: x}", "neither true nor false"),
        ("{id: a, infer: \"{{ 1 / 0 }}\"}", "the template fails whatever the run brings"),
    ] {
        let seen = found(&document(ALL, &format!("  - {task}\n")));
        assert!(seen.iter().any(|line| line.contains("NIKA-876") && line.contains(want)), "{task}: {seen:#?}");
    }
    for task in ["{id: a, when: \"'true'\", infer: x}", "{id: a, when: 1 > 0, infer: \"{{ 1 + 1 }}\"}"] {
        assert_eq!(found(&document(ALL, &format!("  - {task}\n"))), Vec::<String>::new(), "{task}");
    }
}

#[test]
fn a_workflow_that_is_run_is_held_against_both_statements() {
    let call =
        |above: &str, path: &str| found(&document(above, &format!("  - {{id: call, invoke: {{workflow: {path}}}}}\n")));
    let narrow = "secrets: [KEY]\npermits: {tools: [\"workflow(needy.nika.yaml)\"]}\n";
    let seen = call(narrow, "needy.nika.yaml");
    for want in [
        "`call` runs needy.nika.yaml: `permits.exec` does not hold for",
        "= to state it, line 3: permits: {exec: [\"echo *\"]}",
        "`call` runs needy.nika.yaml: `permits.tools` does not name `read`",
        "`call` runs needy.nika.yaml: `permits.fs.read` does not hold for read(a/b)",
        "`call` runs needy.nika.yaml: `env.HOME` is read, and `permits.env` does not state it",
    ] {
        assert!(seen.iter().any(|line| line.starts_with("5:35 NIKA-877") && line.contains(want)), "{want}: {seen:#?}");
    }
    let wide = "permits: {exec: [\"echo *\"], fs: {read: [\"**\"]}, tools: [read, \"workflow(needy.nika.yaml)\"], env: [HOME]}\n";
    assert_eq!(call(&format!("secrets: [KEY]\n{wide}"), "needy.nika.yaml"), Vec::<String>::new());
    let seen = call(wide, "needy.nika.yaml");
    assert!(seen.len() == 1 && seen[0].contains("takes secrets that this workflow does not state: KEY"), "{seen:#?}");
    let checked = check(
        &document("secrets: [KEY]\n", "  - {id: call, invoke: {workflow: needy.nika.yaml}}\n"),
        "a",
        &Scene { strict: false },
    );
    let inferred = block(&checked.needs);
    for line in
        [(PermitKind::Exec, "echo *"), (PermitKind::Read, "a/b"), (PermitKind::Tool, "read"), (PermitKind::Env, "HOME")]
    {
        assert!(inferred.contains(&(line.0, line.1.to_owned())), "{line:?}: {inferred:?}");
    }
}

#[test]
fn workflows_run_one_another_in_no_circle_and_not_too_deep() {
    let call = |path: &str| found(&document(SELF, &format!("  - {{id: a, invoke: {{workflow: {path}}}}}\n")));
    for (path, want) in [
        ("self.nika.yaml", "NIKA-874 workflows run one another in a circle: a.nika.yaml → self.nika.yaml"),
        ("one.nika.yaml", "in a circle: one.nika.yaml → two.nika.yaml → one.nika.yaml"),
        ("faulty.nika.yaml", "NIKA-882 the workflow faulty.nika.yaml has findings of its own"),
        ("deep2.nika.yaml", "NIKA-874 workflows run one another 9 deep, and may 8"),
    ] {
        let seen = call(path);
        assert!(seen.iter().any(|line| line.contains(want)), "{path}\nwanted {want}\n{seen:#?}");
    }
    assert_eq!(call("deep3.nika.yaml"), Vec::<String>::new());
}

#[test]
fn only_templates_read_variables_and_each_is_needed_once() {
    let text = document(
        "",
        "  - {id: a, exec: [cat, env.yaml, env.HOME]}\n  - {id: b, when: env.CI == '1', exec: [ls, \"{{ env.HOME }} {{ env.HOME }}\"]}\n",
    );
    let checked = check(&text, "a", &Scene { strict: false });
    let names: Vec<String> =
        block(&checked.needs).into_iter().filter(|(kind, _)| *kind == PermitKind::Env).map(|(_, name)| name).collect();
    assert_eq!(names, ["CI", "HOME"]);
    for (at, need) in checked.needs.iter().enumerate() {
        assert!(!checked.needs[..at].contains(need), "{need:?} twice");
    }
}

#[test]
fn what_a_loop_makes_where_an_element_fails_is_still_a_list() {
    let tasks = "  - {id: a, for_each: [1, 2], exec: [ls], on_error: {value: \"no {{ item }}\"}}\n  - {id: b, use: {x: a}, infer: \"{{ use.x.y }}\"}\n";
    let seen = found(&document(ALL, tasks));
    assert!(seen.len() == 1 && seen[0].contains("`use.x` is a list, and has no `y`"), "{seen:#?}");
    let tasks = "  - {id: a, for_each: [1], exec: [ls], on_error: {value: {n: \"{{ item }}\"}}}\n  - {id: b, use: {x: a}, for_each: \"{{ use.x }}\", infer: \"{{ item.n ?? item }}\"}\n";
    assert_eq!(found(&document(ALL, tasks)), Vec::<String>::new());
}

#[test]
fn a_server_that_is_stated_is_stated_for_an_agent() {
    for (stated, given, fine) in [
        ("mcp__hello", "mcp__hello", true),
        ("mcp__hello", "mcp__hello__*", true),
        ("mcp__hello", "mcp__hello__say", true),
        ("\"*\"", "read", true),
        ("mcp__hello__say", "mcp__hello", false),
        ("mcp__other", "mcp__hello", false),
    ] {
        let text = document(
            &format!("permits: {{tools: [{stated}]}}\n"),
            &format!("  - {{id: a, agent: {{prompt: x, tools: [{given}]}}}}\n"),
        );
        let seen = found(&text);
        assert_eq!(seen.is_empty(), fine, "{stated} for {given}: {seen:#?}");
    }
}

#[test]
fn one_thing_that_is_not_stated_is_said_once() {
    let seen = found(&document("", "  - {id: a, invoke: {tool: read, params: {file_path: a/b}}}\n"));
    let named = seen.iter().filter(|line| line.contains("`permits.tools` does not name `read`")).count();
    let read = seen.iter().filter(|line| line.contains("`permits.fs.read` does not hold for read(a/b)")).count();
    assert_eq!((named, read, seen.len()), (1, 1, 2), "{seen:#?}");
    let seen = found(&document("", "  - {id: a, exec: [ls, -R, /]}\n"));
    assert!(!seen.iter().any(|line| line.contains("///")), "{seen:#?}");
}

#[test]
fn what_a_person_is_asked_each_time_is_said_before() {
    for (task, want) in [
        ("invoke: {tool: write, params: {file_path: .git/hooks/x, content: y}}", "it changes .git/hooks/x"),
        ("invoke: {tool: read, params: {file_path: .env}}", "it reads .env"),
        ("exec: [cat, .env]", "it reads .env"),
    ] {
        let seen = found(&document(ALL, &format!("  - {{id: a, {task}}}\n")));
        let note = |line: &&String| line.contains("note `a`: a person is asked each time") && line.contains(want);
        assert!(seen.iter().any(|line| note(&line)), "{task}: {seen:#?}");
    }
}

#[test]
fn providers_are_known_names() {
    let seen = found(&document(ALL, "  - {id: a, infer: {prompt: x, provider: lokal}}\n"));
    assert!(
        seen.len() == 1 && seen[0].contains("NIKA-873 there is no provider `lokal` = did you mean `local`?"),
        "{seen:#?}"
    );
    let above = format!("provider: nope\n{ALL}");
    assert_eq!(found(&document(&above, "  - {id: a, infer: x}\n")).len(), 1);
    assert_eq!(found(&document(&above, "  - {id: a, infer: {prompt: x, provider: local}}\n")), Vec::<String>::new());
}

#[test]
fn json_of_an_answer_is_asked_for_in_the_words_of_its_verb() {
    for (first, want) in [
        ("exec: [ls]", "`capture: json` in `exec` of `a`"),
        ("fetch: \"https://a.org/\"", "`read: json` in `fetch` of `a`"),
        ("infer: x", "`output: {format: json}` of `a`"),
    ] {
        for second in ["use: {x: a.y}, infer: z", "use: {x: a}, infer: \"{{ use.x.y }}\""] {
            let seen = found(&document(ALL, &format!("  - {{id: a, {first}}}\n  - {{id: b, {second}}}\n")));
            assert!(seen.len() == 1 && seen[0].contains(want), "{first} {second}: {seen:#?}");
        }
    }
    let old = "schema: nika/workflow@0.1\ntasks:\n  - {id: a, infer: x}\n  - {id: b, use: {y: a}, exec: \"echo {{use.y.foo}}\"}\n";
    let seen = found(old);
    assert!(seen.iter().any(|line| line.contains("= `output: {format: json}` of `a`")), "{seen:#?}");
}

#[test]
fn secrets_stay_where_nobody_else_reads() {
    for (task, want) in [
        ("infer: \"{{ secrets.KEY }}\"", "`KEY` would reach a model's provider"),
        ("agent: {prompt: x, system: \"{{ secrets['KEY'] }}\"}", "`KEY` would reach a model's provider"),
        ("exec: [curl, -H, \"auth: {{ secrets.KEY }}\"]", "the arguments of a process"),
        ("fetch: \"https://a.org/?k={{ secrets.KEY ?? '' }}\"", "a URL"),
    ] {
        let seen = found(&document(&format!("secrets: [KEY]\n{ALL}"), &format!("  - {{id: a, {task}}}\n")));
        assert!(seen.iter().any(|line| line.contains("NIKA-879") && line.contains(want)), "{task}: {seen:#?}");
    }
    let above = format!("secrets: [KEY]\n{ALL}outputs: {{a: [\"{{{{ secrets.KEY }}}}\"], b: \"{{{{ secrets }}}}\"}}\n");
    let seen = found(&document(&above, "  - {id: a, exec: {command: [env], env: {KEY: \"{{ secrets.KEY }}\"}}}\n"));
    assert_eq!(seen.iter().filter(|line| line.contains("NIKA-879")).count(), 2, "{seen:#?}");
}

#[test]
fn what_models_can_cost_is_bounded_or_said_to_be_unknown() {
    let cost = |above: &str, tasks: &str| {
        let checked = check(&document(above, tasks), "a", &Scene { strict: false });
        (checked.ceiling.cost_micros, lines(&checked))
    };
    let agent = "  - {id: a, agent: {prompt: x, token_budget: 1000}, retry: 2, for_each: [1, 2, 3]}\n";
    // A thousand tokens at four dollars a million, twice for each of three.
    assert_eq!(cost("provider: local\n", agent).0, Some(24_000));
    let over = cost("provider: local\nlimits: {cost_usd: 0.01}\n", agent);
    assert!(
        over.1.iter().any(|line| line.contains("3:20 NIKA-881 models can cost $0.02, and `limits.cost_usd` is $0.01")),
        "{over:?}"
    );
    assert_eq!(cost("provider: local\nlimits: {tokens: 100}\n", agent).0, Some(400));
    assert_eq!(cost("provider: local\n", "  - {id: a, infer: x}\n").0, None);
    let unknown = cost("provider: other\nlimits: {cost_usd: 1}\n", agent);
    assert!(
        unknown.0.is_none()
            && unknown.1.iter().any(|line| line.contains("note") && line.contains("nobody said what other costs")),
        "{unknown:?}"
    );
    assert_eq!(cost(ALL, "  - {id: a, exec: [ls]}\n").0, Some(0));
    let text = document("provider: other\nlimits: {cost_usd: 1}\n", agent);
    assert!(!check(&text, "a", &Scene { strict: true }).is_clean(), "whoever is strict wants it to be known");
}

#[test]
fn what_a_workflow_within_can_cost_counts() {
    let cost = |above: &str, path: &str, more: &str| {
        let above = format!("{above}permits: {{tools: [workflow({path})]}}\n");
        let task = format!("  - {{id: a, invoke: {{workflow: {path}}}{more}}}\n");
        let checked = check(&document(&above, &task), "a", &Scene { strict: true });
        let Ceiling { tasks, cost_micros, unknown, .. } = checked.ceiling;
        (tasks, cost_micros, unknown.join("; "), checked.findings)
    };
    // A thousand tokens at four dollars a million, twice for each of three.
    let (tasks, micros, ..) = cost("", "dear.nika.yaml", ", retry: 2, for_each: [1, 2, 3]");
    assert_eq!((tasks, micros), (1, Some(24_000)));
    let (.., findings) = cost("limits: {cost_usd: 0.003}\n", "dear.nika.yaml", "");
    assert!(findings.iter().any(|found| found.code == code::FLOW_COST && found.is_error()), "{findings:?}");
    assert_eq!(cost("limits: {tokens: 100}\n", "dear.nika.yaml", "").1, Some(400), "the outer bound holds for both");
    // What the inner one leaves open is open, until the outer one bounds it.
    let (_, micros, why, _) = cost("", "loose.nika.yaml", "");
    assert!(micros.is_none() && why.contains("nothing bounds the tokens of a (loose.nika.yaml)"), "{why}");
    assert_eq!(cost("limits: {tokens: 100}\n", "loose.nika.yaml", "").1, Some(400));
    let (_, micros, why, _) = cost("", "sub.nika.yaml", "");
    assert!(micros.is_none() && why.contains("nobody said what the configured model costs"), "{why}");
}

#[test]
fn a_refusal_that_names_no_parameter_is_shown_at_the_one_that_it_is_about() {
    let task = |path: &str| {
        format!(
            "  - {{id: a, invoke: {{tool: write, params: {{content: \"{{{{ inputs.s }}}}\", file_path: {path}}}}}}}\n"
        )
    };
    let above = format!("inputs: {{s: {{}}}}\n{ALL}");
    let seen = found(&document(&above, &task("''")));
    let of_params: Vec<&String> = seen.iter().filter(|line| line.contains("NIKA-880")).collect();
    let want = "`write` does not take this: the path is empty = `.` is the root";
    assert!(of_params.len() == 1 && of_params[0].contains(want), "{seen:#?}");
    let column =
        document(&above, &task("''")).lines().last().and_then(|line| line.find("''")).expect("it is there") + 1;
    assert!(of_params[0].contains(&format!(":{column} ")), "{of_params:?}, not at column {column}");
    // What a template makes is left to the run.
    let open = found(&document(&above, &task("'{{ inputs.s }}'")));
    assert!(!open.iter().any(|line| line.contains("NIKA-880")), "{open:#?}");
}

#[test]
fn one_slip_is_one_finding() {
    for (above, task, want) in [
        (ALL, "{id: a, for_each: \"{{ inputs.words\", infer: x}", "the template cannot be read"),
        (ALL, "{id: a, invoke: {tool: gerp, params: {pattern: x}}}", "there is no tool `gerp`"),
        (ALL, "{id: a, infer: \"x {% for w in [1] %} y\"}", "`{% for … %}` has no end = `{% endfor %}` stands behind"),
        (
            "permits: {tool: [read], fs: {read: [\"**\"]}}\n",
            "{id: a, invoke: {tool: read, params: {file_path: a}}}",
            "did you mean `tools`?",
        ),
    ] {
        let seen = found(&document(
            &format!("inputs: {{words: {{type: list, default: []}}}}\n{above}"),
            &format!("  - {task}\n"),
        ));
        assert!(seen.len() == 1 && seen[0].contains(want), "{task}: {seen:#?}");
    }
    let tasks = "  - {id: h, exec: [ls]}\n  - {id: a, use: {x: h.stdout}, infer: \"{{ use.x }}\"}\n";
    let seen = found(&document(ALL, tasks));
    assert!(seen.len() == 1 && seen[0].contains("`capture: all` in `exec` of `h`"), "{seen:#?}");
}

#[test]
fn an_older_document_is_checked_without_a_statement() {
    let text = "schema: \"nika/workflow@0.1\"\nworkflow: old\ntasks:\n  - id: a\n    exec: {command: \"ls src\"}\n";
    let checked = check(text, "a", &Scene { strict: false });
    assert!(checked.is_clean(), "{:#?}", lines(&checked));
    assert!(!block(&checked.needs).is_empty(), "what it needs is shown for a yes");
}
