//! The guess behind "did you mean".

/// The candidate that `written` most likely meant, if any is near enough: a third of its letters may be wrong.
#[must_use]
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let written: Vec<char> = written.to_lowercase().chars().take(64).collect();
    let limit = (written.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&written, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be put in, taken out or changed.
fn distance(from: &[char], to: &str) -> usize {
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for (step, letter) in to.chars().enumerate() {
        let mut left = step + 1;
        let mut next = vec![left];
        for (above, (diagonal, own)) in row.iter().skip(1).zip(row.iter().zip(from)) {
            left = (left + 1)
                .min(above + 1)
                .min(diagonal + usize::from(*own != letter));
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_one_letter_is_recognised() {
        assert_eq!(nearest("expct", ["expect", "note"]), Some("expect"));
        assert_eq!(nearest("Notes", ["expect", "note"]), Some("note"));
    }

    #[test]
    fn another_word_is_not_a_slip() {
        assert_eq!(nearest("banana", ["expect", "note"]), None);
        assert_eq!(nearest("", ["expect"]), None);
    }
}
