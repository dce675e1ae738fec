//! Putting the parts of a call into the parameters of a tool.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::known::{self, Kind, Part};
use super::names;
use super::parts::Parts;
use super::schema::{self, kind_of, resolved};

/// How deep parameters are looked for: a tool may take an object with the parameters in it, or a list of edits.
const DEEPEST: usize = 3;

/// How a parameter was found; the less the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// By a usual name.
    Name,
    /// By a word in its name.
    Word,
    /// By what is said about it.
    Said,
    /// It is the only text that the tool demands.
    Alone,
}

/// The arguments that carry a call to a tool, and how the worst of its parameters was found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    /// The arguments.
    pub(super) arguments: Map<String, Value>,
    /// How the worst of the parameters was found.
    pub(super) sign: Sign,
}

/// A tool's schema, and what is around it.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    /// What the tool says about itself.
    pub(super) description: &'a str,
    /// Its whole schema, to which references lead.
    pub(super) root: &'a Value,
    /// The session's folder.
    pub(super) folder: Option<&'a Path>,
}

/// Puts the parts of the first form that fits into the tool's parameters; `None` where none fits.
pub(super) fn placed(kind: &Kind, parts: &Parts<'_>, target: Target<'_>) -> Option<Placed> {
    let forms = kind.forms.iter().filter(|form| parts.has_all(form));
    forms
        .filter_map(|form| within(kind, form, parts, target.root, target, 0))
        .reduce(|best, next| if next.sign < best.sign { next } else { best })
}

/// Puts all of these parts into the members of one object, or some of them there and the others into one of its members.
fn within(
    kind: &Kind,
    form: &[Part],
    parts: &Parts<'_>,
    own: &Value,
    target: Target<'_>,
    depth: usize,
) -> Option<Placed> {
    let own = resolved(own, target.root);
    if depth > DEEPEST {
        return None;
    }
    if let Some(branches) = schema::branches(own) {
        // Each branch takes other members, as of a tool whose operations have each their own.
        let own: Vec<&Value> = branches.iter().collect();
        let of_kind = |branch: &&Value| has_operation(kind, branch, target.root);
        let serving: Vec<&Value> = own.iter().copied().filter(of_kind).collect();
        let branches = if serving.is_empty() { own } else { serving };
        let placed = |branch| within(kind, form, parts, branch, target, depth + 1);
        return branches
            .into_iter()
            .filter_map(placed)
            .reduce(|best, next| if next.sign < best.sign { next } else { best });
    }
    let none = Map::new();
    let properties = schema::properties(own, target.root).unwrap_or(&none);
    let mut arguments = Map::new();
    let mut sign = Sign::Name;
    match operation(kind, form, properties, target.root) {
        Operation::This(name, value) => {
            arguments.insert(name, json!(value));
        }
        Operation::Another => return None,
        Operation::None => {}
    }
    let mut left = form.to_vec();
    for found in [Sign::Name, Sign::Word, Sign::Said] {
        left.retain(|part| {
            let name = parameter(*part, found, own, properties, &arguments, target);
            let carried = name.and_then(|name| {
                let property = properties.get(&name).unwrap_or(&Value::Null);
                let property = resolved(property, target.root);
                let value = parts.carried(*part, &name, property, target)?;
                schema::allows(property, &value).then_some((name, value))
            });
            let Some((name, value)) = carried else {
                return true;
            };
            sign = sign.max(found);
            arguments.insert(name, value);
            false
        });
    }
    if !left.is_empty() {
        let inside = inside(kind, &left, parts, properties, &arguments, target, depth);
        let (name, value, found) = match (inside, left.as_slice()) {
            (Some(inside), _) => inside,
            (None, [part]) => {
                let (name, property) = alone(own, properties, &arguments, target)?;
                let value = parts.carried(*part, &name, property, target)?;
                (name, value, Sign::Alone)
            }
            _ => return None,
        };
        sign = sign.max(found);
        arguments.insert(name, value);
    }
    schema::fill(&mut arguments, own, target.root, depth);
    Some(Placed { arguments, sign })
}

/// The member that takes all that is left: an object, or a list with one.
fn inside(
    kind: &Kind,
    left: &[Part],
    parts: &Parts<'_>,
    properties: &Map<String, Value>,
    taken: &Map<String, Value>,
    target: Target<'_>,
    depth: usize,
) -> Option<(String, Value, Sign)> {
    if depth == DEEPEST {
        return None;
    }
    let free = properties
        .iter()
        .filter(|(name, _)| !taken.contains_key(*name));
    free.filter_map(|(name, property)| {
        let property = resolved(property, target.root);
        let (inner, list) = match (property.get("items"), kind_of(property)) {
            (Some(item), "array") => (resolved(item, target.root), true),
            _ => (property, false),
        };
        schema::properties(inner, target.root).filter(|members| !members.is_empty())?;
        let placed = within(kind, left, parts, inner, target, depth + 1)?;
        let object = Value::Object(placed.arguments);
        let value = if list { json!([object]) } else { object };
        Some((name.clone(), value, placed.sign))
    })
    .next()
}

/// The parameter for a part that shows by this sign; without any schema, the usual name.
fn parameter(
    part: Part,
    sign: Sign,
    own: &Value,
    properties: &Map<String, Value>,
    taken: &Map<String, Value>,
    target: Target<'_>,
) -> Option<String> {
    let row = known::PARAMETERS.iter().find(|row| row.part == part)?;
    let free = || {
        properties
            .iter()
            .filter(|(name, _)| !taken.contains_key(*name))
    };
    let has = |text: &str, wanted: &[&str]| names::among(&names::words(text), wanted);
    // What must be there comes before what may be.
    let required = schema::required(own);
    let best = |fits: &dyn Fn(&str, &Value) -> bool| {
        let fitting = free().filter(|(name, property)| fits(name, resolved(property, target.root)));
        fitting
            .min_by_key(|(name, _)| !required.contains(&name.as_str()))
            .map(|(name, _)| name.clone())
    };
    match sign {
        Sign::Name if properties.is_empty() => {
            let mut usual = row.names.iter().filter(|name| !taken.contains_key(**name));
            usual.next().map(|name| (*name).to_owned())
        }
        Sign::Name => row.names.iter().find_map(|name| {
            let found = free().find(|(own, _)| names::same(own, name));
            found.map(|(own, _)| own.clone())
        }),
        Sign::Word => best(&|name, _| has(name, row.words)),
        Sign::Said => best(&|_, property| has(&schema::description(property), row.says)),
        Sign::Alone => None,
    }
}

/// The only text that is demanded and still missing.
fn alone<'a>(
    own: &Value,
    properties: &'a Map<String, Value>,
    taken: &Map<String, Value>,
    target: Target<'a>,
) -> Option<(String, &'a Value)> {
    let required = schema::required(own);
    let mut texts = required.iter().filter_map(|name| {
        let property = resolved(properties.get(*name)?, target.root);
        let free = !taken.contains_key(*name) && kind_of(property) == "string";
        free.then(|| ((*name).to_owned(), property))
    });
    let only = texts.next()?;
    texts.next().is_none().then_some(only)
}

/// What a tool's parameters say about its operations.
enum Operation {
    /// It has one for the kind: the parameter and the value that name it.
    This(String, String),
    /// It does one thing that is not of the kind.
    Another,
    /// It does one thing, as far as its parameters tell.
    None,
}

/// The parameter and value that tell a tool of many operations which one is meant.
fn operation(
    kind: &Kind,
    form: &[Part],
    properties: &Map<String, Value>,
    root: &Value,
) -> Operation {
    let replacing = match form.contains(&Part::Old) {
        true => known::REPLACING,
        false => &[],
    };
    let usual = known::OPERATIONS.iter().filter(|row| row.0 == kind.name);
    let usual = usual.flat_map(|row| row.1);
    let wanted: Vec<&str> = replacing
        .iter()
        .chain(usual)
        .chain(kind.tools)
        .copied()
        .collect();
    let mut fixed = false;
    for name in known::OPERATION_PARAMETERS {
        let Some((own, property)) = properties.iter().find(|(own, _)| names::same(own, name))
        else {
            continue;
        };
        let allowed = schema::allowed(resolved(property, root));
        let value = wanted
            .iter()
            .find_map(|wanted| allowed.iter().find(|value| names::same(value, wanted)));
        if let Some(value) = value {
            return Operation::This(own.clone(), (*value).to_owned());
        }
        fixed |= matches!(allowed.as_slice(), [only] if is_operation(only));
    }
    match fixed {
        true => Operation::Another,
        false => Operation::None,
    }
}

/// Whether a text names an operation of some kind.
fn is_operation(text: &str) -> bool {
    let operations = known::OPERATIONS.iter().flat_map(|row| row.1);
    let tools = known::TABLE.iter().flat_map(|kind| kind.tools);
    let mut names = operations.chain(tools).chain(known::REPLACING);
    names.any(|name| names::same(name, text))
}

/// Whether a tool of many operations has one for the kind: in its own parameters, or in those of a branch.
pub(super) fn has_operation(kind: &Kind, own: &Value, root: &Value) -> bool {
    let of = |own: &Value| {
        schema::properties(own, root).is_some_and(|properties| {
            let operation = operation(kind, &[], properties, root);
            matches!(operation, Operation::This(..))
        })
    };
    let own = resolved(own, root);
    match schema::branches(own) {
        Some(branches) => branches.iter().any(of),
        None => of(own),
    }
}
