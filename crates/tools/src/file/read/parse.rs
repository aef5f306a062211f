//! The way to the parsers of hostile formats and back: in a child of this program that can be killed,
//! or, in tests that have no program, right here. What the formats mean is in `picture` and `pdf`.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nika_contract::text::harmless;
use nika_contract::{Cancel, Cx, ToolError, code};
use nika_host::proc::{Crash, Isolated};
use serde_json::Value;

use super::wire::{self, Frame};
use super::{pdf, picture};
use crate::web::html;

type Parser = fn(&Value, &[u8]) -> Result<Vec<Frame>, ToolError>;

/// What a child may be asked to parse.
const PARSERS: &[(&str, Parser)] = &[(PICTURE, picture::parse), (PDF, pdf::parse), (HTML, html::parse)];

/// A PNG, JPEG, GIF or WebP image.
pub(super) const PICTURE: &str = "picture";
/// A PDF document.
pub(crate) const PDF: &str = "pdf";
/// A page of the web.
pub(crate) const HTML: &str = "html";

/// The child's whole life, once it has limited itself: a question from `input`, the answer to `output`.
/// `kind` is the last argument it was started with.
pub fn parse_child(kind: &str, input: impl Read, output: impl Write) -> Result<(), String> {
    let (_, parser) =
        PARSERS.iter().find(|(name, _)| *name == kind).ok_or_else(|| format!("nothing parses '{kind}'"))?;
    let (asked, file) = wire::asked(input)?;
    let frames = parser(&asked, &file).unwrap_or_else(|refused| vec![Frame::Refused(refused)]);
    wire::reply(output, &frames).map_err(|error| format!("the answer cannot be written: {error}"))
}

/// Has `file` parsed. A refusal of the parser, and its death, are errors that do not name the file yet.
pub(crate) async fn ask(
    parsers: Option<&Isolated>,
    cx: &Cx<'_>,
    kind: &'static str,
    asked: &Value,
    file: &[u8],
) -> Result<Vec<Frame>, ToolError> {
    let question = wire::question(asked, file);
    let answer = match parsers {
        Some(isolated) => {
            let running = isolated.start(cx.permit, kind, question).map_err(failed)?;
            blocking(cx.cancel, move |stopped| running.finish(stopped)).await?.map_err(failed)?
        }
        None => {
            let mut answer = Vec::new();
            catch_unwind(AssertUnwindSafe(|| parse_child(kind, question.as_slice(), &mut answer)))
                .map_err(|_| "the parser panicked".to_owned())
                .and_then(|done| done)
                .map_err(|why| ToolError::new(code::PARSER_FAILED, why))?;
            answer
        }
    };
    let frames =
        wire::answer(&answer).ok_or_else(|| ToolError::new(code::PARSER_FAILED, "the parser's answer is not whole"))?;
    frames
        .into_iter()
        .map(|frame| match frame {
            Frame::Refused(why) => Err(ToolError { message: harmless(&why.message).into_owned(), ..why }),
            frame => Ok(frame),
        })
        .collect()
}

/// Runs what blocks where it blocks nobody. The work is told to stop when the call is cancelled, and
/// also when its future is dropped.
pub(super) async fn blocking<T: Send + 'static>(
    cancel: &Cancel,
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, ToolError> {
    let cancel = cancel.clone();
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return Ok(work(&|| cancel.is_cancelled()));
    };
    let guard = Unwanted(Arc::default());
    let unwanted = Arc::clone(&guard.0);
    let task = runtime.spawn_blocking(move || work(&|| cancel.is_cancelled() || unwanted.load(Ordering::Relaxed)));
    let done = task.await.map_err(|error| ToolError::new(code::BUG, format!("a reading thread died: {error}")));
    drop(guard);
    done
}

/// Set when nobody waits any more.
struct Unwanted(Arc<AtomicBool>);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn failed(crash: Crash) -> ToolError {
    match crash {
        Crash::Cancelled => ToolError::cancelled(),
        crash => ToolError::new(code::PARSER_FAILED, crash.to_string()),
    }
}
