//! Values as models send them: a number or a switch may come as its text.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// An optional number, `10` or `"10"`.
pub(crate) fn number<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u32>, D::Error> {
    use serde::de::Error;
    let sent = Option::<Value>::deserialize(input)?;
    let read = match &sent {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.trim().parse().ok(),
        // Some clients have no integers: 10.0 is 10.
        Some(Value::Number(number)) => number.to_string().trim_end_matches(".0").parse().ok(),
        Some(_) => None,
    };
    read.map(Some).ok_or_else(|| D::Error::custom("takes a whole number"))
}

/// An optional switch, `true` or `"true"`.
pub(crate) fn switch<'de, D: Deserializer<'de>>(input: D) -> Result<Option<bool>, D::Error> {
    use serde::de::Error;
    match Option::<Value>::deserialize(input)? {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(value)),
        Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(_) => Err(D::Error::custom("takes true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_of_values_are_values() {
        for (sent, want) in [(json!(3), Some(3)), (json!("3"), Some(3)), (json!(3.0), Some(3)), (json!(null), None)] {
            assert_eq!(number(sent.clone()).expect("a number"), want, "{sent}");
        }
        for sent in [json!(3.5), json!(-1), json!("x"), json!([])] {
            assert!(number(sent.clone()).is_err(), "{sent}");
        }
        assert_eq!(switch(json!("True")).expect("a switch"), Some(true));
        assert!(switch(json!("yes")).is_err());
    }
}
