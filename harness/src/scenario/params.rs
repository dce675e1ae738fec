//! The parameters that the harness sends by itself, and how a scenario's are laid over them.

use serde_json::{Map, Value, json};

use super::file::{Action, ClientSettings, Params, Placeholder, Which};
use crate::rules::Conversation;

/// What a step's parameters are made from.
pub(super) struct Known<'a> {
    /// What the client says of itself.
    pub(super) client: &'a ClientSettings,
    /// The folder of the sessions.
    pub(super) cwd: &'a str,
    /// The id of the step's session, if it was opened.
    pub(super) session: Option<&'a str>,
    /// The authentication method to use, if the profile names one.
    pub(super) auth: Option<&'a str>,
    /// The MCP servers of the scenario, as `mcpServers` has them.
    pub(super) servers: Vec<Value>,
    /// The conversation so far.
    pub(super) talk: &'a Conversation,
}

/// The capabilities of the client unless a scenario says otherwise: files, no terminals.
pub(super) fn default_capabilities() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}})
}

impl Known<'_> {
    /// The parameters that an action has by itself.
    pub(super) fn implied(&self, action: &Action) -> Map<String, Value> {
        let value = match action {
            Action::Initialize(_) => json!({
                "protocolVersion": 1,
                "clientCapabilities": match &self.client.capabilities {
                    Some(capabilities) => Value::Object(capabilities.clone()),
                    None => default_capabilities(),
                },
                "clientInfo": match &self.client.info {
                    Some(info) => Value::Object(info.clone()),
                    None => json!({
                        "name": "acp-harness",
                        "title": "ACP harness",
                        "version": env!("CARGO_PKG_VERSION"),
                    }),
                },
            }),
            Action::Authenticate(_) => json!({"methodId": self.auth_method()}),
            Action::New { .. } => json!({"cwd": self.cwd, "mcpServers": self.servers}),
            Action::Load(_) | Action::Resume(_) => {
                json!({"sessionId": self.session, "cwd": self.cwd, "mcpServers": self.servers})
            }
            Action::Close(_)
            | Action::Delete(_)
            | Action::Cancel(_)
            | Action::SetMode(_)
            | Action::SetConfigOption(_)
            | Action::Prompt(_) => json!({"sessionId": self.session}),
            _ => json!({}),
        };
        match value {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }

    /// The method to authenticate with: the profile's, or else the first one that needs no terminal.
    pub(super) fn auth_method(&self) -> Option<String> {
        let offered = self.talk.auth_methods().and_then(Value::as_array);
        self.auth.map(str::to_owned).or_else(|| {
            offered?
                .iter()
                .find(|method| {
                    let kind = method.get("type").and_then(Value::as_str);
                    matches!(kind, None | Some("agent"))
                })?
                .get("id")?
                .as_str()
                .map(str::to_owned)
        })
    }
}

/// Lays a step's parameters, whose placeholders are filled in, over the implied ones.
///
/// # Errors
/// Where the exact text is no JSON any more.
pub(super) fn laid_over(implied: Map<String, Value>, params: &Params) -> Result<Value, String> {
    match params {
        Params::Over(members) => {
            let mut all = implied;
            all.extend(members.clone());
            Ok(Value::Object(all))
        }
        Params::Exact(text) => serde_json::from_str(text)
            .map_err(|error| format!("the parameters are no JSON any more: {error}")),
    }
}

/// The sentence for a placeholder that nothing is known for.
pub(super) fn unknown(missing: &Placeholder) -> String {
    match missing {
        Placeholder::Session(None) => "the session was not opened".to_owned(),
        Placeholder::Session(Some(name)) => format!("the session `{name}` was not opened"),
        Placeholder::Result { step, pointer } => {
            format!("the answer to the step `{step}` has nothing at `{pointer}`")
        }
        Placeholder::Command => {
            "the agent announced none of the slash commands that the profile lists".to_owned()
        }
        Placeholder::Mode(0) => "the session has no modes".to_owned(),
        Placeholder::Mode(number) => format!("the session has not {number} other modes to choose"),
        Placeholder::Option(which, _) => match which {
            Which::Select => "the session has no option with another value to choose".to_owned(),
            Which::Boolean => "the session has no boolean option".to_owned(),
            Which::Mode => {
                "the session has no option of the category `mode` with another value".to_owned()
            }
        },
        Placeholder::Mcp(name) => format!("there is no MCP server `{name}`"),
        Placeholder::Cwd | Placeholder::Home => "the session's folder is not known".to_owned(),
    }
}
