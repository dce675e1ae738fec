//! Builds the JSON Schema document of ACP v1 from the types of `agent-client-protocol-schema`.
//!
//! Shared by the example that writes `spec/acp-v1/schema.json` and by the test that shows it to be in step.

use agent_client_protocol_schema::v1;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The crate and version that the document is generated from.
pub(crate) const SOURCE: &str = "agent-client-protocol-schema 1.17.0";

/// The whole document as pretty JSON with a final newline, as it is committed.
pub(crate) fn text() -> String {
    format!("{:#}\n", document())
}

/// Every definition of the protocol under `$defs`, without prose.
///
/// There is no root schema on purpose: the unions at the top accept any extension payload, so a
/// message is judged by the definition of its own method.
fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    // The unions per side and direction reach every type that can be on the wire.
    generator.subschema_for::<v1::ClientRequest>();
    generator.subschema_for::<v1::AgentResponse>();
    generator.subschema_for::<v1::ClientNotification>();
    generator.subschema_for::<v1::AgentRequest>();
    generator.subschema_for::<v1::ClientResponse>();
    generator.subschema_for::<v1::AgentNotification>();
    generator.subschema_for::<v1::ProtocolLevelNotification>();
    generator.subschema_for::<v1::RequestId>();
    generator.subschema_for::<v1::Error>();

    let mut definitions: Vec<(String, Value)> =
        generator.take_definitions(true).into_iter().collect();
    definitions.sort_by(|(left, _), (right, _)| left.cmp(right));
    let definitions: Map<String, Value> = definitions
        .into_iter()
        .map(|(name, schema)| (name, without_prose(schema)))
        .collect();

    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": format!("Generated from {SOURCE} by `cargo run -p acp-harness --example generate_schema`; do not edit."),
        "$defs": definitions,
    })
}

/// Removes the annotations that hold sentences, and leaves members that only happen to bear such a name.
fn without_prose(schema: Value) -> Value {
    let Value::Object(members) = schema else {
        return schema;
    };
    let mut kept = Map::new();
    for (key, value) in members {
        let value = match key.as_str() {
            "description" | "title" | "examples" => continue,
            // Below these keywords the keys are names, not keywords.
            "properties" | "$defs" | "patternProperties" => match value {
                Value::Object(named) => Value::Object(
                    named
                        .into_iter()
                        .map(|(name, schema)| (name, without_prose(schema)))
                        .collect(),
                ),
                other => other,
            },
            "oneOf" | "anyOf" | "allOf" | "prefixItems" => match value {
                Value::Array(branches) => {
                    Value::Array(branches.into_iter().map(without_prose).collect())
                }
                other => other,
            },
            "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains" => {
                without_prose(value)
            }
            // Everything else (const, enum, default, marks) is data.
            _ => value,
        };
        kept.insert(key, value);
    }
    Value::Object(kept)
}
