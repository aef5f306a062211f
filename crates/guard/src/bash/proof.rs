//! The canonical print, and the proof that it means what was read.
//!
//! What runs is not the text but its print, so the print is read again, by both readers, and has to become the same
//! tree. An item that is printed as it stood needs no second reading: it is the same text, between line ends. The
//! trees are compared and not what they do, because equal trees do the same and the comparison costs a twentieth.

use std::borrow::Cow;

use crate::ExecKind;

use super::analysis::raised_by;
use super::print::{self, is_plain, is_quoted_expansion};
use super::script::{
    Arm, Assign, AssignValue, Command, Here, Item, Kind, Op, Part, Pipeline, Program, Redirect, Script, Target, Test,
    Word,
};
use super::walk::Report;
use super::{lexical, limits, parse, second, seeds};

/// The one way of writing `program`, which was read from `text` and found to be of `kind`; or why it is not what was
/// read.
pub(super) fn printed(
    text: &str,
    program: &Program,
    reports: &[Report],
    kind: ExecKind,
) -> Result<String, &'static str> {
    let parts = print::parts(program);
    let items = program.script.items.iter().zip(&parts);
    let (changed, again): (Vec<&Item>, Vec<&str>) =
        items.filter(|(item, part)| !stood_so(item, part, text)).map(|(item, part)| (item, part.as_str())).unzip();
    if changed.is_empty() {
        return Ok(parts.concat());
    }
    let again = again.concat();
    let outcome =
        parse::parse(&again, None).map_err(|_| "the canonical print, which is what would run, cannot be read")?;
    let same = Same { first: &program.heres, second: &outcome.program.heres, loose: false };
    let read = &outcome.program.script.items;
    if read.len() != changed.len() || !changed.iter().zip(read).all(|(first, second)| same.item(first, second)) {
        return Err("the canonical print, which is what would run, reads otherwise");
    }
    if second::agrees(&again, &outcome.program, &outcome.bodies).is_err() {
        return Err("two readers see different words in the canonical print, which is what would run");
    }
    let mut found = limits::check(&again);
    found.extend(lexical::check(&again, &outcome.bodies));
    found.extend(seeds::check(&again, reports, &outcome.bodies));
    if found.iter().map(raised_by).any(|raised| raised > kind) {
        return Err("the canonical print, which is what would run, has what the command did not show");
    }
    Ok(parts.concat())
}

/// Whether an item is printed as it stands in the text.
fn stood_so(item: &Item, part: &str, text: &str) -> bool {
    let last = item.rest.last().map_or(&item.first, |(_, pipeline)| pipeline);
    let (Some(first), Some(last)) = (item.first.stages.first(), last.stages.last()) else { return false };
    let stood = text.get(first.span.start..last.span.end).unwrap_or_default().trim_end_matches([' ', '\t']);
    let part = part.strip_suffix('\n').unwrap_or(part);
    let part = if item.background { part.strip_suffix(" &").unwrap_or_default() } else { part };
    part == stood
}

/// Compares two trees with their here-documents; places in the text do not count.
pub(super) struct Same<'p> {
    pub first: &'p [Here],
    pub second: &'p [Here],
    /// Scripts inside `${…}` may be written differently: bash prints them in its own way there too.
    pub loose: bool,
}

impl Same<'_> {
    fn all<T>(&self, first: &[T], second: &[T], same: impl Fn(&Self, &T, &T) -> bool) -> bool {
        first.len() == second.len() && first.iter().zip(second).all(|(first, second)| same(self, first, second))
    }

    fn script(&self, first: &Script, second: &Script) -> bool {
        self.all(&first.items, &second.items, Self::item)
    }

    pub fn item(&self, first: &Item, second: &Item) -> bool {
        let link = |this: &Self, first: &(bool, Pipeline), second: &(bool, Pipeline)| {
            first.0 == second.0 && this.pipeline(&first.1, &second.1)
        };
        first.background == second.background
            && self.pipeline(&first.first, &second.first)
            && self.all(&first.rest, &second.rest, link)
    }

    fn pipeline(&self, first: &Pipeline, second: &Pipeline) -> bool {
        first.bangs == second.bangs
            && first.timed == second.timed
            && first.both == second.both
            && self.all(&first.stages, &second.stages, Self::command)
    }

    fn command(&self, first: &Command, second: &Command) -> bool {
        self.kind(&first.kind, &second.kind) && self.all(&first.redirects, &second.redirects, Self::redirect)
    }

    fn kind(&self, first: &Kind, second: &Kind) -> bool {
        match (first, second) {
            (Kind::Simple { assigns, words }, Kind::Simple { assigns: other_assigns, words: other_words }) => {
                self.all(assigns, other_assigns, Self::assign) && self.words(words, other_words)
            }
            (Kind::Subshell(first), Kind::Subshell(second)) | (Kind::Group(first), Kind::Group(second)) => {
                self.script(first, second)
            }
            (Kind::If { arms, otherwise }, Kind::If { arms: other_arms, otherwise: other }) => {
                let arm = |this: &Self, first: &(Script, Script), second: &(Script, Script)| {
                    this.script(&first.0, &second.0) && this.script(&first.1, &second.1)
                };
                self.all(arms, other_arms, arm) && self.all(otherwise.as_slice(), other.as_slice(), Self::script)
            }
            (
                Kind::Loop { until, condition, body },
                Kind::Loop { until: other_until, condition: other_condition, body: other_body },
            ) => until == other_until && self.script(condition, other_condition) && self.script(body, other_body),
            (
                Kind::For { select, name, words, body },
                Kind::For { select: other_select, name: other_name, words: other_words, body: other_body },
            ) => {
                let list = |this: &Self, first: &Vec<Word>, second: &Vec<Word>| this.words(first, second);
                (select, name) == (other_select, other_name)
                    && self.all(words.as_slice(), other_words.as_slice(), list)
                    && self.script(body, other_body)
            }
            (Kind::ArithFor { parts, body }, Kind::ArithFor { parts: other_parts, body: other_body }) => {
                let sum = |this: &Self, first: &Vec<Part>, second: &Vec<Part>| this.parts(first, second, false);
                self.all(parts, other_parts, sum) && self.script(body, other_body)
            }
            (Kind::Case { word, arms }, Kind::Case { word: other_word, arms: other_arms }) => {
                let arm = |this: &Self, first: &Arm, second: &Arm| {
                    first.end == second.end
                        && this.words(&first.patterns, &second.patterns)
                        && this.script(&first.body, &second.body)
                };
                self.word(word, other_word) && self.all(arms, other_arms, arm)
            }
            (Kind::Function { name, body }, Kind::Function { name: other_name, body: other_body }) => {
                name == other_name && self.command(body, other_body)
            }
            (Kind::Coproc { body }, Kind::Coproc { body: other_body }) => self.command(body, other_body),
            (Kind::Arith(first), Kind::Arith(second)) => self.parts(first, second, false),
            (Kind::Test(first), Kind::Test(second)) => self.test(first, second),
            _ => false,
        }
    }

    fn test(&self, first: &Test, second: &Test) -> bool {
        match (first, second) {
            (Test::And(left, right), Test::And(other_left, other_right))
            | (Test::Or(left, right), Test::Or(other_left, other_right)) => {
                self.test(left, other_left) && self.test(right, other_right)
            }
            (Test::Not(first), Test::Not(second)) | (Test::Paren(first), Test::Paren(second)) => {
                self.test(first, second)
            }
            (Test::Unary(op, word), Test::Unary(other_op, other_word)) => op == other_op && self.word(word, other_word),
            (Test::Binary(op, left, right), Test::Binary(other_op, other_left, other_right)) => {
                op == other_op
                    && self.word(left, other_left)
                    && self.parts(&right.parts, &other_right.parts, op == "=~")
            }
            (Test::Word(first), Test::Word(second)) => self.word(first, second),
            _ => false,
        }
    }

    fn assign(&self, first: &Assign, second: &Assign) -> bool {
        (&first.name, &first.index, first.append) == (&second.name, &second.index, second.append)
            && match (&first.value, &second.value) {
                (AssignValue::Word(first), AssignValue::Word(second)) => self.word(first, second),
                (AssignValue::Array(first), AssignValue::Array(second)) => self.words(first, second),
                _ => false,
            }
    }

    fn redirect(&self, first: &Redirect, second: &Redirect) -> bool {
        first.fd == second.fd
            && first.op == second.op
            && match (&first.target, &second.target) {
                (Target::Word(first), Target::Word(second)) => self.word(first, second),
                (Target::Here(first), Target::Here(second)) => {
                    match (self.first.get(*first), self.second.get(*second)) {
                        (Some(first), Some(second)) => self.here(first, second),
                        _ => false,
                    }
                }
                _ => false,
            }
    }

    /// The parts of a body follow from its text.
    fn here(&self, first: &Here, second: &Here) -> bool {
        (&first.delimiter, &first.raw, first.quoted, first.strip)
            == (&second.delimiter, &second.raw, second.quoted, second.strip)
    }

    fn words(&self, first: &[Word], second: &[Word]) -> bool {
        self.all(first, second, Self::word)
    }

    fn word(&self, first: &Word, second: &Word) -> bool {
        self.parts(&first.parts, &second.parts, false)
    }

    /// Whether two words are the same. How a letter is quoted counts only where it matters: beside wildcards, braces
    /// and `~`, and in a pattern (`strict`).
    fn parts(&self, first: &[Part], second: &[Part], strict: bool) -> bool {
        let special = |part: &Part| matches!(part, Part::Plain(text) if !is_plain(text));
        let strict = strict || first.iter().any(special) || second.iter().any(special);
        match (pieces(first, strict).as_slice(), pieces(second, strict).as_slice()) {
            ([Piece::Text(_, first)], [Piece::Text(_, second)]) if !strict => first == second,
            (first, second) => self.all(first, second, Self::piece),
        }
    }

    fn piece(&self, first: &Piece<'_>, second: &Piece<'_>) -> bool {
        match (first, second) {
            (Piece::Text(quoted, first), Piece::Text(other_quoted, second)) => {
                quoted == other_quoted && first == second
            }
            (Piece::Expanded(first), Piece::Expanded(second)) => self.part(first, second),
            _ => false,
        }
    }

    fn op(&self, first: &Op, second: &Op) -> bool {
        match (first, second) {
            (Op::Default { kind, word }, Op::Default { kind: other_kind, word: other }) => {
                kind == other_kind && self.parts(word, other, true)
            }
            (Op::Edit(first), Op::Edit(second)) | (Op::Substring(first), Op::Substring(second)) => {
                self.parts(first, second, true)
            }
            _ => false,
        }
    }

    fn part(&self, first: &Part, second: &Part) -> bool {
        match (first, second) {
            (Part::Param { param, quoted }, Part::Param { param: other, quoted: other_quoted }) => {
                // What stands behind an operator follows from what is written.
                quoted == other_quoted
                    && (&param.name, &param.index) == (&other.name, &other.index)
                    && (param.raw == other.raw || self.loose && self.op(&param.op, &other.op))
            }
            (Part::Command { script, quoted, .. }, Part::Command { script: other, quoted: other_quoted, .. }) => {
                quoted == other_quoted && self.script(script, other)
            }
            (Part::Arith { parts, quoted }, Part::Arith { parts: other, quoted: other_quoted }) => {
                quoted == other_quoted && self.parts(parts, other, false)
            }
            (Part::Process { write, script }, Part::Process { write: other_write, script: other }) => {
                write == other_write && self.script(script, other)
            }
            (Part::Array(first), Part::Array(second)) => self.words(first, second),
            _ => false,
        }
    }
}

/// A piece of a word as it is compared: a run of text, quoted or not where that counts, or an expansion.
enum Piece<'p> {
    Text(bool, Cow<'p, str>),
    Expanded(&'p Part),
}

fn pieces(parts: &[Part], strict: bool) -> Vec<Piece<'_>> {
    let mut out: Vec<Piece<'_>> = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let (text, quoted) = match part {
            Part::Plain(text) => (text, false),
            Part::Quoted(text) => (text, strict),
            expanded => {
                out.push(Piece::Expanded(expanded));
                continue;
            }
        };
        let before = index.checked_sub(1).and_then(|at| parts.get(at));
        let held = |part: Option<&Part>| match part {
            Some(Part::Plain(_) | Part::Quoted(_)) => true,
            Some(part) => is_quoted_expansion(part),
            None => false,
        };
        // `""` says that there is a word, which text and quotes beside it say too.
        if text.is_empty() && (held(before) || held(parts.get(index + 1))) {
            continue;
        }
        match out.last_mut() {
            Some(Piece::Text(last, joined)) if *last == quoted => joined.to_mut().push_str(text),
            _ => out.push(Piece::Text(quoted, Cow::Borrowed(text))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(first: &str, second: &str) -> bool {
        let (first, second) = (parse::parse(first, None), parse::parse(second, None));
        let (Ok(first), Ok(second)) = (first, second) else { return false };
        let same = Same { first: &first.program.heres, second: &second.program.heres, loose: false };
        same.script(&first.program.script, &second.program.script)
    }

    #[test]
    fn another_way_of_writing_is_the_same() {
        for (first, second) in [
            ("ls  -la", "'ls' \"-la\""),
            ("a;b\n", "a\nb"),
            ("echo \"a $x\"b", "echo \"a ${x}b\""),
            ("echo \\h\"$@\"", "echo \"h$@\""),
            ("cat <<E\n$x\nE\n", "cat << E\n$x\nE"),
            ("if a\nthen b\nfi", "if a; then b; fi"),
            ("echo `ls`", "echo $(ls)"),
        ] {
            assert!(same(first, second), "{first:?} {second:?}");
        }
    }

    #[test]
    fn another_meaning_is_not() {
        for (first, second) in [
            ("ls", "ls a"),
            ("a && b", "a || b"),
            ("a; b", "a & b"),
            ("! a", "a"),
            ("a | b", "a |& b"),
            ("ls *", "ls '*'"),
            ("ls ~root", "ls ~'r'oot"),
            ("echo {1..9}", "echo {'1'..9}"),
            ("echo $x", "echo \"$x\""),
            ("echo $x''$y", "echo $x$y"),
            ("echo ''$x", "echo $x"),
            ("a=b", "'a'=b"),
            ("if a; then b; fi", "if a; then b; else b; fi"),
            ("cat <<E\n$x\nE\n", "cat <<'E'\n$x\nE\n"),
            ("cat <<E\nx\nE\n", "cat <<E\ny\nE\n"),
            ("ls > a", "ls >> a"),
            ("ls 2> a", "ls 1> a"),
            ("[[ $x =~ a'.'b ]]", "[[ $x =~ a.b ]]"),
            ("[[ a == b ]]", "[[ a != b ]]"),
            ("time ls", "time -p ls"),
            ("for x in a; do b; done", "for x; do b; done"),
            ("case a in b) c;; esac", "case a in b) c;& esac"),
            ("echo $((1+1))", "echo $((1+2))"),
            ("echo $(ls)", "echo $(pwd)"),
            ("echo ${x:-a}", "echo ${x:+a}"),
            ("f() { a; }", "f() ( a )"),
            ("until a; do b; done", "while a; do b; done"),
            ("a=(b c)", "a=(b)"),
            ("a+=b", "a=b"),
            ("cat <(a)", "cat >(a)"),
        ] {
            assert!(!same(first, second), "{first:?} {second:?}");
            assert!(same(first, first) && same(second, second), "{first:?} {second:?}");
        }
    }

    #[test]
    fn what_is_printed_as_it_stands_is_known() {
        let all = |text: &str| {
            let program = parse::parse(text, None).expect("it reads").program;
            let parts = print::parts(&program);
            program.script.items.iter().zip(&parts).map(|(item, part)| stood_so(item, part, text)).collect::<Vec<_>>()
        };
        assert_eq!(all("ls -l; ls  -l && a # b\npwd &\n! a\n a "), [true, false, true, false, true]);
        assert_eq!(all("cat <<E; ls\na\nE\nls *.txt | wc"), [false, true, true]);
    }
}
