//! The same script in one way of writing, so that what a person reads and what runs is what was judged.
//!
//! Quoting is normal (single quotes unless nothing needs them), comments are gone, backticks are
//! `$(…)`, here-documents keep their bytes. Printing what was printed changes nothing.

use std::borrow::Cow;

use super::parse::{DECLARES, RESERVED, is_name};
use super::script::{
    Arm, Assign, AssignValue, Command, Fd, Here, Item, Kind, Op, Param, Part, Pipeline, Program, Redirect, RedirectOp,
    Script, Target, Test, Word,
};
use super::words;

/// The whole script.
#[cfg(test)]
pub(super) fn print(program: &Program) -> String {
    parts(program).concat()
}

/// The whole script, one string for each of its outermost items: its line, and the here-documents behind it.
pub(super) fn parts(program: &Program) -> Vec<String> {
    let mut printer =
        Printer { heres: &program.heres, out: String::new(), pending: Vec::new(), regex: false, timed: false };
    let mut out = Vec::with_capacity(program.script.items.len());
    for (index, item) in program.script.items.iter().enumerate() {
        printer.item(item);
        if index + 1 < program.script.items.len() || !printer.pending.is_empty() {
            printer.line();
        }
        out.push(std::mem::replace(&mut printer.out, String::with_capacity(ITEM)));
    }
    out
}

/// Bytes of most items.
const ITEM: usize = 64;

struct Printer<'p> {
    heres: &'p [Here],
    out: String,
    /// Here-documents whose bodies come behind the next newline.
    pending: Vec<usize>,
    /// Inside the pattern of `=~`, where a bare `.` means more than a quoted one.
    regex: bool,
    /// Right behind `time`, where `-p` is its option.
    timed: bool,
}

impl Printer<'_> {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.push("\n");
        for index in std::mem::take(&mut self.pending) {
            if let Some(here) = self.heres.get(index) {
                self.push(&here.raw);
                self.push(&here.delimiter);
                self.push("\n");
            }
        }
    }

    /// `; ` or what does its work behind `&` and here-documents.
    fn separate(&mut self) {
        if !self.pending.is_empty() {
            self.line();
        } else if self.out.ends_with('&') {
            self.push(" ");
        } else {
            self.push("; ");
        }
    }

    fn script(&mut self, script: &Script) {
        for (index, item) in script.items.iter().enumerate() {
            if index > 0 && !self.out.ends_with('\n') {
                self.separate();
            }
            self.item(item);
        }
    }

    /// A list and the reserved word behind it.
    fn body(&mut self, script: &Script, end: &str) {
        self.script(script);
        if !self.out.ends_with('\n') {
            self.separate();
        }
        self.push(end);
    }

    fn parens(&mut self, script: &Script) {
        // `((` would be arithmetic.
        if starts_with_paren(script) {
            self.push(" ");
        }
        self.script(script);
        if !self.pending.is_empty() {
            self.line();
        }
        self.push(")");
    }

    fn item(&mut self, item: &Item) {
        self.pipeline(&item.first);
        for (and, pipeline) in &item.rest {
            self.push(if *and { " && " } else { " || " });
            self.pipeline(pipeline);
        }
        if item.background {
            self.push(" &");
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        self.timed = pipeline.timed.is_some();
        match pipeline.timed {
            Some(true) => self.push("time -p "),
            Some(false) => self.push("time "),
            None => {}
        }
        for _ in 0..pipeline.bangs {
            self.push("! ");
        }
        for (index, stage) in pipeline.stages.iter().enumerate() {
            if index > 0 {
                self.push(if pipeline.both.get(index - 1) == Some(&true) { " |& " } else { " | " });
            }
            self.command(stage);
        }
    }

    fn command(&mut self, command: &Command) {
        if !matches!(command.kind, Kind::Simple { .. }) {
            self.timed = false;
        }
        match &command.kind {
            Kind::Simple { assigns, words } => return self.simple(assigns, words, &command.redirects),
            Kind::Subshell(script) => {
                self.push("(");
                self.parens(script);
            }
            Kind::Group(script) => {
                self.push("{ ");
                self.body(script, "}");
            }
            Kind::If { arms, otherwise } => self.branches(arms, otherwise.as_ref()),
            Kind::Loop { until, condition, body } => {
                self.push(if *until { "until " } else { "while " });
                self.body(condition, "do ");
                self.body(body, "done");
            }
            Kind::For { select, name, words, body } => {
                self.push(if *select { "select " } else { "for " });
                self.push(name);
                if let Some(words) = words {
                    self.push(" in");
                    for word in words {
                        self.push(" ");
                        self.word(word);
                    }
                }
                self.push("; do ");
                self.body(body, "done");
            }
            Kind::ArithFor { parts, body } => {
                self.push("for ((");
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        self.push(";");
                    }
                    self.arith(part);
                }
                self.push(")); do ");
                self.body(body, "done");
            }
            Kind::Case { word, arms } => self.case(word, arms),
            Kind::Function { name, body } => {
                self.push("function ");
                self.push(name);
                // Without them, the parenthesis of the body would be theirs.
                self.push(if matches!(body.kind, Kind::Subshell(_)) { " () " } else { " " });
                self.command(body);
            }
            Kind::Coproc { body } => {
                self.push("coproc ");
                self.command(body);
            }
            Kind::Arith(parts) => {
                self.push("((");
                self.arith(parts);
                self.push("))");
            }
            Kind::Test(test) => {
                self.push("[[ ");
                self.test(test);
                self.push(" ]]");
            }
        }
        for redirect in &command.redirects {
            self.push(" ");
            self.redirect(redirect);
        }
    }

    fn simple(&mut self, assigns: &[Assign], words: &[Word], redirects: &[Redirect]) {
        let mut first = true;
        for assign in assigns {
            self.gap(&mut first);
            self.assign(assign);
        }
        let timed = std::mem::take(&mut self.timed) && assigns.is_empty();
        let name = words.first().and_then(text_of);
        let declares = name.as_deref().is_some_and(may_declare);
        for (index, word) in words.iter().enumerate() {
            self.gap(&mut first);
            // It stood behind a redirection, where it is a word; in front it would be more than that.
            let reserved = match word.parts.as_slice() {
                [Part::Plain(text)] => RESERVED.contains(&text.as_str()).then_some(Cow::Borrowed(text.as_str())),
                // In quotes the name of such a builtin is one like any other: what follows it is split.
                _ => name.clone().filter(|_| declares),
            };
            let option = || text_of(word).filter(|text| timed && matches!(text.as_ref(), "-p" | "--"));
            match reserved.or_else(option).filter(|_| index == 0) {
                Some(text) => {
                    let quoted = single_quoted(&text);
                    self.push(&quoted);
                }
                // And so is what would be an assignment without its quotes.
                None => self.word_at(word, index == 0 || declares && behind_bare_name(word).is_none()),
            }
        }
        for redirect in redirects {
            self.gap(&mut first);
            self.redirect(redirect);
        }
    }

    fn branches(&mut self, arms: &[(Script, Script)], otherwise: Option<&Script>) {
        for (index, (condition, body)) in arms.iter().enumerate() {
            self.push(if index == 0 { "if " } else { "elif " });
            self.body(condition, "then ");
            self.script(body);
            if !self.out.ends_with('\n') {
                self.separate();
            }
        }
        if let Some(body) = otherwise {
            self.push("else ");
            self.body(body, "");
        }
        self.push("fi");
    }

    fn case(&mut self, word: &Word, arms: &[Arm]) {
        self.push("case ");
        self.word(word);
        self.push(" in ");
        for arm in arms {
            self.push("(");
            for (index, pattern) in arm.patterns.iter().enumerate() {
                if index > 0 {
                    self.push(" | ");
                }
                self.word(pattern);
            }
            self.push(") ");
            self.script(&arm.body);
            if !self.pending.is_empty() {
                self.line();
            }
            self.push(" ");
            self.push(arm.end);
            self.push(" ");
        }
        self.push("esac");
    }

    fn gap(&mut self, first: &mut bool) {
        if !*first {
            self.push(" ");
        }
        *first = false;
    }

    fn assign(&mut self, assign: &Assign) {
        self.push(&assign.name);
        if let Some(index) = &assign.index {
            self.push("[");
            self.push(index);
            self.push("]");
        }
        self.push(if assign.append { "+=" } else { "=" });
        match &assign.value {
            AssignValue::Word(word) => {
                if !word.parts.is_empty() {
                    self.word(word);
                }
            }
            AssignValue::Array(list) => self.array(list),
        }
    }

    fn array(&mut self, list: &[Word]) {
        self.push("(");
        for (index, word) in list.iter().enumerate() {
            if index > 0 {
                self.push(" ");
            }
            self.word(word);
        }
        self.push(")");
    }

    fn redirect(&mut self, redirect: &Redirect) {
        match &redirect.fd {
            Fd::Default => {}
            Fd::Number(number) => self.push(number),
            Fd::Named(name) => {
                self.push("{");
                self.push(name);
                self.push("}");
            }
        }
        self.push(redirect.op.text());
        match &redirect.target {
            Target::Word(word) => {
                let dup = matches!(redirect.op, RedirectOp::DupIn | RedirectOp::DupOut);
                if !dup {
                    self.push(" ");
                }
                self.word(word);
            }
            Target::Here(index) => {
                if let Some(here) = self.heres.get(*index) {
                    let text = if here.quoted { single_quoted(&here.delimiter) } else { here.delimiter.clone() };
                    self.push(&text);
                    self.pending.push(*index);
                }
            }
        }
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::And(left, right) => {
                self.test(left);
                self.push(" && ");
                self.test(right);
            }
            Test::Or(left, right) => {
                self.test(left);
                self.push(" || ");
                self.test(right);
            }
            Test::Not(inner) => {
                self.push("! ");
                self.test(inner);
            }
            Test::Paren(inner) => {
                self.push("( ");
                self.test(inner);
                self.push(" )");
            }
            Test::Unary(op, word) => {
                self.push(op);
                self.push(" ");
                self.word_at(word, true);
            }
            Test::Binary(op, left, right) => {
                self.word_at(left, true);
                self.push(" ");
                self.push(op);
                self.push(" ");
                self.regex = op == "=~";
                self.word_at(right, true);
                self.regex = false;
            }
            Test::Word(word) => self.word_at(word, true),
        }
    }

    fn word(&mut self, word: &Word) {
        self.word_at(word, false);
    }

    /// A word; where a command or an operator could stand (`strict`), its plain text is quoted rather
    /// than be taken for one.
    fn word_at(&mut self, word: &Word, strict: bool) {
        if let ([Part::Plain(text)], false) = (word.parts.as_slice(), strict) {
            return self.push(if text.is_empty() { "''" } else { text });
        }
        let Some((name, rest)) = behind_bare_name(word).filter(|_| !strict) else {
            return self.parts(&word.parts, strict);
        };
        self.push(name);
        if !rest.is_empty() {
            self.parts(&rest, false);
        }
    }

    fn parts(&mut self, parts: &[Part], strict: bool) {
        // Beside wildcards, braces and `~` a letter that loses its quotes may join them: `~\root`, `{\1..9}`.
        let special = |part: &Part| matches!(part, Part::Plain(text) if !is_plain(text));
        let own = self.regex || parts.iter().any(special);
        let joined = if own { Cow::Borrowed(parts) } else { joined(parts) };
        let parts = joined.as_ref();
        let has_braces = parts.iter().any(|part| matches!(part, Part::Plain(text) if text.contains('{')));
        let runs_on = has_braces && words::runs_on(parts);
        let mut index = 0;
        let mut any = false;
        while let Some(part) = parts.get(index) {
            match part {
                Part::Plain(text) if !is_plain(text) => {
                    self.push(text);
                    index += 1;
                }
                // Every piece keeps its own quoting here.
                Part::Plain(_) | Part::Quoted(_) if own && !is_bare(text_run(parts, index)) => {
                    index = self.regex_piece(parts, index);
                }
                Part::Plain(_) | Part::Quoted(_) => index = self.text(parts, index, strict),
                part if is_quoted_expansion(part) => index = self.double(parts, index),
                Part::Param { param, .. } => {
                    // Where braces would have it run on it stays as it is written, and so it is judged.
                    let closed = if has_braces { param.closed || !runs_on } else { continues_name(parts, index + 1) };
                    self.param(param, closed);
                    index += 1;
                }
                Part::Command { script, .. } => {
                    self.command_substitution(script);
                    index += 1;
                }
                Part::Arith { parts, .. } => {
                    self.push("$((");
                    self.arith(parts);
                    self.push("))");
                    index += 1;
                }
                Part::Process { write, script } => {
                    self.push(if *write { ">(" } else { "<(" });
                    self.inner(script);
                    index += 1;
                }
                Part::Array(list) => {
                    self.array(list);
                    index += 1;
                }
            }
            any = true;
        }
        if !any {
            self.push("''");
        }
    }

    /// One run of text from `index`, however it was quoted, with expansions inside double quotes; returns what is behind it.
    fn text(&mut self, parts: &[Part], index: usize, strict: bool) -> usize {
        let run = text_run(parts, index);
        let end = index + run.len();
        let text = text_in(run).unwrap_or_default();
        let bare = is_bare(run);
        let joins_quotes = matches!(parts.get(end), Some(part) if is_quoted_expansion(part));
        if joins_quotes && !text.is_empty() && !bare {
            return self.double(parts, index);
        }
        if !text.is_empty() || run.len() == parts.len() {
            self.literal(&text, bare, strict && index == 0);
        } else if !joins_quotes {
            // `""$x` is one word even when `x` is empty.
            self.push("''");
        }
        end
    }

    /// A run of quoted text and quoted expansions from `index`; returns what is behind it.
    fn double(&mut self, parts: &[Part], index: usize) -> usize {
        self.push("\"");
        let mut at = index;
        while let Some(part) = parts.get(at) {
            match part {
                Part::Quoted(text) => self.double_text(text),
                Part::Plain(text) if is_plain(text) && at == index => self.double_text(text),
                Part::Param { param, quoted: true } => {
                    self.param(param, continues_quoted(parts, at + 1));
                }
                Part::Command { script, quoted: true, .. } => self.command_substitution(script),
                Part::Arith { parts, quoted: true } => {
                    self.push("$((");
                    self.arith(parts);
                    self.push("))");
                }
                _ => break,
            }
            at += 1;
        }
        self.push("\"");
        at
    }

    fn double_text(&mut self, text: &str) {
        for c in text.chars() {
            if matches!(c, '"' | '\\' | '$' | '`') {
                self.out.push('\\');
            }
            self.out.push(c);
        }
    }

    fn regex_piece(&mut self, parts: &[Part], index: usize) -> usize {
        match parts.get(index) {
            Some(Part::Quoted(text)) if text.is_empty() => {
                if matches!(parts.get(index + 1), Some(part) if is_quoted_expansion(part)) {
                    return self.double(parts, index);
                }
                self.push("''");
            }
            Some(Part::Quoted(text)) => {
                let quoted = single_quoted(text);
                self.push(&quoted);
            }
            Some(Part::Plain(text)) => self.push(text),
            _ => {}
        }
        index + 1
    }

    fn literal(&mut self, text: &str, keep: bool, strict: bool) {
        let plain = !text.is_empty() && is_plain(text) && !(strict && (needs_care(text) || text.contains('=')));
        if plain || keep && !text.is_empty() {
            self.push(text);
        } else {
            let quoted = single_quoted(text);
            self.push(&quoted);
        }
    }

    fn command_substitution(&mut self, script: &Script) {
        self.push("$(");
        self.inner(script);
    }

    fn inner(&mut self, script: &Script) {
        let outer = std::mem::take(&mut self.pending);
        self.parens(script);
        self.pending = outer;
    }

    fn param(&mut self, param: &Param, braces: bool) {
        let simple = param.op == Op::Plain && param.index.is_none();
        let short = simple && (is_name(&param.name) || param.name.len() == 1);
        if short && !braces {
            self.push("$");
            self.push(&param.name);
        } else {
            self.push("${");
            self.push(&param.raw);
            self.push("}");
        }
    }

    fn arith(&mut self, parts: &[Part]) {
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Plain(text) | Part::Quoted(text) => self.push(text),
                Part::Param { param, .. } => {
                    self.param(param, continues_name(parts, index + 1));
                }
                Part::Command { script, .. } => self.command_substitution(script),
                Part::Arith { parts, .. } => {
                    self.push("$((");
                    self.arith(parts);
                    self.push("))");
                }
                Part::Process { .. } | Part::Array(_) => {}
            }
        }
    }
}

fn starts_with_paren(script: &Script) -> bool {
    script
        .items
        .first()
        .filter(|item| item.first.bangs == 0 && item.first.timed.is_none())
        .and_then(|item| item.first.stages.first())
        .is_some_and(|stage| matches!(stage.kind, Kind::Subshell(_) | Kind::Arith(_)))
}

/// Builtins that take words as assignments, and those that run one.
fn may_declare(name: &str) -> bool {
    DECLARES.contains(&name) || matches!(name, "command" | "builtin")
}

/// `name=` or `name+=` at the front of a word, and what is behind it. Behind `export` and its kind bash takes it for an
/// assignment, whose value it does not split, only where it stands outside quotes; so it is never drawn into them.
fn behind_bare_name(word: &Word) -> Option<(&str, Vec<Part>)> {
    let Some(Part::Plain(text)) = word.parts.first() else { return None };
    let sign = text.find('=')?;
    if !is_name(text[..sign].strip_suffix('+').unwrap_or(&text[..sign])) {
        return None;
    }
    let (name, behind) = text.split_at(sign + 1);
    let first = (!behind.is_empty()).then(|| Part::Plain(behind.to_owned()));
    Some((name, first.into_iter().chain(word.parts[1..].iter().cloned()).collect()))
}

/// The same parts, where text that has to be quoted beside an expansion in quotes is one piece: it is printed in
/// the same quotes, and read as one piece again.
fn joined(parts: &[Part]) -> Cow<'_, [Part]> {
    let is_text = |part: &Part| matches!(part, Part::Quoted(_)) || matches!(part, Part::Plain(text) if is_plain(text));
    if !parts.iter().any(is_quoted_expansion) {
        return Cow::Borrowed(parts);
    }
    let mut out: Vec<Part> = Vec::with_capacity(parts.len());
    let mut end = 0;
    for run in parts.chunk_by(|left, right| is_text(left) && is_text(right)) {
        end += run.len();
        let text = || -> String {
            let texts = run.iter().map(|part| match part {
                Part::Plain(text) | Part::Quoted(text) => text.as_str(),
                _ => "",
            });
            texts.collect()
        };
        let quoted = run.len() > 1 && run.iter().all(is_text) && run.iter().any(|part| matches!(part, Part::Quoted(_)));
        let behind = out.last().is_some_and(is_quoted_expansion);
        let before = parts.get(end).is_some_and(is_quoted_expansion);
        match quoted.then(text).filter(|text| !text.is_empty() && (before || behind && !is_plain(text))) {
            Some(text) => out.push(Part::Quoted(text)),
            None => out.extend(run.iter().cloned()),
        }
    }
    Cow::Owned(out)
}

/// The text of a word in which nothing is expanded.
pub(super) fn text_of(word: &Word) -> Option<Cow<'_, str>> {
    text_in(&word.parts)
}

/// The same of its parts. Most words are one.
fn text_in(parts: &[Part]) -> Option<Cow<'_, str>> {
    fn text(part: &Part) -> Option<&str> {
        match part {
            Part::Plain(text) | Part::Quoted(text) => Some(text),
            _ => None,
        }
    }
    match parts {
        [part] => text(part).map(Cow::Borrowed),
        parts => parts.iter().map(text).collect::<Option<String>>().map(Cow::Owned),
    }
}

/// The parts from `index` on that are text.
fn text_run(parts: &[Part], index: usize) -> &[Part] {
    let rest = parts.get(index..).unwrap_or_default();
    let is_text = |part: &Part| match part {
        Part::Plain(text) => is_plain(text),
        Part::Quoted(_) => true,
        _ => false,
    };
    rest.get(..rest.iter().take_while(|part| is_text(part)).count()).unwrap_or_default()
}

fn is_bare(run: &[Part]) -> bool {
    run.iter().all(|part| matches!(part, Part::Plain(_)))
}

pub(super) fn is_quoted_expansion(part: &Part) -> bool {
    matches!(
        part,
        Part::Param { quoted: true, .. } | Part::Command { quoted: true, .. } | Part::Arith { quoted: true, .. }
    )
}

/// Whether what stands behind `$name`, the part before `index`, would be read as part of the name. Behind `$1` only a
/// digit looks so.
fn continues_name(parts: &[Part], index: usize) -> bool {
    let number = match index.checked_sub(1).and_then(|at| parts.get(at)) {
        Some(Part::Param { param, .. }) if param.name.bytes().all(|byte| byte.is_ascii_digit()) => true,
        Some(Part::Param { param, .. }) if !is_name(&param.name) => return false,
        _ => false,
    };
    for part in parts.get(index..).unwrap_or_default() {
        match part {
            Part::Plain(text) | Part::Quoted(text) => {
                if let Some(byte) = text.bytes().next() {
                    let joins = !number && (byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'['));
                    return joins || byte.is_ascii_digit();
                }
            }
            _ => return false,
        }
    }
    false
}

/// The same inside double quotes, which text outside ends.
fn continues_quoted(parts: &[Part], index: usize) -> bool {
    let rest = parts.get(index..).unwrap_or_default();
    let quoted = rest.iter().position(|part| !matches!(part, Part::Quoted(_))).unwrap_or(rest.len());
    continues_name(parts.get(..index + quoted).unwrap_or_default(), index)
}

/// Whether text means itself without quotes.
pub(super) fn is_plain(text: &str) -> bool {
    let own = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'.' | b'/' | b':' | b'=' | b'@' | b'%' | b'+' | b',' | b'-')
    };
    text.bytes().all(|byte| own(byte) || byte >= 0x80) && (text.is_ascii() || !text.chars().any(char::is_whitespace))
}

fn needs_care(text: &str) -> bool {
    RESERVED.contains(&text)
}

fn single_quoted(text: &str) -> String {
    // As itself it would be taken for the end of a line by whoever looks at it.
    if text.contains('\r') {
        return format!("$'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\r', "\\r"));
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for (index, piece) in text.split('\'').enumerate() {
        out.push_str(if index > 0 { "'\\''" } else { "" });
        out.push_str(piece);
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::print;

    #[test]
    fn what_was_printed_is_printed_the_same_again() {
        for (text, printed) in [
            ("FOO='x'\\ BAR=\"$(ls)\" ls", "FOO=\"x BAR=$(ls)\" ls"),
            ("a \\h\"$@\"--\"$@\"v", "a \"h$@--$@\"v"),
            ("a \"$x\"b'c d'", "a \"${x}bc d\""),
            // Letters that lose their quotes would join what stands beside them.
            ("~\\root", "~'r'oot"),
            ("{\\1..9}", "{'1'..9}"),
            ("\\a[0]=b c", "'a'[0]=b c"),
            // In front of its redirection a word would be reserved, or an option of `time`.
            ("a[$1x]", "a[$1x]"),
            ("echo ${1}x ${1}0 ${?}x ${x}y \"${1}x${1}0\"", "echo $1x ${1}0 $?x ${x}y \"$1x${1}0\""),
            ("a \"${x:-\"b c\"}\" \"${y#\\{}\"", "a \"${x:-\"b c\"}\" \"${y#\\{}\""),
            (">a time b", "'time' b > a"),
            (">a if b", "'if' b > a"),
            ("time >a -p", "time '-p' > a"),
            // In quotes the name would be no longer that of an assignment, whose value is not split.
            ("export P=a:$/b$x", "export P='a:$/b'$x"),
            ("export P='a b'$x", "export P='a b'$x"),
            ("export P+=\\ $x", "export P+=' '$x"),
            ("declare P=''\"$x\"", "declare P=\"$x\""),
            // Nor is a word one that was none for its quotes, or for those of the builtin.
            ("\\export P=$x", "'export' P=$x"),
            ("exp'ort' P=$x", "'export' P=$x"),
            ("export P\\Q=$x", "export 'PQ='$x"),
            ("command export \"P=\"$x", "command export 'P='$x"),
            ("command -- ls -la a=b", "command -- ls -la a=b"),
            // Bash reads a name when it is done with braces: where they bring no letter to it nothing changes, else all does.
            ("echo $a{,.c} $a/{b,c} \"$a\"{b,c}", "echo ${a}{,.c} ${a}/{b,c} \"$a\"{b,c}"),
            ("echo ${a}{b,c} {${a},$b} {$a,$b}s $a{1..2}", "echo ${a}{b,c} {${a},${b}} {$a,$b}s $a{1..2}"),
            ("[[ $a =~ ^b$ || $a =~ (^|,)$ || $a =~ x\\$ ]]", "[[ $a =~ ^b$ || $a =~ (^|,)$ || $a =~ x'$' ]]"),
        ] {
            let printed_once = parse::parse(text, None).map(|outcome| print(&outcome.program));
            assert_eq!(printed_once.as_deref().ok(), Some(printed), "{text}");
            let again = parse::parse(printed, None).map(|outcome| print(&outcome.program));
            assert_eq!(again.as_deref().ok(), Some(printed), "{text}, again");
        }
    }
}
