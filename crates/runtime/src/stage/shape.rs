//! *Shape*: what the model reads is text within its budget. What is cut is spilled, whole, to a file
//! that the answer names; what could steer a terminal is made visible.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use nika_contract::{Block, Group, Output, Spec, text};
use nika_store::spill;

use crate::dispatch::Runtime;
use crate::session::Session;
use crate::stage::after::Witnessed;
use crate::stage::begin::Begun;
use crate::stage::run::Ran;
use crate::wording::Wording;

/// Whether the answers of a session are cut for nobody: a program reads them.
#[derive(Debug, Default)]
pub struct Whole(AtomicBool);

impl Whole {
    /// Whether they are.
    fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// From now on.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An answer ready for its caller.
pub(crate) struct Shaped {
    pub spec: &'static Spec,
    pub output: Output,
    pub decided_by: String,
    pub chars: usize,
    pub spilled: Option<String>,
}

pub(crate) fn shape(runtime: &Runtime, session: &Session, begun: &Begun, Witnessed(ran): Witnessed) -> Shaped {
    let Ran { spec, mut output, decided_by, asked, .. } = ran;
    Wording::new(runtime.parts.dialect, spec.name, None).answer(&mut output);
    // With a text: whoever shows a model data where there are some shows no text beside them.
    if let Some(news) = runtime.parts.news.as_ref().filter(|_| spec.text || output.structured.is_none()) {
        output.content.extend(news.take(session.id()).into_iter().map(Block::Text));
    }
    if session.is_veiled() {
        for block in &mut output.content {
            if let Block::Text(text) = block {
                session.hide(text);
            }
        }
        if let Some(structured) = &mut output.structured {
            session.hide_in(structured);
        }
        if let Some(diff) = &mut output.diff {
            session.hide(diff);
        }
    }
    for block in &mut output.content {
        if let Block::Text(text) = block
            && let Cow::Owned(safe) = text::harmless(text)
        {
            *text = safe;
        }
    }
    if let Some(diff) = &mut output.diff
        && let Cow::Owned(safe) = text::harmless(diff)
    {
        *diff = safe;
    }
    let whole = session.state.slot::<Whole>().is_on();
    let most = if whole { usize::MAX } else { budget(runtime, spec) };
    let most = most.min(output.most_chars.unwrap_or(usize::MAX));
    // Bytes bound characters from above: only an answer that may be too long is counted.
    let bytes: usize = texts(&output).map(str::len).sum();
    let mut spilled = None;
    if bytes > most && texts(&output).map(|text| text.chars().count()).sum::<usize>() > most {
        let whole = output.joined_text();
        // What a person had to allow was allowed to this call; a file would hand it to every later one. What stands
        // on the web is no secret of this machine.
        let path = if asked && !(spec.group == Group::Web && spec.read_only) {
            None
        } else {
            spill::write(&runtime.parts.state, &begun.call.0, &whole).ok()
        };
        cut(&mut output, most, path.as_deref(), whole.len() as u64);
        spilled = path.map(|path| path.to_string_lossy().into_owned());
    }
    let chars = texts(&output).map(str::len).sum();
    Shaped { spec, output, decided_by, chars, spilled }
}

fn texts(output: &Output) -> impl Iterator<Item = &str> {
    output.content.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

/// One text of head and tail in place of all, and a pointer to the whole.
fn cut(output: &mut Output, most: usize, path: Option<&std::path::Path>, bytes: u64) {
    let note = path.map(|path| format!("\n[the whole answer, {bytes} bytes: {}]", path.display())).unwrap_or_default();
    let room = most.saturating_sub(note.chars().count());
    let whole = output.joined_text();
    let mut short = text::head_and_tail(&whole, room).unwrap_or(whole);
    short.push_str(&note);
    let at = output.content.iter().position(|block| matches!(block, Block::Text(_))).unwrap_or(0);
    output.content.retain(|block| !matches!(block, Block::Text(_)));
    output.content.insert(at.min(output.content.len()), Block::Text(short));
    if let Some(path) = path {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        output.content.push(Block::Link { uri: file_uri(path), name, bytes });
    }
}

fn file_uri(path: &std::path::Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn budget(runtime: &Runtime, spec: &Spec) -> usize {
    let limits = &runtime.parts.limits.max_output_chars;
    let named = |wanted: &str| limits.iter().find(|(name, _)| name == wanted).map(|(_, chars)| *chars);
    named(spec.name).or_else(|| named("*")).unwrap_or(spec.max_output_chars)
}
