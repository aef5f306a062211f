//! What became of change sets that a kill interrupted, told by whoever comes upon them: a start, or a call that changes files.

use std::sync::Arc;

use nika_host::fs::{Outcome, Recovered, Why, Workspace};
use nika_runtime::Runtime;
use nika_store::{Checkpoints, State};
use serde_json::{Map, Value, json};

use crate::out;

/// What the journal is told of sets that were settled in `files` since it was last asked.
pub fn settled(files: Arc<Workspace>, checkpoints: Arc<Checkpoints>) -> nika_runtime::Recovered {
    Arc::new(move || files.take_recovered().iter().map(|recovered| line(recovered, Some(&checkpoints))).collect())
}

/// Says at a start what became of interrupted sets, also in workspaces that share files with this one. One that is left as a
/// kill left it is told at each start, also to whoever reads what the program complains of.
pub fn tell(runtime: &Runtime, files: &Workspace, checkpoints: &Checkpoints) {
    let note = |recovered: Recovered, checkpoints: Option<&Checkpoints>| {
        let (call, became) = (&recovered.call, recovered.to_string());
        if let Outcome::Left { note, why } = &recovered.outcome {
            let unsettled = unsettled(&became, &note.display().to_string(), &advice(call, why));
            out::complain(&format!("note: change set {call} was interrupted and {unsettled}"));
        }
        let is_in_part = matches!(recovered.outcome, Outcome::Refused(_) | Outcome::RolledBackInPart);
        if is_in_part || !recovered.apart.is_empty() {
            out::complain(&format!("note: change set {call} was interrupted and {became}"));
        }
        if let Outcome::Littered(_) = &recovered.outcome {
            out::complain(&format!("note: change set {call} {became}"));
        }
        runtime.note_settled(&line(&recovered, checkpoints));
    };
    for recovered in files.take_recovered() {
        note(recovered, Some(checkpoints));
    }
    for beside in files.settle_beside().into_iter().filter(|beside| !beside.recovered.is_empty()) {
        let theirs = State::open(&beside.state).and_then(|state| Checkpoints::open(&state)).ok();
        beside.recovered.into_iter().for_each(|recovered| note(recovered, theirs.as_ref()));
    }
}

/// The line of the journal. A set of which nothing stands is taken out of what can be taken back.
fn line(recovered: &Recovered, checkpoints: Option<&Checkpoints>) -> Map<String, Value> {
    let Recovered { call, outcome, apart, is_void } = recovered;
    if let Some(checkpoints) = checkpoints.filter(|_| *is_void) {
        let _ = checkpoints.mark_undone(call, call);
    }
    let mut fields = Map::new();
    fields.insert("change_set".into(), call.as_str().into());
    if let Outcome::Left { note, why } = outcome {
        fields.insert("note".into(), note.display().to_string().into());
        fields.insert("advice".into(), advice(call, why).into());
    }
    if let Outcome::Littered(left) = outcome {
        fields.insert("left".into(), left.iter().map(|path| path.display().to_string()).collect());
    }
    if !apart.is_empty() {
        let told = apart
            .iter()
            .map(|one| json!({"path": one.path.display().to_string(), "lies": one.lies.display().to_string()}));
        fields.insert("apart".into(), told.collect());
    }
    fields.insert("outcome".into(), recovered.to_string().into());
    fields
}

/// That a set is not settled: why, where it is noted and what to do.
pub fn unsettled(why: &str, note: &str, advice: &str) -> String {
    format!("is not settled: {why} ({note}); {advice}")
}

fn advice(call: &str, why: &Why) -> String {
    let mixed = "some of its files may be changed and others not";
    match why {
        Why::Unreadable => format!(
            "{mixed}: in its workspace `nika undo {call} --dry-run` shows what stands of it and `nika undo {call}` takes that \
             back; remove the note then"
        ),
        Why::Newer => format!("{mixed} until that Nika starts there"),
        Why::Away(_) => format!(
            "{mixed}; the first start that finds it there again settles that; remove the note if it never comes back"
        ),
        Why::Busy => {
            format!(
                "{mixed}, unless one of them is still making it; the next start, and a call that changes files, try once more"
            )
        }
        Why::Failed(_) => format!("{mixed}; the next start tries once more"),
    }
}
