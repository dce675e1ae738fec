//! The keywords that look at a value alone: type, constant, bounds, width and format.

use serde_json::{Number, Value};

use super::Schema;
use super::violation::{alternatives, found, quoted, with_article};

/// What is wrong by the keywords that look at the value alone: the keyword and the sentence.
pub(super) fn scalar_fault(
    schema: &Schema,
    content: &Value,
    value: &Value,
) -> Option<(&'static str, String)> {
    if let Some(types) = content.get("type")
        && let Some(message) = type_fault(&type_names(types), value)
    {
        return Some(("type", message));
    }
    if let Some(constant) = content.get("const")
        && constant != value
    {
        let message = format!(
            "expected {}, found {}",
            constant_text(constant),
            found(value)
        );
        return Some(("const", message));
    }
    match value {
        Value::Number(number) => number_fault(content, number),
        Value::String(text) => {
            let shortest = content
                .get("minLength")
                .and_then(Value::as_u64)
                .unwrap_or(0);
            if (text.chars().count() as u64) < shortest {
                let message = format!(
                    "expected at least {shortest} characters, found {}",
                    found(value)
                );
                return Some(("minLength", message));
            }
            let uri = content.get("format").is_some_and(|format| format == "uri");
            (uri && !schema.uri.is_valid(value)).then(|| {
                (
                    "format",
                    format!("expected an absolute URI, found {}", found(value)),
                )
            })
        }
        _ => None,
    }
}

fn type_fault(types: &[&str], value: &Value) -> Option<String> {
    let fits = types.iter().any(|name| match *name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => true,
    });
    if fits {
        return None;
    }
    let expected: Vec<&str> = types.iter().map(|name| with_article(name)).collect();
    let mut message = format!(
        "expected {}, found {}",
        alternatives(&expected),
        found(value)
    );
    let whole = value.as_f64().is_some_and(|float| float.fract() == 0.0);
    if whole && types.contains(&"integer") {
        message.push_str(", written as a fraction or beyond 64 bits");
    }
    Some(message)
}

fn number_fault(content: &Value, number: &Number) -> Option<(&'static str, String)> {
    let value = number.as_f64()?;
    let bound = |keyword| content.get(keyword).and_then(Value::as_f64);
    if let Some(least) = bound("minimum").filter(|least| value < *least) {
        return Some((
            "minimum",
            format!("expected at least {least}, found the number {number}"),
        ));
    }
    if let Some(most) = bound("maximum").filter(|most| value > *most) {
        return Some((
            "maximum",
            format!("expected at most {most}, found the number {number}"),
        ));
    }
    let (fits, width) = match content.get("format").and_then(Value::as_str)? {
        "int32" => (
            number.as_i64().is_some_and(|it| i32::try_from(it).is_ok()),
            "32 bits",
        ),
        "int64" => (number.is_i64(), "64 bits"),
        "uint16" => (
            number.as_u64().is_some_and(|it| u16::try_from(it).is_ok()),
            "16 bits without sign",
        ),
        "uint32" => (
            number.as_u64().is_some_and(|it| u32::try_from(it).is_ok()),
            "32 bits without sign",
        ),
        "uint64" => (number.is_u64(), "64 bits without sign"),
        _ => return None,
    };
    (!fits).then(|| {
        (
            "format",
            format!("expected an integer of {width}, found the number {number}"),
        )
    })
}

/// The types of the keyword `type`, which holds one or a list.
pub(super) fn type_names(types: &Value) -> Vec<&str> {
    match types {
        Value::String(only) => vec![only],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A constant as it is quoted in a sentence.
pub(super) fn constant_text(constant: &Value) -> String {
    match constant {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}
