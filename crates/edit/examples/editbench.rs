//! `cargo run --release -p nika-edit --example editbench`: medians of the figures.

use std::hint::black_box;
use std::time::{Duration, Instant};

use nika_edit::{Replace, decode, plan, rebase};

fn median(rounds: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[rounds / 2]
}

fn file(bytes: usize, ending: &str) -> Vec<u8> {
    let mut out = String::new();
    let mut n = 0;
    while out.len() < bytes {
        out.push_str(&format!("    let value_{n} = compute(\"some text\", {n});{ending}"));
        n += 1;
    }
    out.into_bytes()
}

fn edit(name: &str, bytes: &[u8], at: usize) {
    let (old, new) = (format!("value_{at} = compute("), format!("value_{at} = other(\n        "));
    let rounds = if bytes.len() > 100_000 { 201 } else { 2001 };
    let time = median(rounds, || {
        let made = plan(black_box(bytes), &Replace { old: &old, new: &new, all: false }).expect("unique");
        let after = made.apply(bytes);
        black_box((made.diff(bytes, "src/file.rs"), after));
    });
    println!("{name:<44} {time:>12.2?}");
}

fn main() {
    let (small, large) = (file(10_000, "\n"), file(1_000_000, "\n"));
    edit("plan+apply+diff, 10 KB", &small, 100);
    edit("plan+apply+diff, 1 MB", &large, 10_000);
    edit("plan+apply+diff, 1 MB, CRLF", &file(1_000_000, "\r\n"), 10_000);
    let mut mixed = file(500_000, "\n");
    mixed.extend(file(500_000, "\r\n").iter().map(|b| if *b == b'v' { b'w' } else { *b }));
    edit("plan+apply+diff, 1 MB, mixed endings", &mixed, 5_000);
    let wide: Vec<u8> = String::from_utf8_lossy(&large).encode_utf16().flat_map(u16::to_le_bytes).collect();
    edit("plan+apply+diff, 2 MB UTF-16LE, no mark", &wide, 10_000);
    let latin: Vec<u8> = large.iter().map(|b| if *b == b'x' { 0xe9 } else { *b }).collect();
    edit("plan+apply+diff, 1 MB windows-1252", &latin, 10_000);
    let (sjis, _, _) = encoding_rs::SHIFT_JIS.encode("日本語のテキスト、表示能力。\n");
    let mut japanese = sjis.repeat(33_000);
    japanese.extend_from_slice(b"value_1 = compute(1)\n");
    edit("plan+apply+diff, 1 MB Shift_JIS", &japanese, 1);

    let time = median(201, || drop(black_box(decode(black_box(&large)))));
    println!("{:<44} {time:>12.2?}", "decode, 1 MB ASCII");
    let french = String::from_utf8_lossy(&large).replace('x', "é").into_bytes();
    let time = median(201, || drop(black_box(decode(black_box(&french)))));
    println!("{:<44} {time:>12.2?}", "decode, 1 MB UTF-8 with accents");
    let time = median(51, || drop(black_box(decode(black_box(&japanese)))));
    println!("{:<44} {time:>12.2?}", "decode, 1 MB Shift_JIS");

    let mut theirs = large.clone();
    theirs.splice(0..0, *b"// new first line\n");
    theirs.extend_from_slice(b"// new last line\n");
    let made = plan(&large, &Replace { old: "value_10000 = compute(", new: "x(", all: false }).expect("unique");
    let time = median(51, || drop(black_box(rebase(&large, &theirs, &made))));
    println!("{:<44} {time:>12.2?}", "rebase, 1 MB, changed at both ends");

    let minified = "a,b;".repeat(250_000) + "\n";
    for (name, new) in [("replace all, 250,000 in one line of 1 MB", "."), ("the same, with line breaks", ",\n")] {
        let time = median(3, || {
            let made = plan(minified.as_bytes(), &Replace { old: ",", new, all: true }).expect("there");
            black_box((made.apply(minified.as_bytes()), made.diff(minified.as_bytes(), "f")));
        });
        println!("{name:<44} {time:>12.2?}");
    }

    let miss = |name: &str, bytes: &[u8], old: &str| {
        let time = median(11, || drop(black_box(plan(bytes, &Replace { old, new: "", all: false }))));
        println!("{name:<44} {time:>12.2?}");
    };
    let long: String = String::from_utf8_lossy(&large[400_000..410_000]).replace("_80", "_08").replace("text", "texd");
    miss("near miss, 1 MB, 10 KB sought", &large, &long);
    miss("near miss, 1 MB, one line", &large, "let valu_9000 = compute(\"some test\", 9000)");
    miss("near miss, 1 MB, indentation", &large, "\tlet value_9000 = compute(\"some text\", 9000);\n\tlet value_9001");
    miss("near miss, 1 MB of one letter, 10 KB", &vec![b'a'; 1_000_000], &("a".repeat(5000) + "b" + &"a".repeat(5000)));
    miss("near miss, 1 MB of newlines, 10 KB", &vec![b'\n'; 1_000_000], &"x\n".repeat(5000));
    miss("near miss, 1 MB 'ab', 1.4 KB", &b"ab".repeat(500_000), &("ab".repeat(350) + "c" + &"ab".repeat(350)));
    miss("near miss, 1 MB of one letter, blank at end", &vec![b'a'; 1_000_000], &("a".repeat(10_000) + " "));
    miss("near miss, 1 MB, nothing like it", &large, &"ZQ@#".repeat(2500));
}
