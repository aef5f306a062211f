//! `$(git rev-parse --show-toplevel)`: the top of the work tree, where the host is certain of it.
//!
//! On paper it is nowhere that is known. It may lie above the workspace, and where git fails nothing is printed: then
//! `$(git rev-parse --show-toplevel)/etc` is `/etc`, and `cd $(…)` leads home.

use std::path::PathBuf;

use super::super::judge::Arg;
use super::super::script::Script;
use super::found::is_found;
use super::{State, Walker, values};
use values::is_one_list;

impl<'a> Walker<'a> {
    /// What `git rev-parse --show-toplevel` and its sisters print, if `script`, which was just walked, is one of them.
    pub(super) fn top_printed(&self, script: &Script, state: &State) -> Option<String> {
        let [argv] = self.outlet.as_slice() else { return None };
        let ["git", "rev-parse", what] = argv.iter().map(Arg::exact).collect::<Option<Vec<_>>>()?[..] else {
            return None;
        };
        // What was read into the shell may have told git of another repository.
        let [cwd] = state.cwd.as_slice() else { return None };
        if !is_one_list(script) || state.vars.lost || is_found(cwd) {
            return None;
        }
        let top = self.site.top(cwd)?;
        let path = match what {
            "--show-toplevel" => top,
            "--absolute-git-dir" => top.join(".git"),
            // From the top itself it is told from there.
            "--git-dir" if *cwd == top => PathBuf::from(".git"),
            _ => return None,
        };
        // The end of a line would be cut off, and a text that is long is not remembered.
        path.to_str().filter(|path| !path.chars().any(char::is_control)).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use crate::bash::{Analysis, Site, analyse};
    use crate::repository::{Repositories, Repository};
    use crate::{ExecKind, classify};

    /// A repository whose top is here, for what lies below it.
    #[derive(Debug)]
    struct Top(&'static str);

    impl Repositories for Top {
        fn at(&self, _dir: &Path) -> Arc<Repository> {
            Arc::default()
        }

        fn top(&self, dir: &Path) -> Option<PathBuf> {
            dir.starts_with(self.0).then(|| self.0.into())
        }
    }

    fn tell(text: &str, repositories: Option<&'static str>) -> Analysis {
        let repositories = repositories.map(|top| Arc::new(Top(top)) as Arc<dyn Repositories>);
        analyse(
            text,
            &Site { repositories, ..Site::on_paper(vec!["/w/repo".into()], "/w/repo/sub".into(), "/home/dev".into()) },
        )
    }

    /// Reads only, and only in the workspace.
    fn reads(text: &str, top: Option<&'static str>) -> bool {
        let analysis = tell(text, top);
        analysis.kind == ExecKind::ReadOnly
            && analysis
                .touched()
                .reads
                .iter()
                .all(|at| at.path.starts_with("/w/repo") && classify(&at.path).secret.is_none())
    }

    #[test]
    fn the_top_of_the_work_tree_is_known_where_the_host_knows_it() {
        for text in [
            "cd \"$(git rev-parse --show-toplevel)\" && ls",
            "cd $(git rev-parse --show-toplevel) && git status -sb",
            "root=$(git rev-parse --show-toplevel); cd \"$root\" && rg -n foo",
            "ROOT=\"$(git rev-parse --show-toplevel 2>/dev/null)\"; cat \"$ROOT/Cargo.toml\" | head -20",
            "ls \"$(git rev-parse --show-toplevel)/src\"",
            "cat $(git rev-parse --show-toplevel)/README.md",
            "find \"$(git rev-parse --show-toplevel)\" -name '*.rs' | wc -l",
            "cat \"$(git rev-parse --absolute-git-dir)/HEAD\"",
        ] {
            assert!(reads(text, Some("/w/repo")), "{text}: {:?}", tell(text, Some("/w/repo")));
            assert!(!reads(text, None), "on paper: {text}");
            assert!(!reads(text, Some("/w")), "above the workspace: {text}");
        }
        let text = "echo x > \"$(git rev-parse --show-toplevel)/a.txt\"";
        let written = tell(text, Some("/w/repo")).touched().writes;
        assert!(written.iter().all(|at| at.path == Path::new("/w/repo/a.txt")) && written.len() == 1, "{written:?}");
    }

    #[test]
    fn what_lies_beside_it_or_is_not_certain_is_asked_about() {
        for text in [
            "cat \"$(git rev-parse --show-toplevel)/../x\"",
            "cat \"$(git rev-parse --show-toplevel)/.env\"",
            "cat $(git -C /w rev-parse --show-toplevel)/x",
            "cat $(GIT_DIR=/x git rev-parse --show-toplevel)/x",
            "export GIT_WORK_TREE=/; cat $(git rev-parse --show-toplevel)/etc/passwd",
            "cat $(git --work-tree=/ rev-parse --show-toplevel)/etc/passwd",
            "cat $(git rev-parse --show-toplevel --show-cdup)/x",
            "cat $(cd /; git rev-parse --show-toplevel)/x",
            "cat $(git rev-parse --show-toplevel 2>&1)/x",
            "cat $(git rev-parse --show-superproject-working-tree)/x",
            "cat $(git rev-parse --show-cdup)/x",
            "cat $(git rev-parse --git-common-dir)/../../x",
            "cat $(./git rev-parse --show-toplevel)/x",
            "git() { echo /; }; cat $(git rev-parse --show-toplevel)/etc/passwd",
            "eval \"$x\"; cat $(git rev-parse --show-toplevel)/x",
            "cd /w && cat $(git rev-parse --show-toplevel)/x",
            "cat $(git rev-parse --show-toplevel; echo /etc/passwd)",
            "cat $(git rev-parse --show-toplevel | sed s,/w/repo,/etc,)/passwd",
            "$(git rev-parse --show-toplevel)/run",
        ] {
            assert!(!reads(text, Some("/w/repo")), "{text}: {:?}", tell(text, Some("/w/repo")));
        }
        for text in ["rm -rf \"$(git rev-parse --show-toplevel)\"", "rm -rf $(git rev-parse --show-toplevel)/*"] {
            assert!(tell(text, Some("/w/repo")).destructive.is_some(), "{text}");
        }
    }
}
