//! Ruby with its program on the command line, where that only substitutes in place: `ruby -pi -e 'gsub(/a/, "b")'`.

use super::super::judge::{Arg, Judge, Word};
use super::spec::{is_file_here, may_be_option};

/// Puts in what is changed; `false` where that cannot be said.
pub(super) fn edits(words: &[Arg], judge: &mut Judge<'_>) -> bool {
    let (kept, rest) = match words {
        [first, second, rest @ ..] if matches!(first.exact(), Some("-p")) => match second.exact() {
            Some(option) if option.starts_with("-i") => (option.strip_prefix("-i"), rest),
            _ => return false,
        },
        [first, rest @ ..] => (first.exact().and_then(|text| text.strip_prefix("-pi")), rest),
        [] => return false,
    };
    let ([option, program, files @ ..], Some(kept)) = (rest, kept) else { return false };
    // What stands behind it is the end of the names that old contents are kept under.
    let ends = kept.is_empty() || kept.starts_with('.') && kept.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    // `|CMD` among the files is run.
    let found = |file: &Arg| matches!(file.word, Word::Glob { .. }) && is_file_here(file);
    let plain = |file: &Arg| {
        let named = match &file.word {
            Word::Exact(text) | Word::Glob { pattern: text, .. } => !text.contains('|') && text.trim() == text,
            _ => false,
        };
        named && (found(file) || !may_be_option(file))
    };
    let fine = option.exact() == Some("-e") && program.exact().is_some_and(only_substitutes);
    if !fine || !ends || files.is_empty() || !files.iter().all(plain) {
        return false;
    }
    if files.iter().any(found) {
        judge.code("a word that is not known may become an option");
    }
    for file in files {
        judge.read(file);
        judge.write(file);
        if let Some(name) = file.exact().filter(|_| !kept.is_empty()) {
            judge.write(&file.with(&format!("{name}{kept}")));
        }
    }
    true
}

/// `gsub(/a/, "b")`, `$_.sub!(/a/, 'b')`: one pattern and one text, in which nothing is evaluated.
fn only_substitutes(program: &str) -> bool {
    let program = program.trim().strip_prefix("$_.").unwrap_or(program.trim());
    let Some(rest) = program.strip_prefix('g').unwrap_or(program).strip_prefix("sub") else { return false };
    let rest = rest.strip_prefix('!').unwrap_or(rest).trim_start();
    let inner = match rest.strip_prefix('(') {
        Some(inner) => inner.strip_suffix(')'),
        None => Some(rest),
    };
    let Some(body) = inner.map(str::trim).and_then(|inner| inner.strip_prefix('/')) else { return false };
    let Some((pattern, text)) = body.split_once('/') else { return false };
    let text = text.trim_start_matches(['i', 'm', 'x']).trim_start();
    let Some(text) = text.strip_prefix(',').map(str::trim) else { return false };
    let within = ['"', '\''].iter().find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark));
    // `#{…}` and `#$x` are put in, and a mark behind a backslash ends nothing.
    let quiet = |text: &str| !text.contains(['#', '\n']);
    let ends = |text: &str| !text.contains(['"', '\'']) && !text.ends_with('\\');
    quiet(pattern) && !pattern.ends_with('\\') && within.is_some_and(|text| quiet(text) && ends(text))
}

#[cfg(test)]
mod tests {
    use super::only_substitutes;

    #[test]
    fn a_program_that_does_more_is_another() {
        for program in [r#"gsub(/a/, "b")"#, r"$_.gsub!(/a\d+/i, '\1')", "sub /a/, 'b'"] {
            assert!(only_substitutes(program), "{program}");
        }
        for program in [
            r##"gsub(/a/, "#{`id`}")"##,
            r#"gsub(/a/) { system("id") }"#,
            r#"gsub(/a/, "b"); system("id")"#,
            r##"gsub(/#{`id`}/, "b")"##,
            r#"gsub(/a/, "b" + `id` + "c")"#,
            r#"gsub(/a\/, "b")"#,
            "print `id`",
        ] {
            assert!(!only_substitutes(program), "{program}");
        }
    }
}
