//! Which paths hold secrets, and which become code or policy once written.
//!
//! Two tables and one matcher. Paths are compared as bytes with ASCII case folded, because a
//! file system that folds case would otherwise let `.ENV` through. Only names are known here:
//! links were resolved before the path arrived.
//!
//! The matcher is called for every file of a tree search, so whole names are looked up and not compared, and what begins
//! with a dot is only looked for where a dot is.

use std::borrow::Cow;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::LazyLock;

/// What a path is, beyond being a path. Both may hold at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathClass {
    /// Why it counts as a secret, if it does.
    pub secret: Option<&'static str>,
    /// Why a write to it counts as guarded, if it does.
    pub guarded: Option<&'static str>,
    /// Why a write that names it is asked about, though programs that run may write it on their own.
    pub named: Option<&'static str>,
}

impl PathClass {
    /// Why a write that names it is asked about, if it is.
    pub fn asked(&self) -> Option<&'static str> {
        self.guarded.or(self.named)
    }
}

/// One way to recognise a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// The last component, whole.
    Name(&'static str),
    /// The start of the last component.
    Prefix(&'static str),
    /// The end of the last component.
    Suffix(&'static str),
    /// These components in a row, anywhere; the entry itself and everything below it.
    Below(&'static [&'static str]),
    /// These components in a row, the last of them the end of the path.
    Ends(&'static [&'static str]),
    /// These components from `/`; `*` is any one component. The entry and everything below it.
    Rooted(&'static [&'static str]),
}

use Shape::{Below, Ends, Name, Prefix, Rooted, Suffix};

const ENV: &str = "environment file";
const KEY: &str = "private key";
const STORE: &str = "credential store";
const HISTORY: &str = "shell history";

/// Files whose content is a credential. Order does not matter; the first hit names the reason.
const SECRETS: &[(Shape, &str)] = &[
    (Name(".env"), ENV),
    (Prefix(".env."), ENV),
    (Name(".envrc"), ENV),
    (Suffix(".env"), ENV),
    (Suffix(".pem"), KEY),
    (Suffix(".key"), KEY),
    (Suffix(".p12"), KEY),
    (Suffix(".pfx"), KEY),
    (Suffix(".ppk"), KEY),
    (Suffix(".jks"), KEY),
    (Suffix(".keystore"), KEY),
    (Suffix(".kdbx"), STORE),
    (Name("id_rsa"), KEY),
    (Name("id_dsa"), KEY),
    (Name("id_ecdsa"), KEY),
    (Name("id_ecdsa_sk"), KEY),
    (Name("id_ed25519"), KEY),
    (Name("id_ed25519_sk"), KEY),
    (Name(".netrc"), STORE),
    (Name("_netrc"), STORE),
    (Name(".pgpass"), STORE),
    (Name(".my.cnf"), STORE),
    (Name(".npmrc"), STORE),
    (Name(".pypirc"), STORE),
    (Name(".yarnrc.yml"), STORE),
    (Name(".git-credentials"), STORE),
    (Name(".htpasswd"), STORE),
    (Name(".dockercfg"), STORE),
    (Name(".s3cfg"), STORE),
    (Name(".boto"), STORE),
    (Name(".vault-token"), STORE),
    (Name("credentials.json"), STORE),
    (Name("secrets.json"), STORE),
    (Name("secrets.yaml"), STORE),
    (Name("secrets.yml"), STORE),
    (Name("secrets.toml"), STORE),
    (Prefix(".env-"), ENV),
    (Prefix(".env_"), ENV),
    (Name(".dev.vars"), ENV),
    (Name(".flaskenv"), ENV),
    (Name(".secrets"), STORE),
    (Name("secret.json"), STORE),
    (Name("secret.yaml"), STORE),
    (Name("secret.yml"), STORE),
    (Name("credentials"), STORE),
    (Name("credentials.yml"), STORE),
    (Name("credentials.yaml"), STORE),
    (Name("kubeconfig"), STORE),
    (Name("service-account.json"), KEY),
    (Name("service_account.json"), KEY),
    (Name("serviceaccountkey.json"), KEY),
    (Name("local.settings.json"), STORE),
    (Name("wp-config.php"), STORE),
    (Name(".vault_pass"), STORE),
    (Name(".terraformrc"), STORE),
    (Suffix(".tfstate"), STORE),
    (Suffix(".tfstate.backup"), STORE),
    (Suffix(".tfvars"), STORE),
    (Ends(&[".m2", "settings.xml"]), STORE),
    (Name(".bash_history"), HISTORY),
    (Name(".zsh_history"), HISTORY),
    (Name(".psql_history"), HISTORY),
    (Name(".mysql_history"), HISTORY),
    (Name(".python_history"), HISTORY),
    (Name(".node_repl_history"), HISTORY),
    (Below(&[".ssh"]), KEY),
    (Below(&[".gnupg"]), KEY),
    (Below(&[".aws"]), STORE),
    (Below(&[".azure"]), STORE),
    (Below(&[".password-store"]), STORE),
    (Ends(&[".docker", "config.json"]), STORE),
    (Below(&[".kube"]), STORE),
    (Below(&[".config", "gcloud"]), STORE),
    (Below(&[".config", "gh"]), STORE),
    (Below(&[".config", "op"]), STORE),
    (Below(&[".config", "rclone"]), STORE),
    (Below(&[".config", "containers", "auth.json"]), STORE),
    (Below(&[".config", "google-chrome"]), STORE),
    (Below(&[".config", "chromium"]), STORE),
    (Below(&[".mozilla"]), STORE),
    (Below(&[".local", "share", "keyrings"]), STORE),
    (Ends(&[".cargo", "credentials"]), STORE),
    (Ends(&[".cargo", "credentials.toml"]), STORE),
    (Ends(&[".gem", "credentials"]), STORE),
    (Ends(&[".terraform.d", "credentials.tfrc.json"]), STORE),
    (Rooted(&["etc", "shadow"]), STORE),
    (Rooted(&["etc", "shadow-"]), STORE),
    (Rooted(&["etc", "gshadow"]), STORE),
    (Rooted(&["etc", "gshadow-"]), STORE),
    (Rooted(&["etc", "sudoers"]), STORE),
    (Rooted(&["etc", "ssh"]), KEY),
    (Rooted(&["etc", "ssl", "private"]), KEY),
    (Rooted(&["proc", "*", "environ"]), "environment of a process"),
    (Rooted(&["proc", "*", "task", "*", "environ"]), "environment of a process"),
    (Rooted(&["proc", "*", "task", "*", "mem"]), "memory of a process"),
    (Rooted(&["proc", "*", "mem"]), "memory of a process"),
    (Rooted(&["proc", "kcore"]), "memory of the kernel"),
    (Rooted(&["run", "secrets"]), STORE),
    (Rooted(&["users", "*", "library", "keychains"]), STORE),
];

/// Names that look like a secret and are meant to be read: templates and public halves.
const PUBLIC: &[Shape] = &[
    Name(".env.example"),
    Name(".env.sample"),
    Name(".env.template"),
    Name(".env.dist"),
    Name(".env.defaults"),
    Name(".env-example"),
    Name(".env-sample"),
    Name(".env-template"),
    Name(".env_example"),
    Name(".env_sample"),
    Name(".env_template"),
    Name("example.env"),
    Name("sample.env"),
    Name("template.env"),
    Suffix(".env.example"),
    Suffix(".env.sample"),
    Suffix(".env.template"),
    Suffix(".pub"),
    Name("known_hosts"),
];

const GIT: &str = "git runs what it names";
const MERCURIAL: &str = "Mercurial runs what it names";
const RC: &str = "a shell runs it";
const EDITOR: &str = "an editor runs what it names";
const AGENT: &str = "it configures an agent or its servers";
const POLICY: &str = "it is Nika's own policy";
const CI: &str = "a build service runs it";
const SESSION: &str = "the system runs it at login or on a schedule";
const TOOLCHAIN: &str = "a build tool runs what it names";

/// Files that become code or policy later.
const GUARDED: &[(Shape, &str)] = &[
    (Name(".git"), GIT),
    (Ends(&[".git", "config"]), GIT),
    (Ends(&[".git", "config.worktree"]), GIT),
    (Ends(&[".git", "commondir"]), GIT),
    (Ends(&[".git", "gitdir"]), GIT),
    (Below(&[".git", "hooks"]), GIT),
    (Below(&[".git", "modules"]), GIT),
    (Below(&[".git", "worktrees"]), GIT),
    (Ends(&[".git", "info", "attributes"]), GIT),
    (Below(&[".git", "rebase-merge"]), GIT),
    (Below(&[".git", "rebase-apply"]), GIT),
    (Below(&[".git", "sequencer"]), GIT),
    (Below(&[".husky"]), GIT),
    (Below(&[".githooks"]), GIT),
    (Name(".gitconfig"), GIT),
    (Name(".gitmodules"), GIT),
    (Below(&[".config", "git"]), GIT),
    (Ends(&[".hg", "hgrc"]), MERCURIAL),
    (Name(".bashrc"), RC),
    (Name(".bash_profile"), RC),
    (Name(".bash_login"), RC),
    (Name(".bash_logout"), RC),
    (Name(".bash_aliases"), RC),
    (Name(".profile"), RC),
    (Name(".zshrc"), RC),
    (Name(".zshenv"), RC),
    (Name(".zprofile"), RC),
    (Name(".zlogin"), RC),
    (Name(".zlogout"), RC),
    (Name(".kshrc"), RC),
    (Name(".cshrc"), RC),
    (Name(".tcshrc"), RC),
    (Name(".login"), RC),
    (Name(".inputrc"), RC),
    (Name(".envrc"), RC),
    (Below(&[".config", "fish"]), RC),
    (Name(".xinitrc"), SESSION),
    (Name(".xprofile"), SESSION),
    (Name(".xsession"), SESSION),
    (Name(".pam_environment"), SESSION),
    (Below(&[".config", "autostart"]), SESSION),
    (Below(&[".config", "systemd"]), SESSION),
    (Below(&[".ssh"]), SESSION),
    (Below(&[".vscode"]), EDITOR),
    (Suffix(".code-workspace"), EDITOR),
    (Below(&[".idea"]), EDITOR),
    (Below(&[".zed"]), EDITOR),
    (Below(&[".devcontainer"]), EDITOR),
    (Name(".devcontainer.json"), EDITOR),
    (Name(".vimrc"), EDITOR),
    (Name(".nvimrc"), EDITOR),
    (Name(".nvim.lua"), EDITOR),
    (Name(".exrc"), EDITOR),
    (Name(".emacs"), EDITOR),
    (Below(&[".emacs.d"]), EDITOR),
    (Below(&[".vim"]), EDITOR),
    (Below(&[".config", "nvim"]), EDITOR),
    (Name(".dir-locals.el"), EDITOR),
    (Name(".dir-locals-2.el"), EDITOR),
    (Name(".mcp.json"), AGENT),
    (Name("mcp.json"), AGENT),
    (Below(&[".claude"]), AGENT),
    (Name(".claude.json"), AGENT),
    (Below(&[".codex"]), AGENT),
    (Below(&[".cursor"]), AGENT),
    (Name(".cursorrules"), AGENT),
    (Below(&[".gemini"]), AGENT),
    (Below(&[".windsurf"]), AGENT),
    (Below(&[".continue"]), AGENT),
    (Below(&[".vibe"]), AGENT),
    (Below(&[".opencode"]), AGENT),
    (Below(&[".claw"]), AGENT),
    (Prefix(".claw-"), AGENT),
    (Prefix(".codex-"), AGENT),
    (Name("opencode.json"), AGENT),
    (Name("opencode.jsonc"), AGENT),
    (Below(&[".nika"]), POLICY),
    (Below(&[".config", "nika"]), POLICY),
    (Rooted(&["etc", "nika"]), POLICY),
    (Below(&[".github", "workflows"]), CI),
    (Below(&[".github", "actions"]), CI),
    (Name(".gitlab-ci.yml"), CI),
    (Name(".travis.yml"), CI),
    (Name("jenkinsfile"), CI),
    (Name("azure-pipelines.yml"), CI),
    (Name("azure-pipelines.yaml"), CI),
    (Name(".gitlab-ci.yaml"), CI),
    (Below(&[".gitlab", "ci"]), CI),
    (Name(".drone.yml"), CI),
    (Name(".drone.yaml"), CI),
    (Name(".woodpecker.yml"), CI),
    (Name(".woodpecker.yaml"), CI),
    (Below(&[".woodpecker"]), CI),
    (Name("bitbucket-pipelines.yml"), CI),
    (Name("bitbucket-pipelines.yaml"), CI),
    (Name(".appveyor.yml"), CI),
    (Name("appveyor.yml"), CI),
    (Name(".cirrus.yml"), CI),
    (Name(".cirrus.star"), CI),
    (Name("cloudbuild.yaml"), CI),
    (Name("cloudbuild.yml"), CI),
    (Name("buildspec.yml"), CI),
    (Name("buildspec.yaml"), CI),
    (Below(&[".gitea", "workflows"]), CI),
    (Below(&[".forgejo", "workflows"]), CI),
    (Below(&[".semaphore"]), CI),
    (Below(&[".tekton"]), CI),
    (Below(&[".teamcity"]), CI),
    (Below(&[".circleci"]), CI),
    (Below(&[".buildkite"]), CI),
    (Name(".pre-commit-config.yaml"), CI),
    (Name(".npmrc"), TOOLCHAIN),
    (Name(".yarnrc"), TOOLCHAIN),
    (Name(".yarnrc.yml"), TOOLCHAIN),
    (Ends(&[".cargo", "config"]), TOOLCHAIN),
    (Ends(&[".cargo", "config.toml"]), TOOLCHAIN),
    (Rooted(&["etc", "profile"]), RC),
    (Rooted(&["etc", "profile.d"]), RC),
    (Rooted(&["etc", "bash.bashrc"]), RC),
    (Rooted(&["etc", "crontab"]), SESSION),
    (Rooted(&["etc", "cron.d"]), SESSION),
    (Rooted(&["etc", "systemd"]), SESSION),
    (Rooted(&["etc", "ld.so.preload"]), SESSION),
    (Rooted(&["etc", "sudoers"]), SESSION),
    (Rooted(&["etc", "sudoers.d"]), SESSION),
    (Rooted(&["var", "spool", "cron"]), SESSION),
];

const STORAGE: &str = "git keeps its history in it, and only git should write it";
const HOOKS: &str = "it says what git runs before a commit";
const STARTUP: &str = "a program that starts here runs it";

/// Files that become code, or lose history, when somebody names them in order to write them; programs of the
/// workspace write some of them in the course of their work (git its index, yarn its loader), so they are asked about
/// and not kept from what already runs.
const NAMED: &[(Shape, &str)] = &[
    (Ends(&[".git", "head"]), STORAGE),
    (Ends(&[".git", "index"]), STORAGE),
    (Ends(&[".git", "packed-refs"]), STORAGE),
    (Below(&[".git", "refs"]), STORAGE),
    (Below(&[".git", "objects"]), STORAGE),
    (Below(&[".git", "logs"]), STORAGE),
    (Name("lefthook.yml"), HOOKS),
    (Name("lefthook.yaml"), HOOKS),
    (Name("lefthook.toml"), HOOKS),
    (Name("lefthook.json"), HOOKS),
    (Prefix(".lefthook."), HOOKS),
    (Prefix("lefthook-local."), HOOKS),
    (Prefix(".lefthook-local."), HOOKS),
    (Prefix("lint-staged.config."), HOOKS),
    (Name(".overcommit.yml"), HOOKS),
    (Name(".lintstagedrc"), HOOKS),
    (Prefix(".lintstagedrc."), HOOKS),
    (Prefix(".simple-git-hooks."), HOOKS),
    (Suffix(".sublime-project"), EDITOR),
    (Below(&[".run"]), EDITOR),
    (Below(&[".fleet"]), EDITOR),
    (Below(&[".helix"]), EDITOR),
    (Below(&[".nova"]), EDITOR),
    (Below(&[".kiro"]), AGENT),
    (Below(&[".qwen"]), AGENT),
    (Below(&[".roo"]), AGENT),
    (Below(&[".amazonq"]), AGENT),
    (Below(&[".crush"]), AGENT),
    (Name("crush.json"), AGENT),
    (Name(".crush.json"), AGENT),
    (Name(".aider.conf.yml"), AGENT),
    (Name(".clinerules"), AGENT),
    (Name(".roomodes"), AGENT),
    (Name(".gdbinit"), STARTUP),
    (Name(".lldbinit"), STARTUP),
    (Name(".rprofile"), STARTUP),
    (Name(".irbrc"), STARTUP),
    (Name(".pryrc"), STARTUP),
    (Name(".pdbrc"), STARTUP),
    (Name(".psqlrc"), STARTUP),
    (Name(".sqliterc"), STARTUP),
    (Name(".duckdbrc"), STARTUP),
    (Name(".tmux.conf"), STARTUP),
    (Name(".screenrc"), STARTUP),
    (Name(".octaverc"), STARTUP),
    (Name(".guile"), STARTUP),
    (Name(".ghci"), STARTUP),
    (Name(".wgetrc"), STARTUP),
    (Name(".curlrc"), STARTUP),
    (Below(&[".mvn"]), TOOLCHAIN),
    (Below(&[".bundle"]), TOOLCHAIN),
    (Below(&[".yarn", "releases"]), TOOLCHAIN),
    (Below(&[".yarn", "plugins"]), TOOLCHAIN),
    (Name(".pnp.cjs"), TOOLCHAIN),
    (Name(".pnp.loader.mjs"), TOOLCHAIN),
    (Name(".pnpmfile.cjs"), TOOLCHAIN),
    (Name(".mise.toml"), TOOLCHAIN),
    (Name("mise.toml"), TOOLCHAIN),
    (Name(".mise.local.toml"), TOOLCHAIN),
    (Below(&[".config", "mise"]), TOOLCHAIN),
];

/// What `path` is. Absolute or relative to a root: only the rooted entries need it absolute.
pub fn classify(path: &Path) -> PathClass {
    let seen = Seen::of(path);
    let found = ROWS.found(&seen);
    PathClass {
        secret: ROWS.first(0, &found, &seen).filter(|_| !seen.is_public()),
        guarded: ROWS.first(1, &found, &seen),
        named: ROWS.first(2, &found, &seen),
    }
}

/// A path as the rows are held against it.
struct Seen<'p> {
    /// In small letters.
    bytes: Cow<'p, [u8]>,
    /// Where its last component begins.
    name: usize,
    rooted: bool,
    /// Some component starts with a dot; most source files have none and skip the long rows.
    dotted: bool,
}

impl<'p> Seen<'p> {
    fn of(path: &'p Path) -> Seen<'p> {
        let bytes = fold(path.as_os_str().as_bytes());
        let name = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (rooted, dotted) = (bytes.first() == Some(&b'/'), bytes.starts_with(b".") || memmem_dot(&bytes));
        Seen { bytes, name, rooted, dotted }
    }

    fn name(&self) -> &[u8] {
        self.bytes.get(self.name..).unwrap_or_default()
    }

    fn fits(&self, shape: &Shape) -> bool {
        shape.fits(&self.bytes, self.name(), self.rooted)
    }

    fn is_public(&self) -> bool {
        PUBLIC.iter().any(|shape| self.fits(shape))
    }
}

/// The tables that a path is held against.
const TABLES: [&[(Shape, &str)]; 3] = [SECRETS, GUARDED, NAMED];

/// Of each table the first row that fits, by where it stands.
type Found = [Option<usize>; TABLES.len()];

/// Their rows, with those apart that can be looked up, so that a path is not held against each of them.
struct Rows {
    /// The first row of each table that is this whole name.
    names: HashMap<&'static [u8], Found>,
    /// The rows that begin with this component, by table and place in it. It starts with a dot.
    runs: HashMap<&'static [u8], Vec<(usize, usize)>>,
    /// The other rows of each table.
    others: [Vec<usize>; TABLES.len()],
}

static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    let mut rows = Rows { names: HashMap::new(), runs: HashMap::new(), others: Default::default() };
    for (index, table) in TABLES.iter().enumerate() {
        for (at, (shape, _)) in table.iter().enumerate() {
            match shape {
                Name(name) => _ = rows.names.entry(name.as_bytes()).or_default()[index].get_or_insert(at),
                Prefix(_) | Suffix(_) | Rooted(_) => rows.others[index].push(at),
                Below(run) | Ends(run) => {
                    let first = run.first().map_or(&b""[..], |first| first.as_bytes());
                    rows.runs.entry(first).or_default().push((index, at));
                }
            }
        }
    }
    rows
});

impl Rows {
    /// What of a path can be looked up: its last component, and what begins with each.
    fn found(&self, seen: &Seen<'_>) -> Found {
        let mut found = self.names.get(seen.name()).copied().unwrap_or_default();
        // Most source files have none and need no more.
        let mut rest = seen.dotted.then_some(&*seen.bytes);
        while let Some(here) = rest {
            let slash = here.iter().position(|byte| *byte == b'/');
            let part = here.get(..slash.unwrap_or(here.len())).unwrap_or_default();
            let runs = if part.starts_with(b".") { self.runs.get(part) } else { None };
            for (table, at) in runs.into_iter().flatten() {
                let begins = TABLES.get(*table).and_then(|rows| rows.get(*at)).is_some_and(|row| row.0.begins(here));
                if begins && found[*table].is_none_or(|other| *at < other) {
                    found[*table] = Some(*at);
                }
            }
            rest = slash.and_then(|slash| here.get(slash + 1..));
        }
        found
    }

    /// The reason of the first row of a table that fits.
    fn first(&self, table: usize, found: &Found, seen: &Seen<'_>) -> Option<&'static str> {
        let rows = TABLES.get(table)?;
        let fits = |at: &usize| rows.get(*at).is_some_and(|(shape, _)| seen.fits(shape));
        let other = self.others.get(table)?.iter().copied().find(fits);
        let at = [found[table], other].into_iter().flatten().min()?;
        rows.get(at).map(|(_, why)| *why)
    }
}

/// The rows for secrets.
pub(crate) fn secret_shapes() -> impl Iterator<Item = &'static Shape> {
    SECRETS.iter().map(|(shape, _)| shape)
}

/// The rows for what is guarded, from running programs or from whoever names it.
pub(crate) fn guarded_shapes() -> impl Iterator<Item = &'static Shape> {
    GUARDED.iter().chain(NAMED).map(|(shape, _)| shape)
}

/// A table row that stands at one fixed place below a directory, as components; `tree` when all below it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) below: &'static [&'static str],
    pub(crate) name: Option<&'static str>,
    pub(crate) tree: bool,
    pub(crate) why: &'static str,
}

fn spots(table: &'static [(Shape, &'static str)]) -> impl Iterator<Item = Spot> {
    table.iter().filter_map(|(shape, why)| match shape {
        Name(name) => Some(Spot { below: &[], name: Some(name), tree: false, why }),
        Below(run) => Some(Spot { below: run, name: None, tree: true, why }),
        Ends(run) => Some(Spot { below: run, name: None, tree: false, why }),
        _ => None,
    })
}

/// Where guarded entries stand below a project or a home.
pub(crate) fn guarded_spots() -> impl Iterator<Item = Spot> {
    spots(GUARDED)
}

/// Where secrets stand below a home.
pub(crate) fn secret_spots() -> impl Iterator<Item = Spot> {
    spots(SECRETS)
}

/// The places of secrets that start at `/` and name no pattern.
pub(crate) fn rooted_secrets() -> impl Iterator<Item = &'static [&'static str]> {
    SECRETS.iter().filter_map(|(shape, _)| match shape {
        Rooted(run) if !run.contains(&"*") => Some(*run),
        _ => None,
    })
}

/// Whether the guard's reason is that something far from this directory reads it: a login elsewhere, a build service.
pub(crate) fn is_of_elsewhere(why: &str) -> bool {
    why == RC || why == SESSION || why == CI
}

/// Whether `path` holds a secret; the half of [`classify`] that a tree search asks for every file.
pub(crate) fn is_secret(path: &Path) -> bool {
    let seen = Seen::of(path);
    ROWS.first(0, &ROWS.found(&seen), &seen).is_some() && !seen.is_public()
}

/// Whether some component behind the first starts with a dot.
fn memmem_dot(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"/.")
}

fn fold(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.iter().any(u8::is_ascii_uppercase) { Cow::Owned(bytes.to_ascii_lowercase()) } else { Cow::Borrowed(bytes) }
}

impl Shape {
    /// Whether a row fits that is not looked up.
    fn fits(&self, path: &[u8], name: &[u8], rooted: bool) -> bool {
        match self {
            // One byte tells most of them apart.
            Name(want) => name.last() == want.as_bytes().last() && name == want.as_bytes(),
            Prefix(start) => name.first() == start.as_bytes().first() && name.starts_with(start.as_bytes()),
            Suffix(end) => {
                name.last() == end.as_bytes().last() && name.len() > end.len() && name.ends_with(end.as_bytes())
            }
            Rooted(run) => rooted && starts_at_root(path, run),
            Below(_) | Ends(_) => false,
        }
    }

    /// Whether the components of a row stand at the beginning of `path`, which is the rest of one from a component on.
    fn begins(&self, path: &[u8]) -> bool {
        match self {
            Below(run) => strip_run(path, run).is_some(),
            Ends(run) => strip_run(path, run).is_some_and(<[u8]>::is_empty),
            _ => false,
        }
    }
}

/// `path` behind the components `run`, or `None` when it does not start with them.
fn strip_run<'a>(path: &'a [u8], run: &[&str]) -> Option<&'a [u8]> {
    let mut rest = path;
    for (index, want) in run.iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b"/")?;
        }
        rest = match *want {
            "*" => &rest[rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len())..],
            want => rest.strip_prefix(want.as_bytes())?,
        };
        if !(rest.is_empty() || rest[0] == b'/') {
            return None;
        }
    }
    Some(rest)
}

fn starts_at_root(path: &[u8], run: &[&str]) -> bool {
    strip_run(path.strip_prefix(b"/").unwrap_or(path), run).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(path: &str) -> (bool, bool) {
        let class = classify(Path::new(path));
        assert_eq!(class.secret.is_some(), is_secret(Path::new(path)), "{path}");
        (class.secret.is_some(), class.guarded.is_some())
    }

    /// Whether the components `run` stand in a row in `path`, at its end if `at_end`.
    fn run_in(path: &[u8], run: &[&str], at_end: bool) -> bool {
        let mut rest = path;
        loop {
            if let Some(after) = strip_run(rest, run)
                && (!at_end || after.is_empty())
            {
                return true;
            }
            match rest.iter().position(|byte| *byte == b'/') {
                Some(slash) => rest = &rest[slash + 1..],
                None => return false,
            }
        }
    }

    #[test]
    fn looking_rows_up_finds_what_holding_a_path_against_each_finds() {
        let spots = || guarded_spots().chain(secret_spots()).chain(spots(NAMED));
        assert!(ROWS.runs.keys().all(|first| first.starts_with(b".")), "others are not looked up");
        assert!(!PUBLIC.iter().any(|shape| matches!(shape, Below(_) | Ends(_))), "names alone are public");
        let places = spots().map(|spot| spot.below.iter().chain(&spot.name).copied().collect::<Vec<_>>().join("/"));
        for place in places.chain(["a".to_owned(), ".x/y".to_owned(), String::new()]) {
            for path in [
                place.clone(),
                format!("/w/{place}"),
                format!("a/.b/{place}/c"),
                format!("{place}.x"),
                format!("x{place}/.d"),
                format!(".git/{place}/{place}"),
                place.to_uppercase(),
            ] {
                let seen = Seen::of(Path::new(&path));
                let found = ROWS.found(&seen);
                for (index, table) in TABLES.iter().enumerate() {
                    let fits = |shape: &Shape| match shape {
                        Below(run) => run_in(&seen.bytes, run, false),
                        Ends(run) => run_in(&seen.bytes, run, true),
                        shape => seen.fits(shape),
                    };
                    let each = table.iter().find(|(shape, _)| fits(shape)).map(|(_, why)| *why);
                    assert_eq!(ROWS.first(index, &found, &seen), each, "{path}");
                }
            }
        }
    }

    #[test]
    fn secrets_are_known_by_name_place_and_ending() {
        for path in [
            ".env",
            "a/.env",
            ".env.local",
            "config/prod.env",
            ".ENV",
            "deploy/server.PEM",
            "k/id_rsa",
            "/home/dev/.ssh/id_ed25519",
            "/home/dev/.ssh/config",
            "/home/dev/.aws/credentials",
            ".netrc",
            "/etc/shadow",
            "/proc/1/environ",
            "/proc/7/task/8/environ",
            "/proc/self/environ",
            "/home/dev/.config/gh/hosts.yml",
            "/home/dev/.docker/config.json",
            ".envrc",
            "app/secrets.yaml",
            ".npmrc",
        ] {
            assert!(class(path).0, "{path} should be a secret");
        }
        for path in [
            ".env.example",
            "a/.env.sample",
            "src/env.rs",
            "keys.md",
            "id_rsa.pub",
            "environment",
            "src/keyboard.c",
            "monkey",
            "docs/.environments",
            "/etc/shadows",
            "etc/shadow",
            "x.env.example",
            "/home/dev/.ssh/id_rsa.pub",
            "docker/config.json",
            ".github/workflows/ci.yml",
        ] {
            assert!(!class(path).0, "{path} should not be a secret");
        }
    }

    #[test]
    fn guarded_paths_are_what_becomes_code() {
        for path in [
            ".git/config",
            "sub/.git/config",
            ".git/hooks/pre-commit",
            ".git/hooks",
            ".git",
            ".GIT/Hooks/x",
            ".bashrc",
            "/home/dev/.zshrc",
            ".vscode/tasks.json",
            ".mcp.json",
            ".claude/settings.json",
            ".nika/config.yaml",
            ".github/workflows/ci.yml",
            ".husky/pre-commit",
            ".envrc",
            ".claw-policy.json",
            "/etc/nika/config.yaml",
            ".git/modules/x/config",
            ".cargo/config.toml",
            ".hg/hgrc",
            "opencode.jsonc",
            "Jenkinsfile",
            ".drone.yml",
            ".forgejo/workflows/ci.yml",
            "bitbucket-pipelines.yml",
        ] {
            assert!(class(path).1, "{path} should be guarded");
        }
        for path in [
            ".git/index",
            ".git/refs/heads/main",
            ".pnp.cjs",
            "sub/.mvn/jvm.config",
            "lefthook.yml",
            ".lefthook-local.toml",
            "lint-staged.config.mjs",
            "crush.json",
            ".Rprofile",
        ] {
            let class = classify(Path::new(path));
            assert!(class.guarded.is_none() && class.asked().is_some(), "{path} should be asked about, not kept");
        }
        for path in [
            ".git/index",
            ".gitignore",
            ".github/ISSUE_TEMPLATE.md",
            "src/git/config",
            "hooks/pre-commit",
            "a.bashrc",
            "vscode/tasks.json",
            "etc/nika/config.yaml",
            "nika/config.yaml",
            ".git/objects/ab/cd",
        ] {
            assert!(!class(path).1, "{path} should not be guarded");
        }
    }
}
