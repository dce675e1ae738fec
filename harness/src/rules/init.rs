//! INIT-01, -02, -05 to -08 and -10: the handshake and what was agreed on in it.

use serde_json::Value;

use super::quote::{quote, quote_json};
use super::schema::faults_in;
use super::{Conversation, Moment, Open, Out, Place, Rule};
use crate::spec::{Later, Schema};
use crate::trace::Body;
use crate::wire::{Id, Message};

const ANSWERED: &str = "INIT-01";
const SAME_VERSION: &str = "INIT-02";
const AGREED_FORMS: &str = "INIT-05";
const AGENT_INFO: &str = "INIT-06";
const SPELLED_OUT: &str = "INIT-07";
const TYPES: &str = "INIT-08";
const LEFT_OUT: &str = "INIT-10";
const WAITS: &str = "INTEROP-24";

/// How long a second `initialize` may be left open while the conversation goes on, in seconds.
const PATIENCE: f64 = 30.0;

const STILL_OPEN: &str =
    "a second initialize was neither answered nor refused, where nothing should wait for ever";

/// The requirements that INIT-10 stands over.
const UNDER_LEFT_OUT: [&str; 8] = [
    "FS-01",
    "FS-02",
    "TERMINAL-01",
    "ELICIT-01",
    "ELICIT-02",
    "CONFIG-03",
    "AUTH-02",
    "UPDATE-02",
];

/// INIT-01 (docs/protocol/v1/initialization.mdx#initialization): the first `initialize` of a connection, if it asks for
/// version 1 and is valid, is answered with a result that states a version. What a further `initialize` gets is left open
/// (INIT-16).
///
/// INIT-02 (#version-negotiation): asked for version 1, an agent that supports it answers 1. One that answers another
/// version is taken not to support 1, unless it answered 1 before or does so later on the connection.
///
/// INIT-05 (#protocol-version): under version 1 no method or update is one that only version 2 has.
///
/// INIT-06 (#implementation-information), INIT-07 (#agent-capabilities): `agentInfo` with name and version, and
/// `agentCapabilities`; a null is as good as nothing.
///
/// INTEROP-24: an `initialize` that comes after the handshake is answered or refused. It fails where the harness gave up
/// waiting, and where the conversation went on for half a minute.
///
/// INIT-08 (schema/v1/schema.json#/$defs/InitializeResponse): the types of the result; those of `authMethods` are AUTH-01's
/// and AUTH-03's.
#[derive(Default)]
pub(super) struct Handshakes {
    /// The event of the request that INIT-01 judges.
    first: Option<u64>,
    seen_any: bool,
    settled: bool,
    answered_one: bool,
    /// An answer with another version to a request for version 1.
    answered_other: Option<(u64, u64)>,
    foreign: bool,
    spoke: bool,
    /// The last `initialize` that came after the handshake and has no answer: its event, and when it was sent.
    further: Option<(u64, f64)>,
}

impl Rule for Handshakes {
    fn judges(&self) -> &'static [&'static str] {
        &[
            ANSWERED,
            SAME_VERSION,
            AGREED_FORMS,
            AGENT_INFO,
            SPELLED_OUT,
            TYPES,
            WAITS,
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if let Some((open, message)) = moment.answer_to("initialize") {
            self.answered(moment, open, message, out);
        } else if let Some(message) = moment.client_call("initialize") {
            if !self.seen_any && moment.talk.whole && is_judged(moment, message) {
                self.first = Some(moment.index);
            }
            if self.seen_any && moment.talk.handshake.is_some() {
                self.further = Some((moment.index, moment.event.at));
            }
            self.seen_any = true;
        } else if let Some(message) = moment.agent_message() {
            self.forms(moment, message, out);
        } else if let Body::Unanswered { id, seconds } = &moment.event.body {
            self.waits(moment, moment.talk.client_request(&Id::from_value(id)), out);
            self.unanswered(moment, &Id::from_value(id), *seconds, out);
        }
        if let Some((event, since)) = self.further
            && moment.agent_message().is_some()
            && moment.event.at - since > PATIENCE
        {
            let open = moment
                .talk
                .client_requests()
                .find(|open| open.event == event);
            self.waits(moment, open, out);
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        if let Some(event) = self.first.filter(|_| !self.settled) {
            self.never_answered(event, talk, out);
        }
        match self.answered_other {
            Some((event, version)) if self.answered_one => out.fail(
                SAME_VERSION,
                Place::new(event, "/result/protocolVersion"),
                format!(
                    "asked for version 1 the agent answered {version} here and 1 elsewhere, so it supports 1 and must answer it"
                ),
            ),
            Some((_, version)) => out.not_applicable(
                SAME_VERSION,
                format!("the agent answers version {version} and is taken not to support 1"),
            ),
            None => {}
        }
        if self.spoke && !self.foreign {
            out.pass(AGREED_FORMS);
        }
    }
}

impl Handshakes {
    fn answered(&mut self, moment: &Moment<'_>, open: &Open, message: &Message, out: &mut Out<'_>) {
        if self.is_further(open) {
            self.further = None;
            out.pass(WAITS);
        }
        if self.first == Some(open.event) {
            self.settled = true;
            judge_first(moment, message, out);
        }
        let Some(result) = message.result().filter(|_| message.error().is_none()) else {
            return;
        };
        let version = result.get("protocolVersion").and_then(Value::as_u64);
        if asks_for_one(&open.params)
            && let Some(version) = version
        {
            if version == 1 {
                self.answered_one = true;
                out.pass(SAME_VERSION);
            } else {
                self.answered_other.get_or_insert((moment.index, version));
            }
        }
        if moment.payload().is_none() {
            return;
        }
        let mut faults = false;
        for violation in faults_in(moment, "/result") {
            if !violation.path.starts_with("/result/authMethods/") {
                faults = true;
                out.fail(
                    TYPES,
                    moment.at(violation.path.as_str()),
                    format!("the result of initialize: {}", violation.message),
                );
            }
        }
        if !faults {
            out.pass(TYPES);
        }
        agent_info(moment, result, out);
        out.check(
            SPELLED_OUT,
            result
                .get("agentCapabilities")
                .is_some_and(|it| !it.is_null()),
            moment.at("/result"),
            || {
                "the result of initialize has no `agentCapabilities`, where the agent should spell them out"
                    .to_owned()
            },
        );
    }

    fn forms(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        let Some(method) = message.method() else {
            return;
        };
        if !moment.talk.is_version_one() {
            return;
        }
        self.spoke = true;
        let kind = moment.update().map(|update| update.kind);
        if Later::v1().is_v2_method(method) {
            self.foreign = true;
            out.fail(
                AGREED_FORMS,
                moment.at("/method"),
                format!(
                    "the method {} exists in version 2 only, where version 1 was agreed on",
                    quote(method)
                ),
            );
        } else if let Some(kind) = kind.filter(|kind| Later::v1().is_v2_kind(kind)) {
            self.foreign = true;
            out.fail(
                AGREED_FORMS,
                moment.at("/params/update/sessionUpdate"),
                format!(
                    "the update {} exists in version 2 only, where version 1 was agreed on",
                    quote(kind)
                ),
            );
        }
    }

    /// INTEROP-24, for a second `initialize`.
    fn waits(&mut self, moment: &Moment<'_>, open: Option<&Open>, out: &mut Out<'_>) {
        let Some(open) = open.filter(|open| self.is_further(open)) else {
            return;
        };
        self.further = None;
        match super::jsonrpc::excuse(moment.talk, open) {
            Some(why) => out.inconclusive(WAITS, why),
            None => out.fail(WAITS, Place::event(open.event), STILL_OPEN),
        }
    }

    fn is_further(&self, open: &Open) -> bool {
        open.method == "initialize" && self.further.is_some_and(|(event, _)| event == open.event)
    }

    fn unanswered(&mut self, moment: &Moment<'_>, id: &Id, seconds: f64, out: &mut Out<'_>) {
        let Some(open) = moment
            .talk
            .client_request(id)
            .filter(|open| self.first == Some(open.event))
        else {
            return;
        };
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        match super::jsonrpc::excuse(moment.talk, open) {
            Some(why) => {
                // Should the agent have died by itself, that is told at the end.
                self.settled = false;
                out.inconclusive(ANSWERED, why);
            }
            None => out.fail(
                ANSWERED,
                Place::event(open.event),
                format!(
                    "initialize was not answered within {seconds:.1} s, where a result with `protocolVersion` is expected"
                ),
            ),
        }
    }

    fn never_answered(&self, event: u64, talk: &Conversation, out: &mut Out<'_>) {
        let Some(open) = talk.client_requests().find(|open| open.event == event) else {
            return;
        };
        let unread = super::jsonrpc::unread_since(talk, open);
        match (talk.end.by_itself(), talk.end.exit) {
            (Some(died), Some(exit)) if died > event && unread.is_none() => out.fail(
                ANSWERED,
                Place::event(event),
                format!(
                    "the agent ended by itself ({exit}) before it answered initialize, where a result with `protocolVersion` is expected"
                ),
            ),
            _ => out.inconclusive(
                ANSWERED,
                unread.unwrap_or("the recording ends before initialize is answered"),
            ),
        }
    }
}

fn judge_first(moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
    match (message.result(), message.error()) {
        (Some(result), None) => out.check(
            ANSWERED,
            result.get("protocolVersion").is_some_and(|it| !it.is_null()),
            moment.at("/result"),
            || "the result of initialize states no `protocolVersion`, which it must".to_owned(),
        ),
        (None, Some(error)) => out.fail(
            ANSWERED,
            moment.at("/error"),
            format!(
                "initialize was answered with the error {}, where a result with `protocolVersion` is expected",
                quote_json(error)
            ),
        ),
        // Both outcomes at once: JSONRPC-02.
        _ => out.inconclusive(ANSWERED, "the answer to initialize has both result and error"),
    }
}

/// Whether an `initialize` of the client is one that must succeed.
fn is_judged(moment: &Moment<'_>, message: &Message) -> bool {
    let params = message.params().unwrap_or(&Value::Null);
    !moment.is_probe()
        && asks_for_one(params)
        && Schema::v1()
            .violations("InitializeRequest", params)
            .is_empty()
}

fn asks_for_one(params: &Value) -> bool {
    params.get("protocolVersion").and_then(Value::as_u64) == Some(1)
}

fn agent_info(moment: &Moment<'_>, result: &Value, out: &mut Out<'_>) {
    let info = result.get("agentInfo").filter(|info| !info.is_null());
    let Some(info) = info else {
        out.fail(
            AGENT_INFO,
            moment.at("/result"),
            "the result of initialize has no `agentInfo`, which should name the agent and its version",
        );
        return;
    };
    let lacking = ["name", "version"].into_iter().find(|member| {
        info.get(member)
            .and_then(Value::as_str)
            .is_none_or(|text| text.trim().is_empty())
    });
    out.check(
        AGENT_INFO,
        lacking.is_none(),
        moment.at("/result/agentInfo"),
        || {
            format!(
                "`agentInfo` has no `{}`, which should be a text that is not empty",
                lacking.unwrap_or_default()
            )
        },
    );
}

/// INIT-10 (docs/protocol/v1/initialization.mdx#capabilities): what the client left out counts as not supported. Gathered
/// from the requirements on single capabilities, so it must come after every rule that judges one of them.
pub(super) struct LeftOut;

impl Rule for LeftOut {
    fn judges(&self) -> &'static [&'static str] {
        &[LEFT_OUT]
    }

    fn see(&mut self, _: &Moment<'_>, _: &mut Out<'_>) {}

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        let mut failed: Vec<&str> = Vec::new();
        let mut place = None;
        let mut exercised = talk.sessions().next().is_some();
        for id in UNDER_LEFT_OUT {
            let Some(tally) = out.so_far().get(id) else {
                continue;
            };
            exercised |= tally.passes > 0;
            if tally.fails > 0 {
                failed.push(id);
                let first = tally.findings.first();
                place = place.or_else(|| first.and_then(|finding| finding.place.clone()));
            }
        }
        if !failed.is_empty() {
            out.fail(
                LEFT_OUT,
                place.unwrap_or_else(|| Place::event(0)),
                format!(
                    "the agent used what the client did not offer ({})",
                    failed.join(", ")
                ),
            );
        } else if exercised && talk.is_version_one() && talk.handshake.is_some() {
            out.pass(LEFT_OUT);
        }
    }
}

#[cfg(test)]
mod tests;
