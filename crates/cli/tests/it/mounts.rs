//! Roots that are mounts, and mounts in roots: nothing is renamed over their edges, also within one file system.

use std::process::{Command, Stdio};

use crate::shell::is_confined_here;
use crate::world::{Ran, World, world};

/// What a script prints that mounts things and calls `nika`, in mounts of its own. `None` where that cannot be had.
fn mounted(world: &World, script: &str) -> Option<Ran> {
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    let tried = Command::new("unshare").args([flags, "true"]).stderr(Stdio::null()).status();
    if !is_confined_here() || !tried.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mounts of its own can be had here");
        return None;
    }
    let nika = world.nika(&[]);
    let mut command = Command::new("unshare");
    command.args([flags, "sh", "-euc", script, "sh"]).arg(nika.get_program()).current_dir(world.path(""));
    for (name, value) in nika.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Some(Ran::of(command.stdin(Stdio::null()).output().expect("it starts")))
}

#[test]
fn a_root_that_is_mounted_from_the_same_file_system_gets_what_a_command_changed_and_loses_it_again() {
    let world = world();
    let ran = mounted(
        &world,
        "mkdir -p source place; mount --bind source place; cd place; echo one > a
         \"$1\" call bash command='echo two > a; mkdir d; echo new > d/b' --mode workspace --root . >&2
         echo $(cat a d/b)
         \"$1\" undo --root . >&2
         echo $(cat a) $(ls)",
    );
    let Some(ran) = ran else { return };
    assert_eq!((ran.code, ran.out.as_str()), (0, "two new\none a\n"), "{ran:?}");
}

#[test]
fn what_changed_in_a_mount_within_the_root_is_taken_back_with_the_rest() {
    let world = world();
    let ran = mounted(
        &world,
        "mkdir -p other place/m place/n; mount -t tmpfs none place/m; mount --bind other place/n
         cd place; for at in a m/a n/a m/gone; do echo one > $at; done
         \"$1\" call bash command='for at in a m/a n/a; do echo two > $at; done; rm m/gone; mkdir -p m/d n/d; echo new > m/d/b' --mode workspace --root . >&2
         echo $(cat a m/a n/a m/d/b) $(ls m n)
         \"$1\" undo --root . >&2
         echo $(cat a m/a n/a m/gone) $(ls -A m n)
         set='{\"changes\": [{\"op\": \"delete\", \"file_path\": \"m/a\"}, {\"op\": \"create\", \"file_path\": \"m/a/in\", \"content\": \"new\"},
                {\"op\": \"create\", \"file_path\": \"n/new\", \"content\": \"new\"}, {\"op\": \"delete\", \"file_path\": \"a\"}]}'
         \"$1\" call change_set --json \"$set\" --mode accept-edits --root . >&2
         echo $(cat m/a/in n/new) $(ls)
         \"$1\" undo --root . >&2
         echo $(cat a m/a n/a) $(ls -A m n)",
    );
    let Some(ran) = ran else { return };
    let lines =
        ["two two two new m: a d n: a d", "one one one one m: a gone n: a", "newnew m n", "one one one m: a gone n: a"];
    assert_eq!((ran.code, ran.out.lines().collect::<Vec<_>>()), (0, lines.to_vec()), "{ran:?}");
}

/// An overlay as containers have it, with a directory of the image's, in which a script runs: `$2` is outside of it.
fn in_container(world: &World, upper: &str, script: &str) -> Option<Ran> {
    let made = format!(
        "mkdir base; mount -t tmpfs none base; mkdir -p base/l/r/d/deep base/l/r/e base/over; {upper}
         mkdir -p base/over/u base/over/w base/m; echo one > base/l/r/d/deep/f; echo one > base/l/r/a; echo one > base/l/r/e/g
         mount -t overlay o -o lowerdir=base/l,upperdir=base/over/u,workdir=base/over/w base/m || exit 77
         cd base/m/r; "
    );
    let ran = mounted(world, &(made + script))?;
    if ran.code == 77 {
        eprintln!("skipped: no overlay can be mounted here");
        return None;
    }
    Some(ran)
}

#[test]
fn git_in_a_container_commits_nothing_of_what_stands_in_for_guarded_names() {
    let world = world();
    let ran = in_container(
        &world,
        "",
        "export NIKA_STATE_DIR=$PWD/../state GIT_CONFIG_GLOBAL=/dev/null; git init -q; git config user.name T; git config user.email t@t
         git add -A; git commit -qm one
         \"$1\" call bash command='echo two >> a; git add -A; git commit -qm two' --mode workspace --root . >&2
         git show --stat --format=%s HEAD; git status --short; ls -A",
    );
    let Some(ran) = ran else { return };
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().map(str::trim).collect();
    assert_eq!(lines, ["two", "", "a | 1 +", "1 file changed, 1 insertion(+)", ".git", "a", "d", "e"], "{ran:?}");
}

#[test]
fn directories_of_a_containers_image_are_moved_replaced_and_brought_back() {
    for upper in ["", "mount -t tmpfs none base/over;"] {
        let world = world();
        let ran = in_container(
            &world,
            upper,
            "all() { find . -type f | sort | while read -r f; do echo $f $(cat $f); done | tr '\\n' ' '; echo; }
             for words in 'rm e/g; rmdir e' 'mv d dd; echo two > dd/new' 'mv d/deep x; rmdir d; echo file > d' 'mv e e2; mkdir e; echo 2 > e/g'; do
               \"$1\" call bash command=\"$words\" --unsafe --root . >&2; all
               \"$1\" undo --root . >&2; all
             done
             set='{\"changes\": [{\"op\": \"delete\", \"file_path\": \"e/g\"}, {\"op\": \"create\", \"file_path\": \"e/g/in\", \"content\": \"in\"},
                    {\"op\": \"delete\", \"file_path\": \"d/deep/f\"}, {\"op\": \"create\", \"file_path\": \"d/deep\", \"content\": \"flat\"}]}'
             \"$1\" call change_set --json \"$set\" --mode accept-edits --root . >&2; all
             \"$1\" undo --root . >&2; all; ls -A . d e",
        );
        let Some(ran) = ran else { return };
        let was = "./a one ./d/deep/f one ./e/g one ";
        let lines = [
            "./a one ./d/deep/f one ",
            was,
            "./a one ./dd/deep/f one ./dd/new two ./e/g one ",
            was,
            "./a one ./d file ./e/g one ./x/f one ",
            was,
            "./a one ./d/deep/f one ./e/g 2 ./e2/g one ",
            was,
            "./a one ./d/deep flat ./e/g/in in ",
            was,
            ".:",
            "a",
            "d",
            "e",
            "",
            "d:",
            "deep",
            "",
            "e:",
            "g",
        ];
        assert_eq!((ran.code, ran.out.lines().collect::<Vec<_>>()), (0, lines.to_vec()), "{upper}: {ran:?}");
    }
}

/// An overlay copies a file of the image's up before it can be moved, and others wait for that to write to it.
#[test]
fn what_others_write_to_a_file_of_the_image_as_it_comes_up_is_not_lost() {
    for (words, path) in [("rm a", "a"), ("echo new > a", "a"), ("rm -r d", "d/deep/f")] {
        let world = world();
        let ran = in_container(
            &world,
            "",
            &format!(
                "strace -o /dev/null true || exit 77
                 strace -f -qq -o /dev/null -e 'trace=?chmod,fchmodat' -e 'inject=?chmod,fchmodat:delay_exit=500000' \
                   \"$1\" call bash command='{words}' --unsafe --root . &
                 timeout 60 sh -c 'until test -e ../../over/u/r/{path}; do :; done'; echo others >> {path}
                 wait $! || echo failed; cat {path}"
            ),
        );
        let Some(ran) = ran else { return };
        assert!(ran.out.contains("not applied, as others changed it meanwhile"), "{words}: {ran:?}");
        assert!(ran.out.ends_with("failed\none\nothers\n"), "{words}: {ran:?}");
    }
}

#[test]
fn what_a_command_makes_in_the_root_inherits_as_anywhere() {
    let world = world();
    let ran = mounted(
        &world,
        "mkdir place; chmod 2775 place; chgrp 1001 place 2>/dev/null || exit 77; setfacl -d -m g:1001:rwx,o::- place || exit 77; cd place
         \"$1\" call bash command='echo one > a; mkdir d; echo one > d/b' --mode workspace --root . >&2
         stat -c '%n %g %A' a d d/b; getfacl -ncp a | grep -c group:1001",
    );
    let Some(ran) = ran.filter(|ran| ran.code != 77) else { return };
    let lines = ["a 1001 -rw-rw----", "d 1001 drwxrws---", "d/b 1001 -rw-rw----", "1"];
    assert_eq!((ran.code, ran.out.lines().collect::<Vec<_>>()), (0, lines.to_vec()), "{ran:?}");
}

#[test]
fn a_file_that_is_mounted_by_itself_is_edited_and_taken_back_where_it_stands() {
    let world = world();
    let ran = mounted(
        &world,
        "mkdir place; echo 'one two' > outer; cd place; echo one > a; touch c; mount --bind ../outer c
         \"$1\" call bash command='echo more >> a; echo changed >> c' --mode workspace --root . >&2; echo $(cat a c)
         \"$1\" undo --root . >&2; echo $(cat a c)
         for words in 'read file_path=c' 'edit file_path=c old_string=two new_string=2'; do
           \"$1\" call $words --session s --mode accept-edits --root . >&2
         done; echo $(cat c ../outer); ls -A
         \"$1\" undo --root . >&2; echo $(cat c) $(ls -A)
         \"$1\" call bash command='rm c' --unsafe --root . >&2 || true; echo $(cat a c)",
    );
    let Some(ran) = ran else { return };
    let lines = ["one more one two changed", "one one two", "one 2 one 2", "a", "c", "one two a c", "one one two"];
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), lines, "{ran:?}");
}

/// Theirs stays where it is, and nothing else does.
#[test]
fn what_others_write_to_a_directory_that_does_not_stay_is_named_where_there_is_no_room_for_it() {
    let world = world();
    let ran = mounted(
        &world,
        "strace -o /dev/null true || exit 77
         mkdir place small; mount -t tmpfs -o size=4m t small; cd place; mkdir deps; echo y > y
         NIKA_STATE_DIR=$PWD/../small strace -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:delay_enter=300000 \
           \"$1\" call bash command='rm -r deps; mkdir deps; echo n > deps/n; echo yy > y' --unsafe --root . &
         timeout 60 sh -c 'until test -e deps/n; do :; done'
         echo others >> y; echo others > deps/t; head -c 6000000 /dev/urandom > deps/big
         wait $! || true; chmod 700 .nika-*; find . -type f | sed 's/nika-[^/]*/nika/g' | sort; cat y",
    );
    let Some(ran) = ran.filter(|ran| ran.code != 77) else { return };
    let (said, left) = ran.out.split_once("]\n.").unwrap_or_else(|| panic!("{ran:?}"));
    assert!(
        said.contains("[nothing was applied: others changed the same as it was applied; what they wrote to "),
        "{ran:?}"
    );
    assert!(said.contains("/0: No space left on device"), "{ran:?}");
    // The command's version is without theirs.
    assert!(said.contains("; what it changed lies in ") && !said.contains("with what others wrote"), "{ran:?}");
    let lines = ["/.nika/.nika/0/big", "./.nika/.nika/0/n", "./.nika/.nika/0/t", "./y", "y", "others"];
    assert_eq!(left.lines().collect::<Vec<_>>(), lines, "{ran:?}");
}

#[test]
fn a_home_that_does_not_exist_stops_no_command() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    std::fs::write(world.path("file"), "").expect("written");
    for home in ["gone", "gone/deep", "file"] {
        for _ in 0..2 {
            let mut call = world.nika(&["call", "bash", "command=echo here", "--mode", "workspace"]);
            let ran = Ran::of(call.env("HOME", world.path(home)).output().expect("it starts"));
            ran.exits(0).says("here");
        }
    }
}

/// A mount that hides covers one name; the kernel's table says which others there are.
#[test]
fn secrets_are_hidden_under_the_names_that_a_second_mount_gives_them() {
    let world = world();
    let ran = mounted(
        &world,
        "mkdir -p place/home/.aws place/home/.gnupg place/seen place/vault place/shown; cd place
         echo key > home/.netrc; echo key > home/.aws/config; echo open > home/open; touch plain
         mount --bind home/.netrc plain; mount --bind home/.aws seen
         mount -t tmpfs none vault; echo key > vault/gpg.conf; mount --bind vault home/.gnupg
         mkdir twin; mount --rbind home twin
         for profile in read-only workspace; do
           \"$1\" sandbox exec --profile $profile --root . --home home -- sh -c '
             cat plain seen/config vault/gpg.conf twin/.netrc twin/.gnupg/gpg.conf; cat twin/open' || true
         done
         HOME=$PWD/home \"$1\" call bash command='cat pl* s*/c* v*/g*; cat twin/open' --mode workspace --root . \
           --allow 'exec(**)' --allow 'read(**)' || true",
    );
    let Some(ran) = ran else { return };
    assert_eq!(ran.out.matches("open").count(), 3, "{ran:?}");
    assert!(!ran.out.contains("key"), "{ran:?}");
}

#[test]
fn without_proc_nothing_is_said_to_be_missing_that_is_there() {
    let world = world();
    let ran =
        mounted(&world, "mkdir place; cd place; echo one > a; umount -l /proc; \"$1\" call read file_path=a --root .");
    let Some(ran) = ran else { return };
    ran.exits(2).complains("NIKA-904").complains("/proc is not mounted");
}

#[test]
fn a_bound_of_the_users_own_that_is_tighter_stays() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let script = "ulimit -f 1000; ulimit -c 0; exec \"$1\" call bash command='ulimit -f; head -c 3000000 /dev/zero > big' --mode workspace";
    let nika = world.nika(&[]);
    let mut limited = Command::new("bash");
    limited.args(["-c", script, "bash"]).arg(nika.get_program()).current_dir(world.root());
    limited.envs(nika.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::of(limited.output().expect("it starts"));
    ran.says("1000");
    assert!(!ran.err.contains("NIKA-910"), "{ran:?}");
}

#[test]
fn a_commit_without_a_layer_is_taken_back_after_somebody_asked_for_the_status() {
    let world = world();
    let ran = mounted(
        &world,
        "mkdir -p place/m; mount -t tmpfs none place/m; cd place; export GIT_CONFIG_GLOBAL=/dev/null
         git init -q; git config user.name T; git config user.email t@t; echo one > a; git add a; git commit -qm one
         \"$1\" call bash command='echo two >> a; git add a; git commit -qm two' --mode workspace --root . >&2; git log --format=%s
         touch -d yesterday a; sum=$(sha256sum .git/index); git status --short
         test \"$sum\" != \"$(sha256sum .git/index)\"; \"$1\" undo --root . >&2; git log --format=%s; git status --short; cat a",
    );
    let Some(ran) = ran else { return };
    assert_eq!((ran.code, ran.out.as_str()), (0, "two\none\none\none\n"), "{ran:?}");
}

/// A file of the image with two names gets another inode as soon as one of them is written.
#[test]
fn files_with_two_names_in_a_containers_image_are_not_lost() {
    for words in ["rm one; echo new > new", "cp other x; rm -r d other", "mv one d/moved", "rm -r d; echo file > d"] {
        let world = world();
        let ran = in_container(
            &world,
            "echo linked > base/l/r/one; ln base/l/r/one base/l/r/other; ln base/l/r/one base/l/r/d/third;",
            &format!(
                "all() {{ find . -type f | sort | while read -r f; do echo $f $(cat $f); done | tr '\\n' ' '; echo; }}; all
                 cp -a . ../copy; (cd ../copy; {words}; all)
                 \"$1\" call bash command='{words}' --unsafe --root . >&2; all
                 \"$1\" undo --root . >&2; all"
            ),
        );
        let Some(ran) = ran else { return };
        let lines: Vec<&str> = ran.out.lines().collect();
        let [before, wanted, made, after] = lines[..] else { panic!("{ran:?}") };
        assert_eq!((ran.code, made, after), (0, wanted, before), "{words}: {ran:?}");
    }
}

#[test]
fn a_file_mounted_by_itself_is_whole_also_where_there_is_no_room_to_take_it_back() {
    let world = world();
    let ran = mounted(
        &world,
        "mkdir place; mount -t tmpfs -o size=2m none place; head -c 1000000 /dev/zero | tr '\\0' a > outer; cd place; touch c; mount --bind ../outer c
         \"$1\" call bash command='head -c 1000000 /dev/zero | tr \"\\0\" b > c' --mode workspace --root . >&2
         head -c 1500000 /dev/zero > full; sum=$(sha256sum c); \"$1\" undo --root . >&2 && exit 1
         test \"$sum\" = \"$(sha256sum c)\"; rm full; \"$1\" undo --root . >&2; head -c 3 c; wc -c < c; ls -A",
    );
    let Some(ran) = ran else { return };
    assert_eq!((ran.code, ran.out.as_str()), (0, "aaa1000000\nc\n"), "{ran:?}");
}
