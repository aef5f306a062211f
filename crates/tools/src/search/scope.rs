//! From a declared place to a search: its root, what holds from outside it, what it may not look at.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nika_contract::{Cancel, Cx, Progress, ToolError, code, text};
use nika_guard::{Looking, Permit, Place};
use nika_host::fs::{SearchRoot, Workspace};
use nika_search::{OuterDir, Record, Scope, SearchError};

/// Threads of one search. Two are what the smallest machines have; more gain little on a warm cache.
const MAX_THREADS: usize = 8;

/// Everything a search needs, owned, so that it can run on a thread of its own.
pub(super) struct Search {
    pub files: Arc<Workspace>,
    pub permit: Arc<Permit>,
    pub cancel: Cancel,
    pub place: Place,
    pub looking: Looking,
    pub hidden: bool,
    pub no_ignore: bool,
    pub timeout: Duration,
    /// Files looked at so far, for whoever watches.
    pub looked: Arc<AtomicU64>,
}

impl Search {
    pub fn new(files: &Arc<Workspace>, cx: &Cx<'_>, place: Place, looking: Looking) -> Search {
        Search {
            files: Arc::clone(files),
            permit: Arc::clone(cx.permit),
            cancel: cx.cancel.clone(),
            place,
            looking,
            hidden: false,
            no_ignore: false,
            timeout: DEFAULT_TIMEOUT,
            looked: Arc::default(),
        }
    }

    /// Runs `engine` over the scope.
    pub fn run<T>(&self, engine: impl FnOnce(&Scope<'_>) -> Result<T, SearchError>) -> Result<Searched<T>, ToolError> {
        let SearchRoot { dir, path: root, base } = self.files.search_root(&self.permit, &self.place)?;
        let ignores = if self.no_ignore { nika_host::fs::Ignores::default() } else { self.files.ignores_above(&root) };
        let outer: Vec<OuterDir<'_>> = ignores
            .above
            .iter()
            .map(|dir| OuterDir {
                to_root: &dir.to_root,
                is_repository: dir.is_repository,
                gitignore: dir.gitignore.as_deref(),
                ignore: dir.ignore.as_deref(),
                rgignore: dir.rgignore.as_deref(),
                exclude: dir.exclude.as_deref(),
            })
            .collect();
        let filter = self.permit.tree_filter(&self.place, self.looking);
        let own_state = self.files.holds_own_state(&root);
        let veto = |below: &[u8], _: bool| {
            let below = Path::new(std::ffi::OsStr::from_bytes(below));
            // What was asked for by name has been judged by name.
            if below == base {
                return false;
            }
            let below_tree = below.strip_prefix(&base).unwrap_or(below);
            let path = root.join(below);
            filter.withholds(&path, below_tree) || (own_state && self.files.is_own_state(&path))
        };
        let scope = Scope {
            base: &base,
            hidden: self.hidden,
            no_ignore: self.no_ignore,
            outer: &outer,
            global_ignore: ignores.global.as_deref(),
            veto: (own_state || !filter.is_idle()).then_some(&veto),
            cancel: Some(self.cancel.flag()),
            looked: Some(&self.looked),
            timeout: Some(self.timeout),
            threads: std::thread::available_parallelism().map_or(2, usize::from).clamp(2, MAX_THREADS),
            ..Scope::new(dir.as_fd())
        };
        let found = engine(&scope).map_err(refusal)?;
        if self.cancel.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        Ok(Searched { found, root })
    }
}

/// How often somebody who watches hears how far a search is.
const STEP: Duration = Duration::from_millis(500);

/// Runs `work` on a thread of its own, so that others are answered meanwhile; whoever watches hears how many files were
/// `looked` at.
pub(super) async fn apart<T: Send + 'static>(
    cx: &Cx<'_>,
    looked: Arc<AtomicU64>,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    watched(cx.progress.as_ref(), &looked, work).await
}

async fn watched<T: Send + 'static>(
    progress: &dyn Progress,
    looked: &AtomicU64,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let mut done = tokio::task::spawn_blocking(work);
    loop {
        match tokio::time::timeout(STEP, &mut done).await {
            Ok(joined) => return joined.map_err(|error| ToolError::new(code::BUG, error.to_string()))?,
            Err(_) => {
                let files = looked.load(Ordering::Relaxed);
                progress.step(files, None, &format!("{files} files searched"));
            }
        }
    }
}

/// How long a search may take unless told otherwise.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// What a search found, and from where its paths count.
pub(super) struct Searched<T> {
    pub found: T,
    pub root: PathBuf,
}

impl<T> Searched<T> {
    /// The first of the links that the globs lead through.
    pub fn asked_links(&self, files: &Workspace, record: &Record) -> Vec<String> {
        record.asked_links.first.iter().map(|path| self.shown(files, path)).collect()
    }

    /// A found path as results show it, on one line whatever its name holds.
    pub fn shown(&self, files: &Workspace, below: &Path) -> String {
        let path = match self.root == files.root() {
            true => below.to_string_lossy().into_owned(),
            false => files.shown(&self.root.join(below)),
        };
        text::name_in_line(&path).into_owned()
    }
}

/// What is wrong with a search whatever is searched; `glob` is the parameter that a glob stands in.
pub(super) fn flaw(error: SearchError, glob: &str) -> ToolError {
    let parameter = match &error {
        SearchError::InvalidGlob { .. } => glob,
        SearchError::UnknownType { .. } => "type",
        _ => "pattern",
    };
    let error = refusal(error);
    ToolError { message: format!("`{parameter}`: {}", error.message), ..error }
}

fn refusal(error: SearchError) -> ToolError {
    let code = match &error {
        SearchError::InvalidRegex { .. } => code::INVALID_REGEX,
        SearchError::InvalidGlob { .. } => code::INVALID_GLOB,
        SearchError::UnknownType { .. } => code::UNKNOWN_FILE_TYPE,
        SearchError::BaseNotFound { .. } => code::NOT_FOUND,
        SearchError::BaseKind { .. } => code::NOT_A_FILE,
        _ => code::SEARCH_FAILED,
    };
    let hint = match &error {
        SearchError::InvalidRegex { hint: Some(hint), .. } => Some((*hint).to_owned()),
        _ => None,
    };
    ToolError { code, message: error.to_string(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc::{Sender, channel};

    struct Watcher {
        heard: Mutex<Vec<(u64, String)>>,
        looked: Arc<AtomicU64>,
        go_on: Sender<()>,
    }

    impl Progress for Watcher {
        fn step(&self, done: u64, total: Option<u64>, what: &str) {
            assert_eq!(total, None, "how many there are is not known before");
            let mut heard = self.heard.lock().expect("nobody panicked");
            heard.push((done, what.to_owned()));
            self.looked.store(2_345, Ordering::Relaxed);
            if heard.len() == 2 {
                self.go_on.send(()).expect("it waits");
            }
        }
    }

    #[tokio::test]
    async fn whoever_watches_a_search_hears_how_many_files_it_looked_at() {
        let ((go_on, wait), looked) = (channel(), Arc::new(AtomicU64::new(17)));
        let watcher = Watcher { heard: Mutex::default(), looked: Arc::clone(&looked), go_on };
        let done = watched(&watcher, &looked, move || {
            wait.recv().expect("the watcher hears");
            Ok("found")
        });
        assert_eq!(done.await.expect("an answer"), "found");
        let heard = watcher.heard.into_inner().expect("nobody panicked");
        assert_eq!(heard, [(17, "17 files searched".to_owned()), (2_345, "2345 files searched".to_owned())]);
    }
}
