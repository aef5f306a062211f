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

/// Whether the configuration of a repository is of the plain kind. What is written in an unusual way is not.
pub fn is_plain_git_config(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut keys: &[&str] = &[];
    for line in text.lines().map(str::trim) {
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
    use super::{brings_commands, is_plain_git_config};

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
        ] {
            assert!(!is_plain_git_config(text.as_bytes()), "{text}");
        }
        assert!(!is_plain_git_config(b"[core]\n\xff = 1\n"));
    }
}
