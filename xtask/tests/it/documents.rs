//! What hand-written documents show is true: their links lead somewhere, their configuration loads, and what they repeat
//! is what it repeats.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::pages::nika;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_path_buf()
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every Markdown file at the root and below `docs/`.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root(), root().join("docs")];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() && dir != root() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// The fenced blocks of one language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    text.split(&format!("```{language}\n")).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn links_lead_somewhere() {
    for document in documents() {
        let text = text(&document);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let away = target.is_empty() || target.contains("://");
            let there = document.parent().expect("it lies in a folder").join(target);
            assert!(away || there.exists(), "{}: {target} is not there", document.display());
        }
    }
}

#[test]
fn shown_configuration_loads() {
    let mut shown = 0;
    for document in ["README.md", "docs/permissions.md", "docs/hooks.md"] {
        let text = text(document);
        let yaml = blocks(&text, "yaml").into_iter().map(|block| (".nika/config.yaml", block));
        // Of the documents about permissions, JSON is a manifest.
        let json = blocks(&text, "json").into_iter().map(|block| (".nika/policy.json", block));
        for (file, block) in yaml.chain(json.filter(|_| document == "docs/hooks.md")) {
            let place = tempfile::tempdir().expect("a directory");
            std::fs::create_dir(place.path().join(".nika")).expect("a folder");
            std::fs::write(place.path().join(file), block).expect("a file");
            let mut config = Command::new(nika());
            config.arg("config").current_dir(place.path()).env_clear().env("HOME", place.path());
            let ran = config.stdin(Stdio::null()).output().expect("it starts");
            assert!(ran.status.success(), "{document}: {}\n{block}", String::from_utf8_lossy(&ran.stderr));
            shown += 1;
        }
    }
    assert!(shown >= 4, "{shown} blocks");
}

#[test]
fn examples_are_fine() {
    let mut examples = 0;
    // A folder is a place to work in, and the page that tells of it is run by a test of its own.
    let files = std::fs::read_dir(root().join("examples")).expect("a folder").flatten();
    for entry in files.filter(|entry| entry.path().is_file()) {
        let ran = Command::new(nika())
            .args(["check", "--strict"])
            .arg(entry.path())
            .current_dir(root())
            .env_clear()
            .env("HOME", std::env::temp_dir())
            .stdin(Stdio::null())
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success(), "{}: {said}", entry.path().display());
        examples += 1;
    }
    assert!(examples >= 1);
}

#[test]
fn the_shown_hook_keeps_agents_out() {
    let page = text("docs/hooks.md");
    let (script, yaml) = (blocks(&page, "sh")[0], "hooks: [{on: before, tool: write, run: [sh, ~/hook]}]");
    let place = tempfile::tempdir().expect("a directory");
    let config = place.path().join("home/.config/nika");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("config.yaml"), yaml).expect("a file");
    std::fs::write(place.path().join("home/hook"), script).expect("a file");
    std::fs::create_dir(place.path().join("work")).expect("a folder");
    for (path, code) in [("vendor/x.c", 1), ("./vendor/x.c", 1), ("src/vendor.c", 0)] {
        let mut write = Command::new(nika());
        write.args(["call", "write", &format!("file_path={path}"), "content=x", "--allow-write"]);
        write.current_dir(place.path().join("work")).env_clear().env("HOME", place.path().join("home"));
        write.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let ran = write.stdin(Stdio::null()).output().expect("it starts");
        assert_eq!(ran.status.success(), code == 0, "{path}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn the_strangers_script_is_the_one_that_the_journal_is_tested_with() {
    let source = text("crates/store/src/journal/chain.rs");
    let comment: String = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    let (tested, page) = (blocks(&comment, "sh"), text("docs/journal.md"));
    assert_eq!(tested.len(), 1);
    assert!(blocks(&page, "sh").contains(&tested[0]), "docs/journal.md shows another script than\n{}", tested[0]);
}

#[test]
fn the_readmes_modes_are_those_of_the_table() {
    let (readme, table) = (text("README.md"), text("docs/reference/modes.md"));
    for act in ["read inside the workspace", "write inside", "read or write outside"] {
        let row = |page: &str| page.lines().find(|line| line.starts_with(&format!("| {act} |"))).map(str::to_owned);
        assert_eq!(row(&readme).expect(act), row(&table).expect(act));
    }
}
