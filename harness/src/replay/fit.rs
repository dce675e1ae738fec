//! Which recorded request a live one stands for: by method and session, the kind of tool, the content, then the order.

use std::collections::BTreeSet;

use serde_json::Value;

use super::plan::Ask;
use crate::spec::Identifier;

/// The score of a request that is the recorded one but for ids.
const SAME: u32 = 1000;
/// The score of requests between which only the order decides.
const BY_ORDER: u32 = 1;
/// How much of the words must be shared, in thousandths, so that two contents are taken for one.
const ALIKE: u32 = 334;

/// Members of a tool's input that tell what it acts on.
const ACTED_ON: [&str; 12] = [
    "path",
    "file_path",
    "filePath",
    "filepath",
    "abs_path",
    "absPath",
    "command",
    "cmd",
    "url",
    "uri",
    "pattern",
    "query",
];

/// The members that say what a client wants, by method.
const WANTED: [(&str, &str); 5] = [
    ("authenticate", "methodId"),
    ("session/prompt", "prompt"),
    ("session/set_config_option", "configId"),
    ("session/set_config_option", "value"),
    ("session/set_mode", "modeId"),
];

/// Whether a live request wants the same as a recorded one.
pub(super) fn says_the_same(ask: &Ask, live: &LiveAsk) -> bool {
    let nothing = Value::Null;
    let wanted = |params: &Value, member: &str| bare(params.get(member).unwrap_or(&nothing));
    WANTED
        .iter()
        .filter(|(method, _)| *method == ask.method)
        .all(|(_, member)| holds(&wanted(&ask.params, member), &wanted(&live.params, member)))
}

/// Whether a live value is the recorded one. A placeholder in the recording stands for any text.
fn holds(recorded: &Value, live: &Value) -> bool {
    match (recorded, live) {
        (Value::String(recorded), Value::String(live)) => is_text_of(recorded, live),
        (Value::Array(recorded), Value::Array(live)) => {
            recorded.len() == live.len()
                && recorded
                    .iter()
                    .zip(live)
                    .all(|(one, other)| holds(one, other))
        }
        (Value::Object(recorded), Value::Object(live)) => {
            let same = |(name, value): (&String, &Value)| {
                live.get(name).is_some_and(|live| holds(value, live))
            };
            recorded.len() == live.len() && recorded.iter().all(same)
        }
        _ => recorded == live,
    }
}

/// Whether a live text is the recorded one, where `{secret-N}` and `{home}` stand for any text.
fn is_text_of(recorded: &str, live: &str) -> bool {
    let mut parts = literal_parts(recorded).into_iter();
    let Some(mut rest) = parts.next().and_then(|first| live.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            return false;
        };
        rest = behind;
    }
    rest.ends_with(last)
}

/// What stands before, between and behind the placeholders of a text.
fn literal_parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices('{') {
        let Some(behind) = text.get(at..).filter(|_| at >= from) else {
            continue;
        };
        let name = behind.split('}').next().unwrap_or_default();
        let number = name.strip_prefix("{secret-");
        let is_secret =
            number.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()));
        if (is_secret || name == "{home") && name.len() < behind.len() {
            parts.push(text.get(from..at).unwrap_or_default());
            from = at + name.len() + 1;
        }
    }
    parts.push(text.get(from..).unwrap_or_default());
    parts
}

/// A live request, in the terms of the recording.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LiveAsk {
    pub(super) method: String,
    pub(super) session: Option<String>,
    pub(super) params: Value,
}

/// How well a live request fits a recorded one; `None` where it is another.
pub(super) fn score(ask: &Ask, live: &LiveAsk) -> Option<u32> {
    if ask.method != live.method || ask.session != live.session {
        return None;
    }
    if bare(&ask.params) == bare(&live.params) {
        return Some(SAME);
    }
    let same = |member: &str| ask.params.get(member) == live.params.get(member);
    match ask.method.as_str() {
        "session/request_permission" => {
            let nothing = Value::Null;
            let call = |params: &Value| params.get("toolCall").unwrap_or(&nothing).clone();
            call_score(&call(&ask.params), &call(&live.params))
        }
        "fs/read_text_file" | "fs/write_text_file" => same("path").then_some(SAME / 2),
        "terminal/create" => alike(
            &words_of_command(&ask.params),
            &words_of_command(&live.params),
        ),
        method if method.starts_with("terminal/") => same("terminalId").then_some(SAME / 2),
        "elicitation/create" if !same("mode") => None,
        _ => Some(BY_ORDER),
    }
}

/// The best of some recorded requests, the earliest of those that fit alike.
pub(super) fn best<'a>(
    asks: impl Iterator<Item = (usize, &'a Ask)>,
    live: &LiveAsk,
) -> Option<usize> {
    let mut best: Option<(u32, usize)> = None;
    for (number, ask) in asks {
        if let Some(score) = score(ask, live)
            && best.is_none_or(|(most, _)| score > most)
        {
            best = Some((score, number));
        }
    }
    best.map(|(_, number)| number)
}

/// Compares two tool calls: what they act on, else their titles; where one says neither, the kind is enough.
fn call_score(recorded: &Value, live: &Value) -> Option<u32> {
    let text = |call: &Value, name: &str| {
        let text = call.get(name).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let kinds = (text(recorded, "kind"), text(live, "kind"));
    let one_kind = match &kinds {
        (Some(recorded), Some(live)) => recorded == live,
        _ => true,
    };
    let acted_on = (acts_on(recorded), acts_on(live));
    let titles = (text(recorded, "title"), text(live, "title"));
    let content = if !acted_on.0.is_empty() && !acted_on.1.is_empty() {
        if acted_on.0.is_disjoint(&acted_on.1) {
            alike(&words(acted_on.0.iter()), &words(acted_on.1.iter()))
        } else {
            Some(SAME / 2)
        }
    } else if let (Some(recorded), Some(live)) = &titles {
        alike(&words([recorded]), &words([live]))
    } else {
        one_kind.then_some(BY_ORDER)
    };
    // Calls of two kinds are one only if they are about the same thing.
    content
        .map(|score| if one_kind { score + SAME / 4 } else { score })
        .filter(|score| one_kind || *score >= SAME / 2)
}

/// What a tool call acts on, as its input and its locations tell.
fn acts_on(call: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if let Some(input) = call.get("rawInput") {
        collect(input, None, &mut found);
    }
    let locations = call.get("locations").and_then(Value::as_array);
    for location in locations.into_iter().flatten() {
        collect(location, None, &mut found);
    }
    found
}

fn collect(value: &Value, member: Option<&str>, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if member.is_some_and(|name| ACTED_ON.contains(&name)) => {
            into.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, member, into)),
        Value::Object(members) => members
            .iter()
            .for_each(|(name, inner)| collect(inner, Some(name), into)),
        _ => {}
    }
}

fn words_of_command(params: &Value) -> BTreeSet<String> {
    let command = params.get("command").and_then(Value::as_str);
    let arguments = params.get("args").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
    words(command.into_iter().chain(arguments))
}

/// The words of some texts, without the quotes around them.
fn words(texts: impl IntoIterator<Item = impl AsRef<str>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in texts {
        for word in text.as_ref().split_whitespace() {
            let word = word.trim_matches(|character| "`'\"()[]{}:;,".contains(character));
            if !word.is_empty() {
                found.insert(word.to_lowercase());
            }
        }
    }
    found
}

/// The share of words that two texts have in common, if that is enough.
fn alike(recorded: &BTreeSet<String>, live: &BTreeSet<String>) -> Option<u32> {
    let all = recorded.union(live).count();
    if all == 0 {
        return Some(BY_ORDER);
    }
    let shared = recorded.intersection(live).count();
    let share = u32::try_from(shared * 1000 / all).unwrap_or(0);
    (share >= ALIKE).then_some(share / 4)
}

/// A value without minted ids and `_meta`.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(name, _)| Identifier::of_member(name).is_none() && *name != "_meta")
                .filter(|(_, inner)| !inner.is_null())
                .map(|(name, inner)| (name.clone(), bare(inner)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_placeholder_in_the_recording_stands_for_any_text() {
        assert!(is_text_of(
            "my key is {secret-1}, in {home}/x",
            "my key is abc, in /home/a/x"
        ));
        assert!(is_text_of("{secret-12}", "anything"));
        assert!(is_text_of(
            "no placeholder {secret-} {x",
            "no placeholder {secret-} {x"
        ));
        assert!(!is_text_of("my key is {secret-1}!", "my key is abc"));
        assert!(!is_text_of("{secret-1} and then", "abc"));
        assert!(!is_text_of("a{home}a", "a"));
        assert!(!is_text_of("plain", "plain and more"));
    }

    fn permission(call: Value) -> LiveAsk {
        LiveAsk {
            method: "session/request_permission".into(),
            session: Some("s".into()),
            params: json!({"sessionId": "s", "toolCall": call, "options": []}),
        }
    }

    fn ask(live: &LiveAsk) -> Ask {
        Ask {
            event: 0,
            method: live.method.clone(),
            params: live.params.clone(),
            session: live.session.clone(),
            during: None,
            behind: None,
            answer: None,
        }
    }

    fn run(command: &str) -> Value {
        json!({"toolCallId": "c", "title": format!("Run `{command}`"), "kind": "execute", "rawInput": {"command": command}})
    }

    #[test]
    fn requests_that_come_in_another_order_find_their_own() {
        let asks = [permission(run("rm a")), permission(run("ls"))].map(|live| ask(&live));
        let list = || asks.iter().enumerate();
        assert_eq!(best(list(), &permission(run("ls"))), Some(1));
        assert_eq!(best(list(), &permission(run("rm a"))), Some(0));
    }

    #[test]
    fn another_command_is_another_request_however_alike_its_title_is() {
        let recorded = ask(&permission(
            json!({"title": "Run a command", "kind": "execute", "rawInput": {"command": "ls"}}),
        ));
        let live = |command: &str| {
            permission(
                json!({"title": "Run a command", "kind": "execute", "rawInput": {"command": command}}),
            )
        };
        assert_eq!(score(&recorded, &live("rm -rf /")), None);
        assert!(score(&recorded, &live("ls")).is_some());
    }

    #[test]
    fn a_reworded_title_or_another_kind_fits_if_it_is_about_the_same() {
        let recorded = ask(&permission(
            json!({"title": "Edit a.txt", "kind": "edit", "locations": [{"path": "/a.txt"}]}),
        ));
        let live = permission(
            json!({"title": "Change", "kind": "edit", "rawInput": {"file_path": "/a.txt"}}),
        );
        assert!(score(&recorded, &live).is_some());
        let other_kind = permission(
            json!({"title": "Change", "kind": "other", "rawInput": {"file_path": "/a.txt"}}),
        );
        assert!(score(&recorded, &other_kind).is_some());
        let other_file = permission(
            json!({"title": "Edit b.txt", "kind": "edit", "locations": [{"path": "/b.txt"}]}),
        );
        assert_eq!(score(&recorded, &other_file), None);
    }

    #[test]
    fn without_anything_to_compare_the_order_decides() {
        let recorded = ask(&permission(json!({"toolCallId": "c"})));
        assert!(
            score(
                &recorded,
                &permission(json!({"toolCallId": "d", "title": "x"}))
            )
            .is_some()
        );
    }

    #[test]
    fn a_file_is_its_path_and_a_terminal_its_id() {
        let of = |method: &str, params: Value| LiveAsk {
            method: method.into(),
            session: Some("s".into()),
            params,
        };
        let read = ask(&of("fs/read_text_file", json!({"path": "/a"})));
        assert!(
            score(
                &read,
                &of("fs/read_text_file", json!({"path": "/a", "line": 3}))
            )
            .is_some()
        );
        assert_eq!(
            score(&read, &of("fs/read_text_file", json!({"path": "/b"}))),
            None
        );
        let output = ask(&of("terminal/output", json!({"terminalId": "t", "x": 1})));
        assert!(score(&output, &of("terminal/output", json!({"terminalId": "t"}))).is_some());
    }
}
