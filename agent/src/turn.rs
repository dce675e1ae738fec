//! One turn: a generation over the session's history, with the tools that the model calls.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt as _;
use tokio_util::sync::CancellationToken;

use crate::client::{Client, Update};
use crate::compact;
use crate::history::{Call, History, Message};
use crate::log;
use crate::model::Fragment;
use crate::permission::{self, Decision};
use crate::session::{Session, Ticket};
use crate::slash::Command;
use crate::tools::{CANCELLED, Class, Invocation, Output, Place, Processes};
use crate::update;

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

/// What the log says of a generation.
#[derive(Debug, Default)]
struct Tally {
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
) -> End {
    let turn = Turn {
        client,
        session: &ticket.session,
        cancel: &ticket.cancel,
        call_ids,
    };
    let mut history = turn.session.lease_history();
    match Command::parse(&prompt) {
        Some(command) => match command.run(turn.session, &mut history, turn.cancel).await {
            Some(line) => {
                turn.send(Update::Text(line)).await;
                End::Done
            }
            None => End::Cancelled,
        },
        None => turn.generate(&mut history, prompt).await,
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

    async fn generate(&self, history: &mut History, question: String) -> End {
        self.compress_if_due(history).await;
        history.messages.push(Message::User(question));
        let mut tally = Tally::default();
        let end = self.answer_until_done(history, &mut tally).await;
        history.drop_unanswered();
        log::acp(format_args!(
            "turn done: {} command(s) · {} file op(s) · {} skill(s)",
            tally.commands, tally.file_operations, tally.skills
        ));
        end
    }

    async fn compress_if_due(&self, history: &mut History) {
        let context = &self.session.settings.context;
        if !compact::is_due(history, context) {
            return;
        }
        let model = self.session.model.as_ref();
        if let Some(said) = compact::compress(history, model, context, self.cancel).await {
            log::acp(format_args!("session {}: {said}", self.session.id));
        }
    }

    async fn answer_until_done(&self, history: &mut History, tally: &mut Tally) -> End {
        let processes = Processes::default();
        loop {
            let (text, mut calls, end) = self.answer(history).await;
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

    /// Streams one answer to the client.
    async fn answer(&self, history: &mut History) -> (String, Vec<Call>, End) {
        let (mut text, mut calls, mut tokens) = (String::new(), Vec::new(), None);
        let mut stream = self.session.model.answer(history);
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
                Fragment::InputTokens(count) => tokens = Some(count),
            }
        };
        drop(stream);
        if tokens.is_some() {
            history.input_tokens = tokens;
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
        let invocation = Invocation::new(&call.tool, &call.arguments, &self.session.cwd);
        self.send(Update::Other(update::tool_call(&id, &invocation)))
            .await;
        let output = match self.permitted(&id, &invocation).await {
            Decision::Reject => Output::failure(REJECTED),
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
        if !asks || call.fault.is_some() || self.session.is_allowed(&call.name) {
            return Decision::Allow;
        }
        let decision = permission::ask(self.client, self.session, id, call, self.cancel).await;
        if decision == Decision::AllowAlways {
            self.session.allow(&call.name);
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
