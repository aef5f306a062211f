//! Arguments as models send them: ids, statuses and priorities by their many names, items of two dialects.

use nika_store::tasks::{Priority, Status, TaskId};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusWord {
    #[serde(alias = "created", alias = "open", alias = "todo")]
    Pending,
    #[serde(alias = "running", alias = "in-progress", alias = "inProgress")]
    InProgress,
    Blocked,
    #[serde(alias = "done", alias = "complete")]
    Completed,
    #[serde(alias = "canceled", alias = "stopped")]
    Cancelled,
    Failed,
}

impl From<StatusWord> for Status {
    fn from(word: StatusWord) -> Status {
        match word {
            StatusWord::Pending => Status::Pending,
            StatusWord::InProgress => Status::InProgress,
            StatusWord::Blocked => Status::Blocked,
            StatusWord::Completed => Status::Completed,
            StatusWord::Cancelled => Status::Cancelled,
            StatusWord::Failed => Status::Failed,
        }
    }
}

/// Where it is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AimWord {
    #[serde(alias = "created", alias = "open", alias = "todo")]
    Pending,
    #[serde(alias = "running", alias = "in-progress", alias = "inProgress")]
    InProgress,
    Blocked,
    #[serde(alias = "done", alias = "complete")]
    Completed,
    #[serde(alias = "canceled", alias = "stopped")]
    Cancelled,
}

impl From<AimWord> for Status {
    fn from(word: AimWord) -> Status {
        match word {
            AimWord::Pending => Status::Pending,
            AimWord::InProgress => Status::InProgress,
            AimWord::Blocked => Status::Blocked,
            AimWord::Completed => Status::Completed,
            AimWord::Cancelled => Status::Cancelled,
        }
    }
}

/// How soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PriorityWord {
    #[serde(alias = "critical", alias = "highest")]
    Urgent,
    High,
    #[serde(alias = "medium")]
    Normal,
    #[serde(alias = "lowest")]
    Low,
}

impl From<PriorityWord> for Priority {
    fn from(word: PriorityWord) -> Priority {
        match word {
            PriorityWord::Urgent => Priority::Urgent,
            PriorityWord::High => Priority::High,
            PriorityWord::Normal => Priority::Normal,
            PriorityWord::Low => Priority::Low,
        }
    }
}

/// A task id: `"t7"`, `"7"` or 7.
pub(super) fn id<'de, D: Deserializer<'de>>(input: D) -> Result<TaskId, D::Error> {
    match Value::deserialize(input)? {
        Value::String(text) => text.parse().map_err(D::Error::custom),
        Value::Number(number) => number.to_string().parse().map_err(D::Error::custom),
        _ => Err(D::Error::custom("takes a task id such as t7")),
    }
}

/// The id of a task to be made. Numbers alone: rows are counted, and what people call one is its title.
pub(super) fn some_id<'de, D: Deserializer<'de>>(input: D) -> Result<Option<TaskId>, D::Error> {
    let text = match Value::deserialize(input)? {
        Value::Null => return Ok(None),
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        _ => return Err(D::Error::custom("takes a task id such as t40")),
    };
    let plain = text.trim();
    // `task_7`, as programs count them that write the whole word.
    let digits = plain.strip_prefix("task").map_or(plain, |rest| rest.trim_start_matches(['_', '-']));
    digits.parse().map(Some).map_err(|_| {
        D::Error::custom(format!("'{text}' is no task id; one looks like t40, and a name belongs into `title`"))
    })
}

/// Several task ids: a list, one alone, or a text with commas.
pub(super) fn ids<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<TaskId>, D::Error> {
    let texts = texts(input)?;
    texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

/// Several texts: a list, one alone, or a text with commas; numbers count as texts.
pub(super) fn texts<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    let values = match Value::deserialize(input)? {
        Value::Null => Vec::new(),
        Value::Array(values) => values,
        Value::String(text) => text.split(',').map(|piece| piece.trim().into()).collect(),
        one => vec![one],
    };
    let text = |value: Value| match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(D::Error::custom("takes a list of texts")),
    };
    values.into_iter().filter(|value| *value != "").map(text).collect()
}

/// A list of items; one that is a text stands for an item with nothing but its words, in the field `words`.
pub(super) fn items<'de, D: Deserializer<'de>, T: DeserializeOwned>(input: D, words: &str) -> Result<Vec<T>, D::Error> {
    let whole = |value: Value| match value {
        // Some models send a list as its text.
        Value::String(text) => serde_json::from_str(&text).map_err(|_| D::Error::custom("takes a list")),
        value => Ok(value),
    };
    let Value::Array(values) = whole(Value::deserialize(input)?)? else {
        return Err(D::Error::custom("takes a list"));
    };
    let item = |(at, value): (usize, Value)| {
        let value = match value {
            Value::String(text) => Value::Object([(words.to_owned(), text.into())].into_iter().collect()),
            value => value,
        };
        serde_json::from_value(value).map_err(|error| D::Error::custom(format!("item {}: {error}", at + 1)))
    };
    values.into_iter().enumerate().map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Params {
        #[serde(default, deserialize_with = "ids")]
        ids: Vec<TaskId>,
        #[serde(default, deserialize_with = "texts")]
        texts: Vec<String>,
        #[serde(default)]
        status: Option<AimWord>,
        #[serde(default)]
        priority: Option<PriorityWord>,
    }

    #[test]
    fn what_models_send_counts() {
        let read = |value| serde_json::from_value::<Params>(value);
        let some = vec![TaskId(1), TaskId(2)];
        for ids in [json!(["t1", "t2"]), json!("t1, t2"), json!([1, "#2"])] {
            assert_eq!(read(json!({"ids": ids})).ok().map(|p| p.ids), Some(some.clone()), "{ids}");
        }
        assert_eq!(read(json!({"ids": 3})).ok().map(|p| p.ids), Some(vec![TaskId(3)]));
        assert_eq!(read(json!({"ids": null, "texts": ""})).ok().map(|p| (p.ids, p.texts)), Some((vec![], vec![])));
        assert_eq!(read(json!({"texts": [1, "a b"]})).ok().map(|p| p.texts), Some(vec!["1".into(), "a b".into()]));
        let many = read(json!({"status": "running", "priority": "critical"})).ok();
        assert_eq!(many.map(|p| (p.status, p.priority)), Some((Some(AimWord::InProgress), Some(PriorityWord::Urgent))));
        for bad in [json!({"ids": "x"}), json!({"ids": [{}]}), json!({"status": "failed"}), json!({"priority": "soon"})]
        {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }
}
