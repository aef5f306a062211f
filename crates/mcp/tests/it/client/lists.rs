//! Lists of servers that take their time, have no end, or change again and again; and those who do not wait for them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nika_contract::{Cancel, Guests, Nobody, code};
use nika_mcp::client::State;
use serde_json::json;

use super::scripted::{Era, Listing, Peer, tool};
use super::{Served, over, scene};

/// A server that lists so, with more time than any test takes.
fn listing(listing: Listing) -> Served {
    let peer = Peer::new(Era::Legacy, vec![tool("echo")]);
    peer.lists(listing);
    over(peer, Arc::default(), &json!({"timeout_ms": 600_000, "connect_timeout_ms": 5_000}))
}

/// Until the server was asked for its list.
async fn asked(scene: &Served) {
    while scene.peer.heard("tools/list").is_empty() {
        tokio::task::yield_now().await;
    }
}

/// Nothing here waits for a server, so nothing takes long.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_list_has_the_time_of_one_call_for_all_its_pages() {
    let peer = Peer::new(Era::Legacy, Vec::new());
    peer.lists(Listing::Endless(50));
    let scene = over(peer, Arc::default(), &json!({"timeout_ms": 400}));
    let error = scene.call("echo").await.expect_err("it has no end");
    assert_eq!(error.code, code::SERVER_SLOW, "{error}");
    assert!(scene.peer.heard("tools/list").len() < 20, "no more pages were asked for");
}

#[tokio::test]
async fn a_list_that_is_too_large_is_refused() {
    let scene = listing(Listing::Heavy(6 << 20));
    let error = scene.call("echo").await.expect_err("it is too much");
    assert_eq!(error.code, code::SERVER_REFUSED);
    assert!(error.message.contains("lists more than 16 MiB"), "{error}");
    assert_eq!(scene.peer.heard("tools/list").len(), 3);
}

#[tokio::test]
async fn nobody_waits_for_a_list_that_they_do_not_want_any_more() {
    let scene = listing(Listing::Never);
    let (began, cancel) = (Instant::now(), Cancel::default());
    let arguments = json!({"server": "s"});
    let (listed, ()) = tokio::join!(scene.tool("mcp_list_tools", arguments, Arc::new(Nobody), &cancel), async {
        asked(&scene).await;
        // How it stands is said meanwhile.
        assert_eq!(scene.pool.status()[0].state, State::Idle);
        cancel.cancel();
    });
    assert_eq!(listed.0.expect_err("nobody wants it").code, code::CANCELLED);
    assert!(began.elapsed() < SOON);
}

#[tokio::test]
async fn the_end_of_the_pool_is_the_end_of_who_waits() {
    let scene = listing(Listing::Never);
    let began = Instant::now();
    let (sought, ()) = tokio::join!(scene.pool.seek("mcp__s__echo"), async {
        asked(&scene).await;
        scene.pool.close().await;
    });
    assert_eq!(sought.expect_err("it is over").code, code::CANCELLED);
    assert!(began.elapsed() < SOON);
}

#[tokio::test]
async fn a_list_that_failed_is_asked_for_again() {
    let scene = scene(Era::Legacy, &["echo", "grow"]);
    scene.call("echo").await.expect("it answers");
    scene.peer.lists(Listing::Fails);
    scene.pool.refresh("s").await.expect_err("not now");
    scene.peer.tools.lock().expect("nobody panicked").push(tool("more"));
    scene.peer.lists(Listing::Whole);
    let error = scene.call("more").await.expect_err("no person has seen it");
    assert_eq!(error.code, code::DEFINITION_CHANGED, "the list is another one by now: {error}");
}

#[tokio::test]
async fn however_often_a_server_says_that_its_list_changed_one_task_asks_for_it() {
    let peer = Peer::new(Era::Legacy, vec![tool("chatter")]);
    let scene = over(peer, Arc::default(), &json!({"timeout_ms": 600_000}));
    scene.pool.refresh("s").await.expect("it answers");
    scene.peer.lists(Listing::Never);
    scene.call("chatter").await.expect("it answers");
    while scene.peer.heard("tools/list").len() < 2 {
        tokio::task::yield_now().await;
    }
    // Whatever the SDK does for each of the two hundred is over by then.
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    let alive = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert!(alive < 50, "{alive} tasks");
}
