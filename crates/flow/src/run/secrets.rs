//! Values that are shown nowhere, and what stands in their place: `[secret NAME]`.
//!
//! A value is looked for as it is and in the forms that programs commonly give it: Base64 in all three alignments,
//! so that `user:VALUE` in a header is found, too; percent-encoded; escaped as JSON; in hexadecimal digits. A value
//! of fewer than four characters is left alone, as it would stand in half of all texts. This is a net for what a
//! task prints or answers by mistake, no proof: a program that wants to can write a value in a form of its own.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

/// Characters below which a value is left alone.
pub const LEAST_CHARS: usize = 4;

/// The secrets of a run.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Vec<(String, String)>,
    /// Forms, the longest first, each with what stands in its place.
    forms: Vec<(String, String)>,
}

impl Secrets {
    /// Names and values.
    pub fn new(values: Vec<(String, String)>) -> Secrets {
        let mut forms: Vec<(String, String)> = Vec::new();
        for (name, value) in &values {
            if value.chars().count() < LEAST_CHARS {
                continue;
            }
            let mark = format!("[secret {name}]");
            for form in all_forms(value) {
                if !forms.iter().any(|(known, _)| *known == form) {
                    forms.push((form, mark.clone()));
                }
            }
        }
        forms.sort_by(|one, two| two.0.len().cmp(&one.0.len()).then_with(|| one.cmp(two)));
        Secrets { values, forms }
    }

    /// The same, with more that is hidden and that templates do not know.
    pub fn hiding_also(mut self, more: &Secrets) -> Secrets {
        for form in &more.forms {
            if !self.forms.contains(form) {
                self.forms.push(form.clone());
            }
        }
        self.forms.sort_by(|one, two| two.0.len().cmp(&one.0.len()).then_with(|| one.cmp(two)));
        self
    }

    /// What hides them in a session's answers and journal.
    pub fn veil(&self) -> nika_runtime::Veil {
        let secrets = self.clone();
        std::sync::Arc::new(move |text: &str| match secrets.hide(text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(shown) => Some(shown),
        })
    }

    /// Names and values, for templates.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether nothing is to be hidden.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The text without them.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        for (form, mark) in &self.forms {
            if shown.contains(form.as_str()) {
                shown = Cow::Owned(shown.replace(form.as_str(), mark));
            }
        }
        shown
    }

    /// The value without them, names of fields included.
    pub fn hide_in(&self, value: Value) -> Value {
        if self.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(match self.hide(&text) {
                Cow::Borrowed(_) => text,
                Cow::Owned(shown) => shown,
            }),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.hide_in(item)).collect()),
            Value::Object(fields) => Value::Object(self.hide_fields(fields)),
            // A number may be a secret, too: a code of digits.
            Value::Number(number) => match self.hide(&number.to_string()) {
                Cow::Borrowed(_) => Value::Number(number),
                Cow::Owned(shown) => Value::String(shown),
            },
            other => other,
        }
    }

    /// The fields without them.
    pub fn hide_fields(&self, fields: Map<String, Value>) -> Map<String, Value> {
        if self.is_empty() {
            return fields;
        }
        fields.into_iter().map(|(name, value)| (self.hide(&name).into_owned(), self.hide_in(value))).collect()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values.iter().map(|(name, _)| name)).finish()
    }
}

fn all_forms(value: &str) -> Vec<String> {
    let bytes = value.as_bytes();
    let hex = |digits: fn(&u8) -> String| bytes.iter().map(digits).collect::<String>();
    let json = Value::String(value.to_owned()).to_string();
    let mut forms = vec![
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        hex(|byte| format!("{byte:02x}")),
        hex(|byte| format!("{byte:02X}")),
        percent(bytes, "-_.~", false),
        percent(bytes, "-_.~", true),
        // What `encodeURI` leaves as it is.
        percent(bytes, "-_.~;/?:@&=+$,#!*'()", false),
        // As forms send it.
        percent(bytes, "-_.*", false).replace("%20", "+"),
    ];
    for alphabet in [STANDARD, URL] {
        forms.extend((0..3).filter_map(|before| base64_inside(bytes, before, alphabet)));
    }
    forms.retain(|form| form.chars().count() >= LEAST_CHARS);
    forms
}

fn percent(bytes: &[u8], plain: &str, small: bool) -> String {
    let encode = |byte: &u8| match char::from(*byte) {
        c if c.is_ascii_alphanumeric() || c.is_ascii() && plain.contains(c) => c.to_string(),
        _ if small => format!("%{byte:02x}"),
        _ => format!("%{byte:02X}"),
    };
    bytes.iter().map(encode).collect()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The digits that `bytes` have in every Base64 text in which so many bytes, modulo three, stand before them: those
/// that hold bits of theirs alone. Too few of them would be found everywhere.
fn base64_inside(bytes: &[u8], before: usize, alphabet: &[u8; 64]) -> Option<String> {
    let (first, last) = ((before * 8).div_ceil(6), (before + bytes.len()) * 8 / 6);
    let bit = |at: usize| -> usize {
        let at = at - before * 8;
        usize::from(bytes[at / 8] >> (7 - at % 8) & 1)
    };
    let digit = |nth: usize| {
        let value = (nth * 6..nth * 6 + 6).fold(0, |value, at| value << 1 | bit(at));
        char::from(alphabet[value])
    };
    let text: String = (first..last).map(digit).collect();
    (text.len() >= LEAST_CHARS).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secrets() -> Secrets {
        Secrets::new(vec![("TOKEN".into(), "s3cr\"t/värde+x".into()), ("PIN".into(), "123".into())])
    }

    #[test]
    fn a_value_is_hidden_in_every_form() {
        let value = "s3cr\"t/värde+x";
        for shown in [
            value.to_owned(),
            json!({ "a": value }).to_string(),
            "733363722274".to_owned() + "2f76c3a47264652b78",
            "733363722274".to_owned() + "2F76C3A47264652B78",
            "https://x.org/?q=s3cr%22t%2Fv%C3%A4rde%2Bx".to_owned(),
            "https://x.org/?q=s3cr%22t%2fv%c3%a4rde%2bx".to_owned(),
            // Base64 of the value, of `u:VALUE` and of `us:VALUE`.
            "czNjciJ0L3bDpHJkZSt4".to_owned(),
            "Basic dTpzM2NyInQvdsOkcmRlK3g=".to_owned(),
            "Basic dXM6czNjciJ0L3bDpHJkZSt4".to_owned(),
        ] {
            let hidden = secrets().hide(&shown).into_owned();
            assert!(hidden.contains("[secret TOKEN]"), "{shown} → {hidden}");
            assert!(!hidden.contains("värde") && !hidden.contains("C3%A4"), "{hidden}");
        }
    }

    #[test]
    fn short_values_and_other_texts_stay() {
        assert_eq!(secrets().hide("123 is no secret here"), "123 is no secret here");
        assert!(matches!(secrets().hide("nothing"), Cow::Borrowed(_)));
        assert!(Secrets::default().is_empty() && format!("{:?}", secrets()) == "[\"TOKEN\", \"PIN\"]");
    }

    #[test]
    fn values_are_hidden_wherever_they_stand_in_data() {
        let secrets = Secrets::new(vec![("CODE".into(), "48151623".into())]);
        let shown = secrets.hide_in(json!({"48151623": ["x 48151623", 48151623, true]}));
        assert_eq!(shown, json!({"[secret CODE]": ["x [secret CODE]", "[secret CODE]", true]}));
    }

    #[test]
    fn the_longer_of_two_wins() {
        let secrets = Secrets::new(vec![("A".into(), "abcd".into()), ("B".into(), "abcdefgh".into())]);
        assert_eq!(secrets.hide("abcdefgh abcd"), "[secret B] [secret A]");
    }
}
