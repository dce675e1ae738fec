//! What a message says, in a few words: which of its members are shown is a table.

use serde_json::Value;

/// The longest text of one value, in characters; the picture cuts again, by what fits.
const LONGEST: usize = 200;
/// So many values of a list are shown.
const LISTED: usize = 8;

/// What is shown of a message: members with the word that stands before each.
struct Shown {
    /// The method, or the kind of a session update.
    name: &'static str,
    /// Of the params, or of the update.
    call: &'static [(&'static str, &'static str)],
    /// Of the result.
    result: &'static [(&'static str, &'static str)],
}

const fn shown(
    name: &'static str,
    call: &'static [(&'static str, &'static str)],
    result: &'static [(&'static str, &'static str)],
) -> Shown {
    Shown { name, call, result }
}

/// A way into a value goes by names; `*` is each entry of a list.
#[rustfmt::skip]
const TABLE: &[Shown] = &[
    shown("initialize", &[("version", "protocolVersion"), ("", "clientInfo/name"), ("", "clientInfo/version")],
        &[("version", "protocolVersion"), ("", "agentInfo/name"), ("", "agentInfo/version")]),
    shown("authenticate", &[("", "methodId")], &[]),
    shown("session/new", &[("", "cwd"), ("mcp", "mcpServers/*/name")], &[("", "sessionId")]),
    shown("session/load", &[("", "sessionId")], &[]),
    shown("session/resume", &[("", "sessionId")], &[]),
    shown("session/close", &[("", "sessionId")], &[]),
    shown("session/delete", &[("", "sessionId")], &[]),
    shown("session/list", &[("", "cwd"), ("cursor", "cursor")], &[("", "sessions/*/sessionId"), ("next", "nextCursor")]),
    shown("session/prompt", &[("", "prompt")], &[("", "stopReason")]),
    shown("session/cancel", &[("", "_")], &[]),
    shown("session/set_mode", &[("", "modeId")], &[]),
    shown("session/set_config_option", &[("", "configId"), ("=", "value")], &[("", "configOptions/*/currentValue")]),
    shown("session/request_permission", &[("", "toolCall/toolCallId"), ("", "options/*/optionId")],
        &[("", "outcome/outcome"), ("", "outcome/optionId")]),
    shown("fs/read_text_file", &[("", "path"), ("line", "line"), ("limit", "limit")], &[("", "content")]),
    shown("fs/write_text_file", &[("", "path"), ("", "content")], &[]),
    shown("terminal/create", &[("", "command"), ("", "args")], &[("", "terminalId")]),
    shown("terminal/output", &[("", "terminalId")], &[("", "output"), ("exit", "exitStatus/exitCode"), ("signal", "exitStatus/signal")]),
    shown("terminal/wait_for_exit", &[("", "terminalId")], &[("exit", "exitCode"), ("signal", "signal")]),
    shown("terminal/kill", &[("", "terminalId")], &[]),
    shown("terminal/release", &[("", "terminalId")], &[]),
    shown("elicitation/create", &[("", "mode"), ("", "message"), ("", "url")], &[("", "action"), ("", "content")]),
    shown("elicitation/complete", &[("", "elicitationId")], &[]),
    shown("$/cancel_request", &[("request", "requestId")], &[]),
    shown("tool_call", &[("", "toolCallId"), ("", "kind"), ("", "status"), ("", "title")], &[]),
    shown("tool_call_update", &[("", "toolCallId"), ("", "status"), ("", "title"), ("", "content/*/content")], &[]),
    shown("plan", &[("", "entries/*/status")], &[]),
    shown("available_commands_update", &[("", "availableCommands/*/name")], &[]),
    shown("current_mode_update", &[("", "currentModeId")], &[]),
    shown("config_option_update", &[("", "configOptions/*/currentValue")], &[]),
    shown("session_info_update", &[("", "title")], &[]),
    shown("usage_update", &[("used", "used"), ("of", "size")], &[]),
];

fn find(name: &str) -> Option<&'static Shown> {
    TABLE.iter().find(|shown| shown.name == name)
}

/// What a request, a notification (by method and params) or an update (by kind and body) says.
pub(super) fn of_call(name: &str, value: &Value) -> String {
    match find(name) {
        Some(shown) => members(value, shown.call),
        None => whole(value),
    }
}

/// What an answer says; `method` is that of its request, where it is known.
pub(super) fn of_result(method: Option<&str>, result: &Value) -> String {
    match method.and_then(find) {
        Some(shown) => members(result, shown.result),
        None => whole(result),
    }
}

/// What an error says.
pub(super) fn of_error(error: &Value) -> String {
    let known = members(error, &[("error", "code"), ("", "message"), ("", "data")]);
    if known.is_empty() {
        format!("error {}", whole(error))
    } else {
        known
    }
}

fn members(value: &Value, ways: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (word, way) in ways {
        let mut found = Vec::new();
        let mut left_out = 0;
        let steps: Vec<&str> = way.split('/').collect();
        walk(value, &steps, &mut |value| {
            if found.len() < LISTED {
                found.push(short(value));
            } else {
                left_out += 1;
            }
        });
        found.retain(|text| !text.is_empty());
        if found.is_empty() {
            continue;
        }
        if left_out > 0 {
            found.push(format!("… {left_out} more"));
        }
        for part in [*word, &found.join(" ")] {
            if !part.is_empty() {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(part);
            }
        }
    }
    out
}

fn walk(value: &Value, way: &[&str], give: &mut impl FnMut(&Value)) {
    match (way.split_first(), value) {
        (None, Value::Null) => {}
        (None, _) => give(value),
        (Some((&"*", rest)), Value::Array(items)) => {
            for item in items {
                walk(item, rest, give);
            }
        }
        (Some((name, rest)), Value::Object(members)) => {
            if let Some(member) = members.get(*name) {
                walk(member, rest, give);
            }
        }
        _ => {}
    }
}

/// A value in a few words: a name as it is, other text in quotes, content by its text or its type.
fn short(value: &Value) -> String {
    match value {
        Value::String(text) if is_name(text) => text.clone(),
        Value::String(text) => quoted(text),
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            match (text("type"), text("text")) {
                (_, Some(text)) => quoted(text),
                (Some(kind), None) => format!("[{kind}]"),
                (None, None) => whole(value),
            }
        }
        Value::Array(items) => {
            let mut all: Vec<String> = items.iter().take(LISTED).map(short).collect();
            if items.len() > LISTED {
                all.push(format!("… {} more", items.len() - LISTED));
            }
            all.join(" ")
        }
        other => other.to_string(),
    }
}

/// Whether a text needs no quotes to be told from what stands around it.
fn is_name(text: &str) -> bool {
    let sign = |character: char| character.is_alphanumeric() || "-_./:{}+@~$".contains(character);
    (1..=LONGEST).contains(&text.len()) && text.chars().all(sign)
}

/// The start of a text in quotes, as JSON.
pub(super) fn quoted(text: &str) -> String {
    let start: String = text.chars().take(LONGEST).collect();
    let mut out = Value::from(start.as_str()).to_string();
    if start.len() < text.len() {
        out.push('…');
    }
    out
}

/// The start of a value as JSON; nothing where there is nothing in it.
fn whole(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Object(members) if members.is_empty() => String::new(),
        Value::Object(members) => {
            let mut left = LONGEST;
            let mut parts = Vec::new();
            for (name, member) in members {
                // What is not looked at is not written out either: a member may be megabytes.
                let text = match member {
                    Value::Array(items) if items.len() > LISTED => "[…]".to_owned(),
                    Value::Object(inner) if inner.len() > LISTED => "{…}".to_owned(),
                    other => short_json(other),
                };
                left = left.saturating_sub(text.len() + name.len());
                parts.push(format!("{name}: {text}"));
                if left == 0 {
                    parts.push("…".to_owned());
                    break;
                }
            }
            parts.join(", ")
        }
        other => short_json(other),
    }
}

fn short_json(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(_) => "[…]".to_owned(),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(_) => "{…}".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_prompt_is_told_by_its_texts_and_types() {
        let params = json!({"sessionId":"s","prompt":[{"type":"text","text":"Hi\nthere"},{"type":"image","data":"x"}]});
        assert_eq!(of_call("session/prompt", &params), r#""Hi\nthere" [image]"#);
    }

    #[test]
    fn each_entry_of_a_list_is_told_up_to_a_limit() {
        let names: Vec<_> = (0..10).map(|n| json!({"name":format!("c{n}")})).collect();
        let body = json!({"availableCommands":names});
        assert_eq!(
            of_call("available_commands_update", &body),
            "c0 c1 c2 c3 c4 c5 c6 c7 … 2 more"
        );
    }

    #[test]
    fn what_is_not_in_the_table_is_told_by_its_members() {
        let params = json!({"a":1,"b":[1],"c":"x y"});
        assert_eq!(of_call("_own/method", &params), r#"a: 1, b: […], c: "x y""#);
        assert_eq!(of_call("_own/method", &json!({})), "");
        assert_eq!(
            of_error(&json!({"code":-32601,"message":"no"})),
            "error -32601 no"
        );
        assert_eq!(of_error(&json!("odd")), "error \"odd\"");
    }
}
