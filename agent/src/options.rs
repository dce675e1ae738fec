//! The options of a session: what the client shows as selects and switches.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::modes::{self, Mode};
use crate::settings::Kind;

/// How much a model may think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Effort {
    Low,
    #[default]
    Medium,
    High,
}

/// Every effort with its id and name.
const EFFORTS: [(Effort, &str, &str); 3] = [
    (Effort::Low, "low", "Low"),
    (Effort::Medium, "medium", "Medium"),
    (Effort::High, "high", "High"),
];

/// Every model with its id and name.
const MODELS: [(Kind, &str, &str); 2] = [
    (Kind::Embedded, "embedded", "Embedded"),
    (Kind::OpenAi, "openai", "Chat-completions server"),
];

impl Effort {
    pub(crate) fn id(self) -> &'static str {
        EFFORTS
            .iter()
            .find(|(effort, _, _)| *effort == self)
            .map_or("", |(_, id, _)| id)
    }
}

/// What is chosen in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    pub(crate) mode: Mode,
    pub(crate) model: Kind,
    pub(crate) effort: Effort,
    /// Whether the user is asked at all where the mode says so.
    pub(crate) confirm: bool,
}

impl Chosen {
    pub(crate) fn new(model: Kind) -> Self {
        Self {
            mode: Mode::default(),
            model,
            effort: Effort::default(),
            confirm: true,
        }
    }

    /// Takes a value for an option. `booleans`: whether the client knows switches.
    ///
    /// # Errors
    ///
    /// Says what was wrong with the id or the value.
    pub(crate) fn set(&mut self, id: &str, value: &Value, booleans: bool) -> Result<(), String> {
        let text = value.as_str();
        let not_offered = || format!("the option `{id}` has no such value");
        match id {
            "mode" => self.mode = text.and_then(Mode::find).ok_or_else(not_offered)?,
            "model" => self.model = find(&MODELS, text).ok_or_else(not_offered)?,
            "effort" => self.effort = find(&EFFORTS, text).ok_or_else(not_offered)?,
            "confirm" if booleans => {
                self.confirm = value.as_bool().ok_or_else(not_offered)?;
            }
            _ => return Err("there is no such option".to_owned()),
        }
        Ok(())
    }

    /// The whole `configOptions`.
    pub(crate) fn options(&self, booleans: bool) -> Value {
        let mut options = vec![
            select("mode", "Mode", "mode", self.mode.id(), modes::values()),
            select(
                "model",
                "Model",
                "model",
                name(&MODELS, self.model),
                values(&MODELS),
            ),
            select(
                "effort",
                "Effort",
                "thought_level",
                self.effort.id(),
                values(&EFFORTS),
            ),
        ];
        if booleans {
            options.push(json!({
                "id": "confirm",
                "name": "Confirm",
                "description": "Ask before tools run, where the mode says so",
                "type": "boolean",
                "currentValue": self.confirm,
            }));
        }
        Value::Array(options)
    }
}

fn find<T: Copy>(table: &[(T, &str, &str)], wanted: Option<&str>) -> Option<T> {
    table
        .iter()
        .find(|(_, id, _)| wanted == Some(id))
        .map(|(value, _, _)| *value)
}

fn name<T: PartialEq>(table: &[(T, &'static str, &str)], value: T) -> &'static str {
    table
        .iter()
        .find(|(known, _, _)| *known == value)
        .map_or("", |(_, id, _)| id)
}

fn values<T>(table: &[(T, &str, &str)]) -> Vec<Value> {
    table
        .iter()
        .map(|(_, id, name)| json!({ "value": id, "name": name }))
        .collect()
}

fn select(id: &str, name: &str, category: &str, current: &str, values: Vec<Value>) -> Value {
    json!({
        "id": id,
        "name": name,
        "category": category,
        "type": "select",
        "currentValue": current,
        "options": values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_offered_changes_nothing() {
        let mut chosen = Chosen::new(Kind::Embedded);
        let before = chosen;
        for (id, value) in [
            ("mode", json!("fly")),
            ("mode", json!(true)),
            ("effort", Value::Null),
            ("confirm", json!("true")),
            ("colour", json!("red")),
        ] {
            assert!(chosen.set(id, &value, true).is_err(), "{id}");
        }
        assert!(chosen.set("confirm", &json!(false), false).is_err());
        assert_eq!(chosen, before);
    }

    #[test]
    fn every_offered_value_can_be_set_and_is_then_shown() {
        let mut chosen = Chosen::new(Kind::Embedded);
        let options = chosen.options(false);
        for option in options.as_array().into_iter().flatten() {
            let id = option.get("id").and_then(Value::as_str).unwrap_or_default();
            for value in option
                .get("options")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                let value = value.get("value").cloned().unwrap_or_default();
                assert_eq!(chosen.set(id, &value, false), Ok(()));
                let shown = chosen.options(false).to_string();
                let current = format!("\"currentValue\":{value}");
                assert!(shown.contains(&current), "{id} {value}: {shown}");
            }
        }
    }
}
