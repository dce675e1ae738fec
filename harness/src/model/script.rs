//! What the scripted model replies, turn by turn, as it stands under `[[model]]` in a scenario.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The replies of one scenario, in order. A request beyond the last one is answered with [`FALLBACK`].
pub type Script = Vec<Reply>;

/// What the model says when it is asked more often than the script foresees.
pub const FALLBACK: &str = "Done.";

/// The kinds of calls that are mapped to the agent's tools, as ACP names them; and `ask`, which asks the user.
pub const KINDS: [&str; 7] = [
    "execute", "read", "edit", "delete", "search", "fetch", "ask",
];

/// One reply of the model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The session that the reply is for, by the name that the steps have for it; for any session if absent.
    #[serde(default)]
    pub session: Option<String>,
    /// Reasoning text before anything else.
    #[serde(default)]
    pub think: Option<Text>,
    /// Text; a list is sent in exactly these chunks.
    #[serde(default)]
    pub say: Option<Text>,
    /// Tool calls after the text; several are sent as parallel calls of one reply.
    #[serde(default)]
    pub call: Option<Calls>,
    /// Keep the stream open after the text (before calls and end) until a step releases it or the agent hangs up.
    #[serde(default)]
    pub hold: bool,
    /// Milliseconds to wait before the first byte.
    #[serde(default)]
    pub wait: Option<u64>,
    /// Fail instead of replying, or (`cut`) after the text; `cut` sends no calls.
    #[serde(default)]
    pub fail: Option<Failure>,
    /// Refuse in these words, after the text and in place of calls.
    #[serde(default)]
    pub refuse: Option<String>,
    /// End for another reason than the usual one.
    #[serde(default)]
    pub stop: Option<Stop>,
    /// Token counts to report; small fixed ones if absent.
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// Why a reply ends, where the script says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// It became as long as a reply may be.
    Length,
}

/// A text, whole or in given chunks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
pub enum Text {
    /// One text, cut into a few chunks as the server likes.
    Whole(String),
    /// Exactly these chunks.
    Chunks(Vec<String>),
}

/// One call or several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a call or a list of calls, each with `kind` and what it needs (`command`, `path`, `content`, `url`, …), or with `tool` and `arguments`"
)]
#[expect(
    clippy::large_enum_variant,
    reason = "a script has a handful of them, and one call is the usual case"
)]
pub enum Calls {
    /// One call.
    One(Call),
    /// Several calls in one reply.
    Many(Vec<Call>),
}

/// A tool call, by its meaning or by the tool's own name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Call {
    /// The ACP kind, one of [`KINDS`]; mapped to a tool that the agent offers in its request.
    pub kind: Option<String>,
    /// For `execute`: the command line.
    pub command: Option<String>,
    /// For `read`, `edit` and `delete`, and where to look for `search`: the path, relative to the session's folder or
    /// absolute.
    pub path: Option<String>,
    /// For `edit`: the whole new content,
    pub content: Option<String>,
    /// or the text that is replaced
    pub old: Option<String>,
    /// by this one.
    pub new: Option<String>,
    /// For `search`: what is looked for.
    pub pattern: Option<String>,
    /// For `ask`: the question.
    pub question: Option<String>,
    /// For `fetch`: the address; for `ask`: the page that the question is about, if any.
    pub url: Option<String>,
    /// The agent's own tool by name, instead of `kind`.
    pub tool: Option<String>,
    /// A tool of an MCP server, `TOOL` or `SERVER/TOOL`, instead of `kind`; found among the agent's tools by its name.
    pub mcp: Option<String>,
    /// The arguments for `tool` and `mcp`.
    pub arguments: Map<String, Value>,
    /// The call that is made where the agent has no tool for this one.
    pub or: Option<Box<Call>>,
}

/// How a reply fails.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected \"cut\", \"refused\", \"rate_limit\", \"overloaded\", \"context\" or { status = NUMBER, message = TEXT }"
)]
pub enum Failure {
    /// By a word.
    Named(NamedFailure),
    /// An HTTP error status with the interface's own error body, instead of anything else. A retry of the same
    /// request gets the same failure again and uses up no reply.
    Status {
        /// The status, such as 429.
        status: u16,
        /// The error's message; a usual one if absent.
        #[serde(default)]
        message: Option<String>,
    },
}

/// Failures without parameters.
///
/// `refused` lasts from the prompt it is meant for (or from the tool call of the reply before it) until the next
/// prompt is sent or a step releases it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedFailure {
    /// The stream breaks off after the text.
    Cut,
    /// The connection is refused.
    Refused,
    /// Too many requests, with advice when to try again, as the interface says it.
    RateLimit,
    /// The model has too much to do, as the interface says it.
    Overloaded,
    /// The conversation is longer than the model can read, as the interface says it.
    Context,
}

/// Token counts of one reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
}

impl Reply {
    /// What is wrong with this reply, though its form is right: one sentence for the scenario's author.
    pub fn problem(&self) -> Option<String> {
        if let Some(Failure::Status { status, .. }) = &self.fail
            && !(400..=599).contains(status)
        {
            return Some(format!(
                "`fail` has status {status}, expected an error status from 400 to 599"
            ));
        }
        if self.refuse.is_some() && self.call.is_some() {
            return Some("a reply has both `refuse` and `call`, expected one of them".into());
        }
        match &self.call {
            None => None,
            Some(Calls::One(call)) => call.problem(),
            Some(Calls::Many(calls)) => calls.iter().find_map(Call::problem),
        }
    }
}

impl Call {
    /// What is wrong with this call, though its form is right: one sentence for the scenario's author.
    pub fn problem(&self) -> Option<String> {
        let kind = match (&self.kind, &self.tool, &self.mcp) {
            (Some(kind), None, None) => kind.as_str(),
            (None, Some(_), None) | (None, None, Some(_)) => return None,
            (None, None, None) => {
                return Some(
                    "a call has neither `kind` nor `tool` nor `mcp`, expected one of them".into(),
                );
            }
            (kind, tool, mcp) => {
                let named = [("kind", kind), ("tool", tool), ("mcp", mcp)];
                let named = named
                    .into_iter()
                    .filter_map(|(key, value)| Some(format!("{key} `{}`", value.as_ref()?)));
                return Some(format!(
                    "a call has both {}, expected one of them",
                    named.collect::<Vec<_>>().join(" and ")
                ));
            }
        };
        if !KINDS.contains(&kind) {
            let kinds = KINDS.map(|kind| format!("`{kind}`")).join(", ");
            return Some(format!(
                "a call has kind `{kind}`, expected one of {kinds}; name any other tool with `tool`"
            ));
        }
        let both = self.old.is_some() && self.new.is_some();
        let missing = match kind {
            "execute" => self.command.is_none().then_some("`command`"),
            "read" | "delete" => self.path.is_none().then_some("`path`"),
            "edit" if self.path.is_none() => Some("`path`"),
            "edit" if self.content.is_none() && !both => Some("`content`, or `old` and `new`"),
            "search" => self.pattern.is_none().then_some("`pattern`"),
            "fetch" => self.url.is_none().then_some("`url`"),
            "ask" => self.question.is_none().then_some("`question`"),
            _ => None,
        };
        match missing {
            Some(missing) => Some(format!("a call of kind `{kind}` needs {missing}")),
            None => self.or.as_ref().and_then(|other| other.problem()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(toml: &str) -> Result<Reply, String> {
        toml::from_str(toml).map_err(|error| error.to_string())
    }

    #[test]
    fn every_member_is_read() {
        let reply = reply(
            "think = \"t\"\nsay = [\"a\", \"b\"]\nhold = true\nwait = 5\nfail = \"cut\"\n\
             usage = { input = 1, output = 2 }\ncall = [{ tool = \"x\", arguments = { a = 1 } }]",
        )
        .unwrap();
        assert_eq!(reply.think, Some(Text::Whole("t".into())));
        assert_eq!(reply.say, Some(Text::Chunks(vec!["a".into(), "b".into()])));
        assert_eq!(reply.fail, Some(Failure::Named(NamedFailure::Cut)));
        assert!(matches!(&reply.call, Some(Calls::Many(calls)) if calls.len() == 1));
        assert_eq!(reply.problem(), None);
    }

    #[test]
    fn wrong_forms_are_refused_with_what_is_expected() {
        for (toml, part) in [
            ("sya = \"x\"", "unknown field `sya`"),
            ("say = 1", "a text or a list of texts"),
            ("fail = \"brake\"", "\"cut\", \"refused\""),
            (
                "fail = { status = 500, mesage = \"x\" }",
                "\"cut\", \"refused\"",
            ),
            ("call = { kynd = \"read\" }", "a call or a list of calls"),
        ] {
            let error = reply(toml).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for (toml, part) in [
            ("fail = { status = 200 }", "status 200"),
            ("call = {}", "neither"),
            ("call = { kind = \"read\", tool = \"cat\" }", "both"),
            ("call = [{ kind = \"execute\" }]", "needs `command`"),
            (
                "call = { kind = \"edit\", path = \"x\" }",
                "needs `content`",
            ),
            ("call = { kind = \"fetch\" }", "needs `url`"),
            ("call = { kind = \"move\" }", "kind `move`"),
            (
                "call = { kind = \"edit\", path = \"x\", old = \"a\" }",
                "`old` and `new`",
            ),
            (
                "call = { kind = \"delete\", path = \"x\", or = {} }",
                "neither",
            ),
        ] {
            let problem = reply(toml).unwrap().problem().unwrap();
            assert!(problem.contains(part), "{problem}");
        }
    }
}
