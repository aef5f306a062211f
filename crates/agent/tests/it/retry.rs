//! Asking again: how often, after which wait, and when not.

use std::sync::{Arc, Mutex};

use nika_agent::provider::{Kind, Pause, Provider, Retrying, Scripted};
use nika_contract::BoxFuture;

use crate::loopback::{ask, text, user};

/// Waits for nothing and remembers for how long.
#[derive(Debug, Default)]
struct Noting(Mutex<Vec<u64>>);

impl Pause for Noting {
    fn wait(&self, ms: u64) -> BoxFuture<'_, ()> {
        self.0.lock().unwrap().push(ms);
        Box::pin(async {})
    }
}

/// Never comes back.
#[derive(Debug)]
struct Endless;

impl Pause for Endless {
    fn wait(&self, _: u64) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

fn faulty(faults: &[&str]) -> Scripted {
    let turns: String = faults.iter().map(|fault| format!("  - {{{fault}}}\n")).collect();
    Scripted::parse("faults.yaml", &format!("turns:\n{turns}  - say: at last\n")).unwrap()
}

#[tokio::test]
async fn waits_double_until_an_answer_comes() {
    let pause = Arc::new(Noting::default());
    let model = Retrying::new(
        faulty(&["fault: 529", "fault: cut, say: half", "fault: 500", "fault: timeout"]),
        pause.clone(),
        7,
    );
    let (answered, pieces) = ask(&model, &[user("Hello")]).await;
    assert_eq!(text(&answered.unwrap()), "at last");
    let waits = pause.0.lock().unwrap().clone();
    for (wait, base) in waits.iter().zip([1000, 2000, 4000, 8000]) {
        assert!((base..=base + base / 5).contains(wait), "{waits:?}");
    }
    let told: Vec<String> = waits.iter().map(|ms| format!("waiting:{ms}")).collect();
    let seen: Vec<&String> = pieces.iter().filter(|piece| piece.starts_with("waiting:")).collect();
    assert_eq!(seen, told.iter().collect::<Vec<_>>());
    // What had been shown of the cut answer does not count: it begins anew.
    let begun = |pieces: &[String]| pieces.iter().filter(|piece| *piece == "began").count();
    assert_eq!(begun(&pieces), 2, "{pieces:?}");
}

#[tokio::test]
async fn the_providers_own_wait_is_kept_to_but_for_the_longest() {
    let pause = Arc::new(Noting::default());
    let model = Retrying::new(
        faulty(&["fault: 429, retry_after_ms: 3000", "fault: 429, retry_after_ms: 900000"]),
        pause.clone(),
        1,
    );
    ask(&model, &[user("Hello")]).await.0.unwrap();
    let waits = pause.0.lock().unwrap().clone();
    assert!((3000..=3600).contains(&waits[0]), "{waits:?}");
    assert_eq!(waits[1], 300_000);
}

#[tokio::test]
async fn five_tries_are_enough() {
    let pause = Arc::new(Noting::default());
    let model = Retrying::new(faulty(&["fault: 503"; 9]), pause.clone(), 1);
    let error = ask(&model, &[user("Hello")]).await.0.unwrap_err();
    assert_eq!(error.kind, Kind::Overloaded);
    assert!(error.message.ends_with("(asked 5 times)"), "{error}");
    assert_eq!(pause.0.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn what_does_not_pass_is_not_tried_again() {
    for (fault, kind) in
        [("401", Kind::Key), ("404", Kind::NoModel), ("400", Kind::BadRequest), ("too_long", Kind::TooLong)]
    {
        let pause = Arc::new(Noting::default());
        let model = Retrying::new(faulty(&[&format!("fault: {fault}")]), pause.clone(), 1);
        let error = ask(&model, &[user("Hello")]).await.0.unwrap_err();
        assert_eq!(error.kind, kind);
        assert!(!error.message.contains("times"), "{error}");
        assert!(pause.0.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn nothing_is_asked_again_once_the_caller_has_left() {
    let model = Retrying::new(Arc::new(faulty(&["fault: 503"])), Arc::new(Endless), 1);
    let messages = [user("Hello")];
    {
        let mut waiting = Box::pin(ask(&model, &messages));
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(waiting.as_mut().poll(cx).is_pending())).await;
        assert!(polled, "it waits before it asks again");
    }
    // The script is still at its second turn: nobody asked for it in the meantime.
    let (answered, _) = ask(&model, &messages).await;
    assert_eq!(text(&answered.unwrap()), "at last");
    assert_eq!((model.name(), model.model().id.as_str()), ("scripted", "faults.yaml"));
}
