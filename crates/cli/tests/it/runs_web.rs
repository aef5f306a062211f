//! `fetch` against servers of this machine: redirects, each judged; statuses, tried again as the task says.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use crate::world::{Ran, World, world};

/// A server that has answers for paths, each used once but the last of them, and keeps the heads of requests.
struct Server {
    at: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

fn server(at: &str, answers: impl Fn(SocketAddr) -> Vec<(&'static str, String)>) -> Server {
    let listener = TcpListener::bind(at).expect("a port");
    let at = listener.local_addr().expect("it is bound");
    let mut all: HashMap<&str, Vec<String>> = HashMap::new();
    for (path, answer) in answers(at) {
        all.entry(path).or_default().insert(0, answer);
    }
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default();
            let answer = match all.get_mut(path) {
                Some(left) if left.len() > 1 => left.pop().expect("there are two"),
                Some(left) => left[0].clone(),
                None => says("404 Not Found", "", "nothing here"),
            };
            seen.lock().expect("nobody panicked").push(head);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    Server { at, heads }
}

fn says(status: &str, header: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{header}Content-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn leads(status: &str, to: &str) -> String {
    says(status, &format!("Location: {to}\r\n"), "moved")
}

impl Server {
    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("nobody panicked").clone()
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }
}

/// Runs a workflow of one `fetch`, which may reach the first server's host.
fn fetch(fetch: &str, more: &str, reached: &[&Server]) -> (World, Ran) {
    let text = format!(
        "schema: nika/workflow@1\npermits: {{net: [127.0.0.1]}}\ntasks:\n  - id: get\n    fetch: {fetch}\n{more}outputs: {{got: \"{{{{ tasks.get }}}}\"}}\n"
    );
    let world = world().file("w.nika.yaml", &text);
    let addresses: Vec<String> = reached.iter().map(|server| format!("'{}'", server.at)).collect();
    let set = format!("web.allow_addresses=[{}]", addresses.join(", "));
    let ran = world.run(&["run", "w.nika.yaml", "--yes", "--set", &set]);
    (world, ran)
}

const SECRET: &str = "{X-Key: hunter2, Accept: text/plain}";

#[test]
fn a_get_goes_where_it_is_led_and_leaves_its_keys_behind() {
    let other = server("127.0.0.1:0", |_| vec![("/end", says("200 OK", "", "the end"))]);
    let end = other.url("/end");
    let first = server("127.0.0.1:0", |_| {
        vec![("/", leads("301 Moved Permanently", "/next?a=1")), ("/next?a=1", leads("302 Found", &end))]
    });
    let (_, ran) =
        fetch(&format!("{{url: '{}', headers: {SECRET}, body: token}}", first.url("/")), "", &[&first, &other]);
    ran.exits(0).says("got: the end");
    assert!(first.heads().iter().all(|head| head.to_lowercase().contains("content-length: 5")), "{:?}", first.heads());
    assert!(first.heads().iter().all(|head| head.to_lowercase().contains("x-key: hunter2")), "{:?}", first.heads());
    let asked = other.heads().join("").to_lowercase();
    assert!(asked.contains("accept: text/plain") && !asked.contains("hunter2"), "{asked}");
    assert!(!asked.contains("content-length"), "{asked}");
}

#[test]
fn a_redirect_is_judged_as_the_address_it_is() {
    let other = server("127.0.0.2:0", |_| vec![("/end", says("200 OK", "", "the end"))]);
    let end = other.url("/end");
    let first = server("127.0.0.1:0", |_| vec![("/", leads("302 Found", &end))]);
    let (_, ran) = fetch(&format!("'{}'", first.url("/")), "", &[&first, &other]);
    ran.exits(1).complains("NIKA-205").complains("127.0.0.2");
    assert!(other.heads().is_empty(), "it was not reached");
}

#[test]
fn a_way_in_a_circle_and_one_without_end_are_left() {
    let round = server("127.0.0.1:0", |at| {
        vec![("/", leads("302 Found", "/b")), ("/b", leads("307 Temporary Redirect", &format!("http://{at}/")))]
    });
    fetch(&format!("'{}'", round.url("/")), "", &[&round]).1.exits(1).complains("NIKA-507").complains("circle");
    let paths = ["/", "/1", "/2", "/3", "/4", "/5", "/6"];
    let long = server("127.0.0.1:0", |_| paths.windows(2).map(|two| (two[0], leads("302 Found", two[1]))).collect());
    fetch(&format!("'{}'", long.url("/")), "", &[&long]).1.exits(1).complains("NIKA-507").complains("more than 5");
    assert_eq!(long.heads().len(), 6);
}

#[test]
fn a_redirect_of_anything_else_is_an_error_that_names_the_address() {
    let first = server("127.0.0.1:0", |_| vec![("/", leads("303 See Other", "/there"))]);
    let post = |more: &str| format!("{{url: '{}', method: POST, body: {{a: 1}}{more}}}", first.url("/"));
    let (_, ran) = fetch(&post(""), "", &[&first]);
    ran.exits(1).complains("NIKA-507").complains("/there");
    assert_eq!(first.heads().len(), 1, "nothing is sent twice");
    // Whoever wants the answer, whatever it is, gets it.
    let (_, ran) = fetch(&post(", read: answer"), "", &[&first]);
    ran.exits(0).says("303").says("/there");
}

/// A second later, by the clock of the server.
const DATES: &str = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:49:38 GMT\r\n";

#[test]
fn a_busy_server_is_asked_again_and_left_alone_as_long_as_it_says() {
    let busy = server("127.0.0.1:0", |_| {
        vec![
            ("/", says("503 Service Unavailable", "Retry-After: 2\r\n", "later")),
            ("/", says("429 Too Many Requests", "", "slower")),
            ("/", says("429 Too Many Requests", DATES, "by a date")),
            ("/", says("200 OK", "", "at last")),
        ]
    });
    let again = "    retry: {attempts: 4, backoff: 10ms}\n";
    let (world, ran) = fetch(&format!("'{}'", busy.url("/")), again, &[&busy]);
    ran.exits(0).says("got: at last");
    let lines = world.run(&["trace", "export", "last", "--format", "json"]).json();
    let failed = lines.as_array().into_iter().flatten().filter(|line| line["event"] == "TaskFailed");
    let waits: Vec<u64> = failed.filter_map(|line| line["again_ms"].as_u64()).collect();
    assert_eq!(waits, [2_000, 20, 1_000]);
    let none = format!("'{}'", busy.url("/none"));
    fetch(&none, "", &[&busy]).1.exits(1).complains("NIKA-506").complains("404");
}
