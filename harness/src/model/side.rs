//! Which requests ask for something beside the conversation: a title, a summary, a topic check, a warm-up.
//!
//! They must not use up the script. They are told by what they carry: an agent that works with tools offers them in
//! every turn of a conversation, so only a request without tools can be one of these.

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

/// Why this request is beside the conversation; `None` where it is a turn of it.
///
/// `tools_seen`: an earlier request to this server offered tools. `prompt`: what the user is saying now; a first
/// message that is just this is no sign, whatever it speaks of.
pub(crate) fn reason(
    asked: &Asked,
    tools_seen: bool,
    prompt: Option<&str>,
) -> Option<&'static str> {
    if !asked.tools.is_empty() {
        return None;
    }
    let user = match prompt.map(str::trim) {
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
    tools_seen.then_some("no tools")
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
            ..Asked::default()
        }
    }

    #[test]
    fn what_a_request_is_for_is_told_by_its_sentences() {
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
            assert_eq!(
                reason(&without_tools(system, user), false, None),
                wanted,
                "{system}"
            );
        }
    }

    #[test]
    fn a_prompt_that_speaks_of_titles_is_a_turn() {
        let asked = without_tools("", "Generate a title for my book\n");
        assert_eq!(reason(&asked, false, None), Some("title"));
        assert_eq!(
            reason(&asked, false, Some("Generate a title for my book")),
            None
        );
    }

    #[test]
    fn a_request_with_tools_is_always_a_turn() {
        let mut asked = without_tools("Generate a title.", "x");
        asked.tools.push(Tool::default());
        assert_eq!(reason(&asked, true, None), None);
    }

    #[test]
    fn no_tools_where_tools_were_seen_is_a_side_request() {
        let asked = without_tools("", "hi");
        assert_eq!(reason(&asked, true, None), Some("no tools"));
        assert_eq!(reason(&asked, false, None), None);
    }

    #[test]
    fn a_structured_answer_fits_its_schema() {
        let mut asked = without_tools("", "x");
        asked.answer = Answer::Json(Some(json!({
            "type": "object",
            "properties": {"new": {"type": "boolean"}, "title": {"type": ["string", "null"]}},
            "required": ["new", "title"]
        })));
        assert_eq!(reason(&asked, false, None), Some("structured answer"));
        assert_eq!(answer(&asked), r#"{"new":false,"title":null}"#);
    }
}
