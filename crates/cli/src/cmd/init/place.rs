//! New files into a directory: all of them, or none.
//!
//! A directory that does not exist is made beside its place and renamed there when it is whole. In one that exists
//! every file is made with `O_EXCL`, and what was made is taken away again when one of them fails.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use nika_contract::text::harmless;
use nika_contract::{ToolError, code};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::templates::File;

/// Writes the files below `base`, which is made where it is missing.
pub fn write(base: &Path, files: &[File]) -> Result<(), ToolError> {
    match fs::symlink_metadata(base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(base, files),
        Err(error) => Err(failed(base, &error)),
        Ok(_) if !base.is_dir() => {
            Err(ToolError::new(code::BAD_ARGUMENTS, format!("{} is there already, and is no directory", shown(base)))
                .hint("choose another name"))
        }
        Ok(_) => {
            refuse_clashes(base, files)?;
            fill(base, files)
        }
    }
}

/// The README that a directory has already, whatever its ending and its case.
pub fn readme(base: &Path) -> Option<String> {
    let names = fs::read_dir(base).ok()?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_one = |name: &String| {
        let name = name.to_lowercase();
        name.strip_prefix("readme").is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    names.filter(is_one).min()
}

/// Makes the directory whole, and then gives it its name.
fn make(base: &Path, files: &[File]) -> Result<(), ToolError> {
    let (Some(parent), Some(Component::Normal(name))) = (base.parent(), base.components().next_back()) else {
        let message = format!("{} does not exist, and cannot be made", shown(base));
        return Err(ToolError::new(code::BAD_ARGUMENTS, message).hint("name a directory, such as `demo`"));
    };
    if !parent.is_dir() {
        let message = format!("there is no directory {} to make {} in", shown(parent), shown(Path::new(name)));
        return Err(ToolError::new(code::BAD_ARGUMENTS, message).hint("make it first, or name a directory in this one"));
    }
    let aside = parent.join(format!(".nika-init-{}", std::process::id()));
    fs::create_dir(&aside).map_err(|error| failed(base, &error))?;
    let done = fill(&aside, files).and_then(|()| {
        // Somebody may have made the name meanwhile: then it is theirs.
        renameat_with(CWD, &aside, CWD, base, RenameFlags::NOREPLACE).map_err(|error| failed(base, &error.into()))
    });
    if done.is_err() {
        // What is left is ours alone, under a name of ours; the error that is told is the first one.
        let _ = fs::remove_dir_all(&aside);
    }
    done
}

/// Names every file that is there already, and everything that is in the way of one.
fn refuse_clashes(base: &Path, files: &[File]) -> Result<(), ToolError> {
    let mut clashes: Vec<String> = Vec::new();
    for file in files {
        let path = Path::new(file.path);
        for dir in path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty()) {
            // A link would lead what is written out of the directory.
            let in_the_way = fs::symlink_metadata(base.join(dir)).is_ok_and(|there| !there.is_dir());
            let said = format!("{} (no directory)", dir.display());
            if in_the_way && !clashes.contains(&said) {
                clashes.push(said);
            }
        }
        if fs::symlink_metadata(base.join(path)).is_ok() {
            clashes.push(file.path.to_owned());
        }
    }
    if clashes.is_empty() {
        return Ok(());
    }
    let message = format!("nothing was written, as this is there already: {}", clashes.join(", "));
    Err(ToolError::new(code::BAD_ARGUMENTS, message).hint("`nika init NAME` begins in a directory of its own"))
}

fn fill(base: &Path, files: &[File]) -> Result<(), ToolError> {
    let mut made = Made::default();
    for file in files {
        let path = base.join(file.path);
        if let Err(error) = made.file(base, &path, &file.text) {
            made.take_away();
            return Err(failed(&path, &error));
        }
    }
    Ok(())
}

/// What was made so far, in order.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
    dirs: Vec<PathBuf>,
}

impl Made {
    fn file(&mut self, base: &Path, path: &Path, text: &str) -> io::Result<()> {
        let mut missing: Vec<&Path> =
            path.ancestors().skip(1).take_while(|dir| *dir != base && !dir.is_dir()).collect();
        while let Some(dir) = missing.pop() {
            fs::create_dir(dir)?;
            self.dirs.push(dir.to_owned());
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        self.files.push(path.to_owned());
        file.write_all(text.as_bytes())
    }

    fn take_away(self) {
        // Only what this process made a moment ago; a directory that somebody used meanwhile stays.
        for file in self.files {
            let _ = fs::remove_file(file);
        }
        for dir in self.dirs.iter().rev() {
            let _ = fs::remove_dir(dir);
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> ToolError {
    ToolError::new(code::WRITE_FAILED, format!("nothing was written: {}: {error}", shown(path)))
        .hint("choose a directory that you may write in")
}

fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn files() -> Vec<File> {
        [".nika/config.yaml", "workflows/a.yaml", "README.md"]
            .map(|path| File { path, text: format!("{path}\n") })
            .to_vec()
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_directory_is_there_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        write(&dir.path().join("demo"), &files()).expect("it is written");
        assert_eq!(names(dir.path()), ["demo"]);
        assert_eq!(names(&dir.path().join("demo")), [".nika", "README.md", "workflows"]);
    }

    #[test]
    fn one_clash_and_nothing_is_written() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("README.md"), "mine").expect("a file");
        symlink("elsewhere", dir.path().join("workflows")).expect("a link");
        let error = write(dir.path(), &files()).expect_err("it is refused");
        assert!(error.message.contains("README.md") && error.message.contains("workflows"), "{error:?}");
        assert_eq!(names(dir.path()), ["README.md", "workflows"]);
        assert_eq!(fs::read_to_string(dir.path().join("README.md")).expect("it is there"), "mine");
    }

    #[test]
    fn a_directory_that_exists_keeps_what_it_has() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(dir.path().join("workflows")).expect("a directory");
        fs::write(dir.path().join("workflows/mine.yaml"), "mine").expect("a file");
        write(dir.path(), &files()).expect("it is written");
        assert_eq!(names(&dir.path().join("workflows")), ["a.yaml", "mine.yaml"]);
        let again = write(dir.path(), &files()).expect_err("it is there");
        assert!(again.message.contains(".nika/config.yaml, workflows/a.yaml, README.md"), "{again:?}");
    }

    #[test]
    fn a_readme_is_one_by_any_ending() {
        for (name, is_one) in [
            ("README.md", true),
            ("readme", true),
            ("Readme.rst", true),
            ("README", true),
            ("READMEs.md", false),
            ("README-old.md", false),
            ("notes.md", false),
        ] {
            let dir = tempfile::tempdir().expect("a directory");
            fs::write(dir.path().join(name), "").expect("a file");
            assert_eq!(readme(dir.path()).as_deref(), is_one.then_some(name), "{name}");
        }
        let dir = tempfile::tempdir().expect("a directory");
        symlink("nowhere", dir.path().join("README.md")).expect("a link");
        assert_eq!(readme(dir.path()).as_deref(), Some("README.md"), "a link that leads nowhere is theirs, too");
        assert_eq!(readme(&dir.path().join("none")), None);
    }

    #[test]
    fn what_fails_half_way_leaves_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut files = files();
        // A name of more than 255 bytes fails when it is made, after the others were.
        files.push(File { path: Box::leak("x".repeat(300).into_boxed_str()), text: String::new() });
        fill(dir.path(), &files).expect_err("the last one fails");
        assert_eq!(names(dir.path()), Vec::<String>::new());
        write(&dir.path().join("demo"), &files).expect_err("the last one fails");
        assert_eq!(names(dir.path()), Vec::<String>::new());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let closed = dir.path().join("closed");
        fs::create_dir(&closed).expect("a directory");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).expect("its mode");
        // Whoever may write everywhere sees no closed directory.
        if fs::write(closed.join("probe"), "").is_err() {
            let error = write(&closed.join("demo"), &files()).expect_err("it is closed");
            assert_eq!(error.code, code::WRITE_FAILED);
            assert!(error.message.contains("demo"), "{error:?}");
        }
        assert_eq!(write(&dir.path().join("a/b/c"), &files()).expect_err("no parent").code, code::BAD_ARGUMENTS);
        fs::write(dir.path().join("file"), "").expect("a file");
        assert_eq!(write(&dir.path().join("file"), &files()).expect_err("a file").code, code::BAD_ARGUMENTS);
    }
}
