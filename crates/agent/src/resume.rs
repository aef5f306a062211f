//! What became of calls whose process was killed before their results were written down.
//!
//! The transcript has the answer with the calls before the first of them begins; the journal has a line before each
//! begins and one after it ended. So of every call it is known whether it may be made now (nothing began), must not
//! be made again (it began), or was made (it ended, and only its text is lost).

use std::collections::HashMap;

use nika_contract::{ToolError, code, event};
use serde_json::Value;

/// What the journal has of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It never began.
    NotBegun,
    /// It began, and nobody knows how far it came.
    Begun { call: String, paths: Vec<String> },
    /// It ended.
    Ended { call: String, ok: bool, code: Option<String>, paths: Vec<String> },
}

/// The fates of the calls with these origins, from a session's journal.
pub(crate) fn fates(journal: impl Iterator<Item = Value>, origins: &[String]) -> Vec<Fate> {
    let mut fates: Vec<Fate> = origins.iter().map(|_| Fate::NotBegun).collect();
    let mut at: HashMap<String, usize> = HashMap::new();
    for line in journal {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let name = text("event");
        if name == event::CALL_BEGUN {
            let origin = text("origin");
            if let Some(which) = origins.iter().position(|known| *known == origin) {
                at.insert(text("call"), which);
                fates[which] = Fate::Begun { call: text("call"), paths: Vec::new() };
            }
            continue;
        }
        let Some(fate) = at.get(line["call"].as_str().unwrap_or_default()).map(|which| &mut fates[*which]) else {
            continue;
        };
        match fate {
            Fate::Begun { paths, .. } if name == event::CHECKPOINT => paths.push(text("path")),
            Fate::Begun { call, paths } if name == event::CALL_ENDED => {
                let (call, paths) = (std::mem::take(call), std::mem::take(paths));
                let code = line["code"].as_str().map(str::to_owned);
                *fate = Fate::Ended { call, ok: line["ok"] == true, code, paths };
            }
            _ => {}
        }
    }
    fates
}

impl Fate {
    /// What the model is answered; nothing where the call is to be made now.
    pub(crate) fn answer(&self) -> Option<ToolError> {
        let changed = |how: &str, paths: &[String]| match paths {
            [] => String::new(),
            paths => format!("; paths that it {how}: {}", paths.join(", ")),
        };
        Some(match self {
            Fate::NotBegun => return None,
            Fate::Begun { call, paths } => {
                let message = format!(
                    "the call ({call}) was interrupted with its process and may be partly done{}",
                    changed("was about to change", paths)
                );
                ToolError::new(code::INTERRUPTED, message).hint("look at what is there before you do it again")
            }
            Fate::Ended { call, ok, code: failed, paths } => {
                let how = match (ok, failed) {
                    (true, _) => "and done".to_owned(),
                    (false, Some(failed)) => format!("and ended with {failed}"),
                    (false, None) => "and failed".to_owned(),
                };
                let message = format!(
                    "the call ({call}) was made {how}; what it answered was lost with its process{}",
                    changed("changed", paths)
                );
                ToolError::new(code::ANSWER_LOST, message).hint("do not repeat what changes something; read it instead")
            }
        })
    }
}

/// The answer to a call of another session's conversation, of which this one is a fork.
pub(crate) fn elsewhere() -> ToolError {
    let message = "the call was not made here: this conversation was forked from another one before its answer";
    ToolError::new(code::INTERRUPTED, message).hint("look at what is there, and make it anew if it is still wanted")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_call_is_told_by_its_lines() {
        let journal = [
            json!({"event": "SessionStarted"}),
            json!({"event": "CallBegun", "call": "c1", "origin": "4.0 a"}),
            json!({"event": "CallBegun", "call": "c2", "origin": "4.1 b"}),
            json!({"event": "Checkpoint", "call": "c2", "path": "src/a.rs"}),
            json!({"event": "CallBegun", "call": "c9"}),
            json!({"event": "CallEnded", "call": "c1", "ok": false, "code": "NIKA-208"}),
            json!({"event": "CallEnded", "call": "c9", "ok": true}),
        ];
        let origins = ["4.0 a", "4.1 b", "4.2 c"].map(str::to_owned);
        let fates = fates(journal.into_iter(), &origins);
        let ended = Fate::Ended { call: "c1".into(), ok: false, code: Some("NIKA-208".into()), paths: vec![] };
        let begun = Fate::Begun { call: "c2".into(), paths: vec!["src/a.rs".into()] };
        assert_eq!(fates, [ended, begun, Fate::NotBegun]);
        let said: Vec<Option<String>> = fates.iter().map(|fate| fate.answer().map(|e| e.to_string())).collect();
        assert!(said[0].as_ref().is_some_and(|said| said.contains("ended with NIKA-208")), "{said:?}");
        assert!(
            said[1].as_ref().is_some_and(|said| said.contains("partly done") && said.contains("src/a.rs")),
            "{said:?}"
        );
        assert_eq!(said[2], None);
        let whole = said[1].as_deref().unwrap_or_default();
        assert!(!whole.contains(".;"), "a sentence ends once: {whole}");
    }
}
