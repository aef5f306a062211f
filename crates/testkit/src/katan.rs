//! llm-katan: a server for the wires of models that somebody else wrote, where `NIKA_TEST_KATAN` names the program.
//!
//! It echoes what the person said, and calls the first tool that it is offered, with arguments that it makes up. With
//! tools it answers chat and Gemini at once although it is asked to stream.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The server, ended with the test.
#[derive(Debug)]
pub struct Katan {
    child: Child,
    /// Where it listens on this machine.
    pub port: u16,
    _stats: tempfile::TempDir,
}

impl Drop for Katan {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Katan {
    /// `None` where no such program is named, which is said.
    pub fn started(more: &[&str]) -> Option<Katan> {
        let Ok(program) = std::env::var("NIKA_TEST_KATAN") else {
            println!("skipped: NIKA_TEST_KATAN names no llm-katan");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let stats = tempfile::tempdir().expect("a directory");
        let child = Command::new(program)
            .args(["--model", "echo-model", "--backend", "echo", "--host", "127.0.0.1", "--disable-dashboard"])
            .args(["--providers", "openai,anthropic,vertexai", "--port", &port.to_string(), "--stats-file"])
            .arg(stats.path().join("stats.json"))
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("llm-katan starts");
        let mut katan = Katan { child, port, _stats: stats };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(50));
            assert!(begun.elapsed() < Duration::from_secs(60), "llm-katan does not listen");
            assert!(katan.child.try_wait().expect("it can be asked").is_none(), "llm-katan ended at once");
        }
        Some(katan)
    }
}
