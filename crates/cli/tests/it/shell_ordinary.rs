//! Commands of an ordinary user on directories whose rights hold their owner, too.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use crate::ordinary::{Ordinary, USER};
use crate::shell_undo::tree;
use crate::world::world;

#[test]
fn directories_that_their_owner_may_not_write_come_back_as_they_were() {
    for (before, command) in [
        ("mkdir ro; echo a > ro/a; chmod 555 ro", "chmod -R u+w ro; rm -rf ro"),
        ("mkdir -p ro/x ro/y; chmod 555 ro/y ro", "chmod -R u+w ro; rm -rf ro"),
        ("mkdir ro; ln -s q ro/l; chmod 555 ro", "chmod -R u+w ro; rm -rf ro"),
        ("mkdir -p ro/x; echo a > ro/x/a; chmod 555 ro/x ro", "chmod u+w ro ro/x; rm -r ro/x; chmod u-w ro"),
        (
            "mkdir -p go/pkg/mod/x@v1/in; for d in x@v1 x@v1/in; do echo m > go/pkg/mod/$d/m.go; done; chmod -R a-w go/pkg/mod",
            "chmod -R u+w go; rm -rf go; echo x > go",
        ),
    ] {
        let world = world();
        let Some(user) = Ordinary::of(&world) else { return };
        user.does(before);
        let was = tree(&world.root());
        user.run(&["call", "bash", &format!("command={command}"), "--unsafe"]).exits(0);
        assert_ne!(tree(&world.root()), was, "{command}");
        user.run(&["undo", "--unsafe"]).exits(0);
        assert_eq!(tree(&world.root()), was, "{command}");
    }
}

/// What stands before, and what a command does to it.
const CLOSED: &[(&str, &str)] = &[
    // What comes is closed.
    ("mkdir t", "echo w > t/w; mkdir k; echo v > k/f; chmod 000 k"),
    ("true", "mkdir -p d/e; echo a > d/e/a; ln -s a d/e/l; chmod 000 d/e; chmod 100 d"),
    ("true", "mkdir d; head -c 3000000 /dev/zero > d/big; echo n > n; chmod 000 n d/big; chmod 444 d"),
    // What stays.
    ("mkdir t; echo f > t/f", "chmod 000 t/f"),
    ("mkdir -p d/e; echo o > d/o; echo p > d/e/p", "echo n > d/n; echo oo > d/o; rm d/e/p; chmod 000 d/o d/e d"),
    ("mkdir d; echo o > d/o; chmod 555 d", "chmod u+w d; echo p > d/p; chmod 000 d"),
    // What goes, and what comes in its place.
    ("mkdir rep; echo a > rep/a", "rm -rf rep; mkdir rep; chmod 000 rep"),
    ("mkdir d; echo o > d/o", "mv d e; chmod 000 e"),
    ("echo o > f; echo o > g; chmod 000 f g", "rm f; rm -f g; echo n > g"),
    ("echo o > f; chmod 000 f", "mv f g"),
    // What was closed before.
    ("mkdir z; chmod 000 z", "rmdir z"),
    ("mkdir -p d/z; echo a > d/a; echo b > d/z/b; chmod 300 d/z", "chmod -R u+rwx d; rm -rf d"),
    ("mkdir -p d/z; echo b > d/z/b; chmod 444 d/z", "chmod -R u+rwx d; rm -rf d; mkdir d; echo n > d/n"),
    ("mkdir z; echo a > z/a; chmod 000 z", "chmod 700 z; echo b >> z/a; echo c > z/c; chmod 000 z"),
    ("mkdir d; ln -s a d/l; chmod 000 d", "chmod 700 d; ln -sfn b d/l; chmod 000 d"),
    // What is closed behind the command's back.
    (
        "mkdir -p d/e; echo o > d/e/o; echo p > d/e/p",
        "cd d/e && chmod 000 .. && echo n > o && echo q > q && rm p && ln -s q l",
    ),
    (
        "mkdir -p z/y/x; echo a > z/y/x/a; ln -s a z/y/l; chmod 000 z/y/x z/y; chmod 100 z",
        "chmod -R u+rwx z; rm -rf z/y/x; mkdir z/n; chmod 000 z",
    ),
];

#[test]
fn what_rights_keep_from_their_own_owner_is_applied_and_taken_back() {
    CLOSED.iter().for_each(|scene| same_as_bare(scene, &|_| {}));
}

/// A layer holds no file of another group, so there a recorder keeps what stood.
#[test]
fn and_so_it_is_where_a_recorder_keeps_what_stood_there() {
    // An overlay renames no directory that was there.
    let moved = ("mkdir -p d/x; echo o > d/o; echo p > d/x/p; chmod 000 d", "mv d e");
    CLOSED.iter().chain([&moved]).for_each(|scene| {
        same_as_bare(scene, &|root| {
            fs::write(root.join("of another group"), "").expect("it is ours");
            chown(root.join("of another group"), Some(USER), Some(0)).expect("root may");
        })
    });
}

/// Has an ordinary user do through the program what one does without, undo it and undo that.
fn same_as_bare((before, command): &(&str, &str), furnish: &dyn Fn(&Path)) {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root sees what is closed to its owner");
    }
    let (world, bare) = (world(), world());
    let (Some(user), Some(other)) = (Ordinary::of(&world), Ordinary::of(&bare)) else { return };
    for (of, world) in [(&user, &world), (&other, &bare)] {
        of.does(before);
        furnish(&world.root());
    }
    let was = tree(&world.root());
    other.does(command);
    user.run(&["call", "bash", &format!("command={command}"), "--unsafe"]).exits(0);
    let after = tree(&world.root());
    assert_eq!(after, tree(&bare.root()), "{before}; {command}");
    let undone = user.run(&["undo", "--unsafe", "--output", "json"]).json();
    assert_eq!(tree(&world.root()), was, "undone: {before}; {command}; {undone}");
    let call = undone["call_id"].as_str().expect("a call");
    user.run(&["undo", call, "--unsafe"]).exits(0);
    assert_eq!(tree(&world.root()), after, "done again: {before}; {command}");
}

#[test]
fn a_file_in_a_closed_directory_is_a_file_of_the_workspace() {
    let world = world();
    let Some(user) = Ordinary::of(&world) else { return };
    user.does("mkdir -p closed/in; echo d > closed/in/d; chmod 000 closed");
    let command = "command=chmod u+rwx closed && echo y > closed/in/d";
    user.run(&["call", "bash", command, "--mode", "workspace"]).exits(0);
    assert_eq!(world.text("closed/in/d"), "y\n");
    user.run(&["undo", "--unsafe"]).exits(0);
    // Other tools may do what its user may.
    user.run(&["call", "read", "file_path=closed/in/d"]).exits(1).complains("NIKA-200");
    user.does("chmod 700 closed");
    assert_eq!(world.text("closed/in/d"), "d\n");
}

/// Each is open for no longer than it is looked into.
#[test]
fn more_closed_directories_are_applied_than_files_may_be_open() {
    let world = world();
    let Some(user) = Ordinary::of(&world) else { return };
    let nika = user.nika(&[]);
    let words = nika.get_envs().filter_map(|(name, value)| Some(format!("{}={}", name.display(), value?.display())));
    let env = words.collect::<Vec<_>>().join(" ");
    let program = nika.get_program().display();
    let command = "mkdir d; cd d; for n in $(seq 300); do mkdir $n; chmod 000 $n; done; chmod 000 .";
    user.does(&format!("ulimit -n 256; env -i {env} {program} call bash command='{command}' --unsafe; chmod 700 d"));
    let closed = fs::read_dir(world.root().join("d")).expect("made").flatten();
    let closed = closed.filter(|entry| entry.metadata().is_ok_and(|meta| meta.mode() & 0o7777 == 0));
    assert_eq!(closed.count(), 300);
}

/// Its target is what is written, whatever rights the directory has that it lies in.
#[test]
fn a_link_in_a_closed_directory_leads_where_it_leads() {
    for mode in ["700", "000"] {
        let world = world();
        let Some(user) = Ordinary::of(&world) else { return };
        user.does(&format!("mkdir c sec; ln -s \"$PWD/../away\" c/l; ln -s ../sec/x c/m; chmod {mode} c"));
        let call = |command: &str, more: &[&str]| {
            let command = format!("command=chmod 700 c; {command}");
            user.run(&[&["call", "bash", &command, "--mode", "workspace"][..], more].concat())
        };
        call("echo x > c/l", &[]).exits(3).complains("outside");
        call("echo x > c/m", &["--deny", "write(/sec/**)"]).exits(3).complains("rule `write(/sec/**)`");
        assert!(!world.path("away").exists() && !world.root().join("sec/x").exists(), "{mode}");
    }
}

/// As a kill leaves it in the moment in which a move has given its owner the rights.
#[test]
fn a_start_closes_a_directory_below_a_closed_one_again() {
    let world = world();
    let Some(user) = Ordinary::of(&world) else { return };
    user.does("mkdir -p d/e; touch f");
    user.run(&["call", "read", "file_path=f"]).exits(0);
    let sets = fs::read_dir(world.path("state")).expect("state").flatten().map(|entry| entry.path().join("sets"));
    let sets = sets.into_iter().find(|sets| sets.is_dir()).expect("the workspace's");
    let inner = world.root().join("d/e");
    let inode = fs::metadata(&inner).expect("there").ino();
    let note = serde_json::json!({"version": 1, "call": "c1", "phase": "applying", "steps": [],
        "closed": [{"path": inner, "inode": inode, "mode": 0}]});
    fs::write(sets.join("c1.json"), note.to_string()).expect("written");
    user.does("chmod 700 d/e; chmod 000 d");
    user.run(&["call", "bash", "command=touch g", "--unsafe"]).exits(0);
    user.does("chmod 700 d");
    assert_eq!(fs::metadata(&inner).expect("there").mode() & 0o7777, 0);
}
