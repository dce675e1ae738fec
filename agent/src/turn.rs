//! One turn: a generation over the session's history, with the tools that the model calls.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt as _;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::client::{Client, Update};
use crate::compact;
use crate::history::{Call, History, Message, tokens_of};
use crate::log;
use crate::model::{Asked, Fragment};
use crate::permission::{self, Decision};
use crate::session::{Session, Ticket};
use crate::slash::{self, Typed};
use crate::tools::{CANCELLED, Class, Invocation, Output, Place, Processes, READ_SKILL};
use crate::update;
use crate::usage::{Counted, Tokens};

/// What a tool call gets as result that the user rejected.
const REJECTED: &str = "[command rejected by the user]";

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    Cancelled,
    /// The reason, for people.
    Failed(String),
}

/// What a turn led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) end: End,
    /// The tokens of its answers, on a surface that tells them.
    pub(crate) usage: Option<Tokens>,
}

impl From<End> for Outcome {
    fn from(end: End) -> Self {
        Self { end, usage: None }
    }
}

/// The ids of tool calls, over the whole process.
#[derive(Debug, Default)]
pub(crate) struct CallIds(AtomicU64);

impl CallIds {
    fn next(&self) -> String {
        format!("call_{}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// A turn that has its place.
pub(crate) struct Turn<'a> {
    pub(crate) client: &'a Client,
    pub(crate) session: &'a Session,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) call_ids: &'a CallIds,
}

/// What is counted of a generation.
#[derive(Debug, Default)]
struct Tally {
    /// Answers that called tools.
    iterations: u64,
    tokens: Tokens,
    commands: usize,
    file_operations: usize,
    skills: usize,
}

impl Tally {
    fn count(&mut self, class: Class) {
        match class {
            Class::Command => self.commands += 1,
            Class::FileOperation => self.file_operations += 1,
            Class::Skill => self.skills += 1,
            Class::Question => {}
        }
    }
}

/// Runs the turn of a ticket: `prompt` is a command, or a question for the model. Everything that
/// the turn sends has been sent, and everything that it started has ended, when this returns.
pub(crate) async fn run(
    client: &Client,
    ticket: &Ticket,
    call_ids: &CallIds,
    prompt: String,
) -> Outcome {
    let turn = Turn {
        client,
        session: &ticket.session,
        cancel: &ticket.cancel,
        call_ids,
    };
    let mut history = turn.session.lease_history();
    let session = turn.session;
    match slash::parse(prompt, session.parts, &session.cwd) {
        Typed::Command(command) => match command.run(session, &mut history, turn.cancel).await {
            Some(line) => {
                turn.send(Update::Text(line)).await;
                End::Done.into()
            }
            None => End::Cancelled.into(),
        },
        Typed::Skill { name, text } => turn.generate_with_skill(&mut history, &name, &text).await,
        Typed::Question(question) => {
            let tally = Tally::default();
            turn.generate(&mut history, question, tally).await
        }
    }
}

impl Turn<'_> {
    /// Sends an update, and waits first while the client has too many to read. A cancel ends the
    /// waiting, not the sending: what a client was told of has to come to its end.
    async fn send(&self, update: Update) {
        let id = &self.session.id;
        if self
            .cancel
            .run_until_cancelled(self.client.ready())
            .await
            .is_none()
        {
            self.client.owe();
        }
        self.client.send(id, update);
    }

    /// A skill that was called by its name: shown as the tool call that it stands for, and given to
    /// the model with the text.
    async fn generate_with_skill(&self, history: &mut History, name: &str, text: &str) -> Outcome {
        let call = Call {
            id: String::new(),
            tool: READ_SKILL.name.to_owned(),
            arguments: json!({ "name": name }),
        };
        let mut tally = Tally::default();
        let skill = self.call(&call, &Processes::default(), &mut tally).await;
        if self.cancel.is_cancelled() {
            return End::Cancelled.into();
        }
        let question = format!("[skill {name}]\n{}\n\n{text}", skill.trim_end());
        self.generate(history, question, tally).await
    }

    async fn generate(&self, history: &mut History, question: String, mut tally: Tally) -> Outcome {
        self.compress_if_due(history).await;
        history.messages.push(Message::User(question));
        let end = self.answer_until_done(history, &mut tally).await;
        history.drop_unanswered();
        log::acp(format_args!(
            "turn done: {} command(s) · {} file op(s) · {} skill(s)",
            tally.commands, tally.file_operations, tally.skills
        ));
        Outcome {
            end,
            usage: self.session.parts.usage.then_some(tally.tokens),
        }
    }

    async fn compress_if_due(&self, history: &mut History) {
        let context = &self.session.settings.context;
        if !compact::is_due(history, context) {
            return;
        }
        // A model that cannot be opened fails the answer, which says why.
        let Ok(model) = self.session.model.get() else {
            return;
        };
        let said = compact::compress(history, model.as_ref(), context, self.cancel).await;
        if let Some(said) = said {
            log::acp(format_args!("session {}: {said}", self.session.id));
        }
    }

    async fn answer_until_done(&self, history: &mut History, tally: &mut Tally) -> End {
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
        let mut counted = Counted::default();
        let model = match self.session.model.get() {
            Ok(model) => model,
            Err(failure) => return (text, calls, End::Failed(failure.to_string())),
        };
        let mut stream = model.answer(Asked {
            history,
            tools: self.session.parts.tools,
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
                    self.send(Update::Text(part)).await;
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
        if end == End::Done && self.session.parts.usage {
            let size = text.len() + calls.iter().map(Call::size).sum::<usize>();
            let tokens = Tokens {
                input: counted.input.unwrap_or_else(|| history.estimated_tokens()),
                output: counted.output.unwrap_or_else(|| tokens_of(size)),
            };
            tally.tokens.add(tokens);
            let window = self.session.settings.context.window;
            let update = update::usage(tokens.total(), window);
            self.send(Update::Other(update)).await;
        }
        (text, calls, end)
    }

    /// Shows, asks about and runs one call, and returns what the model gets for it. After a cancel
    /// nothing more is shown, asked or run.
    async fn call(&self, call: &Call, processes: &Processes, tally: &mut Tally) -> String {
        if self.cancel.is_cancelled() {
            return CANCELLED.to_owned();
        }
        let id = self.call_ids.next();
        let invocation = Invocation::new(
            &call.tool,
            &call.arguments,
            self.session.parts.tools,
            &self.session.cwd,
        );
        self.send(Update::Other(update::tool_call(&id, &invocation)))
            .await;
        let output = match self.permitted(&id, &invocation).await {
            Decision::Reject | Decision::Never => Output::failure(REJECTED),
            Decision::Cancelled => Output::failure(CANCELLED),
            Decision::Allow | Decision::AllowAlways => {
                self.run(&id, &invocation, processes, tally).await
            }
        };
        self.send(Update::Other(update::tool_call_ended(&id, &output)))
            .await;
        output.text
    }

    async fn permitted(&self, id: &str, call: &Invocation) -> Decision {
        let asks = call.tool.is_some_and(|tool| tool.asks);
        // A call that cannot be run needs no permission.
        if !asks || call.fault.is_some() {
            return Decision::Allow;
        }
        match self.session.remembered(&call.name) {
            Some(true) => return Decision::Allow,
            Some(false) => return Decision::Reject,
            None => {}
        }
        let decision = permission::ask(self.client, self.session, id, call, self.cancel).await;
        match decision {
            Decision::AllowAlways => self.session.remember(&call.name, true),
            Decision::Never => self.session.remember(&call.name, false),
            Decision::Allow | Decision::Reject | Decision::Cancelled => {}
        }
        decision
    }

    async fn run(
        &self,
        id: &str,
        call: &Invocation,
        processes: &Processes,
        tally: &mut Tally,
    ) -> Output {
        if self.cancel.is_cancelled() {
            return Output::failure(CANCELLED);
        }
        if let Some(tool) = call.tool.filter(|_| call.fault.is_none()) {
            self.send(Update::Other(update::tool_call_running(id)))
                .await;
            tally.count(tool.class);
        }
        let place = Place {
            cwd: &self.session.cwd,
            settings: &self.session.settings.tools,
            processes,
            cancel: self.cancel,
        };
        call.run(&place).await
    }
}
