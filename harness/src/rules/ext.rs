//! EXT-04 to -07 and EXT-09: what the agent adds to the protocol.

use serde_json::{Map, Value};

use super::quote::{quote, quote_json};
use super::{Moment, Out, Payload, Rule};
use crate::hash::HashSet;
use crate::spec::{Later, Methods, Schema, Side};
use crate::wire::Message;

const META: &str = "EXT-04";
const MEMBERS: &str = "EXT-05";
const METHODS: &str = "EXT-06";
const ADVERTISED: &str = "EXT-07";
const TRACE: &str = "EXT-09";

/// So many own methods are told apart.
const REMEMBERED: usize = 100;

/// So many forms of payloads are remembered.
const REMEMBERED_FORMS: usize = 10_000;

/// Members in which a `_meta` is none of the protocol's: free-form values, and names that an agent chooses.
const FREE: [&str; 4] = ["rawInput", "rawOutput", "properties", "data"];

/// EXT-04 (docs/protocol/v1/extensibility.mdx#the-_meta-field): each `_meta` is an object or null. Payloads of own methods
/// and free-form values are not looked into.
///
/// EXT-05 (same section): no members of the agent's own in types of the protocol. Those known from drafts or later
/// revisions are noted. Nothing is said of an object that lacks a required member: its unknown member may be that one
/// under a wrong name, which is the schema's to tell.
///
/// EXT-06 (#custom-requests): methods are those that a client handles, or begin with an underscore. A draft fails unless
/// the client took part in it: `mcp/*` after an MCP server of the type `acp` was given.
///
/// EXT-07 (#advertising-custom-capabilities): an agent that calls own methods has `_meta` in its capabilities.
///
/// EXT-09 (#the-_meta-field): `traceparent`, `tracestate` and `baggage` have the form of W3C Trace Context and Baggage.
#[derive(Default)]
pub(super) struct Extensions {
    /// Whether the client gave an MCP server that is reached over ACP.
    mcp_over_acp: bool,
    own: HashSet<String>,
    /// Forms of payloads in which nothing unknown was found: most messages look like one before.
    clean: HashSet<u64>,
}

impl Rule for Extensions {
    fn judges(&self) -> &'static [&'static str] {
        &[META, MEMBERS, METHODS, ADVERTISED, TRACE]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if let Some(message) = moment.client_message() {
            self.mcp_over_acp |= gives_mcp_over_acp(message);
            return;
        }
        let Some(message) = moment.agent_message() else {
            return;
        };
        let payload = moment.payload();
        if let Some(payload) = payload {
            self.members(moment, &payload, out);
        } else if !moment.talk.is_version_one() {
            return;
        }
        metas(moment, message, out);
        if let Some(method) = message.method() {
            self.method(moment, method, out);
        }
    }
}

impl Extensions {
    fn members(&mut self, moment: &Moment<'_>, payload: &Payload<'_>, out: &mut Out<'_>) {
        let Some(value) = payload.value else {
            return;
        };
        let form = moment.form();
        if self.clean.contains(&form) {
            out.pass(MEMBERS);
            return;
        }
        let extras = Schema::v1().extra_members(payload.definition, value);
        if extras.is_empty() && self.clean.len() < REMEMBERED_FORMS {
            self.clean.insert(form);
        }
        let mut clean = true;
        for extra in extras {
            let path = format!("{}{}", payload.member, extra.path);
            let message = format!(
                "the type {} has no member {}",
                extra.owner_type,
                quote(&extra.name)
            );
            if let Some(later) = extra.later {
                out.note(
                    MEMBERS,
                    moment.at(path),
                    format!("{message} yet (known from {later})"),
                );
            } else if !lacks_a_member(moment, &path) {
                clean = false;
                out.fail(
                    MEMBERS,
                    moment.at(path),
                    format!("{message}, and own data belongs in `_meta`"),
                );
            }
        }
        if clean {
            out.pass(MEMBERS);
        }
    }

    fn method(&mut self, moment: &Moment<'_>, method: &str, out: &mut Out<'_>) {
        let known = Methods::v1()
            .get(method)
            .is_some_and(|known| known.called_by(Side::Agent));
        if known {
            out.pass(METHODS);
            return;
        }
        if method.starts_with('_') {
            out.pass(METHODS);
            if self.own.len() < REMEMBERED && self.own.insert(method.to_owned()) {
                advertised(moment, method, out);
            }
            return;
        }
        let draft = Later::v1()
            .method(method)
            .filter(|draft| draft.handlers.contains(&Side::Client));
        match draft {
            Some(draft) if self.mcp_over_acp && method.starts_with("mcp/") => out.note(
                METHODS,
                moment.at("/method"),
                format!(
                    "{} is a draft ({}) that the client takes part in",
                    quote(method),
                    draft.from
                ),
            ),
            Some(_) if !moment.talk.whole && method.starts_with("mcp/") => out.inconclusive(
                METHODS,
                "whether the client takes part in a draft may stand in what is not in the recording",
            ),
            Some(draft) => out.fail(
                METHODS,
                moment.at("/method"),
                format!(
                    "{} is no method of version 1 but of a draft ({}) that the client did not opt into",
                    quote(method),
                    draft.from
                ),
            ),
            None => out.fail(
                METHODS,
                moment.at("/method"),
                format!(
                    "{} is no method that clients handle, and own methods begin with an underscore",
                    quote(method)
                ),
            ),
        }
    }
}

fn advertised(moment: &Moment<'_>, method: &str, out: &mut Out<'_>) {
    match moment.talk.agent_capabilities() {
        None => out.inconclusive(ADVERTISED, "the handshake was not seen"),
        Some(capabilities) => out.check(
            ADVERTISED,
            holds_meta(capabilities),
            moment.at("/method"),
            || {
                format!(
                    "the own method {} is called, and no `_meta` in `agentCapabilities` advertises it",
                    quote(method)
                )
            },
        ),
    }
}

/// Whether an object in the capabilities has a `_meta` that holds something.
fn holds_meta(value: &Value) -> bool {
    value.as_object().is_some_and(|members| {
        members
            .iter()
            .any(|(name, value)| (name == "_meta" && value.is_object()) || holds_meta(value))
    })
}

fn gives_mcp_over_acp(message: &Message) -> bool {
    let servers = message
        .params()
        .and_then(|params| params.get("mcpServers")?.as_array());
    servers
        .into_iter()
        .flatten()
        .any(|server| server.get("type").and_then(Value::as_str) == Some("acp"))
}

/// Whether the object that holds this member lacks one that is required.
fn lacks_a_member(moment: &Moment<'_>, path: &str) -> bool {
    let object = path.rsplit_once('/').map_or("", |(object, _)| object);
    moment
        .violations()
        .iter()
        .any(|violation| violation.keyword == "required" && violation.path == object)
}

fn metas(moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
    let own = message
        .method()
        .or(moment.answers.map(|open| open.method.as_str()))
        .is_some_and(|method| method.starts_with('_'));
    let members = message.members();
    if own
        || !members
            .iter()
            .any(|(name, value)| name == "_meta" || mentions_meta(value))
    {
        return;
    }
    walk(members, &mut String::new(), &mut |path, meta| {
        out.check(
            META,
            meta.is_object() || meta.is_null(),
            moment.at(path),
            || {
                format!(
                    "`_meta` is {}, where an object or null is expected",
                    quote_json(meta)
                )
            },
        );
        for (name, is_sound) in [
            ("traceparent", is_traceparent as fn(&str) -> bool),
            ("tracestate", is_tracestate),
            ("baggage", is_baggage),
        ] {
            if let Some(value) = meta.get(name) {
                out.check(
                    TRACE,
                    value.as_str().is_some_and(is_sound),
                    moment.at(format!("{path}/{name}")),
                    || {
                        format!(
                            "`{name}` is {}, which is not the form that W3C gives it",
                            quote_json(value)
                        )
                    },
                );
            }
        }
    });
}

/// Whether a `_meta` is anywhere in the value; most messages have none.
fn mentions_meta(value: &Value) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name == "_meta" || mentions_meta(value)),
        Value::Array(items) => items.iter().any(mentions_meta),
        _ => false,
    }
}

/// Whether a member is none that the protocol gives a type: a free-form value, or a map with names of the agent's choice.
fn is_free(name: &str, value: &Value) -> bool {
    FREE.contains(&name) || (name == "env" && value.is_object())
}

/// Gives each `_meta` of the protocol's own with its path.
fn walk(members: &Map<String, Value>, path: &mut String, give: &mut impl FnMut(&str, &Value)) {
    for (name, value) in members {
        let length = path.len();
        path.push('/');
        path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        if name == "_meta" {
            give(path, value);
        } else if !is_free(name, value) {
            match value {
                Value::Object(members) => walk(members, path, give),
                Value::Array(items) => {
                    let length = path.len();
                    for (index, item) in items.iter().enumerate() {
                        if let Value::Object(members) = item {
                            path.push_str(&format!("/{index}"));
                            walk(members, path, give);
                            path.truncate(length);
                        }
                    }
                }
                _ => {}
            }
        }
        path.truncate(length);
    }
}

/// `00-<32 hex>-<16 hex>-<2 hex>`, in lower case and not all zeros; a later version may say more after that.
fn is_traceparent(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut hex = |length: usize| {
        parts.next().filter(|part| {
            part.len() == length
                && part
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
    };
    let (Some(version), Some(trace), Some(parent), Some(_)) = (hex(2), hex(32), hex(16), hex(2))
    else {
        return false;
    };
    let zeros = |part: &str| part.bytes().all(|byte| byte == b'0');
    version != "ff"
        && !zeros(trace)
        && !zeros(parent)
        && (version != "00" || parts.next().is_none())
}

/// A list of `key=value`, of 32 members at most.
fn is_tracestate(text: &str) -> bool {
    let is_key = |key: &str| {
        let first = key.bytes().next();
        first.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && key.len() <= 256
            && key.bytes().all(
                |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@'),
            )
    };
    let is_value = |value: &str| {
        !value.is_empty()
            && value.len() <= 256
            && value
                .bytes()
                .all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'='))
    };
    let mut members = text
        .split(',')
        .map(str::trim)
        .filter(|member| !member.is_empty());
    members.by_ref().take(32).all(|member| {
        member
            .split_once('=')
            .is_some_and(|(key, value)| is_key(key) && is_value(value))
    }) && members.next().is_none()
}

/// A list of `key=value`, each with properties behind `;`.
fn is_baggage(text: &str) -> bool {
    let is_token = |token: &str| {
        !token.is_empty()
            && token
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let is_value = |value: &str| {
        value
            .bytes()
            .all(|byte| matches!(byte, b'!'..=b'~') && !matches!(byte, b'"' | b',' | b';' | b'\\'))
    };
    let is_pair = |pair: &str| {
        pair.split_once('=')
            .is_some_and(|(key, value)| is_token(key.trim()) && is_value(value.trim()))
    };
    text.split(',').all(|member| {
        let mut parts = member.split(';');
        parts.next().is_some_and(is_pair)
            && parts.all(|property| is_token(property.trim()) || is_pair(property))
    })
}

#[cfg(test)]
mod tests;
