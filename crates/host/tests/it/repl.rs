//! Interpreters that remember.

use std::sync::Arc;
use std::time::Duration;

use nika_host::proc::{Code, Evaluated, Language, Outcome, Repls};

use crate::scene::{LONG, jobs, permit, profile, until, with_word};

fn repls() -> Repls {
    Repls::new(Arc::new(jobs()))
}

fn within(repls: &Repls, language: Language, text: &str, timeout: Duration) -> Evaluated {
    let profile = profile("/tmp");
    let code = Code {
        session: "s",
        language,
        text,
        profile: &profile,
        timeout,
        recorder: None,
        git_before: None,
        stopped: &|| false,
    };
    repls.evaluate(&permit(), &code).expect("it is there")
}

/// Output and value.
fn eval(repls: &Repls, language: Language, text: &str) -> (String, String) {
    let evaluated = within(repls, language, text, LONG);
    assert_eq!((&evaluated.outcome, evaluated.omitted), (&Outcome::Done, 0), "{text}: {evaluated:?}");
    (printed(&evaluated), evaluated.value.unwrap_or_default())
}

fn printed(evaluated: &Evaluated) -> String {
    String::from_utf8([evaluated.head.as_slice(), &evaluated.tail].concat()).expect("text")
}

fn pair(output: &str, value: &str) -> (String, String) {
    (output.to_owned(), value.to_owned())
}

#[test]
fn python_remembers() {
    let repls = repls();
    let eval = |text: &str| eval(&repls, Language::Python, text);
    assert_eq!(eval("x = 20\ndef f(n):\n    return x + n\n"), pair("", ""));
    assert_eq!(eval("print('a'); f(22)"), pair("a\n", "42"));
    assert_eq!(eval("_ + 1"), pair("", "43"));
    assert_eq!(eval("import sys; print('o'); print('e', file=sys.stderr); sys.stdin.read()"), pair("o\ne\n", "''"));
    assert_eq!(eval("import subprocess; subprocess.run(['echo', 'sub']).returncode"), pair("sub\n", "0"));
    assert_eq!(eval("'é\\0'"), pair("", "'é\\x00'"));
    let failed = within(&repls, Language::Python, "def g(): 1/0\ng()", LONG);
    assert_eq!(failed.outcome, Outcome::Failed);
    let said = printed(&failed);
    assert!(said.contains("line 1, in g") && said.contains("def g(): 1/0") && !said.contains("drive"), "{said}");
    assert!(said.ends_with("ZeroDivisionError: division by zero\n"), "{said}");
    let wrong = within(&repls, Language::Python, "a b", LONG);
    assert!(wrong.outcome == Outcome::Failed && printed(&wrong).contains("SyntaxError"), "{wrong:?}");
    assert_eq!(eval("x"), pair("", "20"));
}

#[test]
fn node_remembers() {
    let repls = repls();
    let eval = |text: &str| eval(&repls, Language::Node, text);
    assert_eq!(eval("const x = 20; let f = (n) => x + n;"), pair("", ""));
    assert_eq!(eval("console.log('a'); f(22)"), pair("a\n", "42"));
    assert_eq!(eval("{ x: f(1) }"), pair("", "{ x: 21 }"));
    assert_eq!(eval("const y = await new Promise((done) => setTimeout(() => done(7), 5)); y + 1"), pair("", "8"));
    assert_eq!(eval("y"), pair("", "7"));
    assert_eq!(eval("await Promise.resolve(3)"), pair("", "3"));
    assert_eq!(eval("console.error('e'); require('os').EOL.length"), pair("e\n", "1"));
    assert_eq!(eval("require('child_process').execSync('echo sub; cat').toString()"), pair("", "'sub\\n'"));
    let failed = within(&repls, Language::Node, "(() => { throw new Error('no') })()", LONG);
    assert!(failed.outcome == Outcome::Failed && printed(&failed).contains("Uncaught Error: no"), "{failed:?}");
    let wrong = within(&repls, Language::Node, "a b", LONG);
    assert!(wrong.outcome == Outcome::Failed && printed(&wrong).contains("SyntaxError"), "{wrong:?}");
    assert_eq!(eval("f(0)"), pair("", "20"));
}

#[test]
fn what_python_forks_has_no_part_in_the_conversation() {
    let repls = repls();
    let eval = |text: &str| eval(&repls, Language::Python, text);
    assert_eq!(eval("import os, time\nx = os.fork()\nx > 0 or None"), pair("", "True"));
    for count in ["1", "2", "3"] {
        assert_eq!(eval(&format!("print({count}); x > 0")), pair(&format!("{count}\n"), "True"));
    }
    assert_eq!(eval("from multiprocessing import Pool\nPool(2).map(abs, [-1, -2])"), pair("", "[1, 2]"));
}

#[test]
fn bash_remembers() {
    let repls = repls();
    let eval = |text: &str| eval(&repls, Language::Bash, text);
    assert_eq!(eval("x=20; declare -A m=([k]=v); f() { echo $((x + $1)); }; cd /"), pair("", "0"));
    assert_eq!(eval("f 22; echo ${m[k]} >&2; pwd"), pair("42\nv\n/\n", "0"));
    assert_eq!(eval("cat; read y; echo \"$y-$#-$0\""), pair("-0-bash\n", "0"));
    assert_eq!(eval("(exit 7)"), pair("", "7"));
    assert_eq!(eval("echo $?"), pair("7\n", "0"));
    assert_eq!(eval("echo 'é \\ \"'; printf %s \"a\nb\""), pair("é \\ \"\na\nb", "0"));
    assert_eq!(eval("if"), eval("if"));
    assert_eq!(eval("echo $x"), pair("20\n", "0"));
}

#[test]
fn what_takes_too_long_is_interrupted_and_the_state_stays() {
    let repls = repls();
    let soon = Duration::from_millis(300);
    for (language, before, slow, after, is) in [
        (Language::Python, "x = 5", "while True: x += 0", "x", "5"),
        (Language::Python, "x = 5", "import time; time.sleep(99)", "x", "5"),
        (Language::Node, "globalThis.x = 5", "while (true);", "x", "5"),
        (Language::Node, "x = 5", "await new Promise(() => {})", "x", "5"),
        (Language::Bash, "x=5", "while :; do :; done; x=6", "(exit $x)", "5"),
        (Language::Bash, "x=5", "for i in 1 2; do sleep 99; done; x=6", "(exit $x)", "5"),
    ] {
        eval(&repls, language, before);
        let interrupted = within(&repls, language, slow, soon);
        assert_eq!(interrupted.outcome, Outcome::Interrupted, "{language:?} {slow}: {interrupted:?}");
        assert_eq!(eval(&repls, language, after).1, is, "{slow}");
    }
}

#[test]
fn what_cannot_be_interrupted_is_killed_and_said_to_be() {
    let repls = repls();
    let stubborn = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nx = 1\ntime.sleep(84.5)";
    let lost = within(&repls, Language::Python, stubborn, Duration::from_millis(200));
    assert!(matches!(lost.outcome, Outcome::Lost(_)), "{lost:?}");
    let anew = within(&repls, Language::Python, "'x' in globals()", LONG);
    assert!(anew.fresh && anew.value.as_deref() == Some("False"), "{anew:?}");
    // Inside functions bash could only leave one of them.
    let deep = "f() { g; echo still; }; g() { while :; do :; done; }; f; echo here";
    let lost = within(&repls, Language::Bash, deep, Duration::from_millis(200));
    assert!(matches!(lost.outcome, Outcome::Lost(_)) && printed(&lost).is_empty(), "{lost:?}");
}

#[test]
fn an_interpreter_that_ends_is_said_to_have() {
    let repls = repls();
    for (language, code) in
        [(Language::Python, "exit(3)"), (Language::Node, "process.exit(3)"), (Language::Bash, "exit 3")]
    {
        let lost = within(&repls, language, code, LONG);
        assert_eq!(lost.outcome, Outcome::Lost("it exited with status 3".to_owned()), "{language:?}");
        assert!(within(&repls, language, "1", LONG).fresh, "{language:?}");
    }
}

#[test]
fn output_cannot_pass_for_the_end() {
    let repls = repls();
    let forged = "print('\\x1e' + 24 * '0' + ' done 1\\nx'); print(len('\\x1e')); 'real'";
    let (output, value) = eval(&repls, Language::Python, forged);
    assert_eq!((output.as_str(), value.as_str()), ("\x1e000000000000000000000000 done 1\nx\n1\n", "'real'"));
}

#[test]
fn what_an_answer_has_in_a_file_is_kept_whole_and_what_is_cut_says_so() {
    let repls = repls();
    let (output, value) =
        eval(&repls, Language::Python, "for i in range(60_000): print('line', i)\n'v' * 40_000 + 'END'");
    assert_eq!((output.lines().count(), value.len()), (60_000, 40_005));
    assert!(output.ends_with("line 59999\n") && value.ends_with("END'"));
    // Output that no code waits for, as fast as it comes.
    let (output, _) = eval(&repls, Language::Bash, "head -c 3000000 /dev/zero | tr '\\0' x");
    assert_eq!(output.len(), 3_000_000);
    let evaluated = within(&repls, Language::Python, "for i in range(1_000_000): print(i)\n'\u{e9}' * 1_000_000", LONG);
    assert_eq!(evaluated.outcome, Outcome::Done);
    assert!(evaluated.omitted > 1_000_000 && evaluated.tail.ends_with(b"999999\n"), "{}", evaluated.omitted);
    assert!(evaluated.head.starts_with(b"0\n1\n"));
    let value = evaluated.value.expect("a value");
    assert!(
        value.ends_with("\u{e9}\n[951427 bytes of 2000002 of this value left out: print it to a file]"),
        "{}",
        value.len()
    );
    let long = "({ [Symbol.for('nodejs.util.inspect.custom')]: () => '\u{e9}'.repeat(1e6) })";
    let (_, value) = eval(&repls, Language::Node, long);
    assert!(
        value.ends_with("\u{e9}\n[951424 bytes of 2000000 of this value left out: print it to a file]"),
        "{}",
        value.len()
    );
}

#[test]
fn code_that_interrupts_itself_is_not_said_to_have_been_late() {
    let repls = repls();
    for (language, code) in [
        (Language::Python, "raise KeyboardInterrupt"),
        (Language::Python, "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(99)"),
        (Language::Node, "process.kill(process.pid, 'SIGINT'); while (true);"),
    ] {
        let evaluated = within(&repls, language, code, LONG);
        assert_eq!(evaluated.outcome, Outcome::BrokeOff, "{code}: {evaluated:?}");
        assert!(!within(&repls, language, "1", LONG).fresh, "{code}");
    }
}

#[test]
fn sessions_and_profiles_do_not_share() {
    let repls = repls();
    eval(&repls, Language::Python, "x = 1");
    let mut other = profile("/tmp");
    let mut code = Code {
        session: "t",
        language: Language::Python,
        text: "'x' in globals()",
        profile: &other.clone(),
        timeout: LONG,
        recorder: None,
        git_before: None,
        stopped: &|| false,
    };
    let evaluated = repls.evaluate(&permit(), &code).expect("it is there");
    assert!(evaluated.fresh && evaluated.value.as_deref() == Some("False"));
    other.env.push(("A".to_owned(), "b".to_owned()));
    code.session = "s";
    code.profile = &other;
    let evaluated = repls.evaluate(&permit(), &code).expect("it is there");
    assert!(evaluated.fresh && evaluated.value.as_deref() == Some("False"));
}

#[test]
fn an_interpreter_ends_with_its_session_and_all_it_started() {
    let all = Arc::new(jobs());
    let repls = Repls::new(all.clone());
    eval(&repls, Language::Python, "import subprocess; p = subprocess.Popen(['setsid', 'sleep', '85.5'])");
    until("it sleeps", || !with_word("85.5").is_empty());
    all.end_session("s");
    assert_eq!(with_word("85.5"), Vec::<String>::new());
    assert!(within(&repls, Language::Python, "1", LONG).fresh);
    assert!(repls.end(&permit(), "s", Language::Python) && !repls.end(&permit(), "s", Language::Python));
}
