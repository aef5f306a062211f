//! What is wanted of a search, and the results that fit: whose domain is allowed, whose address can be fetched, each
//! once, in clean words.

use nika_contract::{ToolError, text};
use nika_host::net::Address;

use crate::web::clean::clean;
use crate::web::hidden::entities;

/// Characters of a title and of the words beside it.
const TITLE_CHARS: usize = 200;
const SNIPPET_CHARS: usize = 600;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub query: String,
    pub most: usize,
    /// Domains in normal form.
    pub allowed: Vec<String>,
    pub blocked: Vec<String>,
}

impl Wanted {
    /// The query with the domains in the words that search engines understand. They are only a help: what comes back is
    /// looked at all the same.
    pub fn with_sites(&self) -> String {
        let allowed: Vec<String> = self.allowed.iter().map(|domain| format!("site:{domain}")).collect();
        let blocked: String = self.blocked.iter().map(|domain| format!(" -site:{domain}")).collect();
        match allowed.len() {
            0 => format!("{}{blocked}", self.query),
            1 => format!("{} {}{blocked}", self.query, allowed[0]),
            _ => format!("{} ({}){blocked}", self.query, allowed.join(" OR ")),
        }
    }

    /// Whether a host is among what is wanted.
    fn takes(&self, host: &str) -> bool {
        let below = |domain: &String| {
            host == domain || host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.ends_with('.'))
        };
        (self.allowed.is_empty() || self.allowed.iter().any(below)) && !self.blocked.iter().any(below)
    }
}

/// A domain as it is compared.
pub(super) fn domain(field: &str, written: &str) -> Result<String, ToolError> {
    let plain = written.trim().trim_start_matches("*.");
    let plain = plain.strip_prefix("https://").or_else(|| plain.strip_prefix("http://")).unwrap_or(plain);
    let name = plain.trim_end_matches('/');
    let address = Address::parse(&format!("https://{name}/")).ok();
    address
        .filter(|address| !name.is_empty() && address.as_str().ends_with(&format!("{}/", address.host())))
        .map(|address| address.host().to_owned())
        .ok_or_else(|| {
            ToolError::argument(field, format!("'{}' is no domain; `example.com` is", text::preview(written, 80)))
        })
}

/// One result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub title: String,
    pub address: String,
    pub snippet: String,
}

impl Found {
    /// As the model reads it.
    pub fn shown(&self, number: usize) -> String {
        let Found { title, address, snippet } = self;
        match snippet.is_empty() {
            true => format!("{number}. {title}\n   {address}\n"),
            false => format!("{number}. {title}\n   {address}\n   {snippet}\n"),
        }
    }
}

/// The results that fit, of (title, address, words) as a provider gave them.
pub(super) fn fitting(wanted: &Wanted, given: impl Iterator<Item = (String, String, String)>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (title, address, snippet) in given {
        let Ok(address) = Address::parse(&address) else { continue };
        if !wanted.takes(address.host()) || found.iter().any(|known| known.address == address.as_str()) {
            continue;
        }
        let title = words(&title, TITLE_CHARS);
        let title = if title.is_empty() { address.host().to_owned() } else { title };
        found.push(Found { title, address: address.as_str().to_owned(), snippet: words(&snippet, SNIPPET_CHARS) });
        if found.len() == wanted.most {
            break;
        }
    }
    found
}

/// One line without tags (engines set found words in bold) and without what nobody sees.
fn words(given: &str, most: usize) -> String {
    let mut plain = String::with_capacity(given.len());
    let mut rest = given;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        let tag = rest[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        match rest[at..].find('>').filter(|_| tag) {
            Some(end) => rest = &rest[at + end + 1..],
            None => {
                plain.push('<');
                rest = &rest[at + 1..];
            }
        }
    }
    plain.push_str(rest);
    text::preview(&clean(&entities(&plain)).0, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(allowed: &[&str], blocked: &[&str]) -> Wanted {
        let domains = |domains: &[&str]| domains.iter().map(|one| domain("d", one).expect("a domain")).collect();
        Wanted { query: "q".into(), most: 3, allowed: domains(allowed), blocked: domains(blocked) }
    }

    #[test]
    fn domains_match_by_label() {
        let one = wanted(&["Example.com."], &["bad.example.com"]);
        for (host, takes) in [
            ("example.com", true),
            ("www.example.com", true),
            ("badexample.com", false),
            ("example.com.evil.org", false),
            ("bad.example.com", false),
            ("x.bad.example.com", false),
            ("notbad.example.com", true),
            ("com", false),
        ] {
            assert_eq!(one.takes(host), takes, "{host}");
        }
        assert!(wanted(&[], &["a.org"]).takes("b.org"));
        assert_eq!(wanted(&["a.org", "b.org"], &["c.org"]).with_sites(), "q (site:a.org OR site:b.org) -site:c.org");
        for odd in ["", "a b", "a.org/path", "*", "http://", "a.org:80", "a.org?x"] {
            assert!(domain("d", odd).is_err(), "{odd}");
        }
        assert_eq!(domain("d", "https://*.a.org").ok(), None);
        assert_eq!(domain("d", "*.a.org").expect("fine"), "a.org");
    }

    #[test]
    fn results_are_clean_and_come_once() {
        let given = [
            ("<b>A</b> &amp; B\u{202e}", "https://a.org/1#x", "words <strong>found</strong>\n1 < 2"),
            ("again", "https://a.org/1", ""),
            ("script", "javascript:alert(1)", ""),
            ("file", "file:///etc/passwd", ""),
            ("", "https://b.org/", ""),
        ];
        let given = given.map(|(title, address, words)| (title.to_owned(), address.to_owned(), words.to_owned()));
        let found = fitting(&wanted(&[], &[]), given.into_iter());
        let shown: Vec<String> = found.iter().enumerate().map(|(at, one)| one.shown(at + 1)).collect();
        assert_eq!(shown, ["1. A & B\n   https://a.org/1\n   words found 1 < 2\n", "2. b.org\n   https://b.org/\n"]);
    }
}
