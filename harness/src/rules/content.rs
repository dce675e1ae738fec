//! Content blocks: their types, their data, and details that no rule of the schema holds.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use super::part;
use super::quote::quote;
use super::{Moment, Out, Rule};

/// The standard alphabet with padding; bits that the last character leaves over may be anything.
const STANDARD: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The alphabet for URLs, with padding or without.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// How files of a MIME type begin: an offset and bytes there.
const MAGIC: [(&str, usize, &[u8]); 9] = [
    ("image/png", 0, b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", 0, b"\xff\xd8\xff"),
    ("image/gif", 0, b"GIF8"),
    ("image/webp", 8, b"WEBP"),
    ("audio/wav", 8, b"WAVE"),
    ("audio/mpeg", 0, b"ID3"),
    ("audio/ogg", 0, b"OggS"),
    ("audio/flac", 0, b"fLaC"),
    ("application/pdf", 0, b"%PDF-"),
];

/// Other names of MIME types, and the name that [`MAGIC`] uses.
const ALIASES: [(&str, &str); 8] = [
    ("image/jpg", "image/jpeg"),
    ("audio/x-wav", "audio/wav"),
    ("audio/wave", "audio/wav"),
    ("audio/vnd.wave", "audio/wav"),
    ("audio/mp3", "audio/mpeg"),
    ("audio/x-flac", "audio/flac"),
    ("application/ogg", "audio/ogg"),
    ("audio/opus", "audio/ogg"),
];

/// CONTENT-01 (schema ContentBlock): blocks in chunks and in tool calls are of the five types, with their members.
///
/// CONTENT-02 (docs/protocol/v1/content.mdx#image-content): `data` of images and audio and `blob` of resources are base64
/// with the standard alphabet and padding. The alphabet for URLs is noted. Bits that are left over in the last character
/// are not looked at, for no text speaks of them. What was redacted proves nothing.
///
/// CONTENT-03: MIME types, URIs and priorities that do not fit are noted.
#[derive(Default)]
pub(super) struct Content;

impl Rule for Content {
    fn judges(&self) -> &'static [&'static str] {
        &["CONTENT-01", "CONTENT-02", "CONTENT-03"]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        if let Some(update) = moment.update() {
            match update.kind {
                "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => {
                    if let Some(block) = update.body.get("content") {
                        part::judge(moment, "CONTENT-01", out);
                        details(moment, block, "/params/update/content", out);
                    }
                }
                "tool_call" | "tool_call_update" => {
                    of_tool_call(moment, update.body, "/params/update", out);
                }
                _ => {}
            }
        } else if let Some(call) = moment
            .agent_call("session/request_permission")
            .and_then(|message| message.params()?.get("toolCall"))
        {
            of_tool_call(moment, call, "/params/toolCall", out);
        }
    }
}

fn of_tool_call(moment: &Moment<'_>, call: &Value, at: &str, out: &mut Out<'_>) {
    let Some(items) = call.get("content").and_then(Value::as_array) else {
        return;
    };
    let mut any = false;
    for (number, item) in items.iter().enumerate() {
        if item.get("type").and_then(Value::as_str) == Some("content")
            && let Some(block) = item.get("content")
        {
            any = true;
            details(
                moment,
                block,
                &format!("{at}/content/{number}/content"),
                out,
            );
        }
    }
    if any {
        part::judge(moment, "CONTENT-01", out);
    }
}

fn details(moment: &Moment<'_>, block: &Value, at: &str, out: &mut Out<'_>) {
    let kind = block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match kind {
        "image" | "audio" => {
            data(moment, block, "data", kind, at, out);
            uri(moment, block, at, out);
        }
        "resource_link" => uri(moment, block, at, out),
        "resource" => {
            if let Some(resource) = block.get("resource") {
                let at = format!("{at}/resource");
                data(moment, resource, "blob", kind, &at, out);
                uri(moment, resource, &at, out);
            }
        }
        _ => {}
    }
    if let Some(priority) = block
        .get("annotations")
        .and_then(|annotations| annotations.get("priority"))
        .and_then(Value::as_f64)
        && !(0.0..=1.0).contains(&priority)
    {
        out.note(
            "CONTENT-03",
            moment.at(format!("{at}/annotations/priority")),
            format!("the priority {priority} is not within 0 to 1"),
        );
    }
}

fn data(
    moment: &Moment<'_>,
    holder: &Value,
    member: &str,
    kind: &str,
    at: &str,
    out: &mut Out<'_>,
) {
    let Some(text) = holder.get(member).and_then(Value::as_str) else {
        return;
    };
    let place = moment.at(format!("{at}/{member}"));
    let bytes = match STANDARD.decode(text) {
        Ok(bytes) => {
            out.pass("CONTENT-02");
            bytes
        }
        Err(_) if moment.event.redacted => {
            out.inconclusive("CONTENT-02", "the data was redacted");
            return;
        }
        Err(error) => match URL_SAFE.decode(text) {
            Ok(bytes) if text.contains(['-', '_']) => {
                out.note(
                    "CONTENT-02",
                    place,
                    format!("{member} is base64 with the alphabet for URLs"),
                );
                bytes
            }
            _ => {
                let what = if text.starts_with("data:") {
                    "is a data: URL".to_owned()
                } else {
                    format!("is no base64 ({})", error.to_string().to_lowercase())
                };
                out.fail(
                    "CONTENT-02",
                    place,
                    format!("{member} of the {kind} {what}, expected padded base64 alone"),
                );
                return;
            }
        },
    };
    let Some(given) = holder.get("mimeType").and_then(Value::as_str) else {
        return;
    };
    if let Some(why) = misfit(kind, given, &bytes) {
        out.note(
            "CONTENT-03",
            moment.at(format!("{at}/mimeType")),
            format!("mimeType of the {kind} is {}, but {why}", quote(given)),
        );
    }
}

/// Why a MIME type does not fit a block of this kind with these bytes.
fn misfit(kind: &str, given: &str, bytes: &[u8]) -> Option<String> {
    let plain = given
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    if kind != "resource" && plain.split('/').next() != Some(kind) {
        return Some(format!("the block holds {kind}"));
    }
    let plain = ALIASES
        .iter()
        .find(|(alias, _)| *alias == plain)
        .map_or(plain.as_str(), |(_, name)| name);
    let (found, ..) = MAGIC.iter().find(|(_, offset, magic)| {
        bytes
            .get(*offset..)
            .is_some_and(|rest| rest.starts_with(magic))
    })?;
    (*found != plain).then(|| format!("the bytes are {found}"))
}

fn uri(moment: &Moment<'_>, holder: &Value, at: &str, out: &mut Out<'_>) {
    if let Some(uri) = holder.get("uri").and_then(Value::as_str)
        && !has_scheme(uri)
    {
        out.note(
            "CONTENT-03",
            moment.at(format!("{at}/uri")),
            format!("the uri {} has no scheme", quote(uri)),
        );
    }
}

/// Whether a URI begins with a scheme; a single letter is taken for a drive of Windows.
fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{OPENING, failures, holds, judged, notes};

    /// A chunk with this block, in a turn; it is event 5.
    fn chunk(block: &str) -> Judgement {
        judged(&format!(
            r#"{OPENING}
            > {{"id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"hello"}}]}}}}
            < {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"agent_message_chunk","content":{block}}}}}}}"#
        ))
    }

    /// The failures that are of this area.
    fn of_area(it: &Judgement) -> Vec<String> {
        failures(it)
            .into_iter()
            .filter(|failure| !failure.starts_with("JSONRPC-11"))
            .collect()
    }

    #[test]
    fn blocks_that_fit_hold() {
        let it = chunk(r#"{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}"#);
        assert_eq!(failures(&it), [""; 0]);
        assert!(holds(&it, "CONTENT-01") && holds(&it, "CONTENT-02"));
        assert_eq!(notes(&it, "CONTENT-03"), 0);
    }

    #[test]
    fn an_unknown_type_or_a_missing_member_fails() {
        let it = chunk(r#"{"type":"video","data":""}"#);
        let failed = of_area(&it);
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert!(failed[0].starts_with("CONTENT-01@5/params/update/content"));
        let it = chunk(r#"{"type":"text"}"#);
        assert_eq!(of_area(&it), ["CONTENT-01@5/params/update/content"]);
    }

    #[test]
    fn data_that_is_no_base64_fails() {
        for data in [
            "iVBORw0KGgo",
            "data:image/png;base64,iVBORw0KGgo=",
            "a b=",
            "%%%%",
        ] {
            let it = chunk(&format!(
                r#"{{"type":"image","mimeType":"image/png","data":"{data}"}}"#
            ));
            assert_eq!(
                of_area(&it),
                ["CONTENT-02@5/params/update/content/data"],
                "{data}"
            );
        }
        let it = chunk(r#"{"type":"resource","resource":{"uri":"file:///a","blob":"x"}}"#);
        assert_eq!(
            of_area(&it),
            ["CONTENT-02@5/params/update/content/resource/blob"]
        );
    }

    #[test]
    fn the_alphabet_for_urls_is_noted() {
        let it = chunk(r#"{"type":"audio","mimeType":"audio/wav","data":"-_-_"}"#);
        assert_eq!(failures(&it), [""; 0]);
        assert_eq!(notes(&it, "CONTENT-02"), 1);
    }

    #[test]
    fn details_that_do_not_fit_are_noted() {
        for block in [
            r#"{"type":"image","mimeType":"image/gif","data":"iVBORw0KGgo="}"#,
            r#"{"type":"image","mimeType":"text/plain","data":""}"#,
            r#"{"type":"resource_link","name":"a","uri":"/a"}"#,
            r#"{"type":"resource_link","name":"a","uri":"C:\\a"}"#,
            r#"{"type":"text","text":"a","annotations":{"priority":2}}"#,
        ] {
            let it = chunk(block);
            assert_eq!(failures(&it), [""; 0], "{block}");
            assert_eq!(notes(&it, "CONTENT-03"), 1, "{block}");
        }
    }

    #[test]
    fn blocks_inside_of_tool_calls_are_judged() {
        let it = judged(&format!(
            r#"{OPENING}
            > {{"id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"hello"}}]}}}}
            < {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"tool_call","toolCallId":"a","title":"t","content":[{{"type":"content","content":{{"type":"image","mimeType":"image/png","data":"!"}}}},{{"type":"content","content":{{"type":"text"}}}}]}}}}}}"#
        ));
        assert_eq!(
            of_area(&it),
            [
                "CONTENT-01@5/params/update/content/1/content",
                "CONTENT-02@5/params/update/content/0/content/data"
            ]
        );
    }
}
