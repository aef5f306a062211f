//! Logins to MCP servers with the real program: from the command line, by hand, without anybody there; and where the
//! token lies afterwards, and where not.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;

use nika_testkit::login::{LoginServer, Wrong, browse, get};

use crate::world::{Ran, World, world};

/// Servers on a thread of their own; they end with this.
struct Login {
    url: String,
    issuer: String,
    end: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Login {
    fn start() -> Login {
        let (tell, told) = mpsc::channel();
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            runtime().block_on(async {
                let server = LoginServer::start(Wrong::Nothing).await;
                tell.send((server.url(), server.issuer())).expect("the test waits");
                let _ = ended.await;
            });
        });
        let (url, issuer) = told.recv().expect("it listens");
        Login { url, issuer, end: Some(end), thread: Some(thread) }
    }

    /// A person's configuration that names it.
    fn configured(&self) -> World {
        let world = world();
        let dir = world.path("home/.config/nika");
        std::fs::create_dir_all(&dir).expect("a directory");
        let text = format!("mcp:\n  servers:\n    srv:\n      url: {}\n", self.url);
        std::fs::write(dir.join("config.yaml"), text).expect("a file");
        world
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// `nika mcp login srv`, and the page that it shows.
fn begun(world: &World) -> (Child, String) {
    let mut child = world
        .nika(&["mcp", "login", "srv", "--paste", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("/authorize?") {
        line.clear();
        assert!(said.read_line(&mut line).expect("it is text") > 0, "no page was shown");
    }
    // What else it says is read and left, so that it is never in anybody's way.
    std::thread::spawn(move || said.lines().map_while(Result::ok).count());
    (child, line.trim().to_owned())
}

/// Every file below `dir` that holds `text`.
fn holders(dir: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holders(&path, text));
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
        {
            found.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
    }
    found
}

#[test]
fn a_login_ends_in_one_file_that_only_its_owner_reads() {
    let server = Login::start();
    let world = server.configured();
    let (child, page) = begun(&world);
    let runtime = runtime();
    let back = runtime.block_on(browse(&page)).expect("the page leads back");
    let closed = runtime.block_on(get(&back)).expect("somebody listens there");
    assert!(closed.contains("You can close this page"), "{closed}");
    let ran = Ran::of(child.wait_with_output().expect("it ends"));
    let said = ran.exits(0).json();
    assert!(said["state"].as_str().is_some_and(|state| state.starts_with(&format!("authorized by {}", server.issuer))));
    assert_eq!(said["scopes"], serde_json::json!(["read"]));

    let file = world.path("state/mcp-logins.json");
    assert_eq!(std::fs::metadata(&file).expect("it is there").mode() & 0o777, 0o600);
    let listed = world.run(&["mcp", "list", "--json"]).json();
    assert!(listed[0]["login"].as_str().is_some_and(|login| login.contains("renews itself")), "{listed}");
    for shown in [world.run(&["mcp", "list"]), world.run(&["config"]), ran] {
        assert!(!format!("{shown:?}").contains("access-1") && !format!("{shown:?}").contains("refresh-1"), "{shown:?}");
    }
    assert_eq!(holders(&world.path("state"), "access-1"), ["mcp-logins.json"]);

    world.run(&["mcp", "logout", "srv", "--json"]).exits(0).says("\"forgotten\": true");
    assert!(holders(&world.path("state"), "access-1").is_empty());
    world.run(&["mcp", "logout", "srv"]).exits(0).says("no login");
}

#[test]
fn a_browser_on_another_machine_is_pasted_from() {
    let server = Login::start();
    let world = server.configured();
    let (mut child, page) = begun(&world);
    let back = runtime().block_on(browse(&page)).expect("the page leads back");
    let mut stdin = child.stdin.take().expect("it is piped");
    writeln!(stdin, "not this\n{back}").expect("it reads");
    let ran = Ran::of(child.wait_with_output().expect("it ends"));
    ran.exits(0).says("authorized by");
}

#[test]
fn without_anybody_there_it_says_what_a_person_has_to_run() {
    let server = Login::start();
    let world = server.configured();
    world.run(&["mcp", "login", "srv"]).exits(1).complains("NIKA-740").complains("/authorize");
    let called = world.json(&["mcp_auth", "server=srv", "--allow", "net(127.0.0.1)"]);
    assert_eq!(called["error"]["code"], "NIKA-740", "{called}");
    assert!(called.to_string().contains("nika mcp login srv"), "{called}");
    world.run(&["mcp", "login", "nobody"]).complains("NIKA-700");
}

#[test]
fn every_configuration_on_the_page_is_taken() {
    let page = include_str!("../../../../docs/mcp-login.md");
    let examples: Vec<&str> = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 4, "{examples:?}");
    for example in examples {
        let world = world();
        let dir = world.path("home/.config/nika");
        std::fs::create_dir_all(&dir).expect("a directory");
        std::fs::write(dir.join("config.yaml"), example).expect("a file");
        let mut command = world.nika(&["mcp", "list", "--json"]);
        for line in example.lines() {
            if let Some((key, variable)) = line.trim().split_once(": ").filter(|(key, _)| key.ends_with("_env")) {
                assert!(!variable.is_empty(), "{key}");
                command.env(variable, "x");
            }
        }
        let listed = Ran::of(command.output().expect("it starts")).exits(0).json();
        assert_eq!(listed[0]["why"], serde_json::Value::Null, "{listed}");
        assert_eq!(listed[0]["login"], "not logged in", "{listed}");
    }
}
