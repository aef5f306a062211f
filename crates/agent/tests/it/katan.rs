//! The same wires against a server that somebody else wrote: llm-katan, where `NIKA_TEST_KATAN` names the program.
//!
//! It echoes what the person said, and calls the first tool that it is offered. With tools it answers chat and
//! Gemini at once although it is asked to stream.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nika_agent::provider::{Adapter, Asking, Endpoint, Kind, Piece, Provider, Stop};

use crate::loopback::{ask, calls, endpoint, reach, text, user};

/// The server, ended with the test.
struct Katan {
    child: Child,
    port: u16,
    _stats: tempfile::TempDir,
}

impl Drop for Katan {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Katan {
    /// `None` where no such program is named, which is said.
    async fn started(more: &[&str]) -> Option<Katan> {
        let Ok(program) = std::env::var("NIKA_TEST_KATAN") else {
            println!("skipped: NIKA_TEST_KATAN names no llm-katan");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let stats = tempfile::tempdir().unwrap();
        let child = Command::new(program)
            .args(["--model", "echo-model", "--backend", "echo", "--host", "127.0.0.1", "--disable-dashboard"])
            .args(["--providers", "openai,anthropic,vertexai", "--port", &port.to_string(), "--stats-file"])
            .arg(stats.path().join("stats.json"))
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut katan = Katan { child, port, _stats: stats };
        let begun = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(50));
            assert!(begun.elapsed() < Duration::from_secs(60), "llm-katan does not listen");
            assert!(katan.child.try_wait().unwrap().is_none(), "llm-katan ended at once");
        }
        Some(katan)
    }

    fn endpoint(&self, adapter: Adapter) -> Endpoint {
        let mut endpoint = endpoint("katan", adapter, &format!("http://127.0.0.1:{}", self.port));
        endpoint.model.id = "echo-model".into();
        if adapter == Adapter::Gemini {
            // It looks for a key where Google Cloud has it, and not where Gemini has.
            endpoint.headers = vec![("Authorization".into(), "Bearer any".into())];
        }
        endpoint
    }
}

const WIRES: &[Adapter] = &[Adapter::OpenAi, Adapter::Anthropic, Adapter::Gemini];

#[tokio::test]
async fn text_and_calls_over_three_wires() {
    let Some(katan) = Katan::started(&[]).await else { return };
    for adapter in WIRES {
        let model = reach(katan.endpoint(*adapter));
        let messages = [user("What is in a.txt?")];
        let (answered, pieces) = ask(&model, &messages).await;
        let answered = answered.unwrap_or_else(|error| panic!("{adapter:?}: {error}"));
        assert_eq!(answered.stop, Stop::Calls, "{adapter:?}");
        assert_eq!(calls(&answered)[0].name, "list_dir", "{adapter:?}");
        assert!(answered.usage.output > 0, "{adapter:?}: {:?}", answered.usage);
        assert_eq!(pieces[0], "began", "{adapter:?}");

        let asking =
            Asking { system: "Be brief.", tools: &[], messages: &messages, cache_key: "session-1", must_call: None };
        let mut texts = Vec::new();
        let mut sink = |piece: Piece<'_>| {
            if let Piece::Text(text) = piece {
                texts.push(text.to_owned());
            }
        };
        // A server that was found not to stream is asked for the whole: a new provider is asked to stream.
        let answered = reach(katan.endpoint(*adapter)).answer(&asking, &mut sink).await.unwrap();
        assert!(text(&answered).contains("What is in a.txt?"), "{adapter:?}: {}", text(&answered));
        assert!(texts.len() > 3, "{adapter:?}: it came in {} pieces", texts.len());
        assert_eq!(answered.stop, Stop::Done, "{adapter:?}");
    }
}

#[tokio::test]
async fn failures_over_three_wires() {
    let Some(katan) = Katan::started(&["--error-rate", "1.0"]).await else { return };
    for adapter in WIRES {
        let error = ask(&reach(katan.endpoint(*adapter)), &[user("Hello")]).await.0.unwrap_err();
        assert_eq!(error.kind, Kind::Server, "{adapter:?}: {error}");
    }
    let Some(katan) = Katan::started(&["--rate-limit-after", "1"]).await else { return };
    let model = reach(katan.endpoint(Adapter::Anthropic));
    ask(&model, &[user("Hello")]).await.0.unwrap();
    assert_eq!(ask(&model, &[user("Hello")]).await.0.unwrap_err().kind, Kind::Limited);
    let Some(katan) = Katan::started(&["--validate-keys", "--api-keys", "openai=right,anthropic=right"]).await else {
        return;
    };
    for adapter in [Adapter::OpenAi, Adapter::Anthropic] {
        let error = ask(&reach(katan.endpoint(adapter)), &[user("Hello")]).await.0.unwrap_err();
        assert_eq!(error.kind, Kind::Key, "{adapter:?}: {error}");
        assert!(!error.message.contains("sk-test-key"), "{error}");
    }
}
