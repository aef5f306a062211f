//! Output that was too long for an answer, kept where the model can read the rest of it.
//!
//! What such files take is bounded; the oldest go. Whatever else is kept in the directory, as work of others that has no
//! place beside a command's, is nobody's to remove. No clock: the file just written says what time it
//! is.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::StoreError;
use crate::id;
use crate::state::State;

/// Of all spilled files together: enough for a day of the longest build logs.
pub const MAX_BYTES: u64 = 256 << 20;
/// A file older than this goes.
pub const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// By which a spilled output is known, as only its file ends so.
const ENDING: &str = "txt";
/// One write in so many looks at the directory.
const TIDY_ONE_IN: u32 = 16;

/// Keeps `text` for `call`, readable by this user only; where it lies.
pub fn write(state: &State, call: &str, text: &str) -> Result<PathBuf, StoreError> {
    id::check(call)?;
    let dir = state.spill_dir();
    let (path, mut file) = loop {
        // Nobody can guess it: whoever was told the name may read the file, and the directory tells none.
        let random = || RandomState::new().hash_one(0u8);
        let path = dir.join(format!("{call}-{:016x}{:016x}.{ENDING}", random(), random()));
        match File::options().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => break (path, file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("write", &path, error)),
        }
    };
    if let Err(error) = file.write_all(text.as_bytes()) {
        let _ = fs::remove_file(&path);
        return Err(StoreError::io("write", &path, error));
    }
    if text.len() as u64 > MAX_BYTES / u64::from(TIDY_ONE_IN) || due(call) {
        // What cannot be tidied now will be another time; the text is kept either way.
        let _ = tidy(&dir, &path, MAX_BYTES, MAX_AGE);
    }
    Ok(path)
}

/// Whether this call's turn has come: by its name, as there is nothing to count in.
fn due(call: &str) -> bool {
    let sum = call.bytes().fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (sum ^ sum >> 16) % TIDY_ONE_IN == 0
}

/// Removes the oldest files until the rest is within bounds. `newest` stays, and its time is now.
fn tidy(dir: &Path, newest: &Path, max_bytes: u64, max_age: Duration) -> io::Result<()> {
    let now = fs::metadata(newest)?.modified()?;
    let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if let Ok(meta) = entry.metadata()
            && meta.is_file()
            && entry.path() != newest
            && entry.path().extension().is_some_and(|ending| ending == ENDING)
        {
            files.push((meta.modified()?, meta.len(), entry.path()));
        }
    }
    files.sort_unstable_by(|a, b| b.cmp(a));
    let mut total = fs::metadata(newest)?.len();
    for (modified, bytes, path) in files {
        total = total.saturating_add(bytes);
        let age = now.duration_since(modified).unwrap_or_default();
        if total > max_bytes || age > max_age {
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn kept_for_its_call_and_for_us_only() {
        let world = tempfile::tempdir().unwrap();
        let state = State::open(world.path()).unwrap();
        let one = write(&state, "c1", "one").unwrap();
        let two = write(&state, "c1", "two").unwrap();
        assert_eq!(fs::read_to_string(&one).unwrap(), "one");
        assert_eq!(fs::read_to_string(&two).unwrap(), "two");
        assert_eq!(fs::metadata(&one).unwrap().mode() & 0o777, 0o600);
        assert!(matches!(write(&state, "../c1", ""), Err(StoreError::BadId(_))));
    }

    #[test]
    fn the_oldest_go() {
        let world = tempfile::tempdir().unwrap();
        let state = State::open(world.path()).unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
        let file = |name: &str, days: u64| {
            let path = write(&state, name, "0123456789").unwrap();
            let then = now - Duration::from_secs(days * 24 * 60 * 60);
            File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
            path
        };
        let [new, young, older, oldest] = [file("new", 0), file("young", 1), file("older", 3), file("oldest", 9)];
        tidy(&state.spill_dir(), &new, 1000, MAX_AGE).unwrap();
        assert!(new.exists() && young.exists() && older.exists() && !oldest.exists());
        tidy(&state.spill_dir(), &new, 25, MAX_AGE).unwrap();
        assert!(new.exists() && young.exists() && !older.exists());
        tidy(&state.spill_dir(), &new, 1, MAX_AGE).unwrap();
        assert!(new.exists() && !young.exists());
    }

    /// The time of a file that was set apart is the one it had where it stood.
    #[test]
    fn what_is_no_output_stays() {
        let world = tempfile::tempdir().unwrap();
        let state = State::open(world.path()).unwrap();
        let new = write(&state, "c1", "new").unwrap();
        let apart = state.spill_dir().join("others.nika-0123456789abcdef.tmp");
        fs::write(&apart, "theirs").unwrap();
        File::options().write(true).open(&apart).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        tidy(&state.spill_dir(), &new, 1, MAX_AGE).unwrap();
        assert_eq!(fs::read(&apart).unwrap(), b"theirs");
    }

    #[test]
    fn the_turn_comes_now_and_then() {
        let turns = (0..1600).filter(|n| due(&format!("c{n:04}-3f2a"))).count();
        assert!((50..200).contains(&turns), "{turns}");
    }
}
