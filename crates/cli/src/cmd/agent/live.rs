//! A run as a person watches it, on stderr: what the model says, what it calls, what that changed, what it costs.
//!
//! ```text
//! ● read src/lib.rs                                     2 ms
//! ● edit src/lib.rs                                     3 ms
//! │ -    a - b
//! │ +    a + b
//! ● bash cargo test                               1.4 s
//! The test passes now.
//! 3 turns · 3 calls · 4,210 tokens in, 310 out · $0.0121
//! ```
//!
//! On a terminal a last line shows what goes on at the moment; elsewhere there is only what stays.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nika_agent::provider::Usage;
use nika_agent::{Ended, Happening, Watch};
use nika_contract::{Herald, Output, Spoken, ToolError, text};
use serde_json::{Map, Value};

use crate::out;
use crate::talk::Said;
use crate::time::took;

use super::changes;

/// How often the last line moves.
const BEAT: Duration = Duration::from_millis(120);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Characters of what a call is about.
const ABOUT_CHARS: usize = 72;
/// Characters of the moving line: one that a narrow terminal breaks in two would leave its first half behind.
const LINE_CHARS: usize = 79;
/// The arguments that say best what a call is about, the best first.
const TELLING: [&str; 12] = [
    "command",
    "file_path",
    "path",
    "pattern",
    "notebook_path",
    "query",
    "url",
    "description",
    "title",
    "skill",
    "question",
    "message",
];

/// Tools that start agents and wait for them.
const STARTERS: [&str; 3] = ["agent", "delegate_agent", "run_task_packet"];

/// The view.
#[derive(Debug)]
pub struct Live {
    screen: Arc<Screen>,
}

#[derive(Debug)]
struct Screen {
    /// Whether a line may move and colours show.
    terminal: bool,
    /// Held by a question until it is answered.
    floor: Arc<Mutex<()>>,
    over: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What the model does while no call runs, with when it began.
    doing: Option<(String, Instant)>,
    /// Whether the moving line is on the screen.
    drawn: bool,
    /// Whether text was said that has no line end yet.
    open_text: bool,
    frame: usize,
    /// What is to be said when the question is answered.
    kept: String,
    /// The calls that run, of all agents, as they began.
    running: Vec<Running>,
    /// The agents below, by session, with what each is called.
    agents: Vec<(String, String)>,
    /// What all of them took so far.
    usage: Usage,
    cost_micros: Option<u64>,
}

/// A call that runs.
#[derive(Debug)]
struct Running {
    /// The session of the agent whose call it is, empty for the first: places of calls repeat in every conversation.
    whose: String,
    origin: String,
    about: String,
    /// Whether it starts agents, and waits for them.
    starts: bool,
    /// How far it says that it is.
    goes: String,
    since: Instant,
}

impl State {
    /// What an agent is called here: a second one of a name gets the end of its session's.
    fn label(&mut self, name: &str, session: &str) -> String {
        if !self.agents.iter().any(|(known, _)| known == session) {
            self.agents.push((session.to_owned(), name.to_owned()));
        }
        match self.agents.iter().find(|(_, known)| known == name) {
            Some((first, _)) if first != session => {
                format!("{name}.{}", session.rsplit('.').next().unwrap_or_default())
            }
            _ => name.to_owned(),
        }
    }

    /// What goes on at this moment, with when it began: the calls that run, else what the model does.
    fn now(&self) -> Option<(String, Instant)> {
        // While an agent's own calls run, the call that started it says nothing more.
        let below = self.running.iter().any(|call| !call.whose.is_empty());
        let running: Vec<&Running> = self.running.iter().filter(|call| !(below && call.starts)).collect();
        let Some(oldest) = running.first() else { return self.doing.clone() };
        let one = |call: &&Running| format!("{}{}", call.about, call.goes);
        let all: Vec<String> = running.iter().map(one).collect();
        Some((all.join("  ·  "), oldest.since))
    }

    /// The moving line but for its first sign.
    fn moving(&self) -> Option<String> {
        let (now, since) = self.now()?;
        let spent = self.spent().map(|spent| format!(" · {spent}")).unwrap_or_default();
        let end = format!("  {}{spent}", took_by(since));
        let room = LINE_CHARS.saturating_sub(end.chars().count() + 2);
        Some(format!("{}{end}", text::preview(&now, room)))
    }

    /// What was spent so far, where something was.
    fn spent(&self) -> Option<String> {
        (self.usage != Usage::default()).then(|| short_spent(&self.usage, self.cost_micros))
    }
}

impl Live {
    /// A view; `terminal` says whether lines may move and colours show.
    pub fn new(terminal: bool) -> Live {
        let screen =
            Arc::new(Screen { terminal, floor: Arc::default(), over: AtomicBool::new(false), state: Mutex::default() });
        if terminal {
            let beating = Arc::clone(&screen);
            std::thread::spawn(move || {
                while !beating.over.load(Ordering::Relaxed) {
                    beating.beat();
                    std::thread::sleep(BEAT);
                }
            });
        }
        Live { screen }
    }

    /// What a question at the same terminal holds.
    pub fn floor(&self) -> Arc<Mutex<()>> {
        Arc::clone(&self.screen.floor)
    }

    /// Takes the moving line away: somebody else writes to the terminal next.
    pub fn hold(&self) {
        let mut state = self.screen.state();
        self.screen.clear(&mut state);
        self.screen.end_text(&mut state);
    }

    /// The last words: what the run took.
    pub fn close(&self, ended: &Ended) {
        self.screen.over.store(true, Ordering::Relaxed);
        let mut state = self.screen.state();
        self.screen.clear(&mut state);
        self.screen.end_text(&mut state);
        let line = format!(
            "{} · {} · {}",
            counted(u64::from(ended.turns), "turn"),
            counted(u64::from(ended.calls), "call"),
            spent(&ended.usage, ended.cost_micros)
        );
        let below = ended.below;
        let line = match below.usage == Usage::default() {
            true => line,
            false => format!("{line} · of it agents: {}", short_spent(&below.usage, below.cost_micros)),
        };
        self.screen.say(&mut state, &format!("{}\n", self.screen.dim(&line)));
    }
}

impl Herald for Live {
    fn say(&self, _: &str, spoken: &Spoken) -> bool {
        let mut state = self.screen.state();
        let line = format!("{} {}", self.screen.painted("36", "◆"), Said(spoken));
        self.screen.line(&mut state, &line);
        true
    }
}

impl Watch for Live {
    fn saw(&self, what: &Happening<'_>) {
        self.screen.saw(what, "", "");
    }
}

impl Screen {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `whose` is the session of the agent that it happened to, `who` what stands before its lines; both empty for the
    /// first.
    fn saw(&self, what: &Happening<'_>, whose: &str, who: &str) {
        let mut state = self.state();
        match what {
            Happening::TurnBegan { .. } | Happening::Answering if who.is_empty() => self.doing(&mut state, "thinking"),
            // Of the agents below, the calls are shown: their starter's own call stands there while they think.
            Happening::TurnBegan { .. } | Happening::Answering => {}
            Happening::Text(said) if who.is_empty() => {
                self.clear(&mut state);
                state.doing = None;
                state.open_text = !said.ends_with('\n');
                self.say(&mut state, said);
            }
            Happening::Text(_) | Happening::Thinking(_) => {}
            Happening::Writing { tool, so_far } if who.is_empty() => {
                self.end_text(&mut state);
                self.doing(&mut state, &format!("writing {tool} ({so_far} characters)"));
            }
            Happening::Writing { .. } => {}
            Happening::Waiting { why, ms } => {
                let line = format!("{who}{why}; asking again in {}", took(*ms));
                self.line(&mut state, &self.yellow(&line));
            }
            Happening::CallBegan { origin, tool, arguments } => {
                self.end_text(&mut state);
                if who.is_empty() {
                    state.doing = None;
                }
                state.running.push(Running {
                    whose: whose.to_owned(),
                    origin: (*origin).to_owned(),
                    about: format!("{who}{}", about(tool, arguments)),
                    starts: STARTERS.contains(tool),
                    goes: String::new(),
                    since: Instant::now(),
                });
            }
            Happening::CallGoes { origin, done, total, what } => {
                let is_it = |call: &&mut Running| call.whose == whose && call.origin == *origin;
                if let Some(call) = state.running.iter_mut().find(is_it) {
                    call.goes = match total {
                        Some(total) => format!(": {what} ({done} of {total})"),
                        // *turn 3* says how far it is, and a first step is no count.
                        None if *done < 2 || what.ends_with(&format!(" {done}")) => format!(": {what}"),
                        None => format!(": {what} ({done})"),
                    };
                }
            }
            Happening::CallEnded { origin, tool, result, took_ms, .. } => {
                let at = state.running.iter().position(|call| call.whose == whose && call.origin == *origin);
                let about = at.map_or_else(|| format!("{who}{tool}"), |at| state.running.remove(at).about);
                let line = self.ended(&about, result, *took_ms);
                self.line(&mut state, &line);
            }
            Happening::Told(said) => self.line(&mut state, &self.dim(&format!("{who}{said}"))),
            Happening::Compacted { before, after, .. } => {
                let line = format!("{who}the conversation became long: {before} messages are {after} now");
                self.line(&mut state, &self.dim(&line));
            }
            Happening::Awaiting { what } => {
                let line = format!("{who}{what} at work; this ends when that does (Ctrl-C stops it)");
                self.line(&mut state, &self.dim(&line));
                if who.is_empty() {
                    self.doing(&mut state, &format!("waiting for {what}"));
                }
            }
            Happening::Agent { name, session, what } => {
                let name = state.label(name, session);
                drop(state);
                self.saw(what, session, &format!("{who}{name} › "));
            }
            Happening::Spent { usage, cost, .. } => {
                state.usage = state.usage.plus(*usage);
                state.cost_micros = cost.map(|cost| state.cost_micros.unwrap_or(0) + cost).or(state.cost_micros);
            }
            Happening::Ended(ended) if !who.is_empty() => {
                let line = format!("{who}{} · {}", ended.why.word(), spent(&ended.usage, ended.cost_micros));
                self.line(&mut state, &self.dim(&line));
            }
            Happening::Ended(_) => {}
        }
    }

    /// The line of a call that ended, and what it changed.
    fn ended(&self, about: &str, result: &Result<Output, ToolError>, took_ms: u64) -> String {
        let (mark, why) = match result {
            Ok(output) if output.failed.is_none() => (self.painted("32", "●"), String::new()),
            Ok(output) => (self.painted("33", "●"), self.painted("33", &failing(output))),
            Err(error) => {
                let said = text::preview(&format!("{} {}", error.code, error.message), 160);
                (self.painted("31", "●"), format!("\n  {}", self.painted("31", &said)))
            }
        };
        let mut line = format!("{mark} {about}  {}{why}", self.dim(&took(took_ms)));
        if let Some(diff) = result.as_ref().ok().and_then(|output| output.diff.as_deref()) {
            let shown = changes::shown(diff);
            let shown = if self.terminal { out::coloured(&shown) } else { shown };
            for changed in shown.lines() {
                line.push_str(&format!("\n{} {changed}", self.dim("│")));
            }
        }
        line
    }

    /// A line that stays.
    fn line(&self, state: &mut State, line: &str) {
        self.clear(state);
        self.end_text(state);
        self.say(state, &format!("{line}\n"));
    }

    /// Text that stays, now or when the question that stands there is answered.
    fn say(&self, state: &mut State, text: &str) {
        state.kept.push_str(text);
        if let Ok(_floor) = self.floor.try_lock() {
            out::note(&std::mem::take(&mut state.kept));
        }
    }

    fn doing(&self, state: &mut State, what: &str) {
        if state.doing.as_ref().is_none_or(|(now, _)| now != what) {
            state.doing = Some((what.to_owned(), Instant::now()));
        }
    }

    fn end_text(&self, state: &mut State) {
        if std::mem::take(&mut state.open_text) {
            self.say(state, "\n");
        }
    }

    fn clear(&self, state: &mut State) {
        // A question stands below the line by now: what is erased then would be the question's own last line.
        if std::mem::take(&mut state.drawn)
            && let Ok(_floor) = self.floor.try_lock()
        {
            out::note("\r\x1b[2K");
        }
    }

    fn beat(&self) {
        let mut state = self.state();
        // Between pieces of text the line would be in the way.
        if state.open_text || self.over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(_floor) = self.floor.try_lock() else { return };
        out::note(&std::mem::take(&mut state.kept));
        let Some(moving) = state.moving() else { return };
        state.frame = (state.frame + 1) % FRAMES.len();
        let line = format!("{} {moving}", FRAMES[state.frame]);
        out::note(&format!("\r\x1b[2K{}", self.dim(&line)));
        state.drawn = true;
    }

    fn painted(&self, colour: &str, text: &str) -> String {
        if self.terminal { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn dim(&self, text: &str) -> String {
        self.painted("2", text)
    }

    fn yellow(&self, text: &str) -> String {
        self.painted("33", text)
    }
}

/// Why what was answered is no success, in a word: a command's exit code, else the code.
fn failing(output: &Output) -> String {
    let exit = output.facts.iter().find(|(name, _)| *name == "exit_code").and_then(|(_, value)| value.as_i64());
    match (exit, output.failed) {
        (Some(exit), _) => format!(" · exit {exit}"),
        (None, code) => code.map(|code| format!(" · {code}")).unwrap_or_default(),
    }
}

/// A call in a line: the tool, and the argument that says most.
fn about(tool: &str, arguments: &Map<String, Value>) -> String {
    let telling = TELLING.iter().find_map(|name| arguments.get(*name).and_then(Value::as_str));
    let first = telling.unwrap_or_default().lines().next().unwrap_or_default();
    if first.is_empty() { tool.to_owned() } else { format!("{tool} {}", text::preview(first, ABOUT_CHARS)) }
}

fn took_by(since: Instant) -> String {
    took(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX))
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn spent(usage: &Usage, cost_micros: Option<u64>) -> String {
    let cached = if usage.cache_read > 0 { format!(" ({} cached)", grouped(usage.cache_read)) } else { String::new() };
    let cost = cost_micros.map(|micros| format!(" · ${:.4}", micros as f64 / 1e6)).unwrap_or_default();
    format!("{} tokens in{cached}, {} out{cost}", grouped(usage.read()), grouped(usage.output))
}

/// The same in fewer words.
fn short_spent(usage: &Usage, cost_micros: Option<u64>) -> String {
    let cost = cost_micros.map(|micros| format!(" · ${:.4}", micros as f64 / 1e6)).unwrap_or_default();
    format!("{} in, {} out{cost}", grouped(usage.read()), grouped(usage.output))
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_told_by_its_most_telling_argument() {
        let told = |tool: &str, arguments: Value| about(tool, arguments.as_object().expect("an object"));
        assert_eq!(told("bash", json!({"command": "cargo test\n-- x", "timeout": 3})), "bash cargo test");
        assert_eq!(told("grep", json!({"path": "src", "pattern": "x"})), "grep src");
        assert_eq!(told("job_list", json!({})), "job_list");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([grouped(1), grouped(1234), grouped(1_234_567)], ["1", "1,234", "1,234,567"]);
        let usage = Usage { input: 1_000, cache_read: 3_210, output: 310, ..Usage::default() };
        assert_eq!(spent(&usage, Some(12_100)), "4,210 tokens in (3,210 cached), 310 out · $0.0121");
    }

    #[test]
    fn calls_of_several_agents_are_told_apart_and_one_that_has_ended_is_named_no_more() {
        let screen = Live::new(false).screen;
        let of = |session: &str, what: &Happening<'_>| {
            screen.saw(&Happening::Agent { name: "explore", session, what }, "", "");
        };
        let arguments = |path: &str| json!({"path": path}).as_object().cloned().expect("an object");
        let (src, docs, tests) = (arguments("src"), arguments("docs"), arguments("tests"));
        let began = |arguments| Happening::CallBegan { origin: "3.0", tool: "glob", arguments };
        let ended = Happening::CallEnded {
            origin: "3.0",
            tool: "glob",
            call: None,
            result: &Ok(Output::default()),
            took_ms: 1,
        };
        let now = || screen.state().now().map(|(now, _)| now);
        let starts = Happening::CallBegan { origin: "2.0", tool: "agent", arguments: &docs };
        screen.saw(&starts, "", "");
        screen.saw(&Happening::CallGoes { origin: "2.0", done: 3, total: None, what: "explore: turn 3" }, "", "");
        assert_eq!(now().as_deref(), Some("agent docs: explore: turn 3"));
        screen.saw(&began(&src), "", "");
        of("s.a1", &began(&docs));
        of("s.a2", &began(&tests));
        of("s.a2", &Happening::CallGoes { origin: "3.0", done: 2, total: None, what: "walking" });
        assert_eq!(now().as_deref(), Some("glob src  ·  explore › glob docs  ·  explore.a2 › glob tests: walking (2)"));
        of("s.a1", &ended);
        assert_eq!(now().as_deref(), Some("glob src  ·  explore.a2 › glob tests: walking (2)"));
        screen.saw(&ended, "", "");
        of("s.a2", &ended);
        assert_eq!(now().as_deref(), Some("agent docs: explore: turn 3"), "it waits while they think");
    }

    #[test]
    fn the_moving_line_says_what_all_agents_took_and_fits_a_narrow_terminal() {
        let screen = Live::new(false).screen;
        let usage = Usage { input: 1_200, output: 30, ..Usage::default() };
        let spent = Happening::Spent { usage, cost: Some(5_000), total: usage, cost_micros: Some(5_000) };
        screen.saw(&spent, "", "");
        screen.saw(&Happening::Agent { name: "a", session: "s.a1", what: &spent }, "", "");
        let arguments = json!({"command": "x".repeat(200)}).as_object().cloned().expect("an object");
        screen.saw(&Happening::CallBegan { origin: "3.0", tool: "bash", arguments: &arguments }, "", "");
        let line = screen.state().moving().expect("a call runs");
        assert!(line.starts_with("bash xxx") && line.ends_with("2,400 in, 60 out · $0.0100"), "{line}");
        assert!(line.chars().count() + 2 <= LINE_CHARS, "{line}");
    }

    #[test]
    fn what_ended_shows_what_it_changed_and_why_it_failed() {
        let screen = Live::new(false).screen;
        let diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n".to_owned();
        let line = screen.ended("edit a", &Ok(Output { diff: Some(diff), ..Output::default() }), 3);
        assert_eq!(line, "● edit a  3 ms\n│ @@ -1 +1 @@\n│ -x\n│ +y");
        let failed = Output { failed: Some(nika_contract::code::COMMAND_FAILED), ..Output::default() };
        let line = screen.ended("bash cargo test", &Ok(failed.clone().with_fact("exit_code", 101)), 40);
        assert_eq!(line, "● bash cargo test  40 ms · exit 101");
        assert!(screen.ended("bash x", &Ok(failed), 40).ends_with(" · NIKA-400"), "one that no exit code tells of");
        let refused = ToolError::new(nika_contract::code::PERMISSION_DENIED, "not in this mode");
        assert!(screen.ended("edit a", &Err(refused), 0).contains("NIKA-205 not in this mode"));
    }
}
