//! Names that a program opens by way of a shell, or with the `open` of Perl: a name with their signs in it is a command.

use super::super::judge::{Arg, Judge, Word};
use super::filters;
use super::spec::{self, Parsed, lists};

/// diffstat lets a shell unpack what is packed by its name.
pub(super) fn by_a_shell(parsed: &Parsed, judge: &mut Judge<'_>) {
    const PACKED: &str = "gz bz2 xz lzma z zst zstd lz lz4 lzo";
    let end = |text: &str| text.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/+,:@%=".contains(&byte));
    for file in &parsed.operands {
        let packed = filters::text(file).and_then(end).is_none_or(|end| lists(PACKED, &end) || !plain(&end));
        match &file.word {
            Word::Exact(text) if plain(text) || !text.contains('.') || !packed => {}
            Word::Glob { .. } if !packed => {}
            _ => refuse(file, "a shell unpacks a file of this name", judge),
        }
    }
}

/// ts: what stands behind the format is opened.
pub(super) fn by_perl(parsed: &Parsed, judge: &mut Judge<'_>) {
    let files = parsed.operands.get(usize::from(!parsed.has("r"))..).unwrap_or_default();
    if parsed.operands.first().is_some_and(spec::may_be_more) {
        judge.opaque("the format may be several words, and all but the first are opened");
    }
    for file in files {
        match &file.word {
            Word::Exact(text) if !text.contains(['|', '<', '>', '&']) => judge.read(file),
            _ => refuse(file, "Perl opens a name, or runs it", judge),
        }
    }
}

/// exiftool runs a name that ends in a bar.
pub(super) fn piped(files: &[Arg], judge: &mut Judge<'_>) {
    for file in files {
        match &file.word {
            Word::Exact(text) if !text.contains('|') => {}
            Word::Glob { pattern, .. } if pattern.ends_with(|c: char| c.is_ascii_alphanumeric()) => {}
            _ => refuse(file, "a name that ends in a bar is run", judge),
        }
    }
}

/// Who can name files here can change what builds run, so such a name counts as code of the workspace.
fn refuse(file: &Arg, why: &str, judge: &mut Judge<'_>) {
    match spec::is_file_here(file)
        || matches!(&file.word, Word::Glob { pattern, .. } if !pattern.starts_with(['/', '~']))
    {
        true => judge.code(why),
        false => judge.opaque(why),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_harmless, none_harmless};

    #[test]
    fn plain_names_are_opened() {
        all_harmless(&[
            "diffstat a.patch",
            "diffstat a.patch.gz",
            "diffstat *.patch",
            "diffstat 'my changes.diff'",
            "ts %s",
            "ts '%Y|%m'",
            "ts -s a.log",
            "exiftool 'my photo.jpg'",
            "exiftool photos/*.jpg",
        ]);
    }

    #[test]
    fn names_with_the_signs_of_a_shell_are_not() {
        none_harmless(&[
            "diffstat '$(id).gz'",
            "diffstat 'a;id.BZ2'",
            "diffstat 'a`id`.patch.xz'",
            "diffstat *.gz",
            "diffstat *",
            "diffstat $x",
            "ts '%s' 'id|'",
            "ts %s '>out'",
            "ts -r 'id|'",
            "ts %s *",
            "ts $x",
            "exiftool -json 'id|'",
            "exiftool a.jpg $x",
        ]);
    }
}
