//! Texts: consecutive chunks of one message, joined.

use super::{Sent, Sorter};
use crate::canon::item::{ItemId, What};
use crate::canon::minted::Reference;
use crate::canon::node::Node;
use crate::canon::prepare;
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

/// So many templates are kept: as many sessions may speak at once without slowing down.
const TEMPLATES: usize = 8;

/// What a chunk looks like around its text. Another message that is equal around a text is another chunk of the same kind.
#[derive(Debug)]
pub(super) struct Template<'a> {
    before: &'a str,
    after: &'a str,
    session: u32,
    /// As in the open text.
    kind: u32,
    rest: u64,
    message: Option<Reference>,
}

impl<'a> Sorter<'a> {
    /// Takes a chunk that looks like one before it and goes on in the text that is open; most events of a long trace are such.
    pub(super) fn goes_on(&mut self, index: u32, raw: &'a str) -> bool {
        for template in &self.templates {
            let Some(middle) = raw
                .strip_prefix(template.before)
                .and_then(|rest| rest.strip_suffix(template.after))
            else {
                continue;
            };
            let Ok(Node::Text(text)) = Node::parse(middle) else {
                return false;
            };
            let live = self.live.get_mut(template.session as usize);
            let Some(open) = live.and_then(|live| live.text.as_mut()).filter(|open| {
                (open.kind, open.rest, open.message)
                    == (template.kind, template.rest, template.message)
            }) else {
                return false;
            };
            open.text.push_str(&text);
            if let Some(owner) = self.form.owners.get_mut(index as usize) {
                *owner = open.item.0;
            }
            return true;
        }
        false
    }

    /// Keeps what the chunk that was just taken looks like. `text` is a part of `raw`.
    pub(super) fn learn_template(&mut self, session: u32, raw: &'a str, text: &'a str) {
        let start = (text.as_ptr() as usize).wrapping_sub(raw.as_ptr() as usize);
        let around = start.checked_sub(1).and_then(|quote| {
            let before = raw.get(..quote)?;
            let after = raw.get(start.checked_add(text.len())?.checked_add(1)?..)?;
            Some((before, after))
        });
        let (Some((before, after)), Some(open)) = (
            around,
            self.live
                .get(session as usize)
                .and_then(|live| live.text.as_ref()),
        ) else {
            return;
        };
        let known = self
            .templates
            .iter()
            .any(|template| (template.before, template.after) == (before, after));
        if known {
            return;
        }
        if self.templates.len() == TEMPLATES {
            self.templates.pop_front();
        }
        self.templates.push_back(Template {
            before,
            after,
            session,
            kind: open.kind,
            rest: open.rest,
            message: open.message,
        });
    }

    pub(super) fn chunk(&mut self, sent: Sent, session: u32, node: Node<'a>, text: &str) {
        let kind = sent.kind;
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
            if let Some(owner) = self.form.owners.get_mut(sent.event as usize) {
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
        let item = self.push(sent.unasked(), what, Some(session), &Node::Null);
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
