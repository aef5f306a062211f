//! `edit`: one text for another in one file, byte-exact around it.
//!
//! The thinking — encodings, endings, how closely a text matches, moving an edit onto a file that
//! changed — is `nika-edit`'s and pure. Here it meets the file: read, worked out and committed under the
//! workspace's lock, so that no edit of another session is lost between two of those.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_edit::{
    Detected, EditError, Encoding, Limits, Overlap, Plan, Rebased, Replace, detect, plan, reads_back, rebase, unified,
};
use nika_guard::Effects;
use nika_host::fs::{Change, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::seen::{Base, Known, fits, hex, keep_former, known, note, retried, stale};
use crate::lenient;

/// Replaces text in a file. Read the file first. `old_string` must be exactly the file's text (without
/// line numbers) and occur once, unless `replace_all`. Encoding and line endings are kept. Returns the diff.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// File to edit.
    pub file_path: String,
    /// Exact text to find.
    pub old_string: String,
    /// Text to put in its place.
    pub new_string: String,
    /// Replace every occurrence. Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub replace_all: Option<bool>,
}

/// The tool.
#[derive(Debug)]
pub struct Edit {
    /// The files.
    pub files: Arc<Workspace>,
}

/// The result, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Edited {
    /// The file, as results show paths.
    pub path: String,
    /// Places changed.
    pub count: usize,
    /// How closely `old_string` matched: `exact` or `trailing blanks`.
    pub level: &'static str,
    /// sha256 of the file before.
    pub sha256_before: String,
    /// sha256 of the file now.
    pub sha256_after: String,
}

impl Tool for Edit {
    type Params = Params;
    const SPEC: Spec = Spec::new("edit", "Edit file", Group::File)
        .eager()
        .destructive()
        .text()
        .event(nika_contract::event::TOOL_EDIT)
        .terms(&[
            "replace",
            "change",
            "modify",
            "substitute",
            "fix",
            "update",
            "version",
            "insert",
            "line",
            "variable",
            "word",
            "patch",
            "paragraph",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Edited>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        params.replace().check().map_err(|error| refusal(&error, &params.file_path))?;
        Ok(Effects::write(self.files.locate_file(&params.file_path)?))
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let place = cx.place()?;
        let known = known(&self.files, cx, place)?;
        let worked = work_out(&known, params, &place.shown())?;
        Ok(Some(worked.plan.diff(&known.now.bytes, &place.shown())))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let place = cx.place()?;
        let shown = place.shown().into_owned();
        let (worked, bytes, seen, diff, before, written) = retried(&self.files, cx, |locked| {
            let known = known(&self.files, cx, place)?;
            let worked = work_out(&known, &params, &shown)?;
            fits(worked.plan.new_len(), place)?;
            let bytes = applied(&worked.plan, &known.now.bytes, &shown)?;
            let diff = worked.plan.diff(&known.now.bytes, &shown);
            let seen = known.shown_of(&bytes);
            let change = Change::replace(known.now, known.hash, bytes.clone());
            let written = locked.commit(cx, vec![change])?.remove(0);
            Ok((worked, bytes, seen, diff, known.hash, written))
        })
        .await?;
        if let (Some(hash), Some(stamp)) = (written.after, written.stamp) {
            note(cx, place, bytes, hash, stamp, seen);
        }
        let edited = Edited {
            path: shown,
            count: worked.plan.count,
            level: worked.plan.level.name(),
            sha256_before: hex(before),
            sha256_after: written.after.map(hex).unwrap_or_default(),
        };
        Ok(answer(edited, &worked, written.other_names, &diff))
    }
}

impl Params {
    fn replace(&self) -> Replace<'_> {
        Replace { old: &self.old_string, new: &self.new_string, all: self.replace_all.unwrap_or_default() }
    }
}

/// An edit placed in the file as it stands.
struct Worked {
    plan: Plan,
    /// What others changed since the session read the file, in words.
    outside: String,
}

fn work_out(known: &Known, params: &Params, shown: &str) -> Result<Worked, ToolError> {
    let replace = params.replace();
    let refuse = |error: EditError| refusal(&error, shown);
    match &known.base {
        Base::Current => Ok(Worked { plan: plan(&known.now.bytes, &replace).map_err(refuse)?, outside: String::new() }),
        Base::Stale(base) => {
            let on_base = plan_on_seen(base, &known.now.bytes, &replace, shown)?;
            let Rebased { plan, .. } =
                rebase(base, &known.now.bytes, &on_base).map_err(|overlap| overlaps(&overlap, shown))?;
            Ok(Worked { plan, outside: outside(base, &known.now.bytes, shown) })
        }
        Base::Lost => Err(stale(&known.now.open.place)),
    }
}

/// The bytes that an edit leaves, if they can be read again.
pub(super) fn applied(plan: &Plan, now: &[u8], shown: &str) -> Result<Vec<u8>, ToolError> {
    let bytes = plan.apply(now);
    match detect(now) {
        Ok(of) => readable(of, &bytes, shown).map(|()| bytes),
        Err(_) => Ok(bytes),
    }
}

/// Refuses what nobody could read again as the text that it is, nor edit.
pub(super) fn readable(of: Detected, bytes: &[u8], shown: &str) -> Result<(), ToolError> {
    reads_back(of, bytes).map_err(|why| {
        ToolError::new(code::CANNOT_ENCODE, format!("{shown}: {why}")).hint(match of.encoding {
            Encoding::Utf8 => "use other characters: what is left would not be read as UTF-8 text any more",
            _ => "use other characters, or convert the file to UTF-8 first, by a command such as `iconv`",
        })
    })
}

/// The edit of a file as the session saw it, which others changed since. What is looked for may be what they changed: then
/// the file as it was is none to show.
pub(super) fn plan_on_seen(seen: &[u8], now: &[u8], replace: &Replace<'_>, shown: &str) -> Result<Plan, ToolError> {
    let error = match plan(seen, replace) {
        Err(error @ (EditError::NoMatch(_) | EditError::EmptyFile)) => error,
        planned => return planned.map_err(|error| refusal(&error, shown)),
    };
    const AGAIN: &str = "read it again, then repeat the call";
    // The refusal's own words stand last: they end with a text that is to be sent as it stands.
    Err(match plan(now, replace) {
        Err(EditError::NoMatch(near)) => {
            let refused = refusal(&EditError::NoMatch(near), shown);
            let message = format!("{shown} changed since it was read; {AGAIN}. As it is now, {}", refused.message);
            ToolError::new(refused.code, message)
        }
        Err(_) => refusal(&error, shown).hint(AGAIN),
        Ok(_) => {
            let message =
                format!("{shown} changed since it was read, and old_string stands only in the file as it is now");
            ToolError::new(code::CHANGED_SINCE_READ, message).hint(AGAIN)
        }
    })
}

/// What others changed in a file since the session read it, in words. From then on the session knows it.
pub(super) fn outside(seen: &[u8], now: &[u8], shown: &str) -> String {
    let diff = unified(Some(seen), Some(now), shown, &Limits { max_lines: 60, ..Limits::default() });
    if diff.is_empty() {
        return diff;
    }
    format!("[{shown} had changed elsewhere since it was read; that is kept:]\n{diff}")
}

/// The engine's refusals under their codes.
pub(super) fn refusal(error: &EditError, shown: &str) -> ToolError {
    let code = match error {
        EditError::EmptyOld | EditError::SameText | EditError::Nul | EditError::NoChange => code::BAD_ARGUMENTS,
        EditError::NotText(_) => code::UNSUPPORTED_TYPE,
        EditError::EmptyFile | EditError::NoMatch(_) => code::EDIT_FAILED,
        EditError::NotUnique { .. } => code::NOT_UNIQUE,
        EditError::Unencodable { .. } | EditError::BrokenBytes { .. } | EditError::NotRoundTrip { .. } => {
            code::CANNOT_ENCODE
        }
    };
    ToolError::new(code, format!("{shown}: {error}"))
}

pub(super) fn overlaps(overlap: &Overlap, shown: &str) -> ToolError {
    ToolError::new(code::CHANGED_SINCE_READ, format!("{shown}: {overlap}"))
        .hint("read the file again, then repeat the edit")
}

fn answer(edited: Edited, worked: &Worked, other_names: u64, diff: &str) -> Output {
    let times = if edited.count == 1 { "1 place".to_owned() } else { format!("{} places", edited.count) };
    let mut text = format!("Edited {} in {times}", edited.path);
    if edited.level != nika_edit::Level::Exact.name() {
        text.push_str(", matched but for blanks at line ends");
    }
    text.push_str(".\n");
    text.push_str(diff);
    text.push_str(&keep_former(&edited.path, other_names));
    text.push_str(&worked.outside);
    let facts = [
        ("path", edited.path.clone()),
        ("before", edited.sha256_before.clone()),
        ("after", edited.sha256_after.clone()),
    ];
    let mut output =
        Output::text(text).with_diff(diff).with_fact("count", edited.count).with_fact("level", edited.level);
    for (name, value) in facts {
        output = output.with_fact(name, value);
    }
    output.structured = serde_json::to_value(&edited).ok();
    output
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "One place",
        files: &[("src/a.rs", "fn one() {}\nfn two() {}\n")],
        before: &[("read", r#"{"file_path": "src/a.rs"}"#)],
        arguments: r#"{"file_path": "src/a.rs", "old_string": "fn two()", "new_string": "fn second()"}"#,
        answer: "+fn second() {}",
    },
    Example {
        title: "Every place",
        files: &[("a.txt", "x y x\nx\n")],
        before: &[("read", r#"{"file_path": "a.txt"}"#)],
        arguments: r#"{"file_path": "a.txt", "old_string": "x", "new_string": "z", "replace_all": true}"#,
        answer: "in 3 places",
    },
];
