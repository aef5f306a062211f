//! `case`: arms that are entered by their pattern, and by falling out of one before.

use super::super::script::{Arm, Word};
use super::merge::{forget, merge};
use super::{State, Walker};

impl<'a> Walker<'a> {
    pub(super) fn case(&mut self, word: &Word, arms: &[Arm], state: &mut State) {
        self.value(word, state);
        let mut ends = Vec::new();
        // Patterns are tried one after the other, and those of an arm that is not taken are expanded, too.
        let mut tried = state.clone();
        // The ends of arms from which a later one may be reached.
        let mut fallen: Vec<State> = Vec::new();
        let falls = arms.iter().any(|arm| arm.end != ";;");
        for arm in arms {
            if self.is_full() {
                break;
            }
            for pattern in &arm.patterns {
                let before = tried.clone();
                self.value(pattern, &mut tried);
                if tried.vars != before.vars {
                    tried = merge(vec![before, tried.clone()]).unwrap_or(tried);
                }
            }
            let mut own = tried.clone();
            if falls {
                forget(&[&arm.body], &mut own);
                self.reading.functions.forgotten(&mut own);
            }
            if !fallen.is_empty() {
                let entered = std::iter::once(own.clone()).chain(fallen.iter().cloned());
                own = merge(entered.collect()).unwrap_or(own);
            }
            self.script(&arm.body, &mut own);
            if arm.end != ";;" {
                fallen.push(own.clone());
            }
            ends.push(own);
        }
        ends.push(tried);
        *state = merge(ends).unwrap_or_else(|| state.clone());
    }
}
