//! Templates, read with what a run knows.

use nika_contract::{ToolError, code};
use serde_json::Value;

use super::action::{Render, Scope};
use crate::model::{Dynamic, Template};
use crate::template::{DataError, Templates};

impl Render for Templates {
    fn text(&self, template: &Template, scope: &Scope) -> Result<String, ToolError> {
        self.render_text(template, scope).map_err(wrong)
    }

    fn value(&self, dynamic: &Dynamic, scope: &Scope) -> Result<Value, ToolError> {
        self.render(dynamic, scope).map_err(wrong)
    }

    fn truth(&self, template: &Template, scope: &Scope) -> Result<bool, ToolError> {
        Templates::truth(self, template, scope).map_err(wrong)
    }
}

fn wrong(error: DataError) -> ToolError {
    let message = format!("line {}: {}", error.at.line, error.message);
    ToolError::new(code::RUN_DATA, message)
        .hint("`a ?? b` is b where a is not there; `nika trace show` has the outputs")
}
