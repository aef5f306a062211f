//! What a workflow states beyond the mode is shown before anything begins, and needs one yes for all of it.
//!
//! The yes is to these lines of this very file: a changed file asks again. It is kept when the person says *always*. An
//! older document states nothing: of what its tasks need, nobody has written down a line, so all of it is shown.

use std::path::Path;

use nika_contract::{ToolError, code, text};
use nika_flow::run::verbs::Document;
use nika_guard::bash::{Site, analyse};
use nika_guard::{Effect, ExecKind, PermitKind, PermitLine, Stance};
use nika_store::{Hash, State, runs};

use crate::ask::{Confirmed, confirmed};
use crate::failure::Failure;
use crate::world::World;

/// What is asked, and whom.
#[derive(Debug)]
pub struct Consent<'a> {
    pub world: &'a World,
    pub runs: &'a State,
    pub root: &'a Path,
    pub stance: Stance,
    /// Whether the command line says yes.
    pub yes: bool,
}

impl Consent<'_> {
    /// The lines that are granted: all that the mode would ask about, or a refusal that lists them.
    pub fn settle(&self, document: &Document) -> Result<Vec<PermitLine>, Failure> {
        let unstated = document.flow.permits.is_none();
        let beyond = match unstated {
            true => document.permits.lines().cloned().collect(),
            false => document.permits.beyond(&self.stance, &|line| self.kind_of(line)),
        };
        // No rule is about these, and they leave the person's environment all the same.
        let given = given(document);
        if (beyond.is_empty() && given.is_empty()) || self.yes {
            return Ok(beyond);
        }
        let key = self.key(document, &beyond);
        if runs::is_allowed(self.runs, &key) {
            return Ok(beyond);
        }
        let wants = match unstated {
            true => format!("{} is an older workflow and states nothing that it may do; its tasks need", document.path),
            false => format!("{} asks for what mode {} does not give by itself", document.path, self.stance),
        };
        let lines = beyond.iter().filter(|line| line.kind != PermitKind::Env).map(shown).chain(given);
        let list: Vec<String> = lines.map(|line| format!("  {line}")).collect();
        let choice = "May it? [y]es, this once; [a]lways, until the file changes; [N]o:";
        match confirmed(self.world, &format!("{wants}:\n{}\n{choice}", list.join("\n")))? {
            Confirmed::Yes => return Ok(beyond),
            Confirmed::Always => {
                runs::allow(self.runs, &key)?;
                return Ok(beyond);
            }
            Confirmed::No => {}
        }
        let message = match unstated {
            true => format!("{wants} this, and nobody said yes:\n{}", list.join("\n")),
            false => format!("{wants}, and nobody said yes:\n{}", list.join("\n")),
        };
        Err(ToolError::new(code::RUN_NOT_ALLOWED, message)
            .hint("`--yes` says yes to all of these; a terminal is asked")
            .into())
    }

    /// What a command line of the rule language amounts to, as far as it says.
    fn kind_of(&self, line: &str) -> ExecKind {
        let words: Vec<&str> =
            line.trim_end_matches(":*").split_whitespace().filter(|word| !word.contains('*')).collect();
        if words.is_empty() {
            return ExecKind::Opaque;
        }
        let home = self.world.home.clone().unwrap_or_else(|| "/nonexistent".into());
        let site = Site::on_paper(vec![self.root.to_owned()], self.root.to_owned(), home);
        let effects = analyse(&words.join(" "), &site).effects(&|target| match target.path.strip_prefix(self.root) {
            Ok(below) => nika_guard::Place::inside(self.root, below),
            Err(_) => nika_guard::Place::outside(&target.path),
        });
        let kind = |effect: &Effect| match effect {
            Effect::Exec(exec) => Some(exec.kind),
            _ => None,
        };
        effects.all.iter().filter_map(kind).max().unwrap_or(ExecKind::Opaque)
    }

    fn key(&self, document: &Document, beyond: &[PermitLine]) -> Hash {
        let lines: Vec<String> = beyond.iter().map(shown).collect();
        let said = format!("{}\0{}\0{}\0{}", self.root.display(), document.path, document.hash, lines.join("\0"));
        Hash::of(said.as_bytes())
    }
}

/// What it takes of the environment: secrets, and variables for its commands.
fn given(document: &Document) -> Vec<String> {
    let secrets = document.flow.secrets.iter().map(|name| format!("secrets: {}", text::harmless(&name.value)));
    let variables = document.permits.variables().map(|name| format!("env: {}", text::harmless(name)));
    secrets.chain(variables).collect()
}

fn shown(line: &PermitLine) -> String {
    format!("{}: {}", line.kind.key(), text::harmless(&line.text))
}
