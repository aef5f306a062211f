//! Stdio: the handshake and its absence, the shapes of answers, what goes wrong on the wire.

use std::io::{Read, Seek, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::backend::Scene;
use crate::peer::{PATIENCE, Peer};

#[tokio::test]
async fn an_older_client_shakes_hands_and_lists_tools() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let mut peer = Peer::legacy(revision, json!({})).await;
        let list = peer.ask("tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().expect("tools");
        assert!(list["result"].get("resultType").is_none(), "{list}");
        assert_eq!(tools[0]["name"], "echo");
        assert_eq!(tools[0]["title"], "The echo");
        assert_eq!(tools[0]["annotations"], json!({ "readOnlyHint": true, "openWorldHint": false }));
        assert_eq!(
            tools[1]["annotations"],
            json!({ "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false })
        );
        assert!(tools[0]["inputSchema"]["properties"].get("nika_session").is_none());
        assert_eq!(tools[2]["outputSchema"], json!({ "type": "object" }));
        assert_eq!(peer.ask("tools/list", json!({ "cursor": "x" })).await["error"]["code"], -32602);
        assert_eq!(peer.ask("ping", json!({})).await["result"], json!({}));
        assert_eq!(peer.ask("server/discover", json!({})).await["error"]["code"], -32601);
    }
}

#[tokio::test]
async fn a_client_of_an_unknown_revision_is_offered_one() {
    let mut peer = Peer::silent();
    for asked in ["2024-11-05", "2026-07-28", "2099-01-01"] {
        let hello = peer.ask("initialize", json!({ "protocolVersion": asked, "capabilities": {} })).await;
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(hello["result"]["serverInfo"], json!({ "name": "scene", "version": "1.2.3" }));
        assert_eq!(hello["result"]["instructions"], "Roots: /r.");
        assert_eq!(hello["result"]["capabilities"], json!({ "tools": { "listChanged": true } }));
    }
}

#[tokio::test]
async fn a_newer_client_needs_no_handshake() {
    let mut peer = Peer::modern(json!({}));
    let found = peer.ask("server/discover", json!({})).await;
    assert_eq!(found["result"]["supportedVersions"], json!(["2025-06-18", "2025-11-25", "2026-07-28"]));
    let list = peer.ask("tools/list", json!({})).await;
    assert_eq!(list["result"]["resultType"], "complete");
    assert_eq!(list["result"]["ttlMs"], 0);
    assert_eq!(peer.call("echo", "hi").await["result"]["resultType"], "complete");
    for gone in ["ping", "initialize", "logging/setLevel", "prompts/list", "nonsense"] {
        assert_eq!(peer.ask(gone, json!({})).await["error"]["code"], -32601, "{gone}");
    }
    let other = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "v999" } });
    let mut peer = Peer::silent();
    let refused = peer.ask("tools/list", other).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "v999");
    assert_eq!(peer.ask("tools/list", json!({})).await["error"]["code"], -32602, "neither handshake nor _meta");
}

#[tokio::test]
async fn each_kind_of_answer_has_its_shape() {
    let mut peer = Peer::legacy("2025-11-25", json!({})).await;
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let meta = json!({ "nika/call": "c1" });
    assert_eq!(peer.call("echo", "hi").await["result"], json!({ "content": text("hi"), "_meta": meta }));
    assert_eq!(
        peer.call("fail", "").await["result"],
        json!({
            "content": text("NIKA-208 no a.rs; look around"),
            "isError": true,
            "_meta": { "nika/call": "c1", "nika/code": "NIKA-208" },
        })
    );
    assert_eq!(
        peer.call("data", "").await["result"],
        json!({ "content": text("one"), "structuredContent": { "n": 1 }, "_meta": meta })
    );
    assert_eq!(
        peer.call("link", "").await["result"]["content"],
        json!([
            { "type": "resource_link", "uri": "file:///s/c1.txt", "name": "the whole", "size": 99 },
            { "type": "image", "data": "AQID", "mimeType": "image/png" },
        ])
    );
    let unknown = peer.call("nope", "").await;
    assert_eq!(unknown["error"], json!({ "code": -32602, "message": "no tool is called 'nope'" }));
    assert_eq!(peer.call("whoami", "").await["result"]["content"], text("the process"));
    assert_eq!(peer.ask("tools/call", json!({ "name": "echo" })).await["result"]["content"], text(""));
    assert_eq!(peer.ask("tools/call", json!({})).await["error"]["code"], -32602);
    assert_eq!(peer.ask("tools/call", json!({ "name": "echo", "arguments": 1 })).await["error"]["code"], -32602);
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_the_next_one_served() {
    let mut peer = Peer::legacy("2025-11-25", json!({})).await;
    for (line, code, id) in [
        ("{\"jsonrpc\":", -32700, Value::Null),
        ("nonsense", -32700, Value::Null),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, Value::Null),
        ("[", -32700, Value::Null),
        ("7", -32600, Value::Null),
        ("{\"jsonrpc\":\"1.0\",\"id\":4,\"method\":\"ping\"}", -32600, json!(4)),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":5}", -32600, json!(5)),
        // Half of a character, which JSON can write and no text can hold; a method that is none.
        ("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\",\"params\":{\"a\":\"b\\ud800\"}}", -32700, json!(8)),
        // Of an answer the id is one of the server's.
        ("{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{\"a\":\"b\\ud800\"}}", -32700, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{},\"error\":5}", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":5}", -32600, json!(9)),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\",\"params\":[]}", -32602, json!("a")),
    ] {
        peer.write(format!("{line}\n").as_bytes()).await;
        let answer = peer.receive().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}: {answer}");
    }
    peer.write(b"{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}\n").await;
    assert_eq!(peer.receive().await["id"], 10);
    peer.write(b"\xff\xfe\n").await;
    assert_eq!(peer.receive().await["error"]["code"], -32700);
    // Answers to nothing, and notifications nobody knows, are passed over.
    peer.send(json!({ "jsonrpc": "2.0", "id": 77, "result": {} })).await;
    peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/whatever" })).await;
    assert_eq!(peer.call("echo", "still here").await["result"]["content"][0]["text"], "still here");
}

#[tokio::test]
async fn a_line_too_long_is_refused_and_not_kept() {
    let mut peer = Peer::legacy("2025-11-25", json!({})).await;
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..65 {
        peer.write(&piece).await;
    }
    peer.write(b"\n").await;
    assert_eq!(peer.receive().await["error"]["code"], -32600);
    assert_eq!(peer.call("echo", "next").await["result"]["content"][0]["text"], "next");
}

#[tokio::test]
async fn a_megabyte_goes_both_ways() {
    let mut peer = Peer::legacy("2025-11-25", json!({})).await;
    let text: String = (0..40_000).map(|n| format!("line \"{n}\"\tof é\u{1}\n")).collect();
    assert_eq!(peer.call("echo", &text).await["result"]["content"][0]["text"], text);
}

#[tokio::test]
async fn calls_run_side_by_side_and_a_cancelled_one_is_not_answered() {
    for mut peer in [Peer::legacy("2025-11-25", json!({})).await, Peer::modern(json!({}))] {
        let wait = |text: &str| json!({ "name": "wait", "arguments": { "text": text } });
        let one = peer.request("tools/call", wait("one")).await;
        let two = peer.request("tools/call", wait("two")).await;
        assert_eq!(peer.call("echo", "between").await["result"]["content"][0]["text"], "between");
        let cancel =
            |id: i64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        peer.send(cancel(two)).await;
        let again = json!({ "jsonrpc": "2.0", "id": one, "method": "tools/list", "params": {} });
        peer.send(again).await;
        assert_eq!(peer.receive().await["error"]["code"], -32600, "an id in use");
        peer.send(cancel(one)).await;
        peer.send(cancel(999)).await;
        let scene = Arc::clone(&peer.scene);
        let rest = peer.hang_up().await;
        assert_eq!(rest, Vec::<Value>::new());
        let mut cancelled = scene.cancelled.lock().expect("not poisoned").clone();
        cancelled.sort();
        assert_eq!(cancelled, ["one", "two"]);
    }
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_calls() {
    let mut peer = Peer::legacy("2025-11-25", json!({})).await;
    peer.request("tools/call", json!({ "name": "wait", "arguments": { "text": "long" } })).await;
    let scene = Arc::clone(&peer.scene);
    // Its end of both pipes closes: nobody reads what the next answer would say.
    peer.request("tools/call", json!({ "name": "echo" })).await;
    drop(peer);
    let cancelled = scene.until_some(&scene.cancelled);
    tokio::time::timeout(PATIENCE, cancelled).await.expect("cancelled");
}

#[tokio::test]
async fn progress_is_told_to_whom_it_was_promised() {
    let mut peer = Peer::legacy("2025-11-25", json!({})).await;
    assert_eq!(peer.call("steps", "").await["result"]["content"][0]["text"], "stepped");
    let params = json!({ "name": "steps", "_meta": { "progressToken": "t" } });
    let id = peer.request("tools/call", params).await;
    let mut told = Vec::new();
    let answer = loop {
        let message = peer.receive().await;
        if message["id"] == id {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "t");
        told.push(message["params"]["progress"].as_u64().expect("a number"));
    };
    assert_eq!(answer["result"]["content"][0]["text"], "stepped");
    assert!(told.len() < 500 && told.first() == Some(&0) && told.last() == Some(&1000), "{told:?}");
    assert!(told.windows(2).all(|pair| pair[0] < pair[1]), "{told:?}");
}

#[tokio::test]
async fn a_changed_list_is_told_as_the_revision_has_it() {
    let mut peer = Peer::legacy("2025-06-18", json!({})).await;
    peer.request("tools/call", json!({ "name": "load" })).await;
    assert_eq!(peer.receive().await, json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    assert_eq!(peer.receive().await["result"]["content"][0]["text"], "loaded");

    let mut peer = Peer::modern(json!({}));
    assert_eq!(peer.call("load", "").await["result"]["content"][0]["text"], "loaded", "nobody listens");
    let wanted = json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
    let listen = peer.request("subscriptions/listen", wanted).await;
    let tag = json!({ "io.modelcontextprotocol/subscriptionId": listen });
    let ack = peer.receive().await;
    assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(ack["params"], json!({ "notifications": { "toolsListChanged": true }, "_meta": tag }));
    let call = peer.request("tools/call", json!({ "name": "load" })).await;
    let messages = [peer.receive().await, peer.receive().await];
    assert!(messages.iter().any(|message| message["id"] == call), "{messages:?}");
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": { "_meta": tag } });
    assert!(messages.contains(&changed), "{messages:?}");
    assert_eq!(peer.hang_up().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_script_piped_in_gets_all_its_answers() {
    let mut peer = Peer::silent();
    peer.send(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } }),
    )
    .await;
    peer.send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "steps" } })).await;
    peer.write(br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#).await;
    let answers = peer.hang_up().await;
    assert_eq!(answers.iter().map(|answer| answer["id"].as_i64()).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
}

#[tokio::test]
async fn files_and_sockets_will_do() {
    let script = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}"#,
        "\n",
    );
    let mut input = tempfile::tempfile().expect("a file");
    let mut output = tempfile::tempfile().expect("a file");
    input.write_all(script.as_bytes()).and_then(|()| input.rewind()).expect("written");
    nika_mcp::serve_fds(Arc::new(Scene::default()), input.as_fd(), output.as_fd()).await.expect("served");
    let mut text = String::new();
    output.rewind().and_then(|()| output.read_to_string(&mut text)).expect("read");
    assert_eq!(text.lines().count(), 2);

    // As Node starts its children: one socket for each direction.
    let (mut client, server) = std::os::unix::net::UnixStream::pair().expect("a pair");
    client.write_all(script.as_bytes()).and_then(|()| client.shutdown(std::net::Shutdown::Write)).expect("sent");
    nika_mcp::serve_fds(Arc::new(Scene::default()), server.as_fd(), server.as_fd()).await.expect("served");
    drop(server);
    let mut text = String::new();
    client.read_to_string(&mut text).expect("read");
    assert_eq!(text.lines().count(), 2);
}
