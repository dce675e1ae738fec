//! The tools of the server.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// The longest that `wait` waits.
const LONGEST: Duration = Duration::from_secs(60);

/// With what the server was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Started {
    /// The arguments that are not its own.
    pub(crate) args: Vec<String>,
    /// The variables that it tells of, as far as they are set.
    pub(crate) env: BTreeMap<String, String>,
}

/// What a call comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Called {
    /// The result.
    pub(super) result: Value,
    /// How long it takes.
    pub(super) after: Duration,
}

/// The result of `tools/list`.
pub(super) fn list() -> Value {
    let tool = |name: &str, about: &str, properties: Value, required: &[&str]| {
        json!({
            "name": name,
            "description": about,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
        })
    };
    let text = |about: &str| json!({"type": "string", "description": about});
    json!({"tools": [
        tool("echo", "Says a text again.", json!({"text": text("The text.")}), &["text"]),
        tool(
            "env",
            "Tells the value of a variable that the server was given, or all arguments of the server.",
            json!({"name": text("The variable; without it the arguments are told.")}),
            &[],
        ),
        tool("fail", "Fails with a text.", json!({"text": text("The text.")}), &[]),
        tool(
            "wait",
            "Waits, then says so.",
            json!({"ms": {"type": "integer", "description": "Milliseconds, 60000 at most."}}),
            &["ms"],
        ),
    ]})
}

/// Calls a tool; `None` where there is none of that name.
pub(super) fn call(
    name: &str,
    arguments: &Map<String, Value>,
    started: &Started,
) -> Option<Called> {
    let text = |member: &str| arguments.get(member).and_then(Value::as_str);
    let said = |text: &str, failed: bool| Called {
        result: json!({"content": [{"type": "text", "text": text}], "isError": failed}),
        after: Duration::ZERO,
    };
    Some(match name {
        "echo" => match text("text") {
            Some(text) => said(text, false),
            None => said("`text` is missing", true),
        },
        "env" => match text("name") {
            None => said(&json!(started.args).to_string(), false),
            Some(name) => match started.env.get(name) {
                Some(value) => said(value, false),
                None => said(&format!("`{name}` is not set, or not told"), true),
            },
        },
        "fail" => said(text("text").unwrap_or("failed as asked"), true),
        "wait" => {
            let milliseconds = arguments.get("ms").and_then(Value::as_u64).unwrap_or(0);
            let after = Duration::from_millis(milliseconds).min(LONGEST);
            Called {
                after,
                ..said(&format!("waited {} ms", after.as_millis()), false)
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, arguments: Value) -> (String, bool) {
        let started = Started {
            args: vec!["-v".into(), String::new()],
            env: BTreeMap::from([("A".into(), "1".into())]),
        };
        let called = call(name, arguments.as_object().unwrap(), &started).unwrap();
        let text = called.result["content"][0]["text"].as_str().unwrap();
        (text.to_owned(), called.result["isError"] == json!(true))
    }

    #[test]
    fn each_tool_that_is_listed_can_be_called_and_no_other() {
        for tool in list()["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            assert!(call(name, &Map::new(), &Started::default()).is_some());
        }
        assert_eq!(call("other", &Map::new(), &Started::default()), None);
    }

    #[test]
    fn tools_tell_what_they_were_given() {
        assert_eq!(said("echo", json!({"text": "ä"})), ("ä".into(), false));
        assert!(said("echo", json!({})).1);
        assert_eq!(said("env", json!({"name": "A"})), ("1".into(), false));
        assert!(said("env", json!({"name": "B"})).1);
        assert_eq!(said("env", json!({})), (r#"["-v",""]"#.into(), false));
        assert_eq!(said("fail", json!({"text": "no"})), ("no".into(), true));
    }

    #[test]
    fn a_wait_has_a_bound() {
        let arguments = json!({"ms": u64::MAX});
        let called = call("wait", arguments.as_object().unwrap(), &Started::default());
        assert_eq!(called.unwrap().after, LONGEST);
    }
}
