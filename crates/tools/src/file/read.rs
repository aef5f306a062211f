//! `read`: what a file holds, shown to a model.
//!
//! Decides by the first bytes what a file is, and bounds what is shown of it. How text is decoded is
//! `nika_edit`'s; what pictures and PDFs mean is parsed in children that may die. Whether the file may
//! be read was settled before; how the answer is cut and sent comes after.

mod args;
mod fuzz;
mod large;
mod marks;
mod notebook;
pub(crate) mod parse;
pub(crate) mod pdf;
mod picture;
mod sheet;
mod text;
pub(crate) mod wire;

use std::os::unix::fs::FileExt;
use std::sync::Arc;

use nika_contract::{Block, Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code, event};
use nika_edit::NotText;
use nika_guard::{Effect, Effects, Place};
use nika_host::fs::{Ledger, OpenFile, Seen, Shown, Workspace, sha256};
use nika_host::proc::Isolated;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::seen::hex;
use crate::shell::scratch;
use args::{Window, size};
use marks::Marked;
use text::NoPage;

pub use fuzz::fuzz_one;
pub(super) use notebook::sources;
pub use parse::parse_child;

/// Bytes of a text that is taken in whole: 4 MiB are read, hashed and decoded in about 5 ms, and an
/// edit afterwards knows exactly what was there.
const WHOLE_BYTES: u64 = 4 << 20;
/// Bytes whose hash is worth another thread: 64 KiB take about as long as handing them over.
const HASHED_BESIDE: usize = 128 << 10;
/// Bytes that tell what a file is: within so many a PDF begins.
const MAGIC_BYTES: usize = pdf::BEGINS_WITHIN;

/// Reads a file: text with line numbers (any encoding), images (over 1,568 px or 3.75 MiB scaled down), PDF text,
/// notebooks as cells. Lines over 2,000 characters are cut. To find something in files use grep; for a directory,
/// list_dir.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Path, absolute or from the root.
    pub file_path: String,
    /// First line, from 1; -100 starts 100 lines before the end, fast in a log of any size. A line far in is found
    /// by reading all before it once, half a second a GB. Counts cells in a notebook.
    #[serde(default, deserialize_with = "crate::lenient::number")]
    #[schemars(with = "Option<i64>")]
    pub offset: Option<i64>,
    /// How many lines. Default 2000.
    #[serde(default, deserialize_with = "crate::lenient::number")]
    #[schemars(with = "Option<i64>")]
    pub limit: Option<i64>,
    /// Pages of a PDF: "3", "1-5" or "10-", at most 20 a call.
    #[serde(default, deserialize_with = "args::text_or_number")]
    #[schemars(with = "Option<String>")]
    pub pages: Option<String>,
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "A whole file",
        files: &[("src/main.rs", "fn main() {\n    run();\n}\n")],
        before: &[],
        arguments: r#"{"file_path": "src/main.rs"}"#,
        answer: "     1\tfn main() {\n     2\t    run();\n     3\t}",
    },
    Example {
        title: "Some lines of it",
        files: &[("notes.txt", "one\ntwo\nthree\nfour\n")],
        before: &[],
        arguments: r#"{"file_path": "notes.txt", "offset": 2, "limit": 2}"#,
        answer: "     2\ttwo\n     3\tthree\n[lines 2–3 of 4; go on with offset=4]",
    },
    Example {
        title: "The end of a log",
        files: &[("app.log", "start\nwork\nwork\ndone\n")],
        before: &[],
        arguments: r#"{"file_path": "app.log", "offset": -1}"#,
        answer: "     4\tdone\n[line 4 of 4]",
    },
    Example {
        title: "The cells of a notebook",
        files: &[(
            "plot.ipynb",
            r##"{"cells": [{"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"##,
        )],
        before: &[],
        arguments: r#"{"file_path": "plot.ipynb"}"#,
        answer: "=== cell 0 markdown id=intro\n# Title",
    },
];

/// The tool.
#[derive(Debug)]
pub struct Read {
    /// Where files are.
    pub files: Arc<Workspace>,
    /// How parser children are started. Without it hostile formats are parsed in this process: for tests.
    pub parsers: Option<Isolated>,
}

impl Tool for Read {
    type Params = Params;
    const SPEC: Spec = Spec::new("read", "Read file", Group::File)
        .eager()
        .read_only()
        .event(event::TOOL_READ)
        .max_output_chars(sheet::ANSWER_CHARS)
        .terms(&[
            "cat",
            "open",
            "view",
            "show",
            "display",
            "contents",
            "head",
            "tail",
            "image",
            "screenshot",
            "pdf",
            "ipynb",
            "source code",
            "picture",
            "text",
            "document",
            "print",
            "look",
            "page",
        ])
        .examples(EXAMPLES);

    fn effects(&self, p: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Window::new(p.offset, p.limit)?;
        pdf::Pages::new(p.pages.as_deref())?;
        let place = self.files.locate_without_git(&p.file_path)?;
        let twin = self.files.secret_twin(&place);
        let effects = Effects::read(place);
        // What is a secret under another name is asked about as that.
        Ok(match twin {
            Some(secret) => effects.and(Effect::Read(secret)),
            None => effects,
        })
    }

    async fn run(&self, p: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let window = Window::new(p.offset, p.limit)?;
        let pages = pdf::Pages::new(p.pages.as_deref())?;
        let place = cx.place()?;
        let open = self.files.open_file(cx.permit, place).map_err(|refused| match refused.code {
            code::NOT_FOUND => match scratch::elsewhere(cx, &place.path) {
                Some(hint) => refused.hint(hint),
                None => refused,
            },
            _ => refused,
        })?;
        // Most files are small: they are taken in one read, and their first bytes are at hand.
        let small = open.size <= WHOLE_BYTES;
        let file = if small { Taken::Whole(Whole::take(open, WHOLE_BYTES)?) } else { Taken::Open(open) };
        let kind = file.kind()?;
        if p.pages.is_some() && !matches!(kind, Kind::Pdf) {
            return Err(ToolError::argument("pages", format!("{} is no PDF", place.shown()))
                .hint("leave it out; `offset` and `limit` choose lines"));
        }
        if let Some((name, instead)) = without_lines(&kind).and_then(|instead| Some((p.counts_lines()?, instead))) {
            return Err(ToolError::argument(name, format!("{} has no lines to count", place.shown())).hint(instead));
        }
        match kind {
            Kind::Picture => self.picture(file.whole(picture::FILE_BYTES)?, cx).await,
            Kind::Pdf => self.pdf(file.whole(pdf::FILE_BYTES)?, p.pages.as_deref(), pages, cx).await,
            Kind::Notebook => self.notebook(file.whole(notebook::FILE_BYTES)?, window, cx).await,
            Kind::Text => match file {
                Taken::Whole(file) => file.text(window, cx).await,
                Taken::Open(open) => large_text(open, window, cx).await,
            },
        }
    }
}

impl Read {
    async fn picture(&self, file: Whole, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let frames = parse::ask(self.parsers.as_ref(), cx, parse::PICTURE, &json!({}), &file.bytes).await;
        let frames = frames.map_err(|error| named(&file.open.place, error))?;
        let (text, block) =
            picture::blocks(&file.shown(), &file.bytes, &frames).ok_or_else(|| nonsense(&file.open.place))?;
        let hash = sha256(&file.bytes);
        file.seen(cx, hash, false, Shown::All);
        Ok(file.facts(hash, Output { content: vec![Block::Text(text), block], ..Output::default() }))
    }

    async fn pdf(&self, file: Whole, asked: Option<&str>, pages: pdf::Pages, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let asked = json!({"pages": asked});
        let frames = parse::ask(self.parsers.as_ref(), cx, parse::PDF, &asked, &file.bytes).await;
        let frames = frames.map_err(|error| named(&file.open.place, error))?;
        let (text, shown) = pdf::text(&file.shown(), pages, &frames).ok_or_else(|| nonsense(&file.open.place))?;
        let hash = sha256(&file.bytes);
        file.seen(cx, hash, false, Shown::All);
        Ok(file.facts(hash, Output::text(text).with_fact("pages", shown)))
    }

    async fn notebook(&self, file: Whole, window: Window, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let Some(read) = notebook::read(&file.bytes) else {
            return file.text(window, cx).await;
        };
        let cells = notebook::cells(read, &file.shown(), window, self.parsers.as_ref(), cx).await;
        let cells = cells.map_err(|error| named(&file.open.place, error))?;
        let hash = sha256(&file.bytes);
        file.seen(cx, hash, true, cells.part);
        let output = Output { content: cells.blocks, ..Output::default() }.with_ours_from(cells.notes_from);
        Ok(file.facts(hash, output.with_fact("cells", cells.shown)))
    }
}

impl Params {
    /// The first parameter that counts lines.
    fn counts_lines(&self) -> Option<&'static str> {
        self.offset.map(|_| "offset").or(self.limit.map(|_| "limit"))
    }
}

/// What goes instead of lines for what has none.
fn without_lines(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Pdf => Some("leave it out; `pages` chooses pages of a PDF"),
        Kind::Picture => Some("leave it out; a picture is shown whole"),
        Kind::Notebook | Kind::Text => None,
    }
}

/// What a file is to this tool.
enum Kind {
    Picture,
    Pdf,
    Notebook,
    Text,
}

/// A file, with its bytes or not yet.
enum Taken {
    Whole(Whole),
    Open(OpenFile),
}

impl Taken {
    /// By the first bytes; only a notebook, which is JSON like any other, goes by its name.
    fn kind(&self) -> Result<Kind, ToolError> {
        let mut read = [0; MAGIC_BYTES];
        let (head, open) = match self {
            Taken::Whole(file) => (&*file.bytes, &file.open),
            Taken::Open(open) => {
                let failed =
                    |error| ToolError::new(code::READ_FAILED, format!("cannot read {}: {error}", open.place.shown()));
                let count = open.file.read_at(&mut read, 0).map_err(failed)?;
                (&read[..count], open)
            }
        };
        let is_named = |end: &str| open.place.path.extension().is_some_and(|name| name.eq_ignore_ascii_case(end));
        Ok(match head {
            head if head.starts_with(pdf::MAGIC) => Kind::Pdf,
            head if picture::kind(head).is_some() => Kind::Picture,
            // Any other text may speak of one.
            head if is_named("pdf") && pdf::begin(head).is_some() => Kind::Pdf,
            _ if notebook::is_named(&open.place.path) && open.size <= notebook::FILE_BYTES => Kind::Notebook,
            _ => Kind::Text,
        })
    }

    fn whole(self, max_bytes: u64) -> Result<Whole, ToolError> {
        match self {
            Taken::Whole(file) => Ok(file),
            Taken::Open(open) => Whole::take(open, max_bytes),
        }
    }
}

/// A file with all its bytes, which the session's ledger may go on holding.
struct Whole {
    open: OpenFile,
    bytes: Arc<[u8]>,
}

impl Whole {
    fn take(mut open: OpenFile, max_bytes: u64) -> Result<Whole, ToolError> {
        let size = usize::try_from(open.size.min(max_bytes)).unwrap_or(0);
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, size).collect();
        // Read where the ledger will keep it, if the size holds. In /proc, and while it grows, it does not.
        let exact = open.size == size as u64
            && Arc::get_mut(&mut bytes).is_some_and(|room| open.file.read_exact_at(room, 0).is_ok())
            && matches!(open.file.read_at(&mut [0], open.size), Ok(0));
        if !exact {
            bytes = open.read_all(max_bytes)?.into();
        }
        Ok(Whole { open, bytes })
    }

    async fn text(&self, window: Window, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let hash = self.hash_beside(cx);
        let page = text::page(&self.bytes, window);
        let hash = hash.await;
        let page = page.map_err(|no| {
            // Nothing of it was shown, but it was looked at as it stands: enough to move or delete it.
            if matches!(no, NoPage::NotText(_)) {
                self.seen(cx, hash, false, Shown::default());
            }
            no_page(&self.open, no)
        })?;
        self.seen(cx, hash, true, page.part);
        Ok(self.facts(hash, Output::text(page.text).with_ours_from(page.notes_from).with_fact("lines", page.shown)))
    }

    /// The hash, which is half of the work for a large file: known from before where the session pages through it, else done
    /// beside the rest.
    fn hash_beside(&self, cx: &Cx<'_>) -> impl Future<Output = [u8; 32]> + use<> {
        let bytes = Arc::clone(&self.bytes);
        let is_large = bytes.len() >= HASHED_BESIDE;
        let before = is_large.then(|| cx.session.slot::<Ledger>().seen(&self.open.place.path)).flatten();
        let known = before.filter(|seen| seen.bytes.as_ref() == Some(&bytes)).and_then(|seen| seen.hash);
        let beside = match tokio::runtime::Handle::try_current() {
            Ok(runtime) if is_large && known.is_none() => {
                let bytes = Arc::clone(&bytes);
                Some(runtime.spawn_blocking(move || sha256(&bytes)))
            }
            _ => None,
        };
        async move {
            let hashed = match beside {
                Some(task) => task.await.ok(),
                None => known,
            };
            hashed.unwrap_or_else(|| sha256(&bytes))
        }
    }

    /// Notes that the session has seen so much of these bytes; those of a text are kept, for an edit to start from.
    fn seen(&self, cx: &Cx<'_>, hash: [u8; 32], keep: bool, shown: Shown) {
        let bytes = keep.then(|| Arc::clone(&self.bytes));
        let seen = Seen { hash: Some(hash), bytes, stamp: self.open.stamp, shown };
        cx.session.slot::<Ledger>().note(&self.open.place.path, seen);
    }

    fn shown(&self) -> String {
        nika_contract::text::harmless(&self.open.place.shown()).into_owned()
    }

    fn facts(&self, hash: [u8; 32], output: Output) -> Output {
        output
            .with_fact("path", self.open.place.shown())
            .with_fact("bytes", self.bytes.len())
            .with_fact("sha256", hex(hash))
    }
}

/// What is said of a notebook that is too large to be read as one.
const AS_IT_STANDS: &str = "\n[a notebook of over 32 MiB: shown as the file stands, not as cells]";

/// A part of a file that is too large to take whole.
async fn large_text(open: OpenFile, window: Window, cx: &Cx<'_>) -> Result<Output, ToolError> {
    let marked = cx.session.slot::<Marked>();
    let mut marks = marked.of(&open.place.path, open.stamp);
    let (page, open, marks) = parse::blocking(cx.cancel, move |stopped| {
        let page = large::page(&open.file, open.size, window, large::COUNTED_BYTES, &mut marks, stopped);
        (page, open, marks)
    })
    .await?;
    marked.keep(&open.place.path, open.stamp, marks);
    let looked_at = |shown| {
        let seen = Seen { hash: None, bytes: None, stamp: open.stamp, shown };
        cx.session.slot::<Ledger>().note(&open.place.path, seen);
    };
    let page = page.map_err(|no| {
        if matches!(no, NoPage::NotText(_)) {
            looked_at(Shown::default());
        }
        no_page(&open, no)
    })?;
    looked_at(page.part);
    let raw = if notebook::is_named(&open.place.path) { AS_IT_STANDS } else { "" };
    Ok(Output::text(page.text + raw)
        .with_ours_from(page.notes_from)
        .with_fact("lines", page.shown)
        .with_fact("path", open.place.shown())
        .with_fact("bytes", open.size))
}

/// Why there is no page, with the file's name, type and size.
fn no_page(open: &OpenFile, no: NoPage) -> ToolError {
    match no {
        NoPage::Refused(refused) => refused,
        NoPage::NotText(NotText { reason, kind, .. }) => {
            let what = kind.map_or_else(|| format!("not text: {reason}"), str::to_owned);
            let message = format!("{} is {what} ({})", open.place.shown(), size(open.size));
            ToolError::new(code::UNSUPPORTED_TYPE, message)
                .hint("text, PNG, JPEG, GIF, WebP, PDF and notebooks can be read")
        }
    }
}

/// A parser's refusal, which does not know what it parsed.
fn named(place: &Place, error: ToolError) -> ToolError {
    if error.code == code::CANCELLED || error.code == code::BAD_ARGUMENTS {
        return error;
    }
    ToolError { message: format!("{}: {}", place.shown(), error.message), ..error }
}

fn nonsense(place: &Place) -> ToolError {
    ToolError::new(code::PARSER_FAILED, format!("{}: the parser's answer makes no sense", place.shown()))
}

#[cfg(test)]
mod tests;
