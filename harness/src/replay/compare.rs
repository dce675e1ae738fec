//! What differs between a recording and what was played of it: the comparison of the two traces, and what that cannot tell.

use std::collections::{HashMap, HashSet};

use super::incident::{Incident, listed, named};
use super::plan::{Plan, Step};
use crate::canon::{Scrutiny, Volatility};
use crate::diff::{Change, Class, Comparison, Difference, Sides, diff_looking_at};
use crate::spec::Side;
use crate::trace::{Body, Event, Party, Recording};
use crate::wire::Kind;

/// What was played, as it is compared.
pub(crate) struct Live<'a> {
    /// The plan that was played.
    pub(crate) plan: &'a Plan,
    /// The live trace.
    pub(crate) trace: &'a Recording,
    /// Live events that the harness put in.
    pub(crate) put_in: &'a [u64],
    /// What the comparison cannot tell.
    pub(crate) incidents: &'a [Incident],
    /// What the recording and the live trace are called.
    pub(crate) sides: Sides,
}

/// Compares a recording with what was played of it. What the harness sent itself is no difference, and one cause is told
/// once.
pub(crate) fn compared(
    recording: &Recording,
    live: &Live<'_>,
    volatile: &Volatility,
) -> Comparison {
    let (right, places) = arranged(live);
    let scrutiny = Scrutiny::default();
    let comparison = diff_looking_at(recording, &right, volatile, scrutiny, live.sides);
    let told = Told::by(live, recording);
    let own = match live.plan.side {
        Side::Client => [Party::Client, Party::Harness],
        Side::Agent => [Party::Agent, Party::Harness],
    };
    let party = |recording: &Recording, event: Option<u64>| {
        let event = usize::try_from(event?).ok()?;
        Some(recording.events.get(event)?.from)
    };
    let of_ours = |difference: &Difference| {
        let parties = [
            party(recording, difference.left_event),
            party(&right, difference.right_event),
        ];
        let mut known = parties.into_iter().flatten().peekable();
        known.peek().is_some() && known.all(|party| own.contains(&party))
    };
    // A recording that breaks off does not tell how its agent ended; the replay has to end in some way.
    let ends = |event: &Event| {
        event.from == Party::Agent && matches!(event.body, Body::Eof | Body::Exit(_))
    };
    let breaks_off = !recording.events.iter().any(ends);
    let is_our_end = |difference: &Difference| {
        let event = difference
            .right_event
            .and_then(|it| usize::try_from(it).ok());
        let event = event.and_then(|event| right.events.get(event));
        breaks_off && difference.left_event.is_none() && event.is_some_and(ends)
    };
    // What comes after the end of a recording that breaks off is no difference from it.
    let is_beyond = |difference: &Difference| {
        let goes_on = match (&difference.left, &difference.right) {
            (None, _) => difference.change == Change::Appeared,
            (Some(left), Some(right)) => difference.class == Class::Text && right.starts_with(left),
            (Some(_), None) => false,
        };
        breaks_off && goes_on && difference.after.is_empty() && difference.requirements.is_empty()
    };
    // Whoever plays a recording for a client of his own has another client.
    let is_the_client = |difference: &Difference| {
        live.plan.side == Side::Agent && difference.place.contains("initialize · clientInfo")
    };
    let mut differences: Vec<Difference> = comparison
        .differences
        .into_iter()
        .filter(|difference| {
            // What the harness sends for an agent may break a rule: it was recorded so, or it is a refusal.
            let judged = live.plan.side == Side::Client && !difference.requirements.is_empty();
            judged || !of_ours(difference)
        })
        .filter(|difference| !told.covers(difference) && !is_our_end(difference))
        .filter(|difference| !is_beyond(difference) && !is_the_client(difference))
        .map(|mut difference| {
            let place = |event: u64| {
                let event = usize::try_from(event).ok()?;
                places.get(event).copied()
            };
            difference.right_event = difference.right_event.and_then(place);
            difference
        })
        .collect();
    differences.extend(
        live.incidents
            .iter()
            .filter_map(|incident| of_incident(live.plan, incident)),
    );
    differences.sort_by_key(|difference| difference.left_event.unwrap_or(u64::MAX));
    Comparison {
        differences,
        unmatched: comparison.unmatched,
        omitted: comparison.omitted,
    }
}

/// The live trace without what the harness put in, with a cancel that came too late before the answer that it was to come
/// before: that it was late is told apart. Also where each event stood.
fn arranged(live: &Live<'_>) -> (Recording, Vec<u64>) {
    let put_in: HashSet<u64> = live.put_in.iter().copied().collect();
    let mut early: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut late: HashSet<u64> = HashSet::new();
    for incident in live.incidents {
        if let Incident::TooLate {
            answered: Some(answered),
            event: Some(event),
            ..
        } = incident
        {
            early.entry(*answered).or_default().push(*event);
            late.insert(*event);
        }
    }
    let mut places = Vec::with_capacity(live.trace.events.len());
    for number in (0u64..).take(live.trace.events.len()) {
        places.extend(early.remove(&number).into_iter().flatten());
        if !put_in.contains(&number) && !late.contains(&number) {
            places.push(number);
        }
    }
    let event = |number: &u64| {
        live.trace
            .events
            .get(usize::try_from(*number).ok()?)
            .cloned()
    };
    let right = Recording {
        header: live.trace.header.clone(),
        events: places.iter().filter_map(event).collect(),
        damage: Vec::new(),
    };
    (right, places)
}

/// What incidents have told already.
#[derive(Default)]
struct Told {
    /// From this event of the recording on, everything vanished.
    from: Option<u64>,
    /// These events vanished.
    events: HashSet<u64>,
}

impl Told {
    fn by(live: &Live<'_>, recording: &Recording) -> Self {
        let mut told = Self::default();
        let mut sessions: HashSet<&str> = HashSet::new();
        for incident in live.incidents {
            match incident {
                Incident::Gone {
                    unsent, unanswered, ..
                } => {
                    let first = unsent.iter().chain(unanswered).filter_map(|step| {
                        let event = live.plan.steps.get(*step)?.event?;
                        u64::try_from(event).ok()
                    });
                    told.from = first.min();
                }
                Incident::TimedOut {
                    events, session, ..
                } => {
                    let number = |event: usize| u64::try_from(event).ok();
                    told.events
                        .extend(events.iter().filter_map(|event| number(*event)));
                    // All of a turn that was given up is one thing that did not come.
                    let given_up = |step: &&Step| {
                        let reply = step.request.as_ref().and_then(|it| it.reply_event);
                        step.session == *session && reply.is_some_and(|it| events.contains(&it))
                    };
                    let of_session = |event: &usize| {
                        let reading = recording
                            .events
                            .get(*event)
                            .and_then(|it| it.body.reading());
                        let message = reading.as_ref().and_then(|reading| reading.message());
                        message.and_then(|message| message.session()) == session.as_deref()
                    };
                    for step in live.plan.steps.iter().filter(given_up) {
                        let reply = step.request.as_ref().and_then(|it| it.reply_event);
                        let turn = step.event.unwrap_or(0)..reply.unwrap_or(0);
                        told.events
                            .extend(turn.filter(of_session).filter_map(number));
                    }
                }
                Incident::NoSession {
                    session, unsent, ..
                } => {
                    sessions.insert(session);
                    let replies = unsent.iter().filter_map(|step| {
                        let request = live.plan.steps.get(*step)?.request.as_ref()?;
                        u64::try_from(request.reply_event?).ok()
                    });
                    told.events.extend(replies);
                }
                Incident::TooLate { .. } | Incident::Unknown { .. } => {}
            }
        }
        if !sessions.is_empty() {
            for (number, event) in (0u64..).zip(&recording.events) {
                let of_session = event.body.reading().is_some_and(|reading| {
                    let message = reading.message();
                    let session = message.and_then(|message| message.session());
                    session.is_some_and(|session| sessions.contains(session))
                        && !matches!(message.map(|it| it.kind()), Some(Kind::Response { .. }))
                });
                if of_session {
                    told.events.insert(number);
                }
            }
        }
        told
    }

    fn covers(&self, difference: &Difference) -> bool {
        if difference.change != Change::Vanished {
            return false;
        }
        difference.left_event.is_some_and(|event| {
            self.events.contains(&event) || self.from.is_some_and(|from| event >= from)
        })
    }
}

/// The difference that an incident is; none where the comparison of the traces shows it.
fn of_incident(plan: &Plan, incident: &Incident) -> Option<Difference> {
    let other = match plan.side {
        Side::Client => "agent",
        Side::Agent => "client",
    };
    match incident {
        Incident::TooLate { step, place, .. } => {
            let step = plan.steps.get(*step)?;
            Some(own(
                plan,
                step,
                Change::Moved,
                (place.clone(), "after the end of the turn"),
                format!(
                    "{} went too late: the turn had ended before it came to {place}",
                    named(step)
                ),
            ))
        }
        Incident::TimedOut {
            awaited,
            events,
            session,
            seconds,
        } => {
            let event = events.first().copied();
            let words = awaited.join(" and ");
            let mut difference = bare(Class::Behaviour, Change::Vanished);
            difference.place = place_of(plan, session.as_deref(), event);
            difference.left = Some(words.clone());
            difference.left_event = event.and_then(|event| u64::try_from(event).ok());
            difference.message = match seconds {
                Some(seconds) => format!(
                    "timed out: {words} did not come within {seconds:.1} s, and the {other} was waited for no longer"
                ),
                None => format!(
                    "{words} did not come either: the {other} has said nothing since it was waited for in vain"
                ),
            };
            Some(difference)
        }
        Incident::Gone {
            how,
            unsent,
            unanswered,
        } => {
            let mut parts = vec![format!("{how} in the middle of the conversation")];
            if !unanswered.is_empty() {
                parts.push(format!("without an answer: {}", listed(plan, unanswered)));
            }
            if !unsent.is_empty() {
                parts.push(format!("not sent: {}", listed(plan, unsent)));
            }
            let first = unanswered.iter().chain(unsent).min()?;
            let step = plan.steps.get(*first)?;
            let mut difference = own(
                plan,
                step,
                Change::Vanished,
                ("the conversation goes on".to_owned(), how),
                parts.join("; "),
            );
            let reply = step
                .request
                .as_ref()
                .and_then(|request| request.reply_event);
            let event = reply.filter(|_| unanswered.contains(first)).or(step.event);
            difference.left_event = event.and_then(|event| u64::try_from(event).ok());
            Some(difference)
        }
        Incident::NoSession { step, unsent, .. } => {
            if unsent.is_empty() {
                return None;
            }
            let step = plan.steps.get(*step)?;
            Some(own(
                plan,
                step,
                Change::Vanished,
                ("a session is opened".to_owned(), "none is"),
                format!(
                    "no session was opened, so its messages were not sent: {}",
                    listed(plan, unsent)
                ),
            ))
        }
        Incident::Unknown { .. } => None,
    }
}

fn own(
    plan: &Plan,
    step: &Step,
    change: Change,
    (left, right): (String, &str),
    message: String,
) -> Difference {
    Difference {
        place: place_of(plan, step.session.as_deref(), step.event),
        left: Some(left),
        right: Some(right.to_owned()),
        left_event: step.event.and_then(|event| u64::try_from(event).ok()),
        message,
        ..bare(Class::Behaviour, change)
    }
}

fn bare(class: Class, change: Change) -> Difference {
    Difference {
        class,
        change,
        place: String::new(),
        left: None,
        right: None,
        left_event: None,
        right_event: None,
        requirements: Vec::new(),
        message: String::new(),
        before: Vec::new(),
        after: Vec::new(),
    }
}

/// Where something of the recording is: its session by number, and the turn.
fn place_of(plan: &Plan, session: Option<&str>, event: Option<usize>) -> String {
    let Some(session) = session else {
        return "connection".to_owned();
    };
    let number = plan.sessions.iter().position(|known| known == session);
    let mut place = match number {
        Some(number) => format!("session-{}", number + 1),
        None => "session".to_owned(),
    };
    let is_prompt = |step: &&Step| {
        step.session.as_deref() == Some(session)
            && step
                .request
                .as_ref()
                .is_some_and(|request| request.method == "session/prompt")
            && step.event <= event
    };
    let turn = plan.steps.iter().filter(is_prompt).count();
    if turn > 0 && plan.side == Side::Client {
        place.push_str(&format!(" · turn {turn}"));
    }
    place
}
