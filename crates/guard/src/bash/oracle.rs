//! What the campaign over the scripts of a machine asks: whether our reader takes a text, and whether two texts are one
//! script.
//!
//! `bash --pretty-print` writes a script in bash's own way: `elif` becomes an `if` inside an `else`, `|&` becomes
//! `2>&1 |`. Both readings are brought to that form before they are compared. It knows nothing of what commands do.

use super::parse;
use super::proof::Same;
use super::script::{
    AssignValue, Command, Fd, Item, Kind, Op, Param, Part, Pipeline, Program, Redirect, RedirectOp, Script, Target,
    Test, Word,
};
use super::{print, second};

/// Why a text is not read: by our reader, or because brush sees something else in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// What our reader says.
    Ours(String),
    /// Where the second reader differs.
    Second(String),
}

/// Whether `text` is read as a script.
pub fn reads(text: &str) -> Result<(), Refused> {
    let outcome = parse::parse(text, None).map_err(|trouble| Refused::Ours(trouble.why))?;
    second::agrees(text, &outcome.program, &outcome.bodies).map_err(Refused::Second)
}

/// Whether both texts are read, and as the same script; otherwise the first item in which they differ, twice.
pub fn alike(first: &str, second: &str) -> Result<(), (String, String)> {
    let read = |text: &str| match parse::parse(text, None) {
        Ok(outcome) => Ok(normal(outcome.program)),
        Err(trouble) => Err((trouble.why, "what bash printed is not read".to_owned())),
    };
    let (first, second) = (read(first)?, read(second)?);
    let same = Same { first: &first.heres, second: &second.heres, loose: true };
    let (left, right) = (&first.script.items, &second.script.items);
    let shown = |item: Option<&Item>| item.map_or_else(|| "nothing".to_owned(), |item| placeless(&format!("{item:?}")));
    for at in 0..left.len().max(right.len()) {
        match (left.get(at), right.get(at)) {
            (Some(first), Some(second)) if same.item(first, second) => {}
            (first, second) => return Err((shown(first), shown(second))),
        }
    }
    Ok(())
}

/// The script of `text`, as we print it, with `<<< text` for every here-document: bash 5.2 prints no end of the command
/// behind some of them, so that what it printed is another script.
pub fn without_heres(text: &str) -> Option<String> {
    let mut program = parse::parse(text, None).ok()?.program;
    Form { heres: false }.script(&mut program.script);
    Some(print::parts(&program).concat())
}

/// A tree as text without the places in it.
fn placeless(tree: &str) -> String {
    let mut parts = tree.split(", span: ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
    }
    out
}

fn normal(mut program: Program) -> Program {
    Form { heres: true }.script(&mut program.script);
    for here in &mut program.heres {
        if here.strip {
            here.raw = here.raw.lines().map(|line| format!("{}\n", line.trim_start_matches('\t'))).collect();
        }
    }
    program
}

fn empty_group() -> Command {
    Command { kind: Kind::Group(Script::default()), redirects: Vec::new(), span: 0..0 }
}

fn second_word(program: &Program) -> Option<Word> {
    match &program.script.items.first()?.first.stages.first()?.kind {
        Kind::Simple { words, .. } => words.get(1).cloned(),
        _ => None,
    }
}

/// Conditions and what follows them.
type Arms = Vec<(Script, Script)>;

/// The arms of a list that is nothing but an `if`.
fn only_if(list: &Script) -> Option<(Arms, Option<Script>)> {
    let [Item { first, rest, background: false }] = list.items.as_slice() else { return None };
    let [Command { kind: Kind::If { arms, otherwise }, redirects, .. }] = first.stages.as_slice() else { return None };
    let bare = rest.is_empty() && first.bangs == 0 && first.timed.is_none() && redirects.is_empty();
    bare.then(|| (arms.clone(), otherwise.clone()))
}

/// Brings a tree to the form in which bash prints it.
struct Form {
    /// Whether here-documents stay.
    heres: bool,
}

impl Form {
    fn script(&self, list: &mut Script) {
        for item in &mut list.items {
            self.pipeline(&mut item.first);
            item.rest.iter_mut().for_each(|(_, rest)| self.pipeline(rest));
        }
    }

    fn pipeline(&self, list: &mut Pipeline) {
        for (index, stage) in list.stages.iter_mut().enumerate() {
            self.command(stage);
            if let Some(both) = list.both.get_mut(index).filter(|both| **both) {
                *both = false;
                let parts = vec![Part::Plain("1".to_owned())];
                let target = Target::Word(Word { parts, span: 0..0 });
                stage.redirects.push(Redirect {
                    fd: Fd::Number("2".to_owned()),
                    op: RedirectOp::DupOut,
                    target,
                    span: 0..0,
                });
            }
        }
    }

    fn command(&self, command: &mut Command) {
        match &mut command.kind {
            Kind::Simple { assigns, words } => {
                for assign in assigns {
                    match &mut assign.value {
                        AssignValue::Word(value) => self.word(value),
                        AssignValue::Array(values) => values.iter_mut().for_each(|inner| self.word(inner)),
                    }
                }
                words.iter_mut().for_each(|inner| self.word(inner));
            }
            Kind::Subshell(inner) | Kind::Group(inner) => self.script(inner),
            Kind::If { arms, otherwise } => {
                for (condition, body) in arms.iter_mut() {
                    self.script(condition);
                    self.script(body);
                }
                if let Some(inner) = otherwise {
                    self.script(inner);
                    if let Some((more, last)) = only_if(inner) {
                        arms.extend(more);
                        *otherwise = last;
                    }
                }
            }
            Kind::Loop { condition, body, .. } => {
                self.script(condition);
                self.script(body);
            }
            Kind::For { words, body, .. } => {
                match words {
                    Some(list) => list.iter_mut().for_each(|inner| self.word(inner)),
                    None => {
                        let all = parse::parse("a \"$@\"", None).ok().and_then(|outcome| second_word(&outcome.program));
                        *words = Some(all.into_iter().collect());
                    }
                }
                self.script(body);
            }
            Kind::ArithFor { parts, body } => {
                parts.iter_mut().for_each(|list| self.sum(list));
                // An empty condition is printed as what it means.
                parts.iter_mut().filter(|list| list.is_empty()).for_each(|list| list.push(Part::Plain("1".to_owned())));
                self.script(body);
            }
            Kind::Case { word: on, arms } => {
                self.word(on);
                for arm in arms {
                    arm.patterns.iter_mut().for_each(|inner| self.word(inner));
                    self.script(&mut arm.body);
                }
            }
            Kind::Function { body, .. } => {
                self.command(body);
                // Every body is printed as a group.
                if !matches!(body.kind, Kind::Group(_)) {
                    let stage = std::mem::replace(&mut **body, empty_group());
                    let first = Pipeline { stages: vec![stage], both: Vec::new(), ..Pipeline::default() };
                    body.kind =
                        Kind::Group(Script { items: vec![Item { first, rest: Vec::new(), background: false }] });
                }
            }
            Kind::Coproc { body } => self.command(body),
            Kind::Arith(list) => self.sum(list),
            Kind::Test(inner) => self.test(inner),
        }
        command.redirects.iter_mut().for_each(|inner| self.redirect(inner));
    }

    fn redirect(&self, redirect: &mut Redirect) {
        use RedirectOp::{Append, Clobber, DupIn, DupOut, Read, ReadWrite, Write};
        let own = match redirect.op {
            Write | Append | Clobber | DupOut => "1",
            _ => "0",
        };
        if !self.heres && matches!(redirect.target, Target::Here(_)) {
            let parts = vec![Part::Plain("text".to_owned())];
            redirect.op = RedirectOp::HereString;
            redirect.target = Target::Word(Word { parts, span: 0..0 });
        }
        if let Target::Word(target) = &mut redirect.target {
            self.word(target);
            let text = match target.parts.as_slice() {
                [Part::Plain(text)] => text.as_str(),
                _ => "$",
            };
            let number = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'$'));
            match redirect.op {
                DupOut if redirect.fd == Fd::Default && !number => redirect.op = RedirectOp::Both,
                DupIn if text == "-" => {
                    redirect.op = DupOut;
                    if redirect.fd == Fd::Default {
                        redirect.fd = Fd::Number(own.to_owned());
                    }
                }
                _ => {}
            }
        }
        if matches!(redirect.op, Read | Write | Append | Clobber | DupOut | DupIn | ReadWrite)
            && redirect.fd == Fd::Default
        {
            redirect.fd = Fd::Number(own.to_owned());
        }
    }

    fn test(&self, inner: &mut Test) {
        match inner {
            Test::And(left, right) | Test::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            Test::Not(inner) | Test::Paren(inner) => self.test(inner),
            Test::Unary(_, operand) => self.word(operand),
            Test::Binary(_, left, right) => {
                self.word(left);
                self.word(right);
            }
            Test::Word(operand) => {
                self.word(operand);
                *inner = Test::Unary("-n".to_owned(), std::mem::take(operand));
            }
        }
    }

    fn word(&self, word: &mut Word) {
        word.parts.iter_mut().for_each(|inner| self.part(inner));
    }

    fn part(&self, part: &mut Part) {
        match part {
            Part::Plain(_) | Part::Quoted(_) => {}
            Part::Param { param: Param { op, .. }, .. } => match op {
                Op::Default { word, .. } => word.iter_mut().for_each(|inner| self.part(inner)),
                Op::Edit(list) | Op::Substring(list) => list.iter_mut().for_each(|inner| self.part(inner)),
                Op::Plain | Op::Length | Op::Evaluate => {}
            },
            Part::Command { script: inner, .. } | Part::Process { script: inner, .. } => self.script(inner),
            Part::Arith { parts, .. } => self.sum(parts),
            Part::Array(words) => words.iter_mut().for_each(|inner| self.word(inner)),
        }
    }

    /// Blanks in arithmetic mean nothing.
    fn sum(&self, parts: &mut Vec<Part>) {
        for part in parts.iter_mut() {
            match part {
                Part::Plain(text) => text.retain(|c| !matches!(c, ' ' | '\t' | '\n')),
                other => self.part(other),
            }
        }
        parts.retain(|part| !matches!(part, Part::Plain(text) if text.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bashs_own_way_of_writing_is_the_same_script() {
        for (first, second) in [
            (
                "if a; then b; elif c; then d; else e; fi",
                "if a; then\n b;\nelse\n if c; then\n d;\n else\n e;\n fi;\nfi",
            ),
            ("for x; do a; done", "for x in \"$@\";\ndo\n a;\ndone"),
            ("a |& b", "a 2>&1 | b"),
            ("[[ $x ]]", "[[ -n $x ]]"),
            ("a >&2 <&-", "a 1>&2 0>&-"),
            ("a >& b", "a &> b"),
            ("((x = 1 + 2))", "((x=1+2))"),
            ("cat <<-E\n\ta\n\tE\n", "cat <<-E\na\nE\n"),
        ] {
            assert_eq!(alike(first, second), Ok(()), "{first:?} {second:?}");
        }
        for (first, second) in [("a", "b"), ("a | b", "a |& b"), ("a > b", "a 2> b"), ("a; b", "a"), ("a", "'")] {
            assert!(alike(first, second).is_err(), "{first:?} {second:?}");
        }
        assert_eq!(reads("ls"), Ok(()));
        assert!(matches!(reads("'"), Err(Refused::Ours(_))));
        assert!(matches!(reads("echo {fd}> x"), Err(Refused::Second(_))));
    }
}
