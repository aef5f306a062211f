//! Programs that pack one file into another beside it, and unpack it again.
//!
//! They look alike and are not: a letter that takes a value in one is a flag in the next, and would take the file for it. So
//! each has a row of its own.

use super::super::judge::{Arg, Judge, Word};
use super::spec::Does::{Flag, Info, Maybe, Value, Write, WriteTree};
use super::spec::{self, Does, Operands, PLAIN, Parsed, Short, Spec, Style};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    packer(
        "gzip gunzip",
        &[
            MODES,
            LEVELS,
            (Flag, "q quiet a ascii l list m M n no-name N name r recursive rsyncable synchronous"),
            (Value, "S suffix b bits"),
            (Info, "h help V version L license H"),
        ],
    ),
    // Behind a file nothing is an option for those of BSD.
    Spec {
        style: Style::GnuStop,
        ..packer(
            "compress uncompress",
            &[(Flag, "c stdout d f force F k keep n q quiet r v C"), (Value, "b"), (Info, "h V")],
        )
    },
    packer(
        "pigz unpigz",
        &[
            MODES,
            LEVELS,
            (
                Flag,
                "q quiet 0 F first H huffman i independent K zip l list m no-time M time n no-name N name O oneblock",
            ),
            (Flag, "r recursive R rsyncable T U rle Y synchronous z zlib"),
            (Value, "b blocksize p processes S suffix I iterations J maxsplits C comment A alias"),
            (Info, "h help V version L license"),
        ],
    ),
    packer(
        "bzip2 bunzip2",
        &[MODES, LEVELS, (Flag, "q quiet z compress s small"), (Info, "h help V version L license")],
    ),
    packer(
        "lbzip2 lbunzip2",
        &[
            MODES,
            LEVELS,
            (Flag, "q quiet z compress s small u sequential S"),
            (Value, "n threads"),
            (Info, "h help V version L license"),
        ],
    ),
    // Numbers are attached to their letters.
    Spec {
        short: Short::Apart,
        ..packer(
            "pbzip2",
            &[
                MODES,
                LEVELS,
                (Flag, "q quiet z compress l loadavg r read"),
                (Maybe, "b m p S ignore-trailing-garbage"),
                (Info, "h help V version"),
            ],
        )
    },
    packer(
        "xz unxz lzma unlzma",
        &[
            MODES,
            LEVELS,
            (
                Flag,
                "q quiet z compress 0 e extreme l list Q no-warn no-adjust single-stream no-sparse ignore-check robot",
            ),
            (Value, "S suffix T threads F format C check M memlimit memory memlimit-compress memlimit-decompress"),
            (Info, "h help H long-help V version"),
        ],
    ),
    packer(
        "lzip lunzip",
        &[
            MODES,
            LEVELS,
            (Flag, "q quiet 0 a trailing-error F recompress l list loose-trailing"),
            (Value, "b member-size m match-length n threads s dictionary-size S volume-size u buffer-size"),
            (Info, "h help V version"),
        ],
    ),
    packer(
        "lzop",
        &[
            MODES,
            LEVELS,
            (Flag, "q quiet l list F no-checksum C checksum n no-name N name"),
            (Value, "S suffix"),
            (Info, "h help V version L license"),
        ],
    ),
    packer(
        "brotli unbrotli",
        &[
            MODES,
            LEVELS,
            (Flag, "0 Z j rm n no-copy-stat"),
            (Value, "q quality w lgwin large_window S suffix"),
            (Info, "h help V version"),
        ],
    ),
    Spec { names: "lz4 unlz4", opts: LZ4, operands: Operands::Custom, check: Some(lz4), ..PLAIN },
    Spec {
        names: "zstd unzstd zstdmt pzstd",
        opts: &[
            (
                Flag,
                "k keep rm d decompress uncompress z compress f force c stdout v verbose q quiet r ultra adapt \
                 single-thread \
                 rsyncable exclude-compressed no-dictID check no-check l list t test C 1 2 3 4 5 6 7 8 9 0 \
                 no-progress progress",
            ),
            // A number is attached to these letters, and what stands behind it are letters again.
            (Flag, "M T"),
            (Maybe, "fast long format"),
            (Value, "memory threads"),
            (Write, "o"),
            (WriteTree, "output-dir-flat output-dir-mirror"),
            (Does::Read, "D"),
            (Info, "h H V"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let prints =
                parsed.has("c stdout o output-dir-flat output-dir-mirror") || only_looks(parsed, "l list t test");
            for file in &parsed.operands {
                if parsed.has("r") {
                    judge.read_tree(file)
                } else {
                    judge.read(file)
                }
                if !prints {
                    beside(file, judge);
                    unpacked(file, parsed, judge);
                }
                if parsed.has("rm") {
                    judge.delete(file);
                }
            }
        }),
        ..PLAIN
    },
];

/// What nearly all of them do.
const MODES: (Does, &str) = (Flag, "c stdout to-stdout d decompress uncompress f force k keep t test v verbose");

/// How well they pack.
const LEVELS: (Does, &str) = (Flag, "1 2 3 4 5 6 7 8 9 fast best");

const fn packer(names: &'static str, opts: &'static [(Does, &'static str)]) -> Spec {
    Spec { names, opts, operands: Operands::Custom, check: Some(pack), ..PLAIN }
}

const LZ4: &[(Does, &str)] = &[
    (
        Flag,
        "c stdout to-stdout d decompress z compress f force k keep q quiet v verbose m multiple r t test list rm \
         0 1 2 3 4 5 6 7 8 9 l no-frame-crc content-size sparse no-sparse favor-decSpeed",
    ),
    (Maybe, "fast best"),
    (Info, "h H V"),
];

/// lz4: the second operand is the output; `-l` packs in an older form and lists nothing.
fn lz4(parsed: &Parsed, judge: &mut Judge<'_>) {
    let prints = parsed.has("c stdout to-stdout") || only_looks(parsed, "t test list") && !parsed.has("l");
    let many = parsed.has("m multiple r");
    for (at, file) in parsed.operands.iter().enumerate().filter(|(_, file)| file.exact() != Some("-")) {
        match at == 0 || many {
            true if parsed.has("r") => judge.read_tree(file),
            true => judge.read(file),
            false => judge.write(file),
        }
        if !prints && (many || parsed.operands.len() == 1) {
            beside(file, judge);
            unpacked(file, parsed, judge);
        }
        if spec::may_be_more(file) && !prints {
            judge.opaque("the second name is written");
        }
        if parsed.has("rm") {
            judge.delete(file);
        }
    }
}

/// A file beside this one is written: `f` from `f.gz`.
fn beside(file: &Arg, judge: &mut Judge<'_>) {
    match file.exact().map(|text| text.rsplit_once('/').map_or(".", |(above, _)| above)) {
        Some(above) => judge.write_tree(&file.with(if above.is_empty() { "/" } else { above })),
        None => judge.write(file),
    }
}

/// What is unpacked comes to stand under the name without its end: `.npmrc` from `.npmrc.gz`.
fn unpacked(file: &Arg, parsed: &Parsed, judge: &mut Judge<'_>) {
    let program = parsed.path.first().map_or("", String::as_str);
    if !program.contains("un") && !parsed.has("d decompress uncompress") {
        return;
    }
    let ends: Vec<&str> = parsed.values("S suffix").filter_map(Arg::exact).collect();
    let shorter = |text: &str| {
        let named = ends.iter().find_map(|end| text.strip_suffix(end));
        let name = named.or_else(|| text.rsplit_once('.').map(|(name, _)| name));
        name.filter(|name| !name.is_empty() && !name.ends_with('/')).map(str::to_owned)
    };
    match &file.word {
        Word::Exact(text) => shorter(text).into_iter().for_each(|name| judge.write(&file.with(&name))),
        // As a name: what else a pattern finds lies in a directory that is written anyway.
        Word::Glob { pattern, .. } => {
            let names = shorter(pattern).map(|pattern| judge.pointed_at(&pattern)).unwrap_or_default();
            names.iter().for_each(|name| judge.write(&file.with(name)));
        }
        Word::Opaque { .. } | Word::OneOf(_) => {}
    }
}

/// Letters and words that list or test an archive. The last mode wins, so beside one that packs or unpacks they
/// say nothing.
fn only_looks(parsed: &Parsed, looks: &str) -> bool {
    parsed.has(looks) && !parsed.has("d decompress uncompress z compress rm")
}

/// gzip and its kind replace the file unless they print.
fn pack(parsed: &Parsed, judge: &mut Judge<'_>) {
    // `-l` is the load limit of pbzip2, and nothing that lists in bzip2, brotli and compress.
    const LISTS: &[&str] =
        &["gzip", "gunzip", "pigz", "unpigz", "xz", "unxz", "lzma", "unlzma", "lzip", "lunzip", "lzop"];
    let lists = parsed.path.first().is_some_and(|name| LISTS.contains(&name.as_str()));
    let prints = parsed.has("c stdout to-stdout") || only_looks(parsed, if lists { "l list t test" } else { "t test" });
    let walks = parsed.has("r recursive");
    for file in parsed.operands.iter().filter(|file| file.exact() != Some("-")) {
        if walks {
            judge.read_tree(file)
        } else {
            judge.read(file)
        }
        if !prints {
            beside(file, judge);
            unpacked(file, parsed, judge);
            if !parsed.has("k keep") {
                judge.delete(file);
            }
        }
    }
}
