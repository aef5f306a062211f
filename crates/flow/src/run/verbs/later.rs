//! How long a server wants to be left alone: `Retry-After`, in seconds or as a date. Pure.
//!
//! A date is counted from the server's own `Date`, where it sends one: its clock and ours may differ.

/// Milliseconds from now; nothing where it says nothing that can be read, or a time that is over.
pub(super) fn rest_ms(retry_after: Option<&str>, date: Option<&str>, now_ms: u64) -> u64 {
    let Some(said) = retry_after.map(str::trim) else { return 0 };
    match (said.parse::<u64>(), unix_seconds(said)) {
        (Ok(seconds), _) => seconds.saturating_mul(1_000),
        (_, Some(then)) => {
            let theirs = date.and_then(|date| unix_seconds(date.trim())).map(|seconds| seconds.saturating_mul(1_000));
            then.saturating_mul(1_000).saturating_sub(theirs.unwrap_or(now_ms))
        }
        _ => 0,
    }
}

/// The months as HTTP writes them.
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Seconds since 1970 of a date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`. Of the two older forms, which no
/// server writes any more, nothing is known.
fn unix_seconds(text: &str) -> Option<u64> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words.as_slice() else { return None };
    let number = |text: &str, most: u64| text.parse::<u64>().ok().filter(|number| *number <= most);
    let (day, year) = (number(day, 31).filter(|day| *day > 0)?, number(year, 9_999).filter(|year| *year >= 1970)?);
    let month = MONTHS.iter().position(|known| known == month)? as u64 + 1;
    let mut clock = time.split(':');
    let mut part = |most: u64| number(clock.next()?, most);
    let (hours, minutes, seconds) = (part(23)?, part(59)?, part(60)?);
    if clock.next().is_some() {
        return None;
    }
    Some(days(year, month, day) * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March here, so that a leap day is the last
/// of its year.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months = if month <= 2 { month + 9 } else { month - 3 };
    let of_years = year * 365 + year / 4 - year / 100 + year / 400;
    /// Days from the first of March of the year 0 to 1970-01-01.
    const BEFORE: u64 = 719_468;
    of_years + (153 * months + 2) / 5 + day - 1 - BEFORE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_http_writes_them() {
        for (text, want) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Tue, 29 Feb 2000 23:59:59 GMT", Some(951_868_799)),
            ("Sun, 22 Nov 2026 14:00:00 GMT", Some(1_795_356_000)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nvo 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(unix_seconds(text), want, "{text}");
        }
    }

    #[test]
    fn a_server_is_left_alone_for_as_long_as_it_says() {
        let at = |second: u64| format!("Sun, 06 Nov 1994 08:49:{second:02} GMT");
        let now_ms = 784_111_777_000 + 500;
        assert_eq!(rest_ms(Some(" 7 "), None, now_ms), 7_000);
        assert_eq!(rest_ms(Some(&at(47)), None, now_ms), 9_500);
        // By its own clock, which is wrong by years.
        let (then, date) = ("Tue, 01 Jan 2002 00:00:20 GMT", "Tue, 01 Jan 2002 00:00:00 GMT");
        assert_eq!(rest_ms(Some(then), Some(date), now_ms), 20_000);
        assert_eq!(rest_ms(Some(&at(30)), None, now_ms), 0, "a time that is over");
        for nothing in [None, Some("soon"), Some("-3")] {
            assert_eq!(rest_ms(nothing, Some(&at(1)), now_ms), 0, "{nothing:?}");
        }
    }
}
