//! Older documents by class, each with what it becomes: the document of today, or the findings.
//!
//! The cases stand in `cases.md`, for people too: a block `yaml` is the older document, the block behind it what it
//! becomes (`yaml`) or what is said of it (`text`).

use super::*;
use crate::finding::show;
use crate::read::yaml;

const CASES: &str = include_str!("cases.md");

/// A case of the page.
struct Case {
    title: String,
    old: String,
    /// The language of the block, and the block.
    becomes: (String, String),
}

fn cases() -> Vec<Case> {
    let (mut cases, mut title, mut blocks) = (Vec::new(), String::new(), Vec::<(String, String)>::new());
    let mut open = false;
    for line in CASES.lines().chain(["# end"]) {
        match line.strip_prefix("```") {
            Some(language) if !open => {
                blocks.push((language.to_owned(), String::new()));
                open = true;
            }
            Some(_) => open = false,
            None if open => {
                let block = &mut blocks.last_mut().expect("a block is open").1;
                block.push_str(line);
                block.push('\n');
            }
            None if line.starts_with('#') => {
                if let [(_, old), becomes] = blocks.as_slice() {
                    cases.push(Case { title: title.clone(), old: old.clone(), becomes: becomes.clone() });
                } else {
                    assert!(blocks.is_empty(), "{title}: a case has two blocks");
                }
                blocks.clear();
                title = line.trim_start_matches(['#', ' ']).to_owned();
            }
            None => {}
        }
    }
    cases
}

fn translated(old: &str) -> Result<Flow, Vec<Finding>> {
    let document = yaml::parse(old).map_err(|finding| vec![finding])?;
    let Kind::Map(entries) = &document.kind else { panic!("a document is a mapping") };
    let schema = entries.iter().find(|(key, _)| key.value == "schema").expect("it has a schema");
    let Kind::Text(version) = &schema.1.kind else { panic!("a version is text") };
    let release = Release::of(version).expect("an older version");
    read(old, &document, release, &At { value: version.clone(), at: schema.1.at }, "case")
}

fn said(old: &str) -> (&'static str, String) {
    match translated(old) {
        Ok(flow) => ("yaml", crate::write(&flow)),
        Err(findings) => ("text", findings.iter().map(|finding| show("old.nika.yaml", old, finding)).collect()),
    }
}

#[test]
fn each_older_document_becomes_what_the_page_says() {
    let cases = cases();
    assert!(cases.len() >= 30, "{} cases", cases.len());
    let mut wrong = String::new();
    for case in &cases {
        let (language, now) = said(&case.old);
        if (language, now.as_str()) != (case.becomes.0.as_str(), case.becomes.1.as_str()) {
            wrong.push_str(&format!("\n### {}\n\n```yaml\n{}```\n\n```{language}\n{now}```\n", case.title, case.old));
        }
    }
    assert!(wrong.is_empty(), "these became something else:\n{wrong}");
}

#[test]
fn no_document_is_both_translated_and_complained_about() {
    for case in cases() {
        match translated(&case.old) {
            Ok(flow) => {
                assert!(flow.permits.is_none(), "{}: an older document states no authority", case.title);
                assert!(!flow.tasks.is_empty(), "{}", case.title);
            }
            Err(findings) => assert!(findings.iter().any(Finding::is_error), "{}", case.title),
        }
    }
}

#[test]
fn a_template_that_is_refused_is_pointed_at() {
    let old = "schema: nika/workflow@0.1\ntasks:\n  - {id: a, exec: ls}\n  - id: b\n    use: {x: a}\n    exec: |\n      ls\n      eval {{use.x}}\n";
    let findings = translated(old).expect_err("it is refused");
    let at: Vec<_> = findings.iter().map(|finding| (finding.at.line, finding.at.column, finding.at.length)).collect();
    assert_eq!(at, [(8, 12, 9)]);
}

/// Ends of documents cut anywhere: nothing panics, and each finding has its place in the text.
#[test]
fn documents_cut_short_are_findings_or_workflows() {
    for case in cases() {
        for end in (0..case.old.len()).step_by(7).filter(|end| case.old.is_char_boundary(*end)) {
            let cut = &case.old[..end];
            let Ok(document) = yaml::parse(cut) else { continue };
            let Kind::Map(entries) = &document.kind else { continue };
            let Some((_, node)) = entries.iter().find(|(key, _)| key.value == "schema") else { continue };
            let Kind::Text(version) = &node.kind else { continue };
            let Some(release) = Release::of(version) else { continue };
            let schema = At { value: version.clone(), at: node.at };
            for finding in read(cut, &document, release, &schema, "cut").err().into_iter().flatten() {
                assert!(finding.at.line >= 1 && finding.at.line <= cut.lines().count() + 1, "{cut}: {finding:?}");
            }
        }
    }
}

/// What is written is a document of today that says the same.
#[test]
fn what_an_older_document_becomes_is_read_as_it_is_written() {
    let mut read = 0;
    for case in cases() {
        let Ok(flow) = translated(&case.old) else { continue };
        let written = crate::write(&flow);
        let again = match crate::read(&written, "case.nika.yaml") {
            Ok(again) => again,
            Err(findings) => panic!("{}:\n{written}\n{findings:#?}", case.title),
        };
        assert_eq!(crate::write(&again), written, "{}", case.title);
        read += 1;
    }
    assert!(read >= 15, "{read} documents");
}
