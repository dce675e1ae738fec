//! Two sequences side by side: equal things first, then like ones between them.

use imara_diff::{Algorithm, Diff, InternedInput};

/// What one thing is compared by, from all of it to its mere kind.
pub(super) type Keys = [u64; 3];

/// One step through two sequences, by indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// In both: equal, or the nearest to it.
    Both(usize, usize),
    /// On the left only.
    Left(usize),
    /// On the right only.
    Right(usize),
}

/// Aligns two sequences. Swapping the sides swaps the outcome.
pub(super) fn align(left: &[Keys], right: &[Keys]) -> Vec<Step> {
    // Of several good alignments the one that is found depends on the order of the sides: it is always the same order.
    if left <= right {
        let mut steps = Vec::with_capacity(left.len().max(right.len()));
        aligned(left, right, 0, (0, 0), &mut steps);
        steps
    } else {
        let mut steps = align(right, left);
        for step in &mut steps {
            *step = match *step {
                Step::Both(left, right) => Step::Both(right, left),
                Step::Left(index) => Step::Right(index),
                Step::Right(index) => Step::Left(index),
            };
        }
        left_first(&mut steps);
        steps
    }
}

/// Where some are on the left only and some on the right only, the left ones come first.
pub(super) fn left_first(steps: &mut [Step]) {
    for run in steps
        .chunk_by_mut(|one, next| !matches!(one, Step::Both(..)) && !matches!(next, Step::Both(..)))
    {
        run.sort_by_key(|step| matches!(step, Step::Right(_)));
    }
}

fn aligned(
    left: &[Keys],
    right: &[Keys],
    level: usize,
    offset: (usize, usize),
    out: &mut Vec<Step>,
) {
    if left.is_empty() || right.is_empty() || level > 2 {
        out.extend((0..left.len()).map(|index| Step::Left(offset.0 + index)));
        out.extend((0..right.len()).map(|index| Step::Right(offset.1 + index)));
        return;
    }
    if let ([one], [other]) = (left, right) {
        if one.iter().zip(other).any(|(one, other)| one == other) {
            out.push(Step::Both(offset.0, offset.1));
        } else {
            out.extend([Step::Left(offset.0), Step::Right(offset.1)]);
        }
        return;
    }
    let key = |keys: &Keys| keys.get(level).copied().unwrap_or(0);
    let mut input = InternedInput::default();
    input.update_before(left.iter().map(key));
    input.update_after(right.iter().map(key));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let (mut at_left, mut at_right) = (0, 0);
    let both_until =
        |end: usize, at_left: &mut usize, at_right: &mut usize, out: &mut Vec<Step>| {
            while *at_left < end {
                out.push(Step::Both(offset.0 + *at_left, offset.1 + *at_right));
                *at_left += 1;
                *at_right += 1;
            }
        };
    for hunk in diff.hunks() {
        let (before, after) = (range(&hunk.before), range(&hunk.after));
        both_until(before.start, &mut at_left, &mut at_right, out);
        aligned(
            left.get(before.clone()).unwrap_or(&[]),
            right.get(after.clone()).unwrap_or(&[]),
            level + 1,
            (offset.0 + before.start, offset.1 + after.start),
            out,
        );
        (at_left, at_right) = (before.end, after.end);
    }
    both_until(left.len(), &mut at_left, &mut at_right, out);
}

fn range(range: &std::ops::Range<u32>) -> std::ops::Range<usize> {
    range.start as usize..range.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(things: &[(u64, u64)]) -> Vec<Keys> {
        things
            .iter()
            .map(|(full, kind)| [*full, *full, *kind])
            .collect()
    }

    #[test]
    fn what_is_missing_does_not_shift_what_follows() {
        let left = keys(&[(1, 1), (2, 1), (3, 1)]);
        let right = keys(&[(1, 1), (3, 1)]);
        assert_eq!(
            align(&left, &right),
            [Step::Both(0, 0), Step::Left(1), Step::Both(2, 1)]
        );
    }

    #[test]
    fn like_things_between_equal_ones_belong_together() {
        let left = keys(&[(1, 1), (2, 2), (5, 3), (9, 9)]);
        let right = keys(&[(1, 1), (4, 3), (9, 9)]);
        assert_eq!(
            align(&left, &right),
            [
                Step::Both(0, 0),
                Step::Left(1),
                Step::Both(2, 1),
                Step::Both(3, 2)
            ]
        );
    }

    proptest! {
        #[test]
        fn each_thing_occurs_once_and_in_order_and_sides_can_be_swapped(
            left in proptest::collection::vec((0..6u64, 0..3u64), 0..30),
            right in proptest::collection::vec((0..6u64, 0..3u64), 0..30),
        ) {
            let (left, right) = (keys(&left), keys(&right));
            let steps = align(&left, &right);
            let lefts: Vec<usize> = steps.iter().filter_map(|step| match step {
                Step::Both(index, _) | Step::Left(index) => Some(*index),
                Step::Right(_) => None,
            }).collect();
            let rights: Vec<usize> = steps.iter().filter_map(|step| match step {
                Step::Both(_, index) | Step::Right(index) => Some(*index),
                Step::Left(_) => None,
            }).collect();
            prop_assert_eq!(lefts, (0..left.len()).collect::<Vec<_>>());
            prop_assert_eq!(rights, (0..right.len()).collect::<Vec<_>>());
            let mut mirrored: Vec<Step> = align(&right, &left).into_iter().map(|step| match step {
                Step::Both(left, right) => Step::Both(right, left),
                Step::Left(index) => Step::Right(index),
                Step::Right(index) => Step::Left(index),
            }).collect();
            left_first(&mut mirrored);
            let mut steps = steps;
            left_first(&mut steps);
            prop_assert_eq!(steps, mirrored);
        }
    }
}
