//! Manifests: who may depend on whom, who owns which library, and what every package says alike.

use super::Findings;
use super::tree::{Manifest, Tree};

/// Each crate and its floor. A crate uses lower floors only; floor 0 uses none of ours.
const FLOORS: &[(&str, u8)] = &[
    ("guard", 0),
    ("search", 0),
    ("edit", 0),
    ("contract", 1),
    ("host", 2),
    ("store", 2),
    ("tools", 3),
    ("runtime", 3),
    ("mcp", 4),
    ("agent", 4),
    ("flow", 5),
    ("cli", 6),
    // Above everything, because nothing that ships may use it.
    ("testkit", 9),
];

/// Dependencies for tests that cross a wall, and why each may.
const IN_TESTS: &[(&str, &str, &str)] = &[
    ("tools", "runtime", "tools are tested through the real pipeline"),
    ("tools", "testkit", "tools are tested through the real pipeline"),
    ("agent", "testkit", "the loop is tested through the real pipeline"),
    ("mcp", "testkit", "logins are tested against the testkit's authorization server"),
    ("cli", "testkit", "logins are tested against the testkit's authorization server"),
];

/// Libraries that stop in one crate.
const OWNED: &[(&[&str], &[&str])] = &[
    (&["sqlx", "rusqlite"], &["store"]),
    (&["rmcp"], &["mcp"]),
    (&["axum", "hyper", "tower"], &["mcp"]),
    (&["clap", "clap_complete", "clap_mangen"], &["cli"]),
    (&["ratatui", "crossterm"], &["tui"]),
    (&["genai"], &["agent", "host"]),
    (&["reqwest"], &["agent", "host", "mcp"]),
    (&["anyhow"], &["cli", "xtask"]),
];

fn floor(name: &str) -> Option<u8> {
    FLOORS.iter().find(|(krate, _)| *krate == name).map(|(_, floor)| *floor)
}

/// The packages of the workspace. A crate among the examples is what somebody works on, and none of ours.
fn packages(tree: &Tree) -> impl Iterator<Item = &Manifest> {
    tree.manifests.iter().filter(|manifest| manifest.path != "Cargo.toml" && !manifest.path.starts_with("examples/"))
}

fn is_dependency(section: &str) -> bool {
    section.ends_with("dependencies") && !section.starts_with("workspace")
}

pub(super) fn floors(tree: &Tree, findings: &mut Findings) {
    for manifest in packages(tree) {
        let path = &manifest.path;
        let own = if manifest.owner == "xtask" { Some(0) } else { floor(&manifest.owner) };
        let Some(own) = own else {
            findings.add(
                path,
                1,
                "this crate has no floor",
                "give it one in xtask/src/tidy/manifests.rs and ARCHITECTURE.md",
            );
            continue;
        };
        for row in manifest.rows().filter(|row| is_dependency(row.section)) {
            let Some(used) = row.name.strip_prefix("nika-") else { continue };
            let for_tests = row.section == "dev-dependencies";
            if for_tests && IN_TESTS.iter().any(|(user, name, _)| *user == manifest.owner && *name == used) {
                continue;
            }
            match floor(used) {
                Some(floor) if floor < own => {}
                Some(floor) => findings.add(
                    path,
                    row.line,
                    format!("{} (floor {own}) depends on {used} (floor {floor})", manifest.owner),
                    "use lower floors only; let the program or the caller hand the value in",
                ),
                None => {
                    findings.add(path, row.line, format!("nika-{used} has no floor"), "give it one in ARCHITECTURE.md")
                }
            }
        }
    }
}

pub(super) fn owners(tree: &Tree, findings: &mut Findings) {
    for manifest in packages(tree) {
        for row in manifest.rows().filter(|row| is_dependency(row.section)) {
            let owned = OWNED.iter().find(|(names, _)| names.contains(&row.name));
            let Some((_, owners)) = owned.filter(|(_, owners)| !owners.contains(&manifest.owner.as_str())) else {
                continue;
            };
            let owners = owners.join(" or ");
            findings.add(
                &manifest.path,
                row.line,
                format!("{} belongs to {owners}", row.name),
                format!("ask for what is needed in a type of {owners}'s"),
            );
        }
    }
}

pub(super) fn licence(tree: &Tree, findings: &mut Findings) {
    for manifest in packages(tree) {
        for wanted in ["license.workspace = true", "workspace = true"] {
            if !manifest.has_line(wanted) {
                let section = if wanted.starts_with("license") { "[package]" } else { "[lints]" };
                findings.add(&manifest.path, 1, format!("no `{wanted}`"), format!("add it to {section}"));
            }
        }
        let name = if manifest.owner == "xtask" { "xtask".to_owned() } else { format!("nika-{}", manifest.owner) };
        if !manifest.has_line(&format!("name = \"{name}\"")) {
            findings.add(&manifest.path, 1, "the package is not named after its folder", format!("name it {name}"));
        }
    }
    if let Some(workspace) = tree.manifests.iter().find(|manifest| manifest.path == "Cargo.toml")
        && !workspace.has_line("license = \"MIT OR Apache-2.0\"")
    {
        findings.add(
            "Cargo.toml",
            1,
            "the workspace's licence is not MIT OR Apache-2.0",
            "say so in [workspace.package]",
        );
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if tree.text(file).is_none() {
            findings.add(file, 1, "the licence's text is missing", "add it at the root");
        }
    }
}
