//! Which session of the agent a request is made in.
//!
//! It is told by what the request carries: ids of calls that were made in a session, words of its prompts, words of
//! replies that were given in it.

use std::collections::VecDeque;

use super::asked::{Asked, Message, Role};
use super::prompt::{letters, words};
use super::script::{Reply, Text};

/// How much is remembered of a session: so many prompts, replies and calls.
const REMEMBERED: usize = 64;
/// How many letters and digits of a text are looked for.
const LETTERS: usize = 400;

/// What is known of the agent's sessions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions {
    known: Vec<Session>,
}

#[derive(Clone, Debug, Default)]
struct Session {
    name: String,
    /// Letters of its prompts.
    prompts: VecDeque<String>,
    /// Letters of the replies given in it.
    replies: VecDeque<String>,
    /// Ids of calls made in it.
    calls: VecDeque<String>,
}

impl Sessions {
    /// Remembers a prompt that is about to be sent in a session.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) {
        let place = match self.known.iter().position(|own| own.name == session) {
            Some(place) => place,
            None => {
                self.known.push(Session {
                    name: session.to_owned(),
                    ..Session::default()
                });
                self.known.len() - 1
            }
        };
        if let Some(own) = self.known.get_mut(place) {
            keep(
                &mut own.prompts,
                letters(words(text)).take(LETTERS).collect(),
            );
        }
    }

    /// Remembers a reply that was given in a session.
    pub(crate) fn replied(&mut self, session: &str, reply: &Reply) {
        let said = match &reply.say {
            Some(Text::Whole(text)) => text.clone(),
            Some(Text::Chunks(chunks)) => chunks.concat(),
            None => return,
        };
        if let Some(own) = self.named(session) {
            keep(&mut own.replies, letters(&said).take(LETTERS).collect());
        }
    }

    /// Remembers the id of a call that was made in a session.
    pub(crate) fn called(&mut self, session: &str, id: &str) {
        if let Some(own) = self.named(session) {
            keep(&mut own.calls, id.to_owned());
        }
    }

    /// The sessions that a request may have been made in: one where it is told, all where nothing tells.
    pub(crate) fn of(&self, asked: &Asked) -> Vec<&str> {
        let mut left: Vec<&Session> = self.known.iter().collect();
        let newest = || asked.messages.iter().rev();
        narrow(&mut left, newest(), &|own, message| {
            let results = message.results.iter().map(|result| &result.id);
            let mut ids = message.calls.iter().map(|call| &call.id).chain(results);
            usize::from(ids.any(|id| !id.is_empty() && own.calls.contains(id)))
        });
        let said_by = |role: Role| newest().filter(move |message| message.role == role);
        narrow(&mut left, said_by(Role::User), &|own, message| {
            longest(&own.prompts, &message.text)
        });
        narrow(&mut left, said_by(Role::Model), &|own, message| {
            longest(&own.replies, &message.text)
        });
        left.into_iter().map(|own| own.name.as_str()).collect()
    }

    fn named(&mut self, session: &str) -> Option<&mut Session> {
        self.known.iter_mut().find(|own| own.name == session)
    }
}

/// Leaves those sessions of which a message tells most, message by message, until there is one.
fn narrow<'a>(
    left: &mut Vec<&Session>,
    messages: impl Iterator<Item = &'a Message>,
    told: &dyn Fn(&Session, &Message) -> usize,
) {
    for message in messages {
        if left.len() < 2 {
            return;
        }
        let tells: Vec<usize> = left.iter().map(|own| told(own, message)).collect();
        let most = tells.iter().copied().max().unwrap_or(0);
        if most > 0 {
            let mut tells = tells.into_iter();
            left.retain(|_| tells.next() == Some(most));
        }
    }
}

/// The length of the longest of these texts that is in the message.
fn longest(texts: &VecDeque<String>, message: &str) -> usize {
    let message: String = letters(message).collect();
    let within = texts.iter().filter(|text| message.contains(text.as_str()));
    within.map(String::len).max().unwrap_or(0)
}

fn keep(texts: &mut VecDeque<String>, text: String) {
    if text.is_empty() || texts.contains(&text) {
        return;
    }
    if texts.len() == REMEMBERED {
        texts.pop_front();
    }
    texts.push_back(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::asked::Called;

    fn asked(messages: &[(Role, &str)]) -> Asked {
        let messages = messages.iter().map(|(role, text)| Message {
            role: *role,
            text: (*text).to_owned(),
            ..Message::default()
        });
        Asked::default().holding(messages.collect(), None)
    }

    fn sessions() -> Sessions {
        let mut sessions = Sessions::default();
        sessions.prompt("a", "Say hello.");
        sessions.prompt("b", "Say hello. Then say it again!");
        sessions
    }

    #[test]
    fn a_session_is_told_by_its_prompt_however_it_is_wrapped() {
        let sessions = sessions();
        for (text, session) in [
            ("<context>x</context>\nSay  hello", "a"),
            ("say hello\u{2028}then say it again", "b"),
        ] {
            assert_eq!(sessions.of(&asked(&[(Role::User, text)])), [session]);
        }
    }

    #[test]
    fn what_was_said_before_tells_two_sessions_with_the_same_last_prompt_apart() {
        let mut sessions = sessions();
        sessions.prompt("a", "Go on.");
        sessions.prompt("b", "Go on.");
        let history = |first: &str, reply: &str| {
            asked(&[
                (Role::User, first),
                (Role::Model, reply),
                (Role::User, "Go on."),
            ])
        };
        assert_eq!(sessions.of(&history("Say hello.", "Hm.")), ["a"]);
        assert_eq!(sessions.of(&history("(Left out.)", "Hm.")), ["a", "b"]);
        let said: Reply = toml::from_str("say = [\"He\", \"ron.\"]").unwrap();
        sessions.replied("b", &said);
        assert_eq!(sessions.of(&history("(Left out.)", "Heron.")), ["b"]);
    }

    #[test]
    fn the_id_of_a_call_tells_more_than_words() {
        let mut sessions = sessions();
        sessions.called("b", "call_1");
        let mut asked = asked(&[(Role::User, "Say hello."), (Role::Model, "")]);
        asked.messages[1].calls.push(Called {
            id: "call_1".into(),
            ..Called::default()
        });
        assert_eq!(sessions.of(&asked), ["b"]);
    }

    #[test]
    fn nothing_is_told_by_a_request_without_words() {
        assert_eq!(sessions().of(&asked(&[(Role::User, "…")])), ["a", "b"]);
        assert!(Sessions::default().of(&asked(&[])).is_empty());
    }
}
