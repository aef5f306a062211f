//! Whether the stated figures were reached. A bench says of each, and fails when one was not: whoever runs it from a
//! script must not have to read a table. All is measured, printed and kept before that.

use anyhow::{Result, bail};

/// What was judged so far.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    judged: usize,
    missed: Vec<String>,
}

impl Verdict {
    /// Judges one figure; the word for a table.
    pub(crate) fn judge(&mut self, what: &str, reached: bool) -> &'static str {
        self.judged += 1;
        if reached {
            return "yes";
        }
        self.missed.push(what.to_owned());
        "NOT REACHED"
    }

    /// Fails where a figure was not reached. Nothing is judged where only peers were measured, and that is said.
    pub(crate) fn finish(self) -> Result<()> {
        let Verdict { judged, missed } = self;
        if !missed.is_empty() {
            bail!("stated figures not reached, {} of {judged}: {}", missed.len(), missed.join("; "));
        }
        match judged {
            0 => println!("no stated figure was judged: nika was not measured"),
            _ => println!("stated figures reached, {judged} of {judged}"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_figure_that_is_missed_fails_and_is_named() {
        let mut verdict = Verdict::default();
        assert_eq!(verdict.judge("start, p50", true), "yes");
        assert_eq!(verdict.judge("read 1 MB, p50", false), "NOT REACHED");
        let failed = verdict.finish().expect_err("it fails").to_string();
        assert_eq!(failed, "stated figures not reached, 1 of 2: read 1 MB, p50");
        let mut reached = Verdict::default();
        reached.judge("start, p50", true);
        reached.finish().expect("all reached");
        Verdict::default().finish().expect("nothing was judged");
    }
}
