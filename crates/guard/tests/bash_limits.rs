//! The analysis has little room and little time, whatever the text is: it runs inside a program that a person
//! waits for.

use std::path::PathBuf;

use nika_guard::ExecKind;
use nika_guard::bash::{Fact, Site, analyse};

/// Repeats of a text that are longer than what is read.
const BYTES_AND_MORE: usize = 64 * 1024 + 1;

fn site() -> Site {
    Site::on_paper(vec!["/w/repo".into()], PathBuf::from("/w/repo"), PathBuf::from("/home/dev"))
}

/// What opens something, and what closes it.
const NESTED: &[[&str; 3]] = &[
    ["echo ", "$(echo ", ")"],
    ["echo ", "\"$(echo ", ")\""],
    ["", "( ", ")"],
    ["", "{ ", "; }"],
    ["", "if ", "; then a; fi"],
    ["", "while a; do ", "; done"],
    ["", "for x in a; do ", "; done"],
    ["", "case a in a) ", ";; esac"],
    ["", "f() { ", "; }"],
    ["echo ", "${a:-", "}"],
    ["echo ", "$((", "))"],
    ["[[ ", "( ", ")"],
    ["[[ ", "! ", ""],
    ["cat ", "<(cat ", ")"],
    ["echo ", "{a,", "}"],
    ["", "! ", ""],
    ["", "time ", ""],
    ["", "coproc ", ""],
    ["", "f() ", ""],
    ["", "exec ", ""],
    ["", "eval ", ""],
    ["", "sudo ", ""],
    ["", "find . -exec ", ""],
    ["", "docker exec a ", ""],
    ["a=", "(", ")"],
    ["", "a && ", ""],
    ["", "a | ", ""],
    ["find . ", "\\( ", "\\) "],
    ["awk '{print ", "(", ")"],
    ["jq '", "[", "]"],
    ["sed '", "{", "}"],
    ["psql -c '", "(", ")"],
    ["", "(", ")"],
    ["", "((", "))"],
    ["(( ", "(", ")"],
    ["(( ", "<(", ")"],
    ["for (( ", "@(", ")"],
    ["[[ a =~ ", "@(", ")"],
    ["[[ a =~ ", "((", "))"],
    ["eval '", "(", ")"],
    ["bash -c '", "((", "))"],
    ["echo ", "a[", "]"],
    ["test ", "a[", ""],
    ["", "a[", "]"],
    ["echo ", "@(", ")"],
    ["echo ", "[", "]"],
    ["echo ", "\"${x:-", "}\""],
    ["x=", "${x/a[", "]}"],
    ["", "<<a ", ""],
];

#[test]
fn half_a_mebibyte_of_stack_is_enough_for_the_deepest_text() {
    let worst = || {
        for [before, open, close] in NESTED {
            for depth in [
                30,
                63,
                64,
                65,
                250,
                256,
                1000,
                20_000 / (open.len() + close.len()),
                64_000 / (open.len() + close.len()),
            ] {
                for tail in ["a", "a ]]", "a'", "a}'"] {
                    let text = format!("{before}{}{tail}{}", open.repeat(depth), close.repeat(depth));
                    std::hint::black_box(analyse(&text, &site()));
                }
            }
        }
    };
    // Without optimisation every frame is several times larger; a thread has 2 MiB unless it says otherwise.
    let kib = if cfg!(debug_assertions) { 2048 } else { 512 };
    let small = std::thread::Builder::new().stack_size(kib * 1024).spawn(worst).expect("a thread");
    small.join().expect("no panic");
}

#[test]
fn what_is_too_long_is_not_read_and_never_allowed() {
    for unit in ["a;", "ls ", "$(", "{a,b}", "\"", "rm -rf / ;"] {
        let analysis = analyse(&unit.repeat(BYTES_AND_MORE), &site());
        assert!(analysis.kind > ExecKind::Opaque && analysis.canonical.is_none(), "{unit:?}: {:?}", analysis.kind);
        assert!(analysis.findings.iter().any(|finding| finding.code == "too_long"));
    }
}

#[test]
fn what_is_too_much_is_said_and_never_allowed() {
    let words = format!("ls {}", "a ".repeat(5000));
    let commands = "ls;".repeat(2000);
    let texts = format!("bash -c '{}'", "bash -c \"ls\"; ".repeat(2000));
    let braces = format!("ls {}", "{a,b}".repeat(1000));
    let wrappers = format!("{}ls", "exec ".repeat(1000));
    let doubling = format!("a=xx; {}ls $a", "a=$a$a; ".repeat(200));
    // Each of them would read again what was written.
    let written = format!("echo '{}' > f; {}", "select 1; ".repeat(3000), "sqlite3 a < f; ".repeat(2000));
    let scripts = format!("echo '{}' > f; {}", "ls; ".repeat(6000), "bash f; ".repeat(4000));
    for text in [words, commands, texts, braces, wrappers, doubling, written, scripts] {
        let analysis = analyse(&text, &site());
        assert!(analysis.kind >= ExecKind::Opaque, "{:.60}: {:?}", text, analysis.kind);
    }
}

/// Names and patterns that are each looked at: many of them are refused, and cost no more than a few.
#[test]
fn what_means_too_many_files_is_said_before_they_are_looked_at() {
    let many = |what: &str, count: usize| (0..count).map(|at| format!("{what}{at}")).collect::<Vec<_>>();
    let names = |count| many("-name '.g'*", count).join(" -o ");
    let places = many("p", 200).join(" ");
    let run = "-exec cat {} +";
    let texts = [
        format!("find {places} {} {run}", names(100)),
        format!("find {places} {} {run} {run} {run}", names(100)),
        format!("find {} {} {run}", many("p", 50).join(" "), names(50)),
        format!("cat {}", ".g*/* ".repeat(1000)),
        format!("git restore {}", "'.g*/*' ".repeat(1000)),
        format!("rm {}", ".c*/* ".repeat(1000)),
    ];
    for text in texts {
        let start = std::time::Instant::now();
        let analysis = analyse(&text, &site());
        // Without a bound some of them took more than ten.
        assert!(start.elapsed().as_secs() < 5, "{:.60}: {:?}", text, start.elapsed());
        assert!(analysis.kind >= ExecKind::Opaque, "{:.60}: {:?}", text, analysis.kind);
        assert!(analysis.facts.len() < 1000, "{:.60}: {} facts", text, analysis.facts.len());
    }
}

/// What is asked of the whole program is asked once.
#[test]
fn a_long_program_of_awk_is_read_in_the_time_of_its_length() {
    let start = std::time::Instant::now();
    let analysis = analyse(&format!("awk 'BEGIN{{{}}}' x", "n = ARGV[1];".repeat(5000)), &site());
    // It took more than four where each name was held against all others.
    assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
    assert_eq!(analysis.kind, ExecKind::ReadOnly);
}

#[test]
fn a_variable_before_a_command_is_shown_as_it_is_written() {
    for (text, shown) in
        [("PATH=:x make", "PATH=:x"), ("PATH+=:x make", "PATH+=:x"), ("LD_PRELOAD+=$y make", "LD_PRELOAD+=…")]
    {
        let sets: Vec<String> = analyse(text, &site()).commands.into_iter().flat_map(|command| command.sets).collect();
        assert_eq!(sets, [shown], "{text}");
    }
}

#[test]
fn one_warning_for_one_command() {
    for text in ["find . -exec rm -rf {} +", "ls | xargs rm -rf", "timeout 5 rm -rf x", "git clean -fdx"] {
        let facts = analyse(text, &site()).facts;
        let warnings = facts.iter().filter(|fact| matches!(fact, Fact::Destroys(..))).count();
        assert_eq!(warnings, 1, "{text}: {facts:?}");
    }
}

#[test]
fn sinks_are_not_written() {
    let facts = analyse("ls | tee /dev/null", &site()).facts;
    assert!(!facts.iter().any(|fact| matches!(fact, Fact::Write(_))), "{facts:?}");
}

#[test]
fn an_activated_environment_stays_in_its_directory() {
    for text in ["source venv/bin/activate && pytest", ". .venv/bin/activate; pytest -q"] {
        let analysis = analyse(text, &site());
        assert_eq!(analysis.kind, ExecKind::WritesInside, "{text}: {:?}", analysis.facts);
    }
    for text in ["source /srv/venv/bin/activate && pytest", "source ../venv/bin/activate && pytest"] {
        let analysis = analyse(text, &site());
        assert!(analysis.kind >= ExecKind::Opaque, "{text}: {:?}", analysis.facts);
    }
}
