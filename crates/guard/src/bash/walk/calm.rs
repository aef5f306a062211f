//! Values with which a name that may decide what runs decides nothing: a pager that only shows, an editor that asks
//! nothing, a bound on memory, a number.

use super::super::judge::Why;
use super::super::words::Value;
use super::shapes::is_integer;

/// What a value has to be.
#[derive(Clone, Copy)]
enum Fits {
    /// One of these, blank-separated.
    One(&'static str),
    /// Digits.
    Number,
    /// Letters and digits.
    Word,
    /// A name, an address or a date.
    Said,
    /// Words of this list, where `*` at an end stands for letters, digits and commas.
    Words(&'static str),
}

/// Names, or their starts before `*` or ends behind it, and the values that are calm. The first row that fits counts.
const CALM: &[(&str, Fits)] = &[
    ("GIT_PAGER PAGER MANPAGER GH_PAGER SYSTEMD_PAGER AWS_PAGER DELTA_PAGER", Fits::One("cat ")),
    ("GIT_EDITOR EDITOR VISUAL GIT_SEQUENCE_EDITOR", Fits::One("true : cat")),
    ("GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS", Fits::One("0 false")),
    ("GIT_MERGE_AUTOEDIT", Fits::One("no")),
    ("GIT_LFS_SKIP_SMUDGE GIT_LITERAL_PATHSPECS", Fits::One("0 1")),
    ("GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE", Fits::Said),
    ("GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE", Fits::Said),
    ("CARGO_BUILD_JOBS CARGO_NET_RETRY", Fits::Number),
    ("CARGO_NET_OFFLINE CARGO_TERM_VERBOSE CARGO_TERM_QUIET", Fits::One("true false")),
    ("CARGO_PROFILE_DEV_* CARGO_PROFILE_RELEASE_* CARGO_PROFILE_TEST_* CARGO_PROFILE_BENCH_*", Fits::Word),
    ("RUSTC_BOOTSTRAP", Fits::One("0 1 -1")),
    (
        "NODE_OPTIONS",
        Fits::Words(
            "--max-old-space-size=* --max_old_space_size=* --max-semi-space-size=* --stack-trace-limit=* \
             --max-http-header-size=* --no-warnings --trace-warnings --no-deprecation --trace-deprecation \
             --throw-deprecation --enable-source-maps --experimental-vm-modules --openssl-legacy-provider --expose-gc \
             --unhandled-rejections=* --dns-result-order=* --trace-uncaught --no-experimental-fetch",
        ),
    ),
    (
        "MAVEN_OPTS GRADLE_OPTS SBT_OPTS JAVA_OPTS LEIN_JVM_OPTS",
        Fits::Words(
            "-Xmx* -Xms* -Xss* -XX:MaxMetaspaceSize=* -XX:MaxPermSize=* -XX:+UseG1GC -XX:+UseParallelGC \
             -XX:+UseSerialGC -XX:TieredStopAtLevel=* -Dorg.gradle.daemon=* -Dorg.gradle.parallel=* \
             -Dfile.encoding=UTF-8 -Djava.awt.headless=*",
        ),
    ),
    ("npm_config_loglevel npm_config_fund npm_config_audit npm_config_progress npm_config_color", Fits::Word),
    ("NPM_CONFIG_LOGLEVEL NPM_CONFIG_FUND NPM_CONFIG_AUDIT NPM_CONFIG_PROGRESS NPM_CONFIG_COLOR", Fits::Word),
];

/// Whether `name` decides nothing where it has this value.
pub(super) fn calms(name: &str, value: &Value) -> bool {
    let Value::Exact(value) = value else { return false };
    let named = |known: &str| match known.strip_suffix('*') {
        // Settings of a profile that hold options, or other profiles.
        Some(start) => name.strip_prefix(start).is_some_and(|rest| {
            matches!(rest, "DEBUG" | "LTO" | "OPT_LEVEL" | "CODEGEN_UNITS" | "PANIC" | "STRIP" | "INCREMENTAL")
        }),
        None => known == name,
    };
    let row = CALM.iter().find(|(names, _)| names.split(' ').any(named));
    let word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
    row.is_some_and(|(_, fits)| match fits {
        Fits::One(list) => list.split(' ').any(|one| one == value),
        Fits::Number => is_integer(value) && !value.starts_with('-'),
        Fits::Word => word(value),
        Fits::Said => value.chars().all(|c| c.is_alphanumeric() || " .,:+-@_<>".contains(c)),
        Fits::Words(list) => value.split_whitespace().all(|text| {
            list.split_whitespace().any(|known| match known.strip_suffix('*') {
                Some(start) => text.strip_prefix(start).is_some_and(word),
                None => known == text,
            })
        }),
    })
}

/// Whether a variable with options of a compiler gets those that the system's list of packages says.
pub(super) fn is_packaged(name: &str, why: &Why) -> bool {
    *why == Why::Packaged && (name.ends_with("FLAGS") || name.ends_with("LIBS"))
}
