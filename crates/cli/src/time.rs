//! The clock, and times as people and file names write them: UTC, so that logs of two machines compare.

use std::time::{SystemTime, UNIX_EPOCH};

use nika_contract::Clock;

/// The system's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

const DAY_MS: u64 = 86_400_000;

/// `20261121`.
pub fn day(unix_ms: u64) -> String {
    let (year, month, day) = date(unix_ms / DAY_MS);
    format!("{year:04}{month:02}{day:02}")
}

/// `20261121T233000Z`, for names.
pub fn compact(unix_ms: u64) -> String {
    let (hour, minute, second) = time(unix_ms);
    format!("{}T{hour:02}{minute:02}{second:02}Z", day(unix_ms))
}

/// `2026-11-21 23:30:00Z`, for people.
pub fn readable(unix_ms: u64) -> String {
    let (year, month, day) = date(unix_ms / DAY_MS);
    let (hour, minute, second) = time(unix_ms);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// How long something took: `12 ms`, `1.4 s`, `2 min 5 s`.
pub fn took(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

fn time(unix_ms: u64) -> (u64, u64, u64) {
    let seconds = unix_ms % DAY_MS / 1000;
    (seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Days since 1970-01-01 as year, month and day, after Howard Hinnant's `civil_from_days`: eras of 400 years
/// that begin in March, so that the leap day is the last.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_long_is_said_in_larger_units() {
        assert_eq!([took(9), took(1_450), took(125_000)], ["9 ms", "1.4 s", "2 min 5 s"]);
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (ms, want) in [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_399_000, "2000-02-28 23:59:59Z"),
            (951_782_400_000, "2000-02-29 00:00:00Z"),
            (951_868_800_000, "2000-03-01 00:00:00Z"),
            (1_763_766_000_000, "2025-11-21 23:00:00Z"),
            (4_107_542_399_000, "2100-02-28 23:59:59Z"),
            (4_107_542_400_000, "2100-03-01 00:00:00Z"),
        ] {
            assert_eq!(readable(ms), want);
        }
        assert_eq!(compact(1_763_766_000_000), "20251121T230000Z");
    }
}
