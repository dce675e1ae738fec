//! What the server answers to a message, whatever carried it.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::tools::{self, Started};

/// The versions of MCP that the server speaks, the latest last.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// An answer, and how long it takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    /// The message.
    pub(super) message: Value,
    /// How long after the request it is to be sent.
    pub(super) after: Duration,
}

/// The answer to a message; `None` where it asks for none.
pub(super) fn answer(message: &Value, started: &Started) -> Option<Answer> {
    let now = |message| {
        Some(Answer {
            message,
            after: Duration::ZERO,
        })
    };
    let Some(members) = message.as_object() else {
        return now(error(&Value::Null, -32600, "a message is one JSON object"));
    };
    let method = members.get("method").and_then(Value::as_str)?;
    let id = members.get("id")?;
    let params = members.get("params").and_then(Value::as_object);
    match method {
        "initialize" => now(result(id, initialize(params))),
        "ping" => now(result(id, json!({}))),
        "tools/list" => now(result(id, tools::list())),
        "tools/call" => {
            let member = |name: &str| params.and_then(|params| params.get(name));
            let name = member("name").and_then(Value::as_str).unwrap_or_default();
            let none = Map::new();
            let arguments = member("arguments").and_then(Value::as_object);
            match tools::call(name, arguments.unwrap_or(&none), started) {
                Some(called) => Some(Answer {
                    message: result(id, called.result),
                    after: called.after,
                }),
                None => now(error(id, -32602, &format!("there is no tool `{name}`"))),
            }
        }
        other => now(error(id, -32601, &format!("there is no method `{other}`"))),
    }
}

/// The answer to what is no JSON.
pub(super) fn not_json() -> Value {
    error(&Value::Null, -32700, "this is no JSON")
}

fn initialize(params: Option<&Map<String, Value>>) -> Value {
    let asked = params.and_then(|params| params.get("protocolVersion")?.as_str());
    let latest = VERSIONS.last().copied().unwrap_or_default();
    let version = asked.filter(|asked| VERSIONS.contains(asked));
    json!({
        "protocolVersion": version.unwrap_or(latest),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "mcp-echo", "version": env!("CARGO_PKG_VERSION")},
    })
}

fn result(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(message: Value) -> Option<Value> {
        answer(&message, &Started::default()).map(|answer| answer.message)
    }

    #[test]
    fn a_known_version_is_agreed_on_and_another_one_is_answered_with_the_latest() {
        let version = |asked: &str| {
            let params = json!({"protocolVersion": asked});
            answered(json!({"id": 1, "method": "initialize", "params": params})).unwrap()["result"]
                ["protocolVersion"]
                .clone()
        };
        assert_eq!(version("2024-11-05"), "2024-11-05");
        assert_eq!(version("1999-01-01"), "2025-11-25");
    }

    #[test]
    fn notifications_and_answers_are_not_answered() {
        assert_eq!(
            answered(json!({"method": "notifications/initialized"})),
            None
        );
        assert_eq!(answered(json!({"id": 1, "result": {}})), None);
    }

    #[test]
    fn what_is_not_known_is_an_error_with_the_id_of_the_request() {
        let code = |message: Value| {
            let answer = answered(message).unwrap();
            (answer["id"].clone(), answer["error"]["code"].clone())
        };
        let call = json!({"id": "a", "method": "tools/call", "params": {"name": "x"}});
        assert_eq!(code(call), (json!("a"), json!(-32602)));
        let other = json!({"id": 7, "method": "prompts/list"});
        assert_eq!(code(other), (json!(7), json!(-32601)));
        assert_eq!(code(json!([])), (Value::Null, json!(-32600)));
    }
}
