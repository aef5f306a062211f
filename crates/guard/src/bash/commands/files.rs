//! Programs that copy, move, remove, pack and unpack files.
//!
//! Which operand is read, which is written and which is removed is the whole content of this file.

use std::path::Path;

use super::super::analysis::is_sink;
use super::super::judge::{Arg, Judge, Word};
use super::places::takes_along;
use super::spec::Does::{Flag, Info, Maybe, Run, Value, Write, WriteTree};
use super::spec::{self, Does, Operands, PLAIN, Parsed, Spec, Style, may_be_option};
use super::text::reader;

/// The table.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        names: "cp gcp",
        opts: &[
            (
                Flag,
                "a archive attributes-only b copy-contents d f force i interactive H l link L dereference n \
                 no-clobber P \
                 no-dereference p parents R r recursive remove-destination strip-trailing-slashes s symbolic-link T \
                 no-target-directory u v verbose x one-file-system Z debug",
            ),
            (Maybe, "backup preserve reflink context update"),
            (Value, "no-preserve sparse S suffix"),
            (WriteTree, "t target-directory"),
        ],
        operands: Operands::Copy,
        check: Some(|parsed, judge| {
            let to = parsed.value("t target-directory").or(parsed.operands.last());
            for file in parsed.operands.iter().filter(|_| parsed.has("parents")) {
                if let (Some(file), Some(to), Some(into)) = (file.exact(), to, to.and_then(Arg::exact)) {
                    judge.write(&to.with(&format!("{into}/{file}")));
                }
            }
            // Links: what is written through them later is the source.
            if parsed.has("l link s symbolic-link") {
                link(parsed, judge);
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "mv gmv",
        opts: &[
            (
                Flag,
                "b f force i interactive n no-clobber strip-trailing-slashes T no-target-directory u v verbose Z \
                 context \
                 debug no-copy exchange",
            ),
            (Maybe, "backup update"),
            (Value, "S suffix"),
            (WriteTree, "t target-directory"),
        ],
        operands: Operands::Move,
        ..PLAIN
    },
    Spec {
        names: "rm grm",
        opts: &[
            (Flag, "f force i I one-file-system no-preserve-root r R recursive d dir v verbose"),
            (Maybe, "interactive preserve-root"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let recursive = parsed.has("r R recursive");
            for file in &parsed.operands {
                if recursive { judge.delete_tree(file) } else { judge.delete(file) }
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "rmdir",
        opts: &[(Flag, "ignore-fail-on-non-empty p parents v verbose")],
        operands: Operands::Delete,
        ..PLAIN
    },
    Spec { names: "unlink", operands: Operands::Delete, ..PLAIN },
    Spec {
        names: "mkdir gmkdir",
        opts: &[(Flag, "p parents v verbose Z"), (Value, "m mode"), (Maybe, "context")],
        operands: Operands::Write,
        ..PLAIN
    },
    Spec {
        names: "touch gtouch",
        opts: &[(Flag, "a c no-create f h no-dereference m"), (Value, "d date t time"), (Does::Read, "r reference")],
        operands: Operands::Write,
        ..PLAIN
    },
    Spec {
        names: "ln gln",
        opts: &[
            (
                Flag,
                "b d F directory f force i interactive L logical n no-dereference P physical r relative s symbolic T \
                 no-target-directory v verbose",
            ),
            (Maybe, "backup"),
            (Value, "S suffix"),
            (WriteTree, "t target-directory"),
        ],
        operands: Operands::Custom,
        check: Some(link),
        ..PLAIN
    },
    Spec { names: "link", operands: Operands::Custom, check: Some(link), ..PLAIN },
    Spec {
        names: "install ginstall",
        opts: &[
            (Flag, "b c C compare D p preserve-timestamps T no-target-directory v verbose preserve-context Z"),
            (Maybe, "backup context"),
            (Flag, "d directory"),
            (Value, "g group m mode o owner S suffix"),
            (WriteTree, "t target-directory"),
            (Run, "strip-program"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            if parsed.value("m mode").is_some_and(gives_rights) {
                judge.privilege("sets a set-user-id bit");
            }
            match parsed.has("d directory") {
                true => parsed.operands.iter().for_each(|dir| judge.write(dir)),
                false => spec::transfer(parsed, judge, |judge, file| judge.read(file)),
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "dd gdd",
        style: Style::Dd,
        opts: &[
            (Does::Read, "if"),
            (Write, "of"),
            (Value, "bs ibs obs cbs count skip seek iseek oseek conv iflag oflag status"),
        ],
        operands: Operands::Custom,
        ..PLAIN
    },
    Spec {
        names: "truncate gtruncate",
        opts: &[(Flag, "c no-create o io-blocks"), (Value, "s size"), (Does::Read, "r reference")],
        operands: Operands::Write,
        ..PLAIN
    },
    Spec {
        names: "fallocate",
        opts: &[
            (
                Flag,
                "c collapse-range d dig-holes i insert-range n keep-size p punch-hole z zero-range x posix v verbose",
            ),
            (Value, "l length o offset"),
        ],
        operands: Operands::Write,
        ..PLAIN
    },
    Spec {
        names: "chmod gchmod",
        opts: &[
            (Flag, "c changes f silent quiet v verbose no-preserve-root preserve-root R recursive h no-dereference"),
            // A mode behind a dash: it takes rights away.
            (Flag, "r w x X s t"),
            (Does::Read, "reference"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let mut files = parsed.operands.as_slice();
            let inside = |text: &str| {
                let place = judge.resolve(text);
                judge.site.roots.iter().any(|root| place.starts_with(root))
            };
            if parsed.value("reference").is_some_and(|file| !file.exact().is_some_and(inside)) {
                judge.privilege("may set a set-user-id bit, as that file has it");
            }
            if !parsed.has("r w x X s t reference") {
                let Some((mode, rest)) = files.split_first() else { return };
                if gives_rights(mode) {
                    judge.privilege("sets a set-user-id bit");
                }
                files = rest;
            }
            changed(parsed, files, judge);
        }),
        ..PLAIN
    },
    Spec {
        names: "chown chgrp gchown",
        opts: &[
            (
                Flag,
                "c changes f silent quiet v verbose dereference h no-dereference no-preserve-root preserve-root R \
                 recursive \
                 H L P",
            ),
            (Value, "from"),
            (Does::Read, "reference"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            judge.system("changes the owner of files");
            changed(parsed, parsed.operands.get(usize::from(!parsed.has("reference"))..).unwrap_or_default(), judge);
        }),
        ..PLAIN
    },
    Spec {
        names: "chattr setfacl setfattr chcon",
        opts: &[
            (Flag, "R V f b k d n recursive remove-all remove-default default"),
            (Value, "m modify x remove name value v p"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            judge.system("changes attributes and access lists");
            parsed.operands.iter().for_each(|file| judge.write_tree(file));
        }),
        ..PLAIN
    },
    reader("lsattr", &[(Flag, "R a d l p v V")]),
    reader(
        "getfacl",
        &[(Flag, "a access d default c omit-header e all-effective E no-effective s R recursive L P t n p")],
    ),
    reader("getfattr", &[(Flag, "d dump h R recursive absolute-names L P"), (Value, "n name m match e encoding")]),
    reader("namei", &[(Flag, "x mountpoints m modes o owners l long n nosymlinks v vertical Z context")]),
    reader("getcap", &[(Flag, "r v n")]),
    reader("mountpoint", &[(Flag, "q quiet d fs-devno x devno nofollow")]),
    Spec {
        names: "mktemp",
        opts: &[(Flag, "d directory u dry-run q quiet t"), (Value, "suffix"), (WriteTree, "p"), (Maybe, "tmpdir")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let here = |text: &str| Arg { word: Word::Exact(text.to_owned()), span: 0..0 };
            match parsed.operands.first() {
                _ if parsed.has("u dry-run") => {}
                Some(template) if !parsed.has("t p tmpdir") => judge.write(template),
                _ => judge.write_tree(parsed.value("p tmpdir").unwrap_or(&here("/tmp"))),
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "shred",
        opts: &[
            (Flag, "f force u v verbose x exact z zero"),
            (Value, "n iterations s size"),
            (Maybe, "remove"),
            (Does::Read, "random-source"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            for file in &parsed.operands {
                judge.write(file);
                if parsed.has("u remove") {
                    judge.delete(file);
                }
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "mkfifo",
        opts: &[(Flag, "Z"), (Value, "m mode"), (Maybe, "context")],
        operands: Operands::Write,
        ..PLAIN
    },
    Spec {
        names: "mknod",
        opts: &[(Flag, "Z"), (Value, "m mode"), (Maybe, "context")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            match parsed.operands.get(1).map(Arg::exact) {
                Some(Some("p")) => {}
                _ => judge.privilege("makes a device"),
            }
            parsed.operands.first().into_iter().for_each(|file| judge.write(file));
        }),
        ..PLAIN
    },
    // Writes back what was already written.
    Spec { names: "sync", opts: &[(Flag, "d data f file-system")], operands: Operands::Read, closed: true, ..PLAIN },
    Spec { names: "tar gtar", style: Style::Raw, operands: Operands::Custom, check: Some(tar), ..PLAIN },
    Spec { names: "gzip gunzip pigz unpigz", opts: PACK, operands: Operands::Custom, check: Some(pack), ..PLAIN },
    Spec { names: "bzip2 bunzip2 pbzip2 lbzip2", opts: PACK, operands: Operands::Custom, check: Some(pack), ..PLAIN },
    Spec {
        names: "xz unxz lzma unlzma lzip lunzip compress uncompress brotli unbrotli lzop",
        opts: PACK,
        operands: Operands::Custom,
        check: Some(pack),
        ..PLAIN
    },
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
            (Maybe, "fast long T threads"),
            (Value, "format M memory"),
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
                }
                if parsed.has("rm") {
                    judge.delete(file);
                }
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "zip",
        // `-lf` names a log file.
        pairs: "lf",
        // `-T` may be followed by `T` and a command, even inside a bundle; it is not here.
        opts: &[
            (Flag, "r q v 0 1 2 3 4 5 6 7 8 9 j y u f X D e m g o S k l A F recurse-paths quiet move"),
            (Value, "x i n P exclude include"),
            (WriteTree, "b"),
            (Run, "-TT -sp -sb unzip-command"),
            (Info, "h L"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let Some((archive, files)) = parsed.operands.split_first() else { return };
            if archive.exact() != Some("-") {
                judge.write(archive);
            }
            for file in files {
                judge.read_tree(file);
                if parsed.has("m move") {
                    judge.delete_tree(file);
                }
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "unzip",
        opts: &[
            (Flag, "l p t v z Z a b c C f j K L M n o q u U V X W 1 2 s m T h B"),
            (Value, "x P"),
            (WriteTree, "d"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            parsed.operands.first().into_iter().for_each(|archive| judge.read(archive));
            // The archive gets the time of its newest member.
            parsed.operands.first().filter(|_| parsed.has("T")).into_iter().for_each(|archive| judge.write(archive));
            if !parsed.has("l p t v z Z c d") && !parsed.operands.is_empty() {
                judge.write_cwd();
                members(parsed.operands.get(1..).unwrap_or_default(), judge);
            }
        }),
        ..PLAIN
    },
    Spec {
        names: "zipinfo",
        opts: &[(Flag, "1 2 s m l v h t T z C M"), (Value, "x")],
        operands: Operands::PatternThenRead,
        patterns: "1 2 s m l v h t T z C M x",
        check: Some(|parsed, judge| parsed.operands.first().into_iter().for_each(|archive| judge.read(archive))),
        ..PLAIN
    },
    Spec { names: "7z 7za 7zr 7zz", style: Style::Raw, operands: Operands::Custom, check: Some(seven_zip), ..PLAIN },
    Spec { names: "unrar rar", style: Style::Raw, operands: Operands::Custom, check: Some(seven_zip), ..PLAIN },
    Spec { names: "ar gar", style: Style::Raw, operands: Operands::Custom, check: Some(ar), ..PLAIN },
    Spec {
        names: "cpio",
        opts: &[
            (
                Flag,
                "t list v verbose i extract n numeric-uid-gid d make-directories u unconditional m quiet 0 null b B \
                 c s S",
            ),
            (Value, "H format"),
            (Does::Read, "F file"),
            (Run, "rsh-command"),
        ],
        operands: Operands::Words,
        check: Some(|parsed, judge| {
            // `HOST:FILE` is read by a remote shell.
            for archive in parsed.opts.iter().filter(|(name, _)| matches!(name.as_str(), "F" | "file")) {
                if archive.1.as_ref().is_some_and(|file| file.exact().is_none_or(|file| file.contains(':'))) {
                    judge.net(None);
                }
            }
            if !parsed.has("t list") {
                judge.write_cwd();
                judge.opaque("cpio unpacks what it is fed");
            }
        }),
        ..PLAIN
    },
    Spec { names: "rsync", opts: RSYNC, operands: Operands::Custom, check: Some(rsync), ..PLAIN },
    Spec {
        names: "patch gpatch",
        opts: &[
            (
                Flag,
                "l ignore-whitespace c context n normal u unified N forward R reverse E remove-empty-files Z set-utc T \
                 set-time b backup backup-if-mismatch no-backup-if-mismatch t batch f force s quiet silent verbose \
                 dry-run \
                 posix binary follow-symlinks",
            ),
            (Maybe, "merge"),
            (
                Value,
                "p strip F fuzz D ifdef V version-control B prefix Y basename-prefix z suffix reject-format read-only",
            ),
            (Value, "quoting-style"),
            (Does::Read, "i input"),
            (Write, "o output r reject-file"),
            (WriteTree, "d directory"),
            (Info, "v"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let mut operands = parsed.operands.iter();
            if let Some(file) = operands.next() {
                judge.read(file);
                if !parsed.has("dry-run o output") {
                    judge.write(file);
                }
            } else if parsed.has("dry-run") {
                judge.read_cwd();
            } else if !parsed.has("d directory") {
                judge.write_cwd();
            }
            operands.for_each(|patch| judge.read(patch));
        }),
        ..PLAIN
    },
    Spec { names: "jar", style: Style::Raw, operands: Operands::Custom, check: Some(jar), ..PLAIN },
];

/// Lists an archive of Java; everything else makes or unpacks one.
fn jar(parsed: &Parsed, judge: &mut Judge<'_>) {
    match parsed.operands.as_slice() {
        [list, file, ..]
            if matches!(list.exact(), Some("tf" | "-tf" | "tvf" | "-tvf" | "ft" | "vtf"))
                && parsed
                    .operands
                    .iter()
                    .skip(1)
                    .all(|word| word.exact().is_some_and(|text| !text.starts_with(['@', '-']))) =>
        {
            judge.read(file);
        }
        _ => judge.opaque("what `jar` does cannot be said"),
    }
}

const PACK: &[(Does, &str)] = &[
    (
        Flag,
        "c stdout to-stdout d decompress uncompress z compress f force k keep l list n no-name N name q quiet r \
         recursive \
         rsyncable synchronous t test v verbose 0 1 2 3 4 5 6 7 8 9 fast best s small e extreme no-adjust robot m a",
    ),
    (Value, "S suffix T threads F format C check p processes b M memlimit memory"),
    (Info, "h V L H license long-help"),
];

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
        }
        if spec::may_be_more(file) && !prints {
            judge.opaque("the second name is written");
        }
        if parsed.has("rm") {
            judge.delete(file);
        }
    }
}

const RSYNC: &[(Does, &str)] = &[
    (
        Flag,
        "v verbose q quiet a archive r recursive R relative no-relative no-implied-dirs b backup u update inplace \
         append d dirs \
         l links L copy-links copy-unsafe-links safe-links k copy-dirlinks K keep-dirlinks H hard-links p perms \
         E executability A acls X xattrs o owner g group devices specials D t times O omit-dir-times J \
         omit-link-times S \
         sparse n dry-run W whole-file x one-file-system existing ignore-existing remove-source-files delete \
         delete-before \
         delete-during delete-delay delete-after delete-excluded ignore-errors force partial delay-updates m \
         prune-empty-dirs numeric-ids I ignore-times size-only c checksum z compress h human-readable stats progress \
         P i \
         itemize-changes list-only C cvs-exclude no-perms no-owner no-group no-times no-o no-g no-p del 8 s F 0 from0",
    ),
    (
        Value,
        "exclude include f filter max-delete max-size min-size timeout modify-window chmod chown usermap groupmap \
         compress-level skip-compress B block-size bwlimit out-format suffix info debug outbuf",
    ),
    (Does::Read, "exclude-from include-from files-from compare-dest copy-dest link-dest"),
    (Write, "log-file"),
    (WriteTree, "backup-dir T temp-dir partial-dir"),
    (Run, "e rsh rsync-path"),
    (Info, "V"),
];

/// Whether a mode sets a set-user-id or set-group-id bit.
fn gives_rights(mode: &Arg) -> bool {
    match mode.exact() {
        None => true,
        Some(octal) if octal.trim_start_matches(['+', '=']).bytes().all(|byte| byte.is_ascii_digit()) => {
            let digits = octal.trim_start_matches(['+', '=']).trim_start_matches('0');
            digits.len() > 3 && !digits.starts_with('1')
        }
        Some(symbolic) => {
            symbolic.split(',').any(|one| one.split_once(['+', '=']).is_some_and(|(_, bits)| bits.contains('s')))
        }
    }
}

fn changed(parsed: &Parsed, files: &[Arg], judge: &mut Judge<'_>) {
    let recursive = parsed.has("R recursive");
    for file in files {
        // What is written there is lost, but who may write there is not.
        if file.exact().is_some_and(|text| is_sink(&judge.resolve(text))) {
            judge.system("changes a device");
        }
        if recursive { judge.write_tree(file) } else { judge.write(file) }
    }
}

/// A link is a second name: what is done to it is done to what it names, so both ends count as written.
fn link(parsed: &Parsed, judge: &mut Judge<'_>) {
    let named = parsed.value("t target-directory");
    let (targets, place) = match (named, parsed.operands.split_last()) {
        (Some(place), _) => (parsed.operands.as_slice(), Some(place)),
        (None, Some((only, []))) => (std::slice::from_ref(only), None),
        (None, Some((place, targets))) => (targets, Some(place)),
        (None, None) => return,
    };
    let below = |place: &str| match named.is_some() || place.ends_with('/') || targets.len() > 1 {
        true => place.to_owned(),
        false => place.rsplit_once('/').map_or(".", |(above, _)| if above.is_empty() { "/" } else { above }).to_owned(),
    };
    for target in targets {
        let Some(text) = target.exact() else {
            judge.write(target);
            continue;
        };
        let from = match place.map(Arg::exact) {
            Some(Some(place)) if parsed.has("s symbolic") && !parsed.has("r relative") => below(place),
            _ => ".".to_owned(),
        };
        let absolute = if text.starts_with('/') { text.to_owned() } else { format!("{from}/{text}") };
        judge.write(&target.with(&absolute));
        let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or(text);
        let below = match place.map(Arg::exact) {
            None => target.with(name),
            Some(Some(place)) => target.with(&format!("{place}/{name}")),
            Some(None) => continue,
        };
        judge.write(&below);
        takes_along(&below, judge);
    }
    if let Some(place) = place {
        judge.write(place);
        takes_along(place, judge);
    }
}

/// A file beside this one is written: `f` from `f.gz`.
fn beside(file: &Arg, judge: &mut Judge<'_>) {
    match file.exact().map(|text| text.rsplit_once('/').map_or(".", |(above, _)| above)) {
        Some(above) => judge.write_tree(&file.with(if above.is_empty() { "/" } else { above })),
        None => judge.write(file),
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
            if !parsed.has("k keep") {
                judge.delete(file);
            }
        }
    }
}

/// Letters of tar that take a value.
const TAR_VALUES: &str = "fbCTXgIKNVFLH";

const TAR: Spec = Spec {
    names: "tar",
    opts: &[
        (
            Flag,
            "A catenate concatenate c create delete d diff compare r append test-label t list u update x extract get \
             check-device G incremental ignore-failed-read no-check-device no-seek n seek sparse S exclude-backups \
             exclude-caches exclude-caches-all exclude-caches-under exclude-vcs exclude-vcs-ignores no-null \
             no-recursion \
             no-unquote no-verbatim-files-from null verbatim-files-from recursion unquote anchored ignore-case \
             no-anchored \
             no-ignore-case no-wildcards no-wildcards-match-slash wildcards wildcards-match-slash \
             keep-directory-symlink \
             keep-newer-files k keep-old-files no-overwrite-dir overwrite overwrite-dir recursive-unlink remove-files \
             skip-old-files U unlink-first W verify O to-stdout clamp-mtime delay-directory-restore m touch \
             no-delay-directory-restore no-same-owner no-same-permissions numeric-owner p preserve-permissions \
             same-permissions same-owner s preserve-order same-order acls no-acls selinux no-selinux xattrs no-xattrs \
             force-local B read-full-records i ignore-zeros old-archive portability posix a auto-compress j bzip2 J \
             xz lzip \
             lzma lzop no-auto-compress zstd z gzip gunzip ungzip Z compress uncompress hard-dereference h dereference \
             one-file-system P absolute-names full-time l check-links R block-number show-defaults show-omitted-dirs \
             show-snapshot-field-ranges show-transformed-names show-stored-names utc v verbose w interactive \
             confirmation o",
        ),
        (
            Value,
            "hole-detection level sparse-version b blocking-factor exclude exclude-tag exclude-tag-all \
             exclude-tag-under \
             group mode mtime owner sort xattrs-exclude xattrs-include record-size H format pax-option V label K \
             starting-file newer-mtime N newer after-date suffix strip-components transform xform quote-chars \
             no-quote-chars quoting-style f file C directory warning",
        ),
        (Maybe, "occurrence one-top-level atime-preserve checkpoint backup totals"),
        (Does::Read, "X exclude-from exclude-ignore exclude-ignore-recursive owner-map group-map"),
        (Write, "index-file g listed-incremental"),
        // A list of names may hold options too.
        (
            Run,
            "I use-compress-program to-command F info-script new-volume-script rmt-command rsh-command \
             checkpoint-action",
        ),
        (Run, "T files-from"),
        (Info, "usage"),
    ],
    operands: Operands::Custom,
    check: Some(tar_does),
    ..PLAIN
};

/// The first word may be a bundle without a dash; its values follow in order.
fn tar(parsed: &Parsed, judge: &mut Judge<'_>) {
    let Some((first, rest)) = parsed.operands.split_first() else { return };
    let mut argv = vec![first.with("tar")];
    match first.exact() {
        Some(bundle) if !bundle.starts_with('-') => {
            let mut rest = rest.iter();
            for letter in bundle.chars() {
                argv.push(first.with(&format!("-{letter}")));
                if TAR_VALUES.contains(letter) {
                    argv.extend(rest.next().cloned());
                }
            }
            argv.extend(rest.cloned());
        }
        _ => argv.extend(parsed.operands.iter().cloned()),
    }
    let parsed = spec::parse(&TAR, &argv);
    spec::apply(&TAR, &parsed, judge);
}

fn tar_does(parsed: &Parsed, judge: &mut Judge<'_>) {
    let archives: Vec<_> = parsed.opts.iter().filter(|(name, _)| matches!(name.as_str(), "f" | "file")).collect();
    let archives = archives.into_iter().filter_map(|(_, file)| file.as_ref()).filter(|file| file.exact() != Some("-"));
    let remote = |file: &Arg| file.exact().is_none_or(|file| file.split('/').next().unwrap_or_default().contains(':'));
    let place = |file: &Arg| match (parsed.value("C directory"), file.exact()) {
        (Some(dir), Some(name)) if !name.starts_with('/') => {
            dir.exact().map_or_else(|| dir.clone(), |dir| file.with(&format!("{dir}/{name}")))
        }
        _ => file.clone(),
    };
    let lists = parsed.has("t list d diff compare test-label show-defaults");
    let packs = parsed.has("c create r append u update A catenate concatenate delete");
    let unpacks = parsed.has("x extract get");
    for archive in archives {
        if remote(archive) && !parsed.has("force-local") {
            judge.net(
                archive
                    .exact()
                    .and_then(|file| file.split(':').next())
                    .map(|host| host.rsplit('@').next().unwrap_or(host)),
            );
        }
        if packs { judge.write(archive) } else { judge.read(archive) }
    }
    let moves = parsed.opts.iter().filter(|(name, _)| matches!(name.as_str(), "C" | "directory")).count();
    if moves > 1 {
        judge.opaque("several directories, one seen from the other");
    }
    // `-C` counts for what stands behind it: an operand may be meant from either place.
    let operands = || {
        let here = parsed.operands.iter().filter(|_| moves > 0).cloned();
        parsed.operands.iter().map(place).chain(here)
    };
    match (lists, packs, unpacks) {
        (true, false, false) => {
            if parsed.has("d diff compare") {
                operands().for_each(|file| judge.read_tree(&file));
            }
        }
        (false, true, false) => {
            let members = parsed.has("delete");
            for file in operands().filter(|_| !members) {
                judge.read_tree(&file);
                if parsed.has("remove-files") {
                    judge.delete_tree(&file);
                }
            }
        }
        (false, false, true) if parsed.has("P absolute-names") => judge.opaque("an archive may write anywhere"),
        (false, false, true) if parsed.has("O to-stdout") => {}
        (false, false, true) if parsed.opts.iter().any(renames_into_guarded) => {
            judge.opaque("members are renamed into a guarded place");
        }
        (false, false, true) => match (parsed.value("C directory"), parsed.value("one-top-level")) {
            (Some(dir), _) | (None, Some(dir)) => judge.write_tree(dir),
            (None, None) => {
                judge.write_cwd();
                members(&parsed.operands, judge);
            }
        },
        _ => judge.opaque("tar has to be told what to do"),
    }
}

/// `--transform` whose text names a guarded place: `s,^,.git/hooks/,`.
fn renames_into_guarded((name, value): &(String, Option<Arg>)) -> bool {
    let guarded = |text: &str| {
        text.split([',', ';', '|', '#', '!', '@', '=', '%', '^']).any(|part| {
            let path = Path::new(part.trim_end_matches('/'));
            crate::classify(path).guarded.is_some()
        }) || text.contains(".git")
    };
    matches!(name.as_str(), "transform" | "xform")
        && value.as_ref().is_some_and(|value| value.exact().is_none_or(guarded))
}

/// Members of an archive that are unpacked by name: one of them may be a guarded file.
fn members(names: &[Arg], judge: &mut Judge<'_>) {
    for name in names.iter().filter(|name| !matches!(name.word, Word::Glob { .. })) {
        judge.write(name);
        // A directory brings all that stands in it, and a pattern of the packer may name any of it.
        takes_along(name, judge);
        if let Some((above, _)) = name.exact().and_then(|text| text.split_once(['*', '?', '[']))
            && let Some((above, _)) = above.rsplit_once('/')
        {
            judge.write(&name.with(above));
            takes_along(&name.with(above), judge);
        }
    }
}

/// 7z and rar: a verb, switches that start with `-`, an archive, names.
fn seven_zip(parsed: &Parsed, judge: &mut Judge<'_>) {
    const SWITCHES: &[&str] =
        &["-y", "-r", "-slt", "-ba", "-bd", "-bb0", "-bb1", "-aoa", "-aos", "-aou", "-t7z", "-tzip", "--"];
    let words = &parsed.operands;
    let known = |word: &Arg| word.exact().is_some_and(|text| !text.starts_with('-') || SWITCHES.contains(&text));
    if !words.iter().all(known) {
        judge.opaque("a switch of the packer is not known");
    }
    let Some((verb, rest)) = words.split_first() else { return };
    let mut names = rest.iter().filter(|word| word.exact().is_none_or(|text| !text.starts_with('-')));
    match verb.exact() {
        Some("i" | "h" | "b") => names.for_each(|file| judge.read_tree(file)),
        Some("l" | "t" | "lb" | "lt" | "v" | "vb" | "p") => {
            names.next().into_iter().for_each(|archive| judge.read(archive))
        }
        Some("x" | "e") => {
            names.next().into_iter().for_each(|archive| judge.read(archive));
            judge.write_cwd();
        }
        Some("a" | "u") => {
            names.next().into_iter().for_each(|archive| judge.write(archive));
            names.for_each(|file| judge.read_tree(file));
        }
        _ => judge.opaque("what the packer is told to do is not known"),
    }
}

/// ar: a verb with modifiers, an archive, members.
fn ar(parsed: &Parsed, judge: &mut Judge<'_>) {
    let verb = parsed.operands.first().and_then(Arg::exact).unwrap_or_default();
    let mut names = parsed.operands.iter().skip(1);
    // Options may stand anywhere: `--plugin` loads a library, `-M` runs a script from standard input.
    if parsed.operands.iter().skip(1).any(may_be_option) {
        judge.opaque("an option of ar");
    }
    let letters = verb.trim_start_matches('-');
    match (letters.chars().next(), letters.bytes().all(|byte| byte.is_ascii_alphabetic()), names.next()) {
        _ if letters.contains(['a', 'b', 'i', 'N']) || verb.starts_with("--") => judge.opaque("an option of ar"),
        (Some('t' | 'p'), true, Some(archive)) => judge.read(archive),
        (Some('x'), true, Some(archive)) => {
            judge.read(archive);
            judge.write_cwd();
        }
        (Some('r' | 'q' | 'd' | 's' | 'c' | 'm'), true, Some(archive)) => {
            judge.write(archive);
            names.for_each(|file| judge.read(file));
        }
        _ => judge.opaque("what ar is told to do is not known"),
    }
}

/// The last operand is written, the others are read; `HOST:PATH` is another machine.
fn rsync(parsed: &Parsed, judge: &mut Judge<'_>) {
    let remote = |file: &Arg| file.exact().is_some_and(|file| file.split('/').next().unwrap_or_default().contains(':'));
    let Some((to, from)) = parsed.operands.split_last() else { return };
    for place in parsed.operands.iter().filter(|place| remote(place)) {
        let host = place.exact().and_then(|place| place.trim_start_matches("rsync://").split([':', '/']).next());
        judge.net(host.map(|host| host.rsplit('@').next().unwrap_or(host)));
    }
    let from = if from.is_empty() { std::slice::from_ref(to) } else { from };
    for file in from.iter().filter(|file| !remote(file)) {
        judge.read_tree(file);
        if parsed.has("remove-source-files") && !parsed.has("n dry-run") {
            judge.delete_tree(file);
        }
    }
    let dry = parsed.has("n dry-run list-only") || parsed.operands.len() == 1;
    if !remote(to) && !dry {
        judge.write_tree(to);
        takes_along(to, judge);
        // Without a slash behind it the directory itself comes along.
        for name in from.iter().filter_map(Arg::exact).filter(|name| !name.ends_with('/')) {
            let name = name.rsplit('/').next().unwrap_or(name);
            if let Some(into) = to.exact() {
                let below = to.with(&format!("{into}/{name}"));
                judge.write(&below);
                takes_along(&below, judge);
            }
        }
        if parsed.opts.iter().any(|(name, _)| name.starts_with("del")) {
            judge.delete_tree(to);
        }
    }
}
