//! What goes, what stays, what is shortened.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// `‹…›` marks what must go; the kind follows the colon.
const GO: &[(&str, &str)] = &[
    // By form.
    ("export K=‹AKIAIOSFODNN7EXAMPLE›", "aws_key"),
    ("x ‹ghp_0123456789abcdefghijABCDEFGHIJ012345› y", "github_token"),
    ("‹github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv›", "github_token"),
    ("(‹glpat-abcdefABCDEF01234567›)", "gitlab_token"),
    ("‹sk-proj-abcDEF0123456789abcDEF0123456789›", "api_key"),
    ("‹sk-ant-api03-abcDEF0123456789_abcDEF-xyz›", "api_key"),
    ("‹xoxb-123456789012-abcdefABCDEF›", "slack_token"),
    ("‹AIzaSyA-0123456789abcdefghijklmnopqrstu›", "google_key"),
    ("‹sk_live_0123456789abcdefABCDEF›", "stripe_key"),
    ("‹npm_0123456789abcdefghijABCDEFGHIJ012345›", "npm_token"),
    ("jwt ‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P›.", "jwt"),
    ("a\n‹-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----›\nb", "private_key"),
    ("‹-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEA›", "private_key"),
    // By what stands before.
    ("curl -H 'Authorization: Bearer ‹abcDEF123456›'", "key"),
    ("curl -H \"Authorization: Basic ‹dXNlcjpwYXNz›\" https://x", "key"),
    ("Bearer ‹0a1b2c3d4e5f›", "bearer"),
    ("git clone https://me:‹hunter2›@example.com/r.git", "url_password"),
    ("postgres://u:‹p@ss›@db/x", "url_password"),
    ("https://‹0123456789abcdefXYZw›@host/", "url_password"),
    ("PASSWORD=‹hunter2›", "key"),
    ("DB_PASSWORD=‹correcthorse› ./run", "key"),
    ("TOKEN=‹swordfish›", "key"),
    ("https://x/?a=1&access_token=‹abc123def›&b=2", "key"),
    ("mysql --password ‹s3cr3t› -h x", "key"),
    ("mysql --password=‹s3cr3t› -h x", "key"),
    ("curl -u me:‹hunter2› https://x", "password"),
    ("{\"password\": \"‹hunter2›\"}", "key"),
    ("['password' => '‹S3cr3tPassw0rd›', 'user' => 'me']", "key"),
    (":password => \"‹hunter2›\"", "key"),
    ("\"{\\\"password\\\": \\\"‹hunter2›\\\"}\"", "key"),
    ("password: ‹hunter2›", "key"),
    ("password: ‹correcthorsebattery›", "key"),
    ("let api_key = \"‹abcd-efgh›\";", "key"),
    ("key=‹q83vEjRWeJCrze8SNFZ4kKvN7xI0›", "key"),
    ("aws_secret_access_key = ‹wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY›", "key"),
];

const STAY: &[&str] = &[
    "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    "key=2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    "cache_key: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "id 123e4567-e89b-12d3-a456-426614174000, key = 123e4567-e89b-12d3-a456-426614174000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "fn next(&mut self) -> Token { self.token = Token::new(kind); }",
    "struct S { password: String, token: Option<Token>, secret: bool }",
    "login(user=user, password=password)",
    "let token = self.next_token()?;",
    "if token == other_token { }",
    "match key { Key::Token => 1 }",
    "password=$PASSWORD token=${TOKEN} secret=<secret> --token $TOKEN",
    "export GITHUB_TOKEN=$(gh auth token)",
    "max_tokens=1000000",
    "bearer authentication is described below, Bearer tokens too",
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIE",
    "ssh://git@github.com/a/b.git and https://example.com/@scope/name",
    "class=\"sk-button-primary-large-two-x\" task-0123456789abcdef0123",
    "docker run -u 1000:1000 x; git push -u origin main:main2 2>&1 || echo",
    "see https://example.com/a:b/c@d",
    "eyJ is how they begin",
    "ghp_short AKIA1234 xoxb-1",
    "src/token.rs:12: let x = 5;",
    "",
    "äöü = ß: „…“ 🦀",
];

#[test]
fn what_goes() {
    for (marked, kind) in GO {
        let text = marked.replace(['‹', '›'], "");
        let (head, rest) = marked.split_once('‹').unwrap();
        let (_, tail) = rest.split_once('›').unwrap();
        assert_eq!(redact_text(&text), format!("{head}[redacted:{kind}]{tail}"), "{text}");
    }
}

#[test]
fn what_stays() {
    for text in STAY {
        assert_eq!(redact_text(text), *text);
    }
}

#[test]
fn values_under_secret_names_go_whole() {
    let shown = redact(&json!({
        "path": "a.rs", "max_tokens": 5, "password": "x", "token": 12345, "secret": true, "api_key": "",
        "env": {"GITHUB_TOKEN": "abc", "HOME": "/root"},
        "headers": [{"name": "Authorization", "value": "whatever"}, {"name": "Accept", "value": "*/*"}],
        "credentials": {"user": "me", "list": ["a", null]},
        "cacheKey": "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "key": "q83vEjRWeJCrze8SNFZ4kKvN7xI0",
    }));
    assert_eq!(
        shown,
        json!({
            "path": "a.rs", "max_tokens": 5, "password": "[redacted:key]", "token": "[redacted:key]", "secret": true,
            "api_key": "",
            "env": {"GITHUB_TOKEN": "[redacted:key]", "HOME": "/root"},
            "headers": [{"name": "Authorization", "value": "[redacted:key]"}, {"name": "Accept", "value": "*/*"}],
            "credentials": {"user": "[redacted:key]", "list": ["[redacted:key]", null]},
            "cacheKey": "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "key": "[redacted:key]",
        })
    );
}

#[test]
fn long_texts_keep_their_beginning() {
    let text = "é".repeat(1000);
    let shown = redact_text(&text);
    let hash = Hash::of(text.as_bytes());
    assert_eq!(shown, format!("{}… [2000 bytes, sha256 {hash}]", "é".repeat(240)));
    assert_eq!(redact_text(&"é".repeat(240)), "é".repeat(240));
    assert!(is_shortened(&shown) && !is_shortened("é… [2]"));
}

#[test]
fn long_lists_and_objects_are_counted() {
    let list: Vec<u32> = (0..105).collect();
    let shown = redact(&json!(list));
    assert_eq!(shown.as_array().unwrap().len(), 101);
    assert_eq!(shown[100], "[5 more]");
    let object: Map<String, Value> = (0..105).map(|n| (format!("k{n}"), Value::Null)).collect();
    assert_eq!(redact(&Value::Object(object)).as_object().unwrap().len(), 101);
}

#[test]
fn a_secret_is_never_cut_into_view() {
    let secrets = [
        "ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned(),
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "Sx".repeat(4000)),
        format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", "Ab9".repeat(2000), "Cd8".repeat(2000)),
        "https://me:Hunter2-and-more-of-it@example.com".to_owned(),
        "PASSWORD=Hunter2-and-more-of-it".to_owned(),
    ];
    for secret in &secrets {
        for before in 180..=245 {
            let text = format!("{} {secret} {}", "z".repeat(before), "w".repeat(9000));
            let shown = redact_text(&text);
            for piece in ["ghp_01", "BEGIN PRIVATE KEY-----\nS", "eyJhbGciOiJIU", "Hunt"] {
                assert!(!shown.contains(piece), "{before}: {shown}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_taken(text in ".{0,600}") {
        redact_text(&text);
    }

    #[test]
    fn what_looks_like_syntax_is_taken(text in "(-----BEGIN |PRIVATE KEY|password|token|[=:\"'\\\\ \n@/é-]|://|Bearer |-u |--|sk-|eyJ|[a-z0-9]{1,9}){0,60}") {
        redact_text(&text);
    }

    #[test]
    fn what_looks_like_markup_is_taken(text in "(<|>|/|</?password>|<key|<string name=\"token\"| value=|<!\\[CDATA\\[|]]>|\"|machine |login |password |passphrase: |AC[0-9a-f]{32}|[0-9]{9}:AA|[ \n\\\\é=:]|[a-z0-9]{1,9}){0,60}") {
        redact_text(&text);
    }

    #[test]
    fn a_token_goes_wherever_it_stands(before in "[ -~é]{0,300}", after in "[ -~é]{0,300}") {
        let shown = redact_text(&format!("{before} ghp_0123456789abcdefghijABCDEFGHIJ012345 {after}"));
        prop_assert!(!shown.contains("ghp_0123456789abcdef"), "{shown}");
    }
}
