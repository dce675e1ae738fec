//! The strings of a JSON text, with the places in which they stand.

use std::borrow::Cow;
use std::ops::Range;

use super::escape::decoded;
use super::name::{Says, says};

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

    /// Whether a string here is a piece of a longer text, or says of which.
    fn is_of_pieces(self) -> bool {
        matches!(
            self,
            Self::Session | Self::Kind | Self::ToolCall | Self::Text | Self::TerminalData
        )
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
    /// Whether it is a secret only if it looks like one.
    pub(super) perhaps: bool,
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
    /// What the name of this array or object says about the strings in it.
    says: Says,
    /// Whether the strings right in this array are secrets whatever they look like.
    certain: bool,
    /// Whether the last string in this array was a flag such as `--api-key`, whose value comes next.
    after_flag: bool,
    item: u32,
    path: u64,
    /// Of an object with members `name` and `value`: whether the name is that of a secret, and which leaf the value is.
    pair: Says,
    value: Option<usize>,
}

/// Whether leaves are told that are secrets by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// They are.
    Heeded,
    /// There are none: only strings at [places of pieces](Place::is_of_pieces) are told.
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
                    None => Frame::new(is_object, Place::Root, (Says::Nothing, false), 0, 0),
                    Some(parent) => {
                        let (place, says) = parent.value(json, names);
                        let certain = says == Says::Secret && !is_object && parent.is_object;
                        // Below the name of a secret there may be anything: it must look like one.
                        let below = says.min(Says::Perhaps);
                        Frame::new(
                            is_object,
                            place,
                            (below.max(parent.says), certain),
                            parent.item,
                            match names {
                                Names::Heeded => parent.path_of(json),
                                Names::Ignored => 0,
                            },
                        )
                    }
                };
                stack.push(frame);
                at += 1;
            }
            b'}' | b']' => {
                let pair = stack
                    .pop()
                    .and_then(|frame| Some((frame.pair, frame.value?)));
                if let Some((says, index)) = pair
                    && says > Says::Nothing
                    && let Some(leaf) = out.get_mut(index)
                {
                    leaf.perhaps = says == Says::Perhaps && (!leaf.secret || leaf.perhaps);
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
                if names == Names::Ignored {
                    at += 1;
                    continue;
                }
                let length = rest
                    .iter()
                    .take_while(|byte| {
                        matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
                    })
                    .count();
                // Under many a name of a secret there is a count.
                let secret = length >= 8
                    && stack.last().is_some_and(|frame| {
                        let name = frame.name(json);
                        frame.is_object
                            && frame.value(json, names).1 == Says::Secret
                            && !name.to_ascii_lowercase().ends_with(b"token")
                    });
                out.push(Leaf {
                    raw: at..at + length,
                    what: What::Number,
                    secret,
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
        if names == Names::Ignored {
            return;
        }
        out.push(Leaf {
            raw,
            what: What::Name,
            ..Leaf::default()
        });
        return;
    }
    let (place, says) = frame.value(json, names);
    if names == Names::Ignored {
        if place.is_of_pieces() {
            out.push(Leaf {
                raw,
                place,
                item: frame.item,
                ..Leaf::default()
            });
        }
        return;
    }
    let name = frame.name(json);
    let text = decoded(json.get(raw.clone()).unwrap_or_default());
    let flows = frame.is_object && is_flowing(&name);
    let mut secret = says == Says::Secret;
    if frame.is_object {
        match &*name {
            b"name" | b"key" | b"Name" | b"Key" => {
                let own = if names == Names::Heeded {
                    self::says(&text)
                } else {
                    Says::Nothing
                };
                // A single word is also a title.
                let is_title = text.iter().all(u8::is_ascii_alphabetic)
                    && !text.ends_with(b"uthorization")
                    && !text.iter().skip(1).any(u8::is_ascii_uppercase);
                frame.pair = if is_title { Says::Nothing } else { own };
            }
            b"value" | b"Value" => {
                frame.value = Some(out.len());
                secret |= place == Place::ServerValues;
            }
            // A map of names to values.
            _ => secret |= place == Place::ServerValues && frame.place != Place::Servers,
        }
    } else {
        secret |= frame.certain || frame.after_flag || place == Place::ServerValues;
        frame.after_flag = text.starts_with(b"-") && self::says(&text) > Says::Nothing;
    }
    let perhaps = !secret && says.max(frame.says) > Says::Nothing;
    drop(name);
    out.push(Leaf {
        raw,
        what: What::Text,
        place,
        secret: secret || perhaps,
        named: says > Says::Nothing,
        perhaps,
        flows,
        item: frame.item,
        path: frame.path_of(json),
    });
}

impl Frame {
    fn new(
        is_object: bool,
        place: Place,
        (says, certain): (Says, bool),
        item: u32,
        path: u64,
    ) -> Self {
        Self {
            is_object,
            place,
            name: 0..0,
            awaits_name: is_object,
            says,
            certain,
            after_flag: false,
            // The items of an item of an array keep its number.
            item: if is_object { item } else { 0 },
            path,
            pair: Says::Nothing,
            value: None,
        }
    }

    /// The name of the member whose value is read.
    fn name<'a>(&self, json: &'a [u8]) -> Cow<'a, [u8]> {
        decoded(json.get(self.name.clone()).unwrap_or_default())
    }

    /// The place of the value that is read, and what its name says about it.
    fn value(&self, json: &[u8], names: Names) -> (Place, Says) {
        if !self.is_object {
            let says = if self.certain {
                Says::Secret
            } else {
                Says::Nothing
            };
            return (self.place.item(), says);
        }
        let name = self.name(json);
        let says = match names {
            Names::Heeded if &*name == b"tokens" => Says::Perhaps,
            Names::Heeded => says(&name),
            Names::Ignored => Says::Nothing,
        };
        (self.place.member(&name), says)
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

/// Where the string ends whose inside begins at `from`: the place of its closing quote.
pub(super) fn end_of_string(json: &[u8], from: usize) -> usize {
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
            .filter(|leaf| leaf.secret && !leaf.perhaps)
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
