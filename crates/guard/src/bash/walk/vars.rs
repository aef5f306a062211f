//! Variables of the shell, as far as they are known.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Meaning, Value, meaning};

/// Variables; copies share them until one is changed, because every branch has its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Vars {
    pub(super) known: Rc<BTreeMap<String, Value>>,
    /// Others may have been set, too.
    pub(super) lost: bool,
}

impl Vars {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.known.get(name)
    }

    pub(super) fn insert(&mut self, name: String, value: Value) {
        Rc::make_mut(&mut self.known).insert(name, value);
    }

    pub(super) fn clear(&mut self) {
        *self = Vars { known: Rc::default(), lost: true };
    }

    /// Whether nothing has set it: neither the script, nor the environment, where names are written large.
    pub(super) fn is_unset(&self, name: &str) -> bool {
        let own = name.bytes().any(|byte| byte.is_ascii_lowercase()) && meaning(name) == Meaning::Setting;
        own && !self.lost && self.get(name).is_none()
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.known.keys()
    }
}
