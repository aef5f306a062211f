//! Jobs on a terminal of their own: prompts, keys, screens, and what they cannot reach.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::peer::Peer;
use crate::pty::Screen;
use crate::shell::is_confined_here;
use crate::shell_forerun::KEPT;
use crate::world::{World, world};

fn server(world: &World, mode: &str) -> Peer {
    let mut peer = Peer::start(world.nika(&["serve", "--mode", mode, "--list", "all"]));
    peer.initialize("2025-11-25");
    peer
}

fn text(answer: &Value) -> String {
    answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
}

/// Starts a command on a terminal.
fn start(peer: &mut Peer, command: &str) {
    let order = json!({"command": command, "run_in_background": true, "tty": true});
    let answer = text(&peer.call("nika_bash", order));
    assert!(answer.contains("on a terminal in the background"), "{answer}");
}

fn types(peer: &mut Peer, job: &str, keys: &str) {
    let answer = text(&peer.call("nika_job_input", json!({"job_id": job, "text": keys})));
    assert!(answer.contains("took"), "{answer}");
}

/// What a job shows once it waits, or has ended: no line is `never`.
fn rests(peer: &mut Peer, job: &str) -> String {
    text(&peer.call("nika_job_output", json!({"job_id": job, "wait_ms": 20_000, "filter": "^never$"})));
    text(&peer.call("nika_job_output", json!({"job_id": job, "offset": 0})))
}

/// Waits until a line matches.
fn shows(peer: &mut Peer, job: &str, line: &str) -> String {
    let answer = text(&peer.call("nika_job_output", json!({"job_id": job, "wait_ms": 20_000, "filter": line})));
    assert!(answer.lines().count() > 1, "no {line:?}: {answer}");
    answer
}

#[test]
fn an_interpreter_is_talked_to() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "python3 -q");
    shows(&mut peer, "j1", "^>>>");
    types(&mut peer, "j1", "6 * 7\n");
    shows(&mut peer, "j1", "^42$");
    let answer = rests(&mut peer, "j1");
    assert!(answer.starts_with(">>> 6 * 7\n42\n>>>\n[j1 waits for input: job_input "), "{answer:?}");
    // The end of input, as a key.
    types(&mut peer, "j1", "\u{4}");
    assert!(rests(&mut peer, "j1").contains("[j1 ended: exit 0"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_password_prompt_waits_and_shows_nothing_of_it() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "read -rs -p 'Password: ' x < /dev/tty; echo; echo \"${#x} characters\"");
    assert!(rests(&mut peer, "j1").starts_with("Password:\n[j1 waits for input"));
    types(&mut peer, "j1", "swordfish\n");
    let answer = rests(&mut peer, "j1");
    assert!(answer.contains("9 characters") && answer.contains("ended: exit 0"), "{answer}");
    assert!(!answer.contains("swordfish"), "{answer}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_line_that_calls_add_up_to_is_refused_before_it_is_cut() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "wc -c");
    let half = "x".repeat(3000);
    types(&mut peer, "j1", &half);
    let refused = text(&peer.call("nika_job_input", json!({"job_id": "j1", "text": half})));
    let said = "its terminal takes lines of at most 4095 bytes, of which 3000 stand there from before, without an end";
    assert!(refused.contains(said) && refused.contains("\\u0015 (Ctrl-U) takes back"), "{refused}");
    types(&mut peer, "j1", "\u{15}short\n\u{4}");
    let answer = rests(&mut peer, "j1");
    assert!(answer.contains("\n6\n[j1 ended: exit 0"), "{answer}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_long_string_to_the_terminal_is_no_output() {
    if !is_confined_here() {
        return;
    }
    // A picture of 300 KB, in pieces that nobody reads at once.
    let says = "import sys\nprint('before')\nsys.stdout.write('\\x1b]1337;File=inline=1:' + 'QUJD' * 75000 + '\\x07after\\n')\n";
    let world = world().file("says.py", says);
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "python3 says.py");
    let (mut shown, mut answer) = (String::new(), rests(&mut peer, "j1"));
    loop {
        let (lines, said) = answer.rsplit_once('[').expect("how it stands");
        shown.push_str(lines);
        if !said.contains("there is more") {
            break;
        }
        answer = text(&peer.call("nika_job_output", json!({"job_id": "j1"})));
    }
    assert_eq!(shown, "before\nafter\n");
    assert_eq!(peer.end(), 0);
}

#[test]
fn an_interrupt_reaches_the_program_in_front() {
    if !is_confined_here() {
        return;
    }
    let waits = "import time\ntry:\n    print('up', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    \
                 print('caught')\n";
    let world = world().file("waits.py", waits);
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "python3 waits.py");
    shows(&mut peer, "j1", "^up$");
    types(&mut peer, "j1", "\u{3}");
    assert!(rests(&mut peer, "j1").contains("caught\n[j1 ended: exit 0"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_program_that_draws_is_read_as_a_screen() {
    if !is_confined_here() {
        return;
    }
    let draws = "import curses\ndef main(s):\n    s.clear(); s.border(); s.addstr(2, 4, 'Choose', curses.A_BOLD)\n    \
                 s.refresh()\n    k = s.getkey()\n    s.addstr(4, 4, 'chosen ' + k); s.refresh(); s.getkey()\n\
                 curses.wrapper(main)\nprint('done')\n";
    let world = world().file("draws.py", draws);
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "python3 draws.py");
    let answer = rests(&mut peer, "j1");
    let lines: Vec<&str> = answer.lines().collect();
    assert!(answer.starts_with("[the screen, its cursor in line 3, column 11]\n"), "{answer}");
    // Thirty lines of a hundred and twenty columns, framed.
    assert_eq!((lines[1].chars().count(), lines[30].chars().count()), (120, 120), "{answer}");
    assert!(lines[3].contains("   Choose ") && lines[31].starts_with("[j1 waits for input"), "{answer}");
    assert!(!answer.contains('\u{1b}') && !answer.contains('␛'), "{answer}");
    types(&mut peer, "j1", "b");
    assert!(shows(&mut peer, "j1", "chosen").contains("chosen b"));
    types(&mut peer, "j1", "q");
    // With the screen gone, what is left is text.
    let answer = rests(&mut peer, "j1");
    assert!(answer.starts_with("done\n[j1 ended: exit 0"), "{answer}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_terminal_has_its_size_and_name_and_no_other_can_be_reached() {
    if !is_confined_here() {
        return;
    }
    // A terminal of somebody else's.
    let world = world().file("a.txt", "one\n");
    let mut other = Screen::start(&world, &["call", "ask_user_question", "question=Still there?"]);
    assert!(other.shows("Still there?"));
    let name = std::fs::read_link(format!("/proc/{}/fd/0", other.child.id())).expect("its terminal");
    let look = format!(
        "stty size; echo $TERM; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo three; echo own > /dev/tty\n\
         echo x > {name}; cat {name}; ls /dev/pts\n",
        name = name.display()
    );
    let world = world.file("look.sh", &look);
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "bash look.sh");
    let answer = rests(&mut peer, "j1");
    assert!(answer.starts_with("30 120\nxterm-256color\nthree\nown\n"), "{answer}");
    assert!(answer.contains(&format!("cat: {}: No such file", name.display())), "{answer}");
    assert!(answer.contains(&format!("line 2: {}: ", name.display())), "it was written: {answer}");
    assert!(answer.contains("\nptmx\n[j1 ended: exit 0"), "{answer}");
    other.types("yes");
    let (_, shown, _) = other.end();
    assert!(!shown.contains("\nx"), "{shown}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_terminal_is_only_for_the_background() {
    let world = world();
    let ran = world.run(&["call", "bash", "command=true", "tty=true", "--mode", "workspace"]);
    ran.exits(2).complains("`tty`: goes only with run_in_background").complains("job_input types");
}

#[test]
fn what_is_typed_into_a_reader_is_asked_about_as_what_it_may_start() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("asks.sh", "read -p 'name? ' x; echo hello $x\n");
    let mut peer = server(&world, "workspace");
    // A write before it is no leave for what is typed, and a script is judged by its text, too.
    for (job, command) in [("j1", "cat"), ("j2", "touch f; cat"), ("j3", "bash asks.sh")] {
        start(&mut peer, command);
        let typed = peer.call("nika_job_input", json!({"job_id": job, "text": "x\n"}));
        let said = text(&typed);
        assert!(said.contains("NIKA-205") && said.contains(&format!("{job} was judged by its text")), "{typed}");
    }
    // Without a terminal it is text for a program that reads.
    peer.call("nika_bash", json!({"command": "cat", "run_in_background": true}));
    types(&mut peer, "j4", "x\n");
    let listed = peer.call("nika_job_list", json!({}));
    let jobs = &listed["structuredContent"]["jobs"];
    assert_eq!((&jobs[0]["tty"], &jobs[3]["tty"]), (&json!(true), &json!(false)), "{listed}");
    assert!(text(&listed).contains(" on a terminal, "), "{listed}");
    assert_eq!(peer.end(), 0);
    let journal = world.run(&["log", "show", "--output", "json"]).out;
    assert!(journal.contains("\"tty\": true"), "{journal}");
}

#[test]
fn a_sequence_that_never_ends_is_waited_behind() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("half.sh", "printf 'hi\\033'; sleep 60\n");
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "bash half.sh");
    shows(&mut peer, "j1", "hi");
    let wait = json!({"job_id": "j1", "wait_ms": 400});
    peer.call("nika_job_output", wait.clone());
    let since = Instant::now();
    peer.call("nika_job_output", wait);
    assert!(since.elapsed() >= Duration::from_millis(300), "it did not wait: {:?}", since.elapsed());
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_pager_pages_and_starts_nothing() {
    if !is_confined_here() {
        return;
    }
    if !crate::world::exists("/usr/bin/less") {
        eprintln!("skipped: there is no less here");
        return;
    }
    let many: String = (1..=200).map(|n| format!("line {n}\n")).collect();
    let world = world().file("long.txt", &many);
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "less long.txt");
    let first = shows(&mut peer, "j1", "^line 29$");
    assert!(first.contains("sandbox read-only"), "{first}");
    types(&mut peer, "j1", "/line 150\n");
    shows(&mut peer, "j1", "^line 178$");
    types(&mut peer, "j1", "!");
    shows(&mut peer, "j1", "[Nn]ot available");
    types(&mut peer, "j1", "\nq");
    assert!(rests(&mut peer, "j1").contains("ended: exit 0"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn nothing_on_a_terminal_outlives_its_job_or_its_session() {
    if !is_confined_here() {
        return;
    }
    let far = "trap '' HUP; (setsid sh -c 'trap \"\" HUP TERM; echo far; sleep \"$1\"' sh \"$1\" &); read x\n";
    let world = world().file("far.sh", far);
    let mut peer = server(&world, "accept-all");
    let mark = |n: u32| format!("8{n}{:05}", std::process::id() % 100_000);
    start(&mut peer, &format!("bash far.sh {}", mark(1)));
    start(&mut peer, &format!("bash far.sh {}", mark(2)));
    shows(&mut peer, "j1", "^far");
    shows(&mut peer, "j2", "^far");
    until("both sleep", || sleeps(&mark(1)) && sleeps(&mark(2)));
    assert!(text(&peer.call("nika_job_stop", json!({"job_id": "j1"}))).contains("stopped"));
    assert!(!sleeps(&mark(1)) && sleeps(&mark(2)));
    assert_eq!(peer.end(), 0);
    until("the second is gone", || !sleeps(&mark(2)));
}

/// Whether a process sleeps for so many seconds.
pub fn sleeps(seconds: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("it is there").flatten();
    let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line == format!("sleep\0{seconds}\0").as_bytes())
}

pub fn until(what: &str, so: impl Fn() -> bool) {
    let since = Instant::now();
    while !so() {
        assert!(since.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::yield_now();
    }
}

#[test]
fn whoever_waits_hears_each_second_how_it_goes() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "accept-all"]));
    peer.initialize("2025-11-25");
    let calls = [
        ("nika_bash", json!({"command": "echo first; echo; printf 'half\\033[2J done'; sleep 2.5"}), "done"),
        ("nika_repl", json!({"language": "bash", "code": "sleep 2.5"}), "running"),
        ("nika_sleep", json!({"duration_ms": 2500}), "waiting"),
    ];
    for (tool, arguments, says) in calls {
        peer.heard.clear();
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": tool}});
        let answer = peer.request("tools/call", params);
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        let beats: Vec<&Value> = peer.heard.iter().filter(|one| one["method"] == "notifications/progress").collect();
        assert!(
            beats.len() >= 2 && beats.iter().all(|beat| beat["params"]["progressToken"] == tool),
            "{tool}: {beats:?}"
        );
        let steps: Vec<u64> = beats.iter().filter_map(|beat| beat["params"]["progress"].as_u64()).collect();
        assert!(steps.is_sorted_by(|one, next| one < next) && steps.len() == beats.len(), "{steps:?}");
        let last = beats.last().and_then(|beat| beat["params"]["message"].as_str()).unwrap_or_default();
        assert!(last.contains(says) && !last.contains('\u{1b}'), "{tool}: {last}");
    }
}

#[test]
fn what_a_shell_has_in_front_goes_on_when_somebody_saves_a_guarded_file() {
    if !is_confined_here() {
        return;
    }
    let script =
        format!("{KEPT}print('up', flush=True)\nfor n in range(8): kept(f'p{{n}}'); print('kept', n, flush=True)\n");
    let world = world().file("front.py", &script).file(".npmrc", "old\n").file(".vscode/settings.json", "{}\n");
    let mut peer = server(&world, "accept-all");
    start(&mut peer, "bash --norc -i");
    types(&mut peer, "j1", "python3 front.py\n");
    shows(&mut peer, "j1", "^up");
    let mut said = String::new();
    for round in 0..8 {
        std::fs::write(world.root().join(".t.tmp"), "new\n").expect("written");
        std::fs::rename(world.root().join(".t.tmp"), world.root().join(".npmrc")).expect("renamed");
        // This the job hears of after that.
        let link = world.root().join(format!(".vscode/p{round}"));
        std::os::unix::fs::symlink(format!("../p{round}"), link).expect("a link");
        said.push_str(&shows(&mut peer, "j1", &format!("^(kept {round}|.*Stopped)")));
    }
    assert!(!said.contains("Stopped"), "{said}");
    assert_eq!(peer.end(), 0);
}
