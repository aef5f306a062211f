//! Every public function of `host` that changes or reveals something takes the call's `Permit`, or the `Cx` that
//! holds it. Those that need none are listed with the reason, and so are those that run under another witness.

use super::Findings;
use super::tree::{Source, Tree};

/// Functions without a permit: file, names (`*` is all of the file), why.
const FREE: &[(&str, &[&str], &str)] = &[
    ("fs/change.rs", &["*"], "describes a change; nothing happens until `commit`, which takes the Cx"),
    ("fs/ledger.rs", &["*"], "what the session remembers having seen; touches no file"),
    ("fs/fault.rs", &["errno"], "words for an error"),
    ("fs/open.rs", &["sha256", "changed_unix_ms", "as_numbers"], "pure"),
    ("fs/open.rs", &["read_all"], "reads from a handle that a permit opened"),
    ("fs/workspace.rs", &["open"], "start of the process: opens the roots as handles and settles interrupted sets"),
    ("fs/beside.rs", &["settle_beside"], "start of the process: finishes what was permitted when it began"),
    (
        "fs/workspace.rs",
        &["root", "roots", "home", "person", "own_state", "place", "named_place", "shown", "state"],
        "says which roots there are; names only",
    ),
    (
        "fs/resolve.rs",
        &[
            "locate",
            "locate_file",
            "locate_entry",
            "locate_in_command",
            "locate_entry_in_command",
            "locate_without_git",
        ],
        "resolves a name to a place, which is what a permit is asked for",
    ),
    ("fs/git_runs.rs", &["with_git_together"], "says why a place is guarded, which is what a permit is asked for"),
    ("fs/twins.rs", &["secret_twin"], "says what a file is asked about as, which is what a permit is asked for"),
    ("fs/ignores.rs", &["ignores_above"], "ignore rules above a root; they are applied, never shown"),
    ("fs/workspace.rs", &["is_own_state", "holds_own_state"], "compares names"),
    ("fs/lock.rs", &["take_recovered"], "hands over what was settled already"),
    (
        "overlay/cover.rs",
        &["tree", "mount"],
        "mounts in the namespace of a command that is about to start, and nowhere else",
    ),
    ("overlay/walk.rs", &["planned"], "describes a change to be told of; what stands there the permit let be seen"),
    ("overlay/cover.rs", &["mounts_below"], "the system's own public table of mounts"),
    ("git.rs", &["new", "worktree_place", "is_clean"], "names and a look at what is known; the rest takes the permit"),
    (
        "git/finder.rs",
        &["new"],
        "finds settings by which a command is judged; they are not shown but for a program's name",
    ),
    ("git/personal.rs", &["*"], "names of files; opens none"),
    ("proc/isolated.rs", &["new"], "says which program parses; `start` runs it, and takes the permit"),
    ("proc/isolated.rs", &["finish"], "collects what `start` began"),
    ("proc/jobs.rs", &["new"], "no jobs yet; `start` takes the permit"),
    (
        "proc/jobs.rs",
        &["take_notices", "take_notice", "running", "end_session", "confinement", "forget"],
        "ends what a session began, and says what of it ended",
    ),
    ("proc/jobs.rs", &["lacks_guarantee"], "reads an error"),
    ("proc/wire.rs", &["about_handled"], "words for an end"),
    ("proc/jobs.rs", &["expect_more", "waiting"], "a supervisor without an order; `start` gives it one"),
    ("proc/jobs/peer.rs", &["held", "ended", "refused_hosts"], "a handle of what `start_peer` began"),
    ("proc/jobs/job.rs", &["*"], "a handle of what a permit started, or that one gave"),
    ("proc/jobs/order.rs", &["*"], "describes a job; `start` runs it, and takes the permit"),
    ("proc/repl.rs", &["new", "program"], "no interpreters yet; a name"),
    (
        "proc/hook/guarded.rs",
        &["guard"],
        "ends what an owner that is gone began; the person's configuration allowed that",
    ),
    ("proc/supervise.rs", &["supervise"], "runs what an owner ordered; the permit was asked there"),
    ("proc/hook.rs", &["finish"], "collects what `start` began"),
    ("proc/limits.rs", &["*"], "only lessens what this process may do"),
    (
        "net.rs",
        &["new", "get", "headers_fit"],
        "describes a way out and a request; `exchange` goes it, and takes the permit",
    ),
    ("net.rs", &["header", "leads_to"], "reads an answer that a permit let come"),
    ("net/address.rs", &["*"], "an address as text; nothing is resolved"),
    ("net/allowed.rs", &["*"], "compares numbers"),
    ("scratch.rs", &["dir_of", "keeps", "leads_away", "is_there"], "says where a session's own files are; names only"),
    ("scratch/caches.rs", &["program_places"], "where names of PATH lead; they narrow a profile and are never shown"),
    ("sandbox.rs", &["*"], "confines and starts what an order says; the permit was asked where the order was made"),
    ("sandbox/run.rs", &["*"], "the same, for a command that a person named"),
    ("sandbox/cgroup.rs", &["delegated"], "where the kernel put this process, which it tells everybody"),
    ("sandbox/apart.rs", &["*"], "the same, of what is to be hidden"),
    ("sandbox/protected.rs", &["*"], "finds names that narrow a profile; they are never shown"),
    (
        "sandbox/placeholders.rs",
        &["clear_stand_ins", "is_no_file"],
        "removes what a dead run made for itself, and nothing of anybody's; reads a look that was taken already",
    ),
    (
        "sandbox/linked.rs",
        &["of", "put_into"],
        "finds what a profile may say; the caller looks at the permit, and the rules",
    ),
    ("sandbox/reach.rs", &["*"], "decides by names and addresses; touches nothing"),
    ("sandbox/probe.rs", &["*"], "tries what must fail, on files that it made for that"),
];

/// Functions with another proof of a person's will: file, name, the witness it takes, why.
const WITNESSED: &[(&str, &str, &str, &str)] = &[
    (
        "proc/hook.rs",
        "start",
        "Configured",
        "a hook is heard before there is a permit; only a person's configuration, or one they trust, makes a \
         `Configured`, and it names the one command line that runs",
    ),
    (
        "proc/jobs/peer.rs",
        "start_peer",
        "Configured",
        "a server serves many calls and is started before they are judged; the same witness names its command line",
    ),
];

pub(super) fn takes_permit(tree: &Tree, findings: &mut Findings) {
    for source in tree.shipped().filter(|source| source.owner == "host") {
        let below = source.path.trim_start_matches("crates/host/src/");
        for (line, name, signature) in public_functions(source) {
            let free = FREE
                .iter()
                .any(|(file, names, _)| *file == below && (names.contains(&"*") || names.contains(&name.as_str())));
            let witnessed = WITNESSED.iter().any(|(file, of, witness, _)| {
                *file == below && *of == name && signature.contains(&format!("&{witness}"))
            });
            if !free && !witnessed && !signature.contains("Permit") && !signature.contains("Cx") {
                findings.add(
                    &source.path,
                    line,
                    format!("`{name}` takes neither `&Permit` nor `&Cx`"),
                    "take one and check against it, or list it in xtask/src/tidy/host.rs with the reason",
                );
            }
        }
    }
}

/// Line, name and signature of each `pub fn`.
fn public_functions(source: &Source) -> Vec<(usize, String, String)> {
    let lines: Vec<(usize, &str)> = source.code().collect();
    let mut found = Vec::new();
    for (at, (number, line)) in lines.iter().enumerate() {
        let line = line.trim_start();
        let Some(rest) =
            ["pub fn ", "pub async fn ", "pub unsafe fn "].iter().find_map(|start| line.strip_prefix(start))
        else {
            continue;
        };
        let name = rest.split(['(', '<']).next().unwrap_or_default().to_owned();
        let mut signature = String::new();
        for (_, line) in &lines[at..] {
            signature.push_str(line);
            if line.contains('{') || line.trim_end().ends_with(';') {
                break;
            }
        }
        found.push((*number, name, signature));
    }
    found
}
