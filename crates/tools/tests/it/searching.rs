//! `glob`, `grep`, `list_dir`: the record, secrets, pages.

use nika_guard::{Mode, RuleKind};
use nika_testkit::world;
use serde_json::json;

#[test]
fn a_search_says_what_it_left_out_and_what_would_widen_it() {
    let world = world()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".gitignore", "target/\n*.log\n")
        .file("target/out.txt", "needle\n")
        .file("x.log", "needle\n")
        .file(".hidden/y.txt", "needle\n")
        .file("src/a.txt", "hay\n");
    let none = world.call("grep", json!({"pattern": "needle"}));
    none.says("No matches.").says("2 entries ignored").says("hidden");
    let record = &none.data()["completeness"];
    assert_eq!(record["complete"], true);
    assert_eq!(record["ignored"], 2);
    assert!(record["ignored_by"][0]["rule"].as_str().expect("a rule").starts_with(".gitignore:"));
    let all = world.call("grep", json!({"pattern": "needle", "no_ignore": true, "hidden": true}));
    all.says("target/out.txt").says("x.log").says(".hidden/y.txt");
    world.call("grep", json!({"pattern": "needle", "path": "target"})).says("target/out.txt");
    world.call("glob", json!({"pattern": "*.txt"})).says("src/a.txt");
}

#[test]
fn what_is_there_is_found_however_it_is_written_and_what_was_not_looked_at_is_said() {
    let world = world().file("src/a.rs", "needle\n").file("c d.py", "needle\n").file("a,b.txt", "needle\n");
    let world = world.file("zz\nNo files match.\n[complete: 9 files searched]", "");
    std::os::unix::fs::symlink("src/a.rs", world.root().join("LINK.rs")).expect("a link");
    let root = world.root().display().to_string();
    for pattern in ["./src/*.rs", "src/*.rs", "/src/*.rs", &format!("{root}/src/*.rs"), "./**/a.rs"] {
        world.call("glob", json!({"pattern": pattern})).says("src/a.rs");
        world.call("grep", json!({"pattern": "needle", "glob": pattern})).says("src/a.rs");
    }
    for name in ["c d.py", "a,b.txt"] {
        world.call("grep", json!({"pattern": "needle", "glob": name})).says(name);
    }
    for pattern in ["../*", "~/x", "/etc/*.conf", "a/../b"] {
        world.call("glob", json!({"pattern": pattern})).refused(206);
        world.call("grep", json!({"pattern": "needle", "glob": pattern})).refused(206);
    }
    let none = world.call("glob", json!({"pattern": "LINK.rs"}));
    none.says("No files match LINK.rs.").says("1 link, not followed");
    assert_eq!(none.data()["completeness"]["links"], 1);
    assert!(!world.call("glob", json!({"pattern": "*.rs"})).text().contains("link"));
    // A name is one line, whatever it holds.
    for (tool, arguments) in [("glob", json!({"pattern": "zz*"})), ("list_dir", json!({}))] {
        let text = world.call(tool, arguments).text();
        assert!(!text.lines().any(|line| line.starts_with("No files match")), "{text}");
        assert!(text.contains("zz␊No files match.␊"), "{text}");
    }
}

#[test]
fn a_glob_that_leads_through_a_link_is_not_said_to_match_nothing() {
    let world = world().file("real/x.rs", "needle\n").file("other/y.c", "hay\n");
    std::os::unix::fs::symlink("real", world.root().join("lnk")).expect("a link");
    std::os::unix::fs::symlink("../real", world.root().join("other/deep")).expect("a link");
    for (glob, link) in [("lnk/*.rs", "lnk"), ("./other/deep/**/*.rs", "other/deep"), ("**/lnk/x.rs", "lnk")] {
        for (tool, arguments) in
            [("glob", json!({"pattern": glob})), ("grep", json!({"pattern": "needle", "glob": glob}))]
        {
            let none = world.call(tool, arguments);
            none.says("and that was not all").says("NOT complete");
            none.says(&format!("1 link that the glob leads through, not followed (path: {link} looks there)"));
            let record = &none.data()["completeness"];
            assert_eq!((&record["asked_links"], &record["widen_with"]), (&json!([link]), &json!(["path"])), "{glob}");
        }
    }
    world.call("glob", json!({"pattern": "*.rs", "path": "lnk"})).says("real/x.rs").says("[complete");
    // The same glob finds it there, too.
    world.call("grep", json!({"pattern": "needle", "glob": "lnk/*.rs", "path": "lnk"})).says("real/x.rs");
    // Behind links that only may lead to such files they are counted, where nothing was found.
    for (tool, arguments) in
        [("glob", json!({"pattern": "*.zig"})), ("grep", json!({"pattern": "needle", "type": "zig"}))]
    {
        world.call(tool, arguments).says("[complete: 0 files searched; 2 links, not followed (path looks there)]");
    }
    assert!(!world.call("grep", json!({"pattern": "needle", "glob": "*.rs"})).text().contains("link"));
}

#[test]
fn globs_from_the_searched_directory_find_what_is_there() {
    let world = world().file("src/a.rs", "needle\n").file("src/b[1]/a.rs", "needle\n").file("a.rs", "needle\n");
    let root = world.root().display().to_string();
    let found = |path: &str, glob: &str| {
        world
            .call("grep", json!({"pattern": "needle", "path": path, "glob": glob}))
            .text()
            .lines()
            .next()
            .map(String::from)
    };
    for glob in ["./a.rs", "./*.rs", "/a.rs", &format!("{root}/src/*.rs"), "src/*.rs"] {
        assert_eq!(found("src", glob).as_deref(), Some("src/a.rs"), "{glob}");
    }
    assert_eq!(found("src/b[1]", "./*.rs").as_deref(), Some("src/b[1]/a.rs"));
    assert_eq!(found("src", "!./a.rs").as_deref(), Some("src/b[1]/a.rs"));
    // A slash stands for the directory that is searched, also where that bears the name behind it.
    for (tool, arguments) in [
        ("glob", json!({"pattern": "/src/*", "path": "src"})),
        ("grep", json!({"pattern": "needle", "glob": "/src/*", "path": "src"})),
    ] {
        let refused = world.call(tool, arguments);
        let said = &refused.refused(206).message;
        assert!(said.contains("count from the directory that is searched") && said.contains("leave out"), "{said}");
    }
    world.call("glob", json!({"pattern": "/*", "path": "src"})).says("src/a.rs");
}

#[test]
fn where_context_is_asked_for_files_stand_apart_also_if_each_line_matches() {
    let world = world().file("sep/p", "a\nb\n").file("sep/q", "a\nc\n");
    let lines = |more: serde_json::Value| {
        let mut arguments = json!({"pattern": "[abc]", "path": "sep", "output_mode": "content"});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let text = world.call("grep", arguments).text();
        text.split_once("\n[").map(|(lines, _)| lines.to_owned()).expect("a record")
    };
    let apart = "sep/p:1:a\nsep/p:2:b\n--\nsep/q:1:a\nsep/q:2:c";
    for more in [json!({"-A": 1}), json!({"-B": 1}), json!({"-C": 2}), json!({"context": 1})] {
        assert_eq!(lines(more.clone()), apart, "{more}");
    }
    assert_eq!(lines(json!({"-A": 1, "offset": 1})), apart.trim_start_matches("sep/p:1:a\n"));
    assert_eq!(lines(json!({})), apart.replace("--\n", ""));
    assert_eq!(lines(json!({"-A": 0})), apart.replace("--\n", ""));
}

#[test]
fn a_binary_file_that_was_named_is_said_to_match_and_where() {
    let scene = || world().bytes("b.bin", b"hay\nneedle\0 y\n");
    let named = scene().call("grep", json!({"pattern": "needle", "path": "b.bin", "output_mode": "content"}));
    named.says("[b.bin: binary file matches; not shown from byte 4 on (NUL byte around offset 10)]");
    named.says("NOT complete");
    let none = scene().call("grep", json!({"pattern": "nowhere", "path": "b.bin", "output_mode": "content"}));
    none.says("No matches.").says("[complete: 1 file searched]");
    // One that was met on the way is given up on.
    let long = [b"needle\n".repeat(10_000), b"\0\n".to_vec()].concat();
    let met = world().bytes("b.bin", &long).call("grep", json!({"pattern": "needle", "output_mode": "content"}));
    met.says("[b.bin: binary; the search of it stopped at the NUL byte around offset 70000]");
}

#[test]
fn pages_go_on_where_they_say() {
    let world = (0..250).fold(world(), |world, n| world.file(&format!("f{n:03}.txt"), "needle\nneedle\n"));
    let first = world.call("glob", json!({"pattern": "*.txt"}));
    first.says("[100 of 250 shown, newest first; go on with offset=100]");
    assert_eq!(first.data()["next_offset"], 100);
    let last = world.call("glob", json!({"pattern": "*.txt", "offset": 200}));
    assert_eq!(last.data()["shown"], 50);
    assert!(last.data().get("next_offset").is_none());
    let lines = world.call("grep", json!({"pattern": "needle", "output_mode": "content", "head_limit": 3}));
    lines.says("f000.txt:1:needle").says("go on with offset=3").says("NOT complete");
    world
        .call("grep", json!({"pattern": "needle", "output_mode": "content", "head_limit": 3, "offset": 3}))
        .says("f001.txt:2:needle");
}

#[test]
fn pages_one_behind_the_other_are_the_whole() {
    let far = "hay\nneedle\nhay\n".to_owned() + &"far\n".repeat(5);
    let binary = ["needle\n".repeat(10_000).as_bytes(), b"\0\n"].concat();
    let world = world().file("a.txt", &far.repeat(3)).file("b.txt", "needle\n").file("c.txt", &far.repeat(2));
    let world = world.bytes("z.bin", &binary).max_output_chars(500_000);
    let lines = |more: serde_json::Value| {
        let mut arguments = json!({"pattern": "needle", "output_mode": "content", "hidden": true});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let found = world.call("grep", arguments);
        let ours = |line: &&str| {
            !line.starts_with("[more follow") && !line.starts_with("[complete") && !line.starts_with("[NOT")
        };
        let lines: Vec<String> = found.text().lines().filter(ours).map(str::to_owned).collect();
        (lines, found.data().get("next_offset").cloned())
    };
    for around in [0, 1, 3] {
        let among = |glob: &str, more: serde_json::Value| {
            let mut arguments = json!({"-C": around, "glob": glob});
            arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            lines(arguments)
        };
        // What is said of a binary file is said once, with the last of its lines.
        for (glob, size) in (1..8).map(|size| ("*.txt", size)).chain([("*", 6000)]) {
            let (whole, _) = among(glob, json!({}));
            assert_eq!(whole.iter().filter(|line| line.starts_with("[z.bin: ")).count(), usize::from(glob == "*"));
            let (mut all, mut from) = (Vec::new(), json!(0));
            loop {
                let (page, next) = among(glob, json!({"head_limit": size, "offset": from}));
                all.extend(page);
                match next {
                    Some(next) => from = next,
                    None => break,
                }
            }
            assert!(all == whole, "{around} around, pages of {size}: {:?}", &all[..all.len().min(60)]);
        }
    }
}

#[test]
fn context_and_its_short_form_are_one() {
    let world = world().file("a.txt", "1\n2\n3\n4\n5\n");
    let short = world.call("grep", json!({"pattern": "3", "output_mode": "content", "-C": 1})).text();
    assert_eq!(short, world.call("grep", json!({"pattern": "3", "output_mode": "content", "context": 1})).text());
    assert!(short.starts_with("a.txt-2-2\na.txt:3:3\na.txt-4-4\n"), "{short}");
    world.call("grep", json!({"pattern": "3", "-C": 1, "context": 2})).refused(100);
}

#[test]
fn patterns_that_cannot_be_are_refused_by_their_own_codes() {
    let world = world().file("a.rs", "fn f(\n");
    let regex = world.call("grep", json!({"pattern": "f("}));
    assert!(
        regex.refused(207).hint.as_deref().is_some_and(|hint| hint.contains("literal")),
        "{:?}",
        regex.outcome.result
    );
    world.call("grep", json!({"pattern": "f(", "literal": true})).says("a.rs");
    world.call("glob", json!({"pattern": "a{b"})).refused(206);
    world.call("grep", json!({"pattern": "f", "type": "rast"})).refused(301);
    world.call("grep", json!({"pattern": "f", "path": "gone"})).refused(208);
    world.call("list_dir", json!({"path": "a.rs"})).refused(213);
}

#[test]
fn rules_keep_searches_out() {
    let world =
        world().file("private/a.txt", "needle\n").file("b.txt", "needle\n").rule(RuleKind::Deny, "read(private)");
    let found = world.call("grep", json!({"pattern": "needle"}));
    found.says("b.txt").says("withheld");
    assert!(!found.text().contains("private"));
    world.call("grep", json!({"pattern": "needle", "path": "private"})).refused(205);
    world.call("read", json!({"file_path": "private/a.txt"})).refused(205);
    assert!(!world.call("glob", json!({"pattern": "**/*.txt"})).text().contains("private"));
}

#[test]
fn a_listing_says_that_something_was_kept_back() {
    let scene = || world().file("p/private/x.txt", "x").file("p/private/sub/y.txt", "y").file("p/open.txt", "");
    let world = scene().rule(RuleKind::Deny, "read(**/private/**)");
    let listed = world.call("list_dir", json!({"path": "p/private"}));
    listed.says("NOT complete").says("2 withheld");
    assert!(!listed.text().contains("empty"), "{}", listed.text());
    let record = &listed.data()["completeness"];
    assert_eq!((record["complete"].as_bool(), record["withheld"].as_u64()), (Some(false), Some(2)));
    // Where nothing is kept back the answer says that it is all.
    let all = scene();
    let listed = all.call("list_dir", json!({"path": "p"}));
    assert_eq!(listed.text(), "open.txt  0 B\nprivate/\n[complete: 2 entries]");
    assert_eq!(listed.data()["completeness"]["complete"], true);
    std::fs::create_dir(all.path("nothing")).expect("made");
    all.call("list_dir", json!({"path": "nothing"})).says("[empty]").says("[complete: 0 entries]");
    // A page is no whole.
    let page = all.call("list_dir", json!({"path": "p", "limit": 1}));
    page.says("[1 of 2 entries; go on with offset=1]").says("NOT complete");
    assert_eq!(page.data()["completeness"]["widen_with"], json!(["limit"]));
    all.call("list_dir", json!({"path": "p", "offset": 2})).says("there are 2 entries; offset 2 is behind the last");
}

#[test]
fn a_rule_about_one_file_does_not_hide_the_names_of_secrets() {
    for mode in [Mode::ReadOnly, Mode::Ask] {
        let world = world()
            .mode(mode)
            .rule(RuleKind::Deny, "read(nothing.txt)")
            .file(".env", "TOKEN=x\n")
            .file("nothing.txt", "")
            .file("a.txt", "");
        let listed = world.call("list_dir", json!({}));
        listed.says(".env").says("1 withheld");
        assert!(!listed.text().contains("nothing.txt"), "{}", listed.text());
        let found = world.call("glob", json!({"pattern": "*", "hidden": true}));
        found.says(".env").says("1 withheld");
        world.call("read", json!({"file_path": ".env"})).refused(205);
    }
}

#[test]
fn what_would_widen_a_search_is_a_parameter_of_that_tool() {
    let world = (0..5).fold(world(), |world, n| world.file(&format!("f{n}.txt"), "needle\n").file(".h", "needle\n"));
    for (tool, mut arguments, limit) in [
        ("glob", json!({"pattern": "*.txt"}), "limit"),
        ("grep", json!({"pattern": "needle"}), "head_limit"),
        ("list_dir", json!({}), "limit"),
    ] {
        arguments[limit] = json!(2);
        let found = world.call(tool, arguments);
        let named = found.data()["completeness"]["widen_with"].as_array().expect("a list").clone();
        assert_eq!(named[0], limit, "{tool}");
        let tool = world.runtime().list(None).into_iter().find(|listed| listed.canonical == tool).expect("listed");
        for parameter in named {
            let parameter = parameter.as_str().expect("a name").to_owned();
            assert!(tool.input_schema["properties"].get(&parameter).is_some(), "{parameter} of {}", tool.name);
        }
    }
}

#[test]
fn nothing_found_is_said_for_sure_only_of_a_search_that_saw_all() {
    let scene = || world().file("private/a.txt", "needle\n").file("b.md", "hay\n");
    let sure = scene();
    sure.call("grep", json!({"pattern": "nowhere"})).says("No matches.").says("[complete");
    sure.call("glob", json!({"pattern": "*.zig"})).says("No files match *.zig.").says("[complete");
    let unsure = scene().rule(RuleKind::Deny, "read(private)");
    for (tool, pattern) in [("grep", "nowhere"), ("glob", "*.zig")] {
        let found = unsure.call(tool, json!({ "pattern": pattern }));
        found.says("and that was not all").says("NOT complete").says("withheld");
        assert!(!found.text().contains("No matches.") && !found.text().contains("zig."), "{}", found.text());
    }
    // A file that was given up on at a NUL may hold it.
    let binary = scene().bytes("c.bin", b"hay\0\nnowhere\n").call("grep", json!({"pattern": "nowhere"}));
    binary.says("and that was not all").says("1 stopped at a NUL byte");
}

/// The lines travel in the text alone; what is beside them is the record.
#[test]
fn what_grep_found_travels_once() {
    let world = world().file("a.txt", "a needle in the hay\n");
    for mode in ["content", "count", "files_with_matches"] {
        let found = world.call("grep", json!({"pattern": "needle", "output_mode": mode}));
        let data = found.data();
        let fields: Vec<&String> = data.as_object().expect("an object").keys().collect();
        assert_eq!(fields, ["files", "completeness"], "{mode}");
        assert!(found.text().contains("a.txt") && !data.to_string().contains("a.txt"), "{mode}: {data}");
    }
}

#[test]
fn letters_of_another_encoding_are_a_gap() {
    let world = world().file("utf8.txt", "café\n");
    world.put("latin.txt", b"caf\xe9\n");
    let answer = world.call("grep", json!({"pattern": "café", "output_mode": "files_with_matches"}));
    answer.says("utf8.txt").says("NOT complete").says("1 not UTF-8, searched by their bytes alone");
    let none = world.call("grep", json!({"pattern": "café", "path": "latin.txt"}));
    assert!(!none.ok().joined_text().contains("No matches. [complete"), "{none:?}");
    // What ASCII spells is the same in both.
    let plain = world.call("grep", json!({"pattern": "caf", "output_mode": "files_with_matches"}));
    assert!(plain.ok().joined_text().contains("[complete"), "{plain:?}");
    world.call("grep", json!({"pattern": "tea", "path": "latin.txt"})).says("No matches").says("[complete");
    world.call("grep", json!({"pattern": r"tea\s\d", "path": "latin.txt"})).says("No matches").says("[complete");
    // What may be any letter may be that one.
    for pattern in ["caf.$", r"caf\w$", r"caf\S$", "caf[^x]$", r"\p{Latin}{4}", r"caf\u00e9", "cafÉ|x"] {
        let none = world.call("grep", json!({"pattern": pattern, "path": "latin.txt"}));
        none.says("No match in what was searched").says("NOT complete").says("1 not UTF-8");
    }
}

/// `read` shows such a text; a search goes by its bytes, where between any two letters lies a NUL.
#[test]
fn text_in_two_bytes_a_letter_without_a_mark_is_a_gap() {
    let world = world();
    let text = "a needle in the hay\n";
    world.put("little.txt", &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    world.put("big.txt", &text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>());
    world.put("four.txt", &text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect::<Vec<_>>());
    let answer = world.call("grep", json!({"pattern": "needle"}));
    answer.says("NOT complete").says("3 not UTF-8, searched by their bytes alone");
    // Other letters than ASCII's stand early in it; and a mark that the searcher takes for another.
    let text = "Привет мир needle — é\n";
    world.put("letters.txt", &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    let marked = "\u{feff}".chars().chain(text.chars());
    world.put("marked.txt", &marked.flat_map(|letter| u32::from(letter).to_le_bytes()).collect::<Vec<_>>());
    for path in ["little.txt", "big.txt", "four.txt", "letters.txt", "marked.txt"] {
        world.call("grep", json!({"pattern": "needle", "path": path})).says("NOT complete").says("1 not UTF-8");
    }
    // What is no text is searched byte by byte to its end.
    world.put("table.bin", b"\x01\0\x02\0\x03\0\x04\0");
    world.call("grep", json!({"pattern": "needle", "path": "table.bin"})).says("No matches").says("[complete");
}
