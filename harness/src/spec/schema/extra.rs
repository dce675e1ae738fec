//! Members that a type of the protocol does not declare (EXT-05).
//!
//! Precision comes first: where the type of an object cannot be told for certain, nothing is said
//! about it or what is in it.

use serde_json::{Map, Value};

use super::super::later::Later;
use super::explain::{fits, within};
use super::union::{self, Meant};
use super::{LISTED_AT_MOST, Schema};

/// Definitions whose content is a JSON Schema of its own: its vocabulary is larger than the part
/// that ACP uses, and passing a further keyword on is no member of the agent's own.
const OPAQUE: [&str; 1] = ["ElicitationSchema"];

/// A member that the type of its object does not declare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extra {
    /// JSON pointer to the member.
    pub path: String,
    /// Name of the member.
    pub name: String,
    /// The type that does not declare it.
    pub owner_type: String,
    /// Where it is known from, if drafts or later revisions of the protocol have it.
    pub later: Option<&'static str>,
}

/// Lists the members of `value`, at any depth, that its definition does not declare.
pub(super) fn extra_members(schema: &Schema, definition: &str, value: &Value) -> Vec<Extra> {
    let mut extras = Vec::new();
    if let Some(content) = schema.definition(definition) {
        let walk = Walk { schema };
        walk.visit(content, definition, value, &mut String::new(), &mut extras);
    }
    extras
}

#[derive(Clone, Copy)]
struct Walk<'schema> {
    schema: &'schema Schema,
}

/// What the definitions say of one object.
#[derive(Default)]
struct Shape<'schema> {
    /// Declared members with their schema and the definition it stands in.
    declared: Vec<(&'schema str, &'schema Value, &'schema str)>,
    /// Definitions that declare members of the object, outermost first.
    owners: Vec<&'schema str>,
    /// Members beyond the declared ones are allowed.
    open: bool,
    /// It cannot be told which form was meant.
    unclear: bool,
}

impl<'schema> Walk<'schema> {
    fn visit(
        self,
        content: &'schema Value,
        owner: &'schema str,
        value: &Value,
        place: &mut String,
        extras: &mut Vec<Extra>,
    ) {
        match value {
            Value::Object(members) => {
                let mut shape = Shape::default();
                self.gather(content, owner, value, &mut shape);
                self.visit_members(&shape, members, place, extras);
            }
            Value::Array(items) => {
                let Some((content, owner)) = self.items(content, owner, value) else {
                    return;
                };
                for (index, item) in items.iter().enumerate() {
                    within(place, &index.to_string(), |place| {
                        self.visit(content, owner, item, place, extras);
                    });
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn visit_members(
        self,
        shape: &Shape<'schema>,
        members: &Map<String, Value>,
        place: &mut String,
        extras: &mut Vec<Extra>,
    ) {
        if shape.unclear {
            return;
        }
        for (name, member) in members.iter().filter(|(name, _)| *name != "_meta") {
            if extras.len() >= LISTED_AT_MOST {
                return;
            }
            let declared = shape
                .declared
                .iter()
                .find(|(declared, ..)| declared == name);
            if let Some((_, content, owner)) = declared {
                within(place, name, |place| {
                    self.visit(content, owner, member, place, extras)
                });
            } else if let Some(owner) = shape.owners.first().filter(|_| !shape.open) {
                extras.push(Extra {
                    path: within(place, name, |place| place.clone()),
                    name: name.clone(),
                    owner_type: (*owner).to_owned(),
                    later: shape
                        .owners
                        .iter()
                        .find_map(|owner| Later::v1().member(owner, name))
                        .map(|entry| entry.from.as_str()),
                });
            }
        }
    }

    /// Collects what a schema declares of the object `value`.
    fn gather(
        self,
        content: &'schema Value,
        owner: &'schema str,
        value: &Value,
        shape: &mut Shape<'schema>,
    ) {
        if OPAQUE.contains(&owner) {
            shape.unclear = true;
            return;
        }
        if let Some(properties) = content.get("properties").and_then(Value::as_object) {
            // A branch that only adds the tag leaves the ownership to the definition it refers to.
            if !shape.owners.contains(&owner) && self.declares_members(owner) {
                shape.owners.push(owner);
            }
            let new = properties
                .iter()
                .map(|(name, schema)| (name.as_str(), schema, owner));
            shape.declared.extend(new);
        }
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            shape.open |= content
                .get(keyword)
                .is_some_and(|others| others != &Value::Bool(false));
        }
        if let Some((owner, content)) = self.reference(content) {
            self.gather(content, owner, value, shape);
        }
        for part in content
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.gather(part, owner, value, shape);
        }
        if !union::branches(content).is_empty() {
            self.gather_union(content, owner, value, shape);
        }
    }

    fn gather_union(
        self,
        content: &'schema Value,
        owner: &'schema str,
        value: &Value,
        shape: &mut Shape<'schema>,
    ) {
        let tag = union::tag_name(content);
        let chosen: Vec<&Value> = match union::meant(content, value) {
            Meant::Branch(branch) => vec![branch],
            // With a tag that no branch names, a branch that fits may not be the one that was meant.
            Meant::Untagged(_) if tag.is_some_and(|tag| value.get(tag).is_some()) => Vec::new(),
            Meant::Untagged(branches) => branches
                .into_iter()
                .filter(|branch| fits(self.schema, branch, owner, value))
                .collect(),
            Meant::TagMissing { .. } | Meant::TagUnknown { .. } => Vec::new(),
        };
        shape.unclear |= chosen.is_empty();
        for branch in chosen {
            self.gather(branch, owner, value, shape);
        }
    }

    /// The schema of the items of an array, with the definition it stands in.
    fn items(
        self,
        content: &'schema Value,
        owner: &'schema str,
        value: &Value,
    ) -> Option<(&'schema Value, &'schema str)> {
        if let Some(items) = content.get("items") {
            return Some((items, owner));
        }
        if let Some((owner, content)) = self.reference(content) {
            return self.items(content, owner, value);
        }
        let branch = union::branches(content)
            .iter()
            .find(|branch| fits(self.schema, branch, owner, value))?;
        self.items(branch, owner, value)
    }

    fn reference(self, content: &'schema Value) -> Option<(&'schema str, &'schema Value)> {
        self.schema.resolve(content.get("$ref")?.as_str()?)
    }

    fn declares_members(self, definition: &str) -> bool {
        let content = self.schema.definition(definition);
        content.is_some_and(|content| content.get("properties").is_some())
    }
}
