//! The edit itself: find the old text, work out what takes its place, or say why not.

use crate::detect::{NotText, inspect};
use crate::find::{Found, Haystack, Level, Wanted, all};
use crate::near::{NearMiss, nearest};
use crate::plan::Plan;
use crate::splice::{self, LineEnding, Unspliceable};

/// What to replace with what.
#[derive(Clone, Copy, Debug)]
pub struct Replace<'a> {
    /// The text to be found; `\n` stands for the file's own line ending.
    pub old: &'a str,
    pub new: &'a str,
    /// Every occurrence instead of exactly one.
    pub all: bool,
}

impl Replace<'_> {
    /// What is wrong with it whatever the file holds.
    pub fn check(&self) -> Result<(), EditError> {
        match (self.old.is_empty(), self.old == self.new) {
            (true, _) => Err(EditError::EmptyOld),
            (false, true) => Err(EditError::SameText),
            (false, false) if self.new.contains('\0') => Err(EditError::Nul),
            (false, false) => Ok(()),
        }
    }

    fn wanted(&self) -> Wanted {
        if self.all { Wanted::All } else { Wanted::One }
    }
}

/// Why nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("old_string is empty; give the exact text to replace (to fill an empty file, write it)")]
    EmptyOld,
    #[error("old_string and new_string are the same; there is nothing to change")]
    SameText,
    #[error("new_string holds a NUL (U+0000); a file with one is no text, so leave it out")]
    Nul,
    /// Only line endings differ, and those follow the file.
    #[error(
        "the edit would leave the file as it is: new lines take the line endings of their neighbours, so an edit cannot convert endings"
    )]
    NoChange,
    #[error(transparent)]
    NotText(#[from] NotText),
    #[error("the file is empty, so old_string is not in it; write the file instead")]
    EmptyFile,
    #[error(transparent)]
    NoMatch(Box<NearMiss>),
    #[error(
        "old_string occurs {count} times{} ({}); {}",
        level_note(.level),
        at_lines(.lines, *.count),
        way_out(.level)
    )]
    NotUnique {
        count: usize,
        /// Where the first of them start, from 1.
        lines: Vec<usize>,
        level: Level,
    },
    #[error("{} (U+{:04X}) in new_string has no place in {encoding}, the file's encoding; use other characters, or convert the file first", shown(*.character), u32::from(*.character))]
    Unencodable { character: char, encoding: &'static str },
    #[error(
        "U+FFFD in this file stands for bytes that are not valid {encoding}; keep each of them in new_string as often as in old_string, or leave them outside the edit"
    )]
    BrokenBytes { encoding: &'static str },
    #[error(
        "the lines from {line} cannot be written back in {encoding} without changing more than asked; convert the file to UTF-8 first"
    )]
    NotRoundTrip { line: usize, encoding: &'static str },
}

/// How many places a refusal lists.
pub const LISTED_PLACES: usize = 10;

fn level_note(level: &Level) -> &'static str {
    match level {
        Level::Exact => "",
        Level::TrailingBlanks => " when blanks at line ends are ignored, and never exactly",
    }
}

/// `replace_all` takes exact matches alone.
fn way_out(level: &Level) -> &'static str {
    match level {
        Level::Exact => "add surrounding lines to make it unique, or set replace_all",
        Level::TrailingBlanks => {
            "send the blanks as they stand in the file, or add surrounding lines to make it unique"
        }
    }
}

fn at_lines(lines: &[usize], count: usize) -> String {
    let shown: Vec<String> = lines.iter().map(usize::to_string).collect();
    let more = if count > lines.len() { ", …" } else { "" };
    format!("lines {}{more}", shown.join(", "))
}

fn shown(c: char) -> String {
    if c.is_control() || c.is_whitespace() { String::from("the character") } else { format!("'{c}'") }
}

/// Works out an edit. Nothing is changed yet: see [`Plan::apply`].
pub fn plan(bytes: &[u8], replace: &Replace<'_>) -> Result<Plan, EditError> {
    replace.check()?;
    let mut hay = Haystack::new(bytes, inspect(bytes)?);
    if hay.body().is_empty() {
        return Err(EditError::EmptyFile);
    }
    let (old, new) = (hay.normal(replace.old).into_owned(), hay.normal(replace.new).into_owned());
    if old.is_empty() {
        return Err(EditError::EmptyOld);
    }
    if old == new {
        return Err(EditError::NoChange);
    }
    if !splice::is_splice_safe(hay.encoding) {
        return plan_by_lines(hay, &old, &new, replace);
    }
    let Found { level, hits } = hay.find(&old, replace.old, replace.wanted());
    if hits.is_empty() {
        return Err(EditError::NoMatch(Box::new(missed(&mut hay, &old, &new, replace))));
    }
    // A loose match must be the only one, even when all were asked for.
    if hits.len() > 1 && !(replace.all && level == Level::Exact) {
        let (mut at, mut line, mut lines) = (hay.body().start, 1, Vec::new());
        for hit in hits.iter().take(LISTED_PLACES) {
            line += hay.shape.count(bytes, at..hit.start);
            at = hit.start;
            lines.push(line);
        }
        return Err(EditError::NotUnique { count: hits.len(), lines, level });
    }
    let mut changes = Vec::with_capacity(hits.len());
    let mut line = LineEnding::default();
    for hit in &hits {
        changes.push(splice::change(&hay, hit, level, &old, &new, &mut line).map_err(|why| refusal(&hay, why))?);
    }
    finish(&hay, level, changes)
}

/// What comes nearest. What would not be found if it were sent is not handed back: some encodings have one code for a
/// letter with the accent behind it, and nothing begins between the two.
fn missed(hay: &mut Haystack<'_>, old: &str, new: &str, replace: &Replace<'_>) -> NearMiss {
    let mut miss = nearest(&hay.view().text, old, new, replace.old);
    if let Some(near) = &mut miss.nearest
        && let Some(text) = &near.text
    {
        let sent = Replace { old: text, new: "", all: true };
        let sought = hay.normal(text).into_owned();
        if hay.find(&sought, text, sent.wanted()).hits.is_empty() {
            near.text = None;
        }
    }
    miss
}

fn plan_by_lines(mut hay: Haystack<'_>, old: &str, new: &str, replace: &Replace<'_>) -> Result<Plan, EditError> {
    let view = hay.take_view();
    let place = |at: usize| Some(at..at + old.len());
    let hits = all(view.text.as_bytes(), old.as_bytes(), old.len(), replace.wanted(), place);
    if hits.is_empty() {
        return Err(EditError::NoMatch(Box::new(nearest(&view.text, old, new, replace.old))));
    }
    if hits.len() > 1 && !replace.all {
        let line = |at: usize| view.text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let lines = hits.iter().take(LISTED_PLACES).map(|hit| line(hit.start)).collect();
        return Err(EditError::NotUnique { count: hits.len(), lines, level: Level::Exact });
    }
    let changes = splice::changes_by_lines(&hay, &view, &hits, new).map_err(|why| refusal(&hay, why))?;
    let mut plan = finish(&hay, Level::Exact, changes)?;
    plan.count = hits.len();
    Ok(plan)
}

fn finish(hay: &Haystack<'_>, level: Level, mut changes: Vec<crate::plan::Change>) -> Result<Plan, EditError> {
    let count = changes.len();
    changes.retain(|change| hay.bytes.get(change.old.clone()) != Some(&change.with));
    if changes.is_empty() {
        return Err(EditError::NoChange);
    }
    let mut plan = Plan::of(hay.bytes, hay.encoding, hay.shape, level, changes);
    plan.count = count;
    Ok(plan)
}

fn refusal(hay: &Haystack<'_>, why: Unspliceable) -> EditError {
    let encoding = hay.encoding.name();
    match why {
        Unspliceable::Unencodable(unencodable) => EditError::Unencodable { character: unencodable.character, encoding },
        Unspliceable::Broken { .. } => EditError::BrokenBytes { encoding },
        Unspliceable::NotRoundTrip { at } => {
            EditError::NotRoundTrip { line: hay.shape.count(hay.bytes, hay.body().start..at) + 1, encoding }
        }
    }
}
