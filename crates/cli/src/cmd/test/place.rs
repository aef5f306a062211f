//! A directory of a test's own, and the test file that `--update` writes: both are the person's, outside every run.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A directory that goes with this value.
#[derive(Debug)]
pub struct Place(PathBuf);

impl Place {
    /// A new one below the system's directory for such things.
    pub fn new(pid: u32) -> io::Result<Place> {
        let base = fs::canonicalize(std::env::temp_dir())?;
        for number in 0..1_000 {
            let path = base.join(format!("nika-test-{pid}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let place = Place(path);
                    fs::create_dir(place.path().join("work"))?;
                    return Ok(place);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Puts a file into it.
    pub fn write(&self, below: &Path, bytes: &[u8]) -> io::Result<()> {
        let path = self.0.join(below);
        fs::create_dir_all(path.parent().unwrap_or(&self.0))?;
        fs::write(path, bytes)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed lies where the system tidies.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes a file that is not there.
pub fn create(path: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

/// Puts `text` in a file's place, as one step.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("yaml.new");
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}
