//! Who may name what: each wall is a list of words and of the places where they may stand, with the reason.

use super::Findings;
use super::tree::{Source, Tree};

/// Words that stop at a wall.
struct Wall {
    words: &'static [&'static str],
    /// Path prefixes on the inner side, and why.
    inside: &'static [(&'static str, &'static str)],
    what: &'static str,
    instead: &'static str,
}

/// Looks for the words in everything that ships.
fn hold(tree: &Tree, wall: &Wall, findings: &mut Findings) {
    for source in tree.shipped().filter(|source| !wall.inside.iter().any(|(at, _)| source.path.starts_with(at))) {
        for (line, code) in source.code() {
            if let Some(word) = wall.words.iter().find(|word| names(code, word)) {
                findings.add(&source.path, line, format!("`{word}`: {}", wall.what), wall.instead);
            }
        }
    }
}

/// Whether `code` has `word` as a whole word.
pub(super) fn names(code: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back().is_some_and(of_word) && word.starts_with(of_word);
        let after = code[at + word.len()..].chars().next().is_some_and(of_word) && word.ends_with(of_word);
        !before && !after
    })
}

pub(super) fn pure(tree: &Tree, findings: &mut Findings) {
    const WORDS: &[&str] = &[
        "std::fs",
        "std::process",
        "std::env",
        "std::net",
        "std::thread",
        "std::io::stdin",
        "tokio",
        "rustix",
        "SystemTime",
        "async fn",
    ];
    for source in tree.shipped().filter(|source| ["guard", "edit"].contains(&source.owner.as_str())) {
        for (line, code) in source.code() {
            if let Some(word) = WORDS.iter().find(|word| names(code, word)) {
                findings.add(
                    &source.path,
                    line,
                    format!("`{word}`: {} is pure", source.owner),
                    "take the value as a parameter",
                );
            }
        }
    }
}

pub(super) fn permit(tree: &Tree, findings: &mut Findings) {
    // Tests too: a test that makes a permit of its own tests a path that cannot be taken.
    for source in tree.sources.iter().filter(|source| source.owner != "guard") {
        for (at, line) in source.lines.iter().enumerate() {
            let code = &line.code;
            let literal = names(code, "Permit {") && !code.contains("-> Permit {") && !code.contains("impl");
            if names(code, "Permit::new") || literal {
                findings.add(
                    &source.path,
                    at + 1,
                    "a `Permit` is made here",
                    "judge the effects and take the verdict's permit",
                );
            }
        }
    }
}

pub(super) fn processes(tree: &Tree, findings: &mut Findings) {
    hold(
        tree,
        &Wall {
            words: &["process::Command", "Command::new", "tokio::process", "fork()", "execve"],
            inside: &[
                ("crates/host/src/", "every effect on the world is there"),
                ("crates/testkit/src/katan.rs", "starts somebody else's server for tests; never ships"),
            ],
            what: "processes are started in host only",
            instead: "call host with the permit",
        },
        findings,
    );
}

pub(super) fn file_writes(tree: &Tree, findings: &mut Findings) {
    hold(
        tree,
        &Wall {
            words: &[
                "File::create",
                "File::create_new",
                "File::options",
                "OpenOptions::new",
                "fs::write",
                "fs::rename",
                "fs::remove_file",
                "fs::remove_dir",
                "fs::remove_dir_all",
                "fs::create_dir",
                "fs::create_dir_all",
                "fs::copy",
                "fs::hard_link",
                "fs::set_permissions",
                "renameat",
                "unlinkat",
                "linkat",
                "symlinkat",
                "mkdirat",
                "ftruncate",
                "OFlags::CREATE",
                "OFlags::WRONLY",
                "OFlags::RDWR",
            ],
            inside: &[
                ("crates/host/src/", "every effect on the world is there"),
                ("crates/store/src/", "its own files in the state directory"),
                ("crates/testkit/src/", "makes the files of a test's world; never ships"),
                ("crates/cli/src/trust/store.rs", "the person's list of trusted repositories"),
                ("crates/cli/src/serve/token.rs", "the bearer token's file"),
                ("crates/cli/src/cmd/test/place.rs", "a test's own directory, and its file at `--update`"),
                ("crates/cli/src/render.rs", "pictures of an answer, for `--save DIR`"),
                ("crates/cli/src/cmd/check.rs", "the picture of a workflow, for `-o FILE`"),
                ("crates/cli/src/cmd/init/place.rs", "the new files of `nika init`"),
                ("crates/mcp/src/stdio/pipe.rs", "opens the pipe it was given once more, not a file"),
            ],
            what: "files are changed in host only",
            instead: "commit the change through host with the call's Cx",
        },
        findings,
    );
}

pub(super) fn sockets(tree: &Tree, findings: &mut Findings) {
    hold(
        tree,
        &Wall {
            words: &[
                "TcpListener",
                "TcpStream",
                "UdpSocket",
                "UnixListener",
                "UnixStream",
                "UnixDatagram",
                "rustix::net",
                "reqwest",
            ],
            inside: &[
                ("crates/host/src/", "every effect on the world is there"),
                ("crates/mcp/src/http/", "axum serves from a TcpListener; it accepts, and never connects"),
                ("crates/mcp/src/stdio/pipe.rs", "stdin and stdout may be sockets; it opens none"),
                ("crates/mcp/src/client/http.rs", "a server is reached at the address that a person configured"),
                ("crates/mcp/src/client/sse.rs", "the same, over the transport of before 2025-03-26"),
                (
                    "crates/mcp/src/client/auth/",
                    "a login reaches addresses that were judged, and a browser comes back to a port of this machine",
                ),
                ("crates/testkit/src/login.rs", "an authorization server for tests; never ships"),
                (
                    "crates/testkit/src/katan.rs",
                    "finds a free port for somebody else's server, and waits for it; never ships",
                ),
                ("crates/testkit/src/bin/", "a program for tests"),
                ("crates/agent/src/provider/", "a model is reached at the address that a person configured"),
            ],
            what: "sockets are opened in host only",
            instead: "call host with the permit",
        },
        findings,
    );
}

pub(super) fn unsafe_code(tree: &Tree, findings: &mut Findings) {
    hold(
        tree,
        &Wall {
            words: &["unsafe"],
            inside: &[("crates/host/src/", "the one crate that may hold it")],
            what: "only host may hold unsafe code",
            instead: "use rustix or std, or move the call into host",
        },
        findings,
    );
}

pub(super) fn printing(tree: &Tree, findings: &mut Findings) {
    hold(
        tree,
        &Wall {
            words: &["println!", "print!", "eprintln!", "eprint!", "dbg!", "stdin()", "stdout()", "stderr()"],
            inside: &[
                ("crates/cli/src/", "the program speaks to people"),
                ("crates/testkit/src/katan.rs", "says that its tests are left out"),
                ("crates/testkit/src/bin/", "a program for tests"),
                ("crates/mcp/src/stdio/mod.rs", "serves MCP over the process's own stdin and stdout"),
                (
                    "crates/host/src/proc/supervise.rs",
                    "its standard input is the socket to its owner; it prints nothing",
                ),
            ],
            what: "libraries never touch the terminal",
            instead: "return the text, or tell it through a port",
        },
        findings,
    );
}

pub(super) fn environment(tree: &Tree, findings: &mut Findings) {
    hold(
        tree,
        &Wall {
            words: &[
                "std::env",
                "env::var",
                "env::var_os",
                "env::vars",
                "env::args",
                "env::args_os",
                "env::current_dir",
                "env::current_exe",
                "env::set_current_dir",
                "env::home_dir",
                "env::temp_dir",
            ],
            inside: &[
                ("crates/cli/src/", "the only crate that looks at its surroundings"),
                ("crates/testkit/src/katan.rs", "whoever tests names the program"),
                ("crates/testkit/src/bin/", "a program for tests"),
            ],
            what: "libraries read no environment and no current directory",
            instead: "pass the value in from cli",
        },
        findings,
    );
}

pub(super) fn statics(tree: &Tree, findings: &mut Findings) {
    const CHANGES: &[&str] = &["Mutex", "RwLock", "OnceLock", "OnceCell", "RefCell", "Cell", "Atomic"];
    let is_static = |code: &str| {
        let code = code.trim_start();
        let code = code.strip_prefix("pub ").or_else(|| code.strip_prefix("pub(crate) ")).unwrap_or(code);
        let changes = || CHANGES.iter().any(|kind| code.split('=').next().is_some_and(|head| head.contains(kind)));
        (code.starts_with("static ") && (code.starts_with("static mut ") || changes())) || names(code, "thread_local!")
    };
    for source in &tree.sources {
        for (at, _) in source.lines.iter().enumerate().filter(|(_, line)| is_static(&line.code)) {
            findings.add(&source.path, at + 1, "a static that can change", "make it a field and pass it in");
        }
    }
}

pub(super) fn unfinished(tree: &Tree, findings: &mut Findings) {
    everywhere(
        tree,
        &["#[ignore", "todo!", "unimplemented!"],
        "unfinished work",
        "finish it, or leave it out",
        findings,
    );
}

/// Tests that sleep, and why each may. Looking again every few milliseconds until something holds, under a time-out, is
/// no sleep: the loop ends as soon as it can.
const SLEEPERS: &[(&str, &str)] = &[
    ("crates/agent/tests/it/kills.rs", "kills at a random moment: the moment is the subject"),
    ("crates/cli/tests/it/durability.rs", "kills at a random moment: the moment is the subject"),
    ("crates/cli/tests/it/runs.rs", "kills at a random moment: the moment is the subject"),
    ("crates/mcp/tests/it/backend.rs", "a fixture tool that takes time, for progress and cancellation"),
    ("crates/mcp/tests/it/client/scripted.rs", "a server's tool that takes time and gives signs of life"),
];

pub(super) fn sleeping_tests(tree: &Tree, findings: &mut Findings) {
    for source in tree.sources.iter().filter(|source| !SLEEPERS.iter().any(|(at, _)| source.path == *at)) {
        for (at, line) in source.lines.iter().enumerate().filter(|(_, line)| line.test) {
            let looks_again = at > 0 && names(&source.lines[at - 1].code, "while");
            if !looks_again && ["thread::sleep", "time::sleep"].iter().any(|word| names(&line.code, word)) {
                findings.add(
                    &source.path,
                    at + 1,
                    "a test that sleeps",
                    "wait for what is expected: a line, a channel, a closed pipe",
                );
            }
        }
    }
}

fn everywhere(tree: &Tree, words: &[&str], what: &str, instead: &str, findings: &mut Findings) {
    let found = |source: &Source, findings: &mut Findings| {
        for (at, line) in source.lines.iter().enumerate() {
            if let Some(word) = words.iter().find(|word| names(&line.code, word)) {
                findings.add(&source.path, at + 1, format!("`{word}`: {what}"), instead);
            }
        }
    };
    tree.sources.iter().for_each(|source| found(source, findings));
}
