//! What a layer costs beyond the change itself: made, mounted, read and thrown away over a large tree that stays
//! as it is; then what applying costs, in a small tree of its own.
//!
//! ```text
//! cargo run --release -p nika-host --example layer -- TREE STATE
//! ```
#![allow(unsafe_code)]

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nika_contract::{CallId, Cancel, Clock, Cx, Preimage, Progress, SessionState, Silent, ToolError, Undo};
use nika_guard::{Effect, Effects, Mode, Place, Policy};
use nika_host::fs::{Fsync, Settings, Workspace};
use nika_host::overlay::{Bounds, Cover, Layer};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

const ROUNDS: usize = 30;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(tree), Some(state)) = (args.next(), args.next()) else {
        eprintln!("usage: layer TREE STATE");
        return ExitCode::FAILURE;
    };
    for count in [1usize, 100] {
        match round(&tree, &state, count) {
            Ok(times) => println!("{count} changed file(s): {times}"),
            Err(error) => {
                eprintln!("layer: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    for (count, fsync) in [(1, Fsync::Off), (1, Fsync::Data), (100, Fsync::Off), (100, Fsync::Data)] {
        match applied(&state, count, fsync) {
            Ok(time) => println!("applying {count} changed file(s), {fsync:?}: {time:.2} ms"),
            Err(error) => {
                eprintln!("layer: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Nothing is kept: the store's own cost is another bench's.
struct Nowhere;

impl Undo for Nowhere {
    fn keep(&self, _: &Preimage<'_>) -> Result<(), ToolError> {
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

/// Applies changes to files of 4 KiB in a small tree of their own, beside the state.
fn applied(state: &Path, count: usize, fsync: Fsync) -> Result<f64, Box<dyn std::error::Error>> {
    let base = state.canonicalize()?.join("scratch");
    let (root, own) = (base.join("root"), base.join("own"));
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        std::fs::create_dir_all(&root)?;
        std::fs::create_dir_all(own.join("sets"))?;
        let mut script = String::from(":");
        for n in 0..count {
            std::fs::write(root.join(n.to_string()), vec![b'x'; 4096])?;
            script.push_str(&format!("; echo y >>{n}"));
        }
        let settings = Settings {
            roots: vec![root.clone()],
            readable: Vec::new(),
            home: None,
            git: None,
            state: own.clone(),
            own: own.clone(),
            fsync,
        };
        let files = Workspace::open(settings).map_err(|error| error.message)?;
        let effects = Effects::one(Effect::Write(files.place(root.clone()).tree()));
        let permit = Policy::default().judge(&Mode::AcceptAll.into(), &effects).permit(None).map(Arc::new);
        let permit = permit.map_err(|_| "the tree may not be written")?;
        let layer = Layer::prepare(&permit, &own, &root).map_err(|error| error.message)?;
        command(&root, &script, Some(layer.cover(&permit)))?;
        let (call, session, cancel) = (CallId("c".into()), SessionState::new("s", true), Cancel::default());
        let progress: Arc<dyn Progress> = Arc::new(Silent);
        let cx = Cx {
            permit: &permit,
            call: &call,
            session: &session,
            cancel: &cancel,
            progress: &progress,
            undo: &Nowhere,
            clock: &Stopped,
            reply: None,
            purse: &nika_contract::Unbounded,
            beside: &nika_contract::Alone::default(),
        };
        let (done, time) = timed(|| {
            let changes = layer.changes(&permit).map_err(|error| error.message)?;
            let mut locked = files.lock(&permit).map_err(|error| error.message)?.ok_or("locked")?;
            let done = locked.apply(&cx, &[changes], &Bounds::default());
            done.map_err(|error| ToolError::from(error).message)
        });
        if done?.paths != count {
            return Err("not all was applied".into());
        }
        times.push(time);
        drop(layer);
        std::fs::remove_dir_all(&base)?;
    }
    say(&format!("applying {count} changed file(s), {fsync:?}"), &times);
    Ok(median(times))
}

fn round(tree: &Path, state: &Path, count: usize) -> Result<String, Box<dyn std::error::Error>> {
    let tree = tree.canonicalize()?;
    let effects = Effects::one(Effect::Write(Place::inside(&tree, "").tree()));
    let permit = Policy::default().judge(&Mode::AcceptAll.into(), &effects).permit(None).map(Arc::new);
    let permit = permit.map_err(|_| "the tree may not be written")?;
    let mut all: [Vec<Duration>; 5] = Default::default();
    let mut script = String::from("for f in ");
    script.push_str(&chosen(&tree, count)?.join(" "));
    script.push_str("; do echo x >>\"$f\"; done");
    for _ in 0..ROUNDS {
        all[4].push(command(&tree, "true", None)?);
        let (layer, made) = timed(|| Layer::prepare(&permit, state, &tree).map_err(|error| error.message));
        let layer = layer?;
        // A layer is mounted once, so that the mount alone is measured over another one.
        let other = Layer::prepare(&permit, state, &tree).map_err(|error| error.message)?;
        let ran = command(&tree, "true", Some(other.cover(&permit)))?;
        command(&tree, &script, Some(layer.cover(&permit)))?;
        let (found, read) = timed(|| layer.changes(&permit).map(|changes| changes.entries.len()));
        let found = found.map_err(|error| error.message)?;
        if found != count {
            return Err(format!("{found} entries, not {count}").into());
        }
        let ((), gone) = timed(|| drop(layer));
        for (times, time) in all.iter_mut().zip([made, ran, read, gone]) {
            times.push(time);
        }
    }
    for (what, times) in ["make", "run over a layer", "read", "throw away", "run without"].iter().zip(&all) {
        say(&format!("{what}, {count} changed file(s)"), times);
    }
    let [made, ran, read, gone, bare] = all.map(median);
    let beyond = made + (ran - bare) + read + gone;
    Ok(format!(
        "medians of {ROUNDS}: make {made:.2} ms, mount {:.2} ms, read {read:.2} ms, throw away {gone:.2} ms; \
         {beyond:.2} ms in all",
        ran - bare
    ))
}

/// Files of the tree that are not large, to append to.
fn chosen(tree: &Path, count: usize) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut found = Vec::new();
    let mut left = vec![tree.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            let path = entry.path();
            let plain =
                path.to_str().is_some_and(|text| text.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c)));
            if entry.file_type()?.is_dir() {
                left.push(path);
            } else if entry.file_type()?.is_file() && plain && entry.metadata()?.len() < 50_000 {
                found.push(path.to_string_lossy().into_owned());
                if found.len() == count {
                    return Ok(found);
                }
            }
        }
    }
    Err("too few files".into())
}

/// Runs a script in namespaces of its own, over a layer or not.
fn command(root: &Path, script: &str, cover: Option<Cover>) -> Result<Duration, Box<dyn std::error::Error>> {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("cd \"$ROOT\"; {script}")]).env("ROOT", root).current_dir("/");
    let enter = move || {
        // SAFETY: a child with one thread; nothing is shared with anybody.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::NEWUSER)? };
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        cover.as_ref().map_or(Ok(()), Cover::mount)
    };
    // SAFETY: between fork and exec the child has one thread, and glibc lets it allocate.
    unsafe { command.pre_exec(enter) };
    let (status, time) = timed(|| command.status());
    if status?.success() { Ok(time) } else { Err("the command failed".into()) }
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let result = act();
    (result, began.elapsed())
}

/// All samples, in milliseconds.
fn say(what: &str, times: &[Duration]) {
    let all: Vec<String> = times.iter().map(|time| format!("{:.3}", time.as_secs_f64() * 1e3)).collect();
    println!("raw {what}, ms: {}", all.join(" "));
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}
