//! Documents `nika/workflow@0.1` to `@0.5`, translated into the form of today.
//!
//! ```text
//! document ─keys─▶ what its version has ─tasks─▶ Flow without permits
//!                                        └─ shell text ─shell─▶ shell text + environment
//! ```
//!
//! Each version takes exactly its own keys. What is not carried over is a finding that names it and says what to write
//! instead, never something that is quietly left out. An older document states no authority, so its [`Flow`] has no
//! permits: they are inferred, and shown for a yes.

mod bind;
mod keys;
mod program;
mod shell;
mod task;
mod text;
mod verbs;

#[cfg(test)]
mod tests;

use nika_contract::code;

use crate::finding::Finding;
use crate::model::{At, Flow, Limits, ModelChoice, Span};
use crate::read::yaml::{Kind, Node};
pub(crate) use keys::Release;
use keys::Taken;

/// Translates a document of an older release. `schema` is what it says of its version, with the place; `stem` the file's.
pub(crate) fn read(
    text: &str,
    document: &Node,
    release: Release,
    schema: &At<String>,
    stem: &str,
) -> Result<Flow, Vec<Finding>> {
    let mut reader = Reader { text: text.strip_prefix('\u{feff}').unwrap_or(text), release, findings: Vec::new() };
    let flow = reader.document(document, schema, stem);
    match flow {
        Some(flow) if reader.findings.iter().all(|finding| !finding.is_error()) => Ok(flow),
        _ => Err(crate::finding::sorted(reader.findings)),
    }
}

/// What is known while a document is translated.
struct Reader<'t> {
    /// The document's text: templates are looked for in it, to point at them.
    text: &'t str,
    release: Release,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn document(&mut self, document: &Node, schema: &At<String>, stem: &str) -> Option<Flow> {
        let taken = self.mapping(document, "a workflow", keys::DOCUMENT)?;
        let name = taken.get("workflow").and_then(|node| self.text_of(node, "workflow"));
        let description = taken.get("description").and_then(|node| self.text_of(node, "description"));
        let model = self.model(&taken);
        if let Some(servers) = taken.get("mcp") {
            self.servers(servers);
        }
        let tasks = match taken.get("tasks") {
            Some(node) => self.tasks(node, taken.get("flows")),
            None => {
                self.error(document.at, "`tasks` is missing", "a workflow has at least one task");
                Vec::new()
            }
        };
        Some(Flow {
            name: name.map_or_else(|| stem.to_owned(), |name| name.value),
            description: description.map(|text| text.value),
            version: schema.value.clone(),
            model,
            inputs: Vec::new(),
            secrets: Vec::new(),
            permits: None,
            limits: Limits::default(),
            tasks,
            outputs: Vec::new(),
        })
    }

    /// `provider` and `model`, of the document or of a verb.
    fn model(&mut self, taken: &Taken<'_>) -> ModelChoice {
        let provider = taken.get("provider").and_then(|node| self.text_of(node, "provider"));
        let provider = provider.and_then(|mut provider| {
            match provider.value.as_str() {
                "claude" => provider.value = "anthropic".into(),
                "mock" => {
                    self.gone(
                        provider.at,
                        "the provider `mock`, which answers by itself,",
                        "take it out, and say it at the command line, with a file that says what it answers: `nika run \
                         --provider scripted --model FILE`",
                    );
                    return None;
                }
                _ => {}
            }
            Some(provider)
        });
        let model = taken.get("model").and_then(|node| self.text_of(node, "model"));
        ModelChoice { provider, model }
    }

    /// Servers that the document would start: what starts programs is configuration, and trusted as such.
    fn servers(&mut self, node: &Node) {
        let Kind::Map(entries) = &node.kind else {
            let what = node.described();
            return self.error(
                node.at,
                format!("`mcp` takes servers by name, not {what}"),
                "write `mcp: {}`, or nothing",
            );
        };
        for (name, server) in entries {
            let whole = serde_json::json!({ "mcpServers": { name.value.clone(): server.value() } });
            self.gone(
                name.at,
                &format!("a server that the document itself starts (`mcp.{}`)", name.value),
                &format!("take it out, and put it into `.mcp.json`: {whole}"),
            );
        }
    }

    /// A text.
    fn text_of(&mut self, node: &Node, key: &str) -> Option<At<String>> {
        match &node.kind {
            Kind::Text(text) => Some(At { value: text.clone(), at: node.at }),
            _ => {
                self.shape(node, key, "text");
                None
            }
        }
    }

    /// A whole number within bounds.
    fn whole(&mut self, node: &Node, key: &str, bounds: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let number = match &node.kind {
            Kind::Number(number) => number.as_u64().filter(|number| bounds.contains(number)),
            _ => None,
        };
        if number.is_none() {
            let wanted = match *bounds.end() {
                u64::MAX => format!("a whole number from {}", bounds.start()),
                end => format!("a whole number from {} to {end}", bounds.start()),
            };
            self.shape(node, key, &wanted);
        }
        number
    }

    fn boolean(&mut self, node: &Node, key: &str) -> Option<bool> {
        match node.kind {
            Kind::Bool(value) => Some(value),
            _ => {
                self.shape(node, key, "`true` or `false`");
                None
            }
        }
    }

    fn shape(&mut self, node: &Node, key: &str, wanted: &str) {
        let message = format!("`{key}` takes {wanted}, not {}", node.described());
        self.findings.push(Finding::error(code::FLOW_SHAPE, node.at, message));
    }

    fn error(&mut self, at: Span, message: impl Into<String>, instead: &str) {
        self.findings.push(Finding::error(code::FLOW_SHAPE, at, message).suggest(instead));
    }

    /// Something that is not carried over.
    fn gone(&mut self, at: Span, what: &str, instead: &str) {
        let message = format!("{what} is not carried over from nika/workflow@{}", self.release);
        self.findings.push(Finding::error(code::FLOW_NOT_CARRIED, at, message).suggest(instead));
    }

    /// Where `raw` stands in the text that begins at `from`: its place number `nth` from there on, else `from` itself.
    fn place(&self, from: Span, raw: &str, nth: usize) -> Span {
        let lines = self.text.split('\n').enumerate().skip(from.line.saturating_sub(1));
        let mut found = lines.flat_map(|(number, line)| {
            let skip = if number + 1 == from.line { from.column.saturating_sub(1) } else { 0 };
            let start = line.char_indices().nth(skip).map_or(line.len(), |(at, _)| at);
            line[start..].match_indices(raw).map(move |(at, _)| (number + 1, line[..start + at].chars().count() + 1))
        });
        match found.nth(nth) {
            Some((line, column)) => Span { line, column, length: raw.chars().count() },
            // A text that folds lines may hold the template in other words: then its beginning has to do.
            None => from,
        }
    }
}
