//! Which branch of a union a value is meant as.
//!
//! The unions of the protocol tell their forms apart by a tag: a member with a constant value.
//! Some also have branches without a constant: an older form without the tag, or an open form
//! for values that are not known yet.

use serde_json::Value;

/// The branches of `oneOf` or `anyOf`; none where the schema is no union.
pub(super) fn branches(schema: &Value) -> &[Value] {
    ["oneOf", "anyOf"]
        .iter()
        .find_map(|keyword| schema.get(keyword).and_then(Value::as_array))
        .map_or(&[], Vec::as_slice)
}

/// The value that a branch wants for the tag.
pub(super) fn tag_of<'schema>(branch: &'schema Value, tag: &str) -> Option<&'schema str> {
    branch.get("properties")?.get(tag)?.get("const")?.as_str()
}

/// The member that tells the branches apart, if there is one.
pub(super) fn tag_name(union: &Value) -> Option<&str> {
    let named = union
        .get("discriminator")
        .and_then(|mark| mark.get("propertyName")?.as_str());
    named.or_else(|| {
        branches(union).iter().find_map(|branch| {
            let properties = branch.get("properties")?.as_object()?;
            properties
                .iter()
                .find(|(_, schema)| schema.get("const").is_some_and(Value::is_string))
                .map(|(name, _)| name.as_str())
        })
    })
}

/// What the tag of a value says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meant<'schema> {
    /// The tag names this branch, or it is the only one beside null.
    Branch(&'schema Value),
    /// There is no tag, or none that names a branch; these branches do not ask for a constant one.
    Untagged(Vec<&'schema Value>),
    /// The tag is missing, and every branch needs one of these.
    TagMissing {
        tag: &'schema str,
        allowed: Vec<&'schema str>,
    },
    /// The tag is none of these, and no branch is open.
    TagUnknown {
        tag: &'schema str,
        allowed: Vec<&'schema str>,
    },
}

/// Reads the tag of `value`.
pub(super) fn meant<'schema>(union: &'schema Value, value: &Value) -> Meant<'schema> {
    let branches = branches(union);
    if let Some(only) = only_one_beside_null(branches)
        && !value.is_null()
    {
        return Meant::Branch(only);
    }
    let (Some(tag), Some(members)) = (tag_name(union), value.as_object()) else {
        return Meant::Untagged(branches.iter().collect());
    };
    let found = members.get(tag);
    if let Some(name) = found.and_then(Value::as_str) {
        let named = branches
            .iter()
            .find(|branch| tag_of(branch, tag) == Some(name));
        if let Some(branch) = named {
            return Meant::Branch(branch);
        }
    }
    let without_constant: Vec<&Value> = branches
        .iter()
        .filter(|branch| tag_of(branch, tag).is_none())
        .filter(|branch| found.is_some() || !requires(branch, tag))
        .collect();
    if !without_constant.is_empty() {
        return Meant::Untagged(without_constant);
    }
    let allowed = branches
        .iter()
        .filter_map(|branch| tag_of(branch, tag))
        .collect();
    match found {
        None => Meant::TagMissing { tag, allowed },
        Some(_) => Meant::TagUnknown { tag, allowed },
    }
}

/// The branch that is left when null is not meant, where there is just one.
fn only_one_beside_null(branches: &[Value]) -> Option<&Value> {
    let is_null = |branch: &&Value| branch.get("type").is_some_and(|name| name == "null");
    let mut others = branches.iter().filter(|branch| !is_null(branch));
    let only = others.next()?;
    others.next().is_none().then_some(only)
}

fn requires(branch: &Value, member: &str) -> bool {
    branch
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|required| required.iter().any(|name| name == member))
}
