//! Raw samples as they are printed: one line for each thing that was measured, so that whoever reads a figure can count
//! again from what stands there.
//!
//! ```text
//! raw read 10 KB, nika, µs: 61.20 58.90 60.41 …
//! raw trivial, nika, µs, 2000 samples: least 31.02, p1 32.40, … most 912.3
//! ```
//!
//! Up to [`MOST`] samples stand in a line in the order they were taken. Of more it has ranks, each a sample that was
//! seen; all of them, in order and in full, are in the file that is named below the lines.

use super::stats::percentile;

/// More would be no line that anybody reads.
pub(crate) const MOST: usize = 100;

/// What is said of more: names, and shares of the samples.
const RANKS: &[(&str, f64)] = &[
    ("least", 0.0),
    ("p1", 0.01),
    ("p5", 0.05),
    ("p10", 0.1),
    ("p25", 0.25),
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("most", 1.0),
];

/// What begins a line of samples.
const MARK: &str = "raw ";

/// The samples of one thing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Raw {
    pub what: String,
    pub unit: String,
    pub samples: Vec<f64>,
}

impl Raw {
    pub(crate) fn new(what: impl Into<String>, unit: impl Into<String>, samples: &[f64]) -> Raw {
        Raw { what: what.into(), unit: unit.into(), samples: samples.to_vec() }
    }

    pub(crate) fn line(&self) -> String {
        let Raw { what, unit, samples } = self;
        let head = format!("{MARK}{what}, {unit}");
        if samples.len() <= MOST {
            let all: Vec<String> = samples.iter().copied().map(figure).collect();
            return format!("{head}: {}", all.join(" "));
        }
        let ranks: Vec<String> = RANKS
            .iter()
            .filter_map(|(name, share)| Some(format!("{name} {}", figure(percentile(samples, *share)?))))
            .collect();
        format!("{head}, {} samples: {}", samples.len(), ranks.join(", "))
    }

    /// The samples of a line that a program printed, all of them; none where it is another line.
    pub(crate) fn of_line(line: &str) -> Option<Raw> {
        let (head, samples) = line.strip_prefix(MARK)?.split_once(": ")?;
        let (what, unit) = head.rsplit_once(", ")?;
        let samples: Option<Vec<f64>> = samples.split(' ').map(|sample| sample.parse().ok()).collect();
        Some(Raw::new(what, unit, &samples?))
    }
}

/// Four digits, more than a measurement on a shared machine can carry, and whole numbers whole.
fn figure(value: f64) -> String {
    let after = match value.abs() {
        _ if value.fract() == 0.0 => 0,
        size if size >= 1_000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        size if size >= 1.0 => 3,
        _ => 4,
    };
    format!("{value:.after$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_stand_there_in_their_order() {
        let raw = Raw::new("read 10 KB, nika", "µs", &[61.204, 1234.56, 0.12345, 7.0, 250.04]);
        assert_eq!(raw.line(), "raw read 10 KB, nika, µs: 61.20 1235 0.1235 7 250.0");
        assert_eq!(Raw::new("a", "MiB", &[]).line(), "raw a, MiB: ");
    }

    #[test]
    fn many_are_said_by_ranks_that_were_seen() {
        let many: Vec<f64> = (1..=1000).rev().map(f64::from).collect();
        let line = Raw::new("trivial, nika", "µs", &many).line();
        assert!(line.starts_with("raw trivial, nika, µs, 1000 samples: least 1, p1 10, p5 50, "), "{line}");
        assert!(line.ends_with(", p99 990, most 1000"), "{line}");
        let most = Raw::new("a", "ms", &many[..MOST]).line();
        assert_eq!(most.split(": ").nth(1).map(|samples| samples.split(' ').count()), Some(MOST));
    }

    #[test]
    fn a_line_of_a_program_is_its_samples() {
        let read = Raw::of_line("raw check of 1,000 tasks: all, ms: 1.5 2 3.25").map(|raw| raw.samples);
        assert_eq!(read, None, "a name has no colon");
        let read = Raw::of_line("raw check of 1,000 tasks, ms: 1.5 2 3.25").expect("a line of samples");
        assert_eq!(read, Raw::new("check of 1,000 tasks", "ms", &[1.5, 2.0, 3.25]));
        for other in ["check: median 5 ms", "raw: nothing", "raw a: 1 2", "raw a, ms: 1 two"] {
            assert_eq!(Raw::of_line(other), None, "{other}");
        }
    }
}
