//! What is known beside the stable schema: drafts, later revisions of v1, and forms of version 2.
//!
//! Read from `harness/spec/acp-v1/later.toml`. Something on these lists is written down and not
//! failed (requirements UPDATE-01, EXT-05), except where a list says that it is of version 2 only
//! (INIT-05) or needs a capability of the client (UPDATE-02).

use std::sync::LazyLock;

use serde::Deserialize;
use thiserror::Error;

use super::condition::{Condition, ConditionError};
use super::methods::Side;
use crate::hash::{HashMap, HashSet};

/// Something of v1 that the stable schema does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The update kind, tag, member or method.
    pub name: String,
    /// Where it is known from, such as `draft; schema 1.20.0`.
    pub from: String,
}

/// A method of v1 that the stable schema does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaterMethod {
    /// The sides that handle it; the other side calls it.
    pub handlers: Vec<Side>,
    /// Where it is known from.
    pub from: String,
}

/// The lists.
#[derive(Debug, Clone)]
pub struct Later {
    kinds: HashMap<String, Entry>,
    gates: HashMap<String, Condition>,
    /// By type, then tag.
    forms: HashMap<String, HashMap<String, Entry>>,
    /// By type, then member.
    members: HashMap<String, HashMap<String, Entry>>,
    methods: HashMap<String, LaterMethod>,
    v2_methods: HashSet<String>,
    v2_kinds: HashSet<String>,
}

/// Lists that cannot be read.
#[derive(Debug, Error)]
pub enum LaterError {
    /// Broken TOML, or a missing or unknown key, with line and column.
    #[error("later.toml: {0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// A gate outside the grammar of conditions.
    #[error("later.toml: {0}")]
    Gate(#[from] ConditionError),
}

impl Later {
    /// The lists of protocol version 1.
    #[must_use]
    pub fn v1() -> &'static Self {
        static V1: LazyLock<Later> = LazyLock::new(|| {
            #[expect(
                clippy::expect_used,
                reason = "the file is built in, and the tests read it"
            )]
            Later::parse(include_str!("../../spec/acp-v1/later.toml"))
                .expect("the list that is built in can be read")
        });
        &V1
    }

    /// Reads the lists.
    ///
    /// # Errors
    ///
    /// Names the line and column, or the gate that cannot be read.
    pub fn parse(text: &str) -> Result<Self, LaterError> {
        let file: File = toml::from_str(text).map_err(Box::new)?;
        let mut later = Self {
            kinds: HashMap::default(),
            gates: HashMap::default(),
            forms: HashMap::default(),
            members: HashMap::default(),
            methods: HashMap::default(),
            v2_methods: file.v2.methods,
            v2_kinds: file.v2.kinds,
        };
        for kind in file.kind {
            later.kinds.extend(entries(kind.names, &kind.from));
        }
        for gate in file.gate {
            let when = Condition::parse(&gate.when)?;
            later
                .gates
                .extend(gate.kinds.into_iter().map(|kind| (kind, when.clone())));
        }
        for form in file.form {
            let of_type = later.forms.entry(form.r#type).or_default();
            of_type.extend(entries(form.tags, &form.from));
        }
        for member in file.member {
            let of_type = later.members.entry(member.r#type).or_default();
            of_type.extend(entries(member.names, &member.from));
        }
        for method in file.method {
            let known = LaterMethod {
                handlers: match method.handler {
                    Handler::Agent => vec![Side::Agent],
                    Handler::Client => vec![Side::Client],
                    Handler::Both => vec![Side::Agent, Side::Client],
                },
                from: method.from,
            };
            later
                .methods
                .extend(method.names.into_iter().map(|name| (name, known.clone())));
        }
        Ok(later)
    }

    /// An update kind of drafts or later revisions.
    #[must_use]
    pub fn kind(&self, kind: &str) -> Option<&Entry> {
        self.kinds.get(kind)
    }

    /// What the client must have advertised before this kind of update is sent, stable kinds included.
    #[must_use]
    pub fn gate(&self, kind: &str) -> Option<&Condition> {
        self.gates.get(kind)
    }

    /// A further form of a stable union: `owner` is the type, `tag` the value that tells the forms apart.
    #[must_use]
    pub fn form(&self, owner: &str, tag: &str) -> Option<&Entry> {
        self.forms.get(owner)?.get(tag)
    }

    /// A further member of a stable type.
    #[must_use]
    pub fn member(&self, owner: &str, name: &str) -> Option<&Entry> {
        self.members.get(owner)?.get(name)
    }

    /// A method of drafts or later revisions.
    #[must_use]
    pub fn method(&self, method: &str) -> Option<&LaterMethod> {
        self.methods.get(method)
    }

    /// Whether the method exists in version 2 only.
    #[must_use]
    pub fn is_v2_method(&self, method: &str) -> bool {
        self.v2_methods.contains(method)
    }

    /// Whether the update kind exists in version 2 only.
    #[must_use]
    pub fn is_v2_kind(&self, kind: &str) -> bool {
        self.v2_kinds.contains(kind)
    }
}

fn entries<'a>(
    names: Vec<String>,
    from: &'a str,
) -> impl Iterator<Item = (String, Entry)> + use<'a> {
    names.into_iter().map(move |name| {
        let entry = Entry {
            name: name.clone(),
            from: from.to_owned(),
        };
        (name, entry)
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Vec<KindTable>,
    gate: Vec<GateTable>,
    form: Vec<FormTable>,
    member: Vec<MemberTable>,
    method: Vec<MethodTable>,
    v2: V2Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindTable {
    names: Vec<String>,
    from: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GateTable {
    kinds: Vec<String>,
    when: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormTable {
    r#type: String,
    tags: Vec<String>,
    from: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberTable {
    r#type: String,
    names: Vec<String>,
    from: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodTable {
    names: Vec<String>,
    handler: Handler,
    from: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Handler {
    Agent,
    Client,
    Both,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct V2Table {
    methods: HashSet<String>,
    kinds: HashSet<String>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::methods::Methods;
    use super::super::schema::{Kind, Schema};
    use super::*;

    #[test]
    fn what_is_listed_as_later_is_not_stable() {
        let later = Later::v1();
        let schema = Schema::v1();
        for kind in later.kinds.keys() {
            assert!(matches!(schema.update_kind(kind), Kind::Later(_)), "{kind}");
        }
        for method in later.methods.keys() {
            assert!(Methods::v1().get(method).is_none(), "{method}");
        }
        for (owner, members) in &later.members {
            let declared = schema.definition(owner).unwrap().get("properties").unwrap();
            for name in members.keys() {
                assert!(declared.get(name).is_none(), "{owner}.{name}");
            }
        }
        for (owner, tags) in &later.forms {
            let union = schema.definition(owner).unwrap().to_string();
            for tag in tags.keys() {
                assert!(
                    !union.contains(&format!("\"const\":\"{tag}\"")),
                    "{owner} {tag}"
                );
            }
        }
    }

    #[test]
    fn what_is_of_version_two_is_neither_stable_nor_later() {
        let later = Later::v1();
        for kind in &later.v2_kinds {
            assert_eq!(Schema::v1().update_kind(kind), Kind::Unknown, "{kind}");
        }
        for method in &later.v2_methods {
            assert!(
                Methods::v1().get(method).is_none() && later.method(method).is_none(),
                "{method}"
            );
        }
        assert!(later.is_v2_kind("state_update") && !later.is_v2_kind("plan"));
        assert!(later.is_v2_method("auth/login") && !later.is_v2_method("authenticate"));
    }

    #[test]
    fn each_gate_is_of_a_kind_that_is_stable_or_later() {
        for kind in Later::v1().gates.keys() {
            assert_ne!(Schema::v1().update_kind(kind), Kind::Unknown, "{kind}");
        }
        assert_eq!(
            Later::v1().gate("plan_removed").unwrap().to_string(),
            "clientCapabilities.plan"
        );
        assert!(Later::v1().gate("tool_call").is_none());
    }

    #[test]
    fn a_method_names_the_sides_that_handle_it() {
        let later = Later::v1();
        assert_eq!(
            later.method("mcp/connect").unwrap().handlers,
            [Side::Client]
        );
        assert_eq!(
            later.method("mcp/message").unwrap().handlers,
            [Side::Agent, Side::Client]
        );
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let error = Later::parse("kinds = []").unwrap_err().to_string();
        assert!(
            error.contains("later.toml") && error.contains("kinds"),
            "{error}"
        );
    }
}
