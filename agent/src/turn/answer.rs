//! The answers of a model within a turn, one after each round of tool calls.

use std::sync::Arc;

use futures::StreamExt as _;

use super::{End, Tally, Turn};
use crate::client::{Chunk, Update};
use crate::history::{Call, History, Message, tokens_of};
use crate::model::{Asked, Fragment};
use crate::surface::Usage;
use crate::tools::Processes;
use crate::update;
use crate::usage::{Counted, Tokens};

/// The price of a token, for every model: one dollar a million.
const TOKENS_A_DOLLAR: f64 = 1_000_000.0;

/// The message that is being streamed: text and thoughts are messages of their own.
#[derive(Default)]
struct Streamed {
    is_thought: bool,
    message: Option<Arc<str>>,
}

impl Turn<'_> {
    pub(super) async fn answer_until_done(&self, history: &mut History, tally: &mut Tally) -> End {
        let processes = Processes::default();
        loop {
            let (text, mut calls, mut end) = self.answer(history, tally).await;
            if !calls.is_empty() && end == End::Done {
                tally.iterations += 1;
                end = self.end_of_patience(tally.iterations);
            }
            if end != End::Done {
                // Calls of an answer that did not come to its end are not carried out.
                calls.clear();
            }
            let last = calls.is_empty();
            if !text.is_empty() || !last {
                history.messages.push(Message::Assistant {
                    text,
                    calls: calls.clone(),
                });
            }
            if last {
                return end;
            }
            for call in calls {
                let text = self.call(&call, &processes, tally).await;
                history
                    .messages
                    .push(Message::ToolResult { id: call.id, text });
            }
            if self.cancel.is_cancelled() {
                return End::Cancelled;
            }
        }
    }

    /// Whether one more answer may call tools.
    fn end_of_patience(&self, iterations: u64) -> End {
        match self.session.parts.iterations {
            Some(limit) if iterations > limit => {
                End::Failed(format!("exceeded maximum tool call iterations ({limit})"))
            }
            _ => End::Done,
        }
    }

    /// Streams one answer to the client.
    async fn answer(&self, history: &mut History, tally: &mut Tally) -> (String, Vec<Call>, End) {
        let (mut text, mut calls) = (String::new(), Vec::new());
        let (mut counted, mut streamed) = (Counted::default(), Streamed::default());
        let model = match self.session.model.get() {
            Ok(model) => model,
            Err(failure) => return (text, calls, End::Failed(failure.to_string())),
        };
        let parts = self.session.parts;
        let mut stream = model.answer(Asked {
            history,
            tools: parts.tools,
            server_tools: self.session.servers.tools(),
            effort: self.session.chosen().effort,
            more_directives: parts.more_directives,
        });
        let end = loop {
            let fragment = match self.cancel.run_until_cancelled(stream.next()).await {
                None => break End::Cancelled,
                Some(None) => break End::Done,
                Some(Some(Err(failure))) => break End::Failed(failure.to_string()),
                Some(Some(Ok(fragment))) => fragment,
            };
            match fragment {
                Fragment::Text(part) if part.is_empty() => {}
                Fragment::Text(part) => {
                    text.push_str(&part);
                    self.send_chunk(&mut streamed, false, part).await;
                }
                Fragment::Thought(part) if parts.tells_more && !part.is_empty() => {
                    self.send_chunk(&mut streamed, true, part).await;
                }
                Fragment::Thought(_) => {}
                Fragment::Call(mut call) => {
                    if call.id.is_empty() {
                        call.id = format!("{}_{}", history.messages.len(), calls.len());
                    }
                    calls.push(call);
                }
                Fragment::Counted(count) => counted = count,
            }
        };
        drop(stream);
        if counted.input.is_some() {
            history.input_tokens = counted.input;
        }
        if end == End::Done {
            let size = text.len() + calls.iter().map(Call::size).sum::<usize>();
            let tokens = Tokens {
                input: counted.input.unwrap_or_else(|| history.estimated_tokens()),
                output: counted.output.unwrap_or_else(|| tokens_of(size)),
            };
            self.tell_usage(tokens, tally).await;
        }
        (text, calls, end)
    }

    async fn send_chunk(&self, streamed: &mut Streamed, is_thought: bool, text: String) {
        if streamed.message.is_none() || streamed.is_thought != is_thought {
            *streamed = Streamed {
                is_thought,
                message: self.session.next_message(),
            };
        }
        self.send(Update::Chunk(Chunk {
            is_thought,
            text,
            message: streamed.message.clone(),
        }))
        .await;
    }

    async fn tell_usage(&self, tokens: Tokens, tally: &mut Tally) {
        tally.tokens.add(tokens);
        let cost = match self.session.parts.usage {
            Usage::Untold => return,
            Usage::InResult => None,
            Usage::WithCost => Some(self.session.with_kept(|kept| {
                kept.spent = kept.spent.saturating_add(tokens.total());
                cost_of(kept.spent)
            })),
        };
        let window = self.session.settings.context.window;
        let update = update::usage(tokens.total(), window, cost);
        self.send(Update::Other(update)).await;
    }
}

/// What so many tokens cost, in US dollars.
pub(crate) fn cost_of(tokens: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let tokens = tokens as f64;
    tokens / TOKENS_A_DOLLAR
}
