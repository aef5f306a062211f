//! Times `bash -c true` from its order to the news that all of it is gone: bare, in each profile, and in bubblewrap
//! when it is there. `launch ROOT [N [PROGRAM [ROWS]]]`: PROGRAM is who supervises when it is run as `PROGRAM __run`,
//! by default this one; ROWS is a word of the rows to measure, by default all.
//!
//! *Cold*: a supervisor is started for the command. *Warm*: one has waited for it since the command before, as in a
//! session that runs many. Between two rounds lies the time in which a model would think, the same for all rows.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nika_guard::profile::{Access, Profile};
use nika_guard::{Effect, Effects, Exec, ExecKind, Mode, Permit, Policy, Stance};
use nika_host::git::Personal;
use nika_host::overlay::Layer;
use nika_host::proc::{Jobs, Order};
use nika_host::sandbox::{Known, scan, secrets_at_home};

/// What lies between two rounds.
const THINKING: Duration = Duration::from_millis(20);
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    let first = args.next().unwrap_or_default();
    if first == "__run" {
        return nika_host::proc::supervise();
    }
    let Ok(root) = PathBuf::from(&first).canonicalize() else {
        eprintln!("launch ROOT [N [PROGRAM [ROWS]]]");
        return ExitCode::from(2);
    };
    let rounds = args.next().and_then(|n| n.to_str()?.parse().ok()).unwrap_or(200).max(10);
    let program = args.next().map_or_else(|| env::current_exe().expect("this program"), PathBuf::from);
    let rows = args.next().map(|rows| rows.to_string_lossy().into_owned()).unwrap_or_default();
    Bench::new(root, rounds, program, rows).run();
    ExitCode::SUCCESS
}

struct Bench {
    root: PathBuf,
    home: PathBuf,
    state: PathBuf,
    rounds: usize,
    program: PathBuf,
    rows: String,
    known: Known,
    permit: Permit,
}

impl Bench {
    fn new(root: PathBuf, rounds: usize, program: PathBuf, rows: String) -> Bench {
        let home = env::var_os("HOME").map_or_else(|| root.clone(), PathBuf::from);
        for how in ["first", "again"] {
            let began = Instant::now();
            let known = scan(&root, &Personal::default());
            let (ms, entries) = (began.elapsed().as_secs_f64() * 1e3, known.entries);
            println!("looking at the tree, {how}: {ms:.1} ms, {entries} entries");
        }
        let known = scan(&root, &Personal::default());
        let (protected, absent, secrets) = (known.protected.len(), known.absent.len(), known.secrets.len());
        println!("it has {protected} protected, {absent} absent, {secrets} secret; {rounds} rounds a row, in ms");
        let state = env::temp_dir().join(format!("nika-launch-{}", std::process::id()));
        std::fs::create_dir(&state).expect("a directory for layers");
        let exec = Exec::plain(Vec::new(), ExecKind::Opaque, "");
        let effects = Effects::one(Effect::Exec(exec));
        let verdict = Policy::default().judge(&Stance::from(Mode::AcceptAll), &effects);
        let permit = verdict.permit(None).expect("everything is accepted");
        Bench { root, home, state, rounds, program, rows, known, permit }
    }

    fn run(&self) {
        println!("{:34} {:>7} {:>7} {:>7} {:>7}", "", "first", "median", "p90", "least");
        self.spawned("bare", || {
            let mut command = Command::new("bash");
            command.args(["-c", "true"]);
            command
        });
        for warm in [false, true] {
            let heat = if warm { "warm" } else { "cold" };
            self.ours(&format!("read-only, {heat}"), Access::ReadOnly, false, warm);
            self.ours(&format!("workspace over a layer, {heat}"), Access::Workspace, true, warm);
            self.ours(&format!("workspace without layers, {heat}"), Access::Workspace, false, warm);
        }
        self.spawned("bubblewrap, pid, ipc and network", || {
            let mut command = Command::new("bwrap");
            command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]);
            command.args(["--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent"]);
            command.arg("--bind").args([&self.root, &self.root]).args(["bash", "-c", "true"]);
            command
        });
        let _ = std::fs::remove_dir_all(&self.state);
    }

    fn spawned(&self, name: &str, make: impl Fn() -> Command) {
        self.row(name, || {
            let mut command = make();
            command.stdin(Stdio::null()).env_clear().env("PATH", PATH);
            move || (command.status().is_ok_and(|status| status.success()), ())
        });
    }

    fn ours(&self, name: &str, access: Access, layered: bool, warm: bool) {
        let jobs = Jobs::new(&self.program, None);
        if warm {
            jobs.expect_more();
        }
        self.row(name, || {
            let mut profile = Profile::new(access, &self.root, &self.home);
            self.known.put_into(&mut profile);
            profile.secrets.extend(secrets_at_home(&self.home));
            profile.env = vec![("PATH".into(), PATH.into())];
            // Made before the clock starts and thrown away when it has stopped, as its own bench measures both.
            let layer = layered.then(|| Layer::prepare(&self.permit, &self.state, &self.root).expect("a layer"));
            profile.layers.extend(layer.iter().map(|layer| layer.cover(&self.permit).into()));
            let order = Order::shell("true", profile, "bench");
            let (jobs, permit) = (&jobs, &self.permit);
            move || {
                let ended = jobs.start(permit, order).map(|job| job.wait(Duration::from_secs(10), &|| false));
                let ran =
                    ended.is_ok_and(|ended| ended.is_some_and(|exited| exited.how == nika_host::proc::How::Status(0)));
                (ran, layer)
            }
        });
    }

    /// Times what `make` gives: neither the making counts nor that what it leaves is dropped. It says whether it ran.
    fn row<Left, Run: FnOnce() -> (bool, Left)>(&self, name: &str, make: impl Fn() -> Run) {
        if !name.contains(&self.rows) {
            return;
        }
        let mut times = Vec::with_capacity(self.rounds);
        for _ in 0..self.rounds {
            let run = make();
            let began = Instant::now();
            let (ran, _left) = run();
            times.push(began.elapsed().as_secs_f64() * 1e3);
            if !ran {
                println!("{name}: did not run");
                return;
            }
            std::thread::sleep(THINKING);
        }
        let all: Vec<String> = times.iter().map(|ms| format!("{ms:.3}")).collect();
        println!("raw {name}, ms: {}", all.join(" "));
        let first = times[0];
        times.sort_by(f64::total_cmp);
        let (median, p90) = (times[times.len() / 2], times[times.len() * 9 / 10]);
        println!("{name:34} {first:7.2} {median:7.2} {p90:7.2} {:7.2}", times[0]);
    }
}
