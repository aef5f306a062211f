//! The chain's rule, and nothing else: how a line is sealed, how it is checked, what a head says.
//!
//! A line is one JSON object and a newline:
//!
//! ```text
//! {"seq":2,"at":1763766000000,"event":"CallBegun",…fields…,"prev":"<64 hex>","hash":"<64 hex>"}
//! ```
//!
//! * `seq` counts from 1.
//! * `prev` is the `hash` of the line before; 64 zeros on the first line.
//! * `hash` is the sha256 of the line's bytes from `{` up to, not including, `,"hash":"`. Those bytes
//!   end with `prev`, so a line's hash covers all lines before it.
//!
//! The head (`heads/ID`) is one line of 107 bytes: the last line's `seq` (20 digits), the log's
//! length in bytes with that line (20 digits), its `hash` (64 digits), each followed by a space, the
//! last by a newline. With a log in `$1` and its head in `$2`, a stranger needs no more than
//!
//! ```sh
//! prev=$(printf '0%.0s' $(seq 64)) n=0
//! while IFS= read -r line; do
//!   n=$((n+1)); body=${line%,\"hash\":\"*}; hash=$(printf %s "$body" | sha256sum | cut -c1-64)
//!   [ "$line" = "$body,\"hash\":\"$hash\"}" ] && case $body in
//!     "{\"seq\":$n,"*"\"prev\":\"$prev\"") ;; *) false ;; esac || { echo "line $n"; exit 1; }
//!   prev=$hash
//! done < "$1"
//! [ "$(cut -d' ' -f3 "$2")" = "$prev" ]
//! ```

use sha2::{Digest, Sha256};

use crate::hash::Hash;

/// `,"hash":"` + 64 digits + `"}`.
pub(crate) const SEAL_BYTES: usize = 9 + 64 + 2;
/// `,"prev":"` + 64 digits + `"`.
const PREV_BYTES: usize = 9 + 64 + 1;
/// The longest line. Arguments are shortened long before; this bounds what a reader must hold.
pub(crate) const MAX_LINE_BYTES: usize = 16 << 20;

/// The lines that one append may write together.
pub(crate) const MAX_TOGETHER: usize = 2;

/// Where a chain stands: its last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// The line's number; 0 before the first.
    pub(crate) seq: u64,
    /// Its hash; zeros before the first.
    pub(crate) hash: Hash,
}

impl Link {
    pub(crate) const START: Link = Link { seq: 0, hash: Hash::ZERO };
}

/// Ends the line whose fields are in `lines` from `start` on (no closing brace yet): adds `prev`, `hash`, newline.
pub(crate) fn seal(lines: &mut Vec<u8>, start: usize, prev: &Hash) -> Hash {
    lines.extend_from_slice(b",\"prev\":\"");
    lines.extend_from_slice(&prev.hex());
    lines.push(b'"');
    let hash = Hash(Sha256::digest(&lines[start..]).into());
    lines.extend_from_slice(b",\"hash\":\"");
    lines.extend_from_slice(&hash.hex());
    lines.extend_from_slice(b"\"}\n");
    hash
}

/// The hash that `line` (without its newline) claims to have.
pub(crate) fn claimed(line: &[u8]) -> Option<Hash> {
    let seal = line.len().checked_sub(SEAL_BYTES).map(|at| &line[at..])?;
    Hash::parse(seal.strip_prefix(b",\"hash\":\"")?.strip_suffix(b"\"}")?)
}

/// Whether `line` (without its newline) is the one after `before`; why not, in words, otherwise.
pub(crate) fn follows(line: &[u8], before: Link) -> Result<Link, &'static str> {
    let hash = claimed(line).ok_or("it does not end with a hash")?;
    let body = &line[..line.len() - SEAL_BYTES];
    if Hash::of(body) != hash {
        return Err("its bytes do not have the hash it ends with: it was changed");
    }
    let prev = body.len().checked_sub(PREV_BYTES).map(|at| &body[at..]);
    let prev = prev.and_then(|text| text.strip_prefix(b",\"prev\":\"")?.strip_suffix(b"\""));
    if prev != Some(before.hash.hex().as_slice()) {
        return Err("it does not name the line before it: lines were removed, inserted or moved");
    }
    let seq = before.seq + 1;
    if !body.starts_with(format!("{{\"seq\":{seq},").as_bytes()) {
        return Err("its number is not one more than the line before it");
    }
    Ok(Link { seq, hash })
}

/// What a head file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) link: Link,
    /// The log's length in bytes, the line of `link` included.
    pub(crate) len: u64,
}

/// Bytes of a head file.
pub(crate) const HEAD_BYTES: usize = 20 + 1 + 20 + 1 + 64 + 1;

impl Head {
    pub(crate) const START: Head = Head { link: Link::START, len: 0 };

    pub(crate) fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut out = [b' '; HEAD_BYTES];
        decimal(&mut out[..20], self.link.seq);
        decimal(&mut out[21..41], self.len);
        out[42..106].copy_from_slice(&self.link.hash.hex());
        out[106] = b'\n';
        out
    }

    /// Exactly what [`Head::encode`] makes; nothing else.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Head> {
        let number = |at: usize| std::str::from_utf8(bytes.get(at..at + 20)?).ok()?.parse().ok();
        let hash = Hash::parse(bytes.get(42..106)?)?;
        let head = Head { link: Link { seq: number(0)?, hash }, len: number(21)? };
        (head.encode() == bytes).then_some(head)
    }
}

/// Right-aligned digits with leading zeros.
fn decimal(out: &mut [u8], mut number: u64) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(body: &str, before: Link) -> Vec<u8> {
        let mut line = body.as_bytes().to_vec();
        seal(&mut line, 0, &before.hash);
        line.pop();
        line
    }

    #[test]
    fn a_sealed_line_follows() {
        let first = line("{\"seq\":1,\"at\":0", Link::START);
        let one = follows(&first, Link::START).unwrap();
        let two = follows(&line("{\"seq\":2", one), one).unwrap();
        assert_eq!(two.seq, 2);
        assert!(follows(&line("{\"seq\":3", one), one).unwrap_err().contains("number"));
        assert!(follows(&line("{\"seq\":2", Link::START), one).unwrap_err().contains("before it"));
        assert!(follows(b"", one).is_err());
    }

    #[test]
    fn heads_survive_and_only_they() {
        let head = Head { link: Link { seq: u64::MAX, hash: Hash::of(b"x") }, len: 7 };
        let bytes = head.encode();
        assert_eq!(Head::decode(&bytes), Some(head));
        for at in 0..HEAD_BYTES {
            let mut other = bytes;
            other[at] ^= 0x20;
            assert_ne!(Head::decode(&other), Some(head), "byte {at}");
        }
        assert_eq!(Head::decode(&bytes[1..]), None);
    }
}
