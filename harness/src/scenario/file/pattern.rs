//! A pattern for JSON: what it names must fit, what it does not name may be anything.

use std::fmt;

use serde_json::Value;

use super::{Placeholder, fill_value};

/// What a JSON value must be like.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Equal to this value. Numbers are equal by value, `1` and `1.0` too; a number and a string never.
    Equal(Value),
    /// An object in which each of these members fits.
    Object(Vec<(String, Pattern)>),
    /// A list of just so many elements, each of which fits.
    List(Vec<Pattern>),
    /// Fits one of these at least.
    AnyOf(Vec<Pattern>),
    /// Is there, and does not fit this.
    Not(Box<Pattern>),
    /// Is of this type.
    Type(JsonType),
    /// A string with the pattern's string in it, or a list with an element that fits.
    Contains(Box<Pattern>),
    /// Is not there. JSON null is there.
    Absent,
    /// A number within limits, both included; or a string, list or object whose length is.
    Within {
        /// At least.
        min: Option<i64>,
        /// At most.
        max: Option<i64>,
    },
    /// Fits all of these.
    All(Vec<Pattern>),
}

/// A type of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Any number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// The words for the types.
    pub(super) const WORDS: [(&'static str, Self); 7] = [
        ("null", Self::Null),
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("string", Self::String),
        ("array", Self::Array),
        ("object", Self::Object),
    ];

    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => {
                value.is_i64()
                    || value.is_u64()
                    || value.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }

    fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("value", |(word, _)| word)
    }
}

/// Where a value does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// A JSON pointer to the place, from where the pattern was laid on.
    pub path: String,
    /// What was expected there, such as "`end_turn`".
    pub expected: String,
    /// What is there, cut short; `None` where nothing is.
    pub found: Option<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(
            f,
            "expected {}, found {}",
            self.expected,
            self.found.as_deref().unwrap_or("nothing")
        )
    }
}

impl Pattern {
    /// Lays the pattern on a value, `None` where there is none.
    ///
    /// # Errors
    /// The first place that does not fit.
    pub fn check(&self, value: Option<&Value>) -> Result<(), Mismatch> {
        self.at(value, "")
    }

    fn at(&self, value: Option<&Value>, path: &str) -> Result<(), Mismatch> {
        let misfit = || Mismatch {
            path: path.to_owned(),
            expected: self.to_string(),
            found: value.map(shown),
        };
        let holds = match (self, value) {
            (Self::Absent, value) => value.is_none(),
            (Self::All(patterns), value) => {
                return patterns
                    .iter()
                    .try_for_each(|pattern| pattern.at(value, path));
            }
            (Self::AnyOf(patterns), value) => patterns
                .iter()
                .any(|pattern| pattern.at(value, path).is_ok()),
            (Self::Object(members), Some(Value::Object(map))) => {
                return members.iter().try_for_each(|(key, pattern)| {
                    let step = key.replace('~', "~0").replace('/', "~1");
                    pattern.at(map.get(key), &format!("{path}/{step}"))
                });
            }
            (Self::List(patterns), Some(Value::Array(items))) if items.len() == patterns.len() => {
                return patterns.iter().zip(items).enumerate().try_for_each(
                    |(index, (pattern, item))| pattern.at(Some(item), &format!("{path}/{index}")),
                );
            }
            (_, None) => false,
            (Self::Equal(wanted), Some(value)) => equal(wanted, value),
            (Self::Not(pattern), value) => pattern.at(value, path).is_err(),
            (Self::Type(kind), Some(value)) => kind.holds(value),
            (Self::Contains(pattern), Some(Value::String(text))) => {
                matches!(&**pattern, Self::Equal(Value::String(part)) if text.contains(part))
            }
            (Self::Contains(pattern), Some(Value::Array(items))) => items
                .iter()
                .any(|item| pattern.at(Some(item), path).is_ok()),
            (Self::Within { min, max }, Some(value)) => within(*min, *max, value),
            (Self::Object(_) | Self::List(_) | Self::Contains(_), Some(_)) => false,
        };
        if holds { Ok(()) } else { Err(misfit()) }
    }

    /// The pattern with the placeholders in it filled in.
    ///
    /// # Errors
    /// The first placeholder that `value` knows nothing for.
    pub fn fill(
        &self,
        value: &mut dyn FnMut(&Placeholder) -> Option<Value>,
    ) -> Result<Self, Placeholder> {
        let mut all = |patterns: &[Self]| {
            patterns
                .iter()
                .map(|pattern| pattern.fill(value))
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(match self {
            Self::List(patterns) => Self::List(all(patterns)?),
            Self::AnyOf(patterns) => Self::AnyOf(all(patterns)?),
            Self::All(patterns) => Self::All(all(patterns)?),
            Self::Equal(wanted) => Self::Equal(fill_value(wanted, value)?),
            Self::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(key, pattern)| Ok((key.clone(), pattern.fill(value)?)))
                    .collect::<Result<_, Placeholder>>()?,
            ),
            Self::Not(pattern) => Self::Not(Box::new(pattern.fill(value)?)),
            Self::Contains(pattern) => Self::Contains(Box::new(pattern.fill(value)?)),
            Self::Type(_) | Self::Absent | Self::Within { .. } => self.clone(),
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |patterns: &[Self]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
        match self {
            Self::Equal(value) => write!(f, "`{value}`"),
            Self::Object(_) => write!(f, "an object"),
            Self::List(patterns) => write!(f, "a list of {}", patterns.len()),
            Self::AnyOf(patterns) => write!(f, "{}", list(patterns).join(" or ")),
            Self::All(patterns) => write!(f, "{}", list(patterns).join(" and ")),
            Self::Not(pattern) => write!(f, "anything but {pattern}"),
            Self::Type(kind) => write!(f, "a value of type {}", kind.word()),
            Self::Contains(pattern) => write!(f, "something that contains {pattern}"),
            Self::Absent => write!(f, "nothing"),
            Self::Within {
                min: Some(min),
                max: Some(max),
            } => write!(f, "between {min} and {max}"),
            Self::Within {
                min: Some(min),
                max: None,
            } => write!(f, "{min} or more"),
            Self::Within { max: Some(max), .. } => write!(f, "{max} or less"),
            Self::Within { .. } => write!(f, "a number"),
        }
    }
}

fn equal(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::Number(wanted), Value::Number(number)) => {
            wanted == number || wanted.as_f64() == number.as_f64()
        }
        (Value::Array(wanted), Value::Array(items)) => {
            wanted.len() == items.len()
                && wanted
                    .iter()
                    .zip(items)
                    .all(|(wanted, item)| equal(wanted, item))
        }
        _ => wanted == value,
    }
}

fn within(min: Option<i64>, max: Option<i64>, value: &Value) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "limits in a scenario are small")]
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => Some(text.chars().count() as f64),
        Value::Array(items) => Some(items.len() as f64),
        Value::Object(map) => Some(map.len() as f64),
        Value::Null | Value::Bool(_) => None,
    };
    #[expect(clippy::cast_precision_loss, reason = "limits in a scenario are small")]
    number.is_some_and(|number| {
        min.is_none_or(|min| number >= min as f64) && max.is_none_or(|max| number <= max as f64)
    })
}

/// The value as JSON, cut to what fits into a sentence.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 80 {
        format!("`{text}`")
    } else {
        format!("`{}…`", text.chars().take(80).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn equal_to(value: Value) -> Pattern {
        Pattern::Equal(value)
    }

    fn object(members: &[(&str, Pattern)]) -> Pattern {
        Pattern::Object(
            members
                .iter()
                .map(|(key, pattern)| ((*key).to_owned(), pattern.clone()))
                .collect(),
        )
    }

    #[test]
    fn what_a_pattern_does_not_name_may_be_anything() {
        let pattern = object(&[("a", equal_to(json!(1))), ("b", Pattern::Absent)]);
        assert_eq!(pattern.check(Some(&json!({ "a": 1.0, "c": [] }))), Ok(()));
        let misfit = pattern
            .check(Some(&json!({ "a": 1, "b": null })))
            .unwrap_err();
        assert_eq!(misfit.to_string(), "/b: expected nothing, found `null`");
    }

    #[test]
    fn a_misfit_is_shown_at_its_place_and_cut_short() {
        let pattern = object(&[("a/b", Pattern::List(vec![Pattern::Type(JsonType::Integer)]))]);
        let misfit = pattern
            .check(Some(&json!({ "a/b": ["x".repeat(200)] })))
            .unwrap_err();
        assert_eq!(misfit.path, "/a~1b/0");
        assert_eq!(misfit.expected, "a value of type integer");
        assert_eq!(misfit.found.map(|found| found.chars().count()), Some(83));
    }

    #[test]
    fn a_member_that_is_missing_fits_no_test_but_absence() {
        let not = Pattern::Not(Box::new(equal_to(json!(1))));
        assert!(not.check(None).is_err());
        assert!(not.check(Some(&json!("1"))).is_ok());
        assert!(object(&[]).check(None).is_err());
        assert!(Pattern::Absent.check(None).is_ok());
    }

    #[test]
    fn tests_of_one_table_all_hold() {
        let pattern = Pattern::All(vec![
            Pattern::Type(JsonType::Integer),
            Pattern::Not(Box::new(equal_to(json!(65535)))),
            Pattern::Within {
                min: Some(1),
                max: None,
            },
        ]);
        for (value, fits) in [
            (json!(2), true),
            (json!(65535), false),
            (json!(0), false),
            (json!("2"), false),
        ] {
            assert_eq!(pattern.check(Some(&value)).is_ok(), fits, "{value}");
        }
    }

    #[test]
    fn containing_means_a_part_of_a_text_or_an_element_of_a_list() {
        let part = Pattern::Contains(Box::new(equal_to(json!("b"))));
        assert!(part.check(Some(&json!("abc"))).is_ok());
        assert!(part.check(Some(&json!(["a", "b"]))).is_ok());
        assert!(part.check(Some(&json!(["abc"]))).is_err());
        assert!(part.check(Some(&json!({ "b": 1 }))).is_err());
    }
}
