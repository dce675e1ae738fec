//! What holds of every comparison, whatever the conversation.

use crate::conversation::{
    Act, Ids, Talk, Turn, Way, is_floating, message, record, set, talk, update_kind,
};
use acp_harness::canon::{Canonical, Volatility};
use acp_harness::diff::{Class, Comparison, Difference, diff};
use acp_harness::trace::{Event, Recording};
use proptest::prelude::*;
use serde_json::json;

fn compared(left: &Recording, right: &Recording) -> Comparison {
    diff(left, right, &Volatility::built_in())
}

fn none(left: &Recording, right: &Recording) -> Result<(), TestCaseError> {
    let found = compared(left, right).differences;
    prop_assert!(
        found.is_empty(),
        "{}\n{}\n--\n{}",
        show(&found),
        lines(left),
        lines(right)
    );
    Ok(())
}

fn highest(comparison: &Comparison) -> Option<Class> {
    comparison
        .differences
        .iter()
        .map(|difference| difference.class)
        .max()
}

fn show(differences: &[Difference]) -> String {
    let lines: Vec<String> = differences
        .iter()
        .map(|it| {
            format!(
                "{} {} {} | {:?} | {:?} | {}",
                it.class, it.change, it.place, it.left, it.right, it.message
            )
        })
        .collect();
    lines.join("\n")
}

fn lines(recording: &Recording) -> String {
    let lines: Vec<String> = recording.events.iter().map(Event::to_line).collect();
    lines.join("\n")
}

/// Few cases by default, since each judges two traces; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(48),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// The session that an event is about, by its id or by the request that it answers.
fn session_of(recording: &Recording, index: usize) -> Option<String> {
    let message = message(&recording.events[index])?;
    let own = |message: &serde_json::Value| {
        let at = |pointer: &str| message.pointer(pointer).map(ToString::to_string);
        at("/params/sessionId").or_else(|| at("/result/sessionId"))
    };
    own(&message).or_else(|| {
        if message.get("method").is_some() {
            return None;
        }
        let from = recording.events[index].from;
        recording.events[..index].iter().rev().find_map(|event| {
            let asked = crate::conversation::message(event)?;
            (event.from != from && asked.get("method").is_some() && asked["id"] == message["id"])
                .then(|| own(&asked))?
        })
    })
}

/// Whether an event stands in its session's order: no state update, and nothing inside of a tool call.
fn is_ordered(event: &Event) -> bool {
    let Some(message) = message(event) else {
        return false;
    };
    !is_floating(event)
        && update_kind(event).as_deref() != Some("tool_call_update")
        && message["method"] != "session/request_permission"
        && message.pointer("/result/outcome").is_none()
}

/// The differences of two recordings in words, as they are seen from the other side if `mirrored`.
fn outcome(left: &Recording, right: &Recording, mirrored: bool) -> Vec<String> {
    let mut all: Vec<String> = compared(left, right)
        .differences
        .into_iter()
        .map(|it| {
            let change = if mirrored {
                it.change.mirrored()
            } else {
                it.change
            };
            let (left, right) = if mirrored {
                (it.right_event, it.left_event)
            } else {
                (it.left_event, it.right_event)
            };
            // Breaking on one side is behaviour on the other.
            format!(
                "{:?} {change} {left:?} {right:?}",
                it.class.min(Class::Behaviour)
            )
        })
        .collect();
    all.sort();
    all
}

#[test]
fn what_moved_out_of_a_cancelled_turn_is_told_from_either_side() {
    let plan = || Act::Plan(2);
    let turn = |acts, cancel| Turn {
        prompt: "Hello".to_owned(),
        acts,
        cancel,
        stop: "end_turn",
    };
    let one = Talk {
        sessions: vec![vec![turn(vec![], Some(0)), turn(vec![plan()], None)]],
    };
    let acts = vec![
        Act::Say(vec!["Hello".to_owned()]),
        Act::Read("Hello".to_owned()),
        plan(),
    ];
    let other = Talk {
        sessions: vec![vec![turn(acts, Some(0))]],
    };
    let (left, right) = (record(&one, Way::default()), record(&other, Way::default()));
    assert_eq!(outcome(&left, &right, false), outcome(&right, &left, true));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_trace_does_not_differ_from_itself(talk in talk(true), order in any::<u64>()) {
        let trace = record(&talk, Way { order, cut: 3, ..Way::default() });
        none(&trace, &trace)?;
    }

    #[test]
    fn swapping_the_sides_swaps_the_outcome(one in talk(true), other in talk(true), at in any::<prop::sample::Index>(), how in 0..3) {
        let left = record(&one, Way::default());
        let mut right = if how == 0 { record(&other, Way::default()) } else { left.clone() };
        let index = at.index(right.events.len());
        match how {
            1 => { right.events.remove(index); }
            2 => { let event = right.events[index].clone(); right.events.insert(index, event); }
            _ => {}
        }
        prop_assert_eq!(
            outcome(&left, &right, false),
            outcome(&right, &left, true)
        );
    }

    #[test]
    fn a_canonical_form_is_its_own_canonical_form(talk in talk(true), order in any::<u64>()) {
        let volatility = Volatility::built_in();
        let trace = record(&talk, Way { order, cut: 3, ids: Ids::Long, ..Way::default() });
        let once = Canonical::of(&trace, &volatility).to_recording();
        let twice = Canonical::of(&once, &volatility).to_recording();
        prop_assert_eq!(lines(&once), lines(&twice));
    }

    #[test]
    fn other_run_time_ids_make_no_difference(talk in talk(true), one in 0..4usize, other in 0..4usize) {
        let way = |ids: usize| Way { ids: Ids::ALL[ids], ..Way::default() };
        none(&record(&talk, way(one)), &record(&talk, way(other)))?;
    }

    #[test]
    fn another_folder_makes_no_difference(talk in talk(true)) {
        // Texts that name the folder by chance are left as they are: a folder that no text names.
        let way = |cwd| Way { cwd, ..Way::default() };
        none(&record(&talk, way("/srv/one")), &record(&talk, way("/private/var/two/three")))?;
    }

    #[test]
    fn cutting_texts_elsewhere_makes_no_difference(talk in talk(true), one in 1..9usize, other in 1..9usize) {
        let way = |cut| Way { cut, ..Way::default() };
        none(&record(&talk, way(one)), &record(&talk, way(other)))?;
    }

    #[test]
    fn interleaving_sessions_otherwise_makes_no_difference(talk in talk(true), one in any::<u64>(), other in any::<u64>()) {
        let way = |order| Way { order, ..Way::default() };
        none(&record(&talk, way(one)), &record(&talk, way(other)))?;
    }

    #[test]
    fn moving_a_state_update_within_its_session_makes_no_difference(
        talk in talk(true), which in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(),
    ) {
        let left = record(&talk, Way::default());
        let floating: Vec<usize> = (0..left.events.len()).filter(|index| is_floating(&left.events[*index])).collect();
        prop_assume!(!floating.is_empty());
        let from = floating[which.index(floating.len())];
        let session = session_of(&left, from);
        let kind = update_kind(&left.events[from]);
        // Between the updates of its kind before and after it, anywhere after the session was opened.
        let own = |index: &usize| session_of(&left, *index) == session;
        let same = |index: &usize| own(index) && update_kind(&left.events[*index]) == kind;
        let first = (0..from).filter(same).max()
            .unwrap_or_else(|| (0..from).filter(own).nth(1).unwrap_or(0));
        let last = (from + 1..left.events.len()).find(same)
            .unwrap_or_else(|| (0..left.events.len()).filter(own).max().unwrap() + 1);
        let mut right = left.clone();
        let event = right.events.remove(from);
        let place = first + 1 + to.index(last - first - 1);
        right.events.insert(place, event);
        none(&left, &right)?;
    }

    #[test]
    fn what_is_dropped_is_missed(talk in talk(false), which in any::<prop::sample::Index>()) {
        let left = record(&talk, Way { cut: 4, ..Way::default() });
        let mut right = left.clone();
        let messages: Vec<usize> = (0..left.events.len()).filter(|index| message(&left.events[*index]).is_some()).collect();
        let index = messages[which.index(messages.len())];
        let dropped = right.events.remove(index);
        let class = highest(&compared(&left, &right));
        let is_text = update_kind(&dropped).is_some_and(|kind| kind.ends_with("_chunk"));
        let least = if is_text { Class::Text } else { Class::Behaviour };
        prop_assert!(class >= Some(least), "{class:?}\n{}", dropped.to_line());
    }

    #[test]
    fn what_is_doubled_is_found(talk in talk(false), which in any::<prop::sample::Index>()) {
        let left = record(&talk, Way { cut: 4, ..Way::default() });
        // A call that says the same again is the same call.
        let messages: Vec<usize> = (0..left.events.len()).filter(|index| {
            message(&left.events[*index]).is_some()
                && !update_kind(&left.events[*index]).is_some_and(|kind| kind.starts_with("tool_call"))
        }).collect();
        let index = messages[which.index(messages.len())];
        let mut right = left.clone();
        let doubled = right.events[index].clone();
        right.events.insert(index, doubled.clone());
        let class = highest(&compared(&left, &right));
        let is_text = update_kind(&doubled).is_some_and(|kind| kind.ends_with("_chunk"));
        let least = if is_text { Class::Text } else { Class::Behaviour };
        prop_assert!(class >= Some(least), "{class:?}\n{}", doubled.to_line());
    }

    #[test]
    fn what_stands_elsewhere_in_its_session_is_found(talk in talk(false), which in any::<prop::sample::Index>()) {
        let left = record(&talk, Way { cut: 4, ..Way::default() });
        let ordered: Vec<usize> = (0..left.events.len()).filter(|index| is_ordered(&left.events[*index])).collect();
        let pairs: Vec<(usize, usize)> = ordered.windows(2).filter_map(|pair| {
            let same_session = session_of(&left, pair[0]).is_some() && session_of(&left, pair[0]) == session_of(&left, pair[1]);
            let differs = left.events[pair[0]].body != left.events[pair[1]].body;
            (same_session && differs).then_some((pair[0], pair[1]))
        }).collect();
        prop_assume!(!pairs.is_empty());
        let (one, other) = pairs[which.index(pairs.len())];
        let mut right = left.clone();
        right.events.swap(one, other);
        let is_chunk = |index: &usize| update_kind(&left.events[*index]).is_some_and(|kind| kind.ends_with("_chunk"));
        let place = ordered.iter().position(|index| *index == one).unwrap();
        // Between two texts of a session, what moves of one into the other is text, and everything else stays where it is.
        let around = [place.checked_sub(1), Some(place + 2)].map(|at| at.and_then(|at| ordered.get(at)));
        let flows = around.iter().all(|index| index.is_some_and(|index| is_chunk(index) && session_of(&left, *index) == session_of(&left, one)));
        let chunks = [one, other].iter().filter(|index| is_chunk(index)).count();
        let least = if chunks == 2 || chunks == 1 && flows { Class::Text } else { Class::Behaviour };
        let class = highest(&compared(&left, &right));
        prop_assert!(class >= Some(least), "{class:?}\n{}\n{}", left.events[one].to_line(), left.events[other].to_line());
    }

    #[test]
    fn what_is_changed_is_found_in_its_class(talk in talk(false), which in any::<prop::sample::Index>()) {
        let left = record(&talk, Way { cut: 4, ..Way::default() });
        let changes: [(&str, serde_json::Value, Class); 16] = [
            ("/params/update/content/text", json!("something else"), Class::Text),
            ("/params/prompt/0/text", json!("something else"), Class::Text),
            ("/params/update/title", json!("something else"), Class::Text),
            ("/params/options/0/name", json!("Maybe"), Class::Text),
            ("/params/update/entries/0/content", json!("another step"), Class::Text),
            ("/result/agentInfo/version", json!("2"), Class::Text),
            ("/params/update/entries/0/priority", json!("high"), Class::Behaviour),
            ("/result/stopReason", json!("max_turn_requests"), Class::Behaviour),
            ("/params/update/kind", json!("fetch"), Class::Behaviour),
            ("/params/update/rawInput/command", json!("rm"), Class::Behaviour),
            ("/params/update/rawOutput/output", json!("no"), Class::Behaviour),
            ("/params/options/1/kind", json!("reject_always"), Class::Behaviour),
            ("/result/outcome/optionId", json!("other"), Class::Behaviour),
            ("/result/agentCapabilities/loadSession", json!(true), Class::Behaviour),
            ("/params/update/currentModeId", json!("plan"), Class::Behaviour),
            ("/params/path", json!("/elsewhere"), Class::Behaviour),
        ];
        let places: Vec<(usize, usize)> = left.events.iter().enumerate().flat_map(|(index, event)| {
            let message = message(event);
            changes.iter().enumerate().filter_map(move |(change, (pointer, value, _))| {
                let there = message.as_ref()?.pointer(pointer)?;
                (there != value).then_some((index, change))
            }).collect::<Vec<_>>()
        }).collect();
        let (index, change) = places[which.index(places.len())];
        let (pointer, value, class) = &changes[change];
        let mut right = left.clone();
        let mut changed = message(&right.events[index]).unwrap();
        *changed.pointer_mut(pointer).unwrap() = value.clone();
        set(&mut right.events[index], &changed);
        let comparison = compared(&left, &right);
        let found: Vec<Class> = comparison.differences.iter().map(|it| it.class).collect();
        let fits = |found: &Class| match class {
            Class::Text => *found == Class::Text,
            _ => *found >= Class::Behaviour,
        };
        prop_assert!(!found.is_empty() && found.iter().all(fits), "{pointer}\n{}", show(&comparison.differences));
    }
}
