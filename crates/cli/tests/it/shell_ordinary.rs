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
