//! Which configuration a new repository may bring along: what every clone has, and nothing that names a program.

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
    ("remote", &["url", "pushurl", "fetch", "tagopt"]),
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

#[cfg(test)]
mod tests {
    use super::is_plain_git_config;

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
