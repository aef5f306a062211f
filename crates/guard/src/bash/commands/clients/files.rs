//! Files that clients of the web send and keep: behind an `@`, or under a name that the other side chooses.

use super::super::super::judge::{Arg, Judge, Word};
use super::super::spec::{Does, Parsed, lists};
use super::EVER;

/// curl's options of which a value that begins with `@` names a file.
const WHOLE: &str = "d data data-ascii data-binary json H header proxy-header w write-out";
/// Those where a name may stand before it.
const NAMED: &str = "data-urlencode url-query";

/// The file in an item of a request: `NAME@FILE;type=…`, `NAME=@FILE`, `NAME:=@FILE`, `NAME==@FILE`, `NAME:@FILE`.
pub(super) fn embedded(item: &str) -> Option<&str> {
    let (_, rest) = item.split_at(item.find([':', '=', '@', ';'])?);
    let file = rest.trim_start_matches([':', '=']).strip_prefix('@')?;
    Some(file.split(';').next().unwrap_or(file))
}

/// Notes the files that a client sends because of a value, an address or a login.
pub(super) fn sent(client: &str, read: &Parsed, judge: &mut Judge<'_>) {
    if client != "curl" {
        // Where a session of httpie is kept: by a name in its own directory, or at a path.
        let sessions = read.done().filter(|(option, _, _)| lists("session session-read-only", option));
        for path in sessions.filter_map(|(_, value, _)| value) {
            if path.exact().is_none_or(|text| text.contains('/')) {
                judge.write(path);
            }
        }
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

/// Where what is fetched is kept when the other side names it: as the address says, or as it likes.
pub(super) fn kept(client: &str, (with, without): (&str, &str), read: &Parsed, judge: &mut Judge<'_>) {
    let keeps = !with.is_empty() && (with == EVER || read.has(with)) && (without.is_empty() || !read.has(without));
    if !keeps {
        return;
    }
    // Behind `--next` the same options count anew.
    let dir = read.done().filter(|(_, _, does)| *does == Does::WriteTree).find_map(|(_, value, _)| value);
    if dir.is_none() || read.has("next :") {
        judge.write_cwd();
    }
    let below = dir.and_then(Arg::exact).map(|dir| format!("{}/", dir.trim_end_matches('/'))).unwrap_or_default();
    let page = read.value("default-page").and_then(Arg::exact);
    for address in &read.operands {
        if client == "curl" && address.exact().is_some_and(|text| text.contains(['{', '['])) {
            judge.write(&address.as_word(unknown()));
        }
        for name in address.exact().map(named).unwrap_or_default().into_iter().chain(page.map(str::to_owned)) {
            judge.write(&address.with(&format!("{below}{name}")));
        }
    }
}

/// The names that a file can get by an address: its last part alone, or all of its path.
fn named(address: &str) -> Vec<String> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let Some((_, path)) = path.split_once('/') else { return Vec::new() };
    let path = decoded(path);
    let last = path.rsplit('/').next().unwrap_or_default();
    let plain = |name: &&str| !name.is_empty() && !name.split('/').any(|part| part == "..");
    let whole = Some(path.trim_start_matches('/')).filter(|path| *path != last);
    whole.into_iter().chain([last]).filter(plain).map(str::to_owned).collect()
}

/// With `%2e` read as a dot.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let hex = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
            if ["x", "@x", "=@x"].iter().any(|more| !find(&format!("{prefix}{more}")).is_empty()) {
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
        // Of newer versions: what follows is written to a file.
        "w" | "write-out" if text.contains("%output") => vec![unknown()],
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
    // Programs read these words in any case.
    let lower = value.to_ascii_lowercase();
    if let Some((_, headers)) = lower.split_once("headers=") {
        return headers.split("headers=").filter_map(|file| file.strip_prefix(['@', '<'])).map(|_| unknown()).collect();
    }
    let Some(files) = value.strip_prefix(['@', '<']) else { return Vec::new() };
    let plain = |file: &str| file.split(';').next().unwrap_or_default().trim().trim_matches('"').to_owned();
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

/// A path, unless something in it stands for something else, which may be any path.
fn until(path: &str, special: &[char]) -> Word {
    if path.contains(special) { unknown() } else { Word::Exact(path.to_owned()) }
}

/// Some file.
fn unknown() -> Word {
    Word::Opaque { prefix: String::new(), splits: false, why: "the name of a file stands in a pattern".into() }
}
