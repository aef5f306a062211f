//! Which words of a command are read as a program by what it starts.
//!
//! Every word counts as the one that may begin a command, since `sudo`, `env` and `xargs` stand before others. This
//! knows names and options alone; where it is unsure it says yes, and the value is refused with what to write instead.

/// Programs that read a word, or their input, as shell text.
const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh", "nu", "pwsh", "su", "runuser"];
/// Programs that read the word after one of these options as a program: name without its version, letters of options.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "c"),
    ("pypy", "c"),
    ("perl", "eE"),
    ("ruby", "e"),
    ("node", "ep"),
    ("nodejs", "ep"),
    ("deno", "e"),
    ("bun", "e"),
    ("php", "rBRE"),
    ("lua", "e"),
    ("luajit", "e"),
    ("Rscript", "e"),
    ("osascript", "e"),
];
/// Long options whose value is a program.
const LONG: &[&str] = &[
    "--eval",
    "--print",
    "--command",
    "--commands",
    "--init-command",
    "--session-command",
    "--run",
    "--execute",
    "--expression",
    "--source",
];
/// Options of shells that have a value, beside those that end with `o` or `O`.
const SHELL_VALUES: &[&str] = &["--rcfile", "--init-file"];
/// Programs whose first word is a program, unless an option named a file; with the options that have a value.
const FIRST_WORD: &[(&str, &[&str])] = &[
    ("sed", &["-l", "--line-length"]),
    ("gsed", &["-l", "--line-length"]),
    ("awk", AWK_VALUES),
    ("gawk", AWK_VALUES),
    ("mawk", AWK_VALUES),
    ("nawk", AWK_VALUES),
    ("trap", &[]),
];
const AWK_VALUES: &[&str] = &["-v", "-F", "-i", "-l", "--assign", "--field-separator", "--include", "--load"];
/// Programs that make a command of all their words.
const ALL_WORDS: &[&str] = &["eval", "let", "watch", "parallel", "alias", "ssh"];
/// Builtins that give variables a type, which decides how their values are read.
const DECLARATIONS: &[&str] = &["declare", "typeset", "local", "integer"];
/// Programs that begin no other one: a word of theirs is no name of a command.
const PLAIN: &[&str] = &[
    "echo", "printf", "cat", "tee", "grep", "egrep", "fgrep", "rg", "head", "tail", "sort", "wc", "cut", "tr", "jq",
    "cp", "mv", "rm", "ls", "mkdir", "touch", "cd", "diff",
];

/// Whether the word that comes next after `words`, and begins as `word`, is read as a program.
pub(super) fn program(words: &[String], word: Option<&str>) -> bool {
    let word = word.unwrap_or_default();
    (0..words.len()).any(|at| {
        let (name, after) = (base(&words[at]), &words[at + 1..]);
        if SHELLS.contains(&name) {
            return option(word, "cC") || handed_over(after, |word| option(word, "cC"), SHELL_VALUES);
        }
        if let Some(letters) = interpreter(name) {
            return option(word, letters) || handed_over(after, |word| awaits(word, letters), &[]);
        }
        if let Some((_, values)) = FIRST_WORD.iter().find(|(known, _)| *known == name) {
            return first_word(after, word, values);
        }
        match name {
            // The host is a word; what follows it is a command over there.
            "ssh" => after.iter().any(|word| !word.starts_with('-')),
            // One word that is taken apart to a command.
            "env" => {
                let last = after.last().map(String::as_str).unwrap_or_default();
                word.starts_with("-S") || word.starts_with("--split-string") || matches!(last, "-S" | "--split-string")
            }
            name => ALL_WORDS.contains(&name),
        }
    })
}

/// Whether the shell evaluates the value of the word after `words`, which begins as `word`: `declare -i n=…` counts
/// it, `declare -a` and `-n` run what stands in brackets, and so does a name that is not known.
pub(super) fn declared(words: &[String], word: &str) -> bool {
    let named = words.first().map(|first| base(first)).filter(|name| matches!(*name, "builtin" | "command"));
    let words = if named.is_some() { &words[1..] } else { words };
    let Some((first, after)) = words.split_first() else { return false };
    let typed = after.iter().any(|word| word.starts_with('-') && word.contains(['i', 'a', 'A', 'n']));
    match base(first) {
        "export" | "readonly" => typed,
        name if DECLARATIONS.contains(&name) => typed || name == "integer" || !super::shell::assigns(word),
        _ => false,
    }
}

/// Whether a simple command makes numbers of variables: what is assigned to them from then on is arithmetic.
pub(super) fn makes_integers(words: &[String]) -> bool {
    let begins = |word: &String| DECLARATIONS.contains(&base(word)) || base(word) == "readonly";
    words.iter().position(begins).is_some_and(|at| {
        base(&words[at]) == "integer" || words[at + 1..].iter().any(|word| word.starts_with('-') && word.contains('i'))
    })
}

/// Whether a simple command names a program that runs what it reads, wherever it stands in the command.
pub(super) fn reads_input(words: &[String]) -> bool {
    starts(words).any(|at| reader(words, at))
}

/// Whether a simple command runs its input: it names such a program, and hands it no program as a word or a file.
pub(super) fn runs_input(words: &[String]) -> bool {
    starts(words).any(|at| {
        let (name, after) = (base(&words[at]), &words[at + 1..]);
        if !reader(words, at) {
            return false;
        }
        let operands = after.iter().filter(|word| !word.starts_with('-')).count();
        let attached = interpreter(name).is_some_and(|letters| after.iter().any(|word| given(word, letters)));
        // What `xargs` reads becomes words of the program.
        words[..at].iter().any(|word| matches!(base(word), "xargs" | "parallel"))
            || after.iter().any(|word| matches!(word.as_str(), "-" | "-s" | "/dev/stdin"))
            || operands <= usize::from(matches!(name, "ssh" | "su" | "runuser")) && !attached
    })
}

/// Where in `words` a command may begin.
fn starts(words: &[String]) -> std::ops::Range<usize> {
    let plain = words.first().is_some_and(|first| PLAIN.contains(&base(first)));
    0..if plain { 1 } else { words.len() }
}

fn reader(words: &[String], at: usize) -> bool {
    let name = base(&words[at]);
    let sources = at == 0 && matches!(words[0].as_str(), "." | "source");
    sources || name == "ssh" || SHELLS.contains(&name) || interpreter(name).is_some()
}

/// Letters of the options of an interpreter, whatever its version: `python3.12`.
fn interpreter(name: &str) -> Option<&'static str> {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    INTERPRETERS.iter().find(|(known, _)| *known == name).map(|(_, letters)| *letters)
}

/// Whether a word is an option for a program: `-c`, `-lc`, `-e'…'`, `--eval=…`.
fn option(word: &str, letters: &str) -> bool {
    let short = word.starts_with('-') && !word.starts_with("--") && word.contains(|c| letters.contains(c));
    let name = word.split('=').next().unwrap_or_default();
    short || word.starts_with("--") && LONG.contains(&name)
}

/// Whether an option surely has a program, in its word or the next: in `-MFile::Temp` the letter is of a name.
fn given(word: &str, letters: &str) -> bool {
    let before = word.split(|c| letters.contains(c)).next().unwrap_or_default();
    option(word, letters) && !before.contains(['M', 'm', 'I', 'W', 'X', 'r'])
}

/// Whether an option of an interpreter has its program in the next word: `-ne`, but not `-e'print 1'`.
fn awaits(word: &str, letters: &str) -> bool {
    let first = word.find(|c| letters.contains(c)).unwrap_or(word.len());
    option(word, letters) && (word.starts_with("--") || word[first..].chars().all(|c| letters.contains(c)))
}

/// Whether an option for a program stands in `after`, and the program itself is still to come: other options, their
/// values (`-o pipefail`) and `--` may stand between.
fn handed_over(after: &[String], awaits: impl Fn(&str) -> bool, values: &[&str]) -> bool {
    (0..after.len()).filter(|at| awaits(&after[*at]) && !after[*at].contains('=')).any(|at| {
        after[at..].windows(2).all(|pair| {
            let dashed = |word: &str| word.starts_with(['-', '+']);
            let of_option = dashed(&pair[0]) && (pair[0].ends_with(['o', 'O']) || values.contains(&pair[0].as_str()));
            dashed(&pair[1]) || of_option
        })
    })
}

/// The same for a program whose first word is one.
fn first_word(after: &[String], word: &str, values: &[&str]) -> bool {
    // `-ne'…'`, but not `-vname=…`, `-F…` and `-ffile`, where letters belong to a value.
    let attached = |word: &str| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
        letters.find('e').is_some_and(|at| !letters[..at].contains(['v', 'F', 'f']))
            || word.starts_with("--") && LONG.contains(&word.split('=').next().unwrap_or_default())
    };
    let last = after.last().map(String::as_str).unwrap_or_default();
    let awaits = |word: &str| matches!(word, "--expression" | "--source") || attached(word) && word.ends_with('e');
    if attached(word) || awaits(last) {
        return true;
    }
    let value_of_option = values.contains(&last) || matches!(last, "-f" | "--file");
    let taken = after.windows(2).filter(|pair| values.contains(&pair[0].as_str())).count();
    let operands = after.iter().filter(|word| !word.starts_with('-')).count();
    let given = after.iter().any(|word| attached(word) && !awaits(word));
    !given && operands <= taken && !value_of_option && (!word.starts_with('-') || last == "--")
}

pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
