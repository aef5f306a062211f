//! Trees that are not kind: deep, wide, unreadable, changing, and what a
//! search says of them.

use std::fs;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nika_search::{GlobQuery, GrepQuery, Mode, OuterDir, Scope, SearchError, Widening, glob, grep};

const WIDENING: Widening = Widening {
    limit: "head_limit",
    timeout: Some("timeout_ms"),
    depth: None,
    no_ignore: Some("no_ignore"),
    hidden: Some("hidden"),
};

struct World {
    dir: tempfile::TempDir,
    fd: fs::File,
}

impl World {
    fn new(files: &[(&str, &str)]) -> World {
        let dir = tempfile::tempdir().expect("a directory");
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let fd = fs::File::open(dir.path()).expect("the root");
        World { dir, fd }
    }

    fn scope(&self) -> Scope<'_> {
        Scope::new(self.fd.as_fd())
    }
}

fn paths(found: &nika_search::GrepFound) -> String {
    found.files.iter().map(|f| f.path.display().to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_record_says_what_was_left_out_and_by_which_rule() {
    let world = World::new(&[
        (".git/HEAD", ""),
        (".gitignore", "# built\n*.o\n/out/\n"),
        ("a.o", "foo"),
        ("b.o", "foo"),
        ("out/x", "foo"),
        (".hidden", "foo"),
        ("a.c", "foo\n"),
        ("bin", "foo\0"),
    ]);
    std::os::unix::fs::symlink("a.c", world.dir.path().join("link")).expect("a link");
    let found = grep(&world.scope(), &GrepQuery::new("foo")).expect("a search");
    let r = &found.record;
    assert_eq!(paths(&found), "a.c");
    assert_eq!((r.ignored.entries, r.hidden, r.links, r.scanned, r.binary.total), (3, 3, 1, 2, 1));
    let rule = |i: usize| {
        (
            r.ignored.rules[i].file.display().to_string(),
            r.ignored.rules[i].line,
            r.ignored.rules[i].pattern.as_str(),
            r.ignored.rules[i].entries,
        )
    };
    assert_eq!((rule(0), rule(1)), ((".gitignore".into(), 2, "*.o", 2), (".gitignore".into(), 3, "/out/", 1)));
    assert!(!r.complete(), "a match may be in the binary file");
    assert_eq!(r.binary.first, [Path::new("bin")]);
    assert_eq!(r.widen(&WIDENING).iter().map(|w| w.parameter).collect::<Vec<_>>(), ["no_ignore", "hidden"]);
}

#[test]
fn a_glob_that_leads_through_a_link_is_a_gap_and_one_that_may_is_counted() {
    let world = World::new(&[("real/x.rs", "foo\n"), ("sub/y.c", "")]);
    for (target, link) in [("real", "lnk"), ("../real", "sub/deep"), ("real", ".dot")] {
        std::os::unix::fs::symlink(target, world.dir.path().join(link)).expect("a link");
    }
    let record = |pattern: &str| glob(&world.scope(), &GlobQuery::new(pattern)).expect("a search").record;
    let asked = |pattern: &str| {
        let mut query = GrepQuery::new("foo");
        query.globs = vec![pattern.to_owned()];
        let (r, by_name) = (grep(&world.scope(), &query).expect("a search").record, record(pattern));
        assert_eq!((r.links, &r.asked_links.first), (by_name.links, &by_name.asked_links.first), "{pattern}");
        assert_eq!(r.complete(), r.asked_links.total == 0, "{pattern}");
        let links: Vec<_> = r.asked_links.first.iter().map(|p| p.display().to_string()).collect();
        (r.links, links.join(" "))
    };
    assert_eq!(asked("lnk/*.rs"), (1, "lnk".into()));
    assert_eq!(asked("/lnk/**"), (1, "lnk".into()));
    assert_eq!(asked("{lnk,real}/x.rs"), (1, "lnk".into()));
    assert_eq!(asked("sub/deep/a/b.rs"), (1, "sub/deep".into()));
    assert_eq!(asked("**/deep/*.rs"), (2, "sub/deep".into()));
    // Either link may lead to files of that name; no glob says so.
    assert_eq!(asked("*.zig"), (2, String::new()));
    assert_eq!(asked("l*/*.rs"), (1, String::new()));
    assert_eq!(asked("real/*.rs"), (0, String::new()));
    assert_eq!(record(".dot/*.rs").hidden, 1);

    let veto = |path: &[u8], _: bool| path == b"lnk";
    let scope = Scope { veto: Some(&veto), ..world.scope() };
    let kept_back = glob(&scope, &GlobQuery::new("**/lnk/*.rs")).expect("a search").record;
    assert_eq!((kept_back.withheld, kept_back.asked_links.total), (1, 0));
}

#[test]
fn a_binary_file_that_was_named_says_that_it_matches_and_what_is_not_shown() {
    let world = World::new(&[("b", "needle\nx\0y\nneedle\n"), ("c", "x\0y\nhay\n")]);
    let named = |base: &'static str, mode| {
        let scope = Scope { base: Path::new(base), ..world.scope() };
        let found = grep(&scope, &GrepQuery { mode, ..GrepQuery::new("needle") }).expect("a search");
        (found.files.first().and_then(|f| f.binary), found.record.complete())
    };
    let note = nika_search::BinaryNote { offset: 8, stopped: false, not_shown_from: Some(0) };
    assert_eq!(named("b", Mode::Content), (Some(note), false));
    let all_counted = nika_search::BinaryNote { not_shown_from: None, ..note };
    assert_eq!(named("b", Mode::Count), (Some(all_counted), true));
    // Searched to its end.
    assert_eq!(named("c", Mode::Content), (None, true));
    assert_eq!(named("c", Mode::Files), (None, true));
}

#[test]
fn whoever_watches_sees_how_many_files_were_looked_at() {
    let names: Vec<String> = (0..2000).map(|n| format!("d{}/f{n}", n % 7)).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "foo\n")).collect();
    let world = World::new(&files);
    let looked = AtomicU64::new(0);
    let scope = Scope { looked: Some(&looked), ..world.scope() };
    let found = grep(&scope, &GrepQuery::new("foo")).expect("a search");
    assert_eq!((looked.load(Ordering::Relaxed), found.record.scanned), (2000, 2000));
    glob(&scope, &GlobQuery::new("*")).expect("a search");
    assert_eq!(looked.load(Ordering::Relaxed), 4000);
    let one = Scope { base: Path::new("d0/f0"), ..scope };
    grep(&one, &GrepQuery::new("foo")).expect("a search");
    assert_eq!(looked.load(Ordering::Relaxed), 4001);
    // While it goes on: the veto is asked of each file before it is searched.
    let seen = AtomicU64::new(u64::MAX);
    let veto = |_: &[u8], _: bool| {
        seen.store(looked.load(Ordering::Relaxed), Ordering::Relaxed);
        false
    };
    grep(&Scope { threads: 1, veto: Some(&veto), ..scope }, &GrepQuery::new("foo")).expect("a search");
    let seen = seen.load(Ordering::Relaxed);
    assert!((4002..6001).contains(&seen), "{seen}");
}

#[test]
fn a_withheld_file_is_counted_and_never_opened() {
    let world = World::new(&[("a", "foo"), ("keys/id", "foo"), ("b.env", "foo")]);
    let veto = |path: &[u8], is_dir: bool| path.ends_with(b".env") || (is_dir && path == b"keys");
    let mut scope = world.scope();
    scope.veto = Some(&veto);
    let found = grep(&scope, &GrepQuery::new("foo")).expect("a search");
    assert_eq!((paths(&found).as_str(), found.record.withheld, found.record.complete()), ("a", 2, false));
    scope.base = Path::new("b.env");
    assert!(matches!(grep(&scope, &GrepQuery::new("foo")), Err(SearchError::BaseWithheld { .. })));
}

#[test]
fn a_base_that_is_missing_a_link_or_outside_is_refused() {
    let world = World::new(&[("a/b", "foo")]);
    std::os::unix::fs::symlink("a", world.dir.path().join("link")).expect("a link");
    let refused = |base: &str| {
        let mut scope = world.scope();
        scope.base = Path::new(base);
        grep(&scope, &GrepQuery::new("foo")).map(|f| paths(&f)).map_err(|e| e.to_string())
    };
    assert_eq!(refused("a"), Ok("a/b".into()));
    assert_eq!(refused("./a/b"), Ok("a/b".into()));
    assert_eq!(refused("nope"), Err("nope does not exist".into()));
    assert!(refused("link").is_err_and(|e| e.contains("symbolic link")));
    assert!(refused("link/b").is_err_and(|e| e.contains("symbolic link")));
    assert!(refused("../etc").is_err_and(|e| e.contains("climbs")));
    assert!(refused("/etc").is_err_and(|e| e.contains("absolute")));
    let mut scope = world.scope();
    scope.base = Path::new("a/b");
    assert!(matches!(glob(&scope, &GlobQuery::new("*")), Err(SearchError::BaseKind { .. })));
}

#[test]
fn ignore_files_above_the_root_count_when_given() {
    let world = World::new(&[("sub/x.o", "foo"), ("sub/y.c", "foo"), ("z.log", "foo")]);
    let outer = [
        OuterDir { to_root: b"root", ignore: Some(b"/root/sub/y.c\n"), ..OuterDir::default() },
        OuterDir { to_root: b"top/root", is_repository: true, gitignore: Some(b"*.o\n"), ..OuterDir::default() },
    ];
    let mut scope = world.scope();
    (scope.outer, scope.global_ignore) = (&outer[..], Some(&b"/z.log\n"[..]));
    let found = glob(&scope, &GlobQuery::new("!nothing")).expect("a search");
    assert!(found.files.is_empty(), "{:?}", found.files);
    let files: Vec<_> = found.record.ignored.rules.iter().map(|r| r.file.display().to_string()).collect();
    assert_eq!(files, ["../../.gitignore", "../.ignore", "(global gitignore)"]);
}

#[test]
fn a_glob_can_be_made_to_honour_ignore_files() {
    let world = World::new(&[(".git/HEAD", ""), (".gitignore", "*.o\n"), ("a.o", "foo"), (".b.o", "foo")]);
    let mut query = GlobQuery::new("*.o");
    assert_eq!(glob(&world.scope(), &query).expect("a search").files.len(), 2);
    query.overrides_ignore = false;
    let found = glob(&world.scope(), &query).expect("a search");
    assert_eq!((found.files.len(), found.record.ignored.entries), (0, 2));
}

#[test]
fn the_newest_come_first_and_pages_say_where_the_next_starts() {
    let world = World::new(&[("a", ""), ("b", ""), ("c/d", "")]);
    for (name, seconds) in [("a", 30), ("b", 50), ("c/d", 40)] {
        let file = fs::File::options().write(true).open(world.dir.path().join(name)).expect("a file");
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).expect("a time");
    }
    let page = |offset, limit| {
        let query = GlobQuery { offset, limit: Some(limit), ..GlobQuery::new("*") };
        let found = glob(&world.scope(), &query).expect("a search");
        (
            found.files.iter().map(|f| f.path.display().to_string()).collect::<Vec<_>>().join(" "),
            found.total,
            found.next_offset,
        )
    };
    assert_eq!(page(0, 2), ("b c/d".into(), 3, Some(2)));
    assert_eq!(page(2, 2), ("a".into(), 3, None));
    assert_eq!(page(7, 2), (String::new(), 3, None));
}

#[test]
fn a_tree_ten_thousand_deep_is_searched_with_few_descriptors() {
    let world = World::new(&[("start", "foo")]);
    // Made from the inside: no path this long can be named.
    let mut at =
        rustix::fs::openat(&world.fd, ".", rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).expect("the root");
    let mode = rustix::fs::Mode::from_raw_mode(0o755);
    for depth in 0..10_000 {
        rustix::fs::mkdirat(&at, "d", mode).expect("a directory");
        // A sibling at some depths keeps its parent on the stack.
        if depth % 50 == 0 {
            rustix::fs::mkdirat(&at, "e", mode).expect("a directory");
        }
        at = rustix::fs::openat(&at, "d", rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty())
            .expect("the directory");
    }
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    let end = rustix::fs::openat(&at, "end", flags, rustix::fs::Mode::from_raw_mode(0o644)).expect("a file");
    rustix::io::write(&end, b"foo\n").expect("its content");
    let found = grep(&world.scope(), &GrepQuery::new("foo")).expect("a search");
    assert_eq!((found.files.len(), found.record.dirs, found.record.unreadable.total), (2, 10_201, 0));

    let mut scope = world.scope();
    scope.max_depth = Some(3);
    let found = grep(&scope, &GrepQuery::new("foo")).expect("a search");
    assert_eq!((paths(&found).as_str(), found.record.cut.depth), ("start", 1));
    unmake(&world.fd);
}

/// Removes the deep tree from the top down by renaming, since nothing can
/// name its bottom.
fn unmake(root: &fs::File) {
    use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
    let open = |name: &str| openat(root, name, OFlags::DIRECTORY, Mode::empty());
    while let Ok(top) = open("d") {
        let _ = unlinkat(&top, "e", AtFlags::REMOVEDIR);
        let _ = unlinkat(&top, "end", AtFlags::empty());
        let _ = renameat(&top, "d", root, "next");
        let _ = unlinkat(root, "d", AtFlags::REMOVEDIR);
        if renameat(root, "next", root, "d").is_err() {
            break;
        }
    }
}

#[test]
fn a_wide_directory_is_shared_among_threads_and_stays_in_order() {
    let names: Vec<String> = (0..3000).map(|n| format!("f{n:04}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "foo\nbar\n")).collect();
    let world = World::new(&files);
    for threads in [1, 2, 4] {
        let mut scope = world.scope();
        scope.threads = threads;
        let found = grep(&scope, &GrepQuery::new("foo")).expect("a search");
        assert_eq!(found.files.len(), 3000);
        assert!(found.files.is_sorted_by(|a, b| a.path < b.path));
        assert!(found.record.complete());
    }
    let mut query = GrepQuery::new("foo");
    query.head_limit = Some(5);
    let found = grep(&world.scope(), &query).expect("a search");
    assert_eq!(
        (paths(&found).as_str(), found.next_offset, found.record.cut.limit),
        ("f0000 f0001 f0002 f0003 f0004", Some(5), true)
    );
    assert!(found.record.scanned < 1000, "a limit spares the rest: {}", found.record.scanned);
}

#[test]
fn time_and_cancellation_end_a_search_and_say_so() {
    let world = World::new(&[("a", "foo"), ("b", "foo")]);
    let mut scope = world.scope();
    scope.timeout = Some(Duration::ZERO);
    let found = grep(&scope, &GrepQuery::new("foo")).expect("a search");
    assert!(found.record.cut.timeout && !found.record.complete() && found.total.is_none());
    assert_eq!(found.record.widen(&WIDENING)[0].parameter, "timeout_ms");

    let cancel = AtomicBool::new(true);
    (scope.timeout, scope.cancel) = (None, Some(&cancel));
    assert!(grep(&scope, &GrepQuery::new("foo")).expect("a search").record.cut.cancelled);
    cancel.store(false, Ordering::Relaxed);
    assert!(grep(&scope, &GrepQuery::new("foo")).expect("a search").record.complete());
}

#[test]
fn a_fifo_a_device_and_what_has_no_size_do_not_block() {
    let world = World::new(&[("a", "foo")]);
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(&world.fd, "pipe", fifo, rustix::fs::Mode::RUSR, 0).expect("a pipe");
    let found = grep(&world.scope(), &GrepQuery::new("foo")).expect("a search");
    assert_eq!((paths(&found).as_str(), found.record.special), ("a", 1));
    let mut scope = world.scope();
    scope.base = Path::new("pipe");
    assert!(matches!(grep(&scope, &GrepQuery::new("foo")), Err(SearchError::BaseKind { .. })));

    let proc = fs::File::open("/proc/self").expect("proc");
    let mut scope = Scope::new(proc.as_fd());
    scope.base = Path::new("status");
    let mut query = GrepQuery::new("^Name:");
    query.mode = Mode::Content;
    assert_eq!(grep(&scope, &query).expect("a search").files.len(), 1);
    (scope.base, scope.max_depth) = (Path::new(""), Some(1));
    assert!(paths(&grep(&scope, &query).expect("a search")).split(' ').any(|p| p == "status"));
}

#[test]
fn what_cannot_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new(&[("open", "foo"), ("shut", "foo"), ("closed/x", "foo")]);
    for name in ["shut", "closed"] {
        fs::set_permissions(world.dir.path().join(name), fs::Permissions::from_mode(0o000)).expect("no permission");
    }
    let found = grep(&world.scope(), &GrepQuery::new("foo")).expect("a search");
    // Root may read everything.
    if rustix::process::geteuid().is_root() {
        assert_eq!(found.files.len(), 3);
    } else {
        let named: Vec<_> = found.record.unreadable.first.iter().map(|u| u.path.display().to_string()).collect();
        assert_eq!((paths(&found).as_str(), named), ("open", vec!["closed".to_owned(), "shut".to_owned()]));
        assert!(!found.record.complete());
    }
    fs::set_permissions(world.dir.path().join("closed"), fs::Permissions::from_mode(0o755)).expect("permission");
}

#[test]
fn a_tree_that_changes_meanwhile_breaks_nothing() {
    let names: Vec<String> = (0..40).flat_map(|d| (0..20).map(move |f| format!("d{d}/f{f}"))).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "foo\n")).collect();
    let world = World::new(&files);
    let top = world.dir.path().to_path_buf();
    let done = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            let mut round = 0;
            while !done.load(Ordering::Relaxed) {
                let dir = top.join(format!("d{}", round % 40));
                let _ = fs::remove_dir_all(&dir);
                let _ = std::os::unix::fs::symlink("/etc", &dir);
                let _ = fs::remove_file(&dir);
                let _ = fs::create_dir(&dir);
                let _ = fs::write(dir.join("f1"), "foo\n");
                round += 1;
            }
        });
        let until = Instant::now() + Duration::from_millis(400);
        while Instant::now() < until {
            let found = grep(&world.scope(), &GrepQuery::new("root|foo")).expect("a search");
            assert!(
                found.files.iter().all(|f| f.path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('f'))),
                "nothing outside is seen: {}",
                paths(&found)
            );
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn memory_for_lines_is_bounded() {
    let text = "foo foo foo foo foo foo\n".repeat(1000);
    let world = World::new(&[("a", &text), ("b", &text)]);
    let mut query = GrepQuery::new("foo");
    (query.mode, query.max_bytes) = (Mode::Content, 1000);
    let found = grep(&world.scope(), &query).expect("a search");
    assert!(found.record.cut.bytes && !found.record.complete());
    assert!(found.files.iter().map(|f| f.lines.len()).sum::<usize>() < 200);
}
