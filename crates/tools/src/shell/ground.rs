//! What all commands stand on: the files, the jobs, the environment, and what of the workspace is protected.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use nika_contract::{Cx, News, SessionState, ToolError, code, event};
use nika_guard::bash::{ANY_HOST, Scratch, Site};
use nika_guard::profile::{Access, Instead, Profile, Repository, narrow};
use nika_guard::{ChangesLeft, Effect, Effects, ExecKind, Extent, Permit, Place, classify};
use nika_host::fs::Workspace;
use nika_host::git::{Finder, settled_indexes};
use nika_host::proc::{Job, Jobs, Noted, Notes, Notice, Order, StartError};
use nika_host::sandbox::{Known, Linked, MAX_HIDDEN, all_but, scan, scan_with, secrets_at_home, spelled};
use nika_host::scratch::{self, Taker};
use serde_json::Value;

use super::of_git::names_git;
use super::over::Wanted;
use super::scratch::{self as scratches, Held};
use super::{recorded, report};

/// See the module's page.
#[derive(Debug)]
pub struct Ground {
    /// The roots.
    pub files: Arc<Workspace>,
    /// What runs.
    pub jobs: Arc<Jobs>,
    /// The environment of commands.
    pub env: Vec<(String, String)>,
    /// Where long output goes.
    pub spill: PathBuf,
    /// Whether Landlock and seccomp alone will do where the system grants no namespaces.
    pub landlock_only: bool,
    /// Whether what a command changes is held apart first, so that it can be taken back.
    pub undo: bool,
    /// Whether a command that is asked about and writes only inside is tried first, so that the question shows what it did.
    pub rehearses: bool,
    /// Why no layer can be had on this system, once that is known.
    pub(super) no_layers: OnceLock<String>,
    /// Why nothing can be recorded on this system, once that is known.
    pub(super) no_record: OnceLock<String>,
    known: Mutex<Option<Looked>>,
    /// Where programs lie that commands look for, once that is known.
    programs: OnceLock<HashSet<PathBuf>>,
}

/// What a look at the roots found, when, and how long it took.
#[derive(Debug)]
struct Looked {
    known: Arc<Known>,
    at: Instant,
    took: Duration,
}

/// What was found is taken for true for so many times as long as finding it took: others make files, too, and
/// looking shall cost little beside the commands. A thousand files are looked at anew each time; of 80,000 what
/// was found counts for some seconds.
const TRUSTED_FOR: u32 = 20;

/// Where a session's next command begins.
#[derive(Debug, Default)]
pub struct Cwd(Mutex<Option<PathBuf>>);

impl Cwd {
    /// The directory, if a command has left the root.
    pub fn get(&self) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on, this one.
    pub fn set(&self, dir: Option<PathBuf>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = dir;
    }
}

/// What git does in no sandbox, as it takes away nothing that anybody asked for: run programs that the repository's
/// configuration names to page or to compare files. What has the name of a driver in its key cannot be set here, nor
/// can `diff.external`, of which git would run an empty one; the guard looks at these (`git/programs.rs`).
const QUIET_GIT: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.alternateRefsCommand", ""),
    ("core.pager", "cat"),
    // On a terminal git would run an empty one.
    ("interactive.diffFilter", "cat"),
    ("protocol.ext.allow", "never"),
];

/// What git does not do besides for a command that only reads: run hooks and helpers, or take a directory for a
/// repository by what lies in it.
const STILL_GIT: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.sshCommand", "/bin/false"),
    ("gpg.program", "/bin/false"),
    ("gpg.ssh.program", "/bin/false"),
    ("gpg.x509.program", "/bin/false"),
    ("safe.bareRepository", "explicit"),
];

/// What a hidden file and its stand-in have in common is size and time; git knows by them that it is unchanged, where by
/// default it looks also at what cannot be the same, and then fails on a file that it cannot read.
const GIT_BESIDE_HIDDEN: &[(&str, &str)] = &[("core.checkStat", "minimal")];

/// What programs are made of, and what the sandbox has of its own: no rule takes it from a command as a whole.
const OF_SYSTEM: &[&str] = &[
    "/bin",
    "/dev",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/sbin",
    "/var/tmp",
];

/// What git must not do unasked in a repository that other worktrees share: it would tidy up theirs, too, and could not.
const UNTIDY_GIT: &[(&str, &str)] = &[("gc.auto", "0"), ("maintenance.auto", "false")];

impl Ground {
    /// Nothing is known of the workspace yet.
    pub fn new(
        files: Arc<Workspace>,
        jobs: Arc<Jobs>,
        env: Vec<(String, String)>,
        spill: PathBuf,
        landlock_only: bool,
        undo: bool,
    ) -> Ground {
        let (no_layers, no_record, known) = (OnceLock::new(), OnceLock::new(), Mutex::default());
        let programs = OnceLock::new();
        Ground { files, jobs, env, spill, landlock_only, undo, rehearses: true, no_layers, no_record, known, programs }
    }

    /// The same, where commands are tried before a question about them, or are not.
    pub fn rehearsing(self, rehearses: bool) -> Ground {
        Ground { rehearses, ..self }
    }

    /// Where the session's next command runs.
    pub fn cwd(&self, session: &SessionState) -> PathBuf {
        session.slot::<Cwd>().get().filter(|dir| dir.is_dir()).unwrap_or_else(|| self.files.root().to_owned())
    }

    /// An error, once, where the directory is gone that the session's commands run in: what was meant for it must not
    /// run in another. The next command runs in the root.
    pub fn stands(&self, session: &SessionState) -> Result<(), ToolError> {
        let Some(gone) = session.slot::<Cwd>().get().filter(|dir| !dir.is_dir()) else { return Ok(()) };
        session.slot::<Cwd>().set(None);
        let gone = report::shown_dir(self.files.root(), &gone);
        let message = format!("nothing was run: {gone}, where this session's commands run, is gone");
        Err(ToolError::new(code::NOT_FOUND, message).hint("the next command runs in the root, `.`"))
    }

    /// Where a command of the session is read.
    pub fn site(&self, session: &SessionState) -> Site {
        let roots: Vec<PathBuf> = self.files.roots().map(Path::to_owned).collect();
        let repositories = Arc::new(Finder::new(&self.env, roots.clone()));
        let scratch = match self.landlock_only {
            true => Scratch::default(),
            false => Scratch { kept: self.kept_scratch(session), shared: true, ..Scratch::private() },
        };
        let on_paper = Site::on_paper(roots, self.cwd(session), self.home());
        let site = Site { repositories: Some(repositories), scratch, ..on_paper };
        site.seeing(self.env.iter().map(|(name, _)| name))
    }

    /// Where the session's temporary directories are kept, where it has some.
    fn kept_scratch(&self, session: &SessionState) -> Option<PathBuf> {
        session.is_lasting().then(|| scratch::dir_of(self.files.state(), session.id()))
    }

    fn home(&self) -> PathBuf {
        self.files.home().map_or_else(|| PathBuf::from("/nonexistent"), Path::to_owned)
    }

    /// What the system must enforce on a command that `permit` allows.
    pub fn profile(&self, permit: &Permit, session: &SessionState, most: Access) -> Result<Profile, ToolError> {
        let access = self.access(permit, most);
        let mut profile = Profile::new(access, self.files.root(), self.home());
        profile.roots = self.files.roots().map(Path::to_owned).collect();
        profile.cwd = self.cwd(session);
        profile.env = self.env.clone();
        profile.landlock_only = self.landlock_only;
        if access == Access::Unconfined {
            return Ok(profile);
        }
        if session.is_lasting() {
            let make = || scratch::Scratch::of(permit, self.files.state(), session.id());
            // Without them the command has its own, which go with it.
            profile.scratch = Held::get(session, make).ok().map(|held| held.dir(permit).to_owned());
        }
        narrow(&mut profile.env, access, &|dir| self.is_inside(dir));
        quiet_git(&mut profile.env, access == Access::ReadOnly);
        self.hide(permit, &mut profile)?;
        self.repositories(permit, &mut profile);
        self.open(permit, &mut profile)?;
        if !profile.shown.is_empty() {
            // What it is shown stands where its own files would be: these it has for itself.
            profile.scratch = None;
        }
        self.settle_git(permit, &mut profile);
        Ok(profile)
    }

    /// The profile of a call: reading only, where it is proved to or may change nothing here.
    fn access(&self, permit: &Permit, most: Access) -> Access {
        let proved = permit.effects().all.iter().all(|effect| match effect {
            Effect::Exec(exec) => exec.kind == ExecKind::ReadOnly,
            Effect::Write(_) | Effect::Net(_) => false,
            _ => true,
        });
        let changes_nothing =
            || permit.changes_left(&self.files.place(self.files.root().to_owned())) == ChangesLeft::None;
        match most {
            Access::Workspace if proved || changes_nothing() => Access::ReadOnly,
            access => access,
        }
    }

    /// Hides secrets, Nika's state, and what rules withhold.
    fn hide(&self, permit: &Permit, profile: &mut Profile) -> Result<(), ToolError> {
        if permit.hides_by_rule() {
            // What a rule withholds is hidden from this call alone: found anew, as it is the rules' of this session.
            let known = self.look(&|path| permit.hides(&self.files.place(path.to_owned())));
            self.put(&known, profile)?;
            let outside = self.withheld_outside(permit);
            // Landlock alone hides nothing: what a rule withholds is hidden, or nothing runs.
            profile.landlock_only &= known.withheld.is_empty() && outside.is_empty();
            profile.secrets.extend(outside);
        } else {
            self.put(&self.known(), profile)?;
        }
        profile.secrets.extend(secrets_at_home(&self.home()));
        profile.masked.push(self.files.own_state().to_owned());
        Ok(())
    }

    /// Opens what a person let this call read, write and reach.
    fn open(&self, permit: &Permit, profile: &mut Profile) -> Result<(), ToolError> {
        let effects = &permit.effects().all;
        let own_scratch = scratches::touches(permit.effects());
        for effect in effects {
            match effect {
                Effect::Read(place) => {
                    show(&mut profile.secrets, &place.path);
                    let outside = place.below_root.is_none();
                    if outside && !own_scratch && Scratch::private().holds(&place.path) {
                        profile.shown.push(place.path.clone());
                    }
                }
                Effect::Write(place) => {
                    profile.release(&place.path);
                    show_around(&mut profile.secrets, &place.path);
                    if is_outside(place)
                        && profile.access == Access::Workspace
                        && let Some(dir) = self.opened_for(effects, &place.path)?
                    {
                        scan(&dir, self.files.person()).put_into(profile);
                        profile.roots.push(dir);
                    }
                }
                Effect::Net(host) if host == ANY_HOST => {
                    profile.hosts.push("*".to_owned());
                    profile.hosts.extend(permit.withheld_hosts().iter().map(|host| format!("!{host}")));
                }
                // It has this one without a proxy.
                Effect::Net(host) if is_itself(host) => {}
                Effect::Net(host) => profile.hosts.push(host.clone()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Tells git what it needs to know of what is hidden from it.
    fn settle_git(&self, permit: &Permit, profile: &mut Profile) {
        let mut hidden = profile.secrets.iter().chain(&profile.masked);
        if hidden.any(|path| profile.roots.iter().any(|root| path.starts_with(root))) {
            configure_git(&mut profile.env, GIT_BESIDE_HIDDEN);
            if profile.access == Access::ReadOnly {
                let dir = self.files.state().join("indexes");
                let settled = settled_indexes(permit, &dir, &profile.roots, &profile.secrets);
                profile.instead.extend(settled.into_iter().map(|(path, by)| Instead { path, by }));
            }
        }
        // Git does nothing at all where it may not read the person's configuration.
        let mut own = self.files.person().all_files();
        if own.any(|file| profile.secrets.iter().any(|hidden| file.starts_with(hidden))) {
            profile.env.retain(|(name, _)| name != "GIT_CONFIG_GLOBAL");
            profile.env.push(("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()));
        }
    }

    /// Adds what a look found, where all of it can be hidden.
    fn put(&self, known: &Known, profile: &mut Profile) -> Result<(), ToolError> {
        let refuse = |there: usize, what: &str, hint: String| {
            let message = format!("the sandbox cannot hide all {what}: {there} entries of {MAX_HIDDEN}");
            Err(ToolError::new(code::NOT_CONFINED, message).hint(hint))
        };
        if known.withheld.len() > MAX_HIDDEN {
            let hint = "write the rule on the directories that hold them".to_owned();
            return refuse(known.withheld.len(), "that rules withhold", hint);
        }
        if known.secrets.len() > MAX_HIDDEN {
            let crowd = crowded(&known.secrets).map(|dir| self.files.shown(dir)).unwrap_or_default();
            let hint = format!(
                "most are in `{crowd}`: put them into directories with nothing else in them, which are hidden as one, or \
                 delete them; `undo` takes back a call that made them"
            );
            return refuse(known.secrets.len(), "files whose names say that they are secret", hint);
        }
        known.put_into(profile);
        Ok(())
    }

    /// What rules withhold outside the roots and name by its place. Left as it is: what the call itself was allowed to read
    /// or write, what leads to the roots, and what every program needs to start.
    fn withheld_outside(&self, permit: &Permit) -> Vec<PathBuf> {
        let in_a_root = |path: &Path| self.files.roots().any(|root| path.starts_with(root));
        let mut entries = Vec::new();
        let mut trees: Vec<PathBuf> = self.files.roots().map(Path::to_owned).collect();
        trees.extend(OF_SYSTEM.iter().map(PathBuf::from));
        for effect in &permit.effects().all {
            if let Effect::Read(place) | Effect::Write(place) = effect {
                let seen = if place.extent == Extent::Tree { &mut trees } else { &mut entries };
                seen.push(place.path.clone());
            }
        }
        let mut hidden = Vec::new();
        for (named, itself) in permit.withheld_entries() {
            let found = spelled(&named).into_iter().filter(|path| itself || path.is_dir());
            for path in found.filter(|path| !in_a_root(path)) {
                hidden.extend(all_but(&path, &entries, &trees));
            }
        }
        hidden
    }

    /// Whether a directory lies in a root, by its name or where its links lead.
    fn is_inside(&self, dir: &Path) -> bool {
        let real = std::fs::canonicalize(dir);
        let in_a_root = |dir: &Path| self.files.roots().any(|root| dir.starts_with(root));
        in_a_root(dir) || real.is_ok_and(|real| in_a_root(&real))
    }

    /// Where the program of this name lies that commands find, if nothing in the roots can take its place.
    pub(super) fn program(&self, name: &str) -> Option<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let path = path_of(&self.env);
        // What is relative is another directory wherever a command stands.
        let places = path.split(':').filter(|dir| dir.starts_with('/')).map(|dir| Path::new(dir).join(name));
        let runs = |path: &Path| {
            std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        places.into_iter().find(|path| runs(path) && !self.is_inside(path))
    }

    /// What git keeps elsewhere of roots that are linked worktrees. It belongs to them as the `.git` of others does, so
    /// to run git there is leave enough; a rule that speaks of it holds all the same. Other commands only see it: the
    /// history of all worktrees is under no layer, and a build has no business in it.
    fn repositories(&self, permit: &Permit, profile: &mut Profile) {
        for linked in self.files.roots().filter_map(Linked::of) {
            let place = |path: &PathBuf| self.files.place(path.clone()).tree();
            if permit.is_ruled_out(&Effect::Read(place(&linked.common))) || self.files.is_own_state(&linked.common) {
                continue;
            }
            linked.put_into(profile);
            let Some(Repository { common, open, .. }) = profile.repositories.last() else { continue };
            if open.iter().chain([common]).any(|path| permit.is_ruled_out(&Effect::Write(place(path)))) {
                profile.close_repositories();
            }
        }
        if !names_git(permit.effects()) {
            profile.close_repositories();
        }
        if profile.repositories.iter().any(Repository::is_open) && profile.access == Access::Workspace {
            configure_git(&mut profile.env, UNTIDY_GIT);
        }
    }

    /// The directory that must be writable for an allowed write outside the roots. What would open the home, or
    /// the whole system, for the sake of one file is refused.
    fn outside(&self, path: &Path) -> Result<PathBuf, ToolError> {
        let dir = if path.is_dir() { Some(path) } else { path.parent() };
        let fits = |dir: &&Path| dir.is_dir() && dir.parent().is_some() && !self.home().starts_with(dir);
        dir.filter(fits).map(Path::to_owned).ok_or_else(|| {
            let message = format!("the sandbox cannot let a command write {} and nothing around it", path.display());
            ToolError::new(code::NOT_CONFINED, message).hint("`write` can, or `dangerously_disable_sandbox`")
        })
    }

    /// Refuses a command that writes where nothing can let it: before a person is asked for a yes that would help nobody.
    pub(super) fn can_hold(&self, effects: &Effects, most: Access) -> Result<(), ToolError> {
        if most != Access::Workspace {
            return Ok(());
        }
        let mut outside = written_outside(&effects.all);
        outside.try_for_each(|path| self.opened_for(&effects.all, path).map(|_| ()))
    }

    /// The directory that an allowed write outside the roots needs. `None` where another one's is enough: `cp a b` writes
    /// `b`, and `b/a` if `b` is a directory by then; if it is none now, what lets `b` be made lets it be filled, too.
    fn opened_for(&self, effects: &[Effect], path: &Path) -> Result<Option<PathBuf>, ToolError> {
        let refused = match self.outside(path) {
            Ok(dir) => return Ok(Some(dir)),
            Err(refused) => refused,
        };
        let is_within = |above: &Path| path.parent().is_some_and(|dir| dir.starts_with(above) && !dir.is_dir());
        match written_outside(effects).any(is_within) {
            true => Ok(None),
            false => Err(refused),
        }
    }

    /// What is guarded and secret in the roots. Looked for once, and again after a command that could write.
    fn known(&self) -> Arc<Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(looked) = known.as_ref().filter(|looked| looked.at.elapsed() < looked.took * TRUSTED_FOR) {
            return Arc::clone(&looked.known);
        }
        let at = Instant::now();
        let found = Arc::new(self.look(&|_| false));
        *known = Some(Looked { known: Arc::clone(&found), at, took: at.elapsed() });
        found
    }

    fn look(&self, hidden: &dyn Fn(&Path) -> bool) -> Known {
        let mut all = Known::default();
        for root in self.files.roots() {
            let of_root = scan_with(root, self.files.person(), hidden);
            all.protected.extend(of_root.protected);
            all.absent.extend(of_root.absent);
            all.led.extend(of_root.led);
            all.included.extend(of_root.included);
            all.secrets.extend(of_root.secrets);
            all.withheld.extend(of_root.withheld);
        }
        all
    }

    /// A command that could write has run: what is known is looked for again, beside what comes next. A call
    /// that needs it earlier waits for it.
    pub fn look_again(self: &Arc<Self>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let ground = Arc::clone(self);
        tokio::task::spawn_blocking(move || drop(ground.known()));
    }

    /// What makes the changes of a command to be taken back.
    pub(super) fn wanted(&self, permit: &Permit, background: bool) -> Wanted {
        match (self.undo, background) {
            (true, true) => Wanted::Record,
            (true, false) => Wanted::Undo,
            (false, false) if self.is_bounded(permit) => Wanted::Layers,
            (false, _) => Wanted::Nothing,
        }
    }

    /// Whether rules leave a command only some of what it could change in the roots: then it runs over layers, which
    /// show what it changed before that counts.
    pub fn is_bounded(&self, permit: &Permit) -> bool {
        self.changes_left(permit).any(|left| left != ChangesLeft::All)
    }

    fn changes_left(&self, permit: &Permit) -> impl Iterator<Item = ChangesLeft> {
        self.files.roots().map(|root| permit.changes_left(&self.files.place(root.to_owned())))
    }

    /// Whether what holds a command over the bare roots holds it to the rules, too. Whoever said yes to no sandbox said
    /// it to all that rules would have asked about.
    fn holds_to_rules(&self, permit: &Permit, access: Access) -> bool {
        self.changes_left(permit).all(|left| match (left, access) {
            (_, Access::ReadOnly) | (ChangesLeft::All, _) => true,
            (ChangesLeft::Asked, Access::Unconfined) => permit.answered_by().is_some(),
            _ => false,
        })
    }

    /// Starts a job under its permit.
    pub fn start(&self, cx: &Cx<'_>, mut order: Order) -> Result<Arc<Job>, ToolError> {
        if order.profile.layers.is_empty() && !self.holds_to_rules(cx.permit, order.profile.access) {
            let message = "rules leave only some of the paths here to be changed, and this command could change others";
            let hint = if order.profile.access == Access::Unconfined {
                "run it in the sandbox, over a layer that keeps to the rules"
            } else if order.background {
                "run it in the foreground, over a layer that keeps to the rules; `filesystem_mode: allow-list` lets it \
                 change nothing, also in the background"
            } else {
                "it needs a layer, which keeps to the rules; `filesystem_mode: allow-list` lets it change nothing"
            };
            return Err(ToolError::new(code::NOT_CONFINED, message).hint(hint));
        }
        if order.profile.access == Access::Workspace && order.caches.is_none() && !self.landlock_only {
            let taker = match (order.trial, order.background) {
                (true, _) => Taker::Trial,
                (false, true) => Taker::Job,
                (false, false) => Taker::Command,
            };
            order.caches = self.jobs.caches(cx.permit, self.files.state(), taker);
            let programs = self.programs.get_or_init(|| scratch::program_places(path_of(&order.profile.env)));
            order.caches.iter().for_each(|caches| caches.put_into(cx.permit, &mut order.profile, programs));
        }
        order.notes = Some(notes(cx));
        // What a person has to allow is allowed to this call; a file would hand it to every later one.
        let asked = cx.permit.answered_by().is_some() || cx.permit.rehearses();
        order.output.spill = (!asked).then(|| self.spill.join(format!("{}-{}.txt", cx.call, unguessable())));
        self.jobs.start(cx.permit, order).map_err(|error| start_error(&error))
    }

    /// The job of this session that `id` names.
    pub fn job(&self, cx: &Cx<'_>, id: &str) -> Result<Arc<Job>, ToolError> {
        self.jobs.job(cx.permit, cx.session.id(), id).ok_or_else(|| {
            let live: Vec<String> =
                self.jobs.list(cx.permit, cx.session.id()).into_iter().map(|listed| listed.job).collect();
            let hint = match live.as_slice() {
                [] => "no job of this session lives".to_owned(),
                live => format!("there are {}", live.join(", ")),
            };
            ToolError::new(code::NO_SUCH_JOB, format!("there is no job {id} in this session")).hint(hint)
        })
    }
}

/// Writes to the journal what comes of a command, also when its call has ended.
fn notes(cx: &Cx<'_>) -> Notes {
    let note = cx.beside.noting();
    Notes(Arc::new(move |job, noted| {
        let (event, fields): (_, Vec<(&str, Value)>) = match noted {
            Noted::Host(reached) => (
                event::HOST_ASKED,
                vec![
                    ("host", reached.host.as_str().into()),
                    ("port", reached.port.into()),
                    ("refused", reached.refused.as_deref().into()),
                ],
            ),
            Noted::SetAside(paths) => (event::GUARDED_SET_ASIDE, vec![("paths", paths.into())]),
        };
        let fields = [("job", job.into())].into_iter().chain(fields);
        note(event, fields.map(|(name, value)| (name.to_owned(), value)).collect());
    }))
}

fn is_outside(place: &Place) -> bool {
    place.below_root.is_none() && !place.scratch
}

fn written_outside(effects: &[Effect]) -> impl Iterator<Item = &Path> {
    effects.iter().filter_map(|effect| match effect {
        Effect::Write(place) if is_outside(place) => Some(place.path.as_path()),
        _ => None,
    })
}

/// Why nothing was started, under its code.
pub(super) fn start_error(error: &StartError) -> ToolError {
    let code = match error {
        StartError::NotPermitted => code::PERMISSION_DENIED,
        StartError::TooMany(_) => code::TOO_MANY_JOBS,
        StartError::Refused { .. } => code::NOT_CONFINED,
        StartError::Io(_) => code::NOT_STARTED,
    };
    let refused = ToolError::new(code, error.to_string());
    if !error.lacks_guarantee() {
        return refused;
    }
    refused.hint(
        "`nika doctor` tries every guarantee; where a container grants no namespaces, `sandbox: {landlock_only: on}` in \
         the person's own configuration makes do without them, and each result says what is missing then",
    )
}

/// A word that nobody can guess: whoever was told a spilled file's name may read it.
pub(super) fn unguessable() -> String {
    use std::hash::{BuildHasher, RandomState};
    let random = || RandomState::new().hash_one(0u8);
    format!("{:016x}{:016x}", random(), random())
}

fn quiet_git(env: &mut Vec<(String, String)>, reads: bool) {
    // A configuration that a person's environment names is kept where git may do more than read.
    let ours = |name: &str| {
        let written = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];
        written.iter().any(|start| name.starts_with(start)) || reads && name.starts_with("GIT_CONFIG")
    };
    env.retain(|(name, _)| !ours(name));
    configure_git(env, QUIET_GIT);
    if reads {
        configure_git(env, STILL_GIT);
        env.push(("GIT_NO_LAZY_FETCH".to_owned(), "1".to_owned()));
    }
}

/// Whether a host is the loopback device of a command's own network.
fn is_itself(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let short = name.starts_with("127.") && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    name == "localhost" || name.ends_with(".localhost") || short || address.is_ok_and(|address| address.is_loopback())
}

/// Where programs are looked for.
fn path_of(env: &[(String, String)]) -> &str {
    env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str()).unwrap_or_default()
}

/// Hides `path` no longer, and still all else that was hidden with it. Of a directory that is hidden for what is in it,
/// its names can be seen.
fn show(hidden: &mut Vec<PathBuf>, path: &Path) {
    show_around(hidden, path);
    if let Some(at) = hidden.iter().position(|other| other == path) {
        hidden.swap_remove(at);
        if path.is_dir() && classify(path).secret.is_none() {
            hidden.extend(all_but(path, &[path.to_path_buf()], &[]));
        }
    }
}

/// Hides what lies beside `path` one by one, where that was hidden as one, so that it can be made. It stays hidden itself.
fn show_around(hidden: &mut Vec<PathBuf>, path: &Path) {
    // Beside what is to be made below a file there is nothing.
    let around = |other: &PathBuf| path.starts_with(other) && path != other && other.is_dir();
    while let Some(at) = hidden.iter().position(around) {
        let dir = hidden.swap_remove(at);
        let there = path.symlink_metadata().is_ok();
        hidden.extend(all_but(&dir, &[path.to_path_buf()], &[]));
        hidden.extend(there.then(|| path.to_path_buf()));
    }
}

/// The directory that holds the most of `paths`.
fn crowded(paths: &[PathBuf]) -> Option<&Path> {
    let mut counts: HashMap<&Path, usize> = HashMap::new();
    for dir in paths.iter().filter_map(|path| path.parent()) {
        *counts.entry(dir).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(dir, _)| dir)
}

/// Adds settings to those that git is given by the environment.
fn configure_git(env: &mut Vec<(String, String)>, settings: &[(&str, &str)]) {
    let given = env.iter().find(|(name, _)| name == "GIT_CONFIG_COUNT").and_then(|(_, count)| count.parse().ok());
    let given: usize = given.unwrap_or(0);
    env.retain(|(name, _)| name != "GIT_CONFIG_COUNT");
    env.push(("GIT_CONFIG_COUNT".to_owned(), (given + settings.len()).to_string()));
    for (number, (key, value)) in (given..).zip(settings) {
        env.push((format!("GIT_CONFIG_KEY_{number}"), (*key).to_owned()));
        env.push((format!("GIT_CONFIG_VALUE_{number}"), (*value).to_owned()));
    }
}

/// Tells a session which of its background commands have ended.
#[derive(Debug)]
pub struct EndedJobs {
    /// What runs.
    pub jobs: Arc<Jobs>,
    /// Where they wrote.
    pub files: Arc<Workspace>,
}

impl News for EndedJobs {
    fn take(&self, session: &str) -> Vec<String> {
        self.jobs.take_notices(session).iter().map(|notice| format!("[{}]", told(&self.files, notice))).collect()
    }
}

/// That a background job ended, in one line.
pub fn told(files: &Workspace, notice: &Notice) -> String {
    let command = report::in_one_line(&notice.command, 80);
    let changed = notice.recorded.as_ref().and_then(|recorded| recorded::told(files, recorded));
    let changed = changed.map(|told| format!(" · {told}")).unwrap_or_default();
    let runs_on = report::runs_on(&notice.exited).map(|on| format!(" · {on}: job_stop ends it")).unwrap_or_default();
    format!("{} ended: {}{runs_on} · {command}{changed}", notice.job, report::ending(&notice.exited, None))
}
