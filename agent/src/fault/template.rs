//! Texts with places that are filled in from what has passed.

use serde_json::Value;

/// What the places stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// `{session}`: the session of the message, or else the last one that was opened.
    pub(super) session: String,
    /// `{other}`: another session that is open; without one, the same.
    pub(super) other: String,
    /// `{call}`: the last tool call.
    pub(super) call: String,
    /// `{terminal}`: the last terminal that a request named.
    pub(super) terminal: String,
    /// `{request}`: the id of the agent's last request, as JSON.
    pub(super) request: String,
    /// `{cwd}`: the folder of the last session.
    pub(super) cwd: String,
    /// `{here}`: the folder of this process.
    pub(super) here: String,
    /// `{id}`: the id of the message, or of the last request of the client's, as JSON.
    pub(super) id: String,
    /// `{message}`: the line, as it would have been written.
    pub(super) message: String,
    /// `{value}`: the member that is set, as JSON; `{text}`: the same without its quotes.
    pub(super) value: String,
    /// `{n}`: how many messages were selected so far.
    pub(super) count: u64,
}

/// Fills the places of a text. Other braces are left alone, as JSON is full of them.
pub(super) fn fill(text: &str, places: &Places) -> String {
    let unquoted = |text: &str| {
        let inner = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        inner.unwrap_or(text).to_owned()
    };
    let quoted = |text: &str| unquoted(&Value::from(text).to_string());
    let mut filled = text.to_owned();
    for (place, value) in [
        ("{session}", quoted(&places.session)),
        ("{other}", quoted(&places.other)),
        ("{call}", quoted(&places.call)),
        ("{terminal}", quoted(&places.terminal)),
        ("{request}", places.request.clone()),
        ("{cwd}", quoted(&places.cwd)),
        ("{here}", quoted(&places.here)),
        ("{id}", places.id.clone()),
        ("{value}", places.value.clone()),
        ("{text}", unquoted(&places.value)),
        ("{n}", places.count.to_string()),
        ("{message}", places.message.clone()),
    ] {
        if filled.contains(place) {
            filled = filled.replace(place, &value);
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_and_other_braces_left() {
        let places = Places {
            session: "a\"b".to_owned(),
            value: "\"é\"".to_owned(),
            count: 3,
            ..Places::default()
        };
        let filled = fill(
            r#"{"s":"{session}","v":{value},"t":"{text}!","n":{n}}"#,
            &places,
        );
        assert_eq!(filled, r#"{"s":"a\"b","v":"é","t":"é!","n":3}"#);
    }
}
