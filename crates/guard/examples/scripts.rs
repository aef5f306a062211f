//! Compares our reading of every shell script of a machine with bash's own: what is a script (`bash -n`), and what is
//! in it (`bash --pretty-print`). Neither runs anything.
//! `cargo run --release -p nika-guard --example scripts -- [--show] DIR…`. Fails when we take what bash refuses, or
//! read what bash printed as another script.

use std::collections::{BTreeMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use nika_guard::bash::oracle::{Refused, alike, reads, without_heres};

/// Largest script: one above it is an archive with a script in front.
const BYTES: u64 = 1 << 20;

fn main() -> ExitCode {
    let mut show = false;
    let mut scripts = Vec::new();
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--show" => show = true,
            directory => find(Path::new(directory), &mut scripts),
        }
    }
    scripts.sort();
    let mut seen = HashSet::new();
    let (mut both, mut neither, mut same, mut without) = (0, 0, 0, 0);
    let scratch = std::env::temp_dir().join(format!("scripts-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir_all(&scratch) {
        eprintln!("{}: {error}", scratch.display());
        return ExitCode::FAILURE;
    }
    let mut refused: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut second: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let (mut taken, mut differ) = (Vec::new(), Vec::new());
    for path in scripts {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if !seen.insert(text.clone()) {
            continue;
        }
        let ours = reads(&text);
        match (bash(&["-n"], &path).is_some(), ours) {
            (true, Ok(())) => both += 1,
            (false, Err(_)) => neither += 1,
            (false, Ok(())) => taken.push(path.clone()),
            (true, Err(Refused::Ours(why))) => {
                refused.entry(why).or_default().push(path);
                continue;
            }
            (true, Err(Refused::Second(why))) => second.entry(why).or_default().push(path.clone()),
        }
        let Some(printed) = bash(&["--pretty-print"], &path).and_then(|bytes| String::from_utf8(bytes).ok()) else {
            continue;
        };
        let again = scratch.join("again");
        let Err(items) = alike(&text, &printed) else {
            same += 1;
            continue;
        };
        // bash 5.2 prints no end of the command behind some here-documents: those are compared without them.
        let bare = without_heres(&text).filter(|_| text.contains("<<")).unwrap_or_default();
        let printed = std::fs::write(&again, &bare).ok().and_then(|()| bash(&["--pretty-print"], &again));
        match printed.and_then(|bytes| String::from_utf8(bytes).ok()).map(|printed| alike(&bare, &printed)) {
            Some(Ok(())) if !bare.is_empty() => without += 1,
            Some(Err(items)) => differ.push((path, items)),
            _ => differ.push((path, items)),
        }
    }
    let count = |classes: &BTreeMap<String, Vec<PathBuf>>| classes.values().map(Vec::len).sum::<usize>();
    println!("{} scripts: {both} read by both, {neither} refused by both", seen.len());
    println!("{} refused by our reader alone:", count(&refused));
    tell(&refused, show);
    println!("{} in which the second reader sees something else:", count(&second));
    tell(&second, show);
    let _ = std::fs::remove_dir_all(&scratch);
    println!(
        "{same} read the same as bash prints them, {without} more without their here-documents, which it misprints,"
    );
    println!("{} otherwise", differ.len());
    for (path, (first, second)) in &differ {
        let at = first.bytes().zip(second.bytes()).take_while(|(first, second)| first == second).count();
        let near = |text: &str| text.chars().skip(at.saturating_sub(60)).take(200).collect::<String>();
        println!("  {}", path.display());
        if show {
            println!("    ours:  {}\n    bash's: {}", near(first), near(second));
        }
    }
    println!("{} read by us alone", taken.len());
    taken.iter().for_each(|path| println!("  {}", path.display()));
    if taken.is_empty() && differ.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tell(classes: &BTreeMap<String, Vec<PathBuf>>, show: bool) {
    let mut classes: Vec<_> = classes.iter().collect();
    classes.sort_by_key(|(_, paths)| std::cmp::Reverse(paths.len()));
    for (why, paths) in classes {
        println!("  {:5} {}", paths.len(), why.chars().take(160).collect::<String>().replace('\n', "\\n"));
        paths.iter().take(if show { 400 } else { 1 }).for_each(|path| println!("          {}", path.display()));
    }
}

/// What bash prints about a script that it only reads; none if it refuses it.
fn bash(options: &[&str], path: &Path) -> Option<Vec<u8>> {
    let output = Command::new("bash")
        .args(["--noprofile", "--norc"])
        .args(options)
        .arg(path)
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then_some(output.stdout)
}

fn find(directory: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() {
            find(&path, out);
        } else if kind.is_file() && entry.metadata().is_ok_and(|meta| meta.len() <= BYTES) && is_script(&path) {
            out.push(path);
        }
    }
}

fn is_script(path: &Path) -> bool {
    let mut first = [0; 64];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut first)).unwrap_or(0);
    let line = first[..read].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    match line.strip_prefix("#!") {
        Some(program) => {
            let mut words = program.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
            let shell = words.find(|word| !matches!(*word, "env" | "-S" | "busybox"));
            matches!(shell, Some("sh" | "bash" | "dash"))
        }
        None => path.extension().is_some_and(|end| end == "sh" || end == "bash"),
    }
}
