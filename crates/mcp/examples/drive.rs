//! Measures a server over stdio: `drive SERVER [ARGUMENT…]` (`NIKA_TOOL` and `NIKA_ARGS` name
//! another call than the echo's).
//!
//! Prints start to answered `tools/list`, resident memory then, and the time of a trivial call, of
//! one with a 10 KB and of one with a 1 MB result.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Server {
    fn start(command: &[String]) -> std::io::Result<Server> {
        let mut child =
            Command::new(&command[0]).args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut server =
            Server { child, input, output: BufReader::with_capacity(1 << 20, output), line: String::new() };
        server.ask(concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"drive","version":"0"}}}"#
        ))?;
        server.input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        server.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)?;
        Ok(server)
    }

    fn ask(&mut self, message: &str) -> std::io::Result<usize> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        assert!(self.line.contains("\"result\""), "{}", &self.line[..self.line.len().min(400)]);
        Ok(self.line.len())
    }

    /// Nanoseconds the server was on a processor: what a loaded machine cannot blur.
    fn cpu_ns(&self) -> u64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).into_iter().flatten().flatten();
        let times = tasks.filter_map(|task| {
            std::fs::read_to_string(task.path().join("schedstat")).ok()?.split(' ').next()?.parse::<u64>().ok()
        });
        times.sum()
    }

    fn rss_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS"));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn report(what: &str, mut samples: Vec<Duration>) {
    samples.sort();
    let at = |share: f64| samples[((samples.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    println!("{what:44} p50 {:9.1} µs   p99 {:9.1} µs   n {}", at(0.5), at(0.99), samples.len());
}

fn main() -> std::io::Result<()> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    assert!(!command.is_empty(), "usage: drive SERVER [ARGUMENT…]");
    let starts = (0..40).map(|_| {
        let begun = Instant::now();
        let server = Server::start(&command);
        let took = begun.elapsed();
        server.map(|server| (took, server.rss_kib()))
    });
    let starts = starts.collect::<Result<Vec<_>, _>>()?;
    let mut rss: Vec<u64> = starts.iter().map(|start| start.1).collect();
    rss.sort_unstable();
    report("start to tools/list", starts.iter().map(|start| start.0).collect());
    println!("memory then {} KiB", rss[rss.len() / 2]);

    let tool = std::env::var("NIKA_TOOL").unwrap_or_else(|_| "echo".into());
    let mut server = Server::start(&command)?;
    let cases = match std::env::var("NIKA_ARGS") {
        Ok(arguments) => vec![("call".to_owned(), arguments, 20_000)],
        Err(_) => vec![
            ("trivial call".to_owned(), r#"{"text":"hi"}"#.to_owned(), 20_000),
            ("10 KB result".to_owned(), r#"{"text":"fn main() {}\n","times":770}"#.to_owned(), 5_000),
            ("1 MB result".to_owned(), r#"{"text":"fn main() { let a = 1; }\n","times":40000}"#.to_owned(), 200),
        ],
    };
    for (what, arguments, count) in cases {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        for _ in 0..count / 10 {
            server.ask(&message)?;
        }
        let mut samples = Vec::with_capacity(count);
        let cpu = server.cpu_ns();
        for _ in 0..count {
            let begun = Instant::now();
            server.ask(&message)?;
            samples.push(begun.elapsed());
        }
        let cpu = (server.cpu_ns() - cpu) as f64 / count as f64 / 1e3;
        report(&format!("{what} (its CPU {cpu:.1} µs)"), samples);
    }
    println!("memory at the end {} KiB", server.rss_kib());
    Ok(())
}
