//! What web pages and plain HTTP clients meet: preflights, what is accepted, bodies that are no message.

use std::net::SocketAddr;
use std::sync::Arc;

use nika_mcp::{HttpConfig, HttpServer};
use serde_json::{Value, json};

use crate::backend::Scene;
use crate::http::{TOKEN, Web, hello};

const APP: &str = "https://app.example.com";

#[tokio::test]
async fn a_page_that_may_call_is_told_so_before_it_shows_the_token() {
    let mut web = Web::open_to(&["https://app.example.com:443"]).await;
    web.set("Authorization", "").set("Access-Control-Request-Method", "POST");
    let wanted = "authorization,content-type,mcp-param-path,mcp-session-id,x-other";
    web.set("Access-Control-Request-Headers", wanted);
    for page in [APP, "http://localhost:5173", "https://localhost:3", "http://127.0.0.1:80"] {
        let told = web.set("Origin", page).send("OPTIONS", "").await;
        assert_eq!((told.status, told.body.as_str()), (200, ""), "{page}");
        assert_eq!(told.header("access-control-allow-origin").as_deref(), Some(page));
        assert_eq!(told.header("vary").as_deref(), Some("origin"));
        let methods = told.header("access-control-allow-methods").expect("methods");
        assert!(["get", "post", "delete"].iter().all(|method| methods.contains(method)), "{methods}");
        let headers = told.header("access-control-allow-headers").expect("headers");
        let headers: Vec<&str> = headers.split(", ").collect();
        for header in [
            "authorization",
            "content-type",
            "mcp-protocol-version",
            "mcp-session-id",
            "mcp-method",
            "mcp-name",
            "mcp-param-path",
            "last-event-id",
        ] {
            assert!(headers.contains(&header), "{header} among {headers:?}");
        }
        assert!(!headers.contains(&"x-other"), "{headers:?}");
        assert_eq!(told.header("access-control-allow-private-network"), None);
    }
    let asked = web.set("Origin", APP).set("Access-Control-Request-Private-Network", "true").send("OPTIONS", "").await;
    assert_eq!(asked.header("access-control-allow-private-network").as_deref(), Some("true"));
    for page in ["https://evil.example.com", "https://app.example.com:8443", "null"] {
        let refused = web.set("Origin", page).send("OPTIONS", "").await;
        assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None), "{page}");
    }
    // Without a page there is no preflight, and nothing comes in without the token.
    assert_eq!(web.set("Origin", "").send("OPTIONS", "").await.status, 401);
}

#[tokio::test]
async fn a_page_that_may_call_can_read_what_it_is_answered() {
    let mut web = Web::open_to(&["https://app.example.com:443"]).await;
    let plain = web.post(hello()).await;
    assert_eq!((plain.header("access-control-allow-origin"), plain.header("vary").as_deref()), (None, Some("origin")));
    web.set("Origin", APP);
    let greeted = web.post(hello()).await;
    let refused = web.set("Authorization", "Bearer wrong").post(hello()).await;
    assert_eq!((greeted.status, refused.status), (200, 401));
    for answer in [greeted, refused] {
        assert_eq!(answer.header("access-control-allow-origin").as_deref(), Some(APP), "{}", answer.head);
        let exposed = answer.header("access-control-expose-headers").expect("headers to read");
        assert!(exposed.contains("mcp-session-id") && exposed.contains("www-authenticate"), "{exposed}");
    }
    // A page that may not call learns nothing, with the token or without.
    for token in ["", "Bearer wrong", &format!("Bearer {TOKEN}")] {
        let refused = web.set("Authorization", token).set("Origin", "https://evil.example.com").post(hello()).await;
        assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
    }
}

#[tokio::test]
async fn an_origin_that_is_none_is_refused_at_the_start() {
    for none in ["app.example.com", "*", "https://app.example.com/page"] {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let config = HttpConfig { listen, token: None, hosts: Vec::new(), origins: vec![none.into()] };
        let refused = HttpServer::bind(Arc::new(Scene::default()), config).await.expect_err("no origin");
        assert!(refused.to_string().contains(none) && refused.to_string().contains("SCHEME://HOST:PORT"), "{refused}");
    }
}

#[tokio::test]
async fn whoever_accepts_anything_is_served() {
    let mut web = Web::open().await;
    for (accept, want) in
        [("*/*", 200), ("", 200), ("application/json, */*;q=0.5", 200), ("application/json", 406), ("text/html", 406)]
    {
        assert_eq!(web.set("Accept", accept).post(hello()).await.status, want, "{accept:?}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_message_is_answered_as_on_stdio() {
    let mut web = Web::open().await;
    for (body, code, id) in [
        ("{\"jsonrpc\":", -32700, Value::Null),
        ("nonsense", -32700, Value::Null),
        ("", -32700, Value::Null),
        (" [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, Value::Null),
        ("7", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":5}", -32600, json!(9)),
        ("{\"jsonrpc\":\"1.0\",\"id\":4,\"method\":\"ping\"}", -32600, json!(4)),
        ("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\",\"params\":{\"a\":\"b\\ud800\"}}", -32700, json!(8)),
    ] {
        let answer = web.send("POST", body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert_eq!(answer.header("content-type").as_deref(), Some("application/json"), "{body}");
        let error = answer.last();
        assert_eq!((&error["error"]["code"], &error["id"]), (&json!(code), &id), "{body}: {error}");
    }
    // What is not even said to be JSON stays what it was.
    assert_eq!(web.set("Content-Type", "text/plain").send("POST", "nonsense").await.status, 415);
}
