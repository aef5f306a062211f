//! The system's refusals, as sentences with a code.

use nika_contract::{Code, ToolError, code};
use rustix::io::Errno;

/// A refusal of the system while doing `what` (*read src/a.rs*), under the code for that act.
pub fn errno(what: &str, error: Errno, otherwise: Code) -> ToolError {
    let (code, why) = match error {
        Errno::NOENT => (code::NOT_FOUND, "nothing exists at this path"),
        Errno::NOTDIR => (code::NOT_FOUND, "a part of the path is a file, not a directory"),
        Errno::ACCESS | Errno::PERM => (otherwise, "the system denies access"),
        Errno::XDEV => (code::OUT_OF_BOUNDS, "the path leaves its root"),
        Errno::LOOP => (code::OUT_OF_BOUNDS, "a part of the path is a link that may not be followed"),
        Errno::NAMETOOLONG => (code::BAD_PATH, "a name in it is longer than 255 bytes"),
        Errno::ISDIR => (code::NOT_A_FILE, "it is a directory"),
        Errno::NXIO => (code::NOT_A_FILE, "it is a device or socket"),
        Errno::EXIST => (code::ALREADY_EXISTS, "something exists there"),
        Errno::NOSPC | Errno::DQUOT => (otherwise, "no space is left"),
        Errno::ROFS => (otherwise, "the file system is read-only"),
        Errno::MFILE | Errno::NFILE => (otherwise, "too many files are open"),
        Errno::NOSYS => (code::KERNEL_TOO_OLD, "the kernel has no `openat2`"),
        Errno::INVAL => (code::BAD_PATH, "the system does not take this path"),
        _ => return ToolError::new(otherwise, format!("cannot {what}: {error}")),
    };
    ToolError::new(code, format!("cannot {what}: {why}"))
}

/// Whether a look at an entry itself, through no link, says that nothing stands there: its directory may be missing, a
/// file or a link.
pub(crate) fn is_absence(error: Errno) -> bool {
    matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
}
