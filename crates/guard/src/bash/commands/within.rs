//! What stands inside a word whose option or program is otherwise harmless: a file behind `file:` or `merge`, a host
//! behind a port, an archive that is unpacked to be looked at.

use super::super::judge::{Arg, Judge, Word};
use super::spec::Parsed;

/// `--style=file:NAME` reads that file, and says what is wrong with it.
pub(super) fn style(parsed: &Parsed, judge: &mut Judge<'_>) {
    for value in parsed.values("style fallback-style") {
        match value.exact() {
            None => judge.opaque("the style is not known, and may name a file"),
            Some(text) => text.strip_prefix("file:").into_iter().for_each(|name| judge.read(&value.with(name))),
        }
    }
}

/// Rules of rsync that are those of a file: `merge NAME`, `. NAME`, `dir-merge,- NAME`, `:_NAME`.
pub(super) fn rules(parsed: &Parsed, judge: &mut Judge<'_>) {
    const OTHERS: &[&str] = &["exclude", "include", "hide", "show", "protect", "risk", "clear"];
    for value in parsed.values("f filter") {
        let Some(rule) = value.exact() else {
            judge.opaque("the rule is not known, and may name a file");
            continue;
        };
        let other = rule.starts_with(['+', '-', '!', 'H', 'S', 'P', 'R']) || OTHERS.iter().any(|o| rule.starts_with(o));
        match rule.split_once([' ', '_']) {
            _ if other => {}
            Some((kind, name)) if kind.starts_with(['.', ':', 'm', 'd']) => {
                judge.read(&value.with(name));
                // Below each directory of the transfer: the root of it is meant by a slash.
                judge.read(&value.with(name.trim_start_matches('/')));
            }
            _ => judge.opaque("the rule may be one of a file"),
        }
    }
}

/// The configuration in a word may be built on that of a file.
pub(super) fn yaml_rules(parsed: &Parsed, judge: &mut Judge<'_>) {
    let read = |text: &str| text.contains("from-file") || text.contains('\\');
    for value in parsed.values("d config-data") {
        let plain = |text: &str| {
            let mut behind = text.split("extends").skip(1);
            !read(text)
                && behind.all(|rest| {
                    let named = rest.trim_start_matches([' ', ':', '"', '\'']);
                    let name: String = named.chars().take_while(|c| !" ,}\"'\n".contains(*c)).collect();
                    matches!(name.as_str(), "default" | "relaxed")
                })
        };
        if !value.exact().is_some_and(plain) {
            judge.opaque("the rules may be those of a file");
        }
    }
}

/// An archive is unpacked beside the temporary files, by the programs for it, and so is a commit.
pub(super) fn archives(parsed: &Parsed, judge: &mut Judge<'_>) {
    const PACKED: &str = "tar tgz tbz tbz2 txz tlz gz bz2 xz z lz lzma zst 7z zip jar war ear whl xpi rpm deb dmg egg apk \
        ipa nupkg vsix crate gem";
    let packed = |text: &str| {
        let end = text.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, end)| end);
        PACKED.split_whitespace().any(|known| known.eq_ignore_ascii_case(end.trim_end_matches(['*', '?'])))
    };
    // What is no file may be a commit, of which git makes an archive.
    let commit = |text: &str| {
        let name = text.split(['~', '^']).next().unwrap_or_default();
        let hash = name.len() >= 5 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        hash || matches!(name, "HEAD" | "master" | "origin")
    };
    let exact = |text: &str| packed(text) || commit(text);
    let may_be = |word: &Word| match word {
        Word::Exact(text) => exact(text),
        Word::Glob { pattern: text, .. } => packed(text),
        Word::OneOf(words) => words.iter().any(|word| matches!(word, Word::Exact(text) if exact(text))),
        Word::Opaque { .. } => false,
    };
    if parsed.operands.iter().any(|word| may_be(&word.word)) {
        judge.opaque("an archive is unpacked to be counted");
    }
}

/// `PORT,HOST,PORT/tcp`, and the same behind `-n`: a host by its name is looked up.
pub(super) fn ends(parsed: &Parsed, judge: &mut Judge<'_>) {
    let address = |host: &str| host.bytes().all(|byte| byte.is_ascii_digit() || b".:[]".contains(&byte));
    let fine = |word: &Arg| match word.exact() {
        Some(text) => text.split('/').next().and_then(|end| end.split(',').nth(1)).is_none_or(address),
        None => matches!(&word.word, Word::Glob { pattern, .. } if !pattern.contains(',')),
    };
    if !parsed.operands.iter().all(fine) {
        judge.net(None);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_harmless, none_harmless};

    #[test]
    fn a_file_inside_an_option_is_read() {
        all_harmless(&[
            "clang-format --style=file a.c",
            "clang-format -style=llvm a.c",
            "clang-format --style=file:tools/format a.c",
            "rsync --filter='- *.o' a",
            "rsync -f '+ src/' a",
            "rsync --filter='merge .rsync-filter' a",
            "yamllint -d relaxed a.yml",
            "yamllint -d '{extends: default, rules: {line-length: disable}}' a.yml",
        ]);
        none_harmless(&[
            "clang-format --style=file:../x a.c",
            "clang-format -style file:/home/dev/.netrc a.c",
            "rsync -f 'merge ../x' a",
            "rsync --filter='. /home/dev/.ssh/config' a",
            "rsync -f 'dir-merge,- /../x' a",
            "rsync -f :_../x a",
            "rsync -f :C a",
            "rsync -f $x a",
            "yamllint -d 'extends: .env' a.yml",
            "yamllint -d '{ignore-from-file: .env}' a.yml",
        ]);
    }

    #[test]
    fn what_is_more_than_a_file_is_asked_about() {
        all_harmless(&["cloc src", "cloc a.tar.d", "cloc src/*.py", "fuser 8080/tcp", "fuser -n tcp 80", "fuser a.db"]);
        none_harmless(&[
            "cloc a.tar.gz",
            "cloc *.zip",
            "cloc HEAD~2",
            "cloc 0a1b2c3",
            "cloc --by-file vendor/a.WHL",
            "fuser 80,example.com,443/tcp",
            "fuser -n udp 53,ns.example.com",
            "fuser -v $x",
        ]);
    }
}
