//! Files that clients of the web send and keep: behind an `@`, or under a name that the other side chooses.

use super::super::super::judge::{Arg, Judge, Word};
use super::super::spec::{Does, Parsed, lists};
use super::EVER;

/// curl's options of which a value that begins with `@` names a file.
const WHOLE: &str = "d data data-ascii data-binary json H header proxy-header w write-out";
/// Those where a name may stand before it.
const NAMED: &str = "data-urlencode url-query";

/// Notes the files that a client sends because of a value, an address or a login.
pub(super) fn sent(client: &str, read: &Parsed, judge: &mut Judge<'_>) {
    if client != "curl" {
        return;
    }
    for (option, value, _) in read.done() {
        match value {
            Some(value) => each(value, &|text| in_value(option, text), judge),
            // Not so with a file of its own.
            None if lists("n netrc netrc-optional", option) && !read.has("netrc-file") => {
                let logins = judge.site.home.join(".netrc");
                judge.read(&judge.word(logins.to_str().unwrap_or_default()));
            }
            None => {}
        }
    }
    for address in &read.operands {
        each(address, &in_address, judge);
    }
}

/// Where what is fetched is kept when the other side names it.
pub(super) fn kept((with, without): (&str, &str), read: &Parsed, judge: &mut Judge<'_>) {
    let keeps = !with.is_empty() && (with == EVER || read.has(with)) && (without.is_empty() || !read.has(without));
    let elsewhere = read.done().any(|(_, _, does)| does == Does::WriteTree);
    if keeps && !elsewhere {
        judge.write_cwd();
    }
}

/// What an option writes: `-` is no file.
pub(super) fn write(client: &str, file: &Arg, judge: &mut Judge<'_>) {
    match file.exact() {
        Some("-") => {}
        // `#1` stands for a part of the address.
        Some(text) if client == "curl" && text.contains('#') => judge.write(&file.as_word(until(text, &['#']))),
        _ => judge.write(file),
    }
}

/// Reads what `find` says of each word that `arg` may be; where its start is not known, it may name any file.
fn each(arg: &Arg, find: &dyn Fn(&str) -> Vec<Word>, judge: &mut Judge<'_>) {
    match &arg.word {
        Word::Exact(text) => find(text).into_iter().for_each(|file| judge.read(&arg.as_word(file))),
        Word::OneOf(words) => words.iter().for_each(|word| each(&arg.as_word(word.clone()), find, judge)),
        Word::Glob { prefix, .. } | Word::Opaque { prefix, .. } => {
            // What comes behind the part that is known may make it the name of a file, or begin one.
            if ["x", "@x"].iter().any(|more| !find(&format!("{prefix}{more}")).is_empty()) {
                judge.read(arg);
            }
        }
    }
}

/// The files that the value of one of curl's options names.
fn in_value(option: &str, text: &str) -> Vec<Word> {
    let exactly = |file: &str| vec![Word::Exact(file.to_owned())];
    let whole = text.strip_prefix('@').map(exactly).unwrap_or_default();
    match option {
        _ if lists(WHOLE, option) => whole,
        _ if lists(NAMED, option) => {
            let named = text.split_once('@').filter(|(name, _)| !name.contains('='));
            named.map(|(_, file)| exactly(file)).unwrap_or_default()
        }
        "F" | "form" => in_form(text),
        "b" | "cookie" if !text.contains('=') && !text.is_empty() => exactly(text),
        "T" | "upload-file" if !matches!(text, "-" | "." | "") => vec![until(text, &['{', '['])],
        "url" => [whole, in_address(text)].concat(),
        _ => Vec::new(),
    }
}

/// `NAME=@FILE,FILE;type=…`, `NAME=<FILE`.
fn in_form(text: &str) -> Vec<Word> {
    let Some((_, value)) = text.split_once('=') else { return Vec::new() };
    let Some(files) = value.strip_prefix(['@', '<']) else { return Vec::new() };
    let plain = |file: &str| file.split(';').next().unwrap_or_default().trim_matches('"').to_owned();
    files.split(',').map(plain).filter(|file| !file.is_empty() && file != "-").map(Word::Exact).collect()
}

/// `file:///PATH`, however many slashes there are.
fn in_address(text: &str) -> Vec<Word> {
    match text.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
            let path = rest.strip_prefix("//").and_then(|rest| Some(rest.split_at(rest.find('/')?).1));
            vec![until(path.unwrap_or(rest), &['{', '[', '%'])]
        }
        _ => Vec::new(),
    }
}

/// A path up to what stands for something else in it, and whatever follows.
fn until(path: &str, special: &[char]) -> Word {
    match path.split_once(special) {
        Some((prefix, _)) => Word::Glob { pattern: format!("{prefix}*"), prefix: prefix.to_owned() },
        None => Word::Exact(path.to_owned()),
    }
}
