//! The short form of `use`: `task.path ?? default`.

use serde_json::Value;

use crate::model::Step;

/// Steps of a path: none is longer in practice, and each is looked up in a value.
const MAX_STEPS: usize = 64;

/// A task, the steps into its output, and what stands instead where they lead nowhere.
#[derive(Debug, PartialEq)]
pub(crate) struct Binding {
    pub task: String,
    pub path: Vec<Step>,
    pub default: Option<Value>,
}

/// Reads `task.path ?? default`. What is wrong comes back in words.
pub(crate) fn binding(text: &str) -> Result<Binding, String> {
    let (path, default) = match text.split_once("??") {
        Some((path, default)) => (path, Some(literal(default.trim())?)),
        None => (text, None),
    };
    let (task, path) = steps(path.trim())?;
    Ok(Binding { task, path, default })
}

/// A value as it is written after `??`: JSON, or a text in single quotes.
fn literal(text: &str) -> Result<Value, String> {
    if let Some(inner) = text.strip_prefix('\'') {
        return match inner.strip_suffix('\'') {
            Some(inner) if !inner.contains('\'') => Ok(Value::String(inner.to_owned())),
            _ => Err(format!("the text {text} does not end at its second quote")),
        };
    }
    if text == "none" || text == "None" {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|_| match text {
        "" => "nothing stands behind `??`".to_owned(),
        text => format!("behind `??` stands a value, and `{text}` is none; a text is quoted: '{text}'"),
    })
}

/// Reads `task.key[0].key`.
pub(crate) fn steps(text: &str) -> Result<(String, Vec<Step>), String> {
    let text = text.strip_prefix('$').unwrap_or(text);
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (task, mut rest) = text.split_at(end);
    if !super::is_id(task) {
        return Err(match task {
            "" => "a path begins with the id of a task: `task.key`".to_owned(),
            task => format!("`{task}` cannot be the id of a task; write `task`, `task.key` or `task.list[0]`"),
        });
    }
    let mut path = Vec::new();
    while !rest.is_empty() {
        let (step, after) = if let Some(inner) = rest.strip_prefix('[') {
            let (inner, after) = inner.split_once(']').ok_or_else(|| format!("`{rest}` has no `]`"))?;
            let quoted = ['\'', '"'].iter().find_map(|quote| inner.strip_prefix(*quote)?.strip_suffix(*quote));
            let step = match (quoted, inner.parse()) {
                (Some(key), _) => Step::Key(key.to_owned()),
                (None, Ok(index)) => Step::Index(index),
                (None, Err(_)) => return Err(format!("`[{inner}]` is no step; write `[0]` or `.key`")),
            };
            (step, after)
        } else {
            let inner = &rest[1..];
            let end = inner.find(['.', '[']).unwrap_or(inner.len());
            let (key, after) = inner.split_at(end);
            if !rest.starts_with('.') || key.is_empty() || key.contains(char::is_whitespace) {
                return Err(format!("`{rest}` is no step; write `.key` or `[0]`"));
            }
            (key.parse().map_or_else(|_| Step::Key(key.to_owned()), Step::Index), after)
        };
        path.push(step);
        rest = after;
        if path.len() > MAX_STEPS {
            return Err(format!("the path has more than {MAX_STEPS} steps"));
        }
    }
    Ok((task.to_owned(), path))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_has_keys_and_places() {
        let key = |name: &str| Step::Key(name.to_owned());
        for (text, task, path, default) in [
            ("find", "find", vec![], None),
            ("find.total", "find", vec![key("total")], None),
            ("find.files[0].path", "find", vec![key("files"), Step::Index(0), key("path")], None),
            ("find.files.0", "find", vec![key("files"), Step::Index(0)], None),
            ("my-task['a b']", "my-task", vec![key("a b")], None),
            ("a ?? 'none'", "a", vec![], Some(json!("none"))),
            ("a.b ?? [1, {\"x\": null}]", "a", vec![key("b")], Some(json!([1, {"x": null}]))),
            ("a ?? \"is it ?? really\"", "a", vec![], Some(json!("is it ?? really"))),
        ] {
            let read = binding(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(read, Binding { task: task.to_owned(), path, default }, "{text}");
        }
    }

    #[test]
    fn what_is_no_path_is_said() {
        for (text, why) in [
            ("", "begins with the id"),
            (".a", "begins with the id"),
            ("1a", "cannot be the id"),
            ("a..b", "is no step"),
            ("a[x]", "is no step"),
            ("a[0", "has no `]`"),
            ("a.b c", "is no step"),
            ("a ??", "nothing stands behind"),
            ("a ?? none given", "a text is quoted: 'none given'"),
            ("a ?? 'it's'", "second quote"),
            ("{{ a }}", "cannot be the id"),
        ] {
            let said = binding(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
        assert!(steps(&format!("a{}", ".b".repeat(100))).is_err());
    }
}
