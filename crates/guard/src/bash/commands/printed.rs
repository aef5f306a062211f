//! How a command is known to print what becomes words of others: names, numbers, parts of paths.

use std::path::Path;

use super::super::globs;
use super::super::judge::{Arg, Word};
use super::super::lang::find;
use super::super::words::{Output, Start};
use super::filters;
use super::piped::Printed;
use super::spec::{self, Parsed};

/// How all that a pipeline of names prints begins, where each name lies below the working directory: as one name, which
/// it is in quotes, it does, too.
pub(in super::super) fn begins(output: Output, stages: &[&[Arg]]) -> Option<&'static str> {
    let (lister, filters) = stages.split_first()?;
    let below = |arg: &Arg| filters::text(arg).is_some_and(|text| !text.starts_with('/') && !text.contains(".."));
    if !matches!(output.start, Start::Here | Start::Anyhow) || !lister.iter().skip(1).all(below) {
        return None;
    }
    // What sorts, or leaves out lines, may begin amid a name with the end of a line in it.
    let from_the_top = filters.iter().all(|argv| argv.first().and_then(Arg::exact) == Some("head"));
    Some(if from_the_top { output.start.text() } else { "" })
}

/// Whether a command prints the name of a user: no option, and no path.
pub(in super::super) fn user_name(argv: &[Arg]) -> bool {
    let words: Option<Vec<&str>> = argv.iter().map(Arg::exact).collect();
    matches!(words.as_deref(), Some(["whoami" | "logname"] | ["id", "-un"]))
}

/// The directory or the last part of a path that is written out.
pub(in super::super) fn path_part(argv: &[Arg]) -> Option<String> {
    let [program, path] = argv else { return None };
    let path = path.exact().filter(|path| {
        !path.is_empty() && !path.starts_with('-') && !path.ends_with(['/', '\n']) && !path.contains("//")
    })?;
    let (above, last) = path.rsplit_once('/').map_or((".", path), |(above, last)| (above, last));
    match program.exact()? {
        "dirname" if above.is_empty() => Some("/".to_owned()),
        "dirname" => Some(above.to_owned()),
        "basename" => Some(last.to_owned()),
        _ => None,
    }
}

/// The last part of a name that a pattern finds, without its ending where that is cut off: `*` of `basename src/*.c .c`. No
/// such name begins with a dot, and a part of it is left.
pub(in super::super) fn last_part(argv: &[Arg]) -> Option<(String, String)> {
    let (program, rest) = argv.split_first()?;
    let rest = rest.strip_prefix([program.with("--")].as_slice()).unwrap_or(rest);
    let (file, ending) = match rest {
        [file] => (file, ""),
        [file, ending] => (file, ending.exact()?),
        _ => return None,
    };
    let Word::Glob { pattern, .. } = &file.word else { return None };
    let last = pattern.rsplit('/').next()?;
    let plain = last.chars().all(|c| c.is_ascii_alphanumeric() || "._-*".contains(c)) && !last.contains("**");
    let shown = plain && last.starts_with(|c: char| c == '*' || c.is_ascii_alphanumeric()) && !pattern.starts_with('-');
    let name =
        last.strip_suffix(ending).filter(|name| shown && name.contains('*') && program.exact() == Some("basename"))?;
    Some((name.to_owned(), name.split('*').next().unwrap_or_default().to_owned()))
}

/// The directory of a name that a pattern finds, where that is a pattern, too: `packages/*` of `packages/*/package.json`.
pub(in super::super) fn pattern_above(argv: &[Arg]) -> Option<(String, String)> {
    let [program, Arg { word: Word::Glob { pattern, prefix }, .. }] = argv else { return None };
    let (above, last) = pattern.rsplit_once('/')?;
    let plain = last.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let fits = program.exact() == Some("dirname") && plain && !last.is_empty() && !pattern.contains("//");
    (fits && prefix.contains('/') && !prefix.starts_with(['-', '/']) && above.starts_with(prefix.as_str()))
        .then(|| (above.to_owned(), prefix.clone()))
}

/// What git says about the work tree: its changes, or the files of a commit.
pub(super) fn of_git(argv: &[Arg]) -> Option<Printed> {
    let parsed = spec::parse(super::find("git")?, argv);
    let between_commits = || parsed.operands.iter().filter_map(Arg::exact).any(|word| word.contains(".."));
    match parsed.path.get(1).map(String::as_str) {
        Some("diff") if !parsed.has("name-only name-status stat") && !between_commits() => Some(Printed::Changes),
        Some("archive") => Some(Printed::Stored),
        _ => None,
    }
}

/// Whether a command prints what files hold that are named, and nothing else.
pub(super) fn prints_files(name: &str, argv: &[Arg]) -> bool {
    let files = argv.get(1..).unwrap_or_default();
    let is_device = |text: &str| text.split('/').any(|part| matches!(part, "dev" | "proc"));
    let named = |arg: &Arg| arg.exact().is_some_and(|text| !text.starts_with('-') && !is_device(text));
    matches!(name, "cat" | "zcat" | "gzcat" | "xzcat" | "bzcat" | "zstdcat")
        && !files.is_empty()
        && files.iter().all(named)
}

/// Whether these print the numbers of lines that grep finds in a file: `grep -n main a.c | head -1 | cut -d: -f1`. Of a file
/// that is no text it says so instead, in a line that begins with `grep` or `Binary`.
pub(super) fn line_numbers(stages: &[&[Arg]]) -> bool {
    let words = |argv: &[Arg]| argv.iter().map(Arg::exact).collect::<Option<Vec<_>>>().unwrap_or_default().join("\n");
    let cuts = |argv: &&&[Arg]| FIRST_FIELDS.contains(&words(argv).replace('\n', " ").as_str());
    let passes = |argv: &[Arg]| {
        let name = argv.first().and_then(Arg::exact).unwrap_or_default();
        let line = |line: &str| line.strip_suffix('p').is_some_and(|line| line == "$" || line.parse::<u32>().is_ok());
        matches!(name, "head" | "tail" | "sort") && filters_lines(name, argv)
            || matches!(argv, [_, quiet, only] if quiet.exact() == Some("-n") && only.exact().is_some_and(line) && name == "sed")
    };
    let Some((grep, rest)) = stages.split_first() else { return false };
    finds_lines(&words(grep).split('\n').collect::<Vec<_>>())
        && rest.iter().filter(cuts).count() == 1
        && rest.iter().all(|argv| cuts(&argv) || passes(argv))
}

/// What leaves the text before the first colon of each line.
const FIRST_FIELDS: &[&str] = &[
    "cut -d: -f1",
    "cut -f1 -d:",
    "cut -d : -f 1",
    "cut -d : -f1",
    "cut -f 1 -d :",
    "cut -f1 -d :",
    "awk -F: {print $1}",
    "awk -F : {print $1}",
    "awk -F: {print $1; exit}",
];

/// Whether grep says the numbers of the lines that it finds in one file, and not which file it is.
fn finds_lines(words: &[&str]) -> bool {
    let [program, options @ .., pattern, file] = words else { return false };
    // `-m1` ends in a count.
    let letters = |word: &str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let counted = letters.len() == word.len() || letters.ends_with('m');
        counted && letters.starts_with('-') && letters.chars().skip(1).all(|c| "nivwExFPm".contains(c))
    };
    matches!(*program, "grep" | "egrep" | "fgrep")
        && !pattern.starts_with('-')
        && file.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.')
        && file.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c))
        && options.iter().all(|word| letters(word) && !word.ends_with(['m', '-']))
        && options.iter().any(|word| word.contains('n'))
}

/// Whether these words of grep print one number and nothing else.
pub(in super::super) fn counts_matches(argv: &[Arg]) -> bool {
    argv.first().and_then(Arg::exact) == Some("grep") && counts("grep", argv)
}

/// Whether a command prints one number and nothing else.
pub(super) fn counts(name: &str, argv: &[Arg]) -> bool {
    let words: Option<Vec<&str>> = argv.iter().skip(1).map(Arg::exact).collect();
    match (name, words.as_deref()) {
        ("wc", Some(["-l" | "-w" | "-c" | "-m" | "--lines" | "--words" | "--bytes"])) => true,
        ("grep", Some(["-c" | "-ic" | "-ci" | "-cE" | "-Ec" | "-vc" | "-cv" | "-cw" | "-cF", pattern]))
        | ("grep", Some(["-c" | "-ic" | "-ci" | "-cE" | "-Ec" | "-vc" | "-cv" | "-cw" | "-cF", pattern, _])) => {
            !pattern.starts_with('-') && !words.iter().flatten().skip(2).any(|file| file.starts_with('-'))
        }
        // A time may be a negative number.
        _ if name == "stat" => match argv {
            [_, option, format, files @ ..] if option.exact() == Some("-c") => {
                let counts = format.exact().is_some_and(|format| spec::lists("%s %h %u %g %i %b", format));
                let ended = files.first().and_then(Arg::exact) == Some("--");
                counts && (ended || !files.iter().any(spec::may_be_option))
            }
            _ => false,
        },
        ("git", Some(["rev-list", "--count", rest @ ..])) => !rest.is_empty() && rest.iter().all(|word| revision(word)),
        _ => false,
    }
}

/// A revision that git prints as a hash, or as it stands where there is none: no option and no path out of here.
fn revision(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._~^@{}/-".contains(c);
    !word.is_empty()
        && !word.starts_with(['-', '/'])
        && word.chars().all(plain)
        && (!word.contains("..") || !word.contains('/'))
        && word.chars().any(|c| c != '.')
        && crate::classify(Path::new(word)) == crate::PathClass::default()
}

/// Options of `git log` that say of which commits it is.
const CHOOSE: &[&str] = &[
    "--all",
    "--reverse",
    "--merges",
    "--no-merges",
    "--first-parent",
    "--max-count",
    "--skip",
    "--since",
    "--after",
    "--until",
    "--before",
    "--author",
    "--grep",
];

/// Whether `git log` prints a line for each commit that begins with its hash and a blank: what stands behind has no end of a
/// line in it. A date may have one, unless its format is one of git's own.
fn hashes_first(words: &[&str]) -> bool {
    const FIELDS: &str = "h H s an ae al ar as at cn ce cr cs ct p P D";
    const DATES: &str = "--date=short --date=iso --date=relative --date=unix";
    let ["log", rest @ ..] = words else { return false };
    let (dates, rest): (Vec<&str>, Vec<&str>) = rest.iter().partition(|word| spec::lists(DATES, word));
    let field = |name: &str| spec::lists(FIELDS, name) || !dates.is_empty() && spec::lists("ad cd", name);
    let is_text = |part: &str| part.chars().all(|c| " |,:;-()".contains(c));
    let format = |word: &&str| {
        let starts = ["--format=", "--pretty=format:", "--pretty="];
        let format = starts.iter().find_map(|start| word.strip_prefix(start)).unwrap_or_default();
        let mut parts = format
            .split('%')
            .skip(1)
            .map(|part| part.split_at(part.find(|c| !char::is_alphabetic(c)).unwrap_or(part.len())));
        format.starts_with('%')
            && matches!(parts.next(), Some(("h" | "H", text)) if text.starts_with(' ') && is_text(text))
            && parts.all(|(name, text)| field(name) && is_text(text))
    };
    let commits = rest.iter().position(|word| *word == "--").unwrap_or(rest.len());
    let (shape, rest): (Vec<&str>, Vec<&str>) = rest[..commits].iter().partition(|word| format(word));
    shape.len() == 1 && all_of(&rest, CHOOSE)
}

/// Whether git prints hashes and nothing else.
fn hashes(words: &[&str]) -> bool {
    let all = all_of;
    // Behind `--` stand paths, which say of which commits it is. `git rev-parse` prints them.
    let commits = |rest: &'_ [&'_ str]| rest.iter().position(|word| *word == "--").unwrap_or(rest.len());
    match words {
        ["rev-parse", rest @ ..] => all(rest, &["--short", "--verify", "-q", "--quiet"]),
        ["merge-base", rest @ ..] => all(rest, &["-a", "--all", "--octopus", "--fork-point", "--independent"]),
        ["rev-list", rest @ ..] => all(
            &rest[..commits(rest)],
            &[
                "--max-count",
                "--all",
                "--reverse",
                "--merges",
                "--no-merges",
                "--first-parent",
                "--max-parents",
                "--skip",
                "--since",
                "--after",
                "--until",
                "--before",
                "--author",
                "--grep",
            ],
        ),
        ["log", rest @ ..] => {
            const FORMATS: &[&str] = &[
                "--format=%H",
                "--format=%h",
                "--pretty=%H",
                "--pretty=%h",
                "--pretty=format:%H",
                "--pretty=format:%h",
            ];
            let (shape, rest): (Vec<&str>, Vec<&str>) =
                rest[..commits(rest)].iter().partition(|word| FORMATS.contains(word));
            shape.len() == 1 && all(&rest, CHOOSE)
        }
        _ => false,
    }
}

/// Whether all of these are commits, counts of them or one of the options.
fn all_of(rest: &[&str], options: &[&str]) -> bool {
    let number = |word: &str| {
        let count = word.strip_prefix("-n").or_else(|| word.strip_prefix('-'));
        count.is_some_and(|count| count.parse::<u32>().is_ok())
    };
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        let fine = match *word {
            "-n" => rest.next().is_some_and(|count| count.parse::<u32>().is_ok()),
            word => {
                options.contains(&word.split_once('=').map_or(word, |(name, _)| name)) || number(word) || revision(word)
            }
        };
        if !fine {
            return false;
        }
    }
    true
}

/// Whether what stands there names what `find` does not list: `-not -path './.git/*'`. Brackets, alternatives and a
/// second negation may turn that round.
pub(in super::super) fn leaves_out(words: &[&str], at: usize) -> bool {
    const TURNS: [&str; 4] = ["(", "-o", "-or", ","];
    const NAMES: [&str; 5] = ["-path", "-wholename", "-ipath", "-name", "-iname"];
    let not = |back: usize| at.checked_sub(back).is_some_and(|at| matches!(words[at], "!" | "-not"));
    let names = at.checked_sub(1).is_some_and(|before| NAMES.contains(&words[before]));
    names && not(2) && !not(3) && !words.iter().any(|word| TURNS.contains(word))
}

/// What a command lists.
pub(super) fn lists(name: &str, argv: &[Arg]) -> Option<Printed> {
    let exact: Option<Vec<_>> = argv.iter().skip(1).map(Arg::exact).collect();
    let parsed = || super::find(name).map(|spec| spec::parse(spec, argv)).filter(|parsed| parsed.unknown.is_none());
    let has = |names: &str| parsed().is_some_and(|parsed| parsed.has(names));
    // Names found below a guarded place are guarded ones, whoever lists them, and so it is with secrets.
    let guarded = |word: &&str| {
        let class = crate::classify(Path::new(word.trim_end_matches('/')));
        !word.starts_with('-') && (class.asked().is_some() || class.secret.is_some())
    };
    if !matches!(name, "find" | "echo") && argv.iter().skip(1).filter_map(Arg::exact).any(|word| guarded(&word)) {
        return None;
    }
    match name {
        "find" => {
            const OTHER: &[&str] = &["-printf", "-ls", "-exec", "-execdir", "-ok", "-okdir", "-fprintf", "-fls"];
            let start = exact.as_ref()?.first().copied().unwrap_or(".");
            let secret = |word: &&str| {
                let paths = globs::pointed_at(word);
                paths.iter().any(|path| crate::classify(Path::new(path)).secret.is_some())
                    || globs::spelled(word).is_some()
            };
            let words = exact?;
            let starts = words.iter().take_while(|word| !word.starts_with(['-', '(', '!']));
            let expression = starts.clone().count();
            let left = expression + find::pruned(words.get(expression..).unwrap_or_default());
            let guarded = starts.clone().any(|word| crate::classify(Path::new(word)).asked().is_some());
            let shown = |at: usize, word: &&str| at >= left && !leaves_out(&words, at) && secret(word);
            let any = words.iter().enumerate().any(|(at, word)| OTHER.contains(word) || shown(at, word));
            let fine = !guarded && !any;
            // Where the zero bytes are dropped, `.` and `./x` become `../x`.
            let here = !start.starts_with('-');
            let zeros = words.contains(&"-print0");
            fine.then_some(if zeros { Printed::Zeros { here } } else { Printed::Names { here } })
        }
        "fd" | "fdfind" => {
            const OTHER: &[&str] = &["-x", "--exec", "-X", "--exec-batch", "-l", "--list-details"];
            let fine =
                |word: &&str| !OTHER.contains(word) && !word.starts_with("--format") && !word.starts_with("--path-sep");
            let secret = filters::names_a_secret(argv.get(1..).unwrap_or_default()) || filters::finds_hidden(argv);
            let words = exact?;
            let zeros = words.iter().any(|word| *word == "--print0" || is_short(word, '0'));
            let names = if zeros { Printed::Zeros { here: false } } else { Printed::Names { here: false } };
            (!secret && words.iter().all(fine)).then_some(names)
        }
        "rg" | "grep" | "egrep" | "fgrep"
            if parsed().is_some_and(|parsed| {
                filters::chooses(&parsed, "include g glob iglob type-add") || operand_is_secret(&parsed.operands)
            }) =>
        {
            None
        }
        "ls" if operand_is_secret(argv.get(1..).unwrap_or_default()) => None,
        "rg" if has("l files-with-matches files files-without-match")
            && !has("r replace json path-separator hyperlink-format stats") =>
        {
            parsed().map(|parsed| below_operands(&parsed, parsed.has("files")))
        }
        "grep" | "egrep" | "fgrep" if has("l files-with-matches L files-without-match") && !has("label") => {
            parsed().map(|parsed| below_operands(&parsed, false))
        }
        // `..` among the names leads out. Hidden names that are asked for are those of secrets.
        "ls" if parsed().is_some()
            && !has("A almost-all a all f l g n o s i size inode full-time format Z context") =>
        {
            // What several directories hold stands behind their names, with empty lines between.
            let loose = has("R recursive") || may_be_directories(argv) && !has("d directory");
            Some(match loose {
                true => Printed::Loose,
                false if has("zero") => Printed::Zeros { here: false },
                false => Printed::Names { here: false },
            })
        }
        // Numbers of processes.
        "pgrep" | "pidof" | "lsof" => processes(name, exact?.as_slice()).then_some(Printed::Numbers),
        "which" | "command" => {
            let plain = |word: &&str| !word.starts_with('-') && !word.contains('/');
            let words = exact?;
            let names = if name == "command" { words.strip_prefix(&["-v"])? } else { words.as_slice() };
            (!names.is_empty() && names.iter().all(plain)).then_some(Printed::Programs)
        }
        "git" => match exact?.as_slice() {
            words if hashes(words) => Some(Printed::Hashes),
            words if hashes_first(words) => Some(Printed::Commits),
            ["ls-files" | "diff" | "diff-tree" | "show" | "log" | "grep", ..]
                if operand_is_secret(argv.get(2..).unwrap_or_default()) =>
            {
                None
            }
            // Names that begin with `..`, where the repository is larger than the workspace.
            ["ls-files", rest @ ..] if rest.iter().any(|word| word.starts_with(':') || word.contains("..")) => None,
            ["ls-files", rest @ ..] if finds_ignored(rest) => None,
            ["ls-files", rest @ ..]
                if !rest.iter().any(|word| matches!(*word, "-s" | "--stage" | "--format" | "-v" | "-t")) =>
            {
                let whole = rest.iter().any(|word| is_zero(word));
                let names = if whole { Printed::Zeros { here: false } } else { Printed::Quoted };
                rest.iter().all(|word| !word.starts_with("--format")).then_some(names)
            }
            [sub @ ("diff" | "diff-tree" | "show" | "log"), rest @ ..] if rest.contains(&"--name-only") => {
                names_of_changes(sub, rest)
            }
            ["grep", rest @ ..] if has("l files-with-matches name-only") => {
                let zeros = rest.iter().any(|word| is_zero(word) || *word == "--null");
                Some(if zeros { Printed::Zeros { here: false } } else { Printed::Names { here: false } })
            }
            words if is_ref(words) => Some(Printed::Branch),
            _ => None,
        },
        // `echo -n` keeps the option for itself.
        "echo" if exact.as_ref().and_then(|words| words.first()).is_some_and(|word| word.starts_with('-')) => None,
        "echo" => written(&exact?),
        // Each word by itself, in a line of its own.
        "printf" => match (exact.as_deref(), argv.get(1).and_then(Arg::exact)) {
            (Some(["%s\\n" | "%s ", words @ ..]), _) => written(words),
            // Names that a pattern finds.
            (_, Some("%s\\0" | "%s\\n")) => {
                let found = |arg: &Arg| matches!(&arg.word, Word::Glob { pattern, .. } if !globs::climbs(pattern));
                let names = argv.get(2..).unwrap_or_default();
                let inside =
                    |arg: &Arg| filters::text(arg).is_some_and(|text| !text.starts_with('/') && !text.contains(".."));
                let fine = !names.is_empty() && names.iter().all(|arg| found(arg) && inside(arg));
                let zeros = argv.get(1).and_then(Arg::exact) == Some("%s\\0");
                let ends = if zeros { Printed::Zeros { here: false } } else { Printed::Names { here: false } };
                (fine && !operand_is_secret(names)).then_some(ends)
            }
            _ => None,
        },
        _ => None,
    }
}

/// What a search lists: names that begin with those of the places it was given, where each is written out; `first` where the
/// first of its operands is no pattern.
fn below_operands(parsed: &Parsed, first: bool) -> Printed {
    let patterns = usize::from(!first && !parsed.has("e regexp f file"));
    let places = parsed.operands.get(patterns..).unwrap_or_default();
    let plain = |place: &Arg| {
        place.exact().is_some_and(|text| !text.is_empty() && !text.starts_with('-') && !super::places::leads_away(text))
    };
    let here = !places.is_empty() && places.iter().all(plain);
    match parsed.has("Z 0 null") {
        true => Printed::Zeros { here },
        false => Printed::Names { here: here && !parsed.has("z null-data") },
    }
}

/// Options of git behind `--name-only` that add nothing to the names of what changed, by subcommand; one that ends with `=`
/// has a value behind it.
const ONLY_NAMES: &[(&str, &str)] = &[
    ("diff", "--name-only --cached --staged --relative --no-renames --diff-filter= -z --"),
    ("diff-tree", "--name-only --no-commit-id --root --relative --no-renames --diff-filter= -r -z --"),
    ("show", "--name-only --relative --no-renames --diff-filter= --format= --pretty= -z --"),
    (
        "log",
        "--name-only --relative --no-renames --diff-filter= --format= --pretty= -z -- --no-merges --first-parent --all \
         --max-count= --since= --after= --until= --before= --author= --grep=",
    ),
];

/// What git lists that is told to say the names of what changed. Between the commits stand empty lines.
fn names_of_changes(sub: &str, words: &[&str]) -> Option<Printed> {
    let (_, options) = ONLY_NAMES.iter().find(|(known, _)| *known == sub)?;
    let name = |word: &str| word.find('=').map_or(word.len(), |sign| sign + 1);
    let count = |word: &str| sub == "log" && word.get(1..).is_some_and(|count| count.parse::<u32>().is_ok());
    let known = |word: &&str| spec::lists(options, word.get(..name(word)).unwrap_or_default()) || count(word);
    let ends = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let (before, _) = words.split_at(ends);
    let (told, named): (Vec<&str>, Vec<&str>) = before.iter().partition(|word| word.starts_with('-'));
    if !told.iter().all(known) {
        return None;
    }
    // With an empty format nothing is said of a commit.
    let formats: Vec<&&str> =
        told.iter().filter(|word| word.starts_with("--format") || word.starts_with("--pretty")).collect();
    let silent =
        formats.last().is_some_and(|format| matches!(**format, "--format=" | "--pretty=" | "--pretty=format:"));
    let whole = told.contains(&"-z");
    match sub {
        "diff-tree" if !told.contains(&"--no-commit-id") => None,
        // Of a tag it shows the message, too, and of a file what it holds.
        "show" if !silent || !named.iter().all(|word| is_commit(word)) => None,
        "log" if !silent => None,
        "show" | "log" => Some(Printed::Loose),
        _ if whole => Some(Printed::Zeros { here: false }),
        _ => Some(Printed::Quoted),
    }
}

/// Whether a revision is a commit whatever its name is: the one that is checked out, or one before another.
fn is_commit(word: &str) -> bool {
    let last = word.rfind(['~', '^']).map_or("", |at| word.get(at + 1..).unwrap_or_default());
    let steps = word.contains(['~', '^']) && last.bytes().all(|byte| byte.is_ascii_digit());
    matches!(word, "HEAD" | "@") || steps && revision(word) && !word.contains("..")
}

/// Whether `git ls-files` lists what is ignored: that is where secrets are kept.
fn finds_ignored(words: &[&str]) -> bool {
    let any = |letter: char, long: &str| words.iter().any(|word| is_short(word, letter) || word.starts_with(long));
    any('i', "--ig") || any('o', "--o") && !words.contains(&"--exclude-standard")
}

/// Whether an option of git says that names end with a zero byte, and stand as they are.
fn is_zero(word: &str) -> bool {
    word.starts_with("--z") || is_short(word, 'z')
}

/// Whether a word may be a bundle of options with this letter among them.
fn is_short(word: &str, letter: char) -> bool {
    !word.starts_with("--") && word.starts_with('-') && word.contains(letter)
}

/// Whether git prints the name of a branch, and nothing else. Not `git describe`: what it prints stands in the tag, and may
/// be any text.
fn is_ref(words: &[&str]) -> bool {
    let upstream = |word: &str| matches!(word, "@{u}" | "@{upstream}" | "HEAD@{upstream}");
    match words {
        ["branch", "--show-current"] => true,
        ["symbolic-ref", "--short", "HEAD"] | ["symbolic-ref", "-q", "--short", "HEAD"] => true,
        ["rev-parse", "--abbrev-ref", "--symbolic-full-name", one]
        | ["rev-parse", "--abbrev-ref", one, "--symbolic-full-name"]
        | ["rev-parse", "--abbrev-ref", one] => *one == "HEAD" || upstream(one),
        _ => false,
    }
}

/// Words that are printed as they stand, and nothing else.
fn written(words: &[&str]) -> Option<Printed> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    let fine = |word: &&str| !word.is_empty() && word.bytes().all(plain);
    (!words.is_empty() && words.iter().all(fine))
        .then(|| Printed::Words(words.iter().map(|word| (*word).to_owned()).collect()))
}

/// Whether `ls` with these words may be given several directories.
fn may_be_directories(argv: &[Arg]) -> bool {
    let named = |arg: &&Arg| arg.exact().is_none_or(|text| !text.starts_with('-'));
    let mut places = argv.iter().skip(1).filter(named);
    // `*.rs` are files, as names go.
    let file =
        |arg: &Arg| filters::text(arg).and_then(|text| text.rsplit('/').next()).is_some_and(|name| name.contains('.'));
    let first = places.next();
    let alone = first.is_none_or(|arg| arg.exact().is_some() && places.clone().next().is_none());
    !alone && !first.into_iter().chain(places).all(file)
}

/// Whether a command lists the numbers of processes, one a line, and nothing else.
fn processes(name: &str, words: &[&str]) -> bool {
    let plain = |word: &&str| !word.is_empty() && !word.starts_with('-');
    match (name, words) {
        ("pgrep", [options @ .., pattern]) => {
            plain(pattern)
                && options.iter().all(|word| matches!(*word, "-f" | "-x" | "-n" | "-o" | "-i" | "-fi" | "-xf"))
        }
        ("pidof", names) => !names.is_empty() && names.iter().all(plain),
        ("lsof", ["-t", of]) => of.strip_prefix("-i").is_some_and(|of| !of.is_empty()),
        ("lsof", ["-ti", of]) => plain(of),
        ("lsof", [of]) => of.strip_prefix("-ti").is_some_and(|of| !of.is_empty()),
        _ => false,
    }
}

/// Whether one of these words names a secret, by a pattern or not.
fn operand_is_secret(words: &[Arg]) -> bool {
    words.iter().filter_map(filters::text).any(|text| !text.starts_with('-') && !filters::secrets(text).is_empty())
}

/// Whether a command passes lines of its standard input on as they are.
pub(super) fn filters_lines(name: &str, argv: &[Arg]) -> bool {
    let Some(spec) = super::find(name) else { return false };
    let parsed = spec::parse(spec, argv);
    match name {
        _ if parsed.unknown.is_some() => false,
        "sort" | "uniq" | "head" | "tail" | "tac" | "shuf" => {
            parsed.operands.is_empty()
                && !parsed
                    .has("c count o output bytes i input-range group all-repeated D files0-from random-source debug")
                && !(name == "tac" && parsed.has("b before r regex s separator"))
        }
        "grep" | "egrep" | "fgrep" => {
            let pattern = usize::from(!parsed.has("e regexp f file"));
            let changes = "c count n line-number b byte-offset o only-matching H with-filename label l L T \
                           initial-tab r R \
                           recursive R dereference-recursive d directories A B C after-context before-context context \
                           0 1 2 3 4 5 6 7 8 9";
            // `grep '\.env'` leaves the secrets of a list.
            let picks = !parsed.has("v invert-match") && {
                let values = parsed.opts.iter().filter_map(|(_, value)| value.as_ref());
                values.chain(&parsed.operands).filter_map(Arg::exact).any(|text| {
                    !filters::secrets_by_regex(text).is_empty() || filters::spelled_by_regex(text).is_some()
                })
            };
            parsed.operands.len() == pattern && !parsed.has(changes) && !picks
        }
        // Any other letter would become part of a name.
        "tr" => {
            let words: Option<Vec<&str>> = argv.iter().skip(1).map(Arg::exact).collect();
            matches!(words.as_deref(), Some(["\\n", "\\0" | " " | "\\t"]))
        }
        _ => false,
    }
}
