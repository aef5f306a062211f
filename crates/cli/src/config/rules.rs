//! Permission rules of a file: a line each, or a mapping with the examples that it must stand.
//!
//! ```yaml
//! deny: ["write(.github/**)", {rule: "exec(git push*)", match: ["git push origin"], not_match: ["git status"]}]
//! ```

use nika_guard::{Examples, Rule, RuleKind};

use super::change::Change;
use super::error::ConfigError;
use super::keys::{Brought, Reads, Wrong, expected};
use super::tool_names;
use super::yaml::{Kind, Node};

/// The fields of a rule that carries examples.
pub(super) const FIELDS: [&str; 3] = ["rule", "match", "not_match"];

/// Reads the list under `permissions.allow`, `.ask` or `.deny`.
pub(super) fn read(kind: RuleKind, node: &Node, home: Option<&str>) -> Reads {
    let items = match &node.kind {
        Kind::Nothing => return Ok(Vec::new()),
        Kind::List(items) => items,
        _ => return expected(node, "a list of rules, for example [\"write(src/**)\"]"),
    };
    items.iter().map(|item| Ok((item.spot, None, Change::Rule(kind, rule(item, home)?)))).collect()
}

fn rule(node: &Node, home: Option<&str>) -> Result<Rule, Wrong> {
    const WANTED: &str = "a rule such as \"write(src/**)\", or {rule: …, match: […], not_match: […]}";
    match &node.kind {
        Kind::Text(text) => {
            let rule = Rule::parse(text, home).map_err(|error| Wrong::rule(node.spot, error))?;
            match tool_names::flaw_of_rule(&rule) {
                Some(what) => Err(Wrong::Rule { spot: node.spot, what }),
                None => Ok(rule),
            }
        }
        Kind::Map(entries) => {
            let field = |name| entries.iter().find(|(key, _)| key.name == name).map(|(_, value)| value);
            if let Some((key, _)) = entries.iter().find(|(key, _)| !FIELDS.contains(&key.name.as_str())) {
                return Err(Wrong::unknown(key, FIELDS));
            }
            let Some(text @ Node { kind: Kind::Text(_), .. }) = field("rule") else {
                return expected(field("rule").unwrap_or(node), WANTED);
            };
            let parsed = rule(text, home)?;
            let examples = |name| field(name).map_or(Ok(Vec::new()), texts);
            Ok(Rule {
                examples: Examples { matches: examples("match")?, not_matches: examples("not_match")? },
                ..parsed
            })
        }
        _ => expected(node, WANTED),
    }
}

/// Refuses a rule that does not stand its own examples.
pub(super) fn check(layers: &[Brought], home: Option<&str>) -> Result<(), ConfigError> {
    for said in layers.iter().flat_map(|layer| &layer.said) {
        let Change::Rule(kind, rule) = &said.change else { continue };
        let stands = rule.clone().with_examples(*kind, rule.examples.clone(), home);
        stands.map_err(|error| ConfigError::Rule { at: said.place(), what: error.to_string() })?;
    }
    Ok(())
}

fn texts(node: &Node) -> Result<Vec<String>, Wrong> {
    let Kind::List(items) = &node.kind else {
        return expected(node, "a list of examples");
    };
    let text = |item: &Node| match &item.kind {
        Kind::Text(text) => Ok(text.clone()),
        _ => expected(item, "an example as text; put it in quotes"),
    };
    items.iter().map(text).collect()
}
