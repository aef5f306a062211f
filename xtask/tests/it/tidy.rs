//! This repository is tidy, and each check fails where it should.

use std::path::Path;
use std::process::{Command, Output};

fn tidy(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).arg("tidy").args(words).output().expect("it starts")
}

fn out(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn this_repository_is_tidy() {
    let ran = tidy(&[]);
    assert!(ran.status.success(), "\n{}", out(&ran));
}

/// A check, a small tree, and where the finding must be.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const BAD: &[Case] = &[
    (
        "floors",
        &[("crates/host/Cargo.toml", "[dependencies]\nnika-tools = { workspace = true }\n")],
        "crates/host/Cargo.toml:2",
    ),
    (
        "floors",
        &[("crates/tools/Cargo.toml", "[dependencies]\nnika-runtime.workspace = true\n")],
        "crates/tools/Cargo.toml:2",
    ),
    (
        "floors",
        &[("crates/edit/Cargo.toml", "[dependencies]\nnika-guard = { workspace = true }\n")],
        "crates/edit/Cargo.toml:2",
    ),
    (
        "floors",
        &[("crates/cli/Cargo.toml", "[dependencies]\nnika-testkit = { workspace = true }\n")],
        "crates/cli/Cargo.toml:2",
    ),
    ("floors", &[("crates/new/Cargo.toml", "")], "crates/new/Cargo.toml:1"),
    ("owners", &[("crates/tools/Cargo.toml", "[dependencies]\nrusqlite = \"1\"\n")], "crates/tools/Cargo.toml:2"),
    (
        "owners",
        &[("crates/runtime/Cargo.toml", "[dependencies]\nrmcp = { workspace = true }\n")],
        "crates/runtime/Cargo.toml:2",
    ),
    (
        "owners",
        &[("crates/tools/Cargo.toml", "[dependencies]\nclap = { workspace = true }\n")],
        "crates/tools/Cargo.toml:2",
    ),
    (
        "licence",
        &[("crates/edit/Cargo.toml", "[package]\nname = \"nika-edit\"\n[lints]\nworkspace = true\n")],
        "crates/edit/Cargo.toml:1",
    ),
    ("licence", &[("Cargo.toml", "[workspace.package]\nlicense = \"GPL-3.0\"\n")], "Cargo.toml:1"),
    ("pure", &[("crates/guard/src/lib.rs", "//! x\nuse std::fs::File;\n")], "crates/guard/src/lib.rs:2"),
    ("pure", &[("crates/edit/src/lib.rs", "//! x\nfn a() { tokio::spawn(b()); }\n")], "crates/edit/src/lib.rs:2"),
    ("permit", &[("crates/tools/src/a.rs", "//! x\nfn a() { Permit::new(b) }\n")], "crates/tools/src/a.rs:2"),
    ("permit", &[("crates/host/tests/a.rs", "//! x\nlet a = Permit { effects };\n")], "crates/host/tests/a.rs:2"),
    (
        "host-takes-permit",
        &[("crates/host/src/fs/open.rs", "//! x\nimpl W {\n    pub fn slurp(\n        &self,\n    ) -> Vec<u8> {\n")],
        "crates/host/src/fs/open.rs:3",
    ),
    (
        "processes",
        &[("crates/tools/src/a.rs", "//! x\nfn a() { std::process::Command::new(b); }\n")],
        "crates/tools/src/a.rs:2",
    ),
    (
        "file-writes",
        &[("crates/runtime/src/a.rs", "//! x\nfn a() { std::fs::write(b, c); }\n")],
        "crates/runtime/src/a.rs:2",
    ),
    ("sockets", &[("crates/tools/src/a.rs", "//! x\nuse std::net::TcpStream;\n")], "crates/tools/src/a.rs:2"),
    ("unsafe", &[("crates/search/src/a.rs", "//! x\nfn a() { unsafe { b() } }\n")], "crates/search/src/a.rs:2"),
    ("printing", &[("crates/store/src/a.rs", "//! x\nfn a() { println!(\"b\"); }\n")], "crates/store/src/a.rs:2"),
    (
        "environment",
        &[("crates/host/src/a.rs", "//! x\nfn a() { std::env::current_dir(); }\n")],
        "crates/host/src/a.rs:2",
    ),
    ("statics", &[("crates/host/src/a.rs", "//! x\nstatic A: Mutex<u8> = Mutex::new(0);\n")], "crates/host/src/a.rs:2"),
    ("statics", &[("crates/host/src/a.rs", "//! x\npub(crate) static mut A: u8 = 0;\n")], "crates/host/src/a.rs:2"),
    (
        "unfinished",
        &[("crates/host/tests/a.rs", "//! x\n#[test]\n#[ignore = \"slow\"]\nfn a() {}\n")],
        "crates/host/tests/a.rs:3",
    ),
    ("unfinished", &[("crates/host/src/a.rs", "//! x\nfn a() { todo!() }\n")], "crates/host/src/a.rs:2"),
    (
        "sleeping-tests",
        &[("crates/host/src/a.rs", "//! x\n#[cfg(test)]\nmod tests {\n    fn a() { std::thread::sleep(b); }\n}\n")],
        "crates/host/src/a.rs:4",
    ),
    (
        "sleeping-tests",
        &[
            ("crates/host/src/a.rs", "//! x\n#[cfg(test)]\nmod b;\n"),
            ("crates/host/src/a/b.rs", "//! x\nfn a() { thread::sleep(b); }\n"),
        ],
        "crates/host/src/a/b.rs:2",
    ),
    ("opening-words", &[("crates/host/src/a.rs", "use b;\n")], "crates/host/src/a.rs:1"),
    ("file-names", &[("crates/host/src/util.rs", "//! x\n")], "crates/host/src/util.rs:1"),
    (
        "machine-paths",
        &[("crates/host/src/a.rs", concat!("//! x\nconst A: &str = \"/wo", "rk/b\";\n"))],
        "crates/host/src/a.rs:2",
    ),
    ("machine-paths", &[("README.md", concat!("Get it from static.crates", ".io.\n"))], "README.md:1"),
    (
        "codes",
        &[
            ("crates/contract/src/code.rs", "//! x\ncodes! {\n    100 LOST \"a\"\n        \"b\";\n}\n"),
            ("docs/reference/codes.md", "NIKA-100"),
        ],
        "crates/contract/src/code.rs:3",
    ),
    (
        "codes",
        &[
            ("crates/contract/src/code.rs", "//! x\n    100 BAD \"a\"\n"),
            ("crates/tools/src/a.rs", "//! x\nfn a() { code::BAD }\n"),
        ],
        "codes.md lacks 100",
    ),
    (
        "events",
        &[
            ("crates/contract/src/event.rs", "//! x\npub const GONE: &str = \"Gone\";\n"),
            ("docs/reference/events.md", "Gone"),
        ],
        "crates/contract/src/event.rs:2",
    ),
    (
        "tools",
        &[
            (
                "crates/tools/src/a.rs",
                "//! x\nconst SPEC: Spec = Spec::new(\"a\", \"A\", Group::File)\n    .eager();\n",
            ),
            ("schemas/a.json", "{}"),
        ],
        "crates/tools/src/a.rs:2",
    ),
    (
        "tools",
        &[("crates/tools/src/a.rs", "//! x\nconst SPEC: Spec = Spec::new(\"a\").examples(EXAMPLES);\n")],
        "schemas/a.json is missing",
    ),
    ("tools", &[("schemas/gone.json", "{}")], "schemas/gone.json:1"),
    (
        "tools",
        &[(
            "crates/tools/src/a.rs",
            "//! x\nimpl Tool for A {\n    const SPEC: Spec = Spec::new(\"a\").examples(E);\n}\nfn all() { Erased::boxed(A) }\n\
             fn more() { Erased::boxed(b::A) }\n",
        )],
        "the tool `a` is listed 2 times",
    ),
    (
        "tools",
        &[(
            "crates/tools/src/a.rs",
            "//! x\nimpl Tool for A {\n    const SPEC: Spec = Spec::new(\"a\").examples(E);\n}\nfn all() { Erased::boxed(A) }\n",
        )],
        "no test calls the tool `a`",
    ),
];

fn plant(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let at = root.join(path);
        std::fs::create_dir_all(at.parent().expect("below the root")).expect("a folder");
        std::fs::write(at, text).expect("a file");
    }
}

fn check(root: &Path, name: &str) -> Output {
    tidy(&["--root", &root.to_string_lossy(), "--only", name])
}

#[test]
fn each_check_refuses_a_bad_tree() {
    for (name, files, expected) in BAD {
        let root = tempfile::tempdir().expect("a directory");
        plant(root.path(), files);
        let ran = check(root.path(), name);
        let said = out(&ran);
        assert!(!ran.status.success(), "{name} lets this pass: {files:?}");
        assert!(said.contains(expected) && said.contains("; "), "{name}: no {expected} in\n{said}");
    }
}

#[test]
fn a_long_file_is_refused() {
    let root = tempfile::tempdir().expect("a directory");
    plant(root.path(), &[("crates/host/src/a.rs", &"//! x\n".repeat(901))]);
    let ran = check(root.path(), "file-length");
    assert!(!ran.status.success() && out(&ran).contains("crates/host/src/a.rs:901"), "{}", out(&ran));
}

#[test]
fn every_check_has_a_bad_tree() {
    let listed = out(&tidy(&["--list"]));
    for name in listed.lines().filter_map(|line| line.split_whitespace().next()) {
        assert!(name == "file-length" || BAD.iter().any(|(check, ..)| *check == name), "{name} has none");
    }
}

#[test]
fn comments_strings_tests_and_the_inner_side_are_no_findings() {
    let root = tempfile::tempdir().expect("a directory");
    plant(
        root.path(),
        &[
            (
                "crates/tools/src/a.rs",
                "//! println! and std::env\nconst A: &str = \"std::fs::write\";\n#[cfg(test)]\nmod tests {\n    fn a() { std::fs::write(b, c); }\n}\n",
            ),
            ("crates/cli/src/a.rs", "//! x\nfn a() { println!(\"\"); std::env::args(); }\n"),
            ("crates/host/src/proc/a.rs", "//! x\nfn a() { Command::new(b); }\n"),
            ("crates/tools/Cargo.toml", "[dev-dependencies]\nnika-runtime = { workspace = true }\n"),
        ],
    );
    for name in ["printing", "environment", "file-writes", "processes", "floors"] {
        let ran = check(root.path(), name);
        assert!(ran.status.success(), "{name}: {}", out(&ran));
    }
}
