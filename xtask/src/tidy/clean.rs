//! Rust source without its comments and the insides of its strings, line for line, so that words are looked for in
//! code only. Not a parser: it knows comments, strings, characters and lifetimes, and nothing else.

/// The same number of lines; what is not code is blanks, and a string is `""`.
pub(super) fn clean(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let next = chars.get(at + 1).copied();
        match chars[at] {
            '/' if next == Some('/') => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
            }
            '/' if next == Some('*') => at = block_comment(&chars, at, &mut out),
            '"' => at = string(&chars, at + 1, None, &mut out),
            'r' if !after_word(&chars, at) && raw_hashes(&chars, at).is_some() => {
                let hashes = raw_hashes(&chars, at).unwrap_or(0);
                at = string(&chars, at + 2 + hashes, Some(hashes), &mut out);
            }
            '\'' if next == Some('\\') => {
                at += 3;
                while at < chars.len() && chars[at] != '\'' {
                    at += 1;
                }
                at += 1;
                out.push_str("' '");
            }
            '\'' if chars.get(at + 2) == Some(&'\'') => {
                at += 3;
                out.push_str("' '");
            }
            other => {
                out.push(other);
                at += 1;
            }
        }
    }
    out
}

fn after_word(chars: &[char], at: usize) -> bool {
    // `br"` and `cr"` are raw strings too; their first letter stays behind as a word of one letter.
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_') && !matches!(chars[at - 1], 'b' | 'c')
}

/// The number of `#` of a raw string that begins at `at`, if one does.
fn raw_hashes(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    (chars.get(at + 1 + hashes) == Some(&'"')).then_some(hashes)
}

fn block_comment(chars: &[char], mut at: usize, out: &mut String) -> usize {
    let mut depth = 0;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) if depth == 1 => return at + 2,
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            ('\n', _) => {
                out.push('\n');
                at += 1;
            }
            _ => at += 1,
        }
    }
    at
}

/// Skips a string from behind its opening quote; keeps its line ends.
fn string(chars: &[char], mut at: usize, raw: Option<usize>, out: &mut String) -> usize {
    out.push('"');
    let mut lines = 0;
    while at < chars.len() {
        match (chars[at], raw) {
            ('\\', None) => {
                lines += usize::from(chars.get(at + 1) == Some(&'\n'));
                at += 1;
            }
            ('"', None) => break,
            ('"', Some(hashes)) if chars[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes => {
                at += hashes;
                break;
            }
            ('\n', _) => lines += 1,
            _ => {}
        }
        at += 1;
    }
    out.push('"');
    out.extend(std::iter::repeat_n('\n', lines));
    at + 1
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn only_code_is_left_and_lines_keep_their_numbers() {
        let source = "a(\"x // y\"); // println!\n/* one\n/* two */ */ b('\\'', '\"', 'c');\nlet s: &'static str = r#\"no \" \nyes\"#; d\n";
        let left = clean(source);
        assert_eq!(left, "a(\"\"); \n\n b(' ', ' ', ' ');\nlet s: &'static str = \"\"\n; d\n");
        assert_eq!(left.lines().count(), source.lines().count());
    }
}
