//! A run as a person watches it, on stderr: each task with its mark, how long it took, what it cost. On a terminal
//! the rows stay where they are and change; elsewhere a task that ended is a line.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use nika_contract::text;
use nika_flow::model::Flow;
use nika_flow::run::events::{Earlier, Named, RunEvent, Spent, Watch};

use crate::out;
use crate::time::took;

/// Between two pictures.
const BEAT: Duration = Duration::from_millis(100);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Rows that are drawn; of more tasks those that run or failed come first, and the rest is counted.
const MOST_ROWS: usize = 20;
/// Characters of a row: what fits on any terminal, as a row that wraps cannot be drawn over.
const ROW_CHARS: usize = 78;
/// Characters of an id's column.
const ID_CHARS: usize = 24;

/// What is said between the wish to stop and the end.
const STOPPING: &str = "stopping what runs; Ctrl-C again ends at once";

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mark {
    #[default]
    Waits,
    Runs,
    Done,
    Failed,
    Skipped,
    /// It ran when the run was stopped.
    Stopped,
}

impl Mark {
    fn is_settled(self) -> bool {
        matches!(self, Mark::Done | Mark::Failed | Mark::Skipped)
    }
}

/// A task's row.
#[derive(Debug, Default)]
struct Row {
    id: String,
    verb: &'static str,
    mark: Mark,
    /// The rows that it waits for.
    after: Vec<usize>,
    since: Option<Instant>,
    /// Milliseconds; not known of what ended in an earlier process.
    took_ms: Option<u64>,
    spent: Spent,
    /// Elements of its loop: ended, and in all.
    elements: Option<(usize, usize)>,
    /// Elements that ended in an earlier process.
    earlier: usize,
    /// When it is tried again.
    due: Option<Instant>,
    said: String,
}

#[derive(Debug, Default)]
struct State {
    rows: Vec<Row>,
    at: BTreeMap<String, usize>,
    drawn: usize,
    frame: usize,
    /// A person has asked it to stop, and what runs is on the way to its end.
    stopping: bool,
    over: bool,
}

/// The view.
#[derive(Debug)]
pub struct Live {
    terminal: bool,
    floor: Arc<Mutex<()>>,
    state: Mutex<State>,
}

impl Live {
    pub fn new(terminal: bool) -> Live {
        Live { terminal, floor: Arc::default(), state: Mutex::default() }
    }

    pub fn floor(&self) -> Arc<Mutex<()>> {
        Arc::clone(&self.floor)
    }

    /// The tasks are known; on a terminal the picture moves from now on.
    pub fn begin(self: &Arc<Self>, flow: &Flow) {
        let mut state = self.state();
        for task in &flow.tasks {
            let at = state.rows.len();
            state.at.insert(task.id.value.clone(), at);
            let (id, after) = (task.id.value.clone(), task.after.clone());
            state.rows.push(Row { id, verb: task.verb.name(), after, ..Row::default() });
        }
        drop(state);
        if self.terminal {
            let live = Arc::downgrade(self);
            std::thread::spawn(move || beat(&live));
        }
    }

    /// The picture goes while somebody is asked.
    pub fn hold(&self) {
        let mut state = self.state();
        clear(&mut state);
    }

    /// It was asked to stop: what runs may take a moment to end.
    pub fn stopping(&self) {
        self.state().stopping = true;
        self.line(STOPPING);
    }

    /// The last picture stays.
    pub fn end(&self) {
        let mut state = self.state();
        state.stopping = false;
        if self.terminal && !state.over {
            draw(&mut state);
        }
        state.over = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, unit: &Named, change: impl FnOnce(&mut Row)) {
        let mut state = self.state();
        let Some(at) = state.at.get(&unit.task).copied() else { return };
        change(&mut state.rows[at]);
    }

    /// A line, where no picture is drawn.
    fn line(&self, line: &str) {
        if !self.terminal {
            let _floor = self.floor.lock().unwrap_or_else(PoisonError::into_inner);
            out::complain(line);
        }
    }
}

fn beat(live: &Weak<Live>) {
    loop {
        std::thread::sleep(BEAT);
        let Some(live) = live.upgrade() else { return };
        let mut state = live.state();
        if state.over {
            return;
        }
        // Who is asked has the terminal.
        let Ok(_floor) = live.floor.try_lock() else { continue };
        state.frame = (state.frame + 1) % FRAMES.len();
        draw(&mut state);
    }
}

fn clear(state: &mut State) {
    if state.drawn > 0 {
        out::note(&format!("\x1b[{}A\r\x1b[J", state.drawn));
        state.drawn = 0;
    }
}

fn draw(state: &mut State) {
    let mut picture = picture(&state.rows, FRAMES[state.frame]);
    if state.stopping {
        picture.push(format!("\x1b[2m{STOPPING}\x1b[0m"));
    }
    let mut text = String::new();
    if state.drawn > 0 {
        let _ = write!(text, "\x1b[{}A\r\x1b[J", state.drawn);
    }
    for line in &picture {
        text.push_str(line);
        text.push('\n');
    }
    state.drawn = picture.len();
    out::note(&text);
}

/// The rows, coloured.
fn picture(rows: &[Row], frame: &str) -> Vec<String> {
    let first = |row: &&Row| matches!(row.mark, Mark::Runs | Mark::Failed);
    let shown: Vec<&Row> = if rows.len() <= MOST_ROWS {
        rows.iter().collect()
    } else {
        let rest = rows.iter().filter(|row| !first(row));
        let mut shown: Vec<&Row> = rows.iter().filter(first).chain(rest).take(MOST_ROWS).collect();
        shown.sort_by_key(|row| rows.iter().position(|other| std::ptr::eq(other, *row)));
        shown
    };
    let mut lines: Vec<String> = shown.into_iter().map(|row| coloured(row, &waits_for(row, rows), frame)).collect();
    let count = |mark: Mark| rows.iter().filter(|row| row.mark == mark).count();
    let words = [
        (Mark::Done, "done"),
        (Mark::Runs, "running"),
        (Mark::Waits, "waiting"),
        (Mark::Skipped, "skipped"),
        (Mark::Failed, "failed"),
        (Mark::Stopped, "stopped"),
    ];
    let counts: Vec<String> = words
        .iter()
        .filter(|(mark, _)| count(*mark) > 0)
        .map(|(mark, word)| format!("{} {word}", count(*mark)))
        .collect();
    let spent = rows.iter().fold(Spent::default(), |sum, row| sum.plus(row.spent));
    lines.push(format!("\x1b[2m{}{}\x1b[0m", counts.join(" · "), money(spent)));
    lines
}

/// The ids of what a row still waits for; nothing where only a free place is missing.
fn waits_for(row: &Row, rows: &[Row]) -> String {
    if row.mark != Mark::Waits {
        return String::new();
    }
    let open = row.after.iter().filter_map(|at| rows.get(*at)).filter(|other| !other.mark.is_settled());
    open.map(|other| other.id.as_str()).collect::<Vec<_>>().join(", ")
}

fn coloured(row: &Row, waits_for: &str, frame: &str) -> String {
    let (colour, mark) = match row.mark {
        Mark::Waits => ("2", "·"),
        Mark::Runs => ("36", frame),
        Mark::Done => ("32", "✓"),
        Mark::Failed => ("31", "✗"),
        Mark::Skipped => ("33", "-"),
        Mark::Stopped => ("33", "■"),
    };
    format!("\x1b[{colour}m{mark}\x1b[0m {}", cut(about(row, waits_for), ROW_CHARS - 2))
}

/// So many characters at most, with its columns as they are; one that is cut says so.
fn cut(row: String, most: usize) -> String {
    if row.chars().count() <= most {
        return row;
    }
    row.chars().take(most - 1).chain(['…']).collect()
}

/// `build   exec    3/7  1.2 s  $0.0012  why`, or `pack   exec  waits for build`.
fn about(row: &Row, waits_for: &str) -> String {
    let id = text::preview(&row.id, ID_CHARS);
    let mut said = format!("{id:<width$}  {:<6}", row.verb, width = ID_CHARS.min(20));
    if let Some((ended, count)) = row.elements {
        let _ = write!(said, "  {ended}/{count}");
    }
    match (row.mark, row.since, row.took_ms) {
        (Mark::Runs, Some(since), _) => {
            let _ = write!(said, "  {}", took(elapsed(since)));
        }
        (Mark::Done | Mark::Failed | Mark::Stopped, _, Some(took_ms)) => {
            let _ = write!(said, "  {}", took(took_ms));
        }
        _ => {}
    }
    if !waits_for.is_empty() {
        let _ = write!(said, "  waits for {}", text::harmless(waits_for));
    }
    said.push_str(&money(row.spent));
    if !row.said.is_empty() {
        let left = row.due.filter(|_| row.mark == Mark::Runs).map(|due| due.saturating_duration_since(Instant::now()));
        let again = left.filter(|left| !left.is_zero()).map(|left| format!("again in {}: ", took(millis(left))));
        let first = row.said.lines().next().unwrap_or_default();
        let _ = write!(said, "  {}{}", again.unwrap_or_default(), text::harmless(first));
    }
    said.trim_end().to_owned()
}

fn elapsed(since: Instant) -> u64 {
    millis(since.elapsed())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn money(spent: Spent) -> String {
    let tokens = if spent.tokens > 0 { format!("  {} tokens", spent.tokens) } else { String::new() };
    let cost = spent.cost_micros.map(|micros| format!("  ${:.4}", micros as f64 / 1e6)).unwrap_or_default();
    format!("{tokens}{cost}")
}

impl Watch for Live {
    fn saw(&self, what: &RunEvent) {
        match what {
            RunEvent::Resumed { ended, again } => {
                for Earlier { unit, skipped } in ended {
                    self.change(unit, |row| match unit.element {
                        Some(_) => row.earlier += 1,
                        None => {
                            row.mark = if *skipped { Mark::Skipped } else { Mark::Done };
                            row.said = "ended before".to_owned();
                        }
                    });
                }
                let names: Vec<String> = again.iter().map(|unit| unit.to_string()).collect();
                let again = if names.is_empty() { String::new() } else { format!("; again: {}", names.join(", ")) };
                self.line(&format!("goes on: {} ended before{again}", ended.len()));
            }
            RunEvent::Scheduled { task, count } => {
                let unit = Named { task: task.clone(), element: None };
                self.change(&unit, |row| row.elements = Some((row.earlier, *count)));
            }
            RunEvent::TaskStarted { unit, attempt, .. } => self.change(unit, |row| {
                row.mark = Mark::Runs;
                if *attempt > 1 {
                    (row.due, row.said) = (None, format!("try {attempt}"));
                }
                row.since.get_or_insert_with(Instant::now);
            }),
            RunEvent::TaskCompleted { unit, took_ms, spent, instead_of, .. } => {
                let instead = instead_of.as_ref().map(|error| format!("instead of {}", error.code)).unwrap_or_default();
                self.change(unit, |row| {
                    row.spent = row.spent.plus(*spent);
                    row.said = instead.clone();
                    row.settle(unit, Mark::Done, Some(*took_ms));
                });
                let instead = if instead.is_empty() { instead } else { format!("  ({instead})") };
                let about = if *took_ms > 0 || unit.element.is_some() {
                    format!("  {}", took(*took_ms))
                } else {
                    String::new()
                };
                self.line(&format!("✓ {unit}{about}{}{instead}", money(*spent)));
            }
            RunEvent::TaskFailed { unit, error, took_ms, spent, again_ms, .. } => {
                let said = format!("{} {}", error.code, error.message);
                let again = again_ms.map(|ms| format!("again in {}: ", took(ms))).unwrap_or_default();
                self.change(unit, |row| {
                    row.spent = row.spent.plus(*spent);
                    row.said.clone_from(&said);
                    row.due = again_ms.map(|ms| Instant::now() + Duration::from_millis(ms));
                    if again_ms.is_none() {
                        row.settle(unit, Mark::Failed, Some(*took_ms));
                    }
                });
                let mark = if again_ms.is_some() { "↻" } else { "✗" };
                self.line(&format!("{mark} {unit}  {again}{}", text::harmless(&said)));
            }
            RunEvent::TaskSkipped { unit, why, spent, .. } => {
                self.change(unit, |row| {
                    row.spent = row.spent.plus(*spent);
                    row.said.clone_from(why);
                    row.settle(unit, Mark::Skipped, None);
                });
                self.line(&format!("- {unit}  skipped: {}", text::harmless(why)));
            }
            RunEvent::Aborted { .. } | RunEvent::Paused { .. } => {
                for row in self.state().rows.iter_mut().filter(|row| row.mark == Mark::Runs) {
                    (row.mark, row.took_ms) = (Mark::Stopped, row.since.map(elapsed));
                }
            }
            RunEvent::Started(_) | RunEvent::Completed { .. } | RunEvent::Failed { .. } => {}
        }
    }
}

impl Row {
    /// A unit of it has ended so: an element is one more of its loop, whatever became of it.
    fn settle(&mut self, unit: &Named, mark: Mark, took_ms: Option<u64>) {
        match (unit.element, &mut self.elements) {
            (Some(_), Some((ended, _))) => *ended += 1,
            (Some(_), None) => {}
            (None, _) => (self.mark, self.took_ms) = (mark, took_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, mark: Mark) -> Row {
        Row { id: id.to_owned(), verb: "exec", mark, took_ms: Some(1_450), ..Row::default() }
    }

    #[test]
    fn a_row_says_how_its_task_stands() {
        let mut done = row("build", Mark::Done);
        done.spent = Spent { tokens: 12, cost_micros: Some(1_200) };
        done.elements = Some((3, 7));
        assert_eq!(about(&done, ""), "build                 exec    3/7  1.4 s  12 tokens  $0.0012");
        assert_eq!(about(&row("x", Mark::Waits), ""), "x                     exec");
    }

    fn unit(task: &str, element: Option<usize>) -> Named {
        Named { task: task.to_owned(), element }
    }

    /// Three tasks in a chain, the second of them a loop.
    fn chain() -> Live {
        let live = Live::new(true);
        for (at, id) in ["first", "each", "last"].into_iter().enumerate() {
            let mut state = live.state();
            state.at.insert(id.to_owned(), at);
            let after = at.checked_sub(1).into_iter().collect();
            state.rows.push(Row { id: id.to_owned(), verb: "exec", after, ..Row::default() });
        }
        live
    }

    fn drawn(live: &Live) -> String {
        picture(&live.state().rows, "*").join("\n")
    }

    #[test]
    fn a_row_says_what_it_waits_for() {
        let live = chain();
        assert!(drawn(&live).contains("each                  exec    waits for first"), "{}", drawn(&live));
        live.saw(&RunEvent::TaskSkipped {
            unit: unit("first", None),
            why: String::new(),
            failed: None,
            spent: Spent::default(),
        });
        let picture = drawn(&live);
        assert!(!picture.contains("waits for first") && picture.contains("waits for each"), "{picture}");
    }

    #[test]
    fn what_ended_in_an_earlier_process_does_not_wait() {
        let live = chain();
        let earlier = |task, element, skipped| Earlier { unit: unit(task, element), skipped };
        let ended =
            vec![earlier("first", None, false), earlier("each", Some(0), false), earlier("each", Some(2), true)];
        live.saw(&RunEvent::Resumed { ended, again: Vec::new() });
        live.saw(&RunEvent::Scheduled { task: "each".to_owned(), count: 5 });
        let started = |element| RunEvent::TaskStarted {
            unit: unit("each", Some(element)),
            attempt: 1,
            verb: "exec",
            origin: String::new(),
        };
        let error = || nika_contract::ToolError::new(nika_contract::code::COMMAND_FAILED, "no");
        let (took_ms, spent) = (3, Spent { tokens: 4, cost_micros: None });
        live.saw(&started(1));
        live.saw(&RunEvent::TaskSkipped {
            unit: unit("each", Some(1)),
            why: String::new(),
            failed: Some(error()),
            spent,
        });
        live.saw(&started(3));
        let failed = |element, took_ms| RunEvent::TaskFailed {
            unit: unit("each", element),
            attempt: 1,
            error: error(),
            took_ms,
            spent,
            again_ms: None,
        };
        live.saw(&failed(Some(3), took_ms));
        let picture = drawn(&live);
        assert!(picture.contains("ended before") && picture.contains("  4/5  "), "{picture}");
        assert!(picture.contains("1 done · 1 running · 1 waiting  8 tokens"), "{picture}");
        live.saw(&failed(None, 2_100));
        assert!(drawn(&live).contains("  4/5  2.1 s"), "how long all of it took: {}", drawn(&live));
    }

    #[test]
    fn a_row_counts_down_to_its_next_try() {
        let live = chain();
        let started =
            |attempt| RunEvent::TaskStarted { unit: unit("first", None), attempt, verb: "exec", origin: String::new() };
        live.saw(&started(1));
        let error = nika_contract::ToolError::new(nika_contract::code::COMMAND_FAILED, "no ".repeat(60));
        let (unit, spent) = (unit("first", None), Spent::default());
        live.saw(&RunEvent::TaskFailed { unit, attempt: 1, error, took_ms: 3, spent, again_ms: Some(3_600_000) });
        let picture = drawn(&live);
        assert!(picture.contains("again in 59 m") || picture.contains("again in 60 m"), "{picture}");
        let row = picture.lines().next().unwrap_or_default();
        assert!(
            row.ends_with('…') && row.contains("first                 exec"),
            "a row that is cut says so: {picture}"
        );
        live.saw(&started(2));
        assert!(drawn(&live).contains("try 2") && !drawn(&live).contains("again in"), "{}", drawn(&live));
    }

    #[test]
    fn nothing_runs_in_the_last_picture_of_a_run_that_was_stopped() {
        let live = chain();
        let (unit, origin) = (unit("first", None), String::new());
        live.saw(&RunEvent::TaskStarted { unit, attempt: 1, verb: "exec", origin });
        assert!(drawn(&live).contains("1 running"), "{}", drawn(&live));
        live.saw(&RunEvent::Paused { took_ms: 5, spent: Spent::default() });
        assert!(drawn(&live).ends_with("2 waiting · 1 stopped\x1b[0m"), "{}", drawn(&live));
    }

    #[test]
    fn of_many_rows_those_that_run_or_failed_are_drawn() {
        let mut rows: Vec<Row> = (0..100).map(|at| row(&format!("t{at}"), Mark::Done)).collect();
        rows[90].mark = Mark::Failed;
        rows[95].mark = Mark::Runs;
        let drawn = picture(&rows, "*").join("\n");
        assert_eq!(drawn.lines().count(), MOST_ROWS + 1);
        assert!(drawn.contains("t90") && drawn.contains("t95"), "{drawn}");
        assert!(drawn.ends_with("98 done · 1 running · 1 failed\x1b[0m"), "{drawn}");
    }
}
