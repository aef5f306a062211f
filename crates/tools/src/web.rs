//! The web: pages, searches, requests.
//!
//! What stands on the web was written by strangers. A page is taken in by [`nika_host::net`], which reaches no address of
//! this machine or of a private network; it is parsed in a child that may die; what a reader would not see is taken out;
//! what is left stands between marks that say whose words they are. Redirects to another host are judged again.

mod cache;
pub(crate) mod clean;
pub(crate) mod envelope;
pub mod fetch;
mod follow;
pub(crate) mod hidden;
pub(crate) mod html;
mod page;
pub mod search;
pub mod trigger;

use std::sync::Arc;

use nika_contract::{AnyTool, Erased, Reader};
use nika_host::net::{Caps, Net};
use nika_host::proc::Isolated;

use search::provider::Provider;

/// What the tools stand on. Cheap to make: nothing is connected to, and no certificate read, before the first call.
#[derive(Debug)]
pub struct Ground {
    /// The way out.
    pub net: Net,
    /// How large and slow an answer may be.
    pub caps: Caps,
    /// How pages are parsed; `None` parses them in this process, for tests.
    pub parsers: Option<Isolated>,
    /// Who reads a page for a `prompt`; without one the page itself is the answer.
    pub reader: Option<Arc<dyn Reader>>,
    /// Where searches go, the first where nothing else is said.
    pub providers: Vec<Provider>,
    /// Pages of the last minutes.
    pub pages: cache::Pages,
}

impl Ground {
    /// Over this way out, with the usual bounds and nothing configured.
    pub fn new(net: Net) -> Ground {
        Ground {
            net,
            caps: Caps::default(),
            parsers: None,
            reader: None,
            providers: Vec::new(),
            pages: cache::Pages::default(),
        }
    }
}

/// The tools of the web.
pub fn all(ground: &Arc<Ground>) -> Vec<Box<dyn AnyTool>> {
    let ground = || Arc::clone(ground);
    vec![
        Erased::boxed(fetch::WebFetch { ground: ground() }),
        Erased::boxed(search::WebSearch { ground: ground() }),
        Erased::boxed(search::list::SearchListProviders { ground: ground() }),
        Erased::boxed(search::activate::SearchActivateProvider { ground: ground() }),
        Erased::boxed(trigger::RemoteTrigger { ground: ground() }),
    ]
}

/// Redirects that are followed for one page.
const REDIRECTS: usize = 5;
