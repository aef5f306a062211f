//! A second opinion on the structure of a script.
//!
//! Our reader and brush's parser were written by different people from different descriptions of
//! bash. Both list the simple commands with their raw words; when the lists differ, the text is one
//! of those that shells read differently, and nothing proved about it counts.

use std::ops::Range;

use brush_parser::ast;

use super::script::{AssignValue, Command, Fd, Kind, Part, Program, Script, Target, Word};

/// Whether both readers see the same commands; otherwise one sentence about where they part.
///
/// `bodies` are the here-documents in `text`: they are blanked first, because brush counts quotes in
/// a here-document inside `$(…)`, which bash does not.
pub(super) fn agrees(text: &str, program: &Program, bodies: &[Range<usize>]) -> Result<(), String> {
    let masked = mask(text, bodies);
    let mut ours = Vec::new();
    script(&program.script, &masked, &mut ours);
    let options = brush_parser::ParserOptions {
        enable_extended_globbing: false,
        tilde_expansion_at_word_start: false,
        ..Default::default()
    };
    let tokens = brush_parser::uncached_tokenize_str(&masked, &options.tokenizer_options())
        .map_err(|_| "a second reader of shell text cannot split it into words".to_owned())?;
    let theirs_tree = brush_parser::parse_tokens(&tokens, &options)
        .map_err(|_| "a second reader of shell text does not accept it".to_owned())?;
    let mut theirs = Vec::new();
    for list in &theirs_tree.complete_commands {
        brush_list(list, &mut theirs);
    }
    let differs = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
    match differs {
        Some((ours, theirs)) => Err(format!("two readers of shell text see different words: `{ours}` and `{theirs}`")),
        None if ours.len() != theirs.len() => Err("two readers of shell text see different commands".to_owned()),
        None => Ok(()),
    }
}

/// The same text with the bodies of here-documents made of one letter.
fn mask(text: &str, bodies: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in bodies {
        for byte in bytes.get_mut(range.clone()).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b'x';
            }
        }
    }
    // A body is whole lines, so no character is cut in two.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn script(list: &Script, text: &str, out: &mut Vec<String>) {
    for item in &list.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
            out.push(format!("pipeline of {}", pipeline.stages.len()));
            for (index, stage) in pipeline.stages.iter().enumerate() {
                command(stage, text, out);
                if pipeline.both.get(index) == Some(&true) {
                    // brush writes `a |& b` as `a 2>&1 | b`.
                    out.push("redirect 1".to_owned());
                }
            }
        }
        if item.background {
            out.push("&".to_owned());
        }
    }
}

fn raw(text: &str, word: &Word) -> String {
    text.get(word.span.clone()).unwrap_or_default().replace("\\\n", "")
}

fn command(command: &Command, text: &str, out: &mut Vec<String>) {
    match &command.kind {
        Kind::Simple { assigns, words } => {
            out.push("simple".to_owned());
            for assign in assigns {
                match &assign.value {
                    AssignValue::Word(_) => {
                        out.push(text.get(assign.span.clone()).unwrap_or_default().replace("\\\n", ""))
                    }
                    AssignValue::Array(_) => out.push(format!("{}=(", assign.name)),
                }
            }
            for word in words {
                match word.parts.as_slice() {
                    [Part::Process { write, .. }] => out.push(if *write { ">(".into() } else { "<(".into() }),
                    parts => {
                        let array = matches!(parts.last(), Some(Part::Array(_)));
                        let raw = raw(text, word);
                        out.push(if array {
                            format!("{}(", raw.split('=').next().unwrap_or_default().to_owned() + "=")
                        } else {
                            raw
                        });
                    }
                }
            }
        }
        Kind::Subshell(inner) => {
            out.push("(".to_owned());
            script(inner, text, out);
        }
        Kind::Group(inner) => {
            out.push("{".to_owned());
            script(inner, text, out);
        }
        Kind::If { arms, otherwise } => {
            out.push("if".to_owned());
            for (condition, body) in arms {
                script(condition, text, out);
                out.push("then".to_owned());
                script(body, text, out);
            }
            if let Some(body) = otherwise {
                out.push("else".to_owned());
                script(body, text, out);
            }
            out.push("fi".to_owned());
        }
        Kind::Loop { until, condition, body } => {
            out.push(if *until { "until" } else { "while" }.to_owned());
            script(condition, text, out);
            out.push("do".to_owned());
            script(body, text, out);
        }
        Kind::For { name, words, body, .. } => {
            out.push(format!("for {name}"));
            for word in words.iter().flatten() {
                out.push(raw(text, word));
            }
            script(body, text, out);
        }
        Kind::ArithFor { body, .. } => {
            out.push("for ((".to_owned());
            script(body, text, out);
        }
        Kind::Case { word, arms } => {
            out.push(format!("case {}", raw(text, word)));
            for arm in arms {
                out.extend(arm.patterns.iter().map(|pattern| raw(text, pattern)));
                script(&arm.body, text, out);
            }
        }
        Kind::Function { name, body } => {
            out.push(format!("{name}()"));
            self::command(body, text, out);
        }
        Kind::Coproc { .. } => out.push("coproc".to_owned()),
        Kind::Arith(_) => out.push("((".to_owned()),
        Kind::Test(_) => out.push("[[".to_owned()),
    }
    for redirect in &command.redirects {
        if matches!(redirect.fd, Fd::Named(_)) {
            out.push("{name}".to_owned());
        }
        match &redirect.target {
            Target::Word(word) => match word.parts.as_slice() {
                [Part::Process { .. }] => out.push("redirect (".to_owned()),
                _ => out.push(format!("redirect {}", raw(text, word))),
            },
            Target::Here(_) => out.push("redirect <<".to_owned()),
        }
    }
}

fn brush_list(list: &ast::CompoundList, out: &mut Vec<String>) {
    for ast::CompoundListItem(and_or, separator) in &list.0 {
        for (_, pipeline) in and_or.iter() {
            out.push(format!("pipeline of {}", pipeline.seq.len()));
            for command in &pipeline.seq {
                brush_command(command, out);
            }
        }
        if matches!(separator, ast::SeparatorOperator::Async) {
            out.push("&".to_owned());
        }
    }
}

fn clean(word: &ast::Word) -> String {
    word.value.replace("\\\n", "")
}

fn brush_command(command: &ast::Command, out: &mut Vec<String>) {
    let mut redirects = Vec::new();
    match command {
        ast::Command::Simple(simple) => {
            out.push("simple".to_owned());
            let prefix = simple.prefix.iter().flat_map(|prefix| prefix.0.iter());
            for item in prefix {
                brush_item(item, out, &mut redirects);
            }
            out.extend(simple.word_or_name.as_ref().map(clean));
            for item in simple.suffix.iter().flat_map(|suffix| suffix.0.iter()) {
                brush_item(item, out, &mut redirects);
            }
        }
        ast::Command::Compound(compound, list) => {
            brush_compound(compound, out);
            brush_redirects(list.as_ref(), &mut redirects);
        }
        ast::Command::Function(function) => {
            out.push(format!("{}()", function.fname.value));
            brush_compound(&function.body.0, out);
            brush_redirects(function.body.1.as_ref(), &mut redirects);
        }
        ast::Command::ExtendedTest(_, list) => {
            out.push("[[".to_owned());
            brush_redirects(list.as_ref(), &mut redirects);
        }
    }
    out.append(&mut redirects);
}

fn brush_item(item: &ast::CommandPrefixOrSuffixItem, out: &mut Vec<String>, redirects: &mut Vec<String>) {
    match item {
        ast::CommandPrefixOrSuffixItem::Word(word) => out.push(clean(word)),
        ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => match &assignment.value {
            ast::AssignmentValue::Scalar(_) => out.push(clean(word)),
            ast::AssignmentValue::Array(_) => out.push(format!("{}=(", assignment.name)),
        },
        ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => brush_redirect(redirect, redirects),
        ast::CommandPrefixOrSuffixItem::ProcessSubstitution(kind, _) => {
            let write = matches!(kind, ast::ProcessSubstitutionKind::Write);
            out.push(if write { ">(".into() } else { "<(".into() });
        }
    }
}

fn brush_redirects(list: Option<&ast::RedirectList>, out: &mut Vec<String>) {
    for redirect in list.iter().flat_map(|list| list.0.iter()) {
        brush_redirect(redirect, out);
    }
}

fn brush_redirect(redirect: &ast::IoRedirect, out: &mut Vec<String>) {
    match redirect {
        ast::IoRedirect::File(_, _, target) => match target {
            ast::IoFileRedirectTarget::Filename(word) | ast::IoFileRedirectTarget::Duplicate(word) => {
                out.push(format!("redirect {}", clean(word)));
            }
            ast::IoFileRedirectTarget::Fd(fd) => out.push(format!("redirect {fd}")),
            ast::IoFileRedirectTarget::ProcessSubstitution(..) => out.push("redirect (".to_owned()),
        },
        ast::IoRedirect::HereDocument(..) => out.push("redirect <<".to_owned()),
        ast::IoRedirect::HereString(_, word) | ast::IoRedirect::OutputAndError(word, _) => {
            out.push(format!("redirect {}", clean(word)));
        }
    }
}

fn brush_compound(compound: &ast::CompoundCommand, out: &mut Vec<String>) {
    match compound {
        ast::CompoundCommand::Arithmetic(_) => out.push("((".to_owned()),
        ast::CompoundCommand::ArithmeticForClause(clause) => {
            out.push("for ((".to_owned());
            brush_list(&clause.body.list, out);
        }
        ast::CompoundCommand::BraceGroup(group) => {
            out.push("{".to_owned());
            brush_list(&group.list, out);
        }
        ast::CompoundCommand::Subshell(subshell) => {
            out.push("(".to_owned());
            brush_list(&subshell.list, out);
        }
        ast::CompoundCommand::ForClause(clause) => {
            out.push(format!("for {}", clause.variable_name));
            out.extend(clause.values.iter().flatten().map(clean));
            brush_list(&clause.body.list, out);
        }
        ast::CompoundCommand::CaseClause(clause) => {
            out.push(format!("case {}", clean(&clause.value)));
            for case in &clause.cases {
                out.extend(case.patterns.iter().map(clean));
                if let Some(list) = &case.cmd {
                    brush_list(list, out);
                }
            }
        }
        ast::CompoundCommand::IfClause(clause) => {
            out.push("if".to_owned());
            brush_list(&clause.condition, out);
            out.push("then".to_owned());
            brush_list(&clause.then, out);
            for other in clause.elses.iter().flatten() {
                match &other.condition {
                    Some(condition) => {
                        brush_list(condition, out);
                        out.push("then".to_owned());
                    }
                    None => out.push("else".to_owned()),
                }
                brush_list(&other.body, out);
            }
            out.push("fi".to_owned());
        }
        ast::CompoundCommand::WhileClause(clause) => brush_loop("while", clause, out),
        ast::CompoundCommand::UntilClause(clause) => brush_loop("until", clause, out),
        ast::CompoundCommand::Coprocess(_) => out.push("coproc".to_owned()),
    }
}

fn brush_loop(name: &str, clause: &ast::WhileOrUntilClauseCommand, out: &mut Vec<String>) {
    out.push(name.to_owned());
    brush_list(&clause.0, out);
    out.push("do".to_owned());
    brush_list(&clause.1.list, out);
}
