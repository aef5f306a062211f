//! `nika sessions`: the conversations that can be gone on with, and with `--agents` those of agents below them.

use nika_agent::Conversation;
use serde_json::{Value, json};

use crate::args::{self, Format};
use crate::cmd::agent::is_anothers;
use crate::compose::Ground;
use crate::failure::Failure;
use crate::out;
use crate::time;
use crate::world::World;

/// Characters of a task in a list.
const TASK_CHARS: usize = 60;

pub fn run(args: &args::Sessions) -> Result<(), Failure> {
    let ground = Ground::find(&World::look(), &args.place)?;
    let mut found = Conversation::list(&ground.state()?)?;
    if !args.agents {
        found.retain(|conversed| !is_anothers(&conversed.session));
    }
    if args.output == Format::Json {
        let object = |conversed: &nika_agent::Conversed| {
            json!({
                "session": conversed.session, "began_ms": conversed.began_ms, "changed_ms": conversed.changed_ms,
                "model": conversed.model, "task": conversed.task, "lines": conversed.lines,
            })
        };
        let all: Vec<Value> = found.iter().map(object).collect();
        return Ok(out::json(&Value::Array(all))?);
    }
    if found.is_empty() {
        return Ok(out::line("no conversations here; `nika agent \"TASK\"` begins one")?);
    }
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|conversed| {
            vec![
                conversed.session.clone(),
                time::readable(conversed.changed_ms),
                conversed.model.clone(),
                nika_contract::text::preview(&conversed.task, TASK_CHARS),
            ]
        })
        .collect();
    Ok(out::print(&out::table(&rows))?)
}
