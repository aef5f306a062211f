//! Schemas that must reach the client exactly as they are, and the tool that has one of them.

use nika_contract::{AnyTool, Erased, Prepared, Spec, ToolError};
use serde_json::{Value, json};

/// A tool whose schema is not derived but given.
#[derive(Debug)]
pub(super) struct Verbatim {
    pub tool: Box<dyn AnyTool>,
    pub schema: Value,
}

impl Verbatim {
    /// `tool` with `schema`.
    pub fn boxed<T: nika_contract::Tool>(tool: T, schema: Value) -> Box<dyn AnyTool> {
        Box::new(Verbatim { tool: Erased::boxed(tool), schema })
    }
}

impl AnyTool for Verbatim {
    fn spec(&self) -> &'static Spec {
        self.tool.spec()
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn output_schema(&self) -> Option<&Value> {
        None
    }

    fn parse(&self, arguments: Value) -> Result<Box<dyn Prepared + '_>, ToolError> {
        self.tool.parse(arguments)
    }
}

/// What JSON Schema 2020-12 has and older drafts have not.
pub(super) fn draft_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

/// A parameter that a header repeats.
pub(super) fn mirrored_in_header() -> Value {
    json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
    })
}

/// A form with two fields of text.
pub(super) fn user_form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    })
}

/// A form with a default for each primitive type.
pub(super) fn defaults_form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "Name", "default": "John Doe" },
            "age": { "type": "integer", "description": "Age", "default": 30 },
            "score": { "type": "number", "description": "Score", "default": 95.5 },
            "status": {
                "type": "string",
                "description": "Status",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": { "type": "boolean", "description": "Verified", "default": true },
        },
        "required": [],
    })
}

/// A form with each way to write a choice.
pub(super) fn enums_form() -> Value {
    let titled = |titles: &[(&str, &str)]| -> Vec<Value> {
        titles.iter().map(|(value, title)| json!({ "const": value, "title": title })).collect()
    };
    let values = [("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")];
    let choices = [("value1", "First Choice"), ("value2", "Second Choice"), ("value3", "Third Choice")];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
            "titledSingle": { "type": "string", "oneOf": titled(&values) },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {
                "type": "array",
                "items": { "type": "string", "enum": ["option1", "option2", "option3"] },
            },
            "titledMulti": { "type": "array", "items": { "anyOf": titled(&choices) } },
        },
        "required": [],
    })
}
