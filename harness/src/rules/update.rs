//! Session updates: their kinds, and the messages that chunks build.

use serde_json::Value;

use super::part;
use super::quote::quote;
use super::{Conversation, Moment, Out, Place, Rule, Session, Update};
use crate::hash::HashMap;
use crate::spec::{Kind, Later, Schema, Truth};
use crate::wire::Message;

/// So many messageIds of a session are kept; beyond them those of other turns are forgotten.
const KEPT: usize = 10_000;

/// The kinds of drafts that UPDATE-02 binds to a capability of the client.
const GATED: [&str; 4] = [
    "plan_update",
    "plan_removed",
    "compaction_update",
    "compaction_summary_chunk",
];

/// Members of a session that a `session_info_update` does not carry.
const NOT_INFO: [(&str, &str); 3] = [
    ("sessionId", "/params/update/sessionId"),
    ("cwd", "/params/update/cwd"),
    (
        "additionalDirectories",
        "/params/update/additionalDirectories",
    ),
];

/// Whose message a chunk is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Agent,
    Thought,
}

const ROLES: [(Role, &str); 3] = [
    (Role::User, "user_message_chunk"),
    (Role::Agent, "agent_message_chunk"),
    (Role::Thought, "agent_thought_chunk"),
];

/// Where a messageId was used.
#[derive(Clone, Copy)]
struct Used {
    role: Role,
    /// The prompt of the turn; in a replay, which turn of it, from 0.
    turn: u64,
    /// The last event that used it.
    last: u64,
}

/// The messages of one session.
#[derive(Default)]
struct Messages {
    live: HashMap<String, Used>,
    /// The prompt of the last turn that had chunks.
    turn: u64,
    /// The last id of each role.
    current: [Option<String>; 3],
    replay: Option<Replay>,
}

/// What a load has replayed so far.
struct Replay {
    /// The event of the load request.
    load: u64,
    used: HashMap<String, Used>,
    /// How many user messages have begun after other content.
    turn: u64,
    /// Whether the last chunk was the user's.
    user: bool,
}

/// How the chunks of a role carry ids, and where the first of each sort stands.
#[derive(Default)]
struct Share {
    with: u64,
    without: u64,
    first: Option<u64>,
    first_without: Option<u64>,
}

/// Something that UPDATE-08 counts, and where it was first seen.
#[derive(Default)]
struct Count {
    count: u64,
    first: Option<u64>,
}

impl Count {
    fn add(&mut self, event: u64) {
        self.count += 1;
        self.first.get_or_insert(event);
    }

    fn note(&self, what: &str, out: &mut Out<'_>) {
        if let Some(first) = self.first {
            out.note(
                "UPDATE-08",
                Place::event(first),
                format!("{} {what}", self.count),
            );
        }
    }
}

/// UPDATE-01 (schema SessionUpdate): an update of a stable kind fits the schema, in what no other requirement owns. Later
/// kinds and extensions are noted, any other kind fails.
///
/// UPDATE-02 (docs/protocol/v1/draft/agent-plan.mdx#plan-operations): draft kinds go to clients that opted in.
///
/// UPDATE-03 (docs/protocol/v1/prompt-turn.mdx#message-ids): in live traffic a messageId has one role and one turn. A chunk
/// after the end of a turn belongs to the turn before (that it is late, others judge). An id that was used after the next
/// prompt had been sent may run on into that turn. What comes between a load and the next prompt is of no turn.
///
/// UPDATE-04 (docs/rfds/message-id.mdx): live chunks of one role all carry ids, or none does. Replays may hold messages from
/// before an agent knew ids.
///
/// UPDATE-05 (docs/protocol/v1/session-setup.mdx#loading-a-session): within one load an id has one role, and is not used on
/// both sides of another message of the user, which begins another turn.
///
/// UPDATE-06 (docs/protocol/v1/session-list.mdx#updating-session-metadata): `session_info_update` holds no id, no folders, and
/// a title that is a string or null.
///
/// UPDATE-08: oddities of the streams are counted.
#[derive(Default)]
pub(super) struct Updates {
    sessions: HashMap<String, Messages>,
    shares: [Share; 3],
    chunks: Count,
    empty: Count,
    returns: Count,
    echoes: Count,
    /// The length in bytes of the largest text chunk, and its event.
    largest: Option<(usize, u64)>,
}

impl Rule for Updates {
    fn judges(&self) -> &'static [&'static str] {
        &[
            "UPDATE-01",
            "UPDATE-02",
            "UPDATE-03",
            "UPDATE-04",
            "UPDATE-05",
            "UPDATE-06",
            "UPDATE-08",
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let Some(message) = moment.agent_call("session/update") else {
            return;
        };
        if !moment.talk.is_version_one() {
            return;
        }
        kind(moment, message, out);
        let Some(update) = moment.update() else {
            return;
        };
        if update.kind == "session_info_update" {
            info(moment, &update, out);
        } else if let Some((role, _)) = ROLES.iter().find(|(_, kind)| *kind == update.kind)
            && let Some(session) = moment.talk.session(update.session)
        {
            self.chunk(moment, &update, session, *role, out);
        }
    }

    fn end(&mut self, _talk: &Conversation, out: &mut Out<'_>) {
        for (share, (_, kind)) in self.shares.iter().zip(ROLES) {
            share.judge(kind, out);
        }
        if let Some((bytes, event)) = self.largest {
            out.note(
                "UPDATE-08",
                Place::event(event),
                format!(
                    "{} message chunks, the largest text among them {bytes} bytes",
                    self.chunks.count
                ),
            );
        }
        self.empty.note("chunks of empty text", out);
        self.returns.note(
            "times a messageId returned after another of the same role",
            out,
        );
        self.echoes.note("user_message_chunk in live turns", out);
    }
}

fn kind(moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
    const ID: &str = "UPDATE-01";
    let body = message.params().and_then(|params| params.get("update"));
    let Some(kind) = body
        .and_then(|body| body.get("sessionUpdate"))
        .and_then(Value::as_str)
    else {
        // What it is cannot be told: the schema says what is missing.
        let own = moment
            .violations()
            .iter()
            .find(|fault| body.is_none() || fault.path.starts_with("/params/update"));
        if let Some(fault) = own {
            part::report(moment, ID, fault, out);
        }
        return;
    };
    let at = || moment.at("/params/update/sessionUpdate");
    match Schema::v1().update_kind(kind) {
        Kind::Stable => part::judge(moment, ID, out),
        Kind::Later(entry) => {
            out.note(
                ID,
                at(),
                format!("the kind {kind} is known from {}", entry.from),
            );
        }
        Kind::Extension => out.note(
            ID,
            at(),
            format!(
                "the kind {} is an extension, which v1 does not foresee",
                quote(kind)
            ),
        ),
        Kind::Unknown => {
            let of = if Later::v1().is_v2_kind(kind) {
                "is of protocol version 2"
            } else {
                "is not known"
            };
            out.fail(
                ID,
                at(),
                format!("the kind {} {of}, expected one of version 1", quote(kind)),
            );
        }
    }
    let gate = GATED
        .contains(&kind)
        .then(|| Later::v1().gate(kind))
        .flatten();
    if let Some(gate) = gate {
        match moment.talk.evaluate(gate) {
            Truth::Holds => out.pass("UPDATE-02"),
            Truth::Fails(why) => {
                out.fail("UPDATE-02", at(), format!("{kind} was sent although {why}"))
            }
            Truth::Unknown => out.inconclusive("UPDATE-02", "the handshake was not seen"),
        }
    }
}

fn info(moment: &Moment<'_>, update: &Update<'_>, out: &mut Out<'_>) {
    let mut fits = part::faults(moment, "UPDATE-06", out);
    for (member, at) in NOT_INFO {
        if update.body.get(member).is_some() {
            fits = false;
            out.fail(
                "UPDATE-06",
                moment.at(at),
                format!("session_info_update holds {member}, which is no part of it"),
            );
        }
    }
    if fits {
        out.pass("UPDATE-06");
    }
}

impl Updates {
    fn chunk(
        &mut self,
        moment: &Moment<'_>,
        update: &Update<'_>,
        session: &Session,
        role: Role,
        out: &mut Out<'_>,
    ) {
        self.chunks.add(moment.index);
        let content = update.body.get("content");
        if let Some(text) = content.and_then(|content| content.get("text")?.as_str()) {
            if text.is_empty() {
                self.empty.add(moment.index);
            }
            if self.largest.is_none_or(|(bytes, _)| text.len() > bytes) {
                self.largest = Some((text.len(), moment.index));
            }
        }
        let id = update.body.get("messageId").and_then(Value::as_str);
        if !self.sessions.contains_key(update.session) {
            self.sessions
                .insert(update.session.to_owned(), Messages::default());
        }
        let Some(messages) = self.sessions.get_mut(update.session) else {
            return;
        };
        if let Some(load) = session.loading {
            messages.replayed(moment, load, role, id, out);
            return;
        }
        messages.replay = None;
        if role == Role::User && !session.turns.is_empty() {
            self.echoes.add(moment.index);
        }
        if let Some(share) = self.shares.get_mut(role as usize) {
            share.first.get_or_insert(moment.index);
            if id.is_some() {
                share.with += 1;
            } else {
                share.without += 1;
                share.first_without.get_or_insert(moment.index);
            }
        }
        let Some(id) = id else {
            return;
        };
        if let Some(turn) = session.turns.front() {
            messages.turn = turn.event;
        } else if session.gap.is_none() && messages.turn > 0 {
            return;
        }
        if messages.lived(moment, role, id, out) {
            self.returns.add(moment.index);
        }
    }
}

impl Messages {
    /// Takes a live chunk, and says whether its id returns after another one of its role.
    fn lived(&mut self, moment: &Moment<'_>, role: Role, id: &str, out: &mut Out<'_>) -> bool {
        let turn = self.turn;
        let now = Used {
            role,
            turn,
            last: moment.index,
        };
        let known = match self.live.get_mut(id) {
            Some(used) => {
                // It was still in use when the prompt of this turn had been sent, so the turns overlap.
                let runs_on = used.turn == turn || used.last > turn;
                judge(moment, "UPDATE-03", id, used, role, runs_on, out);
                *used = now;
                true
            }
            None => {
                out.pass("UPDATE-03");
                if self.live.len() >= KEPT {
                    self.live.retain(|_, used| used.turn == turn);
                }
                if self.live.len() < 2 * KEPT {
                    self.live.insert(id.to_owned(), now);
                }
                false
            }
        };
        let Some(current) = self.current.get_mut(role as usize) else {
            return false;
        };
        if current.as_deref() == Some(id) {
            return false;
        }
        *current = Some(id.to_owned());
        known
    }

    fn replayed(
        &mut self,
        moment: &Moment<'_>,
        load: u64,
        role: Role,
        id: Option<&str>,
        out: &mut Out<'_>,
    ) {
        if self
            .replay
            .as_ref()
            .is_none_or(|replay| replay.load != load)
        {
            self.replay = None;
        }
        let replay = self.replay.get_or_insert_with(|| Replay {
            load,
            used: HashMap::default(),
            turn: 0,
            user: false,
        });
        if role == Role::User && !replay.user {
            replay.turn += 1;
        }
        replay.user = role == Role::User;
        let Some(id) = id else {
            return;
        };
        let turn = replay.turn;
        let now = Used {
            role,
            turn,
            last: moment.index,
        };
        match replay.used.get_mut(id) {
            Some(used) => {
                let same = used.turn == turn;
                judge(moment, "UPDATE-05", id, used, role, same, out);
                *used = now;
            }
            None => {
                out.pass("UPDATE-05");
                if replay.used.len() < 2 * KEPT {
                    replay.used.insert(id.to_owned(), now);
                }
            }
        }
    }
}

/// One further use of an id.
fn judge(
    moment: &Moment<'_>,
    requirement: &'static str,
    id: &str,
    used: &Used,
    role: Role,
    same_turn: bool,
    out: &mut Out<'_>,
) {
    let why = if used.role != role {
        "in another role"
    } else if !same_turn {
        "in another turn"
    } else {
        out.pass(requirement);
        return;
    };
    out.fail(
        requirement,
        moment.at("/params/update/messageId"),
        format!(
            "messageId {} was used {why} (event {}), expected an id of its own for each message",
            quote(id),
            used.last
        ),
    );
}

impl Share {
    fn judge(&self, kind: &str, out: &mut Out<'_>) {
        const ID: &str = "UPDATE-04";
        match (self.first, self.first_without) {
            (None, _) => {}
            (Some(_), None) => out.pass(ID),
            (Some(first), Some(_)) if self.with == 0 => out.note(
                ID,
                Place::event(first),
                format!("no {kind} carries a messageId"),
            ),
            (Some(_), Some(without)) => out.fail(
                ID,
                Place::new(without, "/params/update"),
                format!(
                    "{} of {} {kind} carry no messageId, expected all or none to carry one",
                    self.without,
                    self.with + self.without
                ),
            ),
        }
    }
}

#[cfg(test)]
mod tests;
