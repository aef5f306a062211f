//! The end of a session of the transport: a client that ends it (`DELETE`) ends with it what was minted there.
//!
//! Only of revisions with sessions. One that is merely let go of, or falls silent, may come back with its handle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::engine::Engine;
use crate::port::Session;

const HEADER: &str = "mcp-session-id";

/// In which sessions of the transport the handles were minted, as long as those live.
pub(crate) struct Minted {
    engine: Arc<Engine>,
    caller: Arc<str>,
    by_handle: Mutex<HashMap<String, String>>,
}

impl Minted {
    pub(crate) fn new(engine: Arc<Engine>, caller: Arc<str>) -> Minted {
        Minted { engine, caller, by_handle: Mutex::default() }
    }

    /// Notes a handle that the answer to this request brings.
    pub(crate) fn note(&self, context: &RequestContext<RoleServer>, handle: &str) {
        if let Some(session) = context.extensions.get::<Parts>().and_then(|parts| id(&parts.headers)) {
            self.by_handle().insert(handle.to_owned(), session);
        }
    }

    /// The session of the transport is gone in which a handle was minted.
    pub(crate) fn forget(&self, handle: &str) {
        self.by_handle().remove(handle);
    }

    fn minted_in(&self, session: &str) -> Vec<String> {
        self.by_handle().iter().filter(|(_, other)| *other == session).map(|(handle, _)| handle.clone()).collect()
    }

    fn by_handle(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.by_handle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn id(headers: &HeaderMap) -> Option<String> {
    headers.get(HEADER)?.to_str().ok().map(str::to_owned)
}

/// Hands a request on; once a session of the transport has ended by it, ends what was minted there.
pub(crate) async fn attend(State(minted): State<Arc<Minted>>, request: Request, next: Next) -> Response {
    let is_ending = request.method() == Method::DELETE;
    let ending = is_ending.then(|| id(request.headers())).flatten();
    let handles = ending.map(|session| minted.minted_in(&session)).unwrap_or_default();
    let mut response = next.run(request).await;
    let has_ended = response.status().is_success();
    if has_ended && is_ending {
        // It is done by now, and clients take "accepted" for less.
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    for handle in handles.into_iter().filter(|_| has_ended) {
        let session = Session::Handle { caller: Arc::clone(&minted.caller), handle: Some(handle) };
        minted.engine.end(&session).await;
    }
    response
}
