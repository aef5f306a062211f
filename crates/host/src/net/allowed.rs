//! Addresses of this machine or of private networks that a person lets be reached: a search engine of one's own on
//! `127.0.0.1:8888`, the wiki of a company in `10.20.0.0/16`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// A network, and the one port of it that is meant where one is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    network: IpAddr,
    prefix: u8,
    port: Option<u16>,
}

impl Allowed {
    /// Whether it excepts this address.
    pub fn holds(&self, address: IpAddr, port: u16) -> bool {
        self.port.is_none_or(|own| own == port) && !is_never(address) && self.contains(address)
    }

    fn contains(&self, address: IpAddr) -> bool {
        let same = |network: u128, address: u128, bits: u32| {
            let free = bits - u32::from(self.prefix);
            network.checked_shr(free).unwrap_or(0) == address.checked_shr(free).unwrap_or(0)
        };
        match (self.network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => same(network.to_bits().into(), address.to_bits().into(), 32),
            (IpAddr::V6(network), IpAddr::V6(address)) => same(network.to_bits(), address.to_bits(), 128),
            _ => false,
        }
    }
}

/// What nobody excepts, not as a part of a network either: where clouds hand out the keys of a machine, links without
/// a router, and addresses of nobody in particular.
fn is_never(address: IpAddr) -> bool {
    const METADATA: [&str; 3] = ["100.100.100.200", "192.0.0.192", "fd00:ec2::254"];
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    };
    let metadata = METADATA.iter().any(|known| known.parse() == Ok(address));
    link_local || metadata || address.is_unspecified() || address.is_multicast()
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Allowed, String> {
        let wrong =
            || format!("'{text}' is no address; `127.0.0.1:8888`, `10.20.0.0/16`, `[::1]:80` and `fd12::/64` are");
        let (network, prefix, port) = if let Ok(address) = text.parse::<SocketAddr>() {
            (address.ip(), None, Some(address.port()))
        } else if let Some((network, prefix)) = text.split_once('/') {
            (network.parse().map_err(|_| wrong())?, Some(prefix.parse::<u8>().map_err(|_| wrong())?), None)
        } else {
            (text.parse().map_err(|_| wrong())?, None, None)
        };
        let network: IpAddr = network;
        let most = if network.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.unwrap_or(most);
        if prefix > most || port == Some(0) {
            return Err(wrong());
        }
        if prefix < 8 {
            return Err(format!("'{text}' is too wide; a network has a prefix of at least /8"));
        }
        if is_never(network.to_canonical()) {
            return Err(format!(
                "'{text}' is where clouds keep the keys of a machine, or no host's; it is never reached"
            ));
        }
        Ok(Allowed { network, prefix, port })
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = if self.network.is_ipv4() { 32 } else { 128 };
        match self.port {
            Some(port) => SocketAddr::new(self.network, port).fmt(f),
            None if self.prefix < most => write!(f, "{}/{}", self.network, self.prefix),
            None => self.network.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_and_a_port_hold_for_what_they_say() {
        for (allowed, address, holds) in [
            ("127.0.0.1:8888", "127.0.0.1:8888", true),
            ("127.0.0.1:8888", "127.0.0.1:8889", false),
            ("127.0.0.1:8888", "127.0.0.2:8888", false),
            ("127.0.0.1", "127.0.0.1:1", true),
            ("10.20.0.0/16", "10.20.255.1:80", true),
            ("10.20.0.0/16", "10.21.0.1:80", false),
            ("[::1]:80", "[::1]:80", true),
            ("fd12::/64", "[fd12::9]:80", true),
            ("fd12::/64", "[fd13::9]:80", false),
            ("fd00::/8", "[fd00:ec2::254]:80", false),
            ("100.64.0.0/10", "100.100.100.200:80", false),
            ("100.64.0.0/10", "100.64.0.1:80", true),
            ("127.0.0.1", "[::1]:80", false),
        ] {
            let address: SocketAddr = address.parse().expect("an address");
            let parsed: Allowed = allowed.parse().expect(allowed);
            assert_eq!(parsed.holds(address.ip(), address.port()), holds, "{allowed} {address}");
            assert_eq!(parsed.to_string(), allowed);
        }
        for wrong in ["169.254.169.254", "localhost", "0.0.0.0/0", "::/0", "10.0.0.0/33", "127.0.0.1:0", "fe80::1", ""]
        {
            assert!(wrong.parse::<Allowed>().is_err(), "{wrong}");
        }
    }
}
