//! Rows shared by tables of programs that do the same whatever their options are: reach the network, talk to
//! a daemon, run code of the workspace. For them the words matter little; what they do is said once.

use std::path::Path;

use super::super::fact::Fact;
use super::super::judge::{Arg, Judge, Shell, Why, Word};
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style};
use super::{goals, kept, labels, places};

/// Options in rows, as in a [`Spec`].
pub type Opts = &'static [(Does, &'static str)];

/// Prints something about itself or the machine; operands are words.
pub const fn prints(names: &'static str, opts: Opts) -> Spec {
    Spec { names, opts, operands: Operands::Words, ..PLAIN }
}

/// Prints something about the project it stands in; operands are words.
pub const fn looks(names: &'static str, opts: Opts) -> Spec {
    Spec { names, opts, operands: Operands::Words, check: Some(look), ..PLAIN }
}

/// Reaches the network, whatever its words are.
pub const fn reaches(names: &'static str) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(reach), ..PLAIN }
}

/// Talks to a daemon or changes the machine, whatever its words are.
pub const fn changes(names: &'static str) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(change), ..PLAIN }
}

/// Runs code of the workspace, whatever its words are.
pub const fn runs(names: &'static str) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(run), ..PLAIN }
}

/// Cannot be said, whatever its words are.
pub const fn asks(names: &'static str) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(ask), ..PLAIN }
}

/// Changes files of the project it stands in; operands are words.
pub const fn edits(names: &'static str) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(edit), ..PLAIN }
}

/// Has subcommands.
pub const fn with(names: &'static str, opts: Opts, subs: &'static [Spec]) -> Spec {
    Spec { names, opts, operands: Operands::Sub, subs, ..PLAIN }
}

/// Has subcommands, and options behind one dash.
pub const fn with_dash(names: &'static str, opts: Opts, subs: &'static [Spec]) -> Spec {
    Spec { names, style: Style::OneDash, opts, operands: Operands::Sub, subs, ..PLAIN }
}

/// The same row with options behind one dash.
pub const fn dash(spec: Spec) -> Spec {
    Spec { style: Style::OneDash, ..spec }
}

fn look(_: &Parsed, judge: &mut Judge<'_>) {
    judge.read_cwd();
}

fn reach(_: &Parsed, judge: &mut Judge<'_>) {
    judge.net(None);
}

fn change(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.system(format!("`{}` talks to a daemon or changes the machine", parsed.path.join(" ")));
}

fn ask(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.opaque(format!("what `{}` does cannot be said", parsed.path.join(" ")));
}

fn edit(parsed: &Parsed, judge: &mut Judge<'_>) {
    named(&parsed.operands, judge);
    judge.write_cwd();
}

/// Code of the workspace, below the working directory; words that name other places are read.
pub fn run(parsed: &Parsed, judge: &mut Judge<'_>) {
    /// They have no option that names an output: what they are given, they only look at.
    const ONLY_LOOK: &[&str] = &["actionlint", "vale", "proselint"];
    judge.code(format!("runs `{}`", parsed.path.join(" ")));
    judge.write_cwd();
    let looks = parsed.path.first().is_some_and(|name| ONLY_LOOK.contains(&name.as_str()));
    named_by(&parsed.operands, looks, judge);
    places::addresses(&parsed.operands, false, judge);
    // Configuring for a place writes nothing there.
    let configures = match parsed.path.first().map(String::as_str) {
        Some("cmake") => !parsed.operands.iter().any(|arg| arg.exact() == Some("--install")),
        Some("meson") => true,
        _ => false,
    };
    if !configures {
        places::outputs(&parsed.operands, judge);
    }
}

/// What cargo is set to, in front of its subcommand or behind it.
pub fn settings_of_cargo(parsed: &Parsed, judge: &mut Judge<'_>) {
    // Behind `--` they are those of what it runs: `cargo fmt -- --config max_width=100`.
    let own: Vec<&str> = parsed.operands.iter().map(|word| word.exact().unwrap_or_default()).collect();
    let own = own.split(|word| *word == "--").next().unwrap_or_default();
    let behind = |at: usize| match own[at].strip_prefix("--config") {
        Some("") => Some(own.get(at + 1).copied().unwrap_or_default()),
        Some(attached) => attached.strip_prefix('='),
        None => None,
    };
    let in_front = parsed.values("config").map(|setting| setting.exact().unwrap_or_default());
    if (0..own.len()).filter_map(behind).chain(in_front).any(|setting| !is_plain_setting(setting)) {
        judge.opaque("`--config` of cargo may name the compiler");
    }
}

/// A setting of cargo that says how much is asked of the network, of the machine and of the compiler, and names no program.
fn is_plain_setting(setting: &str) -> bool {
    const PLAIN: [&str; 4] = ["net.offline=", "build.jobs=", "term.", "profile."];
    PLAIN.iter().any(|start| setting.starts_with(start))
        && setting.contains('=')
        && !["flags", "backend", "\n"].iter().any(|odd| setting.contains(odd))
}

/// Whatever the words name, alone, behind `=` or attached to a short option: other places, secrets, and guarded files,
/// which may be what is written.
pub fn named(words: &[Arg], judge: &mut Judge<'_>) {
    named_by(words, false, judge);
}

/// The same for a program that only looks at what it is given, or may not.
fn named_by(words: &[Arg], looks: bool, judge: &mut Judge<'_>) {
    const LOOKS: &[&str] = &["--check", "--list-different", "-l", "--diff", "--dry-run", "--fail-on-warnings"];
    let looks = looks || words.iter().any(|word| word.exact().is_some_and(|text| LOOKS.contains(&text)));
    for word in words {
        match labels::text(word) {
            Some(text) => {
                places::paths(text).for_each(|path| names(path, looks, judge));
                if let Some(path) = behind_kind(text) {
                    names(path, looks, judge);
                }
                // IN:OUT, as sass takes it.
                if let Some((_, path)) = text.rsplit_once(':').filter(|_| !looks && !text.contains("://")) {
                    let at = judge.resolve(path);
                    guarded(path, &at, crate::classify(&at).asked().is_some(), judge);
                }
            }
            None => {
                if let Word::Glob { pattern, .. } = &word.word {
                    judge.pointed_at(pattern).iter().for_each(|path| names(path, looks, judge));
                }
                outside(std::slice::from_ref(word), judge);
            }
        }
    }
}

/// Secrets that the words of a program name of which nothing else is known, or as far as the words are known.
pub fn secrets(words: &[Arg], judge: &mut Judge<'_>) {
    let known = |word: &'_ Arg| match &word.word {
        Word::Exact(text) | Word::Glob { prefix: text, .. } | Word::Opaque { prefix: text, .. } => text.clone(),
        Word::OneOf(_) => String::new(),
    };
    for text in words.iter().map(known) {
        for path in places::paths(&text) {
            if crate::classify(&judge.resolve(path)).secret.is_some() {
                judge.read(&judge.word(path));
            }
        }
    }
    for word in words {
        if let Word::OneOf(several) = &word.word {
            let each = several.iter().map(|one| Arg { word: one.clone(), span: word.span.clone() });
            secrets(&each.collect::<Vec<_>>(), judge);
        }
    }
}

/// The path behind the kind of a report: `html:.git/hooks`.
fn behind_kind(text: &str) -> Option<&str> {
    const KINDS: &[&str] =
        &["html", "xml", "json", "lcov", "annotate", "term", "junit", "markdown", "text", "dep-info"];
    let value = text.rsplit('=').next().unwrap_or(text);
    value.split_once(':').filter(|(kind, _)| KINDS.contains(kind)).map(|(_, path)| path)
}

/// One path that a word names: where it leads and what stands there is looked up once.
fn names(path: &str, looks: bool, judge: &mut Judge<'_>) {
    if places::leads_away(path) {
        judge.read_tree(&judge.word(path));
    }
    let at = judge.resolve(path);
    let class = crate::classify(&at);
    if class.secret.is_some() {
        judge.read(&judge.word(path));
    }
    if !looks {
        guarded(path, &at, class.asked().is_some(), judge);
    }
}

/// What stands at a path may be what is written, and what lies below it goes along.
fn guarded(path: &str, at: &Path, is_guarded: bool, judge: &mut Judge<'_>) {
    if is_guarded {
        judge.write(&judge.word(path));
    }
    if *at != judge.site.cwd {
        judge.facts.extend(places::taken_along(at));
    }
}

/// A program of the environment that a project brings: what is known of it is judged as if it stood alone.
pub fn run_project(parsed: &Parsed, judge: &mut Judge<'_>) {
    run_words(parsed, &parsed.operands, judge);
}

/// The same for words behind others.
pub fn run_words(parsed: &Parsed, words: &[Arg], judge: &mut Judge<'_>) {
    let known = |word: &Arg| word.exact().and_then(super::standard).is_some_and(|name| super::find(name).is_some());
    match words {
        // One word with blanks is a line for a shell.
        [text] if text.exact().is_some_and(|text| text.trim().contains([' ', ';', '&', '|', '\n'])) => {
            judge.code(format!("runs `{}`", parsed.path.join(" ")));
            judge.script(Shell::Sh, text.exact().unwrap_or_default(), &[], text.span.clone());
        }
        [program, ..] if known(program) => {
            judge.code(format!("runs `{}`", parsed.path.join(" ")));
            judge.command(words);
        }
        _ => {
            goals::script_reaches(words, judge);
            run(&parsed.with_operands(words), judge);
        }
    }
}

/// Words that name places outside the working directory, and words that are not known.
pub fn outside(words: &[Arg], judge: &mut Judge<'_>) {
    for word in words {
        match &word.word {
            Word::Exact(text) => {
                for path in places::paths(text) {
                    if places::leads_away(path) {
                        judge.read_tree(&word.with(path));
                    }
                }
            }
            Word::Glob { prefix, .. } if prefix.starts_with('/') || prefix.contains("..") => judge.read(word),
            Word::Glob { .. } => {}
            Word::OneOf(words) => {
                let each: Vec<Arg> =
                    words.iter().map(|one| Arg { word: one.clone(), span: word.span.clone() }).collect();
                outside(&each, judge);
            }
            Word::Opaque { prefix, splits, why } if kept::is_stamped(prefix) && (!splits || *why == Why::Kept) => {
                judge.code(why.text());
            }
            Word::Opaque { why: why @ Why::Packaged, .. } => judge.code(why.text()),
            Word::Opaque { prefix, why, .. } => judge.unknown(prefix, why, Fact::Read),
        }
    }
}

/// Whether the only word is one of these (blank-separated): the version, help.
pub fn only(parsed: &Parsed, words: &str) -> bool {
    match parsed.operands.as_slice() {
        [one] => one.exact().is_some_and(|text| words.split_whitespace().any(|word| word == text)),
        _ => false,
    }
}
