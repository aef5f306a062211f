//! What archives do with the words behind them: which file is the archive, which names are its members, and where the
//! members are put. The rows stand with those of the other programs for files.

use std::path::Path;

use super::super::judge::{Arg, Judge, Stdin, Word};
use super::super::lang::patch;
use super::piped::Printed;
use super::places::takes_along;
use super::spec::Does::{Either, Flag, Info, Maybe, Run, Value, Write};
use super::spec::{self, Does, Operands, PLAIN, Parsed, Spec, may_be_option};

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
             skip-old-files U unlink-first verify O to-stdout clamp-mtime delay-directory-restore m touch \
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
             group mode mtime owner sort xattrs-exclude xattrs-include record-size format pax-option V label K \
             starting-file newer-mtime N newer after-date suffix strip-components transform xform quote-chars \
             no-quote-chars quoting-style f file C directory warning",
        ),
        // That of BSD takes no value: it follows links.
        (Either, "H"),
        (Maybe, "occurrence one-top-level atime-preserve checkpoint backup totals"),
        (Does::Read, "X exclude-from exclude-ignore exclude-ignore-recursive owner-map group-map"),
        (Write, "index-file g listed-incremental"),
        // A list of names may hold options too.
        (
            Run,
            "to-command F info-script new-volume-script rmt-command rsh-command \
             checkpoint-action",
        ),
        (Run, "T files-from"),
        (Value, "I use-compress-program"),
        (Info, "usage"),
    ],
    operands: Operands::Custom,
    check: Some(tar_does),
    ..PLAIN
};

/// The first word may be a bundle without a dash; its values follow in order.
pub(super) fn tar(parsed: &Parsed, judge: &mut Judge<'_>) {
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

/// What git is told to put into the archive that comes from it: `git archive HEAD .github | tar x`.
fn stored(judge: &Judge<'_>) -> Vec<Arg> {
    let Stdin::Pipe { printed: Printed::Stored, hint: Some(hint), .. } = &judge.stdin else { return Vec::new() };
    let names = patch::names(hint).into_iter();
    names.filter_map(|name| name.strip_prefix("b/").map(|name| judge.word(name))).collect()
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
    for program in parsed.values("I use-compress-program") {
        // That of BSD takes it for the name of a list of names, which may lead elsewhere.
        match program.exact().is_some_and(packs_alone) {
            true if lists && !packs => {}
            true => judge.code("the name of a packer may be that of a list"),
            false => judge.opaque("tar runs a program"),
        }
    }
    let moves = directories(parsed).count();
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
                compares(parsed, judge);
                operands().for_each(|file| judge.read_tree(&file));
            }
        }
        (false, true, false) => {
            let members = parsed.has("delete");
            // A name that a pattern finds here may lie there, too.
            if !members && parsed.operands.iter().any(|file| file.exact().is_none()) {
                directories(parsed).for_each(|dir| judge.read_tree(dir));
            }
            for file in operands().filter(|_| !members) {
                judge.read_tree(&file);
                if parsed.has("remove-files") {
                    judge.delete_tree(&file);
                }
            }
        }
        (false, false, true) if parsed.has("P absolute-names") => judge.opaque("an archive may write anywhere"),
        (false, false, true) if parsed.has("O to-stdout") => shown(&parsed.operands, judge),
        (false, false, true) if parsed.opts.iter().any(renames_into_guarded) => {
            judge.opaque("members are renamed into a guarded place");
        }
        (false, false, true) => {
            // Where both are given, the second is below the first.
            let top = parsed.value("one-top-level").map(place);
            let mut names = parsed.operands.clone();
            names.extend(stored(judge));
            unpack(top.as_ref().or(parsed.value("C directory")), &names, judge);
        }
        _ => judge.opaque("tar has to be told what to do"),
    }
}

/// Whether this is a packer with no more than its level, its threads and its direction, from standard input to standard output.
fn packs_alone(command: &str) -> bool {
    const PACKERS: &str = "gzip gunzip pigz unpigz bzip2 bunzip2 pbzip2 lbzip2 xz unxz pxz pixz lzip plzip lzop zstd unzstd zstdmt pzstd \
        lz4 brotli";
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = |word: &str| match word.strip_prefix('-') {
        Some(option) => {
            matches!(
                option,
                "d" | "dc" | "c" | "q" | "-long" | "-ultra" | "-fast" | "-best" | "-rsyncable" | "-decompress"
            ) || number(option.trim_start_matches(['T', 'p']))
                || option.strip_prefix("-long=").is_some_and(number)
        }
        None => false,
    };
    let mut words = command.split(' ').filter(|word| !word.is_empty());
    words.next().is_some_and(|name| spec::lists(PACKERS, name)) && words.all(plain)
}

/// The directories that `-C` names.
fn directories(parsed: &Parsed) -> impl Iterator<Item = &Arg> {
    parsed
        .opts
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "C" | "directory"))
        .filter_map(|(_, dir)| dir.as_ref())
}

/// What an archive is held against: whatever has the names of its members, here or in another directory.
fn compares(parsed: &Parsed, judge: &mut Judge<'_>) {
    if directories(parsed).next().is_none() {
        judge.read_cwd();
    }
    directories(parsed).for_each(|dir| judge.read_tree(dir));
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

/// Members that are printed by name: what is a secret by its name is one in an archive, too.
pub(super) fn shown(names: &[Arg], judge: &mut Judge<'_>) {
    for name in names {
        let texts = match &name.word {
            Word::Exact(text) => judge.pointed_at(text),
            Word::Glob { pattern, .. } => judge.pointed_at(pattern),
            Word::OneOf(_) | Word::Opaque { .. } => {
                judge.read(name);
                continue;
            }
        };
        for text in texts {
            if crate::classify(&judge.resolve(&text)).secret.is_some() {
                judge.read(&name.with(&text));
            }
        }
    }
}

/// unzip: behind the archive stand names of members, and of options `-d` and `-x` alone. Any other is one more name.
pub(super) fn unzip(parsed: &Parsed, judge: &mut Judge<'_>) {
    // Before the archive `-x` means to extract, and what follows is the archive.
    if let Some(archive) = parsed.value("x") {
        judge.read(archive);
        if parsed.operands.is_empty() {
            unpack(parsed.value("d"), &[], judge);
        }
    }
    let Some((archive, rest)) = parsed.operands.split_first() else { return };
    judge.read(archive);
    // The archive gets the time of its newest member.
    if parsed.has("T") {
        judge.write(archive);
    }
    let mut places: Vec<Arg> = parsed.values("d").cloned().collect();
    let (mut names, mut left_out, mut rest) = (Vec::new(), false, rest.iter());
    while let Some(word) = rest.next() {
        match word.exact() {
            Some("-d") => places.extend(rest.next().cloned()),
            Some("-x") => left_out = true,
            Some(text) if text.starts_with("-d") => places.push(word.with(text.trim_start_matches("-d"))),
            known => {
                if known.is_none() {
                    spec::late_options(std::slice::from_ref(word), judge);
                }
                if !left_out {
                    names.push(word.clone());
                }
            }
        }
    }
    if parsed.has("p c") {
        shown(&names, judge);
    }
    if parsed.has("l p t v z Z c") {
        return;
    }
    places.iter().for_each(|into| unpack(Some(into), &names, judge));
    if places.is_empty() {
        unpack(None, &names, judge);
    }
}

/// An archive is unpacked here, or into another directory: all of it, or the members of these names.
pub(super) fn unpack(into: Option<&Arg>, names: &[Arg], judge: &mut Judge<'_>) {
    match into {
        Some(into) => judge.fill(into),
        None => judge.fill_cwd(),
    }
    let below = |name: &Arg| match (into.map(Arg::exact), name.exact()) {
        (Some(Some(into)), Some(text)) => name.with(&format!("{into}/{text}")),
        _ => name.clone(),
    };
    members(&names.iter().map(below).collect::<Vec<_>>(), judge);
}

/// Members of an archive that are unpacked by name: one of them may be a guarded file.
fn members(names: &[Arg], judge: &mut Judge<'_>) {
    for name in names.iter().filter(|name| !matches!(name.word, Word::Glob { .. })) {
        judge.write(name);
        // A directory brings all that stands in it, and a pattern of the packer may name any of it.
        takes_along(name, judge);
        if let Some(pattern) = name.exact().filter(|text| text.contains(['*', '?', '['])) {
            let means = judge.pointed_at(pattern).into_iter().map(|text| name.with(&text));
            means.filter(|name| judge.is_guarded(name)).collect::<Vec<_>>().iter().for_each(|name| judge.write(name));
        }
        if let Some((above, _)) = name.exact().and_then(|text| text.split_once(['*', '?', '[']))
            && let Some((above, _)) = above.rsplit_once('/')
        {
            judge.write(&name.with(above));
            takes_along(&name.with(above), judge);
        }
    }
}

/// 7z and rar: a verb, switches that start with `-`, an archive, names.
pub(super) fn seven_zip(parsed: &Parsed, judge: &mut Judge<'_>) {
    const SWITCHES: &[&str] =
        &["-y", "-r", "-slt", "-ba", "-bd", "-bb0", "-bb1", "-aoa", "-aos", "-aou", "-t7z", "-tzip", "--"];
    let prints = |verb: &Arg| {
        let to_stdout = parsed.operands.iter().any(|word| word.exact() == Some("-so"));
        to_stdout && matches!(verb.exact(), Some("x" | "e"))
    };
    let words = &parsed.operands;
    let rar = parsed.path.first().is_some_and(|name| name.ends_with("rar"));
    let Some((verb, rest)) = words.split_first() else { return };
    // The place of what is unpacked.
    let mut into = rest
        .iter()
        .filter_map(|word| Some(word.with(word.exact()?.strip_prefix("-o").filter(|dir| !dir.is_empty() && !rar)?)));
    let into = into.next().filter(|_| matches!(verb.exact(), Some("x" | "e")));
    // How well it packs, with how many threads.
    let level = |text: &str| {
        let value = text.strip_prefix("-mx").or_else(|| text.strip_prefix("-mmt"));
        value.is_some_and(|value| value.trim_start_matches('=').bytes().all(|byte| byte.is_ascii_digit()))
    };
    let known = |word: &Arg| {
        word.exact().is_some_and(|text| {
            !text.starts_with('-')
                || SWITCHES.contains(&text)
                || !rar && (level(text) || text == "-so" && prints(verb) || into.is_some() && text.starts_with("-o"))
        })
    };
    if !words.iter().all(known) {
        judge.opaque("a switch of the packer is not known");
    }
    let mut names = rest.iter().filter(|word| word.exact().is_none_or(|text| !text.starts_with('-')));
    match verb.exact() {
        Some("i" | "h" | "b") => names.for_each(|file| judge.read_tree(file)),
        Some("l" | "t" | "lb" | "lt" | "v" | "vb" | "p") => {
            names.next().into_iter().for_each(|archive| judge.read(archive));
            if verb.exact() == Some("p") {
                shown(&names.cloned().collect::<Vec<_>>(), judge);
            }
        }
        Some("x" | "e") => {
            names.next().into_iter().for_each(|archive| judge.read(archive));
            let names: Vec<Arg> = names.cloned().collect();
            if !rar && prints(verb) {
                return shown(&names, judge);
            }
            // A last word that ends so is no member but the place for all of them.
            let place = |word: &Arg| rar && word.exact().is_some_and(|text| text.ends_with('/'));
            match names.split_last().filter(|(last, _)| place(last)) {
                Some((into, names)) => unpack(Some(into), names, judge),
                None => unpack(into.as_ref(), &names, judge),
            }
        }
        Some("a" | "u") => {
            names.next().into_iter().for_each(|archive| judge.write(archive));
            names.for_each(|file| judge.read_tree(file));
        }
        _ => judge.opaque("what the packer is told to do is not known"),
    }
}

/// ar: a verb with modifiers, an archive, members.
pub(super) fn ar(parsed: &Parsed, judge: &mut Judge<'_>) {
    let verb = parsed.operands.first().and_then(Arg::exact).unwrap_or_default();
    let mut names = parsed.operands.iter().skip(1);
    // Options may stand anywhere: `--plugin` loads a library, `-M` runs a script from standard input.
    if parsed.operands.iter().skip(1).any(may_be_option) {
        judge.opaque("an option of ar");
    }
    let letters = verb.trim_start_matches('-');
    // Beside any verb it writes the index anew.
    if letters.contains('s') {
        parsed.operands.get(1).into_iter().for_each(|archive| judge.write(archive));
    }
    match (letters.chars().next(), letters.bytes().all(|byte| byte.is_ascii_alphabetic()), names.next()) {
        _ if letters.contains(['a', 'b', 'i', 'N']) || verb.starts_with("--") => judge.opaque("an option of ar"),
        (Some('t'), true, Some(archive)) => judge.read(archive),
        (Some('p'), true, Some(archive)) => {
            judge.read(archive);
            shown(&names.cloned().collect::<Vec<_>>(), judge);
        }
        (Some('x'), true, Some(archive)) => {
            judge.read(archive);
            unpack(None, &names.cloned().collect::<Vec<_>>(), judge);
        }
        (Some('r' | 'q' | 'd' | 's' | 'c' | 'm'), true, Some(archive)) => {
            judge.write(archive);
            names.for_each(|file| judge.read(file));
        }
        _ => judge.opaque("what ar is told to do is not known"),
    }
}
