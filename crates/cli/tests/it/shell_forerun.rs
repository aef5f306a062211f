//! What becomes a guarded file is another one first: a job comes to neither what Nika puts in place nor what others do.

use std::fs;

use crate::shell::is_confined_here;
use crate::shell_recorded::{begin, ended_with, serve, until};
use crate::world::{exists, world};

#[test]
fn a_job_comes_to_nothing_that_nika_is_about_to_put_in_place() {
    if !is_confined_here() {
        return;
    }
    const SCRIPT: &str = "import os\nsaid = []\n\
        temp = '.nika-0123456789abcdef.tmp'\n\
        for name, act in [('open', lambda: open(f'{temp}/0', 'r+')), ('deep', lambda: open(f'deep/{temp}', 'a')),\n\
                          ('make', lambda: open(f'{temp}/1', 'w')), ('link', lambda: os.link(f'{temp}/0', 'held')),\n\
                          ('move', lambda: os.rename(f'{temp}/0', 'held')), ('over', lambda: os.rename('a', f'{temp}/0')),\n\
                          ('top', lambda: os.rename(temp, 'held')), ('mode', lambda: os.chmod(f'deep/{temp}', 0o777)),\n\
                          ('new', lambda: os.mkdir('.nika-00000000000000aa.tmp')), ('gone', lambda: os.unlink(f'{temp}/0')),\n\
                          ('fd', lambda: os.open(f'/proc/self/fd/{os.open(f\"{temp}/0\", os.O_RDONLY)}', os.O_WRONLY)),\n\
                          ('own', lambda: open('.nika-mine', 'w'))]:\n    \
            try:\n        act(); said.append(f'did {name}')\n    \
            except OSError as error: said.append(f'not {name} {error.errno}')\n\
        print('tried', *said, flush=True)\n";
    let temp = ".nika-0123456789abcdef.tmp";
    let world = world().file("a", "one\n").file(&format!("{temp}/0"), "new\n").file(&format!("deep/{temp}"), "new\n");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "reach.py", SCRIPT);
    let said = until(&mut peer, &begun.job, "tried");
    for name in ["open", "deep", "make", "link", "move", "over", "top", "mode", "new", "gone", "fd"] {
        assert!(said.contains(&format!("not {name} 30")) && !said.contains(&format!("did {name}")), "{name}: {said}");
    }
    assert!(said.contains("did own"), "{said}");
    assert_eq!((world.text(&format!("{temp}/0")).as_str(), world.text("a").as_str()), ("new\n", "one\n"));
    assert!(!exists(world.root().join("held")) && !exists(world.root().join(".nika-00000000000000aa.tmp")));
    ended_with(&mut peer, &begun.job, "1 created");
    assert_eq!(fs::read_dir(world.root().join(temp)).expect("there").count(), 1);
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_job_does_not_come_to_the_lock_that_becomes_a_guarded_file() {
    if !is_confined_here() {
        return;
    }
    const SCRIPT: &str = "import os\nsaid = []\n\
        for name in ['.git/config.lock', '.gitmodules.lock', '.git/index.lock']:\n    \
            try:\n        open(name, 'r+'); said.append(f'did {name}')\n    \
            except OSError as error: said.append(f'not {name} {error.errno}')\n\
        print('tried', *said, flush=True)\n";
    let world = world().file(".git/config", "[core]\n").file(".git/HEAD", "ref: refs/heads/main\n");
    let world = world.file(".gitmodules", "").file(".git/config.lock", "[core]\n").file(".gitmodules.lock", "");
    let world = world.file(".git/index.lock", "");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "lock.py", SCRIPT);
    let said = until(&mut peer, &begun.job, "tried");
    assert!(said.contains("not .git/config.lock 30") && said.contains("not .gitmodules.lock 30"), "{said}");
    assert!(said.contains("did .git/index.lock"), "{said}");
    assert_eq!(peer.end(), 0);
}
