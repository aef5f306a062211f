//! One fuzz input through everything here that reads strangers' bytes. A plain function, so that tests
//! and campaigns in xtask can drive it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::args::Window;
use super::{notebook, parse, pdf, picture, text, wire};

/// Runs one input. Panics when something of ours does; the parsers that run in children may panic there,
/// so they may here.
pub fn fuzz_one(data: &[u8]) {
    let Some((pick, data)) = data.split_first() else { return };
    let offset = i64::from(*pick as i8) / 5;
    match pick % 5 {
        0 => {
            let window = Window::new(Some(offset), Some(i64::from(*pick) + 1)).expect("the limit is above zero");
            if let Ok(page) = text::page(data, window) {
                assert_eq!(nika_contract::text::harmless(&page.text), page.text, "something steering was let through");
            }
        }
        1 => drop(notebook::read(data)),
        2 => {
            if let Some(frames) = wire::answer(data) {
                let _ = picture::blocks("file", data, &frames);
                let pages = pdf::Pages::new(None).expect("no range is the first pages");
                let _ = pdf::text("file", pages, &frames);
            }
            let _ = wire::asked(data);
        }
        3 => child(parse::PICTURE, data),
        _ => child(parse::PDF, data),
    }
}

/// Whatever the parser does, an answer that comes is whole.
fn child(kind: &str, data: &[u8]) {
    let question = wire::question(&json!({"pages": "1-"}), data);
    let mut answer = Vec::new();
    let done = catch_unwind(AssertUnwindSafe(|| parse::parse_child(kind, question.as_slice(), &mut answer)));
    if let Ok(done) = done {
        done.expect("a question we wrote is understood");
        assert!(wire::answer(&answer).is_some(), "an answer was cut");
    }
}
