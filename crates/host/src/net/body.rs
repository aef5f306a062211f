//! Taking a body in: no more of it than may come, and unpacked to no more than may become of it.

use std::io::{self, Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use nika_contract::{ToolError, code};

use super::Caps;

/// Where the ratio begins to count: small pages may pack as well as they like.
const SMALL_BYTES: usize = 1 << 20;
/// Taken out at once.
const PIECE_BYTES: usize = 64 << 10;

/// Takes one piece more, if it fits.
pub(super) fn add(body: &mut Vec<u8>, piece: &[u8], caps: &Caps) -> Result<(), ToolError> {
    if body.len() + piece.len() > caps.body_bytes {
        return Err(too_large(caps.body_bytes, "its body is larger than"));
    }
    body.extend_from_slice(piece);
    Ok(())
}

/// What a length that is announced means before anything is read.
pub(super) fn announced(bytes: Option<u64>, caps: &Caps) -> Result<(), ToolError> {
    match bytes {
        Some(bytes) if bytes > caps.body_bytes as u64 => Err(too_large(caps.body_bytes, "its body is larger than")),
        _ => Ok(()),
    }
}

/// The body as it was before `encoding` packed it.
pub(super) fn unpack(packed: Vec<u8>, encoding: Option<&str>, caps: &Caps) -> Result<Vec<u8>, ToolError> {
    let encoding = encoding.map(|encoding| encoding.trim().to_ascii_lowercase());
    match encoding.as_deref() {
        None | Some("" | "identity") => Ok(packed),
        Some("gzip" | "x-gzip") => drain(MultiGzDecoder::new(packed.as_slice()), packed.len(), caps),
        Some("deflate") => drain(ZlibDecoder::new(packed.as_slice()), packed.len(), caps),
        Some(other) => {
            let message = format!("the body is packed as '{}', which was not asked for", other.escape_debug());
            Err(ToolError::new(code::NET_BAD_ANSWER, message))
        }
    }
}

fn drain(mut from: impl Read, packed: usize, caps: &Caps) -> Result<Vec<u8>, ToolError> {
    let most_by_ratio = SMALL_BYTES.saturating_add(packed.saturating_mul(caps.ratio));
    let mut out = Vec::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(out),
            Ok(read) => out.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let message = format!("the body cannot be unpacked: {error}");
                return Err(ToolError::new(code::NET_BAD_ANSWER, message));
            }
        }
        if out.len() > caps.unpacked_bytes {
            return Err(too_large(caps.unpacked_bytes, "its body unpacks to more than"));
        }
        if out.len() > most_by_ratio {
            let message = format!("its body unpacks to more than {} times its size", caps.ratio);
            return Err(ToolError::new(code::NET_TOO_LARGE, message));
        }
    }
}

fn too_large(most: usize, what: &str) -> ToolError {
    let mebibytes = most as f64 / f64::from(1 << 20);
    ToolError::new(code::NET_TOO_LARGE, format!("{what} {mebibytes} MiB"))
}
