//! Runs one search in a process of its own, so that it can be timed beside
//! `rg` as a whole program. Prints what `rg` would.
//!
//! `searchbench grep DIR PATTERN [-l|-c|-n] [-i] [-F] [-U] [-C N] [-g GLOB] [-t TYPE] [--hidden] [--no-ignore] [-m HEAD] [-j THREADS] [-p BASE]`
//! `searchbench glob DIR PATTERN …`, `searchbench list DIR`

use std::io::{BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nika_search::{GlobQuery, GrepQuery, Mode, Scope, glob, grep, list};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (what, dir) = (args.first().map_or("", |s| s), args.get(1).map_or(".", |s| s));
    let root = std::fs::File::open(dir)?;
    let mut scope = Scope::new(root.as_fd());
    let mut query = GrepQuery::new(args.get(2).map_or("", |s| s));
    query.line_numbers = false;
    let mut record = false;
    let mut at = 3;
    while at < args.len() {
        let value = args.get(at + 1);
        let number = || value.and_then(|v| v.parse::<usize>().ok()).unwrap_or(0);
        let mut takes = 1;
        match args[at].as_str() {
            "-l" => query.mode = Mode::Files,
            "-c" => query.mode = Mode::Count,
            "-n" => (query.mode, query.line_numbers) = (Mode::Content, true),
            "--content" => query.mode = Mode::Content,
            "-i" => query.ignore_case = true,
            "-F" => query.literal = true,
            "-U" => query.multiline = true,
            "--hidden" => scope.hidden = true,
            "--no-ignore" => scope.no_ignore = true,
            "--record" => record = true,
            flag => {
                takes = 2;
                match flag {
                    "-C" => (query.before, query.after) = (number(), number()),
                    "-B" => query.before = number(),
                    "-A" => query.after = number(),
                    "-g" => query.globs.extend(value.cloned()),
                    "-t" => query.types.extend(value.cloned()),
                    "-m" => query.head_limit = Some(number()),
                    "-o" => query.offset = number(),
                    "-j" => scope.threads = number(),
                    "-p" => scope.base = Path::new(value.map_or("", |v| v)),
                    "--timeout" => scope.timeout = Some(std::time::Duration::from_millis(number() as u64)),
                    other => return Err(format!("unknown argument {other}").into()),
                }
            }
        }
        at += takes;
    }
    let mut out = BufWriter::with_capacity(64 << 10, std::io::stdout().lock());
    match what {
        "grep" => {
            let context = query.before + query.after > 0;
            let found = grep(&scope, &query)?;
            for (nth, file) in found.files.iter().enumerate() {
                let path = file.path.as_os_str().as_bytes();
                match query.mode {
                    Mode::Files => [path, b"\n"].iter().try_for_each(|p| out.write_all(p))?,
                    Mode::Count => {
                        out.write_all(path)?;
                        writeln!(out, ":{}", file.matches)?;
                    }
                    Mode::Content => {
                        if nth > 0 && context {
                            out.write_all(b"--\n")?;
                        }
                        for line in &file.lines {
                            if line.gap_before {
                                out.write_all(b"--\n")?;
                            }
                            let mark: &[u8] = if line.is_match { b":" } else { b"-" };
                            out.write_all(path)?;
                            out.write_all(mark)?;
                            if let Some(number) = line.number {
                                write!(out, "{number}")?;
                                out.write_all(mark)?;
                            }
                            out.write_all(file.text(line))?;
                            out.write_all(b"\n")?;
                        }
                        if let Some(note) = file.binary {
                            writeln!(out, "(binary around {})", note.offset)?;
                        }
                    }
                }
            }
            if record {
                writeln!(out, "{:#?}", found.record)?;
            }
        }
        "glob" => {
            let mut q = GlobQuery::new(query.pattern.clone());
            (q.limit, q.offset) = (query.head_limit, query.offset);
            let found = glob(&scope, &q)?;
            for file in &found.files {
                out.write_all(file.path.as_os_str().as_bytes())?;
                out.write_all(b"\n")?;
            }
            if record {
                writeln!(out, "{:#?}", found.record)?;
            }
        }
        "list" => {
            let times = 1000;
            let mut taken = Vec::new();
            for _ in 0..times {
                let start = std::time::Instant::now();
                list(root.as_fd(), 0, None, None)?;
                taken.push(start.elapsed());
            }
            taken.sort();
            writeln!(out, "{:?} at least, {:?} median", taken[0], taken[times / 2])?;
        }
        other => return Err(format!("unknown search {other}").into()),
    }
    out.flush()?;
    Ok(())
}
