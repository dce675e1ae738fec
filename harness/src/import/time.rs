//! Times as tools write them, in seconds.

use serde_json::value::RawValue;

use super::json;

/// A number beyond this is a clock time in seconds, milliseconds and so on, and none since the start of a recording.
const CLOCK: f64 = 1e8;

/// A time in seconds: on a clock, or since the start of something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Time {
    pub(super) seconds: f64,
    /// Whether `seconds` count from 1970.
    pub(super) clock: bool,
}

/// The time that the member of a wrapper tells.
pub(super) fn of_member(raw: &RawValue) -> Option<Time> {
    match json::string(raw) {
        Some(text) => of_text(&text).or_else(|| of_number(text.trim().parse().ok()?)),
        None => of_number(raw.get().parse().ok()?),
    }
}

/// The time at the start of a line of a log, such as `2026-01-02T03:04:05.678Z` or `[03:04:05.678]`.
pub(super) fn of_prefix(text: &str) -> Option<Time> {
    let text = text.trim_start_matches(['[', '(', ' ', '\t']);
    let end = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let length = rest
            .find([' ', '\t', ']', ')', '|', ','])
            .unwrap_or(rest.len());
        from + length
    };
    let first = end(0);
    let one = text.get(..first)?.trim_end_matches(':');
    // Date and time may be two words.
    let two = text
        .get(first..)
        .and_then(|rest| rest.strip_prefix(' '))
        .map(|_| end(first + 1));
    two.and_then(|two| of_text(text.get(..two)?))
        .or_else(|| of_text(one))
}

fn of_number(number: f64) -> Option<Time> {
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    if number < CLOCK {
        return Some(Time {
            seconds: number,
            clock: false,
        });
    }
    // Seconds, milliseconds, microseconds or nanoseconds since 1970.
    let unit = [1.0, 1e3, 1e6, 1e9]
        .into_iter()
        .find(|unit| number / unit < 1e11)?;
    Some(Time {
        seconds: number / unit,
        clock: true,
    })
}

fn of_text(text: &str) -> Option<Time> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a clock time has microseconds left in a double"
    )]
    let clock = |timestamp: jiff::Timestamp| Time {
        seconds: timestamp.as_microsecond() as f64 / 1e6,
        clock: true,
    };
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Some(clock(timestamp));
    }
    if let Ok(civil) = text.parse::<jiff::civil::DateTime>()
        && text.contains(':')
    {
        // Without a zone; only differences count.
        return civil
            .to_zoned(jiff::tz::TimeZone::UTC)
            .ok()
            .map(|zoned| clock(zoned.timestamp()));
    }
    let time = text
        .contains(':')
        .then(|| text.parse::<jiff::civil::Time>())?;
    let span = time.ok()?.duration_since(jiff::civil::Time::midnight());
    Some(Time {
        seconds: span.as_secs_f64(),
        clock: false,
    })
}

/// Turns the times of a recording into seconds since its first one, never going back.
#[derive(Debug, Default)]
pub(super) struct Clock {
    first: Option<f64>,
    last: f64,
}

impl Clock {
    /// Seconds since the first time; where none is told, as the event before.
    pub(super) fn at(&mut self, time: Option<Time>) -> f64 {
        if let Some(time) = time {
            let first = *self.first.get_or_insert(time.seconds);
            self.last = (time.seconds - first).max(self.last);
        }
        self.last
    }

    /// Whether any time was told.
    pub(super) fn ran(&self) -> bool {
        self.first.is_some()
    }
}

/// A clock time in RFC 3339.
pub(super) fn rfc3339(time: Time) -> Option<String> {
    if !time.clock {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "milliseconds since 1970 are within range, and checked by the conversion"
    )]
    let milliseconds = (time.seconds * 1e3) as i64;
    let timestamp = jiff::Timestamp::from_millisecond(milliseconds).ok()?;
    Some(timestamp.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Option<f64> {
        of_prefix(text).map(|time| time.seconds)
    }

    #[test]
    fn clock_times_and_times_of_day_are_read() {
        assert_eq!(prefix("1970-01-01T00:00:01.500Z INFO x"), Some(1.5));
        assert_eq!(prefix("[1970-01-01 00:00:02] x"), Some(2.0));
        assert_eq!(prefix("00:00:03.250 x"), Some(3.25));
        assert_eq!(prefix("[00:00:03.250] x"), Some(3.25));
        assert_eq!(prefix("client: x"), None);
        assert_eq!(prefix("12 x"), None);
        assert_eq!(prefix(""), None);
    }

    #[test]
    fn numbers_are_told_apart_by_their_size() {
        for (number, seconds, clock) in [
            (1.5, 1.5, false),
            (1_700_000_000.0, 1_700_000_000.0, true),
            (1_700_000_000_123.0, 1_700_000_000.123, true),
            (1_700_000_000_123_456.0, 1_700_000_000.123_456, true),
        ] {
            assert_eq!(of_number(number), Some(Time { seconds, clock }));
        }
    }

    #[test]
    fn a_clock_begins_at_zero_and_never_goes_back() {
        let time = |seconds| {
            Some(Time {
                seconds,
                clock: false,
            })
        };
        let mut clock = Clock::default();
        let at = [time(5.0), None, time(7.0), time(6.0), time(8.0)].map(|time| clock.at(time));
        assert_eq!(at, [0.0, 0.0, 2.0, 2.0, 3.0]);
    }
}
