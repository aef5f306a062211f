//! Questions to the client's user, in each era's way.

use serde_json::{Value, json};

use crate::http::Web;
use crate::peer::Peer;

fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn without_a_form_there_is_nobody() {
    for mut peer in [Peer::legacy("2025-11-25", json!({})).await, Peer::modern(json!({ "sampling": {} }))] {
        assert_eq!(said(&peer.call("ask", "a.rs").await), "nobody");
    }
}

#[tokio::test]
async fn an_older_client_is_asked_by_elicitation() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let mut peer = Peer::legacy(revision, json!({ "elicitation": {} })).await;
        for (result, want) in [
            (json!({ "action": "accept", "content": { "answer": "yes" } }), "yes by the client's user"),
            (json!({ "action": "accept", "content": { "answer": "always 1" } }), "always write(a.rs)"),
            (json!({ "action": "accept", "content": { "answer": "no", "reason": "not now" } }), "no: not now"),
            (json!({ "action": "decline" }), "no: "),
            (json!({ "action": "cancel" }), "no: dismissed without an answer"),
            (json!({}), "no: the client's answer says none of accept, decline and cancel"),
        ] {
            let id = peer.request("tools/call", json!({ "name": "ask", "arguments": { "text": "a.rs" } })).await;
            let question = peer.receive().await;
            assert_eq!(question["method"], "elicitation/create");
            let message = question["params"]["message"].as_str().expect("a message");
            assert!(message.contains("write(a.rs)") && message.ends_with("+one line"), "{message}");
            // The server still hears everybody while a person thinks.
            assert_eq!(peer.ask("ping", json!({})).await["result"], json!({}));
            peer.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await;
            let answer = peer.receive().await;
            assert_eq!((answer["id"].as_i64(), said(&answer)), (Some(id), want));
        }
        peer.request("tools/call", json!({ "name": "ask" })).await;
        let question = peer.receive().await;
        let error = json!({ "code": -32601, "message": "no forms after all" });
        peer.send(json!({ "jsonrpc": "2.0", "id": question["id"], "error": error })).await;
        assert_eq!(said(&peer.receive().await), "nobody");
    }
}

#[tokio::test]
async fn a_question_ends_with_its_call_or_with_the_client() {
    let mut peer = Peer::legacy("2025-11-25", json!({ "elicitation": {} })).await;
    let id = peer.request("tools/call", json!({ "name": "ask" })).await;
    let question = peer.receive().await;
    peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })).await;
    // The form is taken off the screen of the client's user.
    let withdrawn = peer.receive().await;
    assert_eq!(
        (&withdrawn["method"], &withdrawn["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question["id"])
    );
    assert_eq!(peer.ask("ping", json!({})).await["result"], json!({}));
    peer.request("tools/call", json!({ "name": "ask" })).await;
    assert_eq!(peer.receive().await["method"], "elicitation/create");
    let rest = peer.hang_up().await;
    assert_eq!(rest.iter().map(said).collect::<Vec<_>>(), ["nobody"]);
}

#[tokio::test]
async fn an_answer_that_says_nothing_is_no_answer_to_wait_for() {
    let mut peer = Peer::legacy("2025-11-25", json!({ "elicitation": {} })).await;
    for nothing in [json!({}), json!({ "error": null })] {
        peer.request("tools/call", json!({ "name": "ask" })).await;
        let mut answer = nothing;
        (answer["jsonrpc"], answer["id"]) = ("2.0".into(), peer.receive().await["id"].clone());
        peer.send(answer).await;
        assert_eq!(said(&peer.receive().await), "nobody");
    }
}

#[tokio::test]
async fn what_is_no_answer_ends_the_wait_all_the_same() {
    let mut peer = Peer::legacy("2025-11-25", json!({ "elicitation": {} })).await;
    for (rest, code) in [
        (r#","error":"no""#, -32600),
        (r#","error":{"message":"no code"}"#, -32600),
        (r#","result":{"action":"accept","content":{"answer":"\ud800"}}"#, -32700),
    ] {
        let id = peer.request("tools/call", json!({ "name": "ask" })).await;
        let question = peer.receive().await;
        peer.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{}{rest}}}\n", question["id"]).as_bytes()).await;
        let both = [peer.receive().await, peer.receive().await];
        let told = both.iter().find(|message| message.get("error").is_some()).expect("what was wrong with it");
        assert_eq!((&told["error"]["code"], told.get("id")), (&json!(code), None), "{rest}: {told}");
        let answer = both.iter().find(|message| message["id"] == id).expect("an answer");
        assert_eq!(said(answer), "nobody", "{rest}");
    }
}

#[tokio::test]
async fn over_http_a_question_ends_as_it_does_on_stdio() {
    let mut web = Web::open().await;
    web.shake_hands(json!({ "elicitation": {} })).await;
    let mut news = web.news().await;
    let call = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "ask" } });
    let mut events = web.events(call(11)).await;
    let question = events.next().await;
    let refused = web.send("POST", &json!({ "jsonrpc": "2.0", "id": question["id"] }).to_string()).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert_eq!(said(&events.next().await), "nobody");

    let mut events = web.events(call(12)).await;
    let question = events.next().await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 12 } });
    assert_eq!(web.post(cancel).await.status, 202);
    let withdrawn = news.next().await;
    assert_eq!(
        (&withdrawn["method"], &withdrawn["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question["id"])
    );
}

#[tokio::test]
async fn a_newer_client_is_asked_by_a_result() {
    let mut peer = Peer::modern(json!({ "elicitation": {} }));
    let call = |more: Value| {
        let mut params = json!({ "name": "ask", "arguments": { "text": "a.rs" } });
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        params
    };
    let first = peer.ask("tools/call", call(json!({}))).await;
    assert_eq!(first["result"]["resultType"], "input_required");
    let request = &first["result"]["inputRequests"]["permission"];
    assert_eq!(request["method"], "elicitation/create");
    let properties = &request["params"]["requestedSchema"]["properties"];
    assert_eq!(properties["answer"]["oneOf"][1]["const"], "always 1", "{request}");
    assert_eq!(properties["reason"]["type"], "string", "{request}");
    let state = first["result"]["requestState"].clone();

    let answer = |action: Value| json!({ "inputResponses": { "permission": action }, "requestState": state });
    let yes = json!({ "action": "accept", "content": { "answer": "yes" } });
    assert_eq!(said(&peer.ask("tools/call", call(answer(yes.clone()))).await), "yes by the client's user");
    // An answer counts once: the next call is asked about anew.
    let again = peer.ask("tools/call", call(answer(yes.clone()))).await;
    assert_eq!(again["result"]["resultType"], "input_required");
    let state = again["result"]["requestState"].clone();
    let answer = |action: Value| json!({ "inputResponses": { "permission": action }, "requestState": state });
    let declined = peer.ask("tools/call", call(answer(json!({ "action": "decline" })))).await;
    assert_eq!(said(&declined), "no: ");
    let state = peer.ask("tools/call", call(json!({}))).await["result"]["requestState"].clone();
    let answer = |action: Value| json!({ "inputResponses": { "permission": action }, "requestState": state });

    // No state, no answer: it is asked again.
    let unbound = peer.ask("tools/call", call(json!({ "inputResponses": { "permission": yes } }))).await;
    assert_eq!(unbound["result"]["resultType"], "input_required");
    let unanswered = peer.ask("tools/call", call(json!({ "requestState": state }))).await;
    assert_eq!(unanswered["result"]["resultType"], "input_required");
    // A yes to one question is none to another.
    let mut other = call(answer(yes.clone()));
    other["arguments"]["text"] = "b.rs".into();
    assert_eq!(peer.ask("tools/call", other).await["result"]["resultType"], "input_required");
    // A state from elsewhere is refused.
    let mut elsewhere = call(answer(yes.clone()));
    elsewhere["name"] = "echo".into();
    assert_eq!(peer.ask("tools/call", elsewhere).await["error"]["code"], -32602);
    let mut forged = call(answer(yes));
    forged["requestState"] = format!("{}x", state.as_str().expect("a string")).into();
    assert_eq!(peer.ask("tools/call", forged).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_tools_own_question_is_a_form_with_a_choice_and_words() {
    let answers = [
        (json!({ "action": "accept", "content": { "choice": "right" } }), "chose right"),
        (json!({ "action": "accept", "content": { "choice": "right", "text": "neither" } }), "wrote neither"),
        (json!({ "action": "decline" }), "declined: "),
        (json!({ "action": "cancel" }), "declined: dismissed without an answer"),
    ];
    for revision in ["2025-06-18", "2025-11-25"] {
        let mut peer = Peer::legacy(revision, json!({ "elicitation": {} })).await;
        for (result, want) in &answers {
            peer.request("tools/call", json!({ "name": "inquire", "arguments": { "text": "way" } })).await;
            let question = peer.receive().await;
            assert_eq!(question["method"], "elicitation/create");
            assert_eq!(question["params"]["message"], "Port\n\nWhich way?");
            let choice = &question["params"]["requestedSchema"]["properties"]["choice"];
            let (labels, titles) = match revision {
                "2025-06-18" => (json!([choice["enum"][0]]), json!([choice["enumNames"][0]])),
                _ => (json!([choice["oneOf"][0]["const"]]), json!([choice["oneOf"][0]["title"]])),
            };
            assert_eq!((labels, titles), (json!(["left"]), json!(["left — one"])), "{question}");
            peer.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await;
            assert_eq!(said(&peer.receive().await), *want);
        }
    }
    let mut peer = Peer::modern(json!({ "elicitation": {} }));
    for (result, want) in &answers {
        let call = json!({ "name": "inquire", "arguments": { "text": "way" } });
        let first = peer.ask("tools/call", call.clone()).await;
        assert_eq!(first["result"]["resultType"], "input_required");
        let (key, request) =
            first["result"]["inputRequests"].as_object().and_then(|all| all.iter().next()).expect("one");
        assert_eq!(request["params"]["requestedSchema"]["properties"]["text"]["type"], "string", "{request}");
        let mut second = call;
        second["requestState"] = first["result"]["requestState"].clone();
        second["inputResponses"] = json!({ key.as_str(): result });
        assert_eq!(said(&peer.ask("tools/call", second).await), *want);
    }
    let mut peer = Peer::legacy("2025-11-25", json!({})).await;
    assert_eq!(said(&peer.call("inquire", "way").await), "nobody");
}
