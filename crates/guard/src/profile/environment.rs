//! The environment of a command, rebuilt from what is known to be harmless.
//!
//! An allow-list: variables that make programs load code, and those that hold credentials, have too many names to be
//! listed. Of `PATH`, only what names a directory for certain is kept.

use std::path::Path;

use super::Access;

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
    "EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "DEBIAN_FRONTEND",
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
    // A root is a mount, and its repository may begin above it.
    ("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1"),
];

/// Set where nothing is written: Python takes no module from the working directory, and a look at a project makes neither Go
/// nor rustup fetch what it names, modules and whole tool chains.
const READING: &[(&str, &str)] = &[
    ("PYTHONSAFEPATH", "1"),
    ("GOTOOLCHAIN", "local"),
    ("GOPROXY", "off"),
    // Modules of one's own are asked of their repository whatever the proxy is, but for these.
    ("GONOPROXY", "none"),
    ("RUSTUP_AUTO_INSTALL", "0"),
];

/// Where programs are looked for when nothing else is left of `PATH`: an empty one means the working directory.
const STANDARD_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What of `vars` a command gets, and what it gets besides.
pub fn environment(vars: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let kept = vars.into_iter().filter(|(name, _)| KEPT.contains(&name.as_str()) || name.starts_with("LC_"));
    let set = SET.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mut env: Vec<(String, String)> = kept.chain(set).collect();
    if let Some((_, path)) = env.iter_mut().find(|(name, _)| name == "PATH") {
        *path = path_without(path, &|_| false);
    }
    env
}

/// Narrows `env` to what `access` may use. What was judged by its name alone must be the program of that name, so where
/// nothing is written, what lies `inside` the workspace is found by no bare name, nor by Python as a module. A builder
/// keeps its virtual environment.
pub fn narrow(env: &mut Vec<(String, String)>, access: Access, inside: &dyn Fn(&Path) -> bool) {
    if access != Access::ReadOnly {
        return;
    }
    match env.iter_mut().find(|(name, _)| name == "PATH") {
        Some((_, path)) => *path = path_without(path, inside),
        None => env.push(("PATH".to_owned(), STANDARD_PATH.to_owned())),
    }
    env.retain(|(name, _)| READING.iter().all(|(set, _)| set != name));
    env.extend(READING.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
}

/// Variables that are set where nothing is written, so that a look at a project is no more than that.
pub(crate) fn set_for_reading() -> impl Iterator<Item = &'static str> {
    READING.iter().map(|(name, _)| *name)
}

/// A `PATH` without what is relative, and so another directory wherever a command stands, and without what is `left_out`.
fn path_without(path: &str, left_out: &dyn Fn(&Path) -> bool) -> String {
    let kept = |dir: &&str| dir.starts_with('/') && !left_out(Path::new(dir));
    let kept: Vec<&str> = path.split(':').filter(kept).collect();
    if kept.is_empty() { STANDARD_PATH.to_owned() } else { kept.join(":") }
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
            "GIT_DIR",
            "GIT_AUTHOR_NAME",
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
            [
                "PATH",
                "LC_ALL",
                "GIT_AUTHOR_NAME",
                "PAGER",
                "GIT_PAGER",
                "MANPAGER",
                "GIT_TERMINAL_PROMPT",
                "GIT_OPTIONAL_LOCKS",
                "GIT_DISCOVERY_ACROSS_FILESYSTEM"
            ]
        );
        assert!(got.contains(&("PAGER".to_owned(), "cat".to_owned())));
    }

    fn path_of(env: &[(String, String)]) -> &str {
        env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, path)| path)
    }

    #[test]
    fn programs_are_looked_for_in_certain_directories_alone() {
        for (path, want) in [
            ("/usr/bin:/bin", "/usr/bin:/bin"),
            (".:/usr/bin", "/usr/bin"),
            (":/usr/bin:", "/usr/bin"),
            ("bin:/usr/bin:./tools:../x:~/bin", "/usr/bin"),
            ("/w/.venv/bin:/usr/bin", "/w/.venv/bin:/usr/bin"),
            (".", STANDARD_PATH),
            ("", STANDARD_PATH),
        ] {
            let env = environment([("PATH".to_owned(), path.to_owned())]);
            assert_eq!(path_of(&env), want, "{path}");
        }
    }

    #[test]
    fn what_only_reads_finds_nothing_of_the_workspace_by_name() {
        let inside = |dir: &Path| dir.starts_with("/w");
        let env = || environment([("PATH".to_owned(), "/w/.venv/bin:/usr/bin:/w".to_owned())]);
        let (mut reading, mut building) = (env(), env());
        narrow(&mut reading, Access::ReadOnly, &inside);
        narrow(&mut building, Access::Workspace, &inside);
        assert_eq!(path_of(&reading), "/usr/bin");
        for (name, value) in READING {
            assert!(reading.contains(&((*name).to_owned(), (*value).to_owned())), "{name}");
        }
        assert_eq!(path_of(&building), "/w/.venv/bin:/usr/bin:/w");
        assert!(!building.iter().any(|(name, _)| READING.iter().any(|(set, _)| set == name)));
        let mut none = environment([]);
        narrow(&mut none, Access::ReadOnly, &inside);
        assert_eq!(path_of(&none), STANDARD_PATH);
        let mut all = environment([("PATH".to_owned(), "/w/bin".to_owned())]);
        narrow(&mut all, Access::ReadOnly, &inside);
        assert_eq!(path_of(&all), STANDARD_PATH);
    }
}
