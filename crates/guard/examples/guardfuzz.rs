//! Throws random text at every parser of the crate: rules, path patterns, hosts, modes, paths, configurations of git,
//! and shell text.
//! `cargo run --release -p nika-guard --example guardfuzz -- COUNT SEED [bash]`. A panic is a bug; so is a shell
//! command that takes more than a second.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nika_guard::bash::{Site, analyse};
use nika_guard::repository::{Repositories, Repository, Setting, config};
use nika_guard::{Effect, Effects, Mode, PathPattern, Place, Policy, Rule, Stance, classify};

/// Pieces that parsers care about, so that random text gets past their first look.
const PIECES: &[&str] = &[
    "read(",
    "write(",
    "exec(",
    "net(",
    "tool(",
    "Bash(",
    "WebFetch(domain:",
    "mcp__",
    "__",
    ")",
    "(",
    "*",
    "**",
    "?",
    "[",
    "]",
    "{",
    "}",
    ",",
    "/",
    "//",
    "~/",
    "./",
    "../",
    "!",
    "\\",
    ":*",
    " ",
    "\0",
    "\n",
    "\u{202e}",
    "é",
    "日本",
    ".env",
    ".git",
    "id_rsa",
    ".pem",
    "a",
    "B",
    "-",
    ".",
    "[a-z]",
    "[!",
    "[^]]",
    "{a,b}",
    "{{",
    "proc/1/environ",
    "x.example.com",
    "[diff \"x\"]",
    "textconv = ",
    "\"",
    "#",
];

/// A repository everywhere, which names a program for each key that the guard knows.
#[derive(Debug)]
struct Evil(Arc<Repository>);

impl Evil {
    fn new() -> Evil {
        let key = |key: &str| Setting { key: key.to_owned(), value: "./evil".to_owned(), own: false };
        let settings = ["diff.x.textconv", "filter.x.clean", "gpg.program", "alias.whatchanged", "tar.zip.command"];
        Evil(Arc::new(Repository { settings: settings.map(key).to_vec(), ..Repository::default() }))
    }
}

impl Repositories for Evil {
    fn at(&self, _: &Path) -> Arc<Repository> {
        Arc::clone(&self.0)
    }
}

/// Commands to mutate: the fixtures of the tests, as data.
const COMMANDS: [&str; 3] = [
    include_str!("../tests/data/bash/bash_adversarial.jsonl"),
    include_str!("../tests/data/bash/bash_benign.jsonl"),
    include_str!("../tests/data/bash/bash_destructive.jsonl"),
];

/// Pieces of shell text.
const SHELL: &[&str] = &[
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "$'",
    "${",
    "}",
    "${x:-",
    "$((",
    "))",
    "((",
    "[[ ",
    " ]]",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<<",
    "<(",
    ">(",
    ">&",
    "&>",
    ">|",
    "{fd}>",
    "2>",
    "|",
    "||",
    "&&",
    "&",
    ";",
    ";;",
    "\n",
    "\\\n",
    "\\",
    "#",
    " # ",
    "*",
    "?",
    "[",
    "]",
    "{a,b}",
    "{1..9}",
    "~",
    "~/",
    "=",
    "+=",
    "a=(",
    "a[0]=",
    "if ",
    "then ",
    "else ",
    "elif ",
    "fi ",
    "for x in ",
    "do ",
    "done ",
    "while ",
    "case x in ",
    "esac ",
    "function ",
    "f() ",
    "coproc ",
    "select ",
    "time ",
    "! ",
    "{ ",
    "} ",
    "( ",
    "cd ",
    "exec ",
    "eval ",
    "bash -c '",
    "xargs ",
    "find . -exec ",
    " \\;",
    "env ",
    "export ",
    "read x ",
    "sed -n ",
    "awk '{",
    "jq '.",
    "\t",
    " ",
    "\r",
    "\0",
    "\u{a0}",
    "\u{202e}",
    "\u{200b}",
    "é",
    "日本",
    "$x",
    "\"$@\"",
    "$1",
    "$?",
    "-eq ",
    "=~ ",
    "==",
    "/dev/tcp/a/1",
    "/etc/passwd",
];

/// One text in so many is large: up to 1 MiB, where a command is refused above 64 KiB.
const LARGE: usize = 10_000;

/// One text in so many is read again from its print; that both are the same script is proved for each of them.
const AGAIN: usize = 4;

/// Random shell text and broken commands; returns how many were read.
fn bash(count: u64, next: &mut dyn FnMut(usize) -> usize) -> u64 {
    let paper = Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into());
    let site = Site { repositories: Some(Arc::new(Evil::new())), ..paper };
    let commands: Vec<String> = COMMANDS
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.split_once("\"cmd\": \""))
        .map(|(_, rest)| rest.split("\", \"").next().unwrap_or_default().replace("\\n", "\n").replace("\\\"", "\""))
        .filter(|command| command.len() < 2000)
        .collect();
    let (mut read, mut wrong, mut large, mut unproved) = (0, 0, 0, 0);
    let mut slowest = (Duration::ZERO, 0);
    for _ in 0..count {
        let mut text: Vec<char> = match next(3) {
            0 => Vec::new(),
            _ => commands[next(commands.len())].chars().collect(),
        };
        for _ in 0..1 + next(12) {
            let at = next(text.len() + 1);
            match next(5) {
                0 if !text.is_empty() => {
                    text.remove(at.min(text.len() - 1));
                }
                1 => text.extend(char::from_u32(next(0x300) as u32)),
                2 => {
                    let other: Vec<char> = commands[next(commands.len())].chars().collect();
                    let from = next(other.len() + 1);
                    text.splice(at..at, other[from..(from + next(20)).min(other.len())].iter().copied());
                }
                _ => {
                    text.splice(at..at, SHELL[next(SHELL.len())].chars());
                }
            }
        }
        let mut text: String = text.into_iter().collect();
        if next(LARGE) == 0 && !text.is_empty() {
            large += 1;
            // Half of them just below the limit, half up to 1 MiB.
            let size = if next(2) == 0 { 1 << 16 } else { 1 << (12 + next(9)) };
            text.push_str(["", " ", "\n", ";", "|"][next(5)]);
            text = text.repeat(size / text.len());
        }
        let start = Instant::now();
        let analysis = analyse(&text, &site);
        let took = start.elapsed();
        slowest = slowest.max((took, text.len()));
        if took.as_secs() >= 1 {
            wrong += 1;
            println!("slow, {took:?}, {} bytes: {:?}", text.len(), text.chars().take(400).collect::<String>());
        }
        for finding in &analysis.findings {
            assert!(text.get(finding.span.clone()).is_some(), "{finding:?} in {text:?}");
            unproved += u64::from(finding.why.contains("canonical print"));
        }
        let Some(canonical) = &analysis.canonical else { continue };
        read += 1;
        if next(AGAIN) > 0 {
            continue;
        }
        let again = analyse(canonical, &site);
        let Some(second) = &again.canonical else { continue };
        if second != canonical {
            wrong += 1;
            println!("printed twice: {text:?}\n  {canonical:?}\n  {:?}", again.canonical);
        } else if again.facts != analysis.facts {
            wrong += 1;
            println!("other facts: {text:?}\n  {canonical:?}\n  {:?}\n  {:?}", analysis.facts, again.facts);
        }
    }
    println!("slowest {:?} for {} bytes; {large} texts of 4 KiB to 1 MiB", slowest.0, slowest.1);
    println!("{unproved} read by both readers, but not proved to be what would be printed: they are asked");
    assert_eq!(wrong, 0, "see above");
    read
}

fn main() {
    let only_bash = std::env::args().nth(3).is_some_and(|what| what == "bash");
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().unwrap_or(1));
    let (count, seed) = (arguments.next().unwrap_or(1_000_000), arguments.next().unwrap_or(1));
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap_or(0)
    };
    if only_bash {
        let read = bash(count, &mut next);
        return println!("{count} shell texts, {read} of them read, no panic (seed {seed})");
    }
    let (mut rules, mut patterns, mut configurations) = (0u64, 0u64, 0u64);
    for _ in 0..count {
        let mut text = String::new();
        for _ in 0..next(9) {
            if next(4) == 0 {
                text.extend(char::from_u32(next(0x11_0000) as u32));
            } else {
                text.push_str(PIECES[next(PIECES.len())]);
            }
        }
        let path = Path::new(&text);
        classify(path);
        let place = Place::inside("/r", path);
        if let Ok(rule) = Rule::parse(&text, Some("/home/dev")) {
            rules += 1;
            for effect in [Effect::Read(place.clone()), Effect::Write(place.clone().tree()), Effect::Net(text.clone())]
            {
                let _ = (rule.touches(&effect, &text), rule.holds(&effect, &text));
            }
        }
        if let Ok(pattern) = PathPattern::new(&text, Some("/home/dev")) {
            patterns += 1;
            let _ = (pattern.matches(&place), pattern.covers_tree(&place));
        }
        configurations += u64::from(config::read(text.as_bytes()).is_ok_and(|settings| !settings.is_empty()));
        let _ = text.parse::<Mode>();
        let call = Effects::read(place.tree()).and(Effect::Write(Place::outside(path))).of(&text);
        let _ = Policy::default().judge(&Stance::from(Mode::Ask), &call).permit(None);
    }
    let read = bash(count / 20, &mut next);
    println!("{} shell texts, {read} of them read", count / 20);
    println!("{count} inputs, {rules} of them rules, {patterns} of them patterns, no panic (seed {seed})");
    println!("{configurations} of them configurations of git");
}
