//! Throws random text at every parser of the crate: rules, path patterns, hosts, modes, paths.
//! `cargo run --release -p nika-guard --example fuzz -- COUNT SEED`. A panic is a bug.

use std::path::Path;

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
];

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().unwrap_or(1));
    let (count, seed) = (arguments.next().unwrap_or(1_000_000), arguments.next().unwrap_or(1));
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap_or(0)
    };
    let (mut rules, mut patterns) = (0u64, 0u64);
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
        let _ = text.parse::<Mode>();
        let call = Effects::read(place.tree()).and(Effect::Write(Place::outside(path))).of(&text);
        let _ = Policy::default().judge(&Stance::from(Mode::Ask), &call).permit(None);
    }
    println!("{count} inputs, {rules} of them rules, {patterns} of them patterns, no panic (seed {seed})");
}
