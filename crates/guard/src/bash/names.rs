//! What setting a variable means for the programs that follow.

/// What a name in the environment of a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// How it prints, or how much it says.
    Harmless,
    /// A setting that builds and tests read; it may decide what code of the workspace runs.
    Setting,
    /// It names a program, a library, a configuration file, or rewires the shell.
    Rewires,
}

/// Names that change only how things look.
const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "CI",
    "TERM",
    "COLUMNS",
    "LINES",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "RUST_LIB_BACKTRACE",
    "CARGO_TERM_COLOR",
    "DEBIAN_FRONTEND",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONHASHSEED",
    "PYTHONWARNINGS",
    "NODE_ENV",
    "NODE_NO_WARNINGS",
    "NO_UPDATE_NOTIFIER",
    "BLOCK_SIZE",
    "BLOCKSIZE",
    "TIME_STYLE",
    "QUOTING_STYLE",
    "COPYFILE_DISABLE",
    "VERBOSE",
    "SOURCE_DATE_EPOCH",
    "DOTNET_CLI_TELEMETRY_OPTOUT",
    "HOMEBREW_NO_AUTO_UPDATE",
    "GOOS",
    "GOARCH",
    "PY_COLORS",
];

/// Names, or with `*` at an end their starts and ends, that make other code run or move what is trusted.
const REWIRES: &[&str] = &[
    "PATH",
    "ENV",
    "IFS",
    "HOME",
    "SHELL",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "CDPATH",
    "PARALLEL",
    "SHELLOPTS",
    "BASHOPTS",
    "GLOBIGNORE",
    "EXECIGNORE",
    "FIGNORE",
    "INPUTRC",
    "FCEDIT",
    "FPATH",
    "ZDOTDIR",
    "MAIL",
    "MAILPATH",
    "MAILCHECK",
    "HISTFILE",
    "HISTCMD",
    "HOSTALIASES",
    "HOSTFILE",
    "TZDIR",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TERMCAP",
    "LOCPATH",
    "NLSPATH",
    "TMPDIR",
    "TEMP",
    "TMP",
    "PWD",
    "OLDPWD",
    "OPTARG",
    "OPTIND",
    "RANDOM",
    "SECONDS",
    "UID",
    "EUID",
    "PPID",
    "REPLY",
    "TIMEFORMAT",
    "NETRC",
    "CURL_HOME",
    "WGETRC",
    "OPENSSL_CONF",
    "SSLKEYLOGFILE",
    "KUBECONFIG",
    "IGNOREEOF",
    "COMPREPLY",
    "PIPESTATUS",
    "FUNCNEST",
    "POSIXLY_CORRECT",
    "FUNCNAME",
    "MAPFILE",
    "GROUPS",
    "DIRSTACK",
    "COPROC",
    "LINENO",
    "SRANDOM",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "TEXTDOMAIN*",
    "BAT_*",
    "DELTA_*",
    "LD_*",
    "DYLD_*",
    "BASH*",
    "GIT_*",
    "GCONV_*",
    "LESS*",
    "MAN*",
    "PERL*",
    "RUBY*",
    "PYTHON*",
    "NODE_*",
    "NPM_*",
    "npm_*",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PROMPT*",
    "SSH_*",
    "SUDO_*",
    "XDG_*",
    "GREP_*",
    "RIPGREP_*",
    "FZF_*",
    "RSYNC_*",
    "TAR_*",
    "DOCKER_*",
    "AWS_*",
    "GOOGLE_*",
    "AZURE_*",
    "JAVA_*",
    "_JAVA*",
    "JDK_*",
    "LUA_*",
    "PHP*",
    "RUSTC*",
    "CARGO_*",
    "CLASSPATH",
    "GTK_*",
    "QT_*",
    "MALLOC_*",
    "GLIBC_*",
    "NSS_*",
    "RES_*",
    "KRB5*",
    "GNUPG*",
    "GPG_*",
    "SVN_*",
    "HG*",
    "EMACS*",
    "VIM*",
    "*PAGER",
    "*EDITOR",
    "*_OPTIONS",
    "*_OPTS",
    "*_PROXY",
    "*_proxy",
    "PGHOSTADDR",
    "PGSERVICE",
    "PGSERVICEFILE",
    "*_WRAPPER",
    "*_COMMAND",
    "*_SHELL",
    "*_ASKPASS",
    "*_CONFIG_FILE",
    "*_PRELOAD",
    "*_LIBRARY_PATH",
    "*_HOOK",
    "*_PLUGIN",
    "*_PLUGINS",
];

/// Names beside [`REWIRES`] that some program obeys. Whoever writes one before a command may: `CC=clang make`. What is read
/// into one from a file or from input may not decide.
const OBEYED: &[&str] = &[
    "DISPLAY",
    "USER",
    "LOGNAME",
    "CC",
    "CXX",
    "MAKEFLAGS",
    "MAKEFILES",
    "JQ_COLORS",
    "LS_COLORS",
    "VIRTUAL_ENV",
    "AWKPATH",
    "AWKLIBPATH",
    "histchars",
    "auto_resume",
    "GEM_*",
    "JAVA*",
    "MAVEN_*",
    "GRADLE_*",
    "CARGO*",
    "RUST*",
    "YARN_*",
    "PIP_*",
    "GO*",
    "KUBE*",
    "HELM_*",
    "COMP_*",
    "READLINE_*",
    "LC_*",
    "LANG*",
    "HTTP_*",
    "HTTPS_*",
    "FTP_*",
    "SYSTEMD_*",
    "PG*",
    "MYSQL_*",
    "TF_*",
    "ANSIBLE_*",
];

/// Names that say which state of the sources is built, by whom and when. No program gives them a meaning of its own, so
/// whatever they hold is for the code of the workspace alone. Read without regard to case.
const LABELS: &[&str] = &[
    "VERSION",
    "APP_VERSION",
    "BUILD_VERSION",
    "RELEASE_VERSION",
    "PROJECT_VERSION",
    "PACKAGE_VERSION",
    "PKG_VERSION",
    "IMAGE_VERSION",
    "TAG",
    "GIT_TAG",
    "APP_TAG",
    "BUILD_TAG",
    "IMAGE_TAG",
    "RELEASE_TAG",
    "SHA",
    "SHORT_SHA",
    "GIT_SHA",
    "GIT_SHORT_SHA",
    "COMMIT_SHA",
    "HEAD_SHA",
    "BUILD_SHA",
    "HASH",
    "GIT_HASH",
    "COMMIT_HASH",
    "BUILD_HASH",
    "COMMIT",
    "GIT_COMMIT",
    "BUILD_COMMIT",
    "REV",
    "GIT_REV",
    "REVISION",
    "GIT_REVISION",
    "GIT_DESCRIBE",
    "BRANCH",
    "GIT_BRANCH",
    "BRANCH_NAME",
    "BUILD_BRANCH",
    "DATE",
    "BUILD_DATE",
    "RELEASE_DATE",
    "BUILD_TIME",
    "BUILD_TIMESTAMP",
    "TIMESTAMP",
    "NOW",
    "SOURCE_DATE_EPOCH",
    "BUILD_ID",
    "BUILD_NUMBER",
    "BUILD_NUM",
    "RUN_ID",
    "JOB_ID",
    "NPROC",
    "JOBS",
    "SEED",
    "RANDOM_SEED",
    "TEST_SEED",
];

/// Whether a variable of this name may hold anything where code of the workspace runs. A single letter is a name of
/// nobody's; `O` is where the kernel's makefiles write.
pub(super) fn is_label(name: &str) -> bool {
    let letter =
        name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_alphabetic()) && !name.eq_ignore_ascii_case("o");
    letter || LABELS.iter().any(|label| label.eq_ignore_ascii_case(name))
}

/// Names that people make up when they try something.
const MADE_UP: [&str; 4] = ["FOO", "BAR", "BAZ", "QUX"];

/// Whether no program of the system gives a variable of this name a meaning, so that it is only for code of the workspace.
pub(super) fn is_nobodys(name: &str) -> bool {
    is_label(name) || MADE_UP.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// What `name` means.
pub(super) fn meaning(name: &str) -> Meaning {
    if HARMLESS.contains(&name) || name.starts_with("LC_") {
        return Meaning::Harmless;
    }
    // `PYTHONPATH=src` is how many projects run their tests: code of the workspace, as the tests are.
    // And some that look like another program's are names of the project's own.
    const OWN: &[&str] = &["PYTHONPATH", "CARGO_TARGET_DIR", "CARGO_INCREMENTAL", "NODE_PORT", "NODE_CONFIG_ENV"];
    if OWN.contains(&name) || is_label(name) {
        return Meaning::Setting;
    }
    if lists(REWIRES, name) { Meaning::Rewires } else { Meaning::Setting }
}

/// Whether `name` is in the list, or fits a start or an end there.
fn lists(names: &[&str], name: &str) -> bool {
    names.iter().any(|pattern| match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(start), _) => name.starts_with(start),
        (_, Some(end)) => name.ends_with(end),
        _ => *pattern == name,
    })
}

/// Whether the script alone reads the variable: what is in it may come from anywhere. `REPLY` is where `read` puts a line
/// that nobody gave a name.
pub(super) fn is_own(name: &str) -> bool {
    name == "REPLY" || !lists(REWIRES, name) && !lists(OBEYED, name)
}

/// What `name` means with this value; with none, one that is not known. Some names are about how things look only
/// where their value is a plain word: a category of Python's warnings is a module that it loads, and a language with a
/// slash is a place that messages come from.
pub(super) fn meaning_of(name: &str, value: Option<&str>) -> Meaning {
    if value.is_some_and(|value| is_ordinary(name, value)) {
        return Meaning::Setting;
    }
    let odd = match (name, value) {
        ("PYTHONWARNINGS", value) => value.is_none_or(|value| value.contains('.')),
        (_, Some(value)) => (name.starts_with("LANG") || name.starts_with("LC_")) && value.contains('/'),
        _ => false,
    };
    if odd { Meaning::Rewires } else { meaning(name) }
}

/// Values that name nothing but what the system has installed, or that only switch something: the Java of a build, the cache
/// around a compiler, what a sanitizer looks for.
fn is_ordinary(name: &str, value: &str) -> bool {
    const CACHES: [&str; 4] = ["", "sccache", "ccache", "cachepot"];
    match name {
        "JAVA_HOME" | "JDK_HOME" => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
            value.starts_with("/usr/lib/jvm/") && value.chars().all(plain) && !value.contains("..")
        }
        "RUSTC_WRAPPER" | "RUSTC_WORKSPACE_WRAPPER" => CACHES.contains(&value),
        "ASAN_OPTIONS" | "LSAN_OPTIONS" | "MSAN_OPTIONS" | "TSAN_OPTIONS" | "UBSAN_OPTIONS" => {
            value.split(':').filter(|one| !one.is_empty()).all(is_switch_of_sanitizers)
        }
        _ => false,
    }
}

/// A switch or a number of a sanitizer. Others of its options name files that are read or written, or a program.
fn is_switch_of_sanitizers(option: &str) -> bool {
    const SWITCHES: &[&str] = &[
        "abort_on_error",
        "alloc_dealloc_mismatch",
        "allocator_may_return_null",
        "check_initialization_order",
        "color",
        "detect_leaks",
        "detect_odr_violation",
        "detect_stack_use_after_return",
        "exitcode",
        "fast_unwind_on_malloc",
        "halt_on_error",
        "history_size",
        "print_stacktrace",
        "print_stats",
        "report_signal_unsafe",
        "second_deadlock_stack",
        "strict_init_order",
        "strict_string_checks",
        "symbolize",
        "verbosity",
    ];
    let known = |(name, value): (&str, &str)| {
        SWITCHES.contains(&name) && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    option.split_once('=').is_some_and(known)
}

/// Whether a command may be given a variable of this name by whoever writes its words: a name that shells take, and
/// none that names a program, a library or a configuration file, or rewires a shell.
pub fn may_be_set(name: &str) -> bool {
    let mut chars = name.chars();
    let begins = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    begins && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') && meaning(name) != Meaning::Rewires
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_what_programs_make_of_them() {
        for name in ["LC_ALL", "LANG", "TZ", "NO_COLOR", "CI", "RUST_LOG", "NODE_ENV"] {
            assert_eq!(meaning(name), Meaning::Harmless, "{name}");
        }
        for name in ["FOO", "x", "PYTHONPATH", "CFLAGS", "MY_FLAG"] {
            assert_eq!(meaning(name), Meaning::Setting, "{name}");
        }
        for name in [
            "PATH",
            "LD_PRELOAD",
            "BASH_ENV",
            "ENV",
            "GIT_SSH_COMMAND",
            "GIT_PAGER",
            "PAGER",
            "MANPAGER",
            "LESSOPEN",
            "PYTHONSTARTUP",
            "NODE_OPTIONS",
            "PERL5OPT",
            "RUBYOPT",
            "IFS",
            "PS4",
            "PROMPT_COMMAND",
            "http_proxy",
            "RIPGREP_CONFIG_PATH",
            "TAR_OPTIONS",
            "GCONV_PATH",
            "BASH_FUNC_ls%%",
            "HOME",
            "EDITOR",
            "SHELLOPTS",
        ] {
            assert_eq!(meaning(name), Meaning::Rewires, "{name}");
        }
    }
}
