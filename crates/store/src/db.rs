//! The one database of a workspace: many processes, whole transactions, opened when something needs it.
//!
//! WAL, so that readers never wait; every read that a write depends on is in one `BEGIN IMMEDIATE` with it, as a
//! transaction that turns into a writing one later is refused at once when another wrote meanwhile. What is
//! written survives any kill; a power cut may take the last changes, never the whole.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use rustix::fs::{CWD, RenameFlags};

use crate::error::StoreError;
use crate::state::State;

/// How long to wait for another process's transaction. They take microseconds; a crowd takes its turn.
const BUSY: Duration = Duration::from_secs(10);

/// What makes a database of one version one of the next. Append only: each has run on somebody's machine.
const MIGRATIONS: &[&str] = &[include_str!("db/1.sql")];

/// The database of one workspace. Threads may share it; each waits for its turn.
pub struct Db {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Db {
    /// The database in `state`. Nothing is made or opened before something is asked of it.
    pub fn at(state: &State) -> Db {
        Db { path: state.database_path(), connection: Mutex::default() }
    }

    /// Reads and writes as one: all of it happens, or nothing when `act` fails.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        act: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(TransactionBehavior::Immediate, act)
    }

    /// Reads one moment.
    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        act: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(TransactionBehavior::Deferred, act)
    }

    fn within<T, E: From<StoreError>>(
        &self,
        behavior: TransactionBehavior,
        act: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let failed = |error: rusqlite::Error| E::from(error.into());
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *connection {
            Some(connection) => connection,
            none => none.insert(open(&self.path)?),
        };
        let transaction = connection.transaction_with_behavior(behavior).map_err(failed)?;
        let result = act(&transaction)?;
        transaction.commit().map_err(failed)?;
        Ok(result)
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Db").field("path", &self.path).finish_non_exhaustive()
    }
}

fn open(path: &Path) -> Result<Connection, StoreError> {
    if !path.exists() {
        create(path)?;
    }
    let mut connection = connect(path)?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    match version(&connection)? {
        now if now > known => Err(StoreError::Damaged {
            path: path.to_owned(),
            why: format!("its version is {now}, this Nika knows {known}; update Nika"),
        }),
        now if now < known => {
            migrate(&mut connection)?;
            Ok(connection)
        }
        _ => Ok(connection),
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Makes the database whole under another name first: whoever finds it finds all of it, two that make it at once
/// do not meet while it changes its journal mode, and it is never readable by others. Making the file with its
/// own name and closing it again would free locks that this process holds on it elsewhere.
fn create(path: &Path) -> Result<(), StoreError> {
    let temporary = empty_beside(path)?;
    let made = (|| {
        let mut connection = connect(&temporary)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        migrate(&mut connection)?;
        connection.close().map_err(|(_, error)| StoreError::from(error))?;
        rustix::fs::renameat_with(CWD, &temporary, CWD, path, RenameFlags::NOREPLACE)
            .map_err(|error| StoreError::io("make", path, error))
    })();
    sweep(path);
    // Somebody else may have been quicker, and swept ours away under our hands.
    if path.exists() { Ok(()) } else { made }
}

/// Removes what was made beside the database and is not wanted any more, by us or by one that was killed.
fn sweep(path: &Path) {
    let beside = path.parent().and_then(|dir| fs::read_dir(dir).ok()).into_iter().flatten().flatten();
    for entry in beside {
        let name = entry.file_name();
        let unfinished = |name: &str| name.starts_with("nika.") && name.contains(".new");
        if path.exists() && name.to_str().is_some_and(unfinished) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// An empty file beside `path`, ours alone.
fn empty_beside(path: &Path) -> Result<PathBuf, StoreError> {
    let mut number = 0;
    loop {
        let temporary = path.with_extension(format!("{}.{number}.new", std::process::id()));
        match File::options().write(true).create_new(true).mode(0o600).open(&temporary) {
            Ok(_) => return Ok(temporary),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(StoreError::io("make", &temporary, error)),
        }
    }
}

/// Brings the database to this program's version, one process at a time.
fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let now = usize::try_from(version(&transaction)?).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(now) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
#[path = "db/tests.rs"]
mod tests;
