//! A run as a person watches it, on stderr: each task with its mark, how long it took, what it cost. On a terminal
//! the rows stay where they are and change; elsewhere a task that ended is a line.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use nika_contract::text;
use nika_flow::model::Flow;
use nika_flow::run::events::{Named, RunEvent, Spent, Watch};

use crate::out;

/// Between two pictures.
const BEAT: Duration = Duration::from_millis(100);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Rows that are drawn; of more tasks those that run or failed come first, and the rest is counted.
const MOST_ROWS: usize = 20;
/// Characters of a row: what fits on any terminal, as a row that wraps cannot be drawn over.
const ROW_CHARS: usize = 78;
/// Characters of an id's column.
const ID_CHARS: usize = 24;

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mark {
    #[default]
    Waits,
    Runs,
    Done,
    Failed,
    Skipped,
}

/// A task's row.
#[derive(Debug, Default)]
struct Row {
    id: String,
    verb: &'static str,
    mark: Mark,
    since: Option<Instant>,
    took_ms: u64,
    spent: Spent,
    /// Elements of its loop: ended, and in all.
    elements: Option<(usize, usize)>,
    said: String,
}

#[derive(Debug, Default)]
struct State {
    rows: Vec<Row>,
    at: BTreeMap<String, usize>,
    drawn: usize,
    frame: usize,
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
            state.rows.push(Row { id: task.id.value.clone(), verb: task.verb.name(), ..Row::default() });
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

    /// The last picture stays.
    pub fn end(&self) {
        let mut state = self.state();
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
    let picture = picture(&state.rows, FRAMES[state.frame]);
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
    let mut lines: Vec<String> = shown.into_iter().map(|row| coloured(row, frame)).collect();
    let count = |mark: Mark| rows.iter().filter(|row| row.mark == mark).count();
    let words = [
        (Mark::Done, "done"),
        (Mark::Runs, "running"),
        (Mark::Waits, "waiting"),
        (Mark::Skipped, "skipped"),
        (Mark::Failed, "failed"),
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

fn coloured(row: &Row, frame: &str) -> String {
    let (colour, mark) = match row.mark {
        Mark::Waits => ("2", "·"),
        Mark::Runs => ("36", frame),
        Mark::Done => ("32", "✓"),
        Mark::Failed => ("31", "✗"),
        Mark::Skipped => ("33", "-"),
    };
    let rest: String = about(row).chars().take(ROW_CHARS - 2).collect();
    format!("\x1b[{colour}m{mark}\x1b[0m {rest}")
}

/// `build   exec    3/7  1.2 s  $0.0012  why`.
fn about(row: &Row) -> String {
    let id = text::preview(&row.id, ID_CHARS);
    let mut said = format!("{id:<width$}  {:<6}", row.verb, width = ID_CHARS.min(20));
    if let Some((ended, count)) = row.elements {
        let _ = write!(said, "  {ended}/{count}");
    }
    match (row.mark, row.since) {
        (Mark::Runs, Some(since)) => {
            let _ = write!(said, "  {}", took(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)));
        }
        (Mark::Done | Mark::Failed, _) => {
            let _ = write!(said, "  {}", took(row.took_ms));
        }
        _ => {}
    }
    said.push_str(&money(row.spent));
    if !row.said.is_empty() {
        let first = row.said.lines().next().unwrap_or_default();
        let _ = write!(said, "  {}", text::harmless(first));
    }
    said.trim_end().to_owned()
}

fn money(spent: Spent) -> String {
    let tokens = if spent.tokens > 0 { format!("  {} tokens", spent.tokens) } else { String::new() };
    let cost = spent.cost_micros.map(|micros| format!("  ${:.4}", micros as f64 / 1e6)).unwrap_or_default();
    format!("{tokens}{cost}")
}

/// `12 ms`, `1.4 s`, `2 min 5 s`.
pub fn took(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

impl Watch for Live {
    fn saw(&self, what: &RunEvent) {
        match what {
            RunEvent::Resumed { ended, again } => {
                let names: Vec<String> = again.iter().map(|unit| unit.to_string()).collect();
                let again = if names.is_empty() { String::new() } else { format!("; again: {}", names.join(", ")) };
                self.line(&format!("goes on: {ended} ended before{again}"));
            }
            RunEvent::Scheduled { task, count } => {
                let unit = Named { task: task.clone(), element: None };
                self.change(&unit, |row| row.elements = Some((0, *count)));
            }
            RunEvent::TaskStarted { unit, .. } => self.change(unit, |row| {
                row.mark = Mark::Runs;
                row.since.get_or_insert_with(Instant::now);
            }),
            RunEvent::TaskCompleted { unit, took_ms, spent, instead_of, .. } => {
                let instead = instead_of.as_ref().map(|error| format!("instead of {}", error.code)).unwrap_or_default();
                self.change(unit, |row| {
                    row.spent = row.spent.plus(*spent);
                    row.said = instead.clone();
                    match (unit.element, &mut row.elements) {
                        (Some(_), Some((ended, _))) => *ended += 1,
                        (None, elements) => {
                            let whole = row.since.map_or(0, |since| since.elapsed().as_millis() as u64);
                            row.took_ms = if elements.is_some() { whole } else { *took_ms };
                            row.mark = Mark::Done;
                        }
                        _ => {}
                    }
                });
                let instead = if instead.is_empty() { instead } else { format!("  ({instead})") };
                let about = if *took_ms > 0 || unit.element.is_some() {
                    format!("  {}", took(*took_ms))
                } else {
                    String::new()
                };
                self.line(&format!("✓ {unit}{about}{}{instead}", money(*spent)));
            }
            RunEvent::TaskFailed { unit, error, took_ms, again_ms, .. } => {
                let said = format!("{} {}", error.code, error.message);
                let again = again_ms.map(|ms| format!("again in {}: ", took(ms))).unwrap_or_default();
                self.change(unit, |row| {
                    row.said = format!("{again}{said}");
                    if again_ms.is_none() && unit.element.is_none() {
                        (row.mark, row.took_ms) = (Mark::Failed, *took_ms);
                    }
                });
                let mark = if again_ms.is_some() { "↻" } else { "✗" };
                self.line(&format!("{mark} {unit}  {again}{}", text::harmless(&said)));
            }
            RunEvent::TaskSkipped { unit, why, .. } => {
                self.change(unit, |row| {
                    row.said.clone_from(why);
                    if unit.element.is_none() {
                        row.mark = Mark::Skipped;
                    }
                });
                self.line(&format!("- {unit}  skipped: {}", text::harmless(why)));
            }
            RunEvent::Started(_)
            | RunEvent::Completed { .. }
            | RunEvent::Failed { .. }
            | RunEvent::Aborted { .. }
            | RunEvent::Paused { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, mark: Mark) -> Row {
        Row { id: id.to_owned(), verb: "exec", mark, took_ms: 1_450, ..Row::default() }
    }

    #[test]
    fn a_row_says_how_its_task_stands() {
        let mut done = row("build", Mark::Done);
        done.spent = Spent { tokens: 12, cost_micros: Some(1_200) };
        done.elements = Some((3, 7));
        assert_eq!(about(&done), "build                 exec    3/7  1.4 s  12 tokens  $0.0012");
        assert_eq!(about(&row("x", Mark::Waits)), "x                     exec");
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
