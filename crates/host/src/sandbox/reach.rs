//! Which hosts may be reached, and whether an address that a name resolved to is one to connect to.
//!
//! A name is normalised, or refused when it has no one normal form; then it is compared whole, or label by label from
//! the right. Addresses of this machine and of private networks are refused whatever name led there.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::proxy::Visit;

/// Ports that no browser goes to either (the Fetch standard's "bad ports"): shells, mail, directories, printers and the
/// like of a host. Whoever allowed the host meant its pages. A list of what is refused, not 80 and 443 alone: registries and
/// services of the web are on any other.
const NOT_OF_THE_WEB: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Decides about hosts, and hears of decisions.
pub struct Reach {
    hosts: Vec<String>,
    /// What `*` does not hold for; `None` where there is no `*`.
    but: Option<Vec<String>>,
    /// Whether this machine's own addresses may be reached. Only for tests.
    pub allow_loopback: bool,
    /// Hears of every decision.
    pub log: Box<dyn Fn(&Visit) + Send + Sync>,
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// Why a host is not reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The text is no host name in normal form.
    NotAName,
    /// No entry of the list names it.
    NotListed,
    /// On this port no web server answers, but something else that takes words as it finds them.
    Port(u16),
    /// It resolved to an address of this machine or of a private network.
    Private(IpAddr),
    /// It did not resolve, or could not be connected to.
    Failed(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NotAName => f.write_str("this is no host name"),
            Refused::NotListed => f.write_str("this host is not on the list of allowed hosts"),
            Refused::Port(port) => write!(f, "port {port} is none of the web"),
            Refused::Private(address) => write!(f, "{address} is an address of this machine or of a private network"),
            Refused::Failed(why) => write!(f, "{why}"),
        }
    }
}

impl Reach {
    /// Decides by this list: names, `*.` and a name for what is below it, `*` for every host but those with a `!`
    /// before them. Entries that are no names allow nothing; a `!` before such a one leaves nothing of the `*`.
    pub fn new(hosts: Vec<String>) -> Reach {
        let but: Option<Vec<String>> = hosts.iter().filter_map(|host| host.strip_prefix('!')).map(entry).collect();
        let named = hosts.iter().filter(|host| !host.starts_with('!')).filter_map(|host| entry(host)).collect();
        let but = but.filter(|_| hosts.iter().any(|host| host == "*"));
        Reach { hosts: named, but, allow_loopback: false, log: Box::new(|_| {}) }
    }

    /// Whether `host` is an entry of such a list that allows something.
    pub fn is_entry(host: &str) -> bool {
        host == "*" || entry(host).is_some()
    }

    /// Whether an entry of such a list can never be reached: it is of this machine or of a private network by what it says.
    pub fn is_never(host: &str) -> bool {
        let Some(name) = entry(host) else { return false };
        let is_here = name == "localhost" || name.ends_with(".localhost");
        is_here || name.parse::<IpAddr>().is_ok_and(|address| is_private(address.to_canonical()))
    }

    /// The normal form of `host` when it may be reached.
    pub fn name(&self, host: &str) -> Result<String, Refused> {
        let name = normal(host).ok_or(Refused::NotAName)?;
        let holds = |entry: &String| match entry.strip_prefix('*') {
            // `*.example.com` is what is below it, not itself.
            Some(suffix) => name.len() > suffix.len() && name.ends_with(suffix),
            None => *entry == name,
        };
        // An address may be that of a host which is withheld by its name.
        let numeric = name.parse::<IpAddr>().is_ok();
        let any = self.but.as_ref().is_some_and(|but| !but.iter().any(holds) && (but.is_empty() || !numeric));
        if any || self.hosts.iter().any(holds) { Ok(name) } else { Err(Refused::NotListed) }
    }

    /// Whether `port` is one to connect to, at any host.
    pub fn port(&self, port: u16) -> Result<(), Refused> {
        if NOT_OF_THE_WEB.contains(&port) { Err(Refused::Port(port)) } else { Ok(()) }
    }

    /// Whether `address` is one to connect to.
    pub fn address(&self, address: IpAddr) -> Result<(), Refused> {
        let address = address.to_canonical();
        if self.allow_loopback && address.is_loopback() {
            return Ok(());
        }
        if is_private(address) { Err(Refused::Private(address)) } else { Ok(()) }
    }
}

fn entry(host: &str) -> Option<String> {
    match host.strip_prefix("*.") {
        Some(below) => normal(below).map(|below| format!("*.{below}")),
        None => normal(host),
    }
}

/// Lower case, no trailing dot, labels of letters, digits and dashes; or an address in its usual form.
pub(crate) fn normal(host: &str) -> Option<String> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Some(address.to_canonical().to_string());
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // A last label of digits would be an address in one of its unusual spellings.
    let last = name.rsplit('.').next().unwrap_or_default();
    let number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    (name.len() <= 253 && name.split('.').all(label) && !number).then_some(name)
}

pub(crate) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        // Shared by carriers, protocol assignments, 6to4 relays, benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        || (a == 198 && (b == 18 || b == 19))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // Unspecified, loopback, mapped and compatible.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] => true,
        // NAT64 and 6to4 carry a version 4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, ..] => true,
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, documentation, discard.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x100, 0, 0, 0, ..] => true,
        // Unique local, link local, site local, multicast: only global unicast is left.
        [first, ..] => first & 0xe000 != 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_whole_or_by_label() {
        let reach = Reach::new(vec!["Example.com.".into(), "*.example.org".into()]);
        for host in ["example.com", "EXAMPLE.COM", "example.com.", "static.example.org", "a.b.example.org"] {
            assert!(reach.name(host).is_ok(), "{host}");
        }
        for host in [
            "example.org",
            "evilexample.org",
            "example.org.evil.com",
            "www.example.com",
            "example.com.evil.com",
            "evil-example.com",
            "example.comx",
        ] {
            assert_eq!(reach.name(host), Err(Refused::NotListed), "{host}");
        }
        for host in [
            "",
            ".",
            "example.com\0.evil.com",
            "example.com..",
            "exämple.com",
            "example.com/",
            "user@example.com",
            "example.com:80",
            "2130706433",
            "0x7f.1",
            "127.1",
            "-a.example.org",
            "a..example.org",
            "a b.example.org",
        ] {
            assert_eq!(reach.name(host), Err(Refused::NotAName), "{host:?}");
        }
    }

    #[test]
    fn any_host_is_every_one_but_those_that_are_withheld() {
        let reach = |hosts: &[&str]| Reach::new(hosts.iter().map(|host| (*host).to_owned()).collect());
        let open = reach(&["*", "!bad.example", "!*.worse.example", "fine.worse.example"]);
        for host in ["example.com", "worse.example", "a.bad.example", "fine.worse.example"] {
            assert!(open.name(host).is_ok(), "{host}");
        }
        for host in ["bad.example", "BAD.example.", "a.worse.example"] {
            assert_eq!(open.name(host), Err(Refused::NotListed), "{host}");
        }
        assert_eq!(open.name("127.1"), Err(Refused::NotAName), "a spelling without a normal form");
        assert_eq!(open.name("93.184.216.34"), Err(Refused::NotListed), "it may be the address of bad.example");
        assert!(reach(&["*"]).name("93.184.216.34").is_ok());
        // A star among the withheld, or one that nobody can read, leaves nothing of it.
        for shut in [reach(&["*", "!*"]), reach(&["*", "!ex ample"]), reach(&["!bad.example"]), reach(&[])] {
            assert_eq!(shut.name("example.com"), Err(Refused::NotListed), "{shut:?}");
        }
    }

    #[test]
    fn ports_of_other_services_are_not_reached() {
        let reach = Reach::new(vec!["*".into()]);
        for port in [22, 25, 143, 465, 587, 993, 6667] {
            assert_eq!(reach.port(port), Err(Refused::Port(port)));
        }
        for port in [80, 443, 3000, 5000, 8080, 8443, 9200, 65535] {
            assert_eq!(reach.port(port), Ok(()), "{port}");
        }
    }

    #[test]
    fn private_addresses_are_not_reached_in_any_spelling() {
        let reach = Reach::new(Vec::new());
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.8",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "2001:db8::1",
            "::127.0.0.1",
            "64:ff9b:1::1",
        ] {
            let parsed: IpAddr = address.parse().unwrap();
            let public = address == "::ffff:8.8.8.8";
            assert_eq!(reach.address(parsed).is_ok(), public, "{address}");
        }
        for address in ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"] {
            assert!(reach.address(address.parse().unwrap()).is_ok(), "{address}");
        }
    }
}
