//! A JSON value on its way to canonical form: members in order of their names, minted values told apart from text.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use foldhash::quality::{FixedState, FoldHasher};

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use super::minted::{Minted, Reference, Segment};

/// A JSON value that borrows its text from the trace where it can.
#[derive(Clone, Debug, PartialEq)]
pub enum Node<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string; paths and volatile parts are replaced in it, minted values are not.
    Text(Cow<'a, str>),
    /// A minted value at its typed place.
    Id(Reference),
    /// An array.
    List(Vec<Self>),
    /// An object.
    Object(Vec<(Cow<'a, str>, Self)>),
}

/// Members whose text a person or a model wrote: left out where only the shape counts.
const WORDING: [&str; 6] = [
    "text",
    "title",
    "description",
    "message",
    "rawOutput",
    "data",
];

/// Two hashes of one value: of all of it, and of its shape without the wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hashes {
    pub(crate) full: u64,
    pub(crate) shape: u64,
}

impl<'a> Node<'a> {
    /// Reads a value from JSON text.
    pub(crate) fn parse(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// An object without members.
    pub(crate) const fn empty() -> Self {
        Self::Object(Vec::new())
    }

    /// The member of this name; of several the last, as other readers take it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members
                .iter()
                .rev()
                .find(|(member, _)| member == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The member of this name, to be changed.
    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self {
            Self::Object(members) => members
                .iter_mut()
                .rev()
                .find(|(member, _)| member == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// Follows member names.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, name| node.get(name))
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What a minted value is bound by: the text of a string, or another scalar as JSON with a mark, so that `1` is not `"1"`.
    pub(crate) fn scalar(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Number(number) => Some(Cow::Owned(format!("\0{number}"))),
            Self::Bool(value) => Some(Cow::Owned(format!("\0{value}"))),
            Self::Null | Self::Id(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// Whether it is an object or list without anything in it.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Object(members) => members.is_empty(),
            Self::List(items) => items.is_empty(),
            _ => false,
        }
    }

    /// The value as plain JSON; minted values by their names.
    pub fn json(&self, minted: &Minted) -> Value {
        self.json_with(minted, &mut |reference| minted.name(reference))
    }

    /// The value as plain JSON; minted values by the names that are given to them.
    pub(crate) fn json_with(
        &self,
        minted: &Minted,
        name: &mut dyn FnMut(Reference) -> String,
    ) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::String(minted.named_with(text, name)),
            Self::Id(reference) => Value::String(name(*reference)),
            Self::List(items) => items
                .iter()
                .map(|item| item.json_with(minted, name))
                .collect(),
            Self::Object(members) => {
                let members = members
                    .iter()
                    .map(|(member, value)| {
                        (member.clone().into_owned(), value.json_with(minted, name))
                    })
                    .collect();
                Value::Object(members)
            }
        }
    }

    /// Hashes the value. Minted values count by their kind alone.
    pub(crate) fn hashes(&self, minted: &Minted) -> Hashes {
        self.weighed(minted, &mut Vec::new())
    }

    /// Hashes the value, and gives the minted values in it, typed and in texts, in the order in which they are met.
    pub(crate) fn weighed(&self, minted: &Minted, references: &mut Vec<Reference>) -> Hashes {
        let mut weighing = Weighing {
            minted,
            references,
            full: hasher(),
            shape: hasher(),
        };
        weighing.value(self, true);
        Hashes {
            full: weighing.full.finish(),
            shape: weighing.shape.finish(),
        }
    }
}

/// A hasher whose outcome is the same each time within one run of the program.
pub(crate) fn hasher() -> FoldHasher<'static> {
    FixedState::with_seed(0xac9).build_hasher()
}

/// A value while it is hashed.
struct Weighing<'w> {
    minted: &'w Minted,
    references: &'w mut Vec<Reference>,
    full: FoldHasher<'static>,
    shape: FoldHasher<'static>,
}

impl Weighing<'_> {
    /// Writes to the hash of everything, and to that of the shape where it counts there.
    fn both(&mut self, in_shape: bool, write: impl Fn(&mut FoldHasher)) {
        write(&mut self.full);
        if in_shape {
            write(&mut self.shape);
        }
    }

    fn value(&mut self, node: &Node<'_>, in_shape: bool) {
        match node {
            Node::Null => self.both(in_shape, |hasher| hasher.write_u8(0)),
            Node::Bool(value) => self.both(in_shape, |hasher| {
                hasher.write_u8(1 + 10 * u8::from(*value));
            }),
            Node::Number(number) => self.both(in_shape, |hasher| {
                hasher.write_u8(2);
                hash_number(number, hasher);
            }),
            Node::Text(text) => {
                self.both(in_shape, |hasher| hasher.write_u8(3));
                self.text(text, in_shape);
            }
            Node::Id(reference) => {
                self.references.push(*reference);
                let word = self.minted.word(*reference);
                self.both(in_shape, |hasher| {
                    hasher.write_u8(4);
                    hasher.write(word.as_bytes());
                });
            }
            Node::List(items) => {
                self.both(in_shape, |hasher| {
                    hasher.write_u8(5);
                    hasher.write_usize(items.len());
                });
                for item in items {
                    self.value(item, in_shape);
                }
            }
            Node::Object(members) => {
                self.both(in_shape, |hasher| {
                    hasher.write_u8(6);
                    hasher.write_usize(members.len());
                });
                for (name, value) in members {
                    self.both(in_shape, |hasher| {
                        hasher.write(name.as_bytes());
                        hasher.write_u8(0xff);
                    });
                    self.value(value, in_shape && !WORDING.contains(&name.as_ref()));
                }
            }
        }
    }

    fn text(&mut self, text: &str, in_shape: bool) {
        let minted = self.minted;
        for segment in minted.segments(text) {
            match segment {
                Segment::Text(text) => {
                    self.both(in_shape, |hasher| hasher.write(text.as_bytes()));
                }
                Segment::Id(reference) => {
                    self.references.push(reference);
                    let word = minted.word(reference);
                    self.both(in_shape, |hasher| {
                        hasher.write_u8(0xfe);
                        hasher.write(word.as_bytes());
                    });
                }
            }
        }
        self.both(in_shape, |hasher| hasher.write_u8(0xff));
    }
}

/// Equal numbers hash alike, however they are spelled.
fn hash_number(number: &Number, hasher: &mut FoldHasher) {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(integer), _, _) => integer.hash(hasher),
        (None, Some(integer), _) => integer.hash(hasher),
        (None, None, Some(float)) => match whole(float) {
            Some(integer) => integer.hash(hasher),
            None => float.to_bits().hash(hasher),
        },
        (None, None, None) => hasher.write_u8(0),
    }
}

/// A fraction that is a whole number within the range where both are exact.
fn whole(float: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole and within the exact range"
    )]
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
}

/// Whether two numbers have one value.
pub(crate) fn same_number(left: &Number, right: &Number) -> bool {
    let integer = |number: &Number| {
        number
            .as_i64()
            .or_else(|| number.as_f64().and_then(whole))
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
    };
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left.as_f64() == right.as_f64(),
        _ => false,
    }
}

impl From<Value> for Node<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(Cow::Owned(text)),
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(members) => Self::Object(
                members
                    .into_iter()
                    .map(|(name, value)| (Cow::Owned(name), Self::from(value)))
                    .collect(),
            ),
        }
    }
}

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(value).map_or(Node::Null, Node::Number))
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Node::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Node::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Node::Text(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(name)) = access.next_key()? {
            members.push((name, access.next_value()?));
        }
        Ok(Node::Object(members))
    }
}

/// A member's name, borrowed where it holds no escape.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member's name")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(text: &str) -> Hashes {
        Node::parse(text).unwrap().hashes(&Minted::new())
    }

    #[test]
    fn the_shape_leaves_out_what_someone_worded() {
        let (left, right) = (
            hashes(r#"{"text":"a","type":"text"}"#),
            hashes(r#"{"text":"b","type":"text"}"#),
        );
        assert_ne!(left.full, right.full);
        assert_eq!(left.shape, right.shape);
        assert_ne!(left.shape, hashes(r#"{"text":"a","type":"other"}"#).shape);
    }

    #[test]
    fn a_number_counts_by_its_value() {
        assert_eq!(hashes("1").full, hashes("1.0").full);
        assert_ne!(hashes("1").full, hashes("1.5").full);
        assert_ne!(hashes("1").full, hashes("\"1\"").full);
        let number = |text: &str| serde_json::from_str::<Number>(text).unwrap();
        assert!(same_number(&number("1"), &number("1.0")));
        assert!(same_number(
            &number("18446744073709551615"),
            &number("18446744073709551615")
        ));
        assert!(!same_number(&number("1"), &number("1.5")));
    }
}
