//! What tokens cost: prices that a person wrote down, and which of them a model has.
//!
//! None ship: they change without notice, and a wrong cost is worse than none. So a name stands for one model, not for
//! all that begin so (`m-pro` may cost ten times what `m` does); who means those says so with a star.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Prices in US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Prices {
    /// Read anew.
    pub input: f64,
    /// Read from the provider's cache.
    pub cache_read: f64,
    /// Written to the provider's cache.
    pub cache_write: f64,
    /// Written by the model, reasoning included.
    pub output: f64,
}

/// Prices as they are written down: what a cache costs is what the input costs where nothing is said.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

impl From<Written> for Prices {
    fn from(written: Written) -> Prices {
        let Written { input, output, cache_read, cache_write } = written;
        Prices { input, output, cache_read: cache_read.unwrap_or(input), cache_write: cache_write.unwrap_or(input) }
    }
}

/// The prices of a provider's models, by name. A star at the end of a name holds for all that begin so.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceList {
    by_name: BTreeMap<String, Prices>,
}

/// Stands for every model.
pub const ANY: &str = "*";

impl PriceList {
    /// One price for whatever model.
    pub fn of_all(prices: Prices) -> PriceList {
        PriceList::default().with(ANY, prices)
    }

    /// The list with one name more. What was said of that name before counts no more.
    pub fn with(mut self, name: &str, prices: Prices) -> PriceList {
        self.by_name.insert(name.to_owned(), prices);
        self
    }

    /// Lays a nearer list over this one: names that it says nothing of stay.
    pub fn lay(&mut self, nearer: PriceList) {
        self.by_name.extend(nearer.by_name);
    }

    /// What this model costs: by its own name, else by the longest beginning that a star stands behind.
    pub fn of(&self, model: &str) -> Option<Prices> {
        if let Some(own) = self.by_name.get(model) {
            return Some(*own);
        }
        let begins =
            |(name, _): &(&String, &Prices)| name.strip_suffix('*').is_some_and(|head| model.starts_with(head));
        self.by_name.iter().filter(begins).max_by_key(|(name, _)| name.len()).map(|(_, prices)| *prices)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(input: f64) -> Prices {
        Prices { input, cache_read: 0.0, cache_write: 0.0, output: 0.0 }
    }

    #[test]
    fn a_name_is_one_models_and_the_longest_beginning_with_a_star_counts() {
        let list = PriceList::default()
            .with("big", at(1.0))
            .with("big-*", at(2.0))
            .with("big-fast-*", at(3.0))
            .with("odd*", at(4.0))
            .with("odd", at(5.0));
        for (model, price) in [
            ("big", Some(1.0)),
            ("big-2026-01-01", Some(2.0)),
            ("big-fast-2026", Some(3.0)),
            ("bigger", None),
            ("odd", Some(5.0)),
            ("odder", Some(4.0)),
            ("small", None),
            ("", None),
        ] {
            assert_eq!(list.of(model).map(|prices| prices.input), price, "{model}");
        }
        let all = PriceList::of_all(at(9.0)).with("big", at(1.0));
        assert_eq!((all.of("big"), all.of("small")), (Some(at(1.0)), Some(at(9.0))));
    }

    #[test]
    fn a_nearer_list_leaves_the_names_that_it_does_not_say() {
        let mut list = PriceList::default().with("a", at(1.0)).with("b", at(2.0));
        list.lay(PriceList::default().with("b", at(3.0)));
        assert_eq!((list.of("a"), list.of("b")), (Some(at(1.0)), Some(at(3.0))));
    }
}
