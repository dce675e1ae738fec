//! The content of a `session/prompt`, as one text.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::attachments;

/// A prompt that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// What the model gets.
    pub(crate) text: String,
    /// The paths that `@path` in the text attached.
    pub(crate) attached: Vec<String>,
}

/// Joins the blocks: text as it is, links as attachments, other kinds not at all; then what the
/// text itself attaches.
///
/// # Errors
///
/// Says which block lacks its text or uri.
///
/// `rich`: whether images, audio and resources are taken too, text as it is and the others as a
/// note of one line.
pub(crate) fn flatten(
    blocks: &[Value],
    rich: bool,
    folders: &[&Path],
    home: Option<&Path>,
) -> Result<Prompt, String> {
    let (mut text, mut typed) = (String::new(), String::new());
    for (index, block) in blocks.iter().enumerate() {
        let member = |name: &str| {
            block
                .get(name)
                .and_then(Value::as_str)
                .ok_or_else(|| format!("block {index} of the prompt needs a string `{name}`"))
        };
        match member("type")? {
            "text" => {
                let part = member("text")?;
                text.push_str(part);
                typed.push_str(part);
            }
            "resource_link" => {
                let uri = member("uri")?;
                let path = uri.strip_prefix("file://").unwrap_or(uri);
                let _ = write!(text, "\n[attached file: {path}]");
            }
            kind @ ("image" | "audio") if rich => {
                let size = decoded_size(member("data")?);
                let _ = write!(text, "\n[{kind}: {}, {size} bytes]", member("mimeType")?);
            }
            "resource" if rich => {
                let resource = block.get("resource").unwrap_or(&Value::Null);
                let note = embedded(resource).ok_or_else(|| {
                    format!("block {index} of the prompt needs a `resource` with `uri` and `text` or `blob`")
                })?;
                text.push_str(&note);
            }
            _ => {}
        }
    }
    // Paths are looked for in what was typed, not in the links above.
    let mut attached = Vec::new();
    for attachment in attachments::find(&typed, folders, home) {
        let kind = if attachment.is_folder {
            "directory"
        } else {
            "file"
        };
        let path = attachment.path.display().to_string();
        let _ = write!(text, "\n[attached {kind}: {path}]");
        attached.push(path);
    }
    Ok(Prompt { text, attached })
}

/// A resource that came with the prompt.
fn embedded(resource: &Value) -> Option<String> {
    let member = |name: &str| resource.get(name).and_then(Value::as_str);
    let uri = member("uri")?;
    if let Some(text) = member("text") {
        return Some(format!("\n[resource: {uri}]\n{text}"));
    }
    let size = decoded_size(member("blob")?);
    let kind = member("mimeType").unwrap_or("unknown type");
    Some(format!("\n[resource: {uri}, {kind}, {size} bytes]"))
}

/// The bytes behind a base64 text, without decoding it.
pub(crate) fn decoded_size(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn text_of(blocks: &Value) -> Result<String, String> {
        flatten(
            blocks.as_array().unwrap(),
            false,
            &[Path::new("/nowhere")],
            None,
        )
        .map(|prompt| prompt.text)
    }

    #[test]
    fn text_blocks_are_joined_as_they_are() {
        let blocks = json!([{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]);
        assert_eq!(text_of(&blocks).unwrap(), "a b");
    }

    #[test]
    fn a_link_becomes_an_attached_file() {
        let blocks = json!([
            {"type": "text", "text": "see"},
            {"type": "resource_link", "name": "x", "uri": "file:///tmp/x y.rs"},
            {"type": "resource_link", "name": "y", "uri": "https://example.org/"},
        ]);
        assert_eq!(
            text_of(&blocks).unwrap(),
            "see\n[attached file: /tmp/x y.rs]\n[attached file: https://example.org/]"
        );
    }

    #[test]
    fn other_kinds_are_left_out_and_odd_members_do_not_matter() {
        let blocks = json!([
            {"type": "image", "data": "", "mimeType": "image/png"},
            {"type": "text", "text": "hi", "annotations": null, "_meta": {"a": [1]}},
        ]);
        assert_eq!(text_of(&blocks).unwrap(), "hi");
    }

    #[test]
    fn a_block_without_its_member_is_named() {
        assert_eq!(
            text_of(&json!([{"type": "text"}])).unwrap_err(),
            "block 0 of the prompt needs a string `text`"
        );
        assert!(text_of(&json!(["bare"])).is_err());
    }
}
