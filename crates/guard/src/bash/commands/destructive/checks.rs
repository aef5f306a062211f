//! Destructive acts that a pattern cannot say.

use super::super::super::fact::Category;
use super::super::super::lang::find;
use super::super::index::by_first;
use super::super::spec::lists;
use super::super::temporary::TEMPORARY;
use super::clients::{
    SQL_CLIENTS, SQL_CONSOLES, TAKE_COMMANDS, cypher, delete_request, mongo, redis, sql_client, sql_console, typed,
};
use super::inline::{LANGUAGES, inline};
use super::over::{is_code, is_source, over};
use super::words::{Line, Piece, fits};
use super::{Hit, emptied, in_place};

/// What looks at a line, and at the text on its standard input where that is known.
type Check = fn(&Line, Option<&str>) -> Option<Hit>;

/// Programs and the check for them.
const CHECKS: &[(&str, Check)] = &[
    ("rm", rm),
    ("find gfind", find),
    ("setfacl", access_lists),
    ("ddrescue dd_rescue qemu-img bmaptool rpi-imager fsarchiver partclone.restore partclone.dd", copied_to_disk),
    ("fd fdfind", fd),
    ("mv cp install ln", onto),
    ("cp install tee find gfind", over),
    ("chmod", chmod),
    ("chown chgrp", chown),
    ("dd dcfldd dc3dd", dd),
    ("kill", kill),
    ("git", git),
    ("fallocate", fallocate),
    ("curl wget http https xh xhs", delete_request),
    (SQL_CLIENTS, sql_client),
    (SQL_CONSOLES, sql_console),
    (TAKE_COMMANDS, typed),
    ("mongosh mongo arangosh", mongo),
    ("redis-cli valkey-cli keydb-cli", redis),
    ("cypher-shell neo4j-client memgraph mgconsole", cypher),
    (LANGUAGES, inline),
    ("sed gsed", in_place::sed),
    ("perl", in_place::perl),
    ("awk gawk", in_place::awk),
    ("sysctl", sysctl),
    (emptied::PROGRAMS, emptied::emptied),
];

/// What the checks say about `line`.
pub(super) fn hits(line: &Line, stdin: Option<&str>) -> Vec<Hit> {
    let named = by_first!(CHECKS).named(&line.program).filter_map(|row| CHECKS.get(row));
    let known = named.filter(|(names, _)| lists(names, &line.program));
    known.filter_map(|(_, check)| check(line, stdin)).collect()
}

/// Whether there may be a check for `program`.
pub(super) fn names(program: &str) -> bool {
    by_first!(CHECKS).named(program).next().is_some()
}

fn files(why: impl Into<String>) -> Option<Hit> {
    Some((Category::Files, why.into()))
}

/// Names given at once from which on removing them is more than removing a file.
const MANY: usize = 4;

fn rm(line: &Line, _: Option<&str>) -> Option<Hit> {
    // What the command line made for itself a moment ago is nobody's loss. Had `mktemp` failed, this would be no name at
    // all; with more behind it, it would be a name at the top.
    let own = |piece: &Piece| piece.known && &*piece.text == TEMPORARY;
    if !line.operands.is_empty() && line.operands.iter().all(own) {
        return None;
    }
    if line.any("-r -R --recursive --no-preserve-root") {
        return files("`rm -r` removes whole trees");
    }
    if line.operands.iter().any(|piece| piece.text.ends_with("_history")) {
        return files("`rm` of what the shell remembers");
    }
    if line.operands.iter().any(|piece| piece.glob) {
        return files("`rm` with a pattern removes whatever it matches");
    }
    if line.operands.iter().any(|piece| piece.known && is_nobodys_to_remove(&piece.text)) {
        return files("`rm` of a file that the system or its user relies on");
    }
    (line.operands.len() >= MANY).then(|| (Category::Files, "`rm` removes many files at once".to_owned()))
}

/// Files of which there is no second copy to build: of the system, of its keys, and what a person's shell starts with.
fn is_nobodys_to_remove(path: &str) -> bool {
    const BELOW: &[&str] = &["/etc/", "/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/boot/", "/dev/", "/var/lib/"];
    const STARTS: &[&str] = &[".bashrc", ".bash_profile", ".profile", ".zshrc", ".gitconfig", ".netrc"];
    let name = path.rsplit('/').next().unwrap_or_default();
    BELOW.iter().any(|place| path.starts_with(place) && !path.starts_with("/dev/shm/"))
        || path.contains("/.ssh/")
        || path.contains("/.gnupg/")
        || path.starts_with('/') && STARTS.contains(&name)
}

fn find(line: &Line, _: Option<&str>) -> Option<Hit> {
    find::deletes(line.raw.iter().map(|word| word.known.then_some(&*word.text)))
        .then(|| (Category::Files, "`find -delete` removes whatever it finds".to_owned()))
}

/// `fd -X rm`: even a plain `rm` removes whatever was found.
fn fd(line: &Line, _: Option<&str>) -> Option<Hit> {
    let run = line.raw.iter().position(|word| matches!(word.text.as_ref(), "-x" | "-X" | "--exec" | "--exec-batch"))?;
    let program = line.raw.get(run + 1)?;
    matches!(program.text.as_ref(), "rm" | "unlink" | "shred" | "rmdir")
        .then(|| (Category::Files, "removes whatever was found".to_owned()))
}

/// Nothing is left of a file that went to `/dev/null`, or that `/dev/null` was copied over.
fn onto(line: &Line, _: Option<&str>) -> Option<Hit> {
    let target = line.operands.last().map_or("", |piece| piece.text.as_ref());
    if is_disk(target) {
        return Some((Category::Disk, format!("`{}` writes to a disk", line.program)));
    }
    if line.program == "mv" && target == "/dev/null" {
        return files("moving a file to /dev/null removes it");
    }
    let from_home = |piece: &Piece| {
        let hidden = piece.text.rsplit('/').next().is_some_and(|name| name.starts_with('.') && name.len() > 2);
        let top = piece.text.starts_with('/') && piece.text.trim_end_matches('/').matches('/').count() < 3;
        piece.text.starts_with(['/', '~']) && hidden || top || wide(piece)
    };
    if line.program == "mv" && matches!(target.trim_end_matches('/'), "/tmp" | "/var/tmp") {
        let (_, sources) = line.operands.split_last()?;
        if sources.iter().any(from_home) {
            return files("what is moved to a directory for temporary files is deleted some day");
        }
    }
    let places = line.program != "mv" && (line.program != "ln" || line.any("-f --force"));
    let emptied = places && line.operands.len() >= 2 && line.operand(0) == "/dev/null";
    emptied.then(|| (Category::Files, "putting /dev/null in the place of a file empties it".to_owned()))
}

/// Directories whose permissions and owners many others rely on.
fn wide(piece: &Piece) -> bool {
    const WIDE: &str = "/ /* . ./ ./* .. * ~ ~/ /etc /usr /bin /lib /var /home /root /opt /boot /dev /sys /proc /srv";
    let text = piece.text.as_ref();
    WIDE.split(' ').any(|wide| wide == text || text.strip_suffix('/') == Some(wide))
        || (!piece.known && text.is_empty())
}

/// Letters of options of chmod.
const OPTIONS: [char; 4] = ['R', 'v', 'f', 'c'];

/// Whether a mode, or a part of one, takes a tree away from its owner, or gives it to everyone.
fn is_harsh(mode: &str) -> bool {
    if let Ok(bits) = u32::from_str_radix(mode, 8) {
        return bits & 0o700 == 0 || bits & 0o002 != 0;
    }
    let at = mode.find(['+', '-', '=']).unwrap_or(mode.len());
    let (who, what) = mode.split_at(at);
    let (all, owner, others) = (who.is_empty() || who.contains('a'), who.contains('u'), who.contains('o'));
    match what.split_at_checked(1) {
        Some(("=", "")) => all || owner,
        Some(("-", rights)) => rights.contains(['r', 'x', 'X']) && (all || owner),
        Some(("+" | "=", rights)) => rights.contains('w') && (who.contains('a') || others || all && rights.len() > 2),
        _ => false,
    }
}

/// Whether a command is given whatever was found: `find -exec chmod 777 {} +`.
fn takes_what_is_found(line: &Line) -> bool {
    line.operands.iter().any(|piece| piece.glob && (&*piece.text == "{}" || piece.text.ends_with("**")))
}

/// Whether one of the operands behind the first is a directory at the top, or what stands for one.
fn is_at_the_top(line: &Line) -> bool {
    line.operands.iter().skip(1).any(|piece| {
        let text = piece.text.as_ref();
        wide(piece) && (text.starts_with('/') || text.starts_with('~'))
    })
}

/// Files and directories that the system relies on to be as they are. Devices are given to their users every day.
fn is_of_the_system(piece: &Piece) -> bool {
    piece.known && !piece.text.starts_with("/dev/") && is_nobodys_to_remove(&piece.text)
}

/// The mode among the words of chmod. `-x`, `-rwx` are modes, not options: they stand among the words.
fn mode_of(line: &Line) -> Option<&str> {
    let option = |text: &str| text.starts_with("--") || text.trim_start_matches('-').trim_matches(OPTIONS).is_empty();
    line.raw.iter().map(|word| word.text.as_ref()).find(|text| !option(text))
}

/// Whether a mode leaves nothing to the owner.
fn is_shut(mode: &str) -> bool {
    matches!(mode, "=" | "a=" | "u=" | "ugo=" | "a-rwx" | "u-rwx" | "-rwx")
        || u32::from_str_radix(mode, 8).is_ok_and(|bits| bits & 0o700 == 0)
}

fn chmod(line: &Line, _: Option<&str>) -> Option<Hit> {
    let harsh = mode_of(line).is_some_and(|mode| {
        // `a-x,a+X` leaves directories open.
        mode.split(',').any(is_harsh) && !mode.split_once('+').is_some_and(|(_, rights)| rights.contains('X'))
    });
    if !line.any("-R --recursive") {
        let found = line.operands.iter().skip(1).any(|piece| piece.glob);
        if found && mode_of(line).is_some_and(is_shut) {
            return files("`chmod` takes whatever the pattern finds away from its owner");
        }
        let reached = is_at_the_top(line) || line.operands.iter().any(is_of_the_system) || takes_what_is_found(line);
        return (harsh && reached).then(|| {
            (Category::Files, "`chmod` gives to everyone, or takes from everyone, what others rely on".to_owned())
        });
    }
    (harsh || is_at_the_top(line))
        .then(|| (Category::Files, "`chmod -R` changes the permissions of a whole tree for good".to_owned()))
}

fn chown(line: &Line, _: Option<&str>) -> Option<Hit> {
    let whole = line.any("-R --recursive");
    let all = whole && (line.program == "chown" || line.operands.iter().skip(1).any(wide));
    let found = !whole && (takes_what_is_found(line) || is_at_the_top(line));
    (all || found).then(|| (Category::Files, format!("`{}` changes the owner of a whole tree for good", line.program)))
}

/// `setfacl -Rm … /`: of a tree of the workspace it is everyday work.
fn access_lists(line: &Line, _: Option<&str>) -> Option<Hit> {
    let top = line.raw.iter().any(|word| wide(word) && word.text.starts_with(['/', '~']));
    let all = line.any("-R --recursive") && top && !line.has("--test");
    all.then(|| (Category::Files, "`setfacl -R` changes the access lists of a whole tree".to_owned()))
}

/// Programs that copy an image: the last operands are where to.
fn copied_to_disk(line: &Line, _: Option<&str>) -> Option<Hit> {
    let to = match line.program.as_str() {
        "ddrescue" | "dd_rescue" => line.operand(1),
        "partclone.restore" | "partclone.dd" => {
            line.values("-o -O --output --overwrite").last().map_or("", |piece| piece.text.as_ref())
        }
        "fsarchiver" if !line.operand(0).starts_with("rest") => "",
        "qemu-img" if !matches!(line.operand(0), "convert" | "dd") => "",
        _ => line.operands.last().map_or("", |piece| piece.text.as_ref()),
    };
    let to = to.rsplit_once("dest=").map_or(to, |(_, place)| place);
    is_disk(to).then(|| (Category::Disk, format!("`{}` writes over {to}", line.program)))
}

/// Places below /dev that are no devices one could damage.
const HARMLESS: &[&str] =
    &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/tty", "/dev/full", "/dev/fd/*", "/dev/shm/*"];

fn is_disk(path: &str) -> bool {
    let device = path.starts_with("/dev/") || path.starts_with("\\\\.\\");
    device && !HARMLESS.iter().any(|harmless| fits(harmless, path))
}

fn dd(line: &Line, _: Option<&str>) -> Option<Hit> {
    let value = |name: &str| line.raw.iter().rev().find_map(|word| word.text.strip_prefix(name));
    let to = value("of=")?;
    if is_disk(to) {
        return Some((Category::Disk, format!("`dd` writes over {to}")));
    }
    let wiping = matches!(value("if="), Some("/dev/zero" | "/dev/urandom" | "/dev/random" | "/dev/null"));
    // Without an end of its own it goes on until the place is full, as it does on a disk.
    let unknown = line.raw.iter().any(|word| !word.known && &*word.text == "of=");
    if unknown && wiping && value("count=").is_none() {
        return Some((Category::Disk, "`dd` fills a place that is not known".to_owned()));
    }
    let in_place = value("conv=").is_some_and(|conv| conv.split(',').any(|one| one == "notrunc"));
    let nothing = value("if=") == Some("/dev/null") || value("count=") == Some("0");
    ((wiping && (in_place || is_code(to))) || (nothing && !to.starts_with("/dev/") && value("seek=").is_none()))
        .then(|| (Category::Files, format!("`dd` writes over the file {to}")))
}

fn kill(line: &Line, _: Option<&str>) -> Option<Hit> {
    let words: Vec<&str> = line.raw.iter().filter(|word| word.known).map(|word| word.text.as_ref()).collect();
    if words.iter().any(|word| matches!(*word, "-l" | "-L" | "--list")) {
        return None;
    }
    // Signal 0 reaches nobody: it only asks whether somebody is there.
    let probes = matches!(
        words.as_slice(),
        ["-0" | "-s0" | "-n0" | "--signal=0", ..] | ["-s" | "-n" | "--signal", "0" | "EXIT", ..]
    );
    if probes {
        return None;
    }
    // The first word with a dash is the signal, unless `--` or `-s NAME` said otherwise.
    let signal = words.first().is_some_and(|word| word.starts_with('-'));
    let named = matches!(words.first(), Some(&("-s" | "-n" | "--signal")));
    let targets = words.get(if named { 2 } else { usize::from(signal) }..).unwrap_or_default();
    // These are answered, not died of: a program reads its configuration again.
    let answered = words.first().is_some_and(|word| matches!(*word, "-HUP" | "-USR1" | "-USR2" | "-CONT" | "-WINCH"));
    let answered = answered && targets.iter().all(|target| *target == "1");
    // `xargs kill`, `kill $(pgrep x)`: as many as were listed.
    let listed = line.raw.iter().any(|word| word.glob && (&*word.text == "{}" || word.text.ends_with("**")));
    let hard = words.iter().any(|word| matches!(*word, "-9" | "-KILL" | "-SIGKILL"));
    if listed && hard {
        return Some((Category::System, "`kill -9` ends whatever was listed".to_owned()));
    }
    let everyone = !answered && targets.iter().any(|target| matches!(*target, "-1" | "1" | "0")) || words == ["-1"];
    everyone.then(|| (Category::System, "`kill` reaches every process, or the first one".to_owned()))
}

/// Files of almost every project, whose names have no end that says so.
const WELL_KNOWN: &str = "Makefile makefile GNUmakefile Dockerfile Containerfile LICENSE LICENCE COPYING README CHANGELOG \
    AUTHORS CONTRIBUTING NOTICE Gemfile Rakefile Podfile Brewfile Guardfile Procfile Jenkinsfile Vagrantfile Justfile \
    justfile Pipfile BUILD WORKSPACE CODEOWNERS go.sum go.mod";

/// Whether a word cannot be the name of a branch or a commit, or hardly is, so that it names files: a pattern, a part that
/// begins with a dot, what is left out, a file of almost every project.
fn names_files(word: &str) -> bool {
    // `HEAD^{/fix*}` and `:/fix*` look for a commit.
    let searches = word.contains(['^', '~', '{']) || word.starts_with(":/");
    is_source(word)
        || word.starts_with(":!")
        || word.starts_with(":^")
        || word.split('/').any(|part| part.starts_with('.'))
        || !searches && word.contains(['*', '?', '['])
        || lists(WELL_KNOWN, word.rsplit('/').next().unwrap_or(word))
}

/// Whether a date of git's is one of today or later: `now`, `1.second.ago`, `tomorrow`. It reads them by their beginnings.
fn is_of_today(date: &str) -> bool {
    const PARTS: &[&str] = &["now", "all", "sec", "min", "hou", "today", "tomorrow", "midnight", "noon", "tea"];
    date.starts_with('0') || PARTS.iter().any(|part| date.contains(part))
}

fn git(line: &Line, stdin: Option<&str>) -> Option<Hit> {
    let set = |wanted: &str| line.values("-c").any(|piece| piece.text.to_ascii_lowercase().starts_with(wanted));
    let sub = line.operand(0);
    if sub == "checkout" {
        let ended = line.flags.iter().find(|flag| flag.name == "--").map(|flag| flag.after);
        let paths = ended.is_some_and(|after| line.operands.len() > after);
        let named = line.operands.get(1).is_some_and(|piece| piece.glob);
        let staged_paths = line.flags.iter().any(|flag| flag.name == "--pathspec-from-file");
        let makes = line.any("-b -B --orphan -t --track");
        let file = !makes && line.operands.iter().skip(1).any(|piece| names_files(&piece.text));
        if (paths || named || staged_paths || file) && !line.any("-p --patch --ours --theirs") {
            return Some((
                Category::GitDiscard,
                "`git checkout` overwrites files with their committed \
                state"
                    .to_owned(),
            ));
        }
    }
    let moved = line.operand(1);
    if sub == "update-ref"
        && line.operands.len() > 2
        && (moved == "HEAD" || moved.starts_with("refs/heads/") || moved.starts_with("refs/tags/"))
    {
        return Some((Category::GitHistory, "moves a ref".to_owned()));
    }
    if sub == "gc" && line.values("--prune").any(|date| is_of_today(&date.text.to_ascii_lowercase())) {
        return Some((Category::GitHistory, "`git gc` deletes unreachable commits at once".to_owned()));
    }
    let force = line.any("-f --force");
    let forced = |piece: &Piece| {
        let into = piece.text.split_once(':').map_or("", |(_, into)| into);
        (force || piece.text.starts_with('+')) && !into.is_empty() && !into.starts_with("refs/remotes/")
    };
    if matches!(sub, "fetch" | "pull") && line.operands.iter().skip(2).any(forced) {
        return Some((Category::GitHistory, "`git fetch` overwrites a branch".to_owned()));
    }
    let off = |key: &str| {
        let settings = line.values("-c").map(|piece| piece.text.to_ascii_lowercase());
        let mut values = settings.filter_map(|text| Some(text.strip_prefix(key)?.strip_prefix('=')?.to_owned()));
        values.any(|value| ["false", "no", "off", "0", ""].contains(&value.as_str()))
    };
    let answered = line.any("-i --interactive") && stdin.is_some();
    if sub == "clean" && answered && !line.any("-n --dry-run") {
        return Some((Category::GitDiscard, "`git clean` is answered, and deletes untracked files".to_owned()));
    }
    if sub == "clean" && off("clean.requireforce") && !line.any("-n --dry-run -i") {
        return Some((Category::GitDiscard, "`git clean` deletes untracked files".to_owned()));
    }
    if matches!(sub, "commit" | "push" | "merge" | "rebase" | "am" | "pull" | "cherry-pick" | "revert")
        && set("core.hookspath=")
    {
        return Some((Category::GitHistory, "skips the hooks that check it".to_owned()));
    }
    None
}

fn fallocate(line: &Line, _: Option<&str>) -> Option<Hit> {
    line.any("-p --punch-hole -c --collapse-range -z --zero-range")
        .then(|| (Category::Files, "`fallocate` takes data out of a file".to_owned()))
}

fn sysctl(line: &Line, _: Option<&str>) -> Option<Hit> {
    line.raw
        .iter()
        .any(|word| word.text.starts_with("kernel.sysrq") || word.text.starts_with("kernel.panic="))
        .then(|| (Category::System, "changes how the kernel fails".to_owned()))
}
