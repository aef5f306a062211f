//! The servers under measurement and how each is asked for the same thing: one row an operation, one column a dialect.

use serde_json::{Value, json};

use super::client::{Client, Launch};
use super::scene::{Scene, WORDS};
use anyhow::{Context, Result};

/// What is asked of every server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Trivial,
    ReadSmall,
    ReadLarge,
    EditSmall,
    EditLarge,
    List,
}

/// How a server's tools are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Our own bare server.
    Floor,
    /// The reference filesystem server and its followers: the same names and parameters.
    Filesystem,
    Nika,
}

/// One server: how it starts, what it is asked, and where it works.
pub(crate) struct Rival {
    pub launch: Launch,
    pub dialect: Dialect,
    pub scene: Scene,
    /// Only the edits are measured: the same program with another setting.
    pub edits_only: bool,
    /// The cheapest call, when more than one could be it: found by [`choose_trivial`].
    pub trivial: Option<(&'static str, Value)>,
}

impl Rival {
    pub(crate) fn name(&self) -> &str {
        &self.launch.name
    }

    pub(crate) fn takes(&self, op: Op) -> bool {
        !self.edits_only || matches!(op, Op::EditSmall | Op::EditLarge)
    }

    /// The tool and its arguments; `turn` counts the calls, so that an edit finds what the one before it left.
    pub(crate) fn request(&self, op: Op, turn: usize) -> (&'static str, Value) {
        let scene = &self.scene;
        let path = match op {
            Op::Trivial | Op::List => &scene.crowded,
            Op::ReadSmall | Op::EditSmall => &scene.small,
            Op::ReadLarge | Op::EditLarge => &scene.large,
        };
        let path = path.to_string_lossy();
        let (old, new) = (WORDS[turn % 2], WORDS[(turn + 1) % 2]);
        match (self.dialect, op) {
            (_, Op::Trivial) if self.trivial.is_some() => self.trivial.clone().expect("just checked"),
            (Dialect::Floor, Op::Trivial) => ("echo", json!({"text": "hello"})),
            (Dialect::Floor, Op::ReadSmall | Op::ReadLarge) => ("read", json!({"path": path})),
            (Dialect::Floor, Op::EditSmall | Op::EditLarge) => ("edit", json!({"path": path, "old": old, "new": new})),
            (Dialect::Floor, Op::List) => ("list", json!({"path": path})),
            (Dialect::Filesystem, Op::Trivial) => ("list_allowed_directories", json!({})),
            (Dialect::Filesystem, Op::ReadSmall | Op::ReadLarge) => ("read_text_file", json!({"path": path})),
            (Dialect::Filesystem, Op::EditSmall | Op::EditLarge) => {
                ("edit_file", json!({"path": path, "edits": [{"oldText": old, "newText": new}]}))
            }
            (Dialect::Filesystem, Op::List) => ("list_directory", json!({"path": path})),
            (Dialect::Nika, Op::Trivial) => ("nika_tool_search", json!({"query": "select:read"})),
            (Dialect::Nika, Op::ReadSmall) => ("nika_read", json!({"file_path": path})),
            // The whole file: the default stops at 2,000 lines.
            (Dialect::Nika, Op::ReadLarge) => ("nika_read", json!({"file_path": path, "limit": 1_000_000})),
            (Dialect::Nika, Op::EditSmall | Op::EditLarge) => {
                ("nika_edit", json!({"file_path": path, "old_string": old, "new_string": new}))
            }
            (Dialect::Nika, Op::List) => ("nika_list_dir", json!({"path": path, "limit": 1_000})),
        }
    }

    /// What must be said before the measured calls: Nika edits only what the session has read, and lists folders only
    /// when that tool is loaded.
    pub(crate) fn prepare(&mut self, client: &mut Client) -> Result<()> {
        if self.dialect != Dialect::Nika {
            return Ok(());
        }
        for op in [Op::ReadSmall, Op::ReadLarge] {
            let (tool, arguments) = self.request(op, 0);
            client.call(tool, &arguments)?;
        }
        client.call("nika_tool_search", &json!({"query": "select:list_dir"}))?;
        if !self.edits_only {
            self.trivial = Some(choose_trivial(&self.scene, client)?);
        }
        Ok(())
    }
}

/// Which of Nika's calls is the cheapest is measured, not assumed; the report names it.
fn choose_trivial(scene: &Scene, client: &mut Client) -> Result<(&'static str, Value)> {
    const TRIES: usize = 200;
    let candidates = [
        ("nika_tool_search", json!({"query": "select:read"})),
        ("nika_list_dir", json!({"path": scene.empty.to_string_lossy()})),
        ("nika_glob", json!({"pattern": "*", "path": scene.empty.to_string_lossy()})),
    ];
    let mut best: Option<(f64, (&'static str, Value))> = None;
    for (tool, arguments) in candidates {
        let mut samples = Vec::with_capacity(TRIES);
        for _ in 0..TRIES {
            match client.call(tool, &arguments) {
                Ok((elapsed, _)) => samples.push(elapsed.as_secs_f64()),
                Err(error) => {
                    println!("note: {error:#}");
                    break;
                }
            }
        }
        let Some(median) = super::stats::median(&samples).filter(|_| samples.len() == TRIES) else { continue };
        if best.as_ref().is_none_or(|(fastest, _)| median < *fastest) {
            best = Some((median, (tool, arguments)));
        }
    }
    Ok(best.context("no trivial call of nika answered")?.1)
}
