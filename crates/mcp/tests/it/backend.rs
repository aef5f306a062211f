//! A backend of a few tools, each of which shows one thing.

use std::sync::{Arc, Mutex};

use nika_contract::{
    Asked, Block, BoxFuture, Choice, Fault, Inquiry, Offer, Output, Pending, Question, Replied, ToolError, code,
};
use nika_guard::Answer as Said;
use nika_mcp::{Answer, Backend, Listed, Object, Reply, Request, Session};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The tools, and what became of their calls.
#[derive(Default)]
pub struct Scene {
    pub cancelled: Mutex<Vec<String>>,
    /// What waits, in the order it began to.
    pub begun: Mutex<Vec<String>>,
    /// Told of each change of the two.
    pub moved: Notify,
}

impl Scene {
    /// Waits until `list` holds something.
    pub async fn until_some(&self, list: &Mutex<Vec<String>>) {
        while list.lock().expect("not poisoned").is_empty() {
            self.moved.notified().await;
        }
    }
}

const TOOLS: &[&str] = &["echo", "fail", "data", "link", "wait", "steps", "ask", "inquire", "load", "whoami"];

fn object(value: Value) -> Arc<Object> {
    Arc::new(value.as_object().expect("an object").clone())
}

impl Backend for Scene {
    fn name(&self) -> String {
        "scene".into()
    }

    fn version(&self) -> String {
        "1.2.3".into()
    }

    fn instructions(&self) -> String {
        "Roots: /r.".into()
    }

    fn list(&self, _: &Session) -> Vec<Listed> {
        let rows = TOOLS.iter().map(|name| Listed {
            name: (*name).to_owned(),
            title: format!("The {name}"),
            description: format!("Does {name}."),
            input_schema: object(json!({ "type": "object", "properties": { "text": { "type": "string" } } })),
            output_schema: (*name == "data").then(|| object(json!({ "type": "object" }))),
            read_only: *name == "echo",
            destructive: *name == "fail",
            idempotent: false,
            open_world: false,
        });
        rows.collect()
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            let text = request.arguments.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
            let mut reply =
                Reply { output: Ok(Output::default()), call_id: "c1".into(), session: None, tools_changed: false };
            reply.output =
                match request.name.as_str() {
                    "echo" => Ok(Output::text(text)),
                    "fail" => Err(ToolError::new(code::NOT_FOUND, "no a.rs").hint("look around")),
                    "data" => Ok(Output::data(json!({ "n": 1 }), "one")),
                    "link" => Ok(Output {
                        content: vec![
                            Block::Link { uri: "file:///s/c1.txt".into(), name: "the whole".into(), bytes: 99 },
                            Block::Image { mime: "image/png", data: vec![1, 2, 3] },
                        ],
                        ..Output::default()
                    }),
                    "wait" => {
                        self.begun.lock().expect("not poisoned").push(text.clone());
                        self.moved.notify_one();
                        while !request.cancel.is_cancelled() {
                            // The flag wakes nobody; whoever sets it runs on this thread.
                            tokio::task::yield_now().await;
                        }
                        self.cancelled.lock().expect("not poisoned").push(text);
                        self.moved.notify_one();
                        Err(ToolError::cancelled())
                    }
                    "steps" => {
                        for done in 0..=1000 {
                            request.progress.step(done, Some(1000), "stepping");
                        }
                        Ok(Output::text("stepped"))
                    }
                    "ask" => {
                        let question = Question {
                            id: format!("q-{text}"),
                            tool: "ask".into(),
                            text: format!("write({text}) — write inside (mode ask)"),
                            preview: Some("+one line".into()),
                            choices: vec![Choice { rule: format!("write({text})"), beyond: String::new() }],
                        };
                        Ok(Output::text(match request.asker.ask(&question).await {
                            Asked::Answered(Said::Yes { who }) => format!("yes by {who}"),
                            Asked::Answered(Said::No { why, .. }) => format!("no: {}", why.unwrap_or_default()),
                            Asked::Always(_, rule) => format!("always {rule}"),
                            Asked::Nobody => "nobody".into(),
                            Asked::Later => return Ok(Answer::NeedsInput(Pending::Permission(question))),
                        }))
                    }
                    "inquire" => {
                        let offer = |label: &str| Offer { label: label.into(), description: Some("one".into()) };
                        let inquiry = Inquiry {
                            id: format!("i-{text}"),
                            tool: "inquire".into(),
                            name: None,
                            header: Some("Port".into()),
                            text: format!("Which {text}?"),
                            options: vec![offer("left"), offer("right")],
                            free_text: true,
                        };
                        Ok(Output::text(match request.asker.inquire(&inquiry).await {
                            Replied::Chosen(label) => format!("chose {label}"),
                            Replied::Wrote(words) => format!("wrote {words}"),
                            Replied::Declined { why } => format!("declined: {}", why.unwrap_or_default()),
                            Replied::Nobody => "nobody".into(),
                            Replied::Later => return Ok(Answer::NeedsInput(Pending::Inquiry(inquiry))),
                        }))
                    }
                    "load" => {
                        reply.tools_changed = true;
                        Ok(Output::text("loaded"))
                    }
                    "whoami" => match &request.session {
                        Session::Process => Ok(Output::text("the process")),
                        Session::Handle { handle: None, .. } => {
                            reply.session = Some("s-1".into());
                            Ok(Output::text("new"))
                        }
                        Session::Handle { handle: Some(handle), .. } if handle == "s-1" => Ok(Output::text("known")),
                        Session::Handle { .. } => Err(ToolError::new(code::UNKNOWN_SESSION, "no such session")
                            .hint("call without `nika_session`")),
                    },
                    other => return Ok(Answer::UnknownTool(format!("no tool is called '{other}'"))),
                };
            Ok(Answer::Done(reply))
        })
    }
}
