//! Messages of the client, as the exact text of their line.

use serde_json::{Map, Value, json};

/// A message to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing(String);

impl Outgoing {
    /// A request. Absent `params` are left out.
    pub fn request(id: &Value, method: &str, params: Option<&Value>) -> Self {
        Self::of(Some(id), method, params)
    }

    /// A notification. Absent `params` are left out.
    pub fn notification(method: &str, params: Option<&Value>) -> Self {
        Self::of(None, method, params)
    }

    /// A response with a result.
    pub fn result(id: &Value, result: &Value) -> Self {
        Self(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    }

    /// A response with an error.
    pub fn error(id: &Value, code: i64, message: &str) -> Self {
        Self(
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
                .to_string(),
        )
    }

    /// The text of the line, without the newline.
    pub fn text(&self) -> &str {
        &self.0
    }

    fn of(id: Option<&Value>, method: &str, params: Option<&Value>) -> Self {
        let mut message = Map::new();
        message.insert("jsonrpc".into(), "2.0".into());
        if let Some(id) = id {
            message.insert("id".into(), id.clone());
        }
        message.insert("method".into(), method.into());
        if let Some(params) = params {
            message.insert("params".into(), params.clone());
        }
        Self(Value::Object(message).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_params_are_left_out_and_null_ones_are_not() {
        assert_eq!(
            Outgoing::request(&json!("a"), "x", None).text(),
            r#"{"jsonrpc":"2.0","id":"a","method":"x"}"#
        );
        assert_eq!(
            Outgoing::notification("x", Some(&Value::Null)).text(),
            r#"{"jsonrpc":"2.0","method":"x","params":null}"#
        );
    }
}
