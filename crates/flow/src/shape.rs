//! The keys of every mapping in a document: one table that the reader refuses by and that the published JSON schema is
//! made of, so that an editor completes what `nika check` takes.

/// A key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// As written.
    pub name: &'static str,
    /// What it says, for an editor's tooltip.
    pub says: &'static str,
    /// What it takes: JSON schema.
    pub takes: &'static str,
    /// Whether it has to be there.
    pub required: bool,
}

/// The keys of one kind of mapping.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// How findings name it: `a task`.
    pub what: &'static str,
    /// In the order of the documents.
    pub keys: &'static [Key],
}

const fn key(name: &'static str, takes: &'static str, says: &'static str) -> Key {
    Key { name, says, takes, required: false }
}

const fn must(name: &'static str, takes: &'static str, says: &'static str) -> Key {
    Key { name, says, takes, required: true }
}

const TEXT: &str = r#"{"type":"string"}"#;
const TEXTS: &str = r##"{"$ref":"#/$defs/texts"}"##;
const WORD: &str = r##"{"$ref":"#/$defs/word"}"##;
const WORDS: &str = r##"{"type":"array","minItems":1,"items":{"$ref":"#/$defs/word"}}"##;
const NAMED: &str = r##"{"type":"object","additionalProperties":{"$ref":"#/$defs/word"}}"##;
const SPAN: &str = r##"{"$ref":"#/$defs/duration"}"##;
const ID: &str = r##"{"$ref":"#/$defs/id"}"##;
const IDS: &str = r##"{"oneOf":[{"$ref":"#/$defs/id"},{"type":"array","items":{"$ref":"#/$defs/id"}}]}"##;
const ANY: &str = "true";
const OBJECT: &str = r#"{"type":"object"}"#;
const COUNT: &str = r#"{"type":"integer","minimum":1}"#;
/// Tasks, or elements of a loop, at once.
pub const MOST_AT_ONCE: u64 = 64;
/// The same as a schema.
const AT_ONCE: &str = r#"{"type":"integer","minimum":1,"maximum":64}"#;

/// The whole document.
pub const DOCUMENT: Shape = Shape {
    what: "a workflow",
    keys: &[
        must("schema", r#"{"const":"nika/workflow@1"}"#, "The version of the language."),
        key("name", TEXT, "For people; the file's name when nothing is said."),
        key("description", TEXT, "What it is for."),
        key("provider", TEXT, "Of infer and agent tasks that name none; else the configured one."),
        key("model", TEXT, "Of infer and agent tasks that name none; else the configured one."),
        key(
            "inputs",
            r##"{"type":"object","additionalProperties":{"$ref":"#/$defs/input"}}"##,
            "What it takes: `nika run FILE NAME=VALUE`. One without a default is required.",
        ),
        key(
            "secrets",
            r##"{"oneOf":[{"$ref":"#/$defs/name"},{"type":"array","items":{"$ref":"#/$defs/name"}}]}"##,
            "Environment variables whose values are shown nowhere: `{{ secrets.NAME }}`.",
        ),
        key("permits", r##"{"$ref":"#/$defs/permits"}"##, "What it may do; all else is denied."),
        key("limits", r##"{"$ref":"#/$defs/limits"}"##, "Bounds of the whole run."),
        must("tasks", r##"{"type":"array","minItems":1,"items":{"$ref":"#/$defs/task"}}"##, "What it does."),
        key(
            "flows",
            r##"{"type":"array","items":{"$ref":"#/$defs/edge"}}"##,
            "Which task comes before which: the same as `depends_on`, written from the other side.",
        ),
        key(
            "outputs",
            r##"{"type":"object"}"##,
            "What it answers with: names and values, with templates over `tasks.ID`.",
        ),
    ],
};

/// One of `inputs`.
pub const INPUT: Shape = Shape {
    what: "an input",
    keys: &[
        key(
            "type",
            r#"{"enum":["string","number","boolean","list","object"]}"#,
            "What kind of value: string when nothing is said.",
        ),
        key("default", ANY, "Taken when none is given; without one the input is required."),
        key("description", TEXT, "What it is for."),
    ],
};

/// `permits`.
pub const PERMITS: Shape = Shape {
    what: "`permits`",
    keys: &[
        key("fs", r##"{"$ref":"#/$defs/fs"}"##, "Files."),
        key("net", TEXTS, "Hosts that it reaches: `api.example.com`, `*.example.com`."),
        key("exec", TEXTS, "Commands that it runs, word by word: `git log *`."),
        key("tools", TEXTS, "Tools that invoke and agent use: a name, `mcp__SERVER__TOOL` or `mcp__SERVER`."),
        key("env", TEXTS, "Environment variables that its commands and templates see."),
    ],
};

/// `permits.fs`.
pub const FS: Shape = Shape {
    what: "`permits.fs`",
    keys: &[
        key("read", TEXTS, "Paths that it reads: `src/**`."),
        key("write", TEXTS, "Paths that it creates, changes, moves or deletes."),
    ],
};

/// `limits`.
pub const LIMITS: Shape = Shape {
    what: "`limits`",
    keys: &[
        key("parallel", AT_ONCE, "Tasks at once: 8 when nothing is said."),
        key("timeout", SPAN, "Of the whole run: no limit when nothing is said."),
        key("cost_usd", r#"{"type":"number","minimum":0}"#, "What models may cost, in US dollars."),
        key("tokens", COUNT, "Tokens that models may read and write."),
    ],
};

/// One of `flows`.
pub const EDGE: Shape = Shape {
    what: "a flow",
    keys: &[
        must("source", ID, "The task that comes before."),
        must("target", IDS, "The task, or tasks, that come after."),
    ],
};

/// One of `tasks`.
pub const TASK: Shape = Shape {
    what: "a task",
    keys: &[
        must("id", ID, "Its name: a letter or `_`, then letters, digits, `_`, `-`."),
        key("description", TEXT, "What it is for."),
        key("depends_on", IDS, "Tasks that end before it begins."),
        key(
            "use",
            r##"{"type":"object","additionalProperties":{"oneOf":[{"type":"string"},{"$ref":"#/$defs/use"}]}}"##,
            "Names for what other tasks made: `ALIAS: task.path ?? default`, then `{{ use.ALIAS }}`.",
        ),
        key(
            "for_each",
            r##"{"oneOf":[{"type":"array"},{"type":"string"},{"$ref":"#/$defs/for_each"}]}"##,
            "Once for each element of this list, or of the list that this template gives.",
        ),
        key(
            "as",
            r##"{"$ref":"#/$defs/name"}"##,
            "What an element is called in templates: `item` when nothing is said.",
        ),
        key("concurrency", AT_ONCE, "Elements at once: 1 when nothing is said."),
        key(
            "fail_fast",
            r#"{"type":"boolean"}"#,
            "Whether the first failure ends the loop: true when nothing is said.",
        ),
        key("when", r#"{"type":["string","boolean"]}"#, "An expression; where it is false the task is skipped."),
        key(
            "retry",
            r##"{"oneOf":[{"type":"integer","minimum":1,"maximum":100},{"$ref":"#/$defs/retry"}]}"##,
            "Tries, the first one included.",
        ),
        key(
            "timeout",
            SPAN,
            "Of one try: 60s for exec (at most 10m), 30s for fetch (its most) and invoke, 120s for infer, 10m for agent.",
        ),
        key(
            "on_error",
            r##"{"oneOf":[{"enum":["fail","skip"]},{"$ref":"#/$defs/on_error"}]}"##,
            "What its failure means: `fail` ends the run, `skip` counts as skipped, `{value}` is its output instead.",
        ),
        key("output", r##"{"$ref":"#/$defs/output"}"##, "What a model's answer has to be; of infer and agent."),
        key("infer", r##"{"oneOf":[{"type":"string"},{"$ref":"#/$defs/infer"}]}"##, "Asks a model."),
        key(
            "exec",
            r##"{"oneOf":[{"type":"array","minItems":1,"items":{"$ref":"#/$defs/word"}},{"$ref":"#/$defs/exec"}]}"##,
            "Runs a command: a list of words, without a shell.",
        ),
        key("fetch", r##"{"oneOf":[{"type":"string"},{"$ref":"#/$defs/fetch"}]}"##, "Makes an HTTP request."),
        key("invoke", r##"{"$ref":"#/$defs/invoke"}"##, "Calls a tool, reads a resource, or runs another workflow."),
        key("agent", r##"{"oneOf":[{"type":"string"},{"$ref":"#/$defs/agent"}]}"##, "Gives a task to an agent."),
    ],
};

/// The verbs: a task has exactly one.
pub const VERBS: &[&str] = &["infer", "exec", "fetch", "invoke", "agent"];

/// One of `use`, in its long form.
pub const USE: Shape = Shape {
    what: "a `use`",
    keys: &[
        must("path", TEXT, "`task`, `task.key` or `task.list[0].key`."),
        key("default", ANY, "Taken when the task made nothing, was skipped, or the path leads nowhere."),
    ],
};

/// `for_each` in its long form.
pub const FOR_EACH: Shape = Shape {
    what: "`for_each`",
    keys: &[
        must("items", r#"{"type":["array","string"]}"#, "The list, or a template that gives one."),
        key(
            "as",
            r##"{"$ref":"#/$defs/name"}"##,
            "What an element is called in templates: `item` when nothing is said.",
        ),
        key("concurrency", AT_ONCE, "Elements at once: 1 when nothing is said."),
        key(
            "fail_fast",
            r#"{"type":"boolean"}"#,
            "Whether the first failure ends the loop: true when nothing is said.",
        ),
    ],
};

/// `retry` in its long form.
pub const RETRY: Shape = Shape {
    what: "`retry`",
    keys: &[
        key("attempts", r#"{"type":"integer","minimum":1,"maximum":100}"#, "Tries, the first one included."),
        key("backoff", SPAN, "Before the second try: 1s when nothing is said."),
        key(
            "factor",
            r#"{"type":"number","minimum":1,"maximum":100}"#,
            "Each wait is so many times the one before: 2.",
        ),
        key("max_backoff", SPAN, "No wait is longer: 60s when nothing is said."),
    ],
};

/// `on_error` with a value.
pub const ON_ERROR: Shape =
    Shape { what: "`on_error`", keys: &[must("value", ANY, "The task's output when it failed.")] };

/// `output`.
pub const OUTPUT: Shape = Shape {
    what: "`output`",
    keys: &[
        key("format", r#"{"enum":["text","json"]}"#, "text when nothing is said; json with a schema."),
        key("schema", r#"{"type":["object","string"]}"#, "JSON schema of the answer, or the path of a file with one."),
    ],
};

/// `infer` in its long form.
pub const INFER: Shape = Shape {
    what: "`infer`",
    keys: &[
        must("prompt", TEXT, "What is asked."),
        key("system", TEXT, "What stands before it."),
        key("provider", TEXT, "The workflow's when nothing is said."),
        key("model", TEXT, "The workflow's when nothing is said."),
    ],
};

/// `exec` in its long form.
pub const EXEC: Shape = Shape {
    what: "`exec`",
    keys: &[
        key("command", WORDS, "A program and its words; each may hold templates and stays one word."),
        key("shell", TEXT, "Shell text instead of `command`; holds no templates: their values go into `env`."),
        key("cwd", WORD, "Where it runs, below the workspace."),
        key("env", NAMED, "Variables that it sees."),
        key("stdin", WORD, "What it reads."),
        key(
            "ok_exit",
            r#"{"oneOf":[{"type":"integer","minimum":0,"maximum":255},{"type":"array","items":{"type":"integer","minimum":0,"maximum":255}}]}"#,
            "Exit codes that are no failure: 0 when nothing is said.",
        ),
        key(
            "capture",
            r#"{"enum":["stdout","stderr","combined","json","all"]}"#,
            "What of it is the task's output: stdout when nothing is said.",
        ),
    ],
};

/// `fetch` in its long form.
pub const FETCH: Shape = Shape {
    what: "`fetch`",
    keys: &[
        must("url", WORD, "Where; its host has to be one of `permits.net`."),
        key("method", r#"{"enum":["GET","POST","PUT","PATCH","DELETE"]}"#, "GET when nothing is said."),
        key("headers", NAMED, "Sent."),
        key("body", ANY, "Sent: text as it is, anything else as JSON."),
        key(
            "read",
            r#"{"enum":["text","json","markdown","answer"]}"#,
            "What of the answer is the output: text when nothing is said.",
        ),
    ],
};

/// `invoke`.
pub const INVOKE: Shape = Shape {
    what: "`invoke`",
    keys: &[
        key("tool", TEXT, "A tool of Nika, or one of the server that `mcp` names."),
        key("mcp", TEXT, "A configured MCP server."),
        key("resource", WORD, "The address of a resource of that server."),
        key("workflow", TEXT, "The path of another workflow; its outputs are this task's output."),
        key("params", OBJECT, "Arguments."),
    ],
};

/// `agent` in its long form.
pub const AGENT: Shape = Shape {
    what: "`agent`",
    keys: &[
        must("prompt", TEXT, "What it is to do."),
        key("system", TEXT, "What stands before it."),
        key("provider", TEXT, "The workflow's when nothing is said."),
        key("model", TEXT, "The workflow's when nothing is said."),
        key("tools", TEXTS, "Tools that it is given: those of `permits.tools` when nothing is said."),
        key("max_turns", r#"{"type":"integer","minimum":1,"maximum":100}"#, "Turns at most: 10 when nothing is said."),
        key("token_budget", COUNT, "Tokens at most."),
    ],
};

/// Every shape that the schema names, by the name of its definition.
pub const DEFINED: &[(&str, Shape)] = &[
    ("input", INPUT),
    ("permits", PERMITS),
    ("fs", FS),
    ("limits", LIMITS),
    ("edge", EDGE),
    ("task", TASK),
    ("use", USE),
    ("for_each", FOR_EACH),
    ("retry", RETRY),
    ("on_error", ON_ERROR),
    ("output", OUTPUT),
    ("infer", INFER),
    ("exec", EXEC),
    ("fetch", FETCH),
    ("invoke", INVOKE),
    ("agent", AGENT),
];
