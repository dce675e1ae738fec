//! Judging a payload by the JSON Schema of its definition.
//!
//! The document `harness/spec/acp-v1/schema.json` is generated from the protocol's own types. A
//! payload is always judged by one definition (that of its method and direction), never by the
//! unions at the top of the protocol, which accept any extension.
//!
//! Whether a payload is valid is decided by a JSON Schema validator. *Why* it is not is worked out
//! by [`explain`], since a validator's own messages on unions say next to nothing. Two faults that
//! JSON Schema lets pass are added there: an integer written as `1.0`, and one that does not fit
//! the width that `format` names; readers of the protocol refuse both.

mod explain;
mod extra;
#[cfg(test)]
mod mutations;
mod scalar;
#[cfg(test)]
mod tests;
mod union;
mod violation;

use std::sync::{LazyLock, OnceLock};

use indexmap::IndexMap;
use jsonschema::{Registry, Validator};
use serde_json::{Map, Value, json};

use super::later::{Entry, Later};
use crate::hash::HashSet;
pub use extra::Extra;
pub use violation::Violation;

/// At most so many violations, and so many extra members, are listed for one payload.
pub const LISTED_AT_MOST: usize = 100;

/// Name under which the document is registered with the validator.
const ADDRESS: &str = "acp:v1";

/// The definitions of one protocol version.
pub struct Schema {
    revision: String,
    definitions: Map<String, Value>,
    registry: Registry<'static>,
    /// Compiled when first used: all of them take longer than a short run.
    validators: IndexMap<String, OnceLock<Validator>>,
    /// Judges a string by `format: uri` alone.
    uri: Validator,
    /// The stable kinds of updates, gathered when first asked for.
    kinds: OnceLock<HashSet<String>>,
}

/// What is known of a `sessionUpdate` kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// In the stable schema.
    Stable,
    /// Known from drafts or later revisions.
    Later(&'static Entry),
    /// Begins with an underscore: an extension, which the union of v1 does not foresee.
    Extension,
    /// None of these; it may be of version 2 (see [`Later::is_v2_kind`]).
    Unknown,
}

impl Schema {
    /// The schema of protocol version 1.
    #[must_use]
    pub fn v1() -> &'static Self {
        static V1: LazyLock<Schema> = LazyLock::new(|| {
            #[expect(
                clippy::expect_used,
                reason = "the document is built in, and the tests read it"
            )]
            Schema::read(include_str!("../../../spec/acp-v1/schema.json"))
                .expect("the schema that is built in can be read")
        });
        &V1
    }

    fn read(text: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let document: Value = serde_json::from_str(text)?;
        let definitions = document
            .get("$defs")
            .and_then(Value::as_object)
            .ok_or("the document has no `$defs`")?
            .clone();
        let revision = document
            .get("x-source")
            .and_then(Value::as_str)
            .ok_or("the document has no `x-source`")?
            .to_owned();
        let registry = Registry::new().add(ADDRESS, document)?.prepare()?;
        let uri = jsonschema::options()
            .should_validate_formats(true)
            .build(&json!({"type": "string", "format": "uri"}))?;
        let validators = definitions
            .keys()
            .map(|name| (name.clone(), OnceLock::new()))
            .collect();
        Ok(Self {
            revision,
            definitions,
            registry,
            validators,
            uri,
            kinds: OnceLock::new(),
        })
    }

    /// The crate and version whose types the schema was generated from, such as
    /// `agent-client-protocol-schema 1.17.0`.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The content of a definition.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<&Value> {
        self.definitions.get(name)
    }

    /// Name and content of all definitions.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.definitions
            .iter()
            .map(|(name, content)| (name.as_str(), content))
    }

    /// Everything that is wrong with `value` as a `definition`, in the order of the schema and at
    /// most [`LISTED_AT_MOST`]; empty when nothing is. A name that is no definition judges nothing.
    #[must_use]
    pub fn violations(&self, definition: &str, value: &Value) -> Vec<Violation> {
        let Some(validator) = self.validator(definition) else {
            return Vec::new();
        };
        let valid = validator.is_valid(value);
        if valid && !has_notable_number(value) {
            return Vec::new();
        }
        let violations = explain::explain(self, definition, value);
        if valid || !violations.is_empty() {
            return violations;
        }
        // Not reached by any definition of today; a keyword that `explain` does not know would come here.
        validator
            .iter_errors(value)
            .take(1)
            .map(|error| Violation {
                path: error.instance_path().to_string(),
                message: format!("does not fit the definition {definition}"),
                keyword: error.kind().keyword().to_owned(),
                silent: false,
                later: None,
            })
            .collect()
    }

    /// Members of `value`, at any depth, that the type they stand in does not declare (EXT-05).
    ///
    /// Nothing is said about `_meta`, free-form values and maps, objects whose type cannot be told,
    /// and the JSON Schema inside an elicitation. At most [`LISTED_AT_MOST`] are listed.
    #[must_use]
    pub fn extra_members(&self, definition: &str, value: &Value) -> Vec<Extra> {
        extra::extra_members(self, definition, value)
    }

    /// Whether a `null` result of this method is tolerated by JSONRPC-12 (and judged by INTEROP-25):
    /// its result has no required member.
    #[must_use]
    pub fn result_tolerates_null(&self, method: &str) -> bool {
        super::methods::Methods::v1()
            .get(method)
            .and_then(|method| self.definition(method.result.as_deref()?))
            .is_some_and(|result| {
                ["required", "anyOf", "oneOf", "allOf", "$ref"]
                    .iter()
                    .all(|keyword| result.get(keyword).is_none())
            })
    }

    /// What is known of this `sessionUpdate` kind.
    #[must_use]
    pub fn update_kind(&self, kind: &str) -> Kind {
        let stable = self
            .kinds
            .get_or_init(|| self.update_kinds().map(str::to_owned).collect());
        if stable.contains(kind) {
            Kind::Stable
        } else if let Some(entry) = Later::v1().kind(kind) {
            Kind::Later(entry)
        } else if kind.starts_with('_') {
            Kind::Extension
        } else {
            Kind::Unknown
        }
    }

    /// The stable `sessionUpdate` kinds.
    pub fn update_kinds(&self) -> impl Iterator<Item = &str> {
        self.definition("SessionUpdate")
            .into_iter()
            .flat_map(union::branches)
            .filter_map(|branch| union::tag_of(branch, "sessionUpdate"))
    }

    /// Follows `#/$defs/<name>`.
    fn resolve<'schema, 'reference>(
        &'schema self,
        reference: &'reference str,
    ) -> Option<(&'reference str, &'schema Value)> {
        let name = reference.strip_prefix("#/$defs/")?;
        Some((name, self.definition(name)?))
    }

    fn validator(&self, definition: &str) -> Option<&Validator> {
        let slot = self.validators.get(definition)?;
        Some(slot.get_or_init(|| {
            #[expect(
                clippy::expect_used,
                reason = "the document is built in, and a test compiles every definition"
            )]
            jsonschema::options()
                .should_validate_formats(true)
                .with_registry(&self.registry)
                .build(&json!({"$ref": format!("{ADDRESS}#/$defs/{definition}")}))
                .expect("every definition of the schema that is built in can be compiled")
        }))
    }
}

/// Whether a number is in `value` that JSON Schema may accept and readers refuse: a whole number
/// written as a fraction, or one beyond 32 bits.
fn has_notable_number(value: &Value) -> bool {
    match value {
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => i32::try_from(whole).is_err(),
            (None, Some(float)) => float.fract() == 0.0,
            (None, None) => true,
        },
        Value::Array(items) => items.iter().any(has_notable_number),
        Value::Object(members) => members.values().any(has_notable_number),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}
