//! `python -m NAME` looks for the module, and for all that it loads, in the working directory first.
//!
//! A safe path, which commands that only read are given, ends that since Python 3.11. For older ones this looks whether
//! something of such a name lies there; what is said here holds for those that a repository brings along.

use super::super::judge::Judge;

/// What Python loads on the way to one of the modules that are known here, beside these themselves.
const EARLY_MODULES: &str = "json argparse runpy pkgutil importlib gettext shutil re enum functools pathlib fnmatch locale \
    string codecs textwrap collections operator keyword heapq itertools reprlib copyreg types typing warnings weakref \
    threading contextlib copy os sys io abc stat posixpath genericpath struct zlib bz2 lzma errno math random bisect \
    hashlib tempfile glob logging platform subprocess signal select selectors socket ssl email urllib http html datetime \
    calendar time base64 binascii quopri uuid configparser optparse traceback linecache tokenize token inspect dis opcode \
    ast site sysconfig sitecustomize usercustomize encodings getpass netrc mimetypes unicodedata stringprep zipfile \
    zipimport tarfile gzip csv decimal fractions numbers statistics queue concurrent asyncio multiprocessing pickle \
    _compat_pickle pip pip3 pipx poetry uv certifi idna urllib3 requests rich tomli tomllib packaging";

/// Says so where a module of the workspace would run in the place of `name`, or of what that loads.
pub(super) fn check(name: &str, judge: &mut Judge<'_>) {
    let top = name.split('.').next().unwrap_or_default();
    let names: Vec<&str> = EARLY_MODULES.split_whitespace().chain([top]).collect();
    let shadowed =
        |host: &std::sync::Arc<dyn crate::repository::Repositories>| host.has_python_module(&judge.site.cwd, &names);
    if judge.site.repositories.as_ref().is_some_and(shadowed) {
        judge.code(format!("`{name}` may be a file of this directory, or load one"));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use crate::ExecKind;
    use crate::bash::{Site, analyse};
    use crate::repository::{Repositories, Repository};

    /// A workspace with one module in it.
    #[derive(Debug)]
    struct Holds(&'static str);

    impl Repositories for Holds {
        fn at(&self, _: &Path) -> Arc<Repository> {
            Arc::default()
        }

        fn has_python_module(&self, dir: &Path, names: &[&str]) -> bool {
            dir == Path::new("/w/repo") && names.contains(&self.0)
        }
    }

    #[test]
    fn a_module_of_the_workspace_is_not_that_of_the_library() {
        let kind = |text: &str, holds: &'static str| {
            let site = Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into());
            analyse(text, &Site { repositories: Some(Arc::new(Holds(holds))), ..site }).kind
        };
        for holds in ["json", "argparse", "runpy"] {
            assert_eq!(kind("python3 -m json.tool a.json", holds), ExecKind::WritesInside, "{holds}");
        }
        assert_eq!(kind("cat a.json | python -m json.tool", "json"), ExecKind::WritesInside);
        assert_eq!(kind("python3 -m pip list", "pip"), ExecKind::WritesInside);
        assert_eq!(kind("python3 -m json.tool a.json", "app"), ExecKind::ReadOnly);
        assert_eq!(kind("cd sub && python3 -m json.tool a.json", "json"), ExecKind::ReadOnly);
    }
}
