//! `nika log`: what happened, from the journal.

mod lines;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use nika_contract::{ToolError, code, text};
use nika_store::journal::{self, Follow, Format as Exported, LogInfo};
use nika_store::{Broken, State};
use serde_json::{Value, json};

use crate::args::{self, ExportFormat, Format, LogCommand, Where};
use crate::compose::Ground;
use crate::failure::{self, Failure};
use crate::out;
use crate::time;
use crate::world::World;
use lines::Fold;

/// Between two looks at whether the reader is still there.
const PATIENCE: Duration = Duration::from_secs(1);

pub fn run(args: args::Log) -> Result<ExitCode, Failure> {
    let world = World::look();
    let state = Ground::find(&world, &Where { roots: args.root.into_iter().collect() })?.state()?;
    let done = |result: Result<(), Failure>| result.map(|()| ExitCode::SUCCESS);
    match args.what {
        Some(LogCommand::Show { id }) if args.follow => done(follow(&state, id.as_deref(), args.output)),
        None if args.follow => done(follow(&state, None, args.output)),
        Some(_) if args.follow => Err(Failure::usage("--follow goes alone, or with `show ID`")),
        Some(LogCommand::List) | None => done(list(&state, args.output)),
        Some(LogCommand::Show { id }) => done(show(&state, id, args.output)),
        Some(LogCommand::Verify { id }) => verify(&state, id, args.output),
        Some(LogCommand::Export { id, format }) => done(export(&state, &id, format)),
    }
}

fn list(state: &State, output: Format) -> Result<(), Failure> {
    let logs = journal::list(state)?;
    if output == Format::Json {
        let row = |log: &LogInfo| {
            json!({
                "id": log.id, "bytes": log.bytes, "lines": log.lines, "first_at": log.first_at,
                "last_at": log.last_at, "calls": log.calls, "refusals": log.refusals,
            })
        };
        return Ok(out::pretty(&logs.iter().map(row).collect())?);
    }
    if logs.is_empty() {
        return Ok(out::line("Nothing was done here yet.")?);
    }
    let mut rows = vec![["session", "last", "calls", "refused", "bytes"].map(str::to_owned).to_vec()];
    rows.extend(logs.iter().map(|log| {
        let last = log.last_at.map(time::readable).unwrap_or_default();
        vec![log.id.clone(), last, log.calls.to_string(), log.refusals.to_string(), log.bytes.to_string()]
    }));
    Ok(out::print(&out::table(&rows))?)
}

fn show(state: &State, id: Option<String>, output: Format) -> Result<(), Failure> {
    let id = match id {
        Some(id) => id,
        None => match journal::list(state)?.into_iter().next() {
            Some(log) => log.id,
            None => return list(state, output),
        },
    };
    known(state, &id)?;
    complain_of(state, &id);
    if output == Format::Json {
        let lines: Vec<Value> = journal::lines(state, &id)?.collect::<Result<_, _>>()?;
        return Ok(out::pretty(&Value::Array(lines))?);
    }
    let mut fold = Fold::default();
    let mut text = format!("session {id}\n");
    for line in journal::lines(state, &id)? {
        if let Some(shown) = fold.take(&line?) {
            text.push_str(&shown);
            text.push('\n');
        }
    }
    for unended in fold.rest() {
        text.push_str(&unended);
        text.push('\n');
    }
    Ok(out::print(&text)?)
}

/// Says of a journal that is about to be shown that it is not what was written.
fn complain_of(state: &State, id: &str) {
    if let Err(broken) = journal::verify(state, id) {
        out::complain(&format!("{} {broken}: what is shown need not be what happened", code::JOURNAL_BROKEN));
    }
}

/// A session of this name, or which there are.
pub(super) fn known(state: &State, id: &str) -> Result<(), Failure> {
    let logs = journal::list(state)?;
    if logs.iter().any(|log| log.id == id) {
        return Ok(());
    }
    let near = text::near_names(id, logs.into_iter().map(|log| log.id), 3);
    let hint = text::there_are(&near).unwrap_or_else(|| "`nika log list` names them".into());
    Err(ToolError::new(code::BAD_ARGUMENTS, format!("no session here is called '{id}'")).hint(hint).into())
}

fn verify(state: &State, id: Option<String>, output: Format) -> Result<ExitCode, Failure> {
    let ids = match id {
        Some(id) if journal::missing(state).contains(&id) => vec![id],
        Some(id) => {
            known(state, &id)?;
            vec![id]
        }
        // One that was removed is told by its head.
        None => journal::list(state)?.into_iter().map(|log| log.id).chain(journal::missing(state)).collect(),
    };
    let verdicts: Vec<(String, Result<journal::Verified, Broken>)> =
        ids.into_iter().map(|id| (id.clone(), journal::verify(state, &id))).collect();
    let all_hold = verdicts.iter().all(|(_, verdict)| verdict.is_ok());
    if output == Format::Json {
        let row = |(id, verdict): &(String, Result<journal::Verified, Broken>)| match verdict {
            Ok(good) => json!({
                "id": id, "ok": true, "lines": good.lines, "hash": good.hash.to_string(),
                "beyond_head": good.beyond_head, "torn_bytes": good.torn_bytes,
            }),
            Err(broken) => json!({ "id": id, "ok": false, "line": broken.line, "why": broken.why }),
        };
        out::pretty(&verdicts.iter().map(row).collect())?;
    } else {
        for (id, verdict) in &verdicts {
            match verdict {
                Ok(good) => out::line(&format!("ok  {id}  {} lines{}", good.lines, remark(good)))?,
                Err(broken) => out::complain(&format!("{} {broken}", code::JOURNAL_BROKEN)),
            }
        }
    }
    Ok(if all_hold { ExitCode::SUCCESS } else { ExitCode::from(failure::FAILED) })
}

/// What a kill left, which is no damage.
fn remark(good: &journal::Verified) -> String {
    match (good.torn_bytes, good.beyond_head) {
        (0, false) => String::new(),
        (0, true) => ", the last of them written just before a kill".into(),
        (bytes, _) => format!(", and {bytes} bytes of one that a kill cut short"),
    }
}

fn export(state: &State, id: &str, format: ExportFormat) -> Result<(), Failure> {
    known(state, id)?;
    complain_of(state, id);
    let format = match format {
        ExportFormat::Json => Exported::Json,
        ExportFormat::Ndjson => Exported::Ndjson,
    };
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    match journal::export(state, id, format, &mut stdout) {
        Err(nika_store::StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
            Err(Failure::NobodyListens)
        }
        other => Ok(other?),
    }?;
    io::Write::flush(&mut stdout)?;
    Ok(())
}

fn follow(state: &State, id: Option<&str>, output: Format) -> Result<(), Failure> {
    let mut follow = match id {
        Some(id) => Follow::session(state, id, true)?,
        None => Follow::all(state, false)?,
    };
    let mut folds: std::collections::BTreeMap<String, Fold> = Default::default();
    loop {
        let Some(line) = follow.next(PATIENCE)? else { continue };
        let Ok(value) = serde_json::from_str::<Value>(&line.line) else { continue };
        if output == Format::Json {
            out::json(&json!({ "session": line.session, "line": value }))?;
        } else if let Some(shown) = folds.entry(line.session.clone()).or_default().take(&value) {
            out::line(&if id.is_some() { shown } else { format!("{shown}  [{}]", line.session) })?;
        }
    }
}
