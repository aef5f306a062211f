//! Variables that programs are given and that may decide something.
//!
//! Which facts say so is kept, so that they can be taken back where the variable turns out to mean nothing to anybody.

use std::collections::HashMap;

use super::super::fact::Fact;
use super::super::names::is_nobodys;
use super::super::script::Assign;
use super::{Report, Walker};

/// Who is given a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whom {
    /// The program that it stands before.
    One,
    /// All that follow: it is exported.
    All,
}

impl Whom {
    fn text(self) -> &'static str {
        match self {
            Whom::One => "the program",
            Whom::All => "the programs that follow",
        }
    }
}

/// The facts that say that a variable is given.
#[derive(Debug, Default)]
pub(super) struct Given(HashMap<Fact, Whom>);

impl Given {
    /// A variable is set.
    pub(super) fn sets(&mut self, name: &str, whom: Whom) -> Fact {
        self.keep(Fact::Code(format!("it sets `{name}` for {}", whom.text())), whom)
    }

    /// One that is exported is set to what is not known.
    pub(super) fn unknown(&mut self, name: &str) -> Fact {
        let whom = Whom::All;
        self.keep(Fact::Opaque(format!("it gives an unknown `{name}` for {}", whom.text())), whom)
    }

    fn keep(&mut self, fact: Fact, whom: Whom) -> Fact {
        self.0.insert(fact.clone(), whom);
        fact
    }

    fn says(&self, fact: &Fact, to: Whom) -> bool {
        self.0.get(fact) == Some(&to)
    }
}

impl Walker<'_> {
    /// What is exported means something to programs; where there are none but the shell's own, to nobody.
    pub(super) fn forgive_exports(&mut self) {
        const OWN: &[&str] = &["echo", "printf", "true", ":", "test", "[", "pwd", "export", "unset", "exit"];
        let own = |report: &Report| match report.argv.first() {
            Some(first) => first.exact().is_some_and(|name| OWN.contains(&name)),
            None => true,
        };
        if self.reports.iter().all(own) {
            let given = &self.names.given;
            self.reports.iter_mut().for_each(|report| report.facts.retain(|fact| !given.says(fact, Whom::All)));
        }
    }

    /// Whether the variables before a command mean nothing to it: they are nobody's, and all that it does, as the reports
    /// from `start` on say, is to read. That they are set is then taken out of those.
    pub(super) fn means_nothing(&mut self, start: usize, assigns: &[Assign]) -> bool {
        let says = |fact: &Fact| self.names.given.says(fact, Whom::One);
        let reads = |fact: &Fact| matches!(fact, Fact::Read(_));
        let only = assigns.iter().all(|assign| is_nobodys(&assign.name))
            && self.since(start).all(|fact| says(fact) || reads(fact));
        if only {
            let given = &self.names.given;
            let behind = self.reports.iter_mut().skip(start);
            behind.for_each(|report| report.facts.retain(|fact| !given.says(fact, Whom::One)));
        }
        only && !assigns.is_empty()
    }
}
