//! Places that words of a command name without being a plain path: behind `=`, attached to a short option, behind
//! `@`, as one of a list, as the place of an output, or as the directory above a guarded one.
//!
//! Programs whose options have no table are read by this: whatever a word could name is looked at.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::super::fact::{Fact, Target};
use super::super::globs;
use super::super::judge::{Arg, Judge, Word};

/// Options that a value may follow without a blank, longer than one letter.
const ATTACHING: &[&str] =
    &["-MF", "-MT", "-MQ", "-MJ", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot"];

/// Options behind which the place of an output stands.
const OUTPUTS: &str = "-o -d -MF -MJ --out --out-dir --outdir --outDir --output --output-dir --output-file \
    --output-directory --outfile --outFile --target-dir --destdir --dest --destination --prefix --install-prefix \
    --declarationDir --tsBuildInfoFile --junitxml --report-dir --build-dir --build-path --cache-dir --emit-path -outdir \
    -output";

/// Variables of a command line of make that say where things are installed.
const INSTALLS: &str = "PREFIX prefix DESTDIR destdir exec_prefix bindir BINDIR sbindir libdir LIBDIR includedir datadir \
    datarootdir sysconfdir mandir INSTALL_ROOT INSTALL_PATH INSTALL_PREFIX INSTALL_DIR CARGO_TARGET_DIR GOBIN";

/// Every text in `word` that may be a path.
pub(super) fn paths(word: &str) -> impl Iterator<Item = &str> {
    let dashed = word.starts_with('-');
    let listed = (dashed && !word.contains("://")).then(|| word.split([',', ':', '=']));
    let parts = listed.into_iter().flatten().map(|part| part.strip_prefix('@').unwrap_or(part));
    let mut before = None;
    std::iter::once(word)
        .chain(word.strip_prefix('@').filter(|rest| !rest.is_empty()))
        .chain(word.split_once('=').map(|(_, value)| value))
        .chain(word.rsplit_once('=').map(|(_, value)| value))
        .chain((dashed && !word.starts_with("--")).then(|| attached(word)).flatten())
        .chain(parts.filter(|part| !part.is_empty()))
        .filter(move |path| before.replace(*path) != Some(*path))
}

/// What stands behind a short option without a blank.
fn attached(word: &str) -> Option<&str> {
    ATTACHING.iter().find_map(|name| word.strip_prefix(name)).or_else(|| word.get(2..)).filter(|rest| !rest.is_empty())
}

/// Whether a path leads away from the working directory.
pub(super) fn leads_away(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..")
}

/// A directory below this one in which no name is guarded, or a secret's, that is not so here: all of those lie in a
/// directory whose name begins with a dot.
pub(super) fn is_plain_below(place: &str) -> bool {
    !place.is_empty() && !leads_away(place) && !place.split('/').any(|part| part.starts_with('.') && part != ".")
}

/// Whether a file is there, how large it is and when it changed: for a secret by its name that tells what the list
/// of its directory tells, so that is what counts as read.
pub(super) fn look(file: &Arg, judge: &mut Judge<'_>) {
    if let Word::Glob { pattern, .. } = &file.word {
        let above = pattern.rsplit_once('/').map_or("", |(above, _)| above);
        // The directories that are listed, and the one above all of them.
        let listed = judge.pointed_at(above);
        let shows = |dir: &String| crate::classify(&judge.resolve(dir)).secret.is_none();
        let known = above.split(['*', '?', '[']).next().unwrap_or_default();
        let known = if known == above { above } else { known.rsplit_once('/').map_or("", |(known, _)| known) };
        let (dir, here) = (judge.resolve(known), &judge.site.roots);
        let plain = !globs::climbs(pattern) && !above.contains('\\') && listed.iter().all(shows);
        if plain && here.iter().any(|root| dir.starts_with(root)) {
            return judge.read_tree(&file.with(if known.is_empty() { "." } else { known }));
        }
    }
    let above = file.exact().and_then(|text| {
        let path = judge.resolve(text);
        let above = path.parent()?;
        let here = judge.site.roots.iter().any(|root| above.starts_with(root));
        let only_here = here && crate::classify(&path).secret.is_some() && crate::classify(above).secret.is_none();
        only_here.then(|| above.display().to_string())
    });
    match above {
        Some(above) => judge.read(&file.with(&above)),
        None => judge.read(file),
    }
}

/// Patterns are looked up by the shell, whatever becomes of the names: in another place than this, that lists the directory.
pub(in super::super) fn listed_elsewhere(words: &[Arg], judge: &mut Judge<'_>) {
    words.iter().for_each(|word| listed(word, judge));
}

fn listed(word: &Arg, judge: &mut Judge<'_>) {
    let Word::Glob { pattern, prefix } = &word.word else { return };
    let Some((above, name)) = prefix.rsplit_once('/').filter(|_| leads_away(prefix)) else { return };
    let above = word.with(if above.is_empty() { "/" } else { above });
    let deeper = pattern.get(prefix.len() - name.len()..).is_some_and(|rest| rest.trim_end_matches('/').contains('/'));
    if deeper { judge.read_tree(&above) } else { judge.read(&above) }
}

/// Outputs that leave the working directory: behind an option that says so, or in a variable of make.
pub(super) fn outputs(words: &[Arg], judge: &mut Judge<'_>) {
    let is = |list: &str, name: &str| list.split_whitespace().any(|known| known == name);
    let mut value_of_last = false;
    for word in words {
        let text = word.exact().unwrap_or_default();
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let into = match value {
            Some(value) if is(OUTPUTS, name) || is(INSTALLS, name) => Some(value),
            None if value_of_last => Some(text),
            _ if text.starts_with('-') && !text.starts_with("--") && is(OUTPUTS, text.get(..2).unwrap_or_default()) => {
                text.get(2..)
            }
            _ => None,
        };
        if let Some(into) = into.filter(|into| leads_away(into)) {
            judge.write_tree(&word.with(into));
        }
        value_of_last = value.is_none() && is(OUTPUTS, name);
    }
}

/// Addresses among words: on another machine than this one, they are fetched. With `behind_options` also those that
/// are the value of an option; without, such a value only names a place (`--base-url`).
pub(super) fn addresses(words: &[Arg], behind_options: bool, judge: &mut Judge<'_>) {
    const HERE: &[&str] = &["localhost", "127.0.0.1", "0.0.0.0", "[", ""];
    let mut option = false;
    for text in words.iter().map(|word| word.exact().unwrap_or_default()) {
        let value = text.split_once('=').filter(|_| behind_options && text.starts_with('-'));
        let place = value.map_or(text, |(_, value)| value);
        if let Some((scheme, rest)) = place.split_once("://")
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+' || c == ':')
            && scheme != "file"
            && !scheme.is_empty()
            && (behind_options || !option)
        {
            let host = rest.split(['/', ':', '?', '#']).next().unwrap_or_default();
            let host = host.rsplit('@').next().unwrap_or(host);
            if !HERE.contains(&host) {
                judge.net(Some(host));
            }
        }
        option = text.starts_with('-') && !text.contains('=');
    }
}

/// A directory that comes to stand at `place`, or goes from there, takes the guarded files below it along: the
/// first guarded place that would stand in it counts as written.
pub(in super::super) fn takes_along(place: &Arg, judge: &mut Judge<'_>) {
    let Some(text) = place.exact() else { return };
    let path = judge.resolve(text);
    judge.facts.extend(taken_along(&path));
}

/// The same for a place that is resolved.
pub(in super::super) fn taken_along(path: &Path) -> Option<Fact> {
    guarded_below(path)
        .map(|below| Fact::Write(Target { path: path.join(below), tree: false, itself: false, redirected: false }))
}

/// The rest of the way from `path` to a guarded place of two parts or more: `workflows` for `.github`.
fn guarded_below(path: &Path) -> Option<&'static str> {
    /// Last name on the way, the whole way so far, and its rest.
    static WAYS: LazyLock<Vec<(&str, PathBuf, String)>> = LazyLock::new(|| {
        let ways = crate::path::guarded_spots().flat_map(|spot| {
            let run: Vec<&str> = spot.below.iter().chain(spot.name.iter()).copied().collect();
            let cut = |at: usize| (run[at - 1], run[..at].iter().collect(), run[at..].join("/"));
            (1..run.len()).map(cut).collect::<Vec<_>>()
        });
        ways.collect()
    });
    let name = path.file_name()?;
    let way = WAYS.iter().find(|(last, way, _)| name == *last && path.ends_with(way));
    way.map(|(_, _, rest)| rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_more_than_itself() {
        for (word, path) in [
            ("-C/etc", "/etc"),
            ("@/home/x", "/home/x"),
            ("-MF.git/hooks/x", ".git/hooks/x"),
            ("-Wp,-MD,.git/hooks/x", ".git/hooks/x"),
            ("--python_out=pyi_out:.git/hooks", ".git/hooks"),
            ("-J-javaagent:/etc/x.jar", "/etc/x.jar"),
            ("--config=/etc/x", "/etc/x"),
        ] {
            let all: Vec<&str> = paths(word).collect();
            assert!(all.contains(&path), "{word}: {all:?}");
        }
        assert_eq!(paths("src/a.c").collect::<Vec<_>>(), ["src/a.c"]);
        assert_eq!(paths("a=b").collect::<Vec<_>>(), ["a=b", "b"]);
        assert!(!paths("--base-url=http://localhost:3000/x").any(leads_away));
    }

    #[test]
    fn the_way_to_a_guarded_place() {
        assert_eq!(guarded_below(Path::new("/w/.github")), Some("workflows"));
        assert_eq!(guarded_below(Path::new("/w/.cargo")), Some("config"));
        assert_eq!(guarded_below(Path::new("/w/src")), None);
        assert_eq!(guarded_below(Path::new("/w/.github/ISSUE_TEMPLATE")), None);
    }
}
