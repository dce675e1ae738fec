//! Timestamps in ISO 8601.

/// Whether the text is a point in time in ISO 8601: a calendar, week or ordinal date, in the extended or the basic form, and
/// after a `T` a time with or without an offset. A date alone is one too; a year or a month is not. `t` and `z` may be
/// small, as RFC 3339 has it.
pub(super) fn is_timestamp(text: &str) -> bool {
    match text.split_once(['T', 't']) {
        Some((date, time)) => is_date(date) && is_time(time),
        None => is_date(text),
    }
}

fn is_date(date: &str) -> bool {
    let parts: Vec<&str> = date.split('-').collect();
    match parts.as_slice() {
        [year, month, day] if !month.starts_with('W') => {
            number(year, 4).is_some() && is_day(number(year, 4), number(month, 2), number(day, 2))
        }
        [year, week, day] => {
            number(year, 4).is_some()
                && within(
                    week.strip_prefix('W').and_then(|week| number(week, 2)),
                    1,
                    53,
                )
                && within(number(day, 1), 1, 7)
        }
        [year, day] => number(year, 4).is_some() && within(number(day, 3), 1, 366),
        [all] if all.is_ascii() && all.len() == 8 => {
            let part = |from: usize, to: usize| number(all.get(from..to)?, to - from);
            if all.get(4..5) == Some("W") {
                part(0, 4).is_some() && within(part(5, 7), 1, 53) && within(part(7, 8), 1, 7)
            } else {
                is_day(part(0, 4), part(4, 6), part(6, 8))
            }
        }
        [all] if all.is_ascii() && all.len() == 7 => {
            let part = |from: usize, to: usize| number(all.get(from..to)?, to - from);
            part(0, 4).is_some() && within(part(4, 7), 1, 366)
        }
        _ => false,
    }
}

fn is_day(year: Option<u32>, month: Option<u32>, day: Option<u32>) -> bool {
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    (1..=last).contains(&day)
}

fn is_time(time: &str) -> bool {
    let (clock, offset) = match time.find(['Z', 'z', '+', '-', '\u{2212}']) {
        Some(at) => time.split_at(at),
        None => (time, ""),
    };
    is_clock(clock) && (offset.is_empty() || offset.eq_ignore_ascii_case("Z") || is_offset(offset))
}

fn is_clock(clock: &str) -> bool {
    let (whole, fraction) = match clock.split_once(['.', ',']) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (clock, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !fraction.is_none_or(digits) {
        return false;
    }
    let parts = pairs(whole);
    let limits = [24, 59, 60];
    !parts.is_empty()
        && parts.len() <= limits.len()
        && parts
            .iter()
            .zip(limits)
            .all(|(part, most)| within(*part, 0, most))
}

fn is_offset(offset: &str) -> bool {
    let rest = offset.trim_start_matches(['+', '-', '\u{2212}']);
    let parts = pairs(rest);
    matches!(parts.len(), 1 | 2)
        && within(parts.first().copied().flatten(), 0, 23)
        && parts.get(1).is_none_or(|minutes| within(*minutes, 0, 59))
}

/// The numbers of two digits each that a text is made of, with a colon between each two of them or none at all; `None` for
/// what is no such number.
fn pairs(text: &str) -> Vec<Option<u32>> {
    if text.contains(':') {
        return text.split(':').map(|part| number(part, 2)).collect();
    }
    let bytes = text.as_bytes();
    bytes
        .chunks(2)
        .map(|pair| number(std::str::from_utf8(pair).ok()?, 2))
        .collect()
}

/// A number of just so many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

fn within(number: Option<u32>, least: u32, most: u32) -> bool {
    number.is_some_and(|number| (least..=most).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_standard_writes_is_a_timestamp() {
        for text in [
            "2025-10-29T14:22:15Z",
            "2025-10-29T14:22:15.123456Z",
            "2025-10-29T14:22:15,5+02:00",
            "2025-10-29T14:22:15-0330",
            "2025-10-29T14:22+01",
            "2025-10-29t14:22:15z",
            "2025-10-29T14:22:15",
            "20251029T142215Z",
            "2025-10-29T24:00:00Z",
            "2016-12-31T23:59:60Z",
            "2024-02-29",
            "2025-W44-3T10:00Z",
            "2025-302",
        ] {
            assert!(is_timestamp(text), "{text}");
        }
    }

    #[test]
    fn what_is_something_else_is_none() {
        for text in [
            "",
            "yesterday",
            "1761747735",
            "2025-10-29 14:22:15",
            "29/10/2025",
            "2025-13-01T00:00:00Z",
            "2025-02-29T00:00:00Z",
            "2025-10-29T25:00:00Z",
            "2025-10-29T14:60Z",
            "2025-10-29T",
            "2025-10-29T14:22:15ZZ",
            "2025-10-29tt14:22:15z",
            "2025-10-29T14:22:15 UTC",
            "Wed Oct 29 2025 14:22:15 GMT",
            "2025-10",
            "２０２５-10-29",
        ] {
            assert!(!is_timestamp(text), "{text}");
        }
    }
}
