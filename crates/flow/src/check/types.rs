//! What is known of a value before anything runs.

use nika_contract::fit::Part;
use serde_json::Value;

/// What is known of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    /// Nothing.
    Unknown,
    Null,
    Bool,
    Number,
    Text,
    /// Of elements of one type.
    List(Box<Type>),
    /// Names and values; `open` where there may be more of them.
    Object {
        fields: Vec<(String, Type)>,
        open: bool,
    },
}

impl Type {
    /// Of a value that is written.
    pub fn of(value: &Value) -> Type {
        match value {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Number(_) => Type::Number,
            Value::String(_) => Type::Text,
            Value::Array(items) => {
                let of = items.iter().map(Type::of).reduce(Type::or).unwrap_or(Type::Unknown);
                Type::List(Box::new(of))
            }
            Value::Object(entries) => Type::Object {
                fields: entries.iter().map(|(name, value)| (name.clone(), Type::of(value))).collect(),
                open: false,
            },
        }
    }

    /// Of what fits a schema. `closed`: it has no names but those of the schema, as its maker wrote the schema from it.
    pub fn of_schema(schema: &Value, closed: bool) -> Type {
        let kind = match schema.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            // `["string", "null"]` may be nothing: nothing is sure.
            _ => return Type::Unknown,
        };
        match kind {
            "boolean" => Type::Bool,
            "number" | "integer" => Type::Number,
            "string" => Type::Text,
            "null" => Type::Null,
            "array" => {
                let items = schema.get("items").map_or(Type::Unknown, |items| Type::of_schema(items, closed));
                Type::List(Box::new(items))
            }
            "object" => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let shut = match schema.get("additionalProperties") {
                    None => closed && properties.is_some_and(|properties| !properties.is_empty()),
                    Some(more) => *more == Value::Bool(false),
                };
                let mixed = ["oneOf", "anyOf", "allOf", "patternProperties", "$ref"]
                    .iter()
                    .any(|key| schema.get(*key).is_some());
                let fields = properties.into_iter().flatten();
                let fields = fields.map(|(name, schema)| (name.clone(), Type::of_schema(schema, closed))).collect();
                Type::Object { fields, open: !shut || mixed }
            }
            _ => Type::Unknown,
        }
    }

    /// Of what may be this or that.
    pub fn or(self, other: Type) -> Type {
        match (self, other) {
            (one, two) if one == two => one,
            (Type::List(one), Type::List(two)) => Type::List(Box::new(one.or(*two))),
            _ => Type::Unknown,
        }
    }

    /// Of an element.
    pub fn element(&self) -> Type {
        match self {
            Type::List(of) => (**of).clone(),
            _ => Type::Unknown,
        }
    }

    /// What a schema can be told of it.
    pub fn part(&self) -> Part<'static> {
        Part::Open(match self {
            Type::Unknown => &[],
            Type::Null => &["null"],
            Type::Bool => &["boolean"],
            Type::Number => &["number"],
            Type::Text => &["string"],
            Type::List(_) => &["array"],
            Type::Object { .. } => &["object"],
        })
    }

    /// As findings name it.
    pub fn name(&self) -> &'static str {
        match self {
            Type::Unknown => "unknown",
            Type::Null => "nothing",
            Type::Bool => "true or false",
            Type::Number => "a number",
            Type::Text => "text",
            Type::List(_) => "a list",
            Type::Object { .. } => "an object",
        }
    }
}
