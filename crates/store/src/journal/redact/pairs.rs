//! Secrets without a beginning of their own, that are known by the public half beside them.

use super::secrets::{Secret, is_url64, run};

/// `NUMBER:AA…` of a bot of Telegram, at the colon.
pub(super) fn bot(bytes: &[u8], at: usize) -> Option<Secret> {
    let token = bytes[at + 1..].strip_prefix(b"AA").map(|_| &bytes[at + 1..])?;
    let number = bytes[..at].iter().rev().take(13).take_while(|b| b.is_ascii_digit()).count();
    let len = run(&token[..token.len().min(64)], is_url64);
    let is_token = (8..=12).contains(&number) && len == 35 && token[..len].iter().any(u8::is_ascii_lowercase);
    is_token.then_some(Secret { range: at + 1..at + 1 + len, kind: "telegram_token" })
}

/// Bytes between an account of Twilio and its secret: quotes, a comma or a colon, a blank.
const BETWEEN: &[u8] = b"\"'`,:; \t";
const MOST_BETWEEN: usize = 5;

/// `AC…` and, beside it, as many hex digits: `AC…:SECRET`, `Client("AC…", "SECRET")`.
pub(super) fn account(bytes: &[u8], at: usize) -> Option<Secret> {
    let account = bytes[at..].strip_prefix(b"AC")?;
    if hex(account) != 32 {
        return None;
    }
    let behind = at + 34;
    let between = run(&bytes[behind..], |b| BETWEEN.contains(&b));
    let from = behind + between;
    let is_secret = (1..=MOST_BETWEEN).contains(&between) && hex(&bytes[from..]) == 32;
    is_secret.then_some(Secret { range: from..from + 32, kind: "twilio_key" })
}

/// So many small hex digits, up to where more make no difference.
fn hex(bytes: &[u8]) -> usize {
    run(&bytes[..bytes.len().min(40)], |b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
