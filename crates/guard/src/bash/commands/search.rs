//! Programs that look for text and files, and list what is there.
//!
//! They read trees. The ones with a program in an option (`rg --pre`, `fd -x`) are open specifications:
//! those options are not in the tables.

use super::super::judge::{Arg, Judge, Word};
use super::filters;
use super::spec::Does::{Either, Flag, Info, Maybe, Run, Value, Write};
use super::spec::{self, Does, Operands, PLAIN, Parsed, Short, Spec, Style};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        names: "grep egrep fgrep rgrep ggrep",
        opts: GREP,
        operands: Operands::Custom,
        closed: true,
        patterns: "e regexp f file",
        check: Some(grep),
        ..PLAIN
    },
    Spec {
        names: "zgrep zegrep zfgrep bzgrep xzgrep lzgrep zstdgrep",
        opts: GREP_OF_SCRIPTS,
        operands: Operands::PatternThenRead,
        closed: true,
        patterns: "e regexp f file",
        check: Some(|parsed, judge| {
            split_again(parsed, judge);
            if parsed.has("r recursive R dereference-recursive d directories") {
                parsed.operands.iter().for_each(|tree| judge.read_tree(tree));
            }
        }),
        ..PLAIN
    },
    Spec { names: "rg ripgrep", opts: RIPGREP, operands: Operands::Custom, check: Some(ripgrep), ..PLAIN },
    Spec {
        names: "ag",
        opts: &[
            (
                Flag,
                "c count color nocolor column H heading noheading l files-with-matches L files-without-matches \
                 numbers nonumbers n norecurse o only-matching print-long-lines passthrough silent stats stats-only \
                 vimgrep 0 null a all-types f follow F fixed-strings hidden i ignore-case Q literal s case-sensitive \
                 S smart-case t all-text u unrestricted U skip-vcs-ignores v invert-match w word-regexp z search-zip \
                 g print0 r recurse D debug nobreak break group nogroup filename nofilename python js json cpp cc rust go java \
                 ruby html css md markdown shell yaml xml sql php ts",
            ),
            (Value, "A B C G file-search-regex m max-count depth ignore W width ignore-dir workers"),
            (Does::Read, "p path-to-ignore"),
            (Maybe, "ackmate after before context"),
            (Info, "V list-file-types h"),
        ],
        operands: Operands::Custom,
        check: Some(pattern_then_tree),
        ..PLAIN
    },
    Spec {
        names: "ack ack-grep",
        opts: &[
            (
                Flag,
                "i ignore-case I no-ignore-case S smart-case v invert-match w word-regexp Q literal l \
                 files-with-matches \
                 L files-without-matches o c count h no-filename H with-filename s 1 b n no-recurse r R recurse \
                 noenv nocolor nopager nogroup group column heading noheading passthru k known-types python js json \
                 cpp \
                 cc rust go java ruby html css md shell yaml xml sql php perl ts tsx jsx kotlin swift csharp lua f u follow \
                 noignore-dir",
            ),
            (Value, "m max-count A after-context B before-context C context t type T g match ignore-dir ignore-file"),
            (Maybe, "color colour"),
            (Info, "help-types"),
        ],
        operands: Operands::Custom,
        check: Some(pattern_then_tree),
        ..PLAIN
    },
    Spec { names: "fd fdfind", style: Style::Raw, operands: Operands::Custom, check: Some(fd), ..PLAIN },
    Spec {
        names: "locate plocate mlocate",
        opts: &[
            (
                Flag,
                "A all b basename c count e existing i ignore-case r regexp regex w wholename 0 null q quiet S \
                 statistics",
            ),
            (Value, "l limit n"),
        ],
        operands: Operands::Words,
        check: Some(|_, judge| judge.read(&Arg { word: Word::Exact("/".to_owned()), span: judge.span.clone() })),
        ..PLAIN
    },
    Spec {
        names: "ls dir vdir gls",
        opts: &[
            (
                Flag,
                "a all A almost-all author b escape B ignore-backups c C d directory D dired f file-type full-time g \
                 group-directories-first G no-group h human-readable si H dereference-command-line \
                 dereference-command-line-symlink-to-dir i inode k kibibytes l L dereference m n numeric-uid-gid \
                 N literal o p q hide-control-chars show-control-chars Q quote-name r reverse R recursive s size S t \
                 u U \
                 v x X Z context zero 1 F",
            ),
            (Value, "block-size format hide indicator-style I ignore quoting-style sort time time-style tabsize width"),
            // Those of macOS take no value.
            (Either, "T w"),
            (Maybe, "color classify hyperlink"),
        ],
        operands: Operands::Custom,
        closed: true,
        check: Some(|parsed, judge| list(parsed, parsed.has("R recursive"), judge)),
        ..PLAIN
    },
    Spec {
        names: "exa eza",
        opts: &[
            (
                Flag,
                "1 oneline l long G grid x across R recurse T tree F a all d list-dirs D only-dirs f only-files r \
                 reverse \
                 group-directories-first group-directories-last git-ignore b binary B bytes g group h header H links \
                 i inode m modified S blocksize U created u accessed changed n numeric @ extended Z context \
                 no-permissions \
                 no-filesize no-user no-time git no-git git-repos git-repos-no-status o octal-permissions no-quotes X \
                 dereference hyperlink no-icons show-symlinks no-symlinks M mounts total-size",
            ),
            (Value, "L level s sort t time time-style w width I ignore-glob"),
            (Maybe, "color colour icons color-scale colour-scale classify absolute smart-group"),
            (Info, "v"),
        ],
        operands: Operands::Custom,
        closed: true,
        check: Some(|parsed, judge| list(parsed, parsed.has("R recurse T tree"), judge)),
        ..PLAIN
    },
    Spec {
        names: "lsd",
        opts: &[
            (
                Flag,
                "a all A almost-all F classify l long 1 oneline R recursive h human-readable tree d directory-only t \
                 timesort S sizesort X extensionsort G gitsort v versionsort U no-sort r reverse total-size inode i \
                 g git \
                 L dereference Z context N literal no-symlink classic header truncate-owner",
            ),
            (Value, "color icon icon-theme depth size date sort group-dirs permission blocks I ignore-glob hyperlink"),
            (Info, "V"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| list(parsed, parsed.has("R recursive tree"), judge)),
        ..PLAIN
    },
    // `-R` runs tree again with an output; it is not here.
    Spec {
        names: "tree",
        short: Short::Apart,
        opts: &[
            (
                Flag,
                "a d l f x q N Q p u g s h D F v t c U r i A S n C X J matchdirs ignore-case noreport gitignore \
                 prune si du \
                 inodes device dirsfirst filesfirst nolinks metafirst fromfile fromtabfile acl selinux info",
            ),
            (Value, "L P I T H filelimit charset timefmt sort"),
            (Write, "o output"),
            (Does::Read, "gitfile infofile"),
        ],
        operands: Operands::ReadTree,
        ..PLAIN
    },
    Spec {
        names: "du gdu",
        opts: &[
            (
                Flag,
                "0 null a all apparent-size A b bytes c total D dereference-args summarize H h human-readable inodes \
                 k L \
                 dereference l count-links m P no-dereference S separate-dirs si s x one-file-system g",
            ),
            (Value, "B block-size d max-depth t threshold time-style exclude I"),
            (Maybe, "time"),
            (Does::Read, "X exclude-from"),
        ],
        operands: Operands::Custom,
        closed: true,
        check: Some(sizes),
        ..PLAIN
    },
    Spec {
        names: "dust",
        opts: &[
            (Flag, "s apparent-size r reverse b no-percent-bars c no-colors p full-paths f filecount only-dir F B"),
            (
                Value,
                "d depth n number-of-lines X ignore-directory e filter v invert-filter w terminal_width t z min-size",
            ),
        ],
        operands: Operands::ReadTree,
        ..PLAIN
    },
    // The operands only choose which file system is shown.
    Spec {
        names: "df gdf duf",
        opts: &[
            (
                Flag,
                "a all h human-readable H si i inodes k l local no-sync P portability sync total T print-type v m json",
            ),
            (Value, "B block-size t type x exclude-type"),
            (Maybe, "output"),
        ],
        operands: Operands::Words,
        closed: true,
        ..PLAIN
    },
];

const FD: Spec = Spec {
    names: "fd fdfind",
    opts: &[
        (
            Flag,
            "H hidden I no-ignore u unrestricted s case-sensitive i ignore-case g glob regex F fixed-strings literal \
             a absolute-path relative-path p full-path L follow 0 print0 l list-details prune 1 q quiet show-errors \
             no-ignore-vcs no-ignore-parent no-global-ignore-file one-file-system xdev no-require-git require-git \
             no-hidden ignore no-follow",
        ),
        (
            Value,
            "d max-depth maxdepth min-depth mindepth exact-depth t type e extension S size changed-within \
             changed-before newer older change-newer-than changed-after o owner E exclude c color j threads \
             max-buffer-time max-results and path-separator format batch-size",
        ),
        (Maybe, "strip-cwd-prefix hyperlink"),
        (Does::Read, "ignore-file"),
        (Does::ReadTree, "base-directory C search-path"),
        (Info, "V h"),
    ],
    operands: Operands::Custom,
    check: Some(|parsed, judge| {
        let trees = parsed.operands.get(1..).unwrap_or_default();
        trees.iter().for_each(|tree| judge.read_tree(tree));
        if trees.is_empty() && !parsed.has("base-directory C search-path") {
            judge.read_cwd();
        }
    }),
    ..PLAIN
};

/// Without its number `--context` takes the default in the grep of BSD, and the next word is the pattern.
const GREP: &[(Does, &str)] = &[
    GREP_FLAGS,
    (
        Value,
        "e regexp m max-count label binary-files d directories D devices include exclude exclude-dir B before-context \
         A after-context C group-separator",
    ),
    (Either, "context"),
    (Maybe, "color colour"),
    (Does::Read, "f file exclude-from"),
    (Info, "V"),
];

/// The scripts around it know of few long options that their value is the next word.
const GREP_OF_SCRIPTS: &[(Does, &str)] = &[
    GREP_FLAGS,
    (Value, "e m d D B A C"),
    (
        Either,
        "regexp max-count label binary-files directories devices include exclude exclude-dir before-context after-context \
         context group-separator",
    ),
    (Maybe, "color colour"),
    (Does::Read, "f file"),
    (Info, "V"),
];

const GREP_FLAGS: (Does, &str) = (
    Flag,
    "E extended-regexp F fixed-strings G basic-regexp P perl-regexp i ignore-case no-ignore-case y w word-regexp \
         x line-regexp z null-data s no-messages v invert-match b byte-offset n line-number line-buffered \
         H with-filename h no-filename o only-matching q quiet silent a text I r recursive R dereference-recursive \
         L files-without-match l files-with-matches c count T initial-tab Z null no-group-separator U binary \
         u unix-byte-offsets 0 1 2 3 4 5 6 7 8 9",
);

const RIPGREP: &[(Does, &str)] = &[
    (
        Flag,
        "F fixed-strings no-fixed-strings i ignore-case S smart-case s case-sensitive v invert-match no-invert-match \
         w word-regexp x line-regexp n line-number N no-line-number H with-filename I no-filename l files-with-matches \
         files-without-match c count count-matches include-zero o only-matching q quiet p pretty P pcre2 no-pcre2 \
         U multiline no-multiline multiline-dotall no-multiline-dotall hidden no-hidden no-ignore ignore no-ignore-dot \
         no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs \
         no-ignore-file-case-insensitive ignore-file-case-insensitive u unrestricted L follow no-follow a text no-text \
         binary no-binary b byte-offset column no-column heading no-heading json no-json vimgrep 0 null null-data crlf \
         no-crlf files type-list stats no-stats trim no-trim one-file-system no-one-file-system no-messages messages \
         no-config passthru passthrough auto-hybrid-regex line-buffered block-buffered no-line-buffered no-mmap mmap \
         debug trace glob-case-insensitive no-glob-case-insensitive no-require-git require-git unicode no-unicode \
         no-pcre2-unicode pcre2-unicode max-columns-preview no-max-columns-preview no-context-separator \
         stop-on-nonmatch sort-files no-sort-files no-encoding pcre2-version . no-pre \
         z search-zip no-search-zip",
    ),
    (
        Value,
        "e regexp t type T type-not type-add type-clear g glob iglob A after-context B before-context C context \
         m max-count d max-depth maxdepth M max-columns max-filesize j threads sort sortr E encoding engine color \
         colors \
         r replace context-separator field-context-separator field-match-separator path-separator hyperlink-format \
         dfa-size-limit regex-size-limit generate",
    ),
    (Does::Read, "f file ignore-file"),
    (Run, "pre hostname-bin"),
    (Value, "pre-glob"),
    (Info, "V h"),
];

/// grep reads its operands, walks them with `-r`, and walks here with `-r` and no operand.
fn grep(parsed: &Parsed, judge: &mut Judge<'_>) {
    // The start of a word will do.
    let stays = |action: &Arg| action.exact().is_some_and(|text| "skip".starts_with(text) || text.starts_with("rea"));
    let walks = !parsed.values("d directories").all(stays);
    let always = parsed.path.first().is_some_and(|name| name == "rgrep");
    let recursive = always || walks || parsed.has("r recursive R dereference-recursive");
    if !parsed.has("l files-with-matches L files-without-match c count q quiet silent") {
        filters::chosen(parsed, "include", judge);
    }
    let files = behind_pattern(parsed, judge, "e regexp f file");
    if files.is_empty() && recursive {
        judge.read_cwd();
    }
    for file in files.iter().filter(|file| file.exact() != Some("-")) {
        if recursive { judge.read_tree(file) } else { judge.read(file) }
    }
}

/// Two of these are scripts that put the options they are given into one text, which the shell splits and expands
/// again: words of a value become options and files of their own. A pattern is spared that where it is a word alone.
fn split_again(parsed: &Parsed, judge: &mut Judge<'_>) {
    if !parsed.path.first().is_some_and(|name| matches!(name.as_str(), "bzgrep" | "zstdgrep")) {
        return;
    }
    for (name, value) in parsed.opts.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        let pattern = matches!(name.as_str(), "e" | "regexp");
        let mut parts = value.exact().unwrap_or("* *").split_whitespace();
        let splits = match parts.next() {
            Some(_) if pattern => parts.any(|part| part.starts_with('-') || part.contains(['/', '.', '*', '?', '['])),
            first => parts.next().is_some() || first.is_some_and(|text| text.contains(['*', '?', '['])),
        };
        if splits {
            judge.opaque("the script splits the value of an option, and parts of it are options and files");
        }
    }
}

/// rg walks its operands, or here. Without operands it reads standard input where that is a pipe; the
/// tree here is inside anyway.
fn ripgrep(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.has("type-list pcre2-version generate") {
        return;
    }
    if !parsed.has("l files-with-matches files-without-match files c count count-matches q quiet") {
        filters::chosen(parsed, "g glob iglob type-add", judge);
    }
    let trees = behind_pattern(parsed, judge, "e regexp f file files");
    if trees.is_empty() {
        judge.read_cwd();
    }
    trees.iter().filter(|tree| tree.exact() != Some("-")).for_each(|tree| judge.read_tree(tree));
}

fn pattern_then_tree(parsed: &Parsed, judge: &mut Judge<'_>) {
    if let Some(value) =
        parsed.value("G file-search-regex").filter(|_| parsed.path.first().is_some_and(|name| name == "ag"))
    {
        let found = value.exact().map(filters::secrets_by_regex).unwrap_or_default();
        let spelled = value.exact().and_then(filters::spelled_by_regex);
        found.iter().chain(&spelled).for_each(|name| judge.read(&value.with(name)));
    }
    // Where no number stands there, it is the pattern.
    let number = |value: &Arg| value.exact().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let counted = parsed.values("A after-context B before-context C context").all(number);
    let trees = if counted { behind_pattern(parsed, judge, "match f g") } else { &parsed.operands };
    if trees.is_empty() {
        judge.read_cwd();
    }
    trees.iter().for_each(|tree| judge.read_tree(tree));
}

/// The operands behind the pattern. A pattern of several words is read as files too.
fn behind_pattern<'p>(parsed: &'p Parsed, judge: &mut Judge<'_>, instead: &str) -> &'p [Arg] {
    if parsed.shifted || parsed.has(instead) {
        return &parsed.operands;
    }
    let Some((pattern, files)) = parsed.operands.split_first() else { return &[] };
    if spec::may_be_more(pattern) {
        judge.read(pattern);
    }
    files
}

/// How large files and trees are. Of a single secret that is no more than a listing tells.
fn sizes(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.operands.is_empty() {
        judge.read_cwd();
    }
    for place in &parsed.operands {
        let secret = |text: &str| crate::classify(&judge.resolve(text)).secret.is_some();
        let names = matches!(place.word, Word::Glob { .. }) || place.exact().is_some_and(secret);
        let alone = names && !parsed.has("a all");
        if alone { super::places::look(place, judge) } else { judge.read_tree(place) }
    }
}

/// Directory listings: the operands, or the working directory.
fn list(parsed: &Parsed, tree: bool, judge: &mut Judge<'_>) {
    if parsed.operands.is_empty() {
        judge.read_cwd();
    }
    for place in &parsed.operands {
        match &place.word {
            _ if tree => judge.read_tree(place),
            // The directories themselves, and nothing in them.
            Word::Glob { pattern, prefix } if parsed.has("d directory list-dirs directory-only") => {
                let (pattern, prefix) = (pattern.trim_end_matches('/').to_owned(), prefix.clone());
                super::places::look(&Arg { word: Word::Glob { pattern, prefix }, span: place.span.clone() }, judge);
            }
            _ => super::places::look(place, judge),
        }
    }
}

/// fd looks for files; behind `-x` or `-X` stands a command that gets their names, each below `./`.
fn fd(parsed: &Parsed, judge: &mut Judge<'_>) {
    const RUNS: &[&str] = &["-x", "--exec", "-X", "--exec-batch"];
    let words = &parsed.operands;
    let runs = words.iter().position(|word| word.exact().is_some_and(|word| RUNS.contains(&word)));
    let (own, command) = words.split_at(runs.unwrap_or(words.len()));
    let name = judge.span.clone();
    let mut argv = vec![Arg { word: Word::Exact("fd".to_owned()), span: name }];
    argv.extend(own.iter().cloned());
    spec::apply(&FD, &spec::parse(&FD, &argv), judge);
    let Some(command) = command.get(1..) else { return };
    if command.is_empty() || command.iter().any(|word| word.exact() == Some(";")) {
        return judge.opaque("the command behind `-x` is not followed");
    }
    if filters::names_a_secret(own) || filters::finds_hidden(&argv) {
        judge.opaque("the command behind `-x` gets the name of a secret");
    }
    // Told so, it leaves out the `./` that keeps a name from being an option.
    let bare = own.iter().any(|word| word.exact().is_none_or(|text| text.starts_with("--strip")));
    let before = if bare { "" } else { "./" };
    let found = Word::Glob { pattern: format!("{before}*"), prefix: before.to_owned() };
    let mark = |word: &Arg| word.exact().is_none_or(|text| text.contains('{'));
    let prints = matches!(command.first().and_then(Arg::exact), Some("echo" | "printf"));
    let mut argv: Vec<Arg> = command.to_vec();
    for word in &mut argv {
        match word.exact() {
            Some("{}" | "{.}" | "{//}") => word.word = found.clone(),
            // The last part of a name alone may be an option, and that of any file here: it can only be printed.
            Some("{/}" | "{/.}") if prints => word.word = Word::Glob { pattern: "*".to_owned(), prefix: String::new() },
            Some(text) if !text.contains('{') => {}
            _ => judge.opaque("a word of the command behind `-x` is not known"),
        }
    }
    if !command.iter().any(mark) {
        argv.push(Arg { word: found, span: judge.span.clone() });
    }
    judge.command(&argv);
}
