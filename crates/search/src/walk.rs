//! The parallel walk: who takes which directory, and what of it is in scope.
//!
//! Work is a stack of directories and batches of files that threads take
//! from. A directory is opened relative to its parent's descriptor and read
//! at once, so nothing is ever reached through a path that could have been
//! swapped for a link. Descriptors waiting on the stack are bounded; beyond
//! that a directory is found again from the base, component by component.

mod dir;
mod queue;
mod stop;

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::SearchError;
use crate::ignores::{self, IgnoreFile, Node, Said};
use crate::record::{self, Record, Tally};
use crate::scope::Scope;
use crate::select::{Select, Wanted};

pub(crate) use dir::{Base, Entries, FoundKind, kind_of_mode, open_base, open_file, reopen_dir};
use queue::{Held, Queue, Work};
pub(crate) use stop::Stop;

/// A file in scope.
#[derive(Clone, Copy)]
pub(crate) struct FileAt<'a> {
    /// The directory that lists it.
    pub dir: BorrowedFd<'a>,
    pub name: &'a CStr,
    /// Relative to the root.
    pub path: &'a [u8],
    /// A read here comes back short only at a file's end.
    pub whole_reads: bool,
}

/// What is done with the files of a walk; one a thread.
pub(crate) trait Visit: Send {
    /// How many files one thread takes at a time.
    const BATCH: usize;

    /// Whether it reads them.
    const READS: bool;

    fn file(&mut self, at: &FileAt<'_>, tally: &mut Tally);

    /// Whether a file or directory can be passed over because results before
    /// it already fill what was asked for.
    fn beyond(&self, _path: &[u8]) -> bool {
        false
    }
}

/// How a walk is to go.
pub(crate) struct Plan<'a> {
    pub scope: &'a Scope<'a>,
    pub select: &'a Select,
    /// Globs are relative to the base, not to the root.
    pub globs_from_base: bool,
    /// Take entries by name, so that early results are early in path order.
    pub ordered: bool,
    pub stop: &'a Stop<'a>,
}

/// What all threads share.
struct Shared<'a> {
    plan: &'a Plan<'a>,
    queue: Queue,
    base: OwnedFd,
    /// The walked path of the base.
    base_path: Vec<u8>,
    /// How many bytes of a walked path lead to the root: walked paths start
    /// at the outermost directory that has ignore files.
    root_from: usize,
    /// How many bytes lead to where globs apply.
    globs_from: usize,
    ignore_files: Mutex<Vec<Arc<IgnoreFile>>>,
}

/// Walks a directory; hands back what each thread made, and the record.
pub(crate) fn walk<V: Visit>(
    plan: &Plan<'_>,
    base: OwnedFd,
    make: impl Fn() -> V + Sync,
) -> Result<(Vec<V>, Record), SearchError> {
    let scope = plan.scope;
    let (node, lead, files) = outer_nodes(scope);
    let root_from = lead.len();
    let mut path = lead;
    let mut ignore_files = files;
    let node = dir::ancestors(scope, &mut path, node, &mut ignore_files)?;
    let globs_from = match (plan.globs_from_base, path.len() > root_from) {
        (true, true) => path.len() + 1,
        _ => root_from,
    };
    let shared = Shared {
        plan,
        queue: Queue::default(),
        base,
        base_path: path.clone(),
        root_from,
        globs_from,
        ignore_files: Mutex::new(ignore_files),
    };
    shared.queue.push([Work::Dir { parent: Held::Reopen, path: path.into(), node, depth: 0 }]);

    let mut done = Vec::new();
    std::thread::scope(|s| {
        let mut first = Worker::new(&shared, make());
        // A small tree is done before a thread has started.
        first.run(Some(ALONE));
        let helpers: Vec<_> = match shared.queue.is_idle() {
            true => Vec::new(),
            false => (1..scope.threads.max(1))
                .map(|_| {
                    let (shared, make) = (&shared, &make);
                    s.spawn(move || {
                        let mut worker = Worker::new(shared, make());
                        worker.run(None);
                        (worker.visit, worker.tally)
                    })
                })
                .collect(),
        };
        first.run(None);
        done.push((first.visit, first.tally));
        for helper in helpers {
            match helper.join() {
                Ok(part) => done.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    let (visits, tallies): (Vec<V>, Vec<Tally>) = done.into_iter().unzip();
    let mut record = Record::from_tallies(tallies);
    let mut files = shared.ignore_files.into_inner().unwrap_or_else(PoisonError::into_inner);
    ignores::by_path(&mut files);
    record.ignored = record::strongest(files.iter().flat_map(|f| f.counts()).collect());
    plan.stop.note(&mut record.cut);
    Ok((visits, record))
}

/// Works a thread does before others are started.
const ALONE: usize = 3;

/// Nodes for the directories above the root, the path that leads from the
/// outermost of them to the root (with its slash), and their files.
fn outer_nodes(scope: &Scope<'_>) -> (Arc<Node>, Vec<u8>, Vec<Arc<IgnoreFile>>) {
    if scope.no_ignore {
        return (Arc::new(Node::default()), Vec::new(), Vec::new());
    }
    let mut all = Vec::new();
    let mut compile = |place: PathBuf, text: Option<&[u8]>| -> Option<Arc<IgnoreFile>> {
        let file = Arc::new(IgnoreFile::new(place, text?));
        (!file.is_empty()).then(|| {
            all.push(file.clone());
            file
        })
    };
    let global = compile("(global gitignore)".into(), scope.global_ignore);
    let mut node = Arc::new(Node::outermost(global));
    let mut lead = scope.outer.iter().map(|o| o.to_root).max_by_key(|p| p.len()).unwrap_or(b"").to_vec();
    for outer in scope.outer.iter().rev() {
        let up = PathBuf::from("../".repeat(outer.to_root.split(|b| *b == b'/').count()));
        let files = [
            compile(up.join(".rgignore"), outer.rgignore),
            compile(up.join(".ignore"), outer.ignore),
            compile(up.join(".gitignore"), outer.gitignore),
            compile(up.join(".git/info/exclude"), outer.exclude),
        ];
        node = node.child(lead.len() - outer.to_root.len(), files, outer.is_repository);
    }
    if !lead.is_empty() {
        lead.push(b'/');
    }
    (node, lead, all)
}

/// One thread's part of a walk.
struct Worker<'a, V> {
    shared: &'a Shared<'a>,
    visit: V,
    tally: Tally,
    entries: Entries,
    subdirs: Vec<usize>,
    files: Vec<usize>,
    path: Vec<u8>,
}

impl<'a, V: Visit> Worker<'a, V> {
    fn new(shared: &'a Shared<'a>, visit: V) -> Self {
        Worker {
            shared,
            visit,
            tally: Tally::default(),
            entries: Entries::default(),
            subdirs: Vec::new(),
            files: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Takes work until there is none, or so many pieces.
    fn run(&mut self, pieces: Option<usize>) {
        let mut left = pieces.unwrap_or(usize::MAX);
        while left > 0 && !(pieces.is_some() && self.shared.queue.is_idle()) {
            let Some((work, _busy)) = self.shared.queue.take() else { return };
            if self.shared.plan.stop.now() {
                self.shared.queue.close();
                return;
            }
            match work {
                Work::Dir { parent, path, node, depth } => self.dir(parent, &path, &node, depth),
                Work::Files { dir, path, names } => {
                    let names: Vec<&CStr> =
                        names.split_inclusive(|b| *b == 0).filter_map(|n| CStr::from_bytes_with_nul(n).ok()).collect();
                    self.visit_all(dir.as_fd(), &path, names.into_iter());
                }
            }
            left -= 1;
        }
    }

    fn dir(&mut self, parent: Held, path: &[u8], node: &Arc<Node>, depth: usize) {
        if self.visit.beyond(&path[self.shared.root_from.min(path.len())..]) && depth > 0 {
            return;
        }
        let listed = self.shared.open(&parent, path, depth).and_then(|fd| {
            self.entries.read(fd.as_fd())?;
            Ok(fd)
        });
        drop(parent);
        let fd = match listed {
            Ok(fd) => fd,
            // Gone, or no longer a directory: it is no longer in scope either.
            Err(e) if gone(&e) => return,
            Err(e) => return self.tally.unreadable(self.shared.path_buf(path), e),
        };
        self.tally.dirs += 1;
        let node = self.shared.node(fd.as_fd(), path, node, &self.entries, &mut self.tally);
        if self.shared.plan.ordered {
            self.entries.sort();
        }
        self.sift(fd.as_fd(), path, &node, depth);
        self.hand_out(fd, path, &node, depth);
    }

    /// Decides which entries are in scope.
    fn sift(&mut self, fd: BorrowedFd<'_>, path: &[u8], node: &Node, depth: usize) {
        let Worker { shared, visit, tally, entries, subdirs, files, path: at, .. } = self;
        let (scope, select) = (shared.plan.scope, shared.plan.select);
        subdirs.clear();
        files.clear();
        at.clear();
        at.extend_from_slice(path);
        if at.len() > shared.root_from {
            at.push(b'/');
        }
        let name_at = at.len();
        for i in 0..entries.len() {
            let name = entries.name(i).to_bytes();
            at.truncate(name_at);
            at.extend_from_slice(name);
            let kind = match entries.kind(i) {
                FoundKind::Unknown => dir::kind_of(fd, entries.name(i)),
                kind => kind,
            };
            let is_dir = kind == FoundKind::Dir;
            let (for_globs, its_name_at) = (&at[shared.globs_from..], name_at - shared.globs_from);
            let wanted = match kind {
                FoundKind::Link => select.wants_link(for_globs, its_name_at),
                _ => select.wants(for_globs, its_name_at, is_dir),
            };
            if wanted == Wanted::No {
                tally.unselected += u64::from(!is_dir);
                continue;
            }
            if wanted != Wanted::Surely {
                let said = match scope.no_ignore {
                    true => Said::Nothing,
                    false => node.says(at, name_at, is_dir, shared.root_from),
                };
                if said == Said::Ignore {
                    continue;
                }
                let shown = scope.hidden || said == Said::Keep || wanted == Wanted::EvenHidden;
                if !shown && name.first() == Some(&b'.') {
                    tally.hidden += 1;
                    continue;
                }
            }
            let from_root = &at[shared.root_from..];
            match kind {
                FoundKind::Dir => {
                    if !select.may_want_below(for_globs) || visit.beyond(from_root) {
                        continue;
                    }
                    if scope.veto.is_some_and(|veto| veto(from_root, true)) {
                        tally.withheld += 1;
                    } else if scope.max_depth.is_some_and(|max| depth + 1 >= max) {
                        tally.too_deep += 1;
                    } else {
                        subdirs.push(i);
                    }
                }
                FoundKind::File => {
                    if scope.veto.is_some_and(|veto| veto(from_root, false)) {
                        tally.withheld += 1;
                    } else {
                        files.push(i);
                    }
                }
                FoundKind::Link if !select.leads_through(for_globs) => tally.links += 1,
                FoundKind::Link if scope.veto.is_some_and(|veto| veto(from_root, true)) => tally.withheld += 1,
                FoundKind::Link => {
                    tally.links += 1;
                    tally.asked_links.push(to_path(from_root));
                }
                _ => tally.special += 1,
            }
        }
    }

    /// Puts subdirectories and surplus files on the stack, visits the rest.
    fn hand_out(&mut self, fd: OwnedFd, path: &[u8], node: &Arc<Node>, depth: usize) {
        let shared = self.shared;
        if self.subdirs.is_empty() && self.files.len() <= V::BATCH {
            return self.visit_first(fd.as_fd(), path);
        }
        let fd = Arc::new(shared.queue.hold(fd));
        let join = |name: &CStr| {
            let mut full = Vec::with_capacity(path.len() + 1 + name.count_bytes());
            full.extend_from_slice(path);
            if full.len() > shared.root_from {
                full.push(b'/');
            }
            full.extend_from_slice(name.to_bytes());
            full.into_boxed_slice()
        };
        // The first to be taken is pushed last.
        let spare = shared.queue.spare();
        let count = self.subdirs.len();
        let subdirs = self.subdirs.iter().enumerate().rev().map(|(nth, &i)| Work::Dir {
            // Out of descriptors, only the next one taken may hold its parent.
            parent: if spare || (nth == 0 && count > 0) { Held::Open(fd.clone()) } else { Held::Reopen },
            path: join(self.entries.name(i)),
            node: node.clone(),
            depth: depth + 1,
        });
        let later = self.files.get(V::BATCH..).unwrap_or(&[]);
        let batches = later.chunks(V::BATCH).rev().map(|chunk| Work::Files {
            dir: fd.clone(),
            path: path.into(),
            names: chunk.iter().flat_map(|&i| self.entries.name(i).to_bytes_with_nul()).copied().collect(),
        });
        shared.queue.push(subdirs.chain(batches));
        self.visit_first((*fd).as_fd(), path);
    }

    fn visit_first(&mut self, fd: BorrowedFd<'_>, path: &[u8]) {
        let entries = std::mem::take(&mut self.entries);
        let files = std::mem::take(&mut self.files);
        self.visit_all(fd, path, files.iter().take(V::BATCH).map(|&i| entries.name(i)));
        self.entries = entries;
        self.files = files;
    }

    fn visit_all<'n>(&mut self, dir: BorrowedFd<'_>, path: &[u8], names: impl Iterator<Item = &'n CStr>) {
        let mut at = std::mem::take(&mut self.path);
        at.clear();
        at.extend_from_slice(path.get(self.shared.root_from..).unwrap_or(b""));
        if !at.is_empty() {
            at.push(b'/');
        }
        let name_at = at.len();
        let whole_reads = V::READS && dir::reads_whole(dir);
        let mut batch = 0;
        for name in names {
            if self.shared.plan.stop.now() {
                break;
            }
            batch += 1;
            at.truncate(name_at);
            at.extend_from_slice(name.to_bytes());
            if !self.visit.beyond(&at) {
                self.visit.file(&FileAt { dir, name, path: &at, whole_reads }, &mut self.tally);
            }
        }
        self.path = at;
        if let Some(looked) = self.shared.plan.scope.looked {
            looked.fetch_add(batch, Ordering::Relaxed);
        }
    }
}

/// Whether an error says that something is no longer what was listed.
pub(crate) fn gone(error: &rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].contains(error)
}

pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    Path::new(std::ffi::OsStr::from_bytes(bytes)).to_path_buf()
}

impl Shared<'_> {
    fn path_buf(&self, path: &[u8]) -> PathBuf {
        to_path(path.get(self.root_from..).unwrap_or(b""))
    }

    /// Opens a directory beneath its parent or, without one, from the base.
    fn open(&self, parent: &Held, path: &[u8], depth: usize) -> Result<OwnedFd, rustix::io::Errno> {
        if depth == 0 {
            return rustix::fs::openat(self.base.as_fd(), ".", dir::DIR_FLAGS, rustix::fs::Mode::empty());
        }
        match parent {
            Held::Open(fd) => {
                let name_at = memchr::memrchr(b'/', path).map_or(self.root_from, |i| i + 1).max(self.root_from);
                dir::open_dir((**fd).as_fd(), &path[name_at..])
            }
            Held::Reopen => {
                let below =
                    if self.base_path.len() > self.root_from { self.base_path.len() + 1 } else { self.root_from };
                let mut fd: Option<OwnedFd> = None;
                for name in path[below..].split(|b| *b == b'/') {
                    let from = fd.as_ref().map_or(self.base.as_fd(), |f| f.as_fd());
                    fd = Some(dir::open_dir(from, name)?);
                }
                fd.ok_or(rustix::io::Errno::NOENT)
            }
        }
    }

    /// The node of a directory, from the ignore files among its entries.
    fn node(
        &self,
        fd: BorrowedFd<'_>,
        path: &[u8],
        parent: &Arc<Node>,
        entries: &Entries,
        tally: &mut Tally,
    ) -> Arc<Node> {
        if self.plan.scope.no_ignore || !entries.has_ignore_names() {
            return parent.clone();
        }
        let found = dir::ignore_files(fd, &entries.ignore_names(), self.path_buf(path), tally);
        self.ignore_files.lock().unwrap_or_else(PoisonError::into_inner).extend(found.files.iter().flatten().cloned());
        let strip = if path.len() > self.root_from { path.len() + 1 } else { self.root_from };
        parent.child(strip, found.files, found.is_repository)
    }
}
