//! The embedded model: no network, deterministic, steered by directives in the prompt.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use serde_json::json;

use super::directive::{self, Directive, Step};
use super::{Asked, Failure, Fragment, Model};
use crate::history::{Call, History, Message};
use crate::options::Effort;
use crate::plan;
use crate::usage::Counted;

/// One for each session: `fail-summary` is remembered until the next summary.
#[derive(Default)]
pub(crate) struct Embedded {
    next_summary_fails: Mutex<Option<String>>,
}

impl Model for Embedded {
    fn answer<'a>(&'a self, asked: Asked<'a>) -> BoxStream<'a, Result<Fragment, Failure>> {
        let history = asked.history;
        let (prompt, answers) = last_question(history);
        let tokens = Fragment::Counted(Counted {
            input: Some(history.estimated_tokens()),
            output: None,
        });
        let mut ended_line = true;
        let steps = directive::parse(prompt, asked.more_directives);
        let effort = (asked.effort == Effort::High && answers == 0).then(|| {
            let thought = format!("thinking hard about {} message(s)", history.messages.len());
            Ok(Fragment::Thought(thought))
        });
        let answer = stream::iter(answer_after(steps, answers))
            .flat_map(move |(directive, number)| self.carry_out(directive, number, history))
            .map(move |fragment| {
                fragment.map(|fragment| on_its_own_line(fragment, &mut ended_line))
            })
            .chain(stream::iter([Ok(tokens)]));
        stream::iter(effort).chain(answer).boxed()
    }

    fn summary<'a>(&'a self, messages: &'a [Message]) -> BoxFuture<'a, Result<String, Failure>> {
        let failure = self
            .next_summary_fails
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        Box::pin(async move {
            match failure {
                Some(message) => Err(Failure(message)),
                None => Ok(format!("Summary of {} messages.", messages.len())),
            }
        })
    }
}

/// The last question, and how often it was answered already.
fn last_question(history: &History) -> (&str, u64) {
    let mut answers = 0;
    for message in history.messages.iter().rev() {
        match message {
            Message::User(text) => return (text, answers),
            Message::Assistant { .. } => answers += 1,
            Message::ToolResult { .. } | Message::Summary(_) => {}
        }
    }
    ("", answers)
}

/// The tool of the directives `plan` and `done`.
const PLAN_TOOL: &str = "update_plan";

/// The last plan that was made, as its tool took it.
fn last_plan(history: &History) -> Option<&str> {
    history.messages.iter().rev().find_map(|message| {
        let Message::Assistant { calls, .. } = message else {
            return None;
        };
        let call = calls.iter().rev().find(|call| call.tool == PLAN_TOOL)?;
        call.arguments.get("steps")?.as_str()
    })
}

/// What the answer after `answers` others carries out, each with its number among the calls. An
/// answer ends with a tool call, as another model's does that waits for the result.
fn answer_after(steps: Vec<Step>, answers: u64) -> impl Iterator<Item = (Directive, u64)> {
    let mut calls_before = 0;
    let mut ended = false;
    steps.into_iter().flat_map(move |step| {
        let (mut times, mut number) = (0, 0);
        if ended {
            // A later answer carries this out.
        } else if !step.is_call() {
            // Between two calls, so in the answer that begins after the first of them.
            times = if calls_before == answers {
                step.times
            } else {
                0
            };
        } else if calls_before + step.times > answers {
            (times, number, ended) = (1, answers, true);
        } else {
            calls_before += step.times;
        }
        (0..times).map(move |_| (step.directive.clone(), number))
    })
}

/// Puts a line break before a text that would run into the one before it.
fn on_its_own_line(fragment: Fragment, ended_line: &mut bool) -> Fragment {
    let Fragment::Text(text) = fragment else {
        return fragment;
    };
    let text = if *ended_line {
        text
    } else {
        format!("\n{text}")
    };
    *ended_line = text.is_empty() || text.ends_with('\n');
    Fragment::Text(text)
}

impl Embedded {
    fn carry_out(
        &self,
        directive: Directive,
        number: u64,
        history: &History,
    ) -> BoxStream<'static, Result<Fragment, Failure>> {
        let one = |fragment| stream::iter([fragment]).boxed();
        match directive {
            Directive::Say(text) => one(Ok(Fragment::Text(text))),
            Directive::Think(text) => one(Ok(Fragment::Thought(text))),
            Directive::Fail(message) => one(Err(Failure(message))),
            Directive::FailSummary(message) => {
                *self
                    .next_summary_fails
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner) = Some(message);
                stream::empty().boxed()
            }
            Directive::Call { tool, arguments } => one(Ok(Fragment::Call(Call {
                id: format!("embedded_{}", number + 1),
                tool: tool.into_owned(),
                arguments,
            }))),
            Directive::Done(steps) => one(Ok(match last_plan(history) {
                Some(plan) => Fragment::Call(Call {
                    id: format!("embedded_{}", number + 1),
                    tool: PLAN_TOOL.to_owned(),
                    arguments: json!({ "steps": plan::checklist(plan::steps(plan), steps) }),
                }),
                None => Fragment::Text("There is no plan.".to_owned()),
            })),
            Directive::Wait(ms) => stream::once(tokio::time::sleep(Duration::from_millis(ms)))
                .filter_map(|()| async { None })
                .boxed(),
            Directive::Stream { chunks, pause_ms } => stream::iter(1..=chunks)
                .then(move |chunk| async move {
                    if pause_ms > 0 && chunk > 1 {
                        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
                    }
                    Ok(Fragment::Text(format!("chunk {chunk}\n")))
                })
                .boxed(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use futures::executor::block_on;

    fn asked(history: &History) -> Asked<'_> {
        Asked {
            history,
            tools: &[],
            server_tools: &[],
            effort: Effort::default(),
            more_directives: false,
        }
    }

    /// All answers to a prompt, each with its fragments in short.
    fn answers(prompt: &str, count: usize) -> Vec<Vec<String>> {
        let model = Embedded::default();
        let mut history = History::new(String::new());
        history.messages.push(Message::User(prompt.into()));
        let mut answers = Vec::new();
        for _ in 0..count {
            let fragments: Vec<_> = block_on(model.answer(asked(&history)).collect());
            answers.push(
                fragments
                    .into_iter()
                    .filter_map(|fragment| match fragment {
                        Ok(Fragment::Text(text)) => Some(text),
                        Ok(Fragment::Thought(text)) => Some(format!("({text})")),
                        Ok(Fragment::Call(call)) => Some(format!("<{}>", call.tool)),
                        Ok(Fragment::Counted(_)) => None,
                        Err(failure) => Some(format!("!{failure}")),
                    })
                    .collect(),
            );
            history.messages.push(Message::Assistant {
                text: String::new(),
                calls: Vec::new(),
            });
        }
        answers
    }

    #[test]
    fn an_answer_ends_at_a_call_and_the_next_goes_on_after_it() {
        assert_eq!(
            answers("say a\nrun x\nsay b\nread y\nskill z\nsay c", 4),
            [
                vec!["a", "<bash>"],
                vec!["b", "<read_file>"],
                vec!["<read_skill>"],
                vec!["c"]
            ]
        );
    }

    #[test]
    fn a_repeated_call_is_one_call_an_answer() {
        assert_eq!(
            answers("repeat 2 run x\nsay done", 3),
            [vec!["<bash>"], vec!["<bash>"], vec!["done"]]
        );
        assert_eq!(answers("repeat 0 run x\nsay done", 1), [vec!["done"]]);
    }

    #[test]
    fn texts_stand_on_lines_of_their_own() {
        assert_eq!(
            answers("repeat 2 say a\nstream 2 0\nb", 1),
            [vec!["a", "\na", "\nchunk 1\n", "chunk 2\n", "b"]]
        );
    }

    #[test]
    fn a_failure_is_one_and_a_thought_is_no_text() {
        assert_eq!(
            answers("think t\nfail out of ink", 1),
            [vec!["(t)", "!out of ink"]]
        );
    }

    #[test]
    fn only_the_next_summary_fails() {
        let model = Embedded::default();
        let mut history = History::new(String::new());
        history
            .messages
            .push(Message::User("fail-summary no".into()));
        let _: Vec<_> = block_on(model.answer(asked(&history)).collect());
        let messages = &history.messages;
        assert_eq!(block_on(model.summary(messages)), Err(Failure("no".into())));
        assert_eq!(
            block_on(model.summary(messages)).unwrap(),
            "Summary of 1 messages."
        );
    }
}
