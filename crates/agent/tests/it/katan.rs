//! The same wires against a server that somebody else wrote: llm-katan, where `NIKA_TEST_KATAN` names the program.

use nika_agent::provider::{Adapter, Asking, Endpoint, Kind, Piece, Provider, Stop};
use nika_testkit::Katan;

use crate::loopback::{ask, calls, endpoint, reach, text, user};

fn at(katan: &Katan, adapter: Adapter) -> Endpoint {
    let mut endpoint = endpoint("katan", adapter, &format!("http://127.0.0.1:{}", katan.port));
    endpoint.model.id = "echo-model".into();
    if adapter == Adapter::Gemini {
        // It looks for a key where Google Cloud has it, and not where Gemini has.
        endpoint.headers = vec![("Authorization".into(), "Bearer any".into())];
    }
    endpoint
}

const WIRES: &[Adapter] = &[Adapter::OpenAi, Adapter::Anthropic, Adapter::Gemini];

#[tokio::test]
async fn text_and_calls_over_three_wires() {
    let Some(katan) = Katan::started(&[]) else { return };
    for adapter in WIRES {
        let model = reach(at(&katan, *adapter));
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
        let answered = reach(at(&katan, *adapter)).answer(&asking, &mut sink).await.unwrap();
        assert!(text(&answered).contains("What is in a.txt?"), "{adapter:?}: {}", text(&answered));
        assert!(texts.len() > 3, "{adapter:?}: it came in {} pieces", texts.len());
        assert_eq!(answered.stop, Stop::Done, "{adapter:?}");
    }
}

#[tokio::test]
async fn failures_over_three_wires() {
    let Some(katan) = Katan::started(&["--error-rate", "1.0"]) else { return };
    for adapter in WIRES {
        let error = ask(&reach(at(&katan, *adapter)), &[user("Hello")]).await.0.unwrap_err();
        assert_eq!(error.kind, Kind::Server, "{adapter:?}: {error}");
    }
    let Some(katan) = Katan::started(&["--rate-limit-after", "1"]) else { return };
    let model = reach(at(&katan, Adapter::Anthropic));
    ask(&model, &[user("Hello")]).await.0.unwrap();
    assert_eq!(ask(&model, &[user("Hello")]).await.0.unwrap_err().kind, Kind::Limited);
    let Some(katan) = Katan::started(&["--validate-keys", "--api-keys", "openai=right,anthropic=right"]) else {
        return;
    };
    for adapter in [Adapter::OpenAi, Adapter::Anthropic] {
        let error = ask(&reach(at(&katan, adapter)), &[user("Hello")]).await.0.unwrap_err();
        assert_eq!(error.kind, Kind::Key, "{adapter:?}: {error}");
        assert!(!error.message.contains("sk-test-key"), "{error}");
    }
}
