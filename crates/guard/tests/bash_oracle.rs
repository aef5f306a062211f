//! bash itself as the judge of what is a script, which it only reads (`-n`), and of what one prints that only prints.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nika_guard::bash::{Site, analyse};

/// Scripts of our own, each with one construct or two.
const SCRIPTS: &[&str] = &[
    "ls -la | sort -k5 -n | tail -3",
    "a=1 b=\"x y\" env | grep a",
    "if [ -f a ]; then cat a; elif [ -d b ]; then ls b; else echo none; fi",
    "for f in *.txt 'a b' \"$x\"; do wc -l \"$f\"; done",
    "while IFS= read -r line; do echo \"$line\"; done < list",
    "until false; do break; done",
    "case \"$x\" in a|b) echo 1;; (c) echo 2;& *) echo 3;; esac",
    "(cd src && ls) && { pwd; ls; }",
    "for ((i=0; i<3; i++)); do echo $i; done",
    "((x = 1 + 2)); echo $((x * 3)) ${x:-1} ${x##*/} ${x%.py} ${x/a/b} ${#x}",
    "cat <<'E' | wc -l\nit's \"text\n$(no)\nE\necho done",
    "cat <<A; cat <<-B\n$x\nA\n\ta\n\tB\n",
    "echo \"$(cat <<'E'\nit's (odd\nE\n)\"",
    "diff <(sort a) <(sort b) > out 2>&1",
    "ls 2>/dev/null >&2 &>> log",
    "[[ -f a && ( $x == b* || $y =~ ^a(b|c)+$ ) ]] && echo yes",
    "time -p ls; ! ls",
    "f() { echo a; }; function g { echo b; }",
    "echo {a,b}{1..3} ~ ~/x \\* 'a'\\''b' $'a\\tb' \"a\\\"b\"",
    "a=(1 2 3); a+=(4); echo ${a[0]} \"${a[@]}\"",
    "ls & wait",
    "exec 3>&1 4<&0 5>&-",
    "echo `ls \\`pwd\\`` \"`ls`\"",
    "true |& cat",
    "ls \\\n  -la",
    "# only a comment",
    "export A=1; declare -r B=2",
    "echo a; # tail\n\n\necho b",
    "coproc cat",
    "echo a[$1x] $1x ${1}0 ${x}y",
    "echo \"${x:-\"b c\"}\" \"${y#\\{}\" \"${z%\"$y\"*}\"",
    "x=$(ls |\n\t\tgrep  a)\necho \"${x= \t}\"",
];

/// Pieces that are no scripts.
const BROKEN: &[&str] = &[
    "if true; then ls",
    "fi",
    "ls &&",
    "| ls",
    "ls ;; pwd",
    "for x in; ls",
    "case x in",
    "echo 'a",
    "echo \"a",
    "echo $(ls",
    "ls )",
    "{ ls",
    "(ls",
    "a=(",
    "while true; do",
    "do ls; done",
    "ls > ",
    "ls < | cat",
    "[[ a",
    "f() ls",
    "ls & & ls",
    "! ! | ls",
    "echo ${x",
    "echo `ls",
    "then",
    "()",
    "( )",
    "{ }",
    "if ; then ls; fi",
];

fn accepts(text: &str) -> Option<bool> {
    let mut bash = Command::new("bash")
        .args(["--noprofile", "--norc", "-n"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    bash.stdin.take()?.write_all(text.as_bytes()).ok()?;
    bash.wait().ok().map(|status| status.success())
}

fn site() -> Site {
    Site::on_paper(vec![PathBuf::from("/w/repo")], PathBuf::from("/w/repo"), PathBuf::from("/home/dev"))
}

#[test]
fn we_read_what_bash_reads_and_print_what_bash_reads() {
    if accepts("true").is_none() {
        eprintln!("skipped: there is no bash here");
        return;
    }
    let mut wrong = Vec::new();
    for text in SCRIPTS {
        assert_eq!(accepts(text), Some(true), "bash refuses our example {text:?}");
        let analysis = analyse(text, &site());
        match &analysis.canonical {
            Some(canonical) if accepts(canonical) == Some(true) => {}
            Some(canonical) => wrong.push(format!("{text:?} became {canonical:?}")),
            None => wrong.push(format!("{text:?} is not read: {:?}", analysis.findings)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn we_refuse_what_bash_refuses() {
    if accepts("true").is_none() {
        eprintln!("skipped: there is no bash here");
        return;
    }
    for text in BROKEN {
        assert_eq!(accepts(text), Some(false), "bash accepts {text:?}");
        assert!(analyse(text, &site()).canonical.is_none(), "{text:?} was read");
    }
}

/// What only prints, so that it can be run: each with words whose meaning hangs on how they are quoted or put together.
const PRINTING: &[&str] = &[
    "b=x; b_a=1; b_b=2; echo $b{_a,_b} ${b}{_a,_b} \"$b\"{_a,_b}",
    "f=a; echo $f{,.bak} $f/{b,c} x{$f,y} {$f,y}.c",
    "a=1; b=2; as=3; bs=4; echo {$a,$b} {$a,$b}s {${a},$b}s {$a,x}{s,t}",
    "x=l; xs=id; x1=2; echo $x{s..t} $x{1..2} ${x}{1..2}",
    "f=a; echo $f{'_a',.x} $f{\"_a\",.x} $f{\\_a,.x} {'$f',$f}",
    "set -- q r; echo $1{0,1} ${1}{0,1} {$1,$2}0 $#{a,b} $?{1,2}",
    "for n in 12 x a, 'a$' ''; do [[ $n =~ ^[0-9]+$ ]]; echo $?; [[ $n =~ (^|,)$ ]]; echo $?; [[ $n =~ ^$ ]]; echo $?; done",
    "for n in 'a$' a ab; do [[ $n =~ a\\$ ]]; echo $?; [[ $n =~ a'$' ]]; echo $?; [[ $n =~ [$]|b$ ]]; echo $?; [[ $n == *$ ]]; echo $?; done",
];

fn printed(text: &str) -> Option<String> {
    let bash = Command::new("bash").args(["--noprofile", "--norc", "-c", text]).env_clear().output().ok()?;
    String::from_utf8(bash.stdout).ok()
}

#[test]
fn what_runs_prints_what_the_text_prints() {
    if accepts("true").is_none() {
        eprintln!("skipped: there is no bash here");
        return;
    }
    for text in PRINTING {
        let canonical = analyse(text, &site()).canonical.expect("it is read");
        let wanted = printed(text).expect("it runs");
        assert!(!wanted.is_empty(), "{text}");
        assert_eq!(printed(&canonical), Some(wanted), "{text:?} became {canonical:?}");
    }
}
