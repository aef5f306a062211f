//! What cannot be had back: the warning, whatever else is known about a command.
//!
//! Works on the words alone, not on what a table made of them: an option that a table does not know makes
//! a command opaque, and it still deserves its warning. Most acts are rows of a table ([`acts`]); what a
//! pattern cannot say is a check ([`checks`]); commands inside commands are peeled ([`peel`]). A warning
//! only ever adds: nothing here makes a command harmless, so an approximate reading of options is enough.

mod acts;
mod checks;
mod clients;
mod emptied;
mod in_place;
mod inline;
mod over;

mod peel;
mod shows;
mod texts;
mod undone;
mod unknown;
mod valued;
mod words;

use super::super::fact::Category;
use super::super::finding::{Family, Row};
use super::super::judge::{Arg, Judge};
use super::is_known;
use crate::ExecKind;
pub(in super::super) use over::is_code;
pub(super) use peel::{Inside, inside};
use words::Line;

/// A page for every category.
pub(in super::super) const FINDINGS: &[Row] = &[
    row(
        "destroys_git_work",
        "The command throws away changes that git has not stored.",
        "Uncommitted work has no second copy. Commit or `git stash` first, or name the one file that is meant.",
        "git reset --hard",
    ),
    row(
        "destroys_git_history",
        "The command removes or replaces commits, branches, tags or reflogs, or skips the hooks that guard them.",
        "Others may have built on what disappears. Push to a new branch, or let a person decide.",
        "git push --force origin main",
    ),
    row(
        "destroys_files",
        "The command removes or empties files: a tree, a pattern, or many at once.",
        "There is no trash. Name single files, or list first what would be removed.",
        "rm -rf build",
    ),
    row(
        "destroys_disk",
        "The command writes to a disk, a partition, a volume or a file system as a whole.",
        "Everything on it is lost at once.",
        "mkfs.ext4 /dev/sdb1",
    ),
    row(
        "destroys_database",
        "The command drops, empties or rewrites tables, keys or whole databases.",
        "There may be no backup. Add a WHERE, look with SELECT first, or work on a copy.",
        "psql -c 'DROP TABLE users'",
    ),
    row(
        "destroys_containers",
        "The command removes containers, images, volumes or networks.",
        "Volumes and the layers of containers hold data that no image brings back.",
        "docker system prune -a --volumes",
    ),
    row(
        "destroys_kubernetes",
        "The command deletes, drains or replaces what runs in a cluster.",
        "It stops what others use. `--dry-run=client` shows what would happen.",
        "kubectl delete namespace shop",
    ),
    row(
        "destroys_infrastructure",
        "The command destroys infrastructure or the state that describes it.",
        "Machines and their data go with it. Read the plan first.",
        "terraform destroy",
    ),
    row(
        "destroys_cloud",
        "The command deletes something at a provider: buckets, instances, repositories, releases.",
        "It takes effect at once and for everyone who uses it.",
        "aws s3 rm s3://bucket --recursive",
    ),
    row(
        "destroys_packages",
        "The command removes packages from the system or from a public registry.",
        "Other programs may need them, and a withdrawn version breaks everyone who depends on it.",
        "apt-get purge nginx",
    ),
    row(
        "destroys_system",
        "The command ends processes, sessions, services, users or rules of the whole machine.",
        "It reaches beyond this work, and the session itself may end with it.",
        "kill -9 -1",
    ),
];

const fn row(code: &'static str, when: &'static str, why: &'static str, example: &'static str) -> Row {
    Row { code, family: Family::Destructive, raises: Some(ExecKind::Destructive), when, why, example }
}

/// The page of a category.
fn code(category: Category) -> &'static str {
    match category {
        Category::GitDiscard => "destroys_git_work",
        Category::GitHistory => "destroys_git_history",
        Category::Files => "destroys_files",
        Category::Disk => "destroys_disk",
        Category::Database => "destroys_database",
        Category::Container => "destroys_containers",
        Category::Kubernetes => "destroys_kubernetes",
        Category::Infrastructure => "destroys_infrastructure",
        Category::Cloud => "destroys_cloud",
        Category::Package => "destroys_packages",
        Category::System => "destroys_system",
    }
}

/// What is destroyed, and why in words.
type Hit = (Category, String);

/// How deep commands inside commands are followed. More than any person writes.
const DEPTH: usize = 6;

/// The same where the analysis goes on with the command inside: that one comes here by itself.
const SHALLOW: usize = 4;

/// How many commands inside one command are looked at: wrappers in wrappers multiply.
const INNER: usize = 32;

/// Notes what the command destroys, from its words alone. Call it once for every command, last: a wrapper
/// whose inner command is already on its way to the analysis is not peeled a second time.
pub(super) fn note_raw(argv: &[Arg], judge: &mut Judge<'_>) {
    // Most commands are in no table here.
    let name = argv.first().and_then(Arg::exact);
    let program = name.map_or("", words::program);
    let known = name.is_none()
        || acts::names(program)
        || checks::names(program)
        || peel::names(program)
        || undone::names(program);
    if !known && !is_nobodys(program, name.unwrap_or_default()) {
        return;
    }
    let stdin = judge.stdin.told().map(str::to_owned);
    let line = Line::of(argv);
    let mut hits = Vec::new();
    let alone = judge.nested.is_empty();
    let depth = if alone { DEPTH } else { SHALLOW };
    collect(&line, stdin.as_deref(), alone, depth, &mut INNER.clone(), &mut hits);
    hits.extend(undone::hit(&line, judge));
    hits.dedup();
    for (category, why) in hits {
        judge.find(code(category), judge.span.clone(), why.clone());
        judge.destroys(category, why);
    }
}

/// Whether no table is about the program: neither those of the analysis nor those here. A file is code,
/// whatever it is called.
fn is_nobodys(program: &str, name: &str) -> bool {
    !name.contains(['/', '.'])
        && !is_known(program)
        && !acts::names(program)
        && !peel::names(program)
        && !checks::names(program)
}

/// All that `line` and the commands inside it destroy.
fn collect(line: &Line, stdin: Option<&str>, wrappers: bool, depth: usize, left: &mut usize, hits: &mut Vec<Hit>) {
    if depth == 0 || *left == 0 || shows::only_shows(line) {
        return;
    }
    *left -= 1;
    hits.extend(acts::hit(line));
    hits.extend(checks::hits(line, stdin));
    if is_nobodys(&line.program, &line.name) {
        hits.extend(unknown::hit(line));
    }
    for inner in peel::inner(line, wrappers).into_iter().chain(peel::fed(line, stdin)) {
        collect(&inner, stdin, true, depth - 1, left, hits);
    }
}

#[cfg(test)]
mod tests;
