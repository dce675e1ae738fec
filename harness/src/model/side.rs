//! Which requests ask for something beside the conversation: a title, a summary, a topic check, a warm-up.
//!
//! They must not use up the script. They are told by what they carry: an agent that works with tools offers them in
//! every turn of a conversation, so a request without tools may be one of these; and one that asks with other words
//! than the user's is one, of an agent that is known to pass the user's words on.

use std::collections::VecDeque;

use serde_json::json;

use super::asked::{Answer, Asked};
use super::tools;

/// What a side request is answered with.
const NEUTRAL: &str = "Session";

/// Words by which a request shows what it is for. Each row: the reason, words of which one must occur in a sentence,
/// and words of which one must occur in the same sentence.
const SIGNS: &[(&str, &[&str], &[&str])] = &[
    (
        "title",
        &["title", "headline", "short name"],
        &[
            "generat", "create", "write", "produce", "come up", "suggest", "provide", "respond",
            "return", "extract", "give", "output",
        ],
    ),
    (
        "summary",
        &[
            "summary",
            "summaries",
            "summarize",
            "summarise",
            "summarizing",
            "summarising",
        ],
        &[
            "conversation",
            "session",
            "chat",
            "dialog",
            "history",
            "transcript",
            "thread",
        ],
    ),
    (
        "topic",
        &["topic"],
        &[
            "conversation",
            "message",
            "is new",
            "new topic",
            "classify",
            "detect",
            "analyze",
        ],
    ),
];

/// How many prompts are remembered: more than sessions that run side by side.
const PROMPTS: usize = 16;
/// How many letters and digits of a prompt are looked for.
const LETTERS: usize = 40;

/// What earlier requests and prompts taught about the agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// A turn offered tools.
    tools: bool,
    /// A turn with tools carried the words of a prompt.
    words: bool,
    /// The last prompts, the newest last.
    prompts: VecDeque<String>,
}

impl Seen {
    /// Remembers a prompt that is about to be sent.
    pub(crate) fn prompt(&mut self, text: &str) {
        if self.prompts.len() == PROMPTS {
            self.prompts.pop_front();
        }
        self.prompts.push_back(text.trim().to_owned());
    }

    /// Learns from a turn.
    pub(crate) fn turn(&mut self, asked: &Asked) {
        if !asked.tools.is_empty() {
            self.tools = true;
            self.words |= !self.prompts.is_empty() && self.carries_prompt(&asked.last_user);
        }
    }

    /// Whether a text carries the beginning of one of the prompts. Only letters and digits count, since agents wrap
    /// and tidy texts, and a leading `/command` does not; where none are left, nothing can be told.
    fn carries_prompt(&self, text: &str) -> bool {
        let text: String = letters(text).collect();
        self.prompts.iter().any(|prompt| {
            let words = match prompt.strip_prefix('/') {
                Some(command) => command
                    .split_once(char::is_whitespace)
                    .map_or("", |all| all.1),
                None => prompt.as_str(),
            };
            let beginning: String = letters(words).take(LETTERS).collect();
            text.contains(&beginning)
        })
    }
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
}

/// Why this request is beside the conversation; `None` where it is a turn of it.
pub(crate) fn reason(asked: &Asked, seen: &Seen) -> Option<&'static str> {
    if !asked.tools.is_empty() {
        let other = seen.words && !asked.last_user.is_empty();
        return (other && !seen.carries_prompt(&asked.last_user)).then_some("other words");
    }
    // A first message that is just the prompt is no sign, whatever it speaks of.
    let user = match seen.prompts.back() {
        Some(prompt) if !prompt.is_empty() => asked.first_user.replace(prompt, " "),
        _ => asked.first_user.clone(),
    };
    let told = format!("{}\n{user}", asked.system).to_lowercase();
    for sentence in told.split(['.', '!', '?', '\n']) {
        let has = |words: &[&str]| words.iter().any(|word| sentence.contains(word));
        for (reason, these, those) in SIGNS {
            if has(these) && has(those) {
                return Some(reason);
            }
        }
    }
    if asked.answer != Answer::Text {
        return Some("structured answer");
    }
    if asked.max_tokens.is_some_and(|tokens| tokens <= 1) {
        return Some("warm-up");
    }
    seen.tools.then_some("no tools")
}

/// The neutral text for a side request: of the form that it asks for.
pub(crate) fn answer(asked: &Asked) -> String {
    match &asked.answer {
        Answer::Text => NEUTRAL.to_owned(),
        Answer::Json(None) => json!({ "title": NEUTRAL }).to_string(),
        Answer::Json(Some(schema)) => tools::filled(schema, schema, "", 0).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::asked::Tool;

    fn without_tools(system: &str, user: &str) -> Asked {
        Asked {
            system: system.into(),
            first_user: user.into(),
            last_user: user.into(),
            ..Asked::default()
        }
    }

    fn with_tools(user: &str) -> Asked {
        Asked {
            tools: vec![Tool::default()],
            ..without_tools("", user)
        }
    }

    fn after(prompts: &[&str], turns: &[Asked]) -> Seen {
        let mut seen = Seen::default();
        prompts.iter().for_each(|prompt| seen.prompt(prompt));
        turns.iter().for_each(|turn| seen.turn(turn));
        seen
    }

    #[test]
    fn what_a_request_without_tools_is_for_is_told_by_its_sentences() {
        let cases = [
            (
                "You are a title generator. You output only a thread title.",
                "hi",
                Some("title"),
            ),
            (
                "",
                "Generate a short title for this chat:\nhi",
                Some("title"),
            ),
            (
                "Summarize the conversation so far for a new session.",
                "x",
                Some("summary"),
            ),
            (
                "Analyze if this message indicates a new conversation topic.",
                "x",
                Some("topic"),
            ),
            (
                "You are a helpful assistant. Give short answers.",
                "What is a title?",
                None,
            ),
            (
                "You know many topics. You chat with the user.",
                "hello",
                None,
            ),
        ];
        for (system, user, wanted) in cases {
            let asked = without_tools(system, user);
            assert_eq!(reason(&asked, &Seen::default()), wanted, "{system}");
        }
    }

    #[test]
    fn a_prompt_that_speaks_of_titles_is_a_turn() {
        let asked = without_tools("", "Generate a title for my book\n");
        assert_eq!(reason(&asked, &Seen::default()), Some("title"));
        let seen = after(&["Generate a title for my book"], &[]);
        assert_eq!(reason(&asked, &seen), None);
    }

    #[test]
    fn no_tools_where_tools_were_seen_is_a_side_request() {
        let asked = without_tools("", "hi");
        assert_eq!(
            reason(&asked, &after(&[], &[with_tools("hi")])),
            Some("no tools")
        );
        assert_eq!(reason(&asked, &Seen::default()), None);
    }

    #[test]
    fn other_words_than_the_user_s_are_a_side_request_once_the_agent_has_passed_them_on() {
        let asked = with_tools("Suggest what the user may say next.");
        let turn = with_tools("<now/>\nMake  the file.");
        let prompts = ["Make the file!", "And \u{2028} now?"];
        assert_eq!(
            reason(&asked, &after(&prompts, &[turn])),
            Some("other words")
        );
        // An agent that says it in its own way, or of which no prompt is known, is asking for the turn.
        assert_eq!(
            reason(&asked, &after(&prompts, &[with_tools("do it")])),
            None
        );
        assert_eq!(reason(&asked, &after(&[], &[with_tools("do it")])), None);
    }

    #[test]
    fn a_turn_carries_its_prompt_wrapped_shortened_or_as_a_command() {
        let long = format!("Read this: {}", "x".repeat(5000));
        let prompts = [long.as_str(), "/skill Tell me", "later prompt"];
        let seen = after(&prompts, &[with_tools("later prompt")]);
        for user in [
            "Context: x.\nlater prompt",
            &long[..200],
            "SKILL TEXT\nTell me",
            "",
        ] {
            assert_eq!(reason(&with_tools(user), &seen), None, "{user}");
        }
        let seen = after(&["first", "/compact"], &[with_tools("first")]);
        assert_eq!(reason(&with_tools("Sum it up."), &seen), None);
    }

    #[test]
    fn a_structured_answer_fits_its_schema() {
        let mut asked = without_tools("", "x");
        asked.answer = Answer::Json(Some(json!({
            "type": "object",
            "properties": {"new": {"type": "boolean"}, "title": {"type": ["string", "null"]}},
            "required": ["new", "title"]
        })));
        assert_eq!(reason(&asked, &Seen::default()), Some("structured answer"));
        assert_eq!(answer(&asked), r#"{"new":false,"title":null}"#);
    }
}
