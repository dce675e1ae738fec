//! The id of a request, compared as JSON-RPC wants: a number is never a string.

use std::fmt;

use serde_json::Value;

/// The `id` member of a message.
///
/// Two ids are equal if both JSON type and value are equal: `1` is not `"1"`, and `1.0` is no integer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// `null`, which JSON-RPC keeps for answers to input whose id could not be read.
    Null,
    /// A whole number that fits 64 bits.
    Integer(i64),
    /// A string, the empty one too.
    Text(String),
    /// Anything that is no legal id (a fraction, a huge number, a boolean, an object), as compact JSON.
    Illegal(String),
}

impl Id {
    /// Reads the value of an `id` member.
    pub fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::String(text) => Self::Text(text.clone()),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Self::Integer(integer),
                None => Self::Illegal(number.to_string()),
            },
            other => Self::Illegal(other.to_string()),
        }
    }

    /// The id that reads the same but is of the other type: `"1"` for `1`, and the other way round.
    pub fn twin(&self) -> Option<Self> {
        match self {
            Self::Integer(integer) => Some(Self::Text(integer.to_string())),
            Self::Text(text) => text.parse().ok().map(Self::Integer),
            Self::Null | Self::Illegal(_) => None,
        }
    }

    /// Whether the schema's `RequestId` allows it (JSONRPC-07).
    pub fn is_legal(&self) -> bool {
        !matches!(self, Self::Illegal(_))
    }
}

/// The id as it stands in JSON.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Text(text) => write!(f, "{}", Value::String(text.clone())),
            Self::Illegal(json) => f.write_str(json),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_and_its_digits_as_a_string_are_two_ids() {
        assert_ne!(Id::from_value(&json!(1)), Id::from_value(&json!("1")));
        assert_eq!(Id::from_value(&json!(1)), Id::from_value(&json!(1)));
    }

    #[test]
    fn a_fraction_is_no_legal_id_even_if_it_is_whole() {
        assert!(!Id::from_value(&json!(1.0)).is_legal());
        assert!(!Id::from_value(&json!(true)).is_legal());
        assert!(Id::from_value(&json!(null)).is_legal());
        assert!(Id::from_value(&json!("")).is_legal());
        assert!(Id::from_value(&json!(i64::MIN)).is_legal());
    }

    #[test]
    fn ids_are_shown_as_json() {
        assert_eq!(Id::Text("a\"b".into()).to_string(), r#""a\"b""#);
        assert_eq!(Id::Integer(-3).to_string(), "-3");
    }
}
