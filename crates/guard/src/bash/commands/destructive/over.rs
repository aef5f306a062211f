//! Sources that something else is written over: many at once, or one with what is no source.

use super::super::super::fact::Category;
use super::super::spec::lists;
use super::Hit;
use super::words::{Line, Piece};

/// Ends of the names of files that hold code.
const CODE: &str = "c h cc cpp hpp rs go py rb js jsx ts tsx mjs cjs java kt swift scala php cs fs ml hs ex exs erl lua sh bash zsh \
    sql html css scss vue svelte proto tf gradle mk cmake";

/// Ends of others, which branches have hardly.
const TEXTS: &str = "md rst txt json yaml yml toml lock xml ini cfg conf csv tsv";

/// Whether a word has the end of a source, and is no branch of a usual kind: `git checkout src/a.c` throws its changes
/// away.
pub(super) fn is_source(word: &str) -> bool {
    const KINDS: &str =
        "origin upstream feature feat fix bugfix hotfix release docs chore refactor test dependabot renovate";
    let is_branch = word.split_once('/').is_some_and(|(kind, _)| lists(KINDS, kind));
    !is_branch && end(word).is_some_and(|end| lists(CODE, end) || lists(TEXTS, end))
}

/// Whether a file holds code, by its name.
pub(in super::super::super) fn is_code(word: &str) -> bool {
    end(word).is_some_and(|end| lists(CODE, end))
}

/// The end of a name that has something before it; a number there is rather that of a version.
fn end(word: &str) -> Option<&str> {
    let (stem, end) = word.rsplit('/').next().unwrap_or(word).rsplit_once('.')?;
    (!stem.is_empty() && !stem.ends_with(|c: char| c.is_ascii_digit())).then_some(end)
}

/// Whether a pattern finds sources: `src/*.rs`. What a loop puts behind the names that one found is a name of its own
/// (`*.rs.bak`), and so is a name below what it found (`*/out.txt`).
fn finds_sources(piece: &Piece) -> bool {
    let name = piece.text.rsplit('/').next().unwrap_or_default();
    let own = name == "*" || name.matches('.').count() == 1 && is_source(&piece.text);
    piece.glob && name.starts_with('*') && own
}

/// The same text in the place of many sources: `tee src/*.rs`, `cp blank.rs "$f"` in a loop, `find … -exec cp blank.rs {}`.
pub(super) fn over(line: &Line, _: Option<&str>) -> Option<Hit> {
    let all = match line.program.as_str() {
        "tee" => !line.any("-a --append") && line.operands.iter().any(|piece| finds_sources(piece) || is_all(piece)),
        "find" | "gfind" => is_copied_over(line),
        _ => match line.operands.as_slice() {
            // What was made of the very file is put into its place under another name: `cp tmp "$f"`.
            [from, to] => from.known && finds_sources(to) && end(&from.text) == end(&to.text) && !kept(line),
            _ => false,
        },
    };
    all.then(|| (Category::Files, format!("`{}` writes the same over many files", line.program)))
}

/// All names that a list or a command gives.
fn is_all(piece: &Piece) -> bool {
    piece.glob && &*piece.text == "**"
}

/// Whether what is there is not written over.
fn kept(line: &Line) -> bool {
    line.any("-n --no-clobber -b --backup -i --interactive -u --update")
}

/// Whether each file that is found gets the content of one: into a directory, it would be put beside others.
fn is_copied_over(line: &Line) -> bool {
    let words: Vec<&str> = line.raw.iter().map(|piece| piece.text.as_ref()).collect();
    let directories = words.windows(2).any(|pair| pair == ["-type", "d"]);
    let runs = words.split(|word| matches!(*word, "-exec" | "-execdir" | "-ok" | "-okdir")).skip(1);
    let over = |run: &[&str]| {
        let run = run.split(|word| matches!(*word, ";" | "+")).next().unwrap_or_default();
        matches!(run, ["cp" | "gcp" | "install", .., from, "{}"] if is_source(from))
            && !run.iter().any(|word| matches!(*word, "-n" | "--no-clobber" | "-b" | "--backup"))
    };
    !directories && runs.into_iter().any(over)
}
