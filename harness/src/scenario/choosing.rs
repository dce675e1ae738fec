//! Which of what a session offers a scenario takes: another mode, another value of an option.

use serde_json::Value;

use super::file::Which;
use crate::client::Choices;

/// Words of modes in which an agent asks for no permission.
const SKIPPING: [&str; 14] = [
    "bypass",
    "yolo",
    "dangerous",
    "dangerously",
    "unsafe",
    "danger",
    "skip",
    "skips",
    "without",
    "never",
    "autopilot",
    "dont",
    "full",
    "unrestricted",
];

/// The categories of options, in the order in which they are taken: those that change least come first.
const CATEGORIES: [&str; 3] = ["thought_level", "model_config", "_"];

/// A mode of the session by its number: 0 is the one that it was opened in, from 1 on come the others, without those that
/// skip permission unless `bold`.
pub(super) fn mode(choices: &Choices, number: usize, bold: bool) -> Option<&str> {
    let first = choices.opened_in.as_deref();
    match number.checked_sub(1) {
        None => first,
        Some(place) => choices
            .modes
            .iter()
            .filter(|mode| bold || !skips_permission(mode))
            .filter_map(|mode| mode.get("id")?.as_str())
            .filter(|id| Some(*id) != first)
            .nth(place),
    }
}

/// The option that is meant.
pub(super) fn option(choices: &Choices, which: Which, bold: bool) -> Option<&Value> {
    let category = |option: &Value| {
        let category = option.get("category").and_then(Value::as_str);
        category.unwrap_or_default().to_owned()
    };
    let is = |option: &Value, kind: &str| option.get("type").and_then(Value::as_str) == Some(kind);
    let mut options = choices.options.iter();
    match which {
        Which::Boolean => options.find(|option| is(option, "boolean")),
        Which::Mode => {
            options.find(|option| category(option) == "mode" && other_value(option, bold).is_some())
        }
        Which::Select => options
            .filter(|option| is(option, "select") && other_value(option, bold).is_some())
            .min_by_key(|option| match category(option).as_str() {
                "model" => CATEGORIES.len() + 2,
                "mode" => CATEGORIES.len() + 1,
                own => CATEGORIES
                    .iter()
                    .position(|known| own.starts_with(known))
                    .unwrap_or(CATEGORIES.len()),
            }),
    }
}

/// A value that an option offers and that is not its current one.
pub(super) fn other_value(option: &Value, bold: bool) -> Option<Value> {
    let current = option.get("currentValue");
    if let Some(switch) = current.and_then(Value::as_bool) {
        return Some(Value::Bool(!switch));
    }
    let listed = option.get("options").and_then(Value::as_array)?;
    // In groups, or flat.
    let entries =
        listed.iter().flat_map(
            |entry| match entry.get("options").and_then(Value::as_array) {
                Some(group) => group.iter().collect::<Vec<_>>(),
                None => vec![entry],
            },
        );
    entries
        .filter(|entry| bold || !skips_permission(entry))
        .filter_map(|entry| entry.get("value"))
        .find(|value| Some(*value) != current)
        .cloned()
}

/// Whether what is said of a mode tells that it asks for no permission.
fn skips_permission(mode: &Value) -> bool {
    ["id", "value", "name", "description"]
        .iter()
        .filter_map(|member| mode.get(member)?.as_str())
        .any(|text| {
            // `bypassPermissions`, `dont-ask`, `Full access`.
            let mut spaced = String::with_capacity(text.len());
            for letter in text.chars() {
                if letter.is_uppercase() || !letter.is_alphanumeric() {
                    spaced.push(' ');
                }
                spaced.extend(letter.to_lowercase());
            }
            let mut words = spaced.split(|c: char| !c.is_alphanumeric());
            words.any(|word| SKIPPING.contains(&word))
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choices() -> Choices {
        Choices {
            modes: vec![
                json!({"id": "ask", "name": "Ask"}),
                json!({"id": "bypassPermissions", "name": "Bypass"}),
                json!({"id": "plan", "name": "Plan"}),
            ],
            opened_in: Some("ask".into()),
            options: vec![
                json!({"id": "mode", "category": "mode", "type": "select", "currentValue": "ask", "options": [{"value": "ask", "name": "Ask"}, {"value": "plan", "name": "Plan"}]}),
                json!({"id": "one", "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "A"}]}),
                json!({"id": "effort", "category": "thought_level", "type": "select", "currentValue": "low", "options": [{"group": "g", "name": "G", "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}]}]}),
                json!({"id": "confirm", "type": "boolean", "currentValue": true}),
            ],
        }
    }

    #[test]
    fn modes_that_skip_permission_are_left_out_without_consent() {
        let choices = choices();
        assert_eq!(mode(&choices, 0, false), Some("ask"));
        assert_eq!(mode(&choices, 1, false), Some("plan"));
        assert_eq!(mode(&choices, 2, false), None);
        assert_eq!(mode(&choices, 1, true), Some("bypassPermissions"));
    }

    #[test]
    fn the_option_that_changes_least_is_taken_with_another_value() {
        let choices = choices();
        let taken = |which| {
            let option = option(&choices, which, false).unwrap();
            (option["id"].clone(), other_value(option, false))
        };
        assert_eq!(taken(Which::Select), (json!("effort"), Some(json!("high"))));
        assert_eq!(taken(Which::Mode), (json!("mode"), Some(json!("plan"))));
        assert_eq!(
            taken(Which::Boolean),
            (json!("confirm"), Some(json!(false)))
        );
        assert_eq!(option(&Choices::default(), Which::Boolean, false), None);
    }
}
