//! Which host an address names, as the programs that open it read it.
//!
//! A host that is named is judged by itself, and the rest of its command as harmless as it is. So where two programs could
//! read two hosts out of one text, or a text can become one of several, none is named.

use super::super::judge::{Arg, Judge, Word};
use super::super::words::LABEL;

/// Most addresses that one text with `{a,b}` and `[1-3]` in it stands for. Nobody writes more for hosts.
const SEVERAL: usize = 32;

/// Schemes behind which the host stands that is reached. In others (`ipfs://`, `file://`, `mongodb+srv://`) it is none, or
/// one that is looked up first.
const SCHEMES: &str = "http https ftp ftps sftp scp tftp ws wss ssh telnet ldap ldaps smtp smtps imap imaps pop3 pop3s rtsp \
    rtsps rtmp rtmps dict gopher gophers mqtt mqtts amqp amqps redis rediss valkey valkeys postgres \
    postgresql mysql mariadb mongodb socks4 socks4a socks5 socks5h git smb smbs nats grpc grpcs tcp rsync svn";

/// `argv` with the text of each pattern that may be an address in its place, if there is one: bash passes a pattern on as it
/// stands where it finds nothing, and no file has a name like `https://x/y?z`.
pub(super) fn as_they_stand(argv: &[Arg]) -> Option<Vec<Arg>> {
    let text = |arg: &Arg| match &arg.word {
        Word::Glob { pattern, .. } if may_be_one(pattern) => Some(arg.with(pattern)),
        _ => None,
    };
    let has_one = argv.iter().any(|arg| text(arg).is_some());
    has_one.then(|| argv.iter().map(|arg| text(arg).unwrap_or_else(|| arg.clone())).collect())
}

/// Whether a text has the shape of an address: `SCHEME://HOST`, `HOST:PATH`, `x.com/y`.
fn may_be_one(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    text.contains(':') || first.starts_with(|c: char| c.is_ascii_alphanumeric()) && first.contains('.') && text != first
}

/// The host in an address, with a scheme or without one, if it is one without tricks.
pub(super) fn host(address: &str) -> Option<&str> {
    let rest = without_scheme(address)?;
    let (authority, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    // Programs disagree about which of two separators counts, and whether a query or a `;` ends the name of a host.
    let tricks = authority.matches('@').count() > 1 || authority.starts_with('@') || authority.contains(['\\', ';']);
    if tricks || !behind.starts_with('/') && behind.contains('@') {
        return None;
    }
    name(authority.rsplit('@').next().unwrap_or_default())
}

/// The name in `NAME`, `NAME:PORT` or `[ADDRESS]:PORT`.
pub(super) fn name(named: &str) -> Option<&str> {
    let (name, port) = match named.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => named.split_at(named.find(':').unwrap_or(named.len())),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let ported = port.is_empty() || port.strip_prefix(':').is_some_and(digits);
    (ported && !name.is_empty() && !name.starts_with('-') && name.bytes().all(plain)).then_some(name)
}

/// What stands behind the scheme, if there is one that names a host.
fn without_scheme(address: &str) -> Option<&str> {
    let end =
        address.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))).unwrap_or(address.len());
    let (scheme, rest) = address.split_at(end);
    match rest.strip_prefix("://") {
        Some(rest) => super::spec::lists(SCHEMES, &scheme.to_ascii_lowercase()).then_some(rest),
        // curl takes one slash for two.
        None if rest.starts_with(":/") => None,
        None => Some(address),
    }
}

/// Whether the name of the host has ended in this start of an address, so that what follows is only a path.
fn has_whole_host(start: &str) -> bool {
    start.split_once("://").map_or(start, |(_, rest)| rest).contains('/')
}

/// The hosts of an address in which curl replaces `{a,b}` and `[1-3]`; none where one of them cannot be told.
pub(super) fn globbed(address: &str) -> Option<Vec<String>> {
    let (mut starts, mut rest) = (vec![String::new()], address);
    while let Some(at) = rest.find(['{', '[']).filter(|_| !starts.iter().all(|start| has_whole_host(start))) {
        let (plain, from) = rest.split_at(at);
        starts.iter_mut().for_each(|start| start.push_str(plain));
        if starts.iter().all(|start| has_whole_host(start)) {
            break;
        }
        let (inner, behind) = match from.strip_prefix('{') {
            Some(inner) => inner.split_once('}')?,
            None => from.strip_prefix('[')?.split_once(']')?,
        };
        let choices: Vec<String> = match from.starts_with('{') {
            true => inner.split(',').map(str::to_owned).collect(),
            false if inner.contains(':') && !inner.contains('-') => vec![format!("[{inner}]")],
            false => numbers(inner)?,
        };
        // An empty one is what `xargs` and `find` put a name in place of.
        if inner.is_empty() || choices.len() * starts.len() > SEVERAL || inner.contains(['{', '[', '\\']) {
            return None;
        }
        starts = starts.iter().flat_map(|start| choices.iter().map(move |choice| format!("{start}{choice}"))).collect();
        rest = behind;
    }
    starts.iter().map(|start| host(&format!("{start}{rest}")).map(str::to_owned)).collect()
}

/// The numbers or letters of `1-3`.
fn numbers(range: &str) -> Option<Vec<String>> {
    let (from, to) = range.split_once('-')?;
    if let (&[from], &[to]) = (from.as_bytes(), to.as_bytes()) {
        let letters =
            from.is_ascii_alphabetic() && to.is_ascii_alphabetic() || from.is_ascii_digit() && to.is_ascii_digit();
        return (letters && from <= to).then(|| (from..=to).map(|byte| char::from(byte).to_string()).collect());
    }
    // With a zero before it a number is filled up with zeros.
    let number = |text: &str| text.parse::<usize>().ok().filter(|_| !text.starts_with('0') || text == "0");
    let (from, to) = (number(from)?, number(to)?);
    (from <= to && to - from < SEVERAL).then(|| (from..=to).map(|number| number.to_string()).collect())
}

/// The hosts that the address of a database names: `postgres://u@a:1,b:2/db`.
pub(super) fn of_database(address: &str) -> Option<Vec<String>> {
    let (before, query) = address.split_once('?').unwrap_or((address, ""));
    // Parameters name other hosts, sockets and services, as they do with an encoded letter in them.
    let elsewhere = ["host", "service", "proxy", "socket", "%"];
    if elsewhere.iter().any(|word| query.to_ascii_lowercase().contains(word)) || !before.contains("://") {
        return None;
    }
    let rest = without_scheme(before)?;
    let authority = rest.split(['/', '#']).next().unwrap_or_default();
    if authority.matches('@').count() > 1 || authority.contains('\\') {
        return None;
    }
    let hosts = authority.rsplit('@').next().unwrap_or_default();
    hosts.split(',').map(|one| name(one).map(str::to_owned)).collect()
}

/// Notes the hosts that `read` finds in a word, or that some host is reached. What is known of a word that is not known to
/// its end is enough where the name of the host has ended in it.
pub(super) fn reach(arg: &Arg, read: &dyn Fn(&str) -> Option<Vec<String>>, judge: &mut Judge<'_>) {
    let begun = |start: &str| if has_whole_host(start) { read(start) } else { None };
    let hosts = match &arg.word {
        Word::Exact(text) => match text.split_once(LABEL) {
            Some((start, _)) => begun(start),
            None => read(text),
        },
        Word::Glob { prefix, .. } | Word::Opaque { prefix, splits: false, .. } => begun(prefix),
        Word::Opaque { .. } => None,
        Word::OneOf(words) => {
            let one = |word: &Word| Arg { word: word.clone(), span: arg.span.clone() };
            return words.iter().for_each(|word| reach(&one(word), read, judge));
        }
    };
    match hosts {
        Some(hosts) => hosts.iter().for_each(|host| judge.net(Some(host))),
        None => judge.net(None),
    }
}

/// The host of a plain address.
pub(super) fn one(address: &str) -> Option<Vec<String>> {
    host(address).map(|host| vec![host.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_host() {
        for (address, wanted) in [
            ("localhost", Some("localhost")),
            ("localhost:5401/a.c", Some("localhost")),
            ("http://localhost?x=1", Some("localhost")),
            ("localhost/x?u=http://evil.example", Some("localhost")),
            ("u:p@127.0.0.1:80/", Some("127.0.0.1")),
            ("[::1]:80", Some("::1")),
            ("https://example.com:/x", Some("example.com")),
            ("a@b@c/", None),
            ("ftp://evil;x@localhost", None),
            ("http://localhost#@evil.example/", None),
            ("http://localhost\\@evil.example/", None),
            ("localhost:80x", None),
            ("http:/localhost", None),
            ("http:///localhost", None),
            ("file:///etc/passwd", None),
            ("ipfs://localhost/x", None),
            ("/x", None),
            ("local{host", None),
            ("-x", None),
        ] {
            assert_eq!(host(address), wanted, "{address}");
        }
    }

    #[test]
    fn what_stands_for_several_names_each() {
        let told = |address: &str| globbed(address).map(|hosts| hosts.join(" "));
        for (address, wanted) in [
            ("{a,b}.x/y", Some("a.x b.x")),
            ("http://n[1-3].x", Some("n1.x n2.x n3.x")),
            ("{http,ftp}://localhost/", Some("localhost localhost")),
            ("localhost/{a,b}[1-900]", Some("localhost")),
            ("[::1]:80/x", Some("::1")),
            ("localhost:{80/,@evil.x/}", Some("localhost evil.x")),
            ("localhost{,.evil.x}", Some("localhost localhost.evil.x")),
            ("n[1-900].x", None),
            ("n[01-12].x", None),
            ("{a,{b,c}}.x", None),
            ("localhost{}/x", None),
            ("{a,b.x", None),
            ("[::1-3].x", None),
        ] {
            assert_eq!(told(address).as_deref(), wanted, "{address}");
        }
    }

    #[test]
    fn an_address_of_a_database_may_name_several() {
        let told = |address: &str| of_database(address).map(|hosts| hosts.join(" "));
        for (address, wanted) in [
            ("postgres://u@localhost/db", Some("localhost")),
            ("postgresql://u:p@a:1,b:2/db?sslmode=require", Some("a b")),
            ("mongodb://localhost", Some("localhost")),
            ("redis://:pw@127.0.0.1:6399/0", Some("127.0.0.1")),
            ("postgres:///db?host=x", None),
            ("postgres:///db", None),
            ("postgres://localhost/db?host=x", None),
            ("mongodb+srv://x/db", None),
            ("postgres://localhost/db?h%6fst=x", None),
            ("localhost", None),
        ] {
            assert_eq!(told(address).as_deref(), wanted, "{address}");
        }
    }
}
