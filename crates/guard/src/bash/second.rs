//! A second opinion on the structure of a script.
//!
//! Our reader and brush's parser were written by different people from different descriptions of
//! bash. Both list the simple commands with their raw words; when the lists differ, the text is one
//! of those that shells read differently, and nothing proved about it counts.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use brush_parser::ast;

use super::limits;
use super::parse::RESERVED;
use super::script::{AssignValue, Command, Fd, Item, Kind, Part, Program, Script, Target, Word};

/// One thing that a reader sees, in order.
#[derive(Debug, PartialEq)]
enum Seen<'t> {
    Pipeline(usize),
    Mark(&'static str),
    Word(Cow<'t, str>),
    Redirect(Cow<'t, str>),
    Loop(Cow<'t, str>),
    Case(Cow<'t, str>),
    Function(Cow<'t, str>),
    Array(Cow<'t, str>),
}

impl fmt::Display for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seen::Pipeline(stages) => write!(f, "pipeline of {stages}"),
            Seen::Mark(mark) => f.write_str(mark),
            Seen::Word(word) => f.write_str(word),
            Seen::Redirect(target) => write!(f, "redirect {target}"),
            Seen::Loop(name) => write!(f, "for {name}"),
            Seen::Case(word) => write!(f, "case {word}"),
            Seen::Function(name) => write!(f, "{name}()"),
            Seen::Array(name) => write!(f, "{name}=("),
        }
    }
}

/// Whether both readers see the same commands; otherwise one sentence about where they part.
///
/// `bodies` are the here-documents in `text`: they are blanked first, because brush counts quotes in
/// a here-document inside `$(…)`, which bash does not. Commands of plain words are not shown to brush:
/// there is one way to read them ([`is_plain`]), and `:` stands in their place.
pub(super) fn agrees(text: &str, program: &Program, bodies: &[Range<usize>]) -> Result<(), String> {
    let masked = mask(text, bodies);
    let mut shown = String::with_capacity(masked.len());
    let mut ours = Vec::new();
    let (mut from, mut behind) = (0, false);
    for item in &program.script.items {
        let Some(span) = plain_span(item, &masked).filter(|span| span.start >= from) else {
            self::item(item, &masked, &mut ours);
            behind = false;
            continue;
        };
        let gap = masked.get(from..span.start).unwrap_or_default();
        from = span.end;
        // One `:` stands for all that follow each other.
        if behind && !item.background && gap.bytes().all(|byte| matches!(byte, b';' | b' ' | b'\t' | b'\n')) {
            continue;
        }
        shown.push_str(gap);
        shown.push(':');
        ours.extend([Seen::Pipeline(1), Seen::Mark("simple"), Seen::Word(Cow::Borrowed(":"))]);
        ours.extend(item.background.then_some(Seen::Mark("&")));
        behind = !item.background;
    }
    shown.push_str(masked.get(from..).unwrap_or_default());
    if shown.bytes().all(|byte| matches!(byte, b':' | b';' | b' ' | b'\t' | b'\n')) {
        return Ok(());
    }
    sees(&shown, &ours)
}

/// Whether brush sees in `shown` what we saw.
fn sees(shown: &str, ours: &[Seen<'_>]) -> Result<(), String> {
    if limits::deepest(shown).0 > limits::SHOWN_DEPTH {
        return Err("it is nested deeper than a second reader of shell text goes".to_owned());
    }
    let options = brush_parser::ParserOptions {
        enable_extended_globbing: false,
        tilde_expansion_at_word_start: false,
        ..Default::default()
    };
    let tokens = brush_parser::uncached_tokenize_str(shown, &options.tokenizer_options())
        .map_err(|_| "a second reader of shell text cannot split it into words".to_owned())?;
    let theirs_tree = brush_parser::parse_tokens(&tokens, &options)
        .map_err(|_| "a second reader of shell text does not accept it".to_owned())?;
    let mut theirs = Vec::with_capacity(ours.len());
    for list in &theirs_tree.complete_commands {
        brush_list(list, &mut theirs);
    }
    let differs = ours.iter().zip(&theirs).find(|(ours, theirs)| !same(ours, theirs));
    match differs {
        Some((ours, theirs)) => Err(format!("two readers of shell text see different words: `{ours}` and `{theirs}`")),
        None if ours.len() != theirs.len() => Err("two readers of shell text see different commands".to_owned()),
        None => Ok(()),
    }
}

/// Whether both saw the same. brush puts what stands in `$(…)` and `${…}` together again from its words, with one blank
/// between them: there the number of blanks does not count.
fn same(ours: &Seen<'_>, theirs: &Seen<'_>) -> bool {
    let apart = match (ours, theirs) {
        _ if ours == theirs => return true,
        (Seen::Word(ours), Seen::Word(theirs))
        | (Seen::Redirect(ours), Seen::Redirect(theirs))
        | (Seen::Case(ours), Seen::Case(theirs)) => (ours, theirs),
        _ => return false,
    };
    let substitutes = |text: &str| text.contains("$(") || text.contains("${") || text.contains('`');
    substitutes(apart.0) && squeezed(apart.0) == squeezed(apart.1)
}

/// The text with one blank for every run of them, and none beside the end of a line.
fn squeezed(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let words: Vec<&str> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        words.join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Where an item stands in the text, if it is nothing but plain commands.
fn plain_span(item: &Item, text: &str) -> Option<Range<usize>> {
    let last = item.rest.last().map_or(&item.first, |(_, pipeline)| pipeline);
    let span = item.first.stages.first()?.span.start..last.stages.last()?.span.end;
    let opened = item.first.bangs > 0 || item.first.timed.is_some();
    (!opened && is_plain(text.get(span.clone())?)).then_some(span)
}

/// Whether `text` is made of words, escapes, quotes without anything inside them that could end them otherwise, `$x`,
/// `|`, `&&` and redirections to words, and of no word that the grammar knows. Each is read in one way, which the
/// tests hold against brush.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut word) = (0, 0);
    let reserved = |word: Range<usize>| text.get(word).is_some_and(|word| RESERVED.contains(&word));
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied();
        at += match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'/' | b':' | b'@' | b'%' | b'+' | b',' | b'-' => 1,
            b'=' | b'*' | b'?' | b'~' | b'^' | b'!' | b']' | b'{' => 1,
            b'[' if at == word && next == Some(b' ') => 1,
            b'}' if !matches!(next, Some(b'<' | b'>')) => 1,
            b'$' if next.is_some_and(is_variable) => 2,
            b'\\' if next.is_some_and(|next| next != b'$' && (next.is_ascii_graphic() || next == b' ')) => 2,
            b'\'' | b'"' => match quoted(bytes.get(at..).unwrap_or_default()) {
                Some(len) => len,
                None => return false,
            },
            b' ' | b'\t' | b'|' | b'<' | b'>' | b'&' => {
                let len = match (byte, next) {
                    (b'&', Some(b'&')) | (b'|', Some(b'|')) | (b'>', Some(b'>' | b'&')) => 2,
                    (b'&', _) | (b'|', Some(b'&')) | (b'>', Some(b'|' | b'(')) => return false,
                    (b'<', Some(b'<' | b'>' | b'&' | b'(')) => return false,
                    _ => 1,
                };
                if reserved(word..at) {
                    return false;
                }
                word = at + len;
                len
            }
            _ => return false,
        };
    }
    !reserved(word..bytes.len())
}

/// Whether `$` and this byte expand a variable and nothing else.
fn is_variable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?' | b'@')
}

/// The length of the quotes that `bytes` start with, if only variables are expanded inside them.
fn quoted(bytes: &[u8]) -> Option<usize> {
    let (quote, inner) = bytes.split_first()?;
    let mut at = 0;
    loop {
        let next = inner.get(at + 1).copied();
        at += match inner.get(at)? {
            byte if byte == quote => return Some(at + 2),
            b'$' if *quote == b'"' && next.is_some_and(is_variable) => 2,
            b'$' | b'`' | b'\\' | b'!' if *quote == b'"' => return None,
            0x20..0x7f => 1,
            _ => return None,
        };
    }
}

/// The same text with the bodies of here-documents made of one letter.
fn mask<'t>(text: &'t str, bodies: &[Range<usize>]) -> Cow<'t, str> {
    if bodies.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    for range in bodies {
        for byte in bytes.get_mut(range.clone()).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b'x';
            }
        }
    }
    // A body is whole lines, so no character is cut in two.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn script<'t>(list: &Script, text: &'t str, out: &mut Vec<Seen<'t>>) {
    for item in &list.items {
        self::item(item, text, out);
    }
}

fn item<'t>(item: &Item, text: &'t str, out: &mut Vec<Seen<'t>>) {
    for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
        out.push(Seen::Pipeline(pipeline.stages.len()));
        for (index, stage) in pipeline.stages.iter().enumerate() {
            command(stage, text, out);
            if pipeline.both.get(index) == Some(&true) {
                // brush writes `a |& b` as `a 2>&1 | b`.
                out.push(Seen::Redirect(Cow::Borrowed("1")));
            }
        }
    }
    if item.background {
        out.push(Seen::Mark("&"));
    }
}

fn raw<'t>(text: &'t str, word: &Word) -> Cow<'t, str> {
    joined(text.get(word.span.clone()).unwrap_or_default())
}

/// The text without continued lines.
fn joined(text: &str) -> Cow<'_, str> {
    if text.contains("\\\n") { Cow::Owned(text.replace("\\\n", "")) } else { Cow::Borrowed(text) }
}

fn command<'t>(command: &Command, text: &'t str, out: &mut Vec<Seen<'t>>) {
    match &command.kind {
        Kind::Simple { assigns, words } => {
            out.push(Seen::Mark("simple"));
            for assign in assigns {
                match &assign.value {
                    AssignValue::Word(_) => {
                        let written = text.get(assign.span.clone()).unwrap_or_default();
                        out.push(Seen::Word(joined(written)));
                    }
                    AssignValue::Array(_) => out.push(Seen::Array(Cow::Owned(assign.name.clone()))),
                }
            }
            for word in words {
                match word.parts.as_slice() {
                    [Part::Process { write, .. }] => out.push(Seen::Mark(if *write { ">(" } else { "<(" })),
                    parts => {
                        let array = matches!(parts.last(), Some(Part::Array(_)));
                        let raw = raw(text, word);
                        out.push(if array {
                            Seen::Array(Cow::Owned(raw.split('=').next().unwrap_or_default().to_owned()))
                        } else {
                            Seen::Word(raw)
                        });
                    }
                }
            }
        }
        Kind::Subshell(inner) => {
            out.push(Seen::Mark("("));
            script(inner, text, out);
        }
        Kind::Group(inner) => {
            out.push(Seen::Mark("{"));
            script(inner, text, out);
        }
        Kind::If { arms, otherwise } => {
            out.push(Seen::Mark("if"));
            for (condition, body) in arms {
                script(condition, text, out);
                out.push(Seen::Mark("then"));
                script(body, text, out);
            }
            if let Some(body) = otherwise {
                out.push(Seen::Mark("else"));
                script(body, text, out);
            }
            out.push(Seen::Mark("fi"));
        }
        Kind::Loop { until, condition, body } => {
            out.push(Seen::Mark(if *until { "until" } else { "while" }));
            script(condition, text, out);
            out.push(Seen::Mark("do"));
            script(body, text, out);
        }
        Kind::For { name, words, body, .. } => {
            out.push(Seen::Loop(Cow::Owned(name.clone())));
            for word in words.iter().flatten() {
                out.push(Seen::Word(raw(text, word)));
            }
            script(body, text, out);
        }
        Kind::ArithFor { body, .. } => {
            out.push(Seen::Mark("for (("));
            script(body, text, out);
        }
        Kind::Case { word, arms } => {
            out.push(Seen::Case(raw(text, word)));
            for arm in arms {
                out.extend(arm.patterns.iter().map(|pattern| Seen::Word(raw(text, pattern))));
                script(&arm.body, text, out);
            }
        }
        Kind::Function { name, body } => {
            out.push(Seen::Function(Cow::Owned(name.clone())));
            self::command(body, text, out);
        }
        Kind::Coproc { .. } => out.push(Seen::Mark("coproc")),
        Kind::Arith(_) => out.push(Seen::Mark("((")),
        Kind::Test(_) => out.push(Seen::Mark("[[")),
    }
    for redirect in &command.redirects {
        if matches!(redirect.fd, Fd::Named(_)) {
            out.push(Seen::Mark("{name}"));
        }
        match &redirect.target {
            Target::Word(word) => match word.parts.as_slice() {
                [Part::Process { .. }] => out.push(Seen::Redirect(Cow::Borrowed("("))),
                _ => out.push(Seen::Redirect(raw(text, word))),
            },
            Target::Here(_) => out.push(Seen::Redirect(Cow::Borrowed("<<"))),
        }
    }
}

fn brush_list<'t>(list: &'t ast::CompoundList, out: &mut Vec<Seen<'t>>) {
    for ast::CompoundListItem(and_or, separator) in &list.0 {
        for (_, pipeline) in and_or.iter() {
            out.push(Seen::Pipeline(pipeline.seq.len()));
            for command in &pipeline.seq {
                brush_command(command, out);
            }
        }
        if matches!(separator, ast::SeparatorOperator::Async) {
            out.push(Seen::Mark("&"));
        }
    }
}

fn clean(word: &ast::Word) -> Cow<'_, str> {
    joined(&word.value)
}

fn brush_command<'t>(command: &'t ast::Command, out: &mut Vec<Seen<'t>>) {
    let mut redirects = Vec::new();
    match command {
        ast::Command::Simple(simple) => {
            out.push(Seen::Mark("simple"));
            let prefix = simple.prefix.iter().flat_map(|prefix| prefix.0.iter());
            for item in prefix {
                brush_item(item, out, &mut redirects);
            }
            out.extend(simple.word_or_name.as_ref().map(|word| Seen::Word(clean(word))));
            for item in simple.suffix.iter().flat_map(|suffix| suffix.0.iter()) {
                brush_item(item, out, &mut redirects);
            }
        }
        ast::Command::Compound(compound, list) => {
            brush_compound(compound, out);
            brush_redirects(list.as_ref(), &mut redirects);
        }
        ast::Command::Function(function) => {
            out.push(Seen::Function(Cow::Borrowed(&function.fname.value)));
            brush_compound(&function.body.0, out);
            brush_redirects(function.body.1.as_ref(), &mut redirects);
        }
        ast::Command::ExtendedTest(_, list) => {
            out.push(Seen::Mark("[["));
            brush_redirects(list.as_ref(), &mut redirects);
        }
    }
    out.append(&mut redirects);
}

fn brush_item<'t>(item: &'t ast::CommandPrefixOrSuffixItem, out: &mut Vec<Seen<'t>>, redirects: &mut Vec<Seen<'t>>) {
    match item {
        ast::CommandPrefixOrSuffixItem::Word(word) => out.push(Seen::Word(clean(word))),
        ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => match &assignment.value {
            ast::AssignmentValue::Scalar(_) => out.push(Seen::Word(clean(word))),
            ast::AssignmentValue::Array(_) => out.push(Seen::Array(Cow::Owned(assignment.name.to_string()))),
        },
        ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => brush_redirect(redirect, redirects),
        ast::CommandPrefixOrSuffixItem::ProcessSubstitution(kind, _) => {
            let write = matches!(kind, ast::ProcessSubstitutionKind::Write);
            out.push(Seen::Mark(if write { ">(" } else { "<(" }));
        }
    }
}

fn brush_redirects<'t>(list: Option<&'t ast::RedirectList>, out: &mut Vec<Seen<'t>>) {
    for redirect in list.iter().flat_map(|list| list.0.iter()) {
        brush_redirect(redirect, out);
    }
}

fn brush_redirect<'t>(redirect: &'t ast::IoRedirect, out: &mut Vec<Seen<'t>>) {
    match redirect {
        ast::IoRedirect::File(_, _, target) => match target {
            ast::IoFileRedirectTarget::Filename(word) | ast::IoFileRedirectTarget::Duplicate(word) => {
                out.push(Seen::Redirect(clean(word)));
            }
            ast::IoFileRedirectTarget::Fd(fd) => out.push(Seen::Redirect(Cow::Owned(fd.to_string()))),
            ast::IoFileRedirectTarget::ProcessSubstitution(..) => out.push(Seen::Redirect(Cow::Borrowed("("))),
        },
        ast::IoRedirect::HereDocument(..) => out.push(Seen::Redirect(Cow::Borrowed("<<"))),
        ast::IoRedirect::HereString(_, word) | ast::IoRedirect::OutputAndError(word, _) => {
            out.push(Seen::Redirect(clean(word)));
        }
    }
}

fn brush_compound<'t>(compound: &'t ast::CompoundCommand, out: &mut Vec<Seen<'t>>) {
    match compound {
        ast::CompoundCommand::Arithmetic(_) => out.push(Seen::Mark("((")),
        ast::CompoundCommand::ArithmeticForClause(clause) => {
            out.push(Seen::Mark("for (("));
            brush_list(&clause.body.list, out);
        }
        ast::CompoundCommand::BraceGroup(group) => {
            out.push(Seen::Mark("{"));
            brush_list(&group.list, out);
        }
        ast::CompoundCommand::Subshell(subshell) => {
            out.push(Seen::Mark("("));
            brush_list(&subshell.list, out);
        }
        ast::CompoundCommand::ForClause(clause) => {
            out.push(Seen::Loop(Cow::Borrowed(&clause.variable_name)));
            out.extend(clause.values.iter().flatten().map(|word| Seen::Word(clean(word))));
            brush_list(&clause.body.list, out);
        }
        ast::CompoundCommand::CaseClause(clause) => {
            out.push(Seen::Case(clean(&clause.value)));
            for case in &clause.cases {
                out.extend(case.patterns.iter().map(|word| Seen::Word(clean(word))));
                if let Some(list) = &case.cmd {
                    brush_list(list, out);
                }
            }
        }
        ast::CompoundCommand::IfClause(clause) => {
            out.push(Seen::Mark("if"));
            brush_list(&clause.condition, out);
            out.push(Seen::Mark("then"));
            brush_list(&clause.then, out);
            for other in clause.elses.iter().flatten() {
                match &other.condition {
                    Some(condition) => {
                        brush_list(condition, out);
                        out.push(Seen::Mark("then"));
                    }
                    None => out.push(Seen::Mark("else")),
                }
                brush_list(&other.body, out);
            }
            out.push(Seen::Mark("fi"));
        }
        ast::CompoundCommand::WhileClause(clause) => brush_loop("while", clause, out),
        ast::CompoundCommand::UntilClause(clause) => brush_loop("until", clause, out),
        ast::CompoundCommand::Coprocess(_) => out.push(Seen::Mark("coproc")),
    }
}

fn brush_loop<'t>(name: &'static str, clause: &'t ast::WhileOrUntilClauseCommand, out: &mut Vec<Seen<'t>>) {
    out.push(Seen::Mark(name));
    brush_list(&clause.0, out);
    out.push(Seen::Mark("do"));
    brush_list(&clause.1.list, out);
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    /// What brush says of a text with nothing left out.
    fn whole(text: &str, program: &Program) -> Result<(), String> {
        let mut ours = Vec::new();
        script(&program.script, text, &mut ours);
        sees(text, &ours)
    }

    #[test]
    fn blanks_count_outside_substitutions_only() {
        let read = |text: &str| {
            let outcome = parse::parse(text, None).expect("it reads");
            agrees(text, &outcome.program, &outcome.bodies)
        };
        for text in ["x=$(ls |\n\t\tgrep  a)", "echo \"${x= \t}\" # a", "echo $(a  b\t\tc) \"$(d  e)\""] {
            assert_eq!(read(text), Ok(()), "{text:?}");
        }
        let word = |text: &'static str| Seen::Word(Cow::Borrowed(text));
        assert!(same(&word("$(a  b)"), &word("$(a b)")));
        for (ours, theirs) in [("'a  b'", "'a b'"), ("$(a b)", "$(ab)"), ("$(a\nb)", "$(a b)"), ("$(a b)", "$(a)")] {
            assert!(!same(&word(ours), &word(theirs)), "{ours:?} {theirs:?}");
        }
        assert!(!same(&word("$(a  b)"), &Seen::Redirect(Cow::Borrowed("$(a b)"))));
    }

    #[test]
    fn ordinary_commands_are_plain() {
        for text in [
            "ls -la",
            "grep -rn 'a b' src | wc -l",
            "cd src && make -j4 > out.log 2>&1",
            "find . -name \\*.rs -exec wc -l {} \\;",
            "[ -f \"$HOME/a b\" ] && cat < $1",
            "FOO=bar env || true",
            "rm -rf ./*",
        ] {
            assert!(is_plain(text), "{text}");
        }
        for text in [
            "if",
            "a | time b",
            "a && ! b",
            "a & b",
            "a; b",
            "(a)",
            "$(a)",
            "`a`",
            "a <<E",
            "a #",
            "a {x}> y",
            "a[1]=b",
            "\"$(a)\"",
            "\"\\\"\"",
            "a\nb",
            "é",
            "a |& b",
            "a >| b",
            "'a",
            "f()",
            "${x}",
            "$'a'",
            "a \\",
            "a \\\n b",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }

    #[test]
    fn plain_text_has_one_reading() {
        const PIECES: &[&str] = &[
            "ls", "a", "-l", "=", "a=", "+=", "1", "2", "/", "~", "*", "?", "^", "!", "{", "}", "{}", "{a,b}", "[ ",
            "]", " ", " ", " ", "\t", "|", "||", "&&", " | ", " && ", ">", ">>", "<", ">&", "2>&1", "'", "\"", "' '",
            "\" \"", "$", "$x", "$1", "$?", "$@", "\\", "\\;", "\\(", "\\ ", "\\'", "\\\"", "\\\\", "\\$", "if",
            "then", "do", "in", "time", "coproc", "export ", "declare ", ":", "%", "@", "+", ",", ".", "#", "E",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % limit as u64).unwrap_or(0)
        };
        let mut checked = 0;
        for _ in 0..40_000 {
            let text: String = (0..1 + below(9)).map(|_| PIECES[below(PIECES.len())]).collect();
            let Ok(outcome) = parse::parse(&text, None) else { continue };
            let plain = outcome.program.script.items.iter().all(|item| plain_span(item, &text).is_some());
            if plain && !outcome.program.script.items.is_empty() {
                checked += 1;
                assert_eq!(whole(&text, &outcome.program), Ok(()), "{text:?}");
            }
        }
        assert!(checked > 2_000, "{checked}");
    }
}
