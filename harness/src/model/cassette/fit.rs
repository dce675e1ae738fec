//! How well a recorded request fits a live one, and where two part.

use super::talk::{By, Item, Talk};

/// How well two requests fit, the more the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit {
    /// The user has spoken as often.
    pub(super) same_turn: bool,
    /// What tools gave back.
    pub(super) results: Alike,
    /// How many messages are the same from the beginning on.
    pub(super) history: usize,
}

/// How alike the results of tools are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alike {
    /// They differ.
    Not,
    /// One holds the other: agents put words around what a tool gave back.
    Within,
    /// They are the same.
    Same,
}

/// How well two requests fit; `None` where they are not at the same place of a conversation: other words of the user, or
/// another number of replies since.
pub(super) fn fit(recorded: &Talk, live: &Talk) -> Option<Fit> {
    let said = |talk: &Talk| Some(talk.items.get(talk.last_said()?)?.words.clone());
    let same_place = said(recorded) == said(live) && recorded.step() == live.step();
    same_place.then(|| Fit {
        same_turn: recorded.turn() == live.turn(),
        results: results(recorded.results(), live.results()),
        history: common(recorded, live),
    })
}

fn results(recorded: Option<&Item>, live: Option<&Item>) -> Alike {
    match (recorded, live) {
        (None, None) => Alike::Same,
        (Some(recorded), Some(live)) => same(recorded, live),
        _ => Alike::Not,
    }
}

/// Whether two messages say the same.
fn same(one: &Item, other: &Item) -> Alike {
    if one.by != other.by {
        return Alike::Not;
    }
    if one.words == other.words {
        return Alike::Same;
    }
    let within = |(one, other): (&String, &String)| holds(one, other) || holds(other, one);
    let pairs = one.words.iter().zip(&other.words);
    match one.words.len() == other.words.len() && pairs.into_iter().all(within) {
        true => Alike::Within,
        false => Alike::Not,
    }
}

/// Whether all words of a text stand in another, one behind the other.
fn holds(text: &str, part: &str) -> bool {
    !part.is_empty() && format!(" {text} ").contains(&format!(" {part} "))
}

/// How many messages say the same from the beginning on.
fn common(one: &Talk, other: &Talk) -> usize {
    let pairs = one.items.iter().zip(&other.items);
    pairs
        .take_while(|(one, other)| same(one, other) != Alike::Not)
        .count()
}

/// The nearest of the recorded requests: the one with the same last words of the user, and then most in common.
pub(super) fn nearest<'a>(
    recorded: impl Iterator<Item = (u64, &'a Talk)>,
    live: &Talk,
) -> Option<(u64, &'a Talk)> {
    let last = |talk: &Talk| {
        talk.last_said()
            .and_then(|place| talk.items.get(place))
            .map(|item| item.words.clone())
    };
    let wanted = last(live);
    let nearness = |talk: &Talk| {
        let apart = talk.step().abs_diff(live.step());
        (
            last(talk) == wanted,
            common(talk, live),
            std::cmp::Reverse(apart),
        )
    };
    // Of equally near ones the first.
    recorded.fold(None, |best: Option<(u64, &Talk)>, next| match best {
        Some(best) if nearness(best.1) >= nearness(next.1) => Some(best),
        _ => Some(next),
    })
}

/// Where two requests part, as the end of a sentence.
pub(super) fn parting(recorded: &Talk, live: &Talk) -> String {
    let at = common(recorded, live);
    let told = |item: Option<&Item>| match item {
        None => "the end of the request".to_owned(),
        Some(item) => {
            let by = match item.by {
                By::User => "the user's",
                By::Model => "the model's",
                By::Tools => "a tool's",
            };
            format!("{by} \"{}\"", item.shown)
        }
    };
    format!(
        "they part at message {}: recorded {}, now {}",
        at + 1,
        told(recorded.items.get(at)),
        told(live.items.get(at))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(items: &[(By, &str)]) -> Talk {
        Talk {
            items: items
                .iter()
                .map(|(by, words)| Item {
                    by: *by,
                    words: vec![(*words).to_owned()],
                    shown: (*words).to_owned(),
                })
                .collect(),
        }
    }

    #[test]
    fn requests_fit_by_their_place_and_better_by_results_and_history() {
        let recorded = talk(&[(By::User, "a"), (By::Model, "b"), (By::Tools, "hi")]);
        assert_eq!(fit(&recorded, &talk(&[(By::User, "a")])), None);
        assert_eq!(
            fit(
                &recorded,
                &talk(&[(By::User, "x"), (By::Model, "b"), (By::Tools, "hi")])
            ),
            None
        );
        let same = fit(&recorded, &recorded).unwrap();
        let around = talk(&[
            (By::User, "a"),
            (By::Model, "b"),
            (By::Tools, "output hi exit code 0"),
        ]);
        let around = fit(&recorded, &around).unwrap();
        let other = talk(&[(By::User, "a"), (By::Model, "b"), (By::Tools, "denied")]);
        let other = fit(&recorded, &other).unwrap();
        assert!(same > around && around > other);
        assert_eq!(around.results, Alike::Within);
    }

    #[test]
    fn a_miss_names_the_nearest_and_where_it_parts() {
        let one = talk(&[(By::User, "a")]);
        let two = talk(&[(By::User, "a"), (By::Model, "b"), (By::User, "c")]);
        let live = talk(&[(By::User, "a"), (By::Model, "b"), (By::User, "d")]);
        let recorded = [(1, &one), (2, &two)];
        let (number, found) = nearest(recorded.into_iter(), &live).unwrap();
        assert_eq!(number, 2);
        assert_eq!(
            parting(found, &live),
            "they part at message 3: recorded the user's \"c\", now the user's \"d\""
        );
        assert_eq!(
            parting(&one, &live),
            "they part at message 2: recorded the end of the request, now the model's \"b\""
        );
    }
}
