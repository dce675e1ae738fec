//! One message on its way to canonical form: members in order, defaults left out, run-time values named.

use std::borrow::Cow;

use super::defaults::Defaults;
use super::folders::Folders;
use super::minted::{Minted, Reference, Scope};
use super::node::Node;
use super::volatility::{About, Volatility};
use crate::spec::{Identifier, Schema};
use crate::trace::Party;

/// A kind of message from one side, and what is done with it.
#[derive(Clone, Debug)]
pub(crate) struct MessageKind {
    /// Method; `session/update` with the kind of update; or `METHOD response`.
    pub(crate) name: String,
    pub(crate) about: About,
    params: Option<&'static str>,
    result: Option<&'static str>,
    null_result: bool,
}

impl MessageKind {
    /// A request or notification of this method.
    pub(crate) fn call(
        method: &str,
        update: Option<&str>,
        from: Party,
        volatility: &Volatility,
    ) -> Self {
        let name = match update {
            Some(update) => format!("{method} {update}"),
            None => method.to_owned(),
        };
        Self {
            about: volatility.about(&name, from),
            name,
            params: Defaults::params_of(method),
            result: None,
            null_result: false,
        }
    }

    /// A response to a request of this method.
    pub(crate) fn response(method: &str, from: Party, volatility: &Volatility) -> Self {
        let name = format!("{method} response");
        Self {
            about: volatility.about(&name, from),
            name,
            params: None,
            result: Defaults::result_of(method),
            null_result: Schema::v1().result_tolerates_null(method),
        }
    }

    /// What is no message.
    pub(crate) fn other(name: &str, from: Party, volatility: &Volatility) -> Self {
        Self {
            name: name.to_owned(),
            about: volatility.about(name, from),
            params: None,
            result: None,
            null_result: false,
        }
    }
}

/// Where minted values are looked up.
pub(crate) enum Binder<'m> {
    /// New ones are learned.
    Learning(&'m mut Minted),
    /// All are known.
    Known(&'m Minted),
}

impl Binder<'_> {
    fn bind(&mut self, identifier: Identifier, scope: Scope, value: &str) -> Option<Reference> {
        match self {
            Self::Learning(minted) => Some(minted.bind(identifier, scope, value)),
            Self::Known(minted) => minted.known(identifier, scope, value),
        }
    }

    fn learn_secrets(&mut self, text: &str) {
        if let Self::Learning(minted) = self
            && text.contains("{secret-")
        {
            minted.learn_secrets(text);
        }
    }
}

/// What a message is part of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Context {
    /// The session's id.
    pub(crate) session: Option<Reference>,
    /// The group of the session's folder.
    pub(crate) folder: Option<usize>,
    /// The request that it is or answers.
    pub(crate) request: Option<Reference>,
    /// The request that a `requestId` in it names.
    pub(crate) target: Option<Reference>,
}

/// Puts the members of all objects in order; of members with one name the last counts.
pub(crate) fn in_order(node: &mut Node<'_>) {
    match node {
        Node::List(items) => items.iter_mut().for_each(in_order),
        Node::Object(members) => {
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            if members
                .windows(2)
                .any(|pair| matches!(pair, [left, right] if left.0 == right.0))
            {
                members.reverse();
                members.dedup_by(|next, kept| next.0 == kept.0);
                members.reverse();
            }
            for (_, value) in members {
                in_order(value);
            }
        }
        _ => {}
    }
}

/// Leaves out what says nothing.
pub(crate) fn without_defaults(node: &mut Node<'_>, kind: &MessageKind) {
    let defaults = Defaults::v1();
    let mut drop_params = false;
    if let Some(definition) = kind.params {
        drop_params = node
            .get_mut("params")
            .is_some_and(|params| defaults.drop_from(params, definition));
    }
    if let (Some(definition), Some(result)) = (kind.result, node.get_mut("result")) {
        if *result == Node::Null && kind.null_result {
            *result = Node::empty();
        }
        defaults.drop_from(result, definition);
    }
    if let Some(error) = node.get_mut("error") {
        defaults.drop_from(error, "Error");
    }
    if drop_params && let Node::Object(members) = node {
        members.retain(|(name, _)| name != "params");
    }
}

/// Names minted values at their typed places, and folders wherever they stand.
pub(crate) fn named(
    node: &mut Node<'_>,
    context: Context,
    folders: &Folders,
    binder: &mut Binder<'_>,
) {
    if let Node::Object(members) = node {
        for (name, value) in members {
            if name == "id"
                && let Some(request) = context.request.or(context.target)
            {
                *value = Node::Id(request);
            } else if name != "jsonrpc" && name != "method" {
                name_member(name, value, true, context, folders, binder);
            }
        }
    }
}

fn name_member(
    name: &str,
    value: &mut Node<'_>,
    typed: bool,
    context: Context,
    folders: &Folders,
    binder: &mut Binder<'_>,
) {
    let typed = typed && !Identifier::is_untyped(name);
    if typed && let Some(identifier) = Identifier::of_member(name) {
        let reference = match (identifier, context.target) {
            (Identifier::Request, Some(target)) => Some(target),
            _ => value.scalar().and_then(|spelled| {
                let scope = match (identifier, context.session) {
                    (
                        Identifier::ToolCall | Identifier::Terminal | Identifier::Message,
                        Some(session),
                    ) => Scope::Session(session),
                    _ => Scope::Connection,
                };
                binder.bind(identifier, scope, &spelled)
            }),
        };
        if let Some(reference) = reference {
            *value = Node::Id(reference);
            return;
        }
    }
    name_value(value, typed, context, folders, binder);
}

fn name_value(
    value: &mut Node<'_>,
    typed: bool,
    context: Context,
    folders: &Folders,
    binder: &mut Binder<'_>,
) {
    match value {
        Node::Text(text) => {
            binder.learn_secrets(text);
            *text = folders.named(std::mem::take(text), context.folder);
        }
        Node::List(items) => {
            for item in items {
                name_value(item, typed, context, folders, binder);
            }
        }
        Node::Object(members) => {
            for (name, value) in members {
                name_member(name, value, typed, context, folders, binder);
            }
        }
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Id(_) => {}
    }
}

/// The text of a text chunk, taken out of its message.
pub(crate) fn take_text<'a>(node: &mut Node<'a>) -> Option<Cow<'a, str>> {
    let content = node
        .get_mut("params")?
        .get_mut("update")?
        .get_mut("content")?;
    if content.get("type")?.text()? != "text" {
        return None;
    }
    match content.get_mut("text")? {
        Node::Text(text) => Some(std::mem::take(text)),
        _ => None,
    }
}

/// Puts a text into the message that it was taken out of.
pub(crate) fn put_text<'a>(node: &mut Node<'a>, text: Cow<'a, str>) {
    let place = node
        .get_mut("params")
        .and_then(|params| params.get_mut("update"))
        .and_then(|update| update.get_mut("content"))
        .and_then(|content| content.get_mut("text"));
    if let Some(place) = place {
        *place = Node::Text(text);
    }
}
