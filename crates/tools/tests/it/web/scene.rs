//! Servers of the tests, the names they answer to, and a world whose tools reach those servers and no other.

use std::collections::HashMap;
use std::io::{Error, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use nika_contract::BoxFuture;
use nika_host::net::{Lookup, Net};
use nika_testkit::World;
use nika_tools::web::{self, Ground};

type Answering = dyn Fn(&Request) -> Answer + Send + Sync;

/// What came in.
pub struct Request {
    pub method: String,
    pub path: String,
    pub head: String,
    pub body: String,
}

/// What goes out.
pub struct Answer {
    pub status: &'static str,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A page of this type.
pub fn page(kind: &str, body: impl Into<Vec<u8>>) -> Answer {
    Answer { status: "200 OK", headers: vec![("Content-Type".into(), kind.into())], body: body.into() }
}

/// A redirect.
pub fn redirect(to: &str) -> Answer {
    Answer { status: "302 Found", headers: vec![("Location".into(), to.into())], body: b"elsewhere".to_vec() }
}

/// A server on a port of its own.
pub struct Server {
    pub at: SocketAddr,
    seen: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn new(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Server {
        Server::on("127.0.0.1:0", answer).expect("a port")
    }

    pub fn on(at: &str, answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> std::io::Result<Server> {
        let listener = TcpListener::bind(at)?;
        let at = listener.local_addr()?;
        let (seen, heads) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (count, kept, answer): (_, _, Arc<Answering>) = (Arc::clone(&seen), Arc::clone(&heads), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &kept, answer.as_ref()));
            }
        });
        Ok(Server { at, seen, heads })
    }

    /// Connections so far.
    pub fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }

    /// The heads of requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("not poisoned").clone()
    }
}

fn serve(mut stream: TcpStream, heads: &Mutex<Vec<String>>, answer: &Answering) {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
        bytes.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    if stream.read_exact(&mut body).is_err() {
        return;
    }
    heads.lock().expect("not poisoned").push(head.clone());
    let mut words = head.split(' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (method, path) = (word(), word());
    let Answer { status, headers, body } =
        answer(&Request { method, path, head, body: String::from_utf8_lossy(&body).into_owned() });
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    let _ = stream.write_all(&body);
}

/// Names that lead to servers of the test, and no others.
#[derive(Debug)]
struct Names(HashMap<String, SocketAddr>);

impl Lookup for Names {
    fn addresses<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, std::io::Result<Vec<SocketAddr>>> {
        let own = match host {
            // As every resolver says.
            "localhost" => Some(SocketAddr::from(([127, 0, 0, 1], port))),
            host => self.0.get(host).copied(),
        };
        Box::pin(async move { own.map(|at| vec![at]).ok_or_else(|| Error::other("no such name")) })
    }
}

/// What the tools stand on where these names lead to these servers.
pub fn ground(names: &[(&str, &Server)]) -> Ground {
    let lookup = Names(names.iter().map(|(name, server)| ((*name).to_owned(), server.at)).collect());
    let allowed = names.iter().map(|(_, server)| server.at.to_string().parse().expect("an address")).collect();
    Ground::new(Net { lookup: Arc::new(lookup), allowed, agent: "nika-test".into() })
}

/// The world with the tools of the web over this ground.
pub fn with(world: World, ground: Ground) -> World {
    web::all(&Arc::new(ground)).into_iter().fold(world, World::tool)
}
