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

/// How many letters must be put in, taken out, changed, or changed in place with their neighbour.
fn distance(from: &[char], to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for (step, letter) in to.iter().enumerate() {
        let mut next = vec![step + 1];
        for (index, own) in from.iter().enumerate() {
            let cell =
                |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX - 1);
            let mut best = (cell(&next, index) + 1).min(cell(&row, index + 1) + 1);
            best = best.min(cell(&row, index) + usize::from(own != letter));
            let swapped = step > 0
                && index > 0
                && to.get(step - 1) == Some(own)
                && from.get(index - 1) == Some(letter);
            if swapped {
                best = best.min(cell(&before, index - 1) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_one_letter_is_recognised() {
        assert_eq!(nearest("expct", ["expect", "note"]), Some("expect"));
        assert_eq!(nearest("ntoe", ["expect", "note"]), Some("note"));
        assert_eq!(nearest("Notes", ["expect", "note"]), Some("note"));
    }

    #[test]
    fn another_word_is_not_a_slip() {
        assert_eq!(nearest("banana", ["expect", "note"]), None);
        assert_eq!(nearest("", ["expect"]), None);
    }
}
