//! What a server says beside a 401 or 403: the `WWW-Authenticate` header (RFC 9110, 6750 and 9728). Pure.

/// What a server wants before it answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where its metadata are.
    pub resource_metadata: Option<String>,
    /// Which rights the call needs.
    pub scopes: Vec<String>,
    /// `invalid_token`, `insufficient_scope` and the like.
    pub error: Option<String>,
}

impl Challenge {
    /// Reads the values of all headers of one answer. A scheme that is not ours says nothing.
    pub fn read<'a>(values: impl IntoIterator<Item = &'a str>) -> Challenge {
        let mut read = Challenge::default();
        for (scheme, parameters) in values.into_iter().flat_map(schemes) {
            if !scheme.eq_ignore_ascii_case("bearer") {
                continue;
            }
            for (name, value) in parameters {
                match name.to_ascii_lowercase().as_str() {
                    "resource_metadata" if read.resource_metadata.is_none() => read.resource_metadata = Some(value),
                    "scope" if read.scopes.is_empty() => read.scopes = scopes(&value),
                    "error" if read.error.is_none() => read.error = Some(value),
                    _ => {}
                }
            }
        }
        read
    }
}

/// The names of a `scope` parameter. What no scope can hold is dropped.
pub(crate) fn scopes(text: &str) -> Vec<String> {
    let allowed = |c: char| matches!(c, '\x21' | '\x23'..='\x5b' | '\x5d'..='\x7e');
    let mut scopes: Vec<String> = Vec::new();
    for scope in text.split(' ').filter(|scope| !scope.is_empty() && scope.chars().all(allowed)) {
        if !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

type Scheme = (String, Vec<(String, String)>);

/// `Bearer a="1", b=2, Basic realm="x"` as its schemes.
fn schemes(header: &str) -> Vec<Scheme> {
    let mut found: Vec<Scheme> = Vec::new();
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '=' | '"')).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.is_empty() {
            // A quote or an equals sign where a name belongs: passed over, so that the end is reached.
            match after.chars().next() {
                Some(c) => rest = &after[c.len_utf8()..],
                None => return found,
            }
            continue;
        }
        let after_space = after.trim_start_matches([' ', '\t']);
        match (after_space.strip_prefix('='), found.last_mut()) {
            (Some(value), Some((_, parameters))) => {
                let (value, left) = value_of(value.trim_start_matches([' ', '\t']));
                parameters.push((word.to_owned(), value));
                rest = left;
            }
            (Some(value), None) => rest = value,
            (None, _) => {
                found.push((word.to_owned(), Vec::new()));
                rest = after_space;
            }
        }
    }
}

fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            _ if escaped => {
                value.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return (value, &quoted[at + 1..]),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_wants_is_read() {
        let read = Challenge::read([
            r#"Basic realm="a, b""#,
            r#"Bearer error="insufficient_scope", scope="files:read  files:write", resource_metadata="https://a.example/m?x=\"1\"""#,
        ]);
        assert_eq!(read.resource_metadata.as_deref(), Some("https://a.example/m?x=\"1\""));
        assert_eq!(read.scopes, ["files:read", "files:write"]);
        assert_eq!(read.error.as_deref(), Some("insufficient_scope"));
        let one = Challenge::read([r#"Digest nonce=abc, bearer scope=x, Basic realm="scope=\"y\"""#]);
        assert_eq!(one.scopes, ["x"]);
        assert_eq!(Challenge::read(["Basic scope=\"no\"", "Bearer"]), Challenge::default());
    }

    #[test]
    fn a_scope_holds_nothing_that_leaves_its_parameter() {
        assert_eq!(scopes("a \"b c\\d é e a"), ["a", "e"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_an_end(text in ".{0,80}") {
            let _ = Challenge::read([text.as_str()]);
        }
    }
}
