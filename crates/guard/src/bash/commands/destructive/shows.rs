//! Whether a command is asked only to show: how it is used, or what it would do.
//!
//! The one place that knows the ways of saying so. A way counts as long as it is the program's own word: not behind the
//! command inside a wrapper, not behind `--`, and not where the option before it may have taken it for its value.

use super::super::index::by_first;
use super::super::spec::lists;
use super::peel;
use super::words::{Flag, Line, PLAIN, Piece, VALUELESS, fits};

/// Options that say so wherever they are known; a program that does not know one refuses it.
const WAYS: &str = "--help --dry-run --dryrun --dry_run --dryRun --dry -dry-run -dryrun --simulate --just-print \
    --no-act \
    --pretend --preview-only --assumeno --assume-no --whatif --what-if -WhatIf -whatif -Whatif --noop --no-op \
    --print-only --show-only --list-only --trial-run --generate-cli-skeleton";

/// What else says so, by program: options, or with no dash an operand.
const ALSO: &[(&str, &str)] = &[
    ("terraform tofu terragrunt packer nomad consul vault bao", "-help"),
    ("aws awslocal", "help"),
    ("rake make gmake", "-n -P -T -W -D --tasks --prereqs --describe --where"),
    ("nix-store", "--print-dead --print-live --print-roots"),
    ("alembic flask superset quart", "--sql"),
    ("console doctrine symfony", "--dump-sql"),
    ("mikro-orm", "--dump"),
    ("liquibase", "*-sql *SQL"),
    ("flyway", "-dryRunOutput"),
    ("ansible ansible-playbook", "--check -C --syntax-check --list-hosts --list-tasks --list-tags"),
    ("salt salt-call", "test=True test=true"),
    ("emerge", "-p"),
    ("pkg xbps-remove", "-n"),
    ("conda mamba micromamba", "-d"),
    ("port", "-y"),
    ("sgdisk", "-P"),
    ("tmpreaper tmpwatch", "-t --test"),
    ("bleachbit", "-p -l --preview --list-cleaners"),
    ("phinx", "-x"),
    ("apt apt-get aptitude", "-s"),
    ("robocopy", "/L /l"),
    ("aws-nuke gcp-nuke azure-nuke", "--list"),
];

/// Values that take it back: `--dry-run=none`.
const NOT: &str = "false none no off 0 never";

/// Programs to which such a word may be a name, a process or a word for their code once there was an operand: always, or
/// where options end at the first operand, as they do on a Mac.
const FIRST: &str = "rm mv cp install chmod chown chgrp dd kill truncate shred redis-cli valkey-cli keydb-cli \
    python python2 python3 node nodejs deno perl ruby php lua pwsh powershell mongosh mongo";

/// Programs to which `-h` is something else than help: a host, links, sizes, a way to stop.
const NOT_HELP: &str = "psql pg_restore pg_dump dropdb dropuser createdb pg_probackup mysql mysqladmin mariadb \
    mariadb-admin mysqldump redis-cli valkey-cli keydb-cli clickhouse-client clickhouse mongorestore mongoimport mongo \
    mongodump nodetool asinfo aerospike sqlcmd isql influx usql ysqlsh vsql vmrun ipmitool racadm mosquitto_ctrl pssh \
    memcached-tool shutdown halt poweroff reboot chown chgrp chmod rm ln cp mv rsync tar zfs \
    ndb_drop_table rmdir touch ls du df find xargs dd kill fuser swapoff ssh ps";

/// Whether `line` only shows.
pub(super) fn only_shows(line: &Line) -> bool {
    // Most commands have nothing that could say so.
    if line.flags.is_empty() && line.operands.is_empty() || peel::passes_options(&line.program) {
        return false;
    }
    let named = by_first!(ALSO).named(&line.program).filter_map(|row| ALSO.get(row));
    let also = named.filter(|(programs, _)| lists(programs, &line.program)).map(|(_, ways)| *ways);
    let also: Vec<&str> = also.flat_map(str::split_whitespace).collect();
    asks_for_help_first(line) || by_option(line, &also) || by_operand(line, &also)
}

/// `gcloud help compute instances delete`: to a program with subcommands that are looked for anywhere.
fn asks_for_help_first(line: &Line) -> bool {
    line.operand(0) == "help"
        && line.operands.len() > 1
        && lists("gcloud az oci ibmcloud fly flyctl heroku", &line.program)
}

fn by_operand(line: &Line, also: &[&str]) -> bool {
    let ways = || also.iter().filter(|way| !way.starts_with('-'));
    ways().next().is_some() && line.operands.iter().any(|piece| piece.known && ways().any(|way| fits(way, &piece.text)))
}

fn by_option(line: &Line, also: &[&str]) -> bool {
    if line.flags.is_empty() {
        return false;
    }
    let last = if lists(FIRST, &line.program) { 0 } else { peel::begins(line) };
    let ended = line.flags.iter().position(|flag| flag.name == "--").unwrap_or(line.flags.len());
    let own = line.flags.iter().take(ended).enumerate();
    own.filter(|(_, flag)| flag.after <= last && shows(line, flag, also)).any(|(at, flag)| {
        let before = at.checked_sub(1).and_then(|before| line.flags.get(before));
        before.is_none_or(|before| {
            before.after < flag.after
                || before.value.is_some()
                || lists(VALUELESS, &before.name)
                || lists(PLAIN, &line.program) && lists("-f -r -D", &before.name)
                || also.contains(&flag.name.as_str())
        })
    })
}

fn shows(line: &Line, flag: &Flag, also: &[&str]) -> bool {
    let name = flag.name.as_str();
    let alone = |piece: &Piece| piece.known && &*piece.text == "-h";
    match &flag.value {
        Some(value) => name != "--help" && (lists(WAYS, name) || also.contains(&name)) && !lists(NOT, &value.text),
        None if name == "-h" => !lists(NOT_HELP, &line.program) && line.raw.iter().any(alone),
        None => lists(WAYS, name) || also.contains(&name),
    }
}
