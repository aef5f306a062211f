//! One thing that a layer says: what it changes, and whether it would loosen what holds already.

use std::fmt;

use nika_contract::MAX_OUTPUT_CHARS;
use nika_contract::text::preview;
use nika_guard::manifest::{Message, looks_like_credential};
use nika_guard::{Budget, Decision, Layer, Mode, Rule, RuleKind, Stance, TABLE};
use nika_host::fs::Fsync;

use super::Effective;
use super::hooks::Written;
use super::mcp::Named;
use super::models::Choice;
use super::{tool_names, web};

/// One value or rule.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Mode(Mode),
    Trusted(bool),
    Rule(RuleKind, Rule),
    Fsync(Fsync),
    JournalEachCall(bool),
    /// A tool's name, or `*`.
    MaxChars(String, usize),
    List(String),
    DeferAbove(usize),
    Dialect(String),
    UndoMaxBytes(u64),
    UndoMaxDays(u32),
    ShellUndo(bool),
    ShellPreview(bool),
    LandlockOnly(bool),
    Hook(Written),
    /// A manifest is there.
    Manifest(String),
    Message(Message),
    Budget(Budget, u64),
    SafeEnv(String),
    Agent(Choice),
    Web(web::Choice),
    /// An MCP server.
    Server(Box<Named>),
    /// A manifest's setting that is none of ours, as it is written.
    Foreign(String),
}

impl Change {
    /// Whether it stands beside others of its key instead of in their place.
    pub fn adds(&self) -> bool {
        if let Change::Web(choice) = self {
            return choice.adds();
        }
        matches!(
            self,
            Change::Rule(..) | Change::Hook(_) | Change::Manifest(_) | Change::Message(_) | Change::SafeEnv(_)
        )
    }

    /// Puts it in force. What adds up, trust and budgets are gathered by the caller.
    pub fn apply(&self, to: &mut Effective) {
        match self {
            Change::Mode(mode) => to.stance = Stance::from(*mode),
            Change::Trusted(_) | Change::Rule(..) | Change::Hook(_) | Change::Manifest(_) | Change::Message(_) => {}
            Change::Budget(..) | Change::Server(_) | Change::Foreign(_) => {}
            Change::SafeEnv(name) => {
                if !to.safe_env.contains(name) {
                    to.safe_env.push(name.clone());
                }
            }
            Change::Fsync(fsync) => to.fsync = *fsync,
            Change::JournalEachCall(on) => to.journal_each_call = *on,
            Change::MaxChars(tool, chars) => {
                to.max_output_chars.retain(|(name, _)| name != tool);
                to.max_output_chars.push((tool.clone(), *chars));
            }
            Change::List(list) => to.list = Some(list.clone()),
            Change::DeferAbove(count) => to.defer_above = *count,
            Change::Dialect(name) => to.dialect = Some(name.clone()),
            Change::UndoMaxBytes(bytes) => to.undo_max_bytes = *bytes,
            Change::UndoMaxDays(days) => to.undo_max_days = *days,
            Change::ShellUndo(on) => to.shell_undo = *on,
            Change::ShellPreview(on) => to.shell_preview = *on,
            Change::LandlockOnly(on) => to.landlock_only = *on,
            Change::Agent(choice) => choice.apply(&mut to.models),
            Change::Web(choice) => choice.apply(&mut to.web),
        }
    }

    /// Why this holds for nothing. A manifest's names are those of many programs, so one of them is no error.
    pub fn remark(&self) -> Option<String> {
        match self {
            Change::Rule(_, rule) => rule.unknown_tool().and_then(tool_names::flaw),
            _ => None,
        }
    }

    /// Why `layer` may never say this, whoever trusts it, while `now` holds.
    pub fn never(&self, layer: Layer, now: &Effective) -> Option<String> {
        match self {
            Change::Trusted(true) => Some("only `nika trust` trusts a repository".to_owned()),
            Change::Web(choice) => choice.never(layer),
            Change::Foreign(_) => Some("no key of Nika's; kept for the program that knows it".to_owned()),
            Change::SafeEnv(name) if layer.is_repository() && looks_like_credential(name) => Some(
                "it is named like a credential; only a person's own or the managed manifest may show it".to_owned(),
            ),
            Change::Budget(budget, amount) if layer != Layer::Managed => now
                .budgets
                .ceiling(*budget, *amount)
                .map(|limit| format!("the administrator allows {} ({})", budget.shown(limit.amount), limit.at)),
            _ => None,
        }
    }

    /// Why a repository that nobody trusts may not say this, while `now` holds.
    pub fn loosens(&self, now: &Effective) -> Option<String> {
        match self {
            Change::Mode(mode) => (!at_least_as_strict(&Stance::from(*mode), &now.stance))
                .then(|| format!("it would loosen the mode `{}`", now.stance)),
            Change::Rule(RuleKind::Allow, _) => Some("an allow rule loosens".into()),
            Change::Fsync(fsync) => {
                (reach(*fsync) < reach(now.fsync)).then(|| format!("it would weaken `{}`", Change::Fsync(now.fsync)))
            }
            Change::JournalEachCall(on) => {
                (!on && now.journal_each_call).then(|| "it would weaken `each-call`".to_owned())
            }
            // Less would throw away what the person can take back; more fills the person's disk.
            Change::UndoMaxBytes(bytes) if *bytes != now.undo_max_bytes => Some("it bounds the person's undo".into()),
            Change::UndoMaxDays(days) if *days != now.undo_max_days => Some("it bounds the person's undo".into()),
            Change::ShellUndo(on) => (!on && now.shell_undo).then(|| "commands could not be taken back".into()),
            Change::ShellPreview(on) if *on != now.shell_preview => {
                Some("it is the person's choice what is tried before they are asked".into())
            }
            Change::ShellPreview(_) => None,
            Change::LandlockOnly(on) => (*on && !now.landlock_only).then(|| "less would hold commands".into()),
            Change::UndoMaxBytes(_) | Change::UndoMaxDays(_) => None,
            Change::Rule(RuleKind::Ask | RuleKind::Deny, _) | Change::Trusted(_) => None,
            Change::MaxChars(tool, chars) => {
                let now = bound(now, tool);
                (*chars > now).then(|| format!("it would raise the bound of {now} characters"))
            }
            Change::List(_) | Change::DeferAbove(_) | Change::Dialect(_) => None,
            Change::Hook(_) => Some("it runs a command".into()),
            Change::Server(_) => Some("it starts a program or reaches an address".into()),
            Change::Message(_) => Some("it puts text before the model".into()),
            Change::SafeEnv(_) => Some("it shows commands a variable of the environment".into()),
            Change::Budget(budget, amount) => now
                .budgets
                .get(*budget)
                .filter(|limit| *amount > limit.amount)
                .map(|limit| format!("it would loosen the budget of {} ({})", budget.shown(limit.amount), limit.at)),
            Change::Agent(choice) => choice.loosens(&now.models),
            Change::Web(choice) => choice.loosens(),
            Change::Manifest(_) | Change::Foreign(_) => None,
        }
    }
}

/// Characters that an answer of a tool may have: what was said of it, or of all, else the usual bound. A tool may have a
/// larger one of its own; that a number is below that is not known here, and what is not known is refused.
fn bound(now: &Effective, tool: &str) -> usize {
    let of = |wanted: &str| now.max_output_chars.iter().find(|(name, _)| name == wanted).map(|(_, chars)| *chars);
    of(tool).or_else(|| of("*")).unwrap_or(MAX_OUTPUT_CHARS)
}

/// Whether `stance` answers every act at least as strictly as `than`: the table cell by cell, as nothing
/// orders modes.
pub(super) fn at_least_as_strict(stance: &Stance, than: &Stance) -> bool {
    TABLE.iter().all(|(act, ..)| Decision::from(act.under(stance)) >= Decision::from(act.under(than)))
}

/// How far a write goes, as a number to compare.
fn reach(fsync: Fsync) -> u8 {
    match fsync {
        Fsync::Off => 0,
        Fsync::Data => 1,
        Fsync::Full => 2,
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Mode(mode) => mode.fmt(f),
            Change::Trusted(value) => value.fmt(f),
            Change::Rule(_, rule) => rule.fmt(f),
            Change::Fsync(fsync) => f.write_str(["off", "data", "full"][usize::from(reach(*fsync))]),
            Change::JournalEachCall(on) => f.write_str(if *on { "each-call" } else { "off" }),
            Change::MaxChars(_, count) | Change::DeferAbove(count) => count.fmt(f),
            Change::List(name) | Change::Dialect(name) => name.fmt(f),
            Change::UndoMaxBytes(bytes) => f.write_str(&size(*bytes)),
            Change::UndoMaxDays(days) => days.fmt(f),
            Change::ShellUndo(on) | Change::ShellPreview(on) | Change::LandlockOnly(on) => {
                f.write_str(if *on { "on" } else { "off" })
            }
            Change::Hook(hook) => hook.fmt(f),
            Change::Agent(choice) => choice.fmt(f),
            Change::Web(choice) => choice.fmt(f),
            Change::Server(named) => named.fmt(f),
            Change::Manifest(text) | Change::SafeEnv(text) | Change::Foreign(text) => f.write_str(text),
            Change::Message(message) => {
                let text = preview(&message.text, SHOWN_CHARS);
                match &message.tool {
                    Some(tool) => write!(f, "{tool}: {text}"),
                    None => f.write_str(&text),
                }
            }
            Change::Budget(budget, amount) => f.write_str(&budget.shown(*amount)),
        }
    }
}

/// Characters of a text in a table.
const SHOWN_CHARS: usize = 60;

/// Units of a size, largest first, binary before decimal so that `1GiB` is written as it was.
pub(super) const UNITS: &[(&str, u64)] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

/// Bytes in the largest unit that says them exactly.
fn size(bytes: u64) -> String {
    let (name, unit) =
        UNITS.iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit)).unwrap_or(&("B", 1));
    format!("{}{name}", bytes / unit)
}
