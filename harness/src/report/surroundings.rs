//! What was around the agent in a run, so that a report says what it could reach.

use std::collections::BTreeMap;

use super::document::Around;
use crate::agent::{Environment, Home, Variables};

/// What was around the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Which home folder it had.
    pub home: Home,
    /// Whether it had the scripted model.
    pub scripted_model: bool,
    /// Whether the user's own variables passed (`--env-all`).
    pub all: bool,
    /// The user's variables of real models that it got, by name, with the flag that handed each over.
    pub handed_over: BTreeMap<String, &'static str>,
}

impl Surroundings {
    /// What an environment is, for a user with these variables.
    #[must_use]
    pub fn of(environment: &Environment, user: &Variables) -> Self {
        Self {
            home: environment.home,
            scripted_model: environment.model.is_some(),
            all: environment.all,
            handed_over: environment.handed_over(user),
        }
    }

    /// The word for the home folder in a report.
    pub(super) const fn home_word(&self) -> &'static str {
        match self.home {
            Home::Fresh => "fresh",
            Home::Keep => "keep",
        }
    }

    /// One line for people.
    #[must_use]
    pub fn in_words(&self) -> String {
        let home = match self.home {
            Home::Fresh => "a fresh home",
            Home::Keep => "your own home",
        };
        let model = match self.scripted_model {
            true => "the scripted model",
            false => "no model of the harness",
        };
        let variables = match self.all {
            true => "all of your variables that lead to no model",
            false => "few of your variables",
        };
        let keys: Vec<String> = self
            .handed_over
            .iter()
            .map(|(name, by)| format!("{name} ({by})"))
            .collect();
        match keys.as_slice() {
            [] => format!("the agent had {home}, {model}, {variables}, none of your keys"),
            keys => format!(
                "the agent had {home}, {model}, {variables}, and what you handed over: {}",
                keys.join(", ")
            ),
        }
    }
}

impl From<&Around> for Surroundings {
    /// What a report says was around the agent.
    fn from(around: &Around) -> Self {
        let flag = |by: &str| match by {
            "--env-all" => "--env-all",
            _ => "--env",
        };
        Self {
            home: match around.home.as_str() {
                "keep" => Home::Keep,
                _ => Home::Fresh,
            },
            scripted_model: around.model == "scripted",
            all: around.env_all,
            handed_over: around
                .handed_over
                .iter()
                .map(|it| (it.name.clone(), flag(&it.by)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_with_the_flag_that_handed_them_over() {
        let mut surroundings = Surroundings {
            home: Home::Fresh,
            scripted_model: true,
            all: false,
            handed_over: BTreeMap::new(),
        };
        assert_eq!(
            surroundings.in_words(),
            "the agent had a fresh home, the scripted model, few of your variables, none of your keys"
        );
        surroundings
            .handed_over
            .insert("OPENAI_API_KEY".to_owned(), "--env");
        surroundings.home = Home::Keep;
        assert_eq!(
            surroundings.in_words(),
            "the agent had your own home, the scripted model, few of your variables, and what you handed over: OPENAI_API_KEY (--env)"
        );
    }
}
