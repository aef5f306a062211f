//! Every way a file can be malformed, with the position that the person is sent to.

use super::*;

/// A project's file, and how the refusal begins; then a word that it holds.
const MALFORMED: &[(&str, &str, &str)] = &[
    // Not YAML.
    ("a: [", "NIKA-902 .nika/config.yaml:1:4: ", "unclosed bracket"),
    ("files:\n\tfsync: off", "NIKA-902 .nika/config.yaml:2:2: ", "tabs"),
    ("mode: \"\\q\"", "NIKA-902 .nika/config.yaml:1:7: ", "escape"),
    ("mode: ask: deny", "NIKA-902 .nika/config.yaml:1:10: ", "mapping"),
    ("mode: @x", "NIKA-902 .nika/config.yaml:1:7: ", ""),
    ("mode: \u{7}", "NIKA-902 .nika/config.yaml:1:7: ", "unexpected character"),
    ("mode: !!python/object x", "NIKA-902 .nika/config.yaml:1:", "tag"),
    ("mode: *nowhere", "NIKA-902 .nika/config.yaml:1:7: ", "anchor"),
    ("mode: ask\n---\nmode: deny\n", "NIKA-902 .nika/config.yaml:2:1: ", "a second document starts here"),
    ("mode: ask\nmode: deny\n", "NIKA-902 .nika/config.yaml:2:1: ", "the key `mode` occurs twice"),
    ("files:\n  fsync: data\n  fsync: off\n", "NIKA-902 .nika/config.yaml:3:3: ", "`fsync` occurs twice"),
    ("<<: {mode: ask}", "NIKA-902 .nika/config.yaml:1:1: ", "merge keys"),
    ("[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]", "NIKA-902 .nika/config.yaml:1:17: ", "deeper or larger"),
    ("? [mode]\n: ask", "NIKA-902 .nika/config.yaml:1:3: ", "string"),
    // Not ours.
    ("- mode", "NIKA-902 .nika/config.yaml:1:1: ", "found a list where a mapping with mode, trusted, permissions"),
    ("ask", "NIKA-902 .nika/config.yaml:1:1: ", "found 'ask' where a mapping"),
    ("colour: ask", "NIKA-902 .nika/config.yaml:1:1: ", "unknown key `colour`; use one of"),
    ("modes: ask", "NIKA-902 .nika/config.yaml:1:1: ", "unknown key `modes`; did you mean mode?"),
    ("1: ask", "NIKA-902 .nika/config.yaml:1:1: ", "unknown key `1`; use one of mode, trusted"),
    ("permissions:\n  denny: []", "NIKA-902 .nika/config.yaml:2:3: ", "did you mean deny?"),
    ("permissions: []", "NIKA-902 .nika/config.yaml:1:14: ", "a mapping with allow, ask, deny"),
    ("files.fsync: off", "NIKA-902 .nika/config.yaml:1:1: ", "unknown key `files.fsync`"),
    ("x: &x [*y]\n", "NIKA-902 .nika/config.yaml:1:8: ", "anchor"),
    // The wrong value.
    ("mode: everything", "NIKA-902 .nika/config.yaml:1:7: ", "found 'everything' where deny, read-only, ask"),
    ("mode:", "NIKA-902 .nika/config.yaml:1:", "found nothing where deny"),
    ("mode: true", "NIKA-902 .nika/config.yaml:1:7: ", "found `true`"),
    ("trusted: nope", "NIKA-902 .nika/config.yaml:1:10: ", "true or false"),
    ("trusted: no", "NIKA-902 .nika/config.yaml:1:10: ", "true or false"),
    ("files: {fsync: sometimes}", "NIKA-902 .nika/config.yaml:1:16: ", "data, off or full"),
    ("files:\n  fsync: yes\n", "NIKA-902 .nika/config.yaml:2:10: ", "data, off or full"),
    ("journal: {fsync: full}", "NIKA-902 .nika/config.yaml:1:18: ", "each-call or off"),
    ("output: {max_chars: 1.5e3}", "NIKA-902 .nika/config.yaml:1:21: ", "a whole number"),
    ("output: {max_chars: -1}", "NIKA-902 .nika/config.yaml:1:21: ", "a whole number"),
    ("output: {max_chars: 99999999999999999999999}", "NIKA-902 .nika/config.yaml:1:21: ", "a whole number"),
    ("output:\n  tools:\n    read: lots", "NIKA-902 .nika/config.yaml:3:11: ", "a whole number"),
    ("output:\n  tools: [read]", "NIKA-902 .nika/config.yaml:2:10: ", "a mapping from tool names"),
    ("tools: {list: []}", "NIKA-902 .nika/config.yaml:1:15: ", "eager, all, or a list"),
    ("tools: {list: [\"a,b\"]}", "NIKA-902 .nika/config.yaml:1:15: ", "eager, all, or a list"),
    ("tools: {dialect: klingon}", "NIKA-902 .nika/config.yaml:1:18: ", "claw-agent"),
    ("tools: {defer_above: \"8\"}", "NIKA-902 .nika/config.yaml:1:22: ", "a whole number"),
    ("undo: {max_bytes: 1GiBi}", "NIKA-902 .nika/config.yaml:1:19: ", "a size"),
    ("undo: {max_bytes: 99999999999TiB}", "NIKA-902 .nika/config.yaml:1:19: ", "a size"),
    ("undo: {max_bytes: 10KiB}", "NIKA-902 .nika/config.yaml:1:19: ", "at least 1MiB"),
    ("undo: {max_days: 0}", "NIKA-902 .nika/config.yaml:1:18: ", "days"),
    // Names that no tool has.
    ("output:\n  tools: {nosuch: 5000}", "NIKA-902 .nika/config.yaml:2:11: ", "no tool is called 'nosuch'"),
    ("output:\n  tools: {gerp: 5000}", "NIKA-902 .nika/config.yaml:2:11: ", "is it grep"),
    ("tools:\n  list: [read, gerp]", "NIKA-902 .nika/config.yaml:2:16: ", "is it grep"),
    ("tools:\n  list: read,gerp", "NIKA-902 .nika/config.yaml:2:9: ", "is it grep"),
    ("permissions:\n  deny: [tool(gerp)]", "NIKA-903 .nika/config.yaml:2:10: ", "is it grep"),
    ("permissions:\n  ask: [{rule: tool(bogus)}]", "NIKA-903 .nika/config.yaml:2:16: ", "no tool is called 'bogus'"),
    ("permissions:\n  allow: [tool(GREP)]", "NIKA-903 .nika/config.yaml:2:11: ", "rule 'tool(GREP)'"),
    // Rules.
    ("permissions:\n  deny: write(x)", "NIKA-902 .nika/config.yaml:2:9: ", "a list of rules"),
    ("permissions:\n  deny: [~]", "NIKA-902 .nika/config.yaml:2:10: ", "found nothing where a rule"),
    ("permissions:\n  deny:\n    - 7", "NIKA-902 .nika/config.yaml:3:7: ", "a rule such as"),
    ("permissions:\n  deny:\n    - {match: [x]}", "NIKA-902 .nika/config.yaml:3:7: ", "a rule such as"),
    (
        "permissions:\n  deny:\n    - {rule: net(*), mach: [x]}",
        "NIKA-902 .nika/config.yaml:3:22: ",
        "did you mean match",
    ),
    (
        "permissions:\n  deny:\n    - {rule: net(*), match: x}",
        "NIKA-902 .nika/config.yaml:3:29: ",
        "a list of examples",
    ),
    ("permissions:\n  deny:\n    - {rule: net(*), match: [1]}", "NIKA-902 .nika/config.yaml:3:30: ", "quotes"),
    ("permissions:\n  deny:\n    - net(a b)", "NIKA-903 .nika/config.yaml:3:7: ", "not a host name"),
    ("permissions:\n  allow: [write(a,b)]", "NIKA-903 .nika/config.yaml:2:11: ", "VERB(PATTERN)"),
    ("permissions:\n  ask:\n  - net(*)\n  - paint(x)", "NIKA-903 .nika/config.yaml:4:5: ", "unknown verb 'paint'"),
    ("permissions:\n  ask: [\"\"]", "NIKA-903 .nika/config.yaml:2:9: ", "VERB(PATTERN)"),
    (
        "permissions:\n  deny:\n    - rule: exec(git push*)\n      match: [git status]",
        "NIKA-903 .nika/config.yaml:3:7: ",
        "'git status' is listed under match and does not match",
    ),
    (
        "permissions:\n  deny:\n    - rule: exec(git push*)\n      not_match: [git push]",
        "NIKA-903 .nika/config.yaml:3:7: ",
        "listed under not_match and matches",
    ),
];

#[test]
fn a_malformed_file_is_refused_where_it_is_wrong() {
    for (text, start, word) in MALFORMED {
        let said = world().project(text).refused();
        assert!(said.starts_with(start) && said.contains(word), "{text:?}\n  said {said}\n  want {start}…{word}");
    }
}

/// The position counts characters, and a byte order mark is none of them.
#[test]
fn positions_count_characters() {
    let said = world().project("# ü\nmode: 'grün' # ö\n").refused();
    assert!(said.starts_with("NIKA-902 .nika/config.yaml:2:7: "), "{said}");
    let said = world().project("\u{feff}mode: grün").refused();
    assert!(said.starts_with("NIKA-902 .nika/config.yaml:1:7: "), "{said}");
    let said = world().file("repo/.nika/config.yaml", b"mode: ask\n# \xff\n").refused();
    assert!(said.starts_with("NIKA-902 .nika/config.yaml:2:3: this is not UTF-8"), "{said}");
}

#[test]
fn empty_files_say_nothing() {
    for text in ["", "\n", "# only a comment\n", "---\n", "{}", "permissions:\nfiles:\n", "permissions: {deny: }"] {
        let found = world().project(text).load();
        assert_eq!(found.stance, Stance::from(Mode::Ask), "{text:?}");
    }
}

#[test]
fn aliases_are_taken_and_bombs_are_not() {
    let found = world().project("permissions:\n  deny: &all [net(*)]\n  ask: *all\n").load();
    assert_eq!(found.policy.rules().len(), 2);
    let mut bomb = String::from("a0: &a0 [x]\n");
    for level in 1..12 {
        let before = vec![format!("*a{}", level - 1); 15].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    let said = world().project(&bomb).refused();
    assert!(said.starts_with("NIKA-902 .nika/config.yaml:") && said.contains("more than"), "{said}");
}

/// What stands where a file should, and what the refusal says.
#[test]
fn what_is_no_readable_file_is_refused_not_ignored() {
    let cases: [(Touch, &str); 7] = [
        (
            |world| link(Path::new("/etc/hostname"), &world.path("repo/.nika/config.yaml")),
            ".nika/config.yaml: it, or a directory",
        ),
        (
            |world| link(Path::new("nowhere"), &world.path("repo/.nika/config.local.yaml")),
            ".nika/config.local.yaml: it, or",
        ),
        (
            |world| link(Path::new("nowhere"), &world.path("home/config.yaml")),
            "~/config.yaml: is a link that leads nowhere",
        ),
        (|world| fs::create_dir(world.path("repo/.nika/config.yaml")).expect("made"), "is not a regular file"),
        (
            |world| {
                let path = world.path("repo/.nika/config.yaml");
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
                    .expect("a FIFO");
            },
            "is not a regular file",
        ),
        (
            |world| fs::write(world.path("repo/.nika/config.yaml"), "# ".repeat(1 << 20)).expect("written"),
            "is larger than 1 MiB",
        ),
        (
            |world| {
                fs::remove_dir(world.path("repo/.nika")).expect("removed");
                fs::create_dir(world.path("elsewhere")).expect("made");
                fs::write(world.path("elsewhere/config.yaml"), "mode: deny").expect("written");
                link(&world.path("elsewhere"), &world.path("repo/.nika"));
            },
            "a project's configuration is a file",
        ),
    ];
    for (place, word) in cases {
        let world = world();
        for dir in ["repo/.nika", "home"] {
            fs::create_dir_all(world.path(dir)).expect("made");
        }
        place(&world);
        let sources = Sources { user: Some(world.path("home/config.yaml")), ..world.sources() };
        let said = ToolError::from(load(&sources).expect_err("refused")).to_string();
        assert!(said.starts_with("NIKA-902") && said.contains(word), "{said} for {word}");
    }
}

#[test]
fn a_persons_own_file_may_be_a_link() {
    let world = world().file("dotfiles/nika.yaml", "mode: read-only");
    fs::create_dir_all(world.path("home/.config/nika")).expect("made");
    link(&world.path("dotfiles/nika.yaml"), &world.path("home/.config/nika/config.yaml"));
    assert_eq!(world.load().stance, Stance::from(Mode::ReadOnly));
}

#[test]
fn a_malformed_command_line_names_its_flag() {
    for (text, word) in [
        ("mode", "KEY=VALUE"),
        ("mode=", "the value is missing"),
        ("mode=grün", "where deny"),
        ("modes=ask", "did you mean mode"),
        ("files=off", "a mapping with fsync"),
        ("files.fsync.x=off", "found a mapping where data"),
        ("a.b=[", "not YAML"),
        ("=1", "unknown key"),
    ] {
        let scene = world().line(|line| line.set.push(text.into()));
        let said = scene.refused();
        assert!(said.contains("--set") && said.contains(word), "{text}: {said}");
    }
    let scene = world().line(|line| line.allow.push("paint(x)".into()));
    let said = scene.refused();
    assert!(said.starts_with("NIKA-903 --allow: "), "{said}");
}

#[test]
fn set_reaches_where_files_do() {
    let sets = ["output.tools.read=5000", "permissions.deny=[net(*)]", "tools.list=[read, grep]"];
    let found = world().line(|line| line.set.extend(sets.map(str::to_owned))).load();
    assert_eq!(found.max_output_chars, [("read".to_owned(), 5000)]);
    assert_eq!(found.policy.rules()[0].at, "--set permissions.deny");
    assert_eq!(found.list.as_deref(), Some("read,grep"));
}
