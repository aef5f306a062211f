//! What a repository may bring along: a configuration as every clone has it, that names no program, and a plan of a rebase
//! that runs none.

/// Sections, and the keys of each that are known to start nothing.
const PLAIN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
        ],
    ),
    ("remote", &["url", "pushurl", "fetch", "tagopt", "mirror"]),
    ("branch", &["remote", "merge", "rebase"]),
    ("submodule", &["active", "url"]),
    ("extensions", &["objectformat", "refstorage"]),
    ("init", &["defaultbranch"]),
    ("user", &["name", "email"]),
];

/// A line without what is a blank to git around it: to it, any other is part of a name.
fn bare(line: &str) -> &str {
    line.trim_matches([' ', '\t', '\r'])
}

/// Whether the configuration of a repository is of the plain kind. What is written in an unusual way is not.
pub fn is_plain_git_config(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut keys: &[&str] = &[];
    for line in text.lines().map(bare) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // A line that goes on in the next one.
        if line.ends_with('\\') {
            return false;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some(header) = header.strip_suffix(']').filter(|header| !header.contains(']')) else { return false };
            let section = header.split([' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
            match PLAIN.iter().find(|(name, _)| *name == section) {
                Some((_, known)) => keys = known,
                None => return false,
            }
        } else {
            let key = line.split(['=', ' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
            if !keys.contains(&key.as_str()) {
                return false;
            }
        }
    }
    true
}

/// Whether two configurations of a repository differ only in what branches follow: `[branch "…"]` sections, of remotes that
/// the configuration has. Such a section starts nothing, and nobody is reached by it who was not before.
pub fn only_follows(before: &[u8], after: &[u8]) -> bool {
    let (Ok(before), Ok(after)) = (std::str::from_utf8(before), std::str::from_utf8(after)) else { return false };
    let (Some((rest, known)), Some((new_rest, branches))) = (without_branches(before), without_branches(after)) else {
        return false;
    };
    let is_remote = |name: &str| name == "." || rest.contains(&format!("[remote \"{name}\"]").as_str());
    let fits = |line: &&str| match line.split_once('=').map(|(key, value)| (bare(key), bare(value))) {
        Some(("remote", value)) => is_remote(value),
        Some(("merge", value)) => value.starts_with("refs/") && !value.contains(['"', '\\', '#', ';']),
        Some(("rebase", value)) => ["true", "false", "merges"].contains(&value),
        _ => false,
    };
    // Editors note things of their own there; what was there may stay, and go with a branch to its new name.
    rest == new_rest && branches.iter().all(|line| known.contains(line) || fits(line))
}

/// The lines of a configuration outside of its sections on branches, and those in them. None where a line is written as
/// git itself does not write one.
fn without_branches(text: &str) -> Option<(Vec<&str>, Vec<&str>)> {
    let (mut rest, mut branches) = (Vec::new(), Vec::new());
    let mut in_branch = false;
    for line in text.lines() {
        let plain = bare(line);
        if plain.starts_with('[') {
            let name = plain.strip_prefix("[branch \"").and_then(|name| name.strip_suffix("\"]"));
            in_branch = name.is_some_and(|name| !name.contains(['"', '\\', ']']));
            // What stands behind a header belongs to its section.
            if !in_branch && !plain.ends_with(']') {
                return None;
            }
            if in_branch {
                continue;
            }
        }
        if plain.ends_with('\\') {
            return None;
        }
        let into = if in_branch && !plain.is_empty() { &mut branches } else { &mut rest };
        into.push(plain);
    }
    rest.retain(|line| !line.is_empty());
    Some((rest, branches))
}

/// Whether the plan of a rebase (`git-rebase-todo`) has lines that git runs as commands when it goes on.
pub fn brings_commands(plan: &[u8]) -> bool {
    let words = |line: &[u8]| {
        let mut words = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|word| !word.is_empty());
        words.next().is_some_and(|word| matches!(word, b"x" | b"exec"))
    };
    plan.split(|byte| *byte == b'\n').any(words)
}

#[cfg(test)]
mod tests {
    use super::{brings_commands, is_plain_git_config, only_follows};

    const CLONE: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn what_a_branch_follows_may_change_and_nothing_else() {
        let with = |more: &str| format!("{CLONE}{more}");
        for after in [
            CLONE.to_owned(),
            with("[branch \"x/y\"]\n\tremote = origin\n\tmerge = refs/heads/x/y\n\trebase = true\n"),
            with("[branch \"x\"]\n\tremote = .\n\tmerge = refs/heads/main\n"),
            CLONE.replace("[branch \"main\"]", "[branch \"trunk\"]"),
            CLONE.split("[branch").next().unwrap().to_owned(),
        ] {
            assert!(only_follows(CLONE.as_bytes(), after.as_bytes()), "{after}");
        }
        for after in [
            with("[alias]\n\ta = !x\n"),
            with("[core]\n\tfsmonitor = x\n"),
            with("\tfsmonitor = x\n"),
            with("[branch \"x\"]\n\tremote = ../evil\n\tmerge = refs/heads/main\n"),
            with("[branch \"x\"]\n\tremote = ext::sh -c x\n"),
            with("[branch \"x\"]\n\tremote = origin\u{a0}\n"),
            with("[branch \"x\"]\n\tremote = \u{2003}origin\n"),
            with("[branch \"x\"]\n\tremote = origin\u{b}\n"),
            with("[branch \"x\"]\n\tremote = origin\u{c}\n"),
            with("[branch \"x\"]\n\tmergeoptions = --strategy=x\n"),
            with("[branch \"x\"]\n\tremote = origin\\\n[core]\nfsmonitor = x\n"),
            with("[branch \"x\"] fsmonitor = x\n"),
            with("[branch \"x\"][core]\n\tfsmonitor = x\n"),
            with("[branch \"x\\\"]\n[core \"]\n\tremote = origin\n"),
            with("[branch x]\n\tremote = origin\n"),
            CLONE.replace("https://example.com/a.git", "https://example.com/b.git"),
            CLONE.replace("bare = false", "bare = true"),
            CLONE.replace("[remote \"origin\"]", "[remote \"other\"]"),
            String::new(),
        ] {
            assert!(!only_follows(CLONE.as_bytes(), after.as_bytes()), "{after}");
        }
        let noted =
            |name: &str| with(&format!("[branch \"{name}\"]\n\tremote = origin\n\teditor-base = origin/main\n"));
        assert!(only_follows(noted("x").as_bytes(), noted("y").as_bytes()));
        assert!(!only_follows(CLONE.as_bytes(), noted("y").as_bytes()));
        assert!(!only_follows(CLONE.as_bytes(), &[CLONE.as_bytes(), b"\xff"].concat()));
    }

    #[test]
    fn a_plan_that_runs_something_is_known() {
        for plan in ["exec a", "pick 1 a\n\t x touch b\n", "x\tb\r\n", "noop\nexec"] {
            assert!(brings_commands(plan.as_bytes()), "{plan:?}");
        }
        for plan in ["", "noop\n", "pick 1 exec a\nlabel x\n# exec b\n", "reset x\nxy\nmerge -C 1 x\n"] {
            assert!(!brings_commands(plan.as_bytes()), "{plan:?}");
        }
    }

    #[test]
    fn what_init_and_clone_write_is_plain() {
        for text in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = \
             +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
            "; made\n[User]\nName=a\n",
        ] {
            assert!(is_plain_git_config(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_names_a_program_or_is_written_oddly_is_not() {
        for text in [
            "[core]\n\tfsmonitor = ./x\n",
            "[core]\n\thooksPath = x\n",
            "[CORE]\nFsMonitor=x\n",
            "[core] fsmonitor = x\n",
            "[core]\nbare = false \\\nfsmonitor = x\n",
            "[filter \"x\"]\n\tclean = x\n",
            "[include]\n\tpath = x\n",
            "[diff \"x\"]\n\ttextconv = x\n",
            "[remote \"o\"]\n\tuploadpack = x\n",
            "[core.x]\nbare = false\n",
            "[alias]\n\ta = !x\n",
            "bare = false\n",
            "[core]\n[url \"]\"]\ninsteadof = x\n",
            "\u{feff}[core]\n",
            "\u{a0}[core]\n",
            "[core]\n\u{b}bare = false\n",
        ] {
            assert!(!is_plain_git_config(text.as_bytes()), "{text}");
        }
        assert!(!is_plain_git_config(b"[core]\n\xff = 1\n"));
    }
}
