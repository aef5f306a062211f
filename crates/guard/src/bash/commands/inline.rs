//! Words of build tools that are run themselves: rules from a stream, expressions of make, text of TeX, the program
//! that a goal of maven is told to run.

use super::super::judge::{Arg, Judge};
use super::build::named;
use super::places;
use super::settings;
use super::spec::Parsed;

/// Words that run a text, or name a program.
pub(super) fn runs_words(parsed: &Parsed, judge: &mut Judge<'_>) {
    if let Some(why) = parsed.operands.iter().filter_map(Arg::exact).find_map(|text| runs_text(parsed, text)) {
        judge.opaque(why);
    }
}

/// Words behind `--`, for the program that a builder runs: the compiler, or make.
pub(super) fn runs_behind(parsed: &Parsed, judge: &mut Judge<'_>) {
    const OF_MAKE: [&str; 5] = ["SHELL", ".SHELLFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS", "-"];
    let words = parsed.operands.iter().filter_map(Arg::exact).skip_while(|text| *text != "--").skip(1);
    let mut make = parsed.with_operands(&[]);
    make.path = vec!["make".to_owned()];
    let runs = |text: &str| {
        if named("cargo", parsed) {
            return settings::runs("RUSTFLAGS", text).is_some();
        }
        let name = text.split('=').next().unwrap_or(text).trim_end_matches([':', '+', '?']);
        OF_MAKE.contains(&name) || runs_text(&make, text).is_some()
    };
    if let Some(text) = words.into_iter().find(|text| runs(text)) {
        judge.opaque(format!("`{text}` behind `--` runs what the command line says"));
    }
}

/// What a word of a tool says that runs text of the command line, beside the words of its row.
fn runs_text(parsed: &Parsed, text: &str) -> Option<String> {
    let said = || Some(format!("`{text}` runs what the command line says"));
    let stream = |value: &str| value == "-" || value.starts_with("/dev/") || value.starts_with("/proc/");
    if named("make gmake bmake", parsed) {
        let long = text.strip_prefix("--").map(|rest| rest.split_once('=').unwrap_or((rest, "")));
        return match long {
            // Abbreviations of `--eval`; a file of rules that is a stream.
            Some((name, _)) if name.starts_with("ev") => said(),
            Some(("file" | "makefile" | "fil" | "makef", value)) if stream(value) => said(),
            Some(_) => None,
            None if stream(text) => said(),
            None if text.starts_with('-') => {
                let letters: String = text.chars().skip(1).take_while(char::is_ascii_alphabetic).collect();
                let value = text.get(1 + letters.len()..).unwrap_or_default();
                let rules = letters.ends_with('f') && stream(value);
                // A bundle with a place elsewhere behind it: `-sC/x`.
                let away =
                    letters.len() > 1 && letters.ends_with(['C', 'f', 'I']) && value.starts_with(['/', '~', '.']);
                (letters.starts_with('E') || rules || away && places::leads_away(value)).then(said).flatten()
            }
            None => text
                .split_once('=')
                .filter(|(name, value)| {
                    value.contains("$(")
                        || value.contains("${")
                        || value.contains('`')
                        || name.ends_with('!')
                        || settings::runs(name, value).is_some()
                })
                .and_then(|_| said()),
        };
    }
    if named("cmake", parsed) {
        // `-DNAME=VALUE`, `-D NAME:TYPE=VALUE`.
        let setting = text.strip_prefix("-D").unwrap_or(text).split_once('=');
        let runs = |key: &str, value| settings::runs(key.split(':').next().unwrap_or(key), value).is_some();
        return setting.filter(|(key, value)| runs(key, value)).and_then(|_| said());
    }
    if named("rustc rustdoc", parsed) {
        return settings::runs("RUSTFLAGS", text).and_then(|_| said());
    }
    if named("go", parsed) {
        return settings::runs("GOFLAGS", text).and_then(|_| said());
    }
    if named("tox", parsed) {
        // What stands behind `--` is meant for the tests.
        let mut own = parsed.operands.iter().map(Arg::exact).take_while(|word| *word != Some("--"));
        let overrides = text.starts_with("-x") || text.starts_with("--ov");
        return (overrides && own.any(|word| word == Some(text))).then(said).flatten();
    }
    if named("sbt", parsed) {
        let mut parts = text.split(';').filter_map(|part| part.split_whitespace().next());
        return parts.any(|part| matches!(part, "eval" | "set")).then(said).flatten();
    }
    if named("nim", parsed) {
        return text.starts_with("--eval").then(said).flatten();
    }
    if named("pdflatex xelatex lualatex latex tectonic", parsed) {
        return text.starts_with('\\').then(said).flatten();
    }
    if named("latexmk", parsed) {
        let engine = text.strip_prefix('-').and_then(|rest| rest.trim_start_matches('-').split_once('='));
        return engine.filter(|(name, _)| name.ends_with("latex")).and_then(|_| said());
    }
    if named("meson", parsed) {
        const AROUND: [&str; 4] = ["valgrind", "gdb", "rr", "strace"];
        let mut words = parsed.operands.iter().filter_map(Arg::exact).skip_while(|word| *word != text);
        let wrapper = match text.strip_prefix("--wrapper") {
            Some("") => words.nth(1),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        let other = wrapper.is_some_and(|value| !AROUND.contains(&value.split(' ').next().unwrap_or(value)));
        let passes =
            ["--gdb-path", "--ninja-args", "--vs-args", "--xcode-args"].iter().any(|name| text.starts_with(name));
        return (other || passes).then(said).flatten();
    }
    if named("protoc", parsed) {
        // `NAME=PROGRAM`: a program of the system that is known for something else is no plugin.
        let plugin = text.strip_prefix("--plugin=").unwrap_or(text).strip_prefix("protoc-gen-")?.split_once('=')?.1;
        return super::standard(plugin).filter(|name| super::is_known(name)).and_then(|_| said());
    }
    if named("mvn mvnd", parsed) {
        let goal = text.split('@').next().unwrap_or(text);
        let runs = goal == "exec:exec" || goal.contains("exec-maven-plugin") && goal.ends_with(":exec");
        return runs.then(said).flatten();
    }
    None
}
