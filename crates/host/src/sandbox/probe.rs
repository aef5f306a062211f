//! Proof by trying: attempts to leave the sandbox, made from inside it.
//!
//! Each row of the tables says what is promised and tries to break it with real calls, harmlessly: what an attempt
//! could change by succeeding is a file of a [`Scene`] that was made for it. `nika doctor` prints the rows, and tests
//! run the same ones.

mod calls;
mod files;
mod processes;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nika_guard::profile::{Access, Held, Layered, Limits, Profile};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::{Deserialize, Serialize};

use super::run::enter_connecting;
use super::{Ended, Network, Ready, Refusal, Target, scan, secrets_at_home};
use crate::git::Personal;

/// What an attempt may do to what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scene {
    /// Holds all the rest.
    pub base: PathBuf,
    /// The workspace.
    pub root: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// A directory outside, with a file `file` that says `outside`.
    pub outside: PathBuf,
    /// Stands for Nika's state.
    pub state: PathBuf,
    /// A file in the real `/tmp`.
    pub in_tmp: PathBuf,
    /// A port of this machine on which something listens.
    pub port: u16,
    /// A unix socket on which something listens. The same path is a name without a file, and the root has one, `socket`.
    pub socket: PathBuf,
    /// A process of this machine's own.
    pub pid: i32,
    /// Whether the roots may be written.
    pub writable: bool,
    /// Whether what is written there lands in a layer.
    #[serde(default)]
    pub layered: bool,
}

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The attempt's name.
    pub name: String,
    /// What was tried.
    pub tried: String,
    /// Whether the promise held.
    pub held: bool,
    /// What was seen.
    pub saw: String,
}

/// What should come of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Must {
    /// It must fail in both profiles.
    Fail,
    /// The same, but over a layer it works there: it is left out when the layer is applied.
    FailOnDisk,
    /// It must work in both profiles.
    Work,
    /// It must work where the roots may be written, and fail elsewhere.
    WorkInWorkspace,
}

type Try = fn(&Scene) -> io::Result<()>;

/// One attempt: name, what should come of it, what is tried, and how.
type Row = (&'static str, Must, &'static str, Try);

/// Limits that attempts can reach quickly.
pub const LIMITS: Limits =
    Limits { processes: 96, memory_bytes: 1 << 30, file_bytes: 16 << 20, open_files: 4096, wall_ms: 60_000 };

/// How a command comes into its world: what holds must hold for each way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Way {
    /// Landlock and seccomp alone will do.
    pub landlock_only: bool,
    /// The world is made before its command is known.
    pub ahead: bool,
    /// What the command changes lands in a layer over the root.
    pub layered: bool,
    /// Its network is one that others may share.
    pub shared: bool,
}

/// A scene with everything in it alive: files, a port, a socket. Dropped, it is removed.
#[derive(Debug)]
pub struct Stage {
    /// What attempts are told.
    pub scene: Scene,
    _port: TcpListener,
    _sockets: [UnixListener; 3],
}

impl Stage {
    /// Makes one in `base`, which must not exist yet. `program` is what will make the attempts: it is put where the
    /// sandbox can see it.
    pub fn new(base: &Path, program: &Path) -> io::Result<Stage> {
        fs::create_dir_all(base)?;
        let base = base.canonicalize()?;
        let port = TcpListener::bind("127.0.0.1:0")?;
        let mut scene = Scene {
            root: base.join("work"),
            home: base.join("home"),
            outside: base.join("outside"),
            state: base.join("state"),
            in_tmp: PathBuf::from(format!("/tmp/nika-probe-{}", std::process::id())),
            port: port.local_addr()?.port(),
            socket: PathBuf::new(),
            pid: std::process::id() as i32,
            writable: false,
            layered: false,
            base,
        };
        scene.socket = scene.outside.join("socket");
        files::lay_out(&scene)?;
        fs::write(&scene.in_tmp, "x")?;
        fs::set_permissions(&scene.in_tmp, fs::Permissions::from_mode(0o644))?;
        let at = scene.root.join("self");
        fs::hard_link(program, &at).or_else(|_| fs::copy(program, &at).map(drop))?;
        let nameless = SocketAddr::from_abstract_name(scene.socket.as_os_str().as_bytes())?;
        let sockets = [
            UnixListener::bind(&scene.socket)?,
            UnixListener::bind(scene.root.join("socket"))?,
            UnixListener::bind_addr(&nameless)?,
        ];
        Ok(Stage { scene, _port: port, _sockets: sockets })
    }

    /// The profile that attempts run under, and what makes them.
    pub fn order(&mut self, access: Access) -> (Profile, Vec<String>) {
        self.scene.writable = access == Access::Workspace;
        let scene = &self.scene;
        let mut profile = Profile::new(access, &scene.root, &scene.home);
        scan(&scene.root, &Personal::at_home(Some(&scene.home))).put_into(&mut profile);
        profile.secrets.extend(secrets_at_home(&scene.home));
        profile.masked.push(scene.state.clone());
        profile.env = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
        profile.limits = LIMITS;
        let text = serde_json::to_string(scene).unwrap_or_default();
        (profile, vec![scene.root.join("self").to_string_lossy().into_owned(), "__probe".to_owned(), text])
    }

    /// Makes all attempts under `access`, and looks at what they did. The program must answer `__probe SCENE` with an
    /// [`Outcome`] a line.
    pub fn attempt(&mut self, access: Access, way: Way) -> Result<(Held, Vec<Outcome>), Refusal> {
        self.scene.layered = way.layered;
        let (mut profile, argv) = self.order(access);
        profile.landlock_only = way.landlock_only;
        let failed = |error: io::Error| Refusal::of("attempts", "pipe", error);
        if way.layered {
            let [upper, work] = ["upper", "work"].map(|name| self.scene.state.join(name));
            [&upper, &work].into_iter().try_for_each(fs::create_dir).map_err(failed)?;
            profile.layers = vec![Layered { root: self.scene.root.clone(), upper, work, stand_ins: Vec::new() }];
        }
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        let mut target = Target::new(argv.into_iter().map(Into::into).collect());
        let given = File::open(self.scene.outside.join("file")).map_err(failed)?;
        target.stdio = [Some(given.into()), Some(write), None];
        target.network = way.shared.then(Network::make).transpose().map_err(failed)?;
        let ready = way.ahead.then(Ready::make).transpose().map_err(failed)?;
        let (mut entered, connects) = enter_connecting(ready, &profile, target, None)?;
        let lines = BufReader::new(File::from(read)).lines().map_while(Result::ok);
        let mut outcomes: Vec<Outcome> = lines.filter_map(|line| serde_json::from_str(&line).ok()).collect();
        let ended = entered.wait(Some(Duration::from_millis(LIMITS.wall_ms))).map_err(failed)?;
        let held = entered.held().clone();
        drop(entered);
        // The next attempts begin in a process with one thread.
        connects.into_iter().for_each(|thread| drop(thread.join()));
        let all = files::ROWS.len() + processes::ROWS.len() + calls::ROWS.len();
        outcomes.push(Outcome {
            name: "all-made".to_owned(),
            tried: format!("make all {all} attempts and come to an end"),
            held: ended == Some(Ended::Exited(0)) && outcomes.len() == all,
            saw: format!("{} were made", outcomes.len()),
        });
        let damage = files::damage(&self.scene);
        outcomes.push(Outcome {
            name: "nothing-changed".to_owned(),
            tried: "find a change outside, from outside".to_owned(),
            held: damage.is_empty(),
            saw: if damage.is_empty() { "all is as it was".to_owned() } else { damage.join("; ") },
        });
        Ok((held, outcomes))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.scene.in_tmp);
        let _ = fs::remove_dir_all(&self.scene.base);
    }
}

/// Makes all attempts, from inside. `say` hears of each as it ends.
pub fn attempt_all(scene: &Scene, say: &mut dyn FnMut(Outcome)) {
    for (name, must, tried, run) in files::ROWS.iter().chain(processes::ROWS).chain(calls::ROWS) {
        let result = run(scene);
        let should_work = match must {
            Must::Fail => false,
            Must::FailOnDisk => scene.writable && scene.layered,
            Must::Work => true,
            Must::WorkInWorkspace => scene.writable,
        };
        let saw = match &result {
            Ok(()) => "it worked".to_owned(),
            Err(error) => error.to_string(),
        };
        let held = result.is_ok() == should_work;
        say(Outcome { name: (*name).to_owned(), tried: (*tried).to_owned(), held, saw });
    }
}

/// Fails with words.
fn broken<T>(why: &str) -> io::Result<T> {
    Err(io::Error::other(why.to_owned()))
}
