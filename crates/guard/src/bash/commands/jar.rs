//! Archives of Java: `jar cf out.jar -C build .`. Their letters stand in one word, and their values follow in that order.

use super::super::judge::{Arg, Judge};
use super::spec::Parsed;

/// Long options, and the letter that says the same.
const LONG: &[(&str, char)] = &[
    ("--create", 'c'),
    ("--update", 'u'),
    ("--list", 't'),
    ("--extract", 'x'),
    ("--file", 'f'),
    ("--main-class", 'e'),
    ("--manifest", 'm'),
    ("--verbose", 'v'),
    ("--no-compress", '0'),
    ("--no-manifest", 'M'),
    ("--dir", 'C'),
];

/// Letters with their values, and the files behind them.
type Spelled = (Vec<(char, Option<Arg>)>, Vec<Arg>);

/// The same words with every letter for itself, and its value behind it; `None` where one is not known.
fn spelled(words: &[Arg]) -> Option<Spelled> {
    let (mut letters, mut files) = (Vec::new(), Vec::new());
    let mut rest = words.iter();
    let mut first = true;
    while let Some(word) = rest.next() {
        let text = word.exact()?;
        let bundle = match text.strip_prefix('-') {
            Some(_) if text.starts_with("--") => {
                let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
                let (_, letter) = LONG.iter().find(|(known, _)| *known == name)?;
                match value {
                    Some(value) => {
                        letters.push((*letter, Some(word.with(value))));
                        continue;
                    }
                    None => letter.to_string(),
                }
            }
            Some(bundle) => bundle.to_owned(),
            None if first => text.to_owned(),
            None => {
                files.push(word.clone());
                continue;
            }
        };
        first = false;
        for letter in bundle.chars() {
            letters.push(match letter {
                'f' | 'e' | 'm' | 'C' => (letter, Some(rest.next()?.clone())),
                'c' | 'u' | 't' | 'x' | 'v' | '0' | 'M' => (letter, None),
                _ => return None,
            });
            if letter == 'C' {
                // Only the next file is seen from there.
                let file = rest.next()?;
                let (dir, name) = (letters.last()?.1.as_ref()?.exact()?.to_owned(), file.exact()?);
                files.push(if name.starts_with('/') { file.clone() } else { file.with(&format!("{dir}/{name}")) });
            }
        }
    }
    Some((letters, files))
}

/// Lists, makes or unpacks an archive.
pub(super) fn jar(parsed: &Parsed, judge: &mut Judge<'_>) {
    let opaque = "what `jar` does cannot be said";
    let Some((letters, files)) = spelled(&parsed.operands) else { return judge.opaque(opaque) };
    // A file of words may hold options.
    if files.iter().any(|file| file.exact().is_none_or(|text| text.starts_with('@'))) {
        return judge.opaque(opaque);
    }
    let value =
        |wanted: char| letters.iter().filter(move |(letter, _)| *letter == wanted).filter_map(|(_, v)| v.as_ref());
    let does: String = letters.iter().map(|(letter, _)| *letter).filter(|letter| "cutx".contains(*letter)).collect();
    value('m').for_each(|file| judge.read(file));
    match does.as_str() {
        "t" => value('f').for_each(|file| judge.read(file)),
        "c" | "u" => {
            value('f').for_each(|file| judge.write(file));
            files.iter().for_each(|file| judge.read_tree(file));
        }
        "x" => {
            value('f').for_each(|file| judge.read(file));
            judge.fill_cwd();
            files.iter().for_each(|file| judge.write_tree(file));
        }
        _ => judge.opaque(opaque),
    }
}
