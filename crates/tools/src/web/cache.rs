//! Pages of the last fifteen minutes, so that asking one of them twice is one request. In memory, for as long as the
//! program runs; a page that its server wants kept by nobody is not kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use nika_guard::Effect;

use super::page::Page;

/// How long a page is as good as new: what agents read twice they read within one task.
const FRESH_MS: u64 = 15 * 60 * 1000;
/// Bytes of text kept in all.
const MOST_BYTES: usize = 16 << 20;

/// A page with the way to it.
#[derive(Debug)]
pub(super) struct Kept {
    pub page: Page,
    /// What had to be allowed on the way, the asked host first.
    pub hops: Vec<Hop>,
    /// Where it was in the end.
    pub last: String,
    pub status: u16,
    pub bytes: usize,
    at_ms: u64,
}

/// A step of the way to a page.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    /// What it needs.
    pub effect: Effect,
    /// What allowed it, in words.
    pub allowed_by: String,
}

impl Kept {
    pub fn new(page: Page, hops: Vec<Hop>, last: String, status: u16, bytes: usize, at_ms: u64) -> Kept {
        Kept { page, hops, last, status, bytes, at_ms }
    }

    /// How old it is.
    pub fn age_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.at_ms)
    }
}

/// The pages, by the address that was asked for.
#[derive(Debug, Default)]
pub struct Pages(Mutex<HashMap<String, Arc<Kept>>>);

impl Pages {
    /// The page of an address, if it is fresh.
    pub(super) fn get(&self, address: &str, now_ms: u64) -> Option<Arc<Kept>> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.get(address).filter(|kept| kept.age_ms(now_ms) < FRESH_MS).map(Arc::clone)
    }

    /// Keeps a page; what is stale, and the oldest beyond the bound, goes.
    pub(super) fn keep(&self, address: &str, kept: Arc<Kept>, now_ms: u64) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|_, kept| kept.age_ms(now_ms) < FRESH_MS);
        pages.insert(address.to_owned(), kept);
        let size = |pages: &HashMap<String, Arc<Kept>>| pages.values().map(|kept| kept.page.text.len()).sum::<usize>();
        while size(&pages) > MOST_BYTES {
            let oldest = pages.iter().min_by_key(|(_, kept)| kept.at_ms).map(|(address, _)| address.clone());
            let Some(oldest) = oldest else { break };
            pages.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::page::Page;

    fn kept(bytes: usize, at_ms: u64) -> Arc<Kept> {
        let page = Page { text: "x".repeat(bytes), ..Page::default() };
        Arc::new(Kept::new(page, Vec::new(), String::new(), 200, bytes, at_ms))
    }

    #[test]
    fn pages_are_kept_for_a_while_and_within_a_bound() {
        let pages = Pages::default();
        pages.keep("a", kept(10, 1_000), 1_000);
        assert_eq!(pages.get("a", 2_000).expect("fresh").age_ms(2_000), 1_000);
        assert!(pages.get("a", 1_000 + FRESH_MS).is_none() && pages.get("b", 1_000).is_none());
        for n in 0..5u64 {
            pages.keep(&format!("large {n}"), kept(MOST_BYTES / 4, 3_000 + n), 3_010);
        }
        assert!(pages.get("large 4", 3_010).is_some() && pages.get("large 0", 3_010).is_none());
    }
}
