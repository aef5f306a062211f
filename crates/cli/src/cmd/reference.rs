//! What generators of reference pages read: the surface as JSON, the help as Markdown; and the manual.

use clap::CommandFactory;
use nika_contract::{code, event};
use nika_guard::bash::{FINDINGS, Family};
use nika_guard::{Mode, TABLE};
use serde_json::json;

use crate::args::Cli;
use crate::cmd::{policy, tools};
use crate::failure::Failure;
use crate::out;

/// Prints the tables of the program: tools, codes, events, modes.
pub fn surface() -> Result<(), Failure> {
    let codes = code::TABLE
        .iter()
        .map(|row| json!({"code": row.code.to_string(), "name": row.name, "title": row.title, "advice": row.advice}));
    let events = event::TABLE.iter().map(|row| json!({"name": row.name, "when": row.when, "fields": row.fields}));
    let modes = TABLE.iter().map(|(_, title, cells)| {
        let marks = Mode::ALL.iter().zip(cells).map(|(mode, cell)| (mode.name().to_owned(), cell.mark().into()));
        json!({"act": title, "modes": serde_json::Map::from_iter(marks)})
    });
    let findings = FINDINGS.iter().flat_map(|rows| rows.iter()).map(|row| {
        json!({
            "code": row.code, "family": family(row.family), "raises": row.raises.map(policy::kind),
            "when": row.when, "why": row.why, "example": row.example,
        })
    });
    Ok(out::pretty(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "tools": tools::whole_surface()?.iter().map(tools::object).collect::<Vec<_>>(),
        "codes": codes.collect::<Vec<_>>(),
        "events": events.collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "permissions": modes.collect::<Vec<_>>(),
        "config": crate::config::schema(),
        "workflow": nika_flow::schema::schema(),
    }))?)
}

/// What the families of findings are called.
fn family(family: Family) -> &'static str {
    match family {
        Family::Limit => "limit",
        Family::Lexical => "lexical",
        Family::Validator => "validator",
        Family::Special => "special command",
        Family::Destructive => "destructive",
        Family::Effect => "effect",
    }
}

/// Prints every command's help as Markdown.
pub fn help() -> Result<(), Failure> {
    let mut page = String::new();
    let mut command = Cli::command().term_width(100);
    command.build();
    write(&mut page, &mut command, "nika");
    Ok(out::print(&page)?)
}

/// Prints the manual page of the program, or of the command of these words.
pub fn manual(words: &[String]) -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    for word in words {
        let below = command.find_subcommand(word).cloned();
        command = below.ok_or_else(|| Failure::usage(format!("there is no command '{}'", words.join(" "))))?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(out::verbatim(&String::from_utf8_lossy(&page))?)
}

fn write(page: &mut String, command: &mut clap::Command, name: &str) {
    page.push_str(&format!("## `{name}`\n\n```text\n{}\n```\n\n", command.render_long_help().to_string().trim_end()));
    for below in command.get_subcommands_mut().filter(|below| !below.is_hide_set() && below.get_name() != "help") {
        let name = format!("{name} {}", below.get_name());
        write(page, below, &name);
    }
}
