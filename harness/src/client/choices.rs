//! What a session offers to choose: its modes and its configuration options, as the agent told last.

use serde_json::Value;

/// What one session offers to choose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Its modes, as they are listed.
    pub modes: Vec<Value>,
    /// The id of the mode that it was opened in.
    pub opened_in: Option<String>,
    /// Its configuration options.
    pub options: Vec<Value>,
}

impl Choices {
    /// Takes note of what a result or an update says: the members `modes` and `configOptions`.
    pub(super) fn note(&mut self, told: &Value) {
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
        if let Some(modes) = told.get("modes") {
            if let Some(listed) = list(modes.get("availableModes")) {
                self.modes = listed;
            }
            if let Some(current) = modes.get("currentModeId").and_then(Value::as_str)
                && self.opened_in.is_none()
            {
                self.opened_in = Some(current.to_owned());
            }
        }
        if let Some(options) = list(told.get("configOptions")) {
            self.options = options;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_those_of_the_last_list_and_the_first_mode_is_remembered() {
        let mut choices = Choices::default();
        choices.note(&json!({
            "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "code"}]},
            "configOptions": [{"id": "a"}],
        }));
        choices.note(&json!({"modes": {"currentModeId": "code"}, "configOptions": null}));
        choices.note(&json!({"configOptions": [{"id": "b"}]}));
        assert_eq!(choices.modes.len(), 2);
        assert_eq!(choices.opened_in.as_deref(), Some("ask"));
        assert_eq!(choices.options, [json!({"id": "b"})]);
    }
}
