//! Search providers: how each is asked, and where its results stand in what it answers.

use std::fmt;

use nika_contract::{ToolError, code, text};
use nika_host::net::{Address, Asked, Got};
use serde_json::{Value, json};

use super::results::{Found, Wanted, fitting};

/// A key. It is sent to its provider and shown nowhere.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes a key as it was set.
    pub fn new(text: &str) -> Secret {
        Secret(text.trim().to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// How a provider speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A SearXNG server, one's own or a friend's, with `json` among its `search.formats`.
    Searxng,
    /// Brave's API.
    Brave,
    /// Tavily's API.
    Tavily,
    /// Any server that answers a GET with JSON.
    Json(Shape),
}

/// Where a server that answers with JSON is asked, and where its results stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The address, with `{query}` and perhaps `{max_results}` in it.
    pub url: String,
    /// Where the list of results is, dotted; empty for the whole answer.
    pub results: String,
    /// The fields of a result, dotted.
    pub title: String,
    /// See `title`.
    pub address: String,
    /// See `title`.
    pub snippet: String,
    /// The header that carries the key; `Authorization: Bearer` where none is named.
    pub key_header: Option<String>,
}

impl Kind {
    /// The kind's name in configuration.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Searxng => "searxng",
            Kind::Brave => "brave",
            Kind::Tavily => "tavily",
            Kind::Json(_) => "json",
        }
    }

    /// Where it listens, where that is always the same.
    pub fn home(&self) -> Option<&'static str> {
        match self {
            Kind::Brave => Some("https://api.search.brave.com/"),
            Kind::Tavily => Some("https://api.tavily.com/"),
            Kind::Searxng | Kind::Json(_) => None,
        }
    }

    /// The variable that usually holds its key.
    pub fn usual_key(&self) -> Option<&'static str> {
        match self {
            Kind::Brave => Some("BRAVE_API_KEY"),
            Kind::Tavily => Some("TAVILY_API_KEY"),
            Kind::Searxng | Kind::Json(_) => None,
        }
    }
}

/// A provider that a person configured.
#[derive(Debug, Clone)]
pub struct Provider {
    /// What it is called.
    pub name: String,
    /// How it speaks.
    pub kind: Kind,
    /// Where it listens.
    pub address: Address,
    /// The variable of the environment that holds its key.
    pub key_env: Option<String>,
    /// The key, where the variable is set or a person keeps one.
    pub key: Option<Secret>,
    /// Whether the key is one that a person keeps (`nika search login`).
    pub is_kept: bool,
    /// Why the keys that a person keeps cannot be read.
    pub trouble: Option<String>,
    /// Results where a search does not say how many.
    pub max_results: Option<u32>,
}

impl Provider {
    /// A provider at its address; `base` is needed where the kind has no home of its own.
    pub fn new(name: &str, kind: Kind, base: Option<&str>) -> Result<Provider, ToolError> {
        let example;
        let base = match &kind {
            Kind::Json(shape) => {
                example = filled(&shape.url, "query", 1);
                if !shape.url.contains("{query}") {
                    return Err(ToolError::argument("url", "has no `{query}` in it"));
                }
                Some(example.as_str())
            }
            kind => base.or(kind.home()),
        };
        let missing = || ToolError::argument("base_url", format!("a provider of kind {} needs one", kind.name()));
        let address = Address::parse(base.ok_or_else(missing)?)?;
        if let Kind::Json(shape) = &kind {
            // What is searched for may not say where: the host is the same whatever stands for `{query}`.
            let other = Address::parse(&filled(&shape.url, "x.example/@y.example", 1))?;
            if other.host() != address.host() || other.port() != address.port() {
                return Err(ToolError::argument("url", "`{query}` stands in the name of the host"));
            }
        }
        let key_env = kind.usual_key().map(str::to_owned);
        let name = name.to_owned();
        Ok(Provider { name, kind, address, key_env, key: None, is_kept: false, trouble: None, max_results: None })
    }

    /// Whether it can be asked as it stands: its key is there, or it needs none.
    pub fn is_ready(&self) -> bool {
        self.key.is_some() || self.key_env.is_none()
    }

    /// The request for a search.
    pub(super) fn asked(&self, wanted: &Wanted) -> Result<Asked, ToolError> {
        let below = |path: &str| {
            let base = self.address.as_str().split('?').next().unwrap_or_default();
            Address::parse(&format!("{}/{path}", base.trim_end_matches('/')))
        };
        let key = match (&self.key, &self.key_env) {
            (Some(key), _) => Some(key.0.as_str()),
            (None, None) => None,
            (None, Some(variable)) => {
                let trouble = self.trouble.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
                let message = format!("{} reads its key from {variable}, which is not set{trouble}", self.name);
                return Err(ToolError::new(code::SEARCH_REFUSED, message).hint(format!(
                    "a person sets the variable where Nika is started, or says `nika search login {}`; or another `provider` \
                     is asked",
                    self.name
                )));
            }
        };
        let bearer = |key: &str| ("Authorization".to_owned(), format!("Bearer {key}"));
        let (query, most) = (wanted.with_sites(), wanted.most);
        let json = |address: Address| Asked { accept: "application/json", ..Asked::get(address) };
        let asked = match &self.kind {
            Kind::Searxng => {
                let path = format!("search?q={}&format=json", escaped(&query));
                Asked { headers: key.map(bearer).into_iter().collect(), ..json(below(&path)?) }
            }
            Kind::Brave => {
                let path = format!("res/v1/web/search?q={}&count={most}", escaped(&query));
                let header = key.map(|key| ("X-Subscription-Token".to_owned(), key.to_owned()));
                Asked { headers: header.into_iter().collect(), ..json(below(&path)?) }
            }
            Kind::Tavily => {
                let body = json!({
                    "query": wanted.query,
                    "max_results": most,
                    "include_domains": wanted.allowed,
                    "exclude_domains": wanted.blocked,
                });
                let mut headers: Vec<_> = key.map(bearer).into_iter().collect();
                headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
                Asked { method: "POST", headers, body: Some(body.to_string().into_bytes()), ..json(below("search")?) }
            }
            Kind::Json(shape) => {
                let address = Address::parse(&filled(&shape.url, &escaped(&query), most))?;
                let header = key.map(|key| match &shape.key_header {
                    Some(name) => (name.clone(), key.to_owned()),
                    None => bearer(key),
                });
                Asked { headers: header.into_iter().collect(), ..json(address) }
            }
        };
        // A key goes to the host that was configured, whatever became of the address on the way here.
        if asked.address.host() != self.address.host() {
            return Err(ToolError::new(code::BUG, "a search would have gone to another host than the provider's"));
        }
        Ok(asked)
    }

    /// The results in an answer.
    pub(super) fn read(&self, got: &Got, wanted: &Wanted) -> Result<Vec<Found>, ToolError> {
        let refused = |why: String| ToolError::new(code::SEARCH_REFUSED, format!("{} {why}", self.name));
        match got.status {
            200 => {}
            401 | 403 if self.kind == Kind::Searxng => {
                return Err(
                    refused(format!("answered {}", got.status)).hint("`json` may not be among its `search.formats`")
                );
            }
            401 | 403 => {
                let from = match (&self.key_env, self.is_kept) {
                    (_, true) => format!(" that `nika search login {}` keeps", self.name),
                    (Some(variable), false) => format!(" from {variable}"),
                    (None, false) => String::new(),
                };
                return Err(refused(format!("did not take the key{from} ({})", got.status)));
            }
            429 => return Err(refused("limits how often it is asked (429)".into()).hint("try again later")),
            300..=399 => {
                let to = text::harmless(&text::preview(got.leads_to().unwrap_or("nowhere"), 200)).into_owned();
                return Err(refused(format!("redirects to {to}; searches are not redirected"))
                    .hint("a person configures the address that is meant"));
            }
            status => return Err(refused(format!("answered {}", crate::web::fetch::named(status)))),
        }
        let answer: Value =
            serde_json::from_slice(&got.body).map_err(|error| refused(format!("did not answer with JSON: {error}")))?;
        let (list, title, address, snippet) = match &self.kind {
            Kind::Searxng | Kind::Tavily => ("results", "title", "url", "content"),
            Kind::Brave => ("web.results", "title", "url", "description"),
            Kind::Json(shape) => {
                (shape.results.as_str(), shape.title.as_str(), shape.address.as_str(), shape.snippet.as_str())
            }
        };
        let list = match at(&answer, list) {
            Some(Value::Array(list)) => list.as_slice(),
            // Brave leaves the list out where it found nothing.
            None if self.kind == Kind::Brave => &[],
            _ => return Err(refused(format!("has no list of results at `{list}`"))),
        };
        let text = |one: &Value, path: &str| at(one, path).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(fitting(wanted, list.iter().map(|one| (text(one, title), text(one, address), text(one, snippet)))))
    }
}

/// The template of an address with what is wanted in it.
fn filled(template: &str, query: &str, most: usize) -> String {
    template.replace("{max_results}", &most.to_string()).replace("{query}", query)
}

/// What stands at a dotted path; a number is a place in a list.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').filter(|name| !name.is_empty()).try_fold(value, |value, name| match value {
        Value::Array(list) => list.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

/// A text as a part of a query.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(query: &str) -> Wanted {
        Wanted { query: query.into(), most: 5, allowed: Vec::new(), blocked: Vec::new() }
    }

    fn shape(url: &str) -> Kind {
        let field = |name: &str| name.to_owned();
        Kind::Json(Shape {
            url: url.into(),
            results: field("data.items"),
            title: field("name"),
            address: field("link.href"),
            snippet: field("text"),
            key_header: Some("X-Key".into()),
        })
    }

    #[test]
    fn each_kind_is_asked_in_its_way() {
        let base = Some("https://searx.example/sub/");
        for (kind, base, method, address) in [
            (Kind::Searxng, base, "GET", "https://searx.example/sub/search?q=a%20%26b%2F&format=json"),
            (Kind::Brave, None, "GET", "https://api.search.brave.com/res/v1/web/search?q=a%20%26b%2F&count=5"),
            (Kind::Tavily, None, "POST", "https://api.tavily.com/search"),
            (
                shape("https://s.example/?q={query}&n={max_results}"),
                None,
                "GET",
                "https://s.example/?q=a%20%26b%2F&n=5",
            ),
        ] {
            let mut provider = Provider::new("p", kind, base).expect("fine");
            provider.key = Some(Secret::new("sk-secret\n"));
            let asked = provider.asked(&wanted("a &b/")).expect("fine");
            assert_eq!((asked.method, asked.address.as_str()), (method, address));
            assert!(asked.headers.iter().any(|(_, value)| value.ends_with("sk-secret")));
            assert!(!format!("{asked:?}{provider:?}").contains("sk-secret"));
        }
    }

    #[test]
    fn what_is_searched_for_does_not_say_where() {
        for url in [
            "https://{query}.example/",
            "https://{query}/",
            "https://a.example:{query}/",
            "https://a.example/",
            "{query}",
        ] {
            assert!(Provider::new("p", shape(url), None).is_err(), "{url}");
        }
        assert!(Provider::new("p", Kind::Searxng, None).is_err());
        assert!(Provider::new("p", Kind::Searxng, Some("ftp://x.example")).is_err());
    }

    #[test]
    fn a_key_that_is_not_set_is_named() {
        let provider = Provider::new("brave", Kind::Brave, None).expect("fine");
        assert!(!provider.is_ready());
        let error = provider.asked(&wanted("abc")).expect_err("there is no key");
        assert!(error.code == code::SEARCH_REFUSED && error.message.contains("BRAVE_API_KEY"), "{error}");
    }

    #[test]
    fn answers_of_each_kind_are_read() {
        let got = |status: u16, body: Value| Got {
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
            peer: "127.0.0.1:1".parse().expect("an address"),
        };
        let row = |words: &str| json!({"title": "T", "url": "https://a.example/", words: "W"});
        let item = json!({"name": "T", "link": {"href": "https://a.example/"}, "text": "W"});
        for (kind, body) in [
            (Kind::Searxng, json!({"results": [row("content")]})),
            (Kind::Tavily, json!({"results": [row("content"), 5, {"url": 7}]})),
            (Kind::Brave, json!({"web": {"results": [row("description")]}})),
            (shape("https://s.example/?q={query}"), json!({"data": {"items": [item]}})),
        ] {
            let provider = Provider::new("p", kind, Some("https://s.example/")).expect("fine");
            let found = provider.read(&got(200, body), &wanted("q")).expect("results");
            let shown = (found.len(), found[0].title.as_str(), found[0].snippet.as_str());
            assert_eq!(shown, (1, "T", "W"), "{:?}", provider.kind);
            assert_eq!(provider.read(&got(401, json!({})), &wanted("q")).expect_err("no").code, code::SEARCH_REFUSED);
            assert!(provider.read(&got(200, json!("x")), &wanted("q")).is_err() || provider.kind == Kind::Brave);
        }
    }
}
