//! A server's form, as questions that a person can be asked one by one. Pure.

use nika_contract::{Inquiry, Offer, Replied, text};
use serde_json::{Value, json};

/// Fields of a form; one with more is no question to a person.
const MOST_FIELDS: usize = 16;
/// Characters of what a server says in a question.
const MOST_CHARS: usize = 2_000;

/// One question of a form.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// Its name; none for a form that only wants a yes.
    pub(crate) key: Option<String>,
    pub(crate) inquiry: Inquiry,
    pub(crate) required: bool,
    /// What it is when the person leaves it, where that is a value for it.
    pub(crate) default: Option<Value>,
    /// The choice to leave it, where it may be left.
    leave: Option<String>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Text,
    Whole,
    Number,
    /// Label and value.
    One(Vec<(String, Value)>),
    /// Several of these, joined by commas.
    Many(Vec<String>),
}

impl Field {
    /// Whether the reply leaves it as it is. Declining does not: who declines says nothing about any field.
    pub(crate) fn is_left(&self, reply: &Replied) -> bool {
        matches!((reply, &self.leave), (Replied::Chosen(said), Some(leave)) if said == leave)
    }

    /// The value in a reply; `None` where it is none for this field.
    pub(crate) fn read(&self, reply: &Replied) -> Option<Value> {
        let said = match reply {
            Replied::Chosen(said) | Replied::Wrote(said) => said.trim(),
            _ => return None,
        };
        match &self.kind {
            Kind::Text => Some(said.into()),
            Kind::Whole => said.parse::<i64>().ok().map(Value::from),
            Kind::Number => said.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
            Kind::One(values) => values.iter().find(|(label, _)| label == said).map(|(_, value)| value.clone()),
            Kind::Many(values) => {
                let chosen: Vec<&str> = said.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
                chosen.iter().all(|word| values.iter().any(|value| value == word)).then(|| json!(chosen))
            }
        }
    }
}

impl Kind {
    /// Whether `value` is one of its values.
    fn takes(&self, value: &Value) -> bool {
        match self {
            Kind::Text => value.is_string(),
            Kind::Whole => value.is_i64() || value.is_u64(),
            Kind::Number => value.is_number(),
            Kind::One(values) => values.iter().any(|(_, known)| known == value),
            Kind::Many(values) => value.as_array().is_some_and(|chosen| {
                chosen.iter().all(|one| one.as_str().is_some_and(|one| values.iter().any(|known| known == one)))
            }),
        }
    }

    /// A value as a person would say it.
    fn label(&self, value: &Value) -> String {
        let named = match self {
            Kind::One(values) => values.iter().find(|(_, known)| known == value).map(|(label, _)| label.clone()),
            _ => None,
        };
        named.or_else(|| value.as_str().map(str::to_owned)).unwrap_or_else(|| value.to_string())
    }
}

/// What a server says, fit to be read in a question.
fn shown(said: &str) -> String {
    let said = text::harmless(said);
    text::head_and_tail(&said, MOST_CHARS).unwrap_or_else(|| said.into_owned())
}

/// The questions of `elicitation/create`.
pub(crate) fn fields(server: &str, tool: &str, params: &Value) -> Result<Vec<Field>, &'static str> {
    let message = shown(params["message"].as_str().unwrap_or_default());
    let inquiry = |text: String, options: Vec<String>, free_text: bool| Inquiry {
        id: format!("{server}/{tool}/{text}"),
        tool: tool.to_owned(),
        name: None,
        header: Some(format!("The MCP server '{server}' asks")),
        text,
        options: options.into_iter().map(|label| Offer { label, description: None }).collect(),
        free_text,
    };
    let yes = |text: String, label: &str| Field {
        key: None,
        inquiry: inquiry(text, vec![label.to_owned()], false),
        required: true,
        default: None,
        leave: None,
        kind: Kind::One(vec![(label.to_owned(), true.into())]),
    };
    if params["mode"] == "url" {
        let url = shown(params["url"].as_str().unwrap_or_default());
        if !(url.starts_with("https://") || url.starts_with("http://")) {
            return Err("it is no address of the web");
        }
        return Ok(vec![yes(format!("{message}\n\nIt wants you to open {url}"), "I have opened it")]);
    }
    let schema = &params["requestedSchema"];
    let Some(properties) = schema["properties"].as_object() else { return Err("it has no fields") };
    if properties.len() > MOST_FIELDS {
        return Err("it has too many fields");
    }
    if properties.is_empty() {
        return Ok(vec![yes(message, "Accept")]);
    }
    let required = |key: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == key));
    let field = |(key, property): (&String, &Value)| {
        let (kind, options) = kind(property);
        let title = property["title"].as_str().unwrap_or(key);
        let mut text = format!("{message}\n\n{}", shown(title));
        if let Some(description) = property["description"].as_str() {
            text.push_str(&format!(": {}", shown(description)));
        }
        match &kind {
            Kind::Whole => text.push_str(" (a whole number)"),
            Kind::Number => text.push_str(" (a number)"),
            Kind::Many(values) => {
                text.push_str(&format!(" (some of {}, joined by commas)", shown(&values.join(", "))));
            }
            Kind::Text | Kind::One(_) => {}
        }
        let free = options.is_empty();
        let default = property.get("default").filter(|value| kind.takes(value)).cloned();
        let required = required(key);
        let leave = match &default {
            Some(default) => Some(format!("Leave it at {}", shown(&kind.label(default)))),
            None if required => None,
            None => Some("Leave it out".to_owned()),
        };
        let options = options.into_iter().chain(leave.clone()).collect();
        Field { key: Some(key.clone()), inquiry: inquiry(text, options, free), required, default, leave, kind }
    };
    Ok(properties.iter().map(field).collect())
}

/// What a field takes, and what there is to choose.
fn kind(property: &Value) -> (Kind, Vec<String>) {
    let texts = |values: &Value| -> Vec<String> {
        values.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    // Titled choices, or names beside values, as before 2025-11-25.
    let titled = |values: &Value| -> Vec<(String, Value)> {
        let row = |row: &Value| Some((shown(row["title"].as_str()?), row["const"].clone()));
        values.as_array().into_iter().flatten().filter_map(row).collect()
    };
    let one = |values: Vec<(String, Value)>| {
        let labels = values.iter().map(|(label, _)| label.clone()).collect();
        (Kind::One(values), labels)
    };
    match property["type"].as_str() {
        Some("boolean") => one(vec![("yes".into(), true.into()), ("no".into(), false.into())]),
        Some("integer") => (Kind::Whole, Vec::new()),
        Some("number") => (Kind::Number, Vec::new()),
        Some("array") => {
            let named = texts(&property["items"]["enum"]);
            let consts = property["items"]["anyOf"].as_array().into_iter().flatten();
            let all = if named.is_empty() {
                consts.filter_map(|row| row["const"].as_str()).map(str::to_owned).collect()
            } else {
                named
            };
            (Kind::Many(all), Vec::new())
        }
        _ => {
            let choices = titled(&property["oneOf"]);
            if !choices.is_empty() {
                return one(choices);
            }
            let (values, names) = (texts(&property["enum"]), texts(&property["enumNames"]));
            if values.is_empty() {
                return (Kind::Text, Vec::new());
            }
            let label = |at: usize, value: &String| shown(names.get(at).unwrap_or(value));
            one(values.iter().enumerate().map(|(at, value)| (label(at, value), value.as_str().into())).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_field_is_asked_and_read() {
        let params = json!({"message": "Who?\u{1b}[2J", "requestedSchema": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "title": "Name"},
            "age": {"type": "integer"},
            "ok": {"type": "boolean"},
            "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["small", "large"]},
            "hue": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]},
            "all": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        }}});
        let fields = fields("s", "mcp__s__t", &params).expect("a form");
        let field = |key: &str| fields.iter().find(|field| field.key.as_deref() == Some(key)).expect("it is there");
        assert_eq!(field("name").inquiry.text, "Who?␛[2J\n\nName");
        assert!(field("name").required && !field("age").required);
        let wrote = |text: &str| Replied::Wrote(text.into());
        let chosen = |text: &str| Replied::Chosen(text.into());
        for (key, reply, want) in [
            ("name", wrote(" Ada "), Some(json!("Ada"))),
            ("age", wrote("7"), Some(json!(7))),
            ("age", wrote("seven"), None),
            ("ok", chosen("no"), Some(json!(false))),
            ("size", chosen("large"), Some(json!("l"))),
            ("hue", chosen("Red"), Some(json!("r"))),
            ("hue", wrote("green"), None),
            ("all", wrote("b, a"), Some(json!(["b", "a"]))),
            ("all", wrote("c"), None),
            ("name", Replied::Nobody, None),
        ] {
            assert_eq!(field(key).read(&reply), want, "{key} {reply:?}");
        }
    }

    #[test]
    fn a_default_is_said_and_is_one_of_the_values() {
        let params = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {
            "age": {"type": "integer", "default": 30},
            "ok": {"type": "boolean", "default": true},
            "size": {"type": "string", "enum": ["s", "l"], "default": "xl"},
        }}});
        let fields = fields("s", "t", &params).expect("a form");
        let field = |key: &str| fields.iter().find(|field| field.key.as_deref() == Some(key)).expect("it is there");
        assert_eq!(field("age").default, Some(json!(30)));
        let last = |key: &str| field(key).inquiry.options.last().map(|offer| offer.label.clone()).unwrap_or_default();
        assert_eq!([last("age"), last("ok"), last("size")], ["Leave it at 30", "Leave it at yes", "Leave it out"]);
        assert!(field("age").is_left(&Replied::Chosen("Leave it at 30".into())) && field("age").inquiry.free_text);
        assert!(!field("age").is_left(&Replied::Declined { why: None }));
        assert_eq!(field("size").default, None);
    }

    #[test]
    fn the_values_of_a_list_are_cleaned_and_cut_like_all_that_a_server_says() {
        let values = ["a\u{1b}[2J".to_owned(), "x".repeat(100_000)];
        let params = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {
            "all": {"type": "array", "items": {"type": "string", "enum": values}},
        }}});
        let text = &fields("s", "t", &params).expect("a form")[0].inquiry.text;
        assert!(text.contains("some of a␛[2J, xxx") && text.chars().count() < 3_000, "{text}");
    }

    #[test]
    fn an_address_and_a_bare_yes_are_questions_too() {
        let url = |url: &str| json!({"mode": "url", "message": "Sign in", "url": url});
        let asked = fields("s", "t", &url("https://x.example/a")).expect("an address");
        assert!(asked[0].inquiry.text.contains("https://x.example/a"));
        assert!(fields("s", "t", &url("file:///etc/passwd")).is_err());
        let bare =
            fields("s", "t", &json!({"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}));
        assert_eq!(bare.expect("a yes")[0].inquiry.options[0].label, "Accept");
    }
}
