//! The families of model interfaces: those that one vendor's clients speak, with one base URL for all of them.

/// A family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Chat completions and responses.
    OpenAi,
    /// Messages.
    Anthropic,
    /// `generateContent`.
    Gemini,
}

/// What is to be known of a family.
struct Row {
    family: Family,
    name: &'static str,
    /// How the names of its variables begin.
    variables: &'static [&'static str],
    /// The path at the end of the base URL that these variables hold.
    root: &'static str,
}

const FAMILIES: &[Row] = &[
    Row {
        family: Family::OpenAi,
        name: "openai",
        variables: &["OPENAI_"],
        root: "/v1",
    },
    Row {
        family: Family::Anthropic,
        name: "anthropic",
        variables: &["ANTHROPIC_"],
        root: "",
    },
    Row {
        family: Family::Gemini,
        name: "gemini",
        variables: &["GOOGLE_GEMINI_", "GEMINI_", "GOOGLE_GENAI_"],
        root: "",
    },
];

impl Family {
    /// The family of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let row = FAMILIES.iter().find(|row| row.name == name);
        row.map(|row| row.family)
    }

    /// The names of all of them.
    pub(super) fn names() -> Vec<&'static str> {
        FAMILIES.iter().map(|row| row.name).collect()
    }

    /// The family to which a variable leads.
    pub(super) fn of_variable(variable: &str) -> Option<Self> {
        let begins = |row: &&Row| row.variables.iter().any(|it| variable.starts_with(it));
        FAMILIES.iter().find(begins).map(|row| row.family)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// The path at the end of its base URL.
    pub(super) fn root(self) -> &'static str {
        self.row().map_or("", |row| row.root)
    }

    fn row(self) -> Option<&'static Row> {
        FAMILIES.iter().find(|row| row.family == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_has_a_row_and_is_found_by_its_variables() {
        for name in Family::names() {
            assert_eq!(Family::named(name).unwrap().name(), name);
        }
        assert_eq!(Family::of_variable("GEMINI_API_KEY"), Some(Family::Gemini));
        assert_eq!(Family::of_variable("PATH"), None);
    }
}
