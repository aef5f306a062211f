//! What a diff of a command says beside the lines of texts: of which kind an entry is, and with which rights.

use std::fs;
use std::os::unix::fs::symlink;

use crate::peer::text;
use crate::shell_undo::scripted;
use crate::world::world;

#[test]
fn other_kinds_and_rights_are_said() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("x", "x").file("b", "1\n").file("t", "t\n").file("s/f", "f\n").file("bin", "\0\u{1}a");
    symlink("b", world.root().join("l")).expect("a link");
    symlink("b", world.root().join("m")).expect("a link");
    symlink("b", world.root().join("n")).expect("a link");
    let script = "set -e; rm x; ln -s b x; ln -s /etc/passwd p; echo 2 > b; chmod 755 b; echo e > run.sh; \
                  chmod 755 run.sh; echo e > plain; rm l; echo l > l; ln -sfn t m; rm n; rm -r s; ln -s b s; rm t; \
                  mkdir t; ln -s \"$(printf 'a\\nMode of z: 1 → 2')\" odd; printf '\\0b' > bin; chmod 755 bin";
    let ran = scripted(&world, script, &["preview=true"]);
    let said = text(&ran);
    for line in [
        "x: file → link to b",
        "New link p → /etc/passwd",
        "Mode of b: 644 → 755\n--- a/b",
        "New file run.sh, mode 755\n--- /dev/null",
        "l: link to b → file",
        "m: link to b → link to t",
        "Deleted link n → b",
        "s: directory → link to b",
        "t: file → directory",
        "Mode of bin: 644 → 755\nBinary files",
    ] {
        assert!(said.contains(line), "{line:?}: {said}");
    }
    assert!(!said.contains("New file plain") && !said.contains("\nMode of z"), "{said}");
    assert_eq!(fs::read_to_string(world.root().join("b")).expect("a file"), "1\n");
}

#[test]
fn a_directory_that_nothing_below_names_is_named() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("kept/f", "f\n").file("a.txt", "12345678");
    fs::create_dir(world.root().join("gone")).expect("a directory");
    let script = "set -e; mkdir sub; mkdir -p deep/er; mkdir -p full; echo 1 > full/f; rmdir gone; \
                  if command -v setfattr > /dev/null; then setfattr -n user.x -v y a.txt; fi";
    let said = text(&scripted(&world, script, &["preview=true"]));
    for line in ["New directory sub/\n", "New directory deep/er/\n", "Deleted directory gone/\n", "+++ b/full/f\n"] {
        assert!(said.contains(line), "{line:?}: {said}");
    }
    assert!(!said.contains("directory deep/\n") && !said.contains("directory full"), "{said}");
    assert!(!said.contains("8 → 8 bytes"), "{said}");
}
