//! `nika upgrade`: an older workflow in the language of today, with the authority that its tasks need written out.

use std::process::ExitCode;

use nika_contract::text::harmless;
use nika_flow::check::block;
use nika_flow::finding::show;
use nika_flow::model::{At, Permits, Span};
use nika_guard::PermitKind;

use super::check::read;
use crate::args;
use crate::compose::Ground;
use crate::failure::{FAILED, Failure};
use crate::flows::Around;
use crate::out;
use crate::world::World;

pub fn run(args: &args::Upgrade) -> Result<ExitCode, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let effective = ground.configure(&world, &args.standing)?;
    let around = Around::new(world, ground, effective, false);
    let (name, text) = read(&args.file)?;
    let checked = nika_flow::check(&text, &name, &around);
    let clean = checked.is_clean();
    match checked.flow {
        Some(mut flow) if clean => {
            if flow.permits.is_none() {
                flow.permits = Some(permits(block(&checked.needs)));
            }
            out::verbatim(&nika_flow::write(&flow))?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            let shown: Vec<String> =
                checked.findings.iter().map(|finding| show(&harmless(&name), &text, finding)).collect();
            out::note(&harmless(&shown.join("\n")));
            Ok(ExitCode::from(FAILED))
        }
    }
}

/// The lines, each where it belongs.
fn permits(lines: Vec<(PermitKind, String)>) -> Permits {
    let mut permits = Permits::default();
    for (kind, text) in lines {
        let line = At { value: text, at: Span::default() };
        match kind {
            PermitKind::Read => permits.read.push(line),
            PermitKind::Write => permits.write.push(line),
            PermitKind::Net => permits.net.push(line),
            PermitKind::Exec => permits.exec.push(line),
            PermitKind::Tool => permits.tools.push(line),
            PermitKind::Env => permits.env.push(line),
        }
    }
    permits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_stands_where_it_belongs() {
        let stated = permits(vec![
            (PermitKind::Exec, "git log *".into()),
            (PermitKind::Write, "out/**".into()),
            (PermitKind::Net, "a.example".into()),
        ]);
        let texts = |lines: &[At<String>]| lines.iter().map(|line| line.value.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&stated.exec), ["git log *"]);
        assert_eq!(texts(&stated.write), ["out/**"]);
        assert_eq!(texts(&stated.net), ["a.example"]);
        assert!(stated.read.is_empty() && stated.tools.is_empty() && stated.env.is_empty());
    }
}
