//! What a command does in the temporary directories that it has for itself (`/tmp`): that is no reaching outside.
//!
//! | a path there that it | is |
//! |---|---|
//! | reads or writes, and an earlier command of the session left there | the session's own |
//! | reads or writes, and nobody else has, nor a directory around it | the same |
//! | reads, and writes so besides, or the directory around it | the same |
//! | reads, on paper | as much its own as its sandbox makes it |
//! | reads or writes otherwise | somebody else's: asked about as anything outside |
//!
//! The sandbox keeps to it whatever is found here: what others have in these directories is not there for a command. What
//! is asked about and allowed is put there for it.

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{Cx, SessionState};
use nika_guard::bash::{Scratch, Site};
use nika_guard::{Effect, Effects, Place};
use nika_host::scratch;

/// The session's directories, held while it lasts.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<Option<Arc<scratch::Scratch>>>);

impl Held {
    /// Those that are held, or what `make` gives.
    pub fn get<E>(
        session: &SessionState,
        make: impl FnOnce() -> Result<scratch::Scratch, E>,
    ) -> Result<Arc<scratch::Scratch>, E> {
        let slot = session.slot::<Held>();
        let mut held = slot.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = held.as_ref() {
            return Ok(Arc::clone(held));
        }
        let made = Arc::new(make()?);
        *held = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// Marks the places that are the session's own.
pub(super) fn mark(effects: &mut Effects, site: &Site) {
    let keeps = |path: &Path| site.scratch.kept.as_ref().is_some_and(|kept| scratch::keeps(kept, path));
    let leads_away = |path: &Path| site.scratch.kept.as_ref().is_some_and(|kept| scratch::leads_away(kept, path));
    let in_them = |place: &Place| {
        site.scratch.holds(&place.path) && place.named.is_none() && lies_in(place, site) && !leads_away(&place.path)
    };
    let is_one = |place: &Place| site.scratch.dirs.iter().any(|dir| place.path == Path::new(dir));
    let mut written: Vec<PathBuf> = Vec::new();
    for effect in &mut effects.all {
        if let Effect::Write(place) = effect
            && in_them(place)
            && (keeps(&place.path) || !site.scratch.shared || !is_others(&place.path, &site.scratch))
        {
            place.scratch = true;
            written.push(place.path.clone());
        }
    }
    for effect in &mut effects.all {
        // Nothing is there that anybody could have read, and a listing of all of it is empty.
        if let Effect::Read(place) = effect
            && !site.scratch.shared
            && (in_them(place) || is_one(place) && lies_in(place, site))
        {
            place.unclaimed = true;
        }
        if let Effect::Read(place) = effect
            && in_them(place)
        {
            let own = written.iter().any(|path| place.path.starts_with(path));
            // Where nobody has anything, there is nothing of anybody's to be read.
            let nobodys = || site.scratch.shared && !is_others(&place.path, &site.scratch);
            place.scratch = own || keeps(&place.path) || nobodys();
        }
    }
}

/// Whether others have something at a path, or a directory around it that the session has not.
fn is_others(path: &Path, scratch: &Scratch) -> bool {
    let around = path.ancestors().take_while(|above| scratch.holds(above));
    around.into_iter().any(scratch::is_there)
}

/// Whether a place in one of the directories is a command's for itself: neither a root nor the home lies there.
fn lies_in(place: &Place, site: &Site) -> bool {
    let path = &place.path;
    let plain = !path.components().any(|part| part == Component::ParentDir);
    let meets = |known: &PathBuf| known.starts_with(path) || path.starts_with(known);
    let of_somebody = || site.roots.iter().chain([&site.home]).any(meets);
    plain && place.below_root.is_none() && !of_somebody()
}

/// Whether a call touches what is the session's own.
pub(super) fn touches(effects: &Effects) -> bool {
    effects.all.iter().any(|effect| matches!(effect, Effect::Read(place) | Effect::Write(place) if place.scratch))
}

/// What a file tool says that found nothing at `path` on the machine, where commands of the session have something there.
pub(crate) fn elsewhere(cx: &Cx<'_>, path: &Path) -> Option<&'static str> {
    let slot = cx.session.slot::<Held>();
    let held = slot.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let keeps = held.is_some_and(|held| scratch::keeps(held.dir(cx.permit), path));
    keeps.then_some(
        "/tmp and /var/tmp of this session's commands are their own, and this file is there: show it with a command, or \
         have one copy it into the workspace",
    )
}

/// Whether the session was told whose these directories are.
#[derive(Debug, Default)]
struct Told(AtomicBool);

/// What a session is told once, when a command of it writes there.
pub(super) fn note(session: &SessionState, effects: &Effects) -> Option<&'static str> {
    let writes = effects.all.iter().any(|effect| matches!(effect, Effect::Write(place) if place.scratch));
    let news = writes && !session.slot::<Told>().0.swap(true, Ordering::Relaxed);
    news.then_some(match session.is_lasting() {
        true => "/tmp and /var/tmp are this session's own: its commands find their files there again, nobody else does",
        false => "/tmp and /var/tmp are this command's own: what it left there is gone",
    })
}

#[cfg(test)]
mod tests {
    use nika_guard::{Decision, Mode, Policy, Stance};

    use super::super::command::{place_on_paper, read};
    use super::*;

    fn site() -> Site {
        Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into())
    }

    fn judged(text: &str, site: &Site, mode: Mode) -> Decision {
        let command = read(text, site, &|target| place_on_paper(&site.roots, target));
        Policy::default().judge(&Stance::from(mode), &command.effects).decision
    }

    #[test]
    fn what_a_command_writes_for_itself_is_no_question_and_what_others_have_there_is() {
        for text in [
            "echo x > /tmp/y",
            "make > /tmp/log 2>&1; tail -5 /tmp/log",
            "mkdir -p /tmp/b && cp src/a.c /tmp/b/ && wc -l /tmp/b/a.c",
            "git diff > /var/tmp/p.patch && git apply --check /var/tmp/p.patch",
            "rm -f /tmp/y",
            "sort a.txt | tee /dev/shm/sorted | head",
            "d=$(mktemp -d) && cp a.txt \"$d/\" && ls \"$d\" && rm -rf \"$d\"",
            "f=$(mktemp); git diff > \"$f\"; wc -l < \"$f\"; rm \"$f\"",
            "out=$(mktemp -t log.XXXXXX) && make > \"$out\" 2>&1; tail \"$out\"",
            "t=$(mktemp -d /tmp/build.XXXXXX); cp -r src \"$t\"; cd \"$t\" && make",
            "mkdir -p /tmp/b && cd /tmp/b && cmake /w/repo && make",
            "printf 'print(1)' > /tmp/t.py; python3 /tmp/t.py",
            "mktemp",
            "tar xf a.tar -C /tmp",
            "unzip -q a.zip -d /var/tmp",
            "rsync -a src/ /tmp/ && ls /tmp",
            "cp src/*.c /tmp/",
            "cd /tmp && tar xf /w/repo/a.tar",
            "trap 'rm -f /tmp/x' EXIT; make > /tmp/x",
        ] {
            assert_eq!(judged(text, &site(), Mode::Workspace), Decision::Allow, "{text}");
            assert_ne!(judged(text, &site(), Mode::ReadOnly), Decision::Allow, "{text}");
        }
        for text in [
            "echo x > /tmp/../etc/y",
            "echo x > /tmpx/y",
            "rm -rf /tmp",
            "tee /tmp < a.txt",
            "tar xPf a.tar -C /tmp",
            "tar xf a.tar -C /tmp/..",
            "mv src/* /tmp/",
            "rsync -a --delete src/ /tmp/",
            "trap 'rm -rf /tmp' EXIT; make",
            "echo x > /home/dev/y",
            "d=$(mktemp -d /etc/x.XXXXXX); echo x > \"$d/y\"",
            "d=$(mktemp -d -p /etc); echo x > \"$d/y\"",
            "d=$(TMPDIR=/etc mktemp -d); echo x > \"$d/y\"",
            "TMPDIR=/etc; d=$(mktemp -d); echo x > \"$d/y\"",
            "export TMPDIR=/etc; d=$(mktemp -d); echo x > \"$d/y\"",
            "mktemp() { echo /etc; }; d=$(mktemp -d); echo x > \"$d/y\"",
            "d=$(mktemp -u); rm -rf \"$d\"",
            "d=$(mktemp -d); rm -rf \"$d\"/*",
            "d=$(mktemp -d); rm -rf \"$d/..\"",
            "d=$(mktemp -d); rm -rf \"$d\" src",
            "d=$(mktemp -d /tmp/../etc/x.XXX); echo x > \"$d/y\"",
            "d=$(mktemp -d; echo /etc); echo x > \"$d/y\"",
            "d=$(mktemp -d --suffix=/../../etc); echo x > \"$d/y\"",
        ] {
            assert_ne!(judged(text, &site(), Mode::Workspace), Decision::Allow, "{text}");
        }
    }

    #[test]
    fn what_is_read_there_on_paper_is_no_question_where_the_sandbox_is() {
        for text in [
            "cat /tmp/x",
            "tail -50 /tmp/build.log",
            "cp /tmp/a.rs src/a.rs",
            "cp a.txt /tmp/a; cat /tmp/b",
            "python3 /tmp/t.py",
            "git apply /tmp/p.patch",
            "cd /tmp && ls",
            "cd /tmp/b && cat x",
            "go test -coverprofile=/tmp/c.out ./...",
            "npm test -- --outputFile=/tmp/j.json",
            "pytest --basetemp=/tmp/x",
            "GOCACHE=/tmp/gc go test ./...",
        ] {
            assert_eq!(judged(text, &site(), Mode::Workspace), Decision::Allow, "{text}");
            for mode in [Mode::ReadOnly, Mode::Ask, Mode::AcceptEdits] {
                assert_ne!(judged(text, &site(), mode), Decision::Allow, "{text}");
            }
        }
        for text in [
            "cat /tmp/id_rsa",
            "cat /tmp/.env",
            "cat /tmp/../etc/x",
            "cat /tmpx/y",
            "cp -r /tmp/.ssh .",
            "cat /srv/x",
            "find /tmp -delete",
        ] {
            assert_ne!(judged(text, &site(), Mode::Workspace), Decision::Allow, "{text}");
        }
        let looked = Scratch { shared: true, ..Scratch::private() };
        assert_ne!(judged("ls -R /tmp", &Site { scratch: looked, ..site() }, Mode::Workspace), Decision::Allow);
        let below = Site::on_paper(vec!["/tmp/w/repo".into()], "/tmp/w/repo".into(), "/tmp/home".into());
        for text in ["cat /tmp/home/.profile", "ls -R /tmp", "cat /tmp/w"] {
            assert_ne!(judged(text, &below, Mode::Workspace), Decision::Allow, "{text}");
        }
    }

    #[test]
    fn a_root_or_a_home_there_is_not_the_sessions_own() {
        let below = Site::on_paper(vec!["/tmp/w/repo".into()], "/tmp/w/repo".into(), "/tmp/home".into());
        for (text, want) in [
            ("echo x > /tmp/other/y", true),
            ("echo x > /tmp/home/.profile2", false),
            ("rm -rf /tmp/w", false),
            ("mv /tmp/w /tmp/v", false),
            ("echo x > /tmp/w/y", true),
            ("tar xf a.tar -C /tmp", false),
            ("cd /tmp && unzip a.zip", false),
        ] {
            assert_eq!(judged(text, &below, Mode::Workspace) == Decision::Allow, want, "{text}");
        }
    }

    #[test]
    fn without_a_sandbox_of_mounts_nothing_there_is_ones_own() {
        let bare = Site { scratch: Scratch::default(), ..site() };
        assert_ne!(judged("echo x > /tmp/y", &bare, Mode::Workspace), Decision::Allow);
    }
}
