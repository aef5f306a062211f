//! What another shell makes of a text, what a list of names may hold, and what an expansion leaves of its quotes: what
//! is believed of them must be so. The rows are data: none of them is run.

mod believed;
#[allow(dead_code, reason = "other tests use the rest")]
mod judging;

use believed::{all_count_as_reading, none_counts_as_reading};
use judging::{allowed_in_workspace, site};
use nika_guard::bash::analyse;

/// Texts by class. None of them counts as reading.
const ATTACKS: &[(&str, &[&str])] = &[
    (
        "`sh` is not bash: what it reads otherwise",
        &[
            "sh -c \"echo \\$'a\\\\'; touch x #'\"",
            "sh -c \"cat README.md \\$'\\\\'; touch x #'\"",
            "sh -c 'echo $\"a\" > /dev/null'",
            "sh -c '[[ a || reboot ]]'",
            "sh -c '[[ a > b ]]'",
            "sh -c '[[ -f q && a < b ]] && cat README.md'",
            "sh -c 'if [[ a || reboot ]]; then ls; fi'",
            "sh -c '((touch = 5))'",
            "sh -c 'x=-delete; ((y = 1)); find .'",
            "sh -c 'find . -not -name {a,-name} -print'",
            "sh -c 'cat a{1..3}'",
            "sh -c 'cat .[^e]nv'",
            "sh -c 'x=-delete; x=-print &> /dev/null; find . $x'",
            "sh -c 'cd src &> /dev/null && cat ../README.md'",
            "sh -c 'uniq README.md 10> /dev/null'",
            "sh -c 'uniq README.md {fd}> /dev/null'",
            "sh -c 'x=-delete; x+=; find . -name \"$x\"'",
            "sh -c 'diff <(ls a) <(ls b)'",
            "sh -c 'cat <<< a'",
            "sh -c 'ls |& cat'",
            "sh -c 'function f { ls; }; f'",
            "sh -c 'x=(a b); echo \"${x[0]}\"'",
            "sh -c 'x=abc; echo \"${x:0:1}\"'",
            "sh -c 'x=abc; echo \"${x/a/b}\"'",
            "sh -c 'case a in a) ls ;& b) pwd ;; esac'",
            "sh -c 'time ls'",
            "sh -c 'for ((i = 0; i < 2; i++)); do ls; done'",
            "dash -c '[[ a || reboot ]]'",
            "ash -c '[[ a || reboot ]]'",
            "/bin/sh -c '[[ a || reboot ]]'",
            "sh <<< '[[ a || reboot ]]'",
            "sh <<'E'\n[[ a || reboot ]]\nE",
            "timeout 5 sh -c '[[ a || reboot ]]'",
            "find . -exec sh -c '[[ a || reboot ]]' \\;",
            "ls | xargs -I{} sh -c '[[ a || reboot ]]'",
            "bash -c \"sh -c '[[ a || reboot ]]'\"",
            "sh -c \"sh -c '[[ a || reboot ]]'\"",
            "watch -n 1 '[[ a || reboot ]]'",
            "f() { sh -c '[[ a || reboot ]]'; }; f",
            "echo \"$(sh -c '[[ a || reboot ]]')\"",
        ],
    ),
    (
        "builtins and variables that `sh` does not have",
        &[
            "sh -c 'x=-delete; declare x=-print; find . $x'",
            "sh -c 'x=-delete; typeset x=-print; find . $x'",
            "sh -c 'x=-delete; let x=1; find . $x'",
            "sh -c 'pushd src; cat ../README.md'",
            "sh -c 'x=-delete; read -r -d \"\" x < README.md; find . -name a'",
            "sh -c 'find . -not -name $UID -name -delete'",
            "sh -c 'find . -not -name $RANDOM -name -delete'",
            "sh -c 'find . -not -name $SECONDS -name -delete'",
            "sh -c 'find . -not -name $EUID -name -delete'",
            "sh -c 'find . -not -name $BASHPID -name -delete'",
            "sh -c 'find . -not -name $EPOCHSECONDS -name -delete'",
            "sh -c 'x=-delete; builtin true; command declare x=-print; find . $x'",
            "sh -c 'mapfile -t x < README.md; ls'",
        ],
    ),
    (
        "a declaration that `sh` may split",
        &[
            "sh -c 'v=\"ls y=-delete\"; readonly y=$v; find . $y'",
            "sh -c 'f() { local y=$1; find . $y; }; f \"ls y=-delete\"'",
            "dash -c 'v=\"ls y=-delete\"; readonly y=$v; find . $y'",
            "sh -c 'f() { local a=$1 b=$2; find . $b; }; f \"ls b=-delete\" -print'",
            "sh -c 'v=\"ls x=-delete\"; x=-print; readonly y=$v; find . $x $y'",
        ],
    ),
    (
        "an alternative that keeps its quotes",
        &[
            "x=1; awk ${x:+'1; system(\"id\")'} README.md",
            "x=1; sed -n ${x:+'p; w out'} README.md",
            "x=1; tree -I ${x:+\"\"} -o out",
            "x=1; find . -not -name ${x:+\"\"} -name -delete",
            "x=1; awk ${x:+\"1; system(\\\"id\\\")\"} README.md",
            "x=1; y='1; system(\"id\")'; awk ${x:+\"$y\"} README.md",
            "x=1; awk ${x+'1; system(\"id\")'} README.md",
            "x=1; awk ${x:+1';'\\ 'system(\"id\")'} README.md",
        ],
    ),
    (
        "several words out of one in quotes",
        &[
            "a=(. /etc/shadow); grep -e \"${x:-${a[@]}}\"",
            "a=(. /etc/shadow); grep -e \"${x-${a[@]}}\"",
            "a=(. /etc/shadow); y=1; grep -e \"${y:+${a[@]}}\"",
            "f() { grep -e \"${x:-$@}\"; }; f . /etc/shadow",
            "f() { y=1; grep -e \"${y:+$@}\"; }; f . /etc/shadow",
            "f() { grep -e \"${x:-${y:-$@}}\"; }; f . /etc/shadow",
            "f() { grep -e \"${x:-\"$@\"}\"; }; f . /etc/shadow",
            "a=(. /etc/shadow); grep -e \"a${x:-${a[@]}}\"",
        ],
    ),
    (
        "an error that drops the rest, where nothing is found or a number is too large",
        &[
            "shopt -s failglob; x=-delete; { : zz*; x=-print; }; find . $x",
            "shopt -s nullglob failglob; x=-delete; { : zz*; x=-print; }; find . $x",
            "shopt -s failglob; x=-print; if [ -e q ]; then x=-delete; : zz*; exit; fi; find . $x",
            "shopt -s failglob; { cd /etc; : zz*; cd /w/repo; }; cat shadow",
            "shopt -s failglob; x=-delete; for i in zz*; do :; done && x=-print; find . $x",
            "x=-delete; { a[9223372036854775808]=1; x=-print; }; find . $x",
            "x=-delete; { a[99999999999999999999]=1; x=-print; }; find . $x",
            "x=-print; if [ -e q ]; then x=-delete; a[18446744073709551615]=1; exit; fi; find . $x",
            "x=-delete; { a[9999999999999999999]=1; x=-print; }; find . $x",
            "x=-delete; { a[18446744073709551600]+=1; x=-print; }; find . $x",
        ],
    ),
    (
        "hidden names that a pattern finds when it is told to",
        &[
            "shopt -s dotglob; cat *nv",
            "shopt -s dotglob; cat ?env",
            "shopt -s dotglob nullglob; head -n 5 *nv",
            "shopt -s dotglob; for d in */; do (cd \"$d\" && cat config.json); done",
            "shopt -s dotglob; for f in *nv; do cat \"$f\"; done",
            "shopt -s dotglob; cat [.]env",
        ],
    ),
    (
        "a list that holds more than the names",
        &[
            "while read -r f; do cat \"$f\"; done < <(echo /etc/shadow; git ls-files)",
            "while read -r f; do cat \"$f\"; done < <(cat notes.txt && git ls-files)",
            "while read -r f; do cat \"$f\"; done < <(cat notes.txt || git ls-files)",
            "while read -r f; do cat \"$f\"; done < <(head -n 1 notes.txt & git ls-files)",
            "while IFS= read -r f; do cat \"$f\"; done < <(cat notes.txt\ngit ls-files)",
            "while read -r f; do cat \"$f\"; done < <(if true; then cat notes.txt; fi; git ls-files)",
            "git ls-files | grep -hd recurse ^ | while read -r x; do cat \"$x\"; done",
            "git ls-files | grep -h --directories=recurse ^ | xargs cat",
            "git ls-files | grep -h -d recurse ^ | xargs find",
            "git ls-files | egrep -hd recurse ^ | xargs cat",
            "git grep -h -e -l -e shadow | while read -r f; do cat \"$f\"; done",
            "git grep -h -e -l -e shadow | xargs cat",
            "git grep -h -e --name-only -e shadow | xargs cat",
            "git grep -h shadow -- -l | xargs cat",
            "git grep -he -l -e shadow | xargs cat",
        ],
    ),
    (
        "a list that leads out of the workspace",
        &[
            "git ls-files .. | xargs cat",
            "git ls-files -- ../other | while read -r f; do cat \"$f\"; done",
            "git ls-files :/ | xargs cat",
            "git ls-files ':(top)' | xargs cat",
            "cat $(git ls-files ../other)",
            "git ls-files '../*.md' | xargs head -n 1",
        ],
    ),
    (
        "zero bytes that are dropped, so that `.` and `./x` become `../x`",
        &[
            "cat $(find . -maxdepth 1 -print0)",
            "cat $(find . -print0 | sort)",
            "find . -print0 | while read -r f; do cat \"$f\"; done",
            "find . -print0 | while IFS= read -r f; do cat \"$f\"; done",
            "find . -print0 | xargs cat",
            "for f in $(find . -print0); do cat \"$f\"; done",
        ],
    ),
    (
        "a letter in the place of the end of a line",
        &[
            "echo .en | tr '\\n' v | xargs cat",
            "echo -u | tr '\\n' o | xargs -I{} sort README.md {} out",
            "ls | grep -x a | tr '\\n' v | xargs cat",
            "git ls-files | tr '\\n' / | xargs cat",
            "cat $(ls -d .en | tr '\\n' v)",
            "echo /home/dev/.ssh/id_rs | tr '\\n' a | xargs cat",
        ],
    ),
    (
        "options that echo keeps for itself",
        &[
            "echo -n -o out | xargs shuf",
            "echo -e -o out | xargs sort -t",
            "echo -E -o out | xargs tree -I",
            "echo -ne -o out | xargs shuf",
            "echo -n -o out | xargs shuf -n",
            "echo -nE -delete | xargs find . -name",
        ],
    ),
    (
        "an empty line that is a name",
        &[
            "ls a b | while read -r x; do cat \"$x/etc/shadow\"; done",
            "ls -R | while read -r x; do cat \"$x/etc/shadow\"; done",
            "ls * | while read -r x; do cat \"$x/etc/shadow\"; done",
            "ls -R src | while IFS= read -r x; do cat \"$x/etc/shadow\"; done",
            "find . . | sort | uniq --all-repeated=prepend | while read -r x; do cat \"$x/etc/shadow\"; done",
            "find . . | sort | uniq --group | while read -r x; do cat \"$x/etc/shadow\"; done",
        ],
    ),
    (
        "a name that was not read",
        &[
            "git ls-files | while { read -r x; true; }; do cat \"$x/etc/shadow\"; done",
            "git ls-files | while if read -r x; then :; fi; do cat \"$x/etc/shadow\"; done",
            "git ls-files | while case a in *) read -r x ;; esac; do cat \"$x/etc/shadow\"; done",
            "git ls-files | while { read -r x; :; }; do cat \"$x/etc/shadow\"; done",
            "git ls-files | while { { read -r x; }; pwd; }; do cat \"$x/etc/shadow\"; done",
            "f() { read -r x; cat \"$x/etc/shadow\"; }; git ls-files | while f; do :; done",
            "git ls-files | while bash -c 'read -r x; cat \"$x/etc/shadow\"'; do :; done",
            "git ls-files | while timeout 5 bash -c 'read -r x; cat \"$x/etc/shadow\"'; do :; done",
            "git ls-files | while echo \"$(read -r x; cat \"$x/etc/shadow\")\"; do :; done",
            "git ls-files | while read -r \"$(read -r x; cat \"$x/etc/shadow\")\"; do :; done",
            "git ls-files | while x=$(read -r y; cat \"$y/etc/shadow\"); do :; done",
        ],
    ),
    (
        "another standard input than the one that was there",
        &[
            "{ command exec < notes.txt; bash; } <<< ls",
            "{ builtin exec < notes.txt; bash; } <<< ls",
            "{ command command exec < notes.txt; bash; } <<< ls",
            "git ls-files | { command exec < notes.txt; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | for i in 1 2; do while read -r x; do cat \"$x\"; done; exec < notes.txt; done",
            "git ls-files | while :; do while read -r x; do cat \"$x\"; done; exec < notes.txt; done",
            "git ls-files | for ((i = 0; i < 2; i++)); do while read -r x; do cat \"$x\"; done; exec < notes.txt; done",
            "git ls-files | { head -c1 -- - a; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { head -c 1 -- /dev/stdin a; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { awk 'BEGIN { getline x < \"-\" }' a b; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { jq -nR input --args a b c d; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { jq -R . --jsonargs 1 2 3; while read -r x; do cat \"$x\"; done; }",
        ],
    ),
    (
        "a descriptor that is missing inside another shell",
        &[
            "bash -c 'x=-print; if [ -e q ]; then x=-delete; exit >&2; fi; find . $x' 2>&-",
            "timeout 5 bash -c 'x=-print; if [ -e q ]; then x=-delete; exit >&2; fi; find . $x' 2>&-",
            "env bash -c 'x=-print; if [ -e q ]; then x=-delete; exit >&2; fi; find . $x' 2>&-",
            "find . -exec bash -c 'x=-print; if [ -e q ]; then x=-delete; exit >&2; fi; find . $x' \\; 2>&-",
            "bash -c 'x=-print; if [ -e q ]; then x=-delete; exit <&0; fi; find . $x' <&-",
            "fd=2; exec {fd}>&-; x=-print; if [ -e q ]; then x=-delete; exit >&2; fi; find . $x",
            "fd=0; { x=-print; if [ -e q ]; then x=-delete; exit <&0; fi; find . $x; } {fd}<&-",
            "bash 2>&- <<'E'\nx=-print; if [ -e q ]; then x=-delete; exit >&2; fi; find . $x\nE",
        ],
    ),
    (
        "settings that look as if they were only about words",
        &[
            "PYTHONWARNINGS=all:0:antigravity.x:0:0 python3 -m json.tool a.json",
            "PYTHONWARNINGS=ignore::evil.X python3 -m json.tool a.json",
            "env PYTHONWARNINGS=ignore::evil.X python3 -m json.tool a.json",
            "PYTHONWARNINGS=ignore::evil.X; export PYTHONWARNINGS; python3 -m json.tool a.json",
            "LANGUAGE=../../../w/repo/po ls nosuch",
            "LC_ALL=../po ls nosuch",
            "env LANGUAGE=/w/repo/po ls nosuch",
        ],
    ),
];

/// What is ordinary beside them, and needs no question.
const READS: &[&str] = &[
    "sh -c 'ls -la | head -n 5'",
    "sh -c 'for f in *.rs; do wc -l \"$f\"; done'",
    "sh -c 'if [ -f a ]; then cat a; else echo none; fi'",
    "sh -c 'x=README.md; cat \"${x%.md}.txt\"'",
    "sh -c 'grep -n \"x$\" README.md'",
    "sh -c \"grep -n 'x\\$' README.md\"",
    "sh -c 'n=1; echo $((n + 1))'",
    "sh -c 'cat README.md 2> /dev/null || echo none'",
    "find . -name '*.rs' -exec sh -c 'wc -l \"$1\"' _ {} \\;",
    "sh -c 'cd src && ls .. && awk \"{print \\$1}\" a.txt'",
    "sh <<'E'\nls src\nE",
    "bash -c '[[ -f a ]] && cat a'",
    "bash -c 'for i in {1..3}; do echo \"$i\"; done'",
    "sh -c \"bash -c '[[ -f a ]] && cat a'\"",
    "f() { ls \"${1:-.}\"; }; f src",
    "f() { echo \"${*:-none}\"; }; f",
    "x=1; ls ${x:+-l}",
    "x=1; ls ${x:+-l -a}",
    "a[0]=x; a[12]=y; echo \"${a[0]}\"",
    "shopt -s nullglob globstar; cat **/*.rs",
    "shopt -u dotglob failglob; ls *",
    "while read -r f; do wc -l \"$f\"; done < <(git ls-files)",
    "while IFS= read -r f; do wc -l \"$f\"; done < <(git ls-files | grep '\\.rs$' | sort)",
    "git ls-files | grep -v test | while read -r f; do wc -l \"$f\"; done",
    "git grep -l main | xargs wc -l",
    "git grep -l -e main -e test | xargs wc -l",
    "git grep --name-only -w main -- src | xargs head -n 3",
    "git ls-files src | xargs wc -l",
    "git ls-files '*.rs' | tr '\\n' '\\0' | xargs -0 wc -l",
    "ls *.rs | tr '\\n' ' '",
    "echo README.md | xargs wc -l",
    "echo a b | xargs -n 1 ls",
    "ls *.rs | while read -r f; do wc -l \"$f\"; done",
    "ls src | while read -r f; do echo \"$f\"; done",
    "ls -d */ | while read -r d; do ls \"$d\"; done",
    "ls -R | head -n 20",
    "ls * | xargs wc -l",
    "ls src tests | xargs -n 1 echo",
    "for f in $(ls src tests); do echo \"$f\"; done",
    "find . -name '*.rs' -print0 | xargs -0 wc -l",
    "find . -print0 | sort -z | xargs -0 -n 1 wc -l",
    "find . -print0 | while IFS= read -r -d '' f; do wc -l \"$f\"; done",
    "bash -c 'ls; pwd' 2> /dev/null",
    "ls nosuch 2>&-",
    "PYTHONWARNINGS=ignore python3 --version",
    "LC_ALL=en_US.UTF-8 sort README.md",
    "TZ=America/New_York date",
];

#[test]
fn nothing_that_is_believed_wrongly_counts_as_reading() {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    none_counts_as_reading(ATTACKS.iter().map(|(class, texts)| (*class, owned(texts))));
}

/// What no mode leaves alone, with more words than are tried together.
#[test]
fn a_word_of_many_is_seen() {
    let site = site();
    let many: Vec<String> = (1..=33).map(|number| number.to_string()).collect();
    let mut wrong = Vec::new();
    for (word, command) in [
        ("'--eval=x'", "make"),
        ("deploy", "mvn"),
        ("publish", "make"),
        (".git/hooks/x", "tsc --outFile"),
        (".git/hooks/x", "gcc a.c -o"),
        (".env", "pytest"),
    ] {
        let of = |list: &str, command: &str| format!("for x in {list}; do {command} \"$x\"; done");
        let text = of(&format!("{} {word}", many.join(" ")), command);
        if allowed_in_workspace(&analyse(&text, &site)) {
            wrong.push(text);
        }
        assert!(allowed_in_workspace(&analyse(&of(&many.join(" "), command), &site)), "{command}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every file that a program is read from counts, not the last alone.
#[test]
fn each_file_of_a_program_is_seen() {
    let site = site();
    for text in [
        "sed -n -f /home/dev/x.sed -f ok.sed f",
        "sed -f /opt/a -f b.sed f",
        "sed --file=/opt/a --file=b.sed f",
        "awk -f /opt/x.awk -f ok.awk f",
        "gawk --file /opt/x.awk --file ok.awk f",
    ] {
        assert!(!allowed_in_workspace(&analyse(text, &site)), "{text}");
    }
    assert!(allowed_in_workspace(&analyse("sed -n -f a.sed -f b.sed f", &site)));
}

#[test]
fn what_is_ordinary_beside_it_needs_no_question() {
    all_count_as_reading(READS);
}
