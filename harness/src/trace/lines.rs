//! On which line of a file each event of a trace stands.

/// So many places at which lines and events come apart are kept; of what comes after, no line is told.
const KEPT: usize = 100_000;

/// The line of each event. Lines that hold no event (damaged ones, empty ones) move what comes after them on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The first event of each stretch without a break, and its line.
    stretches: Vec<(u64, u64)>,
    /// The line that the next event stands on if nothing comes between.
    next: u64,
    /// The first event of which the line is not known.
    lost: Option<u64>,
}

impl Lines {
    /// Those of a file that was written whole: a header, and behind it each event on a line.
    pub fn whole() -> Self {
        let mut lines = Self::default();
        lines.event(0, 2);
        lines
    }

    /// The event with this number stands on this line; events come in order.
    pub fn event(&mut self, event: u64, line: u64) {
        if self.stretches.is_empty() || line != self.next {
            if self.stretches.len() < KEPT {
                self.stretches.push((event, line));
            } else {
                self.lost.get_or_insert(event);
            }
        }
        self.next = line + 1;
    }

    /// The line of an event, from 1.
    pub fn of(&self, event: u64) -> Option<u64> {
        if self.lost.is_some_and(|lost| event >= lost) {
            return None;
        }
        let after = self.stretches.partition_point(|(first, _)| *first <= event);
        let (first, line) = self.stretches.get(after.checked_sub(1)?)?;
        Some(line + (event - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_whole_file_the_events_follow_the_header() {
        let of: Vec<_> = [0, 1, 40].map(|event| Lines::whole().of(event)).into();
        assert_eq!(of, [Some(2), Some(3), Some(42)]);
    }

    #[test]
    fn lines_without_an_event_move_what_comes_after_them() {
        let mut lines = Lines::default();
        for (event, line) in [(0, 2), (1, 3), (2, 6), (3, 7)] {
            lines.event(event, line);
        }
        let of: Vec<_> = (0..4).map(|event| lines.of(event)).collect();
        assert_eq!(of, [Some(2), Some(3), Some(6), Some(7)]);
        assert_eq!(lines.stretches.len(), 2);
    }
}
