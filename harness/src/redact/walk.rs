//! The strings of a JSON text, with the places in which they stand.

use std::ops::Range;

use super::name::is_secret;

/// Places of the protocol that matter here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// Any other.
    #[default]
    Elsewhere,
    /// The whole text.
    Root,
    /// `params`
    Params,
    /// `params.sessionId`
    Session,
    /// `params.update`
    Update,
    /// `params.update.sessionUpdate`
    Kind,
    /// `params.update.toolCallId`
    ToolCall,
    /// `params.update.content`, or an item of it.
    Content,
    /// `params.update.content.text`, or that of an item.
    Text,
    /// `params.update._meta`
    Meta,
    /// `params.update._meta.terminal_output`
    TerminalOutput,
    /// `params.update._meta.terminal_output.data`
    TerminalData,
    /// `result` or `params` of a method that is about MCP servers: below `mcpServers`.
    Servers,
    /// `env` or `headers` of an MCP server.
    ServerValues,
    /// `result`
    Result,
    /// `result.output`: what a terminal has shown so far.
    Output,
}

impl Place {
    /// The place of a member of an object in this place.
    fn member(self, name: &[u8]) -> Self {
        match (self, name) {
            (Self::Root, b"params") => Self::Params,
            (Self::Root, b"result") => Self::Result,
            (Self::Result, b"output") => Self::Output,
            (Self::Params, b"sessionId") => Self::Session,
            (Self::Params, b"update") => Self::Update,
            (Self::Update, b"sessionUpdate") => Self::Kind,
            (Self::Update, b"toolCallId") => Self::ToolCall,
            (Self::Update | Self::Content, b"content") => Self::Content,
            (Self::Content, b"text") => Self::Text,
            (Self::Update, b"_meta") => Self::Meta,
            (Self::Meta, b"terminal_output") => Self::TerminalOutput,
            (Self::TerminalOutput, b"data") => Self::TerminalData,
            (Self::ServerValues, _) => Self::ServerValues,
            (Self::Servers, b"env" | b"headers") => Self::ServerValues,
            (Self::Servers, _) | (_, b"mcpServers") => Self::Servers,
            _ => Self::Elsewhere,
        }
    }

    /// The place of an item of an array in this place.
    fn item(self) -> Self {
        match self {
            Self::Content | Self::Servers | Self::ServerValues => self,
            _ => Self::Elsewhere,
        }
    }
}

/// Something that may hold a secret.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Leaf {
    /// Its raw text: of a string without the quotes.
    pub(super) raw: Range<usize>,
    pub(super) what: What,
    pub(super) place: Place,
    /// Whether its name, or its place, makes it a secret.
    pub(super) secret: bool,
    /// Whether its own name says that the value is one, and not only the place.
    pub(super) named: bool,
    /// Whether its name is one under which a model sends text piece by piece.
    pub(super) flows: bool,
    /// The number of the item within the array in which it stands, from 0.
    pub(super) item: u32,
    /// The names of the members down to it, as a number.
    pub(super) path: u64,
}

/// What a leaf is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum What {
    #[default]
    Text,
    /// The name of a member.
    Name,
    Number,
}

struct Frame {
    is_object: bool,
    place: Place,
    /// The name of the member whose value is read.
    name: Range<usize>,
    /// Whether the next string is a name.
    awaits_name: bool,
    /// Whether the strings in this array are secrets, as the name of the array says so.
    secret: bool,
    /// Whether the last string in this array was a flag such as `--api-key`, whose value comes next.
    after_flag: bool,
    item: u32,
    path: u64,
    /// Of an object with members `name` and `value`: whether the name is that of a secret, and which leaf the value is.
    is_pair: bool,
    value: Option<usize>,
}

/// Whether leaves are told that are secrets by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// They are.
    Heeded,
    /// There are none, and only the places of the protocol are of interest.
    Ignored,
}

/// Collects the leaves of a JSON text, which must be valid.
pub(super) fn leaves(json: &[u8], names: Names, out: &mut Vec<Leaf>) {
    out.clear();
    let mut stack: Vec<Frame> = Vec::with_capacity(16);
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'{' | b'[' => {
                let is_object = *byte == b'{';
                let frame = match stack.last() {
                    None => Frame::new(is_object, Place::Root, false, 0, 0),
                    Some(parent) => {
                        let (place, secret) = parent.value(json, names);
                        Frame::new(
                            is_object,
                            place,
                            secret && !is_object,
                            parent.item,
                            parent.path_of(json),
                        )
                    }
                };
                stack.push(frame);
                at += 1;
            }
            b'}' | b']' => {
                let value = stack
                    .pop()
                    .filter(|frame| frame.is_pair)
                    .and_then(|frame| frame.value);
                if let Some(leaf) = value.and_then(|index| out.get_mut(index)) {
                    leaf.secret = true;
                    leaf.named = true;
                }
                at += 1;
            }
            b',' => {
                if let Some(frame) = stack.last_mut() {
                    frame.awaits_name = frame.is_object;
                    if !frame.is_object {
                        frame.item += 1;
                    }
                }
                at += 1;
            }
            b'"' => {
                let raw = at + 1..end_of_string(json, at + 1);
                at = raw.end + 1;
                take_string(json, raw, names, stack.last_mut(), out);
            }
            b'-' | b'0'..=b'9' => {
                let rest = json.get(at..).unwrap_or_default();
                let length = rest
                    .iter()
                    .take_while(|byte| {
                        matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
                    })
                    .count();
                out.push(Leaf {
                    raw: at..at + length,
                    what: What::Number,
                    ..Leaf::default()
                });
                at += length;
            }
            _ => at += 1,
        }
    }
}

fn take_string(
    json: &[u8],
    raw: Range<usize>,
    names: Names,
    frame: Option<&mut Frame>,
    out: &mut Vec<Leaf>,
) {
    let Some(frame) = frame else {
        out.push(Leaf {
            raw,
            ..Leaf::default()
        });
        return;
    };
    if frame.awaits_name {
        frame.awaits_name = false;
        frame.name = raw.clone();
        out.push(Leaf {
            raw,
            what: What::Name,
            ..Leaf::default()
        });
        return;
    }
    let (place, named) = frame.value(json, names);
    let name = json.get(frame.name.clone()).unwrap_or_default();
    let mut secret = named;
    if frame.is_object {
        match name {
            b"name" => {
                frame.is_pair |= is_secret(json.get(raw.clone()).unwrap_or_default());
            }
            b"value" => {
                frame.value = Some(out.len());
                secret |= place == Place::ServerValues;
            }
            // A map of names to values.
            _ => secret |= place == Place::ServerValues && frame.place != Place::Servers,
        }
    } else {
        let text = json.get(raw.clone()).unwrap_or_default();
        secret |= frame.after_flag || place == Place::ServerValues;
        frame.after_flag = text.starts_with(b"-") && is_secret(text);
    }
    out.push(Leaf {
        raw,
        what: What::Text,
        place,
        secret,
        named,
        flows: frame.is_object && is_flowing(name),
        item: frame.item,
        path: frame.path_of(json),
    });
}

impl Frame {
    fn new(is_object: bool, place: Place, secret: bool, item: u32, path: u64) -> Self {
        Self {
            is_object,
            place,
            name: 0..0,
            awaits_name: is_object,
            secret,
            after_flag: false,
            // The items of an item of an array keep its number.
            item: if is_object { item } else { 0 },
            path,
            is_pair: false,
            value: None,
        }
    }

    /// The place of the value that is read, and whether its name makes it a secret.
    fn value(&self, json: &[u8], names: Names) -> (Place, bool) {
        if !self.is_object {
            return (self.place.item(), self.secret);
        }
        let name = json.get(self.name.clone()).unwrap_or_default();
        (
            self.place.member(name),
            names == Names::Heeded && is_secret(name),
        )
    }

    fn path_of(&self, json: &[u8]) -> u64 {
        let name = json.get(self.name.clone()).unwrap_or_default();
        name.iter().fold(self.path ^ 0x2f, |path, byte| {
            (path ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

/// Members in which models send text piece by piece.
fn is_flowing(name: &[u8]) -> bool {
    matches!(
        name,
        b"content"
            | b"text"
            | b"arguments"
            | b"delta"
            | b"partial_json"
            | b"thinking"
            | b"reasoning"
            | b"reasoning_content"
            | b"refusal"
    )
}

fn end_of_string(json: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = json.get(at..).unwrap_or_default();
        match memchr::memchr2(b'"', b'\\', rest) {
            None => return json.len(),
            Some(found) if rest.get(found) == Some(&b'"') => return at + found,
            // An escape is at least two bytes.
            Some(found) => at += found + 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secrets(json: &str) -> Vec<&str> {
        let mut out = Vec::new();
        leaves(json.as_bytes(), Names::Heeded, &mut out);
        out.iter()
            .filter(|leaf| leaf.secret)
            .map(|leaf| &json[leaf.raw.clone()])
            .collect()
    }

    #[test]
    fn members_are_secrets_by_their_names() {
        let json = r#"{"a":{"apiKey":"1","tokens":["2"],"token":["3"],"inputTokens":4,"sessionId":"5"},"password":""}"#;
        assert_eq!(secrets(json), ["1", "3", ""]);
    }

    #[test]
    fn all_values_of_an_mcp_server_are_secrets() {
        let json = r#"{"params":{"mcpServers":[
            {"name":"a","command":"x","args":["--token","1"],"env":[{"name":"A","value":"2"},{"value":"3","name":"B"}]},
            {"type":"http","name":"b","url":"u","headers":[{"name":"X","value":"4"}]},
            {"env":{"C":"5","D":"6"}}]}}"#;
        assert_eq!(secrets(json), ["1", "2", "3", "4", "5", "6"]);
    }

    #[test]
    fn a_pair_of_name_and_value_is_a_secret_by_its_name() {
        let json = r#"{"env":[{"name":"PATH","value":"1"},{"name":"GH_TOKEN","value":"2"}],"name":"x","value":"3"}"#;
        assert_eq!(secrets(json), ["2"]);
    }

    #[test]
    fn places_of_the_protocol_are_told() {
        let json = r#"{"params":{"sessionId":"s","update":{"sessionUpdate":"k","content":[{"type":"content","content":{"type":"text","text":"t"}}]}}}"#;
        let mut out = Vec::new();
        leaves(json.as_bytes(), Names::Heeded, &mut out);
        let at = |place| {
            out.iter()
                .find(|leaf| leaf.place == place)
                .map(|leaf| &json[leaf.raw.clone()])
        };
        assert_eq!(at(Place::Session), Some("s"));
        assert_eq!(at(Place::Kind), Some("k"));
        assert_eq!(at(Place::Text), Some("t"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(json: Vec<u8>) {
            leaves(&json, Names::Heeded, &mut Vec::new());
        }
    }
}
