//! What is known behind branches and loops: only what is so on every way.

use super::*;

pub(super) fn join_cwd(left: &[PathBuf], right: &[PathBuf]) -> Vec<PathBuf> {
    if left.is_empty() || right.is_empty() {
        return Vec::new();
    }
    let mut out = left.to_vec();
    out.extend(right.iter().filter(|path| !left.contains(path)).cloned());
    if out.len() > 4 { Vec::new() } else { out }
}

/// What holds in all of `states` that are still running.
pub(super) fn merge(states: Vec<State>) -> Option<State> {
    let all_gone = states.iter().all(|state| state.gone);
    let mut running = states.into_iter().filter(|state| all_gone || !state.gone);
    let mut out = running.next()?;
    for state in running {
        out.cwd = join_cwd(&out.cwd, &state.cwd);
        out.frozen.extend(state.frozen.iter().cloned());
        out.background &= state.background;
        if out.positional != state.positional {
            out.positional = None;
        }
        if out.vars == state.vars {
            continue;
        }
        let names: BTreeSet<String> = out.vars.keys().chain(state.vars.keys()).cloned().collect();
        for name in names {
            let unknown = || Value::Opaque(format!("the value of `{name}`"));
            let joined = match (out.vars.get(&name), state.vars.get(&name)) {
                (Some(left), Some(right)) if left == right => continue,
                (Some(left), Some(right)) if integer(left) && integer(right) => Value::Number,
                _ => unknown(),
            };
            out.vars.insert(name, joined);
        }
    }
    Some(out)
}

/// Variables that `scripts` may set are not known while they run again and again.
pub(super) fn forget(scripts: &[&Script], state: &mut State) {
    let mut set: BTreeMap<String, bool> = BTreeMap::new();
    let mut anything = false;
    for script in scripts {
        assigned(script, &mut set, &mut anything);
    }
    if anything {
        state.vars.clear();
    }
    for (name, number) in set {
        let value = match state.vars.get(&name) {
            Some(before) if number && integer(before) => Value::Number,
            _ => Value::Opaque(format!("the value of `{name}` changes in the loop")),
        };
        state.vars.insert(name, value);
    }
}

/// Names that a script may set, and whether they only ever get numbers.
pub(super) fn assigned(script: &Script, out: &mut BTreeMap<String, bool>, anything: &mut bool) {
    for item in &script.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
            for command in &pipeline.stages {
                assigned_by(command, out, anything);
            }
        }
    }
}

pub(super) fn assigned_by(command: &Command, out: &mut BTreeMap<String, bool>, anything: &mut bool) {
    for redirect in &command.redirects {
        if let Fd::Named(name) = &redirect.fd {
            out.insert(name.clone(), false);
        }
    }
    match &command.kind {
        Kind::Simple { assigns, words } => {
            for assign in assigns {
                let number = match &assign.value {
                    AssignValue::Word(word) => match word.parts.as_slice() {
                        [Part::Arith { .. }] => true,
                        _ => text_of(word).is_some_and(|text| is_integer(&text)),
                    },
                    AssignValue::Array(_) => false,
                } && !assign.append;
                let all = out.entry(assign.name.clone()).or_insert(true);
                *all &= number;
            }
            let name = name_of(command);
            // `printf -v` is never followed, and `cd` sets no variable of the script.
            let sets =
                STATEFUL.contains(&name.as_str()) && !matches!(name.as_str(), "printf" | "cd" | "pushd" | "popd");
            if sets || is_declaration(&name) || matches!(name.as_str(), "command" | "builtin") {
                for word in words.iter().skip(1) {
                    if let Some(text) = text_of(word) {
                        set_by(&text, |name| {
                            out.insert(name.to_owned(), false);
                        });
                        continue;
                    }
                    match word.parts.as_slice() {
                        [Part::Plain(text) | Part::Quoted(text), ..] if text.contains(['=', '[']) => {
                            set_by(text, |name| {
                                out.insert(name.to_owned(), false);
                            });
                        }
                        _ => *anything = true,
                    }
                }
            }
            for word in words {
                for part in &word.parts {
                    if let Part::Param { param: Param { name, op: Op::Default { kind: '=', .. }, .. }, .. } = part {
                        out.insert(name.clone(), false);
                    }
                }
            }
        }
        Kind::Subshell(script) | Kind::Group(script) => assigned(script, out, anything),
        Kind::If { arms, otherwise } => {
            for (condition, body) in arms {
                assigned(condition, out, anything);
                assigned(body, out, anything);
            }
            if let Some(body) = otherwise {
                assigned(body, out, anything);
            }
        }
        Kind::Loop { condition, body, .. } => {
            assigned(condition, out, anything);
            assigned(body, out, anything);
        }
        Kind::For { name, body, .. } => {
            out.insert(name.clone(), false);
            assigned(body, out, anything);
        }
        Kind::ArithFor { body, .. } => assigned(body, out, anything),
        Kind::Case { arms, .. } => arms.iter().for_each(|arm| assigned(&arm.body, out, anything)),
        Kind::Function { body, .. } | Kind::Coproc { body } => assigned_by(body, out, anything),
        Kind::Arith(_) | Kind::Test(_) => {}
    }
}
