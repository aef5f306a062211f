//! The way back to a client over HTTP: what a call says on the way goes out on its own stream.
//!
//! The SDK finds that stream by the task that handles the request. A backend may run its calls
//! elsewhere, so what they say is handed to that task, which also keeps it before the result.

use std::sync::Arc;

use nika_contract::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{CancelledNotificationParam, CustomRequest, ServerNotification, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, ServiceError};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::link::{Link, WITHDRAWN};
use crate::port::{Object, ProtocolError};
use crate::revision::Revision;

/// What is to be said.
enum Saying {
    Notification(&'static str, Object),
    Request(String, Object, oneshot::Sender<Result<Value, ProtocolError>>),
}

/// The call's end of it.
pub(crate) struct HttpLink {
    revision: Revision,
    meta: Object,
    capabilities: Object,
    sayings: mpsc::UnboundedSender<Saying>,
    stop: CancellationToken,
}

/// The handling task's end of it.
pub(crate) struct Mouth {
    peer: Peer<RoleServer>,
    sayings: mpsc::UnboundedReceiver<Saying>,
}

/// Both ends, for a request.
pub(crate) fn link(context: &RequestContext<RoleServer>) -> (Arc<HttpLink>, Mouth) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let capabilities = context.client_capabilities().and_then(|declared| serde_json::to_value(declared).ok());
    let link = HttpLink {
        revision: revision(context),
        meta: context.meta.0.0.clone(),
        capabilities: match capabilities {
            Some(Value::Object(capabilities)) => capabilities,
            _ => Object::new(),
        },
        sayings: sender,
        stop: context.ct.clone(),
    };
    (Arc::new(link), Mouth { peer: context.peer.clone(), sayings: receiver })
}

/// The revision of a request. A client that names an older one than we speak is taken for the
/// oldest: the SDK has refused what it must.
pub(crate) fn revision(context: &RequestContext<RoleServer>) -> Revision {
    let version = context.protocol_version();
    version.and_then(|version| Revision::parse(version.as_str())).unwrap_or(Revision::V2025_06_18)
}

impl Mouth {
    /// Says what `work` has to say until it is done, and then its last words.
    pub(crate) async fn attend<T>(mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        let done = loop {
            tokio::select! {
                biased;
                Some(saying) = self.sayings.recv() => self.say(saying).await,
                done = &mut work => break done,
            }
        };
        while let Ok(saying) = self.sayings.try_recv() {
            self.say(saying).await;
        }
        done
    }

    async fn say(&self, saying: Saying) {
        match saying {
            Saying::Notification(method, params) => {
                // Typed where the SDK has a type: it routes progress by its token.
                let message = json!({ "method": method, "params": params });
                if let Ok(notification) = serde_json::from_value::<ServerNotification>(message) {
                    // A client that is gone is noticed by the stop token.
                    let _ = self.peer.send_notification(notification).await;
                }
            }
            Saying::Request(method, params, mut answer) => {
                // Untyped: the SDK's types of forms drop what they do not know.
                let request = ServerRequest::CustomRequest(CustomRequest::new(method, Some(Value::Object(params))));
                match self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await {
                    Ok(sent) => {
                        let (peer, id) = (self.peer.clone(), sent.id.clone());
                        tokio::spawn(async move {
                            let result = tokio::select! {
                                result = sent.await_response() => result,
                                () = answer.closed() => {
                                    let reason = Some(WITHDRAWN.to_owned());
                                    let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
                                    return;
                                }
                            };
                            let _ = answer.send(match result {
                                Ok(result) => serde_json::to_value(result).map_err(|error| internal(&error)),
                                Err(error) => Err(protocol_error(error)),
                            });
                        });
                    }
                    Err(error) => drop(answer.send(Err(protocol_error(error)))),
                }
            }
        }
    }
}

fn protocol_error(error: ServiceError) -> ProtocolError {
    match error {
        ServiceError::McpError(error) => error.into(),
        other => internal(&other),
    }
}

fn internal(error: &dyn std::error::Error) -> ProtocolError {
    ProtocolError { code: -32603, message: error.to_string(), data: None }
}

impl Link for HttpLink {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn meta(&self) -> &Object {
        &self.meta
    }

    fn capabilities(&self) -> &Object {
        &self.capabilities
    }

    fn post(&self, method: &'static str, params: Object) {
        // The handling task is gone only when the request is.
        let _ = self.sayings.send(Saying::Notification(method, params));
    }

    fn ask<'a>(&'a self, method: &'a str, params: Object) -> BoxFuture<'a, Result<Value, ProtocolError>> {
        Box::pin(async move {
            let gone = || ProtocolError { code: -32000, message: "the client is gone".to_owned(), data: None };
            let (sender, answer) = oneshot::channel();
            self.sayings.send(Saying::Request(method.to_owned(), params, sender)).map_err(|_| gone())?;
            answer.await.unwrap_or_else(|_| Err(gone()))
        })
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.stop.cancelled())
    }
}
