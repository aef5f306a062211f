//! Variables that are given to programs: their values are judged from every directory the script may stand in.

use std::borrow::Cow;
use std::path::Path;

use super::super::commands;
use super::super::fact::{Fact, each_once};
use super::super::judge::{Arg, Judge, Site, Stdin, normal};
use super::{Report, State, Walker};

impl<'a> Walker<'a> {
    /// Where a command would run that stands in `place`.
    pub(super) fn seen_from(&self, place: &Path) -> Cow<'a, Site> {
        if place == self.site.cwd { Cow::Borrowed(self.site) } else { Cow::Owned(self.site.moved(place.to_owned())) }
    }

    /// What the programs that follow make of this value.
    pub(super) fn given(&self, name: &str, value: &str, state: &State) -> Vec<Fact> {
        let mut facts = Vec::new();
        for place in &*state.places() {
            let site = self.seen_from(place);
            let mut judge = Judge::new(&site, Stdin::None, 0..0);
            commands::given(name, value, &mut judge);
            facts.extend(self.placed(judge.facts, place));
        }
        each_once(&mut facts);
        facts
    }

    /// `DESTDIR=out make install` puts nothing where the machine has its own; where it does is judged by the value. Only for
    /// the command that is given it: what runs behind a shell may have another.
    pub(super) fn installs_where_told(&mut self, own: usize, sets: &[String]) {
        self.programs_of_go(own, sets);
        let builds = |report: &&mut Report| {
            let program = report.argv.first().and_then(Arg::exact);
            program.is_some_and(|program| commands::BUILDERS.split_whitespace().any(|known| known == program))
        };
        let says = |set: &String| commands::says_where(set);
        if let Some(report) = self.reports.get_mut(own).filter(builds).filter(|_| sets.iter().any(says)) {
            let usual = |fact: &Fact| matches!(fact, Fact::Write(target) if target.path == Path::new(commands::USUAL));
            report.facts.retain(|fact| !usual(fact));
        }
    }

    /// `GOBIN=/w/bin go install ./...` puts programs into that directory, and not where those of the person are.
    fn programs_of_go(&mut self, own: usize, sets: &[String]) {
        let told = sets.iter().filter(|set| set.starts_with("GOBIN")).collect::<Vec<_>>();
        let [told] = told.as_slice() else { return };
        let Some(path) = told.strip_prefix("GOBIN=").map(Path::new).filter(|path| path.is_absolute()) else { return };
        let (usual, place) = (self.site.home.join("go/bin"), normal(path));
        let Some(report) = self.reports.get_mut(own) else { return };
        if report.argv.first().and_then(Arg::exact) != Some("go")
            || path.display().to_string().contains(char::is_control)
        {
            return;
        }
        for fact in &mut report.facts {
            match fact {
                Fact::Write(target) if target.tree && target.path == usual => target.path = place.clone(),
                _ => {}
            }
        }
    }
}
