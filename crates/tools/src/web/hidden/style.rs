//! Whether a style hides what it is set on, and which simple selectors of a style sheet do.

/// Whether a list of declarations leaves nothing to see.
pub(super) fn hides(style: &str) -> bool {
    let style = plain(style);
    let declarations: Vec<(&str, &str)> = style
        .split(';')
        .filter_map(|one| one.split_once(':'))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect();
    // The last of a name counts.
    let get = |name: &str| declarations.iter().rev().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
    let nothing = |value: &str| length(value).is_some_and(|pixels| pixels.abs() < 0.0001);
    let far = |name: &str| length(get(name)).is_some_and(|pixels| pixels <= -900.0);
    let placed = matches!(get("position"), "absolute" | "fixed");
    let cut = get("overflow") == "hidden" || get("overflow-y") == "hidden" || get("overflow") == "clip";
    let tiny = |value: &str| length(value).is_some_and(|pixels| pixels < 1.5);
    get("display") == "none"
        || matches!(get("visibility"), "hidden" | "collapse")
        || get("content-visibility") == "hidden"
        || length(get("font-size")).is_some_and(|pixels| pixels < 1.0)
        || get("font").split_whitespace().any(|part| part.split('/').next().is_some_and(nothing))
        || (get("color") == "transparent" && !style.contains("background-clip:text"))
        || far("text-indent")
        || (placed && ["left", "top", "right", "bottom"].into_iter().any(far))
        || (placed && (get("clip").starts_with("rect(0") || get("clip").starts_with("rect(1px")))
        || (placed && ["inset(50%", "inset(100%"].iter().any(|cut| get("clip-path").starts_with(cut)))
        || (cut && ["height", "max-height", "width", "max-width"].into_iter().any(|name| nothing(get(name))))
        || (cut && tiny(get("height")) && tiny(get("width")))
        || ["scale(0)", "scale(0,", "scalex(0)", "scaley(0)"].iter().any(|zero| get("transform").contains(zero))
}

/// A length in pixels, roughly: whoever writes -100em means far away.
fn length(value: &str) -> Option<f64> {
    let end = value.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')).unwrap_or(value.len());
    let number: f64 = value[..end].parse().ok()?;
    let factor = match &value[end..] {
        "" | "px" => 1.0,
        "em" | "rem" | "ch" | "ex" => 16.0,
        "vw" | "vh" | "%" => 10.0,
        "pt" => 1.33,
        "in" => 96.0,
        "cm" => 38.0,
        "mm" => 3.8,
        _ => return None,
    };
    Some(number * factor)
}

/// Lower case, comments and `!important` gone, `\69` for `i` read, white space around signs gone.
fn plain(style: &str) -> String {
    let style = without_comments(style);
    let mut out = String::with_capacity(style.len());
    let mut chars = style.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c.to_ascii_lowercase());
            continue;
        }
        let mut digits = String::new();
        while digits.len() < 6
            && let Some(digit) = chars.next_if(char::is_ascii_hexdigit)
        {
            digits.push(digit);
        }
        if digits.is_empty() {
            out.extend(chars.next().map(|c| c.to_ascii_lowercase()));
        } else {
            chars.next_if(|c| c.is_whitespace());
            let read = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
            out.extend(read.map(|c| c.to_ascii_lowercase()));
        }
    }
    let mut tight = out.split_whitespace().collect::<Vec<_>>().join(" ").replace("!important", "");
    for sign in [':', ';', ',', '('] {
        tight = tight.replace(&format!(" {sign}"), &sign.to_string()).replace(&format!("{sign} "), &sign.to_string());
    }
    tight
}

fn without_comments(style: &str) -> String {
    let mut out = String::with_capacity(style.len());
    let mut rest = style;
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        rest = rest[at + 2..].find("*/").map_or("", |end| &rest[at + 2 + end + 2..]);
    }
    out.push_str(rest);
    out
}

/// The simple selectors of a sheet that hide: `.class`, `#id`, `name`. What holds only on some screens does not count.
pub(super) fn rules(sheet: &str) -> Vec<String> {
    let sheet = without_comments(sheet);
    let mut found = Vec::new();
    let mut rest = sheet.as_str();
    while let Some(at) = rest.find(['{', ';', '}']) {
        let prelude = rest[..at].trim();
        let sign = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        if sign != b'{' {
            continue;
        }
        if prelude.starts_with('@') {
            rest = after_block(rest);
            continue;
        }
        let end = rest.find('}').unwrap_or(rest.len());
        if hides(&rest[..end]) {
            found.extend(prelude.split(',').map(str::trim).filter(|selector| is_simple(selector)).map(str::to_owned));
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    found
}

/// Behind the block whose `{` was just read.
fn after_block(text: &str) -> &str {
    let mut depth = 1usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return &text[at + 1..],
            b'}' => depth -= 1,
            _ => {}
        }
    }
    ""
}

fn is_simple(selector: &str) -> bool {
    let name = selector.strip_prefix(['.', '#']).unwrap_or(selector);
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}
