//! An address that may be asked at all: `http` or `https`, a host in its one normal form, no name or password in it.

use std::fmt;
use std::net::IpAddr;

use nika_contract::{ToolError, code, text};
use nika_guard::web::{ADDRESS_BYTES, QUERY_BYTES};
use reqwest::Url;

use crate::sandbox::reach;

/// Bytes of an address: what servers take at most.
const MOST_BYTES: usize = 8_000;

/// See the module's page. Without a fragment, which is never sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    url: Url,
    host: String,
}

impl Address {
    /// Reads an address as a browser would.
    pub fn parse(written: &str) -> Result<Address, ToolError> {
        let written = written.trim();
        let wrong = |why: &str| wrong(written, why);
        if written.len() > MOST_BYTES {
            return Err(wrong(&format!("it has more than {MOST_BYTES} bytes")));
        }
        // A parser takes some of these out and reads the rest: another address than the one that was judged by eye.
        if written.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(wrong("it holds white space or control characters"));
        }
        let url = Url::parse(written).map_err(|error| wrong(&error.to_string()))?;
        Address::of(url, written)
    }

    /// Where `location`, said by this address, leads.
    pub fn join(&self, location: &str) -> Result<Address, ToolError> {
        if location.len() > MOST_BYTES || location.chars().any(|c| c.is_control()) {
            return Err(wrong(location, "it is too long, or holds control characters"));
        }
        let url = self.url.join(location.trim()).map_err(|error| wrong(location, &error.to_string()))?;
        Address::of(url, location)
    }

    fn of(mut url: Url, written: &str) -> Result<Address, ToolError> {
        let wrong = |why: &str| wrong(written, why);
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("only `http` and `https` are fetched"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("it holds a name or password"));
        }
        let host = url.host_str().and_then(reach::normal).ok_or_else(|| wrong("it names no host in a usual form"))?;
        // A dot at the end of a name, or an unusual spelling of a number, is gone from here on.
        let spelled = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        url.set_host(Some(&spelled)).map_err(|error| wrong(&error.to_string()))?;
        if url.port() == Some(0) {
            return Err(wrong("there is no port 0"));
        }
        url.set_fragment(None);
        Ok(Address { url, host })
    }

    /// The host: a name in lower case without a dot at its end, or a number in its usual form.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host's number, where it is written as one.
    pub fn number(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// The port it is asked at.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(80)
    }

    /// The port, where one is written that is not the scheme's own.
    pub(super) fn explicit_port(&self) -> Option<u16> {
        self.url.port()
    }

    /// Whether what goes over the wire cannot be read on the way.
    pub fn is_secret(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether it carries no more than an address of a page does: a short query, and no other address in it, which a
    /// host might go to for whoever asks.
    pub fn is_ordinary(&self) -> bool {
        let query = self.url.query().unwrap_or_default();
        let plain = query.to_ascii_lowercase().replace("%3a", ":").replace("%2f", "/").replace("%25", "%");
        let leads_on = plain.contains("//") || plain.contains("%3a") || plain.contains("%2f");
        !leads_on && query.len() <= QUERY_BYTES && self.url.as_str().len() <= ADDRESS_BYTES
    }

    /// The whole of it.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

fn wrong(written: &str, why: &str) -> ToolError {
    let shown = text::harmless(&text::preview(written, 200)).into_owned();
    ToolError::new(code::BAD_URL, format!("'{shown}' is no address to fetch: {why}"))
        .hint("an address looks like `https://docs.rs/serde`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_come_in_one_form_however_they_are_written() {
        for (written, host) in [
            ("https://Docs.RS./serde#top", "docs.rs"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://127.1/", "127.0.0.1"),
            ("http://[::ffff:10.0.0.1]/", "10.0.0.1"),
            ("http://[::1]:8080/", "::1"),
            ("http://localhost./", "localhost"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            ("http://１２７.0.0.1/", "127.0.0.1"),
        ] {
            let address = Address::parse(written).expect(written);
            assert_eq!(address.host(), host, "{written}");
            assert!(!address.as_str().contains('#'));
            assert_eq!(Address::parse(address.as_str()).expect("again"), address, "{written}");
        }
    }

    #[test]
    fn what_is_not_to_be_fetched_is_refused_with_the_reason() {
        for (written, why) in [
            ("file:///etc/passwd", "http"),
            ("gopher://example.com/", "http"),
            ("ftp://example.com/", "http"),
            ("javascript:alert(1)", "http"),
            ("data:text/plain,hi", "http"),
            ("example.com", "relative URL"),
            ("http://me:secret@example.com/", "password"),
            ("http://me@example.com/", "password"),
            ("http://example.com:0/", "port"),
            ("http://exa mple.com/", "white space"),
            ("ht\ntp://example.com/", "control"),
            ("http://-a.example/", "host"),
            ("http://example.com\0.evil.example/", "control"),
        ] {
            let error = Address::parse(written).expect_err(written);
            assert_eq!(error.code, code::BAD_URL);
            assert!(error.message.contains(why), "{written:?}: {error}");
        }
    }

    #[test]
    fn a_long_query_is_not_ordinary() {
        let with = |bytes: usize| Address::parse(&format!("https://docs.rs/?q={}", "a".repeat(bytes))).expect("fine");
        assert!(with(200).is_ordinary() && !with(300).is_ordinary());
        for (query, ordinary) in [
            ("q=a/b&x=1:2", true),
            ("url=https://evil.example/?d=1", false),
            ("url=https%3A%2F%2Fevil.example", false),
            ("url=https%253a%252f%252fevil.example", false),
            ("u=//evil.example", false),
        ] {
            let address = Address::parse(&format!("https://docs.rs/a?{query}")).expect("an address");
            assert_eq!(address.is_ordinary(), ordinary, "{query}");
        }
        let path = Address::parse(&format!("https://docs.rs/{}", "a".repeat(2_000))).expect("fine");
        assert!(!path.is_ordinary());
    }
}
