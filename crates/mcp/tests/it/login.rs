//! Logins to servers that are good and to servers that are wrong in every way we thought of: what a caller reads, what
//! the servers were asked, what is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nika_contract::{BoxFuture, Clock, Code, ToolError, code};
use nika_mcp::client::auth::{
    ByPerson, Fetch, Invitation, Limits, Memory, OAuth, Parts, Settings, State, Vault, Visit, Visited,
};
use nika_mcp::client::{Again, Authorizer, Proxies, Refusal};
use nika_testkit::login::{LoginServer, Wrong, ask, browse, get};
use serde_json::json;

/// A clock that is set.
#[derive(Debug, Default)]
struct Set(AtomicU64);

impl Set {
    fn go_on(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }
}

impl Clock for Set {
    fn unix_ms(&self) -> u64 {
        1_700_000_000_000 + self.0.load(Ordering::SeqCst)
    }
}

/// How somebody, or nobody, meets a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Person {
    /// Opens it; the browser comes back by itself.
    Browses,
    /// Opens it elsewhere and pastes where it ended.
    Pastes,
    /// Others knock at the door first.
    IsDisturbed,
    /// Looks at it and goes for lunch.
    Waits,
    /// Is not there.
    Nobody,
}

impl Visit for Person {
    fn visit<'a>(&'a self, invitation: &'a Invitation) -> BoxFuture<'a, Visited> {
        Box::pin(async move {
            if *self == Person::Nobody {
                return Visited::Nobody;
            }
            if *self == Person::Waits {
                return Visited::Shown;
            }
            let Some(back) = browse(&invitation.url).await else { return Visited::Nobody };
            if *self == Person::Pastes {
                return Visited::Back(format!("  {back}\n"));
            }
            let listener = back.split("/callback").next().unwrap_or_default();
            if *self == Person::IsDisturbed {
                for stray in ["/", "/callback?code=x&state=guessed", "/favicon.ico"] {
                    let answer = get(&format!("{listener}{stray}")).await.expect("an answer");
                    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
                }
            }
            // The login may be over as soon as this arrives.
            let _ = get(&back).await;
            Visited::Shown
        })
    }
}

/// One process of a person: the vault may be another's, too.
struct Process {
    oauth: OAuth,
    clock: Arc<Set>,
}

const NEVER: &(dyn Fn() -> bool + Send + Sync) = &|| false;

fn process(url: &str, vault: &Memory, settings: Settings) -> Process {
    let clock = Arc::new(Set::default());
    let limits = Limits { connect: Duration::from_secs(5), whole: Duration::from_millis(700) };
    let parts = Parts {
        vault: Arc::new(vault.clone()),
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        fetch: Fetch::new(Proxies::default(), limits),
    };
    Process { oauth: OAuth::new("srv", url, settings, Arc::new(parts)).expect("an address"), clock }
}

impl Process {
    async fn login(&self, person: Person) -> Result<State, ToolError> {
        let how = ByPerson { visit: &person, patience: Duration::from_secs(20), cancelled: NEVER, asked_for: true };
        self.oauth.login(&|_| Ok(()), &how).await
    }

    /// A request as the transport makes it: repeated twice at most. Its status.
    async fn call(&self, url: &str) -> Result<u16, ToolError> {
        let mut repeats = 0;
        loop {
            let headers = self.oauth.headers(url).await?;
            let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let answer = ask(url, "POST", &headers).await.expect("the server answers");
            let status: u16 = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
            if !matches!(status, 401 | 403) || repeats == 2 {
                return Ok(status);
            }
            let challenges = answer.lines().filter_map(|line| line.strip_prefix("WWW-Authenticate: "));
            let challenges = challenges.map(str::to_owned).collect();
            let refusal = Refusal { url: url.to_owned(), status, challenges };
            if self.oauth.refused(&refusal).await? == Again::No {
                return Ok(status);
            }
            repeats += 1;
        }
    }
}

fn kept(vault: &Memory) -> String {
    String::from_utf8(vault.read().expect("it can be read").unwrap_or_default()).expect("it is text")
}

fn code_of<T: std::fmt::Debug>(result: Result<T, ToolError>) -> Code {
    result.expect_err("it fails").code
}

#[tokio::test]
async fn a_person_logs_in_once_and_calls_go_through() {
    for person in [Person::Browses, Person::Pastes, Person::IsDisturbed] {
        let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
        let process = process(&server.url(), &vault, Settings::default());
        assert_eq!(code_of(process.call(&server.url()).await), code::MCP_LOGIN_NEEDED);
        assert_eq!(process.oauth.state().unwrap(), State::Missing);
        let state = process.login(person).await.unwrap();
        let State::Authorized { issuer, until_s, scopes, renews } = state else { panic!("{state}") };
        assert_eq!((issuer, until_s, renews), (server.issuer(), Some(1_700_003_600), true));
        assert_eq!(scopes, ["read"]);
        assert_eq!(process.call(&server.url()).await.unwrap(), 200);
        let asked = server.asked();
        assert_eq!((asked.registered, asked.pages, asked.codes, asked.renewals), (1, 1, 1, 0), "{person:?}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_before_anybody_is_sent_there_and_nothing_is_kept() {
    for (wrong, expected, pages) in [
        (Wrong::NoPkce, code::MCP_LOGIN_UNSAFE, 0),
        (Wrong::OtherIssuer, code::MCP_LOGIN_UNSAFE, 0),
        (Wrong::OtherResource, code::MCP_LOGIN_RESOURCE, 0),
        (Wrong::EndlessRedirects, code::MCP_LOGIN_UNREACHED, 0),
        (Wrong::RedirectElsewhere, code::MCP_LOGIN_UNREACHED, 0),
        (Wrong::HugeMetadata, code::MCP_LOGIN_UNREACHED, 0),
        (Wrong::Silent, code::MCP_LOGIN_UNREACHED, 0),
        (Wrong::PlainTokenEndpoint, code::MCP_LOGIN_ADDRESS, 0),
        (Wrong::NoRegistration, code::MCP_LOGIN_REGISTRATION, 0),
        (Wrong::Denies, code::MCP_LOGIN_REFUSED, 1),
        (Wrong::OtherState, code::MCP_LOGIN_ANSWER, 1),
        (Wrong::OtherIss, code::MCP_LOGIN_ANSWER, 1),
        (Wrong::NoToken, code::MCP_LOGIN_REFUSED, 1),
        (Wrong::OddTokenType, code::MCP_LOGIN_TOKEN, 1),
        (Wrong::TokenWithLineEnd, code::MCP_LOGIN_TOKEN, 1),
    ] {
        let (server, vault) = (LoginServer::start(wrong).await, Memory::default());
        let process = process(&server.url(), &vault, Settings::default());
        // By hand, so that a wrong answer comes to an end, too: a listener goes on waiting for the right one.
        let error = process.login(Person::Pastes).await.expect_err("it is wrong");
        assert_eq!((error.code, server.asked().pages), (expected, pages), "{wrong:?}: {error}");
        assert!(error.hint.is_some() && !error.to_string().contains('\u{1b}'), "{wrong:?}: {error}");
        assert!(!kept(&vault).contains("access"), "{wrong:?}");
    }
}

#[tokio::test]
async fn a_token_that_runs_out_is_renewed_once_however_many_want_it() {
    let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
    let (one, other) =
        (process(&server.url(), &vault, Settings::default()), process(&server.url(), &vault, Settings::default()));
    one.login(Person::Browses).await.unwrap();
    for process in [&one, &other] {
        process.clock.go_on(3_590);
    }
    let url = server.url();
    let (a, b, c) = tokio::join!(one.call(&url), other.call(&url), one.call(&url));
    assert_eq!([a.unwrap(), b.unwrap(), c.unwrap()], [200, 200, 200]);
    let asked = server.asked();
    assert_eq!((asked.renewals, asked.reused, asked.pages), (1, 0, 1));
    // A server that forgot its tokens before their time: renewed at its word.
    server.forget_tokens();
    one.clock.go_on(10);
    assert_eq!(one.call(&url).await.unwrap(), 200);
    assert_eq!(server.asked().renewals, 2);
}

#[tokio::test]
async fn a_login_that_cannot_be_renewed_says_so_and_the_next_one_is_the_same_client() {
    let (server, vault) = (LoginServer::start(Wrong::NoRenewal).await, Memory::default());
    let process = process(&server.url(), &vault, Settings::default());
    process.login(Person::Browses).await.unwrap();
    process.clock.go_on(4_000);
    assert_eq!(process.oauth.state().unwrap(), State::Renewing { issuer: server.issuer() });
    let error = process.call(&server.url()).await.expect_err("it has run out");
    assert_eq!(error.code, code::MCP_LOGIN_EXPIRED);
    assert!(error.to_string().contains("nika mcp login srv"), "{error}");
    assert_eq!(process.oauth.state().unwrap(), State::Expired { issuer: server.issuer() });
    // The spent refresh token is not tried again.
    let _ = process.call(&server.url()).await;
    assert_eq!(server.asked().renewals, 1);
    process.login(Person::Browses).await.unwrap();
    assert_eq!((server.asked().registered, server.asked().pages), (1, 2));
}

#[tokio::test]
async fn a_renewal_that_fails_for_a_moment_is_tried_again_and_nothing_is_forgotten() {
    let (server, vault) = (LoginServer::start(Wrong::RenewalFails).await, Memory::default());
    let process = process(&server.url(), &vault, Settings::default());
    process.login(Person::Browses).await.unwrap();
    // Within the last minute the old token still does.
    process.clock.go_on(3_590);
    assert_eq!(process.call(&server.url()).await.unwrap(), 200);
    process.clock.go_on(20);
    assert_eq!(code_of(process.call(&server.url()).await), code::MCP_LOGIN_REFUSED);
    assert!(kept(&vault).contains("refresh-1"));
    assert_eq!(server.asked().renewals, 2);
}

#[tokio::test]
async fn a_token_goes_to_its_own_server_alone() {
    let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
    let other = LoginServer::start(Wrong::Nothing).await;
    let process = process(&server.url(), &vault, Settings::default());
    process.login(Person::Browses).await.unwrap();
    for elsewhere in [other.url(), server.url().replace("127.0.0.1", "localhost"), "https://127.0.0.1/mcp".into()] {
        assert!(process.oauth.headers(&elsewhere).await.unwrap().is_empty(), "{elsewhere}");
        let refusal = Refusal { url: elsewhere, status: 401, challenges: vec![] };
        assert_eq!(process.oauth.refused(&refusal).await.unwrap(), Again::No);
    }
    assert!(!process.oauth.headers(&server.url()).await.unwrap().is_empty());
    assert!(other.asked().tokens.is_empty());
}

#[tokio::test]
async fn a_server_that_refuses_everything_ends_no_call_in_a_circle() {
    let (server, vault) = (LoginServer::start(Wrong::RefusesTokens).await, Memory::default());
    let process = process(&server.url(), &vault, Settings::default());
    let process = Process { oauth: process.oauth.with_visit(Arc::new(Person::Browses)), clock: process.clock };
    let mut ends = Vec::new();
    for _ in 0..3 {
        ends.push(process.call(&server.url()).await);
    }
    let last = ends.pop().expect("three calls").expect_err("it is a circle");
    assert_eq!(last.code, code::MCP_LOGIN_LOOP);
    assert!(server.asked().pages <= 3, "{:?}", server.asked());
}

#[tokio::test]
async fn more_rights_are_asked_for_beside_those_there_are_and_never_twice() {
    let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
    let process = process(&server.url(), &vault, Settings::default());
    process.login(Person::Browses).await.unwrap();
    server.want("write");
    let error = process.call(&server.url()).await.expect_err("nobody is there");
    assert_eq!(error.code, code::MCP_LOGIN_SCOPE);
    assert!(error.message.contains("write") && process.oauth.wants_more().unwrap(), "{error}");
    process.login(Person::Browses).await.unwrap();
    assert_eq!(process.call(&server.url()).await.unwrap(), 200);
    assert_eq!(server.asked().scopes, ["read", "write read"]);

    let (greedy, vault) = (LoginServer::start(Wrong::NeverEnough).await, Memory::default());
    let process = self::process(&greedy.url(), &vault, Settings::default());
    let process = Process { oauth: process.oauth.with_visit(Arc::new(Person::Browses)), clock: process.clock };
    process.login(Person::Browses).await.unwrap();
    let error = process.call(&greedy.url()).await.expect_err("it is never enough");
    assert_eq!((error.code, greedy.asked().pages), (code::MCP_LOGIN_SCOPE, 2), "{error}");
}

#[tokio::test]
async fn nobody_there_late_or_gone_ends_a_login_in_words() {
    let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
    let process = process(&server.url(), &vault, Settings::default());
    let error = process.login(Person::Nobody).await.expect_err("nobody");
    assert_eq!(error.code, code::MCP_LOGIN_NEEDED);
    assert!(error.message.contains(&format!("{}/authorize", server.issuer())), "{error}");
    let wait = |patience, cancelled| ByPerson { visit: &Person::Waits, patience, cancelled, asked_for: true };
    let late = process.oauth.login(&|_| Ok(()), &wait(Duration::from_millis(150), NEVER)).await;
    assert_eq!(code_of(late), code::MCP_LOGIN_TIMEOUT);
    let gone = process.oauth.login(&|_| Ok(()), &wait(Duration::from_secs(20), &|| true)).await;
    assert_eq!(code_of(gone), code::CANCELLED);
}

#[tokio::test]
async fn every_host_is_judged_and_a_call_goes_to_no_new_one() {
    let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
    let process = process(&server.url(), &vault, Settings::default());
    let refuse = |host: &str| Err(ToolError::new(code::MCP_LOGIN_HOST, host.to_owned()));
    let patience = Duration::from_secs(5);
    let how = ByPerson { visit: &Person::Browses, patience, cancelled: NEVER, asked_for: true };
    let error = process.oauth.login(&refuse, &how).await.expect_err("no host is allowed");
    assert_eq!((error.code, error.message.as_str()), (code::MCP_LOGIN_HOST, "127.0.0.1"));
    assert_eq!(server.asked(), nika_testkit::login::Asked::default());

    // The same machine under another name: to the door it is another host, and it names this one.
    let by_name = server.url().replace("127.0.0.1", "localhost");
    let variable = |_: &str| Some("hush".to_owned());
    let own = json!({ "grant": "client_credentials", "client_id": "me", "client_secret_env": "SECRET" });
    let process = self::process(&by_name, &vault, Settings::read(&own, &variable).expect("it fits"));
    let error = process.call(&by_name).await.expect_err("nobody named that host");
    assert!(error.code == code::MCP_LOGIN_HOST && error.message.contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn a_service_account_needs_nobody() {
    let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
    let variable = |name: &str| (name == "SECRET").then(|| "hush".to_owned());
    let mut own = json!({ "grant": "client_credentials", "client_id": "me", "client_secret_env": "SECRET" });
    own["issuer"] = server.issuer().into();
    let process = process(&server.url(), &vault, Settings::read(&own, &variable).expect("it fits"));
    assert_eq!(process.call(&server.url()).await.unwrap(), 200);
    assert_eq!((server.asked().pages, server.asked().registered), (0, 0));
    // What is configured stays where it is configured.
    assert!(!kept(&vault).contains("hush"), "{}", kept(&vault));
}

#[tokio::test]
async fn a_secret_goes_to_no_authorization_server_that_only_the_server_names() {
    let variable = |name: &str| (name == "SECRET").then(|| "hush".to_owned());
    for own in [
        json!({ "grant": "client_credentials", "client_id": "me", "client_secret_env": "SECRET" }),
        json!({ "grant": "jwt_bearer", "client_id": "me", "assertion_env": "SECRET" }),
        json!({ "client_id": "me", "client_secret_env": "SECRET" }),
    ] {
        let settings = Settings::read(&own, &variable).expect("it fits");
        // A server that is its own authorization server says so itself, and nobody else has.
        let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
        let first = process(&server.url(), &vault, settings.clone());
        let first = Process { oauth: first.oauth.with_visit(Arc::new(Person::Browses)), clock: first.clock };
        let error = first.call(&server.url()).await.expect_err("nobody named it");
        assert_eq!(error.code, code::MCP_LOGIN_HOST, "{own}");
        let hint = format!("`oauth.issuer: {}`", server.issuer());
        assert!(error.hint.as_deref().is_some_and(|said| said.contains(&hint)), "{error}");
        assert_eq!((server.asked().forms, server.asked().pages), (0, 0), "{own}");
    }
}

#[tokio::test]
async fn a_server_in_other_hands_gets_nothing_of_a_login_that_was_made_elsewhere() {
    let variable = |name: &str| (name == "SECRET").then(|| "hush".to_owned());
    let own = json!({ "grant": "client_credentials", "client_id": "me", "client_secret_env": "SECRET" });
    let with_secret = Settings::read(&own, &variable).expect("it fits");
    for settings in [with_secret, Settings::default()] {
        let (server, authority) = (LoginServer::start(Wrong::Nothing).await, LoginServer::start(Wrong::Nothing).await);
        server.name(&authority.issuer());
        let vault = Memory::default();
        let before = process(&server.url(), &vault, settings.clone());
        before.login(Person::Browses).await.expect("a person asked for it");
        assert_eq!(authority.asked().forms, 1);
        // It is taken over, and names itself.
        server.name(&server.issuer());
        let after = process(&server.url(), &vault, settings.clone());
        let after = Process { oauth: after.oauth.with_visit(Arc::new(Person::Browses)), clock: after.clock };
        after.clock.go_on(4_000);
        authority.forget_tokens();
        for error in [after.call(&server.url()).await.err(), after.login(Person::Browses).await.err()] {
            let error = error.expect("another authorization server");
            assert_eq!(error.code, code::MCP_LOGIN_HOST, "{error}");
            assert!(error.message.contains(&authority.issuer()) && error.message.contains(&server.issuer()), "{error}");
            assert!(error.to_string().contains("nika mcp logout srv"), "{error}");
        }
        assert_eq!((server.asked().forms, server.asked().pages, server.asked().registered), (0, 0, 0));
        // The way out that the error names.
        assert!(after.oauth.logout().expect("it is forgotten"));
        after.login(Person::Browses).await.expect("a person asked for it");
    }
}

#[tokio::test]
async fn a_login_of_another_authorization_server_than_the_configured_one_is_not_used() {
    let (server, authority) = (LoginServer::start(Wrong::Nothing).await, LoginServer::start(Wrong::Nothing).await);
    let vault = Memory::default();
    process(&server.url(), &vault, Settings::default()).login(Person::Browses).await.expect("a person logs in");
    let settings = Settings { issuer: Some(authority.issuer()), ..Settings::default() };
    let moved = process(&server.url(), &vault, settings);
    assert_eq!(moved.oauth.state().expect("readable"), State::Missing);
    assert!(moved.oauth.headers(&server.url()).await.expect("no trouble").is_empty());
}

#[tokio::test]
async fn a_call_that_nobody_can_log_in_for_is_no_circle_however_often_it_is_made() {
    let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
    let process = process(&server.url(), &vault, Settings::default());
    for _ in 0..5 {
        assert_eq!(code_of(process.call(&server.url()).await), code::MCP_LOGIN_NEEDED);
    }
}

#[tokio::test]
async fn a_logout_forgets_and_nothing_prints_a_token() {
    let (server, vault) = (LoginServer::start(Wrong::Nothing).await, Memory::default());
    let process = process(&server.url(), &vault, Settings::default());
    let state = process.login(Person::Browses).await.unwrap();
    let said = format!("{state} {state:?} {:?}", process.oauth);
    assert!(!said.contains("access-") && !said.contains("refresh-"), "{said}");
    assert!(kept(&vault).contains("access-1"), "the file is where they are");
    assert!(process.oauth.logout().unwrap());
    assert!(!process.oauth.logout().unwrap());
    assert!(!kept(&vault).contains("access-1"));
    assert_eq!(code_of(process.call(&server.url()).await), code::MCP_LOGIN_NEEDED);
}
