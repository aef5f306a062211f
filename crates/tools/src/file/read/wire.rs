//! What goes through the pipes between a call and its parser child: frames of a tag, a length and bytes.
//! The child may be in a stranger's hands, so its frames are believed no further than their lengths.
//!
//! ```text
//! question:  q {json}   b file
//! answer:    MARK   ( j {json}   b bytes   x {"code": 215, "message": "…"} )*   .
//! ```

use std::io::{self, Read, Write};

use nika_contract::{Code, ToolError, code};
use serde_json::{Value, json};

/// Where an answer begins. What a program's start-up may have printed before it is skipped.
const MARK: &[u8] = b"\x02nika-parse-1\n";
/// How far in the mark must be.
const MARK_WITHIN: usize = 4_096;

/// The codes that a child may raise; anything else counts as a failed parser.
const RAISED: &[Code] = &[code::BAD_ARGUMENTS, code::UNSUPPORTED_TYPE, code::TOO_LARGE, code::PARSER_FAILED];

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    Facts(Value),
    Bytes(Vec<u8>),
    Refused(ToolError),
}

/// Bytes for a child: what is asked about which file.
pub(super) fn question(asked: &Value, file: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(file.len() + 256);
    // Writing to memory does not fail.
    let _ = frame(&mut out, b'q', asked.to_string().as_bytes());
    let _ = frame(&mut out, b'b', file);
    out
}

/// In the child: what is asked about which file.
pub(super) fn asked(mut input: impl Read) -> Result<(Value, Vec<u8>), String> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|error| format!("the question cannot be read: {error}"))?;
    let mut rest = bytes.as_slice();
    match (take(&mut rest), take(&mut rest)) {
        (Some((b'q', asked)), Some((b'b', file))) => {
            let asked = serde_json::from_slice(asked).map_err(|error| format!("the question is malformed: {error}"))?;
            Ok((asked, file.to_vec()))
        }
        _ => Err("the question is malformed".into()),
    }
}

/// In the child: writes an answer.
pub(super) fn reply(mut output: impl Write, frames: &[Frame]) -> io::Result<()> {
    output.write_all(MARK)?;
    for piece in frames {
        match piece {
            Frame::Facts(facts) => frame(&mut output, b'j', facts.to_string().as_bytes())?,
            Frame::Bytes(bytes) => frame(&mut output, b'b', bytes)?,
            Frame::Refused(why) => {
                let why = json!({"code": why.code.0, "message": why.message, "hint": why.hint});
                frame(&mut output, b'x', why.to_string().as_bytes())?;
            }
        }
    }
    frame(&mut output, b'.', b"")?;
    output.flush()
}

/// An answer's frames, if it is whole.
pub(super) fn answer(bytes: &[u8]) -> Option<Vec<Frame>> {
    let head = &bytes[..bytes.len().min(MARK_WITHIN)];
    let start = head.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    let mut rest = &bytes[start..];
    let mut frames = Vec::new();
    loop {
        match take(&mut rest)? {
            (b'j', facts) => frames.push(Frame::Facts(serde_json::from_slice(facts).ok()?)),
            (b'b', bytes) => frames.push(Frame::Bytes(bytes.to_vec())),
            (b'x', why) => frames.push(Frame::Refused(refused(&serde_json::from_slice(why).ok()?)?)),
            (b'.', _) => return Some(frames),
            _ => return None,
        }
    }
}

fn refused(why: &Value) -> Option<ToolError> {
    let raised = why["code"].as_u64()?;
    let code = RAISED.iter().copied().find(|code| u64::from(code.0) == raised).unwrap_or(code::PARSER_FAILED);
    let error = ToolError::new(code, why["message"].as_str()?);
    Some(match why["hint"].as_str() {
        Some(hint) => error.hint(hint),
        None => error,
    })
}

fn frame(output: &mut impl Write, tag: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::Error::other("a frame holds at most 4 GiB"))?;
    output.write_all(&[tag])?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(bytes)
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (&[tag, a, b, c, d], after) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    let (bytes, after) = after.split_at_checked(length)?;
    *rest = after;
    Some((tag, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives() {
        let sent = question(&json!({"pages": "1-2"}), b"file");
        assert_eq!(asked(sent.as_slice()), Ok((json!({"pages": "1-2"}), b"file".to_vec())));
        let frames = vec![
            Frame::Facts(json!({"a": 1})),
            Frame::Bytes(vec![0; 70_000]),
            Frame::Refused(ToolError::new(code::TOO_LARGE, "too large").hint("less")),
        ];
        let mut wire = b"something printed before\n".to_vec();
        reply(&mut wire, &frames).expect("memory takes it");
        wire.extend(b"and after");
        assert_eq!(answer(&wire), Some(frames));
    }

    #[test]
    fn half_an_answer_is_none() {
        let mut wire = Vec::new();
        reply(&mut wire, &[Frame::Bytes(b"abc".to_vec())]).expect("memory takes it");
        for end in 0..wire.len() {
            assert_eq!(answer(&wire[..end]), None, "{end}");
            assert!(asked(&wire[..end]).is_err());
        }
    }

    #[test]
    fn a_child_cannot_claim_another_code() {
        let mut wire = Vec::new();
        reply(&mut wire, &[Frame::Refused(ToolError::new(code::BUG, "ha"))]).expect("memory takes it");
        let frames = answer(&wire).expect("whole");
        assert_eq!(frames, [Frame::Refused(ToolError::new(code::PARSER_FAILED, "ha"))]);
    }
}
