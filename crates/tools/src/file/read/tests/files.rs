//! Text of every size, and what is no file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use nika_contract::{Cancel, Erased, code};
use nika_guard::{Effects, Mode, Policy, Stance};
use proptest::proptest;
use serde_json::json;

use super::{World, at};
use crate::file::read::args::Window;
use crate::file::read::marks::Marked;
use crate::file::read::text::page;
use crate::file::read::{EXAMPLES, Read, fuzz_one};

#[test]
fn the_examples_are_true() {
    for example in EXAMPLES {
        let world = World::new();
        let world = example.files.iter().fold(world, |world, (path, content)| {
            std::fs::create_dir_all(world.path(path).parent().expect("it is below the root")).expect("made");
            world.file(path, content)
        });
        let text = world.text(serde_json::from_str(example.arguments).expect("JSON"));
        assert!(text.contains(example.answer), "{}: {text}", example.title);
    }
}

#[test]
fn the_schema_is_short() {
    let tool = Erased::boxed(World::new().tool);
    let length = tool.description().len() + tool.input_schema().to_string().len();
    // About four characters a token: within 250 tokens.
    assert!(length < 1_000, "{length}");
}

#[test]
fn numbers_may_come_as_text() {
    let world = World::new().file("a", "1\n2\n3\n");
    let text = world.text(json!({"file_path": "a", "offset": "2", "limit": "1", "pages": ""}));
    assert_eq!(text, "     2\t2\n[line 2 of 3; go on with offset=3]");
    assert_eq!(world.refused(json!({"file_path": "a", "pages": 3})).0, 100);
    assert_eq!(world.refused(json!({"file_path": "a", "limit": 0})).0, 100);
}

#[test]
fn what_was_read_is_known_by_hash_and_bytes() {
    let world = World::new().file("a.txt", "one\n");
    let output = world.call(at("a.txt")).expect("it is answered");
    assert!(output.structured.is_none());
    let fact = |name: &str| output.facts.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone());
    assert_eq!(fact("path"), Some("a.txt".into()));
    assert_eq!(fact("bytes"), Some(4.into()));
    assert_eq!(fact("lines"), Some(1.into()));
    assert_eq!(fact("sha256"), Some("2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806".into()));
    assert_eq!(world.seen("a.txt").and_then(|seen| seen.bytes).as_deref(), Some(&b"one\n"[..]));
}

#[test]
fn what_is_no_file_is_refused_and_nothing_waits_for_it() {
    let world = World::new();
    std::fs::create_dir(world.path("dir")).expect("made");
    rustix::fs::mknodat(rustix::fs::CWD, world.path("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .expect("made");
    let _socket = UnixListener::bind(world.path("socket")).expect("bound");
    for name in ["dir", "fifo", "socket"] {
        assert_eq!(world.refused(at(name)).0, code::NOT_A_FILE.0, "{name}");
    }
    assert_eq!(world.refused(at("nothing")).0, code::NOT_FOUND.0);
}

/// (bytes, what the refusal says)
const BINARIES: &[(&[u8], &str)] = &[
    (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", "an ELF program or library"),
    (b"PK\x03\x04\x14\0\0\0", "a ZIP archive"),
    (b"SQLite format 3\0\x10\0", "an SQLite database"),
    (b"\x1f\x8b\x08\0\0\0\0\0", "gzip data"),
    (b"one\0two", "a NUL byte at offset 3"),
];

#[test]
fn other_types_are_refused_by_type_and_size() {
    for (bytes, what) in BINARIES {
        let world = World::new().file("x", bytes);
        let (code, text) = world.refused(at("x"));
        assert_eq!(code, code::UNSUPPORTED_TYPE.0);
        assert!(text.contains(what) && text.contains(&format!("({} bytes)", bytes.len())), "{text}");
        // It is enough to delete or move it by.
        assert!(world.seen("x").is_some_and(|seen| seen.hash.is_some()));
    }
}

/// A file of 5 GB that takes no room: text, a hole, text.
fn sparse(world: &World, head: &str) -> File {
    let file = File::create(world.path("big.log")).expect("made");
    file.write_all_at(head.as_bytes(), 0).expect("written");
    file.set_len(5_000_000_000).expect("grown");
    let tail: String = (1..=500).map(|n| format!("tail {n}\n")).collect();
    file.write_all_at(tail.as_bytes(), 5_000_000_000 - tail.len() as u64).expect("written");
    file
}

#[test]
fn the_end_of_a_log_of_5_gb_is_there_at_once() {
    for head in ["head\n".repeat(100_000), String::new()] {
        let world = World::new();
        sparse(&world, &head);
        let begun = Instant::now();
        let text = world.text(json!({"file_path": "big.log", "offset": -100}));
        // An optimised build takes about a millisecond; this bound only rules out reading it all.
        assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
        assert!(text.starts_with("  -100\ttail 401\n   -99\ttail 402\n"), "{}", &text[..40]);
        assert!(text.ends_with("    -1\ttail 500\n[lines -100 to -1, counted from the end of 5.0 GB]"), "{text}");
        let some = world.text(json!({"file_path": "big.log", "offset": -100, "limit": 2}));
        assert!(some.ends_with("; go on with offset=-98]"), "{some}");
        assert!(world.seen("big.log").is_some_and(|seen| seen.hash.is_none()));
    }
}

#[test]
fn what_a_large_file_holds_behind_its_text_is_shown_only_where_it_is_text() {
    let world = World::new();
    let lines = "# a line of a script\n".repeat(300_000);
    let noise: Vec<u8> = (0..300_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let world = world.file("run.sh", [lines.as_bytes(), &noise, b"\nend\n"].concat());
    let world = world.file("nul.log", [lines.as_bytes(), b"a\0b\n", lines.as_bytes()].concat());
    for (file, offset) in [("run.sh", -2), ("run.sh", 300_001), ("nul.log", 299_999), ("nul.log", -300_001)] {
        let (code, said) = world.refused(json!({"file_path": file, "offset": offset, "limit": 3}));
        assert!(
            code == 214 && said.contains("NUL byte") || said.contains("control characters"),
            "{file} {offset}: {said}"
        );
    }
    assert!(world.text(json!({"file_path": "run.sh", "offset": 299_990, "limit": 10})).contains("299999\t# a line"));
    assert!(world.text(json!({"file_path": "run.sh", "offset": -1})).contains("end"));
    assert!(world.text(json!({"file_path": "nul.log", "offset": -10})).contains("# a line"));
}

#[test]
fn the_beginning_of_a_log_of_5_gb_is_there_at_once_too() {
    let world = World::new();
    sparse(&world, &"head\n".repeat(100_000));
    let begun = Instant::now();
    let text = world.text(at("big.log"));
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    assert!(text.starts_with("     1\thead\n"));
    let end =
        "[lines 1–2,000 of about 1,000,000,000 (5.0 GB); go on with offset=2001, or see the end with offset=-100]";
    assert!(text.ends_with(end), "{}", &text[text.len() - 200..]);
}

#[test]
fn where_lines_lie_is_remembered_until_the_file_changes() {
    let lines = |from: u32| (from..from + 500_000).map(|n| format!("line {n:>8}, of a log\n")).collect::<String>();
    let world = World::new().file("a.log", lines(1)).file("b.log", lines(1));
    let far = |name: &str| world.text(json!({"file_path": name, "offset": 400_000, "limit": 1}));
    let marks = |name: &str| {
        let (place, marked) = (world.tool.files.locate(name).expect("a path"), world.session.slot::<Marked>());
        let stamp = world.seen(name).expect("it was read").stamp;
        let marks = marked.of(&place.path, stamp);
        marked.keep(&place.path, stamp, marks.clone());
        marks.last()
    };
    assert!(far("a.log").starts_with("400000\tline   400000,"));
    let known = marks("a.log").expect("it was counted");
    // Each file has its own.
    assert!(far("b.log").starts_with("400000\tline   400000,"));
    assert_eq!(marks("a.log"), Some(known));
    // Other lines than were counted.
    std::fs::write(world.path("a.log"), format!("{}one more\n", lines(7))).expect("written");
    assert!(far("a.log").starts_with("400000\tline   400006,"));
    assert!(far("a.log").starts_with("400000\tline   400006,"), "as the marks have it");
}

#[test]
fn a_call_that_is_cancelled_stops_counting() {
    let world = World::new();
    sparse(&world, &"head\n".repeat(100_000));
    let cancel = Cancel::default();
    cancel.cancel();
    let error = world.call_until(json!({"file_path": "big.log", "offset": 900_000}), &cancel).expect_err("cancelled");
    assert_eq!(error.code, code::CANCELLED);
}

#[test]
fn fuzz_inputs_that_were_trouble_are_none() {
    for pick in 0..=9 {
        for rest in
            [&b""[..], b"\x89PNG\r\n\x1a\n", b"%PDF-1.7\n", b"\xff\xd8\xff\xd9", b"{\"cells\":[]}", b"\xff\xfe\x1b\0"]
        {
            let mut input = vec![pick];
            input.extend(rest);
            fuzz_one(&input);
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(pick: u8, start in 0usize..6, rest: Vec<u8>) {
        let starts = [&b""[..], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"%PDF-1.7\n1 0 obj\n<<", b"\xff\xd8\xff", b"GIF89a", b"\xff\xfe"];
        fuzz_one(&[&[pick], starts[start], &rest].concat());
    }
}

/// Times for the report: `cargo test --release read_figures -- --nocapture` with NIKA_FIGURES built in.
#[test]
fn read_figures() {
    if option_env!("NIKA_FIGURES").is_none() {
        return;
    }
    let line = "    let answer = compute(alpha, beta, 42)?;\n";
    let world = World::new()
        .file("10k", line.repeat(10_000 / line.len()))
        .file("1m", line.repeat(1_000_000 / line.len()))
        .file("1m-utf8", "    let größe = berechne(α, β, 42)?;\n".repeat(25_000))
        .file("1m-crlf", line.replace('\n', "\r\n").repeat(1_000_000 / line.len()));
    sparse(&world, &"head\n".repeat(100_000));
    let calls = [
        json!({"file_path": "10k"}),
        json!({"file_path": "1m", "limit": 100_000}),
        json!({"file_path": "1m-utf8", "limit": 100_000}),
        json!({"file_path": "1m-crlf", "limit": 100_000}),
        json!({"file_path": "1m"}),
        json!({"file_path": "big.log", "offset": -100}),
        json!({"file_path": "big.log"}),
    ];
    let processor = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    };
    let print = |what: &str, work: &dyn Fn()| {
        let (mut walls, mut times): (Vec<Duration>, Vec<Duration>) = (0..300)
            .map(|_| {
                let (begun, before) = (Instant::now(), processor());
                work();
                (begun.elapsed(), processor() - before)
            })
            .unzip();
        walls.sort();
        times.sort();
        let figure = format!("{what}: wall best {:?}, p50 {:?}; cpu p50 {:?}\n", walls[0], walls[150], times[150]);
        let _ = rustix::io::write(rustix::stdio::stderr(), figure.as_bytes());
    };
    print("a world without a call", &|| drop(world.refused(json!({"file_path": "a\0"}))));
    for call in calls {
        print(&call.to_string(), &|| drop(world.call(call.clone()).expect("it is answered")));
    }
    let bytes = std::fs::read(world.path("1m")).expect("it is there");
    let window = Window::new(None, Some(100_000)).expect("a window");
    print("hash", &|| _ = std::hint::black_box(nika_host::fs::sha256(&bytes)));
    print("decode", &|| drop(std::hint::black_box(nika_edit::decode(&bytes))));
    print("page", &|| drop(std::hint::black_box(page(&bytes, window))));
    let (files, effects) = (&world.tool.files, Effects::read(world.tool.files.locate("10k").expect("a path")));
    let judge = || Policy::default().judge(&Stance::from(Mode::ReadOnly), &effects).permit(None).expect("allowed");
    let (permit, place) = (judge(), files.locate("10k").expect("a path"));
    print("judge", &|| drop(std::hint::black_box(judge())));
    print("locate", &|| drop(std::hint::black_box(files.locate("10k"))));
    print("open", &|| drop(std::hint::black_box(files.open_file(&permit, &place))));
    let read = || std::fs::read(world.path("1m")).expect("it is there");
    print("std read", &|| drop(std::hint::black_box(read())));
}

#[test]
fn the_tool_is_listed_as_it_should_be() {
    let tool = Erased::boxed(Read { files: World::new().tool.files, parsers: None });
    assert!(tool.spec().eager && tool.spec().read_only && !tool.spec().destructive);
    assert_eq!(tool.input_schema()["required"], json!(["file_path"]));
}
