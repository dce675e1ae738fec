//! ELICIT-04 to -06 and -11: the forms of elicitations.

use serde_json::Value;

use super::quote::{quote, quote_json};
use super::schema::faults_in;
use super::{Moment, Out};

const FLAT: &str = "ELICIT-04";
const STATED: &str = "ELICIT-05";
const SECRETS: &str = "ELICIT-06";
const NO_LINKS: &str = "ELICIT-11";

const SCHEMA: &str = "/params/requestedSchema";

/// Words that tell of a secret, in lower case.
const SECRET_WORDS: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "api key",
    "api_key",
    "apikey",
    "access key",
    "private key",
    "token",
    "credential",
    "credit card",
    "card number",
    "cvv",
];

/// ELICIT-04 (docs/protocol/v1/elicitation.mdx#form-mode): properties are strings, numbers, integers, booleans or lists of
/// choices, which are texts. Own types (with an underscore) are noted; other types, nested objects and references fail.
///
/// ELICIT-05 (docs/rfds/elicitation.mdx): `type` and `properties` are stated. A required name without a property is noted.
///
/// ELICIT-06 (#form-mode): words that tell of secrets are noted for a reader to judge.
///
/// ELICIT-11 (#url-security): no http or https URL in message, titles, descriptions or defaults.
pub(super) fn judge(moment: &Moment<'_>, params: &Value, out: &mut Out<'_>) {
    let schema = params.get("requestedSchema");
    if let Some(schema) = schema.filter(|schema| schema.is_object()) {
        flat(moment, schema, out);
        stated(moment, schema, out);
    }
    texts(moment, params, out);
}

fn flat(moment: &Moment<'_>, schema: &Value, out: &mut Out<'_>) {
    let mut sound = true;
    let mut told: Vec<String> = Vec::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let path = format!(
            "{SCHEMA}/properties/{}",
            name.replace('~', "~0").replace('/', "~1")
        );
        let kind = property.get("type").and_then(Value::as_str);
        let fault = if property.get("$ref").is_some() {
            Some("refers to another schema")
        } else {
            match kind {
                Some("array") => items(property),
                Some("string" | "number" | "integer" | "boolean") => None,
                Some("object") => Some("is a nested object"),
                Some(own) if own.starts_with('_') => {
                    out.note(
                        FLAT,
                        moment.at(format!("{path}/type")),
                        format!("a property is of the own type {}", quote(own)),
                    );
                    None
                }
                Some(_) => Some("has an unknown type"),
                // The schema wants a type: that is told below.
                None => None,
            }
        };
        if let Some(fault) = fault {
            sound = false;
            told.push(path.clone());
            out.fail(
                FLAT,
                moment.at(path),
                format!(
                    "the property {} of the form {fault}, where a form is a flat object of strings, numbers, booleans and lists of choices",
                    quote(name)
                ),
            );
        }
    }
    for violation in faults_in(moment, SCHEMA) {
        let is_told = told
            .iter()
            .any(|path| violation.path.starts_with(path.as_str()));
        if !is_told {
            sound = false;
            out.fail(
                FLAT,
                moment.at(violation.path.as_str()),
                format!("the schema of the form: {}", violation.message),
            );
        }
    }
    if sound {
        out.pass(FLAT);
    }
}

/// What is wrong with the type of the choices of a list, which are texts.
fn items(property: &Value) -> Option<&'static str> {
    let items = property.get("items")?;
    if items.get("$ref").is_some() {
        return Some("is a list of what another schema says");
    }
    let kind = items.get("type")?.as_str()?;
    (kind != "string" && !kind.starts_with('_')).then_some("is a list of something else than texts")
}

fn stated(moment: &Moment<'_>, schema: &Value, out: &mut Out<'_>) {
    let lacking = ["type", "properties"]
        .into_iter()
        .find(|member| schema.get(member).is_none());
    out.check(STATED, lacking.is_none(), moment.at(SCHEMA), || {
        format!(
            "the schema of the form does not state `{}`, which it should",
            lacking.unwrap_or_default()
        )
    });
    let required = schema.get("required").and_then(Value::as_array);
    for (index, name) in required.into_iter().flatten().enumerate() {
        let property = name
            .as_str()
            .and_then(|name| schema.get("properties")?.get(name));
        if property.is_none() {
            out.note(
                STATED,
                moment.at(format!("{SCHEMA}/required/{index}")),
                format!("{} is required and no property", quote_json(name)),
            );
        }
    }
}

fn texts(moment: &Moment<'_>, params: &Value, out: &mut Out<'_>) {
    let mut links = false;
    let mut see = |path: String, text: &str| {
        let lower = text.to_lowercase();
        if let Some(word) = SECRET_WORDS.into_iter().find(|word| lower.contains(word)) {
            out.note(
                SECRETS,
                moment.at(path.as_str()),
                format!(
                    "{} speaks of a {word}; forms must not ask for secrets",
                    quote(text)
                ),
            );
        }
        if lower.contains("http://") || lower.contains("https://") {
            links = true;
            out.fail(
                NO_LINKS,
                moment.at(path),
                format!("{} holds a URL, which a form should not", quote(text)),
            );
        }
    };
    if let Some(text) = params.get("message").and_then(Value::as_str) {
        see("/params/message".to_owned(), text);
    }
    if let Some(schema) = params.get("requestedSchema") {
        words(schema, SCHEMA, &mut see);
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let path = format!(
                "{SCHEMA}/properties/{}",
                name.replace('~', "~0").replace('/', "~1")
            );
            see(path.clone(), name);
            words(property, &path, &mut see);
        }
    }
    if !links {
        out.pass(NO_LINKS);
    }
}

/// The words that a user may see of a schema or property.
fn words(schema: &Value, path: &str, see: &mut impl FnMut(String, &str)) {
    for member in ["title", "description", "default"] {
        match schema.get(member) {
            Some(Value::String(text)) => see(format!("{path}/{member}"), text),
            Some(Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(text) = item.as_str() {
                        see(format!("{path}/{member}/{index}"), text);
                    }
                }
            }
            _ => {}
        }
    }
    let choices = schema.get("items").unwrap_or(schema);
    for list in ["oneOf", "anyOf"] {
        let choices = choices.get(list).and_then(Value::as_array);
        for (index, choice) in choices.into_iter().flatten().enumerate() {
            for member in ["title", "description"] {
                if let Some(text) = choice.get(member).and_then(Value::as_str) {
                    let place = if schema.get("items").is_some() {
                        format!("{path}/items/{list}/{index}/{member}")
                    } else {
                        format!("{path}/{list}/{index}/{member}")
                    };
                    see(place, text);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, judged};
    use super::*;

    fn asked(message: &str, schema: &str) -> Judgement {
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{{"elicitation":{{"form":{{}}}}}}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"mcpCapabilities":{{"http":true}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1"}}}}
            < {{"id":5,"method":"elicitation/create","params":{{"sessionId":"s1","mode":"form","message":"{message}","requestedSchema":{schema}}}}}
            "#
        ))
    }

    fn failures(message: &str, schema: &str) -> Vec<(&'static str, String)> {
        failed(&asked(message, schema))
            .into_iter()
            .filter(|(id, ..)| id.starts_with("ELICIT"))
            .map(|(id, _, path)| (id, path))
            .collect()
    }

    const SOUND: &str = r#"{"type":"object","properties":{"name":{"type":"string","title":"Name"},"many":{"type":"array","items":{"type":"string","enum":["a","b"]}},"yes":{"type":"boolean","default":true}},"required":["name"]}"#;

    #[test]
    fn a_flat_form_passes() {
        let judgement = asked("Who?", SOUND);
        assert!(failed(&judgement).is_empty(), "{:?}", failed(&judgement));
        for id in [FLAT, STATED, NO_LINKS] {
            assert_eq!(judgement.get(id).unwrap().passes, 1, "{id}");
        }
    }

    #[test]
    fn nested_objects_references_and_unknown_types_fail() {
        for property in [
            r##"{"type":"object","properties":{}}"##,
            r##"{"$ref":"#/x"}"##,
            r##"{"type":"date"}"##,
        ] {
            assert_eq!(
                failures(
                    "x",
                    &format!(r#"{{"type":"object","properties":{{"a":{property}}}}}"#)
                ),
                [(FLAT, "/params/requestedSchema/properties/a".to_owned())],
                "{property}"
            );
        }
    }

    #[test]
    fn an_own_type_is_noted() {
        let judgement = asked(
            "x",
            r#"{"type":"object","properties":{"a":{"type":"_colour"}}}"#,
        );
        assert!(failed(&judgement).is_empty());
        assert_eq!(judgement.get(FLAT).unwrap().notes.len(), 1);
    }

    #[test]
    fn type_and_properties_should_be_stated() {
        for schema in [r#"{"properties":{}}"#, r#"{"type":"object"}"#] {
            assert_eq!(
                failures("x", schema),
                [(STATED, SCHEMA.to_owned())],
                "{schema}"
            );
        }
        let unknown = asked("x", r#"{"type":"object","properties":{},"required":["a"]}"#);
        assert!(failed(&unknown).is_empty());
        assert_eq!(unknown.get(STATED).unwrap().notes.len(), 1);
    }

    #[test]
    fn links_in_words_for_the_user_fail() {
        assert_eq!(
            failures("See https://example.org", SOUND),
            [(NO_LINKS, "/params/message".to_owned())]
        );
        assert_eq!(
            failures(
                "x",
                r#"{"type":"object","properties":{"a":{"type":"string","description":"from http://example.org"}}}"#
            ),
            [(
                NO_LINKS,
                "/params/requestedSchema/properties/a/description".to_owned()
            )]
        );
    }

    #[test]
    fn words_of_secrets_are_noted() {
        let judgement = asked(
            "Your API key?",
            r#"{"type":"object","properties":{"password":{"type":"string"}}}"#,
        );
        assert!(failed(&judgement).is_empty());
        assert_eq!(judgement.get(SECRETS).unwrap().notes.len(), 2);
    }
}
