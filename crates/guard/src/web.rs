//! Hosts whose pages may be looked at without a question: the documentation that programmers look up all day.
//!
//! The list answers one effect, [`Effect::Fetch`]: a GET of an ordinary address, which sends nothing but the address. It
//! answers a `?` and nothing else: not a floor, not an ask or deny rule, not a mode that denies. It implies nothing for
//! commands, for searches or for requests that send something; those state [`Effect::Net`].
//!
//! [`Effect::Fetch`]: crate::Effect::Fetch
//! [`Effect::Net`]: crate::Effect::Net

use std::fmt;
use std::sync::Arc;

use crate::rule::HostPattern;

/// The shipped hosts, each exactly as it is written: no name below one is meant. Only hosts that keep to themselves
/// what they were asked for: no forges, no pastebins, no shorteners, no host that fetches pages for others, no place where
/// a stranger reads who came. Strangers
/// may have written a page all the same (a crate's documentation), so every page is marked as untrusted.
pub const LISTED: &[(&str, &str)] = &[
    ("docs.rs", "Rust crates"),
    ("doc.rust-lang.org", "Rust"),
    ("rust-lang.github.io", "Rust: clippy, rustfmt and other books of the project"),
    ("docs.python.org", "Python"),
    ("packaging.python.org", "Python packaging"),
    ("peps.python.org", "Python proposals"),
    ("pip.pypa.io", "pip"),
    ("numpy.org", "NumPy"),
    ("pandas.pydata.org", "pandas"),
    ("docs.pytest.org", "pytest"),
    ("docs.djangoproject.com", "Django"),
    ("fastapi.tiangolo.com", "FastAPI"),
    ("flask.palletsprojects.com", "Flask"),
    ("docs.sqlalchemy.org", "SQLAlchemy"),
    ("docs.pydantic.dev", "Pydantic"),
    ("docs.astral.sh", "uv and ruff"),
    ("pytorch.org", "PyTorch"),
    ("developer.mozilla.org", "HTML, CSS, JavaScript"),
    ("nodejs.org", "Node.js"),
    ("www.typescriptlang.org", "TypeScript"),
    ("react.dev", "React"),
    ("vuejs.org", "Vue"),
    ("svelte.dev", "Svelte"),
    ("angular.dev", "Angular"),
    ("nextjs.org", "Next.js"),
    ("vite.dev", "Vite"),
    ("tailwindcss.com", "Tailwind CSS"),
    ("webpack.js.org", "webpack"),
    ("eslint.org", "ESLint"),
    ("jestjs.io", "Jest"),
    ("playwright.dev", "Playwright"),
    ("docs.deno.com", "Deno"),
    ("bun.sh", "Bun"),
    ("go.dev", "Go"),
    ("pkg.go.dev", "Go packages"),
    ("docs.oracle.com", "Java, Oracle"),
    ("docs.spring.io", "Spring"),
    ("maven.apache.org", "Maven"),
    ("docs.gradle.org", "Gradle"),
    ("kotlinlang.org", "Kotlin"),
    ("docs.scala-lang.org", "Scala"),
    ("learn.microsoft.com", ".NET, Windows, Azure"),
    ("docs.swift.org", "Swift"),
    ("developer.apple.com", "Apple platforms"),
    ("developer.android.com", "Android"),
    ("docs.flutter.dev", "Flutter"),
    ("api.dart.dev", "Dart"),
    ("ruby-doc.org", "Ruby"),
    ("docs.ruby-lang.org", "Ruby"),
    ("guides.rubyonrails.org", "Rails"),
    ("www.php.net", "PHP"),
    ("laravel.com", "Laravel"),
    ("hexdocs.pm", "Elixir and Erlang packages"),
    ("www.haskell.org", "Haskell"),
    ("ziglang.org", "Zig"),
    ("en.cppreference.com", "C and C++"),
    ("gcc.gnu.org", "GCC"),
    ("clang.llvm.org", "Clang"),
    ("cmake.org", "CMake"),
    ("www.gnu.org", "GNU manuals"),
    ("man7.org", "Linux manual pages"),
    ("docs.kernel.org", "Linux"),
    ("git-scm.com", "git"),
    ("docs.github.com", "GitHub's manual"),
    ("docs.gitlab.com", "GitLab's manual"),
    ("docs.docker.com", "Docker"),
    ("kubernetes.io", "Kubernetes"),
    ("helm.sh", "Helm"),
    ("developer.hashicorp.com", "Terraform"),
    ("docs.ansible.com", "Ansible"),
    ("docs.aws.amazon.com", "AWS"),
    ("cloud.google.com", "Google Cloud"),
    ("developers.cloudflare.com", "Cloudflare"),
    ("nginx.org", "nginx"),
    ("httpd.apache.org", "Apache httpd"),
    ("www.postgresql.org", "PostgreSQL"),
    ("www.sqlite.org", "SQLite"),
    ("dev.mysql.com", "MySQL"),
    ("redis.io", "Redis"),
    ("www.mongodb.com", "MongoDB"),
    ("www.elastic.co", "Elasticsearch"),
    ("kafka.apache.org", "Kafka"),
    ("prometheus.io", "Prometheus"),
    ("opentelemetry.io", "OpenTelemetry"),
    ("grpc.io", "gRPC"),
    ("protobuf.dev", "Protocol Buffers"),
    ("graphql.org", "GraphQL"),
    ("json-schema.org", "JSON Schema"),
    ("yaml.org", "YAML"),
    ("www.rfc-editor.org", "RFCs"),
    ("datatracker.ietf.org", "IETF"),
    ("html.spec.whatwg.org", "HTML"),
    ("tc39.es", "ECMAScript"),
    ("unicode.org", "Unicode"),
    ("spec.commonmark.org", "CommonMark"),
    ("modelcontextprotocol.io", "MCP"),
    ("example.com", "the example of examples"),
];

/// Bytes of a query that an address of the list may carry: a search in a manual takes a few dozen; more may be
/// something that is carried out of the workspace.
pub const QUERY_BYTES: usize = 256;
/// Bytes of the whole address, for the same reason.
pub const ADDRESS_BYTES: usize = 1024;

/// The shipped hosts with what a person added and took away. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    added: Arc<[HostPattern]>,
    off: Arc<[HostPattern]>,
}

impl Listed {
    /// The shipped hosts and those `added`, without those that are `off`.
    pub fn new(added: Vec<HostPattern>, off: Vec<HostPattern>) -> Listed {
        Listed { added: added.into(), off: off.into() }
    }

    /// What lets a page of `host` be looked at without a question, if something does.
    pub fn holds(&self, host: &str) -> Option<ListedBy> {
        if self.off.iter().any(|pattern| pattern.matches(host)) {
            return None;
        }
        if let Some(pattern) = self.added.iter().find(|pattern| pattern.matches(host)) {
            return Some(ListedBy::Configured(pattern.to_string()));
        }
        LISTED.iter().find(|(name, _)| *name == host).map(|(name, _)| ListedBy::Shipped(name))
    }
}

/// Which entry of the list let a page be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedBy {
    /// One that ships.
    Shipped(&'static str),
    /// One that configuration added.
    Configured(String),
}

impl fmt::Display for ListedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListedBy::Shipped(name) => write!(f, "the shipped list of documentation hosts (`{name}`)"),
            ListedBy::Configured(name) => write!(f, "`{name}` of `web.hosts`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, Effect, Effects, Layer, LayeredRule, Mode, Policy, Rule, RuleKind, Stance};

    fn judge(policy: &Policy, mode: Mode, effect: Effect) -> Decision {
        policy.judge(&Stance::from(mode), &Effects::one(effect).of("web_fetch")).decision
    }

    fn policy(rules: &[(RuleKind, &str)]) -> Policy {
        let layered = |(kind, text): &(RuleKind, &str)| LayeredRule {
            kind: *kind,
            rule: Rule::parse(text, None).expect("parses"),
            layer: Layer::User,
            at: "test:1".into(),
        };
        Policy::new(rules.iter().map(layered).collect(), true)
    }

    fn patterns(texts: &[&str]) -> Vec<HostPattern> {
        texts.iter().map(|text| HostPattern::new(text).expect("a host")).collect()
    }

    #[test]
    fn the_list_answers_a_question_about_a_page_and_nothing_else() {
        let none = policy(&[]);
        let fetch = |host: &str| Effect::Fetch(host.into());
        for (mode, effect, want) in [
            (Mode::Ask, fetch("docs.rs"), Decision::Allow),
            (Mode::ReadOnly, fetch("docs.rs"), Decision::Allow),
            (Mode::Deny, fetch("docs.rs"), Decision::Deny),
            (Mode::Ask, Effect::Net("docs.rs".into()), Decision::Ask),
            (Mode::Ask, fetch("a.docs.rs"), Decision::Ask),
            (Mode::Ask, fetch("docs.rs.evil.example"), Decision::Ask),
            (Mode::Ask, fetch("evildocs.rs"), Decision::Ask),
            (Mode::AcceptAll, fetch("evil.example"), Decision::Allow),
        ] {
            assert_eq!(judge(&none, mode, effect.clone()), want, "{mode} {effect}");
        }
    }

    #[test]
    fn rules_are_stronger_than_the_list_and_speak_of_pages_as_of_hosts() {
        let fetch = || Effect::Fetch("docs.rs".into());
        let other = || Effect::Fetch("other.example".into());
        for (kind, rule, want) in [
            (RuleKind::Deny, "net(docs.rs)", Decision::Deny),
            (RuleKind::Ask, "net(docs.rs)", Decision::Ask),
            (RuleKind::Deny, "net(*)", Decision::Deny),
            (RuleKind::Deny, "tool(web_fetch)", Decision::Deny),
            (RuleKind::Deny, "WebFetch(domain:docs.rs)", Decision::Deny),
        ] {
            assert_eq!(judge(&policy(&[(kind, rule)]), Mode::Ask, fetch()), want, "{rule}");
        }
        assert_eq!(judge(&policy(&[(RuleKind::Allow, "net(other.example)")]), Mode::Ask, other()), Decision::Allow);
        assert_eq!(fetch().rule().as_deref(), Some("net(docs.rs)"));
    }

    #[test]
    fn a_person_adds_hosts_and_takes_them_away() {
        let changed = |added: &[&str], off: &[&str]| policy(&[]).listing(Listed::new(patterns(added), patterns(off)));
        let fetch = |host: &str| Effect::Fetch(host.into());
        let more = changed(&["*.internal.example"], &["docs.rs"]);
        assert_eq!(judge(&more, Mode::Ask, fetch("wiki.internal.example")), Decision::Allow);
        assert_eq!(judge(&more, Mode::Ask, fetch("docs.rs")), Decision::Ask);
        assert_eq!(judge(&more, Mode::Ask, fetch("docs.python.org")), Decision::Allow);
        assert_eq!(judge(&changed(&[], &["*"]), Mode::Ask, fetch("docs.python.org")), Decision::Ask);
        // A session that keeps a rule of its own keeps the list.
        let session = more.with(Vec::new());
        assert_eq!(judge(&session, Mode::Ask, fetch("docs.rs")), Decision::Ask);
    }

    #[test]
    fn a_permit_to_look_is_none_to_send_and_can_be_asked_for_one_host_more() {
        let effects = Effects::one(Effect::Fetch("docs.rs".into())).of("web_fetch");
        let permit = policy(&[]).judge(&Stance::from(Mode::Ask), &effects).permit(None).expect("it is listed");
        assert!(permit.covers_fetch("docs.rs") && !permit.covers_net("docs.rs") && !permit.covers_fetch("rs"));
        let (also, by) = permit.also(Effect::Fetch("doc.rust-lang.org".into())).expect("it is listed, too");
        assert!(by.source.to_string().contains("shipped list"), "{}", by.source);
        assert!(also.covers_fetch("doc.rust-lang.org") && also.covers_fetch("docs.rs"));
        let no = permit.also(Effect::Fetch("evil.example".into())).expect_err("nobody allowed it");
        assert_eq!(no.decision, Decision::Ask);
        assert!(permit.also(Effect::Net("doc.rust-lang.org".into())).is_err());
    }

    #[test]
    fn the_shipped_names_are_in_normal_form_and_stand_once() {
        for (at, (name, about)) in LISTED.iter().enumerate() {
            let normal = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.');
            assert!(normal && name.contains('.') && !about.is_empty(), "{name}");
            assert!(LISTED[..at].iter().all(|(other, _)| other != name), "{name} stands twice");
        }
    }
}
