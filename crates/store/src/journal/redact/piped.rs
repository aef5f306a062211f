//! Passwords on the standard input of a program: `echo VALUE | docker login --password-stdin`, `chpasswd <<< ME:VALUE`.

use std::ops::Range;

use super::programs::word_behind;
use super::secrets::{Secret, is_placeholder, run};

/// What says of a command that it reads a password from its standard input.
const READERS: &[&[u8]] = &[
    b"--pass-stdin",
    b"--passphrase-fd 0",
    b"--passphrase-fd=0",
    b"--password-stdin",
    b"--stdin",
    b"--with-token",
    b"-pass stdin",
    b"-passin stdin",
    b"-passout stdin",
    b"chpasswd",
    b"cryptsetup ",
    b"gh secret set",
    b"htpasswd -i",
    b"sudo -S",
    b"wrangler secret put",
];

/// What `echo` or `printf`, whose name ends at `end`, prints into such a command.
pub(super) fn printed(bytes: &[u8], end: usize) -> Option<Secret> {
    let mut value = word_behind(bytes, end)?;
    // Options, and the format of `printf`.
    while bytes[value.clone()].starts_with(b"-") || bytes[value.clone()].contains(&b'%') {
        let Some(next) = word_behind(bytes, value.end).filter(|next| !next.is_empty()) else { break };
        value = next;
    }
    let mut behind = value.end + run(&bytes[value.end..], |b| matches!(b, b'"' | b'\''));
    behind += run(&bytes[behind..], |b| b == b' ');
    let reader = bytes[behind..].strip_prefix(b"|")?;
    if reads(&reader[..run(reader, |b| !ends_command(b))]) { secret(bytes, value) } else { None }
}

/// What `<<<` at `at` gives to such a command.
pub(super) fn given(bytes: &[u8], at: usize) -> Option<Secret> {
    if !bytes[at..].starts_with(b"<<<") {
        return None;
    }
    let begin = bytes[..at].iter().rposition(|&b| ends_command(b)).map_or(0, |sign| sign + 1);
    if !reads(&bytes[begin..at]) {
        return None;
    }
    let from = at + 3;
    let value = word_behind(bytes, from).or_else(|| super::secrets::word_at(bytes, from))?;
    secret(bytes, value)
}

fn ends_command(b: u8) -> bool {
    matches!(b, b';' | b'|' | b'&' | b'\n')
}

fn reads(command: &[u8]) -> bool {
    READERS.iter().any(|reader| command.windows(reader.len()).any(|part| part == *reader))
}

/// The value; of `NAME:VALUE` only what is behind the colon.
fn secret(bytes: &[u8], value: Range<usize>) -> Option<Secret> {
    let text = &bytes[value.clone()];
    let from = text.iter().position(|&b| b == b':').map_or(0, |colon| colon + 1);
    let is_secret = !is_placeholder(&text[from..]);
    is_secret.then_some(Secret { range: value.start + from..value.end, kind: "password" })
}
