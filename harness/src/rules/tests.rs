//! Laws that hold for all rules together.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Judge, judge_all};
use crate::spec::Catalogue;
use crate::trace::{Body, Event, Exchange, ExchangePart, Party};

/// Words that rules look for, so that arbitrary messages reach them.
const WORDS: [&str; 46] = [
    "initialize",
    "session/new",
    "session/load",
    "session/resume",
    "session/prompt",
    "session/cancel",
    "session/close",
    "session/update",
    "session/request_permission",
    "fs/write_text_file",
    "terminal/create",
    "terminal/release",
    "$/cancel_request",
    "_own",
    "agent_message_chunk",
    "user_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "plan_update",
    "usage_update",
    "session_info_update",
    "current_mode_update",
    "available_commands_update",
    "config_option_update",
    "pending",
    "in_progress",
    "completed",
    "failed",
    "end_turn",
    "cancelled",
    "selected",
    "allow_once",
    "reject_once",
    "text",
    "image",
    "resource",
    "content",
    "diff",
    "terminal",
    "edit",
    "s1",
    "a",
    "/a",
    "",
];

/// Names of members that rules look at.
const NAMES: [&str; 40] = [
    "sessionId",
    "update",
    "sessionUpdate",
    "content",
    "messageId",
    "toolCallId",
    "toolCall",
    "title",
    "status",
    "kind",
    "locations",
    "path",
    "line",
    "rawInput",
    "command",
    "args",
    "options",
    "optionId",
    "name",
    "outcome",
    "stopReason",
    "protocolVersion",
    "agentCapabilities",
    "clientCapabilities",
    "modes",
    "currentModeId",
    "prompt",
    "type",
    "text",
    "data",
    "mimeType",
    "uri",
    "entries",
    "priority",
    "used",
    "size",
    "cost",
    "terminalId",
    "requestId",
    "_meta",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..5).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(&WORDS[..]).prop_map(Value::from),
        "\\PC{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..6)
                .prop_map(|members| Value::Object(object(members))),
        ]
    })
}

fn object(members: Vec<(&str, Value)>) -> Map<String, Value> {
    members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// A message that is well-formed in its outer members and arbitrary inside.
fn message() -> impl Strategy<Value = Value> {
    let id = prop_oneof![(0i64..4).prop_map(Value::from), value()];
    let method = prop::sample::select(&WORDS[..14]);
    let params = prop_oneof![value(), update(), permission(), session()];
    prop_oneof![
        (id.clone(), method.clone(), params.clone())
            .prop_map(|(id, method, params)| json!({"jsonrpc":"2.0","id":id,"method":method,"params":params})),
        (method, params.clone())
            .prop_map(|(method, params)| json!({"jsonrpc":"2.0","method":method,"params":params})),
        (id.clone(), params).prop_map(|(id, result)| json!({"jsonrpc":"2.0","id":id,"result":result})),
        (id.clone(), prop::sample::select(&WORDS[..]))
            .prop_map(|(id, reason)| json!({"jsonrpc":"2.0","id":id,"result":{"stopReason":reason,"sessionId":"s1","terminalId":"a"}})),
        (id, value()).prop_map(|(id, error)| json!({"jsonrpc":"2.0","id":id,"error":error})),
        value(),
    ]
}

fn update() -> impl Strategy<Value = Value> {
    (
        prop::sample::select(&WORDS[14..26]),
        prop::collection::vec((prop::sample::select(&NAMES[..]), value()), 0..5),
    )
        .prop_map(|(kind, members)| {
            let mut members = object(members);
            members.insert("sessionUpdate".to_owned(), kind.into());
            members
                .entry("toolCallId".to_owned())
                .or_insert_with(|| "a".into());
            json!({"sessionId":"s1","update":members})
        })
}

fn permission() -> impl Strategy<Value = Value> {
    (value(), value()).prop_map(|(call, options)| {
        let call = match call {
            Value::Object(mut members) => {
                members.insert("toolCallId".to_owned(), "a".into());
                Value::Object(members)
            }
            other => other,
        };
        json!({"sessionId":"s1","toolCall":call,"options":options})
    })
}

fn session() -> impl Strategy<Value = Value> {
    value().prop_map(|prompt| {
        json!({"sessionId":"s1","protocolVersion":1,"cwd":"/a","prompt":prompt,"path":"/a","command":"a"})
    })
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        16 => message().prop_map(|message| Body::of_line(message.to_string().into_bytes(), false)),
        1 => prop::collection::vec(any::<u8>(), 0..20).prop_map(|bytes| Body::of_line(bytes, true)),
        1 => Just(Body::Eof),
        1 => (0i64..4).prop_map(|id| Body::Unanswered { id: id.into(), seconds: 1.0 }),
        1 => (0u16..600).prop_map(|status| Body::Model(Exchange {
            exchange: 1,
            part: ExchangePart::Status(status),
        })),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let from = prop_oneof![
        Just(Party::Client),
        Just(Party::Agent),
        Just(Party::Agent),
        Just(Party::Harness)
    ];
    (from, body(), any::<bool>(), any::<f64>()).prop_map(|(from, body, probe, at)| Event {
        at,
        from,
        body,
        probe: probe.then(|| "on purpose".to_owned()),
        redacted: false,
    })
}

/// A handshake and a session, so that what follows is judged by the rules of version 1.
fn opening() -> Vec<Event> {
    [
        (Party::Client, json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}})),
        (Party::Agent, json!({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true}}}})),
        (Party::Client, json!({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/a"}})),
        (Party::Agent, json!({"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}})),
    ]
    .into_iter()
    .map(|(from, message)| {
        Event::new(0.0, from, Body::of_line(message.to_string().into_bytes(), false))
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_lines_upsets_the_judge(
        events in prop::collection::vec(event(), 0..40),
        opened in any::<bool>(),
        from_start in any::<bool>(),
    ) {
        let mut all = if opened { opening() } else { Vec::new() };
        all.extend(events);
        let judgement = judge_all(from_start, &all);
        for (id, tally) in judgement.iter() {
            for place in tally.findings.iter().filter_map(|finding| finding.place.as_ref()) {
                prop_assert!(place.event < all.len() as u64, "{id} points at event {}", place.event);
            }
        }
    }

    #[test]
    fn judging_twice_gives_the_same(events in prop::collection::vec(event(), 0..30)) {
        let mut all = opening();
        all.extend(events);
        prop_assert_eq!(judge_all(true, &all), judge_all(true, &all));
    }
}

#[test]
fn every_requirement_has_one_rule_at_most_and_is_in_the_catalogue() {
    let mut seen = HashSet::new();
    for id in Judge::judged_ids() {
        assert!(seen.insert(id), "{id} is judged by two rules");
        assert!(
            Catalogue::v1().get(id).is_some(),
            "{id} is not in the catalogue"
        );
    }
}

#[test]
fn a_request_that_was_answered_as_cancelled_was_not_refused() {
    use super::talking::{failures, is_inconclusive, judged};
    let cancelled = r#""error":{"code":-32800,"message":"Request cancelled"}"#;
    let it = judged(&format!(
        r#"
        > {{"id":0,"method":"initialize","params":{{"protocolVersion":1}}}}
        < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"sessionCapabilities":{{"list":{{}}}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
        > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
        > {{"method":"$/cancel_request","params":{{"requestId":1}}}}
        < {{"id":1,{cancelled}}}
        > {{"id":2,"method":"session/list","params":{{}}}}
        > {{"method":"$/cancel_request","params":{{"requestId":2}}}}
        < {{"id":2,{cancelled}}}"#
    ));
    assert_eq!(failures(&it), [""; 0]);
    assert!(is_inconclusive(&it, "LIST-01"));
}
