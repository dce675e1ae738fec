//! A request reduced to its conversation: what the user said, that the model replied, what tools gave back.
//!
//! Agents put other things around the same words: a system text, notes on the folder and the time, tags. What was sent to
//! the agent as a prompt is known, so a message of the user that carries a prompt is that prompt, and one that carries none
//! is a note of the agent's own, as long as there is another that does.

use crate::model::asked::{Asked, Role};

/// How many words of a prompt are looked for: agents shorten long ones.
const WORDS: usize = 24;
/// How much of a text is shown, in characters.
const SHOWN: usize = 100;
/// From so many characters on a word with digits in it is taken for something minted at run time.
const MINTED: usize = 8;

/// A conversation up to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Talk {
    pub(super) items: Vec<Item>,
}

/// One message of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) by: By,
    /// What it says, as it is compared: word by word, for each result of a tool apart.
    pub(super) words: Vec<String>,
    /// The beginning of what it says, as it is shown.
    pub(super) shown: String,
}

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    User,
    Model,
    Tools,
}

impl Talk {
    /// The conversation of a request; `prompts` are the prompts that are known, as [`plain`] gives them.
    pub(super) fn of(asked: &Asked, prompts: &[String]) -> Self {
        let mut items: Vec<Item> = Vec::new();
        let mut carried = Vec::new();
        for message in &asked.messages {
            let (by, words) = match message.role {
                Role::System => continue,
                Role::User => {
                    let said = plain(&message.text);
                    let prompt = prompt_in(&said, prompts).cloned();
                    carried.push((items.len(), prompt.is_some()));
                    (
                        By::User,
                        vec![prompt.unwrap_or_else(|| steady(&message.text))],
                    )
                }
                Role::Model => (By::Model, vec![steady(&message.text)]),
                Role::Tool => {
                    let results = message.results.iter();
                    (
                        By::Tools,
                        results.map(|result| steady(&result.text)).collect(),
                    )
                }
            };
            let texts: Vec<&str> = match message.role {
                Role::Tool => message.results.iter().map(|it| it.text.as_str()).collect(),
                _ => vec![message.text.as_str()],
            };
            items.push(Item {
                by,
                words,
                shown: shown(&texts.join(" ")),
            });
        }
        if carried.iter().any(|(_, carries)| *carries) {
            let notes = carried.iter().filter(|(_, carries)| !carries);
            for (place, _) in notes.rev() {
                items.remove(*place);
            }
        }
        // Words that an agent says twice in a row are said once.
        items.dedup_by(|later, earlier| {
            later.by == By::User && later.words == earlier.words && earlier.by == By::User
        });
        Self { items }
    }

    /// Adds a message.
    pub(super) fn say(&mut self, by: By, words: Vec<String>, text: &str) {
        self.items.push(Item {
            by,
            words,
            shown: shown(text),
        });
    }

    /// Where the last words of the user stand.
    pub(super) fn last_said(&self) -> Option<usize> {
        self.items.iter().rposition(|item| item.by == By::User)
    }

    /// How often the user has spoken.
    pub(super) fn turn(&self) -> usize {
        self.items.iter().filter(|item| item.by == By::User).count()
    }

    /// How often the model has replied since.
    pub(super) fn step(&self) -> usize {
        let since = self.last_said().map_or(0, |place| place + 1);
        let later = self.items.get(since..).unwrap_or_default();
        later.iter().filter(|item| item.by == By::Model).count()
    }

    /// What tools gave back last, if nothing was said since.
    pub(super) fn results(&self) -> Option<&Item> {
        self.items.last().filter(|item| item.by == By::Tools)
    }
}

/// The longest of the known prompts that a message carries, if any.
fn prompt_in<'a>(said: &str, prompts: &'a [String]) -> Option<&'a String> {
    let around = format!(" {said} ");
    let carried = prompts.iter().filter(|prompt| {
        let beginning: Vec<&str> = prompt.split(' ').take(WORDS).collect();
        around.contains(&format!(" {} ", beginning.join(" ")))
    });
    carried.max_by_key(|prompt| prompt.len())
}

/// A text as words in lower case, whatever stands between them. Of a `/command` what follows it.
pub(super) fn plain(text: &str) -> String {
    let text = match text.trim_start().strip_prefix('/') {
        Some(command) => command
            .split_once(char::is_whitespace)
            .map_or("", |all| all.1),
        None => text,
    };
    words(text).collect::<Vec<_>>().join(" ")
}

/// A text as words, with numbers, times and what is minted at run time as one and the same.
pub(super) fn steady(text: &str) -> String {
    let steady = words(text).map(|word| {
        let digits = word.contains(|character: char| character.is_ascii_digit());
        match digits && (word.len() >= MINTED || word.bytes().all(|byte| byte.is_ascii_digit())) {
            true => "0".to_owned(),
            false => word,
        }
    });
    steady.collect::<Vec<_>>().join(" ")
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// The beginning of a text on one line.
fn shown(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ");
    let mut short: String = line.chars().take(SHOWN).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::asked::{Message, Returned};

    fn message(role: Role, text: &str) -> Message {
        let mut message = Message {
            role,
            ..Message::default()
        };
        match role {
            Role::Tool => message.results.push(Returned {
                text: text.into(),
                ..Returned::default()
            }),
            _ => message.text = text.into(),
        }
        message
    }

    fn talk(messages: &[(Role, &str)], prompts: &[&str]) -> Talk {
        let asked = Asked {
            messages: messages
                .iter()
                .map(|(role, text)| message(*role, text))
                .collect(),
            ..Asked::default()
        };
        let prompts: Vec<String> = prompts.iter().map(|prompt| plain(prompt)).collect();
        Talk::of(&asked, &prompts)
    }

    #[test]
    fn what_agents_put_around_the_same_conversation_makes_no_difference() {
        let prompts = ["Make the file!", "And 3 more?"];
        let one = talk(
            &[
                (Role::System, "You are A."),
                (Role::User, "Make the file!"),
                (Role::Model, "Done."),
                (Role::User, "And 3 more?"),
            ],
            &prompts,
        );
        let other = talk(
            &[
                (Role::System, "You are B."),
                (Role::User, "<env>cwd: /tmp/x, 2026-11-30</env>"),
                (Role::User, "<user_query>\nmake the  file!\n</user_query>"),
                (Role::Model, "Done."),
                (Role::User, "<now>12:00</now> And 3 more?"),
            ],
            &prompts,
        );
        let said = |talk: &Talk| -> Vec<Vec<String>> {
            talk.items.iter().map(|it| it.words.clone()).collect()
        };
        assert_eq!(said(&one), said(&other));
        assert_eq!((one.turn(), one.step()), (2, 0));
    }

    #[test]
    fn a_number_in_a_prompt_tells_and_one_in_a_result_does_not() {
        let prompts = ["Count to 3", "Count to 4"];
        let ask = |prompt, result| {
            talk(
                &[
                    (Role::User, prompt),
                    (Role::Model, ""),
                    (Role::Tool, result),
                ],
                &prompts,
            )
        };
        let one = ask("Count to 3", "done in 12 ms, id 7f3a9c21d");
        assert_eq!(
            one.items[2].words,
            ask("Count to 3", "done in 7 ms, id 00aa11bb22").items[2].words
        );
        assert_ne!(one.items[0].words, ask("Count to 4", "x").items[0].words);
        assert_eq!(one.step(), 1);
        assert!(one.results().is_some());
    }

    #[test]
    fn a_short_prompt_is_not_found_inside_of_words() {
        let one = talk(
            &[(Role::User, "This is which?"), (Role::User, "hi")],
            &["hi"],
        );
        assert_eq!(one.turn(), 1);
        let alone = talk(&[(Role::User, "Something else")], &["hi"]);
        assert_eq!(alone.items[0].words, ["something else"]);
    }
}
