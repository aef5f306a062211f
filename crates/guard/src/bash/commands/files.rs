//! Programs that copy, move, remove, pack and unpack files.
//!
//! Which operand is read, which is written and which is removed is the whole content of this file.

use super::super::analysis::is_sink;
use super::super::fact::Fact;
use super::super::judge::{Arg, Judge};
use super::archives;
use super::places::takes_along;
use super::spec::Does::{Flag, Info, Maybe, Run, Value, Write, WriteTree};
use super::spec::{self, Does, Operands, PLAIN, Parsed, Spec, Style};
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
            kept(parsed, "S suffix", judge);
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
        check: Some(|parsed, judge| kept(parsed, "S suffix", judge)),
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
            parsed.operands.iter().for_each(|file| judge.remove(file, recursive));
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
        check: Some(|parsed, judge| {
            link(parsed, judge);
            kept(parsed, "S suffix", judge);
        }),
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
            kept(parsed, "S suffix", judge);
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
        check: Some(super::temporary::judge),
        ..PLAIN
    },
    // The colours of `ls`: it prints them as an assignment that others may run.
    Spec {
        names: "dircolors",
        opts: &[
            (Flag, "b sh bourne-shell c csh c-shell p print-database print-ls-colors"),
            (Does::Info, "help version"),
        ],
        operands: Operands::Read,
        closed: true,
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
    Spec { names: "tar gtar", style: Style::Raw, operands: Operands::Custom, check: Some(archives::tar), ..PLAIN },
    Spec {
        names: "zip",
        // `-lf` names a log file.
        pairs: "lf",
        // `-T` may be followed by `T` and a command, even inside a bundle; it is not here.
        opts: &[
            (Flag, "r q v 0 1 2 3 4 5 6 7 8 9 j y u f X D e m g o S k l A F recurse-paths quiet move"),
            (Value, "x i n P exclude include"),
            (WriteTree, "b"),
            (Write, "O output-file"),
            (Run, "-TT -sp -sb unzip-command"),
            (Flag, "-sf show-files"),
            (Info, "h L"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let Some((archive, files)) = parsed.operands.split_first() else { return };
            // It shows what it would work on, and ends.
            if parsed.has("-sf show-files") {
                return parsed.operands.iter().for_each(|file| judge.read_tree(file));
            }
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
    // Behind the archive it takes all but `-d` and `-x` for names of members.
    Spec {
        names: "unzip",
        style: Style::GnuStop,
        opts: &[(Flag, "l p t v z Z a b c C f j K L M n o q u U V X W 1 2 s m T h B"), (Value, "x P d")],
        operands: Operands::Custom,
        check: Some(archives::unzip),
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
    Spec {
        names: "7z 7za 7zr 7zz",
        style: Style::Raw,
        operands: Operands::Custom,
        check: Some(archives::seven_zip),
        ..PLAIN
    },
    Spec {
        names: "unrar rar",
        style: Style::Raw,
        operands: Operands::Custom,
        check: Some(archives::seven_zip),
        ..PLAIN
    },
    Spec { names: "ar gar", style: Style::Raw, operands: Operands::Custom, check: Some(archives::ar), ..PLAIN },
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
            (Value, "i input"),
            (Value, "o output r reject-file d directory"),
            (Info, "v"),
        ],
        operands: Operands::Custom,
        check: Some(patch),
        ..PLAIN
    },
    Spec { names: "jar", style: Style::Raw, operands: Operands::Custom, check: Some(super::jar::jar), ..PLAIN },
];

/// A file and its patch, or a patch alone; all of them as seen from the directory behind `-d`.
fn patch(parsed: &Parsed, judge: &mut Judge<'_>) {
    let from = parsed.value("d directory").map(Arg::exact);
    let seen = |file: &Arg| match (from, file.exact()) {
        (Some(Some(from)), Some(text)) if !text.starts_with('/') => file.with(&format!("{from}/{text}")),
        _ => file.clone(),
    };
    if let Some(patch) = parsed.value("i input") {
        spec::read(&seen(patch), judge);
    }
    parsed.value("d directory").into_iter().for_each(|dir| judge.write_tree(dir));
    for file in ["o output", "r reject-file"]
        .into_iter()
        .filter_map(|names| parsed.value(names).filter(|file| file.exact() != Some("-")))
    {
        judge.write(&seen(file));
    }
    let mut operands = parsed.operands.iter().map(seen);
    let file = operands.next();
    operands.for_each(|patch| judge.read(&patch));
    match &file {
        Some(file) => judge.read(file),
        None if parsed.has("dry-run") => judge.read_cwd(),
        None if from.is_none() => {
            judge.fill_cwd();
        }
        None => {}
    }
    if parsed.has("dry-run") {
        return;
    }
    if file.is_none() {
        let files: Vec<Arg> = parsed.value("i input").map(seen).into_iter().collect();
        let here = judge.word("");
        super::patched::writes(&files, super::patched::strip(parsed, None), |name| seen(&here.with(name)), judge);
    }
    if let Some(file) = file.as_ref().filter(|_| !parsed.has("o output")) {
        judge.write(file);
    }
    // The old content is kept under a name made of these.
    let part = |names: &str| parsed.value(names).map_or(Some(""), Arg::exact);
    match (part("B prefix"), part("Y basename-prefix"), part("z suffix")) {
        (Some(""), Some(""), Some("")) => {}
        (Some(before), Some(base), Some(after)) if ![before, base, after].iter().any(|part| part.contains('/')) => {
            if let Some((file, Some(text))) = file.as_ref().map(|file| (file, file.exact())) {
                let (above, name) =
                    text.rsplit_once('/').map_or((String::new(), text), |(above, name)| (format!("{above}/"), name));
                judge.write(&file.with(&format!("{before}{above}{base}{name}{after}")));
            }
        }
        _ => judge.opaque("where the old content is kept is not known"),
    }
}

/// What stood at the place is kept beside it, under its name and the ending that one of these options says. A place that
/// is the working directory, or above it, is no file that anything is written over.
fn kept(parsed: &Parsed, options: &str, judge: &mut Judge<'_>) {
    let Some(suffix) = parsed.value(options) else { return };
    let Some(ending) = suffix.exact() else { return judge.opaque("where the old content is kept is not known") };
    let written: Vec<String> = judge
        .facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Write(target) if !target.tree && !judge.site.cwd.starts_with(&target.path) => {
                Some(format!("{}{ending}", target.path.display()))
            }
            _ => None,
        })
        .collect();
    written.iter().for_each(|name| judge.write(&suffix.with(name)));
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
    // A link that stands at the place is replaced, and not what it leads to.
    let replaces = parsed.has("n no-dereference T no-target-directory") && parsed.has("f force") && named.is_none();
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
        // A link by name changes nothing of what it names; but who writes through it does.
        let path = judge.resolve(&absolute);
        let class = crate::classify(&path);
        let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
        let inside = !climbs && judge.site.roots.iter().any(|root| path.starts_with(root));
        let free = inside && class.secret.is_none() && class.asked().is_none();
        if let Some(secret) = super::held::secret_at(&path) {
            judge.read(&target.with(&secret.to_string_lossy()));
        }
        if class.asked().is_some() || class.secret.is_none() && !(free && parsed.has("s symbolic")) {
            judge.write(&target.with(&absolute));
        }
        let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or(text);
        let below = match place.map(Arg::exact) {
            None => target.with(name),
            Some(Some(place)) => target.with(&format!("{place}/{name}")),
            Some(None) => continue,
        };
        if !replaces {
            judge.write(&below);
        }
        takes_along(&below, judge);
    }
    if let Some(place) = place {
        match replaces {
            true => judge.remove(place, true),
            false => judge.write(place),
        }
        takes_along(place, judge);
    }
}

/// The last operand is written, the others are read; `HOST:PATH` is another machine.
fn rsync(parsed: &Parsed, judge: &mut Judge<'_>) {
    let remote = |file: &Arg| file.exact().is_some_and(|file| file.split('/').next().unwrap_or_default().contains(':'));
    super::within::rules(parsed, judge);
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
        judge.fill(to);
        takes_along(to, judge);
        // Without a slash behind it, or a dot, the directory itself comes along.
        for name in from
            .iter()
            .filter_map(Arg::exact)
            .filter(|name| !name.ends_with('/') && *name != "." && !name.ends_with("/."))
        {
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
        // A file that is named as the place: the tree that is written is that one.
        if parsed.value("suffix").is_some() {
            judge.write(to);
            kept(parsed, "suffix", judge);
        }
    }
}
