//! A live trace that takes the place of the recording that it was replayed from.

use std::collections::HashSet;

use super::bindings::Bindings;
use crate::trace::{Body, Recording};

/// The live trace as a recording: with the folders of the recording in place of those of the run, without what the harness
/// put in, and with what is said about the recording kept. `folders` are pairs of a live folder and the recorded one.
pub(crate) fn accepted(
    recording: &Recording,
    live: &Recording,
    folders: &[(String, String)],
    put_in: &[u64],
) -> Recording {
    let mut bindings = Bindings::default();
    for (live, recorded) in folders {
        bindings.bind_folder(live, recorded);
    }
    let put_in: HashSet<u64> = put_in.iter().copied().collect();
    let mut header = live.header.clone();
    header.about.clone_from(&recording.header.about);
    header.workspace.clone_from(&recording.header.workspace);
    header.cwd.clone_from(&recording.header.cwd);
    header.start = recording.header.start;
    header.redacted = recording.header.redacted;
    let kept = (0u64..)
        .zip(&live.events)
        .filter(|(number, _)| !put_in.contains(number));
    let events = kept.map(|(_, event)| {
        let mut event = event.clone();
        match &mut event.body {
            Body::Message { text, .. } => *text = bindings.to_live(None, text),
            Body::Line { bytes, .. } | Body::Stderr(bytes) => {
                if let Ok(text) = std::str::from_utf8(bytes) {
                    *bytes = bindings.text_to_live(text).into_bytes();
                }
            }
            Body::Model(exchange) => exchange.each_text(|text| bindings.text_to_live(text)),
            _ => {}
        }
        event
    });
    Recording {
        header,
        events: events.collect(),
        damage: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::talking::events;
    use crate::trace::Header;

    #[test]
    fn folders_are_those_of_the_recording_again_and_what_is_said_about_it_stays() {
        let recording = Recording {
            header: Header {
                about: Some("What it shows.".into()),
                cwd: Some("{home}/project".into()),
                ..Header::new()
            },
            ..Recording::default()
        };
        let live = Recording {
            header: Header {
                cwd: Some("/run/workspace".into()),
                by: Some("harness".into()),
                ..Header::new()
            },
            events: events(
                r#"
                > {"id":"put-in","method":"initialize"}
                > {"id":1,"method":"session/new","params":{"cwd":"/run/workspace"}}
                < {"id":1,"result":{"sessionId":"live"}}
            "#,
            ),
            ..Recording::default()
        };
        let folders = [("/run/workspace".to_owned(), "{home}/project".to_owned())];
        let accepted = accepted(&recording, &live, &folders, &[0]);
        assert_eq!(accepted.header.about, recording.header.about);
        assert_eq!(accepted.header.cwd, recording.header.cwd);
        assert_eq!(accepted.header.by.as_deref(), Some("harness"));
        assert_eq!(accepted.events.len(), 2);
        let Body::Message { text, .. } = &accepted.events[0].body else {
            panic!("no message");
        };
        assert!(text.contains(r#""cwd":"{home}/project""#), "{text}");
    }
}
