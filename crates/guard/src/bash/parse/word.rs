//! The inside of a word: quoting, parameters, substitutions, arithmetic.

use super::*;

impl<'t> Parser<'t> {
    /// The right side of `=~`: parentheses and bars stand for themselves.
    pub(super) fn regex_word(&mut self) -> Read<Word> {
        let start = self.at;
        let mut parts = Vec::new();
        let mut parens = 0usize;
        loop {
            match self.peek() {
                None | Some(b'\n') => break,
                Some(b' ' | b'\t') if parens == 0 => break,
                Some(byte @ (b'(' | b')' | b'|' | b'<' | b'>' | b'&' | b';' | b' ' | b'\t')) => {
                    match byte {
                        b'(' => parens += 1,
                        b')' if parens == 0 => return self.trouble("`)` in a pattern without its `(`"),
                        b')' => parens -= 1,
                        b'|' => {}
                        _ => return self.trouble("an operator in a pattern behind `=~`"),
                    }
                    self.at += 1;
                    push_plain(&mut parts, self.slice(self.at - 1..self.at));
                }
                // Alone it is the end of the line, and no letter.
                Some(b'$') if !self.expands() => {
                    if matches!(self.peek_at(1), Some(b'\\' | b'\'' | b'"' | b'`')) {
                        return self.trouble("a `$` before quotes in a pattern behind `=~`");
                    }
                    self.at += 1;
                    push_plain(&mut parts, "$");
                }
                Some(_) => self.word_part(&mut parts)?,
            }
        }
        if parts.is_empty() || parens > 0 {
            return self.trouble("a pattern behind `=~` is not complete");
        }
        Ok(Word { parts, span: self.span(start) })
    }

    pub(super) fn word(&mut self) -> Read<Word> {
        let start = self.at;
        // Most words are one.
        let mut parts = Vec::with_capacity(1);
        while let Some(byte) = self.peek() {
            if is_meta(byte) && !(matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(')) {
                break;
            }
            let plain = self.run(|byte| is_meta(byte) || matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`'));
            if plain.is_empty() {
                self.word_part(&mut parts)?;
            } else {
                push_plain(&mut parts, plain);
            }
        }
        if self.at == start {
            return match self.peek() {
                None => self.cut("it ends where a word should stand"),
                _ => self.trouble("a word is missing here"),
            };
        }
        if may_have_braces(&parts) {
            // Bash looks for names when it is done with braces: `{$,x}a` is `$a xa`.
            if ["$,", "$}"].iter().any(|sign| self.slice(start..self.at).contains(sign)) {
                return self.trouble("a `$` that ends what a brace stands for, and may join what is behind it");
            }
            self.only_bash("braces that stand for several words");
        }
        if parts.iter().any(|part| matches!(part, Part::Plain(text) if text.contains("[^"))) {
            self.only_bash("`[^…]` in a pattern");
        }
        Ok(Word { parts, span: self.span(start) })
    }

    /// Takes the text up to the first byte that `ends` it, which is ASCII.
    fn run(&mut self, ends: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = rest.iter().position(|byte| ends(*byte)).unwrap_or(rest.len());
        self.at += len;
        self.slice(self.at - len..self.at)
    }

    /// One piece of a word outside quotes.
    pub(super) fn word_part(&mut self, parts: &mut Vec<Part>) -> Read<()> {
        let Some(byte) = self.peek() else { return Ok(()) };
        match byte {
            b'\\' => {
                self.at += 1;
                match self.peek() {
                    None => return self.cut("it ends in a backslash"),
                    Some(b'\n') => self.at += 1,
                    Some(_) => {
                        let text = self.take_char();
                        push_quoted(parts, text);
                    }
                }
            }
            b'\'' => {
                self.at += 1;
                let start = self.at;
                let Some(len) = self.bytes[start..].iter().position(|byte| *byte == b'\'') else {
                    return self.trouble("a quote `'` is not closed");
                };
                let text = self.slice(start..start + len);
                self.quoted_newline(text)?;
                self.at = start + len + 1;
                push_quoted(parts, text);
            }
            b'"' => {
                self.at += 1;
                self.double(parts)?;
            }
            b'$' if self.peek_at(1) == Some(b'\'') => {
                self.only_bash("`$'…'`");
                self.at += 2;
                let text = self.ansi()?;
                push_quoted(parts, &text);
            }
            b'$' if self.peek_at(1) == Some(b'"') => {
                self.only_bash("`$\"…\"`");
                self.at += 2;
                self.double(parts)?;
            }
            b'$' => self.dollar(parts, false)?,
            b'`' => {
                let part = self.backtick(false)?;
                parts.push(part);
            }
            b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                self.only_bash("`<(…)`");
                self.at += 2;
                let script = self.substitution()?;
                parts.push(Part::Process { write: byte == b'>', script });
            }
            _ => {
                let text = self.take_char();
                push_plain(parts, text);
            }
        }
        Ok(())
    }

    pub(super) fn quoted_newline(&self, text: &str) -> Read<()> {
        if text.contains('\n') && (self.outer_pending || !self.pending.is_empty()) {
            return self.trouble("a line ends inside quotes while a here-document is waiting for its body");
        }
        Ok(())
    }

    /// The inside of `"…"`, behind the opening quote.
    pub(super) fn double(&mut self, parts: &mut Vec<Part>) -> Read<()> {
        let opened = self.at;
        push_quoted(parts, "");
        loop {
            match self.peek() {
                None => {
                    self.at = opened;
                    return self.trouble("a quote `\"` is not closed");
                }
                Some(b'"') => {
                    self.quoted_newline(self.slice(opened..self.at))?;
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\' | b'$' | b'`') => self.double_part(parts)?,
                _ => push_quoted(parts, self.run(|byte| matches!(byte, b'"' | b'\\' | b'$' | b'`'))),
            }
        }
    }

    /// One piece inside double quotes (or of the like).
    pub(super) fn double_part(&mut self, parts: &mut Vec<Part>) -> Read<()> {
        match self.peek() {
            Some(b'\\') => match self.peek_at(1) {
                Some(b'\n') => self.at += 2,
                Some(b'$' | b'`' | b'"' | b'\\') => {
                    push_quoted(parts, self.slice(self.at + 1..self.at + 2));
                    self.at += 2;
                }
                _ => {
                    self.at += 1;
                    push_quoted(parts, "\\");
                }
            },
            Some(b'$') => self.dollar(parts, true)?,
            Some(b'`') => {
                let part = self.backtick(true)?;
                parts.push(part);
            }
            Some(_) => {
                let text = self.take_char();
                push_quoted(parts, text);
            }
            None => {}
        }
        Ok(())
    }

    /// The body of a here-document that is expanded.
    pub(super) fn here_parts(&mut self) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        while let Some(byte) = self.peek() {
            if byte == b'\\' && self.peek_at(1) == Some(b'"') {
                push_quoted(&mut parts, "\\\"");
                self.at += 2;
            } else if matches!(byte, b'\\' | b'$' | b'`') {
                self.double_part(&mut parts)?;
            } else {
                push_quoted(&mut parts, self.run(|byte| matches!(byte, b'\\' | b'$' | b'`')));
            }
        }
        Ok(parts)
    }

    /// `$'…'`, behind the opening quote.
    pub(super) fn ansi(&mut self) -> Read<String> {
        let start = self.at;
        loop {
            match self.peek() {
                None => return self.trouble("a quote `$'` is not closed"),
                Some(b'\'') => break,
                Some(b'\\') => self.at = (self.at + 2).min(self.bytes.len()),
                Some(_) => self.at += 1,
            }
        }
        let raw = self.slice(start..self.at);
        self.quoted_newline(raw)?;
        self.at += 1;
        match decode_ansi(raw) {
            Some(text) => Ok(text),
            None => self.trouble("an escape in `$'…'` that makes no text"),
        }
    }

    /// Whether something is expanded, or quoted, by the `$` that stands here.
    fn expands(&self) -> bool {
        self.peek_at(1)
            .is_some_and(|byte| is_name_start(byte) || byte.is_ascii_digit() || b"([{@*#?-$!'\"".contains(&byte))
    }

    /// Something behind `$`.
    pub(super) fn dollar(&mut self, parts: &mut Vec<Part>, quoted: bool) -> Read<()> {
        let start = self.at;
        let Some(next) = self.peek_at(1) else {
            self.at += 1;
            // Nothing is expanded: the sign stands for itself, and must not join a quote behind it.
            push_quoted(parts, "$");
            return Ok(());
        };
        match next {
            b'(' if self.peek_at(2) == Some(b'(') => {
                self.at += 3;
                let inner = self.deeper(|this| this.arith(ArithEnd::Parens, quoted))?;
                parts.push(Part::Arith { parts: inner, quoted });
            }
            b'(' => {
                self.at += 2;
                let script = self.substitution()?;
                parts.push(Part::Command { script, quoted, span: self.span(start) });
            }
            b'[' => return self.trouble("`$[…]` is arithmetic that bash keeps for old scripts"),
            b'{' => {
                self.at += 2;
                let param = self.deeper(|this| this.braced(quoted))?;
                parts.push(Part::Param { param, quoted });
            }
            byte if is_name_start(byte) => {
                self.at += 1;
                let name_start = self.at;
                while self.peek().is_some_and(is_name_byte) {
                    self.at += 1;
                }
                parts.push(plain_param(self.slice(name_start..self.at), quoted));
            }
            byte if byte.is_ascii_digit() || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.at += 2;
                parts.push(plain_param(self.slice(self.at - 1..self.at), quoted));
            }
            b'\\' if self.peek_at(2) == Some(b'\n') => {
                return self.trouble("a line is continued between `$` and what it expands");
            }
            _ => {
                self.at += 1;
                // Nothing is expanded: the sign stands for itself, and must not join a quote behind it.
                push_quoted(parts, "$");
            }
        }
        Ok(())
    }

    /// The script inside `$(…)`, `<(…)`: behind the opener, through the closer.
    pub(super) fn substitution(&mut self) -> Read<Script> {
        let outer = std::mem::take(&mut self.pending);
        let before = self.outer_pending;
        self.outer_pending = before || !outer.is_empty();
        let script = self.deeper(|this| this.list(End::Paren))?;
        if !self.pending.is_empty() {
            return self.trouble("a here-document has no body");
        }
        self.outer_pending = before;
        self.pending = outer;
        if !self.eat(")") {
            return self.trouble("`)` is missing here");
        }
        Ok(script)
    }

    pub(super) fn backtick(&mut self, in_double: bool) -> Read<Part> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => {
                    self.at = start;
                    return self.trouble("a backtick is not closed");
                }
                Some(b'`') => break,
                Some(b'\\') => match self.peek_at(1) {
                    Some(byte @ (b'`' | b'\\' | b'$')) => {
                        text.push(char::from(byte));
                        self.at += 2;
                    }
                    Some(b'"') if in_double => {
                        text.push('"');
                        self.at += 2;
                    }
                    _ => {
                        text.push('\\');
                        self.at += 1;
                    }
                },
                Some(_) => {
                    let next = self.take_char();
                    text.push_str(next);
                }
            }
        }
        self.at += 1;
        self.quoted_newline(self.slice(start..self.at))?;
        if text.contains("<<") {
            return self.trouble("a here-document inside backticks");
        }
        let span = self.span(start);
        let depth = self.depth + 1;
        if depth >= DEPTH {
            return self.trouble(format!("it is nested deeper than {DEPTH} levels"));
        }
        let mut inner = Parser {
            text: &text,
            bytes: text.as_bytes(),
            at: 0,
            fixed: Some(span.clone()),
            offset: 0,
            depth,
            pending: Vec::new(),
            outer_pending: false,
            heres: std::mem::take(&mut self.heres),
            bodies: Vec::new(),
            beyond: self.beyond,
        };
        let script = inner.list(End::Text)?;
        self.take_back(inner);
        Ok(Part::Command { script, quoted: in_double, span })
    }

    /// `${…}`, behind the brace.
    pub(super) fn braced(&mut self, quoted: bool) -> Read<Param> {
        let start = self.at;
        let mut length = false;
        let mut indirect = false;
        if self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}') {
            if !self
                .peek_at(1)
                .is_some_and(|byte| is_name_byte(byte) || matches!(byte, b'@' | b'*' | b'?' | b'$' | b'!'))
            {
                return self.trouble("`${#` with an operator");
            }
            length = true;
            self.at += 1;
        } else if self.peek() == Some(b'!') && self.peek_at(1) != Some(b'}') {
            indirect = true;
            self.at += 1;
        }
        let name_start = self.at;
        match self.peek() {
            Some(byte) if is_name_start(byte) => {
                while self.peek().is_some_and(is_name_byte) {
                    self.at += 1;
                }
            }
            Some(byte) if byte.is_ascii_digit() => {
                while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                    self.at += 1;
                }
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => self.at += 1,
            _ => return self.trouble("`${` without a name"),
        }
        let name = self.slice(name_start..self.at).to_owned();
        let mut index = None;
        if self.peek() == Some(b'[') {
            let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
            let plain = rest
                .iter()
                .take_while(|byte| is_name_byte(**byte) || matches!(byte, b'$' | b'@' | b'*' | b'-' | b'+'))
                .count();
            if plain == 0 || rest.get(plain) != Some(&b']') {
                return self.trouble("a subscript that is more than a name or a number");
            }
            index = Some(self.slice(self.at + 1..self.at + 1 + plain).to_owned());
            self.at += plain + 2;
        }
        let operator = self.peek();
        let op = match operator {
            // The subscripts of an array, and nothing of its values.
            Some(b'}') if indirect && matches!(index.as_deref(), Some("@" | "*")) => Op::Plain,
            Some(b'}') if indirect => Op::Evaluate,
            Some(b'}') if length => Op::Length,
            Some(b'}') => Op::Plain,
            _ if length => return self.trouble("`${#` with an operator"),
            _ if indirect => {
                self.op_word(quoted, false)?;
                Op::Evaluate
            }
            Some(b':') if matches!(self.peek_at(1), Some(b'-' | b'=' | b'+' | b'?')) => {
                let kind = char::from(self.peek_at(1).unwrap_or(b'-'));
                self.at += 2;
                Op::Default { kind, word: self.op_word(quoted, false)? }
            }
            Some(byte @ (b'-' | b'=' | b'+' | b'?')) => {
                self.at += 1;
                Op::Default { kind: char::from(byte), word: self.op_word(quoted, false)? }
            }
            Some(b':') => {
                self.at += 1;
                Op::Substring(self.op_word(quoted, false)?)
            }
            Some(b'/') => Op::Edit(self.op_word(quoted, true)?),
            Some(b'#' | b'%' | b'^' | b',') => Op::Edit(self.op_word(quoted, false)?),
            Some(b'@') => {
                self.op_word(quoted, false)?;
                Op::Evaluate
            }
            _ => return self.trouble("`${…}` with an operator that is not known"),
        };
        let raw = self.slice(start..self.at).to_owned();
        let changes = matches!(op, Op::Edit(_)) && matches!(operator, Some(b'/' | b'^' | b','));
        if index.is_some() || changes || matches!(op, Op::Substring(_) | Op::Evaluate) {
            self.only_bash("`${…}` with an element, a part or another text");
        }
        if !self.eat("}") {
            return self.trouble("`}` is missing here");
        }
        Ok(Param { name, index, op, raw, closed: true })
    }

    /// What stands behind an operator inside `${…}`, up to the brace.
    /// With `replaces`, something is put in the place of something.
    pub(super) fn op_word(&mut self, quoted: bool, replaces: bool) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                Some(b'$') if quoted && replaces && self.ansi_in_quotes() > 0 => {
                    let len = self.ansi_in_quotes();
                    push_quoted(&mut parts, self.slice(self.at..self.at + len));
                    self.at += len;
                }
                None => return self.trouble("`}` is missing here"),
                Some(b'}') => return Ok(parts),
                Some(b'{') => return self.trouble("a brace inside `${…}`"),
                Some(b'\'') if quoted => return self.trouble("a quote `'` inside `\"${…}\"`"),
                Some(b'"') if quoted => {
                    // Inside double quotes they quote what is quoted already.
                    self.at += 1;
                    self.double(&mut parts)?;
                }
                Some(b'\\') if quoted && self.peek_at(1) == Some(b'}') => {
                    push_quoted(&mut parts, "}");
                    self.at += 2;
                }
                Some(b'\\') if quoted && self.peek_at(1) == Some(b'{') => {
                    push_quoted(&mut parts, "\\{");
                    self.at += 2;
                }
                Some(b'\n') => return self.trouble("a line ends inside `${…}`"),
                Some(b'<' | b'>') if self.peek_at(1) == Some(b'(') => {
                    return self.trouble("a process substitution inside `${…}`");
                }
                _ if quoted => self.double_part(&mut parts)?,
                _ => self.word_part(&mut parts)?,
            }
        }
    }

    /// How long a `$'…'` is that stands here inside double quotes, where it has nothing in it that could end anything. One
    /// bash takes it for a line's end or a tab, another as it is written; nobody reads what follows otherwise.
    fn ansi_in_quotes(&self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(inner) = rest.strip_prefix(b"$'") else { return 0 };
        let plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b"\\ ,;:.|_-".contains(byte);
        let len = inner.iter().take_while(plain).count();
        let text = inner.get(..len).unwrap_or_default();
        let escapes =
            text.split(|byte| *byte == b'\\').skip(1).all(|behind| matches!(behind.first(), Some(b'n' | b't' | b'r')));
        if inner.get(len) == Some(&b'\'') && escapes && len > 0 { len + 3 } else { 0 }
    }

    /// `((…))` as a command. Two subshells written as `((` are refused: bash guesses there.
    pub(super) fn arith_command(&mut self) -> Read<Vec<Part>> {
        let start = self.at;
        self.at += 2;
        match self.deeper(|this| this.arith(ArithEnd::Parens, false)) {
            Ok(parts) => Ok(parts),
            Err(_) => {
                self.at = start;
                self.trouble("`((` that is not closed by `))`")
            }
        }
    }

    /// Arithmetic text through its end.
    pub(super) fn arith(&mut self, end: ArithEnd, _quoted: bool) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        let mut parens = 0usize;
        loop {
            match self.peek() {
                None => return self.trouble("arithmetic is not closed"),
                Some(b';') if parens == 0 && end == ArithEnd::Semicolon => {
                    self.at += 1;
                    return Ok(parts);
                }
                Some(b';') => return self.trouble("`;` inside arithmetic"),
                Some(b')') if parens == 0 => {
                    if end == ArithEnd::Parens && self.eat("))") {
                        return Ok(parts);
                    }
                    return self.trouble("arithmetic that is not closed by `))`");
                }
                Some(b'(') => {
                    parens += 1;
                    self.at += 1;
                    push_plain(&mut parts, "(");
                }
                Some(b')') => {
                    parens -= 1;
                    self.at += 1;
                    push_plain(&mut parts, ")");
                }
                Some(b'\n') if self.outer_pending || !self.pending.is_empty() => {
                    return self.trouble("a line ends in arithmetic while a here-document is waiting for its body");
                }
                Some(b'\'' | b'"' | b'\\' | b'{' | b'}') => return self.trouble("quoting inside arithmetic"),
                Some(b'$') => self.dollar(&mut parts, true)?,
                Some(b'`') => {
                    let part = self.backtick(true)?;
                    parts.push(part);
                }
                Some(_) => {
                    let text = self.take_char();
                    push_plain(&mut parts, text);
                }
            }
        }
    }
}

/// Whether braces in a word may stand for several: `{a,b}`, `{1..3}`.
fn may_have_braces(parts: &[Part]) -> bool {
    let any = |wanted: &str| parts.iter().any(|part| matches!(part, Part::Plain(text) if text.contains(wanted)));
    any("{") && any("}") && (any(",") || any(".."))
}

pub(super) fn plain_param(name: &str, quoted: bool) -> Part {
    let (name, raw) = (name.to_owned(), name.to_owned());
    Part::Param { param: Param { name, index: None, op: Op::Plain, raw, closed: false }, quoted }
}

pub(super) fn push_plain(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Plain(last)) => last.push_str(text),
        _ => parts.push(Part::Plain(text.to_owned())),
    }
}

pub(super) fn push_quoted(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Quoted(last)) => last.push_str(text),
        _ => parts.push(Part::Quoted(text.to_owned())),
    }
}

/// What `$'…'` stands for; `None` when it ends the text early (NUL) or makes bytes that are no text.
pub(super) fn decode_ansi(raw: &str) -> Option<String> {
    let mut out: Vec<u8> = Vec::with_capacity(raw.len());
    let bytes = raw.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let escape = bytes.get(at).copied()?;
        at += 1;
        match escape {
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'e' | b'E' => out.push(27),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\\' | b'\'' | b'"' | b'?' => out.push(escape),
            b'0'..=b'7' => {
                let (value, used) = number(bytes, at - 1, 3, 8);
                at = at - 1 + used;
                out.push(u8::try_from(value & 0xff).ok().filter(|byte| *byte != 0)?);
            }
            b'x' => {
                let (value, used) = number(bytes, at, 2, 16);
                if used == 0 {
                    return None;
                }
                at += used;
                out.push(u8::try_from(value).ok().filter(|byte| *byte != 0)?);
            }
            b'u' | b'U' => {
                let (value, used) = number(bytes, at, if escape == b'u' { 4 } else { 8 }, 16);
                let char = char::from_u32(value).filter(|char| used > 0 && *char != '\0')?;
                at += used;
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
            b'c' => return None,
            other => {
                out.push(b'\\');
                out.push(other);
            }
        }
    }
    String::from_utf8(out).ok()
}

pub(super) fn number(bytes: &[u8], at: usize, most: usize, radix: u32) -> (u32, usize) {
    let mut value = 0u32;
    let mut used = 0;
    while used < most {
        let Some(digit) = bytes.get(at + used).and_then(|byte| char::from(*byte).to_digit(radix)) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        used += 1;
    }
    (value, used)
}
