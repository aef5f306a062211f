//! Commands of an ordinary user on directories whose rights hold their owner, too.

use crate::ordinary::Ordinary;
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

#[test]
fn a_directory_that_cannot_be_looked_into_is_left_out_and_the_rest_applied() {
    for (before, command, left_out) in [
        ("mkdir z; chmod 000 z", "rmdir z", "z"),
        ("mkdir -p d/z; echo a > d/a; echo b > d/z/b; chmod 300 d/z", "chmod -R u+rwx d; rm -rf d", "d"),
        ("mkdir -p d/z; echo b > d/z/b; chmod 444 d/z", "chmod -R u+rwx d; rm -rf d; mkdir d; echo n > d/n", "d"),
    ] {
        let world = world();
        let Some(user) = Ordinary::of(&world) else { return };
        user.does(before);
        let look = || user.said("find . -printf '%P %m\n' | sort");
        let was = look();
        let ran = user.run(&["call", "bash", &format!("command={command}; echo hi > else"), "--unsafe"]);
        ran.exits(1).says(&format!("[not applied, as what stands there cannot be looked into: {left_out}"));
        assert_eq!(world.text("else"), "hi\n", "{command}");
        user.run(&["undo", "--unsafe"]).exits(0);
        assert_eq!(look(), was, "{command}");
        user.does("chmod -R u+rwx .");
    }
    // Rights alone are no reason to look into it.
    let world = world();
    let Some(user) = Ordinary::of(&world) else { return };
    user.does("mkdir z; echo a > z/a; chmod 000 z");
    user.run(&["call", "bash", "command=chmod 700 z", "--unsafe"]).exits(0);
    assert_eq!(world.text("z/a"), "a\n");
}
