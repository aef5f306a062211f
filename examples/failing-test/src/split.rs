//! Sharing a bill.

/// Shares `cents` among so many people. The first ones pay a cent more where it cannot be shared evenly.
pub fn split(cents: u64, people: u64) -> Vec<u64> {
    let (share, rest) = (cents / people, cents % people);
    (0..people).map(|at| share + u64::from(at > rest)).collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn nothing_is_lost() {
        assert_eq!(split(1000, 3), [334, 333, 333]);
        assert_eq!(split(7, 4), [2, 2, 2, 1]);
    }
}
