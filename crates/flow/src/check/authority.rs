//! What tasks need against what `permits` states. What is surely not stated is a fault; what only the run can tell is
//! a note, so that nobody takes silence for a yes.

use nika_contract::code;
use nika_guard::{Effect, Exec, ExecKind, PermitKind, PermitLine, Permits, Place, READ_RESOURCE, Rule, classify};

use super::Surroundings;
use super::needs::{Need, Want, block, never};
use crate::finding::Finding;
use crate::model::{At, Flow, Span};
use crate::read::meant;

/// Holds `needs` against what the flow states. `permits_at` is where the statement stands, or would.
pub(super) fn check(flow: &Flow, needs: &[Need], permits_at: Span, around: &dyn Surroundings) -> Vec<Finding> {
    // A translated document states nothing yet: what it needs is shown for a yes.
    let Some(stated) = &flow.permits else { return Vec::new() };
    let mut findings = Vec::new();
    let home = around.site().home;
    let home = home.to_str();
    let mut lines: Vec<PermitLine> = Vec::new();
    for (kind, text) in stated.lines() {
        let line = PermitLine { kind, text: text.value.clone(), at: format!("line {}", text.at.line) };
        match Permits::parse(&flow.name, std::slice::from_ref(&line), home) {
            Ok(_) => lines.push(line),
            Err(error) => {
                let message = format!("`permits.{}`: {error}", kind.key());
                findings.push(Finding::error(code::FLOW_RULE, text.at, message));
            }
        }
        if kind == PermitKind::Tool {
            findings.extend(unknown_tool(text, around));
        }
    }
    let Ok(permits) = Permits::parse(&flow.name, &lines, home) else { return findings };
    let court = Court { around, flow, permits: &permits, lines: &lines, permits_at };
    // What is never allowed is not helped by a line for the rest of it.
    let hopeless: Vec<(usize, Span)> = needs.iter().filter(|need| is_never(&need.want)).map(place_of).collect();
    let judged = needs.iter().filter(|need| is_never(&need.want) || !hopeless.contains(&place_of(need)));
    findings.extend(judged.filter_map(|need| court.judge(need)));
    findings
}

fn is_never(want: &Want) -> bool {
    matches!(want, Want::Effect(Effect::Exec(exec), _) if never(exec.kind))
}

fn place_of(need: &Need) -> (usize, Span) {
    (need.task, need.at)
}

/// A tool that is stated and that there is not: a slip, most likely.
fn unknown_tool(name: &At<String>, around: &dyn Surroundings) -> Option<Finding> {
    let plain = name.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.value.starts_with("mcp__");
    let canonical = nika_guard::names::canonical(&name.value);
    // Asking for one is cheap; a list of all is made only for a suggestion.
    if !plain || around.tool(canonical).is_some() {
        return None;
    }
    let known = around.tools();
    if known.is_empty() {
        return None;
    }
    let message = format!("`permits.tools` names `{}`, and there is no such tool", name.value);
    let near = meant(&name.value, known.iter().map(String::as_str)).filter(|meant| meant.starts_with("did"));
    Some(Finding::error(code::FLOW_UNKNOWN, name.at, message).suggest_some(near))
}

struct Court<'a> {
    around: &'a dyn Surroundings,
    flow: &'a Flow,
    permits: &'a Permits,
    lines: &'a [PermitLine],
    permits_at: Span,
}

impl Court<'_> {
    fn judge(&self, need: &Need) -> Option<Finding> {
        let task = &self.flow.tasks[need.task].id.value;
        let id = match &need.of {
            None => format!("`{task}`"),
            Some(path) => format!("`{task}` runs {path}"),
        };
        let refused = |message: String| Some(self.refused(need, message));
        let open = |what: String| {
            let message = format!("{id}: {what} is decided at run time, against `permits`");
            Some(Finding::note(code::FLOW_PERMIT, need.at, message))
        };
        match &need.want {
            Want::Effect(Effect::Exec(exec), _) if never(exec.kind) => {
                let message = format!("{id} would run what is never allowed: {}", exec.why);
                Some(Finding::error(code::FLOW_PERMIT, need.at, message))
            }
            Want::Effect(effect, tool) => match self.refusal(effect, tool) {
                Some(why) => refused(format!("{id}: {why}")),
                None => asked_each_time(effect).map(|why| {
                    let message = format!("{id}: a person is asked each time before this runs: {why}");
                    Finding::note(code::FLOW_PERMIT, need.at, message)
                }),
            },
            // Of a name that no tool has, it is said once, and elsewhere, that there is none.
            Want::Tool(name) if self.is_no_tool(name) => None,
            Want::Tool(name) => {
                let canonical = nika_guard::names::canonical(name);
                let equal = self.lines.iter().any(|line| line.kind == PermitKind::Tool && line.text == *name);
                let stated = equal || self.permits.names_tool(canonical) || self.permits.names_tool(name);
                (!stated).then(|| self.refused(need, format!("{id}: `permits.tools` does not name `{name}`")))
            }
            Want::Words(words) => {
                let shown: Vec<&str> = words.iter().map(|word| word.as_deref().unwrap_or("…")).collect();
                let shown = shown.join(" ");
                let rules = || self.lines.iter().filter(|line| line.kind == PermitKind::Exec);
                // A word that nobody knows is stood in for by one that only a star matches.
                let stand_in: Vec<String> =
                    words.iter().map(|word| word.clone().unwrap_or_else(|| "\u{1}".to_owned())).collect();
                let effect = Effect::Exec(Exec::plain(vec![stand_in], ExecKind::Opaque, ""));
                if self.permits.refusal(&effect, "exec").is_none() {
                    None
                } else if rules().any(|line| may_hold(&line.text, words)) {
                    open(format!("whether `{shown}` may run"))
                } else {
                    refused(format!("{id}: `permits.exec` does not hold for `{shown}`, whatever its templates make"))
                }
            }
            Want::Path { kind, below } => {
                let rules: Vec<&PermitLine> = self.lines.iter().filter(|line| line.kind == *kind).collect();
                let tree = Place::inside("/", below).tree();
                let effect = if *kind == PermitKind::Write { Effect::Write(tree) } else { Effect::Read(tree) };
                let verb = if *kind == PermitKind::Write { "write" } else { "read" };
                let covered = rules.iter().any(|line| {
                    Rule::parse(&format!("{verb}({})", line.text), None).is_ok_and(|rule| rule.holds(&effect, ""))
                });
                if rules.is_empty() {
                    refused(format!("{id}: `permits.{}` states no path, and this needs one", kind.key()))
                } else if covered && !below.is_empty() || rules.iter().any(|line| line.text == "**") {
                    None
                } else {
                    open("the path".to_owned())
                }
            }
            Want::Host => {
                let mut rules = self.lines.iter().filter(|line| line.kind == PermitKind::Net).peekable();
                if rules.peek().is_none() {
                    refused(format!("{id}: `permits.net` states no host, and this reaches one"))
                } else if rules.any(|line| line.text == "*") {
                    None
                } else {
                    open("the host".to_owned())
                }
            }
            Want::Workflow(path) => (!self.permits.names_workflow(path))
                .then(|| self.refused(need, format!("{id}: `permits.tools` does not name `workflow({path})`"))),
            Want::Resource(server) => {
                let effect = Effect::Foreign { server: server.clone(), tool: READ_RESOURCE.to_owned() };
                let why = self.permits.refusal(&effect, "mcp_read_resource")?;
                refused(format!("{id}: {why}"))
            }
            Want::Variable(name) => {
                let message =
                    format!("{id}: a command is not given the variable `{name}`, which changes what programs do");
                Some(Finding::error(code::FLOW_PERMIT, need.at, message))
            }
            // Whoever looks at names has said it of this one's own; another workflow gets no variable that this one
            // does not state.
            Want::Env(name) => {
                let stated = self.permits.variables().any(|stated| stated == name);
                let message = || format!("{id}: `env.{name}` is read, and `permits.env` does not state it");
                (need.of.is_some() && !stated).then(|| self.refused(need, message()))
            }
            Want::Never(why, instead) => {
                Some(Finding::error(code::FLOW_TYPE, need.at, format!("{id}: {why}")).suggest(*instead))
            }
            Want::Unsaid(what) => open(what.clone()),
        }
    }

    fn is_no_tool(&self, name: &str) -> bool {
        let plain = !name.starts_with("mcp__") && !name.contains(['*', '?', '[']);
        let unknown = || self.around.tool(nika_guard::names::canonical(name)).is_none();
        plain && unknown() && !self.around.tools().is_empty()
    }

    /// Why an effect of a call is not stated. That the tool is not named is a need of its own, and said once.
    fn refusal(&self, effect: &Effect, tool: &str) -> Option<String> {
        /// One that needs no name, so that only what it touches is looked at.
        const NAMELESS: &str = "exec";
        match effect {
            _ if self.permits.names_tool(tool) => self.permits.refusal(effect, tool),
            Effect::Read(_) | Effect::Write(_) | Effect::Net(_) | Effect::Fetch(_) | Effect::Exec(_) => {
                self.permits.refusal(effect, NAMELESS)
            }
            Effect::Foreign { .. } => self.permits.refusal(effect, tool),
            _ => None,
        }
    }

    /// A fault, with the line that would state it.
    fn refused(&self, need: &Need, message: String) -> Finding {
        let line = block(std::slice::from_ref(need)).into_iter().next();
        let line = line.map(|(kind, text)| {
            let text = if text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c)) {
                text
            } else {
                format!("\"{text}\"")
            };
            match kind {
                PermitKind::Read => format!("fs: {{read: [{text}]}}"),
                PermitKind::Write => format!("fs: {{write: [{text}]}}"),
                kind => format!("{}: [{text}]", kind.key()),
            }
        });
        let suggestion = line.map(|line| format!("to state it, line {}: permits: {{{line}}}", self.permits_at.line));
        Finding::error(code::FLOW_PERMIT, need.at, message).suggest_some(suggestion)
    }
}

/// Why a person is asked before this even where it is stated.
fn asked_each_time(effect: &Effect) -> Option<String> {
    let of_path = |what: &str, place: &Place, why: Option<&str>| {
        let name = place.below_root.as_deref().unwrap_or(&place.path).display();
        why.map(|why| format!("it {what} {name}: {why}"))
    };
    match effect {
        Effect::Exec(exec)
            if matches!(exec.kind, ExecKind::Destructive | ExecKind::Unconfined | ExecKind::Misparse) =>
        {
            let shown = exec.commands.first().map(|argv| exec.with_sets(argv).join(" ")).unwrap_or_default();
            Some(if exec.why.is_empty() { shown } else { exec.why.clone() })
        }
        Effect::Read(place) => of_path("reads", place, classify(&place.path).secret),
        Effect::Write(place) => of_path("changes", place, classify(&place.path).asked()),
        _ => None,
    }
}

/// Whether a line of `permits.exec` can hold for a command of which some words are not known. See `CommandPattern`.
fn may_hold(line: &str, argv: &[Option<String>]) -> bool {
    let (text, colon) = line.trim().strip_suffix(":*").map_or((line.trim(), false), |text| (text, true));
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let mut rest_free = colon;
    if let Some(last) = words.last().copied().filter(|last| last.ends_with('*')) {
        rest_free = true;
        if last.chars().all(|c| c == '*') {
            words.pop();
        }
    }
    let long_enough = if rest_free { argv.len() >= words.len() } else { argv.len() == words.len() };
    long_enough
        && words.iter().zip(argv).all(|(pattern, word)| match word {
            None => true,
            Some(word) => {
                let one = Effect::Exec(Exec::plain(vec![vec![word.clone()]], ExecKind::Opaque, ""));
                Rule::parse(&format!("exec({pattern})"), None).is_ok_and(|rule| rule.holds(&one, ""))
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_hold_for_words_that_are_not_known() {
        let argv = |text: &str| text.split(' ').map(|word| (word != "?").then(|| word.to_owned())).collect::<Vec<_>>();
        for (line, words, want) in [
            ("git log *", "git log ?", true),
            ("git log --oneline", "git log ?", true),
            ("git log", "git log ?", false),
            ("git push *", "git log ?", false),
            ("git log:*", "git log ? ?", true),
            ("ls x", "? y", false),
            ("*", "? x", true),
            ("cargo", "?", true),
        ] {
            assert_eq!(may_hold(line, &argv(words)), want, "{line} / {words}");
        }
    }
}
