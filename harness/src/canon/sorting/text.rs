//! Texts: consecutive chunks of one message, joined.

use super::Sorter;
use crate::canon::item::{ItemId, What};
use crate::canon::minted::Reference;
use crate::canon::node::Node;
use crate::canon::prepare;
use crate::trace::Party;
/// A message of which chunks are still coming.
#[derive(Debug)]
pub(super) struct OpenText<'a> {
    pub(super) item: ItemId,
    pub(super) kind: u32,
    /// What all its chunks have in common.
    pub(super) rest: u64,
    pub(super) message: Option<Reference>,
    pub(super) node: Node<'a>,
    pub(super) text: String,
}

impl<'a> Sorter<'a> {
    pub(super) fn chunk(
        &mut self,
        index: u32,
        from: Party,
        session: u32,
        kind: u32,
        node: Node<'a>,
        text: &str,
    ) {
        let message = match node.at(&["params", "update", "messageId"]) {
            Some(Node::Id(id)) => Some(*id),
            _ => None,
        };
        let rest = node.hashes(&self.form.minted).full;
        if let Some(live) = self.live.get_mut(session as usize)
            && let Some(open) = &mut live.text
            && open.kind == kind
            && open.rest == rest
            && open.message == message
        {
            open.text.push_str(text);
            if let Some(owner) = self.form.owners.get_mut(index as usize) {
                *owner = open.item.0;
            }
            return;
        }
        if text.is_empty() && message.is_none() {
            // It says nothing, and parts nothing.
            return;
        }
        self.close_text(session);
        let what = What::Text {
            kind,
            text: "".into(),
        };
        let item = self.push(index, from, what, Some(session), None, kind, &Node::Null);
        self.append(session, item);
        if let Some(live) = self.live.get_mut(session as usize) {
            live.text = Some(OpenText {
                item,
                kind,
                rest,
                message,
                node,
                text: text.to_owned(),
            });
        }
    }

    /// Ends the message whose chunks were coming.
    pub(super) fn close_text(&mut self, session: u32) {
        let Some(open) = self
            .live
            .get_mut(session as usize)
            .and_then(|live| live.text.take())
        else {
            return;
        };
        let OpenText {
            item,
            kind,
            mut node,
            text,
            ..
        } = open;
        let folder = self.context(Some(session), None).folder;
        if text.contains("{secret-") {
            self.form.minted.learn_secrets(&text);
        }
        let text = self.form.folders.named(text.into(), folder);
        prepare::put_text(&mut node, text);
        self.replace(kind, &mut node);
        self.weigh(item, &node);
        let text = prepare::take_text(&mut node).unwrap_or_default();
        if let Some(item) = self.form.items.get_mut(item.index()) {
            item.what = What::Text {
                kind,
                text: text.into(),
            };
        }
    }
}
