//! Programs that print, cut, join, compare and count text.
//!
//! Nearly all of them read their operands and nothing else. What stands out is the few with an output
//! hidden in an option or in an operand: sort, uniq, xxd, tee, pandoc.

use super::super::analysis::is_public_listing;
use super::super::judge::{Arg, Judge, Word};
use super::pieces;
use super::spec::Does::{Either, Flag, Info, Maybe, Run, Value, Write, WriteTree};
use super::spec::{self, Does, Operands, PLAIN, Parsed, Short, Spec, Style, may_be_more};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    // Whole files.
    reader(
        "cat gcat",
        &[(
            Flag,
            "A show-all b number-nonblank e E show-ends n number s squeeze-blank t T show-tabs u v show-nonprinting",
        )],
    ),
    reader("tac gtac", &[(Flag, "b before r regex"), (Value, "s separator")]),
    reader(
        "nl",
        &[
            (Flag, "p no-renumber"),
            (
                Value,
                "b body-numbering d section-delimiter f footer-numbering h header-numbering i line-increment \
                 l join-blank-lines n number-format s number-separator v starting-line-number w number-width",
            ),
        ],
    ),
    reader("head ghead", &[(Value, "# c bytes n lines"), (Flag, "q quiet silent v verbose z zero-terminated")]),
    reader(
        "tail gtail",
        &[
            (Value, "# c bytes n lines max-unchanged-stats pid s sleep-interval"),
            (Flag, "f F q quiet silent retry v verbose z zero-terminated"),
            (Maybe, "follow"),
        ],
    ),
    reader("rev tsort vis unvis", &[(Flag, "h V")]),
    // A script of Perl, which looks for its modules in ./lib first.
    Spec { check: Some(|_, judge| judge.code("`crc32` loads modules from `lib`")), ..reader("crc32", &[]) },
    // `-f` and `--files0-from` are not here: what they name is not known.
    Spec {
        operands: Operands::Custom,
        check: Some(count),
        ..reader("wc gwc", &[(Flag, "c bytes m chars l lines L max-line-length w words"), (Value, "total")])
    },
    // Columns and lines.
    Spec {
        names: "sort gsort",
        opts: &[
            (
                Flag,
                "b ignore-leading-blanks d dictionary-order f ignore-case g general-numeric-sort \
                 i ignore-nonprinting M month-sort h human-numeric-sort n numeric-sort R random-sort r reverse \
                 V version-sort debug m merge s stable u unique z zero-terminated c C",
            ),
            (Maybe, "check"),
            (Value, "sort batch-size k key S buffer-size t field-separator parallel"),
            (Does::Read, "random-source"),
            (Write, "o output"),
            (WriteTree, "T temporary-directory"),
            (Run, "compress-program"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec {
        names: "uniq guniq",
        opts: &[
            (Flag, "c count d repeated D i ignore-case u unique z zero-terminated"),
            (Maybe, "all-repeated group"),
            (Value, "# f skip-fields s skip-chars w check-chars"),
        ],
        operands: Operands::Custom,
        check: Some(second_is_output),
        ..PLAIN
    },
    reader(
        "cut gcut",
        &[
            (Value, "b bytes c characters d delimiter f fields output-delimiter"),
            (Flag, "n complement s only-delimited z zero-terminated"),
        ],
    ),
    anything("tr gtr"),
    reader("paste", &[(Value, "d delimiters"), (Flag, "s serial z zero-terminated")]),
    reader(
        "join",
        &[(Value, "a e j o t v 1 2"), (Flag, "i ignore-case check-order nocheck-order header z zero-terminated")],
    ),
    reader("comm", &[(Flag, "1 2 3 check-order nocheck-order total z zero-terminated"), (Value, "output-delimiter")]),
    reader(
        "column",
        &[
            (
                Flag,
                "t table d table-noheadings e table-header-repeat L keep-empty-lines J json x fillrows h V \
                 table-maxout m",
            ),
            (
                Value,
                "table-name O table-order N table-columns l table-columns-limit E table-noextreme H table-hide \
                 R table-right T table-truncate W table-wrap r tree i tree-id p tree-parent c output-width columns \
                 o output-separator s separator C table-column",
            ),
            // That of BSD takes no value.
            (Either, "n"),
        ],
    ),
    reader("fold", &[(Flag, "b bytes s spaces"), (Value, "# w width")]),
    reader(
        "fmt",
        &[
            (Flag, "c crown-margin s split-only t tagged-paragraph u uniform-spacing"),
            (Value, "# prefix w width g goal"),
            // That of BSD takes no value.
            (Either, "p"),
        ],
    ),
    reader(
        "pr",
        &[
            (
                Flag,
                "a across c show-control-chars d double-space F f form-feed J join-lines m merge r no-file-warnings \
                 t omit-header T omit-pagination v show-nonprinting",
            ),
            (
                Value,
                "# columns D date-format h header l length N first-line-number o indent w width W page-width pages",
            ),
            (Maybe, "e expand-tabs i output-tabs n number-lines s separator S sep-string"),
        ],
    ),
    reader("expand", &[(Flag, "i initial"), (Value, "# t tabs")]),
    reader("unexpand", &[(Flag, "a all first-only"), (Value, "# t tabs")]),
    Spec {
        names: "shuf gshuf",
        opts: &[
            (Flag, "e echo r repeat z zero-terminated"),
            (Value, "i input-range n head-count"),
            (Does::Read, "random-source"),
            (Write, "o output"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if !parsed.has("e echo") {
                read_all(parsed, judge);
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "split gsplit",
        opts: &[
            (Flag, "d x e elide-empty-files u unbuffered verbose"),
            (Maybe, "numeric-suffixes hex-suffixes"),
            (Value, "# a suffix-length additional-suffix b bytes C line-bytes l lines n number t separator"),
            (Run, "filter"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| pieces::written(parsed, judge, parsed.operands.get(1))),
        ..PLAIN
    },
    Spec {
        names: "csplit gcsplit",
        opts: &[
            (Flag, "k keep-files suppress-matched s quiet silent z elide-empty-files"),
            (Value, "b suffix-format f prefix n digits"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| pieces::written(parsed, judge, parsed.value("f prefix"))),
        ..PLAIN
    },
    reader("look", &[(Flag, "a alternative d alphanum f ignore-case h V"), (Value, "t terminate")]),
    // Bytes.
    reader(
        "od god",
        &[
            (Value, "A address-radix endian j skip-bytes N read-bytes S t format"),
            (Maybe, "strings w width"),
            (Flag, "v output-duplicates traditional a b c d f i l o s x"),
        ],
    ),
    Spec {
        names: "xxd",
        style: Style::GnuStop,
        short: Short::Alone,
        opts: &[
            (Flag, "-ps -plain -postscript -bits -autoskip -uppercase -include -capitalize -revert -EBCDIC -decimal"),
            (Flag, "a b C e E i p r u d"),
            (Value, "-cols -groupsize -len -name -seek -skip c g l n o s R"),
            (Info, "h v"),
        ],
        operands: Operands::Custom,
        check: Some(second_is_output),
        ..PLAIN
    },
    reader(
        "hexdump hd",
        &[
            (
                Flag,
                "b one-byte-octal c one-byte-char C canonical d two-bytes-decimal o two-bytes-octal x two-bytes-hex \
                 v no-squeezing h V X one-byte-hex",
            ),
            (Maybe, "color L"),
            (Value, "e format n length s skip"),
            (Does::Read, "f format-file"),
        ],
    ),
    reader(
        "hexyl",
        &[
            (
                Value,
                "n length c bytes s skip block-size display-offset o color border panels g group-size b base \
                 endianness",
            ),
            (Flag, "v no-squeezing p plain P no-characters C characters no-position"),
            (Info, "V h"),
        ],
    ),
    reader(
        "strings gstrings",
        &[
            (Flag, "a all - d data f print-file-name o w include-all-whitespace h v V"),
            (Value, "# n bytes t radix T target e encoding U unicode s output-separator"),
        ],
    ),
    reader(
        "base64 base32 basenc gbase64",
        &[
            (Flag, "base64 base64url base32 base32hex base16 base2msbf base2lsbf z85 d D decode i ignore-garbage"),
            (Value, "w wrap"),
        ],
    ),
    reader(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum b3sum cksum sum shasum gmd5sum gsha256sum md5",
        &[
            (
                Flag,
                "b binary c check tag untagged t text z zero ignore-missing quiet status strict w warn r s sysv debug \
                 raw base64 q U UNIVERSAL 0 01 p portable",
            ),
            (Value, "a algorithm l length"),
        ],
    ),
    // Differences.
    Spec {
        check: Some(super::opened::by_a_shell),
        ..reader("diffstat", &[(Flag, "b c C k l m q r s t u v"), (Value, "n p w"), (Info, "V h")])
    },
    Spec {
        check: Some(tree_if_recursive),
        operands: Operands::Custom,
        ..reader("diff gdiff colordiff zdiff xzdiff", DIFF)
    },
    Spec {
        names: "diff3",
        opts: &[
            (Flag, "A show-all e ed E show-overlap 3 easy-only x overlap-only X i m merge a text strip-trailing-cr"),
            (Flag, "T initial-tab v"),
            (Value, "L label"),
            (Run, "diff-program"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec {
        check: Some(tree_if_recursive),
        names: "sdiff",
        opts: &[
            (
                Flag,
                "i ignore-case E ignore-tab-expansion Z ignore-trailing-space b ignore-space-change W ignore-all-space \
                 B ignore-blank-lines strip-trailing-cr a text l left-column s suppress-common-lines t expand-tabs \
                 d minimal H speed-large-files",
            ),
            (Value, "I ignore-matching-lines w width tabsize"),
            (Info, "v"),
            (Write, "o output"),
            (Run, "diff-program"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    reader(
        "cmp zcmp xzcmp",
        &[(Flag, "b print-bytes c l verbose s quiet silent"), (Value, "i ignore-initial n bytes"), (Info, "v")],
    ),
    Spec {
        names: "delta",
        opts: &[
            (
                Flag,
                "s side-by-side n line-numbers dark light color-only raw keep-plus-minus-markers navigate hyperlinks",
            ),
            (Value, "w width syntax-theme paging true-color max-line-length wrap-max-lines tabs"),
        ],
        operands: Operands::ReadTree,
        check: Some(|parsed, judge| {
            if parsed.value("paging").and_then(Arg::exact) != Some("never") {
                judge.code("the configuration of the repository names its pager");
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "difft difftastic",
        opts: &[
            (Flag, "check-only ignore-comments skip-unchanged exit-code strip-cr"),
            (
                Value,
                "context width tab-width display color background syntax-highlight override graph-limit byte-limit",
            ),
        ],
        operands: Operands::ReadTree,
        ..PLAIN
    },
    Spec {
        names: "bat batcat",
        opts: &[
            (
                Flag,
                "A show-all p plain n number d diff f force-colorization P u unbuffered L list-languages list-themes \
                 strip-ansi chop-long-lines S s squeeze-blank no-config no-paging no-pager no-custom-assets",
            ),
            (
                Value,
                "l language H highlight-line file-name diff-context tabs wrap terminal-width color italic-text \
                 decorations paging m map-syntax theme theme-dark theme-light style r line-range nonprintable-notation \
                 squeeze-limit binary ignored-suffix",
            ),
            (Info, "V h"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec {
        names: "glow",
        opts: &[(Flag, "l local n no-pager"), (Value, "s style w width"), (Info, "v")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            for file in &parsed.operands {
                // A name that is no file may be fetched; a plain one has no host before its first slash.
                let named = file.exact().unwrap_or_default();
                if matches!(named, "config" | "stash") {
                    judge.opaque("it starts an editor, or what it shows is kept");
                }
                let first = named.split('/').next().unwrap_or_default().trim_start_matches('.');
                match named.contains("://") || (named.contains('/') && first.contains('.')) {
                    true => judge.net(None),
                    false => judge.read(file),
                }
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "mdcat",
        opts: &[(Flag, "l local c no-colour ansi fail"), (Value, "columns")],
        operands: Operands::Read,
        check: Some(|parsed, judge| {
            // Images are fetched.
            if !parsed.has("l local") {
                judge.net(None);
            }
        }),
        ..PLAIN
    },
    // Compressed text.
    Spec {
        check: Some(|parsed, judge| {
            if parsed.has("r recursive") {
                parsed.operands.iter().for_each(|tree| judge.read_tree(tree));
            }
        }),
        ..reader(
            "zcat gzcat bzcat xzcat lzcat lz4cat",
            &[
                (Flag, "f force k keep q quiet v verbose r recursive s small d decompress c stdout l list t test"),
                (Info, "V L"),
            ],
        )
    },
    Spec {
        names: "zstdcat unzstdcat",
        opts: &[(Flag, "f force k keep q quiet v verbose d c"), (Value, "memory"), (Maybe, "long")],
        operands: Operands::Read,
        ..PLAIN
    },
    // Conversion.
    Spec {
        names: "iconv",
        opts: &[(Value, "f from-code t to-code"), (Flag, "l list c s silent verbose"), (Write, "o output")],
        operands: Operands::Read,
        // A name with a slash is a file that describes the characters; what stands behind `//` says how.
        check: Some(|parsed, judge| {
            for (_, value) in &parsed.opts {
                let Some(value) = value else { continue };
                match value.exact().map(|text| text.split_once("//").map_or(text, |(name, _)| name)) {
                    Some(name) if !name.contains('/') => {}
                    Some(name) => judge.read(&value.with(name)),
                    None => judge.opaque("the characters are not known, and may be described in a file"),
                }
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "pandoc",
        opts: &[
            (
                Flag,
                "s standalone toc table-of-contents N number-sections p preserve-tabs mathjax katex mathml \
                 list-input-formats list-output-formats list-extensions list-highlight-languages ascii \
                 no-highlight reference-links strip-comments verbose quiet fail-if-warnings atx-headers",
            ),
            (
                Value,
                "f from r read t to w write columns wrap tab-stop M metadata V variable toc-depth eol \
                 shift-heading-level-by highlight-style markdown-headings track-changes D print-default-template",
            ),
            (Does::Read, "template metadata-file H include-in-header B include-before-body A include-after-body"),
            (Does::Read, "bibliography csl"),
            (Write, "o output"),
            (WriteTree, "extract-media"),
            (Info, "v h"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            // Its first word may be another program, of which each is one with it: Lua, and a server.
            if parsed.operands.first().and_then(Arg::exact).is_some_and(|word| matches!(word, "lua" | "server")) {
                judge.opaque("`pandoc lua` runs a script, and `pandoc server` waits for whoever reaches it");
            }
            let formats = parsed
                .opts
                .iter()
                .filter(|(name, _)| matches!(name.as_str(), "f" | "from" | "r" | "read" | "t" | "to" | "w" | "write"));
            for format in formats.filter_map(|(_, value)| value.as_ref()) {
                if format.exact().is_none_or(|format| format.contains(".lua") || format.contains('/')) {
                    judge.opaque("a format of pandoc may be a program");
                }
                if format.exact().is_some_and(|format| format.split(['+', '-']).next() == Some("pdf")) {
                    judge.code("TeX makes the document, and runs what stands in it");
                }
            }
            if parsed.has("template") || super::formats::may_include(parsed) {
                judge.code("a template or a document may take other files into itself");
            }
            if let Some(style) = parsed.value("highlight-style").filter(|style| style.exact().is_none_or(has_place)) {
                spec::read(style, judge);
            }
            fetch_or_read(parsed, judge);
        }),
        ..PLAIN
    },
    Spec {
        names: "pdftotext",
        opts: &[(Flag, "-layout -raw -nopgbrk -q -bbox -htmlmeta -simple"), (Value, "-f -l -enc -eol -r -x -y -W -H")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let (file, to) = (parsed.operands.first(), parsed.operands.get(1));
            file.into_iter().for_each(|file| judge.read(file));
            match (file, to) {
                (_, Some(to)) if to.exact() == Some("-") => {}
                (_, Some(to)) => judge.write(to),
                (Some(file), None) => judge.write(file),
                (None, None) => {}
            }
        }),
        ..PLAIN
    },
    reader("pdfinfo", &[(Value, "-f -l -enc"), (Flag, "-meta -box -isodates -rawdates -js -struct -dests")]),
    // Structured text.
    Spec {
        names: "yq tomlq",
        opts: &[
            (
                Flag,
                "r raw-output unwrapScalar P prettyPrint C colors color-output M no-colors monochrome-output j tojson \
                 N no-doc n null-input e exit-status c compact-output S sort-keys v verbose y yaml-output Y \
                 yaml-roundtrip a ascii-output nul-output 0 h",
            ),
            (Value, "o output-format p input-format I indent"),
            (Flag, "i in-place inplace"),
            (Info, "V"),
        ],
        operands: Operands::Custom,
        check: Some(yq),
        ..PLAIN
    },
    Spec {
        names: "xmllint",
        style: Style::OneDash,
        opts: &[
            (
                Flag,
                "noout format html xmlout recover huge nonet nowarning noblanks nocdata nsclean stream copy debug dropdtd \
                 nodefdtd noenc oldxml10 timing push memory sax walker pedantic repeat \
                 sax1 nofixup-base-uris quiet",
            ),
            (Value, "xpath encode pretty pattern maxmem"),
            (Does::Read, "schema relaxng schematron"),
            (Write, "output o"),
            (Info, "version"),
        ],
        operands: Operands::Custom,
        check: Some(super::xml::lint),
        ..PLAIN
    },
    Spec { names: "xmlstarlet", operands: Operands::Sub, subs: super::xml::XMLSTARLET, ..PLAIN },
    reader(
        "csvlook",
        &[
            CSV_VALUES,
            CSV_FLAGS,
            (Value, "max-rows max-columns max-column-width max-precision"),
            (Flag, "no-ellipsis no-number-ellipsis"),
        ],
    ),
    reader(
        "csvcut",
        &[CSV_VALUES, CSV_FLAGS, (Value, "c columns C not-columns"), (Flag, "n names x delete-empty-rows")],
    ),
    reader(
        "csvgrep",
        &[CSV_VALUES, CSV_FLAGS, (Value, "c columns m match r regex"), (Flag, "n names i invert-match a any-match")],
    ),
    reader("csvsort", &[CSV_VALUES, CSV_FLAGS, (Value, "c columns"), (Flag, "n names r reverse i ignore-case")]),
    reader(
        "csvstat",
        &[
            CSV_VALUES,
            CSV_FLAGS,
            (Value, "c columns freq-count decimal-format"),
            (Flag, "csv json n names type nulls unique min max sum mean median stdev len freq count non-nulls i"),
        ],
    ),
    reader(
        "csvjson",
        &[CSV_VALUES, CSV_FLAGS, (Value, "i indent k key lat lon type geometry crs"), (Flag, "stream no-bbox")],
    ),
    reader(
        "csvformat",
        &[
            CSV_VALUES,
            CSV_FLAGS,
            (Value, "D out-delimiter Q out-quotechar U out-quoting P out-escapechar M out-lineterminator"),
            (Flag, "E skip-header T out-tabs A out-asv B out-no-doublequote"),
        ],
    ),
    reader("csvjoin", &[CSV_VALUES, CSV_FLAGS, (Value, "c columns"), (Flag, "outer left right")]),
    reader("csvstack", &[CSV_VALUES, CSV_FLAGS, (Value, "g groups n group-name"), (Flag, "filenames")]),
    Spec {
        names: "in2csv",
        opts: &[
            CSV_VALUES,
            CSV_FLAGS,
            (Value, "f format k key sheet"),
            (Flag, "n names reset-dimensions use-sheet-names"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec { names: "xsv qsv", operands: Operands::Sub, subs: XSV, check: Some(remembers), ..PLAIN },
    Spec {
        names: "tokei",
        opts: &[
            (Flag, "f files l languages C compact hidden no-ignore no-ignore-dot no-ignore-parent no-ignore-vcs v"),
            (Value, "e exclude s sort t type types o output c columns n num-format"),
            (Info, "V h"),
        ],
        operands: Operands::ReadTree,
        ..PLAIN
    },
    Spec {
        names: "scc",
        opts: &[
            (
                Flag,
                "by-file c ci no-complexity w wide no-cocomo no-min-gen no-gen m character percent no-duplicates d l \
                 languages",
            ),
            (Value, "exclude-dir i include-ext x exclude-ext f format s sort n not-match M"),
        ],
        operands: Operands::ReadTree,
        ..PLAIN
    },
    Spec {
        names: "cloc",
        opts: &[
            (
                Flag,
                "by-file by-file-by-lang fullpath json csv md yaml xml quiet q hide-rate progress-rate show-lang show-ext \
                 sum-one",
            ),
            (
                Value,
                "exclude-dir include-lang exclude-lang include-ext exclude-ext not-match-f not-match-d match-f \
                 match-d timeout",
            ),
            (super::spec::Does::Write, "out report-file o"),
        ],
        operands: Operands::ReadTree,
        check: Some(super::within::archives),
        ..PLAIN
    },
    // Numbers and words. No option and no operand of these touches a file.
    anything("seq gseq expr factor numfmt basename dirname gbasename gdirname pathchk yes getopt envsubst printenv"),
    anything("uuidgen"),
    reader("bc", &[(Flag, "i interactive l mathlib q quiet s standard w warn")]),
    reader(
        "datamash",
        &[
            (Flag, "f full H headers header-in header-out i ignore-case s sort W whitespace narm C skip-comments z"),
            (Value, "g group t field-separator output-delimiter R round filler"),
        ],
    ),
    Spec { operands: Operands::Custom, check: Some(super::opened::by_perl), ..reader("ts", &[(Flag, "r i s m")]) },
    Spec {
        names: "pv",
        opts: &[
            (
                Flag,
                "p progress t timer e eta r rate a average-rate b bytes n numeric q quiet l line-mode 0 null W wait \
                 f force",
            ),
            (Value, "s size i interval w width H height N name L rate-limit B buffer-size"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    // Outputs.
    Spec {
        names: "tee gtee",
        opts: &[(Flag, "a append i ignore-interrupts p"), (Maybe, "output-error")],
        operands: Operands::Write,
        ..PLAIN
    },
    Spec { names: "sponge", opts: &[(Flag, "a")], operands: Operands::Write, ..PLAIN },
    // What a file is, where it is.
    // `-C` is not here. It would write `magic.mgc`, so a pattern could only do that much.
    Spec {
        check: Some(|parsed, judge| {
            // Several files of magic stand behind each other, with colons between.
            for (_, value) in parsed.opts.iter().filter(|(name, _)| matches!(name.as_str(), "m" | "magic-file")) {
                match value.as_ref().map(|value| (value, value.exact())) {
                    Some((value, Some(names))) => names.split(':').for_each(|name| judge.read(&value.with(name))),
                    _ => judge.opaque("the files of magic are not known"),
                }
            }
        }),
        ..reader(
            "file",
            &[
                (
                    Flag,
                    "z uncompress Z uncompress-noreport b brief c checking-printout i I mime apple extension mime-type \
                 mime-encoding k keep-going l list L dereference h no-dereference n no-buffer N no-pad 0 print0 r raw \
                 s special-files S no-sandbox d debug E D",
                ),
                (Value, "e exclude exclude-quiet F separator P parameter m magic-file"),
                (Info, "v"),
            ],
        )
    },
    Spec {
        operands: Operands::Custom,
        check: Some(|parsed, judge| parsed.operands.iter().for_each(|file| super::places::look(file, judge))),
        ..reader("stat gstat", &[(Flag, "L dereference f file-system t terse x"), (Value, "c format printf cached")])
    },
    Spec {
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let follows = parsed.has("f canonicalize e canonicalize-existing m canonicalize-missing");
            for file in &parsed.operands {
                match file.word {
                    Word::Glob { .. } => super::places::look(file, judge),
                    _ if follows => judge.read(file),
                    _ => judge.read_entry(file),
                }
            }
        }),
        ..reader(
            "readlink greadlink",
            &[(
                Flag,
                "f canonicalize e canonicalize-existing m canonicalize-missing n no-newline q quiet s silent v verbose z \
             zero",
            )],
        )
    },
    Spec {
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            for file in &parsed.operands {
                let found = matches!(file.word, Word::Glob { .. });
                if found { super::places::look(file, judge) } else { judge.read(file) }
            }
        }),
        ..reader(
            "realpath grealpath",
            &[
                (
                    Flag,
                    "e canonicalize-existing m canonicalize-missing L logical P physical q quiet s strip no-symlinks z \
                     zero",
                ),
                (Does::Read, "relative-to relative-base"),
            ],
        )
    },
];

const DIFF: &[(Does, &str)] = &[
    (
        Flag,
        "normal q brief s report-identical-files c u e ed n rcs y side-by-side left-column suppress-common-lines \
         p show-c-function t expand-tabs T initial-tab suppress-blank-empty l paginate r recursive no-dereference \
         N new-file unidirectional-new-file P ignore-file-name-case no-ignore-file-name-case i ignore-case \
         E ignore-tab-expansion Z ignore-trailing-space b ignore-space-change w ignore-all-space \
         B ignore-blank-lines a text strip-trailing-cr d minimal speed-large-files H 0 1 2 3 4 5 6 7 8 9",
    ),
    (
        Value,
        "C U W width F show-function-line L label tabsize x exclude S starting-file I ignore-matching-lines D ifdef \
         old-group-format new-group-format unchanged-group-format changed-group-format line-format old-line-format \
         new-line-format unchanged-line-format horizon-lines palette",
    ),
    (Maybe, "context unified color"),
    (Does::Read, "X exclude-from"),
    (Does::ReadTree, "from-file to-file"),
    (Info, "v"),
];

const CSV_VALUES: (Does, &str) = (
    Value,
    "d delimiter q quotechar u quoting p escapechar z maxfieldsize e encoding L locale K skip-lines y snifflimit \
     date-format datetime-format null-value",
);
const CSV_FLAGS: (Does, &str) = (
    Flag,
    "t tabs b no-doublequote S skipinitialspace blanks H no-header-row v verbose l linenumbers zero add-bom \
     I no-inference",
);

const XSV: &[Spec] = &[
    Spec {
        names: "count headers stats table frequency slice sample flatten",
        opts: &[
            (Flag, "n no-headers j just-names everything mode cardinality median nulls"),
            (Value, "d delimiter s start e end l len i index select limit w width p pad c condense"),
            (Info, "h"),
        ],
        operands: Operands::Custom,
        // `sample` takes a number first; as a file of the workspace it does no harm.
        check: Some(read_all),
        ..PLAIN
    },
    Spec {
        names: "select search",
        opts: &[(Flag, "n no-headers i ignore-case v invert-match"), (Value, "d delimiter s select"), (Info, "h")],
        operands: Operands::PatternThenRead,
        ..PLAIN
    },
];

/// What qsv has counted it keeps beside the file.
fn remembers(parsed: &Parsed, judge: &mut Judge<'_>) {
    let counts =
        matches!(parsed.path.as_slice(), [name, sub] if name == "qsv" && matches!(sub.as_str(), "stats" | "frequency"));
    for file in parsed.operands.iter().filter(|file| counts && file.exact() != Some("-")) {
        match file.exact().map(|text| text.strip_suffix(".csv").unwrap_or(text)) {
            Some(stem) => judge.write(&file.with(&format!("{stem}.stats.csv"))),
            None => judge.write(file),
        }
    }
}

/// `wc`. How many bytes a file has is what a listing of its directory says, too.
fn count(parsed: &Parsed, judge: &mut Judge<'_>) {
    let only_bytes = parsed.has("c bytes") && !parsed.has("m chars l lines L max-line-length w words");
    for file in &parsed.operands {
        if only_bytes { super::places::look(file, judge) } else { spec::read(file, judge) }
    }
}

/// A program that reads its operands, with options that are all harmless.
pub(super) const fn reader(names: &'static str, opts: &'static [(Does, &'static str)]) -> Spec {
    Spec { names, opts, operands: Operands::Read, closed: true, ..PLAIN }
}

/// Whether a name may be that of a file rather than of something installed.
fn has_place(name: &str) -> bool {
    name.contains(['/', '.'])
}

/// A program that touches no file, whatever it is given.
pub(super) const fn anything(names: &'static str) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Words, closed: true, ..PLAIN }
}

/// Every operand is read.
pub(super) fn read_all(parsed: &Parsed, judge: &mut Judge<'_>) {
    parsed.operands.iter().filter(|file| file.exact() != Some("-")).for_each(|file| judge.read(file));
}

/// INPUT OUTPUT: uniq, xxd.
fn second_is_output(parsed: &Parsed, judge: &mut Judge<'_>) {
    let mut operands = parsed.operands.iter();
    if let Some(input) = operands.next() {
        if input.exact() != Some("-") {
            judge.read(input);
        }
        if may_be_more(input) {
            judge.opaque("its first operand may be two, and the second is written");
        }
    }
    operands.filter(|output| output.exact() != Some("-")).for_each(|output| judge.write(output));
}

/// diff walks directories with `-r`.
fn tree_if_recursive(parsed: &Parsed, judge: &mut Judge<'_>) {
    let recursive = parsed.has("r recursive");
    // Two directories are compared file by file, even without `-r`.
    let directory =
        |file: &Arg, judge: &Judge<'_>| file.exact().is_some_and(|text| is_public_listing(&judge.resolve(text)));
    for file in parsed.operands.iter().filter(|file| file.exact() != Some("-")) {
        if recursive || directory(file, judge) { judge.read_tree(file) } else { judge.read(file) }
    }
}

/// Operands with a scheme are fetched.
pub(super) fn fetch_or_read(parsed: &Parsed, judge: &mut Judge<'_>) {
    parsed.operands.iter().for_each(|file| spec::read(file, judge));
}

/// The first word of yq is a file if there is one of that name, and one that ends in `.yq` holds the expression.
fn may_be_a_file(expression: &Arg, judge: &mut Judge<'_>) {
    let Some(text) = expression.exact() else { return };
    if text.ends_with(".yq") {
        judge.opaque("the expression of yq stands in a file");
    }
    // `.tls.key` and `.key` are paths of an expression, `.npmrc` is a file that yq would print.
    let suffix = crate::classify(std::path::Path::new(&format!("x{text}"))).secret.is_some();
    if text != ".." && !(text.starts_with('.') && !text.contains('/') && suffix) {
        judge.read(expression);
    }
}

/// An expression of yq without its plain keys: `.jobs.environment` names no function, `.a.load(x)` may.
fn without_keys(expression: &str) -> String {
    let mut out = String::new();
    let mut rest = expression;
    while let Some((before, behind)) = rest.split_once('.') {
        let doubled = before.is_empty() && out.ends_with('.');
        out.push_str(before);
        out.push('.');
        let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(behind.len());
        let (key, after) = behind.split_at(end);
        // Behind two dots a name is no key.
        let plain = !key.is_empty() && !doubled && !after.trim_start().starts_with('(');
        out.push_str(if plain { "_" } else { key });
        rest = after;
    }
    out + rest
}

/// yq: an expression that loads or runs is not judged; `-i` changes the files.
fn yq(parsed: &Parsed, judge: &mut Judge<'_>) {
    const VERBS: &[&str] = &["e", "eval", "ea", "eval-all"];
    let mut operands = parsed.operands.as_slice();
    if operands.first().and_then(|verb| verb.exact()).is_some_and(|verb| VERBS.contains(&verb)) {
        operands = operands.get(1..).unwrap_or_default();
    }
    let Some((expression, files)) = operands.split_first() else { return };
    let reaches = ["load", "eval", "system", "import", "include", "input_filename", "env", "ENV", "exec"];
    match expression.exact().map(without_keys).as_deref() {
        Some(text) if !reaches.iter().any(|word| text.contains(word)) => {}
        _ => judge.opaque("the expression of yq may reach further"),
    }
    may_be_a_file(expression, judge);
    let is_file = |file: &&Arg| file.exact() != Some("-");
    files.iter().filter(is_file).for_each(|file| judge.read(file));
    if parsed.has("i in-place inplace") {
        // Where there is no other, the first word is the file.
        let changed = if files.is_empty() { operands } else { files };
        changed.iter().filter(is_file).for_each(|file| judge.write(file));
    }
}
