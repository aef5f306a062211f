//! The tasks of an older document: ids, order, bindings and loops.

use nika_contract::code;

use super::Reader;
use super::bind::Ids;
use super::keys::{self, Taken};
use super::text::{self, Known, Piece, Root};
use crate::finding::Finding;
use crate::model::{At, Dynamic, ForEach, Index, OnError, Retry, Task, Template};
use crate::read::yaml::{Kind, Node};

/// What an element is called when nothing is said.
const ITEM: &str = "item";
/// Names that templates of today have already.
const TAKEN: &[&str] =
    &["use", "inputs", "secrets", "env", "tasks", "loop", "true", "false", "none", "not", "and", "or"];

impl Reader<'_> {
    pub(super) fn tasks(&mut self, node: &Node, flows: Option<&Node>) -> Vec<Task> {
        let Kind::List(nodes) = &node.kind else {
            self.shape(node, "tasks", "a list of tasks");
            return Vec::new();
        };
        if nodes.is_empty() {
            self.error(node.at, "`tasks` is empty", "a workflow has at least one task");
        }
        let taken: Vec<Option<Taken<'_>>> = nodes.iter().map(|node| self.mapping(node, "a task", keys::TASK)).collect();
        let mut seen: Vec<At<String>> = Vec::new();
        let names: Vec<Option<At<String>>> = taken
            .iter()
            .zip(nodes)
            .map(|(taken, node)| taken.as_ref().and_then(|taken| self.id(taken, node, &mut seen)))
            .collect();
        let ids = Ids::new(names.iter().map(|name| name.as_ref().map(|name| name.value.clone())).collect());
        let edges = flows.map_or_else(Vec::new, |flows| self.edges(flows, &ids));
        let mut tasks = Vec::new();
        for (at, (taken, id)) in taken.iter().zip(names).enumerate() {
            let (Some(taken), Some(id)) = (taken, id) else { continue };
            let before = edges.iter().filter(|(_, target)| *target == at).map(|(source, _)| *source).collect();
            tasks.extend(self.task(taken, id, &ids, before));
        }
        tasks
    }

    fn id(&mut self, taken: &Taken<'_>, node: &Node, seen: &mut Vec<At<String>>) -> Option<At<String>> {
        let Some(id) = taken.get("id") else {
            self.error(node.at, "`id` is missing", "each task has an `id` of its own: `id: build`");
            return None;
        };
        let id = self.text_of(id, "id")?;
        let fits = id.value.starts_with(|c: char| c.is_ascii_lowercase())
            && id.value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !fits {
            let message = format!("`{}` cannot be an id here", id.value);
            let instead = "a lower-case letter, then lower-case letters, digits and `_`; nika/workflow@1 takes more";
            self.findings.push(Finding::error(code::FLOW_NAME, id.at, message).suggest(instead));
            return None;
        }
        if let Some(first) = seen.iter().find(|known| known.value == id.value) {
            let message = format!("two tasks are called `{}`; the first stands in line {}", id.value, first.at.line);
            self.findings.push(Finding::error(code::FLOW_NAME, id.at, message));
            return None;
        }
        seen.push(id.clone());
        Some(id)
    }

    /// `flows`, as pairs of tasks: the first ends before the second begins.
    fn edges(&mut self, node: &Node, ids: &Ids) -> Vec<(Index, Index)> {
        let Kind::List(entries) = &node.kind else {
            self.shape(node, "flows", "a list of `{source, target}`");
            return Vec::new();
        };
        let mut edges = Vec::new();
        for entry in entries {
            let Some(taken) = self.mapping(entry, "an entry of `flows`", keys::FLOWS) else { continue };
            let (Some(source), Some(target)) = (taken.get("source"), taken.get("target")) else {
                self.error(entry.at, "an entry of `flows` has `source` and `target`", "write `{source: a, target: b}`");
                continue;
            };
            let source = self.text_of(source, "source").and_then(|name| self.task_named(ids, &name.value, name.at));
            let targets = self.names(target, "target", ids);
            edges.extend(source.into_iter().flat_map(|source| targets.iter().map(move |target| (source, *target))));
        }
        edges
    }

    /// One task, or a list of them.
    fn names(&mut self, node: &Node, key: &str, ids: &Ids) -> Vec<Index> {
        let nodes = match &node.kind {
            Kind::List(nodes) => nodes.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let texts: Vec<At<String>> = nodes.iter().filter_map(|node| self.text_of(node, key)).collect();
        texts.iter().filter_map(|name| self.task_named(ids, &name.value, name.at)).collect()
    }

    fn task(&mut self, taken: &Taken<'_>, id: At<String>, ids: &Ids, mut after: Vec<Index>) -> Option<Task> {
        if let Some(node) = taken.get("depends_on") {
            after.extend(self.names(node, "depends_on", ids));
        }
        let uses = taken.get("use").map_or_else(Vec::new, |node| self.bindings(node, ids));
        after.extend(uses.iter().map(|bound| bound.task));
        after.sort_unstable();
        after.dedup();

        // A binding that cannot be read is said once, not again in each template that names it.
        let aliases: Vec<String> = match taken.get("use").map(|node| &node.kind) {
            Some(Kind::Map(entries)) => entries.iter().map(|(alias, _)| alias.value.clone()).collect(),
            _ => Vec::new(),
        };
        let for_each = self.for_each(taken, &aliases);
        let item = taken.get("for_each").map(|_| for_each.as_ref().map_or(ITEM, |each| each.name.as_str()));
        let known = Known { uses: &aliases, item };
        let verb = self.verb(taken, &id, &known)?;
        let description = taken.get("description").and_then(|node| self.text_of(node, "description"));
        Some(Task {
            timeout: verb.default_timeout(),
            id,
            description: description.map(|text| text.value),
            verb,
            after,
            uses,
            for_each,
            when: None,
            retry: Retry::default(),
            on_error: OnError::Fail,
        })
    }

    fn for_each(&mut self, taken: &Taken<'_>, aliases: &[String]) -> Option<ForEach> {
        let name = taken.get("as").and_then(|node| self.text_of(node, "as"));
        let concurrency = taken.get("concurrency").and_then(|node| self.whole(node, "concurrency", 1..=1000));
        let fail_fast = taken.get("fail_fast").and_then(|node| self.boolean(node, "fail_fast"));
        let Some(node) = taken.get("for_each") else {
            for key in ["as", "concurrency", "fail_fast"] {
                if let Some((key, _)) = taken.entry(key) {
                    let message = format!("`{}` does nothing without `for_each`", key.value);
                    self.error(key.at, message, "write `for_each`, or take it out");
                }
            }
            return None;
        };
        if let Some(name) = &name {
            let fits = name.value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !fits || TAKEN.contains(&name.value.as_str()) {
                let message = format!("`{}` cannot be what an element is called", name.value);
                let instead = format!("a letter or `_`, then letters, digits and `_`; none of {}", TAKEN.join(", "));
                self.findings.push(Finding::error(code::FLOW_NAME, name.at, message).suggest(instead));
            }
        }
        let known = Known { uses: aliases, item: None };
        let items = match &node.kind {
            Kind::Text(said) => Dynamic::Text(self.list(said, node, &known)?),
            Kind::List(_) => self.dynamic(node, &known)?,
            _ => {
                self.shape(node, "for_each", "a list, `{{use.ALIAS}}` or `$ALIAS`");
                return None;
            }
        };
        Some(ForEach {
            items,
            name: name.map_or_else(|| ITEM.to_owned(), |name| name.value),
            concurrency: concurrency.and_then(|number| usize::try_from(number).ok()).unwrap_or(1),
            fail_fast: fail_fast.unwrap_or(true),
        })
    }

    /// `{{use.x}}` or `$x`: the value of one template.
    fn list(&mut self, said: &str, node: &Node, known: &Known<'_>) -> Option<Template> {
        let template = match said.trim().strip_prefix('$') {
            Some(path) => format!("{{{{use.{}}}}}", path.strip_prefix("use.").unwrap_or(path)),
            None => said.trim().to_owned(),
        };
        let pieces = self.pieces(&template, node, known)?;
        match pieces.as_slice() {
            [Piece::Value(value)] if matches!(value.root, Root::Use(_)) => {
                Some(Template { text: text::today(&pieces), at: node.at })
            }
            _ => {
                let message = format!("`for_each` takes one list, and '{said}' is text");
                self.error(node.at, message, "write a list, `{{use.ALIAS}}` or `$ALIAS`");
                None
            }
        }
    }
}
