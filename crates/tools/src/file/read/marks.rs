//! Where lines lie in large files, as far as a session has counted them: the second look at a line far in a log need not
//! count again what precedes it.
//!
//! A mark is a place in a file and how many line endings lie before it. They are set as a file is counted, one a MiB, and
//! hold as long as the file is the same by its [`Stamp`]: a log that grew is counted anew, since nobody can say without
//! reading that what precedes is as it was.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nika_edit::Encoding;
use nika_host::fs::Stamp;

/// The least distance of two marks: what lies between is counted in less than a millisecond.
const APART: u64 = 1 << 20;
/// Marks of one file. Where they would be more, every second goes: 8,192 are 128 KiB of memory, and a mark a MiB up to 8 GiB.
const MOST: usize = 8_192;
/// Files whose marks one session keeps: more are not read far in by turns.
const FILES: usize = 16;

/// How a file is read, on which it depends what a line ending is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub encoding: Encoding,
    pub bom: u64,
    pub cr_only: bool,
}

/// A place between two characters, and how many line endings lie before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub at: u64,
    pub endings: u64,
}

/// The marks of one file, by place.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    shape: Option<Shape>,
    apart: u64,
    marks: Vec<Mark>,
    /// How many lines it has, once they were counted.
    total: Option<u64>,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { shape: None, apart: APART, marks: Vec::new(), total: None }
    }
}

impl Marks {
    /// The same for a file of this shape: none that were set for another.
    pub(super) fn of(&mut self, shape: Shape) -> &mut Marks {
        if self.shape != Some(shape) {
            *self = Marks { shape: Some(shape), ..Marks::default() };
        }
        self
    }

    /// Remembers how much lies before a place, unless a mark is near already.
    pub(super) fn set(&mut self, mark: Mark) {
        // They come in order, as a file is counted from its beginning or from its last mark.
        if mark.at < self.marks.last().map_or(0, |last| last.at) + self.apart {
            return;
        }
        self.marks.push(mark);
        if self.marks.len() > MOST {
            self.apart *= 2;
            let mut keeps = false;
            self.marks.retain(|_| {
                keeps = !keeps;
                keeps
            });
        }
    }

    /// The last place that has fewer than `endings` before it; the beginning where no mark has.
    pub(super) fn before(&self, endings: u64) -> Option<Mark> {
        let behind = self.marks.partition_point(|mark| mark.endings < endings);
        behind.checked_sub(1).map(|at| self.marks[at])
    }

    /// The last mark.
    pub(super) fn last(&self) -> Option<Mark> {
        self.marks.last().copied()
    }

    pub(super) fn total(&self) -> Option<u64> {
        self.total
    }

    pub(super) fn set_total(&mut self, total: u64) {
        self.total = Some(total);
    }
}

/// The marks of a session's files, those last read last.
#[derive(Debug, Default)]
pub(super) struct Marked(Mutex<VecDeque<(PathBuf, Stamp, Marks)>>);

impl Marked {
    /// The marks of a file, if it is as it was.
    pub(super) fn of(&self, path: &Path, stamp: Stamp) -> Marks {
        let files = self.files();
        let known = files.iter().find(|(known, then, _)| known == path && *then == stamp);
        known.map_or_else(Marks::default, |(_, _, marks)| marks.clone())
    }

    /// Keeps them for the next read.
    pub(super) fn keep(&self, path: &Path, stamp: Stamp, marks: Marks) {
        let mut files = self.files();
        files.retain(|(known, ..)| known != path);
        files.push_back((path.to_path_buf(), stamp, marks));
        if files.len() > FILES {
            files.pop_front();
        }
    }

    fn files(&self) -> MutexGuard<'_, VecDeque<(PathBuf, Stamp, Marks)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { encoding: Encoding::Utf8, bom: 0, cr_only: false };

    #[test]
    fn the_nearest_place_before_a_line_is_known() {
        let mut marks = Marks::default();
        marks.of(SHAPE);
        for n in 1..=100 {
            marks.set(Mark { at: n * APART / 2, endings: n * 10 });
        }
        assert_eq!(marks.marks.len(), 50, "none is nearer than a MiB to the one before");
        assert_eq!(marks.before(20), None);
        assert_eq!(marks.before(21), Some(Mark { at: APART, endings: 20 }));
        assert_eq!(marks.before(10_000), marks.last());
        // What was counted otherwise says nothing.
        assert_eq!(marks.of(Shape { cr_only: true, ..SHAPE }).last(), None);
    }

    #[test]
    fn a_file_of_any_size_has_so_many_marks() {
        let mut marks = Marks::default();
        for n in 1..=5 * MOST as u64 {
            marks.set(Mark { at: n * APART, endings: n });
        }
        assert!(marks.marks.len() <= MOST && marks.marks.len() >= MOST / 2, "{}", marks.marks.len());
        assert!(marks.marks.windows(2).all(|pair| pair[0].at < pair[1].at && pair[0].endings < pair[1].endings));
        let near = marks.before(3 * MOST as u64).expect("a mark");
        assert!(near.endings + 8 >= 3 * MOST as u64, "{near:?}");
    }
}
