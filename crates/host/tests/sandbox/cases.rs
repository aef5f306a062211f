//! The stories.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread;

use nika_guard::profile::{Access, Layered, Profile};

use crate::world::{USER, World, attack};

type Told = Result<(), String>;
type Case = fn() -> Told;

pub const ALL: &[(&str, Case)] = &[
    ("attempts_fail_in_read_only", || attack(Access::ReadOnly, "at once", None)),
    ("attempts_fail_in_read_only_as_a_user", || as_user(|user| attack(Access::ReadOnly, "at once", user))),
    ("attempts_fail_in_read_only_in_a_world_made_ahead", || attack(Access::ReadOnly, "ahead", None)),
    ("attempts_fail_in_read_only_in_a_world_made_ahead_as_a_user", || {
        as_user(|user| attack(Access::ReadOnly, "ahead", user))
    }),
    ("attempts_fail_in_workspace", || attack(Access::Workspace, "at once", None)),
    ("attempts_fail_in_workspace_as_a_user", || as_user(|user| attack(Access::Workspace, "at once", user))),
    ("attempts_fail_in_workspace_in_a_world_made_ahead", || attack(Access::Workspace, "ahead", None)),
    ("attempts_fail_in_workspace_in_a_world_made_ahead_as_a_user", || {
        as_user(|user| attack(Access::Workspace, "ahead", user))
    }),
    ("attempts_fail_in_workspace_in_a_shared_network", || attack(Access::Workspace, "shared", None)),
    ("attempts_fail_in_workspace_in_a_shared_network_for_an_ordinary_user", || {
        as_user(|user| attack(Access::Workspace, "shared", user))
    }),
    ("attempts_fail_in_workspace_over_a_layer", || attack(Access::Workspace, "layered", None)),
    ("attempts_fail_in_workspace_over_a_layer_as_a_user", || {
        as_user(|user| attack(Access::Workspace, "layered", user))
    }),
    ("a_world_made_ahead_shows_no_old_mounts", aged),
    ("git_works", || git(None)),
    ("git_works_as_a_user", || as_user(git)),
    ("git_works_in_a_linked_worktree", || worktree(None)),
    ("git_works_in_a_linked_worktree_as_a_user", || as_user(worktree)),
    ("a_linked_worktree_reaches_nothing_of_others", || strangers(None)),
    ("a_linked_worktree_reaches_nothing_of_others_as_a_user", || as_user(strangers)),
    ("a_linked_worktree_in_tmp_sees_its_repository", worktree_in_tmp),
    ("git_outside_works_while_a_command_runs", git_outside),
    ("programs_work", || programs(None)),
    ("programs_work_as_a_user", || as_user(programs)),
    ("codes_of_exit_pass_through", codes_of_exit),
    ("what_runs_on_ends_with_its_world", what_runs_on),
    ("time_is_bounded", time),
    ("open_files_are_bounded", open_files),
    ("the_environment_is_what_was_given", environment),
    ("stand_ins_go_when_the_last_is_done", stand_ins),
    ("what_comes_to_be_is_set_aside", aside),
    ("a_root_in_tmp_is_seen", root_in_tmp),
    ("slash_is_no_root_to_write", slash),
    ("changes_land_in_a_layer_or_nothing_runs", layered),
    ("landlock_alone_says_what_is_missing", landlock_alone),
    ("unconfined_is_said", unconfined),
    ("allowed_hosts_are_reached_and_others_are_not", hosts),
];

/// As root: as somebody else. Otherwise the plain tests are that already.
fn as_user(case: fn(Option<u32>) -> Told) -> Told {
    if rustix::process::geteuid().is_root() { case(Some(USER)) } else { Ok(()) }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Everything as expected, or all that was seen.
fn check(right: bool, output: &Output) -> Told {
    if right {
        return Ok(());
    }
    Err(format!("{}\n{}\n{}", output.status, said(output), String::from_utf8_lossy(&output.stderr)))
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn aged() -> Told {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let world = World::new(None);
    let sub = world.root().join("sub");
    fs::create_dir(&sub).map_err(text)?;
    fs::write(sub.join("file"), "before\n").map_err(text)?;
    let output = std::process::Command::new(world.me()).arg("__aged").arg(world.root()).output().map_err(text)?;
    check(output.status.success() && said(&output) == "before\nahead\nbefore\nmounted\n", &output)
}

fn git(user: Option<u32>) -> Told {
    let world = World::new(user);
    let root = world.root();
    let init = std::process::Command::new("git").args(["init", "-q"]).arg(&root).stdout(Stdio::null()).status();
    if !init.is_ok_and(|status| status.success()) {
        return Err("git is needed".to_owned());
    }
    fs::write(root.join("a.txt"), "one\n").map_err(text)?;
    world.own();
    let output = world.shell(
        &world.profile(Access::Workspace),
        "set -e; git status --short; git add -A; git commit -q -m first; git status --short; git log --oneline | wc -l; \
         echo two >> a.txt; git diff --stat; git checkout -q -b side; git commit -q -a -m second; git stash list; \
         git worktree list | wc -l; git gc -q; git fsck",
    );
    check(output.status.success() && said(&output).starts_with("?? a.txt\n1\n"), &output)?;
    let output = world.shell(&world.profile(Access::ReadOnly), "git log --oneline | wc -l && git status --short");
    check(output.status.success() && said(&output) == "2\n", &output)
}

/// A repository of two commits and, as its worktree, the root; another worktree beside it.
fn repository(base: &Path, root: &Path) -> Told {
    let script = "git init -q repo && cd repo && git config extensions.worktreeConfig true && echo one > a.txt && git add -A && git commit -qm first && git branch old \
                  && git pack-refs --all && git worktree add -qb side \"$1\" && git worktree add -qb other ../other";
    let mut command = std::process::Command::new("sh");
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "a").env(format!("GIT_{name}_EMAIL"), "a@example.com");
    }
    let made = command.args(["-ec", script, "sh"]).arg(root).current_dir(base).output().map_err(text)?;
    check(made.status.success(), &made)
}

/// The profile of the root with what git keeps of it elsewhere.
fn linked(world: &World, access: Access) -> Profile {
    world.own();
    let mut profile = world.profile(access);
    let linked = nika_host::sandbox::Linked::of(&world.root());
    linked.expect("the root is a worktree").put_into(&mut profile);
    profile
}

fn worktree(user: Option<u32>) -> Told {
    let world = World::new(user);
    repository(&world.base, &world.base.join("root"))?;
    let profile = linked(&world, Access::Workspace);
    let output = world.shell(
        &profile,
        "set -e; echo two >> a.txt; git status --short; git add -A; git commit -qm second; git log --oneline | wc -l; \
         echo three >> a.txt; git stash -q; git stash pop -q; git commit -qam third; git branch new; git branch -qd new; \
         git branch -qD old; git checkout -qb more HEAD~1; echo x > x.txt; git add x.txt; git commit -qm fourth; \
         git cherry-pick side >/dev/null; git rebase -q side; git commit -q --amend -m fifth; git tag t; git tag -d t >/dev/null; \
         git checkout -qb most; git pack-refs --all; git repack -dqn; git fsck --no-dangling; git worktree list | wc -l",
    );
    // What it cannot do is what it cannot in any root: take the settings of a branch out of the configuration.
    let complaint = String::from_utf8_lossy(&output.stderr).contains("Unable to create");
    check(output.status.success() && said(&output) == " M a.txt\n2\n3\n" && !complaint, &output)?;
    // The repository has it all, as git outside sees it, and nothing stayed behind.
    let seen = std::process::Command::new("git")
        .args(["-c", "safe.directory=*", "log", "--format=%s", "most"])
        .current_dir(world.base.join("repo"))
        .output()
        .map_err(text)?;
    check(seen.status.success() && said(&seen) == "fifth\nthird\nsecond\nfirst\n", &seen)?;
    for left in ["commondir", "config.worktree", "worktrees/root/modules"] {
        if world.base.join("repo/.git").join(left).symlink_metadata().is_ok() {
            return Err(format!("{left} stayed behind"));
        }
    }
    // What a person let this call change, it changes there.
    let mut released = linked(&world, Access::Workspace);
    released.release(&world.root().join(".git/config"));
    let output = world
        .shell(&released, "git config alias.x y && git config --get alias.x && ! echo x >> ../repo/.git/HEAD 2>&-");
    check(output.status.success() && said(&output) == "y\n", &output)?;
    let output = world.shell(&linked(&world, Access::ReadOnly), "git log --oneline | wc -l; git add a.txt");
    check(!output.status.success() && said(&output) == "4\n", &output)
}

fn strangers(user: Option<u32>) -> Told {
    let world = World::new(user);
    repository(&world.base, &world.base.join("root"))?;
    let common = world.base.join("repo/.git");
    let profile = linked(&world, Access::Workspace);
    let own = "worktrees/root";
    let attempts = [
        "echo x >> config".to_owned(),
        "echo x > config.lock && mv config.lock config".to_owned(),
        "echo x > hooks/pre-commit".to_owned(),
        "mv hooks away".to_owned(),
        "echo x > info/attributes".to_owned(),
        "echo x > HEAD".to_owned(),
        "rm -f index".to_owned(),
        "echo x >> logs/HEAD".to_owned(),
        "mv logs away".to_owned(),
        "echo . > commondir".to_owned(),
        "rm commondir".to_owned(),
        "echo x > config.worktree".to_owned(),
        "mkdir rebase-merge".to_owned(),
        "mkdir modules".to_owned(),
        "ln -s x link".to_owned(),
        "mv objects/info made".to_owned(),
        "echo x > worktrees/other/HEAD".to_owned(),
        "touch worktrees/other/index.lock".to_owned(),
        "mkdir worktrees/more".to_owned(),
        "mv worktrees/other worktrees/gone".to_owned(),
        "mv worktrees away".to_owned(),
        format!("echo x > {own}/gitdir"),
        format!("rm -f {own}/commondir"),
        format!("echo x > {own}/new && mv {own}/new {own}/commondir"),
        format!("echo x > {own}/config.worktree"),
        format!("mkdir {own}/modules"),
        format!("mv {own} worktrees/moved"),
        "echo x > ../a.txt".to_owned(),
    ];
    for attempt in &attempts {
        let output = world.shell(&profile, &format!("cd '{}' && {attempt}", common.display()));
        check(!output.status.success(), &output).map_err(|seen| format!("{attempt}: {seen}"))?;
    }
    let git = format!(
        "cd '{}' && touch packed-refs.lock {own}/index.lock && rm packed-refs.lock {own}/index.lock",
        common.display()
    );
    let output = world.shell(&profile, &git);
    check(output.status.success(), &output)?;
    // What is made while a command runs is protected, too.
    let late = format!("cd '{}/worktrees' && mkdir -p late; echo x > late/HEAD", common.display());
    let output = world.shell(&profile, &late);
    check(!output.status.success() && !common.join("worktrees/late").exists(), &output)?;
    // Another's name in the file gives nothing, whatever was open before.
    let theirs = format!("gitdir: {}/worktrees/other\n", common.display());
    fs::write(world.root().join(".git"), theirs).map_err(text)?;
    world.own();
    if nika_host::sandbox::Linked::of(&world.root()).is_some() {
        return Err("a claim was believed".to_owned());
    }
    let output = world.shell(&world.profile(Access::Workspace), "echo x > x.txt; git add x.txt");
    check(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("Read-only"), &output)
}

fn worktree_in_tmp() -> Told {
    let world = World::new(None);
    let scene = tempfile::Builder::new().prefix("nika-test-").tempdir_in("/tmp").map_err(text)?;
    let base = scene.path().canonicalize().map_err(text)?;
    let root = base.join("root");
    repository(&base, &root)?;
    for (access, script) in [
        (Access::ReadOnly, "git status --short && git log --oneline | wc -l && ! touch ../repo/.git/x 2>&-"),
        (Access::Workspace, "echo two > b.txt && git add -A && git commit -qm second && git log --oneline | wc -l"),
    ] {
        let mut profile = Profile { cwd: root.clone(), roots: vec![root.clone()], ..world.profile(access) };
        nika_host::sandbox::Linked::of(&root).ok_or("it is a worktree")?.put_into(&mut profile);
        let output = world.shell(&profile, script);
        let commits = if access == Access::ReadOnly { "1\n" } else { "2\n" };
        check(output.status.success() && said(&output) == commits, &output)?;
    }
    Ok(())
}

fn git_outside() -> Told {
    let world = World::new(None);
    let (repo, root) = (world.base.join("repo"), world.base.join("root"));
    repository(&world.base, &root)?;
    let plain = Profile { cwd: repo.clone(), roots: vec![repo.clone()], ..world.profile(Access::Workspace) };
    let mut plain = Profile { protected: Vec::new(), absent: Vec::new(), ..plain };
    nika_host::sandbox::scan(&repo, &nika_host::git::Personal::at_home(Some(&world.base.join("home"))))
        .put_into(&mut plain);
    for profile in [plain, linked(&world, Access::Workspace)] {
        let mut running =
            world.launch(&profile, &["cat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(text)?;
        running.stdin.as_mut().ok_or("a pipe")?.write_all(b"x").map_err(text)?;
        running.stdout.as_mut().ok_or("a pipe")?.read_exact(&mut [0]).map_err(text)?;
        for dir in [&repo, &root, &world.base.join("other")] {
            let output = std::process::Command::new("git")
                .args(["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-mx"])
                .current_dir(dir)
                .output()
                .map_err(text)?;
            check(output.status.success() && output.stderr.is_empty(), &output)?;
        }
        drop(running.stdin.take());
        running.wait().map_err(text)?;
        for left in ["commondir", "config.worktree"] {
            if repo.join(".git").join(left).symlink_metadata().is_ok() {
                return Err(format!("{left} stayed behind"));
            }
        }
    }
    Ok(())
}

fn programs(user: Option<u32>) -> Told {
    let world = World::new(user);
    world.root();
    let output = world.shell(
        &world.profile(Access::Workspace),
        "set -e; mkdir -p out/deep; printf 'a\\nb\\n' > out/f; sort -r out/f | tee out/g >/dev/null; cp -r out copy; mv copy moved; \
         ln moved/f moved/hard; ln -s f moved/soft; rm -r moved; tar cf out.tar out; mktemp >/dev/null; test -n \"$(ps -o pid=)\"; \
         ps -e | wc -l; head -c 3 /dev/zero | wc -c; df . >/dev/null; nice true",
    );
    check(output.status.success() && said(&output).ends_with("3\n"), &output)?;
    for name in [".envrc", ".vscode", ".cargo", ".git"] {
        if world.root().join(name).symlink_metadata().is_ok() {
            return Err(format!("{name} stayed behind"));
        }
    }
    Ok(())
}

fn codes_of_exit() -> Told {
    let world = World::new(None);
    let profile = world.profile(Access::ReadOnly);
    for (script, code) in [("exit 7", 7), ("true", 0), ("kill -9 $$", 137), ("kill -TERM $$", 143)] {
        let output = world.shell(&profile, script);
        check(output.status.code() == Some(code), &output)?;
    }
    let output = world.launch(&profile, &["/no/such/program"]).output().map_err(text)?;
    check(
        output.status.code() == Some(3) && String::from_utf8_lossy(&output.stderr).contains("/no/such/program"),
        &output,
    )?;
    // From a directory that was opened outside, everything that is covered could be reached.
    let input = fs::File::open(&world.base).map_err(text)?;
    let output = world.launch(&profile, &["true"]).stdin(input).output().map_err(text)?;
    check(output.status.code() == Some(3), &output)
}

fn what_runs_on() -> Told {
    let world = World::new(None);
    // The pipe ends only when everybody who could write to it is gone, whatever they did to get away.
    let output = world.shell(
        &world.profile(Access::Workspace),
        "(setsid sh -c 'trap \"\" HUP TERM; sleep 1000' &) ; (sleep 1000 & sleep 1000 &) ; echo done",
    );
    check(output.status.success() && said(&output) == "done\n", &output)
}

fn time() -> Told {
    let world = World::new(None);
    let mut profile = world.profile(Access::ReadOnly);
    profile.limits.wall_ms = 200;
    let output = world.shell(&profile, "sleep 1000");
    check(output.status.code() == Some(124), &output)
}

fn environment() -> Told {
    let world = World::new(None);
    let mut profile = world.profile(Access::ReadOnly);
    profile.env = vec![("PATH".into(), "/usr/bin:/bin".into()), ("ONE".into(), "1".into())];
    let output = world.launch(&profile, &["env"]).output().map_err(text)?;
    check(said(&output) == "PATH=/usr/bin:/bin\nONE=1\n", &output)
}

fn stand_ins() -> Told {
    let world = World::new(None);
    let profile = world.profile(Access::Workspace);
    let envrc = world.root().join(".envrc");
    let mut first =
        world.launch(&profile, &["cat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(text)?;
    first.stdin.as_mut().ok_or("a pipe")?.write_all(b"x").map_err(text)?;
    first.stdout.as_mut().ok_or("a pipe")?.read_exact(&mut [0]).map_err(text)?;
    // A second one comes and goes while the first still runs.
    let output = world.shell(&profile, "cat .envrc; echo x > .envrc");
    check(!output.status.success() && said(&output).is_empty(), &output)?;
    if envrc.symlink_metadata().is_err() {
        return Err("what the first still needs is gone".to_owned());
    }
    drop(first.stdin.take());
    first.wait().map_err(text)?;
    if envrc.symlink_metadata().is_ok() {
        return Err("nobody needs it, and it is there".to_owned());
    }
    Ok(())
}

fn aside() -> Told {
    let world = World::new(None);
    let profile = world.profile(Access::Workspace);
    let output =
        world.shell(&profile, "mkdir -p .github/workflows && echo x > .github/workflows/ci.yml && echo y > .bashrc");
    let root = world.root();
    let gone = !root.join(".github/workflows").exists() && !root.join(".bashrc").exists();
    let kept =
        root.join(".github/workflows.refused-by-nika/ci.yml").exists() && root.join(".bashrc.refused-by-nika").exists();
    check(output.status.success() && gone && kept, &output)
}

fn root_in_tmp() -> Told {
    let directory = tempfile::tempdir_in("/tmp").map_err(text)?;
    let other = tempfile::tempdir_in("/tmp").map_err(text)?;
    let world = World::new(None);
    let root = directory.path().canonicalize().map_err(text)?;
    fs::write(root.join("file"), "here").map_err(text)?;
    for (access, works) in [(Access::Workspace, true), (Access::ReadOnly, false)] {
        let mut profile = Profile::new(access, &root, &root);
        profile.env = world.profile(access).env;
        let script = format!("cat file; ls -d {} 2>/dev/null; echo x > new", other.path().display());
        let output = world.shell(&profile, &script);
        check(said(&output) == "here" && output.status.success() == works, &output)?;
    }
    Ok(())
}

fn slash() -> Told {
    let world = World::new(None);
    let mut profile = Profile::new(Access::Workspace, "/", "/root");
    profile.env = world.profile(Access::Workspace).env;
    let output = world.launch(&profile, &["true"]).output().map_err(text)?;
    check(output.status.code() == Some(3), &output)
}

fn layered() -> Told {
    let world = World::new(None);
    let root = world.root();
    fs::write(root.join("file"), "x\n").map_err(text)?;
    let [upper, work] = ["upper", "work"].map(|name| world.base.join(name));
    let mut profile = world.profile(Access::Workspace);
    profile.absent = vec![root.join(".envrc")];
    profile.layers =
        vec![Layered { root: root.clone(), upper: upper.clone(), work: work.clone(), stand_ins: Vec::new() }];
    // Without a layer nothing runs, also where Landlock alone would do.
    profile.landlock_only = true;
    let output = world.shell(&profile, "echo y > file");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    check(output.status.code() == Some(3) && errors.contains("changes that can be taken back"), &output)?;
    [&upper, &work].into_iter().try_for_each(fs::create_dir).map_err(text)?;
    let output = world.shell(&profile, "echo y > file; echo z > .envrc; cat file");
    let is = |path: &Path, wanted: &str| fs::read_to_string(path).is_ok_and(|is| is == wanted);
    check(output.status.success() && said(&output) == "y\n" && is(&root.join("file"), "x\n"), &output)?;
    let held_back = is(&upper.join("file"), "y\n") && is(&upper.join(".envrc"), "z\n");
    check(held_back && fs::symlink_metadata(root.join(".envrc")).is_err(), &output)
}

fn landlock_alone() -> Told {
    let world = World::new(None);
    let root = world.root();
    fs::write(root.join("file"), "x").map_err(text)?;
    // Inside a sandbox there are no further namespaces to be had.
    let outer = world.profile(Access::ReadOnly);
    let mut inner = outer.clone();
    let me = world.me().to_string_lossy().into_owned();
    let mut nested = |landlock_only| {
        inner.landlock_only = landlock_only;
        let order = world.order(&inner).to_string_lossy().into_owned();
        let script = "cat file; echo x > new; echo x > /etc/nika-probe; echo x > /tmp/x || echo end";
        world.launch(&outer, &[&me, "__run", &order, "sh", "-c", script]).output().map_err(text)
    };
    let output = nested(false)?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    check(output.status.code() == Some(3) && errors.contains("a world of its own (user namespaces)"), &output)?;
    let output = nested(true)?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let named = errors.contains("missing: other processes of the user can be seen");
    check(output.status.success() && said(&output) == "xend\n" && named, &output)?;
    // Nothing but the filter holds what is no content: where a command writes it cannot, and that is named.
    let script =
        "chmod 777 file && echo chmod; touch -d @1 file && echo touch; chown $(id -u) file && echo chown; true";
    for access in [Access::ReadOnly, Access::Workspace] {
        let mut inner = world.profile(access);
        inner.landlock_only = true;
        let order = world.order(&inner).to_string_lossy().into_owned();
        let outer = world.profile(Access::Workspace);
        let output = world.launch(&outer, &[&me, "__run", &order, "sh", "-c", script]).output().map_err(text)?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let named = errors.contains("missing: the modes, owners, times and attributes of files outside");
        let reads = access == Access::ReadOnly;
        let changed = if reads { "" } else { "chmod\ntouch\nchown\n" };
        check(named != reads && said(&output) == changed, &output)?;
    }
    Ok(())
}

fn open_files() -> Told {
    let world = World::new(None);
    let mut profile = world.profile(Access::ReadOnly);
    profile.limits.open_files = 500;
    let order = world.order(&profile);
    let inside = |given: &str| {
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &format!("{given}; exec \"$@\""), "bash"]).arg(world.me()).arg("__run").arg(&order);
        command.args(["bash", "-c", "ulimit -Sn; ulimit -Hn"]).output().map_err(text)
    };
    // What was given stays where it is less.
    for (given, held) in [("true", "500\n500\n"), ("ulimit -Sn 300", "300\n500\n"), ("ulimit -n 200", "200\n200\n")] {
        let output = inside(given)?;
        check(said(&output) == held, &output)?;
    }
    Ok(())
}

fn unconfined() -> Told {
    let world = World::new(None);
    let profile = world.profile(Access::Unconfined);
    let output = world.shell(&profile, "echo x > ../outside");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    check(world.base.join("outside").exists() && errors.contains("missing: nothing is confined"), &output)
}

fn hosts() -> Told {
    let world = World::new(None);
    let listener = TcpListener::bind("127.0.0.1:0").map_err(text)?;
    let port = listener.local_addr().map_err(text)?.port();
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut head = [0; 1024];
            let read = client.read(&mut head).unwrap_or(0);
            let first = String::from_utf8_lossy(&head[..read]).lines().next().unwrap_or_default().to_owned();
            let body = format!("saw {first}");
            let _ = write!(client, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    let ask = |target: &str| {
        format!(
            "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET {target} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat <&3; exec 3>&-"
        )
    };
    let mut profile = world.profile(Access::ReadOnly);
    profile.hosts = vec!["127.0.0.1".into()];
    let run =
        |profile: &Profile, target: &str| world.launch(profile, &["bash", "-c", &ask(target)]).output().map_err(text);
    // Listed, but an address of this machine.
    let output = run(&profile, &format!("http://127.0.0.1:{port}/a"))?;
    check(said(&output).contains("403") && said(&output).contains("address of this machine"), &output)?;
    profile.env.push(("NIKA_TEST_LOOPBACK".into(), "1".into()));
    let output = run(&profile, &format!("http://127.0.0.1:{port}/a"))?;
    check(said(&output).contains("saw GET /a HTTP/1.1"), &output)?;
    let output = run(&profile, "http://example.com/")?;
    check(said(&output).contains("403") && said(&output).contains("not on the list"), &output)?;
    // Of a host that is listed, neither its shells nor its mail: no connection is tried.
    let tunnel = |port: u16| {
        let ask = format!(
            "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n' >&3; head -c 20 <&3; exec 3>&-"
        );
        world.launch(&profile, &["bash", "-c", &ask]).output().map_err(text)
    };
    let output = tunnel(22)?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    check(said(&output).contains("403") && told.contains("visit 127.0.0.1 22 Some(Port(22))"), &output)?;
    let output = tunnel(port)?;
    check(said(&output).contains("200"), &output)?;
    let output = run(&profile, "http://127.0.0.1:25/")?;
    check(said(&output).contains("403") && said(&output).contains("port 25 is none of the web"), &output)?;
    let output = world.launch(&profile, &["sh", "-c", "echo $https_proxy"]).output().map_err(text)?;
    check(said(&output) == "http://127.0.0.1:3128\n", &output)
}
