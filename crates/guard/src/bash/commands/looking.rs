//! Programs that look into data and into what was compiled: they print, and write only where an option says so.

use super::super::judge::{Arg, Judge, Word};
use super::spec::Does::Maybe;
use super::spec::Does::{Flag, Info, Read, Value, Write};
use super::spec::{self, Operands, PLAIN, Parsed, Spec, Style, late_options, lists, may_be_option};
use super::text::{fetch_or_read, read_all, reader};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    // Loads no class that it shows. `-J` is for the machine that runs it.
    Spec {
        names: "javap",
        opts: &[
            (Flag, "-c -l -p -private -public -protected -package -s -v -verbose -constants -sysinfo -help -version"),
            (Value, "-m --module"),
            (super::spec::Does::ReadTree, "-cp -classpath --class-path -bootclasspath --module-path --system"),
            (Info, "-version --version -help --help"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec {
        names: "gron",
        style: Style::GnuStop,
        opts: &[
            (Flag, "u ungron v values s stream c colorize m monochrome j json no-sort k insecure"),
            (Info, "version h help"),
        ],
        operands: Operands::Custom,
        check: Some(fetch_or_read),
        ..PLAIN
    },
    // `-i` and operands may be addresses and protocols; `-f`, `-o` and `-report` are not here.
    Spec {
        names: "ffprobe",
        style: Style::OneDash,
        opts: &[
            (
                Flag,
                "hide_banner show_format show_streams show_packets show_frames show_chapters show_programs show_error \
                 show_data count_frames count_packets pretty unit prefix byte_binary_prefix sexagesimal \
                 show_private_data",
            ),
            (Value, "v loglevel of print_format output_format show_entries select_streams read_intervals i"),
            (Value, "analyzeduration probesize"),
            (Info, "version h help codecs formats decoders demuxers protocols pix_fmts sample_fmts buildconf L"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| media(&parsed.operands, parsed.value("i"), judge)),
        ..PLAIN
    },
    Spec {
        names: "mediainfo",
        style: Style::OneDash,
        opts: &[(Flag, "f Full"), (Value, "Output Inform"), (Info, "Version version Help help h")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            // A template may stand in a file.
            let plain = |word: &Arg| word.exact().is_some_and(|text| !text.contains("://"));
            if !["Output", "Inform"].iter().filter_map(|name| parsed.value(name)).all(plain) {
                judge.opaque("a template from a file");
            }
            media(&parsed.operands, None, judge);
        }),
        ..PLAIN
    },
    // Every other option may be one that writes or runs an expression; these are shown.
    Spec {
        names: "exiftool",
        style: Style::OneDash,
        opts: &[
            (Flag, "s s1 s2 s3 S j json G G0 G1 g a u U n q m t T csv X v r fast fast2 common all ver"),
            (
                Flag,
                "FileName FileType FileSize MIMEType ImageSize ImageWidth ImageHeight DateTimeOriginal CreateDate \
                 ModifyDate FileModifyDate Make Model Orientation GPSLatitude GPSLongitude GPSPosition GPS:all EXIF:all \
                 XMP:all IPTC:all time:all Title Author Creator Producer PageCount Duration Software Comment \
                 Description Subject Keywords Copyright Artist ColorSpace BitDepth Megapixels LensModel ISO FNumber \
                 ExposureTime ICC_Profile:all",
            ),
            (Value, "d dateFormat c coordFormat ext extension x exclude"),
        ],
        operands: Operands::ReadTree,
        // `-Title=x` and `-json=x` write.
        check: Some(|parsed, judge| {
            super::opened::piped(&parsed.operands, judge);
            let set = |(name, value): &(String, Option<Arg>)| {
                value.is_some() && !lists("d dateFormat c coordFormat ext extension x exclude", name)
            };
            if parsed.opts.iter().any(set) {
                judge.opaque("an option that writes");
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "pup",
        opts: &[(Flag, "c color p plain pre"), (Value, "i indent n number l limit charset"), (Read, "f file")],
        operands: Operands::Words,
        ..PLAIN
    },
    // Its other modes write.
    Spec {
        names: "bsdtar",
        opts: &[
            (Flag, "t x O v z j J Z n q list extract to-stdout verbose"),
            (Read, "f file"),
            (Value, "exclude include strip-components"),
        ],
        operands: Operands::Words,
        check: Some(|parsed, judge| match parsed.has("x extract") {
            false if parsed.has("t list") => {}
            true if parsed.has("O to-stdout") => super::archives::shown(&parsed.operands, judge),
            _ => judge.opaque("this mode of bsdtar is not known"),
        }),
        ..PLAIN
    },
    CTAGS,
    Spec {
        names: "dos2unix unix2dos mac2unix unix2mac",
        // An option counts for the files behind it.
        style: Style::GnuStop,
        opts: &[
            (Flag, "b keep-bom k keepdate l newline m add-bom q quiet r remove-bom s safe o oldfile ascii 7 f force"),
            (Flag, "n newfile O to-stdout"),
            (Maybe, "i info"),
            (Value, "c convmode"),
            (Info, "V L h"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| match is_shown(parsed) {
            true => {
                late_options(&parsed.operands, judge);
                read_all(parsed, judge);
            }
            false => parsed.operands.iter().for_each(|file| judge.write(file)),
        }),
        ..PLAIN
    },
    Spec {
        names: "icdiff",
        opts: &[
            (Flag, "N line-numbers H highlight t truncate W strip-trailing-cr r recursive s show-all-spaces"),
            (Value, "U unified cols L label tabsize"),
        ],
        operands: Operands::ReadTree,
        ..PLAIN
    },
    Spec {
        names: "dwdiff",
        opts: &[(Flag, "1 2 3 i ignore-case s statistics"), (Value, "d delimiters C context")],
        operands: Operands::Read,
        ..PLAIN
    },
    // What updates a list of sums is not here.
    Spec {
        names: "rhash",
        opts: &[
            (
                Flag,
                "C crc32 M md5 H sha1 sha224 sha256 sha384 sha512 sha3-224 sha3-256 sha3-384 sha3-512 blake2s blake2b",
            ),
            (Flag, "r recursive c check bsd sfv simple hex base32 base64 uppercase lowercase"),
            (Info, "V version h help"),
        ],
        operands: Operands::ReadTree,
        ..PLAIN
    },
    Spec {
        names: "modinfo",
        opts: &[
            (Flag, "a author d description l license n filename p parameters 0 null"),
            (Value, "F field k set-version"),
            (Info, "V version h help"),
        ],
        operands: Operands::Custom,
        // A module by its place is a file.
        check: Some(|parsed, judge| {
            let file = |word: &&Arg| word.exact().is_none_or(|text| text.contains(['/', '.']));
            parsed.operands.iter().filter(file).for_each(|word| judge.read(word));
        }),
        ..PLAIN
    },
    // `-o` writes what it counts, `-f` reads what was.
    Spec {
        names: "sar",
        opts: &[(Flag, "A B b d F H h p q r S t u v W w y z"), (Value, "n P m I i"), (Info, "V")],
        operands: Operands::Words,
        ..PLAIN
    },
    Spec { names: "col", opts: &[(Flag, "b f h p x"), (Value, "l lines")], ..PLAIN },
    Spec { names: "colrm", operands: Operands::Words, ..PLAIN },
    // One of its options makes the second file its output, so a pattern is no closed matter.
    Spec {
        names: "ptx",
        opts: &[
            (Flag, "A auto-reference R right-side-refs f ignore-case r references t typeset-mode T O"),
            (Value, "F flag-truncation M macro-name format S sentence-regexp W word-regexp g gap-size w width"),
            (Read, "b break-file i ignore-file o only-file"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    reader("ul", &[(Flag, "i indicated"), (Value, "t T terminal")]),
    reader("isutf8", &[(Flag, "q quiet l list i invert v verbose")]),
    reader("uchardet", &[(Info, "h help v version")]),
    Spec {
        names: "wdiff",
        opts: &[
            (Flag, "1 no-deleted 2 no-inserted 3 no-common i ignore-case s statistics n avoid-wraps"),
            (Value, "w start-delete x end-delete y start-insert z end-insert"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    // Paths of what was installed.
    Spec {
        names: "pg_config",
        opts: &[(
            Flag,
            "bindir docdir htmldir includedir pkgincludedir includedir-server libdir pkglibdir localedir mandir \
             sharedir sysconfdir pgxs configure cc cppflags cflags cflags_sl ldflags ldflags_ex ldflags_sl libs version",
        )],
        ..PLAIN
    },
    reader(
        "htmlq",
        &[
            (Flag, "t text p pretty w ignore-whitespace B detect-base"),
            (Value, "a attribute b base r remove-nodes"),
            (Read, "f filename"),
            (Write, "o output"),
            (Info, "h V help version"),
        ],
    ),
];

const CTAGS: Spec = Spec {
    names: "ctags exuberant-ctags universal-ctags etags",
    // A long option takes no word of its own for its value.
    style: Style::GnuStop,
    opts: &[
        (Flag, "R a x u list-languages e"),
        (Maybe, "recurse sort list-kinds list-fields list-extras list-maps list-kinds-full totals append"),
        (Maybe, "languages exclude fields extras kinds-all output-format langmap map-all tag-relative"),
        // Which kinds of names are told of in one language, in the words of either version.
        (
            Maybe,
            "c-kinds c++-kinds c#-kinds go-kinds java-kinds javascript-kinds lua-kinds make-kinds perl-kinds php-kinds",
        ),
        (
            Maybe,
            "python-kinds ruby-kinds rust-kinds sh-kinds sql-kinds typescript-kinds C-kinds C++-kinds Python-kinds",
        ),
        (Maybe, "kinds-c kinds-c++ kinds-go kinds-java kinds-javascript kinds-python kinds-ruby kinds-rust kinds-sh"),
        (
            Maybe,
            "kinds-C kinds-C++ kinds-C# kinds-Go kinds-Java kinds-JavaScript kinds-Python kinds-Ruby kinds-Rust kinds-Sh",
        ),
        (Value, "f o"),
        (Read, "L"),
    ],
    operands: Operands::Custom,
    check: Some(tags),
    ..PLAIN
};

/// An option behind a file counts for those behind it alone: where the tags go is settled by then.
fn tags(parsed: &Parsed, judge: &mut Judge<'_>) {
    const LISTS: &str = "x list-languages list-kinds list-fields list-extras list-maps list-kinds-full";
    let late = parsed.operands.iter().skip(1).position(may_be_option).map(|at| at + 1);
    let (files, late) = parsed.operands.split_at(late.unwrap_or(parsed.operands.len()));
    files.iter().for_each(|tree| judge.read_tree(tree));
    match parsed.value("f o") {
        Some(file) if file.exact() == Some("-") => {}
        Some(file) => judge.write(file),
        None if parsed.has(LISTS) && late.is_empty() => {}
        None => judge.write_cwd(),
    }
    if !late.is_empty() {
        let mut argv = vec![judge.word("ctags")];
        argv.extend_from_slice(late);
        spec::apply(&CTAGS, &spec::parse(&CTAGS, &argv), judge);
    }
}

/// Files of a program that takes addresses, too: `concat:a|b`, `subfile,,…:a`, `http://x`.
fn media(files: &[Arg], named: Option<&Arg>, judge: &mut Judge<'_>) {
    for file in files.iter().chain(named) {
        let plain = match &file.word {
            Word::Exact(text) => !text.contains(':') && text != "-",
            Word::Glob { prefix, .. } => prefix.contains('/'),
            _ => false,
        };
        if !plain {
            judge.opaque("an address, or a name that may be one");
        }
        if super::filters::text(file).and_then(|text| text.rsplit_once('.')).is_some_and(|(_, end)| names_others(end)) {
            judge.code("a play list names other files, and addresses");
        }
        judge.read(file);
    }
}

/// Whether dos2unix only shows its files. What stands behind `-i` are letters, or the whole is another option: `-iso`.
fn is_shown(parsed: &Parsed) -> bool {
    let letters = |value: &Arg| value.exact().is_some_and(|text| text.chars().all(|c| "0dumbtchpe".contains(c)));
    let shows = parsed.has("i info O to-stdout") && !parsed.has("n newfile o oldfile");
    shows && parsed.values("i info").all(letters)
}

/// Whether files that end so are lists of others.
fn names_others(end: &str) -> bool {
    lists("m3u m3u8 mpd pls xspf asx wpl ism concat ffconcat sdp cue", &end.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_harmless, none_harmless};

    #[test]
    fn what_is_looked_into() {
        all_harmless(&[
            "ffprobe a.mp4",
            "ffprobe -v error -show_format -show_streams -of json a.mp4",
            "ffprobe -v error -show_entries format=duration -of default=noprint_wrappers=1:nokey=1 -i media/a.mp4",
            "ffprobe -version",
            "mediainfo --Output=JSON a.mp4",
            "mediainfo --Inform='General;%Duration%' a.mp4",
            "exiftool a.jpg",
            "exiftool -s3 -ImageSize -MIMEType a.jpg",
            "exiftool -json -G1 photos",
            "pup -f index.html title",
            "bsdtar -tvf a.tar",
            "bsdtar -xOf a.tar README.md",
            "icdiff -N a b",
            "rhash --sha256 a",
            "col -b",
            "wdiff -3 a b",
            "pg_config --includedir",
        ]);
        none_harmless(&[
            "ffprobe http://x.example/a.mp4",
            "ffprobe concat:a|b",
            "ffprobe -i subfile,,start,0,end,9,,:a",
            "ffprobe -f lavfi -i movie=a",
            "ffprobe -o x a.mp4",
            "ffprobe -report a.mp4",
            "ffprobe *",
            "ffprobe $x",
            "mediainfo --Output=file://x a",
            "mediainfo --Inform=file://x a",
            "mediainfo --LogFile=x a",
            "mediainfo http://x.example/a",
            "exiftool -Title=x a.jpg",
            "exiftool -all= a.jpg",
            "exiftool -json=x.json a.jpg",
            "exiftool -csv=x.csv photos",
            "exiftool -TagsFromFile b a",
            "exiftool -config x a",
            "exiftool -if 'system(1)' a",
            "exiftool -p x a",
            "exiftool -w txt a",
            "exiftool -o x a",
            "exiftool -@ x",
            "exiftool -execute a",
            "exiftool '-Title<FileName' a",
            "bsdtar -xf a.tar",
            "bsdtar -cf a.tar x",
            "ffprobe a.M3U8",
            "exiftool 'id|'",
            "exiftool photos/*",
            "bsdtar -tf a.tar --use-compress-program x",
            "wdiff -a a b",
            "pup -o x",
        ]);
    }
}
