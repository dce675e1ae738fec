//! The methods of ACP v1: who handles each, what its payloads are, and what it needs.
//!
//! Names, sides and payloads come from the marks `x-method` and `x-side` of the generated schema,
//! so that they cannot drift from it; only the capability gates are written here.

use std::sync::LazyLock;

use super::condition::Condition;
use super::schema::Schema;
use crate::hash::IndexMap;

/// What must hold before a method may be called, in the grammar of [`Condition`]. Methods that are
/// not listed are baseline. `elicitation/create` also needs the capability of its own mode.
const GATES: &[(&str, &str)] = &[
    ("authenticate", "initialize.authMethods"),
    ("logout", "agentCapabilities.auth.logout"),
    ("session/load", "agentCapabilities.loadSession"),
    (
        "session/resume",
        "agentCapabilities.sessionCapabilities.resume",
    ),
    ("session/list", "agentCapabilities.sessionCapabilities.list"),
    (
        "session/delete",
        "agentCapabilities.sessionCapabilities.delete",
    ),
    (
        "session/close",
        "agentCapabilities.sessionCapabilities.close",
    ),
    ("session/set_mode", "sessionResult.modes"),
    ("session/set_config_option", "sessionResult.configOptions"),
    ("fs/read_text_file", "clientCapabilities.fs.readTextFile"),
    ("fs/write_text_file", "clientCapabilities.fs.writeTextFile"),
    ("terminal/create", "clientCapabilities.terminal"),
    ("terminal/output", "clientCapabilities.terminal"),
    ("terminal/wait_for_exit", "clientCapabilities.terminal"),
    ("terminal/kill", "clientCapabilities.terminal"),
    ("terminal/release", "clientCapabilities.terminal"),
    ("elicitation/create", "clientCapabilities.elicitation"),
    ("elicitation/complete", "clientCapabilities.elicitation.url"),
];

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The agent.
    Agent,
    /// The client.
    Client,
}

impl Side {
    /// The end at the other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Agent => Self::Client,
            Self::Client => Self::Agent,
        }
    }
}

/// Whether a method is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Carries an id and is answered.
    Request,
    /// Carries no id and is never answered.
    Notification,
}

/// One method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// Name on the wire, such as `session/prompt`.
    pub name: String,
    /// Request or notification.
    pub form: Form,
    /// What must hold before it may be called.
    pub gate: Condition,
    /// Definition of the parameters in the schema.
    pub params: String,
    /// Definition of the result in the schema; requests only.
    pub result: Option<String>,
    by_agent: bool,
    by_client: bool,
}

impl Method {
    /// Whether this side handles the method; the other side calls it. Both do for `$/cancel_request`.
    #[must_use]
    pub const fn handled_by(&self, side: Side) -> bool {
        match side {
            Side::Agent => self.by_agent,
            Side::Client => self.by_client,
        }
    }

    /// Whether this side calls the method.
    #[must_use]
    pub const fn called_by(&self, side: Side) -> bool {
        self.handled_by(side.other())
    }
}

/// All methods of one protocol version.
#[derive(Debug, Clone)]
pub struct Methods {
    methods: IndexMap<String, Method>,
}

impl Methods {
    /// The methods of protocol version 1.
    #[must_use]
    pub fn v1() -> &'static Self {
        static V1: LazyLock<Methods> = LazyLock::new(|| Methods::of(Schema::v1()));
        &V1
    }

    /// Collects the methods of a schema by its marks.
    fn of(schema: &Schema) -> Self {
        let mut methods: IndexMap<String, Method> = IndexMap::default();
        for (definition, content) in schema.definitions() {
            let mark = |key| content.get(key).and_then(serde_json::Value::as_str);
            let (Some(name), Some(side)) = (mark("x-method"), mark("x-side")) else {
                continue;
            };
            let method = methods.entry(name.to_owned()).or_insert_with(|| Method {
                name: name.to_owned(),
                form: Form::Request,
                gate: gate(name),
                params: String::new(),
                result: None,
                by_agent: side != "client",
                by_client: side != "agent",
            });
            if definition.ends_with("Response") {
                method.result = Some(definition.to_owned());
            } else {
                method.params = definition.to_owned();
                if definition.ends_with("Notification") {
                    method.form = Form::Notification;
                }
            }
        }
        methods.sort_unstable_keys();
        Self { methods }
    }

    /// The method of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Method> {
        self.methods.get(name)
    }

    /// The method whose parameters or result this definition is.
    #[must_use]
    pub fn of_definition(&self, definition: &str) -> Option<&Method> {
        self.iter().find(|method| {
            method.params == definition || method.result.as_deref() == Some(definition)
        })
    }

    /// All methods by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Method> {
        self.methods.values()
    }
}

#[expect(
    clippy::expect_used,
    reason = "the table is above, and the tests read every entry"
)]
fn gate(method: &str) -> Condition {
    let text = GATES
        .iter()
        .find(|(name, _)| *name == method)
        .map_or("", |(_, gate)| gate);
    Condition::parse(text).expect("the table of gates can be read")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_table_holds_the_methods_of_version_one() {
        let names = |side, form| -> Vec<&str> {
            Methods::v1()
                .iter()
                .filter(|method| method.handled_by(side) && method.form == form)
                .map(|method| method.name.as_str())
                .collect()
        };
        assert_eq!(
            names(Side::Agent, Form::Request),
            [
                "authenticate",
                "initialize",
                "logout",
                "session/close",
                "session/delete",
                "session/list",
                "session/load",
                "session/new",
                "session/prompt",
                "session/resume",
                "session/set_config_option",
                "session/set_mode",
            ]
        );
        assert_eq!(
            names(Side::Agent, Form::Notification),
            ["$/cancel_request", "session/cancel"]
        );
        assert_eq!(
            names(Side::Client, Form::Request),
            [
                "elicitation/create",
                "fs/read_text_file",
                "fs/write_text_file",
                "session/request_permission",
                "terminal/create",
                "terminal/kill",
                "terminal/output",
                "terminal/release",
                "terminal/wait_for_exit",
            ]
        );
        assert_eq!(
            names(Side::Client, Form::Notification),
            ["$/cancel_request", "elicitation/complete", "session/update"]
        );
    }

    #[test]
    fn each_payload_is_a_definition_and_leads_back_to_its_method() {
        for method in Methods::v1().iter() {
            assert!(
                Schema::v1().definition(&method.params).is_some(),
                "{}",
                method.name
            );
            assert_eq!(Methods::v1().of_definition(&method.params), Some(method));
            assert_eq!(
                method.result.is_some(),
                method.form == Form::Request,
                "{}",
                method.name
            );
            if let Some(result) = &method.result {
                assert!(Schema::v1().definition(result).is_some(), "{}", method.name);
                assert_eq!(Methods::v1().of_definition(result), Some(method));
            }
        }
    }

    #[test]
    fn each_gate_is_of_a_method_that_exists() {
        for (name, gate) in GATES {
            let method = Methods::v1().get(name).unwrap();
            assert_eq!(&method.gate.to_string(), gate);
        }
        assert!(
            Methods::v1()
                .get("session/prompt")
                .unwrap()
                .gate
                .is_always()
        );
    }

    #[test]
    fn the_caller_is_the_side_that_does_not_handle() {
        let cancel = Methods::v1().get("$/cancel_request").unwrap();
        assert!(cancel.called_by(Side::Agent) && cancel.called_by(Side::Client));
        let update = Methods::v1().get("session/update").unwrap();
        assert!(update.called_by(Side::Agent) && !update.called_by(Side::Client));
    }
}
