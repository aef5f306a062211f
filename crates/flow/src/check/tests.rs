//! Scenes: a document, and what is found in it.

use std::path::PathBuf;

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
                json!({"pattern": text, "path": text, "output_mode": {"type": "string", "enum": ["content", "count"]}}),
                json!(["pattern"]),
                Some(json!({"type": "object", "properties": {
                    "total": {"type": "integer"},
                    "files": {"type": "array", "items": {"type": "object", "properties": {"path": text}}},
                }, "required": ["total"]})),
            ),
            "mcp__gh__issue" => facts(json!({"number": {"type": "integer"}}), json!(["number"]), None),
            _ => return None,
        })
    }

    fn tools(&self) -> Vec<String> {
        ["read", "write", "grep"].map(str::to_owned).into()
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
        ("{tool: read, params: {file_path: a, limit: 0}}", "takes at least 1, and not 0"),
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
        let seen = found(&document(ALL, &format!("  - {{id: a, invoke: {invoke}}}\n")));
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
}

#[test]
fn an_older_document_is_checked_without_a_statement() {
    let text = "schema: \"nika/workflow@0.1\"\nworkflow: old\ntasks:\n  - id: a\n    exec: {command: \"ls src\"}\n";
    let checked = check(text, "a", &Scene { strict: false });
    assert!(checked.is_clean(), "{:#?}", lines(&checked));
    assert!(!block(&checked.needs).is_empty(), "what it needs is shown for a yes");
}
