//! Redirects that lead inside, in circles, out of TLS, or to hosts that nobody allowed. Everything is allowed by mode,
//! so that only the walls hold.

use nika_guard::{Mode, RuleKind};
use nika_testkit::world;
use serde_json::json;

use super::scene::{Server, ground, page, redirect, with};

#[test]
fn no_redirect_leads_inside() {
    let secret = |_: &super::scene::Request| page("text/plain", "secret");
    let inner = Server::new(secret);
    let inner6 = Server::on("[::1]:0", secret).ok();
    let (port, port6) = (inner.at.port(), inner6.as_ref().map_or(1, |server| server.at.port()));
    let targets: Vec<(String, u16)> = vec![
        ("http://169.254.169.254/latest/meta-data/iam/".into(), 501),
        ("http://[fd00:ec2::254]/latest/".into(), 501),
        ("http://[::ffff:169.254.169.254]/".into(), 501),
        (format!("http://127.0.0.1:{port}/"), 501),
        (format!("//127.0.0.1:{port}/"), 501),
        (format!("\\\\127.0.0.1:{port}\\"), 501),
        (format!("http:\\\\127.0.0.1:{port}"), 501),
        (format!("http://[::1]:{port6}/"), 501),
        (format!("http://[::]:{port6}/"), 501),
        (format!("http://[::ffff:127.0.0.1]:{port}/"), 501),
        (format!("http://[::127.0.0.1]:{port}/"), 501),
        (format!("http://[64:ff9b::7f00:1]:{port}/"), 501),
        (format!("http://[2002:7f00:1::]:{port}/"), 501),
        ("http://[::ffff:10.0.0.1]/".into(), 501),
        (format!("http://2130706433:{port}/"), 501),
        (format!("http://0x7f.1:{port}/"), 501),
        (format!("http://0177.0.0.1:{port}/"), 501),
        (format!("http://0.0.0.0:{port}/"), 501),
        (format!("http://localhost:{port}/"), 501),
        (format!("http://localhost.:{port}/"), 501),
        (format!("http://LocalHost:{port}/"), 501),
        (format!("http://１２７.0.0.1:{port}/"), 501),
        ("http://10.0.0.1/".into(), 501),
        ("http://192.168.1.1/".into(), 501),
        ("http://100.64.0.1/".into(), 501),
        (format!("http://site.example@127.0.0.1:{port}/"), 507),
        (format!("http://a:b@127.0.0.1:{port}/"), 507),
        ("file:///etc/passwd".into(), 507),
        ("gopher://127.0.0.1/_x".into(), 507),
        ("ftp://127.0.0.1/".into(), 507),
        ("javascript:alert(1)".into(), 507),
        ("data:text/plain,secret".into(), 507),
        ("http://".into(), 507),
        ("http://127.0.0.1:0/".into(), 507),
    ];
    let told: Vec<String> = targets.iter().map(|(to, _)| to.clone()).collect();
    let site = Server::new(move |request| {
        let at: usize = request.path.trim_start_matches('/').parse().expect("a number");
        redirect(&told[at])
    });
    let world = with(world().mode(Mode::AcceptAll), ground(&[("site.example", &site)]));
    for (at, (to, code)) in targets.iter().enumerate() {
        let called = world.call("web_fetch", json!({"url": format!("http://site.example/{at}")}));
        let error = called.refused(*code);
        assert!(!error.message.contains("secret") || to.contains("secret"), "{to}: {error}");
        // A request of another kind is not even told to go there.
        let sent = world.call("remote_trigger", json!({"url": format!("http://site.example/{at}")})).text();
        assert!(sent.contains("302"), "{to}: {sent}");
    }
    for (to, _) in targets.iter().filter(|(to, _)| to.starts_with("http")) {
        for tool in ["web_fetch", "remote_trigger"] {
            let error = world.call(tool, json!({"url": to})).outcome.result.expect_err(to);
            assert!(matches!(error.code.0, 500 | 501), "{tool} {to}: {error}");
        }
    }
    let reached = inner.seen() + inner6.map_or(0, |server| server.seen());
    println!("probes of redirects: {}, reached: {reached}", targets.len());
    assert_eq!((targets.len(), reached), (34, 0));
    assert_eq!(site.seen(), 2 * targets.len());
}

#[test]
fn a_redirect_to_another_host_is_judged_as_a_call_would_be() {
    let other = Server::new(|_| page("text/plain", "the other page"));
    let site = Server::new(|request| match request.path.as_str() {
        "/listed" => redirect("http://docs.python.org/3/"),
        "/long" => redirect(&format!("http://docs.python.org/?q={}", "a".repeat(400))),
        "/same" => redirect("/there"),
        "/there" => page("text/plain", "the same host"),
        _ => redirect("http://other.example/page?x=1"),
    });
    let names = || ground(&[("docs.rs", &site), ("docs.python.org", &other), ("other.example", &other)]);
    let fetch = |world: &nika_testkit::World, path: &str| {
        world.call("web_fetch", json!({"url": format!("http://docs.rs{path}")}))
    };

    let asking = with(world().mode(Mode::Ask), names());
    fetch(&asking, "/same").says("the same host").says("redirected to http://docs.rs/there");
    let elsewhere = fetch(&asking, "/other").text();
    assert!(elsewhere.contains("http://other.example/page?x=1") && elsewhere.contains("mode ask"), "{elsewhere}");
    assert!(fetch(&asking, "/long").text().contains("was not followed"));
    assert_eq!(other.seen(), 0);
    fetch(&asking, "/listed").says("the other page");
    let hops: Vec<_> = asking.journal().into_iter().filter(|line| line["event"] == "WebFetch").collect();
    let told = hops.last().expect("it answered")["hops"].to_string();
    assert!(told.contains("net(docs.python.org)") && told.contains("shipped list"), "{told}");

    for (kind, rule, says) in [
        (RuleKind::Allow, "net(other.example)", "the other page"),
        (RuleKind::Deny, "net(other.example)", "was not followed there"),
        (RuleKind::Ask, "net(other.example)", "was not followed there"),
    ] {
        let mode = if kind == RuleKind::Allow { Mode::Ask } else { Mode::AcceptAll };
        fetch(&with(world().mode(mode).rule(kind, rule), names()), "/other").says(says);
    }
}

#[test]
fn circles_and_long_ways_end() {
    let site = Server::new(|request| match request.path.as_str() {
        "/a" => redirect("/b"),
        "/b" => redirect("/a"),
        "/self" => redirect("/self#again"),
        path => {
            let at: usize = path.trim_start_matches('/').parse().expect("a number");
            if at == 5 { page("text/plain", "arrived") } else { redirect(&format!("/{}", at + 1)) }
        }
    });
    let world = with(world().mode(Mode::AcceptAll), ground(&[("site.example", &site)]));
    let fetch = |path: &str| world.call("web_fetch", json!({"url": format!("http://site.example{path}")}));
    assert!(fetch("/a").refused(507).message.contains("circle"));
    assert!(fetch("/self").refused(507).message.contains("circle"));
    assert!(fetch("/6").refused(507).message.contains("more than 5"));
    fetch("/0").says("arrived");
}

#[test]
fn the_list_holds_for_pages_and_for_nothing_else() {
    let site = Server::new(|_| page("text/plain", "a page"));
    let names = || ground(&[("docs.rs", &site), ("www.docs.rs", &site), ("site.example", &site)]);
    let world = with(world().mode(Mode::Ask), names());
    world.call("web_fetch", json!({"url": "http://docs.rs/serde"})).says("a page");
    let long = format!("http://docs.rs/?q={}", "a".repeat(300));
    for (tool, arguments) in [
        ("web_fetch", json!({"url": long})),
        ("web_fetch", json!({"url": "http://www.docs.rs/"})),
        ("web_fetch", json!({"url": "http://site.example/"})),
        ("remote_trigger", json!({"url": "http://docs.rs/serde"})),
        ("remote_trigger", json!({"url": "http://docs.rs/serde", "method": "POST"})),
    ] {
        world.call(tool, arguments.clone()).refused(205);
    }
    let denied = with(nika_testkit::world().rule(RuleKind::Deny, "net(docs.rs)"), names());
    denied.call("web_fetch", json!({"url": "http://docs.rs/serde"})).refused(205);
    assert_eq!(site.seen(), 1);
}
