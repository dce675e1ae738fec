//! What a profile writes in braces because it is known only when a run begins.

/// What stands for `{home}`, `{cwd}` and `{model}` in values and files of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholders {
    /// The agent's home.
    pub home: String,
    /// The session's folder.
    pub cwd: String,
    /// The address of the scripted model, if there is one.
    pub model: Option<String>,
}

impl Placeholders {
    /// Puts the values in. `None` where `{model}` is asked for and there is no scripted model. Any other text in braces
    /// stays, and what a value puts in is not looked at again.
    pub fn fill(&self, text: &str) -> Option<String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let (value, tail) = if let Some(tail) = after.strip_prefix("home}") {
                (self.home.as_str(), tail)
            } else if let Some(tail) = after.strip_prefix("cwd}") {
                (self.cwd.as_str(), tail)
            } else if let Some(tail) = after.strip_prefix("model}") {
                (self.model.as_deref()?, tail)
            } else {
                ("{", after)
            };
            filled.push_str(value);
            rest = tail;
        }
        filled.push_str(rest);
        Some(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once_and_other_braces_stay() {
        let placeholders = Placeholders {
            home: "/h{cwd}".into(),
            cwd: "/c".into(),
            model: None,
        };
        let filled = placeholders.fill(r#"{"a":"{home}","b":{x},"c":"{cwd}"} {"#);
        assert_eq!(filled.unwrap(), r#"{"a":"/h{cwd}","b":{x},"c":"/c"} {"#);
        assert_eq!(placeholders.fill("{home} {model}"), None);
    }
}
