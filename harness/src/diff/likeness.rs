//! Whether two tool calls may be one and the same that changed.

use crate::canon::{Canonical, Node};
use crate::hash::HashSet;

/// The shortest word that two titles may share.
const WORD: usize = 3;

/// The part of their words that two titles must share where arguments or places tell more of the calls, as a divisor:
/// `file` or `run` alone is in half of all titles.
const SHARED: usize = 3;

/// Whether the first states of two calls have enough in common: the title; or the kind, and then an argument, a place, or
/// words of the title.
pub(super) fn alike(
    (left, one): (&Canonical<'_>, &Node<'_>),
    (right, other): (&Canonical<'_>, &Node<'_>),
) -> bool {
    let title = |node: &Node<'_>| node.get("title").and_then(Node::text).map(str::to_owned);
    let (one_title, other_title) = (title(one), title(other));
    // A question that comes before its call tells too little.
    let (Some(one_title), Some(other_title)) = (one_title, other_title) else {
        return true;
    };
    if one_title == other_title {
        return true;
    }
    if one.get("kind").and_then(Node::text) != other.get("kind").and_then(Node::text) {
        return false;
    }
    let shared = |name: &str| {
        let ones: HashSet<u64> = parts(left, one.get(name)).into_iter().collect();
        parts(right, other.get(name))
            .iter()
            .any(|part| ones.contains(part))
    };
    let words = |title: &str| -> HashSet<String> {
        title
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() >= WORD)
            .map(str::to_lowercase)
            .collect()
    };
    let (one_words, other_words) = (words(&one_title), words(&other_title));
    let common = one_words.intersection(&other_words).count();
    let enough = if says_more(one) && says_more(other) {
        one_words
            .union(&other_words)
            .count()
            .div_ceil(SHARED)
            .max(1)
    } else {
        1
    };
    common >= enough || shared("rawInput") || shared("locations")
}

/// Whether a call tells what it is about otherwise than in its title.
fn says_more(call: &Node<'_>) -> bool {
    ["rawInput", "locations"].iter().any(|name| {
        call.get(name).is_some_and(|value| match value {
            Node::Object(members) => !members.is_empty(),
            Node::List(items) => !items.is_empty(),
            _ => false,
        })
    })
}

/// Hashes of the members or elements of a value, each with its name.
fn parts(form: &Canonical<'_>, value: Option<&Node<'_>>) -> Vec<u64> {
    match value {
        Some(Node::Object(members)) => members
            .iter()
            .map(|member| Node::Object(vec![member.clone()]).hashes(&form.minted).full)
            .collect(),
        Some(Node::List(items)) => items
            .iter()
            .map(|item| item.hashes(&form.minted).full)
            .collect(),
        _ => Vec::new(),
    }
}
