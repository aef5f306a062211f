//! What is peculiar to each provider, in one table.
//!
//! Pure.

use std::borrow::Cow;

use genai::adapter::AdapterKind;

use super::super::endpoint::Adapter;

/// What is peculiar to an adapter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// The library's name for it.
    pub kind: AdapterKind,
    /// How results of calls are told.
    pub results: Results,
    /// Names of calls that it takes.
    pub ids: Ids,
    /// Which thinking goes back to it.
    pub thinking: Thinking,
    /// Where marks for its cache go.
    pub cache: Cache,
    /// Whether a connection that ends in silence still brings the library's end, without a reason in it.
    pub feigns_end: bool,
}

/// How results of calls are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    /// As the provider's own block, with `is_error` and pictures.
    Block,
    /// As text in one message; pictures follow in a message of the person.
    Together,
    /// As text, each in a message of its own; pictures follow likewise.
    Apart,
    /// As text in one message; pictures are left out, and the model is told so.
    TextOnly,
}

/// Names of calls that a provider takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    /// Any.
    Any,
    /// Letters, digits, `_` and `-`, up to so many.
    Plain(usize),
    /// Nine letters or digits, neither more nor less.
    Nine,
}

/// Which thinking goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// What is signed, always.
    Signed,
    /// Its text, while the calls that it led to are still being answered. Later the provider wants it gone.
    ThisTurn,
    /// None: it takes none.
    Never,
}

/// Where marks for a provider's cache go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cache {
    /// On the parts up to which the request stays equal.
    Marks,
    /// The conversation's name goes along.
    Key,
    /// It finds out by itself, or has none.
    Own,
}

const PLAIN: Manner = Manner {
    kind: AdapterKind::OpenAI,
    results: Results::Together,
    ids: Ids::Plain(40),
    thinking: Thinking::ThisTurn,
    cache: Cache::Key,
    feigns_end: false,
};

pub(super) fn manner(adapter: Adapter) -> Manner {
    match adapter {
        Adapter::Anthropic => Manner {
            kind: AdapterKind::Anthropic,
            results: Results::Block,
            ids: Ids::Plain(64),
            thinking: Thinking::Signed,
            cache: Cache::Marks,
            feigns_end: false,
        },
        Adapter::OpenAi => PLAIN,
        Adapter::OpenAiResponses => Manner {
            kind: AdapterKind::OpenAIResp,
            ids: Ids::Plain(64),
            thinking: Thinking::Signed,
            feigns_end: true,
            ..PLAIN
        },
        Adapter::Gemini => Manner {
            kind: AdapterKind::Gemini,
            ids: Ids::Any,
            thinking: Thinking::Signed,
            cache: Cache::Own,
            feigns_end: true,
            ..PLAIN
        },
        Adapter::Mistral => Manner {
            kind: AdapterKind::Mistral,
            results: Results::TextOnly,
            ids: Ids::Nine,
            cache: Cache::Own,
            ..PLAIN
        },
        Adapter::Groq => Manner { kind: AdapterKind::Groq, thinking: Thinking::Never, cache: Cache::Own, ..PLAIN },
        Adapter::DeepSeek => {
            Manner { kind: AdapterKind::DeepSeek, results: Results::TextOnly, cache: Cache::Own, ..PLAIN }
        }
        Adapter::Ollama => Manner {
            kind: AdapterKind::Ollama,
            results: Results::Apart,
            ids: Ids::Any,
            thinking: Thinking::Never,
            cache: Cache::Own,
            feigns_end: true,
        },
    }
}

/// A call's name in a form that the provider takes. A conversation may have been begun by another provider,
/// whose names look otherwise. The same name always becomes the same.
pub(super) fn wire_id(ids: Ids, id: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match ids {
        Ids::Any => Cow::Borrowed(id),
        Ids::Plain(most) if !id.is_empty() && id.len() <= most && id.chars().all(plain) => Cow::Borrowed(id),
        Ids::Nine if id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()) => Cow::Borrowed(id),
        Ids::Plain(_) => Cow::Owned(format!("call_{}", digest(id))),
        Ids::Nine => Cow::Owned(digest(id)),
    }
}

/// Nine letters and digits made of a name: 53 bits of FNV-1a, enough for the few thousand calls of a
/// conversation, and no reason for a cryptographic library.
fn digest(text: &str) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (0..9)
        .map(|_| {
            let letter = LETTERS[(hash % 62) as usize];
            hash /= 62;
            char::from(letter)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_provider_takes_is_left_alone_and_others_become_one_it_takes() {
        assert_eq!(wire_id(Ids::Plain(64), "toolu_01A-b"), "toolu_01A-b");
        assert_eq!(wire_id(Ids::Any, "call#read#0"), "call#read#0");
        assert_eq!(wire_id(Ids::Nine, "abcDEF123"), "abcDEF123");
        for id in ["toolu_01", "", "call#read#0", &"x".repeat(300), "naïve"] {
            let nine = wire_id(Ids::Nine, id);
            assert!(nine.len() == 9 && nine.chars().all(|c| c.is_ascii_alphanumeric()), "{id}: {nine}");
            assert_eq!(nine, wire_id(Ids::Nine, id));
        }
        let mapped: Vec<_> = (0..2000).map(|n| wire_id(Ids::Nine, &format!("call#read#{n}")).into_owned()).collect();
        let distinct: std::collections::BTreeSet<_> = mapped.iter().collect();
        assert_eq!(distinct.len(), mapped.len());
    }
}
