//! Every way to change a tree comes out over a layer as it does without one.

use super::*;

/// What is there, what the command does.
const CASES: &[(&str, &str, &str)] = &[
    ("nothing", "echo a >a", "true"),
    ("create, modify, delete", "echo a >a; echo b >b", "echo n >new; echo more >>a; rm b"),
    ("the same content again", "echo a >a; touch -d 2001-01-01 a", "cp -p a b; cat b >a; touch -d 2001-01-01 a; rm b"),
    ("rename a file", "echo a >a", "mv a b"),
    ("rename over", "echo a >a; echo b >b", "mv a b"),
    ("rename a directory", "mkdir -p d/e; echo a >d/e/a", "mv d n; echo b >n/e/b"),
    (
        "remove and make again",
        "mkdir -p d/e; echo a >d/a; echo b >d/e/b",
        "rm -rf d; mkdir d; echo a >d/a; echo c >d/c",
    ),
    (
        "remove and make again, deeper",
        "mkdir -p d/e/f; echo b >d/e/f/b; echo k >d/k",
        "rm -rf d/e; mkdir -p d/e/g; echo 1 >d/e/g/1",
    ),
    ("remove a tree", "mkdir -p d/e; echo a >d/a; ln -s a d/l; echo b >d/e/b", "rm -rf d"),
    ("rights of a file", "echo a >a; chmod 644 a; touch -d 2001-01-01 a", "chmod 755 a"),
    ("rights of a directory", "mkdir d; echo a >d/a", "chmod 700 d"),
    ("a touched file", "echo a >a", "touch -d 2001-02-03 a"),
    (
        "times that the command set",
        "true",
        "echo a >a; touch -d 2001-02-03 a; mkdir d; echo b >d/b; touch -d 2002-02-03 d/b",
    ),
    ("another link", "ln -s a l", "ln -sfn b l; ln -s x y"),
    ("a link becomes a file", "echo a >a; ln -s a l", "rm l; echo f >l"),
    ("a file becomes a link", "echo a >a; echo b >b", "rm a; ln -s b a"),
    (
        "a directory goes, and a file in it has a name outside that changes or goes, too",
        "mkdir deps keep; echo bin >deps/p; ln deps/p p; echo b >keep/a; ln keep/a deps/a; echo c >deps/c; ln deps/c c",
        "rm p; echo new >p; rm -rf deps; mkdir deps; echo q >deps/q; rm c; ln keep/a b",
    ),
    (
        "a directory goes, and a file in it has a name outside that is given a time, other rights, or one and the other",
        "mkdir deps; for a in a b c; do echo $a >deps/$a; ln deps/$a $a; done",
        "touch -d 2001-02-03 a c; chmod 700 b c; rm -rf deps",
    ),
    ("names of one file", "true", "mkdir -p deps; echo bin >deps/p-1; ln deps/p-1 p; echo o >o; ln o deps/o2"),
    (
        "more names for a file",
        "echo a >a; echo b >b; mkdir d; echo o >o",
        "ln a a2; ln a d/a; mkdir -p n/m; ln a n/m/a; ln -f a b; chmod 600 o; ln o d/o; echo x >x; ln x d/x",
    ),
    ("more names for a file that changes", "echo a >a; echo b >b", "ln a a2; echo 2 >>a; ln b b2; echo 2 >>b2"),
    (
        "names of one file, made again",
        "mkdir deps; echo old >deps/p; ln deps/p p",
        "rm p deps/p; echo new >deps/p; ln deps/p p",
    ),
    ("a file becomes a directory", "echo a >a", "rm a; mkdir a; echo b >a/b; mkdir a/c"),
    ("a directory becomes a file", "mkdir -p a/c; echo b >a/b; echo d >a/c/d", "rm -rf a; echo a >a"),
    (
        "directories become files within",
        "mkdir -p d/x; echo 1 >d/x/1; echo y >d/y",
        "rm -rf d; mkdir d; echo x >d/x; mkdir d/y; echo z >d/y/z",
    ),
    ("odd names", "true", r#"touch $'new\nline' $'\xff\xfe' ' ' '*' -- -x; mkdir $'d\n\xff'; echo a >$'d\n\xff/a b'"#),
    (
        "odd names that go",
        r#"touch $'new\nline' $'\xff\xfe'; mkdir $'d\xff'; echo 1 >$'d\xff/1'"#,
        r#"rm $'new\nline'; echo 1 >$'\xff\xfe'; rm -r $'d\xff'"#,
    ),
    (
        "colons and commas in the way",
        "mkdir 'a:b,c'; echo 1 >'a:b,c/1'",
        "echo 2 >'a:b,c/1'; rm -r 'a:b,c'; mkdir 'a:b,c'",
    ),
    ("empty directories", "mkdir -p old/inner", "mkdir -p e/f/g; rmdir old/inner; rmdir old"),
    ("many files", "mkdir d", "for i in {1..5000}; do echo $i >d/$i; done; mkdir n; for i in {1..500}; do >n/$i; done"),
    ("a large file with a hole", "true", "truncate -s 1G big; echo end >>big; truncate -s 70M mid"),
    (
        "without rights",
        "mkdir d; echo a >d/a; chmod 444 d/a; chmod 555 d",
        "chmod 755 d; rm -f d/a; echo b >d/b; chmod 400 d/b; chmod 555 d",
    ),
    ("a closed new directory", "true", "mkdir -p m/v; echo 1 >m/v/1; chmod 444 m/v/1; chmod 555 m/v m"),
    ("set-group directories", "mkdir d; chmod 2755 d", "echo 1 >d/1; chmod 1777 d; mkdir d/e"),
    ("made and gone again", "echo a >a", "echo t >t; rm t; mkdir x; rmdir x; rm a; echo a >a"),
    ("sed and perl in place", "printf 'one\\ntwo\\n' >a; cp a b", "sed -i s/one/1/ a; perl -pi -e s/two/2/ b"),
    (
        "tar and back",
        "mkdir d; echo 1 >d/1; chmod 640 d/1; touch -d 2001-01-01 d/1 d",
        "tar cf t.tar d; rm -r d; tar xpf t.tar",
    ),
];

#[test]
fn a_layer_comes_out_as_the_bare_root_does() {
    for way in ways() {
        for (name, before, script) in CASES {
            let (bare, covered) = (World::new(), World::new());
            for world in [&bare, &covered] {
                world.bare(before);
            }
            let start = covered.look();
            bare.bare(script);
            let layer = covered.layer();
            covered.run(&layer, way, script).unwrap_or_else(|error| panic!("{name}, {way:?}: {error}"));
            assert_eq!(covered.look(), start, "{name}, {way:?}: the root changed before anything was applied");
            covered.apply(&layer).unwrap_or_else(|error| panic!("{name}, {way:?}: {error:?}"));
            let (found, wanted) = (covered.look(), bare.look());
            for path in found.keys().chain(wanted.keys()) {
                assert_eq!(found.get(path), wanted.get(path), "{name}, {way:?}: {}", path.display());
            }
            assert_eq!((covered.sets(), marked(&covered.root)), (0, Vec::new()), "{name}, {way:?}");
            drop(layer);
            assert_eq!(covered.layers(), 0, "{name}, {way:?}: the layer is gone");
        }
    }
}

/// Files that still bear a mark of the overlay.
fn marked(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            let mut list = [0u8; 1024];
            let length = rustix::fs::llistxattr(entry.path(), &mut list[..]).unwrap_or(0);
            if list[..length].windows(8).any(|part| part == b"overlay.") {
                found.push(entry.path());
            }
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn what_happened_is_told_by_path() {
    for way in ways() {
        let world = World::new();
        world.bare(
            "echo a >a; echo b >b; echo c >c; echo t >t; echo k >k; mkdir -p d/e o; echo 1 >d/1; echo 2 >d/e/2; \
             echo 3 >o/3; echo 4 >o/4; ln -s a l",
        );
        let layer = world.layer();
        let script = "echo n >n; echo x >>a; rm b; chmod 600 c; touch -d 2001-01-01 t; exec 9<>k; rm -r d; rm -r o; \
                      mkdir o; echo 3 >o/3; echo 5 >o/5; ln -sfn b l; mkfifo f; mkdir m; mkfifo m/f";
        world.run(&layer, way, script).unwrap();
        let seen = world.seen(&layer);
        let wanted = [
            ("a", What::Changed),
            ("b", What::Deleted),
            ("c", What::Mode),
            ("d", What::Deleted),
            ("d/1", What::Deleted),
            ("d/e", What::Deleted),
            ("d/e/2", What::Deleted),
            ("l", What::Changed),
            ("m", What::Created),
            ("n", What::Created),
            ("o", What::Changed),
            ("o/3", What::Touched),
            ("o/4", What::Deleted),
            ("o/5", What::Created),
            ("t", What::Touched),
        ];
        assert_eq!(seen, wanted.map(|(path, what)| (path.to_owned(), what)).into(), "{way:?}");
        let changes = layer.changes(&world.permit()).unwrap();
        assert_eq!(changes.special, [world.root.join("f"), world.root.join("m/f")]);
        let entry = changes.entries.iter().find(|entry| entry.path.ends_with("a")).unwrap();
        assert_eq!(changes.before(&world.permit(), entry, 10).unwrap(), b"a\n");
        assert_eq!(changes.after(&world.permit(), entry, 10).unwrap(), b"a\nx\n");
        let applied = world.with(|locked, cx| locked.apply(cx, &[changes], &Bounds::default())).unwrap();
        assert_eq!(applied.special, [world.root.join("f"), world.root.join("m/f")]);
        assert!(world.root.join("m").is_dir() && !world.root.join("m/f").exists() && !world.root.join("f").exists());
    }
}

#[test]
fn attributes_come_along() {
    for way in ways() {
        let world = World::new();
        world.bare("echo a >a; echo b >b");
        let set = |file: &str, value: &str| {
            let path = world.root.join(file);
            rustix::fs::setxattr(path, "user.note", value.as_bytes(), rustix::fs::XattrFlags::empty())
        };
        if set("a", "one").is_err() {
            eprintln!("skipped: no attributes here");
            return;
        }
        let layer = world.layer();
        let script = "echo more >>a; python3 -c 'import os; os.setxattr(\"b\", \"user.note\", b\"two\")'";
        if let Err(error) = world.run(&layer, way, script) {
            eprintln!("skipped: {error}");
            return;
        }
        world.apply(&layer).unwrap();
        for (file, value) in [("a", "one"), ("b", "two")] {
            let mut found = [0u8; 16];
            let length = rustix::fs::getxattr(world.root.join(file), "user.note", &mut found[..]).unwrap();
            assert_eq!(&found[..length], value.as_bytes(), "{way:?}");
        }
    }
}
