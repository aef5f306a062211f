//! Rights, wrappers, and help that stops there.

use super::*;

#[test]
fn set_user_id_is_a_right() {
    for (line, right) in [
        ("chmod 755 a", false),
        ("chmod 0755 a", false),
        ("chmod +x a", false),
        ("chmod u+s a", true),
        ("chmod 4755 a", true),
        ("chmod 02755 a", true),
        ("chmod 1777 a", false),
    ] {
        assert_eq!(facts(line).iter().any(|fact| matches!(fact, Fact::Privilege(_))), right, "{line}");
    }
}

#[test]
fn a_listing_feeds_xargs() {
    let piped = |left: &str, right: &str| {
        let stages: Vec<_> = left.split(" | ").map(words).collect();
        let stages: Vec<_> = stages.iter().map(Vec::as_slice).collect();
        is_harmless(&facts_from(
            right,
            Stdin::Pipe { printed: Printed::by(&stages, &site()), remote: false, told: None, hint: None },
        ))
    };
    for (left, right) in [
        ("find . -name '*.py'", "xargs wc -l"),
        ("find src -type f -print0", "xargs -0 grep -l x"),
        ("grep -l x -r .", "xargs head"),
        ("grep -rl x . | sort", "xargs wc -l"),
        ("ls", "xargs -n1 basename"),
        ("ls | head -5", "xargs wc -l"),
        ("git ls-files", "xargs wc -l"),
        ("git ls-files '*.rs' | head", "xargs cat"),
        ("rg -l x", "xargs cat"),
        ("fd -e py", "xargs wc -l"),
        ("find . -name x", "xargs -I{} head -1 {}"),
        ("find . -name x -print0", "xargs -0 sort"),
        ("echo a.txt b.txt", "xargs cat"),
        ("echo a b", "xargs -n 1 wc -l"),
        ("find . -name x", "xargs"),
        ("cat list.txt", "xargs echo"),
    ] {
        assert!(piped(left, right), "{left} | {right}");
    }
    for (left, right) in [
        ("cat list.txt", "xargs cat"),
        ("grep x list.txt", "xargs cat"),
        ("find . -name x", "xargs rm"),
        ("find . -printf '%f'", "xargs cat"),
        ("ls", "xargs sort"),
        // Blanks in a name make words of it.
        ("find . -name x", "xargs sort"),
        ("ls", "xargs rm"),
        ("find . -name x", "xargs -I{} sh -c 'cat {}'"),
        ("find . -name x", "xargs sh"),
        ("find . | sed s/a/b/", "xargs cat"),
        ("find . | sort list.txt", "xargs cat"),
        ("echo /etc/shadow", "xargs cat"),
        ("find . | grep -h x y", "xargs cat"),
        ("find . -name x", "xargs -a list cat"),
        ("find . -exec cat {} +", "xargs cat"),
        ("ls -l", "xargs cat"),
        ("git log", "xargs cat"),
        ("echo rm", "xargs -I{} {} a"),
    ] {
        assert!(!piped(left, right), "{left} | {right}");
    }
}

#[test]
fn text_for_a_shell_is_a_script() {
    let fed = |text: &str, line: &str| is_harmless(&facts_from(line, Stdin::Text(text.to_owned())));
    assert!(fed("ls -la", "bash"));
    assert!(fed("ls -la", "sh -s"));
    assert!(!fed("rm a", "bash"));
    assert!(!fed("a.txt", "xargs rm -f"));
    assert!(fed("a.txt b.txt", "xargs cat"));
    assert!(!fed("/etc/shadow", "xargs cat"));
}

#[test]
fn help_and_version_are_harmless_alone() {
    all_harmless(&[
        "ls --help",
        "tar --version",
        "sort --help",
        "rm --help",
        "sudo --help",
        "systemctl stop --help",
        "dd --version",
        "rg --version",
        "rg -V",
    ]);
    none_harmless(&["rm --help x", "rm x --version", "unknown --help", "systemctl frobnicate --help"]);
}
