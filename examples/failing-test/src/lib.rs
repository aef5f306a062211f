//! Sums of money, in cents. One test fails; an agent is to mend what it tests.

pub mod split;

/// The sum of all items.
pub fn total(items: &[u64]) -> u64 {
    items.iter().sum()
}
