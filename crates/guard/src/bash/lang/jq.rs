//! Whether a jq program stays inside its input.
//!
//! jq cannot run commands and cannot write. What it can do is load modules and data files by name, so
//! the program is cut into tokens and its keywords are looked at: in strings, in the code inside
//! strings, and not in comments or field names.

/// Names that lead outside of the input, and where. `system` is of no jq, but of programs like it.
const OUTSIDE: [(&str, &str); 8] = [
    ("import", "it loads a module or a data file"),
    ("include", "it loads a module"),
    ("modulemeta", "it reads a module"),
    ("get_search_list", "it tells where modules lie"),
    ("system", "it calls `system`, which runs commands"),
    ("exec", "it calls `exec`, which runs commands"),
    ("load", "it loads a file"),
    ("spawn", "it calls `spawn`, which runs commands"),
];

/// Most levels of code inside strings.
const DEPTH: usize = 16;

/// Reads a program; the error says why it cannot be said to stay inside.
pub fn analyse(program: &str) -> Result<(), String> {
    let text: Vec<char> = program.chars().collect();
    // Open brackets inside each string that holds code; the last belongs to where we are.
    let mut levels: Vec<usize> = vec![0];
    let mut at = 0;
    let mut before = None;
    while let Some(c) = text.get(at).copied() {
        let start = at;
        at += 1;
        match c {
            _ if c.is_whitespace() => continue,
            '"' => at = string(&text, at, &mut levels)?,
            '#' => at = comment(&text, at)?,
            '(' => count(&mut levels, |open| open + 1),
            ')' if levels.len() > 1 && levels.last() == Some(&0) => {
                levels.pop();
                at = string(&text, at, &mut levels)?;
            }
            ')' => count(&mut levels, |open| open.saturating_sub(1)),
            _ if c == '_' || c.is_alphabetic() => {
                while text.get(at).is_some_and(|c| *c == '_' || c.is_alphanumeric()) {
                    at += 1;
                }
                let name: String = text[start..at].iter().collect();
                let field = matches!(before, Some('.' | '$' | '@')) || is_key(&text, at);
                let outside = OUTSIDE.iter().find(|(outside, _)| *outside == name);
                if let (Some((_, why)), false) = (outside, field) {
                    return Err(format!("the jq program cannot be said to stay inside its input: {why}"));
                }
            }
            _ => {}
        }
        before = Some(c);
    }
    if levels.len() > 1 { Err("a string of the jq program is not closed".to_owned()) } else { Ok(()) }
}

/// A name before a colon is the key of an object: `{import: 1}`. Not `a::b`, which names a module.
fn is_key(text: &[char], at: usize) -> bool {
    let behind = text.iter().skip(at).skip_while(|c| c.is_whitespace()).take(2).collect::<Vec<_>>();
    matches!(behind.as_slice(), [':', more @ ..] if more != [&':'])
}

fn count(levels: &mut [usize], change: impl Fn(usize) -> usize) {
    if let Some(open) = levels.last_mut() {
        *open = change(*open);
    }
}

/// Where the string behind a `"` (or behind the code in it) ends, or the code inside it begins.
fn string(text: &[char], from: usize, levels: &mut Vec<usize>) -> Result<usize, String> {
    let mut at = from;
    loop {
        match text.get(at) {
            None => return Err("a string of the jq program is not closed".to_owned()),
            Some('"') => return Ok(at + 1),
            Some('\\') if text.get(at + 1) == Some(&'(') => {
                if levels.len() > DEPTH {
                    return Err("the jq program nests code in strings too deeply".to_owned());
                }
                levels.push(0);
                return Ok(at + 2);
            }
            Some('\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

/// Where a comment ends. Versions differ on whether a `\` carries it on.
fn comment(text: &[char], from: usize) -> Result<usize, String> {
    let length =
        text.iter().skip(from).position(|c| *c == '\n' || *c == '\r').unwrap_or(text.len().saturating_sub(from));
    let end = from + length;
    if end < text.len() && text.get(end.saturating_sub(1)) == Some(&'\\') {
        return Err("a comment of the jq program ends in a `\\`".to_owned());
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_stay_inside() {
        let programs = [
            "",
            ".",
            ".[].name",
            ".a.b[0] | keys",
            "map(select(.x > 1)) | length",
            ".import, .system, .\"import\"",
            "{import: 1, system: .x, include : 2}",
            "\"system(1) import\"",
            "\"a \\(.x | tostring) import\"",
            "\"a \\(\"b \\(.c)\") include\"",
            "# import \"a\"\n.",
            ".[] | \"\\(.name): \\(.value)\"",
            "@csv, @base64d, $ENV.HOME, env.HOME",
            "to_entries[] | select(.key | test(\"^a\\\\(b\")) | .value",
            "input_filename, input_line_number, [inputs]",
            "def f(x): x + 1; f(.)",
            "reduce .[] as $x (0; . + $x)",
            "$system | $__loc__",
            ".a // \"none\" | ascii_downcase",
            "paths(scalars) as $p | getpath($p)",
            "if . then \"a\" else \"b\" end",
            "[.[] | {name, version}] | sort_by(.name)",
            "\"\\\\\", \"\\\"\"",
        ];
        for program in programs {
            assert_eq!(analyse(program), Ok(()), "{program}");
        }
    }

    #[test]
    fn what_loads_or_runs_is_seen() {
        let programs = [
            "import \"a\" as a; .",
            "import \"/etc/x\" as $x; $x",
            "include \"a\"; .",
            "system(\"id\")",
            ". | system ( \"id\" )",
            "\"x\" | modulemeta",
            "\"a \\(system(\"id\"))\"",
            "\"a \\(\"b \\(system(\"id\"))\")\"",
            "# c\nimport \"a\" as a; .",
            "\"#\" | system(\"id\")",
            "\"\\\"\" | system(\"id\") # \"",
            "# a \\\n.",
            "\"a",
            "\"\\(.",
            "{a: system(\"id\")}",
        ];
        for program in programs {
            assert!(analyse(program).is_err(), "{program}");
        }
    }
}
