//! Lists of directories in which a program looks for what it runs: `PATH=$PATH:node_modules/.bin`, `PYTHONPATH=src:$PYTHONPATH`.
//!
//! Where each of them lies in the workspace, or is one of those that the list had, what is found there is code of the
//! workspace: no more than what a build or a test runs, and never proved to only read. The commands that follow are judged
//! by their names as before, so what a rule says of a name, and what is known to destroy or to reach the network, holds.

use super::super::commands;
use super::super::fact::Fact;
use super::super::judge::{Arg, Why, Word as Became, normal};
use super::super::names::{Meaning, meaning};
use super::super::print::text_of;
use super::super::script::{Kind, Op, Part, Script, Word};
use super::super::words::Value;
use super::found::is_found;
use super::{State, Walker};

/// The lists, whether they may have places of the system and of the home in them, and whether the places that were there
/// before have to be among them: who leaves those out puts other programs in the place of all.
const LISTS: &[(&str, bool, bool)] = &[
    ("PATH", true, true),
    ("PYTHONPATH", false, false),
    ("LD_LIBRARY_PATH", false, false),
    ("DYLD_LIBRARY_PATH", false, false),
    ("NODE_PATH", false, false),
    ("PERL5LIB", false, false),
    ("RUBYLIB", false, false),
    ("CLASSPATH", false, false),
];

/// Directories that only an administrator changes.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64"];

/// Stands for the places that were in the list before.
const BEFORE: char = '\u{1}';

impl Walker<'_> {
    /// Whether `word` gives such a list places of that kind alone; with `more`, it is put behind those that were there.
    pub(super) fn finds_ours(&self, name: &str, word: &Word, more: bool, state: &State) -> bool {
        let Some((_, others, kept)) = LISTS.iter().find(|(known, ..)| *known == name) else { return false };
        let mut list = if more { BEFORE.to_string() } else { String::new() };
        let known = self.spell(name, &word.parts, state, &mut list).is_some();
        known
            && !state.cwd.is_empty()
            && (!kept || list.contains(BEFORE))
            && list.split(':').all(|place| self.is_ours_to_search(place, *others, state))
    }

    /// What is said of such a list. Where it holds for all that follows, those commands are given it as by a word in front
    /// of them: who allows them by a rule has to name it.
    pub(super) fn searches(&mut self, name: &str, lasting: bool) -> Fact {
        let set = format!("{name}=…");
        if lasting && meaning(name) == Meaning::Rewires && !self.names.searched.iter().any(|(_, known)| *known == set) {
            self.names.searched.push((self.reports.len(), set));
        }
        Fact::Code(format!("what runs is looked for in other places, by `{name}`"))
    }

    /// Whether a script that is read into this shell only puts directories of its own into `PATH`; then that is noted.
    pub(super) fn finds_programs(&mut self, file: &str) -> bool {
        let known = commands::says_where_programs_are(file, &self.site.home);
        if known {
            self.searches("PATH", true);
        }
        known
    }

    /// Says of the commands behind such a list that they are given it.
    pub(super) fn gives_searched(&mut self) {
        for (at, set) in std::mem::take(&mut self.names.searched) {
            let behind = self.reports.iter_mut().skip(at + 1);
            behind.filter(|report| !report.sets.contains(&set)).for_each(|report| report.sets.push(set.clone()));
        }
    }

    /// The text of a list, with [`BEFORE`] in the place of its own value. `None` where it is not written out.
    fn spell(&self, name: &str, parts: &[Part], state: &State, list: &mut String) -> Option<()> {
        for part in parts {
            match part {
                Part::Quoted(text) => list.push_str(text),
                Part::Plain(text) => {
                    for piece in text.split_inclusive(':') {
                        let begins = list.is_empty() || list.ends_with(':');
                        match piece.strip_prefix('~').filter(|rest| begins && rest.starts_with('/')) {
                            Some(rest) => list.extend([&*self.site.home.to_string_lossy(), rest]),
                            None => list.push_str(piece),
                        }
                    }
                }
                Part::Param { param, .. } if param.index.is_some() => return None,
                Part::Param { param, .. } if param.name == name => match &param.op {
                    Op::Plain => list.push(BEFORE),
                    Op::Default { kind: '-', word } if word.is_empty() => list.push(BEFORE),
                    // `${PYTHONPATH:+:$PYTHONPATH}`: this, or nothing.
                    Op::Default { kind: '+', word } => self.spell(name, word, state, list)?,
                    _ => return None,
                },
                Part::Param { param, .. } if param.op == Op::Plain => match self.variable(&param.name, state) {
                    Value::Exact(text) => list.push_str(&text),
                    _ => return None,
                },
                Part::Command { script, .. } if is_pwd(script) && !self.reading.functions.has("pwd") => {
                    let [cwd] = state.cwd.as_slice() else { return None };
                    list.push_str(cwd.to_str().filter(|_| !is_found(cwd))?);
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn is_ours_to_search(&self, place: &str, others: bool, state: &State) -> bool {
        if place.contains(BEFORE) {
            return place.chars().count() == 1;
        }
        state.cwd.iter().all(|cwd| {
            let at = normal(&cwd.join(place));
            let known = || at.starts_with(&self.site.home) || SYSTEM.iter().any(|dir| at.starts_with(dir));
            !is_found(cwd) && (self.inside(&at) || others && known())
        })
    }
}

/// Whether a script is `pwd` and nothing else.
fn is_pwd(script: &Script) -> bool {
    let [item] = script.items.as_slice() else { return false };
    let [stage] = item.first.stages.as_slice() else { return false };
    let Kind::Simple { assigns, words } = &stage.kind else { return false };
    let [word] = words.as_slice() else { return false };
    item.rest.is_empty()
        && !item.background
        && assigns.is_empty()
        && stage.redirects.is_empty()
        && text_of(word).as_deref() == Some("pwd")
}

/// Whether a word of a declaration is such a list.
pub(super) fn is_ours(arg: &Arg) -> bool {
    matches!(&arg.word, Became::Opaque { why: Why::Places, splits: false, .. })
}
