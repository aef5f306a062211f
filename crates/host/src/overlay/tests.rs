//! Layers under real commands: each case is run on the bare root and over a layer, and both must come out alike.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use nika_contract::{CallId, Cancel, Clock, Cx, Kind, Preimage, Progress, SessionState, Silent, ToolError, Undo};
use nika_guard::{Effect, Effects, Mode as Stance, Permit, Policy};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::*;
use crate::fs::{Fsync, Outcome, Settings, Workspace, sha256};
use crate::moves::{After, Intent, Mover, Named, Phase, Wanted};

mod applying;
mod deep;
mod killed;
mod like_bare;
mod on_their_way;

/// Where the mount is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum In {
    /// A user namespace: what an ordinary user has.
    UserNamespace,
    /// The first user namespace, as root.
    Root,
}

/// Ways that this machine offers. Where it refuses, that is said.
fn ways() -> Vec<In> {
    let world = World::new();
    let mut ways = vec![In::UserNamespace];
    if rustix::process::geteuid().is_root() {
        ways.push(In::Root);
    }
    ways.retain(|way| {
        let layer = world.layer();
        let ran = world.run(&layer, *way, "true");
        if let Err(error) = &ran {
            eprintln!("skipped {way:?}: no overlay can be mounted here: {error}");
        }
        ran.is_ok()
    });
    ways
}

/// A root and Nika's state, in a directory of their own.
pub(crate) struct World {
    _dir: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) state: PathBuf,
    own: PathBuf,
    undo: Kept,
}

/// An undo store in memory.
#[derive(Default)]
struct Kept(Mutex<Vec<Line>>);

#[derive(Debug, Clone, PartialEq)]
struct Line {
    path: PathBuf,
    kind: Kind,
    bytes: Option<Vec<u8>>,
    mode: Option<u32>,
    after: Option<[u8; 32]>,
    more: Option<nika_contract::More>,
}

impl Undo for Kept {
    fn keep(&self, preimage: &Preimage<'_>) -> Result<(), ToolError> {
        self.0.lock().unwrap().push(Line {
            path: preimage.path.to_owned(),
            kind: preimage.kind,
            bytes: preimage.bytes.map(<[u8]>::to_vec),
            mode: preimage.mode,
            after: preimage.after,
            more: preimage.more,
        });
        Ok(())
    }
}

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn unix_ms(&self) -> u64 {
        0
    }
}

impl World {
    pub(crate) fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let [root, own] = ["root", "own"].map(|name| base.join(name));
        let state = own.join("w");
        for dir in [&root, &state.join("sets")] {
            fs::create_dir_all(dir).unwrap();
        }
        World { _dir: dir, root, state, own, undo: Kept::default() }
    }

    pub(crate) fn files(&self) -> Workspace {
        Workspace::open(Settings {
            roots: vec![self.root.clone()],
            readable: Vec::new(),
            home: None,
            git: None,
            state: self.state.clone(),
            own: self.own.clone(),
            fsync: Fsync::Off,
        })
        .unwrap()
    }

    fn permit(&self) -> Arc<Permit> {
        let files = self.files();
        let effects = Effects::one(Effect::Write(files.place(self.root.clone()).tree()));
        Arc::new(Policy::default().judge(&Stance::AcceptAll.into(), &effects).permit(None).unwrap())
    }

    fn layer(&self) -> Layer {
        Layer::prepare(&self.permit(), &self.state, &self.root).unwrap()
    }

    /// Runs a script on the bare root.
    fn bare(&self, script: &str) {
        assert!(shell(&self.root, script).status().unwrap().success(), "{script}");
    }

    /// Runs a script over a layer.
    fn run(&self, layer: &Layer, way: In, script: &str) -> std::io::Result<()> {
        let cover = layer.cover(&self.permit());
        let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let mut command = shell(&self.root, script);
        let enter = move || {
            let mut flags = UnshareFlags::NEWNS;
            if way == In::UserNamespace {
                flags |= UnshareFlags::NEWUSER;
            }
            // SAFETY: a child with one thread; nothing is shared with anybody.
            unsafe { unshare_unsafe(flags)? };
            if way == In::UserNamespace {
                fs::write("/proc/self/setgroups", "deny")?;
                fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
                fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
            }
            mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
            cover.mount()
        };
        // SAFETY: between fork and exec the child has one thread, and glibc lets it allocate.
        unsafe { command.pre_exec(enter) };
        let status = command.status()?;
        if status.success() { Ok(()) } else { Err(std::io::Error::other(format!("{script}: {status}"))) }
    }

    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut crate::fs::Locked<'_>, &Cx<'_>) -> T) -> T {
        let permit = self.permit();
        self.under(&permit, act)
    }

    fn under<T>(&self, permit: &Arc<Permit>, act: impl FnOnce(&mut crate::fs::Locked<'_>, &Cx<'_>) -> T) -> T {
        let files = self.files();
        let (call, session, cancel) = (CallId("c1".into()), SessionState::new("s", true), Cancel::default());
        let progress: Arc<dyn Progress> = Arc::new(Silent);
        let cx = Cx {
            permit,
            call: &call,
            session: &session,
            cancel: &cancel,
            progress: &progress,
            undo: &self.undo,
            clock: &Stopped,
            reply: None,
            purse: &nika_contract::Unbounded,
            beside: &nika_contract::Alone::default(),
        };
        let mut locked = files.lock(permit).unwrap().expect("nobody else is here");
        act(&mut locked, &cx)
    }

    fn apply(&self, layer: &Layer) -> Result<Applied, NotApplied> {
        let changes = layer.changes(&self.permit()).map_err(NotApplied::Refused)?;
        self.with(|locked, cx| locked.apply(cx, &[changes], &Bounds::default()))
    }

    /// The paths of a layer with what happened to them.
    fn seen(&self, layer: &Layer) -> BTreeMap<String, What> {
        let changes = layer.changes(&self.permit()).unwrap();
        let name = |path: &Path| path.strip_prefix(&self.root).unwrap().to_string_lossy().into_owned();
        changes.entries.iter().map(|entry| (name(&entry.path), entry.what)).collect()
    }

    fn look(&self) -> BTreeMap<PathBuf, String> {
        snapshot(&self.root)
    }

    fn sets(&self) -> usize {
        let files = fs::read_dir(self.state.join("sets")).unwrap().flatten();
        files.filter(|file| file.path().extension().is_some_and(|ext| ext == "layer")).count()
    }

    fn layers(&self) -> usize {
        fs::read_dir(self.state.join("layers")).map_or(0, Iterator::count)
    }
}

fn shell(root: &Path, script: &str) -> Command {
    let mut command = Command::new("bash");
    // Started above the root, as a mount over a current directory is not seen there.
    command.args(["-c", &format!("set -e; umask 022; cd \"$ROOT\"; {script}")]).env("ROOT", root).current_dir("/");
    command
}

/// Every entry below `root`: kind, rights, content, names of the same file, and of files the time.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut names: BTreeMap<u64, PathBuf> = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(dir) = left.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let meta = fs::symlink_metadata(&path).unwrap();
            let below = path.strip_prefix(root).unwrap().to_path_buf();
            let what = if meta.is_dir() {
                left.push(path);
                format!("directory {:o}", meta.mode() & 0o7777)
            } else if meta.is_symlink() {
                format!("link {:?}", fs::read_link(&path).unwrap())
            } else {
                let first = names.entry(meta.ino()).or_insert_with(|| below.clone()).clone();
                let hash = if meta.len() < 64 << 20 { sha256(&fs::read(&path).unwrap())[0] } else { 0 };
                let old = meta.mtime() < 1_500_000_000;
                let time = if old { meta.mtime() } else { 0 };
                format!("file {:o} {} {hash:x} at {time} as {first:?}", meta.mode() & 0o7777, meta.len())
            };
            all.insert(below, what);
        }
    }
    all
}
