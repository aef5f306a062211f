//! cmake: it configures and builds as other tools do, and behind `-E` it has commands of its own.

use super::super::judge::{Arg, Judge};
use super::effects::{named, only, outside, run};
use super::spec::Parsed;
use super::{goals, inline, installing, places};

/// `cmake -E` is a shell of its own; `-P` runs a script; all else configures and builds.
pub(super) fn cmake(parsed: &Parsed, judge: &mut Judge<'_>) {
    if only(
        parsed,
        "--version --help -version --help-full --help-command-list --help-module-list \
        --help-variable-list",
    ) {
        return;
    }
    if helps(&parsed.operands) {
        return;
    }
    let at = parsed.operands.iter().position(|arg| arg.exact() == Some("-E"));
    if let Some(at) = at {
        let rest = parsed.operands.get(at + 1..).unwrap_or_default();
        match rest.first().and_then(Arg::exact) {
            Some("echo" | "capabilities") => outside(rest, judge),
            Some("cat" | "compare_files") => rest.iter().skip(1).for_each(|file| judge.read(file)),
            Some(sum) if sum.ends_with("sum") => rest.iter().skip(1).for_each(|file| judge.read(file)),
            Some("env" | "time") => judge.command(rest),
            // What they do is what the programs of these names do.
            Some("rm" | "tar") => judge.command(rest),
            Some(removes @ ("remove" | "remove_directory")) => {
                let mut command = vec![rest[0].with("rm")];
                command.extend((removes == "remove_directory").then(|| rest[0].with("-r")));
                command.extend(rest.iter().skip(1).cloned());
                judge.command(&command);
            }
            Some(
                "make_directory" | "touch" | "copy" | "copy_directory" | "copy_if_different" | "rename"
                | "create_symlink",
            ) => {
                named(rest, judge);
                rest.iter().for_each(|place| places::takes_along(place, judge));
                judge.write_cwd();
            }
            _ => judge.opaque("`cmake -E` runs commands of its own"),
        }
        return;
    }
    if shows(&parsed.operands, judge) {
        return;
    }
    inline::runs_words(parsed, judge);
    inline::runs_behind(parsed, judge);
    installing::writes(parsed, judge);
    if goals::reaches_by_name(parsed) {
        judge.net(None);
    }
    run(parsed, judge);
}

/// `cmake --help-variable NAME`: a page of its own manual. With another word behind it that is written.
fn helps(words: &[Arg]) -> bool {
    const PAGES: &str = "--help-variable --help-command --help-module --help-policy --help-property --help-manual";
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_<>-() ".contains(&byte));
    match words {
        [page, name] => {
            page.exact().is_some_and(|page| super::spec::lists(PAGES, page))
                && name.exact().is_some_and(|name| !name.starts_with('-') && plain(name))
        }
        _ => false,
    }
}

/// `cmake -N -LA build`: what the cache holds, and nothing is configured; `cmake --list-presets`.
fn shows(words: &[Arg], judge: &mut Judge<'_>) -> bool {
    let (mut trees, mut cached, mut listed) = (Vec::new(), false, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.exact() {
            Some("-N") => cached = true,
            Some("-L" | "-LA" | "-LH" | "-LAH") => {}
            Some("--list-presets") => listed = true,
            Some(text) if text.starts_with("--list-presets=") => listed = true,
            Some("-S" | "-B") => match words.next() {
                Some(tree) if tree.exact().is_some() => trees.push(tree),
                _ => return false,
            },
            Some(text) if !text.starts_with('-') => trees.push(word),
            _ => return false,
        }
    }
    if cached == listed {
        return false;
    }
    judge.read_cwd();
    trees.into_iter().for_each(|tree| judge.read_tree(tree));
    true
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_harmless, none_harmless};

    #[test]
    fn the_cache_and_the_presets_are_shown() {
        all_harmless(&["cmake -N -LA build", "cmake -LAH -N .", "cmake -N -L -B build", "cmake --list-presets"]);
        none_harmless(&[
            "cmake -LA build",
            "cmake -N -LA /opt/x",
            "cmake -N -LA -P x.cmake",
            "cmake -N -DX=1 .",
            "cmake -N -C x.cmake .",
            "cmake --list-presets -N",
            "cmake --list-presets --preset x",
            "cmake -N $x",
            "cmake -N --build x",
        ]);
    }
}
