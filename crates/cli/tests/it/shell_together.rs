//! Servers that run as jobs, and who hears them.

use std::io::Write;
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use crate::peer::{Peer, text};
use crate::shell::is_confined_here;
use crate::world::{World, world};

const SERVER: &str = "\
import http.server, sys
print('up', flush=True)
http.server.test(http.server.SimpleHTTPRequestHandler, port=int(sys.argv[1]))
";
/// Prints what the page says, or why it is not there.
const CLIENT: &str = "\
import sys, urllib.request, urllib.error
try:
    print(urllib.request.urlopen(f'http://localhost:{sys.argv[1]}/page', timeout=20).read().decode())
except urllib.error.URLError as error:
    print('none:', error.reason)
";

fn served(more: &[&str]) -> (World, Peer) {
    let world = world().file("server.py", SERVER).file("client.py", CLIENT).file("page", "hello");
    let words: Vec<&str> = ["serve", "--list", "all"].iter().chain(more).copied().collect();
    let mut peer = Peer::start(world.nika(&words));
    peer.initialize("2025-11-25");
    (world, peer)
}

fn bash(peer: &mut Peer, command: &str) -> String {
    text(&peer.call("nika_bash", json!({"command": command})))
}

fn start(peer: &mut Peer, job: &str, command: &str) {
    let started = peer.call("nika_bash", json!({"command": command, "run_in_background": true}));
    assert!(text(&started).contains("Started"), "{started}");
    let up = peer.call("nika_job_output", json!({"job_id": job, "filter": "up", "wait_ms": 20_000}));
    assert!(text(&up).contains("up"), "{up}");
}

#[test]
fn a_server_that_runs_as_a_job_is_heard_by_other_calls_of_its_session_until_it_ends() {
    if !is_confined_here() {
        return;
    }
    let (_world, mut peer) = served(&["--mode", "workspace"]);
    assert!(bash(&mut peer, "python3 client.py 8123").contains("none:"));
    start(&mut peer, "j2", "python3 server.py 8123");
    assert!(bash(&mut peer, "python3 client.py 8123").contains("hello"));
    // Of a second one the port is another, and both are heard; a port that one has is taken.
    start(&mut peer, "j4", "python3 server.py 8124");
    assert!(bash(&mut peer, "python3 client.py 8123; python3 client.py 8124").matches("hello").count() == 2);
    assert!(bash(&mut peer, "timeout 20 python3 server.py 8123").contains("Address already in use"));
    peer.call("nika_job_stop", json!({"job_id": "j2"}));
    assert!(bash(&mut peer, "python3 client.py 8123; python3 client.py 8124").contains("none:"));
    peer.call("nika_job_stop", json!({"job_id": "j4"}));
    let alone = bash(&mut peer, "python3 client.py 8124; touch made");
    assert!(alone.contains("none:") && alone.contains("undo takes it back"), "{alone}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn neither_the_machine_nor_what_only_reads_hears_it_and_it_hears_nobody_outside() {
    if !is_confined_here() {
        return;
    }
    let (_world, mut peer) = served(&["--mode", "accept-all"]);
    let machine = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = machine.local_addr().expect("bound").port();
    thread::spawn(move || {
        for mut heard in machine.incoming().flatten() {
            // Whoever asks is told; the test reads what they say.
            let _ = heard.write_all(b"HTTP/1.0 200 OK\r\n\r\nof the machine");
        }
    });
    start(&mut peer, "j1", "python3 server.py 8125");
    let asked = bash(&mut peer, &format!("python3 client.py {port}; python3 client.py 8125"));
    assert!(asked.contains("none:") && asked.contains("hello") && !asked.contains("of the machine"), "{asked}");
    assert!(std::net::TcpStream::connect("127.0.0.1:8125").is_err());
    let code = "import urllib.request; print(urllib.request.urlopen('http://localhost:8125/page').read())";
    let repl = text(&peer.call("nika_repl", json!({"code": code, "language": "python"})));
    assert!(repl.contains("hello"), "{repl}");
    // With hosts of its own it has a network of its own, with the way to them.
    let hosts = bash(&mut peer, "curl -s https://example.invalid; python3 client.py 8125");
    assert!(hosts.contains("none:"), "{hosts}");
    let curl = bash(&mut peer, "curl -s http://127.0.0.1:8125/page http://localhost:8125/page");
    assert!(curl.contains("hellohello"), "{curl}");
    let isolated =
        peer.call("nika_bash", json!({"command": "cat page; cat /proc/net/tcp", "filesystem_mode": "allow-list"}));
    assert!(!text(&isolated).contains(":1FBD"), "{isolated}");
    assert_eq!(peer.end(), 0);
}
