//! What rules on commands make of their words. Other ways to write a command, for rules that deny or ask: whoever writes
//! `exec(git push*)` means `git -C . push`, too. And where the rest of a command is code, for rules that allow.

/// The same command in the words of a rule: by its program's bare name, `git-push` as `git push`, and without what stands
/// before its subcommand. As which option takes the next word is not known here, each such word is tried as both.
pub fn readings(argv: &[String]) -> Vec<Vec<String>> {
    let Some((program, words)) = argv.split_first() else { return Vec::new() };
    let name = program.rsplit('/').next().unwrap_or(program);
    let mut head = vec![name.to_owned()];
    if let Some(subcommand) = name.strip_prefix("git-").filter(|rest| !rest.is_empty()) {
        head = vec!["git".to_owned(), subcommand.to_owned()];
    }
    let from = |at: usize| head.iter().chain(words.iter().skip(at)).cloned().collect();
    let mut all: Vec<Vec<String>> = vec![from(0)];
    if head.len() > 1 {
        return all;
    }
    let is_option = |word: &String| word.starts_with(['-', '+']);
    let takes_next = |word: &String| word.starts_with('-') && !word.contains('=');
    let mut before: Option<&String> = None;
    for (at, word) in words.iter().enumerate() {
        if !is_option(word) {
            if at > 0 {
                all.push(from(at));
            }
            if !before.is_some_and(takes_next) {
                break;
            }
        }
        before = Some(word);
    }
    all
}

/// Words of a command that are looked at for another command, and pieces of one word: more than a person writes.
const LOOKED_AT: usize = 64;

/// Programs that run a command, or the text of one, which stands in their words.
const RUNNERS: &str = "exec command builtin env nice nohup timeout time stdbuf setsid ionice chrt taskset xargs parallel watch flock script \
    unshare nsenter chroot sudo doas su runuser pkexec bash sh dash zsh ksh ash fish eval ssh mosh tmux screen find fd git";

/// What stands before a command in a text and is none.
const BEFORE: &str = "if then elif else while until do ! { ( time exec command builtin env sudo nohup";

/// The commands that may stand in the words of one that runs others: `exec -a x git push`, `env -S 'git push'`,
/// `git rebase -x 'cd a; git push'`. Each is cut to its first `most` words.
pub fn within(argv: &[String], most: usize) -> Vec<Vec<String>> {
    let name = argv.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
    // A variable that decides what runs has no program before it.
    if !name.is_empty() && !RUNNERS.split_whitespace().any(|runner| runner == name) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (at, word) in argv.iter().enumerate().take(LOOKED_AT).skip(1) {
        all.push(argv.iter().skip(at).take(most).cloned().collect());
        for command in word.split([';', '&', '|', '\n', '(', ')', '`', '{', '}']).take(LOOKED_AT) {
            let bare = |word: &str| word.trim_matches(['"', '\'']).to_owned();
            let skipped = |word: &&str| word.contains('=') || BEFORE.split_whitespace().any(|before| before == *word);
            let words: Vec<String> = command.split_whitespace().skip_while(skipped).take(most).map(bare).collect();
            if words.len() > 1 {
                all.push(words);
            }
        }
    }
    all
}

/// Whether the name of the program is only known when it runs: `$(echo git) push`, `"$GIT" push`, `/usr/bin/gi? push`.
/// Whoever forbids `git push` forbids that, too; what the words behind it say is all there is to go by.
pub fn is_unknown(argv: &[String]) -> bool {
    argv.first().is_some_and(|program| program.contains(['$', '`', '…', '*', '?', '[']) && program != "[")
}

/// What is known of a word that is only known when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unknown<'w> {
    /// What it starts with.
    pub start: &'w str,
    /// It may be no word, or several.
    pub splits: bool,
}

/// What is known of a word in which something is filled in when it runs: `$(echo push)`, `"$x"`, `pu$x`, `pus?`. None for
/// any other. A pattern of which nothing is known is not one: it names files, of which few are called as options are.
pub fn unknown(word: &str) -> Option<Unknown<'_>> {
    let bare = word.trim_start_matches(['"', '\'']);
    let end = bare.find(['$', '`', '…', '*', '?', '[', '"', '\'', '\\', '{']).unwrap_or(bare.len());
    let start = bare.get(..end).unwrap_or_default();
    if word.contains(['$', '`', '…']) {
        return Some(Unknown { start, splits: !(word.starts_with('"') && word.ends_with('"')) });
    }
    (word.contains(['*', '?', '[']) && !start.is_empty()).then_some(Unknown { start, splits: true })
}

/// Options of git that take the next word. All others before its subcommand take none.
const VALUES_OF_GIT: [&str; 7] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"];

/// The command in the words of a rule, as [`readings`] has it, where the word behind the program may not be known. One word
/// behind an option is its value; one that may be several words is the subcommand as well.
pub fn readings_of_unknown(argv: &[String]) -> Vec<Vec<String>> {
    let Some((program, words)) = argv.split_first() else { return Vec::new() };
    let name = program.rsplit('/').next().unwrap_or(program);
    let from = |at: usize| [name.to_owned()].into_iter().chain(words.iter().skip(at).cloned()).collect::<Vec<_>>();
    let mut all = Vec::new();
    let mut before: Option<&str> = None;
    for (at, word) in words.iter().enumerate() {
        let option = word.starts_with(['-', '+']);
        let value = before.is_some_and(|option| {
            option.starts_with('-') && !option.contains('=') && (name != "git" || VALUES_OF_GIT.contains(&option))
        });
        if !option && (!value || unknown(word).is_some_and(|unknown| unknown.splits)) {
            all.push(from(at));
        }
        if !option && !value {
            return all;
        }
        before = option.then_some(word);
    }
    // A program whose rule begins with options: `rm -rf`.
    all.push(from(0));
    all
}

/// Options behind which text is code, for whatever program: `-c` and `-e` at the end of a bundle, too.
const CODE: [&str; 9] =
    ["eval", "--eval", "--evaluate", "--exec", "--execute", "--command", "--run", "-Command", "-EncodedCommand"];

/// Programs that have more of them, and their letters; `-` alone is code from standard input.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python python2 python3 pypy pypy3", "c"),
    ("node nodejs bun deno", "ep"),
    ("perl", "eEpn"),
    ("ruby jruby", "enp"),
    ("php", "rBRE"),
    ("julia", "eE"),
    ("sh bash dash zsh ksh ash fish", "cs"),
    ("lua luajit Rscript R elixir iex ghc groovy scala osascript tclsh awk gawk", "ef"),
];

/// Whether a rule that leaves free what stands at `cut` and behind it would leave code free.
pub fn takes_code(argv: &[String], cut: usize) -> bool {
    let before = argv.get(..cut).unwrap_or_default();
    let letters = |word: &str| word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).map(str::to_owned);
    let any = |word: &String| {
        let bundle = letters(word).filter(|rest| rest.chars().all(|c| c.is_ascii_alphabetic()));
        CODE.contains(&word.as_str()) || bundle.is_some_and(|rest| rest.ends_with(['c', 'e']))
    };
    let versioned = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or(word).to_owned();
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned()
    };
    let of = |word: &String| {
        let name = versioned(word);
        INTERPRETERS.iter().find(|(names, _)| names.split(' ').any(|known| known == name))
    };
    let interpreter = before.iter().enumerate().find_map(|(at, word)| Some((at, of(word)?.1)));
    let own = |(at, codes): (usize, &str)| {
        // Its options end with its script.
        let options = argv.get(at + 1..=cut.min(argv.len().saturating_sub(1))).unwrap_or_default().iter();
        let mut options = options.take_while(|word| word.starts_with('-'));
        options.any(|word| word == "-" || letters(word).is_some_and(|rest| rest.contains(|c| codes.contains(c))))
    };
    before.last().is_some_and(any) || interpreter.is_some_and(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_behind_its_options() {
        let any = |text: &str, wanted: &str| {
            let argv: Vec<String> = text.split(' ').map(str::to_owned).collect();
            readings(&argv).iter().any(|words| words.join(" ") == wanted)
        };
        for (text, wanted) in [
            ("/usr/bin/git push", "git push"),
            ("git -C . push origin", "git push origin"),
            ("git -C . --no-pager push", "git push"),
            ("git --no-pager -C . -c a=b push -f", "git push -f"),
            ("git --git-dir=x -P push", "git push"),
            ("/usr/lib/git-core/git-push origin", "git push origin"),
            ("kubectl -n prod delete pod x", "kubectl delete pod x"),
            ("cargo +nightly --offline publish", "cargo publish"),
            ("npm --silent publish", "npm publish"),
        ] {
            assert!(any(text, wanted), "{text}");
        }
        for (text, other) in
            [("git log push", "git push"), ("git commit -m push", "git push"), ("echo a rm", "echo rm")]
        {
            assert!(!any(text, other), "{text}");
        }
        assert!(readings(&[]).is_empty());
    }

    #[test]
    fn a_command_may_stand_in_the_words_of_another() {
        let holds = |text: &str, wanted: &str| {
            let argv: Vec<String> = text.split('|').map(str::to_owned).collect();
            within(&argv, 9).iter().any(|words| words.join(" ") == wanted)
        };
        for (text, wanted) in [
            ("exec|-a|x|git|push", "git push"),
            ("env|-S|git push", "git push"),
            ("git|rebase|-x|cd a; git push -f", "git push -f"),
            ("bash|+x|-c|git push", "git push"),
            ("git|submodule|foreach|git|push", "git push"),
            ("bash|+x|-c|A=1 git push", "git push"),
            ("bash|+x|-c|if true; then git push; fi", "git push"),
        ] {
            assert!(holds(text, wanted), "{text}");
        }
        assert!(!holds("ssh|git pushes", "git push"));
        assert!(!holds("docker|rm|x", "rm x"));
    }

    #[test]
    fn a_rule_does_not_leave_code_free() {
        let takes = |text: &str| {
            let argv: Vec<String> = text.split('|').map(str::to_owned).collect();
            takes_code(&argv, argv.len() - 1)
        };
        for text in [
            "python3|-c|import os",
            "/usr/bin/python3.12|-I|-c|import os",
            "python3|-Ic|import os",
            "python3|-I|-cimport os",
            "python3|-|a b",
            "node|-e|a b",
            "node|--input-type=module|--eval|a b",
            "node|-p|a b",
            "deno|eval|a b",
            "perl|-ne|print if",
            "perl|-w|-Mstrict|-eprint 1",
            "perl|-pi|-e|a b",
            "ruby|-e|a b",
            "php|-r|a b",
            "bash|-c|a b",
            "bash|-lc|a b",
            "sh|-xc|a b",
            "bash|-s|a b",
            "timeout|5|python3|-c|a b",
            "env|python3|-c|a b",
            "xargs|-n1|sh|-c|a b",
            "docker|exec|x|sh|-c|a b",
            "git|-c|alias.x=!a b",
            "psql|-c|drop table",
            "mysql|-e|drop table",
            "Rscript|-e|a b",
            "julia|-E|a b",
            "lua5.4|-e|a b",
            "osascript|-e|a b",
            "pwsh|-Command|a b",
            "elixir|--eval|a b",
            "nix-shell|--run|a b",
            "su|-c|a b",
        ] {
            assert!(takes(text), "{text}");
        }
        for text in [
            "git|commit|-m|a b",
            "python3|tools/x.py|--title|a b",
            "python3|tools/x.py|-n|a b",
            "bash|run.sh|a b",
            "bash|run.sh|-s|a b",
            "npm|run|x|--|a b",
            "cargo|test|a b",
            "node|build.js|-p|a b",
            "mkdir|-p|a b",
            "php|artisan|x|a b",
            "grep|-r|a b",
        ] {
            assert!(!takes(text), "{text}");
        }
    }

    #[test]
    fn a_program_that_is_not_known_is_seen() {
        let unknown = |text: &str| is_unknown(&[text.to_owned(), "push".to_owned()]);
        for text in ["$(echo git)", "\"$GIT\"", "`which git`", "…", "/usr/bin/gi?", "*/git"] {
            assert!(unknown(text), "{text}");
        }
        for text in ["git", "[", "./run.sh", "/usr/bin/git"] {
            assert!(!unknown(text), "{text}");
        }
        assert!(!is_unknown(&[]));
    }
}
