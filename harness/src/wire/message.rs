//! A JSON object that is a JSON-RPC message, and the view on its members.

use serde_json::{Map, Value};

use super::Id;

/// What a message is, by the members it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `method` and `id`.
    Request {
        /// The value of `id`.
        id: Id,
        /// The value of `method`.
        method: String,
    },
    /// `method` and no `id`.
    Notification {
        /// The value of `method`.
        method: String,
    },
    /// No `method`, an `id`, and `result` or `error` (or, wrongly, both).
    Response {
        /// The value of `id`.
        id: Id,
    },
}

/// One message: what it is, and all of its members as a view (the exact text stays in the trace).
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    kind: Kind,
    members: Map<String, Value>,
}

impl Message {
    /// Tells what an object is, or gives it back if it is no JSON-RPC message.
    ///
    /// # Errors
    /// The members, where neither `method` (a string) nor `id` with `result` or `error` is there.
    pub fn from_members(members: Map<String, Value>) -> Result<Self, Map<String, Value>> {
        let id = members.get("id").map(Id::from_value);
        let kind = match (members.get("method"), id) {
            (Some(Value::String(method)), Some(id)) => Kind::Request {
                id,
                method: method.clone(),
            },
            (Some(Value::String(method)), None) => Kind::Notification {
                method: method.clone(),
            },
            (None, Some(id)) if members.contains_key("result") || members.contains_key("error") => {
                Kind::Response { id }
            }
            _ => return Err(members),
        };
        Ok(Self { kind, members })
    }

    /// What the message is.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// All members of the object, in the order of the wire.
    pub fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// The method of a request or notification.
    pub fn method(&self) -> Option<&str> {
        match &self.kind {
            Kind::Request { method, .. } | Kind::Notification { method } => Some(method),
            Kind::Response { .. } => None,
        }
    }

    /// The id of a request or response.
    pub fn id(&self) -> Option<&Id> {
        match &self.kind {
            Kind::Request { id, .. } | Kind::Response { id } => Some(id),
            Kind::Notification { .. } => None,
        }
    }

    /// Whether it is a request.
    pub fn is_request(&self) -> bool {
        matches!(self.kind, Kind::Request { .. })
    }

    /// Whether it is a response.
    pub fn is_response(&self) -> bool {
        matches!(self.kind, Kind::Response { .. })
    }

    /// The `params` member; absent and null are told apart.
    pub fn params(&self) -> Option<&Value> {
        self.members.get("params")
    }

    /// The `result` member; a `null` result is `Some(Null)`.
    pub fn result(&self) -> Option<&Value> {
        self.members.get("result")
    }

    /// The `error` member.
    pub fn error(&self) -> Option<&Value> {
        self.members.get("error")
    }

    /// The integer `error.code`, where there is one.
    pub fn error_code(&self) -> Option<i64> {
        self.error()?.get("code")?.as_i64()
    }

    /// The string `params.sessionId`, where there is one.
    pub fn session(&self) -> Option<&str> {
        self.params()?.get("sessionId")?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(value: Value) -> Result<Message, Map<String, Value>> {
        match value {
            Value::Object(members) => Message::from_members(members),
            _ => panic!("not an object"),
        }
    }

    #[test]
    fn a_null_id_with_a_method_is_a_request() {
        let it = message(json!({"jsonrpc":"2.0","id":null,"method":"x"})).unwrap();
        assert!(it.is_request());
        assert_eq!(it.id(), Some(&Id::Null));
    }

    #[test]
    fn a_null_result_is_a_result() {
        let it = message(json!({"id":1,"result":null})).unwrap();
        assert!(it.is_response());
        assert_eq!(it.result(), Some(&Value::Null));
    }

    #[test]
    fn an_object_without_the_members_of_a_message_is_none() {
        assert!(message(json!({"id":1})).is_err());
        assert!(message(json!({"result":1})).is_err());
        assert!(message(json!({"method":5,"id":1})).is_err());
        assert!(message(json!({})).is_err());
    }
}
