//! A file of cases: read with the lines that they stand on, and written again so that what did not change stays as a
//! person wrote it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

/// One case.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub inputs: Map<String, Value>,
    /// Files that are there when it begins.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub given: BTreeMap<String, String>,
    /// The script of the model, beside the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// What the workflow answers with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Map<String, Value>>,
    /// Files that are there when it has ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The code that it fails with, or is refused with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
}

impl Case {
    /// What a workflow without a test is tried with: its defaults, and the script beside it where there is one.
    pub fn first(test: &Path, workflow: &Path) -> Case {
        let stem = workflow.file_name().unwrap_or_default().to_string_lossy();
        let script = format!("{}.script.yaml", stem.strip_suffix(super::WORKFLOW).unwrap_or(&stem));
        Case {
            name: "with its defaults".to_owned(),
            inputs: Map::new(),
            given: BTreeMap::new(),
            script: test.with_file_name(&script).is_file().then_some(script),
            outputs: None,
            files: BTreeMap::new(),
            fails: None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Placed {
    cases: Vec<Spanned<Case>>,
}

#[derive(Serialize)]
struct Written<'a> {
    cases: &'a [Case],
}

/// The cases of a file, and the line that each begins on, from 0.
#[derive(Debug)]
pub struct Cases {
    pub all: Vec<Case>,
    lines: Vec<usize>,
}

impl Cases {
    pub fn read(text: &str) -> Result<Cases, String> {
        let read: Placed = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        let line = |case: &Spanned<Case>| usize::try_from(case.referenced.line()).unwrap_or_default().saturating_sub(1);
        let lines = read.cases.iter().map(line).collect();
        Ok(Cases { all: read.cases.into_iter().map(|case| case.value).collect(), lines })
    }

    /// A file of one case.
    pub fn of(case: Case) -> Result<String, serde_saphyr::ser::Error> {
        serde_saphyr::to_string(&Written { cases: &[case] })
    }

    /// `text` with the cases as they are `now`. Only those that changed are written anew, where the file is written
    /// so that each stands on lines of its own; else all are, below the comments at the top.
    pub fn rewritten(&self, text: &str, now: &[Case]) -> Result<String, serde_saphyr::ser::Error> {
        if let Some(patched) = self.patched(text, now)
            && Cases::read(&patched).is_ok_and(|again| again.all == now)
        {
            return Ok(patched);
        }
        let top = text.split_inclusive('\n').take_while(|line| is_remark(line));
        Ok(format!("{}{}", top.collect::<String>(), serde_saphyr::to_string(&Written { cases: now })?))
    }

    /// See [`Cases::rewritten`]; `None` where a case does not begin with its dash on a line of its own.
    fn patched(&self, text: &str, now: &[Case]) -> Option<String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let first = *self.lines.first()?;
        let mut patched: String = lines.get(..first)?.concat();
        for (at, (before, now)) in self.all.iter().zip(now).enumerate() {
            let begin = self.lines[at];
            let end = self.lines.get(at + 1).copied().unwrap_or(lines.len());
            let own = lines.get(begin..end)?;
            if before == now {
                patched.push_str(&own.concat());
                continue;
            }
            let dash = own.first()?.find('-').filter(|at| own[0][..*at].trim().is_empty())?;
            // Remarks above the next case are the next case's; deeper ones may be lines of a text in this one.
            let outer = |line: &&&str| is_remark(line) && (line.trim().is_empty() || indent(line) <= dash);
            let kept = own.iter().rev().take_while(outer).count();
            for line in serde_saphyr::to_string(&[now]).ok()?.lines() {
                if !line.is_empty() {
                    patched.push_str(&" ".repeat(dash));
                    patched.push_str(line);
                }
                patched.push('\n');
            }
            patched.push_str(&own[own.len() - kept..].concat());
        }
        Some(patched)
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// A comment, or an empty line.
fn is_remark(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# Why these cases are here.
cases:
  # The first.
  - name: one   # said beside it
    outputs: {said: \"1\"}

  # The second.
  - name: two
    given:
      a.txt: |
        x
        # no comment
    outputs: {said: wrong}

  # The third.
  - name: three
    fails: NIKA-400
# The end.
";

    fn changed(text: &str, at: usize) -> (Cases, Vec<Case>) {
        let cases = Cases::read(text).expect("it reads");
        let mut now = cases.all.clone();
        let outputs: Map<String, Value> = [("said".to_owned(), Value::from("a\n# b\n\nc\n"))].into_iter().collect();
        (now[at].outputs, now[at].fails) = (Some(outputs), None);
        (cases, now)
    }

    #[test]
    fn what_did_not_change_stays_as_it_was_written() {
        for at in 0..3 {
            let (cases, now) = changed(FILE, at);
            let written = cases.rewritten(FILE, &now).expect("it is written");
            assert_eq!(Cases::read(&written).expect("it reads").all, now, "{written}");
            for kept in
                ["# Why these", "  # The first.\n", "\n\n  # The second.\n", "\n\n  # The third.\n", "\n# The end.\n"]
            {
                assert!(written.contains(kept), "{at}: no {kept:?} in {written}");
            }
            assert_eq!(written.contains("# said beside it"), at != 0, "{written}");
            assert_eq!(written.contains("outputs: {said: \"1\"}"), at != 0, "{written}");
        }
    }

    #[test]
    fn a_file_written_in_another_way_keeps_its_top() {
        for text in [
            "# Top.\n\ncases: [{name: one, outputs: {said: x}}, {name: two}]\n",
            "# Top.\ncases:\n  -\n    name: one\n  - name: two\n",
        ] {
            let (cases, now) = changed(text, 0);
            let written = cases.rewritten(text, &now).expect("it is written");
            assert!(written.starts_with("# Top.\n"), "{written}");
            assert_eq!(Cases::read(&written).expect("it reads").all, now, "{written}");
        }
    }

    #[test]
    fn slips_are_said_with_their_place() {
        for (text, what) in
            [("cases:\n  - name: x\n    output: {}\n", "output"), ("cases: 3\n", "line 1"), ("- a\n", "line 1")]
        {
            let why = Cases::read(text).expect_err(text);
            assert!(why.contains(what), "{text:?}: {why}");
        }
    }
}
