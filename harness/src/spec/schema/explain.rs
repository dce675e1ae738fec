//! Why a value does not fit its definition.
//!
//! Walks the value along the keywords that the generated schema uses. In a union only the branch
//! that was meant is explained: the one that the tag names, else the one that the value comes
//! nearest to.

use std::cmp::Reverse;

use serde_json::Value;

use super::super::later::Later;
use super::scalar::{constant_text, scalar_fault, type_names};
use super::union::{self, Meant};
use super::violation::{Violation, alternatives, found, quoted, with_article};
use super::{LISTED_AT_MOST, Schema};

/// Everything that is wrong with `value` as a `definition`.
pub(super) fn explain(schema: &Schema, definition: &str, value: &Value) -> Vec<Violation> {
    let mut faults = Vec::new();
    if let Some(content) = schema.definition(definition) {
        let context = Context {
            owner: definition,
            silent: false,
        };
        Walk { schema }.check(content, context, value, &mut String::new(), &mut faults);
    }
    faults.truncate(LISTED_AT_MOST);
    faults
}

/// Whether `value` fits a schema that stands in the definition `owner`.
pub(super) fn fits(schema: &Schema, content: &Value, owner: &str, value: &Value) -> bool {
    let context = Context {
        owner,
        silent: false,
    };
    Walk { schema }
        .faults(content, context, value, &mut String::new())
        .is_empty()
}

#[derive(Clone, Copy)]
struct Walk<'schema> {
    schema: &'schema Schema,
}

/// Where in the schema the walk stands.
#[derive(Clone, Copy)]
struct Context<'name> {
    /// The innermost definition.
    owner: &'name str,
    /// Whether readers drop a faulty value here in silence.
    silent: bool,
}

impl Walk<'_> {
    fn faults(
        self,
        schema: &Value,
        context: Context<'_>,
        value: &Value,
        place: &mut String,
    ) -> Vec<Violation> {
        let mut faults = Vec::new();
        self.check(schema, context, value, place, &mut faults);
        faults
    }

    fn check(
        self,
        schema: &Value,
        mut context: Context<'_>,
        value: &Value,
        place: &mut String,
        faults: &mut Vec<Violation>,
    ) {
        context.silent |= marked(schema, "x-deserialize-default-on-error")
            || (value.is_null() && marked(schema, "x-deserialize-default-on-null"));

        let scalar = scalar_fault(self.schema, schema, value);
        if let Some((keyword, message)) = scalar {
            faults.push(context.fault(place, keyword, message));
            return;
        }
        if let Some((owner, content)) = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| self.schema.resolve(reference))
        {
            self.check(content, Context { owner, ..context }, value, place, faults);
        }
        for part in schema
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.check(part, context, value, place, faults);
        }
        self.check_object(schema, context, value, place, faults);
        self.check_items(schema, context, value, place, faults);
        if !union::branches(schema).is_empty() {
            self.check_union(schema, context, value, place, faults);
        }
        if let Some(forbidden) = schema.get("not")
            && self.faults(forbidden, context, value, place).is_empty()
        {
            let message = "has a form that is not allowed here".to_owned();
            faults.push(context.fault(place, "not", message));
        }
    }

    fn check_object(
        self,
        schema: &Value,
        context: Context<'_>,
        value: &Value,
        place: &mut String,
        faults: &mut Vec<Violation>,
    ) {
        let Some(members) = value.as_object() else {
            return;
        };
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                faults.push(context.fault(place, "required", missing(name)));
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, content) in properties.into_iter().flatten() {
            if let Some(member) = members.get(name) {
                within(place, name, |place| {
                    self.check(content, context, member, place, faults)
                });
            }
        }
        let Some(others) = schema
            .get("additionalProperties")
            .filter(|others| others.is_object())
        else {
            return;
        };
        for (name, member) in members {
            if faults.len() >= LISTED_AT_MOST {
                return;
            }
            if properties.is_none_or(|properties| !properties.contains_key(name)) {
                within(place, name, |place| {
                    self.check(others, context, member, place, faults)
                });
            }
        }
    }

    fn check_items(
        self,
        schema: &Value,
        mut context: Context<'_>,
        value: &Value,
        place: &mut String,
        faults: &mut Vec<Violation>,
    ) {
        let (Some(content), Some(items)) = (schema.get("items"), value.as_array()) else {
            return;
        };
        context.silent |= marked(schema, "x-deserialize-skip-invalid-items");
        for (index, item) in items.iter().enumerate() {
            if faults.len() >= LISTED_AT_MOST {
                return;
            }
            within(place, &index.to_string(), |place| {
                self.check(content, context, item, place, faults);
            });
        }
    }

    fn check_union(
        self,
        schema: &Value,
        context: Context<'_>,
        value: &Value,
        place: &mut String,
        faults: &mut Vec<Violation>,
    ) {
        match union::meant(schema, value) {
            Meant::TagMissing { tag, allowed } => {
                let message = format!("{}; expected one of {}", missing(tag), list(&allowed));
                faults.push(context.fault(place, "required", message));
            }
            Meant::TagUnknown { tag, allowed } => {
                let tag_value = value.get(tag).unwrap_or(&Value::Null);
                let message = format!(
                    "expected one of {}, found {}",
                    list(&allowed),
                    found(tag_value)
                );
                let mut fault = within(place, tag, |place| {
                    context.fault(place, "discriminator", message)
                });
                fault.later = later_form(context.owner, tag_value);
                faults.push(fault);
            }
            Meant::Branch(branch) => {
                let own = self.faults(branch, context, value, place);
                // A branch without a tag may accept what the named one refuses.
                let tag = union::tag_name(schema);
                let accepted = own.is_empty()
                    || union::branches(schema)
                        .iter()
                        .filter(|other| !std::ptr::eq(*other, branch))
                        .filter(|other| tag.and_then(|tag| union::tag_of(other, tag)).is_none())
                        .any(|other| self.faults(other, context, value, place).is_empty());
                if !accepted {
                    faults.extend(own);
                }
            }
            Meant::Untagged(branches) => {
                let mut tries = Vec::with_capacity(branches.len());
                for branch in branches {
                    let own = self.faults(branch, context, value, place);
                    if own.is_empty() {
                        return;
                    }
                    tries.push(Try {
                        branch,
                        faults: own,
                    });
                }
                let later = union::tag_name(schema)
                    .and_then(|tag| value.get(tag))
                    .and_then(|tag| later_form(context.owner, tag));
                let nearest = self.nearest(tries, context, value, place);
                faults.extend(nearest.into_iter().map(|fault| Violation {
                    later: fault.later.or_else(|| later.clone()),
                    ..fault
                }));
            }
        }
    }

    /// The faults to show of a value that no branch accepts.
    fn nearest(
        self,
        mut tries: Vec<Try<'_>>,
        context: Context<'_>,
        value: &Value,
        place: &str,
    ) -> Vec<Violation> {
        let constants: Vec<String> = tries
            .iter()
            .filter_map(Try::constant)
            .map(constant_text)
            .collect();
        if !constants.is_empty() && constants.len() == tries.len() {
            let message = format!(
                "expected one of {}, found {}",
                constants.join(", "),
                found(value)
            );
            return vec![context.fault(place, "enum", message)];
        }
        // Beside an open branch the constants are examples only.
        tries.retain(|attempt| attempt.constant().is_none());

        if tries.len() > 1
            && tries
                .iter()
                .all(|attempt| attempt.is_of_another_type(place))
        {
            let mut types: Vec<&str> = Vec::new();
            for name in tries
                .iter()
                .flat_map(|attempt| self.type_names(attempt.branch))
            {
                let name = with_article(name);
                if !types.contains(&name) {
                    types.push(name);
                }
            }
            let message = format!("expected {}, found {}", alternatives(&types), found(value));
            return vec![context.fault(place, "type", message)];
        }

        let nearness = |attempt: &Try<'_>| (attempt.depth(place), Reverse(attempt.faults.len()));
        let Some(best) = tries.iter().map(nearness).max() else {
            return Vec::new();
        };
        let mut nearest: Vec<Try<'_>> = tries
            .into_iter()
            .filter(|attempt| nearness(attempt) == best)
            .collect();
        let agreed = nearest
            .iter()
            .all(|attempt| Some(&attempt.faults) == nearest.first().map(|first| &first.faults));
        if agreed && let Some(attempt) = nearest.pop() {
            return attempt.faults;
        }
        let forms: Vec<String> = nearest.iter().map(Try::summary).collect();
        let message = format!("fits none of its forms: {}", alternatives(&forms));
        let mut told = context.fault(place, "anyOf", message);
        if let Some(first) = nearest.first().and_then(|attempt| attempt.faults.first()) {
            let mut faults = nearest.iter().flat_map(|attempt| &attempt.faults);
            if faults.all(|fault| fault.path == first.path) {
                told.path.clone_from(&first.path);
                told.silent = first.silent;
            }
        }
        vec![told]
    }

    /// The types that a schema accepts, as its own keyword or that of its definition says.
    fn type_names<'value>(&'value self, schema: &'value Value) -> Vec<&'value str> {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let content = reference
            .and_then(|reference| self.schema.resolve(reference))
            .map_or(schema, |(_, content)| content);
        content.get("type").map(type_names).unwrap_or_default()
    }
}

/// One branch of a union and why it does not accept the value.
struct Try<'schema> {
    branch: &'schema Value,
    faults: Vec<Violation>,
}

impl Try<'_> {
    fn constant(&self) -> Option<&Value> {
        self.branch.get("const")
    }

    /// Whether the value itself has the wrong type for this branch.
    fn is_of_another_type(&self, place: &str) -> bool {
        matches!(self.faults.as_slice(), [only] if only.keyword == "type" && only.path == place)
    }

    /// How far below `place` the outermost fault lies: the deeper, the better the branch fits.
    fn depth(&self, place: &str) -> usize {
        self.faults
            .iter()
            .map(|fault| {
                fault
                    .path
                    .get(place.len()..)
                    .unwrap_or_default()
                    .matches('/')
                    .count()
            })
            .min()
            .unwrap_or(0)
    }

    fn summary(&self) -> String {
        let of_items = || self.branch.get("items")?.get("$ref");
        let name = self
            .branch
            .get("$ref")
            .or_else(of_items)
            .and_then(Value::as_str)
            .and_then(|reference| reference.rsplit('/').next())
            .unwrap_or("another form");
        let why = self
            .faults
            .first()
            .map_or("", |fault| fault.message.as_str());
        format!("{name} ({why})")
    }
}

impl Context<'_> {
    fn fault(self, place: &str, keyword: &str, message: String) -> Violation {
        Violation {
            path: place.to_owned(),
            message,
            keyword: keyword.to_owned(),
            silent: self.silent,
            later: None,
        }
    }
}

fn marked(schema: &Value, mark: &str) -> bool {
    schema.get(mark) == Some(&Value::Bool(true))
}

/// Where a form of a union is known from that the stable schema does not have.
fn later_form(owner: &str, tag: &Value) -> Option<String> {
    let tag = tag.as_str()?;
    let entry = match owner {
        "SessionUpdate" => Later::v1().kind(tag),
        _ => Later::v1().form(owner, tag),
    };
    entry.map(|entry| entry.from.clone())
}

fn missing(name: &str) -> String {
    format!("the member {} is missing", quoted(name))
}

fn list(allowed: &[&str]) -> String {
    allowed
        .iter()
        .map(|name| quoted(name))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Runs `inside` with the JSON pointer `place` one step deeper.
pub(super) fn within<Output>(
    place: &mut String,
    step: &str,
    inside: impl FnOnce(&mut String) -> Output,
) -> Output {
    let outside = place.len();
    place.push('/');
    for character in step.chars() {
        match character {
            '~' => place.push_str("~0"),
            '/' => place.push_str("~1"),
            other => place.push(other),
        }
    }
    let output = inside(place);
    place.truncate(outside);
    output
}
