//! Templates, read with what a run knows.

use nika_contract::{ToolError, code};
use serde_json::Value;

use super::action::{Render, Scope};
use crate::model::{Dynamic, Template};
use crate::template::{Context, DataError, Templates};

/// The roots of names in templates; whatever else a scope holds is an element of a loop.
const ROOTS: &[&str] = &["inputs", "use", "secrets", "env", "tasks"];

impl Render for Templates {
    fn text(&self, template: &Template, scope: &Scope) -> Result<String, ToolError> {
        self.render_text(template, &context(scope)).map_err(wrong)
    }

    fn value(&self, dynamic: &Dynamic, scope: &Scope) -> Result<Value, ToolError> {
        self.render(dynamic, &context(scope)).map_err(wrong)
    }

    fn truth(&self, template: &Template, scope: &Scope) -> Result<bool, ToolError> {
        Templates::truth(self, template, &context(scope)).map_err(wrong)
    }
}

fn context(scope: &Scope) -> Context {
    let mut context = Context::new();
    for (name, value) in scope {
        match value {
            Value::Object(fields) if ROOTS.contains(&name.as_str()) => {
                context.root(name);
                fields.iter().for_each(|(field, value)| context.put(name, field, value));
            }
            value => context.element(name, value),
        }
    }
    context
}

fn wrong(error: DataError) -> ToolError {
    let message = format!("line {}: {}", error.at.line, error.message);
    ToolError::new(code::RUN_DATA, message)
        .hint("`a ?? b` is b where a is not there; `nika trace show` has the outputs")
}
