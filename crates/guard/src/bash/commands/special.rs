//! Commands with a language of their own in their words: sed, awk, find, jq.

use super::super::finding::{Family, Row};
use super::super::judge::{Arg, Judge, Word};
use super::super::lang;
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style};
use Does::{Flag, Info, Maybe, Value};

/// The commands.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        names: "sed gsed",
        opts: &[
            (Flag, "n quiet silent E r regexp-extended s separate u unbuffered z null-data zero-terminated"),
            (Flag, "debug sandbox follow-symlinks b binary"),
            (Value, "e expression f file l line-length"),
            (Maybe, "i in-place"),
            (Info, "help version"),
        ],
        operands: Operands::Custom,
        check: Some(sed),
        ..PLAIN
    },
    Spec {
        names: "awk gawk mawk nawk original-awk",
        style: Style::GnuStop,
        opts: &[
            (Value, "F field-separator v assign e source f file W i include"),
            (Maybe, "o pretty-print p profile d dump-variables L lint"),
            (Flag, "b characters-as-bytes c traditional C copyright g gen-pot I trace k csv M bignum"),
            (Flag, "n non-decimal-data N use-lc-numeric O optimize P posix r re-interval s no-optimize"),
            (Flag, "S sandbox t lint-old"),
            (Info, "h help V version"),
        ],
        operands: Operands::Custom,
        check: Some(awk),
        ..PLAIN
    },
    Spec { names: "find gfind", style: Style::Raw, operands: Operands::Custom, check: Some(find), ..PLAIN },
    Spec { names: "jq", style: Style::Raw, operands: Operands::Custom, check: Some(jq), ..PLAIN },
];

/// What stands out in these commands.
pub(in super::super) const FINDINGS: &[Row] = &[
    special(
        "sed_in_place",
        "sed has the option `-i`, in any spelling.",
        "It replaces its input files. Without `-i` sed prints the result; the edit tool shows what it changes.",
        "sed -i.bak 's/a/b/' notes.txt",
    ),
    special(
        "sed_runs",
        "A sed program has the command `e` or the flag `e` of `s`.",
        "Both hand text to a shell, and the text may come from the input.",
        "sed 's/.*/ls/e' names.txt",
    ),
    special(
        "sed_writes",
        "A sed program has `w`, `W` or the flag `w` of `s`.",
        "They write the file named behind them, to the end of the line. Redirect the output instead.",
        "sed -n '/x/w found.txt' notes.txt",
    ),
    special(
        "awk_runs",
        "An awk program calls `system`, has a pipe, loads an extension or changes what it reads.",
        "What runs is computed while awk runs. Print the text and pipe it to the command instead.",
        "awk '{system(\"ls \" $1)}' names.txt",
    ),
    special(
        "awk_writes",
        "An awk program redirects `print`, or awk is asked to write its program or its variables to a file.",
        "A computed name may be any path. Write a literal name, or redirect the output.",
        "awk '{print > \"out.txt\"}' names.txt",
    ),
    special(
        "find_exec",
        "A find expression has `-exec`, `-execdir`, `-ok` or `-okdir`.",
        "The command is judged as if it stood alone, with every path that find may put for `{}`.",
        "find . -name '*.py' -exec wc -l {} \\;",
    ),
    special(
        "find_delete",
        "A find expression has `-delete`.",
        "It removes everything that matches, with no way back; a test behind `-delete` comes too late. Run it with \
         `-print` first.",
        "find . -name '*.tmp' -delete",
    ),
    special(
        "find_writes",
        "A find expression has `-fprint`, `-fprint0`, `-fprintf` or `-fls`.",
        "They empty and write the file named behind them. Redirect the output instead.",
        "find . -fprint list.txt",
    ),
    special(
        "jq_files",
        "jq takes its program, modules or values from files.",
        "A program from a file or a module cannot be judged by its words; values are files that are read.",
        "jq -f program.jq data.json",
    ),
    special(
        "jq_runs",
        "A jq program has `system(`, `import`, `include` or another way out of its input.",
        "jq has no `system`, but programs with its language do; modules are read from files.",
        "jq 'system(\"ls\")' data.json",
    ),
    special(
        "inline_code",
        "An interpreter gets code in its words or on its standard input.",
        "Often listed as safe, like `--version`; yet `-c` and `-e` run any code there is. In a file of the workspace \
         the same code can be read first, and runs in the sandbox without a question.",
        "python -c 'print(1)'",
    ),
    special(
        "script_file",
        "An interpreter runs a file of the workspace, or a known module such as pytest.",
        "It is code of the workspace: it runs in the sandbox, without network and with writes inside only.",
        "python scripts/check.py",
    ),
];

const fn special(code: &'static str, when: &'static str, why: &'static str, example: &'static str) -> Row {
    Row { code, family: Family::Special, raises: None, when, why, example }
}

/// Runs or reads a program that lies in a file: code of the workspace, or unknown.
pub(super) fn program_file(file: &Arg, what: &str, judge: &mut Judge<'_>) {
    judge.read(file);
    match file.exact() {
        None if found_here(file, judge) => judge.code(format!("runs {what} that a pattern finds")),
        Some("-" | "/dev/stdin") | None => judge.opaque(format!("{what} is not known")),
        Some(name) => {
            let place = judge.resolve(name);
            if judge.site.is_ours(&place) && !judge.site.roots.contains(&place) {
                judge.code(format!("runs {what} `{name}`"));
            } else {
                judge.opaque(format!("{what} `{name}` lies outside of the workspace"));
            }
        }
    }
}

/// Whether a word stands for files that a pattern finds below the working directory: who can put them there can change what
/// builds and tests run.
fn found_here(file: &Arg, judge: &Judge<'_>) -> bool {
    let Word::Glob { pattern, prefix } = &file.word else { return false };
    let above = prefix.rsplit_once('/').map_or(".", |(above, _)| above);
    !pattern.starts_with(['/', '~']) && !pattern.contains("..") && judge.site.is_ours(&judge.resolve(above))
}

/// The files that a program is read from, each behind an `-f` of its own.
fn program_files(parsed: &Parsed) -> impl Iterator<Item = &Arg> {
    let named = parsed.opts.iter().filter(|(name, _)| matches!(name.as_str(), "f" | "file"));
    named.filter_map(|(_, value)| value.as_ref())
}

/// The texts of a program given in options, or as the first operand, and the operands that are left.
fn program<'p>(parsed: &'p Parsed, names: &str, files: &str) -> (Vec<&'p Arg>, &'p [Arg]) {
    let named = |given: &str| names.split(' ').any(|name| name == given);
    let given = parsed.opts.iter().filter(|(name, _)| named(name)).filter_map(|(_, value)| value.as_ref());
    let given: Vec<&Arg> = given.collect();
    if !given.is_empty() || parsed.has(files) {
        return (given, &parsed.operands);
    }
    match parsed.operands.split_first() {
        Some((first, rest)) => (vec![first], rest),
        None => (given, &[]),
    }
}

/// Program text that is known in full, its parts joined by newlines.
fn joined(parts: &[&Arg]) -> Option<String> {
    let parts: Option<Vec<&str>> = parts.iter().map(|part| part.exact()).collect();
    Some(parts?.join("\n"))
}

fn input(file: &Arg, judge: &mut Judge<'_>) {
    if file.exact() != Some("-") {
        judge.read(file);
    }
}

fn sed(parsed: &Parsed, judge: &mut Judge<'_>) {
    for file in program_files(parsed) {
        program_file(file, "the sed program", judge);
    }
    // That of BSD takes no value: then this one is the program.
    let number = |value: &Arg| value.exact().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    if !parsed.values("l line-length").all(number) {
        judge.opaque("`-l` takes no value in every sed, and the next word may be the program");
    }
    let (parts, files) = program(parsed, "e expression", "f file");
    if let Some(at) = parts.first() {
        match joined(&parts).map(|text| lang::sed::analyse(&text)) {
            None => judge.opaque("the sed program is not known"),
            Some(Err(why)) => judge.opaque(why),
            Some(Ok(effects)) => sed_effects(&effects, at, judge),
        }
    }
    let in_place = parsed.has("i in-place");
    for file in files {
        input(file, judge);
        if in_place {
            judge.write(file);
        }
    }
    if in_place {
        judge.find("sed_in_place", judge.span.clone(), "`-i` replaces the input files");
        backups(parsed, files, judge);
    }
}

fn sed_effects(effects: &lang::sed::Effects, at: &Arg, judge: &mut Judge<'_>) {
    for name in &effects.reads {
        judge.read(&at.with(name));
    }
    for name in &effects.writes {
        judge.write(&at.with(name));
        judge.find("sed_writes", at.span.clone(), format!("the sed program writes `{name}`"));
    }
    if effects.runs {
        judge.opaque("the sed program runs commands");
        judge.find("sed_runs", at.span.clone(), "the sed program runs commands with `e`");
    }
}

/// What `-iSUFFIX` keeps: the old content, next to the file.
fn backups(parsed: &Parsed, files: &[Arg], judge: &mut Judge<'_>) {
    let Some(suffix) = parsed.value("i in-place") else { return };
    let Some(suffix) = suffix.exact().filter(|suffix| !suffix.contains('/')) else {
        return judge.opaque("where the old content is kept is not known");
    };
    for file in files {
        match &file.word {
            Word::Exact(name) => {
                let (above, base) = name.rsplit_once('/').map_or(("", name.as_str()), |(above, base)| (above, base));
                let kept = if suffix.contains('*') { suffix.replace('*', base) } else { format!("{base}{suffix}") };
                let above = if name.contains('/') { format!("{above}/") } else { String::new() };
                judge.write(&file.with(&format!("{above}{kept}")));
            }
            _ => judge.write(file),
        }
    }
}

/// `-i inplace` changes the files; it is looked for in the working directory first. What else is included is not known.
fn in_place(parsed: &Parsed, files: &[Arg], judge: &mut Judge<'_>) {
    let included: Vec<_> = parsed.opts.iter().filter(|(name, _)| matches!(name.as_str(), "i" | "include")).collect();
    if included.is_empty() {
        return;
    }
    // `inplace::suffix=.bak` names what was there before.
    let kept = parsed.opts.iter().any(|(name, value)| {
        matches!(name.as_str(), "v" | "assign")
            && value.as_ref().is_none_or(|value| value.exact().is_none_or(|text| text.contains("inplace")))
    });
    if kept || included.iter().any(|(_, value)| value.as_ref().and_then(Arg::exact) != Some("inplace")) {
        return judge.opaque("what awk includes is not known");
    }
    judge.code("awk includes a file that may lie here");
    files.iter().for_each(|file| judge.write(file));
}

fn awk(parsed: &Parsed, judge: &mut Judge<'_>) {
    for file in program_files(parsed) {
        program_file(file, "the awk program", judge);
    }
    let known = |other: &Arg| matches!(other.exact(), Some("version" | "help" | "usage" | "posix"));
    if !parsed.values("W").all(known) {
        judge.opaque("`-W` means other things in other versions of awk");
    }
    for (names, default) in
        [("o pretty-print", "awkprof.out"), ("p profile", "awkprof.out"), ("d dump-variables", "awkvars.out")]
    {
        if parsed.has(names) {
            let default = Arg { word: Word::Exact(default.to_owned()), span: judge.span.clone() };
            judge.write(parsed.value(names).unwrap_or(&default));
            judge.find("awk_writes", judge.span.clone(), "awk writes its program or its variables to a file");
        }
    }
    let (parts, files) = program(parsed, "e source", "f file");
    in_place(parsed, files, judge);
    if let Some(at) = parts.first() {
        match joined(&parts).map(|text| lang::awk::analyse(&text)) {
            None => judge.opaque("the awk program is not known"),
            Some(Err(doubt)) => {
                judge.opaque(doubt.why());
                match &doubt {
                    lang::awk::Doubt::Runs(why) => judge.find("awk_runs", at.span.clone(), why),
                    lang::awk::Doubt::Writes(why) => judge.find("awk_writes", at.span.clone(), why),
                    lang::awk::Doubt::Unread(_) => {}
                }
            }
            Some(Ok(effects)) => {
                for name in &effects.reads {
                    judge.read(&at.with(name));
                }
                for name in &effects.writes {
                    judge.write(&at.with(name));
                    judge.find("awk_writes", at.span.clone(), format!("the awk program writes `{name}`"));
                }
            }
        }
    }
    // An awk that does not know `--source=` leaves it out, and the first operand is the program.
    let other = files.first().filter(|_| parsed.has("e source")).and_then(Arg::exact);
    if other.is_some_and(|text| text.contains(['{', '(', '|']) && lang::awk::analyse(text).is_err()) {
        judge.opaque("the first operand may be the program");
    }
    for file in files.iter().filter(|file| !file.exact().is_some_and(is_assignment)) {
        input(file, judge);
    }
}

/// `NAME=VALUE` among the files sets a variable.
fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
}

fn find(parsed: &Parsed, judge: &mut Judge<'_>) {
    lang::find::judge(&parsed.operands, judge);
}

/// Letters of jq that change only how it reads and prints.
const JQ_LETTERS: &str = "rcnseSCMajRhVb";
/// The same with a name.
const JQ_FLAGS: &str = "raw-output compact-output null-input slurp exit-status sort-keys color-output \
    monochrome-output ascii-output join-output raw-input tab unbuffered stream stream-errors seq raw-output0 help \
    version build-configuration binary";

/// Names of files with a dot behind all that is not known: of jq's options only `-L` goes on to a dot, and all it says is
/// where modules would be looked for.
fn has_dot(arg: &Arg) -> bool {
    let Word::Glob { pattern, prefix } = &arg.word else { return false };
    let end = pattern.rsplit(['*', '?', ']']).next().unwrap_or_default();
    prefix.is_empty() && end.contains('.') && !pattern.contains("..")
}

fn jq(parsed: &Parsed, judge: &mut Judge<'_>) {
    let mut rest = parsed.operands.iter();
    let (mut program, mut from_file, mut words_only, mut ended) = (None, false, false, false);
    while let Some(arg) = rest.next() {
        let text = match arg.exact() {
            Some(text) => text,
            None if super::spec::may_be_option(arg) && !ended && !has_dot(arg) => {
                let why = "a word may become an option of jq";
                // Who can name files can do no more with it than code of the workspace.
                return if matches!(arg.word, Word::Glob { .. }) { judge.code(why) } else { judge.opaque(why) };
            }
            None => "",
        };
        let is_option = !ended && text.len() > 1 && text.starts_with('-');
        match text {
            "--" if !ended => ended = true,
            "--args" | "--jsonargs" if is_option => words_only = true,
            "--arg" | "--argjson" if is_option => {
                if two(&mut rest).is_none_or(|(_, value)| super::spec::may_be_more(value)) {
                    return judge.opaque(format!("`{text}` needs a name and a value, one word each"));
                }
            }
            "--slurpfile" | "--rawfile" | "--argfile" if is_option => {
                let Some((_, file)) = two(&mut rest) else {
                    return judge.opaque(format!("`{text}` needs a name and a file"));
                };
                if super::spec::may_be_more(file) {
                    return judge.opaque(format!("`{text}` takes one file"));
                }
                judge.read(file);
                judge.find("jq_files", arg.span.clone(), format!("`{text}` reads a file"));
            }
            "--indent" if is_option => {
                if rest.next().and_then(Arg::exact).is_none() {
                    return judge.opaque("`--indent` needs a number");
                }
            }
            _ if is_option && text.strip_prefix("--").is_some_and(|n| JQ_FLAGS.split(' ').any(|flag| flag == n)) => {}
            _ if is_option && !text.starts_with("--") && text.chars().skip(1).all(|c| JQ_LETTERS.contains(c)) => {}
            // The first word that is no option is the file, wherever this option stands.
            "-f" | "--from-file" if is_option && program.is_none() && rest.as_slice().first().is_some_and(is_plain) => {
                judge.find("jq_files", arg.span.clone(), format!("`{text}` takes the program or modules from files"));
                program = rest.next();
                program.into_iter().for_each(|file| program_file(file, "the jq program", judge));
                from_file = true;
            }
            "-f" | "--from-file" | "-L" | "--library-path" if is_option => {
                judge.find("jq_files", arg.span.clone(), format!("`{text}` takes the program or modules from files"));
                return judge.opaque("the jq program or its modules come from files");
            }
            _ if is_option => return judge.opaque(format!("`{text}` is not an option of jq that the analysis knows")),
            _ if program.is_none() => {
                if super::spec::may_be_more(arg) {
                    return judge.opaque("the jq program may become several words");
                }
                program = Some(arg);
            }
            _ if words_only => {}
            _ => input(arg, judge),
        }
    }
    let Some(program) = program.filter(|_| !from_file) else { return };
    match program.exact().map(lang::jq::analyse) {
        None => judge.opaque("the jq program is not known"),
        Some(Err(why)) => {
            judge.find("jq_runs", program.span.clone(), &why);
            judge.opaque(why);
        }
        Some(Ok(())) => {}
    }
}

/// Whether a word is known, and no option.
fn is_plain(arg: &Arg) -> bool {
    arg.exact().is_some_and(|text| !text.is_empty() && !text.starts_with('-'))
}

fn two<'a>(rest: &mut std::slice::Iter<'a, Arg>) -> Option<(&'a Arg, &'a Arg)> {
    let name = rest.next().filter(|name| name.exact().is_some())?;
    Some((name, rest.next()?))
}

#[cfg(test)]
mod tests {
    use super::super::super::fact::Fact;
    use super::super::testing::{all_harmless, facts, none_harmless};

    fn writes(line: &str) -> Vec<String> {
        let path = |fact| match fact {
            Fact::Write(target) => Some(target.path.to_string_lossy().into_owned()),
            _ => None,
        };
        facts(line).into_iter().filter_map(path).collect()
    }

    fn has(line: &str, wanted: fn(&Fact) -> bool) -> bool {
        facts(line).iter().any(wanted)
    }

    #[test]
    fn reading_forms_are_harmless() {
        all_harmless(&[
            "sed -n '900,960p' src/permutations.py",
            "sed '1,5d' data.csv",
            "sed -e 's/a/b/' -e 's/c/d/' f.txt",
            "sed -ne '/x/p' f.txt",
            "sed -En 's/(a|b)+/x/p' src/*.rs",
            "sed --quiet --expression=p f.txt",
            "sed -s -n '$=' a.txt b.txt",
            "sed 's/a/b/' < f.txt",
            "sed -n '1p;2q' - f.txt",
            "sed --version",
            "sed --debug -z -u s/a/b/ f",
            "sed -l 80 -n l f",
            "awk '{print $1}' data.txt",
            "awk -F: '{print $1, $NF}' data.txt",
            "awk -F '\\t' -v n=5 'NR<=n' data.txt",
            "awk -v n=\"$1\" 'NR<=n' n=3 data.txt -",
            "awk --field-separator=, '{s+=$2} END{print s}' a.csv",
            "gawk -e '{print}' a.txt",
            "awk 1 f",
            "gawk --version",
            "awk -W version",
            "find . -name '*.py'",
            "find . -empty -type d",
            "find . -name '*.py' -exec wc -l {} ';'",
            "find src -type f -exec grep -n TODO {} +",
            "find src -type f -exec grep -n TODO '{}' ';' -print",
            "find . -execdir cat '{}' ';'",
            "jq . data.json",
            "jq -r '.[].name' data.json",
            "jq -nr --arg a \"$x\" '$a'",
            "jq --arg a b --argjson c 1 '.x + $a' f.json g.json",
            "jq '.a' --slurpfile x inside.json data.json",
            "jq -n '$ARGS' --args -c a b /etc/passwd",
            "jq --indent 2 --tab -S . -- data.json",
            "jq --version",
            "jq -e '.scripts | has(\"test\")' package.json",
        ]);
    }

    #[test]
    fn everything_else_is_not() {
        none_harmless(&[
            "sed -i s/a/b/ f.txt",
            "sed -i.bak s/a/b/ f.txt",
            "sed --in-place=.orig s/a/b/ f.txt",
            "sed -ni p f.txt",
            "sed -Ei s/a/b/ f",
            "sed --in-place -e p f.txt",
            "sed s/a/b/ f.txt -i",
            "sed -n 'w out' f.txt",
            "sed -n -e 's/a/b/w out' f.txt",
            "sed '1e id' f.txt",
            "sed -e 'a\\' -e 'x' -e 'e id' f.txt",
            "sed -f prog.sed f.txt",
            "sed --file=prog.sed f.txt",
            "sed $x f.txt",
            "sed \"$x\" f.txt",
            "sed s/a*/b/ *",
            "sed --posix p f.txt",
            "sed p ../secret",
            "sed -n 'r /etc/shadow' f.txt",
            "sed -k p f.txt",
            "awk 'BEGIN{system(\"id\")}'",
            "awk -f prog.awk f.txt",
            "awk '{print > \"out\"}' f.txt",
            "awk -i inplace '{print}' f.txt",
            "gawk -o '{print}' f.txt",
            "gawk --profile=x '{print}' f.txt",
            "gawk -dvars '{print}' f.txt",
            "gawk -l filefuncs 1 f.txt",
            "gawk -E prog f.txt",
            "gawk -D 1 f.txt",
            "gawk -e 1 -e 'BEGIN{system(\"id\")}' f.txt",
            "mawk -W exec prog",
            "awk $x f.txt",
            "awk \"$x\" f.txt",
            "awk 1 /home/dev/x",
            "find . -delete",
            "find . -exec rm {} ';'",
            "find . -exec sh -c 'cat {}' ';'",
            "find . -fls listing.txt",
            "find / -name x",
            "find . -exec wc {} ';' -exec sed -i p {} +",
            "jq -f prog.jq data.json",
            "jq . -f prog.jq",
            "jq -f -r prog.jq",
            "jq -rf prog.jq data.json",
            "jq --from-file prog.jq data.json",
            "jq -L lib . data.json",
            "jq 'import \"a\" as a; .' data.json",
            "jq 'system(\"id\")' data.json",
            "jq . /home/dev/.ssh/config",
            "jq --rawfile x /home/dev/x . data.json",
            "jq --run-tests x",
            "jq $x data.json",
            "jq . *",
        ]);
    }

    #[test]
    fn what_is_written_is_named() {
        assert_eq!(writes("sed -i.bak p a/f.txt"), ["/w/repo/a/f.txt", "/w/repo/a/f.txt.bak"]);
        assert_eq!(writes("sed '--in-place=old_*' p f"), ["/w/repo/f", "/w/repo/old_f"]);
        assert_eq!(writes("sed -i s/x/y/ .git/config"), ["/w/repo/.git/config"]);
        assert_eq!(writes("sed -n 'w a b' f"), ["/w/repo/a b"]);
        assert_eq!(writes("gawk -p 1 f"), ["/w/repo/awkprof.out"]);
        assert_eq!(writes("awk '{print >> \"../x\"}' f"), ["/w/x"]);
        assert_eq!(writes("find . -fprintf x %p"), ["/w/repo/x"]);
        assert!(has("sed -i'/tmp/*' p f", |fact| matches!(fact, Fact::Opaque(_))));
        assert!(has("awk -f prog.awk f", |fact| matches!(fact, Fact::Code(_))));
        assert!(has("sed -f /srv/prog.sed f", |fact| matches!(fact, Fact::Opaque(_))));
        assert!(has("find build -delete", |fact| matches!(fact, Fact::Destroys(..))));
    }
}
