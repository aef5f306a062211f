//! The command line as a layer: flags that set the stance, `--set`, and rules.

use nika_guard::{Layer, Mode, Rule, RuleKind, Stance};

use super::change::Change;
use super::keys::{Brought, Origin, Said, changes};
use super::yaml::{self, Key, Kind, Node, Spot};
use super::{CommandLine, ConfigError, tool_names};

/// A stance that the command line asks for, and by which flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub stance: Stance,
    pub at: String,
}

/// The stance that the flags ask for, if any of them is there.
pub(super) fn stance(line: &CommandLine) -> Result<Option<Asked>, ConfigError> {
    let given = [
        (line.mode.is_some(), "--mode"),
        (line.allow_write, "--allow-write"),
        (line.allow_shell, "--allow-shell"),
        (line.yolo, "--yolo"),
        (line.unsafe_, "--unsafe"),
    ];
    let at: Vec<&str> = given.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    let at = at.join(" ");
    let by_flags = by_flags(line);
    let stance = match (line.mode, by_flags) {
        (None, None) => return Ok(None),
        (None, Some(stance)) => stance,
        (Some(mode), None) => Stance::from(mode),
        // `--mode accept-edits --allow-write` says one thing twice.
        (Some(mode), Some(stance)) if stance.mode == mode && !stance.ask_writes => stance,
        (Some(mode), Some(stance)) => {
            let flags = at.trim_start_matches("--mode ");
            return Err(ConfigError::Usage(format!(
                "`--mode {mode}` and `{flags}` ({stance}) contradict each other; give one of them"
            )));
        }
    };
    Ok(Some(Asked { stance, at }))
}

/// The widest of the flags counts: each is a permission, and permissions add up.
fn by_flags(line: &CommandLine) -> Option<Stance> {
    let all = Stance::from(Mode::AcceptAll);
    match (line.unsafe_, line.yolo, line.allow_shell, line.allow_write) {
        (true, ..) => Some(Stance { unsafe_commands: true, ..all }),
        (_, true, ..) => Some(all),
        (_, _, true, true) => Some(Stance::from(Mode::Workspace)),
        (_, _, true, false) => Some(Stance { ask_writes: true, ..Stance::from(Mode::Workspace) }),
        (_, _, false, true) => Some(Stance::from(Mode::AcceptEdits)),
        (_, _, false, false) => None,
    }
}

/// What `--set`, `--allow`, `--ask` and `--deny` say.
pub(super) fn layer(line: &CommandLine, home: Option<&str>) -> Result<Brought, ConfigError> {
    let mut said = Vec::new();
    for text in &line.set {
        said.extend(set(text, home)?);
    }
    let mode_set = said.iter().find(|said| matches!(said.change, Change::Mode(_)));
    if let (Some(mode), Some(asked)) = (mode_set, stance(line)?) {
        return Err(ConfigError::Usage(format!(
            "`{}` and `{}` both set the mode; give one of them",
            mode.at, asked.at
        )));
    }
    let rules = [
        (RuleKind::Allow, "--allow", "permissions.allow", &line.allow),
        (RuleKind::Ask, "--ask", "permissions.ask", &line.ask),
        (RuleKind::Deny, "--deny", "permissions.deny", &line.deny),
    ];
    for (kind, flag, key, texts) in rules {
        for text in texts {
            let wrong = |what: String| ConfigError::Rule { at: flag.to_owned(), what };
            let rule = Rule::parse(text, home).map_err(|error| wrong(error.to_string()))?;
            if let Some(what) = tool_names::flaw_of_rule(&rule) {
                return Err(wrong(what));
            }
            said.push(Said {
                key: key.to_owned(),
                change: Change::Rule(kind, rule),
                at: flag.to_owned(),
                column: None,
            });
        }
    }
    Ok(Brought { layer: Layer::CommandLine, said })
}

/// `files.fsync=off`: the value, wrapped in the mappings that its dotted key stands for, is read as a file.
fn set(text: &str, home: Option<&str>) -> Result<Vec<Said>, ConfigError> {
    let usage = |why: &str| ConfigError::Usage(format!("`--set {text}`: {why}"));
    let (key, value) =
        text.split_once('=').ok_or_else(|| usage("write it as KEY=VALUE, for example files.fsync=off"))?;
    let key = key.trim();
    let value = yaml::parse(value).map_err(|broken| usage(&format!("the value is not YAML: {}", broken.what)))?;
    if matches!(value.kind, Kind::Nothing) {
        return Err(usage("the value is missing"));
    }
    let root = key.rsplit('.').fold(value, |node, name| {
        let key = Key { name: name.to_owned(), spot: Spot::START };
        Node { kind: Kind::Map(vec![(key, node)]), spot: Spot::START }
    });
    let name = format!("--set {key}");
    changes(&root, &Origin { name: &name, lines: false }, home)
}
