//! Values as models send them: a number or a switch may come as its text.

use serde::{Deserialize, Deserializer};

use crate::ToolError;

#[derive(Deserialize)]
#[serde(untagged)]
enum Sent<T> {
    Plain(T),
    Text(String),
}

/// An optional number, `10` or `"10"`.
pub fn number<'de, D, N>(input: D) -> Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: TryFrom<i64> + std::str::FromStr,
{
    use serde::de::Error;
    let wrong = |sent: &str| D::Error::custom(format!("'{sent}' is not a number that this takes"));
    match Option::<Sent<f64>>::deserialize(input).map_err(|_| D::Error::custom("takes a whole number"))? {
        None => Ok(None),
        Some(Sent::Text(text)) => text.trim().parse().map(Some).map_err(|_| wrong(&text)),
        // Some clients have no integers: 10.0 is 10, 10.5 is a mistake.
        Some(Sent::Plain(number)) if number.fract() == 0.0 && number.abs() < 9e15 =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            N::try_from(number as i64).map(Some).map_err(|_| wrong(&number.to_string()))
        }
        Some(Sent::Plain(number)) => Err(wrong(&number.to_string())),
    }
}

/// Refuses a bound of nothing: the next page after none would be the same one for ever.
pub fn some(name: &str, most: Option<u32>) -> Result<(), ToolError> {
    match most {
        Some(0) => Err(ToolError::argument(name, "takes at least 1, not 0").hint("leave it out for the default")),
        _ => Ok(()),
    }
}

/// A number that must be there.
pub fn needed_number<'de, D, N>(input: D) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: TryFrom<i64> + std::str::FromStr,
{
    use serde::de::Error;
    number(input)?.ok_or_else(|| D::Error::custom("takes a whole number"))
}

/// An optional switch, `true` or `"true"`.
pub fn switch<'de, D: Deserializer<'de>>(input: D) -> Result<Option<bool>, D::Error> {
    use serde::de::Error;
    match Option::<Sent<bool>>::deserialize(input).map_err(|_| D::Error::custom("takes true or false"))? {
        None => Ok(None),
        Some(Sent::Plain(value)) => Ok(Some(value)),
        Some(Sent::Text(text)) => match text.trim().to_lowercase().as_str() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(D::Error::custom(format!("'{text}' is neither true nor false"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    struct Params {
        #[serde(default, deserialize_with = "number")]
        n: Option<u32>,
        #[serde(default, deserialize_with = "switch")]
        b: Option<bool>,
    }

    #[test]
    fn texts_that_are_values_count() {
        let read = |value| serde_json::from_value::<Params>(value);
        assert_eq!(read(json!({"n": "7", "b": "true"})).map(|p| (p.n, p.b)).ok(), Some((Some(7), Some(true))));
        assert_eq!(read(json!({"n": 7.0, "b": false})).map(|p| (p.n, p.b)).ok(), Some((Some(7), Some(false))));
        assert_eq!(read(json!({})).map(|p| (p.n, p.b)).ok(), Some((None, None)));
        for bad in [
            json!({"n": -1}),
            json!({"n": 1.5}),
            json!({"n": "x"}),
            json!({"n": []}),
            json!({"b": 1}),
            json!({"b": "yes"}),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }
}
