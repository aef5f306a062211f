//! The few numbers that are said about samples. Medians and percentiles, never means: one slow call on a shared machine
//! would move a mean.

/// The value that `share` (0 to 1) of the samples do not exceed: the nearest rank, so always a sample that was seen.
pub(crate) fn percentile(samples: &[f64], share: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1).min(last)).copied()
}

pub(crate) fn median(samples: &[f64]) -> Option<f64> {
    percentile(samples, 0.5)
}

/// The geometric mean: the right one for ratios, since 0.5 and 2.0 then cancel out.
pub(crate) fn geomean(ratios: &[f64]) -> Option<f64> {
    if ratios.is_empty() {
        return None;
    }
    let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    Some((logs / ratios.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_samples_and_ratios_cancel() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&hundred, 0.99), Some(99.0));
        assert_eq!(median(&hundred), Some(50.0));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[]), None);
        assert!((geomean(&[0.5, 2.0]).unwrap() - 1.0).abs() < 1e-12);
    }
}
