//! Perl with its program on the command line, where that only prints or substitutes: `perl -ne 'print if /x/'`,
//! `perl -i.bak -pe s/a/b/`.

use super::super::judge::{Arg, Judge, Word};
use super::super::lang::perl;
use super::spec::{is_file_here, may_be_option};

/// `perl -pi -e s/a/b/ FILE…`: a program in place that only substitutes or prints, as with sed.
pub(super) fn edits(words: &[Arg], judge: &mut Judge<'_>) -> bool {
    let Some(Perl { programs, kept: Some(kept), loops: true, files }) = Perl::read(words) else { return false };
    // `CMD|` among the files is run, `>FILE` written.
    let plain = |file: &Arg| match &file.word {
        Word::Exact(text) | Word::Glob { pattern: text, .. } => {
            text.trim() == text && !text.contains(['|', '<', '>', '&']) && !may_be_option(file) && text != "-"
        }
        _ => false,
    };
    // A name that a list holds or a pattern finds may be any of that: who can name files here can change what tests run.
    let found = |file: &Arg| matches!(file.word, Word::Glob { .. }) && is_file_here(file);
    let fine = is_harmless(&programs) && files.iter().all(|file| plain(file) || found(file));
    if fine && files.iter().any(found) {
        judge.code("a word that is not known may become an option");
    }
    for file in files.iter().filter(|_| fine) {
        judge.write(file);
        // What was there before is kept beside it.
        if let Some(name) = file.exact().filter(|_| !kept.is_empty()) {
            judge.write(&file.with(&format!("{name}{kept}")));
        }
    }
    fine
}

/// Whether these are the words of such a program, whatever its files are.
pub(in super::super) fn substitutes(words: &[Arg]) -> bool {
    Perl::read(words).is_some_and(|perl| perl.loops && is_harmless(&perl.programs) && !perl.files.is_empty())
}

fn is_harmless(programs: &[&str]) -> bool {
    matches!(programs, [one] if only_substitutes(one)) || perl::only_prints(&programs.join("\n"))
}

/// The words of Perl, where it gets its program there.
struct Perl<'a> {
    programs: Vec<&'a str>,
    /// The end of the names under which files are kept that are changed in place; none where they are not changed.
    kept: Option<&'a str>,
    /// Whether the program runs for each line.
    loops: bool,
    files: &'a [Arg],
}

impl<'a> Perl<'a> {
    /// `None` where an option is not known.
    fn read(words: &'a [Arg]) -> Option<Perl<'a>> {
        let mut perl = Perl { programs: Vec::new(), kept: None, loops: false, files: words };
        while let Some((word, behind)) = perl.files.split_first() {
            let Some(option) = word.exact().filter(|text| text.len() > 1 && text.starts_with('-')) else { break };
            perl.files = behind;
            let letters = option.get(1..)?;
            // All that stands behind this letter belongs to it.
            let (letters, kept) =
                letters.split_once('i').map_or((letters, None), |(before, kept)| (before, Some(kept)));
            let plain = |kept: &str| kept.chars().all(|c| c.is_ascii_alphanumeric() || "._~".contains(c));
            if kept.is_some_and(|kept| !kept.is_empty() && !kept.starts_with(['.', '_', '~']) || !plain(kept)) {
                return None;
            }
            perl.kept = kept.or(perl.kept);
            perl.loops |= letters.contains(['n', 'p']);
            // Behind `e` and `F` no letter stands for an option any more.
            if letters_of(letters)? {
                if kept.is_some() {
                    return None;
                }
                let (program, behind) = perl.files.split_first()?;
                perl.programs.push(program.exact()?);
                perl.files = behind;
            }
            if kept.is_some() && letters.contains('F') {
                return None;
            }
        }
        (!perl.programs.is_empty()).then_some(perl)
    }
}

/// `perl -ne PROGRAM FILE…`, where the program only prints.
pub(super) fn prints(words: &[Arg], judge: &mut Judge<'_>) -> bool {
    let Some(Perl { programs, kept: None, files, .. }) = Perl::read(words) else { return false };
    // `CMD|` among the files is run, and `>FILE` written.
    fn plain(word: &Word) -> bool {
        let text = |text: &str| text.trim() == text && !text.contains(['|', '<', '>', '&']) && !text.starts_with('-');
        match word {
            Word::Exact(name) => text(name) && !name.is_empty(),
            Word::Glob { pattern, prefix } => {
                let ends = pattern.ends_with(|c: char| c.is_ascii_alphanumeric());
                text(pattern) && !prefix.is_empty() && ends
            }
            Word::OneOf(words) => words.iter().all(plain),
            Word::Opaque { .. } => false,
        }
    }
    let fine = files.iter().all(|file| plain(&file.word)) && perl::only_prints(&programs.join("\n"));
    if fine {
        files.iter().for_each(|file| judge.read(file));
    }
    fine
}

/// Letters of one option of Perl that change how input is read and printed; whether a program follows.
fn letters_of(letters: &str) -> Option<bool> {
    let mut rest = letters;
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..)?;
        match letter {
            'n' | 'p' | 'l' | 'a' | 'w' => {}
            '0' => rest = rest.trim_start_matches(|c: char| ('0'..='7').contains(&c)),
            // What stands at both its ends as a quote would be code.
            'F' => return (!rest.is_empty() && rest.chars().all(|c| ",:;=|\\ t\t#@-".contains(c))).then_some(false),
            'e' | 'E' => return rest.is_empty().then_some(true),
            _ => return None,
        }
    }
    Some(false)
}

/// One `s///` that evaluates nothing: no code in the pattern, no variables but groups, no flag `e`.
pub(super) fn only_substitutes(program: &str) -> bool {
    let Some(body) = program.trim().trim_end_matches(';').strip_prefix('s') else { return false };
    let Some(mark) = body.chars().next().filter(|mark| "/|,!".contains(*mark)) else { return false };
    let parts: Vec<&str> = body.split(mark).collect();
    let ["", pattern, into, flags] = parts.as_slice() else { return false };
    // `$x{…}` and `$x[…]` evaluate what stands in the brackets: only groups and the end of a line are let through.
    let harmless = |rest: &str| {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        match rest.chars().next() {
            None | Some(')' | '|') => true,
            Some('0'..='9') => !behind.starts_with(['[', '{', '-']),
            _ => false,
        }
    };
    let quiet = |text: &str| !text.contains(['@', '`', '\n']) && text.split('$').skip(1).all(harmless);
    !pattern.contains("(?{")
        && !pattern.contains("(??")
        && !pattern.contains("(?p{")
        && !pattern.contains("(*{")
        && !pattern.ends_with('\\')
        && !into.ends_with('\\')
        && quiet(pattern)
        && quiet(into)
        && flags.chars().all(|flag| "gims".contains(flag))
}
