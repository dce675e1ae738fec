//! The text of a prompt, as agents give it to their model.

use serde_json::Value;

use crate::wire::Message;

/// The texts of the blocks of a prompt, a line each.
pub(crate) fn text_of(blocks: &[Value]) -> String {
    let texts = blocks
        .iter()
        .filter_map(|block| block.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// The text of the prompt in a message; `None` where it has no list of blocks.
pub(crate) fn text_in(message: &Message) -> Option<String> {
    let blocks = message.params()?.get("prompt")?.as_array()?;
    Some(text_of(blocks))
}
