//! The same, with parsers where they belong: in children of the program.

use std::fs::File;
use std::time::{Duration, Instant};

use nika_contract::{Cancel, code};
use nika_host::proc::{Isolated, Limits, limit_self};

use super::pictures::{jpeg, png};
use super::{World, at, documents};
use crate::file::read::parse_child;

/// The name of the test below, as the harness knows it.
pub(super) const ENTRY: &str = "file::read::tests::children::entry";

/// Not a test by itself: a parser child's life, when this program was started as one.
#[test]
fn entry() {
    let command_line = std::fs::read("/proc/self/cmdline").expect("our own");
    let mut args = command_line.split(|byte| *byte == 0).rev().skip(1);
    let Some(kind) = args.next().filter(|kind| [&b"picture"[..], b"pdf"].contains(kind)) else { return };
    let own = |fd: std::os::fd::BorrowedFd<'_>| File::from(fd.try_clone_to_owned().expect("a file is left"));
    let (input, output) = (own(rustix::stdio::stdin()), own(rustix::stdio::stdout()));
    limit_self(&Limits::default()).expect("limits can be set");
    parse_child(&String::from_utf8_lossy(kind), input, output).expect("it is answered");
}

#[test]
fn pictures_and_documents_come_through_a_child() {
    let world = World::new()
        .with_children()
        .file("small.png", png(30, 20))
        .file("large.jpg", jpeg(1_600, 30))
        .file("cut.png", &png(30, 20)[..60])
        .file("two.pdf", documents::pdf(&["first", "second"]));
    assert!(world.picture(at("small.png")).0.starts_with("small.png: PNG, 30 × 20 px"));
    assert!(world.picture(at("large.jpg")).0.ends_with("; shown as JPEG, 1,568 × 29 px"));
    assert_eq!(world.refused(at("cut.png")).0, code::PARSER_FAILED.0);
    assert!(world.text(at("two.pdf")).contains("=== page 2\nsecond"));
}

#[test]
fn a_parser_that_hangs_or_dies_is_a_refusal() {
    let mut world = World::new().file("a.png", png(3, 2));
    let shell = |script: &str| Isolated {
        wall: Duration::from_millis(200),
        ..Isolated::new("/bin/sh", vec!["-c".into(), script.into()])
    };
    for (script, why) in [
        ("sleep 60", "took longer than 0.2 s"),
        ("kill -SEGV $$", "signal 11"),
        ("exit 1", "status 1"),
        ("true", "not whole"),
        ("printf '\\002nika-parse-1\\n.\\0\\0\\0\\0'", "makes no sense"),
    ] {
        world.tool.parsers = Some(shell(script));
        let (code, text) = world.refused(at("a.png"));
        assert_eq!(code, code::PARSER_FAILED.0);
        assert!(text.contains("a.png: ") && text.contains(why), "{script}: {text}");
    }
}

#[test]
fn a_call_that_is_cancelled_kills_its_parser() {
    let mut world = World::new().file("a.png", png(3, 2));
    world.tool.parsers = Some(Isolated {
        wall: Duration::from_secs(60),
        ..Isolated::new("/bin/sh", vec!["-c".into(), "sleep 60".into()])
    });
    let cancel = Cancel::default();
    cancel.cancel();
    let begun = Instant::now();
    assert_eq!(world.call_until(at("a.png"), &cancel).expect_err("cancelled").code, code::CANCELLED);
    assert!(begun.elapsed() < Duration::from_secs(10));
}
