//! From lines to calls, read from the end of the log.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nika_contract::{Before, Dress, Kind, Known, More};

use super::line::{self, Line, Record};
use crate::hash::Hash;

/// No call runs longer than this: where a line's call began so much earlier than every call that is
/// wanted, no line before it belongs to one of them.
const LONGEST_CALL_MS: u64 = 24 * 60 * 60 * 1000;
/// Read at once, backwards.
const CHUNK_BYTES: u64 = 64 << 10;

/// What one call changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallChanges {
    /// The call's id.
    pub call: String,
    /// Its session.
    pub session: String,
    /// Its tool.
    pub tool: String,
    /// When it began, in Unix milliseconds.
    pub at: u64,
    /// Whether a person was asked about it and said yes, as far as is known: of calls of earlier versions it is not.
    pub asked: bool,
    /// A path each, in the order of their first change.
    pub changes: Vec<Change>,
    /// The call that took this one back, unless that one was taken back in turn.
    pub undone_by: Option<String>,
}

/// A path, from before a call to after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Absolute.
    pub path: PathBuf,
    /// What stood there before the call, or after it where nothing did.
    pub kind: Kind,
    /// Its permission bits.
    pub mode: Option<u32>,
    /// Those that the call left there, where that is known.
    pub mode_left: Option<u32>,
    /// Its content; `None` where nothing stood.
    pub before: Option<Hash>,
    /// What the call meant to leave there; `None` for nothing.
    pub after: Option<Hash>,
    /// What it has beyond an edit, where a command made it.
    pub more: Option<More>,
    /// What stood there had of its own beside content and permission bits.
    pub dress: Option<Dress>,
    /// Whether that was a file with other names.
    pub linked: bool,
}

impl Change {
    /// Whether a device, a FIFO or a socket stood there: it had permission bits and no content, and nothing of it was lost.
    pub fn was_special(&self) -> bool {
        let is_whole = |more: More| more.known == Known::Whole && more.before == Before::Kept;
        self.before.is_none() && self.mode.is_some() && self.more.is_some_and(is_whole)
    }
}

/// Which calls to look for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) limit: usize,
    pub(crate) call: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
}

impl Wanted<'_> {
    fn takes(&self, call: &str, session: &str) -> bool {
        self.call.is_none_or(|only| only == call) && self.session.is_none_or(|only| only == session)
    }
}

/// The last calls that are wanted, the newest first. Within a call, a path that was changed several
/// times is one change: the first `before`, the last `after`.
pub(crate) fn newest(log: &File, wanted: Wanted<'_>) -> io::Result<Vec<CallChanges>> {
    let mut history = History::default();
    let mut backwards = Backwards::new(log)?;
    let mut text = Vec::new();
    while backwards.next(&mut text)? {
        let full = history.calls.len() >= wanted.limit;
        // Most lines of a long log are no business of this search: they are not parsed.
        if let Some((at, call, session)) = line::glance(&text) {
            let before_all = |earliest: u64| at.saturating_add(LONGEST_CALL_MS) < earliest;
            if full && history.earliest.is_none_or(before_all) && !is_recorded(&text) {
                break;
            }
            if !wanted.takes(call, session) || full && history.place(call, session).is_none() {
                continue;
            }
        }
        match Line::decode(&text) {
            Some(Line::Mark(mark)) => history.mark(&mark.undone, &mark.by),
            Some(Line::Change(record)) if wanted.takes(&record.call, &record.session) => history.change(record, full),
            _ => {}
        }
    }
    let whole = |gathered: &Gathered| history.whole.contains(&gathered.call.call);
    Ok(history.calls.into_iter().filter(whole).map(Gathered::into_changes).collect())
}

/// Whether a line was written when its call may have ended long before: a job in the background has no longest time.
fn is_recorded(text: &[u8]) -> bool {
    match Line::decode(text) {
        Some(Line::Change(record)) => record.left.is_some_and(|left| left.known != Known::Whole),
        _ => false,
    }
}

/// What is known so far, from the end.
#[derive(Default)]
struct History {
    calls: Vec<Gathered>,
    /// When the first of `calls` began.
    earliest: Option<u64>,
    /// Session → call → place in `calls`.
    places: HashMap<String, HashMap<String, usize>>,
    /// Each call that is taken back, and by which.
    undone: HashMap<String, String>,
    /// Calls and paths of which a later line says that nothing came of what had begun.
    unchanged: HashSet<(String, PathBuf)>,
    /// Calls of which the first line is there: half a call cannot be taken back.
    whole: HashSet<String>,
}

/// A call's changes from its last to its first.
struct Gathered {
    call: CallChanges,
    backwards: Vec<Option<Change>>,
    paths: HashMap<PathBuf, usize>,
}

impl History {
    /// Later marks come first: when `by` is known to be taken back, its mark means nothing.
    fn mark(&mut self, undone: &str, by: &str) {
        if !self.undone.contains_key(by) {
            self.undone.entry(undone.to_owned()).or_insert_with(|| by.to_owned());
        }
    }

    fn place(&self, call: &str, session: &str) -> Option<usize> {
        self.places.get(session)?.get(call).copied()
    }

    fn change(&mut self, record: Record<'_>, full: bool) {
        if !record.goes_on && !self.whole.contains(&*record.call) {
            self.whole.insert(record.call.clone().into_owned());
        }
        let told = record.left.as_ref().map_or(Known::Whole, |left| left.known);
        let known = self.place(&record.call, &record.session).and_then(|at| self.calls[at].told(&record.path));
        match (told, known) {
            (Known::Unchanged, None) => {
                self.unchanged.insert((record.call.into_owned(), record.path));
                return;
            }
            // A try came to nothing, and a later one changed it.
            (Known::Unchanged, Some(Known::Whole)) => return,
            (_, None) if self.unchanged.contains(&(record.call.clone().into_owned(), record.path.clone())) => return,
            _ => {}
        }
        let place = match self.place(&record.call, &record.session) {
            Some(place) => place,
            None if full => return,
            None => self.begin(&record),
        };
        self.calls[place].add(record);
    }

    fn begin(&mut self, record: &Record<'_>) -> usize {
        let call = CallChanges {
            call: record.call.clone().into_owned(),
            session: record.session.clone().into_owned(),
            tool: record.tool.clone().into_owned(),
            at: record.at,
            asked: !record.unasked,
            changes: Vec::new(),
            undone_by: self.undone.get(&*record.call).cloned(),
        };
        let place = self.calls.len();
        self.places.entry(call.session.clone()).or_default().insert(call.call.clone(), place);
        self.earliest = Some(self.earliest.unwrap_or(u64::MAX).min(record.at));
        self.calls.push(Gathered { call, backwards: Vec::new(), paths: HashMap::new() });
        place
    }
}

impl Gathered {
    /// What the last line about a path tells.
    fn told(&self, path: &Path) -> Option<Known> {
        let at = *self.paths.get(path)?;
        let more = self.backwards[at].as_ref().and_then(|change| change.more);
        Some(more.map_or(Known::Whole, |more| more.known))
    }

    /// An earlier change than those known. Of its path it knows better what stood there before, and
    /// it is where the path comes first.
    fn add(&mut self, record: Record<'_>) {
        let Record { path, kind, mode, mut mode_left, before, after, left, dress, linked, .. } = record;
        let dress = dress.map(|worn| Dress::from(*worn));
        let mut more = left.map(|left| More::from(*left));
        let known = self.paths.get(&path).copied();
        let told = more.map_or(Known::Whole, |more| more.known);
        let later = known.and_then(|at| self.backwards[at].as_ref()?.more);
        if told != Known::Whole && later.is_some_and(|later| later.known != Known::Whole) {
            // The later line of what was recorded says all that the earlier ones do; that the path was touched comes
            // first where it was touched first.
            let change = known.and_then(|at| self.backwards[at].take());
            let change = change.map(|change| Change { dress: dress.or(change.dress), ..change });
            self.paths.insert(path, self.backwards.len());
            self.backwards.push(change);
            return;
        }
        let after = match known.and_then(|at| self.backwards[at].take()) {
            // A try that others got ahead of and that was begun again: what it meant to leave never stood
            // there, so what stood before it is not what the call changed.
            Some(later) if later.before != after => {
                self.backwards[known.unwrap_or_default()] = Some(later);
                return;
            }
            Some(later) => {
                more = match (more, later.more) {
                    (Some(more), Some(later)) => Some(More { before: more.before, was_as: more.was_as, ..later }),
                    (_, later) => later,
                };
                mode_left = later.mode_left;
                later.after
            }
            None => after,
        };
        self.paths.insert(path.clone(), self.backwards.len());
        self.backwards.push(Some(Change { path, kind, mode, mode_left, before, after, more, dress, linked }));
    }

    fn into_changes(self) -> CallChanges {
        CallChanges { changes: self.backwards.into_iter().rev().flatten().collect(), ..self.call }
    }
}

/// The lines of a file from the last to the first.
pub(crate) struct Backwards<'a> {
    file: &'a File,
    /// Where `held` begins in the file.
    at: u64,
    held: Vec<u8>,
}

impl<'a> Backwards<'a> {
    pub(crate) fn new(file: &'a File) -> io::Result<Backwards<'a>> {
        Ok(Backwards { file, at: file.metadata()?.len(), held: Vec::new() })
    }

    /// Puts the line before the last one given into `line`; false at the file's start. Empty lines
    /// are passed over.
    pub(crate) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            while self.held.pop_if(|last| *last == b'\n').is_some() {}
            if let Some(end) = self.held.iter().rposition(|&b| b == b'\n') {
                line.clear();
                line.extend_from_slice(&self.held[end + 1..]);
                self.held.truncate(end + 1);
                return Ok(true);
            }
            if self.at == 0 {
                line.clear();
                std::mem::swap(line, &mut self.held);
                return Ok(!line.is_empty());
            }
            let from = self.at.saturating_sub(CHUNK_BYTES.max(self.held.len() as u64));
            let mut more = vec![0; (self.at - from) as usize];
            self.file.read_exact_at(&mut more, from)?;
            more.append(&mut self.held);
            self.held = more;
            self.at = from;
        }
    }
}
