//! Which requests ask for something beside the conversation: a title, a summary, a topic check, a warm-up.
//!
//! They must not use up the script. They are told by when they come and by what they carry: before the first prompt there
//! is no turn; an agent that works with tools offers them in every turn of a conversation, so a request without tools may be
//! one of these; and one that asks with other words than the user's is one, of an agent that is known to pass the user's
//! words on.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::asked::{Answer, Asked};
use super::prompt::{letters, words};
use super::tools;

/// What a side request is answered with.
const NEUTRAL: &str = "Session";
/// What a safety reviewer is answered with that asks for plain text.
const CAREFUL: &str = "Ask the user.";
/// The reason of a request that asks whether something may be done.
const REVIEW: &str = "safety review";
/// How much of the system text says what a request is for. An agent's own prompt may speak of titles further down.
const HEAD: usize = 500;

/// Words for "leave it to the user" and, after these, for "no", in the values that an answer may have: best first. A
/// reviewer must not be told that something is safe that nobody looked at.
const CAUTIOUS: &[&str] = &[
    "ask",
    "prompt",
    "user",
    "escalate",
    "review",
    "unknown",
    "unsure",
    "uncertain",
    "deny",
    "denied",
    "block",
    "blocked",
    "reject",
    "rejected",
    "unsafe",
    "critical",
    "high",
    "no",
];
/// Words in the names of members that are true where something is not safe.
const WARNING: &[&str] = &[
    "risk",
    "risky",
    "danger",
    "dangerous",
    "unsafe",
    "block",
    "deny",
    "malicious",
    "harmful",
];

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
        REVIEW,
        &[
            "approv",
            "risk",
            "safety",
            "security",
            "permission",
            "malicious",
            "dangerous",
        ],
        &[
            "assess",
            "reviewer",
            "classif",
            "evaluat",
            "judge",
            "guardian",
            "decide whether",
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
/// Nobody asks for a turn of a conversation in so few tokens, but for titles and the like.
const SHORT: u64 = 100;
/// What an agent adds to a prompt may speak of anything; so short a text is about what it wants of the model.
const INSTRUCTION: usize = 300;
/// How many bytes around a prompt are looked at for what is context and what is an instruction.
const WRAPPED: usize = 16 * 1024;

/// What earlier requests and prompts taught about the agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Every prompt is told before it is sent.
    told: bool,
    /// A turn offered tools.
    tools: bool,
    /// A turn carried the words of a prompt.
    words: bool,
    /// A turn wanted plain text.
    text: bool,
    /// What the last turn was like.
    like: Option<Like>,
    /// The last prompts, the newest last.
    prompts: VecDeque<String>,
}

/// By what one conversation of an agent differs from another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Like {
    model: String,
    system: String,
    tools: Vec<String>,
}

impl Like {
    fn of(asked: &Asked) -> Self {
        let mut tools: Vec<String> = asked.tools.iter().map(|tool| tool.name.clone()).collect();
        tools.sort();
        Self {
            model: asked.model.clone(),
            system: asked.system.chars().take(HEAD).collect(),
            tools,
        }
    }

    /// Whether two of the three are others; each alone may change within one conversation.
    fn is_another(&self, other: &Self) -> bool {
        let others = [
            self.model != other.model,
            self.system != other.system,
            self.tools != other.tools,
        ];
        others.into_iter().filter(|other| *other).count() > 1
    }
}

impl Seen {
    /// Every prompt will be told from now on.
    pub(crate) fn prompts_are_told(&mut self) {
        self.told = true;
    }

    /// Remembers a prompt that is about to be sent.
    pub(crate) fn prompt(&mut self, text: &str) {
        if self.prompts.len() == PROMPTS {
            self.prompts.pop_front();
        }
        self.prompts.push_back(text.trim().to_owned());
    }

    /// Learns from a turn.
    pub(crate) fn turn(&mut self, asked: &Asked) {
        self.tools |= !asked.tools.is_empty();
        self.text |= asked.answer == Answer::Text;
        self.like = Some(Like::of(asked));
        self.words |= !self.prompts.is_empty()
            && !asked.last_user.is_empty()
            && self.carries_prompt(&asked.last_user);
    }

    /// Whether a request has another model, system text or tools than the last turn, two of these at least.
    fn is_another(&self, asked: &Asked) -> bool {
        let like = self.like.as_ref();
        like.is_some_and(|like| like.is_another(&Like::of(asked)))
    }

    /// A text without the prompts in it.
    fn without_prompts(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for prompt in self.prompts.iter().filter(|prompt| !prompt.is_empty()) {
            text = text.replace(prompt, " ");
        }
        text
    }

    /// What an agent asks for around a prompt; empty where there is no prompt in the text, or where it is too much to be
    /// about one thing. What stands in tags of its own is context.
    fn instruction(&self, text: &str) -> String {
        let without = self.without_prompts(text);
        if without == text || without.len() > WRAPPED {
            return String::new();
        }
        let left = without_tagged(&without);
        match left.chars().nth(INSTRUCTION) {
            Some(_) => String::new(),
            None => left,
        }
    }

    /// Whether a text carries the beginning of one of the prompts. Only letters and digits count, since agents wrap
    /// and tidy texts, and a leading `/command` does not; where none are left, nothing can be told.
    fn carries_prompt(&self, text: &str) -> bool {
        let text: String = letters(text).collect();
        self.prompts.iter().any(|prompt| {
            let beginning: String = letters(words(prompt)).take(LETTERS).collect();
            text.contains(&beginning)
        })
    }
}

/// Why this request is beside the conversation; `None` where it is a turn of it.
///
/// A sub-agent's request is beside it too: the script does not speak for sub-agents.
pub(crate) fn reason(asked: &Asked, seen: &Seen) -> Option<&'static str> {
    if asked.max_tokens.is_some_and(|tokens| tokens <= 1) || (seen.told && seen.prompts.is_empty())
    {
        return Some("warm-up");
    }
    let structured = asked.answer != Answer::Text;
    let own_words = !asked.last_user.is_empty()
        && !seen.prompts.is_empty()
        && !seen.carries_prompt(&asked.last_user);
    if !asked.tools.is_empty() {
        return match () {
            () if seen.is_another(asked) && sign(&head(asked)) == Some(REVIEW) => Some(REVIEW),
            () if structured && seen.text => Some("structured answer"),
            () if own_words && seen.words => Some("other words"),
            () if own_words && seen.is_another(asked) => Some("other system prompt"),
            // Agents remind the model of safety beside the prompt itself.
            () => sign(&seen.instruction(&asked.last_user)).filter(|reason| *reason != REVIEW),
        };
    }
    // A first message that is just the prompt is no sign, whatever it speaks of.
    let user = seen.without_prompts(&asked.first_user);
    let signed = sign(&format!("{}\n{user}", head(asked)));
    if signed.is_some() {
        return signed;
    }
    match () {
        () if structured => Some("structured answer"),
        () if asked.max_tokens.is_some_and(|tokens| tokens <= SHORT) => Some("short answer"),
        () if seen.tools => Some("no tools"),
        () if own_words && seen.words => Some("other words"),
        () if own_words && seen.is_another(asked) => Some("other system prompt"),
        () => None,
    }
}

/// A text without what stands between tags, such as `<environment>` and `</environment>`.
fn without_tagged(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        left.push_str(before);
        let in_name = |it: &char| it.is_alphanumeric() || matches!(it, '_' | '-');
        let name: String = behind.chars().take_while(in_name).collect();
        let closed = behind.split_once(&format!("</{name}>"));
        rest = closed.map_or(behind, |(_, after)| after);
    }
    left.push_str(rest);
    left
}

/// The beginning of the system text.
fn head(asked: &Asked) -> String {
    asked.system.chars().take(HEAD).collect()
}

/// What a text says that a request is for.
fn sign(text: &str) -> Option<&'static str> {
    let told = text.to_lowercase();
    told.split(['.', '!', '?', '\n']).find_map(|sentence| {
        let has = |words: &[&str]| words.iter().any(|word| sentence.contains(word));
        let row = SIGNS
            .iter()
            .find(|(_, these, those)| has(these) && has(those));
        row.map(|(reason, ..)| *reason)
    })
}

/// The neutral text for a side request that was taken for this: of the form that it asks for. It approves of nothing.
pub(crate) fn answer(asked: &Asked, reason: &str) -> String {
    match &asked.answer {
        Answer::Text if reason == REVIEW => CAREFUL.to_owned(),
        Answer::Text => NEUTRAL.to_owned(),
        Answer::Json(None) => json!({ "title": NEUTRAL }).to_string(),
        Answer::Json(Some(schema)) => {
            let mut value = tools::filled(schema, schema, "", 0);
            careful(&mut value, schema);
            value.to_string()
        }
    }
}

/// Chooses, among the values that the schema allows, those that leave a decision to the user or say no.
fn careful(value: &mut Value, schema: &Value) {
    let Value::Object(members) = value else {
        return;
    };
    for (name, value) in members {
        let own = schema.pointer("/properties").and_then(|all| all.get(name));
        let Some(own) = own else { continue };
        let allowed = own.get("enum").and_then(Value::as_array);
        let best = CAUTIOUS.iter().find_map(|wanted| {
            let mut allowed = allowed?.iter();
            allowed.find(|value| value.as_str().is_some_and(|text| speaks(text, wanted)))
        });
        if let Some(best) = best {
            *value = best.clone();
            continue;
        }
        let warns = WARNING.iter().any(|word| speaks(name, word));
        match value {
            Value::Bool(_) => *value = json!(warns),
            Value::Number(_) if warns => {
                *value = own.get("maximum").cloned().unwrap_or(json!(100));
            }
            _ => careful(value, own),
        }
    }
}

/// Whether one of the words of a name is this one.
fn speaks(name: &str, word: &str) -> bool {
    let mut words = name.split(|character: char| !character.is_alphanumeric());
    words.any(|own| own.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
