//! The variables by which agents and client packages find a model server.

use std::collections::BTreeMap;

/// The key that agents get: it says what it is, and opens nothing.
const KEY: &str = "sk-harness-no-real-key";

/// What a variable holds.
#[derive(Clone, Copy, Debug)]
enum Holds {
    /// The address of the server, to which clients add the version and the rest of the path.
    Root,
    /// The address with the version of the interface.
    Version(&'static str),
    /// The key.
    Key,
}

/// All variables that are set, by family.
///
/// Left out are those that do harm beside these: `ANTHROPIC_AUTH_TOKEN` (with a key as well, agents warn of two ways to
/// log in, or take the token for a subscription), `GOOGLE_API_KEY` (with `GEMINI_API_KEY` as well, the client package
/// warns on every start, and agents take it for Vertex AI), `GOOGLE_GENERATIVE_AI_API_KEY` (no variable for an address
/// goes with it, so that the key would be tried on the real server), and names of models, which agents have rules about.
const VARIABLES: &[(&str, Holds)] = &[
    // The client packages, and most agents.
    ("OPENAI_BASE_URL", Holds::Version("/v1")),
    // The client package of earlier days, and what was built on it.
    ("OPENAI_API_BASE", Holds::Version("/v1")),
    // Agents that name the server and the path apart.
    ("OPENAI_HOST", Holds::Root),
    ("OPENAI_API_KEY", Holds::Key),
    ("ANTHROPIC_BASE_URL", Holds::Root),
    ("ANTHROPIC_HOST", Holds::Root),
    ("ANTHROPIC_API_KEY", Holds::Key),
    ("GOOGLE_GEMINI_BASE_URL", Holds::Root),
    ("GEMINI_API_KEY", Holds::Key),
];

/// The variables by which an agent finds a model server at `address`, such as `http://127.0.0.1:4000`, and the key that
/// opens nothing.
pub(crate) fn environment(address: &str) -> BTreeMap<String, String> {
    let rows = VARIABLES.iter().map(|(name, holds)| {
        let value = match holds {
            Holds::Root => address.to_owned(),
            Holds::Version(version) => format!("{address}{version}"),
            Holds::Key => KEY.to_owned(),
        };
        ((*name).to_owned(), value)
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_the_server_and_keys_open_nothing() {
        let variables = environment("http://127.0.0.1:9");
        assert_eq!(variables["OPENAI_BASE_URL"], "http://127.0.0.1:9/v1");
        assert_eq!(variables["ANTHROPIC_BASE_URL"], "http://127.0.0.1:9");
        for (name, value) in &variables {
            let is_address = value.starts_with("http://127.0.0.1:9");
            assert!(is_address || value == KEY, "{name}={value}");
        }
        // Two keys of one family make agents and client packages warn.
        assert!(!variables.contains_key("GOOGLE_API_KEY"));
        assert!(!variables.contains_key("ANTHROPIC_AUTH_TOKEN"));
    }
}
