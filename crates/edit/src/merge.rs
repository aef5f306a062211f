//! Two changes to one base: an edit carried over to what the file has become meanwhile, and
//! the general three-way merge. Lines are raw bytes; what touches is refused with both sides.
//!
//! Where repeated lines leave open which copy is meant, that counts as touching: an edit must
//! never land on the wrong copy.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use crate::detect::detect;
use crate::encoding::Encoding;
use crate::linediff::{self, Differing};
use crate::lines::Shape;
use crate::plan::{Change, Plan};

/// An edit, placed in the file as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebased {
    /// Spans on the current bytes.
    pub plan: Plan,
    /// What changed outside this edit since the base.
    pub outside: Vec<OutsideChange>,
}

/// Lines that somebody else changed. Ranges count from 1, end excluded; one may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideChange {
    pub base_lines: Range<usize>,
    pub their_lines: Range<usize>,
}

/// Why an edit could not be carried over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Overlap {
    #[error("the file changed since it was read, in the lines of this edit: {0}")]
    Touches(Box<Conflict>),
    #[error(
        "the file changed since it was read, and the text at line {line} now stands in several places, so it cannot be said which is meant; read it again"
    )]
    Ambiguous { line: usize },
    #[error("the file was {base} when it was read and is {theirs} now; read it again")]
    EncodingChanged { base: &'static str, theirs: &'static str },
    #[error("the file is no longer text: {0}")]
    NotText(#[from] crate::detect::NotText),
    #[error("the edit was made for other bytes than the base given here; work it out again")]
    OtherBase,
}

/// Three versions of the same lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// From 1, end excluded.
    pub base_lines: Range<usize>,
    pub their_lines: Range<usize>,
    /// Each cut after [`SHOWN_LINES`] lines.
    pub base: String,
    pub ours: String,
    pub theirs: String,
    /// How the lines end as they were read and as they are now, where that is all that differs.
    pub endings: Option<[&'static str; 2]>,
}

/// Longest side of a conflict that is shown.
pub const SHOWN_LINES: usize = 30;
const SHOWN_CHARS: usize = 300;

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) =
            (self.their_lines.start, self.their_lines.end.saturating_sub(1).max(self.their_lines.start));
        writeln!(f, "lines {first}-{last} of the file as it is now")?;
        let [read, now] =
            self.endings.map_or([String::new(), String::new()], |both| both.map(|one| format!(" ({one})")));
        writeln!(f, "--- as it was read{read}\n{}", self.base)?;
        writeln!(f, "--- as it is now{now}\n{}", self.theirs)?;
        write!(f, "--- as this edit would make it\n{}", self.ours)
    }
}

/// Both changes in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub bytes: Vec<u8>,
    /// Blocks taken from one side only.
    pub from_ours: usize,
    pub from_theirs: usize,
    /// Blocks that both sides changed in the same way.
    pub same: usize,
}

/// Both sides changed the same lines, differently.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    #[error("both sides changed the same lines in {} place{}; first: {}", .0.len(), if .0.len() == 1 { "" } else { "s" }, .0.first().map(ToString::to_string).unwrap_or_default())]
    Conflicts(Vec<Conflict>),
    #[error("both sides changed a file that is not text; keep one of them")]
    NotText,
    #[error("the sides are in different encodings ({ours} and {theirs}); convert one first")]
    EncodingChanged { ours: &'static str, theirs: &'static str },
}

/// A version of the file as raw lines.
struct Side<'a> {
    bytes: &'a [u8],
    encoding: Encoding,
    shape: Shape,
    lines: Vec<&'a [u8]>,
    /// Where each line starts, and the end of the file.
    starts: Vec<usize>,
}

impl<'a> Side<'a> {
    fn of(bytes: &'a [u8], encoding: Encoding, bom: usize) -> Side<'a> {
        let shape = Shape::of(bytes, encoding, bom);
        let ranges = shape.split(bytes, bom.min(bytes.len())..bytes.len());
        let starts = ranges.iter().map(|line| line.start).chain([bytes.len()]).collect();
        let lines = ranges.into_iter().filter_map(|line| bytes.get(line)).collect();
        Side { bytes, encoding, shape, lines, starts }
    }

    /// Index of the line that holds a byte; the last line also holds the file's end.
    fn line_of(&self, at: usize) -> usize {
        let upto = self.starts.len().saturating_sub(1);
        let starts = self.starts.get(..upto).unwrap_or_default();
        starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    fn bytes_of(&self, lines: Range<usize>) -> &'a [u8] {
        let at = |line: usize| self.starts.get(line).copied().unwrap_or(self.bytes.len());
        self.bytes.get(at(lines.start)..at(lines.end)).unwrap_or_default()
    }

    fn shown(&self, lines: Range<usize>) -> String {
        let text = self.encoding.decode(self.bytes_of(lines));
        shown(&text)
    }

    fn ending_of(&self, lines: Range<usize>) -> &'static str {
        match self.shape.of_piece().endings(self.bytes_of(lines)).name() {
            "none" => "no line ending",
            name => name,
        }
    }
}

/// The names of both sides' line endings, where the sides would look the same but for these.
fn endings(base: (&Side<'_>, Range<usize>), theirs: (&Side<'_>, Range<usize>)) -> Option<[&'static str; 2]> {
    let both = [&base, &theirs].map(|(side, lines)| side.ending_of(lines.clone()));
    (both[0] != both[1] && base.0.shown(base.1) == theirs.0.shown(theirs.1)).then_some(both)
}

fn shown(text: &str) -> String {
    let mut lines = crate::text::lines(text, SHOWN_CHARS);
    let mut out: Vec<String> = lines.by_ref().take(SHOWN_LINES).map(|line| line.text.into_owned()).collect();
    let rest = lines.count();
    if rest > 0 {
        out.push(format!("… [+{rest} lines]"));
    }
    out.join("\n")
}

/// Carries a plan made for `base` over to `theirs`, the bytes as they are now, when what
/// changed meanwhile neither touches nor adjoins the lines that the edit matched.
pub fn rebase(base: &[u8], theirs: &[u8], plan: &Plan) -> Result<Rebased, Overlap> {
    if !plan.fits(base) {
        return Err(Overlap::OtherBase);
    }
    if base == theirs {
        return Ok(Rebased { plan: plan.clone(), outside: Vec::new() });
    }
    let now = detect(theirs)?;
    let ascii_only = || plan.spans.iter().all(|span| span.with.is_ascii());
    let one_byte_units = plan.encoding.unit() == 1 && now.encoding.unit() == 1;
    let stateful = plan.encoding.is_stateful() || now.encoding.is_stateful();
    if now.encoding != plan.encoding && (!one_byte_units || stateful || !ascii_only()) {
        return Err(Overlap::EncodingChanged { base: plan.encoding.name(), theirs: now.encoding.name() });
    }
    let base = Side::of(base, plan.encoding, plan.shape.bom);
    let now_side = Side::of(theirs, now.encoding, now.bom);
    let blocks = linediff::diff(&base.lines, &now_side.lines);
    let reaches: Vec<Range<usize>> = blocks.iter().map(|block| reach(block, &base.lines, &now_side.lines)).collect();
    let mut counts: Option<HashMap<&[u8], (usize, usize)>> = None;
    // The stretch of unchanged lines looked at last, and whether its place is certain.
    let mut known: Option<(Range<usize>, bool)> = None;

    let mut changes = Vec::with_capacity(plan.spans.len());
    for span in &plan.spans {
        let matched = span.matched.start.min(span.old.start)..span.matched.end.max(span.old.end);
        let first = base.line_of(matched.start);
        let last = if matched.is_empty() { first } else { base.line_of(matched.end - 1) };
        let lines = first..(last + 1).min(base.lines.len());
        if let Some(n) = reaches.iter().position(|reach| reach.start <= lines.end && reach.end >= lines.start) {
            return Err(Overlap::Touches(Box::new(conflict(&base, &now_side, plan, &blocks, &lines, n))));
        }
        let next = blocks.partition_point(|block| block.old.start < lines.start);
        let before = next.checked_sub(1).and_then(|n| blocks.get(n));
        let (run_start, there) = before.map_or((0, 0), |block| (block.old.end, block.new.end));
        let run = run_start..blocks.get(next).map_or(base.lines.len(), |block| block.old.start);
        let certain = match &known {
            Some((stretch, certain)) if *stretch == run => *certain,
            _ => {
                let counts = counts.get_or_insert_with(|| count_lines(&base.lines, &now_side.lines));
                let unique = |line: &&[u8]| counts.get(line) == Some(&(1, 1));
                let run_bytes = base.bytes_of(run.clone());
                let certain = base.lines.get(run.clone()).unwrap_or_default().iter().any(unique)
                    || (occurs_once(base.bytes, run_bytes) && occurs_once(theirs, run_bytes));
                known = Some((run.clone(), certain));
                certain
            }
        };
        if !certain {
            return Err(Overlap::Ambiguous { line: lines.start + 1 });
        }
        let base_at = base.starts.get(run.start).copied().unwrap_or(base.bytes.len());
        let their_at = now_side.starts.get(there).copied().unwrap_or(theirs.len());
        let moved = |range: &Range<usize>| range.start - base_at + their_at..range.end - base_at + their_at;
        let (matched, old) = (moved(&matched), moved(&span.old));
        // Equal lines have equal bytes; checked, because everything rests on it.
        if theirs.get(old.clone()) != base.bytes.get(span.old.clone()) {
            return Err(Overlap::Ambiguous { line: lines.start + 1 });
        }
        changes.push(Change { matched, old, with: span.with.clone() });
    }
    let outside = blocks
        .iter()
        .map(|block| OutsideChange { base_lines: from_one(&block.old), their_lines: from_one(&block.new) });
    let mut moved = Plan::of(theirs, now.encoding, now_side.shape, plan.level, changes);
    moved.count = plan.count;
    Ok(Rebased { plan: moved, outside: outside.collect() })
}

fn from_one(lines: &Range<usize>) -> Range<usize> {
    lines.start + 1..lines.end + 1
}

fn count_lines<'a>(base: &[&'a [u8]], theirs: &[&'a [u8]]) -> HashMap<&'a [u8], (usize, usize)> {
    let mut counts: HashMap<&[u8], (usize, usize)> = HashMap::with_capacity(base.len());
    for line in base {
        counts.entry(line).or_default().0 += 1;
    }
    for line in theirs {
        counts.entry(line).or_default().1 += 1;
    }
    counts
}

fn occurs_once(bytes: &[u8], part: &[u8]) -> bool {
    let Some(first) = memchr::memmem::find(bytes, part) else { return false };
    // Overlapping copies count, too.
    !part.is_empty() && memchr::memmem::find(bytes.get(first + 1..).unwrap_or_default(), part).is_none()
}

/// How far a slide is followed; further ones are as good as unbounded.
const MAX_SLIDE: usize = 5_000;

/// The base lines that a block may be about: where its first lines equal the ones that follow
/// it (or its last those before), the same result comes from changing other copies.
fn reach(block: &Differing, base: &[&[u8]], theirs: &[&[u8]]) -> Range<usize> {
    let slide = |lines: &[&[u8]], range: &Range<usize>| {
        if range.is_empty() {
            return (0, 0);
        }
        let same =
            |a: Option<usize>, b: Option<usize>| match (a.and_then(|n| lines.get(n)), b.and_then(|n| lines.get(n))) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            };
        let up = (1..=MAX_SLIDE).take_while(|n| same(range.start.checked_sub(*n), range.end.checked_sub(*n))).count();
        let down = (0..MAX_SLIDE).take_while(|n| same(Some(range.start + n), Some(range.end + n))).count();
        (up, down)
    };
    let (old, new) = (slide(base, &block.old), slide(theirs, &block.new));
    block.old.start.saturating_sub(old.0.max(new.0))..(block.old.end + old.1.max(new.1)).min(base.len())
}

fn conflict(
    base: &Side<'_>,
    theirs: &Side<'_>,
    plan: &Plan,
    blocks: &[Differing],
    lines: &Range<usize>,
    n: usize,
) -> Conflict {
    let block = blocks.get(n).cloned().unwrap_or(Differing { old: lines.clone(), new: lines.clone() });
    let all = block.old.start.min(lines.start)..block.old.end.max(lines.end);
    let there = map_lines(blocks, &all);
    let byte = |line: usize| base.starts.get(line).copied().unwrap_or(base.bytes.len());
    let (start, end) = (byte(all.start), byte(all.end));
    let mut at = start;
    let mut ours = Vec::new();
    for span in plan.spans.iter().filter(|span| span.old.start >= start && span.old.end <= end) {
        ours.extend_from_slice(base.bytes.get(at..span.old.start).unwrap_or_default());
        ours.extend_from_slice(&span.with);
        at = span.old.end;
    }
    ours.extend_from_slice(base.bytes.get(at..end).unwrap_or_default());
    Conflict {
        base_lines: from_one(&all),
        their_lines: from_one(&there),
        endings: endings((base, all.clone()), (theirs, there.clone())),
        base: base.shown(all),
        theirs: theirs.shown(there),
        ours: shown(&base.encoding.decode(&ours)),
    }
}

/// Where base lines went. The range should not part a block; if it does, the block counts whole.
fn map_lines(blocks: &[Differing], lines: &Range<usize>) -> Range<usize> {
    let before = blocks.partition_point(|block| block.old.end < lines.start || block.old.start < lines.start);
    let start = match before.checked_sub(1).and_then(|n| blocks.get(n)) {
        Some(block) if block.old.end > lines.start => block.new.start,
        Some(block) => block.new.end + (lines.start - block.old.end),
        None => lines.start,
    };
    let until = blocks.partition_point(|block| block.old.start <= lines.end);
    let end = match until.checked_sub(1).and_then(|n| blocks.get(n)) {
        Some(block) if block.old.end >= lines.end => block.new.end,
        Some(block) => block.new.end + (lines.end - block.old.end),
        None => lines.end,
    };
    start..end.max(start)
}

/// Merges two changed versions of `base`. Changes of both sides that overlap or adjoin are
/// conflicts unless they are the same.
pub fn merge3(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Merged, MergeError> {
    let one =
        |bytes: &[u8], from_ours, from_theirs, same| Ok(Merged { bytes: bytes.to_vec(), from_ours, from_theirs, same });
    if ours == theirs {
        return one(ours, 0, 0, usize::from(ours != base));
    }
    if theirs == base {
        return one(ours, 1, 0, 0);
    }
    if ours == base {
        return one(theirs, 0, 1, 0);
    }
    let (Ok(base_is), Ok(ours_is), Ok(theirs_is)) = (detect(base), detect(ours), detect(theirs)) else {
        return Err(MergeError::NotText);
    };
    let mergeable = |a: Encoding, b: Encoding| a == b;
    if !mergeable(ours_is.encoding, theirs_is.encoding)
        || (!mergeable(base_is.encoding, ours_is.encoding) && !base.is_ascii())
    {
        return Err(MergeError::EncodingChanged { ours: ours_is.encoding.name(), theirs: theirs_is.encoding.name() });
    }
    let base = Side::of(base, base_is.encoding, base_is.bom);
    let ours = Side::of(ours, ours_is.encoding, ours_is.bom);
    let theirs = Side::of(theirs, theirs_is.encoding, theirs_is.bom);
    let our_blocks = linediff::diff(&base.lines, &ours.lines);
    let their_blocks = linediff::diff(&base.lines, &theirs.lines);

    let marked = if ours_is.bom != base_is.bom { &ours } else { &theirs };
    let mut merged = Merged { bytes: Vec::with_capacity(ours.bytes.len()), from_ours: 0, from_theirs: 0, same: 0 };
    merged.bytes.extend_from_slice(marked.bytes.get(..marked.shape.bom).unwrap_or_default());
    let mut conflicts = Vec::new();
    let mut at = 0;
    for cluster in clusters(&base, &ours, &theirs, &our_blocks, &their_blocks) {
        merged.bytes.extend_from_slice(base.bytes_of(at..cluster.lines.start));
        at = cluster.lines.end;
        let (in_ours, in_theirs) = (map_lines(&our_blocks, &cluster.lines), map_lines(&their_blocks, &cluster.lines));
        let (our_bytes, their_bytes) = (ours.bytes_of(in_ours.clone()), theirs.bytes_of(in_theirs.clone()));
        let taken = match (cluster.ours, cluster.theirs) {
            (true, true) if our_bytes == their_bytes => {
                merged.same += 1;
                our_bytes
            }
            (true, true) => {
                conflicts.push(Conflict {
                    base_lines: from_one(&cluster.lines),
                    their_lines: from_one(&in_theirs),
                    endings: endings((&base, cluster.lines.clone()), (&theirs, in_theirs.clone())),
                    base: base.shown(cluster.lines.clone()),
                    ours: ours.shown(in_ours),
                    theirs: theirs.shown(in_theirs),
                });
                our_bytes
            }
            (true, false) => {
                merged.from_ours += 1;
                our_bytes
            }
            (false, _) => {
                merged.from_theirs += 1;
                their_bytes
            }
        };
        merged.bytes.extend_from_slice(taken);
    }
    merged.bytes.extend_from_slice(base.bytes_of(at..base.lines.len()));
    if conflicts.is_empty() { Ok(merged) } else { Err(MergeError::Conflicts(conflicts)) }
}

/// Base lines that one side, or both, changed.
struct Cluster {
    lines: Range<usize>,
    ours: bool,
    theirs: bool,
}

fn clusters(
    base: &Side<'_>,
    ours: &Side<'_>,
    theirs: &Side<'_>,
    our_blocks: &[Differing],
    their_blocks: &[Differing],
) -> Vec<Cluster> {
    let of = |side: &Side<'_>, blocks: &[Differing], is_ours: bool| -> Vec<Cluster> {
        let reaches = blocks.iter().map(|block| reach(block, &base.lines, &side.lines));
        reaches.map(|lines| Cluster { lines, ours: is_ours, theirs: !is_ours }).collect()
    };
    let mut all = of(ours, our_blocks, true);
    all.extend(of(theirs, their_blocks, false));
    all.sort_by_key(|cluster| (cluster.lines.start, cluster.lines.end));
    let mut joined: Vec<Cluster> = Vec::with_capacity(all.len());
    for cluster in all {
        match joined.last_mut() {
            Some(last) if cluster.lines.start <= last.lines.end => {
                last.lines.end = last.lines.end.max(cluster.lines.end);
                last.ours |= cluster.ours;
                last.theirs |= cluster.theirs;
            }
            _ => joined.push(cluster),
        }
    }
    joined
}
