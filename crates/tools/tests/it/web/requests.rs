//! `remote_trigger`.

use nika_guard::Mode;
use nika_testkit::{world, yes};
use serde_json::json;

use super::scene::{Answer, Server, ground, page, redirect, with};

fn echo() -> Server {
    Server::new(|request| {
        let body = format!("{} {}\n{}\n{}", request.method, request.path, request.head.to_lowercase(), request.body);
        let mut answer = page("text/plain", body);
        answer.headers.push(("Set-Cookie".into(), "session=topsecret".into()));
        answer.headers.push(("X-Request-Id".into(), "r-1".into()));
        answer
    })
}

#[test]
fn a_request_goes_out_as_it_is_written() {
    let server = echo();
    let world = with(world().mode(Mode::Ask).person(yes()), ground(&[("hook.example", &server)]));
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
        let called = world.call(
            "remote_trigger",
            json!({
                "url": "http://hook.example/run?x=1",
                "method": method,
                "headers": {"X-Trigger": "abc", "X-Count": 5},
                "body": {"ref": "main"},
            }),
        );
        let text = called.text();
        for piece in
            ["200 OK", "x-request-id: r-1", "x-trigger: abc", "x-count: 5", "application/json", r#"{"ref":"main"}"#]
        {
            assert!(text.contains(piece), "{method}: {piece} in {text}");
        }
        assert!(text.contains(&format!("{method} /run?x=1")) && !text.contains("topsecret"), "{text}");
        assert!(text.starts_with(&format!("[untrusted content from {method} http://hook.example/")), "{text}");
    }
    let plain =
        json!({"url": "http://hook.example/", "method": "POST", "body": "a=1", "headers": {"Content-Type": "x/y"}});
    world.call("remote_trigger", plain).says("a=1").says("content-type: x/y");
    for bad in [
        json!({"url": "http://hook.example/", "method": "TRACE"}),
        json!({"url": "http://hook.example/", "headers": {"Host": "evil.example"}}),
        json!({"url": "http://hook.example/", "headers": {"a": {"b": 1}}}),
        json!({"url": "http://hook.example/", "headers": {"a": "b\r\nc: d"}}),
        json!({"url": "http://hook.example/", "body": "x".repeat(2 << 20)}),
        json!({"url": "http://hook.example/", "headers": {"X-Data": "x".repeat(64 << 10)}}),
        json!({"url": "http://hook.example/", "headers": {("x".repeat(64 << 10)): "a"}}),
    ] {
        world.call("remote_trigger", bad).refused(100);
    }
}

#[test]
fn secrets_of_headers_are_not_written_down() {
    let server = Server::new(|_| page("application/json", "{}"));
    let world = with(world().mode(Mode::AcceptAll), ground(&[("hook.example", &server)]));
    let headers = json!({
        "Authorization": "Bearer abcdefghijklmnop",
        "X-API-Key": "qrstuvwxyz123456",
        "Cookie": "sid=0123456789abcdef",
    });
    world.call("remote_trigger", json!({"url": "http://hook.example/", "method": "POST", "headers": headers})).ok();
    assert!(server.heads()[0].contains("Bearer abcdefghijklmnop"));
    let journal = format!("{:?}", world.journal());
    for secret in ["abcdefghijklmnop", "qrstuvwxyz123456", "0123456789abcdef"] {
        assert!(!journal.contains(secret), "{secret} in {journal}");
    }
}

#[test]
fn answers_of_any_kind_are_answers() {
    let failing = Server::new(|_| Answer { status: "500 Internal Server Error", ..page("text/plain", "broken") });
    let binary = Server::new(|_| page("image/png", b"\x89PNG\0".to_vec()));
    let moved = Server::new(|_| redirect("http://other.example/"));
    let names = ground(&[("failing.example", &failing), ("binary.example", &binary), ("moved.example", &moved)]);
    let world = with(world().mode(Mode::AcceptAll), names);
    let send = |host: &str| world.call("remote_trigger", json!({"url": format!("http://{host}.example/")}));
    send("failing").says("500 Internal Server Error").says("broken");
    send("binary").says("200 OK").says("image/png, 5 bytes");
    send("moved").says("302").says("location: http://other.example/").says("was not followed");
}
