//! `initialize`: who is there, and what each side can do.

use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};

use super::{Server, lock};
use crate::announced::Announced;
use crate::log;

impl Server {
    pub(super) fn initialize(&self, params: &Map<String, Value>) -> Value {
        let info = params.get("clientInfo");
        let member = |name: &str| info.and_then(|info| info.get(name)?.as_str());
        let client = match (member("name"), member("version")) {
            (Some(name), Some(version)) => format!("{name} {version}"),
            (Some(name), None) => name.to_owned(),
            _ => "unknown".to_owned(),
        };
        log::acp(format_args!("client {client}, protocol 1"));
        self.initialized.store(true, Ordering::Relaxed);
        let announced = Announced::read(params);
        *lock(&self.announced) = announced;
        json!({
            "protocolVersion": 1,
            "agentCapabilities": self.capabilities(),
            "agentInfo": {
                "name": "bob",
                "title": "Bob (bash-first agent)",
                "version": self.parts().version,
            },
            "authMethods": self.login.methods(announced),
        })
    }

    /// What the surface has beyond the baseline.
    fn capabilities(&self) -> Value {
        let prompts = if self.parts().rich_prompts {
            json!({ "image": true, "audio": true, "embeddedContext": true })
        } else {
            json!({})
        };
        let mut capabilities = Map::new();
        let mut sessions = json!({});
        if self.store.is_some() {
            capabilities.insert("loadSession".to_owned(), true.into());
            sessions = json!({
                "list": {},
                "resume": {},
                "close": {},
                "delete": {},
                "additionalDirectories": {},
            });
        }
        let auth = if self.has_logins() {
            json!({ "logout": {} })
        } else {
            json!({})
        };
        capabilities.insert("auth".to_owned(), auth);
        let mcp = if self.parts().mcp {
            json!({ "http": true })
        } else {
            json!({})
        };
        capabilities.insert("mcpCapabilities".to_owned(), mcp);
        capabilities.insert("promptCapabilities".to_owned(), prompts);
        capabilities.insert("sessionCapabilities".to_owned(), sessions);
        Value::Object(capabilities)
    }
}
