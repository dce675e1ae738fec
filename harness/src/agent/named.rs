//! A variable that the user names by `--env`.

use thiserror::Error;

/// What `--env` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// `--env NAME=VALUE`.
    Set(String, String),
    /// `--env NAME`: the user's own value, if there is one.
    Pass(String),
}

/// Why the value of `--env` cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "`--env {0}` names no variable; write `--env NAME=VALUE`, or `--env NAME` for your own value"
)]
pub struct NamedError(String);

impl std::str::FromStr for Named {
    type Err = NamedError;

    fn from_str(text: &str) -> Result<Self, NamedError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        if name.is_empty() || text.contains('\0') {
            return Err(NamedError(text.to_owned()));
        }
        Ok(match value {
            Some(value) => Self::Set(name.to_owned(), value.to_owned()),
            None => Self::Pass(name.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_no_variable_is_refused() {
        assert_eq!("A=b=c".parse(), Ok(Named::Set("A".into(), "b=c".into())));
        assert_eq!("A=".parse(), Ok(Named::Set("A".into(), String::new())));
        assert!(
            "=x".parse::<Named>()
                .unwrap_err()
                .to_string()
                .contains("`--env =x`")
        );
        assert!("".parse::<Named>().is_err());
    }
}
