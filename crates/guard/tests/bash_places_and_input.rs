//! Where a script stands, what a loop's variable may hold, and who reads its standard input: what is believed of them
//! must be so. The rows are data: none of them is run.

mod believed;
#[allow(dead_code, reason = "other tests use the rest")]
mod judging;

use believed::{all_count_as_reading, none_counts_as_reading};
use judging::{allowed_in_workspace, site};
use nika_guard::bash::analyse;

/// Steps up out of a directory that a pattern finds, as many as there may be in a path.
const UP: &str = "../../../../../../../../../../../../../../../..";

/// Texts by class; `UP` stands for [`UP`]. None of them counts as reading.
const ATTACKS: &[(&str, &[&str])] = &[
    (
        "many steps up out of a directory that a pattern finds",
        &[
            "for d in */; do (cd \"$d\" && cat UP/etc/shadow); done",
            "for d in */; do (cd \"$d\" && cat UP/w/repo/README.md); done",
            "for d in */; do (cd \"$d\" && cat UP/../w/repo/README.md); done",
            "for d in */; do (cd \"$d\" && cat < UP/w/repo/README.md); done",
            "for d in */; do (cd \"$d\" && cd UP/w/repo && git status); done",
            "for d in */; do (cd \"$d\" && cd UP/tmp/evil && git status); done",
            "for d in */; do (cd \"$d\" && cd UP && cat w/repo/README.md); done",
            "for d in */; do (cd \"$d/UP/w/repo\" && cat README.md); done",
            "for d in */; do (cd \"$d\" && cd a/../UP/w/repo && ls); done",
            "cd */ && cd UP/w/repo && cat README.md",
            "cd \"$x\" && cat UP/w/repo/README.md",
            "cd \"$x\" && cat UP/UP/w/repo/README.md",
        ],
    ),
    (
        "names beside a pattern that it would not match",
        &[
            "for x in .env *.md; do cat \"$x\"; done",
            "for x in *.md .env; do cat \"$x\"; done",
            "for x in .e* *.md; do cat \"$x\"; done",
            "for x in .[e]nv *.md; do cat \"$x\"; done",
            "for x in src/.env src/*.md; do cat \"$x\"; done",
            "for x in src/.e* src/*.md; do cat \"$x\"; done",
            "for x in sub/.aws/credentials sub/*.md; do cat \"$x\"; done",
            "for x in sub/id_rsa *.md; do cat \"$x\"; done",
            "for x in sub/id_* *.md; do cat \"$x\"; done",
            "f() { for x in \"$@\"; do cat \"$x\"; done; }; f .env *.md",
            "f() { for x; do cat \"$x\"; done; }; f .env *.md",
            "f() { for x in \"$@\"; do cat \"$x\"; done; }; f *.md sub/.env",
            "bash -c 'for x in .env *.md; do cat \"$x\"; done'",
            "for x in .e *.md; do cat \"${x}nv\"; done",
            "for x in .aws *; do cat \"$x/credentials\"; done",
            "for x in src/../../../etc/shadow src/*.md; do cat \"$x\"; done",
            "for x in /w/repo/../../etc/shadow /w/repo/*.md; do cat \"$x\"; done",
            "for x in src/*/../../../../etc/shadow src/*.md; do cat \"$x\"; done",
            "for d in a/../../../etc a/*; do (cd \"$d/\" && cat shadow); done",
            "for d in .. *; do (cd \"$d/\" && cat shadow); done",
            "for d in a/.. a/*; do cat \"$d/../x\"; done",
        ],
    ),
    (
        "a chain that goes on where a `!` turns it around",
        &[
            "cd /etc && ! cd /w/repo/nope && cat shadow",
            "cd /etc && ! cd /w/repo/nope; cat shadow",
            "! cd /etc || cat shadow",
            "! cd /etc || cd nope || cat shadow",
            "! ! ! cd /etc || cat shadow",
            "cd /etc && ! pushd /w/repo/nope && cat shadow",
            "cd /etc && ! time cd /w/repo/nope && cat shadow",
            "if cd /etc && ! cd /w/repo/nope; then cat shadow; fi",
            "while cd /etc && ! cd /w/repo/nope; do cat shadow; done",
            "f() { cd /etc && ! cd /w/repo/nope && cat shadow; }; f",
            "cd /etc && ! cd /w/repo/nope || exit; cat shadow",
            "if ! cd /etc; then :; else cat shadow; fi",
        ],
    ),
    (
        "a round of a loop that ends before it comes back",
        &[
            "for i in 1; do cd /etc && break; cd /w/repo || exit; done; cat shadow",
            "for i in 1 2; do cat shadow; cd /etc && continue; cd /w/repo || exit; done",
            "for i in 1; do cd /etc && continue; cd /w/repo || exit; done; cat shadow",
            "while true; do cd /etc && break; cd /w/repo || exit; done; cat shadow",
            "until false; do cd /etc && break; cd /w/repo || exit; done; cat shadow",
            "while cd /etc && break; do cd /w/repo || exit; done; cat shadow",
            "for ((i = 0; i < 2; i++)); do cd /etc && break; cd /w/repo || exit; done; cat shadow",
            "for i in 1; do if test -e q; then cd /etc; break; fi; cd /w/repo || exit; done; cat shadow",
            "for i in 1; do for j in 1; do cd /etc && break 2; done; cd /w/repo || exit; done; cat shadow",
            "for i in 1; do { cd /etc && break; }; cd /w/repo || exit; done; cat shadow",
            "for i in 1; do case a in a) cd /etc; break ;; esac; cd /w/repo || exit; done; cat shadow",
            "for i in 1; do cd /etc; $x; cd /w/repo || exit; done; cat shadow",
            "c=cd; b=break; for i in 1; do $c /etc && $b; $c /w/repo || exit; done; cat shadow",
            "for b in break ls; do cd /etc && $b; cd /w/repo || exit; done; cat shadow",
            "for i in 1; do cd /etc && command break; cd /w/repo || exit; done; cat shadow",
            "for i in 1; do cd /etc && eval break; cd /w/repo || exit; done; cat shadow",
            "f() { cd /etc; }; for i in 1; do f; break; cd /w/repo || exit; done; cat shadow",
            "f() { break; }; for i in 1; do cd /etc && f; cd /w/repo || exit; done; cat shadow",
            "f() { for i in 1; do cd /etc && break; cd /w/repo || exit; done; }; f; cat shadow",
            "f() { for i in 1; do cd /etc && break; cd /w/repo || exit; done; cat shadow; }; f",
        ],
    ),
    (
        "the directory before, by its name",
        &[
            "cd /etc && cd /w/repo && cd -- - && cat shadow",
            "cd /etc && cd /w/repo && cd -- - && git status",
            "cd /etc && cd /w/repo && cd -L -- - && cat shadow",
            "cd /etc && cd /w/repo && cd -P -- - && cat shadow",
            "cd /etc && cd /w/repo && cd -- \"-\" && cat shadow",
            "x=-; cd /etc && cd /w/repo && cd -- \"$x\" && cat shadow",
            "cd /etc && cd /w/repo && cd ~- && cat shadow",
            "cd /etc && cd /w/repo && cd -- ~- && cat shadow",
            "cd /etc && cd /w/repo && pushd -- - && cat shadow",
            "pushd /etc && pushd /w/repo && pushd -- -1 && cat shadow",
            "f() { cd -- \"$1\" && cat shadow; }; cd /etc && cd /w/repo && f -",
        ],
    ),
    (
        "a line that is not the name that was listed",
        &[
            "git ls-files -z | while read x; do cat \"$x\"; done",
            "git grep -lz a | while read x; do cat \"$x\"; done",
            "find . -print0 | while read -d '' x; do cat \"$x\"; done",
            "git ls-files | { read -r -n1 c; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | ( read -r -n1 c; while read -r x; do cat \"$x\"; done )",
            "git ls-files | { read -r -N 1 c; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { read -r -d / c; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { head -c 1; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { (head -c 1); while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { c=$(head -c 1); while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { head -c 1 <&0; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { { head -c 1; } <&0; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { head -c 1 3<&0 <&3; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { head -c 1 /dev/stdin; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { head -c 1 < /dev/stdin; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { head -c 1 < /proc/self/fd/0; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { head -c 1 -; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { head -c 1 | cat; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { mapfile -n 1 a; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { sed -n 1q; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { grep -m 1 a; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { timeout 5 head -c 1; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | while read -r x; do cat \"$x\"; read -r -n2 c; done",
            "git ls-files | while read -r x; do cat \"$x\"; head -c 1; done",
            "git ls-files | while read -r x; do cat \"$x\"; if test -e a; then read -r -n2 c; fi; done",
            "git ls-files | while read -r x; do cat \"$x\"; for i in 1 2; do read -r -n2 c; done; done",
            "find . -print0 | { read -r a; while IFS= read -r -d '' x; do cat \"$x\"; done; }",
            "find . -print0 | while IFS= read -r -d '' x; do cat \"$x\"; read -r a; done",
            "f() { read -r -n2 c; }; git ls-files | while read -r x; do cat \"$x\"; f; done",
            "f() { read -r -n1 c; }; git ls-files | { f; while read -r x; do cat \"$x\"; done; }",
            "f() { head -c 1; }; git ls-files | { f; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { if test -e q; then :; else exec < notes.txt; fi; while read -r x; do cat \"$x\"; done; }",
            "git ls-files | { { exec < notes.txt; }; while read -r x; do cat \"$x\"; done; }",
        ],
    ),
    (
        "the rest of a text, which is another text",
        &[
            "{ read -r x; bash; } <<E\n: '\nrm src/a\n'\nE",
            "{ head -c 4; bash; } <<E\n: '\nrm src/a\n'\nE",
            "{ mapfile -n 1 x; bash; } <<E\n: '\nrm src/a\n'\nE",
            "while read -r x; do bash; done <<E\n: '\nrm src/a\n'\nE",
            "{ c=$(head -c 4); bash; } <<E\n: '\nrm src/a\n'\nE",
            "f() { read -r x; bash; }; f <<E\n: '\nrm src/a\n'\nE",
        ],
    ),
    (
        "no arguments, and yet a word",
        &[
            "f() { \"$2\" src/a; }; g() { f \"$@\"\"\" rm ls; }; g",
            "f() { \"$2\" src/a; }; g() { f \"\"\"$@\" rm ls; }; g",
            "f() { \"$2\" src/a; }; g() { f ''\"$@\" rm ls; }; g",
            "f() { \"$2\" src/a; }; g() { f \"$@\"'' rm ls; }; g",
            "f() { find . \"$2\"; }; g() { f \"$@\"\"\" -delete -print; }; g",
        ],
    ),
    (
        "a name with the end of a line in it",
        &[
            "find . -type f | xargs -I{} sed -n 1p {}",
            "find . -type f | xargs -I % sed -n 1p %",
            "find . -type f | xargs -i sed -n 1p {}",
            "find . -type f | sort | xargs -I{} sed -n 1p {}",
            "find . -type f | xargs -I{} find {}",
            "find . -type f | while read -r x; do sed -n 1p \"$x\"; done",
        ],
    ),
];

/// What is ordinary beside them, and needs no question.
const READS: &[&str] = &[
    "find . -name '*.rs' | while read -r f; do wc -l \"$f\"; done",
    "find . -name '*.rs' | while IFS= read -r f; do grep -c main \"$f\"; done",
    "find . -name '*.rs' -print0 | while IFS= read -r -d '' f; do head -n 5 \"$f\"; done",
    "git ls-files | while read -r f; do echo \"$f\"; wc -l \"$f\"; done",
    "git ls-files | while read -r f; do git log -1 --format=%h -- \"$f\"; done",
    "git ls-files | while read -r f; do n=$(wc -l < \"$f\"); echo \"$n $f\"; done",
    "show() { wc -l \"$1\"; }; git ls-files | while read -r f; do show \"$f\"; done",
    "find . -type f -print0 | xargs -0 -I{} sed -n 1p {}",
    "find . -type f | xargs -I{} wc -l {}",
    "for f in src/*.rs tests/*.rs; do wc -l \"$f\"; done",
    "for f in README.md docs/*.md; do head -n 1 \"$f\"; done",
    "for f in Cargo.toml crates/*/Cargo.toml; do grep -n version \"$f\"; done",
    "for f in *.c *.h; do if grep -q main \"$f\"; then echo \"$f\"; break; fi; done",
    "cd src && ! grep -q todo main.rs && ls",
    "for d in a b; do (cd src && ls || exit); done",
    "for d in */; do (cd \"$d\" && ls) || continue; done",
    "cd -- src && ls",
    "for t in git jq; do command -v \"$t\"; done; cat README.md",
    "for t in git jq; do \"$t\" --version || continue; done; cat README.md",
    "cd src; for f in *.rs; do grep -q main \"$f\" || continue; wc -l \"$f\"; done; ls",
    "bash <<< 'ls src'",
];

#[test]
fn nothing_that_is_believed_wrongly_counts_as_reading() {
    let stepped = |texts: &[&str]| texts.iter().map(|text| text.replace("UP", UP)).collect();
    none_counts_as_reading(ATTACKS.iter().map(|(class, texts)| (*class, stepped(texts))));
}

#[test]
fn ordinary_loops_and_chains_need_no_question() {
    all_count_as_reading(READS);
}

#[test]
fn a_patch_in_a_here_document_is_read() {
    let header = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\nEOF");
    for (text, free) in [
        (format!("git apply <<'EOF'\n{}", header(".github/workflows/ci.yml")), false),
        (format!("patch -p1 <<EOF\n{}", header(".env")), false),
        (format!("cat <<'EOF' | patch -p1\n{}", header(".env")), false),
        (format!("cat > x.patch <<'EOF'\n{}\ngit apply x.patch", header(".env")), false),
        (format!("cat > x.patch <<'EOF'\n{}\ngit apply x.patch", header("src/a.rs")), true),
        (format!("git apply <<'EOF'\n{}", header("src/a.rs")), true),
    ] {
        assert_eq!(allowed_in_workspace(&analyse(&text, &site())), free, "{text}");
    }
}
