//! Times the analysis of shell commands over the fixtures of the tests, over texts of 2 KiB made of them, and
//! over texts of 64 KiB that repeat one construct: those show what grows faster than the text.
//! `cargo run --release -p nika-guard --example bashbench [PART]`. Nothing is run.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nika_guard::bash::{Site, analyse};

const FIXTURES: [&str; 3] = [
    include_str!("../tests/data/bash/bash_adversarial.jsonl"),
    include_str!("../tests/data/bash/bash_benign.jsonl"),
    include_str!("../tests/data/bash/bash_destructive.jsonl"),
];

/// What is repeated: what stands before, what comes again and again, and what stands after. A `@` is counted up.
const REPEATED: &[[&str; 3]] = &[
    ["", "a;", ""],
    ["", "ls\n", ""],
    ["", "a & ", ""],
    ["", "ls | ", "wc"],
    ["", "ls && ", "ls"],
    ["", "ls || ", "ls"],
    ["", "cd a && ls || ", "ls"],
    ["", "cd a; ", ""],
    ["ls ", ">a ", ""],
    ["ls ", "2>&1 ", ""],
    ["ls ", ">a$x ", ""],
    ["", "a=1 ", ""],
    ["", "a=$a$a ", ""],
    ["", "a=$a$a; ", ""],
    ["", "a+=b; ", ""],
    ["", "a[1]=", ""],
    ["", "a[1]=b ", ""],
    ["a=(", "b ", ")"],
    ["", "cat <<E\nx\nE\n", ""],
    ["cat ", "<<E ", ""],
    ["", "cat <<< a; ", ""],
    ["", "a", ""],
    ["", "ls -", ""],
    ["ls ", "-l ", ""],
    ["ls ", "a ", ""],
    ["ls -", "l", ""],
    ["cat ", "/../a", ""],
    ["echo ", "{a,b}", ""],
    ["echo ", "{a,b} ", ""],
    ["echo ", "{1..9} ", ""],
    ["echo ", "{a,", ""],
    ["echo ", "* ", ""],
    ["echo ", "*", ""],
    ["echo ", "'a'", ""],
    ["echo ", "\"a\"$x", ""],
    ["echo ", "$x", ""],
    ["echo ", "${x}", ""],
    ["echo ", "\\a", ""],
    ["echo ", "$'\\x41'", ""],
    ["", "$(", ""],
    ["echo ", "$(ls) ", ""],
    ["echo ", "`ls` ", ""],
    ["echo ", "${a:-", ""],
    ["echo \"", "${a:-", ""],
    ["echo ", "$((", ""],
    ["echo ", "$((1+1)) ", ""],
    ["", "(", ""],
    ["", "((", ""],
    ["", "( ", ""],
    ["", "{ ", ""],
    ["", "[[ a ]] && ", "ls"],
    ["[[ ", "a && ", "a ]]"],
    ["[[ ", "( ", ""],
    ["[[ ", "! ", "a ]]"],
    ["", "! ", "a"],
    ["", "if ", ""],
    ["", "if a; then b; fi; ", ""],
    ["if a; then b; ", "elif a; then b; ", "fi"],
    ["", "for x in a; do b; done; ", ""],
    ["", "for x in a; do ", ""],
    ["for x in ", "a ", "; do echo $x; done"],
    ["for x in ", "a ", "; do for y in a b c d; do echo $x $y; done; done"],
    ["", "while a; do b; done; ", ""],
    ["case a in ", "a) b;; ", "esac"],
    ["case a in ", "a|", "a) b;; esac"],
    ["", "f() { a; }; ", ""],
    ["", "f() ", ""],
    ["f() { a; }; ", "f; ", ""],
    ["f() { ", "((i++)); ", "}; f; f; f; f"],
    ["f() { a; b; c; }; g() { f; f; f; f; f; f; }; ", "g; ", ""],
    ["", "((i++)); ", ""],
    ["for d in */; do (cd $d; ", "ls; ", "); done"],
    ["", "coproc ", ""],
    ["", "time ", "ls"],
    ["", "sudo ", "ls"],
    ["", "env ", "ls"],
    ["", "command ", "ls"],
    ["", "xargs ", "ls"],
    ["", "timeout 1 ", "ls"],
    ["", "find . -exec ", "ls"],
    ["find . ", "-exec rm {} \\; ", ""],
    ["find . ", "-name a -o ", "-name b"],
    ["find . ", "\\( ", ""],
    ["find . ", "-name '.g*1' -o ", "-name a -exec cat {} +"],
    ["find ", "p ", "-name '.g*1' -exec cat {} +"],
    ["cat ", ".g*/* ", ""],
    ["git restore ", "'.g*/*' ", "a"],
    ["", "bash -c '", ""],
    ["", "bash -c a; ", ""],
    ["", "bash -c \"", ""],
    ["", "eval ", "ls"],
    ["", "exec ", "ls"],
    ["", "docker exec a ", "ls"],
    ["ssh a '", "ssh a ", "'"],
    ["ssh a ", "'ls; ", "'"],
    ["sed '", "s/a/b/;", "' x"],
    ["sed '", "{", "' x"],
    ["awk '", "{print $1}", "' x"],
    ["awk '", "(", "' x"],
    ["awk '{print ", "-", "1}' x"],
    ["jq '", ".a|", ".' x"],
    ["psql -c '", "select 1; ", "'"],
    ["psql -c '", "delete from a where ", "'"],
    ["psql -c '", "(", "'"],
    ["git ", "-c a=b ", "log"],
    ["git log ", "--format=%H ", ""],
    ["git checkout ", "-b ", ""],
    ["rm ", "a* ", ""],
    ["rm -", "r", " x"],
    ["mkfs", ".*", ""],
    ["tar ", "-f a ", ""],
    ["echo ", "a\\\n", ""],
    ["", "#\n", ""],
    ["", "\n", "ls"],
    ["", "é", ""],
    ["echo '", "é", "'"],
    ["", "export a=b; ", ""],
    ["export ", "a=b ", ""],
    ["", "read x; ", ""],
    ["", "x=1; echo $x; ", ""],
    ["cat ", "<(ls) ", ""],
    ["", "cat <(", ""],
    ["cp ", "a ", "b"],
    ["dd ", "if=a ", ""],
    ["echo ", "IFS ", ""],
    ["echo ", "| $x ", ""],
    ["", "{fd}>a ", ""],
    ["echo ", "{", ""],
    ["echo ", "{a", "..b}"],
    ["tee ", ">(cat) ", ""],
    ["[ ", "a -o ", "a ]"],
    ["python3 -c '", "print(1);", "'"],
    ["node -e '", "a(", "'"],
    ["xargs -I{} ", "{} ", ""],
    ["", "\"", ""],
    ["", "'", ""],
    ["", "\\", ""],
    ["", "`", ""],
    ["", "$", ""],
    ["", "<", ""],
    ["", "<<", ""],
    ["", ">", ""],
    ["", "&", ""],
    ["", "|", ""],
    ["", ";", ""],
    ["", "=", ""],
    ["", "~", ""],
    ["", "a() ", ""],
    ["curl ", "-H a ", "x"],
    ["kubectl delete ", "a ", ""],
    ["docker run ", "-e a ", "b"],
    ["make ", "a ", ""],
    ["cargo test ", "-- ", ""],
    ["npm run ", "a ", ""],
    ["", "a@=b; ", ""],
    ["", "a@=b c; ", ""],
    ["", "a@() { b; }; ", ""],
    ["", "b@=$(c a@); ", ""],
    ["", "a@ b & ", ""],
    ["cat ", "a@ ", ""],
    ["", "cat a@; ", ""],
    ["", "echo a > a@; ", ""],
    ["", "cd a@; ", ""],
    ["", "cp a@ b@; ", ""],
    ["", "mkdir a@; rm -r a@; ", ""],
    ["", "read a@; echo \"$a@\"; ", ""],
    ["for x in ", "a@ ", "; do rm $x; done"],
    ["", "export a@=b; ", ""],
    ["", "cat <<E@\nx\nE@\n", ""],
    ["psql -c 'do language x ", "$a@$ ", "'"],
    ["psql -c '", "delete from a@ where b = @; ", "'"],
    ["sed '", "@s/a/b/;", "' x"],
    ["jq '", ".a@ as $a@|", ".' x"],
    ["curl ", "--opt@ ", "x"],
    ["env ", "--opt@ ", "ls"],
    ["echo ", "a#", ""],
    ["echo ", "${a#", ""],
    ["", "ls # it's\n", ""],
];

fn repeated(bytes: usize) -> Vec<(String, String)> {
    let text = |[before, again, after]: &[&str; 3]| {
        let mut text = (*before).to_owned();
        for count in 0.. {
            let next = again.replace('@', &count.to_string());
            if text.len() + next.len() + after.len() > bytes {
                break;
            }
            text += &next;
        }
        text + after
    };
    REPEATED.iter().map(|row| (row.concat(), text(row))).collect()
}

fn main() {
    let wanted = std::env::args().nth(1);
    let site = Site::on_paper(vec!["/w/repo".into()], PathBuf::from("/w/repo"), PathBuf::from("/home/dev"));
    let commands: Vec<String> = FIXTURES
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.split_once("\"cmd\": \""))
        .map(|(_, rest)| rest.split("\", \"").next().unwrap_or_default().replace("\\n", "\n").replace("\\\"", "\""))
        .collect();
    let mut texts: Vec<(String, String)> =
        commands.iter().filter(|text| text.len() <= 2048).map(|text| (text.clone(), text.clone())).collect();
    let single = texts.len();
    for start in 0..commands.len() {
        let mut text = String::new();
        let rest = commands.iter().cycle().skip(start).take(commands.len());
        for command in rest.filter(|command| !command.contains(['\n', '#', '\0'])) {
            if text.len() + command.len() > 2046 {
                break;
            }
            text.push_str(command);
            text.push('\n');
        }
        texts.push((format!("2 KiB from {start}"), text));
    }
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| name == wanted);
    let of = |name: &str, bytes: usize| if is_wanted(name) { repeated(bytes) } else { Vec::new() };
    let small = of("2 KiB of one construct", 2048);
    let (large, over) = (of("64 KiB of one construct", 65536), of("1 MiB of one construct", 1 << 20));
    for (name, part, rounds) in [
        ("fixtures", &texts[..single], 20),
        ("2 KiB", &texts[single..], 20),
        ("2 KiB of one construct", &small[..], 20),
        ("64 KiB of one construct", &large[..], 3),
        ("1 MiB of one construct", &over[..], 1),
    ] {
        if !is_wanted(name) {
            continue;
        }
        // The best of several rounds is what the text costs; the rest is what else the machine did.
        let mut times: Vec<(Duration, &str)> = part.iter().map(|(label, _)| (Duration::MAX, label.as_str())).collect();
        for _ in 0..rounds {
            for ((best, _), (_, text)) in times.iter_mut().zip(part) {
                let start = Instant::now();
                std::hint::black_box(analyse(text, &site));
                let took = start.elapsed();
                if took.as_millis() >= 300 {
                    println!("  {took:?}: {:?}", text.chars().take(40).collect::<String>());
                }
                *best = took.min(*best);
            }
        }
        let all: Vec<String> = times.iter().map(|(best, _)| format!("{:.3}", best.as_secs_f64() * 1e6)).collect();
        println!("raw {name}, the best of {rounds} for each text, µs: {}", all.join(" "));
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].0;
        let (worst, label) = times[times.len() - 1];
        let short: String = label.chars().take(60).collect();
        let slow = times.iter().rev().take(if rounds < 20 { 25 } else { 3 });
        slow.for_each(|(time, label)| println!("  {time:?}: {:?}", label.chars().take(60).collect::<String>()));
        println!("{name}: p50 {:?}, p90 {:?}, p99 {:?}, worst {worst:?} ({short})", at(0.5), at(0.9), at(0.99));
    }
}
