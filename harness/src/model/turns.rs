//! Which reply of the script a request gets.

use super::asked::{Asked, Conversation};
use super::script::{Failure, NamedFailure, Reply, Script};
use super::sessions::Sessions;
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

/// The script and the places in it: each session takes the replies that are for it, and those that are for any, in
/// their order. Where nothing tells which session a request was made in, it takes the next reply in the order of arrival.
#[derive(Debug)]
pub(crate) struct Turns {
    script: Script,
    /// Whether each reply was given, and in which session as far as that is known.
    given: Vec<Option<Given>>,
    /// The failing replies given last, one for each session.
    failed: Vec<Failed>,
    /// The reply for which the port is closed.
    shut: Option<usize>,
    by_arrival: u64,
    seen: Seen,
    sessions: Sessions,
}

/// That a reply was given.
#[derive(Clone, Debug)]
struct Given {
    session: Option<String>,
}

/// A failing reply, and the conversation it was given to.
#[derive(Debug)]
struct Failed {
    index: usize,
    conversation: Conversation,
    session: Option<String>,
}

impl Turns {
    /// The beginning of a script.
    pub(crate) fn new(script: Script) -> Self {
        Self {
            given: vec![None; script.len()],
            script,
            failed: Vec::new(),
            shut: None,
            by_arrival: 0,
            seen: Seen::default(),
            sessions: Sessions::default(),
        }
    }

    /// What this request is answered with.
    ///
    /// A failing reply is not used up by a retry: a request with the same number of messages and the same last
    /// message gets the same failure again, until a prompt is noted or the conversation goes on.
    pub(crate) fn take(&mut self, asked: &Asked) -> Turn {
        let told = self.sessions.of(asked).into_iter().map(str::to_owned);
        let told: Vec<String> = told.collect();
        // After a cut some agents ask the model to go on, in words of their own.
        let goes_on = self.was_cut(&told) && !asked.tools.is_empty();
        if !goes_on && let Some(reason) = side::reason(asked, &self.seen) {
            return Turn::Side(reason);
        }
        self.seen.turn(asked);
        let same = |failed: &&Failed| failed.conversation == asked.conversation;
        let retried = self.failed.iter().find(same).map(|failed| failed.index);
        self.failed
            .retain(|failed| !may_be(&told, failed.session.as_deref()));
        let Some(index) = retried.or_else(|| self.pick(&told)) else {
            return Turn::Beyond;
        };
        let Some(reply) = self.script.get(index) else {
            return Turn::Beyond;
        };
        if refuses(reply) {
            self.shut = Some(index);
            return Turn::Refuse;
        }
        let session = match (&reply.session, told.as_slice()) {
            (Some(session), _) => Some(session.clone()),
            (None, [session]) => Some(session.clone()),
            (None, _) => None,
        };
        if let Some(session) = &session {
            self.sessions.replied(session, reply);
        }
        if reply.fail.is_some() {
            self.failed.push(Failed {
                index,
                conversation: asked.conversation.clone(),
                session: session.clone(),
            });
        }
        if let Some(given) = self.given.get_mut(index) {
            *given = Some(Given { session });
        }
        Turn::Reply(index, Box::new(reply.clone()))
    }

    /// The next reply for a request that may have been made in these sessions.
    fn pick(&mut self, told: &[String]) -> Option<usize> {
        let next = self.open(told);
        if told.len() > 1 {
            let each = told
                .iter()
                .map(|session| self.open(std::slice::from_ref(session)));
            if each.into_iter().any(|own| own.is_some() && own != next) {
                self.by_arrival += 1;
            }
        }
        next
    }

    /// The first reply that was not given and is for one of these sessions, or for any.
    fn open(&self, told: &[String]) -> Option<usize> {
        let mut replies = self.script.iter().zip(&self.given);
        replies.position(|(reply, given)| given.is_none() && may_be(told, reply.session.as_deref()))
    }

    /// Every prompt will be noted, so that what comes before the first is no turn.
    pub(crate) fn prompts_are_told(&mut self) {
        self.seen.prompts_are_told();
    }

    /// A prompt is about to be sent in a session: what it says. A refused connection of the turn before is over.
    pub(crate) fn note_prompt(&mut self, session: &str, text: &str) {
        self.pass_refused();
        self.failed
            .retain(|failed| failed.session.as_deref().is_some_and(|own| own != session));
        self.seen.prompt(text);
        self.sessions.prompt(session, text);
        self.shut = self.refused_next(&[session.to_owned()]);
    }

    /// The calls with these ids were made by the reply with this index.
    pub(crate) fn called<'a>(&mut self, index: usize, ids: impl Iterator<Item = &'a str>) {
        if let Some(session) = self.given_in(index) {
            ids.for_each(|id| self.sessions.called(&session, id));
        }
    }

    /// The reply with this index is about to end. If it called tools, the agent will ask again in the same turn.
    pub(crate) fn ending(&mut self, index: usize) {
        let reply = self.script.get(index);
        if self.shut.is_none() && reply.is_some_and(|reply| reply.call.is_some()) {
            let session: Vec<String> = self.given_in(index).into_iter().collect();
            let next = self.refused_next(&session);
            self.shut = next.filter(|next| *next > index);
        }
    }

    /// Ends a refused connection, if there is one.
    pub(crate) fn pass_refused(&mut self) -> bool {
        let Some(index) = self.shut.take() else {
            return false;
        };
        if let Some(given) = self.given.get_mut(index) {
            *given = Some(Given { session: None });
        }
        true
    }

    /// Whether connections are to be refused now.
    pub(crate) fn shut(&self) -> bool {
        self.shut.is_some()
    }

    /// How many replies of the script were used.
    pub(crate) fn used(&self) -> usize {
        let given = self.given.iter().filter(|given| given.is_some()).count();
        given + usize::from(self.shut.is_some())
    }

    /// How many requests got a reply in the order of arrival, though there were replies for several sessions.
    pub(crate) fn by_arrival(&self) -> u64 {
        self.by_arrival
    }

    /// Whether the last reply in one of these sessions was cut, and no prompt came since.
    fn was_cut(&self, told: &[String]) -> bool {
        let own = |failed: &&Failed| may_be(told, failed.session.as_deref());
        self.failed.iter().filter(own).any(|failed| {
            let reply = self.script.get(failed.index);
            reply.is_some_and(|reply| reply.fail == Some(Failure::Named(NamedFailure::Cut)))
        })
    }

    fn given_in(&self, index: usize) -> Option<String> {
        self.given.get(index)?.as_ref()?.session.clone()
    }

    /// The next reply for these sessions, if it is a refused connection.
    fn refused_next(&self, told: &[String]) -> Option<usize> {
        let next = self.open(told)?;
        self.script.get(next).is_some_and(refuses).then_some(next)
    }
}

/// Whether what is for this session (any, if it has none) may be for one of those that were told (any, if none was).
fn may_be(told: &[String], session: Option<&str>) -> bool {
    session.is_none_or(|own| told.is_empty() || told.iter().any(|name| name == own))
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
        turns.note_prompt("main", "hi");
        assert_eq!(index(turns.take(&asked(1, "hi"))), Some(0));
        turns.note_prompt("main", "hi");
        assert_eq!(index(turns.take(&asked(1, "hi"))), Some(1));
    }

    #[test]
    fn a_refused_turn_lasts_until_the_next_prompt_is_noted() {
        let mut turns = scripted("[[model]]\nfail = \"refused\"\n[[model]]\nsay = \"b\"");
        assert!(!turns.shut());
        turns.note_prompt("main", "a");
        assert!(turns.shut());
        assert_eq!(turns.used(), 1);
        turns.note_prompt("main", "b");
        assert!(!turns.shut());
        assert_eq!(index(turns.take(&asked(1, "b"))), Some(1));
    }

    #[test]
    fn a_refused_turn_after_a_tool_call_begins_when_the_call_was_made() {
        let mut turns = scripted(
            "[[model]]\ncall = { kind = \"execute\", command = \"ls\" }\n[[model]]\nfail = \"refused\"",
        );
        turns.note_prompt("main", "a");
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
        turns.note_prompt("main", "Tell me");
        assert_eq!(index(turns.take(&user("Tell me", 1))), Some(0));
        assert!(matches!(
            turns.take(&user("Guess what comes", 3)),
            Turn::Side(_)
        ));
        turns.note_prompt("main", "And more");
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

    /// A request of a conversation with this one message of the user.
    fn said(text: &str) -> Asked {
        let message = crate::model::asked::Message {
            text: text.into(),
            ..Default::default()
        };
        Asked {
            tools: vec![Tool::default()],
            ..Asked::default()
        }
        .holding(vec![message], Some(&serde_json::json!(text)))
    }

    const TWO: &str = "[[model]]\nsession = \"a\"\nsay = \"1\"\n[[model]]\nsession = \"b\"\nsay = \"2\"\n\
                       [[model]]\nsession = \"a\"\nsay = \"3\"\n[[model]]\nsay = \"4\"";

    #[test]
    fn each_session_has_its_own_place_whatever_the_order_of_arrival() {
        for a_first in [true, false] {
            let mut turns = scripted(TWO);
            turns.note_prompt("a", "Count the herons");
            turns.note_prompt("b", "Count the otters");
            let mut expect = |text: &str, reply: usize| {
                assert_eq!(index(turns.take(&said(text))), Some(reply), "{text}");
            };
            if a_first {
                expect("<x/> Count the herons.", 0);
                expect("Count the otters!", 1);
                expect("Count the herons.", 2);
                expect("Count the otters!", 3);
            } else {
                expect("Count the otters", 1);
                expect("Count the otters", 3);
                expect("Count the herons", 0);
                expect("Count the herons", 2);
            }
            assert_eq!(turns.take(&said("Count the herons")), Turn::Beyond);
            assert_eq!(turns.by_arrival(), 0);
        }
    }

    #[test]
    fn requests_of_which_nothing_tells_the_session_are_served_as_they_come_and_counted() {
        let mut turns = scripted(TWO);
        turns.note_prompt("a", "Count");
        turns.note_prompt("b", "Count");
        assert_eq!(index(turns.take(&said("Count"))), Some(0));
        assert_eq!(turns.by_arrival(), 1);
        assert_eq!(index(turns.take(&said("Count on"))), Some(1));
    }

    #[test]
    fn a_failure_in_one_session_is_retried_there_and_not_in_another() {
        let mut turns = scripted(
            "[[model]]\nsession = \"a\"\nfail = { status = 500 }\n[[model]]\nsession = \"b\"\nsay = \"b\"\n\
             [[model]]\nsession = \"a\"\nsay = \"a\"",
        );
        turns.note_prompt("a", "heron");
        turns.note_prompt("b", "otter");
        assert_eq!(index(turns.take(&said("heron"))), Some(0));
        assert_eq!(index(turns.take(&said("otter"))), Some(1));
        assert_eq!(index(turns.take(&said("heron"))), Some(0));
        turns.note_prompt("a", "heron two");
        assert_eq!(index(turns.take(&said("heron two"))), Some(2));
    }
}
