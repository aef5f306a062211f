//! What a command's end reads like. Pure.

use std::collections::BTreeSet;
use std::path::Path;

use nika_contract::text;
use nika_guard::bash::exit;
use nika_guard::profile::Access;
use nika_guard::{Effect, Effects, Place};
use nika_host::proc::{Evaluated, Exited, Held, How, Job, KilledBy, PRINTED_BYTES, Reached, Summary};

/// Characters of output at each end of an answer: together within what answers may have by default.
const END_CHARS: usize = 14_000;

/// The output: all that is at hand, which every answer's own bound cuts and keeps whole in a file; its two ends where
/// the rest is in another file already, or lost.
pub(super) fn output(summary: &Summary) -> String {
    if summary.omitted == 0 && summary.spilled.is_none() {
        return String::from_utf8_lossy(&[&*summary.head, &*summary.tail].concat()).into_owned();
    }
    let (head, tail) = (String::from_utf8_lossy(&summary.head), String::from_utf8_lossy(&summary.tail));
    let start = nth_char(&head, END_CHARS);
    let start = head[..start].rfind('\n').map_or(start, |at| at + 1);
    let from = tail.len() - nth_char_back(&tail, END_CHARS);
    let from = tail[from..].find('\n').map_or(from, |at| from + at + 1);
    let shown = (start + tail.len() - from) as u64;
    let left = summary.total.saturating_sub(shown);
    let place = match (kept_in(summary), &summary.spill_error) {
        (Some(place), _) => format!("; {place}"),
        (None, Some(error)) => format!("; it could not be kept: {error}"),
        (None, None) => String::new(),
    };
    format!("{}[… {left} bytes of {} left out{place}]\n{}", &head[..start], summary.total, &tail[from..])
}

/// The file that an output is in, or as much of it as is kept.
pub(super) fn kept_in(summary: &Summary) -> Option<String> {
    let (path, bytes) = summary.spilled.as_ref()?;
    let whole = *bytes >= summary.total;
    let what = if whole { "all of it".to_owned() } else { format!("its first {bytes} bytes") };
    Some(format!("{what}, which `read` and `grep` open: {}", path.display()))
}

fn nth_char(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

fn nth_char_back(text: &str, n: usize) -> usize {
    text.char_indices().rev().nth(n.saturating_sub(1)).map_or(text.len(), |(at, _)| text.len() - at)
}

/// What a piece of code printed: all that was kept, of which the answer's own bound shows both ends and puts the whole into a
/// file.
pub(super) fn printed(evaluated: &Evaluated) -> String {
    let Evaluated { head, omitted, tail, .. } = evaluated;
    let (start, end) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    if *omitted == 0 {
        return String::from_utf8_lossy(&[&**head, &**tail].concat()).into_owned();
    }
    let total = (head.len() + tail.len()) as u64 + omitted;
    let most = PRINTED_BYTES >> 20;
    format!(
        "{start}\n[… {omitted} bytes of {total} left out; no more than {most} MiB of what a call prints are kept]\n{end}"
    )
}

/// Characters of a line that says how it goes.
const BEAT_CHARS: usize = 100;

/// How a command goes that has not ended: its last line.
pub(super) fn beat(summary: &Summary) -> String {
    let tail = if summary.tail.is_empty() { &summary.head } else { &summary.tail };
    let tail = String::from_utf8_lossy(tail);
    let last = tail.rsplit(['\n', '\r']).find(|line| !line.trim().is_empty()).unwrap_or("running");
    text::preview(&text::harmless(last.trim()), BEAT_CHARS)
}

/// What held a command: `sandbox workspace`, and what of that could not be had.
pub(super) fn held(held: &Held) -> String {
    let missing =
        if held.missing.is_empty() { String::new() } else { format!(" (not guaranteed: {})", held.missing.join("; ")) };
    format!("sandbox {}{missing}", held.profile)
}

/// Whether what was to be hidden is: Landlock alone hides nothing, and says so.
pub(super) fn hides(held: &Held) -> bool {
    !held.missing.iter().any(|missing| missing.contains("secrets"))
}

/// A command in one line. What runs is printed with an end of line behind each command, which a blank would hide.
pub(super) fn in_one_line(command: &str, most_chars: usize) -> String {
    text::preview(&text::harmless(&command.trim().replace('\n', "; ")), most_chars)
}

/// The line below the output: `[exit 1: no match · in src · sandbox read-only]`.
pub(super) fn footer(exited: &Exited, last_command: Option<&str>, cwd: &str, held: &Held) -> String {
    let mut parts = vec![ending(exited, last_command), format!("in {cwd}"), self::held(held)];
    parts.extend(runs_on(exited));
    if !exited.ended_too.is_empty() {
        let names = text::harmless(&exited.ended_too.join(", ")).into_owned();
        parts.push(format!("what it left in the background was ended: {names} (`run_in_background` keeps it)"));
    }
    format!("[{}]", parts.join(" · "))
}

/// What goes on of a command that ended.
pub(super) fn runs_on(exited: &Exited) -> Option<String> {
    match exited.left {
        0 => None,
        1 => Some("1 process of it runs on".to_owned()),
        more => Some(format!("{more} processes of it run on")),
    }
}

/// What a program says that the sandbox stopped, and what the reader needs to know of it.
const ABOUT: &[(&[&str], &str)] = &[
    (
        &["Invalid cross-device link", "EXDEV: cross-device link", "(os error 18)"],
        "a directory that was there before cannot be renamed here, only copied: `mv A B` does that; for `git mv A B` use \
         `mv A B && git add -A A B`",
    ),
    (
        &["could not write config file", "could not lock config file", "could not unset 'branch."],
        "git's configuration is guarded here, and what it was to note there, as what branches follow, was not written. \
         `git push origin BRANCH` and `git rebase origin/BRANCH` need none",
    ),
    (
        &["Address family not supported by protocol", "EAFNOSUPPORT", "(os error 97)"],
        "of unix sockets, streams can be made here where a command may write, and no datagrams; a port of 127.0.0.1 can, \
         but by Landlock and seccomp alone nothing can",
    ),
    (
        &["connect: operation not permitted", "connect EPERM /"],
        "a command reaches the unix sockets at which it listens itself, and none of the machine's or of another command: \
         `dangerously_disable_sandbox`, which is asked about, lets it",
    ),
    (
        &[
            "ssh: Could not resolve hostname",
            "fatal: could not read Username for",
            "Permission denied (publickey",
            "Host key verification failed",
        ],
        "hosts are reached over HTTP and HTTPS here, and neither keys nor stored credentials are there: \
         `dangerously_disable_sandbox`, which is asked about, runs it with the person's own",
    ),
    (
        &["ptrace: Operation not permitted", "PTRACE_TRACEME", "ptrace(PTRACE_"],
        "no process can be traced here (gdb, strace); `dangerously_disable_sandbox`, which is asked about, lets it",
    ),
    (
        &["initialize build cache", "nitialize cache", "Could not create local repository"],
        "this cache in the home cannot be written here: name another place for it, such as one in `/tmp` (`GOCACHE`, \
         `-Dmaven.repo.local`)",
    ),
    (
        &[
            "AddressSanitizer failed to allocate",
            "ThreadSanitizer can not mmap",
            "LeakSanitizer has encountered a fatal",
        ],
        "this sanitizer reserves more memory than a command has, or traces, which the sandbox does not let it do; \
         `-fsanitize=undefined` works, and `dangerously_disable_sandbox`, which is asked about",
    ),
];

/// What is said of a server that nobody hears: no network of a command is the machine's.
const UNHEARD: &[&str] = &["Connection refused", "ECONNREFUSED", "Couldn't connect to server", "os error 111"];
const HERE: &[&str] = &["localhost", "127.0.0.1", "[::1]", "::1:"];

/// What programs say of a host whose address nobody tells them.
const UNRESOLVED: &[&str] = &[
    "Temporary failure in name resolution",
    "Could not resolve host",
    "Name or service not known",
    "Name does not resolve",
    "getaddrinfo EAI_AGAIN",
    "failed to lookup address information",
    "UnknownHostException",
    "Network is unreachable",
];

/// What a command that did not do what it was to did not find out by itself.
pub(super) fn about_failure(output: &str, job: &Job) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let confinement = job.confinement();
    // Landlock alone leaves it no socket.
    let shares = hides(job.held());
    match confinement.access {
        Access::Unconfined => None,
        _ if says(UNHEARD) && says(HERE) && shares => Some(
            "a command hears the servers that this session's jobs are (`run_in_background`), and none of the machine's; not \
             those of jobs that may reach other hosts, and not where it may do so itself",
        ),
        // Of ssh there is more to say.
        _ if says(UNRESOLVED) && !confinement.reaches && !output.contains("ssh: ") => Some(
            "a command reaches no host but those that its text names, each asked about or allowed by a rule `net(HOST)`: name \
             them in the text, or run it with `dangerously_disable_sandbox`, which is asked about",
        ),
        _ => None,
    }
}

/// Names of places that an answer lists.
const LISTED: usize = 5;

/// What a command may have written that `undo` knows nothing of, as far as its text says.
pub(super) fn beyond_undo(effects: &Effects) -> Option<String> {
    let is_outside = |place: &Place| place.below_root.is_none() && !place.scratch && !place.unclaimed;
    let outside: BTreeSet<String> = effects
        .all
        .iter()
        .filter_map(|effect| match effect {
            Effect::Write(place) if is_outside(place) => Some(place.shown().into_owned()),
            _ => None,
        })
        .collect();
    let more = outside.len().saturating_sub(LISTED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let names: Vec<String> = outside.into_iter().take(LISTED).collect();
    (!names.is_empty()).then(|| format!("outside the workspace `undo` takes nothing back: {}{more}", names.join(", ")))
}

/// What it asked for and did not reach.
pub(super) fn not_reached(job: &Job) -> String {
    let line = |reached: Reached| {
        let Reached { host, port, refused } = reached;
        Some(format!("\n[{host}:{port} was not reached through the sandbox: {}]", refused?))
    };
    job.hosts().into_iter().filter_map(line).collect()
}

/// What a command did not find out by itself.
pub(super) fn about(output: &str) -> impl Iterator<Item = &'static str> {
    ABOUT.iter().filter(|(said, _)| said.iter().any(|said| output.contains(said))).map(|(_, why)| *why)
}

/// How it ended, and what has to be looked at then.
pub(super) fn ending(exited: &Exited, last_command: Option<&str>) -> String {
    let opens = exited.opens.as_ref().map(|(program, fifo)| {
        format!("{program} waited to open the FIFO {fifo}, which nobody had open at its other end")
    });
    let aside = exited.set_aside.iter().map(|path| format!("a guarded name was made and set aside: {path}"));
    let about = [opens, exited.about_handled()].into_iter().flatten().chain(aside);
    about.fold(how(exited, last_command), |said, about| format!("{said}; {}", text::harmless(&about)))
}

fn how(exited: &Exited, last_command: Option<&str>) -> String {
    let seconds = exited.wall_ms as f64 / 1000.0;
    match (exited.killed_by, exited.how) {
        (Some(KilledBy::Timeout), _) if seconds < 10.0 => format!("stopped after {seconds:.1} s, its time was up"),
        (Some(KilledBy::Timeout), _) => format!("stopped after {seconds:.0} s, its time was up"),
        (Some(KilledBy::Output), _) => "stopped, it wrote more than is kept".to_owned(),
        (Some(KilledBy::Memory), _) => "stopped, it used more memory than it may".to_owned(),
        (Some(KilledBy::Processes), _) => "stopped, it started more processes than it may".to_owned(),
        (Some(KilledBy::Shown), _) => {
            "stopped, a secret was saved anew and could not be hidden from it again".to_owned()
        }
        (Some(KilledBy::Lost), _) => "lost: what watched over it was killed, and it with that".to_owned(),
        (Some(KilledBy::Stop | KilledBy::Handled), _) => "stopped".to_owned(),
        (None, How::Signal(signal)) => format!("ended by signal {signal}"),
        (None, How::Status(status)) => {
            let meaning = last_command.and_then(|command| exit::meaning(command, status));
            match meaning {
                Some(meaning) => format!("exit {status}: {meaning}"),
                None => format!("exit {status}"),
            }
        }
    }
}

/// Whether the end is a failure: a status that only says something (no match, files differ) is none.
pub(super) fn failed(exited: &Exited, last_command: Option<&str>) -> bool {
    match (exited.killed_by, exited.how) {
        (None, How::Status(0)) => false,
        (None, How::Status(status)) => !last_command.is_some_and(|command| exit::is_answer(command, status)),
        _ => true,
    }
}

/// A directory as results show it.
pub(super) fn shown_dir(root: &Path, dir: &Path) -> String {
    match dir.strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => dir.display().to_string(),
    }
}
