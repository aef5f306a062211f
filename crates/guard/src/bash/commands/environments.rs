//! Programs that choose which version of a program runs, or what stands around it, and run the command behind them.
//!
//! What is there already runs; what would have to be fetched first is asked about.

use super::super::judge::{Arg, Judge, Shell};
use super::effects::{edits, outside, prints, reaches, with};
use super::runners::raw;
use super::spec::{Does, Parsed, Spec, lists};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    with(
        "pyenv rbenv nodenv goenv jenv plenv",
        &[(Does::Info, "v version")],
        &[
            prints("versions version-name version-file commands root", &[(Does::Flag, "bare skip-aliases")]),
            prints("version which whence prefix help", &[(Does::Flag, "path nosystem all")]),
            // It writes which version the directory has.
            edits("local"),
            raw("exec", |parsed, judge| behind(&parsed.operands, judge)),
        ],
    ),
    with(
        "asdf",
        &[(Does::Info, "v version")],
        &[
            prints("current list which where info version help", &[]),
            raw("exec", |parsed, judge| behind(&parsed.operands, judge)),
            reaches("install uninstall plugin update latest global local set reshim shell"),
        ],
    ),
    with(
        "fnm",
        &[(Does::Info, "V version")],
        &[
            prints("list ls current", &[]),
            raw("exec", |parsed, judge| match words(&parsed.operands).as_slice() {
                ["--using", version, ..] if is_version(version) => behind(after(&parsed.operands, 2), judge),
                [using, ..] if using.strip_prefix("--using=").is_some_and(is_version) => {
                    behind(after(&parsed.operands, 1), judge);
                }
                _ => behind(&parsed.operands, judge),
            }),
        ],
    ),
    with(
        "volta",
        &[(Does::Info, "v version")],
        &[prints("list ls which", &[(Does::Value, "format"), (Does::Flag, "d p c")])],
    ),
    raw("nvm", nvm),
    raw("nix", nix),
];

fn words(operands: &[Arg]) -> Vec<&str> {
    operands.iter().map(|word| word.exact().unwrap_or_default()).collect()
}

fn after(operands: &[Arg], count: usize) -> &[Arg] {
    operands.get(count..).unwrap_or_default()
}

fn is_version(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '/' | '*');
    !text.is_empty() && !text.starts_with('-') && !text.contains("..") && text.chars().all(plain)
}

/// The command behind a runner, perhaps behind `--`.
fn behind(command: &[Arg], judge: &mut Judge<'_>) {
    let command = match command.first().and_then(Arg::exact) {
        Some("--") => after(command, 1),
        _ => command,
    };
    match command.first().and_then(Arg::exact) {
        Some(program) if !program.starts_with('-') => {
            judge.code("runs the version that the project asks for");
            judge.command(command);
        }
        _ => judge.opaque("what the runner runs is not known"),
    }
}

/// `mise exec -- COMMAND`; a tool in front of `--` may be fetched first.
pub(super) fn mise_exec(command: &[Arg], judge: &mut Judge<'_>) {
    match command.first().and_then(Arg::exact) {
        Some("--") => behind(command, judge),
        _ => judge.net(None),
    }
}

/// A function of the shell: without one it is not there, and with one it says which Node is found first.
fn nvm(parsed: &Parsed, judge: &mut Judge<'_>) {
    match words(&parsed.operands).as_slice() {
        ["current" | "ls" | "list" | "--version" | "version"] | ["which" | "ls" | "list" | "version", _] => {
            judge.code("runs `nvm`");
        }
        ["use"] | ["use", "--silent"] => judge.code("runs `nvm use`"),
        ["use", version] | ["use", "--silent", version] if is_version(version) => judge.code("runs `nvm use`"),
        ["exec", version, ..] if is_version(version) => behind(after(&parsed.operands, 2), judge),
        _ => {
            judge.opaque("what `nvm` does cannot be said");
            judge.net(None);
        }
    }
}

/// `nix build --offline`, `nix develop --offline -c COMMAND`: of a flake that lies here, with what the store has.
fn nix(parsed: &Parsed, judge: &mut Judge<'_>) {
    const FLAGS: &str =
        "--offline -L --print-build-logs --no-link --no-update-lock-file --no-write-lock-file --show-trace --quiet -v";
    let mut given = parsed.operands.as_slice();
    let sub = given.first().and_then(Arg::exact).unwrap_or_default();
    if matches!(sub, "--version" | "--help") && given.len() == 1 {
        return;
    }
    let mut offline = false;
    let mut command = None;
    given = after(given, 1);
    while let Some((word, rest)) = given.split_first() {
        given = rest;
        match word.exact().unwrap_or_default() {
            "-c" | "--command" if sub == "develop" || sub == "shell" => {
                command = Some(std::mem::take(&mut given));
            }
            flag if lists(FLAGS, flag) => offline |= flag == "--offline",
            // A flake of this directory or below it.
            place if place == "." || place.starts_with(".#") || place.starts_with("./") => {
                outside(std::slice::from_ref(word), judge);
            }
            "check" if sub == "flake" => {}
            _ => return fetches(parsed, judge),
        }
    }
    if !offline || !matches!(sub, "build" | "develop" | "flake") || (sub == "develop") != command.is_some() {
        if let Some([text]) = command
            && let Some(script) = text.exact()
        {
            judge.script(Shell::Bash, script, &[], text.span.clone());
        }
        return fetches(parsed, judge);
    }
    judge.code(format!("builds what the flake says: `nix {sub}`"));
    judge.write_cwd();
    command.into_iter().for_each(|command| behind(command, judge));
}

fn fetches(parsed: &Parsed, judge: &mut Judge<'_>) {
    let sub = parsed.operands.first().and_then(Arg::exact).unwrap_or_default();
    judge.system(format!("`nix {sub}` changes what is installed"));
    judge.net(None);
}
