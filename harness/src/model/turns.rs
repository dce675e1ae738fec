//! Which reply of the script a request gets.

use super::asked::{Asked, Conversation};
use super::script::{Failure, NamedFailure, Reply, Script};
use super::side::{self, Seen};

/// What a request is answered with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    /// It asks for something beside the conversation, named here; the script stays where it is.
    Side(&'static str),
    /// The same, with the reply that was recorded for it.
    Aside(&'static str, Box<Reply>),
    /// The reply of the script with this index.
    Reply(usize, Box<Reply>),
    /// The recording has no reply for it: what says so.
    Miss(Box<Reply>),
    /// The script has no reply left.
    Beyond,
    /// The next reply is a refused connection, and yet there is one: it is broken off.
    Refuse,
}

/// The script and the place in it. One place for the whole server: requests take replies in the order of arrival.
#[derive(Debug)]
pub(crate) struct Turns {
    script: Script,
    next: usize,
    /// The failing reply given last, and the conversation it was given to.
    failed: Option<(usize, Conversation)>,
    /// Whether the port is closed for the reply at `next`.
    shut: bool,
    seen: Seen,
}

impl Turns {
    /// The beginning of a script.
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script,
            next: 0,
            failed: None,
            shut: false,
            seen: Seen::default(),
        }
    }

    /// What this request is answered with.
    ///
    /// A failing reply is not used up by a retry: a request with the same number of messages and the same last
    /// message gets the same failure again, until a prompt is noted or the conversation goes on.
    pub(crate) fn take(&mut self, asked: &Asked) -> Turn {
        // After a cut some agents ask the model to go on, in words of their own.
        let goes_on = self.was_cut() && !asked.tools.is_empty();
        if !goes_on && let Some(reason) = side::reason(asked, &self.seen) {
            return Turn::Side(reason);
        }
        self.seen.turn(asked);
        let index = match self.failed.take() {
            Some((index, conversation)) if conversation == asked.conversation => index,
            _ => self.next,
        };
        let Some(reply) = self.script.get(index) else {
            return Turn::Beyond;
        };
        if refuses(reply) {
            self.shut = true;
            return Turn::Refuse;
        }
        if reply.fail.is_some() {
            self.failed = Some((index, asked.conversation.clone()));
        }
        self.next = self.next.max(index + 1);
        Turn::Reply(index, Box::new(reply.clone()))
    }

    /// A prompt is about to be sent: what it says. A refused connection of the turn before is over.
    pub(crate) fn note_prompt(&mut self, text: &str) {
        self.pass_refused();
        self.failed = None;
        self.seen.prompt(text);
        self.shut = self.refuses_next();
    }

    /// The reply with this index is about to end. If it called tools, the agent will ask again in the same turn.
    pub(crate) fn ending(&mut self, index: usize) {
        let calls = self
            .script
            .get(index)
            .is_some_and(|reply| reply.call.is_some());
        if calls && self.next == index + 1 {
            self.shut = self.refuses_next();
        }
    }

    /// Ends a refused connection, if there is one.
    pub(crate) fn pass_refused(&mut self) -> bool {
        let was_shut = self.shut;
        if was_shut {
            self.next += 1;
            self.shut = false;
        }
        was_shut
    }

    /// Whether connections are to be refused now.
    pub(crate) fn shut(&self) -> bool {
        self.shut
    }

    /// How many replies of the script were used.
    pub(crate) fn used(&self) -> usize {
        self.next + usize::from(self.shut)
    }

    /// Whether the last reply was cut, and no prompt came since.
    fn was_cut(&self) -> bool {
        let reply = self
            .failed
            .as_ref()
            .and_then(|(index, _)| self.script.get(*index));
        reply.is_some_and(|reply| reply.fail == Some(Failure::Named(NamedFailure::Cut)))
    }

    fn refuses_next(&self) -> bool {
        self.script.get(self.next).is_some_and(refuses)
    }
}

fn refuses(reply: &Reply) -> bool {
    reply.fail == Some(Failure::Named(NamedFailure::Refused))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::asked::Tool;

    fn script(toml: &str) -> Script {
        #[derive(serde::Deserialize)]
        struct File {
            model: Script,
        }
        toml::from_str::<File>(toml).unwrap().model
    }

    fn scripted(toml: &str) -> Turns {
        Turns::new(script(toml))
    }

    fn asked(messages: usize, last: &str) -> Asked {
        Asked {
            tools: vec![Tool::default()],
            conversation: Conversation {
                messages,
                last: last.into(),
            },
            ..Asked::default()
        }
    }

    fn index(turn: Turn) -> Option<usize> {
        match turn {
            Turn::Reply(index, _) => Some(index),
            _ => None,
        }
    }

    #[test]
    fn a_retry_gets_the_same_failure_and_the_next_turn_the_next_reply() {
        let mut turns = scripted("[[model]]\nfail = { status = 500 }\n[[model]]\nsay = \"b\"");
        for _ in 0..3 {
            assert_eq!(index(turns.take(&asked(2, "hi"))), Some(0));
        }
        assert_eq!(turns.used(), 1);
        assert_eq!(index(turns.take(&asked(4, "next"))), Some(1));
        assert_eq!(turns.take(&asked(2, "hi")), Turn::Beyond);
    }

    #[test]
    fn the_same_prompt_again_is_no_retry() {
        let mut turns = scripted("[[model]]\nfail = \"cut\"\n[[model]]\nsay = \"b\"");
        turns.note_prompt("hi");
        assert_eq!(index(turns.take(&asked(1, "hi"))), Some(0));
        turns.note_prompt("hi");
        assert_eq!(index(turns.take(&asked(1, "hi"))), Some(1));
    }

    #[test]
    fn a_refused_turn_lasts_until_the_next_prompt_is_noted() {
        let mut turns = scripted("[[model]]\nfail = \"refused\"\n[[model]]\nsay = \"b\"");
        assert!(!turns.shut());
        turns.note_prompt("a");
        assert!(turns.shut());
        assert_eq!(turns.used(), 1);
        turns.note_prompt("b");
        assert!(!turns.shut());
        assert_eq!(index(turns.take(&asked(1, "b"))), Some(1));
    }

    #[test]
    fn a_refused_turn_after_a_tool_call_begins_when_the_call_was_made() {
        let mut turns = scripted(
            "[[model]]\ncall = { kind = \"execute\", command = \"ls\" }\n[[model]]\nfail = \"refused\"",
        );
        turns.note_prompt("a");
        assert_eq!(index(turns.take(&asked(1, "a"))), Some(0));
        turns.ending(0);
        assert!(turns.shut());
        assert!(turns.pass_refused());
        assert_eq!(turns.take(&asked(3, "result")), Turn::Beyond);
    }

    #[test]
    fn a_request_to_go_on_after_a_cut_is_a_turn_and_other_words_else_are_not() {
        let mut turns =
            scripted("[[model]]\nsay = \"a\"\n[[model]]\nfail = \"cut\"\n[[model]]\nsay = \"c\"");
        let user = |words: &str, messages| Asked {
            last_user: words.into(),
            ..asked(messages, words)
        };
        turns.note_prompt("Tell me");
        assert_eq!(index(turns.take(&user("Tell me", 1))), Some(0));
        assert!(matches!(
            turns.take(&user("Guess what comes", 3)),
            Turn::Side(_)
        ));
        turns.note_prompt("And more");
        assert_eq!(index(turns.take(&user("And more", 3))), Some(1));
        assert_eq!(index(turns.take(&user("Please continue", 5))), Some(2));
    }

    #[test]
    fn a_side_request_leaves_the_script_where_it_is() {
        let mut turns = scripted("[[model]]\nsay = \"a\"\n[[model]]\nsay = \"b\"");
        assert_eq!(index(turns.take(&asked(1, "a"))), Some(0));
        let mut aside = asked(1, "x");
        aside.tools.clear();
        assert!(matches!(turns.take(&aside), Turn::Side(_)));
        assert_eq!(index(turns.take(&asked(3, "b"))), Some(1));
    }
}
