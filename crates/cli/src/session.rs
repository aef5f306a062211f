//! Named sessions of the command line: what was read, granted and loaded, kept between processes.
//!
//! At rest a session is a [`SessionFile`]; the bytes it has read are objects of the undo store. Bytes are
//! brought back only where a call may need them: for files that changed meanwhile, and for those that the call
//! names, which may change until it gets to them. Of the others the file itself has them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{PlanMode, ToolError, code, pathtext};
use nika_guard::Budget;
use nika_host::fs::{FORMER_PATHS, Former, Ledger, Seen, Shown, Stamp};
use nika_runtime::Session;
use nika_store::{Hash, ReadEntry, SessionFile, sessions};
use nika_tools::shell::ground::Cwd;
use nika_tools::web::search::Chosen;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::compose::Built;
use crate::failure::Failure;
use crate::time;
use crate::world::World;

/// A session for calls of this process.
#[derive(Debug)]
pub struct Opened {
    /// To dispatch in.
    pub session: Arc<Session>,
    /// How it is kept; `None` for a session that nothing outlives.
    named: Option<Mutex<Named>>,
}

/// What was there when a named session was opened, or last kept.
#[derive(Debug, Default)]
struct Named {
    objects: HashMap<PathBuf, (Hash, Option<Hash>)>,
    paths: HashSet<PathBuf>,
    grants: Vec<String>,
    loaded: Vec<String>,
    cwd: Option<PathBuf>,
    calls: u64,
    plans: bool,
    search: Option<String>,
}

/// What [`SessionFile::extra`] holds.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Extra {
    /// Deferred tools whose schema was shown.
    loaded: Vec<String>,
    /// Identities of the reads, in their order.
    stamps: Vec<Stamp>,
    /// How much of them was shown, in their order. An older Nika did not keep it: nothing was, then.
    shown: Vec<Shown>,
    /// What was seen of earlier states, the oldest first. Nika wrote it otherwise before, under another name.
    former: Vec<Earlier>,
    /// Where the next command begins.
    cwd: Option<PathBuf>,
    /// Tool calls that were counted, while a budget bounded them.
    calls: u64,
    /// Whether it is in plan mode.
    plans: bool,
    /// The search provider it has chosen.
    search: Option<String>,
}

/// What was seen of earlier states of a file: an undo may bring one of them back.
#[derive(Debug, Serialize, Deserialize)]
struct Earlier {
    #[serde(with = "pathtext")]
    path: PathBuf,
    states: Vec<(Hash, Shown)>,
}

impl Earlier {
    fn of((path, states): (PathBuf, Former)) -> Earlier {
        Earlier { path, states: states.into_iter().map(|(hash, shown)| (Hash(hash), shown)).collect() }
    }

    fn recall(self, ledger: &Ledger) {
        ledger.recall(self.path, self.states.into_iter().map(|(Hash(hash), shown)| (hash, shown)).collect());
    }
}

impl Extra {
    /// The reads that bear an identity, with it and with how much of them was shown.
    fn identified(&mut self, reads: Vec<ReadEntry>) -> impl Iterator<Item = (ReadEntry, Stamp, Shown)> + use<> {
        let (stamps, shown) = (std::mem::take(&mut self.stamps), std::mem::take(&mut self.shown));
        let shown = shown.into_iter().chain(std::iter::repeat_with(Shown::default));
        reads.into_iter().zip(stamps).zip(shown).map(|((read, stamp), shown)| (read, stamp, shown))
    }
}

/// Opens the session `name` for a call with these arguments; without a name, the day's, in which nothing counts
/// as read or granted.
pub fn open(
    built: &Built,
    world: &World,
    name: Option<&str>,
    arguments: &Map<String, Value>,
) -> Result<Opened, Failure> {
    let Some(name) = name else {
        let id = format!("cli-{}", time::day(built.clock.unix_ms()));
        return Ok(Opened { session: Arc::new(built.runtime.session(id, false)), named: None });
    };
    open_named(built, world, name, &|path| arguments.values().any(|value| names(value, path)))
}

/// Opens the session `name` for calls that nobody knows yet.
pub fn open_whole(built: &Built, world: &World, name: &str) -> Result<Opened, Failure> {
    open_named(built, world, name, &|_| true)
}

/// Opens a session by its name; `needs` says of which files a call may need the bytes that were read.
fn open_named(built: &Built, world: &World, name: &str, needs: &dyn Fn(&Path) -> bool) -> Result<Opened, Failure> {
    let session = built.runtime.session(name, true);
    let mut named = Named::default();
    if let Some(file) = sessions::load(&built.state, name)? {
        let home = world.home_text();
        for rule in &file.grants {
            let malformed = |error| ToolError::new(code::RULE_MALFORMED, format!("session {name}: {error}"));
            session.grant(rule, home.as_deref()).map_err(malformed)?;
        }
        let mut extra: Extra = serde_json::from_value(file.extra).unwrap_or_default();
        let reads = extra.identified(file.reads);
        for tool in &extra.loaded {
            session.load(tool);
        }
        session.state.slot::<Cwd>().set(extra.cwd.clone());
        named.cwd = extra.cwd;
        session.resume_spent(Budget::ToolCalls, extra.calls);
        named.calls = extra.calls;
        session.state.slot::<PlanMode>().set(extra.plans);
        named.plans = extra.plans;
        session.state.slot::<Chosen>().set(extra.search.as_deref());
        named.search = extra.search;
        let ledger = Ledger::default();
        // A read without its identity vouches for nothing; it is read again.
        for (read, stamp, shown) in reads {
            ledger.note(&read.path, seen(built, &read, stamp, shown, needs(&read.path)));
            named.paths.insert(read.path.clone());
            named.objects.insert(read.path, (read.hash, read.object));
        }
        extra.former.into_iter().for_each(|earlier| earlier.recall(&ledger));
        ledger.take_changed();
        session.state.set(Arc::new(ledger));
    }
    if built.effective.budgets.iter().next().is_some() {
        nika_agent::remember_spent(&session, &built.state)?;
    }
    named.grants = session.grants();
    named.loaded = session.loaded();
    Ok(Opened { session: Arc::new(session), named: Some(Mutex::new(named)) })
}

impl Opened {
    /// Keeps the session, when it has a name and learned something. It may be kept as often as one likes.
    pub fn keep(&self, built: &Built) -> Result<(), Failure> {
        let Some(named) = &self.named else { return Ok(()) };
        let mut named = named.lock().unwrap_or_else(PoisonError::into_inner);
        let ledger = self.session.state.slot::<Ledger>();
        let (grants, loaded) = (self.session.grants(), self.session.loaded());
        let cwd = self.session.state.slot::<Cwd>().get();
        let calls = self.session.spent(Budget::ToolCalls);
        let counted = built.runtime.counts_calls() && calls != named.calls;
        let plans = self.session.state.slot::<PlanMode>().is_on();
        let search = self.session.state.slot::<Chosen>().get();
        let moved = cwd != named.cwd || plans != named.plans || search != named.search;
        if !ledger.take_changed() && grants == named.grants && loaded == named.loaded && !counted && !moved {
            return Ok(());
        }
        let grants_now = grants.clone();
        let mut file = SessionFile {
            id: self.session.id().to_owned(),
            workspace: built.files.root().to_owned(),
            reads: Vec::new(),
            grants,
            extra: Value::Null,
            saved_at: built.clock.unix_ms(),
        };
        let kept = Named {
            grants: grants_now,
            loaded: loaded.clone(),
            cwd: cwd.clone(),
            calls,
            plans,
            search: search.clone(),
            objects: HashMap::new(),
            paths: HashSet::new(),
        };
        let former = ledger.former().into_iter().map(Earlier::of).collect();
        let mut extra = Extra { loaded, stamps: Vec::new(), shown: Vec::new(), former, cwd, calls, plans, search };
        // Until the session is saved, nobody knows that these contents are needed.
        let keeping = built.checkpoints.keeping()?;
        for (path, seen) in ledger.all() {
            let hash = seen.hash.map_or(Hash::ZERO, Hash);
            let object = match &seen.bytes {
                Some(bytes) => Some(keeping.put(bytes, seen.hash)?),
                None => named.objects.get(&path).filter(|(of, _)| *of == hash).and_then(|(_, object)| *object),
            };
            file.reads.push(ReadEntry { path, hash, object, stamp: None });
            extra.stamps.push(seen.stamp);
            extra.shown.push(seen.shown);
        }
        self.join_others(built, &named, &mut file, &mut extra)?;
        file.extra = serde_json::to_value(extra).unwrap_or_default();
        sessions::save(&built.state, &file)?;
        drop(keeping);
        // What is kept now is what a later look compares with.
        let objects = file.reads.iter().map(|read| (read.path.clone(), (read.hash, read.object))).collect();
        let paths = file.reads.into_iter().map(|read| read.path).collect();
        *named = Named { objects, paths, ..kept };
        Ok(())
    }

    /// Takes over what another process of this session saved while this one ran.
    fn join_others(
        &self,
        built: &Built,
        named: &Named,
        file: &mut SessionFile,
        extra: &mut Extra,
    ) -> Result<(), Failure> {
        let Some(other) = sessions::load(&built.state, &file.id)? else { return Ok(()) };
        let mut others: Extra = serde_json::from_value(other.extra).unwrap_or_default();
        let ours: HashSet<PathBuf> = file.reads.iter().map(|read| read.path.clone()).collect();
        for (read, stamp, shown) in others.identified(other.reads) {
            // What we knew at the start and know no more was forgotten on purpose.
            if !ours.contains(&read.path) && !named.paths.contains(&read.path) {
                file.reads.push(read);
                extra.stamps.push(stamp);
                extra.shown.push(shown);
            }
        }
        let known: HashSet<PathBuf> = extra.former.iter().map(|one| one.path.clone()).collect();
        others.former.retain(|one| !known.contains(&one.path));
        // What this process let go as the oldest goes again.
        others.former.append(&mut extra.former);
        let too_many = others.former.len().saturating_sub(FORMER_PATHS);
        extra.former = others.former.split_off(too_many);
        // Who changed it knows; another process's plan mode is not ended by one that never heard of it.
        if extra.plans == named.plans {
            extra.plans = others.plans;
        }
        // Both made theirs since this one began.
        extra.calls = extra.calls.saturating_sub(named.calls).saturating_add(others.calls);
        file.grants.extend(other.grants);
        extra.loaded.extend(others.loaded);
        for list in [&mut file.grants, &mut extra.loaded] {
            let mut met = HashSet::new();
            list.retain(|item| met.insert(item.clone()));
        }
        Ok(())
    }
}

/// A read as the ledger knows it. A hash of zeros stands for a part that was read: no hash is known.
fn seen(built: &Built, read: &ReadEntry, stamp: Stamp, shown: Shown, is_named: bool) -> Seen {
    let is_same = || rustix::fs::stat(&read.path).is_ok_and(|stat| Stamp::from(&stat) == stamp);
    let object = read.object.filter(|_| is_named || !is_same());
    let bytes = object.and_then(|object| built.checkpoints.objects().get(&object).ok());
    Seen { hash: (read.hash != Hash::ZERO).then_some(read.hash.0), bytes: bytes.map(Into::into), stamp, shown }
}

/// Whether an argument, or one inside it, may mean the file at `path`: it ends with the same name.
fn names(argument: &Value, path: &Path) -> bool {
    match argument {
        Value::String(text) => path.file_name().is_some_and(|name| Path::new(text).file_name() == Some(name)),
        Value::Array(items) => items.iter().any(|item| names(item, path)),
        Value::Object(fields) => fields.values().any(|field| names(field, path)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_names_files_wherever_they_stand_in_its_arguments() {
        let path = Path::new("/w/src/a.rs");
        for (argument, want) in [
            (json!("a.rs"), true),
            (json!("../x/src/a.rs"), true),
            (json!("b.rs"), false),
            (json!([{"path": "b.rs"}, {"path": "src/a.rs"}]), true),
            (json!(3), false),
        ] {
            assert_eq!(names(&argument, path), want, "{argument}");
        }
    }
}
