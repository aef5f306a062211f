//! Ctrl-C on a run: once it stops cleanly, twice at once, and either way it can be gone on with.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{World, world};

/// The second task lasts until `go` is there; asked to end, it does not.
const LASTS: &str = r#"
schema: nika/workflow@1
permits:
  fs: {read: ["**"], write: ["**"]}
  exec: ["tee *", "python3 *"]
tasks:
  - {id: first, exec: {command: [tee, -a, n], stdin: x}}
  - id: lasts
    depends_on: first
    exec: [python3, -c, "import os,signal,time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile not os.path.exists('go'): time.sleep(0.02)", MARK]
outputs: {first: "{{ tasks.first }}"}
"#;

/// How long anything here may take on a busy machine.
const AT_MOST: Duration = Duration::from_secs(60);

fn lasting() -> World {
    let world = world();
    let text = LASTS.replace("MARK", &mark(&world));
    world.file("w.nika.yaml", &text)
}

/// The lines of the one run there is.
fn lines(world: &World) -> Vec<Value> {
    let ran = world.run(&["trace", "export", "last", "--format", "ndjson"]);
    ran.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn count(world: &World, event: &str, task: Option<&str>) -> usize {
    let is = |line: &&Value| line["event"] == event && task.is_none_or(|task| line["task"] == task);
    lines(world).iter().filter(is).count()
}

/// The run, once the command of its second task is deaf to the wish that it ends.
fn at_work(world: &World) -> Child {
    let mut command = world.nika(&["run", "w.nika.yaml", "--yes"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let (mark, since) = (mark(world), Instant::now());
    while !is_deaf(&mark) {
        std::thread::sleep(Duration::from_millis(20));
        assert!(since.elapsed() < AT_MOST, "its command never began");
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended by itself");
    }
    child
}

/// A word that tells the command of this world from those of others.
fn mark(world: &World) -> String {
    let root = world.root();
    let dir = root.parent().and_then(Path::file_name).expect("a directory of its own");
    dir.to_string_lossy().into_owned()
}

/// Whether a process with this word in its command line ignores SIGTERM.
fn is_deaf(mark: &str) -> bool {
    let read = |dir: &Path, name: &str| std::fs::read_to_string(dir.join(name)).unwrap_or_default();
    let ignored = |status: &str| {
        let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(digits.trim(), 16).ok()
    };
    let mut processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    processes.any(|dir| {
        let is_it = read(&dir, "cmdline").split('\0').any(|word| word == mark);
        is_it && ignored(&read(&dir, "status")).is_some_and(|signals| signals & (1 << 14) != 0)
    })
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
    sent.expect("there is a `kill`");
}

/// The same, unless it has ended. Whether it had not.
fn interrupts(child: &mut Child) -> bool {
    let is_there = child.try_wait().expect("it is ours").is_none();
    if is_there {
        interrupt(child);
    }
    is_there
}

/// Goes on with it to its end: what had ended is not done again.
fn goes_on(world: World) {
    let world = world.file("go", "");
    world.run(&["run", "--resume", "last", "--yes"]).exits(0).says("first: x");
    assert_eq!(world.text("n"), "x");
    assert_eq!(count(&world, "TaskStarted", Some("first")), 1);
    world.run(&["trace", "verify"]).exits(0);
}

#[test]
fn ctrl_c_stops_a_run_that_can_be_gone_on_with() {
    let world = lasting();
    let mut child = at_work(&world);
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(count(&world, "WorkflowPaused", None), 1);
    goes_on(world);
}

#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    let world = lasting();
    let mut child = at_work(&world);
    let since = Instant::now();
    // Until the first was taken, another is none more.
    while interrupts(&mut child) {
        std::thread::sleep(Duration::from_millis(50));
        assert!(since.elapsed() < AT_MOST, "it goes on, whatever it is told");
    }
    assert_eq!(child.wait().expect("it ended").code(), Some(130));
    assert_eq!(count(&world, "WorkflowPaused", None), 0, "it waited for nothing");
    goes_on(world);
}
