//! The environment of a command, rebuilt from what is known to be harmless.
//!
//! An allow-list: variables that make programs load code, and those that hold credentials, have too many names to be
//! listed.

/// Kept when they are set.
const KEPT: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "CLICOLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "CI",
    "EDITOR",
    "SOURCE_DATE_EPOCH",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "GOFLAGS",
    "GOARCH",
    "GOOS",
    "CGO_ENABLED",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_USER_HOME",
    "ANDROID_HOME",
    "NVM_DIR",
    "NODE_ENV",
    "NPM_CONFIG_CACHE",
    "PNPM_HOME",
    "YARN_CACHE_FOLDER",
    "VOLTA_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "RBENV_ROOT",
    "GEM_HOME",
    "BUNDLE_PATH",
    "DOTNET_ROOT",
    "SDKROOT",
    "DEVELOPER_DIR",
    "CC",
    "CXX",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "PKG_CONFIG_PATH",
    "CMAKE_PREFIX_PATH",
    "CMAKE_GENERATOR",
    "CMAKE_BUILD_PARALLEL_LEVEL",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Always set: no pager waits, git asks nothing and takes no optional locks.
const SET: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
];

/// What of `vars` a command gets, and what it gets besides.
pub fn environment(vars: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let kept = vars.into_iter().filter(|(name, _)| KEPT.contains(&name.as_str()) || name.starts_with("LC_"));
    let set = SET.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    kept.chain(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_credentials_do_not_get_in() {
        let vars = [
            "PATH",
            "LC_ALL",
            "LD_PRELOAD",
            "BASH_ENV",
            "GIT_SSH_COMMAND",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "PAGER",
            "http_proxy",
            "BASH_FUNC_ls%%",
            "PROMPT_COMMAND",
        ];
        let got = environment(vars.map(|name| (name.to_owned(), "x".to_owned())));
        let names: Vec<&str> = got.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["PATH", "LC_ALL", "PAGER", "GIT_PAGER", "MANPAGER", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS"]
        );
        assert!(got.contains(&("PAGER".to_owned(), "cat".to_owned())));
    }
}
