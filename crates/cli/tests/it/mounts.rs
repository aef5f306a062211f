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
