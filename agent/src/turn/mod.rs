//! One turn: a generation over the session's history, with the tools that the model calls.

mod answer;
mod calls;
mod on_client;
mod questions;

pub(crate) use answer::cost_of;

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::client::{Chunk, Client, Update};
use crate::compact;
use crate::history::{Call, History, Message};
use crate::kept;
use crate::log;
use crate::modes::Mode;
use crate::plan;
use crate::session::{Session, Ticket};
use crate::slash::{self, Typed};
use crate::surface::Usage;
use crate::tools::{Class, Processes, READ_SKILL};
use crate::update;
use crate::usage::Tokens;

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
    /// The tokens of its answers, on a surface that tells them so.
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
    /// Leaves out every number up to this one.
    pub(crate) fn skip_to(&self, last: u64) {
        self.0.fetch_max(last, Ordering::Relaxed);
    }

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
    /// The last plan that was made.
    plan: Option<Vec<Value>>,
}

impl Tally {
    fn count(&mut self, class: Class) {
        match class {
            Class::Command => self.commands += 1,
            Class::FileOperation => self.file_operations += 1,
            Class::Skill => self.skills += 1,
            Class::Own => {}
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
    turn.begin(&prompt).await;
    let outcome = turn.carry_out(prompt, &mut history).await;
    turn.end().await;
    drop(history);
    turn.session.save();
    outcome
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
        self.session.show(&update);
        self.client.send(id, update);
    }

    /// What a surface tells before a turn.
    async fn begin(&self, prompt: &str) {
        if !self.session.parts.tells_more {
            return;
        }
        self.send_changed_commands().await;
        // Not sent, as the client knows what it sent itself.
        let message = self.session.next_message();
        let said = update::user_text(prompt, message.as_deref());
        self.session.show(&Update::Other(said));
        self.wait_for_servers().await;
    }

    /// Waits for the session's servers to be connected, and tells once which are not.
    async fn wait_for_servers(&self) {
        let ready = self.session.servers.ready();
        let failures = self.cancel.run_until_cancelled(ready).await;
        for failure in failures.unwrap_or_default() {
            self.say(failure + "\n").await;
        }
    }

    /// What a surface tells after a turn.
    async fn end(&self) {
        if !self.session.parts.tells_more {
            return;
        }
        self.send_changed_commands().await;
        self.session.with_kept(|kept| kept.updated = kept::now());
    }

    async fn send_changed_commands(&self) {
        if let Some(commands) = self.session.changed_commands() {
            self.send(Update::Other(commands)).await;
        }
    }

    async fn carry_out(&self, prompt: String, history: &mut History) -> Outcome {
        let session = self.session;
        match slash::parse(prompt, session.parts, &session.cwd) {
            Typed::Command(command) => match command.run(session, history, self.cancel).await {
                Some(line) => {
                    self.say(line).await;
                    End::Done.into()
                }
                None => End::Cancelled.into(),
            },
            Typed::Plan(text) => {
                self.change_mode(Mode::Plan).await;
                if text.is_empty() {
                    self.say("The mode is `plan`.".to_owned()).await;
                    return End::Done.into();
                }
                self.generate(history, text, Tally::default()).await
            }
            Typed::Skill { name, text } => self.generate_with_skill(history, &name, &text).await,
            Typed::Question(question) => self.generate(history, question, Tally::default()).await,
        }
    }

    /// One line that is no model's.
    async fn say(&self, text: String) {
        let message = self.session.next_message();
        self.send(Update::Chunk(Chunk {
            is_thought: false,
            text,
            message,
        }))
        .await;
    }

    /// Changes the mode on the agent's side, and tells the client in both ways that it may know.
    async fn change_mode(&self, mode: Mode) {
        let chosen = self.session.with_kept(|kept| {
            kept.chosen.mode = mode;
            kept.chosen
        });
        self.send(Update::Other(update::current_mode(mode))).await;
        let booleans = self.session.announced.boolean_options;
        self.send(Update::Other(update::config_options(&chosen, booleans)))
            .await;
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
        let title = kept::title_of(&question);
        history.messages.push(Message::User(question));
        let end = self.answer_until_done(history, &mut tally).await;
        history.drop_unanswered();
        log::acp(format_args!(
            "turn done: {} command(s) · {} file op(s) · {} skill(s)",
            tally.commands, tally.file_operations, tally.skills
        ));
        if let Some(plan) = tally.plan.filter(|plan| plan::is_unfinished(plan)) {
            self.send(Update::Other(update::plan(&plan))).await;
        }
        if self.session.parts.tells_more {
            self.give_title(title).await;
        }
        Outcome {
            end,
            usage: (self.session.parts.usage == Usage::InResult).then_some(tally.tokens),
        }
    }

    /// The first question that says something gives the session its title.
    async fn give_title(&self, title: Option<String>) {
        let Some(title) = title else {
            return;
        };
        let first = self.session.with_kept(|kept| {
            let first = kept.title.is_none();
            kept.title.get_or_insert_with(|| title.clone());
            first
        });
        if first {
            let update = update::session_info(&title, &kept::now());
            self.send(Update::Other(update)).await;
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
}
