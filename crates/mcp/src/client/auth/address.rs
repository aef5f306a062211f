//! Which addresses a login may use, and where its documents are looked for. Pure.
//!
//! Everything is `https`, except on this machine for a server that is on this machine, too. What a server names is a
//! stranger's word: it may not lead to an address of the local network unless the server itself lies there.

use std::net::IpAddr;

use nika_contract::{ToolError, code};
use reqwest::Url;

use super::super::http::bare;

/// An address as it stands in configuration or in a server's document.
pub(crate) fn parse(text: &str, what: &str) -> Result<Url, ToolError> {
    let wrong = |why: &str| {
        ToolError::new(code::MCP_LOGIN_ADDRESS, format!("{what} '{}' is no address to use: {why}", shown(bare(text))))
            .hint("it has to look like `https://auth.example.com/token`")
    };
    let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("it has to begin with `https://` and name a host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it holds a name or password"));
    }
    if url.fragment().is_some() {
        return Err(wrong("it goes on after `#`"));
    }
    Ok(url)
}

/// An address that the server at `server`, or its authorization server, named.
pub(crate) fn named(text: &str, what: &str, server: &Url) -> Result<Url, ToolError> {
    let url = parse(text, what)?;
    let refused = |why: &str| {
        ToolError::new(code::MCP_LOGIN_ADDRESS, format!("{what} '{}' is not used: {why}", shown(bare(url.as_str()))))
            .hint("the server's operator has to give it an `https://` address that anybody can reach")
    };
    if is_loopback(&url) {
        return match is_loopback(server) {
            true => Ok(url),
            false => Err(refused("it lies on this machine, and the server does not")),
        };
    }
    if url.scheme() != "https" {
        return Err(refused("it is not `https`"));
    }
    if is_local(&url) && url.host_str() != server.host_str() {
        return Err(refused("it lies in a local network"));
    }
    Ok(url)
}

/// Whether it lies on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match ip(url) {
        Some(ip) => canonical_ip(ip).is_loopback(),
        None => url.host_str().is_some_and(|host| {
            let host = host.trim_end_matches('.');
            host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost")
        }),
    }
}

/// Whether its host is a number of a network that is not everybody's. Names are not looked up here: `https` wants a
/// certificate for the name.
fn is_local(url: &Url) -> bool {
    match ip(url).map(canonical_ip) {
        Some(IpAddr::V4(ip)) => {
            let shared = ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 64;
            ip.is_private() || ip.is_link_local() || ip.is_unspecified() || ip.is_broadcast() || shared
        }
        Some(IpAddr::V6(ip)) => {
            let first = ip.segments()[0];
            ip.is_unspecified() || ip.is_multicast() || first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80
        }
        None => false,
    }
}

fn ip(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// `::ffff:127.0.0.1` is `127.0.0.1`.
fn canonical_ip(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(ip, IpAddr::V4),
        IpAddr::V4(_) => ip,
    }
}

/// Whether both are the same place to a browser: scheme, host and port.
pub(crate) fn same_origin(one: &Url, other: &Url) -> bool {
    one.scheme() == other.scheme()
        && one.host_str() == other.host_str()
        && one.port_or_known_default() == other.port_or_known_default()
}

/// The name under which a server's logins are kept, and what stands for it as a resource when it names none itself:
/// no query, no fragment, no slash where there is no path.
pub(crate) fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_query(None);
    url.set_fragment(None);
    let text = url.to_string();
    if url.path() == "/" { text.trim_end_matches('/').to_owned() } else { text }
}

/// Where the metadata of a protected resource are when it does not say (RFC 9728): below its path first, then at the
/// root.
pub(crate) fn resource_metadata(server: &Url) -> Vec<Url> {
    const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
    let mut paths = vec![];
    if server.path() != "/" {
        paths.push(format!("{WELL_KNOWN}{}", server.path()));
    }
    paths.push(WELL_KNOWN.to_owned());
    at_origin(server, &paths)
}

/// Where the metadata of an authorization server are (RFC 8414 and OpenID Connect discovery).
pub(crate) fn issuer_metadata(issuer: &Url) -> Vec<Url> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![format!("{OAUTH}{path}"), format!("{OPENID}{path}")];
    if !path.is_empty() {
        paths.push(format!("{path}{OPENID}"));
    }
    at_origin(issuer, &paths)
}

/// An end point of a server that has no metadata, as the revision of 2025-03-26 names it.
pub(crate) fn at_root(server: &Url, path: &str) -> Url {
    at_origin(server, &[path.to_owned()]).remove(0)
}

fn at_origin(url: &Url, paths: &[String]) -> Vec<Url> {
    let place = |path: &String| {
        let mut url = url.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.set_path(path);
        url
    };
    paths.iter().map(place).collect()
}

/// Whether a token for `resource` is a token for `server`: the same origin, and the same path or one above it.
pub(crate) fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    if resource.fragment().is_some() || !same_origin(&resource, server) {
        return false;
    }
    let (wide, narrow) = (resource.path().trim_end_matches('/'), server.path().trim_end_matches('/'));
    narrow.strip_prefix(wide).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether both name the same issuer. A host without a path is the same with and without a slash; nothing else is
/// made equal.
pub(crate) fn same_issuer(one: &str, other: &str) -> bool {
    let bare = |text: &str| Url::parse(text).ok().filter(|url| url.path() == "/" && url.query().is_none());
    one == other || matches!((bare(one), bare(other)), (Some(one), Some(other)) if one == other)
}

/// A stranger's text for a message: one line, nothing that steers a terminal, not long.
pub(crate) fn shown(text: &str) -> String {
    nika_contract::text::preview(&nika_contract::text::harmless(text), 300)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn https_only_and_this_machine_only_from_this_machine() {
        let far = url("https://mcp.example.com/mcp");
        let near = url("http://127.0.0.1:9/mcp");
        let inside = url("https://10.0.0.7/mcp");
        for (address, server, ok) in [
            ("https://auth.example.com/", &far, true),
            ("http://auth.example.com/", &far, false),
            ("http://localhost:8/", &far, false),
            ("https://127.0.0.1/", &far, false),
            ("https://[::1]/", &far, false),
            ("https://[::ffff:127.0.0.1]/", &far, false),
            ("https://2130706433/", &far, false),
            ("https://169.254.169.254/", &far, false),
            ("https://192.168.1.1/", &far, false),
            ("https://[fd00::1]/", &far, false),
            ("http://localhost:8/", &near, true),
            ("http://[::1]:8/", &near, true),
            ("http://auth.example.com/", &near, false),
            ("https://10.0.0.7/token", &inside, true),
            ("https://10.0.0.8/token", &inside, false),
            ("javascript:alert(1)", &near, false),
            ("file:///etc/passwd", &near, false),
            ("https://me:secret@auth.example.com/", &far, false),
        ] {
            assert_eq!(named(address, "the address", server).is_ok(), ok, "{address} for {server}");
        }
    }

    #[test]
    fn documents_are_looked_for_below_the_path_first() {
        let texts = |urls: Vec<Url>| urls.iter().map(Url::to_string).collect::<Vec<_>>();
        assert_eq!(
            texts(resource_metadata(&url("https://a.example/mcp?x=1"))),
            [
                "https://a.example/.well-known/oauth-protected-resource/mcp",
                "https://a.example/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(texts(resource_metadata(&url("https://a.example"))).len(), 1);
        assert_eq!(
            texts(issuer_metadata(&url("https://a.example/tenant1/"))),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant1",
                "https://a.example/.well-known/openid-configuration/tenant1",
                "https://a.example/tenant1/.well-known/openid-configuration"
            ]
        );
        assert_eq!(texts(issuer_metadata(&url("https://a.example"))).len(), 2);
    }

    #[test]
    fn a_resource_covers_what_lies_below_it() {
        let server = url("https://a.example/team/mcp");
        for (resource, ok) in [
            ("https://a.example/team/mcp", true),
            ("https://a.example/team/", true),
            ("https://a.example", true),
            ("https://a.example/te", false),
            ("https://a.example/team/mcp/deeper", false),
            ("https://evil.example/team/mcp", false),
            ("http://a.example/team/mcp", false),
            ("https://a.example:444/team/mcp", false),
            ("nonsense", false),
        ] {
            assert_eq!(covers(resource, &server), ok, "{resource}");
        }
        assert_eq!(canonical(&url("https://a.example/?q=1")), "https://a.example");
        assert_eq!(canonical(&url("https://A.example/mcp")), "https://a.example/mcp");
    }

    #[test]
    fn issuers_are_compared_as_text_but_for_a_bare_slash() {
        assert!(same_issuer("https://a.example", "https://a.example/"));
        assert!(!same_issuer("https://a.example/t", "https://a.example/t/"));
        assert!(!same_issuer("https://a.example", "https://b.example"));
    }
}
