//! Where a model is reached, and how: an address, a key, a way of speaking.
//!
//! All of it is handed in. Nothing here looks at the environment, and a key never reaches a log: what is
//! printed of it is that there is one.

use std::fmt;
use std::time::Duration;

use nika_contract::{ToolError, code};

use super::Model;

/// The ways of speaking that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adapter {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, and every address that speaks it.
    OpenAi,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Google's Gemini.
    Gemini,
    /// Chat Completions with Mistral's peculiarities.
    Mistral,
    /// Chat Completions with Groq's peculiarities.
    Groq,
    /// Chat Completions with DeepSeek's peculiarities.
    DeepSeek,
    /// Ollama's own protocol.
    Ollama,
}

/// What an adapter is called in a configuration, and where its path begins when an address has none.
const ADAPTERS: &[(Adapter, &str, &str)] = &[
    (Adapter::Anthropic, "anthropic", "v1/"),
    (Adapter::OpenAi, "openai-chat", "v1/"),
    (Adapter::OpenAiResponses, "openai-responses", "v1/"),
    (Adapter::Gemini, "gemini", "v1beta/"),
    (Adapter::Mistral, "mistral", "v1/"),
    (Adapter::Groq, "groq", "openai/v1/"),
    (Adapter::DeepSeek, "deepseek", "v1/"),
    (Adapter::Ollama, "ollama", ""),
];

impl Adapter {
    /// Every name, for messages and schemas.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ADAPTERS.iter().map(|(_, name, _)| *name)
    }

    /// The adapter of this name.
    pub fn named(name: &str) -> Option<Adapter> {
        ADAPTERS.iter().find(|(_, known, _)| *known == name).map(|(adapter, _, _)| *adapter)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    fn path(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> &'static (Adapter, &'static str, &'static str) {
        ADAPTERS.iter().find(|(adapter, _, _)| *adapter == self).expect("the table has a row for each adapter")
    }
}

/// A key. It cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Takes a key as it was set; the line end of a file it may have come from is no part of it.
    pub fn new(text: &str) -> Key {
        Key(text.trim().to_owned())
    }

    pub(super) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// How hard a model thinks before it answers, where it can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Not at all.
    Off,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

const EFFORTS: &[(Effort, &str)] =
    &[(Effort::Off, "off"), (Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high")];

impl Effort {
    /// Every name, for messages and schemas.
    pub fn names() -> impl Iterator<Item = &'static str> {
        EFFORTS.iter().map(|(_, name)| *name)
    }

    /// The effort of this name.
    pub fn named(name: &str) -> Option<Effort> {
        EFFORTS.iter().find(|(_, known)| *known == name).map(|(effort, _)| *effort)
    }
}

/// A model behind an address.
#[derive(Clone)]
pub struct Endpoint {
    /// The provider's name, as the person wrote it; thinking that is kept is sent back under this name only.
    pub provider: String,
    /// How it speaks.
    pub adapter: Adapter,
    /// Where it listens, up to the version: `http://localhost:8000/v1/`. An address without a path gets the
    /// adapter's own.
    pub address: String,
    /// The key; servers of one's own often want none.
    pub key: Option<Key>,
    /// The model.
    pub model: Model,
    /// How hard it thinks; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// Headers sent besides. They may hold secrets, and are not printed.
    pub headers: Vec<(String, String)>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("provider", &self.provider)
            .field("adapter", &self.adapter)
            .field("address", &self.address)
            .field("key", &self.key)
            .field("model", &self.model)
            .field("effort", &self.effort)
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .finish()
    }
}

/// Proxies, as the environment names them.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    /// For `http://` addresses.
    pub http: Option<String>,
    /// For `https://` addresses.
    pub https: Option<String>,
    /// Hosts that are reached without one, separated by commas.
    pub none_for: Option<String>,
}

/// How long nothing may happen.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Until a connection stands.
    pub connect: Duration,
    /// Until an answer begins, and between two of its pieces. A server of one's own may load a model first,
    /// and a model may think.
    pub silence: Duration,
    /// For a whole answer from a server that does not stream.
    pub whole: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            connect: Duration::from_secs(15),
            silence: Duration::from_secs(300),
            whole: Duration::from_secs(900),
        }
    }
}

/// The address that requests are built upon: it ends with a slash and has a path.
pub(super) fn base(adapter: Adapter, address: &str) -> Result<String, ToolError> {
    let wrong = |why: String| {
        ToolError::new(code::NO_MODEL, format!("'{address}' is no address of a model: {why}"))
            .hint("an address looks like `http://localhost:8000/v1`")
    };
    let url = reqwest::Url::parse(address).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong("it has to begin with `http://` or `https://` and name a host".into()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it holds a name or password; keys are set apart from addresses".into()));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it goes on after its path (`?` or `#`)".into()));
    }
    let mut base = url.to_string();
    if url.path() == "/" {
        base.push_str(adapter.path());
    } else if !base.ends_with('/') {
        base.push('/');
    }
    Ok(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_the_path_that_its_adapter_needs() {
        let cases = [
            (Adapter::OpenAi, "http://localhost:8000", "http://localhost:8000/v1/"),
            (Adapter::OpenAi, "http://localhost:8000/", "http://localhost:8000/v1/"),
            (Adapter::OpenAi, "http://localhost:8000/v1", "http://localhost:8000/v1/"),
            (Adapter::OpenAi, "https://example.com/llm/v4/", "https://example.com/llm/v4/"),
            (Adapter::Ollama, "http://localhost:11434", "http://localhost:11434/"),
            (Adapter::Gemini, "http://[::1]:9", "http://[::1]:9/v1beta/"),
        ];
        for (adapter, address, expected) in cases {
            assert_eq!(base(adapter, address).unwrap(), expected, "{address}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_reason() {
        for (address, why) in [
            ("localhost:8000", "http://"),
            ("file:///etc/passwd", "http://"),
            ("", "relative URL"),
            ("http://me:secret@localhost", "password"),
            ("http://localhost/v1?key=1", "`?`"),
        ] {
            let error = base(Adapter::OpenAi, address).unwrap_err();
            assert!(error.message.contains(why), "{address}: {error}");
        }
    }

    #[test]
    fn a_key_and_a_secret_header_are_not_printed() {
        let endpoint = Endpoint {
            provider: "p".into(),
            adapter: Adapter::OpenAi,
            address: "http://localhost/v1/".into(),
            key: Some(Key::new("sk-secret\n")),
            model: Model { id: "m".into(), context_tokens: 1, max_output: None, prices: None },
            effort: None,
            headers: vec![("x-extra".into(), "also-secret".into())],
        };
        let printed = format!("{endpoint:?}");
        assert!(!printed.contains("secret"), "{printed}");
        assert!(printed.contains("x-extra"));
        assert_eq!(endpoint.key.unwrap().secret(), "sk-secret");
    }

    #[test]
    fn names_lead_back_to_what_they_name() {
        for name in Adapter::names() {
            assert_eq!(Adapter::named(name).unwrap().name(), name);
        }
        assert_eq!(Adapter::named("smoke-signals"), None);
        assert!(Effort::names().all(|name| Effort::named(name).is_some()));
    }
}
