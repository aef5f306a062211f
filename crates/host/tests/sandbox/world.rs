//! A place to try things in, and the ways to try them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nika_guard::profile::{Access, Profile};
use nika_guard::{Effect, Effects, Exec, ExecKind, Mode, Policy, Stance};
use nika_host::git::Personal;
use nika_host::proc::{Jobs, Order};
use nika_host::sandbox::probe::{self, Outcome, Scene, Stage, Way};
use nika_host::sandbox::{Reach, Target, run as run_to_end};

/// The ordinary user of the tests.
pub const USER: u32 = 1234;

/// A directory outside `/tmp`, which is private inside, that goes when this does.
pub struct World {
    pub base: PathBuf,
    pub user: Option<u32>,
}

impl World {
    pub fn new(user: Option<u32>) -> World {
        let places = [Path::new("/var/lib"), Path::new(env!("CARGO_TARGET_TMPDIR"))];
        let make = |place: &&Path| tempfile::Builder::new().prefix("nika-test-").tempdir_in(place).ok();
        let base = places.iter().find_map(make).expect("a place to try things in").keep();
        let base = base.canonicalize().expect("it was just made");
        // Others must get through to what is theirs.
        fs::set_permissions(&base, fs::Permissions::from_mode(0o755)).expect("it was just made");
        fs::create_dir(base.join("bin")).expect("below our own directory");
        fs::copy(std::env::current_exe().expect("this program"), base.join("bin/self"))
            .expect("a copy of this program");
        World { base, user }
    }

    /// This program, where the sandbox can see it.
    pub fn me(&self) -> PathBuf {
        self.base.join("bin/self")
    }

    /// A file of the base, given to the user whom things are tried as.
    pub fn own(&self) {
        if let Some(user) = self.user {
            own(&self.base, user);
        }
    }

    /// A workspace with nothing in it.
    pub fn root(&self) -> PathBuf {
        let root = self.base.join("root");
        fs::create_dir_all(&root).expect("below our own directory");
        root
    }

    /// A profile for `root`, all that is protected known.
    pub fn profile(&self, access: Access) -> Profile {
        let root = self.root();
        let mut profile = Profile::new(access, &root, self.base.join("home"));
        nika_host::sandbox::scan(&root, &Personal::at_home(Some(&self.base.join("home")))).put_into(&mut profile);
        profile.env = vec![
            ("PATH".into(), std::env::var("PATH").unwrap_or_default()),
            ("HOME".into(), self.base.join("home").to_string_lossy().into_owned()),
            ("GIT_CONFIG_COUNT".into(), "2".into()),
            ("GIT_CONFIG_KEY_0".into(), "user.email".into()),
            ("GIT_CONFIG_VALUE_0".into(), "a@example.com".into()),
            ("GIT_CONFIG_KEY_1".into(), "user.name".into()),
            ("GIT_CONFIG_VALUE_1".into(), "a".into()),
        ];
        fs::create_dir_all(self.base.join("home")).expect("below our own directory");
        profile
    }

    /// A file with `profile` in it.
    pub fn order(&self, profile: &Profile) -> PathBuf {
        let order = tempfile::Builder::new().prefix("order-").tempfile_in(&self.base);
        let order = order.and_then(|order| Ok(order.into_temp_path().keep()?)).expect("a file of ours");
        fs::write(&order, serde_json::to_vec(profile).expect("a profile is JSON")).expect("a file of ours");
        fs::set_permissions(&order, fs::Permissions::from_mode(0o644)).expect("a file of ours");
        order
    }

    /// The launcher's command line for `argv` under `profile`.
    pub fn launch(&self, profile: &Profile, argv: &[&str]) -> Command {
        let order = self.order(profile);
        let mut command = Command::new(self.me());
        command.arg("__run").arg(order).args(argv).stdin(Stdio::null()).current_dir("/");
        command.env("NIKA_TEST_SECRET", "of the caller");
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// Runs a shell script inside and gives what it said.
    pub fn shell(&self, profile: &Profile, script: &str) -> Output {
        self.own();
        self.launch(profile, &["sh", "-c", script]).output().expect("the launcher starts")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}

fn own(path: &Path, user: u32) {
    let _ = std::os::unix::fs::lchown(path, Some(user), Some(user));
    let Ok(kind) = path.symlink_metadata() else { return };
    if kind.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            own(&entry.path(), user);
        }
    }
}

/// `__run ORDER CMD…`: the launcher. A descriptor is open that must not get in.
pub fn run(args: &[String]) -> ExitCode {
    let profile: Profile = serde_json::from_slice(&fs::read(&args[0]).expect("an order")).expect("a profile");
    let leak = fs::File::open(&args[0]).expect("a file to leak");
    let leaked = rustix::io::dup(&leak).expect("a descriptor that survives exec");
    let mut reach = Reach::new(profile.hosts.clone());
    reach.allow_loopback = profile.env.iter().any(|(name, _)| name == "NIKA_TEST_LOOPBACK");
    reach.log = Box::new(|visit| eprintln!("visit {} {} {:?}", visit.host, visit.port, visit.refused));
    match run_to_end(&profile, Target::new(args[1..].iter().map(Into::into).collect()), Some(reach)) {
        Err(refusal) => {
            eprintln!("refused: {refusal}");
            ExitCode::from(3)
        }
        Ok(finished) => {
            drop(leaked);
            eprintln!("held: {}", finished.held.profile);
            finished.held.missing.iter().for_each(|missing| eprintln!("missing: {missing}"));
            finished.aside.iter().for_each(|aside| eprintln!("aside: {}", aside.display()));
            ExitCode::from(finished.ended.map_or(124, |ended| ended.code()))
        }
    }
}

/// `__probe SCENE`: the attempts, inside; a line of JSON each.
pub fn probe(args: &[String]) -> ExitCode {
    let scene: Scene = serde_json::from_str(&args[0]).expect("a scene");
    probe::attempt_all(&scene, &mut |outcome| {
        println!("{}", serde_json::to_string(&outcome).expect("an outcome is JSON"));
    });
    ExitCode::SUCCESS
}

/// Makes all attempts under `access`, `at once`, in a world made `ahead` or `layered`, as `user` when there is one, and says which promises were broken.
pub fn attack(access: Access, how: &str, user: Option<u32>) -> Result<(), String> {
    let world = World::new(user);
    let stage = world.base.join("stage");
    world.own();
    // A stage is made by whoever attempts, so that all in it is theirs.
    let mut command = Command::new(world.me());
    command.arg("__stage").arg(&stage).arg(access.name()).arg(how).stdin(Stdio::null()).current_dir("/");
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    if std::env::var_os("NIKA_TEST_SHOW").is_some() {
        println!("{said}");
    }
    let wrong: Vec<&str> = said.lines().filter(|line| line.starts_with("broken")).collect();
    match output.status.success() && wrong.is_empty() && said.lines().count() > 100 {
        true => Ok(()),
        false => Err(format!("{}\n{}\n{}", output.status, wrong.join("\n"), String::from_utf8_lossy(&output.stderr))),
    }
}

/// `__stage BASE PROFILE HOW`: all attempts, with what is around them.
pub fn stage(args: &[String]) -> ExitCode {
    let me = std::env::current_exe().expect("this program");
    let mut stage = Stage::new(Path::new(&args[0]), &me).expect("a stage");
    let access = if args[1] == "workspace" { Access::Workspace } else { Access::ReadOnly };
    let leak = fs::File::open(&me).expect("a file to leak");
    let leaked = rustix::io::dup(&leak).expect("a descriptor that survives exec");
    let is = |how: &str| args[2] == how;
    let way = Way { landlock_only: false, ahead: is("ahead"), layered: is("layered"), shared: is("shared") };
    match stage.attempt(access, way) {
        Err(refusal) => {
            eprintln!("{refusal}");
            ExitCode::from(3)
        }
        Ok((held, outcomes)) => {
            drop(leaked);
            assert_eq!(held.missing, Vec::<String>::new());
            for Outcome { name, tried, held, saw } in outcomes {
                println!("{} {name}: {tried}: {saw}", if held { "held" } else { "broken" });
            }
            ExitCode::SUCCESS
        }
    }
}

/// `__aged ROOT`: prints `ROOT/sub/file` as commands see it, before and after something is mounted there while a world
/// waits that was made before.
pub fn aged(args: &[String]) -> ExitCode {
    use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
    let sub = Path::new(&args[0]).join("sub");
    unshare_mounts();
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).expect("mounts of our own");
    let exec = Exec::plain(Vec::new(), ExecKind::Opaque, "");
    let effects = Effects::one(Effect::Exec(exec));
    let verdict = Policy::default().judge(&Stance::from(Mode::AcceptAll), &effects);
    let permit = verdict.permit(None).expect("everything is accepted");
    let jobs = Jobs::new(env!("CARGO_BIN_EXE_nika-run"), None);
    jobs.expect_more();
    let look = || {
        let mut profile = Profile::new(Access::ReadOnly, &args[0], "/nonexistent");
        profile.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let job = jobs.start(&permit, Order::shell("cat sub/file", profile, "s")).expect("it starts");
        job.wait(Duration::from_secs(30), &|| false).expect("it ends");
        print!("{}", String::from_utf8_lossy(&job.summary().head));
    };
    look();
    until_a_world_waits();
    println!("ahead");
    look();
    until_a_world_waits();
    mount("none", &sub, "tmpfs", MountFlags::empty(), None).expect("a file system");
    fs::write(sub.join("file"), "mounted\n").expect("a file of ours");
    look();
    ExitCode::SUCCESS
}

/// Until a child of ours has a child: a supervisor and the world that it made.
fn until_a_world_waits() {
    let children = |pid: &str| {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let begun = Instant::now();
    while !children("self").iter().any(|child| !children(child).is_empty()) {
        thread::yield_now();
        assert!(begun.elapsed() < Duration::from_secs(30), "no world waits");
    }
}

/// Mounts of our own; before there is a second thread.
#[allow(unsafe_code)]
fn unshare_mounts() {
    // SAFETY: no descriptor is shared or lost by it.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS) }.expect("a namespace");
}
