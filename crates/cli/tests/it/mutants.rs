//! Workflows over the tools that there really are, broken a little: those that pass the check are really run, and none
//! of them fails as the check would.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::first::confined;
use crate::world::{World, world};

/// How many; each is made of its number alone.
const MUTANTS: u64 = 1_200;
/// Workspaces in which they are checked and run side by side.
const WORKSPACES: u64 = 4;

/// Documents that are fine, between them with many tools, typed inputs, loops and workflows that run others.
const GOOD: &[&str] = &[SEARCH, CHANGE, LOOPS, NESTED, LISTS, COMMANDS, PATTERNS, DEEP];

const SEARCH: &str = r#"schema: nika/workflow@1
inputs:
  words: {type: string, default: TODO}
  most: {type: number, default: 5}
  deep: {type: boolean, default: false}
  places: {type: list, default: [src]}
permits:
  fs: {read: ["**"], write: ["out/**"]}
  tools: [grep, glob, list_dir, read, write]
limits: {timeout: 20s}
tasks:
  - id: find
    invoke:
      tool: grep
      params:
        pattern: "{{ inputs.words }}"
        path: src
        output_mode: content
        head_limit: "{{ inputs.most }}"
        hidden: "{{ inputs.deep }}"
        type: rust
  - id: files
    invoke:
      tool: glob
      params:
        pattern: "*.rs"
        path: src
        limit: 10
        no_ignore: true
  - id: names
    invoke:
      tool: list_dir
      params:
        path: src
        limit: "{{ inputs.most }}"
  - id: first
    use: {found: files.total}
    when: use.found > 0
    invoke:
      tool: read
      params:
        file_path: src/a.rs
        limit: "{{ use.found }}"
        offset: 1
outputs:
  total: "{{ tasks.files.total }}"
"#;

const CHANGE: &str = r#"schema: nika/workflow@1
inputs:
  name: {type: string, default: one}
  again: {type: boolean, default: true}
permits:
  fs: {read: ["**"], write: ["**"]}
  tools: [write, edit, change_set, notebook_edit, read]
limits: {timeout: 20s}
tasks:
  - id: make
    invoke:
      tool: write
      params:
        file_path: out/made.txt
        content: "{{ inputs.name }} and one"
  - id: edit
    depends_on: make
    invoke:
      tool: edit
      params:
        file_path: out/made.txt
        old_string: one
        new_string: two
        replace_all: "{{ inputs.again }}"
  - id: set
    depends_on: [edit]
    invoke:
      tool: change_set
      params:
        dry_run: true
        changes:
          - op: create
            file_path: out/other.txt
            content: "{{ inputs.name }}"
          - op: edit
            file_path: src/a.rs
            old_string: TODO
            new_string: DONE
            replace_all: true
  - id: cell
    invoke:
      tool: notebook_edit
      params:
        notebook_path: n.ipynb
        cell_index: 0
        new_source: "1 + 1"
        cell_type: code
        edit_mode: replace
outputs:
  count: "{{ tasks.edit.count }}"
"#;

const LOOPS: &str = r#"schema: nika/workflow@1
inputs:
  numbers: {type: list, default: [1, 2]}
permits:
  fs: {read: ["**"], write: ["out/**"]}
  tools: [grep, sleep, write]
  env: [HOME]
limits: {timeout: 20s}
tasks:
  - id: modes
    for_each: [count, content, files_with_matches]
    as: mode
    concurrency: 2
    invoke:
      tool: grep
      params:
        pattern: TODO
        path: src
        output_mode: "{{ mode }}"
        context: 1
  - id: waits
    for_each: [1, 2]
    fail_fast: false
    on_error: {value: "{{ item }}"}
    invoke:
      tool: sleep
      params:
        duration_ms: "{{ item }}"
  - id: each
    use: {all: modes}
    for_each: "{{ use.all }}"
    when: "{{ inputs.numbers | length > 1 }}"
    invoke:
      tool: write
      params:
        file_path: out/each.txt
        content: "{{ item }} {{ env.HOME }}"
outputs:
  modes: "{{ tasks.modes | length }}"
"#;

const NESTED: &str = r#"schema: nika/workflow@1
inputs:
  who: {type: string, default: me}
  times: {type: number, default: 2}
permits:
  fs: {read: ["**"], write: ["out/**"]}
  exec: ["printf *"]
  tools: ["workflow(sub.nika.yaml)", "workflow(deep.nika.yaml)", "workflow(around.nika.yaml)", write]
limits: {timeout: 20s}
tasks:
  - id: call
    invoke:
      workflow: sub.nika.yaml
      params:
        who: "{{ inputs.who }}"
        times: "{{ inputs.times }}"
        tags: [a, b]
  - id: deep
    invoke:
      workflow: deep.nika.yaml
      params:
        on: true
  - id: keep
    use: {said: call.said, count: call.count}
    when: use.count > 1
    invoke:
      tool: write
      params:
        file_path: out/said.txt
        content: "{{ use.said }}"
outputs:
  said: "{{ tasks.call.said }}"
"#;

const LISTS: &str = r#"schema: nika/workflow@1
inputs:
  step: {type: string, default: begin}
permits:
  fs: {read: ["**"]}
  tools: [todo_write, update_plan, task_create, task_list, task_update, checkpoints, tool_search]
limits: {timeout: 20s}
tasks:
  - id: todos
    invoke:
      tool: todo_write
      params:
        todos:
          - content: "{{ inputs.step }}"
            status: pending
          - content: end
            status: completed
  - id: plan
    invoke:
      tool: update_plan
      params:
        items:
          - step: one
            status: in_progress
            priority: high
        sync_tasks: false
  - id: task
    invoke:
      tool: task_create
      params:
        title: "{{ inputs.step }}"
        priority: low
        metadata: {a: 1}
  - id: tasks
    depends_on: [task]
    invoke:
      tool: task_list
      params: {}
  - id: kept
    invoke:
      tool: checkpoints
      params:
        limit: 3
outputs:
  todos: "{{ tasks.todos.todos }}"
"#;

const COMMANDS: &str = r#"schema: nika/workflow@1
inputs:
  word: {type: string, default: hello}
  most: {type: number, default: 1000}
permits:
  fs: {read: ["**"], write: ["out/**"]}
  exec: ["printf *", "cat *"]
  tools: [bash, write]
limits: {timeout: 20s}
tasks:
  - id: say
    exec:
      command: [printf, "%s", "{{ inputs.word }}"]
      capture: all
      ok_exit: [0, 1]
      env: {A: "{{ inputs.word }}"}
    timeout: 9s
  - id: shell
    exec:
      shell: printf x | cat
  - id: tool
    invoke:
      tool: bash
      params:
        command: printf done
        timeout: "{{ inputs.most }}"
        filesystem_mode: workspace-only
        description: says it
  - id: keep
    use: {exit: say.exit, out: say.stdout}
    when: use.exit == 0
    on_error: skip
    invoke:
      tool: write
      params:
        file_path: out/kept.txt
        content: "{{ use.out }} {{ use.exit }}"
"#;

/// Arguments that are a language of their own: a tool takes some texts and not others.
const PATTERNS: &str = r#"schema: nika/workflow@1
inputs:
  pattern: {type: string, default: "TO(DO)?"}
  kinds: {type: list, default: [rust]}
permits:
  fs: {read: ["**"]}
  tools: [grep, glob, read]
limits: {timeout: 20s}
tasks:
  - id: lines
    invoke:
      tool: grep
      params:
        pattern: "fn \\w+"
        glob: "*.{rs,txt}"
        type: rust
        multiline: true
  - id: given
    invoke:
      tool: grep
      params:
        pattern: "{{ inputs.pattern }}"
        glob: "!out/**"
        literal: false
  - id: kinds
    for_each: "{{ inputs.kinds }}"
    as: kind
    invoke:
      tool: grep
      params:
        pattern: TODO
        type: "{{ kind }}"
  - id: names
    for_each: ["*.rs", "src/*"]
    as: pattern
    invoke:
      tool: glob
      params:
        pattern: "{{ pattern }}"
  - id: some
    invoke:
      tool: read
      params:
        file_path: src/b.rs
        limit: 3
"#;

/// One that stands as deep as it may.
const DEEP: &str = r#"schema: nika/workflow@1
inputs:
  word: {type: string, default: x}
permits:
  fs: {read: ["**"]}
  exec: ["printf *"]
  tools: ["workflow(chain1.nika.yaml)", "workflow(chain2.nika.yaml)", "workflow(chain3.nika.yaml)"]
limits: {timeout: 20s}
tasks:
  - id: deep
    invoke:
      workflow: chain2.nika.yaml
      params:
        word: "{{ inputs.word }}"
  - id: less
    invoke:
      workflow: chain3.nika.yaml
      params:
        word: y
outputs:
  said: "{{ tasks.deep.said }}"
"#;

/// The last of the workflows that run one another: with eight of them the first is at the bound.
const LAST: usize = 8;

/// One of a row of workflows, each of which runs the next.
fn chained(number: usize) -> String {
    let head = "schema: nika/workflow@1\ninputs: {word: {type: string}}\n";
    let next = format!("chain{}.nika.yaml", number + 1);
    let (tools, task) = match number {
        LAST => (String::new(), "exec: [printf, \"%s\", \"{{ inputs.word }}\"]".to_owned()),
        _ => (
            format!(", tools: [\"workflow({next})\"]"),
            format!("invoke: {{workflow: {next}, params: {{word: \"{{{{ inputs.word }}}}\"}}}}"),
        ),
    };
    let permits = format!("permits: {{fs: {{read: [\"**\"]}}, exec: [\"printf *\"]{tools}}}\n");
    let said = if number == LAST { "{{ tasks.a }}" } else { "{{ tasks.a.said }}" };
    format!("{head}{permits}tasks:\n  - id: a\n    {task}\noutputs: {{said: \"{said}\"}}\n")
}

/// What others run, or may be made to: the last runs itself, and the one before it needs what nobody states.
const BESIDE: &[(&str, &str)] = &[
    (
        "sub.nika.yaml",
        "schema: nika/workflow@1\ninputs: {who: {}, times: {type: number}, tags: {type: list, default: []}}\npermits: {fs: {read: [\"**\"]}, exec: [\"printf *\"]}\ntasks:\n  - {id: say, exec: [printf, \"%s\", \"{{ inputs.who }}\"]}\noutputs: {said: \"{{ tasks.say }}\", count: \"{{ inputs.times }}\"}\n",
    ),
    (
        "deep.nika.yaml",
        "schema: nika/workflow@1\ninputs: {on: {type: boolean, default: false}}\npermits: {fs: {read: [\"**\"]}, exec: [\"printf *\"], tools: [\"workflow(sub.nika.yaml)\"]}\ntasks:\n  - {id: on, when: inputs.on, invoke: {workflow: sub.nika.yaml, params: {who: you, times: 3}}}\n",
    ),
    (
        "wide.nika.yaml",
        "schema: nika/workflow@1\ninputs: {who: {default: x}, on: {type: boolean, default: true}}\npermits: {fs: {read: [\"**\"]}, exec: [\"cat *\"]}\ntasks: [{id: a, exec: [cat, src/a.rs]}]\n",
    ),
    (
        "around.nika.yaml",
        "schema: nika/workflow@1\npermits: {tools: [\"workflow(around.nika.yaml)\"]}\ntasks: [{id: a, invoke: {workflow: around.nika.yaml}}]\n",
    ),
];

/// Values that may stand anywhere and belong there seldom.
const VALUES: &[&str] = &[
    "3",
    "-5",
    "0",
    "1.5",
    "99999999999",
    "true",
    "\"yes\"",
    "\"7\"",
    "null",
    "[]",
    "[a, 1]",
    "{}",
    "{a: b}",
    "{kind: foo}",
    "[{kind: foo}]",
    "\"\"",
    "bogus",
    "count",
    "code",
    "pending",
    "src/a.rs",
    "n.ipynb",
    "sub.nika.yaml",
    "wide.nika.yaml",
    "around.nika.yaml",
    "chain1.nika.yaml",
    "\"(\"",
    "\"[a\"",
    "\"{a,\"",
    "\"a\\u0000b\"",
    "\"a\\u0007b\"",
    "\"{{ '(' }}\"",
    "[\"*.rs\", \"[a\"]",
    "\"{{ inputs.pattern }}\"",
    "\"{{ pattern }}\"",
    "\"{{ inputs.most }}\"",
    "\"{{ inputs.words }}\"",
    "\"{{ inputs.word }}\"",
    "\"{{ inputs.name }}\"",
    "\"{{ inputs.places }}\"",
    "\"{{ inputs.numbers }}\"",
    "\"{{ inputs.times }}\"",
    "\"{{ inputs.deep }}\"",
    "\"{{ use.found }}\"",
    "\"{{ use.said }}\"",
    "\"{{ item }}\"",
    "\"{{ mode }}\"",
    "\"{{ 'maybe' }}\"",
    "\"'maybe'\"",
    "\"{{ 1 + 1 }}\"",
    "\"{{ 1 / 0 }}\"",
    "\"{{ ['a'] }}\"",
    "\"n {{ inputs.most }}\"",
    "[count, bogus]",
    "[1, -1]",
    "30s",
    "[HOME]",
    "[\"printf *\"]",
    "[grep]",
    "{value: x}",
];

/// Words that mean something somewhere.
const WORDS: &[&str] = &[
    "pattern",
    "path",
    "file_path",
    "content",
    "limit",
    "offset",
    "output_mode",
    "status",
    "when",
    "for_each",
    "tool",
    "workflow",
    "params",
    "grep",
    "read",
    "write",
    "sleep",
    "glob",
    "src",
    "out",
    "count",
    "inputs",
    "use",
    "env",
    "string",
    "number",
    "boolean",
    "list",
    "exec",
    "permits",
    "tools",
    "item",
    "true",
    "on_error",
    "timeout",
];

/// A row of numbers that is the same every time (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % most.max(1)
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// The document that a number stands for.
fn mutant(seed: u64) -> String {
    let mut dice = Dice((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    dice.below(7);
    let mut lines: Vec<String> = dice.of(GOOD).lines().map(str::to_owned).collect();
    for _ in 0..=dice.below(2) {
        // The first line says what it is; without it nothing else is looked at.
        let at = 1 + dice.below(lines.len() - 1);
        match dice.below(10) {
            0 => drop(lines.remove(at)),
            1 => {
                let other = 1 + dice.below(lines.len() - 1);
                lines.swap(at, other);
            }
            2 => {
                let (from, to) = (dice.of(WORDS), dice.of(WORDS));
                if lines[at].contains(from) {
                    lines[at] = lines[at].replacen(from, to, 1);
                }
            }
            3 => {
                if let Some((key, rest)) = lines[at].clone().split_once(':') {
                    let indent: String = key.chars().take_while(|c| " -".contains(*c)).collect();
                    lines[at] = format!("{indent}{}:{rest}", dice.of(WORDS));
                }
            }
            _ => {
                if let Some((key, _)) = lines[at].clone().split_once(": ") {
                    lines[at] = format!("{key}: {}", dice.of(VALUES));
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

const NOTEBOOK: &str = r#"{"cells": [{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [], "source": ["1"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#;

/// What the documents work on, as it is before each of them.
fn fresh(scene: World) -> World {
    let _ = std::fs::remove_dir_all(scene.root().join("out"));
    let scene = scene.file("src/a.rs", "// TODO\nfn a() {}\n").file("src/b.rs", "// TODO\n").file("n.ipynb", NOTEBOOK);
    let scene = BESIDE.iter().fold(scene, |scene, (name, text)| scene.file(name, text));
    (1..=LAST).fold(scene, |scene, number| scene.file(&format!("chain{number}.nika.yaml"), &chained(number)))
}

fn scene() -> World {
    fresh(world())
}

/// What came of those in one workspace.
#[derive(Debug, Default)]
struct Came {
    clean: usize,
    failed: usize,
    /// By code, how often the check found it.
    found: BTreeMap<String, usize>,
    /// By code, how many failed with it.
    codes: BTreeMap<String, usize>,
    /// Failures that the check should have found.
    missed: Vec<String>,
}

/// Whether the parameter that a message names first holds what only the run knows: its type is looked at before, which
/// value it is cannot be.
fn is_made_by_the_run(message: &str, text: &str) -> bool {
    let named = message.strip_prefix('`').and_then(|rest| rest.split(['`', '.', '[']).next()).unwrap_or_default();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with(&format!("{named}:")));
    let Some(first) = lines.next().filter(|_| !named.is_empty()) else { return false };
    let below = lines.take_while(|line| indent(line) > indent(first));
    std::iter::once(first).chain(below).any(|line| line.contains("{{ inputs.") || line.contains("{{ use."))
}

/// Why a tool does not take what a document writes where it is there to see only in a run.
const OF_THE_WORLD: &[&str] = &["is beyond the end", "is no PDF"];

/// Whether a failure is one that the check is there to find. `open`: it said that something is left to the run.
fn is_of_the_check(code: u16, message: &str, text: &str, open: bool) -> bool {
    match code {
        // Arguments that do not fit are data by then: see below.
        100 | 101 | 206 | 207 | 223 | 301 | 500 | 800 | 870..=889 => true,
        // An input without a default is asked of whoever runs it.
        891 => !message.starts_with("inputs of `m"),
        // How long it may take is no matter of a check.
        897 => !message.contains("limits.timeout"),
        // What the permits do not state, unless it was said that a template decides it.
        205 => message.contains("permits") && !open,
        890 if message.contains("as things are here") => !OF_THE_WORLD.iter().any(|why| message.contains(why)),
        890 if message.contains("what its templates made does not fit") => {
            let said = message.split_once("does not fit").map_or("", |(_, said)| said);
            let said = said.split_once(": ").map_or("", |(_, said)| said);
            said.contains("invalid type") || !is_made_by_the_run(said, text)
        }
        // A condition that is no condition whatever the run brings.
        890 => {
            let when = text.lines().find(|line| line.trim_start().starts_with("when:")).unwrap_or_default();
            message.contains("neither true nor false")
                && !["use.", "inputs.", "env."].iter().any(|of| when.contains(of))
        }
        _ => false,
    }
}

fn came_of(share: u64) -> Came {
    let mut scene = scene();
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for seed in (0..MUTANTS).filter(|seed| seed % WORKSPACES == share) {
        let name = format!("m{seed}.nika.yaml");
        let text = mutant(seed);
        std::fs::write(scene.root().join(&name), &text).expect("written");
        texts.insert(name, text);
    }
    let mut words = vec!["check", "--json"];
    words.extend(texts.keys().map(String::as_str));
    let checked = scene.run(&words).json();
    let files = checked["files"].as_array().expect("a list");
    assert_eq!(files.len(), texts.len());
    let mut came = Came::default();
    for finding in files.iter().flat_map(|file| file["findings"].as_array().into_iter().flatten()) {
        if let Some(code) = finding["code"].as_str().filter(|_| finding["weight"] == "error") {
            *came.found.entry(code.to_owned()).or_default() += 1;
        }
    }
    for file in files.iter().filter(|file| file["clean"] == true) {
        came.clean += 1;
        let name = file["file"].as_str().expect("a name");
        let notes = file["findings"].as_array().into_iter().flatten();
        let open = notes.filter_map(|note| note["message"].as_str()).any(|note| note.contains("decided at run time"));
        scene = fresh(scene);
        let ran = scene.run(&["run", name, "--yes", "--output", "stream-json"]);
        let mut errors: Vec<(u16, String)> = Vec::new();
        for line in ran.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            for error in [&line["error"], &line["instead_of"]] {
                let (Some(code), Some(message)) = (error["code"].as_str(), error["message"].as_str()) else { continue };
                let code = code.trim_start_matches("NIKA-").parse().expect("a code");
                // The end of the run says again what one of its tasks said.
                if code != 898 {
                    errors.push((code, message.to_owned()));
                }
            }
        }
        assert!(ran.code == 0 || !errors.is_empty(), "{name} failed and said nothing: {ran:?}\n{}", texts[name]);
        came.failed += usize::from(ran.code != 0);
        for (code, message) in errors {
            *came.codes.entry(format!("NIKA-{code}")).or_default() += 1;
            if is_of_the_check(code, &message, &texts[name], open) {
                came.missed.push(format!("{name}: NIKA-{code} {message}\n{}", texts[name]));
            }
        }
    }
    came
}

#[test]
fn good_documents_are_good_and_run() {
    let mut scene = scene();
    if !confined(&scene) {
        return;
    }
    for (number, text) in GOOD.iter().enumerate() {
        let name = format!("good{number}.nika.yaml");
        scene = scene.file(&name, text);
        scene.run(&["check", "--strict", &name]).exits(0);
        scene.run(&["run", &name, "--yes"]).exits(0);
    }
}

#[test]
fn what_passes_the_check_never_fails_as_the_check_would() {
    if !confined(&scene()) {
        return;
    }
    let began = std::time::Instant::now();
    let shares: Vec<_> = (0..WORKSPACES).map(|share| std::thread::spawn(move || came_of(share))).collect();
    let mut all = Came::default();
    for share in shares {
        let came = share.join().expect("it ends");
        all.clean += came.clean;
        all.failed += came.failed;
        all.missed.extend(came.missed);
        came.codes.into_iter().for_each(|(code, count)| *all.codes.entry(code).or_default() += count);
        came.found.into_iter().for_each(|(code, count)| *all.found.entry(code).or_default() += count);
    }
    println!(
        "{} of {MUTANTS} passed the check and ran, {} of them failed on data: {:?}; found in the others: {:?}; {:?}",
        all.clean,
        all.failed,
        all.codes,
        all.found,
        began.elapsed()
    );
    assert!(all.missed.is_empty(), "{} missed:\n{}", all.missed.len(), all.missed.join("\n"));
    assert!(all.clean > 150 && all.failed < all.clean / 2, "{all:?}");
    // Were the classes not among them, this would show little.
    assert!(all.codes.contains_key("NIKA-890"), "{:?}", all.codes);
    for code in ["NIKA-871", "NIKA-873", "NIKA-874", "NIKA-876", "NIKA-877", "NIKA-880"] {
        assert!(all.found.contains_key(code), "{code}: {:?}", all.found);
    }
}
