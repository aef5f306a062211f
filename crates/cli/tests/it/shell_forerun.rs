//! What becomes a guarded file is another one first: a job comes to neither what Nika puts in place nor what others do.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::peer::{Peer, text};
use crate::shell::is_confined_here;
use crate::shell_recorded::{begin, ended_with, serve, until};
use crate::world::{World, exists, world};

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

/// Waits until a job has ended that had a hold of `name`, which somebody gave its name, and was ended for that.
pub fn ended_for(peer: &mut Peer, job: &str, name: &str) {
    let (mut told, since) = (String::new(), Instant::now());
    while !told.contains(" ended: ") && since.elapsed() < Duration::from_secs(60) {
        told.push_str(&text(&peer.call("nika_job_output", json!({"job_id": job, "wait_ms": 5_000}))));
    }
    assert!(told.contains("look at what it holds") && told.contains(name), "{name}: {told}");
}

/// What the journals say of guarded files that a job had a hold of.
pub fn journaled(world: &World) -> Vec<String> {
    let files = fs::read_dir(world.state().join("journal")).expect("journals").flatten().map(|file| file.path());
    let lines = files.flat_map(|file| {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let told = lines.filter(|line| line.contains("GuardedHandled"));
    let of = |line: Value| line["paths"].as_array().into_iter().flatten().map(ToString::to_string).collect::<String>();
    told.map(|line| of(serde_json::from_str(&line).expect("a line of a journal is JSON"))).collect()
}

/// Writes to what it holds when that has the name that it is told, and some time after.
const LAZY: &str = "
print('holds', flush=True)
while not os.path.exists('.git/named'): time.sleep(0.01)
time.sleep(1)
write()
print('wrote', flush=True)
";

#[test]
fn a_job_that_holds_what_somebody_gives_a_guarded_name_is_ended_before_it_writes_there() {
    if !is_confined_here() {
        return;
    }
    let ways = [
        ("open", "t.tmp", ".npmrc", "f = open('t.tmp', 'r+')\ndef write(): f.write('EVIL'); f.flush()"),
        (
            "mapped",
            "t.tmp",
            ".envrc",
            "import mmap\nf = open('t.tmp', 'r+')\nm = mmap.mmap(f.fileno(), 0)\nf.close()\ndef write(): m[0:4] = b'EVIL'; m.flush()",
        ),
        (
            "linked",
            "deep/t.tmp",
            ".npmrc",
            "os.link('deep/t.tmp', 'held')\ndef write(): open('held', 'r+').write('EVIL')",
        ),
        (
            "in a child",
            "sedAbCdEf",
            ".github/workflows/ci.yml",
            "f = open('sedAbCdEf', 'r+')\nif os.fork():\n    f.close()\n    os.wait()\n    sys.exit()\n\
             def write(): f.write('EVIL'); f.flush()",
        ),
        (
            "for a name that cannot be listed",
            "t.tmp",
            "Jenkinsfile",
            "f = open('t.tmp', 'r+')\ndef write(): f.write('EVIL'); f.flush()",
        ),
        (
            "a link",
            "t.tmp",
            ".npmrc",
            "os.unlink('t.tmp')\nos.symlink('own', 't.tmp')\nopen('own', 'w').close()\ndef write(): open('own', 'w').write('EVIL')",
        ),
        (
            "a link to what it has open",
            "t.tmp",
            ".npmrc",
            "f = open('own', 'w')\nos.unlink('t.tmp')\nos.symlink('own', 't.tmp')\ndef write(): f.write('EVIL'); f.flush()",
        ),
        // A file of its own.
        (
            "made",
            "own",
            ".npmrc",
            "f = open('own', 'w+')\nf.write('harmless'); f.flush()\ndef write(): f.write('EVIL'); f.flush()",
        ),
    ];
    for (way, from, to, holds) in ways {
        let world = world().file(".npmrc", "old\n").file(".envrc", "old\n").file(".github/workflows/ci.yml", "old\n");
        let world = world.file(".git/HEAD", "ref: refs/heads/main\n").file(from, "new text\n");
        let mut peer = serve(&world);
        let script = format!("import os, sys, time\n{holds}\n{LAZY}");
        let begun = begin(&world, &mut peer, "holds.py", &script);
        until(&mut peer, &begun.job, "holds");
        fs::rename(world.root().join(from), world.root().join(to)).expect("renamed");
        fs::write(world.root().join(".git/named"), "").expect("written");
        ended_for(&mut peer, &begun.job, to);
        let stands = world.text(to);
        assert!(!stands.contains("EVIL"), "{way}: {stands}");
        assert!(journaled(&world).iter().any(|paths| paths.contains(to)), "{way}: {:?}", journaled(&world));
        assert_eq!(peer.end(), 0);
    }
}

#[test]
fn what_a_job_wrote_before_somebody_gave_it_a_guarded_name_is_told() {
    if !is_confined_here() {
        return;
    }
    const SCRIPT: &str =
        "import time\nwith open('t.tmp', 'r+') as f: f.write('EVIL')\nprint('wrote', flush=True)\ntime.sleep(600)\n";
    let world = world().file(".npmrc", "old\n").file("t.tmp", "new text\n");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "wrote.py", SCRIPT);
    until(&mut peer, &begun.job, "wrote");
    fs::rename(world.root().join("t.tmp"), world.root().join(".npmrc")).expect("renamed");
    ended_for(&mut peer, &begun.job, ".npmrc");
    assert!(journaled(&world)[0].contains(".npmrc"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_job_that_has_nothing_of_a_guarded_file_that_somebody_replaces_goes_on() {
    if !is_confined_here() {
        return;
    }
    const SCRIPT: &str = "import os, subprocess, time\nf = open('log', 'w')\nslow = subprocess.Popen(['sleep', '600'])\n\
        print('up', flush=True)\nn = 0\nwhile not os.path.exists('go'):\n    f.write('x'); f.flush(); time.sleep(0.01)\n\
        slow.kill()\nprint('done', flush=True)\n";
    let world = world().file("a", "one\n").file(".npmrc", "old\n");
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(words).current_dir(world.root()).env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(git.status().expect("git runs").success(), "{words:?}");
    };
    git(&["init", "-q"]);
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "works.py", SCRIPT);
    until(&mut peer, &begun.job, "up");
    for round in 0..20 {
        git(&["config", "user.name", &format!("name {round}")]);
        fs::write(world.root().join("t.tmp"), "new\n").expect("written");
        fs::rename(world.root().join("t.tmp"), world.root().join(".npmrc")).expect("renamed");
    }
    fs::write(world.root().join("go"), "").expect("written");
    ended_with(&mut peer, &begun.job, "1 created");
    assert!(journaled(&world).is_empty());
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_job_goes_on_that_removed_another_name_of_what_becomes_a_guarded_file() {
    if !is_confined_here() {
        return;
    }
    const SCRIPT: &str = "import os, time\nos.unlink('one')\nos.rename('new', 'two')\nprint('removed', flush=True)\n\
        while not os.path.exists('go'): time.sleep(0.01)\n";
    let world = world().file("one", "one\n").file("two", "two\n").file("new", "new\n").file(".npmrc", "old\n");
    let at = |name: &str| world.root().join(name);
    for (name, other) in [("one", "other-one"), ("two", "other-two")] {
        fs::hard_link(at(name), at(other)).expect("another name");
    }
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "removes.py", SCRIPT);
    until(&mut peer, &begun.job, "removed");
    fs::rename(at("other-one"), at(".npmrc")).expect("renamed");
    fs::rename(at("other-two"), at("Jenkinsfile")).expect("renamed");
    fs::write(at("go"), "").expect("written");
    ended_with(&mut peer, &begun.job, "deleted");
    assert!(journaled(&world).is_empty());
    assert_eq!(peer.end(), 0);
}

/// Waits until it is kept off a path, which it learns from a call that could change nothing there; and says what comes of others.
pub const KEPT: &str = "import os, sys, time
def kept(path):
    while True:
        try: os.rmdir(path)
        except OSError as error:
            if error.errno == 30: return
        time.sleep(0.01)
said = []
def tries(name, act):
    try: act(); said.append(f'did {name}')
    except OSError as error: said.append(f'not {name} {error.errno}')
";

#[test]
fn a_new_link_under_a_guarded_name_ends_no_job_and_keeps_it_off_where_that_leads() {
    if !is_confined_here() {
        return;
    }
    let script = format!(
        "{KEPT}print('up', flush=True)\nkept('src/a.c')\nkept('dev@host.12:3')\n\
         tries('open', lambda: open('src/a.c', 'w'))\ntries('over', lambda: os.rename('other', 'src/a.c'))\n\
         tries('away', lambda: os.rename('src/a.c', 'b'))\ntries('link', lambda: os.link('src/a.c', 'held'))\n\
         tries('gone', lambda: os.unlink('src/a.c'))\ntries('above', lambda: os.rename('src', 'old'))\n\
         tries('lock', lambda: open('dev@host.12:3', 'w'))\ntries('beside', lambda: open('src/b.c', 'w'))\n\
         tries('twice', lambda: open('twice', 'w'))\nprint('tried', *said, flush=True)\n\
         while 'did later' not in said: tries('later', lambda: open('src/a.c', 'w').write('own')); time.sleep(0.01)\n"
    );
    let world = world().file("src/a.c", "int a;\n").file(".vscode/settings.json", "{}\n").file("other", "evil\n");
    let at = |name: &str| world.root().join(name);
    fs::hard_link(at("src/a.c"), at("twice")).expect("another name");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "links.py", &script);
    until(&mut peer, &begun.job, "up");
    let links = [
        ("/opt/nowhere/ext", ".vscode/abs"),
        ("../src/a.c", ".vscode/new1"),
        // The lock of an editor.
        ("dev@host.12:3", ".#x.code-workspace"),
    ];
    for (to, link) in links {
        std::os::unix::fs::symlink(to, at(link)).expect("a link");
    }
    let said = until(&mut peer, &begun.job, "tried");
    for name in ["open", "over", "away", "link", "gone", "above", "lock", "twice"] {
        assert!(said.contains(&format!("not {name} 30")), "{name}: {said}");
    }
    assert!(said.contains("did beside"), "{said}");
    assert_eq!(world.text("src/a.c"), "int a;\n");
    fs::remove_file(at(".vscode/new1")).expect("removed");
    fs::remove_file(at("twice")).expect("removed");
    ended_with(&mut peer, &begun.job, "1 created");
    assert!(journaled(&world).is_empty(), "{:?}", journaled(&world));
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_job_does_not_write_a_guarded_file_by_a_name_that_it_had_before() {
    if !is_confined_here() {
        return;
    }
    let script = format!(
        "{KEPT}print('up', flush=True)\nkept('src/probe')\ntries('open', lambda: open('src/q', 'a').write('evil'))\n\
         tries('mode', lambda: os.chmod('src/q', 0o777))\ntries('move', lambda: os.rename('src/q', 'src/r'))\n\
         tries('moved', lambda: open('src/r', 'a').write('evil'))\nprint('tried', *said, flush=True)\n"
    );
    let world = world().file("src/q", "task\n").file(".vscode/settings.json", "{}\n");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "twice.py", &script);
    until(&mut peer, &begun.job, "up");
    fs::hard_link(world.root().join("src/q"), world.root().join(".vscode/tasks.json")).expect("another name");
    std::os::unix::fs::symlink("../src/probe", world.root().join(".vscode/probe")).expect("a link");
    let said = until(&mut peer, &begun.job, "tried");
    for name in ["not open 30", "not mode 30", "did move", "not moved 30"] {
        assert!(said.contains(name), "{name}: {said}");
    }
    assert_eq!((world.text(".vscode/tasks.json").as_str(), world.text("src/r").as_str()), ("task\n", "task\n"));
    ended_with(&mut peer, &begun.job, "1 created");
    assert!(journaled(&world).is_empty(), "{:?}", journaled(&world));
    assert_eq!(peer.end(), 0);
}

#[test]
fn an_interpreter_that_holds_what_becomes_a_guarded_file_is_ended_and_says_why() {
    if !is_confined_here() {
        return;
    }
    let world = world().file(".npmrc", "old\n").file("t.tmp", "new text\n");
    let mut peer = serve(&world);
    let mut run = |code: &str| text(&peer.call("nika_repl", json!({"language": "python", "code": code})));
    run("f = open('t.tmp', 'r+')");
    fs::rename(world.root().join("t.tmp"), world.root().join(".npmrc")).expect("renamed");
    // Whether it is ended before or meanwhile.
    let said = run("import time; time.sleep(30); f.write('EVIL'); f.flush()");
    let news = run("1");
    assert!(format!("{said}{news}").contains("look at what it holds"), "{said}{news}");
    assert_eq!(world.text(".npmrc"), "new text\n");
    assert_eq!(peer.end(), 0);
}

/// A script that reads all that it comes to of what lies at the top of the root for a moment.
const LOOKS: &str = "import os
print('up', flush=True)
seen = set()
while not os.path.exists('stop'):
    for name in os.listdir('.'):
        if name.startswith('.nika-'):
            seen.add('one')
            for above, _, files in os.walk(name):
                for file in files:
                    try: seen.add('leak' if b'hidden-from-jobs' in open(os.path.join(above, file), 'rb').read() else 'other')
                    except OSError: pass
print('looked', *seen, flush=True)
";

#[test]
fn what_lies_in_a_root_on_its_way_is_not_read_by_a_job() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    // A state on another file system than the root.
    let Ok(state) = tempfile::tempdir_in("/dev/shm") else { return eprintln!("skipped: no /dev/shm") };
    let device = |path: &std::path::Path| std::os::unix::fs::MetadataExt::dev(&fs::metadata(path).expect("there"));
    if device(state.path()) == device(&world.root()) {
        return eprintln!("skipped: no other file system here");
    }
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words).current_dir(world.root());
        git.env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(git.output().expect("git runs").status.success(), "{words:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    fs::write(world.root().join(".gitignore"), "tools\nstop\n").expect("written");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "one"]);
    git(&["switch", "-qc", "other"]);
    fs::write(world.root().join(".env"), "KEY=hidden-from-jobs\n").expect("written");
    fs::create_dir(world.root().join("many")).expect("made");
    for number in 0..2_000 {
        fs::write(world.root().join(format!("many/{number}")), "x").expect("written");
    }
    git(&["add", "-A"]);
    git(&["commit", "-qm", "two"]);
    git(&["switch", "-q", "main"]);
    let mut command = world.nika(&["serve", "--mode", "workspace", "--list", "all"]);
    command.env("NIKA_STATE_DIR", state.path());
    let mut peer = Peer::start(command);
    peer.initialize("2025-11-25");
    let begun = begin(&world, &mut peer, "looks.py", LOOKS);
    until(&mut peer, &begun.job, "up");
    let said = text(&peer.call("nika_bash", json!({"command": "git switch other"})));
    assert!(exists(world.root().join("many/0")), "{said}");
    fs::write(world.root().join("stop"), "").expect("written");
    let looked = until(&mut peer, &begun.job, "looked");
    assert!(!looked.contains("leak"), "{looked}");
    assert_eq!(peer.end(), 0);
}
