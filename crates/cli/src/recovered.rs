//! What became of change sets that a kill interrupted, told at the start that comes upon them.

use nika_contract::event;
use nika_host::fs::{Outcome, Recovered, Why, Workspace};
use nika_runtime::Runtime;
use nika_store::{Checkpoints, State};
use serde_json::Map;

use crate::out;

/// Says in the journal what became of interrupted sets, and takes those of which nothing stands out of what can be taken
/// back. What was settled stays settled: where that cannot be written, an undo finds every path as it was. One that is left
/// as a kill left it is told at each start, also to whoever reads what the program complains of.
pub fn tell(runtime: &Runtime, files: &Workspace, checkpoints: &Checkpoints) {
    let note = |recovered: Recovered, checkpoints: Option<&Checkpoints>| {
        if let Some(checkpoints) = checkpoints.filter(|_| recovered.is_void) {
            let _ = checkpoints.mark_undone(&recovered.call, &recovered.call);
        }
        let Recovered { call, outcome, .. } = &recovered;
        let mut fields = Map::new();
        fields.insert("change_set".into(), call.as_str().into());
        let became = outcome.to_string();
        if let Outcome::Left { note, why } = outcome {
            let (note, advice) = (note.display().to_string(), advice(call, why));
            out::complain(&format!(
                "note: change set {call} was interrupted and {}",
                unsettled(&became, &note, &advice)
            ));
            fields.insert("note".into(), note.into());
            fields.insert("advice".into(), advice.into());
        }
        fields.insert("outcome".into(), became.into());
        let _ = runtime.note(&runtime.session("recovery", false), event::RECOVERED, &fields);
    };
    for recovered in files.take_recovered() {
        note(recovered, Some(checkpoints));
    }
    for beside in files.settle_beside().into_iter().filter(|beside| !beside.recovered.is_empty()) {
        let theirs = State::open(&beside.state).and_then(|state| Checkpoints::open(&state)).ok();
        beside.recovered.into_iter().for_each(|recovered| note(recovered, theirs.as_ref()));
    }
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
        Why::Failed(_) => format!("{mixed}; the next start tries once more"),
    }
}
