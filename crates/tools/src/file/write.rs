//! `write`: a whole file. New ones with their directories; existing ones only when the session knows
//! what it replaces, all of it: a write over a file of which a part was shown loses the rest unseen.
//!
//! What is sent is what is written, in UTF-8 — unless the file that is replaced was text in another
//! encoding or had a byte order mark: then those are kept, as a tool that silently turned a cp1252 file
//! into UTF-8 would break whoever reads it.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_edit::{Encoding, Limits, detect, unified};
use nika_guard::{Effects, Place};
use nika_host::fs::{Change, Shown, Workspace, sha256};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::edit::readable;
use super::seen::{Base, Known, hex, known, note, retried, stale};
use super::shown::shown_whole;

/// Writes a whole file, with its directories. To replace an existing file, read all of it first. For a change
/// within a file use edit.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// File to write.
    pub file_path: String,
    /// All of its new text.
    pub content: String,
}

/// The tool.
#[derive(Debug)]
pub struct Write {
    /// The files.
    pub files: Arc<Workspace>,
}

/// The result, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WrittenFile {
    /// The file, as results show paths.
    pub path: String,
    /// Whether it is new.
    pub created: bool,
    /// Its size now.
    pub bytes: usize,
    /// sha256 before; absent for a new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256_before: Option<String>,
    /// sha256 now.
    pub sha256_after: String,
}

impl Tool for Write {
    type Params = Params;
    const SPEC: Spec = Spec::new("write", "Write file", Group::File)
        .eager()
        .destructive()
        .text()
        .idempotent()
        .event(nika_contract::event::TOOL_WRITE)
        .terms(&["create", "make", "new", "save", "overwrite", "put", "content", "generate", "readme", "document"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<WrittenFile>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        without_nul("content", &params.content)?;
        Ok(Effects::write(self.files.locate_file(&params.file_path)?))
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let place = cx.place()?;
        let Planned { bytes, former, .. } = self.plan(cx, place, &params.content)?;
        Ok(Some(unified(former.as_deref(), Some(&bytes), &place.shown(), &Limits::default())))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let place = cx.place()?;
        let written = retried(&self.files, cx, |locked| {
            let Planned { change, bytes, former, kept } = self.plan(cx, place, &params.content)?;
            if former.as_ref() == Some(&bytes) {
                return Ok(Err(bytes));
            }
            let written = locked.commit(cx, vec![change])?.remove(0);
            Ok(Ok((written, bytes, former, kept)))
        })
        .await?;
        let shown = place.shown().into_owned();
        let (written, bytes, former, kept) = match written {
            Ok(written) => written,
            Err(bytes) => {
                let text = format!("{shown} already holds exactly this; nothing was written.");
                let (hash, bytes) = (hex(sha256(&bytes)), bytes.len());
                let as_it_is = WrittenFile {
                    path: shown,
                    created: false,
                    bytes,
                    sha256_before: Some(hash.clone()),
                    sha256_after: hash,
                };
                return Ok(Output { structured: serde_json::to_value(as_it_is).ok(), ..Output::text(text) });
            }
        };
        let diff = unified(former.as_deref(), Some(&bytes), &shown, &Limits::default());
        let result = WrittenFile {
            path: shown,
            created: written.before.is_none(),
            bytes: bytes.len(),
            sha256_before: written.before.map(hex),
            sha256_after: written.after.map(hex).unwrap_or_default(),
        };
        let unlike = former.as_deref().is_some_and(|former| loses_returns(former, &bytes));
        if let (Some(hash), Some(stamp)) = (written.after, written.stamp) {
            note(cx, place, bytes, hash, stamp, Shown::All);
        }
        Ok(answer(&result, kept, unlike, written.other_names).with_diff(diff))
    }
}

/// Refuses text that would make a file be taken for no text, or for text in another encoding.
pub(super) fn without_nul(name: &str, text: &str) -> Result<(), ToolError> {
    match text.find('\0') {
        None => Ok(()),
        Some(at) => Err(ToolError::argument(
            name,
            format!("holds a NUL (U+0000) at byte {at}; a file with one is no text, so leave it out"),
        )),
    }
}

struct Planned {
    change: Change,
    bytes: Vec<u8>,
    former: Option<Vec<u8>>,
    /// The encoding that was kept, when it is not plain UTF-8.
    kept: Option<&'static str>,
}

impl Write {
    fn plan(&self, cx: &Cx<'_>, place: &Place, content: &str) -> Result<Planned, ToolError> {
        let known = match known(&self.files, cx, place) {
            Err(error) if error.code == code::NOT_FOUND => {
                let bytes = content.as_bytes().to_vec();
                return Ok(Planned {
                    change: Change::create(place.clone(), bytes.clone()),
                    bytes,
                    former: None,
                    kept: None,
                });
            }
            known => known?,
        };
        if !matches!(known.base, Base::Current) {
            return Err(stale(place));
        }
        unreadable(place, &known)?;
        let (bytes, kept) = encode(&known.now.bytes, content, &place.shown())?;
        if bytes != known.now.bytes {
            shown_whole(place, &known.shown, &known.now.bytes)?;
        }
        let former = Some(known.now.bytes.clone());
        Ok(Planned { change: Change::replace(known.now, known.hash, bytes.clone()), bytes, former, kept })
    }
}

/// Refuses to replace what `read` could not show: it is no text, and nobody has seen what would be lost.
fn unreadable(place: &Place, known: &Known) -> Result<(), ToolError> {
    let Err(no) = detect(&known.now.bytes) else { return Ok(()) };
    if known.shown == Shown::All {
        return Ok(());
    }
    Err(ToolError::new(code::MUST_READ_FIRST, format!("{} cannot be shown, and would be lost: {no}", place.shown()))
        .hint("delete it with change_set, which undo takes back, then write it anew"))
}

/// The bytes for `content` in a file that held `former`.
fn encode(former: &[u8], content: &str, shown: &str) -> Result<(Vec<u8>, Option<&'static str>), ToolError> {
    let Ok(detected) = detect(former) else { return Ok((content.as_bytes().to_vec(), None)) };
    if former.is_empty() || (detected.encoding == Encoding::Utf8 && detected.bom == 0) {
        return Ok((content.as_bytes().to_vec(), None));
    }
    let text = detected.encoding.encode(content.trim_start_matches('\u{feff}')).map_err(|error| {
        let (character, encoding) = (error.character, detected.encoding.name());
        let message = format!("{shown} is in {encoding}, which has no '{character}' (U+{:04X})", u32::from(character));
        ToolError::new(code::CANNOT_ENCODE, message)
            .hint("use characters of that encoding, or delete the file and write it anew in UTF-8")
    })?;
    let mut bytes = former.get(..detected.bom).unwrap_or_default().to_vec();
    bytes.extend(text);
    readable(detected, &bytes, shown)?;
    Ok((bytes, Some(detected.encoding.name())))
}

/// Whether each line ended with a carriage return, which `read` does not show, and none does any more.
fn loses_returns(former: &[u8], bytes: &[u8]) -> bool {
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let ended = former.windows(2).filter(|two| two == b"\r\n").count();
    ended > 0 && ended == lines(former) && lines(bytes) > 0 && !bytes.contains(&b'\r')
}

fn answer(result: &WrittenFile, kept: Option<&str>, loses_returns: bool, other_names: u64) -> Output {
    let verb = if result.created { "Created" } else { "Replaced" };
    let mut text = format!("{verb} {} ({} bytes, sha256 {}", result.path, result.bytes, result.sha256_after);
    if let Some(before) = &result.sha256_before {
        text.push_str(&format!(", before {before}"));
    }
    text.push_str(").");
    if let Some(encoding) = kept {
        text.push_str(&format!(" Its encoding, {encoding}, was kept."));
    }
    if loses_returns {
        text.push_str(" Its lines ended with CRLF and end with LF now; `edit` keeps a file's endings.");
    }
    if other_names > 0 {
        text.push_str(&format!(" It had {other_names} other name(s) by hard links; those keep the former text."));
    }
    let mut output = Output::text(text)
        .with_fact("path", result.path.clone())
        .with_fact("bytes", result.bytes)
        .with_fact("before", result.sha256_before.clone())
        .with_fact("after", result.sha256_after.clone());
    output.structured = serde_json::to_value(result).ok();
    output
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "A new file in a new directory",
        files: &[],
        before: &[],
        arguments: r#"{"file_path": "docs/notes.md", "content": "Hello\n"}"#,
        answer: "Created docs/notes.md (6 bytes",
    },
    Example {
        title: "Another text for a file that was read",
        files: &[("a.txt", "old\n")],
        before: &[("read", r#"{"file_path": "a.txt"}"#)],
        arguments: r#"{"file_path": "a.txt", "content": "new\n"}"#,
        answer: "Replaced a.txt",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_kept_and_what_it_cannot_hold_refused() {
        let utf16: Vec<u8> =
            [0xff, 0xfe].into_iter().chain("old\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let (bytes, kept) = encode(&utf16, "né\n", "a").expect("UTF-16 holds everything");
        assert!(kept.is_some());
        assert_eq!(
            bytes,
            [0xff, 0xfe].into_iter().chain("né\n".encode_utf16().flat_map(u16::to_le_bytes)).collect::<Vec<u8>>()
        );
        let (bytes, _) = encode(b"\xef\xbb\xbfold", "new", "a").expect("a mark is kept");
        assert_eq!(bytes, b"\xef\xbb\xbfnew");
        let latin = "Les élèves sont arrivés à l'école déjà très fatigués, hélas."
            .chars()
            .map(|c| c as u32 as u8)
            .collect::<Vec<u8>>();
        let refused = encode(&latin, "日本", "a").expect_err("a legacy page has no such letters");
        assert_eq!(refused.code, code::CANNOT_ENCODE);
    }
}
