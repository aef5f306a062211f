//! One request at a time under an id. The SDK finds the stream that an answer goes out on by the request's id, so a second
//! one under it would be given the first one's answer, and the first would wait for ever.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, BodyDataStream, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use rmcp::model::{ErrorData, JsonRpcError};

use crate::http::MAX_BODY_BYTES;
use crate::http::ended::id;
use crate::http::form::is_json;
use crate::message;

/// Sessions of the transport, and the ids in them that are being answered.
#[derive(Default)]
pub(crate) struct Running(Mutex<HashSet<Key>>);

type Key = (String, String);

/// That a request runs. Dropped, it does not any more.
struct Place {
    key: Key,
    running: Arc<Running>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// Hands a request on, unless one under its id runs in its session.
pub(crate) async fn admit(State(running): State<Arc<Running>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    // Such a body was read before, and has come whole.
    let is_message = parts.method == Method::POST && is_json(&parts.headers);
    let Some(session) = id(&parts.headers).filter(|_| is_message) else {
        return next.run(Request::from_parts(parts, body)).await;
    };
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        return next.run(Request::from_parts(parts, Body::empty())).await;
    };
    let asked = message::id_of(&body);
    let key = asked.as_ref().map(|id| (session, format!("{id:?}")));
    let is_new = key.clone().is_none_or(|key| running.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key));
    if let Some(id) = asked.filter(|_| !is_new) {
        let error = ErrorData::invalid_request(format!("a request with id {id} is still running"), None);
        return axum::Json(JsonRpcError::new(Some(id), error)).into_response();
    }
    let place = key.map(|key| Place { key, running });
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let Some(place) = place else { return response };
    let (parts, body) = response.into_parts();
    Response::from_parts(parts, Body::from_stream(Answer { body: body.into_data_stream(), _place: place }))
}

/// An answer; the request runs until it was said, or nobody listens any more.
struct Answer {
    body: BodyDataStream,
    _place: Place,
}

impl Stream for Answer {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.body).poll_next(cx)
    }
}
