//! Where a value may stand in a shell's text, and where it is refused.

use super::super::text::{self, Known};
use super::*;

fn carried(text: &str) -> Carried {
    let known = Known { uses: &["x".into(), "list".into()], item: Some("item") };
    carry(&text::pieces(text, &known).expect("it reads"))
}

#[track_caller]
fn becomes(cases: &[(&str, &str)]) {
    for (old, new) in cases {
        let carried = carried(old);
        assert_eq!(carried.refused, [], "{old}");
        assert_eq!(carried.text, *new, "{old}");
    }
}

#[track_caller]
fn refused(cases: &[(&str, Refusal)]) {
    for (old, why) in cases {
        let carried = carried(old);
        assert!(carried.refused.iter().any(|(_, refusal)| refusal == why), "{old}: {carried:?}");
    }
}

#[test]
fn a_value_is_one_word_wherever_it_stands() {
    becomes(&[
        ("echo {{use.x}}", "echo \"$NIKA_USE_X\""),
        ("echo {{ use.x.a.b }}", "echo \"$NIKA_USE_X_A_B\""),
        ("cat pre-{{use.x}}.txt", "cat pre-\"$NIKA_USE_X\".txt"),
        ("echo \"hello {{use.x}}!\"", "echo \"hello ${NIKA_USE_X}!\""),
        ("echo 'it is {{use.x}}.'", "echo 'it is '\"$NIKA_USE_X\"'.'"),
        ("echo $'a\\'{{use.x}}'", "echo $'a\\''\"$NIKA_USE_X\"$''"),
        ("echo {{use.x}} {{use.x}} {{item}}", "echo \"$NIKA_USE_X\" \"$NIKA_USE_X\" \"$NIKA_ITEM\""),
        ("A={{use.x}} make", "A=\"$NIKA_USE_X\" make"),
        ("A=\"{{use.x}}\"; echo \"$A\"", "A=\"${NIKA_USE_X}\"; echo \"$A\""),
        ("ls > {{use.x}} 2>&1", "ls > \"$NIKA_USE_X\" 2>&1"),
        ("if [ {{use.x}} = a ]; then ls {{item}}; fi", "if [ \"$NIKA_USE_X\" = a ]; then ls \"$NIKA_ITEM\"; fi"),
        ("echo \"$(basename {{use.x}})\"", "echo \"$(basename \"$NIKA_USE_X\")\""),
        ("echo $(cat \"{{use.x}}\") b", "echo $(cat \"${NIKA_USE_X}\") b"),
        ("a=({{use.x}} 'b'); echo", "a=(\"$NIKA_USE_X\" 'b'); echo"),
        (
            "case {{use.x}} in a) ls;; *) ls {{item}};; esac",
            "case \"$NIKA_USE_X\" in a) ls;; *) ls \"$NIKA_ITEM\";; esac",
        ),
        (
            "x=$(case {{use.x}} in a) ls;; esac); ls '{{item}}'",
            "x=$(case \"$NIKA_USE_X\" in a) ls;; esac); ls ''\"$NIKA_ITEM\"''",
        ),
        ("cat <<< {{use.x}}", "cat <<< \"$NIKA_USE_X\""),
        ("ls # {{use.x}}\nls {{item}}", "ls # use.x\nls \"$NIKA_ITEM\""),
        ("docker inspect --format '{{.State}}' {{use.x}}", "docker inspect --format '{''{.State}}' \"$NIKA_USE_X\""),
        ("echo {{a}} \"{%b%}\" $'{{c}}' # {{d}}", "echo {\\{a}} \"{\"\"%b%}\" $'{'$'{c}}' # { {d}}"),
        ("bash -c 'echo \"$1\"' sh {{use.x}}", "bash -c 'echo \"$1\"' sh \"$NIKA_USE_X\""),
        ("awk -v n={{use.x}} '{print n}' f", "awk -v n=\"$NIKA_USE_X\" '{print n}' f"),
        ("sed 's/a/b/' {{use.x}}", "sed 's/a/b/' \"$NIKA_USE_X\""),
        ("python3 -c 'import sys' {{use.x}}", "python3 -c 'import sys' \"$NIKA_USE_X\""),
        ("sed -es/a/b/ {{use.x}}", "sed -es/a/b/ \"$NIKA_USE_X\""),
        ("awk -vname={{use.x}} '{print}' f", "awk -vname=\"$NIKA_USE_X\" '{print}' f"),
        ("perl -e'print 1' {{use.x}}", "perl -e'print 1' \"$NIKA_USE_X\""),
        ("bash -c -o pipefail 'ls \"$1\"' sh {{use.x}}", "bash -c -o pipefail 'ls \"$1\"' sh \"$NIKA_USE_X\""),
        ("local n={{use.x}}", "local n=\"$NIKA_USE_X\""),
        ("echo {{use.x}} | grep node", "echo \"$NIKA_USE_X\" | grep node"),
        ("cat {{use.x}} | python3 count.py", "cat \"$NIKA_USE_X\" | python3 count.py"),
        ("cat {{use.x}} || bash", "cat \"$NIKA_USE_X\" || bash"),
        ("bash f {{use.x}} | sort", "bash f \"$NIKA_USE_X\" | sort"),
        ("ls &> {{use.x}}", "ls &> \"$NIKA_USE_X\""),
        ("[[ {{use.x}} == a* ]] && ls", "[[ \"$NIKA_USE_X\" == a* ]] && ls"),
        ("diff <(sort {{use.x}}) b", "diff <(sort \"$NIKA_USE_X\") b"),
    ]);
}

#[test]
fn a_here_document_takes_values_as_they_are() {
    becomes(&[
        ("cat <<EOF\nhi {{use.x}}\nEOF\nls {{item}}", "cat <<EOF\nhi ${NIKA_USE_X}\nEOF\nls \"$NIKA_ITEM\""),
        ("cat <<-E | sort\n\ta {{use.x}}\n\tE\nls", "cat <<-E | sort\n\ta ${NIKA_USE_X}\n\tE\nls"),
        ("cat <<'E'\n$x `\"'\nE\nls {{use.x}}", "cat <<'E'\n$x `\"'\nE\nls \"$NIKA_USE_X\""),
    ]);
    refused(&[
        ("cat <<'E'\n{{use.x}}\nE\n", QUOTED_DOCUMENT),
        ("bash <<E\necho {{use.x}}\nE\n", PROGRAM),
        ("python3 - <<'E'\nprint('{{use.x}}')\nE\n", PROGRAM),
        ("cat <<{{use.x}}\n", DELIMITER),
        ("cat <<E | bash\necho {{use.x}}\nE\n", PROGRAM),
        ("cat <<E |\necho {{use.x}}\nE\n  bash\n", PROGRAM),
        ("<<E bash\necho {{use.x}}\nE\n", PROGRAM),
        ("cat <<E | (cd a && sudo python3.12)\nprint({{use.x}})\nE\n", PROGRAM),
    ]);
    becomes(&[("cat <<E\n{{use.x}}\nE\nbash f\n", "cat <<E\n${NIKA_USE_X}\nE\nbash f\n")]);
}

#[test]
fn what_a_shell_or_a_program_would_run_is_refused() {
    refused(&[
        ("{{use.x}}", COMMAND),
        ("./bin-{{use.x}} a", COMMAND),
        ("ls; {{use.x}}", COMMAND),
        ("ls && \"{{use.x}}\" b", COMMAND),
        ("A=1 {{use.x}}", COMMAND),
        ("if {{use.x}}; then ls; fi", COMMAND),
        ("echo $({{use.x}})", COMMAND),
        ("( {{use.x}} )", COMMAND),
        ("eval {{use.x}}", PROGRAM),
        ("bash -c 'echo {{use.x}}'", PROGRAM),
        ("sudo sh -lc \"echo {{use.x}}\"", PROGRAM),
        ("sh -c \"$(echo {{use.x}})\"", PROGRAM),
        ("python3 -c \"print('{{use.x}}')\"", PROGRAM),
        ("node -e 'console.log({{use.x}})'", PROGRAM),
        ("sed 's/a/{{use.x}}/' f", PROGRAM),
        ("sed -e s/a/b/ -e 's/a/{{use.x}}/' f", PROGRAM),
        ("awk '/{{use.x}}/' f", PROGRAM),
        ("ssh host ls {{use.x}}", PROGRAM),
        ("xargs sh -c 'ls {{use.x}}'", PROGRAM),
        ("bash -c -- 'echo {{use.x}}'", PROGRAM),
        ("bash -c -x 'echo {{use.x}}'", PROGRAM),
        ("bash -c -o pipefail \"echo {{use.x}}\"", PROGRAM),
        ("su -c'echo {{use.x}}' me", PROGRAM),
        ("fish --command='echo {{use.x}}'", PROGRAM),
        ("bash <<< \"{{use.x}}\"", PROGRAM),
        ("<<<{{use.x}} sudo bash", PROGRAM),
        ("bash <(echo {{use.x}})", PROGRAM),
        ("source <(echo {{use.x}})", PROGRAM),
        ("echo {{use.x}} | bash", PROGRAM),
        ("echo {{use.x}} 2>&1 | tee f |& sudo bash -s a", PROGRAM),
        ("ls; { echo a; echo {{use.x}}; } | sh", PROGRAM),
        ("for i in a b; do echo {{use.x}}; done |\n python3 -", PROGRAM),
        ("echo {{use.x}} | (cd a; ssh host)", PROGRAM),
        ("echo {{use.x}} | xargs -I{} sh -c 'ls {}'", PROGRAM),
        ("perl -e'print {{use.x}}'", PROGRAM),
        ("node -pe 'f({{use.x}})'", PROGRAM),
        ("echo {{use.x}} | perl -MFile::Temp", PROGRAM),
        ("perl -w -ne'print {{use.x}}' f", PROGRAM),
        ("python3 -c'print({{use.x}})'", PROGRAM),
        ("python3.12 -c 'print({{use.x}})'", PROGRAM),
        ("node --eval='f({{use.x}})'", PROGRAM),
        ("sed -e's/a/{{use.x}}/' f", PROGRAM),
        ("sed -ne 's/a/{{use.x}}/' f", PROGRAM),
        ("sed --expression=\"s/a/{{use.x}}/\" f", PROGRAM),
        ("gawk -i inplace '/{{use.x}}/' f", PROGRAM),
        ("env -S 'ls {{use.x}}'", PROGRAM),
        ("ls {{use.x}}; sh -c \"$(echo {{use.x}})\"", PROGRAM),
        ("f() { {{use.x}}; }", COMMAND),
        ("declare -i N={{use.x}}", ARITHMETIC),
        ("f() { local -i N={{use.x}}; }", ARITHMETIC),
        ("typeset -xi N=\"{{use.x}}\"", ARITHMETIC),
        ("declare -i N\nN={{use.x}}", ARITHMETIC),
        ("declare {{use.x}}", ARITHMETIC),
        ("echo $(( {{use.x}} + 1 ))", ARITHMETIC),
        ("(( {{use.x}} > 1 ))", ARITHMETIC),
        ("[[ {{use.x}} -gt 1 ]]", ARITHMETIC),
        ("echo ${a:-{{use.x}}}", PARAMETER),
        ("echo `ls {{use.x}}`", BACKTICKS),
        ("for f in {{use.list}}; do echo $f; done", LOOP),
        ("echo ${{use.x}}", DOLLAR),
        ("echo \\{{use.x}}", DOLLAR),
    ]);
}

#[test]
fn two_values_never_share_a_variable() {
    let known = Known { uses: &["a".into(), "a_b".into()], item: None };
    let carried = carry(&text::pieces("echo {{use.a.b}} {{use.a_b}} {{use.a.b}}", &known).expect("it reads"));
    let names: Vec<&str> = carried.env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["NIKA_USE_A_B", "NIKA_USE_A_B_2"]);
    assert_eq!(carried.text, "echo \"$NIKA_USE_A_B\" \"$NIKA_USE_A_B_2\" \"$NIKA_USE_A_B\"");
}
