//! Programs that are met now and then, and print what they are given: each with the options that are known to do no more.

use super::super::judge::{Arg, Judge};
use super::super::lang;
use super::effects::prints;
use super::spec::Does::{Flag, Info, Value, Write};
use super::spec::{self, Operands, PLAIN, Parsed, Spec, Style};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    prints("gettext ngettext", &[(Value, "d domain c context"), (Flag, "e n E s"), (Info, "V h")]),
    Spec {
        names: "pdfgrep",
        opts: &[
            (
                Flag,
                "i ignore-case n page-number H with-filename h no-filename c count p page-count q quiet o only-matching",
            ),
            (Flag, "F fixed-strings P perl-regexp Z null r recursive R dereference-recursive"),
            (Value, "e regexp m max-count A after-context B before-context C context color include exclude page-range"),
            (Info, "V"),
        ],
        operands: Operands::PatternThenRead,
        patterns: "e regexp",
        check: Some(|parsed, judge| {
            if parsed.has("r recursive R dereference-recursive") {
                parsed.operands.iter().for_each(|tree| judge.read_tree(tree));
                judge.read_cwd();
            }
        }),
        ..PLAIN
    },
    // What converts writes: it is not here.
    Spec {
        names: "enca",
        opts: &[
            (
                Flag,
                "d details e enca-name f human-readable g guess i iconv-name m mime-name n cstocs-name r rfc1345-name",
            ),
            (Flag, "p with-filename P no-filename"),
            (Value, "L language"),
            (Info, "v version h help"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    // `--filter`, `--pager` and `--view` run programs; they are not here.
    Spec {
        names: "ugrep",
        opts: &[
            (Flag, "r recursive n line-number i ignore-case l files-with-matches c count w word-regexp v invert-match"),
            (Flag, "F fixed-strings E extended-regexp P perl-regexp o only-matching h no-filename H with-filename"),
            (Flag, "q quiet s no-messages x line-regexp I . hidden"),
            (
                Value,
                "A after-context B before-context C context e regexp m max-count g glob include exclude t file-type",
            ),
            (Info, "V"),
        ],
        operands: Operands::PatternThenRead,
        patterns: "e regexp",
        check: Some(|parsed, judge| {
            let pattern = usize::from(!parsed.has("e regexp"));
            parsed.operands.iter().skip(pattern).for_each(|tree| judge.read_tree(tree));
            super::filters::chosen(parsed, "g glob include", judge);
            judge.read_cwd();
        }),
        ..PLAIN
    },
    Spec {
        names: "pygmentize",
        opts: &[(Flag, "g"), (Value, "l f"), (Write, "o"), (Info, "V h")],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec {
        names: "uconv",
        opts: &[
            (Flag, "l list s silent v verbose"),
            (Value, "f from-code t to-code x"),
            (Write, "o output"),
            (Info, "V h"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    // In place it writes, and with `put` and `delete`.
    Spec {
        names: "dasel",
        opts: &[
            (Flag, "m multiple n null plain c compact pretty colour"),
            (Value, "r read w write p parser s selector"),
            (spec::Does::Read, "f file"),
        ],
        operands: Operands::Words,
        check: Some(|parsed, judge| {
            let selects =
                |word: &Arg| word.exact().is_some_and(|text| text.starts_with(['.', '[']) || text == "select");
            if !parsed.operands.iter().all(selects) {
                judge.opaque("what `dasel` is told to do is not known");
            }
        }),
        ..PLAIN
    },
    Spec { names: "xq", style: Style::Raw, operands: Operands::Custom, check: Some(xq), ..PLAIN },
    Spec { names: "jsonlint loc", operands: Operands::ReadTree, ..PLAIN },
    Spec {
        names: "html2text",
        operands: Operands::Read,
        check: Some(|parsed, judge| {
            // An address is fetched.
            if parsed.operands.iter().any(|file| file.exact().is_none_or(|text| text.contains(':'))) {
                judge.net(None);
            }
        }),
        ..PLAIN
    },
    prints(
        "llvm-config",
        &[(
            Flag,
            "version prefix src-root obj-root bindir includedir libdir cmakedir cppflags cflags cxxflags ldflags system-libs \
             libs libnames libfiles components targets-built host-target build-mode assertion-mode shared-mode link-shared \
             link-static has-rtti",
        )],
    ),
    super::miller::MLR,
    // `-i PROGRAM` is run; no option is here.
    Spec { names: "spell", operands: Operands::Read, ..PLAIN },
    Spec { names: "aspell", style: Style::Raw, operands: Operands::Custom, check: Some(aspell), ..PLAIN },
    // Without one of the first it corrects the file. Packed documents are unpacked by a shell.
    Spec {
        names: "hunspell",
        opts: &[(Flag, "l L G 1 t H"), (Value, "d i"), (Info, "v version h help D")],
        operands: Operands::Read,
        check: Some(hunspell),
        ..PLAIN
    },
    prints(
        "python3-config python-config python3.9-config python3.10-config python3.11-config python3.12-config \
         python3.13-config",
        &[(Flag, "prefix exec-prefix includes libs cflags ldflags extension-suffix abiflags configdir embed help")],
    ),
    Spec {
        names: "lsdiff filterdiff",
        opts: &[
            (Flag, "n line-number N number-files s status v verbose h no-filename clean remove-timestamps"),
            (Value, "p strip-match strip i include x exclude addprefix format lines hunks files F"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec {
        names: "pdffonts",
        style: Style::OneDash,
        opts: &[(Flag, "subst"), (Value, "f l opw upw"), (Info, "v h help")],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec {
        names: "pdfimages",
        style: Style::OneDash,
        opts: &[(Flag, "list p q"), (Value, "f l opw upw"), (Info, "v h help")],
        operands: Operands::Read,
        check: Some(|parsed, judge| {
            if !parsed.has("list") {
                judge.write_cwd();
                judge.opaque("without `-list` it writes the pictures");
            }
        }),
        ..PLAIN
    },
    // What builds a package or unpacks one is not here.
    Spec {
        names: "dpkg-deb",
        opts: &[(Flag, "c contents I info W show f field"), (Info, "version help")],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec {
        names: "xxhsum xxh32sum xxh64sum xxh128sum",
        opts: &[(Flag, "tag q quiet little-endian"), (Value, "H"), (Info, "V version h help")],
        operands: Operands::Read,
        ..PLAIN
    },
    prints("fc-list fc-match", &[(Flag, "v verbose s sort a all b brief q quiet"), (Value, "f format"), (Info, "V h")]),
    // Entries by their names; a place to look for them in would be read.
    Spec {
        names: "infocmp",
        opts: &[(Flag, "1 C I L c d n u x r q E e"), (Info, "V")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if parsed.operands.iter().any(|word| word.exact().is_none_or(|text| text.contains('/'))) {
                judge.opaque("the entry may be a file");
            }
        }),
        ..PLAIN
    },
    // A script, which splits the values of its options again: none that has one.
    Spec {
        names: "zipgrep",
        opts: &[(Flag, "i n w c l h v q E F")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let marks = ['*', '?', '[', '|', '\'', '\\', ' ', '\t', '\n'];
            let plain = |word: &Arg| word.exact().is_some_and(|text| !text.starts_with('-') && !text.contains(marks));
            // Behind `--` the script goes on to take what begins with a dash for an option of grep.
            let pattern = |word: &Arg| word.exact().is_some_and(|text| !text.starts_with('-'));
            match parsed.operands.split_first() {
                Some((first, [archive, members @ ..]))
                    if pattern(first) && members.iter().chain([archive]).all(plain) =>
                {
                    judge.read(archive)
                }
                _ => judge.opaque("the script splits its words again"),
            }
        }),
        ..PLAIN
    },
    Spec { names: "info", style: Style::Raw, operands: Operands::Custom, check: Some(info), ..PLAIN },
    Spec { names: "dc", style: Style::Raw, operands: Operands::Custom, check: Some(dc), ..PLAIN },
];

/// `aspell list < FILE`. Every other verb corrects, or keeps words.
fn aspell(parsed: &Parsed, judge: &mut Judge<'_>) {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let tells = |text: &str| {
        let named = text.strip_prefix("--lang=").or_else(|| text.strip_prefix("--mode="));
        matches!(text, "-H" | "-e" | "-t") || named.is_some_and(plain)
    };
    let words: Option<Vec<&str>> = parsed.operands.iter().map(Arg::exact).collect();
    let mut words = words.unwrap_or_default().into_iter();
    let mut lists = false;
    while let Some(word) = words.next() {
        match word {
            "list" if !lists => lists = true,
            "-l" | "-d" if words.next().is_some_and(plain) => {}
            "dicts" | "dump" if parsed.operands.len() == 1 && word == "dicts" => return,
            _ if tells(word) => {}
            _ => return judge.opaque("what `aspell` is told to do is not known"),
        }
    }
    if !lists {
        judge.opaque("it corrects a file");
    }
}

fn hunspell(parsed: &Parsed, judge: &mut Judge<'_>) {
    let packed = |file: &Arg| {
        let end = file.exact().and_then(|text| text.rsplit_once('.')).map(|(_, end)| end.to_ascii_lowercase());
        end.is_none_or(|end| end.starts_with("od") || end.starts_with("ot") || end.starts_with("fod"))
    };
    // A dictionary by its place is a file.
    let named =
        |value: Option<&Arg>| value.is_some_and(|value| value.exact().is_none_or(|text| text.contains(['/', '.'])));
    if !parsed.has("l L G") || parsed.operands.iter().any(packed) || named(parsed.value("d")) {
        judge.opaque("it corrects, or looks at more than the text");
    }
}

/// jq for XML, or a printer of XML: what changes files is not among these options.
fn xq(parsed: &Parsed, judge: &mut Judge<'_>) {
    let option = |word: &&Arg| word.exact().is_some_and(|text| matches!(text, "-r" | "-c" | "-M" | "-x"));
    let mut words = parsed.operands.iter().filter(|word| !option(word));
    let first = words.next();
    match first.map(|word| (word, word.exact())) {
        None => {}
        Some((file, Some(text))) if text.ends_with(".xml") || text.ends_with(".html") => judge.read(file),
        Some((_, Some(text))) if !text.starts_with('-') && lang::jq::analyse(text).is_ok() => {}
        _ => judge.opaque("what `xq` is told to do is not known"),
    }
    for file in words {
        if spec::may_be_option(file) {
            judge.opaque("a word may become an option of xq");
        }
        judge.read(file);
    }
}

/// Names of a page and its parts.
fn info(parsed: &Parsed, judge: &mut Judge<'_>) {
    let plain = |word: &Arg| {
        word.exact().is_some_and(|text| {
            text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "-+_ ".contains(c))
        })
    };
    if parsed.operands.is_empty() || !parsed.operands.iter().all(plain) {
        judge.opaque("what `info` does cannot be said");
    }
}

/// Sums behind `-e`, of signs that neither run a command nor a text: no `!`, no `?`, no `[`, no `a` and no `x`.
fn dc(parsed: &Parsed, judge: &mut Judge<'_>) {
    const SIGNS: &str = "0123456789 .+-*/%~^|vpnfcdrRkKiIoOzZ_";
    let sums = |pair: &[Arg]| match pair {
        [e, sum] => {
            matches!(e.exact(), Some("-e" | "--expression"))
                && sum.exact().is_some_and(|text| text.chars().all(|c| SIGNS.contains(c)))
        }
        _ => false,
    };
    if parsed.operands.is_empty() || !parsed.operands.chunks(2).all(sums) {
        judge.opaque("what `dc` is told to do is not known");
    }
}
