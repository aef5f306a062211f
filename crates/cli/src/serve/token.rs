//! Secrets that this program makes up: the bearer token, session handles.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::rand::{GetRandomFlags, getrandom};

use crate::failure::Failure;

/// Bytes of a token.
const BYTES: usize = 32;
/// A token shorter than this can be guessed.
const LEAST_CHARS: usize = 16;

/// What clients must show.
#[derive(Debug)]
pub struct Token {
    /// The token.
    pub text: String,
    /// The file it is kept in; without one it has to be printed.
    pub kept_in: Option<PathBuf>,
}

/// A new token, or the one in `file`, which is made when missing.
pub fn get(file: Option<&Path>) -> Result<Token, Failure> {
    let Some(path) = file else { return Ok(Token { text: random(BYTES), kept_in: None }) };
    let failed = |error: std::io::Error| Failure::usage(format!("--token-file {}: {error}", path.display()));
    let text = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut made) => {
            let text = random(BYTES);
            made.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
            text
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let mut text = String::new();
            let waits = rustix::fs::OFlags::NONBLOCK.bits() as i32;
            let there = OpenOptions::new().read(true).custom_flags(waits).open(path).map_err(failed)?;
            let metadata = there.metadata().map_err(failed)?;
            if !metadata.is_file() {
                return Err(Failure::usage(format!("--token-file {} is no file", path.display())));
            }
            closed_to_others(path, metadata.mode())?;
            there.take(4096).read_to_string(&mut text).map_err(failed)?;
            text.trim().to_owned()
        }
        Err(error) => return Err(failed(error)),
    };
    if text.len() < LEAST_CHARS || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        let why = format!("holds no token: at least {LEAST_CHARS} printable ASCII characters on one line");
        return Err(Failure::usage(format!("--token-file {} {why}", path.display())));
    }
    Ok(Token { text, kept_in: Some(path.to_owned()) })
}

/// Who can read the token can call as whoever holds it.
fn closed_to_others(path: &Path, mode: u32) -> Result<(), Failure> {
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(Failure::usage(format!(
            "--token-file {0} may be read or changed by others (mode {1:04o}): `chmod 600 {0}`",
            path.display(),
            mode & 0o7777
        ))),
    }
}

/// So many random bytes, as hex digits.
pub fn random(bytes: usize) -> String {
    let mut buffer = vec![0; bytes];
    let mut filled = 0;
    while filled < bytes {
        match getrandom(&mut buffer[filled..], GetRandomFlags::empty()) {
            Ok(more) => filled += more,
            Err(rustix::io::Errno::INTR) => {}
            // Anything guessable in its place would be worse than an end.
            Err(error) => panic!("the system has no random bytes: {error}"),
        }
    }
    buffer.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_file_is_made_once_and_closed() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("token");
        let made = get(Some(&path)).expect("it is made");
        assert_eq!(get(Some(&path)).expect("it is there").text, made.text);
        assert_eq!(std::fs::metadata(&path).expect("it is there").mode() & 0o777, 0o600);
        assert_eq!(made.text.len(), 64);
        std::fs::write(&path, "short").expect("it can be written");
        assert!(get(Some(&path)).is_err());
    }

    #[test]
    fn a_token_that_others_may_read_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("token");
        get(Some(&path)).expect("it is made");
        for mode in [0o644, 0o640, 0o602] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
            let refused = format!("{:?}", get(Some(&path)).expect_err("others may read it"));
            assert!(refused.contains(&format!("mode {mode:04o}")) && refused.contains("chmod 600"), "{refused}");
        }
    }
}
