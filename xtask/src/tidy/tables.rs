//! The product's tables: every code is raised and explained, every event written and explained, every tool is listed
//! once and has its schema, an example and a test.

use super::Findings;
use super::tree::Tree;
use super::walls::names;

const CODES: &str = "crates/contract/src/code.rs";
const EVENTS: &str = "crates/contract/src/event.rs";
/// Schemas that are no tool's.
const OTHER_SCHEMAS: &[&str] = &["config", "workflow.schema"];

pub(super) fn codes(tree: &Tree, findings: &mut Findings) {
    let Some(table) = tree.text(CODES) else {
        return findings.add(CODES, 1, "the table of codes is not here", "tell xtask/src/tidy/tables.rs where it went");
    };
    let page = tree.text("docs/reference/codes.md").unwrap_or_default();
    let mut seen = Vec::new();
    for (at, line) in table.lines().enumerate() {
        let mut words = line.split_whitespace();
        let (Some(number), Some(name)) = (words.next(), words.next()) else { continue };
        if number.parse::<u16>().is_err() || !name.chars().all(|c| c.is_ascii_uppercase() || "_0123456789".contains(c))
        {
            continue;
        }
        if seen.contains(&number) {
            findings.add(CODES, at + 1, format!("{number} stands twice"), "take the next free number");
        }
        seen.push(number);
        if !raised(tree, CODES, name) {
            findings.add(
                CODES,
                at + 1,
                format!("nothing raises {name}"),
                "raise it where it happens, or keep the number and drop the row",
            );
        }
        if !page.contains(&format!("NIKA-{number}")) {
            findings.add(
                CODES,
                at + 1,
                format!("docs/reference/codes.md lacks {number} {name}"),
                "run `cargo xtask codegen`",
            );
        }
    }
}

pub(super) fn events(tree: &Tree, findings: &mut Findings) {
    let Some(table) = tree.text(EVENTS) else {
        return findings.add(
            EVENTS,
            1,
            "the table of events is not here",
            "tell xtask/src/tidy/tables.rs where it went",
        );
    };
    let page = tree.text("docs/reference/events.md").unwrap_or_default();
    for (at, line) in table.lines().enumerate() {
        let Some((name, rest)) = line.strip_prefix("pub const ").and_then(|rest| rest.split_once(": &str = \"")) else {
            continue;
        };
        let written = rest.trim_end_matches("\";");
        if !raised(tree, EVENTS, name) {
            findings.add(
                EVENTS,
                at + 1,
                format!("nothing writes {name}"),
                "write it where it happens, or drop the row",
            );
        }
        if !page.contains(written) {
            findings.add(
                EVENTS,
                at + 1,
                format!("docs/reference/events.md lacks {written}"),
                "run `cargo xtask codegen`",
            );
        }
    }
}

fn raised(tree: &Tree, table: &str, name: &str) -> bool {
    tree.shipped()
        .filter(|source| source.path != table && source.owner != "testkit")
        .any(|source| source.code().any(|(_, code)| names(code, name)))
}

/// Whether a line of code boxes a tool of this type for a list.
fn boxes(code: &str, kind: &str) -> bool {
    code.split("Erased::boxed(").nth(1).is_some_and(|rest| names(rest, kind))
}

/// The tables that hold every tool: to be there is no test of it.
const TABLES_OF_ALL: &[&str] = &["crates/cli/tests/it/finding.rs", "crates/cli/tests/it/contract.rs"];

fn is_tested(tree: &Tree, tool: &str) -> bool {
    let spelled = [format!("\"{tool}\""), format!("\"nika_{tool}\"")];
    let tests = tree.sources.iter().filter(|source| !TABLES_OF_ALL.contains(&source.path.as_str()));
    tests
        .flat_map(|source| source.lines.iter())
        .any(|line| line.test && spelled.iter().any(|name| line.text.contains(name.as_str())))
}

/// Tools that no caller is shown, and why.
const BESIDE_THE_SURFACE: &[(&str, &str)] = &[("exec", "only runs of workflows have it in their pool")];

pub(super) fn tools(tree: &Tree, findings: &mut Findings) {
    let mut known = Vec::new();
    for source in tree.shipped().filter(|source| source.owner != "testkit" && source.owner != "contract") {
        for (at, line) in source.lines.iter().enumerate().filter(|(_, line)| !line.test) {
            let Some(name) = line.text.split("Spec::new(\"").nth(1).and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            if known.iter().any(|tool| tool == name) {
                findings.add(
                    &source.path,
                    at + 1,
                    format!("a second tool is called `{name}`"),
                    "give it a name of its own",
                );
            }
            known.push(name.to_owned());
            let kind = source.lines[..at].iter().rev().find_map(|line| line.code.trim().strip_prefix("impl Tool for "));
            let kind = kind.unwrap_or_default().trim_end_matches([' ', '{']);
            let listed = tree.shipped().flat_map(|source| source.code()).filter(|(_, code)| boxes(code, kind)).count();
            if listed != 1 {
                findings.add(
                    &source.path,
                    at + 1,
                    format!("the tool `{name}` is listed {listed} times"),
                    "box it once, where its crate lists its tools",
                );
            }
            if !is_tested(tree, name) {
                findings.add(
                    &source.path,
                    at + 1,
                    format!("no test calls the tool `{name}`"),
                    "write one that does, by its name",
                );
            }
            let spec: String = source.lines[at..]
                .iter()
                .scan(false, |ended, line| {
                    let go_on = !*ended;
                    *ended |= line.code.contains(';');
                    go_on.then_some(line.code.as_str())
                })
                .collect();
            if !spec.contains(".examples(") || spec.contains(".examples(&[])") {
                findings.add(
                    &source.path,
                    at + 1,
                    format!("the tool `{name}` has no example"),
                    "add one with `.examples(EXAMPLES)`; it runs as a test",
                );
            }
            let in_surface = !BESIDE_THE_SURFACE.iter().any(|(tool, _)| *tool == name);
            if in_surface && tree.text(&format!("schemas/{name}.json")).is_none() {
                findings.add(
                    &source.path,
                    at + 1,
                    format!("schemas/{name}.json is missing"),
                    "run `cargo xtask codegen`",
                );
            }
        }
    }
    for file in &tree.files {
        let Some(name) = file.path.strip_prefix("schemas/").and_then(|name| name.strip_suffix(".json")) else {
            continue;
        };
        if !OTHER_SCHEMAS.contains(&name) && !known.iter().any(|tool| tool == name) {
            findings.add(&file.path, 1, "no tool has this schema", "remove the file");
        }
    }
}
