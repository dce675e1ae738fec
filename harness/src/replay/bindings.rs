//! What stands for what: ids and folders of the recording, and those of the live conversation.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::places::{self, Spot};
use crate::spec::Identifier;

/// A shorter id is replaced only where it is a whole string: inside a longer text it may be a word.
const INSIDE_FROM: usize = 8;

/// Ids of one conversation are unique per kind; those of tool calls and messages per session only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    identifier: Identifier,
    session: Option<String>,
    json: String,
}

impl Key {
    fn new(identifier: Identifier, session: Option<&str>, value: &Value) -> Self {
        let scoped = matches!(identifier, Identifier::ToolCall | Identifier::Message);
        Self {
            identifier,
            session: session.filter(|_| scoped).map(str::to_owned),
            json: value.to_string(),
        }
    }
}

/// One direction.
#[derive(Clone, Debug, Default)]
struct Table {
    ids: HashMap<Key, Value>,
    /// Strings by themselves, whatever they name.
    strings: HashMap<String, String>,
    lengths: BTreeSet<usize>,
    folders: BTreeMap<String, String>,
    /// The folder that is the root of everything: replaced as a whole `cwd` only.
    root: Option<String>,
}

/// The values of the recording and the live ones, bound one to one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    to_live: Table,
    to_recorded: Table,
}

impl Bindings {
    /// Binds a recorded value to the live one. `session` is the recorded session that it belongs to, as recorded. A value
    /// that is bound already keeps its counterpart; a tool call whose id is used again gets the new one.
    pub(crate) fn bind(
        &mut self,
        identifier: Identifier,
        session: (Option<&str>, Option<&str>),
        recorded: &Value,
        live: &Value,
    ) {
        if !(recorded.is_string() || recorded.is_number())
            || !(live.is_string() || live.is_number())
        {
            return;
        }
        let forth = Key::new(identifier, session.0, recorded);
        let back = Key::new(identifier, session.1, live);
        let again = matches!(identifier, Identifier::ToolCall | Identifier::Message);
        let bound =
            self.to_live.ids.contains_key(&forth) || self.to_recorded.ids.contains_key(&back);
        if bound && !again {
            return;
        }
        self.to_live.put(forth, recorded, live);
        self.to_recorded.put(back, live, recorded);
    }

    /// Says that a folder of the recording is this live one.
    pub(crate) fn bind_folder(&mut self, recorded: &str, live: &str) {
        if recorded == "/" {
            self.to_live.root = Some(live.to_owned());
            self.to_recorded
                .folders
                .insert(live.to_owned(), String::new());
            return;
        }
        let recorded = recorded.trim_end_matches('/');
        // In a URI the same folder may stand percent-encoded.
        for (recorded, live) in [
            (recorded.to_owned(), live.to_owned()),
            (encoded(recorded), encoded(live)),
        ] {
            self.to_live.folders.insert(recorded.clone(), live.clone());
            self.to_recorded.folders.insert(live, recorded);
        }
    }

    /// The live value that a recorded one stands for.
    pub(crate) fn live(
        &self,
        identifier: Identifier,
        session: Option<&str>,
        recorded: &Value,
    ) -> Option<&Value> {
        let key = Key::new(identifier, session, recorded);
        self.to_live.ids.get(&key)
    }

    /// The recorded value that a live one stands for; `session` is the live one.
    pub(crate) fn recorded(
        &self,
        identifier: Identifier,
        session: Option<&str>,
        live: &Value,
    ) -> Option<&Value> {
        let key = Key::new(identifier, session, live);
        self.to_recorded.ids.get(&key)
    }

    /// A recorded JSON text with the live values in place of the recorded ones; everything else stays byte for byte.
    pub(crate) fn to_live(&self, session: Option<&str>, text: &str) -> String {
        places::replaced(text, |spot| self.to_live.instead(session, spot))
    }

    /// The JSON that takes the place of a spot of a recorded text, if anything does.
    pub(super) fn instead(&self, session: Option<&str>, spot: &Spot<'_>) -> Option<String> {
        self.to_live.instead(session, spot)
    }

    /// A text that is no JSON, with the live values in place of the recorded ones.
    pub(crate) fn text_to_live(&self, text: &str) -> String {
        self.to_live.inside(text).unwrap_or_else(|| text.to_owned())
    }

    /// A live value in the terms of the recording, to be compared with what is there. `session` is the live one.
    pub(crate) fn in_recorded_terms(&self, session: Option<&str>, live: &Value) -> Value {
        let text = live.to_string();
        let new = places::replaced(&text, |spot| self.to_recorded.instead(session, spot));
        serde_json::from_str(&new).unwrap_or_else(|_| live.clone())
    }
}

impl Table {
    fn put(&mut self, key: Key, from: &Value, to: &Value) {
        if let (Some(from), Some(to)) = (from.as_str(), to.as_str()) {
            self.lengths.insert(from.len());
            self.strings.insert(from.to_owned(), to.to_owned());
        }
        self.ids.insert(key, to.clone());
    }

    /// The JSON that takes the place of a spot, if anything does.
    fn instead(&self, session: Option<&str>, spot: &Spot<'_>) -> Option<String> {
        if let Some(identifier) = spot.identifier() {
            let value: Value = serde_json::from_str(spot.raw).ok()?;
            let key = Key::new(identifier, session, &value);
            return self.ids.get(&key).map(Value::to_string);
        }
        let text = spot.text()?;
        if let Some(root) = &self.root
            && text == "/"
            && spot.member == Some("cwd")
        {
            return Some(Value::from(root.as_str()).to_string());
        }
        // A short id may be an ordinary word elsewhere: it counts only where the protocol leaves open what stands there.
        if (text.len() >= INSIDE_FROM || spot.untyped)
            && !spot.is_name
            && let Some(to) = self.strings.get(&text)
        {
            return Some(Value::from(to.as_str()).to_string());
        }
        self.inside(&text).map(|text| Value::from(text).to_string())
    }

    /// A text with ids of eight characters or more and folders replaced; `None` where there are none in it.
    fn inside(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut kept = 0;
        let mut at = 0;
        let mut before: Option<char> = None;
        while let Some(next) = text.get(at..).and_then(|rest| rest.chars().next()) {
            match self.here(text, at, before) {
                Some((length, to)) => {
                    out.push_str(text.get(kept..at)?);
                    out.push_str(to);
                    before = text.get(at..at + length)?.chars().next_back();
                    at += length;
                    kept = at;
                }
                None => {
                    before = Some(next);
                    at += next.len_utf8();
                }
            }
        }
        if kept == 0 {
            return None;
        }
        out.push_str(text.get(kept..)?);
        Some(out)
    }

    /// What begins at this place of a text and is to be replaced: its length and what takes its place.
    fn here(&self, text: &str, at: usize, before: Option<char>) -> Option<(usize, &str)> {
        let rest = text.get(at..)?;
        let word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let folder = self
            .folders
            .iter()
            .rev()
            .filter(|(from, _)| rest.starts_with(from.as_str()))
            .find(|(from, _)| {
                let after = rest.get(from.len()..).and_then(|rest| rest.chars().next());
                let goes_on = after
                    .is_some_and(|next| next.is_alphanumeric() || "_-".contains(next))
                    || (after == Some('.')
                        && rest
                            .get(from.len() + 1..)
                            .and_then(|rest| rest.chars().next())
                            .is_some_and(char::is_alphanumeric));
                let in_a_word = from.starts_with('/') && word(before);
                !goes_on && !in_a_word
            });
        if let Some((from, to)) = folder {
            return Some((from.len(), to));
        }
        if word(before) && word(rest.chars().next()) {
            return None;
        }
        for length in self.lengths.range(INSIDE_FROM..).rev() {
            let Some(candidate) = rest.get(..*length) else {
                continue;
            };
            let Some(to) = self.strings.get(candidate) else {
                continue;
            };
            let after = rest.get(*length..).and_then(|rest| rest.chars().next());
            if !(word(after) && word(candidate.chars().next_back())) {
                return Some((*length, to));
            }
        }
        None
    }
}

/// A path as it stands in a URI.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/{}:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bound(pairs: &[(Identifier, &str, &str)]) -> Bindings {
        let mut bindings = Bindings::default();
        for (identifier, recorded, live) in pairs {
            bindings.bind(*identifier, (None, None), &json!(recorded), &json!(live));
        }
        bindings
    }

    #[test]
    fn an_id_is_replaced_at_its_place_and_in_texts_only_if_it_is_long() {
        let bindings = bound(&[
            (Identifier::Session, "s1", "live-session"),
            (Identifier::Session, "sess_12345678", "new"),
        ]);
        let text = r#"{"sessionId":"s1","text":"s1 in sess_12345678, not sess_123456789","_meta":{"x":"s1"}, "title":"s1"}"#;
        assert_eq!(
            bindings.to_live(None, text),
            r#"{"sessionId":"live-session","text":"s1 in new, not sess_123456789","_meta":{"x":"live-session"}, "title":"s1"}"#
        );
    }

    #[test]
    fn a_kind_of_id_does_not_stand_for_another() {
        let bindings = bound(&[
            (Identifier::Session, "1", "a"),
            (Identifier::ToolCall, "1", "b"),
        ]);
        let text = r#"{"sessionId":"1","toolCallId":"1","optionId":"1"}"#;
        assert_eq!(
            bindings.to_live(None, text),
            r#"{"sessionId":"a","toolCallId":"b","optionId":"1"}"#
        );
    }

    #[test]
    fn the_deepest_folder_counts_and_a_name_that_only_begins_alike_stays() {
        let mut bindings = Bindings::default();
        bindings.bind_folder("/home/ada", "/run/home");
        bindings.bind_folder("/home/ada/project", "/run/workspace");
        let text = r#"{"a":"/home/ada/project/x","b":"file:///home/ada/project","c":"/home/ada/project2","d":"see /home/ada.","e":"/home/adam"}"#;
        assert_eq!(
            bindings.to_live(None, text),
            r#"{"a":"/run/workspace/x","b":"file:///run/workspace","c":"/run/home/project2","d":"see /run/home.","e":"/home/adam"}"#
        );
    }

    #[test]
    fn a_folder_is_found_in_a_uri_too() {
        let mut bindings = Bindings::default();
        bindings.bind_folder("/home/ada", "/run/home");
        bindings.bind_folder("/home/ada/my proj é", "/run/workspace");
        let text = r#"{"uri":"file:///home/ada/my%20proj%20%C3%A9/y","cwd":"/home/ada/my proj é"}"#;
        assert_eq!(
            bindings.to_live(None, text),
            r#"{"uri":"file:///run/workspace/y","cwd":"/run/workspace"}"#
        );
    }

    #[test]
    fn an_id_that_is_no_string_is_put_in_as_it_is() {
        let mut bindings = Bindings::default();
        bindings.bind(Identifier::Session, (None, None), &json!("a"), &json!(7));
        assert_eq!(
            bindings.to_live(None, r#"{"sessionId":"a"}"#),
            r#"{"sessionId":7}"#
        );
    }

    #[test]
    fn tool_calls_of_two_sessions_may_bear_one_id() {
        let mut bindings = Bindings::default();
        for (recorded, live, call) in [("a", "A", "x"), ("b", "B", "y")] {
            bindings.bind(
                Identifier::ToolCall,
                (Some(recorded), Some(live)),
                &json!("call"),
                &json!(call),
            );
        }
        let text = r#"{"toolCallId":"call"}"#;
        assert_eq!(bindings.to_live(Some("a"), text), r#"{"toolCallId":"x"}"#);
        assert_eq!(bindings.to_live(Some("b"), text), r#"{"toolCallId":"y"}"#);
        assert_eq!(
            bindings.in_recorded_terms(Some("B"), &json!({"toolCallId": "y"})),
            json!({"toolCallId": "call"})
        );
    }
}
