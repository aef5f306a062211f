//! A shell script as a tree: what the reader found, before any word has a value.

use std::ops::Range;

/// Commands in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Script {
    pub items: Vec<Item>,
}

/// Pipelines joined by `&&` and `||`, ended by `;`, a newline or `&`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub first: Pipeline,
    /// `true` for `&&`.
    pub rest: Vec<(bool, Pipeline)>,
    pub background: bool,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pipeline {
    /// Number of `!` before it.
    pub bangs: usize,
    /// `time`; `Some(true)` for `time -p`.
    pub timed: Option<bool>,
    pub stages: Vec<Command>,
    /// For each `|` between stages: whether it was `|&`.
    pub both: Vec<bool>,
}

/// One command with its redirections.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    pub kind: Kind,
    pub redirects: Vec<Redirect>,
    pub span: Range<usize>,
}

/// What kind of command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Simple {
        assigns: Vec<Assign>,
        words: Vec<Word>,
    },
    Subshell(Script),
    Group(Script),
    If {
        arms: Vec<(Script, Script)>,
        otherwise: Option<Script>,
    },
    Loop {
        until: bool,
        condition: Script,
        body: Script,
    },
    /// `for` or `select`.
    For {
        select: bool,
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    ArithFor {
        parts: [Vec<Part>; 3],
        body: Script,
    },
    Case {
        word: Word,
        arms: Vec<Arm>,
    },
    Function {
        name: String,
        body: Box<Command>,
    },
    Coproc {
        body: Box<Command>,
    },
    Arith(Vec<Part>),
    Test(Test),
}

/// One arm of `case`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arm {
    pub patterns: Vec<Word>,
    pub body: Script,
    /// `;;`, `;&` or `;;&`.
    pub end: &'static str,
}

/// The inside of `[[ … ]]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
    Not(Box<Test>),
    Paren(Box<Test>),
    Unary(String, Word),
    Binary(String, Word, Word),
    Word(Word),
}

/// `name=value` before a command, or alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assign {
    pub name: String,
    /// `name[index]=…`, as written.
    pub index: Option<String>,
    pub append: bool,
    pub value: AssignValue,
    pub span: Range<usize>,
}

/// What is assigned.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AssignValue {
    Word(Word),
    Array(Vec<Word>),
}

/// A redirection.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Redirect {
    pub fd: Fd,
    pub op: RedirectOp,
    pub target: Target,
    pub span: Range<usize>,
}

/// The descriptor before the operator.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fd {
    Default,
    /// As [`number`] spells it.
    Number(String),
    /// `{name}>`.
    Named(String),
}

/// A number without the zeros before it, which the shell does not look at: `02>` is `2>`.
pub(super) fn number(digits: &str) -> &str {
    let last = digits.len().saturating_sub(1);
    digits.get(digits.bytes().take(last).take_while(|byte| *byte == b'0').count()..).unwrap_or(digits)
}

/// The operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectOp {
    Read,
    Write,
    Append,
    Clobber,
    ReadWrite,
    DupIn,
    DupOut,
    Both,
    BothAppend,
    Here,
    HereStrip,
    HereString,
}

impl RedirectOp {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            RedirectOp::Read => "<",
            RedirectOp::Write => ">",
            RedirectOp::Append => ">>",
            RedirectOp::Clobber => ">|",
            RedirectOp::ReadWrite => "<>",
            RedirectOp::DupIn => "<&",
            RedirectOp::DupOut => ">&",
            RedirectOp::Both => "&>",
            RedirectOp::BothAppend => "&>>",
            RedirectOp::Here => "<<",
            RedirectOp::HereStrip => "<<-",
            RedirectOp::HereString => "<<<",
        }
    }
}

/// Where a redirection leads.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    Word(Word),
    /// Index into [`Program::heres`].
    Here(usize),
}

/// A here-document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Here {
    pub delimiter: String,
    /// Nothing in it is expanded.
    pub quoted: bool,
    pub strip: bool,
    /// The body as written.
    pub raw: String,
    /// The body, when it is expanded.
    pub parts: Vec<Part>,
}

/// A word.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Word {
    pub parts: Vec<Part>,
    pub span: Range<usize>,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Text outside quotes: wildcards, braces and `~` still mean something.
    Plain(String),
    /// Text that stands for itself, whatever quoting made it so.
    Quoted(String),
    /// `$x`, `${…}`.
    Param { param: Param, quoted: bool },
    /// `$(…)` or backticks.
    Command { script: Script, quoted: bool, span: Range<usize> },
    /// `$((…))`.
    Arith { parts: Vec<Part>, quoted: bool },
    /// `<(…)`, or `>(…)` if `write`.
    Process { write: bool, script: Script },
    /// `(…)` behind `name=` of a declaration.
    Array(Vec<Word>),
}

/// A parameter expansion.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Param {
    pub name: String,
    /// `[…]`, as written.
    pub index: Option<String>,
    pub op: Op,
    /// What stands between `${` and `}`, as written.
    pub raw: String,
    /// Whether it is written with these: `$name` runs on as far as there are letters, once braces have become words.
    pub closed: bool,
}

/// What a parameter expansion does with the value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    Plain,
    Length,
    /// `${x:-word}` and its sisters; `kind` is `-`, `=`, `+` or `?`.
    Default {
        kind: char,
        word: Vec<Part>,
    },
    /// `#`, `%`, `/`, `^`, `,`: a changed value.
    Edit(Vec<Part>),
    /// `${x:offset:length}`.
    Substring(Vec<Part>),
    /// `${!x}`, `${x@P}`: text that is evaluated again.
    Evaluate,
}

/// A whole script with the bodies of its here-documents.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Program {
    pub script: Script,
    pub heres: Vec<Here>,
}
