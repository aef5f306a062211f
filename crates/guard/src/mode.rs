//! The mode table: what each act needs, against how the session stands.
//!
//! Two vocabularies, two types. An [`Act`] is what a call would do; a [`Mode`] is a named column of
//! [`TABLE`]. No comparison of modes stands in for a decision; only where two stances are joined does the order of columns
//! count, and a test holds the table to it.

use std::fmt;
use std::str::FromStr;

/// How the session stands: a named column of [`TABLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Nothing but the session itself.
    Deny,
    /// Looking only, and never a question about writing.
    ReadOnly,
    /// The default: reads are free, everything else is a question.
    Ask,
    /// Edits inside the workspace are free.
    AcceptEdits,
    /// Edits and sandboxed commands inside the workspace are free.
    Workspace,
    /// Everything but the floors.
    AcceptAll,
}

impl Mode {
    /// Every mode, in the order of the table's columns.
    pub const ALL: [Mode; 6] =
        [Mode::Deny, Mode::ReadOnly, Mode::Ask, Mode::AcceptEdits, Mode::Workspace, Mode::AcceptAll];

    /// The canonical name.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Deny => "deny",
            Mode::ReadOnly => "read-only",
            Mode::Ask => "ask",
            Mode::AcceptEdits => "accept-edits",
            Mode::Workspace => "workspace",
            Mode::AcceptAll => "accept-all",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Names of other systems for the same columns. Compared without case, `_` and `-`.
const ALIASES: &[(&str, Mode)] = &[
    ("plan", Mode::Ask),
    ("prompt", Mode::Ask),
    ("default", Mode::Ask),
    ("acceptedits", Mode::AcceptEdits),
    ("autoedit", Mode::AcceptEdits),
    ("workspacewrite", Mode::Workspace),
    ("allow", Mode::AcceptAll),
    ("yolo", Mode::AcceptAll),
    ("bypasspermissions", Mode::AcceptAll),
    ("dangerfullaccess", Mode::AcceptAll),
];

/// A mode name that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode '{0}'; use deny, read-only, ask, accept-edits, workspace or accept-all")]
pub struct UnknownMode(pub String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Mode, UnknownMode> {
        let plain: String =
            name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect();
        Mode::ALL
            .into_iter()
            .find(|mode| mode.name().replace('-', "") == plain)
            .or_else(|| ALIASES.iter().find(|(alias, _)| *alias == plain).map(|(_, mode)| *mode))
            .ok_or_else(|| UnknownMode(name.to_owned()))
    }
}

/// How a session stands in full: a mode, and the few switches that are not a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stance {
    /// The column.
    pub mode: Mode,
    /// `--unsafe`: destructive and privileged commands need no question. Lowers nothing else.
    pub unsafe_commands: bool,
    /// `--allow-shell` alone: as `workspace`, but writes inside are still asked.
    pub ask_writes: bool,
}

impl Stance {
    /// The stricter of both, act by act: how an agent stands that must not be wider than the one it works for.
    pub fn joined(self, other: Stance) -> Stance {
        // A column of the table is nowhere laxer than the ones after it; a test holds it to that.
        let mode = Mode::ALL.into_iter().find(|mode| *mode == self.mode || *mode == other.mode);
        Stance {
            mode: mode.expect("ALL holds every mode"),
            unsafe_commands: self.unsafe_commands && other.unsafe_commands,
            ask_writes: self.ask_writes || other.ask_writes,
        }
    }
}

impl From<Mode> for Stance {
    fn from(mode: Mode) -> Stance {
        Stance { mode, unsafe_commands: false, ask_writes: false }
    }
}

impl fmt::Display for Stance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.mode)?;
        if self.unsafe_commands {
            f.write_str(" +unsafe")?;
        }
        if self.ask_writes {
            f.write_str(" +ask-writes")?;
        }
        Ok(())
    }
}

impl FromStr for Stance {
    type Err = UnknownMode;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Stance, UnknownMode> {
        let mut words = text.split(' ');
        let mut stance = Stance::from(words.next().unwrap_or_default().parse::<Mode>()?);
        for word in words {
            match word {
                "+unsafe" => stance.unsafe_commands = true,
                "+ask-writes" => stance.ask_writes = true,
                _ => return Err(UnknownMode(text.to_owned())),
            }
        }
        Ok(stance)
    }
}

/// What an effect amounts to: a row of [`TABLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// Read inside the workspace.
    ReadInside,
    /// Read keys, `.env` files, credential stores.
    ReadSecret,
    /// Write inside the workspace.
    WriteInside,
    /// Read or write outside every root.
    ReachOutside,
    /// Write what becomes code or policy later.
    WriteGuarded,
    /// Run what is proved read-only.
    ExecReadOnly,
    /// Run what writes only inside, sandboxed.
    ExecInside,
    /// Run what the analysis cannot judge.
    ExecOpaque,
    /// Run what shells read differently.
    ExecMisparse,
    /// Run what destroys or asks for privilege.
    ExecDestructive,
    /// Run without the sandbox.
    ExecUnconfined,
    /// Run what nobody should.
    ExecForbidden,
    /// Reach a host not yet allowed.
    Net,
    /// Start an agent, worker or schedule.
    Spawn,
    /// Stop or delete durable work.
    Control,
    /// Note in Nika's own lists.
    Note,
    /// Put a question to a person.
    AskPerson,
    /// Change only the session.
    Session,
    /// Whatever a foreign server does.
    Foreign,
}

/// One field of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// `✓` goes ahead.
    Allow,
    /// `?` a question that an allow rule or a person's *always* may answer.
    Ask,
    /// `?!` always a person, each time; no rule lowers it.
    Floor,
    /// `✗` refused.
    Deny,
}

impl Cell {
    /// The mark used in documents.
    pub fn mark(self) -> &'static str {
        match self {
            Cell::Allow => "✓",
            Cell::Ask => "?",
            Cell::Floor => "?!",
            Cell::Deny => "✗",
        }
    }
}

use Cell::{Allow as A, Ask as Q, Deny as D, Floor as F};

/// The whole permission model. Columns follow [`Mode::ALL`].
pub const TABLE: &[(Act, &str, [Cell; 6])] = &[
    (Act::ReadInside, "read inside the workspace", [D, A, A, A, A, A]),
    (Act::ReadSecret, "read a secret (keys, `.env`, credential stores)", [D, D, F, F, F, F]),
    (Act::WriteInside, "write inside", [D, D, Q, A, A, A]),
    (Act::ReachOutside, "read or write outside", [D, D, Q, Q, Q, A]),
    (Act::WriteGuarded, "write a guarded path", [D, D, F, F, F, F]),
    (Act::ExecReadOnly, "exec, proved read-only", [D, A, A, A, A, A]),
    (Act::ExecInside, "exec, writes only inside, sandboxed", [D, D, Q, Q, A, A]),
    (Act::ExecOpaque, "exec, opaque or anything else", [D, D, Q, Q, Q, A]),
    (Act::ExecMisparse, "exec, shells would disagree (misparse)", [D, D, F, F, F, F]),
    (Act::ExecDestructive, "exec, destructive or privileged", [D, D, F, F, F, F]),
    (Act::ExecUnconfined, "exec, without the sandbox", [D, D, F, F, F, F]),
    (
        Act::ExecForbidden,
        "exec, forbidden in every mode (control characters, remote code into a shell, key theft)",
        [D, D, D, D, D, D],
    ),
    (Act::Net, "net, a host not yet allowed", [D, Q, Q, Q, Q, A]),
    (Act::Spawn, "spawn agent, worker, schedule", [D, D, Q, Q, A, A]),
    (Act::Control, "control of durable work", [D, D, Q, Q, A, A]),
    (Act::Note, "note in own lists", [D, A, A, A, A, A]),
    (Act::AskPerson, "put a question to a person", [D, A, A, A, A, A]),
    (Act::Session, "change only the session", [A, A, A, A, A, A]),
    (Act::Foreign, "a foreign MCP server's tool", [D, D, Q, Q, Q, A]),
];

impl Act {
    fn row(self) -> &'static (Act, &'static str, [Cell; 6]) {
        TABLE.iter().find(|(act, ..)| *act == self).expect("every act has a row; a test counts them")
    }

    /// The words a person reads for this act.
    pub fn title(self) -> &'static str {
        self.row().1
    }

    /// What `stance` says to this act.
    pub fn under(self, stance: &Stance) -> Cell {
        let column = Mode::ALL.iter().position(|mode| *mode == stance.mode).expect("ALL holds every mode");
        match self {
            Act::ExecDestructive if stance.unsafe_commands && stance.mode == Mode::AcceptAll => Cell::Allow,
            Act::WriteInside if stance.ask_writes && self.row().2[column] == Cell::Allow => Cell::Ask,
            _ => self.row().2[column],
        }
    }

    /// The narrowest mode that lets this act through without a question, if one does.
    pub fn allowed_by(self) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| self.under(&Stance::from(*mode)) == Cell::Allow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_and_there_is_one_of_each() {
        for (act, ..) in TABLE {
            assert_eq!(TABLE.iter().filter(|(other, ..)| other == act).count(), 1, "{act:?}");
        }
    }

    #[test]
    fn names_of_the_seeds_are_presets() {
        for (name, mode) in [
            ("Deny", Mode::Deny),
            ("ReadOnly", Mode::ReadOnly),
            ("read_only", Mode::ReadOnly),
            ("Plan", Mode::Ask),
            ("Prompt", Mode::Ask),
            ("AcceptEdits", Mode::AcceptEdits),
            ("WorkspaceWrite", Mode::Workspace),
            ("AcceptAll", Mode::AcceptAll),
            ("Allow", Mode::AcceptAll),
            ("DangerFullAccess", Mode::AcceptAll),
        ] {
            assert_eq!(name.parse(), Ok(mode), "{name}");
        }
        assert!("everything".parse::<Mode>().is_err());
    }

    #[test]
    fn a_stance_is_read_back_as_it_is_written() {
        for mode in Mode::ALL {
            for (unsafe_commands, ask_writes) in [(false, false), (true, false), (false, true), (true, true)] {
                let stance = Stance { mode, unsafe_commands, ask_writes };
                assert_eq!(stance.to_string().parse(), Ok(stance));
            }
        }
        assert!("workspace +more".parse::<Stance>().is_err() && "".parse::<Stance>().is_err());
    }

    #[test]
    fn joined_is_nowhere_laxer_than_either_and_no_stricter_than_both() {
        let strictness = |cell: Cell| [Allow, Ask, Floor, Deny].iter().position(|other| *other == cell);
        use Cell::{Allow, Ask, Deny, Floor};
        let switches = [(false, false), (false, true), (true, false), (true, true)];
        let all: Vec<Stance> = Mode::ALL
            .into_iter()
            .flat_map(|mode| switches.map(|(unsafe_commands, ask_writes)| Stance { mode, unsafe_commands, ask_writes }))
            .collect();
        for one in &all {
            for two in &all {
                let both = one.joined(*two);
                assert_eq!(both, two.joined(*one));
                for (act, ..) in TABLE {
                    let stricter = strictness(act.under(one)).max(strictness(act.under(two)));
                    assert_eq!(strictness(act.under(&both)), stricter, "{act:?} under {one} and {two}");
                }
            }
        }
    }

    #[test]
    fn unsafe_lowers_one_floor_and_nothing_else() {
        let plain = Stance::from(Mode::AcceptAll);
        let daring = Stance { unsafe_commands: true, ..plain };
        for (act, ..) in TABLE {
            match act {
                Act::ExecDestructive => assert_eq!(act.under(&daring), Cell::Allow),
                _ => assert_eq!(act.under(&daring), act.under(&plain), "{act:?}"),
            }
        }
        for mode in Mode::ALL.into_iter().filter(|mode| *mode != Mode::AcceptAll) {
            let stance = Stance { unsafe_commands: true, ..Stance::from(mode) };
            assert_ne!(Act::ExecDestructive.under(&stance), Cell::Allow, "{mode}");
        }
    }

    #[test]
    fn shell_without_write_still_asks_before_writing() {
        let stance = Stance { ask_writes: true, ..Stance::from(Mode::Workspace) };
        assert_eq!(Act::WriteInside.under(&stance), Cell::Ask);
        assert_eq!(Act::ExecInside.under(&stance), Cell::Allow);
        let stance = Stance { ask_writes: true, ..Stance::from(Mode::ReadOnly) };
        assert_eq!(Act::WriteInside.under(&stance), Cell::Deny);
    }
}
