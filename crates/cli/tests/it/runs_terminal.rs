//! A run at a terminal: what is asked before it begins, and the picture of its graph.

use crate::pty::Screen;
use crate::world::{World, exists, world};

/// Three in a row, the second of them a loop; the third fails as long as `there.txt` is missing.
const THREE: &str = r#"
schema: nika/workflow@1
permits:
  fs: {read: ["**"]}
  exec: ["printf *", "sleep *"]
  tools: [read]
tasks:
  - {id: first, exec: [sleep, "0.4"]}
  - id: each
    depends_on: first
    for_each: [a, b, c]
    exec: [printf, "{{ item }}"]
  - {id: last, depends_on: each, invoke: {tool: read, params: {file_path: there.txt}}}
outputs: {all: "{{ tasks.each }}"}
"#;

fn three() -> World {
    world().file("w.nika.yaml", THREE)
}

/// The last picture: what was drawn after the last time that the cursor went up; the only one, where there is no other.
fn last_picture(shown: &str) -> String {
    shown.rsplit("\u{1b}[J").next().unwrap_or(shown).replace('\r', "")
}

#[test]
fn the_graph_is_drawn_and_changes_in_place() {
    let world = three();
    let (code, shown, _) = Screen::start(&world, &["run", "w.nika.yaml", "--yes"]).end();
    assert_eq!(code, 1, "{shown}");
    let last = last_picture(&shown);
    for piece in ["✓\u{1b}[0m first", "✓\u{1b}[0m each", "3/3", "✗\u{1b}[0m last", "NIKA-208", "2 done · 1 failed"]
    {
        assert!(last.contains(piece), "no {piece:?} in {last}");
    }
    assert!(!last.contains("waits for") && !last.contains("running"), "{last}");
    assert!(shown.contains("waits for first") && shown.contains("waits for each"), "{shown}");
    assert!(shown.contains("go on with: nika run --resume run-"), "{shown}");

    // What ended before is done from the first picture on.
    let world = world.file("there.txt", "here");
    let (code, shown, out) = Screen::start(&world, &["run", "--resume", "last", "--yes"]).end();
    assert_eq!(code, 0, "{shown}");
    let last = last_picture(&shown);
    assert!(last.contains("ended before") && last.contains("3/3") && last.contains("3 done"), "{last}");
    assert!(!shown.contains("waits for first"), "{shown}");
    assert!(out.contains(r#"all: ["a","b","c"]"#), "{out}");
}

const BEYOND: &str = "schema: nika/workflow@1\npermits: {net: [example.com], exec: ['touch *'], fs: {write: ['**']}}\ntasks:\n  - {id: a, exec: [touch, began]}\n";

/// Answers the one question; how the run ended, and what was shown.
fn answering(world: &World, answer: &str) -> (i32, String) {
    let mut screen = Screen::start(world, &["run", "w.nika.yaml"]);
    if screen.shows("[N]o:") {
        screen.types(answer);
    }
    let (code, shown, _) = screen.end();
    (code, shown)
}

#[test]
fn what_is_stated_beyond_the_mode_is_asked_once() {
    let world = world().file("w.nika.yaml", BEYOND);
    for no in ["n", "", "what?"] {
        let (code, shown) = answering(&world, no);
        assert_eq!(code, 3, "{no}: {shown}");
        assert!(shown.contains("net: example.com") && shown.contains("NIKA-893"), "{shown}");
        assert!(!exists(world.root().join("began")), "{no}: {shown}");
    }
    // This once: the next time asks again.
    for _ in 0..2 {
        let (code, shown) = answering(&world, "y");
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("May it?"), "{shown}");
    }
    assert!(exists(world.root().join("began")));
    assert_eq!(world.run(&["run", "w.nika.yaml"]).code, 3, "nobody is there to be asked");
    // Always, until the file changes; also where nobody is there.
    assert_eq!(answering(&world, "a").0, 0);
    let (code, shown) = answering(&world, "n");
    assert!(code == 0 && !shown.contains("May it?"), "{shown}");
    world.run(&["run", "w.nika.yaml"]).exits(0);
    let world = world.file("w.nika.yaml", &BEYOND.replace("example.com", "example.org"));
    world.run(&["run", "w.nika.yaml"]).exits(3).complains("net: example.org");
}
