//! Servers that misbehave, resolvers that lie, addresses that lead inside.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use nika_contract::{BoxFuture, Code};
use nika_guard::{Effect, Effects, Mode, Policy, Stance};

use super::*;

/// A server on a port of its own, and how many connections it saw.
struct Server {
    at: SocketAddr,
    seen: Arc<AtomicUsize>,
}

impl Server {
    /// Answers each connection by `answer`, once the request's head is there.
    fn new(answer: impl Fn(&mut TcpStream, &str) + Send + Sync + 'static) -> Server {
        Server::on("127.0.0.1:0", answer).expect("a port")
    }

    fn on(at: &str, answer: impl Fn(&mut TcpStream, &str) + Send + Sync + 'static) -> std::io::Result<Server> {
        let listener = TcpListener::bind(at)?;
        let at = listener.local_addr()?;
        let seen = Arc::new(AtomicUsize::new(0));
        let (count, answer) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                count.fetch_add(1, Ordering::SeqCst);
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || {
                    let head = head(&mut stream);
                    answer(&mut stream, &head);
                });
            }
        });
        Ok(Server { at, seen })
    }

    fn says(bytes: impl Into<Vec<u8>>) -> Server {
        let bytes = bytes.into();
        Server::new(move |stream, _| _ = stream.write_all(&bytes))
    }

    fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }
}

/// A request's head.
fn head(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    // A greeting in TLS has no such end.
    while !head.ends_with(b"\r\n\r\n") && head.first() != Some(&0x16) && matches!(stream.read(&mut byte), Ok(1)) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Says nothing more, and waits until the other side is gone.
fn hold(stream: &mut TcpStream) {
    let mut rest = [0; 64];
    while matches!(stream.read(&mut rest), Ok(read) if read > 0) {}
}

/// A resolver that gives each name its answers in turn; the last again and again.
#[derive(Debug, Default)]
struct Liar(Mutex<HashMap<String, Vec<Vec<SocketAddr>>>>);

impl Liar {
    fn says(self, host: &str, answers: &[&[SocketAddr]]) -> Liar {
        let answers = answers.iter().rev().map(|answer| answer.to_vec()).collect();
        self.0.lock().expect("not poisoned").insert(host.to_owned(), answers);
        self
    }
}

impl Lookup for Liar {
    fn addresses<'a>(&'a self, host: &'a str, _: u16) -> BoxFuture<'a, std::io::Result<Vec<SocketAddr>>> {
        let mut names = self.0.lock().expect("not poisoned");
        let found = names.get_mut(host).map(|answers| match answers.len() {
            1 => answers[0].clone(),
            _ => answers.pop().unwrap_or_default(),
        });
        Box::pin(async move { found.ok_or_else(|| std::io::Error::other("no such name")) })
    }
}

fn net(lookup: Liar, allowed: &[SocketAddr]) -> Net {
    let allowed = allowed.iter().map(|at| at.to_string().parse().expect("an address")).collect();
    Net { lookup: Arc::new(lookup), allowed, agent: "nika-test".into() }
}

fn permit(effects: impl IntoIterator<Item = Effect>) -> Permit {
    let effects = Effects { tool: "web_fetch".into(), all: effects.into_iter().collect() };
    Policy::default().judge(&Stance::from(Mode::AcceptAll), &effects).permit(None).expect("everything is allowed")
}

fn any(host: &str) -> Permit {
    permit([Effect::Net(host.to_owned())])
}

fn block<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}

const QUICK: Caps = Caps {
    body_bytes: 64 << 10,
    unpacked_bytes: 4 << 20,
    ratio: 100,
    connect: Duration::from_secs(5),
    head: Duration::from_secs(5),
    whole: Duration::from_secs(10),
};

fn get(net: &Net, url: &str, caps: &Caps) -> Result<Got, ToolError> {
    let address = Address::parse(url)?;
    let permit = any(address.host());
    block(net.exchange(&permit, &Asked::get(address), caps, &Cancel::default()))
}

/// What comes of a server, asked as `site.example`.
fn ask(server: &Server, caps: &Caps) -> Result<Got, ToolError> {
    let net = net(Liar::default().says("site.example", &[&[server.at]]), &[server.at]);
    get(&net, "http://site.example/", caps)
}

fn refused(result: Result<Got, ToolError>) -> Code {
    match result {
        Ok(got) => panic!("an answer: {got:?}"),
        Err(error) => error.code,
    }
}

#[test]
fn a_page_comes_whole_with_its_head() {
    let server = Server::new(|stream, head| {
        let body = head.to_lowercase();
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    });
    let got = ask(&server, &QUICK).expect("it answers");
    let body = String::from_utf8(got.body.clone()).expect("text");
    assert_eq!((got.status, got.header("x-one"), got.peer), (200, Some("1"), server.at));
    assert!(body.contains("host: site.example\r\n") && body.contains("user-agent: nika-test"), "{body}");
    assert!(!body.contains("cookie") && !body.contains("referer"), "{body}");
}

#[test]
fn no_spelling_of_an_inner_address_is_connected_to() {
    let inner = Server::says("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
    let inner6 = Server::on("[::1]:0", |stream, _| _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nsecret"));
    let port = inner.at.port();
    let port6 = inner6.as_ref().map_or(port, |server| server.at.port());
    let net = Net { lookup: Arc::new(System), allowed: Vec::new(), agent: "nika-test".into() };
    let mut probes = 0;
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://127.255.255.254:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://017700000001:{port}/"),
        format!("http://0177.0.0.1:{port}/"),
        format!("http://0:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://localhost.:{port}/"),
        format!("http://LOCALHOST:{port}/"),
        format!("http://１２７.０.０.１:{port}/"),
        format!("http://127。0。0。1:{port}/"),
        format!("http://%31%32%37.0.0.1:{port}/"),
        format!("http://[::1]:{port6}/"),
        format!("http://[::]:{port6}/"),
        format!("http://[0:0:0:0:0:0:0:1]:{port6}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[::ffff:7f00:1]:{port}/"),
        format!("http://[::127.0.0.1]:{port}/"),
        format!("http://[64:ff9b::127.0.0.1]:{port}/"),
        format!("http://[2002:7f00:1::]:{port}/"),
        format!("http://[2001:0:7f00:1::]:{port}/"),
        "http://169.254.169.254/latest/meta-data/".into(),
        "http://[fd00:ec2::254]/latest/meta-data/".into(),
        "http://[::ffff:169.254.169.254]/".into(),
        "http://[::ffff:10.0.0.1]/".into(),
        "http://100.100.100.200/".into(),
        "http://10.0.0.1/".into(),
        "http://172.16.0.1/".into(),
        "http://192.168.0.1/".into(),
        "http://100.64.0.1/".into(),
        "http://224.0.0.1/".into(),
        "http://255.255.255.255/".into(),
        "http://[fe80::1]/".into(),
        "http://[fc00::1]/".into(),
        "http://[ff02::1]/".into(),
        format!("http://user@127.0.0.1:{port}/"),
        format!("http://example.com@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}\\@example.com/"),
        format!("http:\\\\127.0.0.1:{port}\\"),
        format!("file://127.0.0.1:{port}/etc/passwd"),
        format!("gopher://127.0.0.1:{port}/_x"),
        format!("ws://127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}\0.example.com/"),
    ] {
        let code = refused(get(&net, &url, &QUICK));
        assert!(code == code::FORBIDDEN_ADDRESS || code == code::BAD_URL, "{url:?}: {code}");
        probes += 1;
    }
    let reached = inner.seen() + inner6.map_or(0, |server| server.seen());
    println!("probes of addresses: {probes}, reached: {reached}");
    assert_eq!((probes, reached), (47, 0));
}

#[test]
fn a_name_that_leads_inside_is_not_followed_there() {
    let inner = Server::says("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
    let fine = Server::says("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine");
    let outside: SocketAddr = "93.184.216.34:80".parse().expect("an address");
    let with = |number: &str| SocketAddr::new(number.parse().expect("a number"), inner.at.port());
    let mapped = SocketAddr::new(
        IpAddr::V6("127.0.0.1".parse::<std::net::Ipv4Addr>().unwrap().to_ipv6_mapped()),
        inner.at.port(),
    );
    let lookups: [(&str, &[SocketAddr]); 7] = [
        ("loopback", &[inner.at]),
        ("mixed, the inner one last", &[fine.at, inner.at]),
        ("mixed, the inner one first", &[inner.at, fine.at]),
        ("mixed with the outside", &[outside, inner.at]),
        ("mapped", &[mapped]),
        ("of version 6", &[SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), inner.at.port())]),
        ("nobody's", &[with("0.0.0.0")]),
    ];
    let probes = lookups.len() + 1;
    for (what, found) in lookups {
        let net = net(Liar::default().says("site.example", &[found]), &[fine.at]);
        let code = refused(get(&net, "http://site.example/", &QUICK));
        assert_eq!(code, code::FORBIDDEN_ADDRESS, "{what}");
    }
    // A name that is fine when it is looked at, and inside whenever it is asked for again.
    let net = net(Liar::default().says("site.example", &[&[fine.at], &[inner.at]]), &[fine.at]);
    assert_eq!(get(&net, "http://site.example/", &QUICK).expect("the first answer was fine").body, b"fine");
    assert_eq!(refused(get(&net, "http://site.example/", &QUICK)), code::FORBIDDEN_ADDRESS);
    println!("probes of names: {probes}, reached: {}", inner.seen());
    assert_eq!((inner.seen(), fine.seen()), (0, 1));
}

#[test]
fn a_person_excepts_one_address_and_no_other() {
    let own = Server::says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    let other = Server::says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno");
    let net = net(Liar::default(), &[own.at]);
    assert_eq!(get(&net, &format!("http://{}/", own.at), &QUICK).expect("it is excepted").body, b"hi");
    assert_eq!(refused(get(&net, &format!("http://{}/", other.at), &QUICK)), code::FORBIDDEN_ADDRESS);
    assert_eq!((own.seen(), other.seen()), (1, 0));
}

/// Packed zeros: `bytes` of them.
fn zeros(bytes: usize) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(&vec![0; bytes]).expect("memory takes it");
    out.finish().expect("memory takes it")
}

fn packed(encoding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[test]
fn servers_that_misbehave_are_given_up_on() {
    let flood = || {
        let many: String = (0..5_000).map(|n| format!("X-{n}: {n}\r\n")).collect();
        Server::says(format!("HTTP/1.1 200 OK\r\n{many}\r\n"))
    };
    let endless_header = Server::new(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ");
        while stream.write_all(&[b'a'; 4096]).is_ok() {}
    });
    let endless = Server::new(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'a'; 4096]).is_ok() {}
    });
    let endless_pieces = Server::new(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while stream.write_all(b"4\r\naaaa\r\n").is_ok() {}
    });
    let double_bomb = {
        let mut out = GzEncoder::new(Vec::new(), Compression::best());
        out.write_all(&zeros(1 << 20)).expect("memory takes it");
        out.finish().expect("memory takes it")
    };
    for (what, server, code) in [
        ("many headers", flood(), code::NET_BAD_ANSWER),
        ("a header without an end", endless_header, code::NET_BAD_ANSWER),
        ("a body without an end", endless, code::NET_TOO_LARGE),
        ("pieces without an end", endless_pieces, code::NET_TOO_LARGE),
        (
            "a length that is announced",
            Server::says("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
            code::NET_TOO_LARGE,
        ),
        (
            "a length that lies",
            Server::says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nless"),
            code::NET_BAD_ANSWER,
        ),
        ("a length that is none", Server::says("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), code::NET_BAD_ANSWER),
        (
            "two lengths",
            Server::says("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
            code::NET_BAD_ANSWER,
        ),
        (
            "pieces that are none",
            Server::says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello"),
            code::NET_BAD_ANSWER,
        ),
        (
            "a piece larger than memory",
            Server::says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nhello"),
            code::NET_BAD_ANSWER,
        ),
        (
            "pieces that stop",
            Server::says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
            code::NET_BAD_ANSWER,
        ),
        ("no HTTP", Server::says("SSH-2.0-OpenSSH_9.6\r\n"), code::NET_BAD_ANSWER),
        ("nothing", Server::says(""), code::NET_BAD_ANSWER),
        ("zeros", Server::says(vec![0; 4096]), code::NET_BAD_ANSWER),
        ("a bomb", Server::says(packed("gzip", &zeros(3 << 20))), code::NET_TOO_LARGE),
        ("a larger bomb", Server::says(packed("gzip", &zeros(40 << 20))), code::NET_TOO_LARGE),
        ("half an archive", Server::says(packed("gzip", &zeros(1 << 16)[..40])), code::NET_BAD_ANSWER),
        ("no archive", Server::says(packed("gzip", b"hello")), code::NET_BAD_ANSWER),
        ("a packing nobody asked for", Server::says(packed("br", b"hello")), code::NET_BAD_ANSWER),
        ("packed twice", Server::says(packed("gzip, gzip", &double_bomb)), code::NET_BAD_ANSWER),
    ] {
        assert_eq!(refused(ask(&server, &QUICK)), code, "{what}");
    }
}

#[test]
fn what_is_small_may_pack_as_well_as_it_likes() {
    let got = ask(&Server::says(packed("gzip", &zeros(900 << 10))), &QUICK).expect("it is small");
    assert_eq!(got.body.len(), 900 << 10);
}

#[test]
fn slow_servers_are_waited_for_as_long_as_was_said() {
    let silent = Server::new(|stream, _| hold(stream));
    let half_a_head = Server::new(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX-");
        hold(stream);
    });
    let half_a_body = Server::new(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        hold(stream);
    });
    let impatient = Caps { head: Duration::from_millis(300), whole: Duration::from_millis(600), ..QUICK };
    for (what, server) in [("silent", silent), ("half a head", half_a_head), ("half a body", half_a_body)] {
        assert_eq!(refused(ask(&server, &impatient)), code::NET_TIMED_OUT, "{what}");
    }
}

#[test]
fn a_redirect_is_said_and_not_followed() {
    let inner = Server::says("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
    let location = format!("http://{}/", inner.at);
    let told = location.clone();
    let server = Server::new(move |stream, _| {
        let _ = write!(stream, "HTTP/1.1 302 Found\r\nLocation: {told}\r\nContent-Length: 9\r\n\r\nelsewhere");
    });
    let got = ask(&server, &QUICK).expect("it is an answer");
    assert_eq!((got.leads_to(), got.body.len(), inner.seen()), (Some(location.as_str()), 0, 0));
}

#[test]
fn only_what_the_permit_says_is_reached_and_sent() {
    let server = Server::says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    let liar = || Liar::default().says("site.example", &[&[server.at]]).says("other.example", &[&[server.at]]);
    let net = net(liar(), &[server.at]);
    let look = permit([Effect::Fetch("site.example".into())]);
    let plain = Asked::get(Address::parse("http://site.example/").expect("fine"));
    let long = format!("http://site.example/?q={}", "a".repeat(500));
    let run = |permit: &Permit, asked: &Asked| block(net.exchange(permit, asked, &QUICK, &Cancel::default()));
    let sends = [
        Asked { method: "POST", ..plain.clone() },
        Asked { body: Some(b"x".to_vec()), ..plain.clone() },
        Asked { headers: vec![("x-key".into(), "v".into())], ..plain.clone() },
        Asked { address: Address::parse(&long).expect("fine"), ..plain.clone() },
        Asked { address: Address::parse("http://other.example/").expect("fine"), ..plain.clone() },
        Asked { address: Address::parse("http://www.site.example/").expect("fine"), ..plain.clone() },
    ];
    for asked in &sends {
        assert_eq!(refused(run(&look, asked)), code::PERMISSION_DENIED, "{asked:?}");
    }
    assert_eq!(server.seen(), 0);
    assert_eq!(run(&look, &plain).expect("a look").body, b"hi");
    let wide = any("site.example");
    for asked in &sends[..4] {
        run(&wide, asked).unwrap_or_else(|error| panic!("{asked:?}: {error}"));
    }
    for (name, value) in
        [("Host", "evil"), ("content-length", "5"), ("Transfer-Encoding", "chunked"), ("a b", "c"), ("a", "b\r\nc")]
    {
        let asked = Asked { headers: vec![(name.into(), value.into())], ..plain.clone() };
        assert_eq!(refused(run(&wide, &asked)), code::BAD_ARGUMENTS, "{name}");
    }
    assert!(!format!("{:?}", sends[2]).contains("\"v\""), "what a header holds is not printed");
}

#[test]
fn a_call_that_nobody_wants_any_more_ends() {
    let server = Server::new(|stream, _| hold(stream));
    let net = net(Liar::default().says("site.example", &[&[server.at]]), &[server.at]);
    let cancel = Cancel::default();
    let asked = Asked::get(Address::parse("http://site.example/").expect("fine"));
    let permit = any("site.example");
    let ended = block(async {
        let exchange = net.exchange(&permit, &asked, &QUICK, &cancel);
        let stop = async {
            let since = Instant::now();
            while server.seen() == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
                assert!(since.elapsed() < Duration::from_secs(60), "nobody came");
            }
            cancel.cancel();
        };
        tokio::join!(exchange, stop).0
    });
    assert_eq!(refused(ended), code::CANCELLED);
}

#[test]
fn nobody_there_is_said_so() {
    // Held and not listened on, so that no other test gets it.
    let held =
        rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).expect("one");
    rustix::net::bind(&held, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
    let gone = SocketAddr::try_from(rustix::net::getsockname(&held).expect("its name")).expect("an address");
    let net = net(Liar::default().says("site.example", &[&[gone]]), &[gone]);
    assert_eq!(refused(get(&net, "http://site.example/", &QUICK)), code::UNREACHABLE);
    let error = get(&net, "http://nowhere.example/", &QUICK).expect_err("no such name");
    assert!(error.code == code::UNREACHABLE && error.message.contains("no such name"), "{error}");
}

#[test]
fn tls_is_spoken_and_an_impostor_is_none() {
    let plain = Server::says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    let net = net(Liar::default().says("site.example", &[&[plain.at]]), &[plain.at]);
    let code = refused(get(&net, "https://site.example/", &QUICK));
    assert!(matches!(code, code::UNREACHABLE | code::NET_BAD_ANSWER), "{code}");
}
