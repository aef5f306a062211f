//! Variables that are given to programs: their values are judged from every directory the script may stand in.

use super::*;

impl<'a> Walker<'a> {
    /// Where a command would run that stands in `place`.
    pub(super) fn seen_from(&self, place: &Path) -> Cow<'a, Site> {
        if place == self.site.cwd { Cow::Borrowed(self.site) } else { Cow::Owned(self.site.moved(place.to_owned())) }
    }

    /// What the programs that follow make of this value.
    pub(super) fn given(&self, name: &str, value: &str, state: &State) -> Vec<Fact> {
        let places = if state.cwd.is_empty() { vec![PathBuf::from(NOWHERE)] } else { state.cwd.clone() };
        let mut facts = Vec::new();
        for place in &places {
            let site = self.seen_from(place);
            let mut judge = Judge::new(&site, Stdin::None, 0..0);
            commands::given(name, value, &mut judge);
            facts.extend(judge.facts.into_iter().flat_map(|fact| self.placed(fact, place)));
        }
        each_once(&mut facts);
        facts
    }
}
