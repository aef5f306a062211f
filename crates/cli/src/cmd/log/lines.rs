//! Journal lines for people: a call's lines folded into one, `time tool paths verdict ms`.

use std::collections::BTreeMap;

use nika_contract::{Code, code, event, text};
use nika_store::journal::is_withheld;
use serde_json::Value;

use crate::recovered::unsettled;
use crate::time;

/// Characters of paths or patterns in a line.
const MAX_SUBJECT_CHARS: usize = 60;

/// Arguments that say what a call is about, the most telling first.
const SUBJECTS: &[&str] = &[
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "call_id",
    "query",
    "command",
    "code",
    "url",
    "uri",
    "workflow",
    "skill",
    "job_id",
    "task_id",
    "title",
    "description",
    "question",
    "message",
    "objective",
    "server",
];

/// Calls that began and did not end yet.
#[derive(Debug, Default)]
pub struct Fold {
    begun: BTreeMap<String, Begun>,
}

#[derive(Debug, Default)]
struct Begun {
    at: u64,
    tool: String,
    /// As they were judged.
    arguments: Value,
    asked: Option<String>,
    /// Whether a hook put other arguments in place of its own.
    is_rewritten: bool,
    /// Whether it answered that it only showed what it would do.
    is_dry: bool,
}

impl Fold {
    /// The line to show once `line` is known, if it is time to show one.
    pub fn take(&mut self, line: &Value) -> Option<String> {
        let at = line["at"].as_u64().unwrap_or_default();
        let call = line["call"].as_str().unwrap_or_default();
        match line["event"].as_str().unwrap_or_default() {
            event::CALL_BEGUN => {
                let tool = line["tool"].as_str().unwrap_or_default().to_owned();
                let arguments = line["arguments"].clone();
                self.begun.insert(call.to_owned(), Begun { at, tool, arguments, ..Begun::default() });
                None
            }
            event::HOOK_RAN if line["arguments"].is_object() => {
                let begun = self.begun.get_mut(call)?;
                begun.is_rewritten |= begun.arguments != line["arguments"];
                begun.arguments.clone_from(&line["arguments"]);
                None
            }
            event::PERMISSION_SETTLED => {
                let begun = self.begun.get_mut(call)?;
                // That nobody could be asked is why it was refused; it needs no second word.
                begun.asked = line["answer"].as_str().filter(|answer| *answer != "nobody").map(str::to_owned);
                None
            }
            event::TOOL_RESULT => {
                self.begun.get_mut(call)?.is_dry = line["dry_run"] == true;
                None
            }
            event::CALL_ENDED => {
                let tool = || line["tool"].as_str().unwrap_or_default().to_owned();
                let begun = self.begun.remove(call);
                let begun = begun.unwrap_or_else(|| Begun { at, tool: tool(), ..Begun::default() });
                let took = line["took_us"].as_u64().unwrap_or_default();
                let took = format!("{}.{} ms", took / 1000, took / 100 % 10);
                let verdict = if begun.is_dry { "dry run".to_owned() } else { verdict(line) };
                Some(begun.shown(call, &verdict, &took))
            }
            event::HOST_ASKED => {
                let [job, host] = ["job", "host"].map(|name| line[name].as_str().unwrap_or_default());
                let became = match line["refused"].as_str() {
                    None => "was reached".to_owned(),
                    Some(why) => format!("was refused: {why}"),
                };
                let said = format!("{job} asked for {host}:{}, which {became}", line["port"]);
                Some(format!("{}  {}  {call}", time::readable(at), text::harmless(&said)))
            }
            event::SESSION_STARTED => {
                let mode = line["mode"].as_str().unwrap_or_default();
                Some(format!("{}  began in mode {mode}", time::readable(at)))
            }
            event::RECOVERED => {
                let [outcome, advice] = ["outcome", "advice"].map(|name| line[name].as_str().unwrap_or_default());
                let set = line["change_set"].as_str().unwrap_or_default();
                let said = match line["note"].as_str() {
                    // It need not have been interrupted.
                    None if line["left"].is_array() => format!("change set {set} {outcome}"),
                    None => format!("an interrupted change set was settled: {outcome}"),
                    Some(note) => format!("an interrupted change set {}", unsettled(outcome, note, advice)),
                };
                Some(format!("{}  {}", time::readable(at), text::harmless(&said)))
            }
            _ => None,
        }
    }

    /// Calls without an end: they run still, or a kill ended them.
    pub fn rest(&self) -> Vec<String> {
        self.begun.iter().map(|(call, begun)| begun.shown(call, "no end yet, or killed", "")).collect()
    }
}

impl Begun {
    fn shown(&self, call: &str, verdict: &str, took: &str) -> String {
        let asked = self.asked.as_ref().map(|answer| format!(" (asked: {answer})")).unwrap_or_default();
        let rewritten = if self.is_rewritten { " (rewritten by a hook)" } else { "" };
        let verdict = format!("{verdict}{asked}{rewritten}");
        let Begun { at, tool, arguments, .. } = self;
        let subject = subject(arguments);
        let line = format!("{}  {tool:<13} {subject:<32} {verdict:<18} {took:>9}  {call}", time::readable(*at));
        line.trim_end().to_owned()
    }
}

fn verdict(line: &Value) -> String {
    match line["code"].as_str() {
        _ if line["ok"] == true => "done".to_owned(),
        Some(code) if is_withheld(line) => format!("done, withheld {code}"),
        Some(code) if code::parse(code).is_some_and(Code::is_refusal) => format!("refused {code}"),
        Some(code) => format!("failed {code}"),
        None => "failed".to_owned(),
    }
}

/// What a call is about: its path, its pattern, or the paths of its changes.
fn subject(arguments: &Value) -> String {
    let said = SUBJECTS.iter().find_map(|name| arguments[name].as_str().map(str::to_owned));
    let changed = || {
        let paths = arguments["changes"].as_array().into_iter().flatten();
        let path = |change: &Value| SUBJECTS.iter().find_map(|name| change[name].as_str().map(str::to_owned));
        paths.filter_map(path).collect::<Vec<_>>().join(" ")
    };
    let in_one_line = said.unwrap_or_else(changed).trim().replace('\n', "; ");
    let subject = text::preview(&in_one_line, MAX_SUBJECT_CHARS);
    text::harmless(&subject).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_one_line() {
        let mut fold = Fold::default();
        let begun =
            json!({"at": 0, "event": "CallBegun", "call": "c1", "tool": "edit", "arguments": {"file_path": "a.rs"}});
        let settled = json!({"at": 1, "event": "PermissionSettled", "call": "c1", "answer": "yes"});
        let ended = json!({"at": 2, "event": "CallEnded", "call": "c1", "tool": "edit", "ok": true, "took_us": 1234});
        assert_eq!(fold.take(&begun), None);
        assert_eq!(fold.rest().len(), 1);
        assert_eq!(fold.take(&settled), None);
        let line = fold.take(&ended).expect("the call has ended");
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words, ["1970-01-01", "00:00:00Z", "edit", "a.rs", "done", "(asked:", "yes)", "1.2", "ms", "c1"]);
        assert!(fold.rest().is_empty());
    }

    #[test]
    fn a_dry_run_is_told_from_what_was_done() {
        for (answer, want) in [("ToolResult", "dry run"), ("Undone", "done")] {
            let mut fold = Fold::default();
            fold.take(&json!({"at": 0, "event": "CallBegun", "call": "c1", "tool": "undo", "arguments": {}}));
            fold.take(&json!({"at": 1, "event": answer, "call": "c1", "dry_run": answer == "ToolResult"}));
            let ended = json!({"at": 2, "event": "CallEnded", "call": "c1", "tool": "undo", "ok": true});
            let line = fold.take(&ended).expect("the call has ended");
            assert!(line.contains(&format!("  {want} ")), "{line}");
        }
    }

    #[test]
    fn what_a_set_left_is_told_by_itself() {
        let line =
            json!({"at": 0, "event": "Recovered", "change_set": "c1", "outcome": "left a\u{1b}, …", "left": ["a"]});
        let shown = Fold::default().take(&line).expect("a line");
        assert!(shown.ends_with("  change set c1 left a\u{241b}, …"), "{shown}");
    }

    #[test]
    fn a_host_that_a_command_asked_for_is_a_line() {
        let shown = |refused: Value| {
            let line = json!({"at": 0, "event": "HostAsked", "call": "c1", "job": "j1", "host": "a\u{1b}.example",
                "port": 443, "refused": refused});
            Fold::default().take(&line).expect("a line")
        };
        assert!(shown(Value::Null).ends_with("j1 asked for a\u{241b}.example:443, which was reached  c1"));
        assert!(shown("it is not allowed".into()).ends_with(":443, which was refused: it is not allowed  c1"));
    }

    #[test]
    fn refusals_and_failures_differ() {
        for (code, want) in [
            ("NIKA-205", "refused NIKA-205"),
            ("NIKA-106", "refused NIKA-106"),
            ("NIKA-107", "refused NIKA-107"),
            ("NIKA-202", "failed NIKA-202"),
        ] {
            assert_eq!(verdict(&json!({"ok": false, "code": code})), want);
        }
    }

    #[test]
    fn what_was_done_and_withheld_is_not_said_to_be_refused() {
        let denied = |decision| json!({"ok": false, "code": "NIKA-107", "decision": decision});
        assert_eq!(verdict(&denied("allow")), "done, withheld NIKA-107");
        assert_eq!(verdict(&denied("deny")), "refused NIKA-107");
    }

    #[test]
    fn a_change_set_is_about_its_paths() {
        let arguments = json!({"changes": [{"path": "a"}, {"file_path": "b\u{1b}"}]});
        assert_eq!(subject(&arguments), "a b␛");
    }

    #[test]
    fn a_command_is_about_its_text() {
        assert_eq!(subject(&json!({"command": "cd a\nmake\n", "description": "Builds a"})), "cd a; make");
        assert_eq!(subject(&json!({"url": "https://a.example/"})), "https://a.example/");
    }
}
