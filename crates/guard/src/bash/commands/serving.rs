//! Servers of a project that answer more than this machine: `php -S 0.0.0.0:8000`, `vite --host`, `npx http-server`.
//!
//! What they serve is read by whoever reaches the machine. A server that answers this machine alone is a part of the work.

use super::super::judge::{Arg, Judge, Word};
use super::effects::run;
use super::index::by_first;
use super::runners::raw;
use super::spec::{Spec, lists};

/// Servers of files, which the packages of a project bring.
pub(super) const SPECS: &[Spec] = &[raw("http-server live-server json-server", run)];

/// What a server answers where nothing else is said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    ThisMachine,
    Everybody,
}

/// Servers: their names; the subcommands that serve, or none; options with the address that is answered; and what is
/// answered without one.
const SERVERS: &[(&str, &str, &str, Answers)] = &[
    ("php", "", "-S", Answers::ThisMachine),
    ("uvicorn", "", "--host", Answers::ThisMachine),
    ("gunicorn hypercorn", "", "-b --bind --insecure-bind --quic-bind", Answers::ThisMachine),
    ("vite astro nuxt webpack storybook", "", "--host", Answers::ThisMachine),
    ("next", "", "-H --hostname", Answers::ThisMachine),
    ("ng quasar ember gatsby hexo docusaurus", "", "-H --host", Answers::ThisMachine),
    ("rails", "server s", "-b --binding", Answers::ThisMachine),
    ("manage.py django-admin", "runserver", "", Answers::ThisMachine),
    ("mkdocs", "serve", "-a --dev-addr", Answers::ThisMachine),
    ("hugo", "server serve", "--bind", Answers::ThisMachine),
    ("jekyll", "serve s server", "-H --host", Answers::ThisMachine),
    ("mdbook", "serve", "-n --hostname", Answers::ThisMachine),
    ("sphinx-autobuild", "", "--host", Answers::ThisMachine),
    ("json-server", "", "-H --host", Answers::ThisMachine),
    ("http-server", "", "-a --host", Answers::Everybody),
    ("live-server", "", "--host", Answers::Everybody),
];

/// Asks about a server that is told to answer others, or does so by itself.
pub(super) fn answers(program: &str, words: &[Arg], judge: &mut Judge<'_>) {
    let text = |at: usize| words.get(at).map_or("", known);
    for (names, subs, options, usually) in by_first!(SERVERS).named(program).filter_map(|row| SERVERS.get(row)) {
        let first = words.iter().map(known).find(|text| !text.starts_with('-')).unwrap_or_default();
        if !lists(names, program) || !subs.is_empty() && !lists(subs, first) {
            continue;
        }
        let mut told = Vec::new();
        for at in 0..words.len() {
            told.extend(options.split(' ').filter(|option| !option.is_empty()).filter_map(|option| {
                let rest = text(at).strip_prefix(option)?;
                match (rest, option.starts_with("--")) {
                    // Without a value it is for everybody.
                    ("", _) => Some(Some(text(at + 1)).filter(|value| !value.starts_with('-')).unwrap_or_default()),
                    (rest, true) => rest.strip_prefix('='),
                    (rest, false) => Some(rest.trim_start_matches('=')),
                }
            }));
        }
        if options.is_empty() {
            told.extend(
                words.iter().map(known).skip_while(|word| *word != first).skip(1).find(|w| !w.starts_with('-')),
            );
        }
        if told.is_empty() && *usually == Answers::Everybody || told.into_iter().any(|address| !is_own(address)) {
            return judge.opaque(format!("`{program}` serves what is here to whoever reaches it"));
        }
    }
}

/// The text of a word, as far as it is known.
fn known(word: &Arg) -> &str {
    match &word.word {
        Word::Exact(text) | Word::Glob { pattern: text, .. } | Word::Opaque { prefix: text, .. } => text,
        Word::OneOf(_) => "",
    }
}

/// Whether only this machine reaches an address: `localhost:80`, `127.0.0.1`, `[::1]:80`, a port alone, a socket.
pub(super) fn is_own(address: &str) -> bool {
    if address.starts_with("unix:") || address.starts_with("fd:") {
        return true;
    }
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = match address.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None if address.matches(':').count() > 1 => address,
        None => address.split([':', '/']).next().unwrap_or_default(),
    };
    // A port, which stands alone; `0` is every address.
    let port = host == address && host.len() > 1 && host.bytes().all(|byte| byte.is_ascii_digit());
    port || host == "::1" || host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.")
}

/// Options of bazel that name a server, and the values they are given.
pub(super) fn of_bazel(words: &[Arg], judge: &mut Judge<'_>) {
    const SERVERS: &str = "--bes_backend --bes_proxy --remote_cache --remote_executor --remote_downloader --remote_proxy \
        --experimental_remote_downloader --experimental_downloader_config --invocation_policy_server";
    let mut value = false;
    for word in words.iter().map(known) {
        let (option, given) = word.split_once('=').map_or((word, None), |(option, given)| (option, Some(given)));
        let server = if std::mem::take(&mut value) { Some(word) } else { given.filter(|_| lists(SERVERS, option)) };
        if server.is_some_and(|server| !server.is_empty() && !is_own(server)) {
            judge.net(None);
        }
        value = given.is_none() && lists(SERVERS, option);
    }
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn addresses_of_this_machine_alone() {
        for own in ["localhost", "localhost:80", "127.0.0.1:80", "[::1]:80", "::1", "8000", "unix:/tmp/x", "fd://3"] {
            assert!(is_own(own), "{own}");
        }
        for open in ["", "0.0.0.0", "0:80", "0", "::", "[::]:80", ":80", "*", "192.168.1.2:80", "x.com"] {
            assert!(!is_own(open), "{open}");
        }
    }
}
