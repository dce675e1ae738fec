//! `{{name}}` in the strings of a scenario: variables of `[[each]]`, and what is known at run time only.

use serde_json::Value;

/// A placeholder that is filled in at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// `{{session}}`, the id of the step's session, or `{{session:NAME}}`, of another one.
    Session(Option<String>),
    /// `{{cwd}}`, the session's folder.
    Cwd,
    /// `{{home}}`, the agent's home folder.
    Home,
    /// `{{command}}`, the first slash command of the profile's `commands` that the agent has announced, without its slash.
    /// Where there is none the scenario is inconclusive.
    Command,
    /// `{{mcp:NAME}}`, the entry of `mcpServers` for the MCP server of that name.
    Mcp(String),
    /// `{{result:STEP/pointer}}`, a part of the result of the earlier step of that name. Where there is none at run time the
    /// scenario is inconclusive.
    Result {
        /// The step's name.
        step: String,
        /// A JSON pointer into the result; empty for all of it.
        pointer: String,
    },
    /// `{{mode:N}}`, a mode of the step's session: 0 is the one that it was opened in, from 1 on come the others as they
    /// are listed, without those that skip permission where the profile does not allow `unsafe-modes`.
    Mode(usize),
    /// `{{option:WHICH/PART}}`, of a configuration option of the step's session. Where the session has none such the
    /// scenario is not applicable.
    Option(Which, Detail),
}

/// Which configuration option of a session is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// `select`: one with another value to choose, best one that changes neither model nor mode.
    Select,
    /// `boolean`: the first switch.
    Boolean,
    /// `mode`: the one of the category `mode`, if it has another value.
    Mode,
}

/// What of a configuration option is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// `id`.
    Id,
    /// `value`: one that it offers and that is not the current one.
    Value,
    /// `current`: the current value.
    Current,
}

impl Placeholder {
    /// How placeholders are written, for messages.
    pub const FORMS: &str = "`{{session}}`, `{{session:NAME}}`, `{{cwd}}`, `{{home}}`, `{{command}}`, `{{mcp:NAME}}`, `{{result:STEP/POINTER}}`, `{{mode:N}}`, `{{option:WHICH/PART}}`";

    /// The placeholder that stands between the braces.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name.split_once(':') {
            None => match name {
                "session" => Some(Self::Session(None)),
                "cwd" => Some(Self::Cwd),
                "home" => Some(Self::Home),
                "command" => Some(Self::Command),
                _ => None,
            },
            Some(("session", session)) if !session.is_empty() => {
                Some(Self::Session(Some(session.to_owned())))
            }
            Some(("mcp", server)) if !server.is_empty() => Some(Self::Mcp(server.to_owned())),
            Some(("result", path)) => {
                let (step, pointer) = path
                    .find('/')
                    .map_or((path, ""), |slash| path.split_at(slash));
                (!step.is_empty()).then(|| Self::Result {
                    step: step.to_owned(),
                    pointer: pointer.to_owned(),
                })
            }
            Some(("mode", number)) => number.parse().ok().map(Self::Mode),
            Some(("option", path)) => {
                let (which, part) = path.split_once('/')?;
                let which = match which {
                    "select" => Which::Select,
                    "boolean" => Which::Boolean,
                    "mode" => Which::Mode,
                    _ => return None,
                };
                let detail = match part {
                    "id" => Detail::Id,
                    "value" => Detail::Value,
                    "current" => Detail::Current,
                    _ => return None,
                };
                Some(Self::Option(which, detail))
            }
            _ => None,
        }
    }

    /// Whether it stands for something that a session may or may not offer to choose.
    #[must_use]
    pub fn is_choice(&self) -> bool {
        matches!(self, Self::Mode(_) | Self::Option(..))
    }
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// As it is.
    Text(&'a str),
    /// What stands between two pairs of braces.
    Name(&'a str),
}

/// Cuts a text at its placeholders. Braces around anything but a word of letters, digits and `_:/.-` are plain text, so that
/// JSON in JSON needs no escaping.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(found) = rest.get(from..).and_then(|tail| tail.find("{{")) {
        let open = from + found;
        let name = rest
            .get(open + 2..)
            .and_then(|tail| tail.split_once("}}"))
            .map(|(name, _)| name)
            .filter(|name| is_name(name));
        let (Some(name), Some(before)) = (name, rest.get(..open)) else {
            // The second brace may open a placeholder of its own.
            from = open + 1;
            continue;
        };
        if !before.is_empty() {
            parts.push(Part::Text(before));
        }
        parts.push(Part::Name(name));
        rest = rest.get(open + name.len() + 4..).unwrap_or_default();
        from = 0;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_:/.-~".contains(c))
}

/// The text with its placeholders filled in. What `value` returns for one is put in as text: a string as it is, anything
/// else as JSON.
///
/// # Errors
/// The first placeholder that `value` knows nothing for.
pub fn fill(
    text: &str,
    value: &mut dyn FnMut(&Placeholder) -> Option<Value>,
) -> Result<String, Placeholder> {
    let mut filled = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Name(name) => match Placeholder::parse(name) {
                None => filled.push_str(&format!("{{{{{name}}}}}")),
                Some(placeholder) => match value(&placeholder) {
                    Some(Value::String(text)) => filled.push_str(&text),
                    Some(other) => filled.push_str(&other.to_string()),
                    None => return Err(placeholder),
                },
            },
        }
    }
    Ok(filled)
}

/// JSON text with its placeholders filled in: a string as it stands inside of quotes, anything else as JSON.
///
/// # Errors
/// As for [`fill`].
pub fn fill_json_text(
    text: &str,
    value: &mut dyn FnMut(&Placeholder) -> Option<Value>,
) -> Result<String, Placeholder> {
    fill(text, &mut |placeholder| {
        value(placeholder).map(|value| match value {
            Value::String(_) => {
                let quoted = value.to_string();
                let inner = quoted
                    .strip_prefix('"')
                    .and_then(|rest| rest.strip_suffix('"'));
                Value::String(inner.unwrap_or_default().to_owned())
            }
            other => other,
        })
    })
}

/// A JSON value with the placeholders in its strings (not in its keys) filled in. A string that is nothing but one
/// placeholder becomes the value itself.
///
/// # Errors
/// As for [`fill`].
pub fn fill_value(
    json: &Value,
    value: &mut dyn FnMut(&Placeholder) -> Option<Value>,
) -> Result<Value, Placeholder> {
    Ok(match json {
        Value::String(text) => match parts(text).as_slice() {
            [Part::Name(name)] => match Placeholder::parse(name) {
                Some(placeholder) => value(&placeholder).ok_or(placeholder)?,
                None => json.clone(),
            },
            _ => Value::String(fill(text, value)?),
        },
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| fill_value(item, value))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, item)| Ok((key.clone(), fill_value(item, value)?)))
                .collect::<Result<_, Placeholder>>()?,
        ),
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known(placeholder: &Placeholder) -> Option<Value> {
        match placeholder {
            Placeholder::Session(None) => Some(json!("s-1")),
            Placeholder::Cwd => Some(json!("/w")),
            Placeholder::Result { step, pointer } if step == "list" && pointer == "/a/0" => {
                Some(json!({ "n": 1 }))
            }
            _ => None,
        }
    }

    #[test]
    fn a_placeholder_alone_becomes_the_value_and_inside_a_text_its_text() {
        let filled = fill_value(
            &json!(["{{result:list/a/0}}", "in {{cwd}}/x", { "{{cwd}}": 1 }]),
            &mut known,
        );
        assert_eq!(filled, Ok(json!([{ "n": 1 }, "in /w/x", { "{{cwd}}": 1 }])));
        assert_eq!(
            fill("{{result:list/a/0}}", &mut known),
            Ok("{\"n\":1}".to_owned())
        );
    }

    #[test]
    fn in_json_text_a_string_is_escaped() {
        let mut quoted = |_: &Placeholder| Some(json!("a\"b"));
        assert_eq!(
            fill_json_text(r#"{"cwd":"{{cwd}}"}"#, &mut quoted),
            Ok(r#"{"cwd":"a\"b"}"#.to_owned())
        );
        assert_eq!(
            fill_json_text(r#"{"x":{{result:list/a/0}}}"#, &mut known),
            Ok(r#"{"x":{"n":1}}"#.to_owned())
        );
    }

    #[test]
    fn what_is_not_known_is_named() {
        assert_eq!(
            fill("{{cwd}} {{session:b}}", &mut known),
            Err(Placeholder::Session(Some("b".to_owned())))
        );
    }

    #[test]
    fn braces_of_json_are_plain_text() {
        for text in [
            "{{",
            "{{}}",
            "{\"a\":{\"b\":{}}}",
            "{{ session }}",
            "}}{{",
            "{{1}}",
        ] {
            assert_eq!(fill(text, &mut known), Ok(text.to_owned()), "{text}");
        }
        assert_eq!(fill("{{{session}}}", &mut known), Ok("{s-1}".to_owned()));
    }

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        let mut twice = |_: &Placeholder| Some(json!("{{cwd}}"));
        assert_eq!(fill("{{session}}", &mut twice), Ok("{{cwd}}".to_owned()));
    }
}
