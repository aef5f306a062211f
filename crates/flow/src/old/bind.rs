//! `use` of an older task: `ALIAS: "task.path ?? default"`, or `{path, default, lazy}`.

use nika_contract::code;
use nika_contract::text::near_names;
use serde_json::Value;

use super::{Reader, keys, text};
use crate::finding::Finding;
use crate::model::{At, Index, Span, Step, Use};
use crate::read::yaml::{Kind, Node};

/// Where each task stands.
pub(super) struct Ids {
    names: Vec<Option<String>>,
}

impl Ids {
    pub fn new(names: Vec<Option<String>>) -> Ids {
        Ids { names }
    }

    pub fn find(&self, name: &str) -> Option<Index> {
        self.names.iter().position(|known| known.as_deref() == Some(name))
    }
}

impl Reader<'_> {
    /// The task that `name` names.
    pub(super) fn task_named(&mut self, ids: &Ids, name: &str, at: Span) -> Option<Index> {
        let found = ids.find(name);
        if found.is_none() {
            let known: Vec<String> = ids.names.iter().flatten().cloned().collect();
            let instead = match near_names(name, known.clone(), 1).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the tasks are {}", known.join(", ")),
            };
            let finding = Finding::error(code::FLOW_UNKNOWN, at, format!("there is no task `{name}`"));
            self.findings.push(finding.suggest(instead));
        }
        found
    }

    pub(super) fn bindings(&mut self, node: &Node, ids: &Ids) -> Vec<Use> {
        let Kind::Map(entries) = &node.kind else {
            self.shape(node, "use", "names and paths");
            return Vec::new();
        };
        let mut uses: Vec<Use> = Vec::new();
        for (alias, node) in entries {
            let name = text::name(&alias.value);
            if uses.iter().any(|known| known.name.value == name) {
                let message = format!("`{}` is bound twice: names have letters, digits and `_` only", alias.value);
                self.findings.push(Finding::error(code::FLOW_NAME, alias.at, message).suggest("choose another name"));
                continue;
            }
            uses.extend(
                self.binding(alias, node, ids).map(|bound| Use { name: At { value: name, ..bound.name }, ..bound }),
            );
        }
        uses
    }

    fn binding(&mut self, alias: &At<String>, node: &Node, ids: &Ids) -> Option<Use> {
        let (said, at, default) = match &node.kind {
            Kind::Text(said) => match said.split_once("??") {
                Some((path, default)) => (path.to_owned(), node.at, Some(self.default(default.trim(), node.at)?)),
                None => (said.clone(), node.at, None),
            },
            Kind::Map(_) => {
                let taken = self.mapping(node, "a name in `use`", keys::BINDING)?;
                if let Some(lazy) = taken.get("lazy") {
                    // A value is taken when its task begins, which is as late as it can be seen.
                    self.boolean(lazy, "lazy");
                }
                let Some(path) = taken.get("path") else {
                    self.error(node.at, "`path` is missing", "write `path: task.field`");
                    return None;
                };
                let path = self.text_of(path, "path")?;
                (path.value, path.at, taken.get("default").map(Node::value))
            }
            _ => {
                self.shape(node, &alias.value, "a path such as `task.field`");
                return None;
            }
        };
        let said = said.trim();
        let Some(mut path) = text::path(said) else {
            let message = format!("`{said}` is no path");
            self.error(at, message, "write `task`, `task.field` or `task.list[0].field`");
            return None;
        };
        let task = match path.remove(0) {
            Step::Key(name) => self.task_named(ids, &name, at)?,
            Step::Index(_) => return None,
        };
        Some(Use { name: alias.clone(), task, path, default })
    }

    /// What stands behind `??`: a JSON value, or text in single quotes.
    fn default(&mut self, said: &str, at: Span) -> Option<Value> {
        if let Ok(value) = serde_json::from_str(said) {
            return Some(value);
        }
        let quoted = said.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        if quoted.is_none() || quoted.is_some_and(|text| text.contains('\'')) {
            let message = format!("`{said}` behind `??` is no value");
            self.error(
                at,
                message,
                "text is quoted there: `task.field ?? \"none\"`; numbers, lists and objects are JSON",
            );
            return None;
        }
        quoted.map(Value::from)
    }
}
