//! The surroundings: the only place that reads the environment, the current directory, the home and whether
//! somebody watches. Everything below gets them handed in.

use std::env;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use nika_contract::{ToolError, code};

use nika_host::git::Personal;

use crate::failure::Failure;

/// What was found around the process when it started.
#[derive(Debug, Clone)]
pub struct World {
    /// The home, where one is known.
    pub home: Option<PathBuf>,
    /// Where the user's configuration lies: `$XDG_CONFIG_HOME/nika` or `~/.config/nika`.
    pub config_dir: Option<PathBuf>,
    /// Where durable state lies, a directory a workspace.
    state_base: Option<PathBuf>,
    /// Whether somebody can be asked: stdin and stderr are terminals.
    pub has_person: bool,
    /// Whether stdout may carry colours.
    pub colours: bool,
    /// Whether stderr may.
    pub colours_in_errors: bool,
    /// This process.
    pub pid: u32,
}

impl World {
    /// Looks around.
    pub fn look() -> World {
        // Places are judged with their links followed, so a rule on `~/x` must begin where the home really is.
        let home = env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = home.map(|home| std::fs::canonicalize(&home).unwrap_or(home));
        // The XDG specification says that a relative path is to be ignored.
        let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let below_home = |name: &str| home.as_ref().map(|home| home.join(name));
        let own_state = env::var_os("NIKA_STATE_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
        let xdg_state = absolute("XDG_STATE_HOME").or_else(|| below_home(".local/state"));
        let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|value| value == "dumb");
        World {
            config_dir: absolute("XDG_CONFIG_HOME").or_else(|| below_home(".config")).map(|dir| dir.join("nika")),
            state_base: own_state.or_else(|| xdg_state.map(|dir| dir.join("nika"))),
            has_person: io::stdin().is_terminal() && io::stderr().is_terminal(),
            colours: !plain && io::stdout().is_terminal(),
            colours_in_errors: !plain && io::stderr().is_terminal(),
            pid: std::process::id(),
            home,
        }
    }

    /// As it was found, but with a home and a state of a test's own, and no configuration.
    #[cfg(test)]
    pub fn of_test(dir: &Path) -> World {
        let state_base = Some(dir.join("state"));
        World { home: Some(dir.join("home")), config_dir: None, state_base, ..World::look() }
    }

    /// Where durable state lies.
    pub fn state_base(&self) -> Result<PathBuf, Failure> {
        let base = self.state_base.clone().ok_or_else(|| {
            ToolError::new(code::STATE_UNUSABLE, "neither NIKA_STATE_DIR nor HOME says where the journal should lie")
                .hint("set NIKA_STATE_DIR to a directory of your own")
        })?;
        if base.exists() && !base.is_dir() {
            let message = format!("the state directory {} is no directory", base.display());
            return Err(ToolError::new(code::STATE_UNUSABLE, message)
                .hint("set NIKA_STATE_DIR to a directory of your own")
                .into());
        }
        // A relative NIKA_STATE_DIR must mean the same directory whatever the roots are.
        Ok(std::path::absolute(&base).unwrap_or(base))
    }

    /// The current directory.
    pub fn cwd(&self) -> Result<PathBuf, Failure> {
        env::current_dir().map_err(|error| {
            ToolError::new(code::BAD_ROOT, format!("the current directory cannot be used: {error}"))
                .hint("name one with --root DIR")
                .into()
        })
    }

    /// This program's file, to be started again as a parser. The link, not its target: it still leads to the
    /// running program after an update has replaced the file.
    pub fn exe(&self) -> PathBuf {
        PathBuf::from("/proc/self/exe")
    }

    /// The environment, where it is text.
    pub fn variables(&self) -> Vec<(String, String)> {
        env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
    }

    /// One variable of the environment, where it is set to something.
    pub fn variable(&self, name: &str) -> Option<String> {
        env::var(name).ok().filter(|value| !value.trim().is_empty())
    }

    /// Where the person's git keeps its configuration.
    pub fn git(&self) -> Personal {
        Personal::of(|name| self.variable(name))
    }

    /// Where programs are that run outside the sandbox, in the form of `PATH`: what may be written from within it is
    /// none of it.
    pub fn programs(&self, roots: &[PathBuf]) -> String {
        programs(&self.variable("PATH").unwrap_or_default(), roots)
    }

    /// The environment of hooks over `roots`: where programs are, the home, the language.
    pub fn hook_env(&self, roots: &[PathBuf]) -> Vec<(String, String)> {
        let named = ["HOME", "LANG"].into_iter().filter_map(|name| Some((name.to_owned(), env::var(name).ok()?)));
        std::iter::once(("PATH".to_owned(), self.programs(roots))).chain(named).collect()
    }

    /// The home as text, for `~/` in rules.
    pub fn home_text(&self) -> Option<String> {
        self.home.as_ref().and_then(|home| home.to_str()).map(str::to_owned)
    }
}

/// Where programs are looked for when `PATH` names no place that holds. Not an empty one: that is the current directory.
const SYSTEM_PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin";

/// The entries of `path` that are not the workspace's. A relative or empty one is a directory of whichever repository is
/// open, and what lies below a root (`.venv/bin`) a command in the sandbox may write; neither by another name.
fn programs(path: &str, roots: &[PathBuf]) -> String {
    let below = |dir: &Path| roots.iter().any(|root| dir.starts_with(root));
    let apart = |entry: &&str| {
        let dir = Path::new(*entry);
        // One that is not there yet may be made, below what is; where a link leads to nothing, nobody knows where.
        let real = dir.ancestors().find_map(|dir| match std::fs::canonicalize(dir) {
            Ok(real) => Some(Some(real)),
            Err(_) => dir.is_symlink().then_some(None),
        });
        dir.is_absolute() && !below(dir) && real.flatten().is_some_and(|dir| !below(&dir))
    };
    let entries: Vec<&str> = path.split(':').filter(apart).collect();
    if entries.is_empty() { SYSTEM_PROGRAMS.to_owned() } else { entries.join(":") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_outside_the_sandbox_are_never_the_workspaces() {
        let scene = tempfile::tempdir().expect("a directory");
        let base = scene.path().canonicalize().expect("it is there");
        for dir in ["work/.venv/bin", "work-tools/bin"] {
            std::fs::create_dir_all(base.join(dir)).expect("made");
        }
        std::os::unix::fs::symlink(base.join("work/.venv"), base.join("venv")).expect("a link");
        std::os::unix::fs::symlink(base.join("work/target/bin"), base.join("unbuilt")).expect("a link");
        let at = |name: &str| base.join(name).to_str().expect("text").to_owned();
        let roots = [base.join("work"), PathBuf::from("/srv/other")];
        for (entry, stays) in [
            (String::new(), false),
            (".".into(), false),
            ("bin".into(), false),
            (at("work"), false),
            (at("work/.venv/bin"), false),
            (at("work/not/there"), false),
            (at("work-tools/../work/.venv/bin"), false),
            (at("venv/bin"), false),
            (at("venv/not/there"), false),
            (at("unbuilt"), false),
            (at("unbuilt/bin"), false),
            ("/srv/other/bin".into(), false),
            (at("work-tools/bin"), true),
            (at("not/there"), true),
            ("/bin".into(), true),
        ] {
            let kept = programs(&format!("/usr/bin:{entry}:/sbin"), &roots);
            let expected = if stays { format!("/usr/bin:{entry}:/sbin") } else { "/usr/bin:/sbin".into() };
            assert_eq!(kept, expected, "{entry:?}");
        }
        for none in ["", ".:bin", &at("work/bin")] {
            assert_eq!(programs(none, &roots), SYSTEM_PROGRAMS, "an empty one would be the current directory");
        }
    }
}
