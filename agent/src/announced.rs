//! What the client announced that it can do.

use serde_json::{Map, Value};

/// The parts of `clientCapabilities` that matter here. What is absent is not supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Announced {
    pub(crate) reads_files: bool,
    pub(crate) writes_files: bool,
    pub(crate) terminals: bool,
    pub(crate) forms: bool,
    pub(crate) urls: bool,
    pub(crate) terminal_login: bool,
    pub(crate) boolean_options: bool,
}

impl Announced {
    /// Reads the parameters of `initialize`.
    pub(crate) fn read(params: &Map<String, Value>) -> Self {
        let capabilities = params.get("clientCapabilities").unwrap_or(&Value::Null);
        let at = |path: &str| capabilities.pointer(path);
        let is_true = |path: &str| at(path) == Some(&Value::Bool(true));
        let is_object = |path: &str| at(path).is_some_and(Value::is_object);
        Self {
            reads_files: is_true("/fs/readTextFile"),
            writes_files: is_true("/fs/writeTextFile"),
            terminals: is_true("/terminal"),
            forms: is_object("/elicitation/form"),
            urls: is_object("/elicitation/url"),
            terminal_login: is_true("/auth/terminal"),
            boolean_options: is_object("/session/configOptions/boolean"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(capabilities: Value) -> Announced {
        let mut params = Map::new();
        params.insert("clientCapabilities".into(), capabilities);
        Announced::read(&params)
    }

    #[test]
    fn what_is_absent_null_or_of_another_type_is_not_supported() {
        let odd = json!({
            "fs": {"readTextFile": "yes", "writeTextFile": null},
            "terminal": {},
            "elicitation": {"form": true, "url": null},
            "auth": [],
            "session": {"configOptions": {"boolean": false}},
        });
        for capabilities in [odd, Value::Null, json!({}), json!("all")] {
            assert_eq!(read(capabilities), Announced::default());
        }
        assert_eq!(Announced::read(&Map::new()), Announced::default());
    }

    #[test]
    fn what_is_announced_is_supported() {
        let some = read(json!({
            "fs": {"readTextFile": true},
            "elicitation": {"form": {}},
            "session": {"configOptions": {"boolean": {}}},
        }));
        let expected = Announced {
            reads_files: true,
            forms: true,
            boolean_options: true,
            ..Announced::default()
        };
        assert_eq!(some, expected);
    }
}
