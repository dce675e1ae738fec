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

/// The words of a prompt without a leading `/command`, which an agent may take away.
pub(crate) fn words(prompt: &str) -> &str {
    let prompt = prompt.trim();
    match prompt.strip_prefix('/') {
        Some(command) => command
            .split_once(char::is_whitespace)
            .map_or("", |(_, words)| words),
        None => prompt,
    }
}

/// The letters and digits of a text, in lower case: agents wrap and tidy the words of their users.
pub(crate) fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
}

/// The text of the prompt in a message; `None` where it has no list of blocks.
pub(crate) fn text_in(message: &Message) -> Option<String> {
    let blocks = message.params()?.get("prompt")?.as_array()?;
    Some(text_of(blocks))
}
