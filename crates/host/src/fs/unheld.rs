//! That a guarded file which was just put in its place is what was meant, and that nobody else can write it.
//!
//! A new file has another name first: for a moment, or for as long as others are copied beside it. That name lies where
//! commands may write that run meanwhile, so one could open the file there and write when it has become `.git/config`. A
//! recorder refuses commands such names; what it misses (a name that is swapped in memory, a job without one, another
//! program) is found here. When the file has its last name, the kernel is asked whether anybody has it open for writing, or
//! mapped so, and what it holds is compared while nobody can open it. Where that is not as it should be, whoever asked
//! takes it back.
//!
//! *Not taken:* to refuse while a job lives, as jobs of other sessions would have to be known, and git's configuration
//! changes with every branch. A place that no job sees: a rename works within one mount only, and what a job may write of
//! that it sees.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nika_contract::{ToolError, code};
use nika_guard::{Place, classify};
use rustix::fs::{FileType, OFlags, Stat, fstat, fstatfs};

use super::{Stamp, Workspace, errno, look_as_owner, sha256_of};
use crate::proc::{MARK, tree};
use crate::record::writers;

/// How long somebody may have it open before that is said. A child of ours that is about to start another program has all
/// that we had open for some microseconds.
const WITHIN: Duration = Duration::from_millis(250);
/// `F_SETSIG`, and a signal that nobody minds.
const SET_SIGNAL: libc::c_int = 10;
const IGNORED: libc::c_int = libc::SIGURG;
/// Network file systems whose server decides: NFS, SMB. They say "somebody has it" wherever the server gave no promise.
const ASK_A_SERVER: [i64; 3] = [0x6969, 0xff53_4d42, 0xfe53_4d42];

/// Whether a place is one of which this matters: what stands there becomes code or policy.
pub(crate) fn is_guarded(place: &Place) -> bool {
    place.guarded.is_some() || classify(&place.path).asked().is_some()
}

/// Refuses a file that was put under `name`, to stand at `place`, where somebody can write it, where it holds something
/// else than `is_it` says of its sha256, or where it has more names than `most`. All else than a regular file at a guarded
/// place passes.
pub(crate) fn unheld(
    place: &Place,
    (dir, name): (&OwnedFd, &OsStr),
    is_it: impl Fn(&[u8; 32]) -> bool,
    most: u64,
) -> Result<(), ToolError> {
    if !is_guarded(place) {
        return Ok(());
    }
    let failed = |error| errno(&format!("look at {}", place.shown()), error, code::WRITE_FAILED);
    let handle = look_as_owner(dir, name.as_ref(), OFlags::PATH | OFlags::NOFOLLOW).map_err(failed)?;
    let stat = fstat(&handle).map_err(failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(());
    }
    let opened = Workspace::reopen_as_owner(&handle);
    // Without the right to read it nobody can be asked by it.
    let lease = opened.as_ref().map_or(Ok(None), |file| Lease::of(file));
    let is_held = match &lease {
        Ok(Some(_)) => false,
        Ok(None) => !writers(Stamp::from(&stat).inode()).is_empty(),
        Err(Held) => true,
    };
    if is_held {
        return Err(refusal(place, &stat));
    }
    let Ok(file) = &opened else { return Ok(()) };
    let names = fstat(file).map_err(failed)?.st_nlink;
    let hash = sha256_of(&mut &*file)
        .map_err(|error| ToolError::new(code::READ_FAILED, format!("cannot read {}: {error}", place.shown())))?;
    if is_it(&hash) && u64::from(names as u32) <= most {
        return Ok(());
    }
    let message = format!("somebody else got hold of the new file for {} before it stood there", place.shown());
    Err(ToolError::new(code::NAME_HELD, message + AS_IT_WAS).hint(STOP))
}

/// What is no longer so where that could not be taken back.
pub(super) const AS_IT_WAS: &str = "; what stood there stands there again";
const STOP: &str = "end what runs beside with `job_stop` (`job_list` shows what lives; another session may have it), and \
                    repeat the call";

fn refusal(place: &Place, stat: &Stat) -> ToolError {
    let all = writers(Stamp::from(stat).inode());
    let who = all.first().map_or_else(|| "another program".to_owned(), |pid| named(pid.as_raw_nonzero().get()));
    let message = format!("{who} has the new file for {} open for writing", place.shown());
    ToolError::new(code::NAME_HELD, message + AS_IT_WAS).hint(STOP)
}

/// A process as a person knows it: by the job that it is of.
fn named(pid: i32) -> String {
    let name =
        tree::look(pid).map_or_else(|| "a program".to_owned(), |process| format!("`{}`", process.name.escape_debug()));
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mark =
        environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="));
    let job = mark.and_then(|mark| std::str::from_utf8(mark).ok()?.split('-').next());
    let is_job = |job: &&str| job.strip_prefix('j').is_some_and(|number| number.parse::<u64>().is_ok());
    match job.filter(is_job) {
        Some(job) => format!("{name} (process {pid}) of job {job}"),
        None => format!("{name} (process {pid})"),
    }
}

/// Somebody has it open for writing.
struct Held;

/// While it is there nobody has the file open for writing, and whoever opens it so waits.
struct Lease<'f>(&'f File);

impl Lease<'_> {
    /// `None` where the file system knows no such thing, or the file is another user's.
    fn of(file: &File) -> Result<Option<Lease<'_>>, Held> {
        let ask = |command, argument: libc::c_int| {
            // SAFETY: numbers, and a descriptor that lives across the call.
            unsafe { libc::fcntl(file.as_raw_fd(), command, argument) == 0 }
        };
        // Who opens it meanwhile has the kernel signal us: SIGIO, if nothing is said, which ends a process.
        if !ask(SET_SIGNAL, IGNORED) {
            return Ok(None);
        }
        let until = Instant::now() + WITHIN;
        while !ask(libc::F_SETLEASE, libc::c_int::from(libc::F_RDLCK as i16)) {
            match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EAGAIN) if asks_a_server(file) => return Ok(None),
                Some(libc::EAGAIN) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                Some(libc::EAGAIN) => return Err(Held),
                _ => return Ok(None),
            }
        }
        Ok(Some(Lease(file)))
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // SAFETY: numbers, and a descriptor that lives as long as this. What fails goes when the file is closed.
        unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_SETLEASE, libc::c_int::from(libc::F_UNLCK as i16)) };
    }
}

fn asks_a_server(file: &File) -> bool {
    fstatfs(file).is_ok_and(|system| ASK_A_SERVER.contains(&system.f_type))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::path::Path;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use nika_contract::Cx;

    use super::super::commit::Apart;
    use super::super::{Change, NotMade, Outcome, sha256};
    use rustix::fs::Mode;

    use super::*;
    use crate::moves::Phase;
    use crate::overlay::tests::World;

    /// Runs `act`, which writes a file at `path`, and `meanwhile` when it is about to write there.
    pub(crate) fn while_it_writes<T>(path: &Path, meanwhile: impl FnOnce() + Send, act: impl FnOnce() -> T) -> T {
        rustix::fs::mknodat(rustix::fs::CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut pipe = File::from(rustix::fs::open(path, flags, Mode::empty()).unwrap());
        // Full, so that whoever writes to it waits.
        while pipe.write(&[0; 4096]).is_ok() {}
        while pipe.write(&[0]).is_ok() {}
        let opened = || {
            let all = fs::read_dir("/proc/self/fd").unwrap().flatten();
            all.filter(|fd| fs::read_link(fd.path()).is_ok_and(|to| to == path)).count()
        };
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // The reading end stays open, or the write would fail.
            let (mut pipe, ended) = (&pipe, &ended);
            scope.spawn(move || {
                while opened() < 2 {
                    if ended.load(Ordering::Relaxed) {
                        return;
                    }
                    std::thread::yield_now();
                }
                meanwhile();
                while pipe.read(&mut [0; 65536]).is_ok() {}
            });
            let done = act();
            ended.store(true, Ordering::Relaxed);
            done
        })
    }

    fn place(world: &World, name: &str) -> Place {
        world.files().place(world.root.join(name))
    }

    /// Another text in a file that stands.
    fn change(world: &World, cx: &Cx<'_>, name: &str) -> Change {
        let place = place(world, name);
        let now = world.files().look(cx.permit, &place, 1 << 20).unwrap().unwrap();
        let target = super::super::Target::File { bytes: b"new\n".to_vec(), mode: None, dress: None };
        Change { place, expect: now, target }
    }

    /// The one temporary name that there is, opened as whoever wants to write there later does.
    fn held(world: &World) -> File {
        let temps = fs::read_dir(&world.root).unwrap().flatten().map(|one| one.path());
        // A second name of the former file is none of it.
        let is_new = |path: &std::path::PathBuf| fs::read(path).is_ok_and(|text| text == b"new\n");
        let temp = temps.filter(|path| super::super::is_temp_name(path.file_name().unwrap())).find(is_new);
        File::options().write(true).open(temp.expect("a new file on its way")).unwrap()
    }

    fn names_in(world: &World) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&world.root).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn is_refused(done: Result<impl std::fmt::Debug, NotMade>) {
        match done {
            Err(NotMade::Refused(error)) => assert_eq!(error.code, code::NAME_HELD, "{error:?}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_guarded_file_that_somebody_can_write_or_has_written_or_named_is_told() {
        let world = World::new();
        for (name, matters) in [(".envrc", true), ("plain", false)] {
            let path = world.root.join(name);
            let dir = rustix::fs::open(&world.root, OFlags::PATH, Mode::empty()).unwrap();
            let look = || {
                let wanted = sha256(b"new\n");
                unheld(&place(&world, name), (&dir, name.as_ref()), |hash| *hash == wanted, 1)
                    .map_err(|error| error.message)
            };
            fs::write(&path, "new\n").unwrap();
            look().unwrap();
            let held = File::options().write(true).open(&path).unwrap();
            assert_eq!(look().is_err_and(|why| why.contains("open for writing")), matters, "{name}");
            drop(held);
            look().unwrap();
            fs::hard_link(&path, world.root.join("other")).unwrap();
            assert_eq!(look().is_err_and(|why| why.contains("got hold")), matters, "{name}");
            fs::remove_file(world.root.join("other")).unwrap();
            fs::write(&path, "bad\n").unwrap();
            assert_eq!(look().is_err_and(|why| why.contains("got hold")), matters, "{name}");
        }
    }

    #[test]
    fn who_opens_it_while_it_is_looked_at_waits_and_ends_nobody() {
        let world = World::new();
        let path = world.root.join(".envrc");
        fs::write(&path, "new\n").unwrap();
        let file = File::open(&path).unwrap();
        let Ok(Some(lease)) = Lease::of(&file) else { return eprintln!("skipped: no leases here") };
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        assert_eq!(rustix::fs::open(&path, flags, Mode::empty()).unwrap_err(), rustix::io::Errno::AGAIN);
        drop(lease);
        rustix::fs::open(&path, flags, Mode::empty()).unwrap();
    }

    #[test]
    fn an_edit_whose_new_file_somebody_holds_is_taken_back() {
        let world = World::new();
        fs::write(world.root.join(".envrc"), "old\n").unwrap();
        let held = world.with(|locked, cx| {
            let change = change(&world, cx, ".envrc");
            let (dir, name) = world.files().parent_of(&change.place.path).unwrap();
            let temp = super::super::temp_name();
            let made = world.files().make_apart(&dir, &change, temp.as_ref()).unwrap();
            made.name(&dir, temp.as_ref()).unwrap();
            // As on a file system that makes no nameless files.
            let apart = Apart { file: made.file, named: true };
            let held = held(&world);
            is_refused(locked.place(&change, (&dir, &name), &temp, &apart).map(drop));
            held
        });
        (&held).write_all(b"bad\n").unwrap();
        assert_eq!(fs::read_to_string(world.root.join(".envrc")).unwrap(), "old\n");
    }

    #[test]
    fn a_set_of_changes_one_of_whose_files_somebody_holds_is_taken_back_whole() {
        let world = World::new();
        let names = [".envrc", "plain"];
        for name in names {
            fs::write(world.root.join(name), "old\n").unwrap();
        }
        let taken = Mutex::new(None);
        let note = world.files().sets_dir().join("c1.tmp");
        world.with(|locked, cx| {
            let mut plain = change(&world, cx, "plain");
            plain.target = super::super::Target::File { bytes: b"other\n".to_vec(), mode: None, dress: None };
            let changes = [change(&world, cx, ".envrc"), plain];
            let mut begun = locked.begin_set("c1", &changes, &[]).unwrap();
            let hold = || *taken.lock().unwrap() = Some(held(&world));
            is_refused(while_it_writes(&note, hold, || locked.commit_set(&mut begun, &changes, &mut [])));
        });
        taken.into_inner().unwrap().unwrap().write_all(b"bad\n").unwrap();
        assert_eq!(names_in(&world), names);
        for name in names {
            assert_eq!(fs::read_to_string(world.root.join(name)).unwrap(), "old\n");
        }
    }

    #[test]
    fn what_somebody_wrote_to_the_new_file_of_a_killed_set_is_not_put_in_a_guarded_place() {
        for name in [".envrc", "plain"] {
            let world = World::new();
            fs::write(world.root.join(name), "old\n").unwrap();
            world.with(|locked, cx| {
                let changes = [change(&world, cx, name)];
                let mut begun = locked.begin_set("c1", &changes, &[]).unwrap();
                locked.stage(&changes, &mut begun.intent).unwrap();
                begun.intent.phase = Phase::Applying;
                locked.save_set(&begun).unwrap();
                // Killed; and neither its size nor its time says that it is another one.
                let staged = &begun.intent.steps[0].source;
                let time = fs::metadata(staged).unwrap().modified().unwrap();
                fs::write(staged, "bad\n").unwrap();
                File::options().write(true).open(staged).unwrap().set_modified(time).unwrap();
            });
            let outcome = world.files().take_recovered().pop().unwrap().outcome;
            let guarded = name == ".envrc";
            assert_eq!(matches!(outcome, Outcome::Refused(_)), guarded, "{outcome}");
            let wanted = if guarded { "old\n" } else { "bad\n" };
            assert_eq!(fs::read_to_string(world.root.join(name)).unwrap(), wanted);
            assert_eq!(names_in(&world), [name]);
        }
    }
}
