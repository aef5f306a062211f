//! `trap 'echo done' EXIT`: a text that runs later, wherever the shell then is and whatever its variables then hold.
//!
//! One is followed where neither matters: it prints, ends the shell, or removes what a `mktemp` of the same script made, or
//! what is written out in a temporary directory of the command's own. Any other is a question, and behind it nothing is known of the shell.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::super::finding::Outcome;
use super::super::judge::{Arg, Stdin, Word as Became};
use super::super::print::text_of;
use super::super::script::{Command, Fd, Kind, Op, Param, Part, Redirect, RedirectOp, Script, Target, Word};
use super::super::words::Value;
use super::super::{commands, lexical, parse, second};
use super::merge::{assigned, assigned_by};
use super::shapes::name_of;
use super::{State, Walker, values};

/// Most traps of one script whose variables are looked for in what follows them.
const TRAPS: usize = 8;

/// Moments that a trap may wait for. `DEBUG` and `RETURN` come between all commands, and may keep them from running.
const MOMENTS: &str = "EXIT INT TERM HUP QUIT PIPE USR1 USR2 ALRM WINCH TSTP CONT 0 1 2 15";

/// What each trap of the script itself is followed by: the names that may be set, or whether any may.
pub(super) type Later = BTreeMap<usize, (BTreeMap<String, bool>, bool)>;

/// Where a script sets traps, and what is set behind each.
pub(super) fn later(script: &Script) -> Later {
    let mut out = Later::new();
    for (at, item) in script.items.iter().enumerate() {
        let chain = || std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next));
        for (place, pipeline) in chain().enumerate() {
            let [stage] = pipeline.stages.as_slice() else { continue };
            if out.len() < TRAPS && matches!(stage.kind, Kind::Simple { .. }) && name_of(stage) == "trap" {
                let (mut names, mut any) = (BTreeMap::new(), false);
                let behind = chain().skip(place + 1).flat_map(|next| &next.stages);
                behind.for_each(|stage| assigned_by(stage, &mut names, &mut any));
                let rest = Script { items: script.items.get(at + 1..).unwrap_or_default().to_vec() };
                assigned(&rest, &mut names, &mut any);
                out.insert(stage.span.start, (names, any));
            }
        }
    }
    out
}

/// Text and plain values of variables: nothing that runs, sets or evaluates.
fn is_plain(word: &Word) -> bool {
    word.parts.iter().all(|part| match part {
        Part::Plain(_) | Part::Quoted(_) => true,
        Part::Param { param, .. } => param.index.is_none() && matches!(param.op, Op::Plain | Op::Length),
        _ => false,
    })
}

/// Whether a command sends what it prints to the errors, or nowhere.
fn is_quiet(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| {
        redirect.op == RedirectOp::DupOut
            && matches!(&redirect.fd, Fd::Default)
            && matches!(&redirect.target, Target::Word(word) if text_of(word).as_deref() == Some("2"))
    })
}

/// Whether redirections lead to a descriptor that is open, or nowhere.
fn leads_nowhere(redirects: &[Redirect]) -> bool {
    redirects.iter().all(|redirect| {
        let Target::Word(word) = &redirect.target else { return false };
        let text = text_of(word);
        match (redirect.op, text.as_deref()) {
            (RedirectOp::DupOut, Some("1" | "2")) | (RedirectOp::Write | RedirectOp::Both, Some("/dev/null")) => {
                !matches!(redirect.fd, Fd::Named(_))
            }
            _ => false,
        }
    })
}

/// Whether a command prints, asks whether a value is there, or ends the shell.
fn only_tells(words: &[Word]) -> bool {
    let text = |at: usize| words.get(at).and_then(text_of);
    let plain = words.iter().all(is_plain);
    match text(0).as_deref() {
        Some("echo" | "true" | ":" | "exit") => plain,
        Some("printf") => plain && text(1).is_some_and(|format| !format.starts_with('-')),
        Some("[") => {
            plain
                && words.len() == 4
                && text(1).is_some_and(|asks| matches!(asks.as_ref(), "-n" | "-z" | "-d" | "-f" | "-e"))
                && words.get(2).is_some_and(|word| values::quoted_alone(word).is_some())
                && text(3).as_deref() == Some("]")
        }
        _ => false,
    }
}

impl<'a> Walker<'a> {
    /// Whether a trap is followed. What it removes is judged as if it were removed here.
    pub(super) fn traps(&mut self, args: &[Arg], span: &Range<usize>, state: &State) -> bool {
        let words: Option<Vec<&str>> = args.iter().map(Arg::exact).collect();
        let Some([text, moments @ ..]) = words.as_deref().and_then(|words| words.get(1..)) else { return false };
        let listed = |moment: &&str, among: &str| {
            let moment = moment.to_ascii_uppercase();
            let moment = moment.strip_prefix("SIG").unwrap_or(&moment);
            among.split(' ').any(|known| known == moment)
        };
        let failed = |moment: &&str| listed(moment, "ERR");
        let fine = |moment: &&str| listed(moment, MOMENTS) || failed(moment);
        if text.is_empty() || text.starts_with('-') || moments.is_empty() || !moments.iter().all(fine) {
            return false;
        }
        let body = match self.reading.functions.body(text) {
            Some(body) => match &body.kind {
                Kind::Group(script) if body.redirects.is_empty() => script.clone(),
                _ => return false,
            },
            None => match self.read_later(text, span) {
                Some(script) => script,
                None => return false,
            },
        };
        let Some(commands) = simple_commands(&body) else { return false };
        let mut removals = Vec::new();
        for (words, redirects) in commands {
            // What waits for an error waits in substitutions, too, whose output is not only told.
            let told = !moments.iter().any(failed) || is_quiet(redirects);
            if !leads_nowhere(redirects) || !told {
                return false;
            }
            if only_tells(words) {
                continue;
            }
            match self.removes(words, span, state) {
                Some(argv) => removals.push(argv),
                None => return false,
            }
        }
        self.reading.functions.is_called(text);
        for argv in removals {
            let mut own = state.clone();
            self.argv(argv.into(), span, &mut own, &Stdin::None, Vec::new(), true);
        }
        true
    }

    /// The script of a trap, where nothing in it can be read in two ways.
    fn read_later(&self, text: &str, span: &Range<usize>) -> Option<Script> {
        let outcome = parse::parse(text, Some(span.clone())).ok()?;
        let alone = parse::parse(text, None).ok()?;
        let strange = lexical::check(text, &[]).iter().any(|finding| finding.outcome > Outcome::Passthrough);
        let agreed = second::agrees(text, &alone.program, &alone.bodies).is_ok();
        (agreed && !strange && outcome.program.heres.is_empty()).then_some(outcome.program.script)
    }

    /// The words of an `rm` of what a `mktemp` of this script made, where its variable is not set again, or of a file in a
    /// temporary directory of the command's own.
    fn removes(&self, words: &[Word], span: &Range<usize>, state: &State) -> Option<Vec<Arg>> {
        let (first, rest) = words.split_first()?;
        let (option, names) = rest.split_first()?;
        let forced = text_of(option).is_some_and(|text| matches!(text.as_ref(), "-f" | "-rf" | "-fr" | "-r"));
        if text_of(first).as_deref() != Some("rm") || !forced || names.is_empty() {
            return None;
        }
        let mut places = Vec::with_capacity(names.len());
        for word in names {
            let is_made = |value: &Value| *value == Value::Exact(commands::TEMPORARY.to_owned());
            let held = |param: &Param| {
                let made = state.vars.get(&param.name).is_some_and(is_made);
                made && param.op == Op::Plain && param.index.is_none() && self.stays(&param.name, span)
            };
            let meant: Vec<&Part> =
                word.parts.iter().filter(|part| !matches!(part, Part::Quoted(text) if text.is_empty())).collect();
            places.push(match meant.as_slice() {
                [Part::Param { param, .. }] => held(param).then(|| commands::TEMPORARY.to_owned())?,
                _ => text_of(word).filter(|text| text == commands::TEMPORARY || self.is_scratch(text))?.into_owned(),
            });
        }
        let made = |text: &str| Arg { word: Became::Exact(text.to_owned()), span: span.clone() };
        let option = text_of(option)?;
        let places = places.iter().map(|place| made(place));
        Some([made("rm"), made(&option)].into_iter().chain(places).collect())
    }

    /// Whether a text is the plain path of something in a temporary directory of the command's own: it names the same from
    /// wherever it is looked at.
    fn is_scratch(&self, text: &str) -> bool {
        let plain = |part: &str| {
            !part.is_empty() && part != ".." && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        let below = text.strip_prefix('/').is_some_and(|parts| parts.split('/').all(plain));
        below && self.site.scratch.holds(Path::new(text))
    }

    /// Whether nothing behind the trap at `span` sets a variable again.
    fn stays(&self, name: &str, span: &Range<usize>) -> bool {
        let quiet = |(names, any): &(BTreeMap<String, bool>, bool)| !any && !names.contains_key(name);
        self.nesting == 0 && !self.reading.functions.may_set(name) && self.later.get(&span.start).is_some_and(quiet)
    }
}

/// The simple commands of a script that has nothing else, with nothing set before them.
fn simple_commands(script: &Script) -> Option<Vec<(&[Word], &[Redirect])>> {
    let mut out = Vec::new();
    for item in &script.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next)) {
            let [Command { kind: Kind::Simple { assigns, words }, redirects, .. }] = pipeline.stages.as_slice() else {
                return None;
            };
            if !assigns.is_empty() || words.is_empty() || item.background {
                return None;
            }
            out.push((words.as_slice(), redirects.as_slice()));
        }
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use crate::ExecKind;
    use crate::bash::commands::TEMPORARY;
    use crate::bash::{Analysis, Scratch, Site, analyse};

    fn tell(text: &str) -> Analysis {
        analyse(text, &Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into()))
    }

    /// Nothing is asked about that the rest of the script would not be, and what is removed is the script's own.
    fn is_followed(text: &str) -> bool {
        let analysis = tell(text);
        let removed = analysis.touched().deletes;
        let own = removed.iter().all(|at| at.path.starts_with(TEMPORARY));
        analysis.kind <= ExecKind::WritesInside && analysis.destructive.is_none() && own && !removed.is_empty()
    }

    #[test]
    fn a_script_cleans_up_what_it_made() {
        for text in [
            "tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; cp a.txt \"$tmp/\"; wc -l \"$tmp/a.txt\"",
            "t=$(mktemp); trap 'rm -f \"$t\"' EXIT; sort a.txt > \"$t\"; diff \"$t\" b.txt",
            "tmp=\"$(mktemp -d)\" && trap \"rm -rf $tmp\" EXIT && cargo test --target-dir \"$tmp\"",
            "tmp=$(mktemp -d)\ntrap 'rm -rf \"$tmp\"' EXIT INT TERM\ncd \"$tmp\" && git init -q .",
            "tmp=$(mktemp -d); cleanup() { rm -rf \"$tmp\"; }; trap cleanup EXIT; cargo test",
            "tmp=$(mktemp -d); trap '[ -n \"$tmp\" ] && rm -rf \"$tmp\"' EXIT; make",
            "tmp=$(mktemp -d); trap 'echo bye; rm -rf \"$tmp\"' EXIT; make; trap - EXIT",
            "a=$(mktemp); b=$(mktemp); trap 'rm -f $a $b' EXIT; sort x > $a; sort y > $b; comm $a $b",
        ] {
            assert!(is_followed(text), "{text}: {:?}", tell(text));
        }
    }

    #[test]
    fn a_script_cleans_up_what_is_written_out_in_its_own_directories() {
        for (text, follows) in [
            ("trap 'rm -f /tmp/x' EXIT; make", true),
            ("trap 'rm -f /tmp/x /var/tmp/y.log' EXIT INT; make > /tmp/x", true),
            ("trap \"rm -f '/tmp/a-b/x'\" EXIT; make", true),
            ("t=$(mktemp); trap 'rm -f \"$t\" /tmp/x' EXIT; make", true),
            ("trap 'echo bye; rm -f /dev/shm/x' EXIT; make", true),
            ("trap 'rm -f x' EXIT; make", false),
            ("trap 'rm -f /tmp/../w/repo/x' EXIT; make", false),
            ("trap 'rm -f /tmp/*' EXIT; make", false),
            ("trap 'rm -f /tmp/{x,../etc/y}' EXIT; make", false),
            ("trap 'rm -f /tmp' EXIT; make", false),
            ("trap 'rm -f /tmp/' EXIT; make", false),
            ("trap 'rm -f /tmpx' EXIT; make", false),
            ("trap 'rm -f /tmp/x src/y' EXIT; make", false),
            ("trap 'rm -f /tmp/$x' EXIT; make", false),
            ("trap 'rm -f /w/repo/src/a.c' EXIT; make", false),
            ("trap 'rm -f /tmp/x; make' EXIT; ls", false),
            ("trap 'rm /tmp/x' DEBUG; make", false),
        ] {
            let analysis = tell(text);
            let removed = analysis.touched().deletes;
            let own = removed.iter().all(|at| Scratch::private().holds(&at.path)) && !removed.is_empty();
            assert_eq!(analysis.kind <= ExecKind::WritesInside && own, follows, "{text}: {analysis:?}");
        }
    }

    #[test]
    fn what_the_variable_may_name_later_counts() {
        for after in [
            "tmp=src",
            "read tmp < a",
            "read -r tmp <<< src",
            "for tmp in src; do :; done",
            "f() { tmp=src; }; f",
            "export tmp=src",
            "declare -g tmp=src",
            "printf -v tmp src",
            "eval \"$x\"",
            "source ./x.sh",
            ": $((tmp=1))",
            ": ${tmp:=x}; unset tmp; : ${tmp:=src}",
            "mapfile tmp < a",
            "declare -n r=tmp; r=src",
            "if true; then tmp=src; fi",
            "tmp+=/../../w/repo/src",
            "{ tmp=src; } 2>/dev/null",
            "getopts a tmp",
            "exec {tmp}< a",
            "trap 'tmp=src' USR1; kill -USR1 $$",
        ] {
            let text = format!("tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; {after}");
            assert!(!is_followed(&text), "{text}: {:?}", tell(&text));
        }
        for text in [
            "f() { tmp=src; }; tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; f",
            "trap 'rm -rf \"$tmp\"' EXIT; tmp=$(mktemp -d)",
            "tmp=src; trap 'rm -rf \"$tmp\"' EXIT",
            "tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"/../x' EXIT",
            "tmp=$(mktemp -d); trap 'rm -rf \"$tmp\" src' EXIT",
            "tmp=$(mktemp -d); trap 'rm -rf ${tmp%/*}' EXIT",
            "tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"*' EXIT",
            "tmp=$(mktemp -d); trap 'rm -rf -- \"$tmp\"; make' EXIT",
            "for x in a b; do tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; tmp=src; done",
            "tmp=$(mktemp -d -p src); trap 'rm -rf \"$tmp\"' EXIT",
            "TMPDIR=src; tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT",
            "(tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; tmp=src)",
        ] {
            assert!(!is_followed(text), "{text}: {:?}", tell(text));
        }
    }
}
