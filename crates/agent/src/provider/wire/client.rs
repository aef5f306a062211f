//! The HTTP client under a provider, built when a model is first asked and not before: a program that asks
//! none pays for none.

use std::time::Duration;

use nika_contract::text;

use super::super::endpoint::{Patience, Proxies};
use super::super::{Kind, ModelError};

/// Builds a client for `address`.
///
/// TLS is rustls with ring. An `http://` address needs no certificates, so that a machine without any still
/// reaches a model of its own.
pub(super) fn build(address: &str, proxies: &Proxies, patience: Patience) -> Result<reqwest::Client, ModelError> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Where two threads come here at once, the second finds what the first has put there.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("nika/", env!("CARGO_PKG_VERSION")))
        // Not followed: a redirect would carry the key to a host that nobody configured.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(patience.connect)
        .tcp_keepalive(Duration::from_secs(30))
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(20))
        .pool_idle_timeout(Duration::from_secs(90));
    let https = address.starts_with("https://");
    if !https {
        builder = builder.tls_certs_only(std::iter::empty());
    }
    if let Some(proxy) = if https { &proxies.https } else { &proxies.http } {
        let proxy = reqwest::Proxy::all(proxy.as_str())
            .map_err(|error| failed(&format!("the proxy's address is not usable: {error}")))?;
        let none_for = proxies.none_for.as_deref().and_then(reqwest::NoProxy::from_string);
        builder = builder.proxy(proxy.no_proxy(none_for));
    }
    builder.build().map_err(|error| failed(&text::causes(&error)))
}

fn failed(why: &str) -> ModelError {
    ModelError {
        kind: Kind::Other,
        message: format!("no connection to a model can be made from here: {why}"),
        retry_after_ms: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_be_built_for_either_scheme_without_a_provider_installed_before() {
        for address in ["http://localhost:1/", "https://localhost:1/"] {
            assert!(build(address, &Proxies::default(), Patience::default()).is_ok(), "{address}");
        }
    }

    #[test]
    fn a_proxy_that_is_no_address_is_an_error() {
        let proxies = Proxies { http: Some("::".into()), ..Proxies::default() };
        let error = build("http://localhost:1/", &proxies, Patience::default()).unwrap_err();
        assert!(error.message.contains("proxy"), "{error}");
    }
}
