//! Fills in the form of an elicitation, as a user would, or wrongly.

use serde_json::{Map, Value, json};

/// What stands in a text that nothing is demanded of.
const ANSWER: &str = "harness-answer";

/// The number in everything that breaks a form.
const WRONG: u64 = 7_340_417;

/// What fits the form: each property's default, else its first choice, else the least that it allows. A text of a
/// certain pattern cannot be made up; it gets the usual one.
pub(super) fn filled(form: &Value) -> Map<String, Value> {
    each(form, |property| {
        match property.get("default").filter(|value| !value.is_null()) {
            Some(default) => default.clone(),
            None => fitting(property),
        }
    })
}

/// What breaks the form: each property has a value that it does not allow, with the number 7340417 in it.
pub(super) fn broken(form: &Value) -> Map<String, Value> {
    let text = || format!("harness-{WRONG}");
    each(form, |property| match kind(property) {
        "string" if choices(property).is_none() => json!(WRONG),
        "array" => json!([text()]),
        _ => json!(text()),
    })
}

fn each(form: &Value, value: impl Fn(&Value) -> Value) -> Map<String, Value> {
    let properties = form.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| (name.clone(), value(property)))
        .collect()
}

fn kind(property: &Value) -> &str {
    property
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn fitting(property: &Value) -> Value {
    match kind(property) {
        "boolean" => json!(true),
        "integer" | "number" => {
            let limit = |name: &str| property.get(name).filter(|limit| limit.is_number());
            let limit = limit("minimum").or_else(|| limit("maximum"));
            limit.cloned().unwrap_or_else(|| json!(1))
        }
        "array" => {
            let least = property.get("minItems").and_then(Value::as_u64);
            let least = usize::try_from(least.unwrap_or(1)).unwrap_or(usize::MAX);
            let items = property.get("items").and_then(choices).unwrap_or_default();
            Value::Array(items.into_iter().take(least.max(1)).collect())
        }
        _ => match choices(property).and_then(|all| all.into_iter().next()) {
            Some(first) => first,
            None => json!(text(property)),
        },
    }
}

/// The values that may be chosen from, if it is a choice.
fn choices(property: &Value) -> Option<Vec<Value>> {
    let list = |name: &str| property.get(name).and_then(Value::as_array);
    let named = || {
        let all = list("oneOf").or_else(|| list("anyOf"))?;
        let values = all.iter().filter_map(|choice| choice.get("const").cloned());
        Some(values.collect())
    };
    list("enum").cloned().or_else(named)
}

fn text(property: &Value) -> String {
    let text = match property.get("format").and_then(Value::as_str) {
        Some("email") => "user@harness.example",
        Some("uri") => "https://harness.example/",
        Some("date") => "2026-01-01",
        Some("date-time") => "2026-01-01T00:00:00Z",
        _ => ANSWER,
    };
    let limit = |name: &str| {
        let limit = property.get(name).and_then(Value::as_u64)?;
        usize::try_from(limit).ok()
    };
    let mut text = text.to_owned();
    // More than a text of any use would be; who demands more gets too little.
    let least = limit("minLength").unwrap_or(0).min(65_536);
    while text.len() < least {
        text.push('.');
    }
    text.truncate(limit("maxLength").unwrap_or(usize::MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Value {
        json!({"type": "object", "properties": {
            "name": {"type": "string"},
            "long": {"type": "string", "minLength": 20},
            "short": {"type": "string", "maxLength": 3},
            "mail": {"type": "string", "format": "email"},
            "colour": {"type": "string", "enum": ["red", "blue"]},
            "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
            "given": {"type": "string", "default": "as it is"},
            "count": {"type": "integer", "minimum": 3},
            "share": {"type": "number", "maximum": 0.5},
            "sure": {"type": "boolean", "default": null},
            "off": {"type": "boolean", "default": false},
            "some": {"type": "array", "minItems": 2, "items": {"type": "string", "enum": ["a", "b", "c"]}},
            "one": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}},
        }})
    }

    #[test]
    fn a_form_is_filled_with_what_it_allows() {
        assert_eq!(
            Value::Object(filled(&form())),
            json!({
                "name": "harness-answer",
                "long": "harness-answer......",
                "short": "har",
                "mail": "user@harness.example",
                "colour": "red",
                "size": "s",
                "given": "as it is",
                "count": 3,
                "share": 0.5,
                "sure": true,
                "off": false,
                "some": ["a", "b"],
                "one": ["x"],
            })
        );
        assert!(filled(&json!({})).is_empty());
    }

    #[test]
    fn a_broken_form_has_nothing_that_it_allows() {
        let broken = broken(&form());
        assert_eq!(broken.len(), 13);
        assert_eq!(broken["name"], 7_340_417);
        for name in ["colour", "size", "count", "share", "sure"] {
            assert_eq!(broken[name], "harness-7340417", "{name}");
        }
        assert_eq!(broken["some"], json!(["harness-7340417"]));
    }
}
