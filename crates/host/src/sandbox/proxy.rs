//! The one way out of a contained network: a proxy outside that decides by name.
//!
//! The listener is made inside, where only the command can reach it, and handed out; what is accepted from it here is
//! connected from here. A name is resolved once, the address checked and then used, so that a second answer of the
//! name's server changes nothing. HTTP is forwarded without its proxy headers, everything else through CONNECT,
//! to any port but those of services that are not of the web. What is said in a tunnel is not looked at: it is encrypted where
//! it is what it should be.

use std::ffi::CString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::owner::received;
use super::reach::{Reach, Refused};

/// Where it listens, inside: nobody else does there.
pub(super) const PORT: u16 = 3128;
/// A request's head longer than this is refused.
const MAX_HEAD_BYTES: u64 = 64 << 10;
/// How long a connection to a host may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a head may take.
const HEAD: Duration = Duration::from_secs(30);
/// Connections at once.
const MAX_CONNECTIONS: usize = 128;
/// How often the proxy looks whether it should end.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// One decision about a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// The host as it was asked for, control characters escaped.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The address that was connected to.
    pub address: Option<IpAddr>,
    /// Why not.
    pub refused: Option<Refused>,
}

/// A proxy of one command. Dropped, it accepts nothing more.
#[derive(Debug)]
pub(super) struct Proxy {
    from: Option<OwnedFd>,
    stop: Arc<AtomicBool>,
}

impl Proxy {
    /// A proxy, and what its listener is handed over through.
    pub(super) fn new() -> Result<(Proxy, OwnedFd), Errno> {
        let (from, to) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok((Proxy { from: Some(from), stop: Arc::default() }, to))
    }

    /// Serves, once the command's world handed over its listener.
    pub(super) fn serve(&mut self, reach: Reach) {
        let Some(listener) = self.from.take().and_then(|from| received(&from)).map(TcpListener::from) else {
            return;
        };
        let stop = Arc::clone(&self.stop);
        thread::spawn(move || accept(&listener, &Arc::new(reach), &stop));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What tells programs of the proxy.
pub(super) fn environment() -> Vec<CString> {
    let to = format!("http://127.0.0.1:{PORT}");
    let names = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    let own = ["no_proxy", "NO_PROXY"].iter().map(|name| format!("{name}=localhost,127.0.0.1,::1"));
    names.iter().map(|name| format!("{name}={to}")).chain(own).filter_map(|text| CString::new(text).ok()).collect()
}

fn accept(listener: &TcpListener, reach: &Arc<Reach>, stop: &AtomicBool) {
    let open = Arc::new(AtomicUsize::new(0));
    while !stop.load(Ordering::Relaxed) {
        match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => return,
        }
        let Ok((client, _)) = listener.accept() else { continue };
        if open.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
            continue;
        }
        open.fetch_add(1, Ordering::Relaxed);
        let (reach, open) = (Arc::clone(reach), Arc::clone(&open));
        thread::spawn(move || {
            // What fails here fails at the client, which sees its connection end.
            let _ = connection(client, &reach);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// One request: its head decides, then bytes go both ways.
fn connection(mut client: TcpStream, reach: &Reach) -> io::Result<()> {
    client.set_read_timeout(Some(HEAD))?;
    let mut reader = BufReader::new(client.try_clone()?);
    let Some(request) = Request::read(&mut reader)? else {
        return client.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    };
    let decided = connect(&request, reach);
    (reach.log)(&Visit {
        host: request.host.escape_default().to_string(),
        port: request.port,
        address: decided.as_ref().ok().and_then(|to| to.peer_addr().ok()).map(|address| address.ip()),
        refused: decided.as_ref().err().cloned(),
    });
    let mut host = match decided {
        Ok(host) => host,
        Err(refused) => {
            let text = format!("nika: {refused}\n");
            let status = if matches!(refused, Refused::Failed(_)) { "502 Bad Gateway" } else { "403 Forbidden" };
            let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", text.len());
            client.write_all(head.as_bytes())?;
            return client.write_all(text.as_bytes());
        }
    };
    client.set_read_timeout(None)?;
    match &request.head {
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        Some(head) => host.write_all(head)?,
    }
    // What was read ahead belongs to the host.
    let ahead = reader.buffer().to_vec();
    host.write_all(&ahead)?;
    let (mut from, mut to) = (client.try_clone()?, host.try_clone()?);
    let up = thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let _ = io::copy(&mut host, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = host.shutdown(Shutdown::Both);
    let _ = up.join();
    Ok(())
}

/// Resolves once, and connects to what was checked.
fn connect(request: &Request, reach: &Reach) -> Result<TcpStream, Refused> {
    let name = reach.name(&request.host)?;
    reach.port(request.port)?;
    let failed = |error: io::Error| Refused::Failed(error.to_string());
    let addresses: Vec<SocketAddr> = (name.as_str(), request.port).to_socket_addrs().map_err(failed)?.collect();
    // One that is private makes the whole answer suspect.
    for address in &addresses {
        reach.address(address.ip())?;
    }
    let mut last = Refused::Failed("the name has no address".to_owned());
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(host) => return Ok(host),
            Err(error) => last = failed(error),
        }
    }
    Err(last)
}

/// The head of a request.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    host: String,
    port: u16,
    /// What the host gets to see; `None` for a tunnel.
    head: Option<Vec<u8>>,
}

impl Request {
    /// Reads a head; `None` when it is none that a proxy takes.
    fn read(from: &mut impl BufRead) -> io::Result<Option<Request>> {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut limited = from.take(MAX_HEAD_BYTES);
        loop {
            let mut line = Vec::new();
            limited.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\r\n") {
                return Ok(None);
            }
            line.truncate(line.len() - 2);
            if line.is_empty() {
                break;
            }
            lines.push(line);
        }
        Ok(Request::parse(&lines))
    }

    fn parse(lines: &[Vec<u8>]) -> Option<Request> {
        let (first, rest) = lines.split_first()?;
        let first = std::str::from_utf8(first).ok().filter(|line| !line.chars().any(char::is_control))?;
        let mut words = first.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        if method == "CONNECT" {
            let (host, port) = authority(target, None)?;
            return Some(Request { host, port, head: None });
        }
        let after = target.get(..7).filter(|start| start.eq_ignore_ascii_case("http://")).map(|_| &target[7..])?;
        let cut = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (name, path) = after.split_at(cut);
        let (host, port) = authority(name, Some(80))?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        // The host is what was decided about, whatever the client's header says; one request a connection.
        let mut head =
            format!("{method} {slash}{path} {version}\r\nHost: {name}\r\nConnection: close\r\n").into_bytes();
        for line in rest {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let header = line[..colon].to_ascii_lowercase();
            let ours =
                [&b"host"[..], b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive", b"upgrade"];
            if header.is_empty() || header.iter().any(|byte| byte.is_ascii_whitespace()) {
                return None;
            }
            if !ours.contains(&header.as_slice()) {
                head.extend_from_slice(line);
                head.extend_from_slice(b"\r\n");
            }
        }
        head.extend_from_slice(b"\r\n");
        Some(Request { host, port, head: Some(head) })
    }
}

/// `host:port`; a user name in it is refused.
fn authority(text: &str, default: Option<u16>) -> Option<(String, u16)> {
    if text.contains('@') {
        return None;
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let port = match port {
        Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok())??,
        None => default?,
    };
    (!host.is_empty() && port != 0).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Request> {
        Request::read(&mut BufReader::new(text.as_bytes())).unwrap()
    }

    #[test]
    fn a_tunnel_names_host_and_port() {
        let request = read("CONNECT example.com:443 HTTP/1.1\r\nHost: other\r\n\r\n").unwrap();
        assert_eq!(request, Request { host: "example.com".into(), port: 443, head: None });
        for bad in [
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "CONNECT a@example.com:443 HTTP/1.1\r\n\r\n",
            "CONNECT example.com:x HTTP/1.1\r\n\r\n",
            "CONNECT example.com:443 evil HTTP/1.1\r\n\r\n",
            "GET /path HTTP/1.1\r\nHost: example.com\r\n\r\n",
            "GET ftp://example.com/ HTTP/1.1\r\n\r\n",
            "GET http://example.com/ HTTP/1.1\nHost: example.com\n\n",
            "GET http://example.com/ HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n",
        ] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_forwarded_request_is_about_the_host_that_was_decided_on() {
        let request =
            read("GET http://example.com:8080?q HTTP/1.1\r\nHost: evil.com\r\nProxy-Authorization: x\r\nA: b\r\n\r\n");
        let request = request.unwrap();
        assert_eq!((request.host.as_str(), request.port), ("example.com", 8080));
        let head = String::from_utf8(request.head.unwrap()).unwrap();
        assert_eq!(head, "GET /?q HTTP/1.1\r\nHost: example.com:8080\r\nConnection: close\r\nA: b\r\n\r\n");
    }
}
