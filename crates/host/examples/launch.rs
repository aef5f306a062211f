//! Times launches of `bash -c true`: bare, in the read-only and in the workspace profile, and in bubblewrap when it is
//! there. `launch ROOT [N]`; the launcher is this program, run again, as in the product.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nika_guard::profile::{Access, Profile};
use nika_host::sandbox::{Target, enter, scan, secrets_at_home};

fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    let first = args.next().unwrap_or_default();
    if first == "__run" {
        return run(&args.next().unwrap_or_default(), args.collect());
    }
    let Ok(root) = PathBuf::from(&first).canonicalize() else {
        eprintln!("launch ROOT [N]");
        return ExitCode::from(2);
    };
    let rounds = args.next().and_then(|n| n.to_str()?.parse().ok()).unwrap_or(200);
    time(&root, rounds);
    ExitCode::SUCCESS
}

/// The launcher: a profile as JSON in a file, and a command.
fn run(profile: &OsString, command: Vec<OsString>) -> ExitCode {
    let Ok(text) = std::fs::read(profile) else { return ExitCode::from(2) };
    let Ok(profile) = serde_json::from_slice::<Profile>(&text) else { return ExitCode::from(2) };
    match enter(&profile, Target::new(command), None) {
        Err(refusal) => {
            eprintln!("{refusal}");
            ExitCode::from(3)
        }
        Ok(mut entered) => match entered.wait(None) {
            Ok(Some(ended)) => ExitCode::from(ended.code()),
            _ => ExitCode::from(1),
        },
    }
}

fn time(root: &Path, rounds: usize) {
    let home = env::var_os("HOME").map_or_else(|| root.to_path_buf(), PathBuf::from);
    let began = Instant::now();
    let known = scan(root);
    println!(
        "scan: {:.1} ms, {} entries, {} protected, {} absent, {} secrets",
        began.elapsed().as_secs_f64() * 1e3,
        known.entries,
        known.protected.len(),
        known.absent.len(),
        known.secrets.len()
    );
    let directory = env::temp_dir();
    let file = |access: Access| {
        let mut profile = Profile::new(access, root, &home);
        known.put_into(&mut profile);
        profile.secrets.extend(secrets_at_home(&home));
        profile.env = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        let file = directory.join(format!("nika-launch-{}-{}.json", std::process::id(), access.name()));
        std::fs::write(&file, serde_json::to_vec(&profile).expect("a profile is JSON")).expect("a temporary file");
        file
    };
    let (read_only, workspace) = (file(Access::ReadOnly), file(Access::Workspace));
    let me = env::current_exe().expect("this program");
    let ours = |profile: &Path| {
        let mut command = Command::new(&me);
        command.arg("__run").arg(profile).args(["bash", "-c", "true"]);
        command
    };
    let bare = || {
        let mut command = Command::new("bash");
        command.args(["-c", "true"]);
        command
    };
    let bubblewrap = || {
        let mut command = Command::new("bwrap");
        command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]);
        command.args(["--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent"]);
        command.arg("--bind").args([root, root]).args(["bash", "-c", "true"]);
        command
    };
    let rows: [(&str, &dyn Fn() -> Command); 4] = [
        ("bare", &bare),
        ("read-only", &|| ours(&read_only)),
        ("workspace", &|| ours(&workspace)),
        ("bubblewrap", &bubblewrap),
    ];
    for (name, make) in rows {
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let began = Instant::now();
            let status = make().stdin(Stdio::null()).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").status();
            times.push(began.elapsed());
            if !status.is_ok_and(|status| status.success()) {
                break;
            }
        }
        if times.len() < rounds {
            println!("{name}: did not run");
            continue;
        }
        let first = times[0];
        times.sort();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{name}: first {:.2} ms, median {:.2} ms, p90 {:.2} ms",
            ms(first),
            ms(times[rounds / 2]),
            ms(times[rounds * 9 / 10])
        );
    }
    let _ = std::fs::remove_file(read_only);
    let _ = std::fs::remove_file(workspace);
}
