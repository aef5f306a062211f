//! Values that a reader of words believes and the shell never has: declarations that split nothing, arguments that are
//! not there, names that cannot be set, errors that drop the rest of a line. The rows are data: none of them is run.

use nika_guard::bash::analyse;

use crate::judging::{allowed_read_only, site};

/// What reads, and needs no question.
const READS: &[&str] = &[
    "v='a b'; declare y=$v; echo \"$y\"",
    "f() { local name=$1; wc -l \"$name\"; }; f README.md",
    "d=src; export_dir=$d; declare out=$d/main.rs; cat \"$out\"",
    "readonly DIR=src; ls \"$DIR\"",
    "declare n=5; head -n $n README.md",
    "for f in src/*.rs; do name=${f##*/}; echo \"$name\"; done",
    "f() { wc -l \"$@\"; }; f $(git ls-files)",
    "f() { wc -l \"$1\"; }; for p in src/*.rs; do f \"$p\"; done",
    "ls | xargs -I{} sh -c 'wc -l \"$1\"' _ {}",
    "for i in 1 2; do readonly LIMIT=5; head -n 5 README.md; done",
    "for f in src/*.rs; do local_count=1; cat \"$f\"; done",
    "case a in a) f=README.md ;; *) f=src/main.rs ;; esac; echo \"$f\"",
    "case a in a) echo one ;& b) echo two ;; esac; cat README.md",
    "LC_ALL=C sort README.md; ls src",
    "n=10; half=$((n / 2)); echo \"$half\"",
    "start=5; end=$((start + 10)); head -n \"$end\" README.md",
    "name=abc; echo ${name:0:2}; cat README.md",
    "x=README.md; y=$((1 + 2)); cat $x",
    "a=README.md; n=3; (a=src; echo $((10 / n))); cat $a",
    "a=README.md; n=3; echo \"$(a=src; echo $((10 / n)))\"; cat $a",
    "cd src && n=$((1 + 2)) && cat main.rs",
    "for i in 1 2 3; do if test -e a; then break; fi; done; cat README.md",
    "x=README.md; exit 1",
    "f=README.md; bash -c 'n=$((1 + 2)); echo $n'; cat $f",
];

/// What changes something, or may, by class. None of it counts as reading.
const ATTACKS: &[(&str, &[&str])] = &[
    (
        "a declaration splits nothing",
        &[
            "v='xargs rm'; declare y=$v; ls | $y",
            "f() { local y=$1; ls | $y; }; f 'xargs rm'",
            "v='xargs rm'; readonly y=$v; ls | $y",
            "v='xargs rm'; typeset y=$v; ls | $y",
            "v='xargs rm'; declare y=${v}; ls | $y",
            "v='xargs rm'; w=' -f'; declare y=$v$w; ls | $y",
            "v='-print -delete'; declare y=$v; find . $y",
            "v=' rm'; declare y=xargs$v; ls | $y",
            "v='xargs rm'; d=declare; $d y=$v; ls | $y",
            "v='ls y=-delete'; \\declare y=$v; find . $y",
            "v='ls y=-delete'; \"declare\" y=$v; find . $y",
            "v='ls y=-delete'; declare \"y\"=$v; find . $y",
            "v='ls y=-delete'; declare y={$v,}; find . $y",
            "v='ls y=-delete'; declare {y,z}=$v; find . $y",
            "v='xargs rm'; declare -- y=$v; ls | $y",
            "v=' rm'; y=xargs; declare y+=$v; ls | $y",
            "f() { local y=$1 z=$2; ls | $z; }; f ls 'xargs rm'",
            "f() { local y=\"$1\"; ls | $y; }; f 'xargs rm'",
        ],
    ),
    (
        "an argument that is not there",
        &[
            "f() { find . \"$1\"; }; if [ -e q ]; then ((n++)); fi; f $n -delete",
            "f() { find . \"$1\"; }; f $(grep -c x README.md) -delete",
            "f() { find . \"$1\"; }; f $(git ls-files nothing) -delete",
            "f() { find . \"$1\"; }; n=$(git ls-files nothing); f $n -delete",
            "f() { find . \"${1}\"; }; f $(grep -c x README.md) -delete",
            "f() { find . \"$1\"\"\"; }; f $(grep -c x README.md) -delete",
            "g() { f \"$@\"; }; f() { find . \"$1\"; }; g $(grep -c x README.md) -delete",
            "bash -c 'find . \"$1\"' _ $(grep -c x README.md) -delete",
            "bash -c 'find . \"$1\"' $(grep -c x README.md) ls -delete",
            "f() { local y=\"$1\"; find . \"$y\"; }; f $(grep -c x README.md) -delete",
            "f() { find . \"$2\"; }; f a $(grep -c x README.md) -delete",
        ],
    ),
    (
        "a name that falls apart before an argument",
        &[
            "f() { find . -name x \"$2\"; }; for p in src/*; do f $p -print; done",
            "f() { cat \"$2\"; }; for p in src/*; do f $p README.md; done",
            "f() { \"$2\" README.md; }; for p in src/*; do f $p ls; done",
            "f() { find . -name x \"$3\"; }; for p in src/*; do f a $p -print; done",
            "f() { find . -name x ${2}; }; for p in src/*; do f $p -print; done",
            "for p in src/*; do bash -c 'find . -name x \"$2\"' _ $p -print; done",
            "f() { find . -name x \"$2\"; }; for p in src/* lib/*; do f $p -print; done",
        ],
    ),
    (
        "a name that was made readonly on the way",
        &[
            "for i in 1 2; do declare x=-print; find . $x; declare -r x=-delete; done",
            "for i in 1 2; do declare x=-print; find . $x; readonly x=-delete; done",
            "for i in 1 2; do x=-print; find . $x; y=-delete; readonly y; x=$y; readonly x; done",
            "while test -e a; do declare x=-print; find . $x; typeset -r x=-delete; done",
            "for ((i = 0; i < 2; i++)); do declare x=-print; find . $x; readonly x=-delete; done",
            "for i in 1 2; do declare x=-print; find . $x; if test -e a; then readonly x=-delete; fi; done",
            "r=readonly; for i in 1 2; do declare x=-print; find . $x; $r x=-delete; done",
            "f() { readonly x=-delete; }; for i in 1 2; do declare x=-print; find . $x; f; done",
            "for i in 1 2; do for j in 1 2; do declare x=-print; find . $x; done; readonly x=-delete; done",
            "case a in a) declare -r x=-delete ;;& *) declare x=-print; find . $x;; esac",
            "case a in a) readonly x=-delete ;& *) declare x=-print; find . $x;; esac",
            "case a in a) readonly x=-delete ;& b) : ;& *) declare x=-print; find . $x;; esac",
            "x=-delete; readonly -p x; declare x=-print; find . $x",
            "x=-delete; readonly -p y x; declare x=-print; find . $x",
            "x=-delete; declare -p -r x; declare x=-print; find . $x",
            "builtin readonly x=-delete; declare x=-print; find . $x",
            "command readonly x=-delete; declare x=-print; find . $x",
            "eval 'readonly x=-delete'; declare x=-print; find . $x",
            "f() { if [ -e q ]; then readonly x=-delete; return; fi; }; f; declare x=-print; find . $x",
        ],
    ),
    (
        "an arm of `case` that is fallen into",
        &[
            "x=-print; case a in a) x=-delete ;& b) find . $x ;; esac",
            "x=-print; case a in a) x=-delete ;;& *) find . $x ;; esac",
            "x=-print; case a in a) x=-delete ;& b) : ;& c) find . $x ;; esac",
            "case a in a) cd /etc ;& b) cat shadow ;; esac",
            "case a in a) cd /etc ;;& *) cat shadow ;; esac",
            "x=; case a in ${x:=-delete}) ;; *) find . $x ;; esac",
        ],
    ),
    (
        "a value for one command that stays",
        &[
            "VERBOSE=-print; VERBOSE=-delete readonly VERBOSE; find . $VERBOSE",
            "LC_a=-print; LC_a=-delete export LC_a; find . $LC_a",
            "x=-print; x=-delete readonly x; find . $x",
            "x=-print; x=-delete declare -x x; find . $x",
            "x=-print; x=-delete typeset -r x; find . $x",
            "x=-print; y=-delete x=$y readonly x; find . $x",
            "f() { x=-delete readonly x; }; x=-print; f; find . $x",
            "x=-print; x=-delete readonly x=-print; find . $x",
            "x=-print; x+=delete readonly x; find . $x",
        ],
    ),
    (
        "an error that drops the rest",
        &[
            "x=-delete; { : $((1/0)); x=-print; }; find . $x",
            "x=-delete; { : $((1 % 0)); x=-print; }; find . $x",
            "x=-delete; { : $((08)); x=-print; }; find . $x",
            "x=-delete; { : $((2 ** -1)); x=-print; }; find . $x",
            "x=-delete; { : $((1 2)); x=-print; }; find . $x",
            "x=-delete; n=0; { : $((1 / n)); x=-print; }; find . $x",
            "x=-delete; { : \"$((1/0))\"; x=-print; }; find . $x",
            "x=-delete; { y=$((1/0)); x=-print; }; find . $x",
            "x=-delete; { : > \"$((1/0))\"; x=-print; }; find . $x",
            "x=-delete; { cat <<< $((1/0)); x=-print; }; find . $x",
            "x=-delete; if : $((1/0)); then x=-print; else x=-print; fi; find . $x",
            "x=-delete; for i in $((1/0)); do :; done && x=-print; find . $x",
            "x=-delete; : $((1/0)) || x=-print && x=-print; find . $x",
            "y=abc; x=-delete; { : ${y:0:-99}; x=-print; }; find . $x",
            "y=abc; x=-delete; { : ${y:1/0}; x=-print; }; find . $x",
            "readonly r=1; x=-delete; { r=2; x=-print; }; find . $x",
            "readonly r=1; x=-delete; { r=2 ls; x=-print; }; find . $x",
            "readonly r; x=-delete; { : ${r:=2}; x=-print; }; find . $x",
            "x=-delete; { UID=1; x=-print; }; find . $x",
            "x=-delete; { a[-5]=1; x=-print; }; find . $x",
            "if [ -e q ]; then x=-delete; : $((1/0)); exit; fi; find . $x",
            "x=-print; if [ -e q ]; then x=-delete; : $((1/0)); exit; fi; find . $x",
            "x=-delete; { exit 1 2; x=-print; }; find . $x",
            "x=-print; if [ -e q ]; then x=-delete; exit 1 2; fi; find . $x",
            "x=-delete; for i in 1; do break 1 2; done && x=-print; find . $x",
            "f() { x=-delete; : $((1/0)); x=-print; }; x=-print; f; find . $x",
            "{ cd /etc; : $((1/0)); cd /w/repo; }; cat shadow",
            "f() { : $((1/0)); }; x=-delete; { f; x=-print; }; find . $x",
            "x=-delete; { declare y=$((1/0)); x=-print; }; find . $x",
            "x=-delete; { a=($((1/0))); x=-print; }; find . $x",
            "x=-delete; { [[ $((1/0)) ]]; x=-print; }; find . $x",
            "x=-delete; { (( $((1/0)) )); x=-print; }; find . $x",
            "x=-delete; { for ((i = $((1/0)); i < 1; i++)); do :; done; x=-print; }; find . $x",
            "x=-delete; { cat <<E\n$((1/0))\nE\nx=-print; }; find . $x",
            "x=-delete; { case $((1/0)) in *) ;; esac; x=-print; }; find . $x",
            "x=-delete; { eval ': $((1/0))'; x=-print; }; find . $x",
            "x=-delete; { : ${q:?}; x=-print; }; find . $x",
            "x=-delete; n=0; { : $((10 / (n))); x=-print; }; find . $x",
            "x=-delete; n=08; { : $((n + 1)); x=-print; }; find . $x",
            "x=-delete; for n in 07 08; do : $((n + 1)); x=-print; done; find . $x",
            "x=-delete; { : $((1 +)); x=-print; }; find . $x",
            "x=-print; if [ -e q ]; then { x=-delete; : $((1/0)); }; x=-print; fi; find . $x",
            "x=-delete; { true && : $((1/0)); x=-print; } && x=-print; find . $x",
            "bash -c 'x=-delete; { : $((1/0)); x=-print; }\nfind . $x'",
            "bash -c 'x=-delete; : $((1/0)); x=-print\nfind . $x'",
        ],
    ),
];

#[test]
fn ordinary_values_need_no_question() {
    let site = site();
    let wrong: Vec<String> = READS
        .iter()
        .filter(|text| !allowed_read_only(&analyse(text, &site)))
        .map(|text| format!("{text:?}\n      {:?}", analyse(text, &site)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}\n  {}", wrong.len(), READS.len(), wrong.join("\n  "));
}

#[test]
fn nothing_that_hides_behind_a_value_counts_as_reading() {
    let site = site();
    let mut wrong = Vec::new();
    for (class, texts) in ATTACKS {
        assert!(texts.len() >= 5, "{class}");
        let read = texts.iter().filter(|text| allowed_read_only(&analyse(text, &site)));
        wrong.extend(read.map(|text| format!("{class}: {text:?}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
