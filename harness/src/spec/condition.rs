//! Preconditions of requirements: the `when` grammar of the catalogue and its evaluation.
//!
//! A condition is a list of clauses joined by ` & `; the empty text always holds. A clause names a
//! member below one of four roots and holds when that member is on; a leading `!` turns it round.
//! A boolean is on when true and an object when it is there; absent, null and false are off.

use std::fmt;

use serde_json::Value;
use thiserror::Error;

/// A precondition such as `agentCapabilities.loadSession & sessionResult.modes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    clauses: Vec<Clause>,
}

/// One part of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Clause {
    negated: bool,
    root: Root,
    /// Members below the root, outermost first; empty for `initialize.authMethods`.
    path: Vec<String>,
}

/// Where the member of a clause is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// Member of the initialize result.
    AgentCapabilities,
    /// Member of the initialize parameters.
    ClientCapabilities,
    /// The list of the initialize result; on when it has an entry.
    AuthMethods,
    /// Member of any result of session/new, session/load or session/resume.
    SessionResult,
}

impl Root {
    const fn name(self) -> &'static str {
        match self {
            Self::AgentCapabilities => "agentCapabilities",
            Self::ClientCapabilities => "clientCapabilities",
            Self::AuthMethods => "initialize.authMethods",
            Self::SessionResult => "sessionResult",
        }
    }
}

/// What is known of a connection when a condition is evaluated.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Whether a successful answer to `initialize` was seen. Without it what the agent offers is
    /// unknown; with it a member that is `None` below is known to be absent.
    pub initialized: bool,
    /// `agentCapabilities` of the initialize result.
    pub agent_capabilities: Option<&'a Value>,
    /// `clientCapabilities` of the initialize parameters.
    pub client_capabilities: Option<&'a Value>,
    /// `authMethods` of the initialize result.
    pub auth_methods: Option<&'a Value>,
    /// Whether a result of session/new, session/load or session/resume held this member, not null.
    pub session_result_has: &'a dyn Fn(&str) -> bool,
}

/// What an evaluation gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Truth {
    /// Every clause holds.
    Holds,
    /// A clause does not hold; named in words, such as `agentCapabilities.loadSession is off`.
    Fails(String),
    /// The handshake was not seen, so it cannot be said.
    Unknown,
}

/// A `when` that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("condition {text:?}: clause {clause:?} {problem}")]
pub struct ConditionError {
    text: String,
    clause: String,
    problem: &'static str,
}

impl Condition {
    /// Reads the `when` of a catalogue entry.
    ///
    /// # Errors
    ///
    /// Names the clause whose root is unknown or whose member is missing.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        if text.is_empty() {
            return Ok(Self {
                clauses: Vec::new(),
            });
        }
        let clauses = text
            .split(" & ")
            .map(|clause| {
                Clause::parse(clause).map_err(|problem| ConditionError {
                    text: text.to_owned(),
                    clause: clause.to_owned(),
                    problem,
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { clauses })
    }

    /// Whether the condition always holds.
    #[must_use]
    pub fn is_always(&self) -> bool {
        self.clauses.is_empty()
    }

    /// Evaluates against what is known. A clause that fails outweighs one that is unknown.
    #[must_use]
    pub fn evaluate(&self, facts: &Facts<'_>) -> Truth {
        let mut unknown = false;
        for clause in &self.clauses {
            match clause.evaluate(facts) {
                Truth::Holds => {}
                Truth::Fails(why) => return Truth::Fails(why),
                Truth::Unknown => unknown = true,
            }
        }
        if unknown {
            Truth::Unknown
        } else {
            Truth::Holds
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, clause) in self.clauses.iter().enumerate() {
            let joint = if index == 0 { "" } else { " & " };
            let sign = if clause.negated { "!" } else { "" };
            write!(out, "{joint}{sign}{}", clause.name())?;
        }
        Ok(())
    }
}

impl Clause {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let (negated, name) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut parts = name.split('.');
        let root = match parts.next() {
            Some("agentCapabilities") => Root::AgentCapabilities,
            Some("clientCapabilities") => Root::ClientCapabilities,
            Some("sessionResult") => Root::SessionResult,
            Some("initialize") if parts.next() == Some("authMethods") => Root::AuthMethods,
            _ => {
                return Err(
                    "has none of the roots agentCapabilities, clientCapabilities, initialize.authMethods, sessionResult",
                );
            }
        };
        let path: Vec<String> = parts.map(str::to_owned).collect();
        if path
            .iter()
            .any(|part| part.is_empty() || part.contains(char::is_whitespace))
        {
            return Err("has an empty member or white space in it");
        }
        let fits = match root {
            Root::AgentCapabilities | Root::ClientCapabilities => !path.is_empty(),
            Root::AuthMethods => path.is_empty(),
            Root::SessionResult => path.len() == 1,
        };
        if !fits {
            return Err("names too few or too many members below its root");
        }
        Ok(Self {
            negated,
            root,
            path,
        })
    }

    fn evaluate(&self, facts: &Facts<'_>) -> Truth {
        let Some(on) = self.is_on(facts) else {
            return Truth::Unknown;
        };
        if on != self.negated {
            return Truth::Holds;
        }
        let name = self.name();
        Truth::Fails(match (self.root, on) {
            (Root::AuthMethods, true) => format!("{name} has an entry"),
            (Root::AuthMethods, false) => format!("{name} is empty"),
            (Root::SessionResult, true) => format!("a session result has `{}`", self.path.concat()),
            (Root::SessionResult, false) => {
                format!("no session result has `{}`", self.path.concat())
            }
            (_, true) => format!("{name} is on"),
            (_, false) => format!("{name} is off"),
        })
    }

    fn is_on(&self, facts: &Facts<'_>) -> Option<bool> {
        // The client's half is known as soon as its request was seen, answered or not.
        let known = facts.initialized
            || (self.root == Root::ClientCapabilities && facts.client_capabilities.is_some());
        if !known {
            return None;
        }
        Some(match self.root {
            Root::AgentCapabilities => member_is_on(facts.agent_capabilities, &self.path),
            Root::ClientCapabilities => member_is_on(facts.client_capabilities, &self.path),
            Root::AuthMethods => facts
                .auth_methods
                .and_then(Value::as_array)
                .is_some_and(|methods| !methods.is_empty()),
            Root::SessionResult => self
                .path
                .first()
                .is_some_and(|member| (facts.session_result_has)(member)),
        })
    }

    fn name(&self) -> String {
        let mut name = self.root.name().to_owned();
        for part in &self.path {
            name.push('.');
            name.push_str(part);
        }
        name
    }
}

/// Whether the member at `path` below `root` is on. A value of another type than boolean or object
/// is off: readers of the protocol replace it by the default.
fn member_is_on(root: Option<&Value>, path: &[String]) -> bool {
    let found = root.and_then(|root| path.iter().try_fold(root, |value, part| value.get(part)));
    matches!(found, Some(Value::Bool(true) | Value::Object(_)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn judge(condition: &str, agent: &Value, client: &Value) -> Truth {
        Condition::parse(condition).unwrap().evaluate(&Facts {
            initialized: true,
            agent_capabilities: Some(agent),
            client_capabilities: Some(client),
            auth_methods: None,
            session_result_has: &|member| member == "modes",
        })
    }

    #[test]
    fn a_boolean_is_on_when_true_and_an_object_when_it_is_there() {
        let none = json!({});
        for on in [json!(true), json!({})] {
            let agent = json!({"sessionCapabilities": {"list": on}});
            assert_eq!(
                judge("agentCapabilities.sessionCapabilities.list", &agent, &none),
                Truth::Holds
            );
        }
        for off in [json!(false), json!(null), json!("yes"), json!(1), json!([])] {
            let agent = json!({"loadSession": off});
            assert_eq!(
                judge("agentCapabilities.loadSession", &agent, &none),
                Truth::Fails("agentCapabilities.loadSession is off".to_owned())
            );
        }
    }

    #[test]
    fn a_negated_clause_fails_when_the_member_is_on() {
        let client = json!({"terminal": true});
        assert_eq!(
            judge("!clientCapabilities.terminal", &json!({}), &client),
            Truth::Fails("clientCapabilities.terminal is on".to_owned())
        );
        assert_eq!(
            judge("!clientCapabilities.terminal", &json!({}), &json!(null)),
            Truth::Holds
        );
    }

    #[test]
    fn every_clause_of_a_join_must_hold() {
        let agent = json!({"auth": {"logout": {}}});
        let both = "agentCapabilities.auth.logout & sessionResult.modes";
        assert_eq!(judge(both, &agent, &json!({})), Truth::Holds);
        assert_eq!(
            judge(
                "agentCapabilities.auth.logout & sessionResult.configOptions",
                &agent,
                &json!({})
            ),
            Truth::Fails("no session result has `configOptions`".to_owned())
        );
    }

    #[test]
    fn an_empty_list_of_ways_to_log_in_is_off() {
        let condition = Condition::parse("initialize.authMethods").unwrap();
        let judge = |methods: Option<&Value>| {
            condition.evaluate(&Facts {
                initialized: true,
                agent_capabilities: None,
                client_capabilities: None,
                auth_methods: methods,
                session_result_has: &|_| false,
            })
        };
        let empty = Truth::Fails("initialize.authMethods is empty".to_owned());
        assert_eq!(judge(None), empty);
        assert_eq!(judge(Some(&json!([]))), empty);
        assert_eq!(
            judge(Some(&json!([{"id": "key", "name": "Key"}]))),
            Truth::Holds
        );
    }

    #[test]
    fn without_a_handshake_only_the_request_of_the_client_is_known() {
        let client = json!({"terminal": true});
        let facts = Facts {
            initialized: false,
            agent_capabilities: None,
            client_capabilities: Some(&client),
            auth_methods: None,
            session_result_has: &|_| false,
        };
        let judge = |text: &str| Condition::parse(text).unwrap().evaluate(&facts);
        assert_eq!(judge(""), Truth::Holds);
        assert_eq!(judge("agentCapabilities.loadSession"), Truth::Unknown);
        assert_eq!(judge("sessionResult.modes"), Truth::Unknown);
        assert_eq!(judge("clientCapabilities.terminal"), Truth::Holds);
        assert_eq!(
            judge("agentCapabilities.loadSession & !clientCapabilities.terminal"),
            Truth::Fails("clientCapabilities.terminal is on".to_owned())
        );
    }

    #[test]
    fn a_condition_prints_as_it_was_written() {
        let text = "clientCapabilities.session.configOptions.boolean & !sessionResult.modes & initialize.authMethods";
        assert_eq!(Condition::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn a_clause_that_cannot_be_read_is_quoted() {
        for (text, clause) in [
            (
                "agentCapabilites.loadSession",
                "agentCapabilites.loadSession",
            ),
            ("agentCapabilities", "agentCapabilities"),
            (
                "sessionResult.modes & sessionResult.a.b",
                "sessionResult.a.b",
            ),
            ("initialize.protocolVersion", "initialize.protocolVersion"),
            (
                "agentCapabilities.loadSession  & sessionResult.modes",
                "agentCapabilities.loadSession ",
            ),
            ("agentCapabilities..x", "agentCapabilities..x"),
        ] {
            let error = Condition::parse(text).unwrap_err().to_string();
            assert!(error.contains(&format!("clause {clause:?}")), "{error}");
        }
    }
}
