//! Tool arguments that look like flags: `-i=true`, `-A=3`. Grep's parameters are named so.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The command line without them, and them. Taken out before clap sees them; what follows `--` it leaves alone
/// anyway.
pub fn set_aside(argv: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    let is_call = argv.get(1).is_some_and(|word| word == "call");
    if !is_call {
        return (argv, Vec::new());
    }
    let end = argv.iter().position(|word| word == "--").unwrap_or(argv.len());
    let (mut kept, mut dashed) = (Vec::new(), Vec::new());
    for (at, word) in argv.into_iter().enumerate() {
        if at < end && is_dashed_pair(&word) { dashed.push(word) } else { kept.push(word) }
    }
    (kept, dashed)
}

fn is_dashed_pair(word: &OsStr) -> bool {
    let bytes = word.as_bytes();
    let name = |name: &[u8]| name.len() > 1 && name[0] == b'-' && name[1..].iter().all(u8::is_ascii_alphanumeric);
    bytes
        .iter()
        .position(|byte| *byte == b'=')
        .is_some_and(|at| name(bytes[..at].strip_suffix(b":").unwrap_or(&bytes[..at])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_single_dashes_with_a_value_are_pairs() {
        for (word, want) in [
            ("-i=true", true),
            ("-A:=3", true),
            ("-C=", true),
            ("--mode=ask", false),
            ("-i", false),
            ("-", false),
            ("pattern=-x=y", false),
            ("-=x", false),
        ] {
            assert_eq!(is_dashed_pair(OsStr::new(word)), want, "{word}");
        }
    }
}
