//! How much of a conversation a failure rests on, so that it is only raised where all of that was recorded.

use super::{Conversation, Moment, Origin, Place};
use crate::trace::Body;
use crate::wire::Id;

/// How far back the evidence of a failure goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The message itself shows it, at most together with the handshake or with the request that it answers.
    Message,
    /// From the request in question on.
    Request,
    /// From the prompt of the turn on, that of the last turn where none is open; and from when a tool call became known.
    Turn,
    /// From when the session became known.
    Session,
    /// From the start of the conversation.
    Talk,
}

use Reach::{Message, Request, Session, Talk, Turn};

/// The reach of every requirement that a rule judges. One that is noted and never failed is of the message.
const REACHES: [(Reach, &[&str]); 5] = [
    (
        Message,
        &[
            "TRANSPORT-01",
            "TRANSPORT-02",
            "TRANSPORT-03",
            "TRANSPORT-04",
            "JSONRPC-01",
            "JSONRPC-02",
            "JSONRPC-06",
            "JSONRPC-07",
            "JSONRPC-08",
            "JSONRPC-09",
            "JSONRPC-10",
            "JSONRPC-11",
            "JSONRPC-12",
            "INIT-02",
            "INIT-05",
            "INIT-06",
            "INIT-07",
            "INIT-08",
            "INIT-10",
            "AUTH-01",
            "AUTH-02",
            "AUTH-03",
            "AUTH-09",
            "AUTH-11",
            "INIT-14",
            "SESSION-12",
            "LOAD-06",
            "LOAD-11",
            "LIST-01",
            "LIST-02",
            "LIST-04",
            "LIST-06",
            "LIST-09",
            "LIST-10",
            "CLOSE-05",
            "REQCANCEL-02",
            "REQCANCEL-05",
            "COMMANDS-01",
            "COMMANDS-02",
            "CONFIG-01",
            "CONFIG-02",
            "CONFIG-03",
            "CONFIG-10",
            "CONFIG-12",
            "MODE-01",
            "FS-01",
            "FS-02",
            "FS-03",
            "FS-04",
            "TERMINAL-01",
            "TERMINAL-02",
            "ELICIT-01",
            "ELICIT-02",
            "ELICIT-04",
            "ELICIT-05",
            "ELICIT-06",
            "ELICIT-07",
            "ELICIT-09",
            "ELICIT-10",
            "ELICIT-11",
            "EXT-04",
            "EXT-05",
            "EXT-06",
            "EXT-07",
            "EXT-09",
            "ERROR-01",
            "ERROR-02",
            "PROMPT-02",
            "PROMPT-09",
            "PROMPT-13",
            "UPDATE-01",
            "UPDATE-02",
            "UPDATE-06",
            "UPDATE-08",
            "CONTENT-01",
            "CONTENT-02",
            "CONTENT-03",
            "TOOLCALL-03",
            "TOOLCALL-08",
            "TOOLCALL-09",
            "TOOLCALL-10",
            "TOOLCALL-14",
            "TOOLCALL-15",
            "PERM-01",
            "PERM-02",
            "PERM-09",
            "PERM-10",
            "PLAN-01",
            "PLAN-04",
            "USAGE-01",
            "USAGE-02",
            "INTEROP-12",
            "INTEROP-13",
            "INTEROP-16",
            "INTEROP-25",
        ],
    ),
    (
        Request,
        &[
            "JSONRPC-04",
            "INIT-01",
            "SESSION-01",
            "RESUME-01",
            "RESUME-02",
            "REQCANCEL-01",
            "INTEROP-01",
            "INTEROP-24",
        ],
    ),
    (
        Turn,
        &[
            "PROMPT-01",
            "PROMPT-05",
            "PROMPT-06",
            "PROMPT-07",
            "INTEROP-02",
            "INTEROP-17",
            "TOOLCALL-05",
            "TOOLCALL-06",
            "TOOLCALL-07",
            "PERM-03",
            "PERM-04",
            "PERM-06",
            "CANCEL-01",
            "CANCEL-02",
            "CANCEL-03",
            "CLOSE-02",
            "PLAN-02",
            "PLAN-03",
        ],
    ),
    (
        Session,
        &[
            "SESSION-09",
            "CLOSE-01",
            "LOAD-03",
            "UPDATE-07",
            "USAGE-03",
            "INTEROP-22",
            "CANCEL-10",
            "CONFIG-04",
            "CONFIG-05",
            "CONFIG-06",
            "CONFIG-08",
            "CONFIG-09",
            "CONFIG-11",
            "MODE-02",
            "MODE-03",
            "MODE-04",
            "FS-05",
            "TERMINAL-03",
            "TERMINAL-04",
            "TERMINAL-05",
            "ELICIT-03",
            "UPDATE-03",
            "UPDATE-05",
            "TOOLCALL-01",
            "TOOLCALL-02",
            "TOOLCALL-04",
            "TOOLCALL-11",
            "TOOLCALL-12",
            "INTEROP-11",
            "INTEROP-20",
        ],
    ),
    (
        Talk,
        &[
            "JSONRPC-03",
            "JSONRPC-05",
            "SESSION-02",
            "SESSION-11",
            "LOAD-01",
            "LOAD-02",
            "LOAD-04",
            "LOAD-05",
            "LOAD-08",
            "LIST-03",
            "LIST-05",
            "LIST-07",
            "LIST-11",
            "DELETE-02",
            "DELETE-03",
            "AUTH-07",
            "CLOSE-03",
            "REQCANCEL-03",
            "REQCANCEL-04",
            "INTEROP-08",
            "ELICIT-08",
            "ELICIT-16",
            "PROMPT-04",
            "UPDATE-04",
        ],
    ),
];

/// The reach of a requirement.
fn reach(id: &str) -> Reach {
    REACHES
        .iter()
        .find(|(_, ids)| ids.contains(&id))
        .map_or(Talk, |(reach, _)| *reach)
}

/// Why a failure that is raised now would prove nothing, if something is missing that it rests on.
pub(super) fn missing(
    id: &str,
    talk: &Conversation,
    moment: Option<&Moment<'_>>,
    place: &Place,
) -> Option<&'static str> {
    let hole = talk.hole?;
    let reach = reach(id);
    let since = match reach {
        Message => return None,
        Talk => None,
        Request => Some(moment.and_then(asked).unwrap_or(place.event)),
        Session => moment.and_then(session),
        Turn => moment.and_then(turn),
    };
    let covered = since.is_some_and(|since| since.min(place.event) >= hole);
    (!covered).then_some(if talk.begins_at(hole) {
        "what it rests on may have come before the recording begins"
    } else {
        "what it rests on may stand in a line of the recording that could not be read"
    })
}

/// The request that the event answers, or is about.
fn asked(moment: &Moment<'_>) -> Option<u64> {
    match &moment.event.body {
        Body::Unanswered { id, .. } => {
            let open = moment.talk.client_request(&Id::from_value(id));
            open.map(|open| open.event)
        }
        _ => moment.answers.map(|open| open.event),
    }
}

fn session(moment: &Moment<'_>) -> Option<u64> {
    let session = moment.talk.session(name(moment)?)?;
    (session.origin != Origin::Before).then_some(session.known)
}

fn name<'a>(moment: &Moment<'a>) -> Option<&'a str> {
    moment
        .message()
        .and_then(|message| message.session())
        .or_else(|| moment.answers?.session.as_deref())
}

fn turn(moment: &Moment<'_>) -> Option<u64> {
    let of_call = moment.call.map(|step| step.after.known);
    let of_turn = match moment.ended_turn {
        Some(turn) => Some(turn.event),
        None => name(moment)
            .and_then(|name| moment.talk.session(name))
            .and_then(|session| {
                let open = session.turns.front().map(|turn| turn.event);
                let known = (session.origin != Origin::Before).then_some(session.known);
                open.or(session.last_prompt).or(known)
            }),
    };
    let since = [of_turn, asked(moment)].into_iter().flatten().min()?;
    Some(of_call.map_or(since, |call| call.min(since)))
}

#[cfg(test)]
mod tests {
    use super::super::Judge;
    use super::*;

    #[test]
    fn every_requirement_that_is_judged_has_one_reach() {
        for id in Judge::judged_ids() {
            let lists = REACHES.iter().filter(|(_, ids)| ids.contains(&id));
            assert_eq!(lists.count(), 1, "{id}");
        }
        let listed: usize = REACHES.iter().map(|(_, ids)| ids.len()).sum();
        assert_eq!(listed, Judge::judged_ids().len());
    }
}
