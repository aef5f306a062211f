//! `bench grep`: Nika's grep against ripgrep, 13 cases that differ in what makes a search cheap or dear.

use anyhow::Result;
use serde_json::json;

use super::search::{self, Case, Goal, Setup, Shape};
use crate::args::Args;

/// What is wanted of the matches.
#[derive(Debug, Clone, Copy)]
enum Mode {
    Files,
    Count,
    /// The lines, with so many lines around each.
    Content(u32),
}

struct Search {
    name: &'static str,
    pattern: &'static str,
    ignore_case: bool,
    mode: Mode,
}

const fn search(name: &'static str, pattern: &'static str, mode: Mode) -> Search {
    Search { name, pattern, ignore_case: false, mode }
}

/// Counts of files or lines in Linux 6.1 are given where they say what "rare" or "common" means.
const SEARCHES: &[Search] = &[
    search("rare literal, files", "sched_setattr_nocheck", Mode::Files),
    search("rare literal, content ±2", "sched_setattr_nocheck", Mode::Content(2)),
    search("common literal, files", "kmalloc", Mode::Files),
    search("common literal, count", "kmalloc", Mode::Count),
    search("very common literal, files", "return", Mode::Files),
    search("very common literal, count", "return", Mode::Count),
    search("alternation, files", "ENOTSUPP|EOPNOTSUPP|EPROTONOSUPPORT", Mode::Files),
    Search { name: "ignore case, files", pattern: "spin_lock_irqsave", ignore_case: true, mode: Mode::Files },
    search("no match, files", "zzqqxx_no_such_symbol", Mode::Files),
    search("word prefix, content", r"\bkmem_cache_\w+", Mode::Content(0)),
    search("inner literal, files", r"\w+_probe_\w+\(", Mode::Files),
    search("no literal, count", r"\b[a-z]{3}[0-9]{3}[a-z]\b", Mode::Count),
    search("alternation, content ±2", "TODO|FIXME", Mode::Content(2)),
];

const GOAL: Goal = Goal { geomean: 0.80, worst: 1.05 };

pub(crate) fn run(args: Args) -> Result<()> {
    let setup = Setup::from_args(args)?;
    let cases: Vec<Case> = SEARCHES.iter().map(|search| case(search, &setup.rg)).collect();
    search::run("grep", &setup, &["rg"], &cases, &GOAL)
}

/// The same question to both. Nika is asked for every result, as rg gives every result.
fn case(search: &Search, rg: &str) -> Case {
    let mut command = vec![rg.to_owned(), "--no-config".to_owned()];
    let mut arguments = json!({"pattern": search.pattern, "head_limit": 0});
    let (options, shape): (Vec<String>, Shape) = match search.mode {
        Mode::Files => {
            arguments["output_mode"] = json!("files_with_matches");
            (vec!["--files-with-matches".into()], Shape::Paths)
        }
        Mode::Count => {
            arguments["output_mode"] = json!("count");
            (vec!["--count".into(), "--with-filename".into()], Shape::Counts)
        }
        Mode::Content(around) => {
            arguments["output_mode"] = json!("content");
            arguments["-n"] = json!(true);
            if around > 0 {
                arguments["-C"] = json!(around);
            }
            (vec!["--line-number".into(), "--no-heading".into(), format!("--context={around}")], Shape::Lines)
        }
    };
    command.extend(options);
    if search.ignore_case {
        arguments["-i"] = json!(true);
        command.push("--ignore-case".to_owned());
    }
    command.extend(["-e", search.pattern, "./"].map(str::to_owned));
    Case { name: search.name.to_owned(), rivals: vec![command], tool: "grep", arguments, shape }
}
