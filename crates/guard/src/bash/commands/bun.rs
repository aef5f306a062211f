//! `bun`: it runs scripts and files of the project, and fetches packages.

use super::super::judge::{Arg, Judge};
use super::build::fetch_and_run;
use super::effects::{run, run_words};
use super::goals::script_reaches;
use super::runners;
use super::spec::Parsed;

/// Scripts that have the name of a program of the system.
const SCRIPTS: &[&str] = &["test", "build", "watch", "clean", "check", "format", "lint", "start", "dev", "docs"];

/// Options that may stand before what it runs, and have no value.
const FLAGS: &[&str] = &["--watch", "--hot", "--bun", "--silent", "--smol", "--no-clear-screen"];

/// Its words, for which it has no table: what is no subcommand is a file that it runs.
pub(super) fn bun(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words: Vec<Option<&str>> = parsed.operands.iter().map(Arg::exact).collect();
    match words.as_slice() {
        [Some("-v" | "--version" | "--revision" | "--help" | "-h")] => {}
        [Some(flag), _, ..] if FLAGS.contains(flag) => bun(&runners::behind(parsed, 1), judge),
        [Some("run"), Some(flag), _, ..] if FLAGS.contains(flag) => {
            let mut without = parsed.clone();
            without.operands.remove(1);
            bun(&without, judge);
        }
        [Some("x"), _, ..] => {
            let mut words = runners::behind(parsed, 1);
            words.path = vec!["bunx".to_owned()];
            fetch_and_run(&words, judge);
        }
        [Some("pm"), Some("ls" | "bin" | "cache" | "hash")] => judge.read_cwd(),
        [Some("run"), Some(script), ..] if !script.starts_with('-') && !SCRIPTS.contains(script) => {
            script_reaches(parsed.operands.get(1..).unwrap_or_default(), judge);
            run_words(parsed, parsed.operands.get(1..).unwrap_or_default(), judge);
        }
        [Some("run" | "test" | "build"), rest @ ..]
            if !rest.iter().any(|word| word.is_some_and(is_code_or_fetches)) && !begins_with_option(&words) =>
        {
            script_reaches(parsed.operands.get(1..).unwrap_or_default(), judge);
            run(parsed, judge);
        }
        [Some("lint" | "dev" | "start" | "typecheck" | "format" | "check" | "preview" | "watch"), ..] => {
            run(parsed, judge)
        }
        [Some(file), ..] if file.contains('.') && !file.starts_with('-') => {
            script_reaches(&parsed.operands, judge);
            run(parsed, judge);
        }
        [
            Some(
                "add" | "install" | "i" | "remove" | "rm" | "update" | "outdated" | "upgrade" | "publish" | "link"
                | "unlink" | "audit" | "info",
            ),
            ..,
        ] => {
            judge.net(None);
        }
        _ => {
            judge.net(None);
            judge.opaque("what this `bun` runs cannot be said");
        }
    }
}

/// Whether a word is a text that is run, has one, or lets packages be fetched: `--eval=x`, `-pe`, `--install=force`.
fn is_code_or_fetches(word: &str) -> bool {
    const OPTIONS: &[&str] =
        &["-e", "-p", "-i", "-r", "--eval", "--print", "--install", "--inspect", "--preload", "--import"];
    word == "-" || OPTIONS.iter().any(|option| word.starts_with(option))
}

/// `bun run --define a:b deploy`: whether the script is behind an option, whose value may be taken for it.
fn begins_with_option(words: &[Option<&str>]) -> bool {
    matches!(words, [Some("run"), Some(option), ..] if option.starts_with('-'))
}
