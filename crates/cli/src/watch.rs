//! What configuration says by now, for a program that runs for days: a server.
//!
//! Rules, and whether the repository is trusted, hold from the next call on. What a pipeline is built of (hooks, servers,
//! the environment of commands) holds only for a new one, so after such a change nothing runs until it is started anew: a
//! hook of a repository that is not trusted any more would run, or one that was to refuse would not.
//!
//! The same where a root is another directory by now: files are reached by a handle on the one that it was, commands by
//! its name, and a call would see half of each.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nika_contract::{ToolError, code};
use nika_guard::Policy;
use nika_runtime::Rules;

use crate::args::Standing;
use crate::compose::Ground;
use crate::config::{Effective, Stamps};
use crate::world::World;

/// How often files are looked at, at most: a look takes as long as a small call.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What a pipeline is built of: its name, and how to compare it.
type Part = (&'static str, fn(&Effective) -> String);

const AT_START: &[Part] = &[
    ("the mode", |all| all.stance.to_string()),
    ("hooks", |all| format!("{:?}", all.hooks)),
    ("MCP servers", |all| format!("{:?}", all.servers)),
    ("hosts and addresses of the web", |all| format!("{:?}", all.web)),
    ("variables that commands see", |all| format!("{:?}", all.safe_env)),
    ("budgets", |all| format!("{:?}", all.budgets)),
    ("the sandbox of Landlock alone", |all| all.landlock_only.to_string()),
];

/// See the module's page.
#[derive(Debug)]
pub struct Watch {
    world: World,
    ground: Ground,
    standing: Standing,
    began: Vec<String>,
    /// The roots, and which directories they were.
    roots: Vec<(PathBuf, Option<Inode>)>,
    looked: Mutex<Looked>,
}

/// Device and inode.
type Inode = (u64, u64);

fn inode(path: &Path) -> Option<Inode> {
    path.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

#[derive(Debug)]
struct Looked {
    at: Instant,
    stamps: Stamps,
    number: u64,
    now: Result<Policy, ToolError>,
}

impl Watch {
    /// Of a pipeline that is about to be built of `effective`.
    /// `stamps` are of before it was read, so that no change falls between.
    pub fn of(
        world: &World,
        ground: &Ground,
        standing: &Standing,
        (stamps, effective): (Stamps, &Effective),
    ) -> Arc<Watch> {
        let now = Ok(effective.policy.clone());
        Arc::new(Watch {
            world: world.clone(),
            ground: ground.clone(),
            standing: standing.clone(),
            began: parts(effective),
            roots: ground.roots().iter().map(|root| (root.clone(), inode(root))).collect(),
            looked: Mutex::new(Looked { at: Instant::now(), stamps, number: 0, now }),
        })
    }

    /// An error where a root is not the directory any more that it was.
    fn stands(&self) -> Result<(), ToolError> {
        let Some((root, _)) = self.roots.iter().find(|(root, was)| inode(root) != *was) else { return Ok(()) };
        let shown = root.display();
        let message = match root.exists() {
            true => format!("the root {shown} is another directory than when this server began"),
            false => format!("the root {shown} is gone, or was moved"),
        };
        Err(ToolError::new(code::BAD_ROOT, message)
            .hint("restart the server there (in most clients: reconnect to it), or put the directory back"))
    }

    fn read(&self) -> Result<Policy, ToolError> {
        let effective = self.ground.configure(&self.world, &self.standing).map_err(ToolError::from)?;
        let pairs = self.began.iter().zip(parts(&effective)).zip(AT_START);
        let others: Vec<&str> = pairs.filter(|((old, new), _)| *old != new).map(|(_, (name, _))| *name).collect();
        if others.is_empty() {
            return Ok(effective.policy);
        }
        let what = others.join(", ");
        let message = format!(
            "the configuration changed since this server began, and what it says of {what} holds only for a new one"
        );
        Err(ToolError::new(code::CONFIG_MALFORMED, message)
            .hint("restart the server (in most clients: reconnect to it), or take the change back"))
    }
}

fn parts(effective: &Effective) -> Vec<String> {
    AT_START.iter().map(|(_, of)| of(effective)).collect()
}

impl Rules for Watch {
    fn now(&self) -> (u64, Result<Policy, ToolError>) {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.at.elapsed() >= LOOK_EVERY {
            let stamps = self.ground.stamps(&self.world, &self.standing);
            if stamps != looked.stamps {
                looked.now = self.read();
                looked.stamps = stamps;
                looked.number += 1;
            }
            looked.at = Instant::now();
        }
        (looked.number, self.stands().and_then(|()| looked.now.clone()))
    }
}
