//! The tool calls of a turn: shown, asked about, run.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::{Tally, Turn};
use crate::client::Update;
use crate::fault::{self, Hook};
use crate::history::Call;
use crate::mcp;
use crate::modes::{self, Mode, Rule};
use crate::permission::{self, Decision};
use crate::plan;
use crate::tools::{CANCELLED, Invocation, Output, Place, Processes, Tool};
use crate::update;

/// What a tool call gets as result that the user rejected.
const REJECTED: &str = "[command rejected by the user]";

impl Turn<'_> {
    /// Shows, asks about and runs one call, and returns what the model gets for it. After a cancel
    /// nothing more is shown, asked or run.
    pub(super) async fn call(
        &self,
        call: &Call,
        processes: &Processes,
        tally: &mut Tally,
    ) -> String {
        if self.cancel.is_cancelled() {
            return CANCELLED.to_owned();
        }
        let id = self.call_ids.next();
        let session = self.session;
        let invocation = match session.servers.tool(&call.tool) {
            Some(_) => Invocation::of_server(&call.tool, &call.arguments),
            None => Invocation::new(
                &call.tool,
                &call.arguments,
                session.parts.tools,
                &session.cwd,
            ),
        };
        self.send(Update::Other(update::tool_call(&id, &invocation)))
            .await;
        let output = match self.permitted(&id, &invocation, processes).await {
            Permission::Refused => Output::failure(self.session.chosen().mode.refusal()),
            Permission::Decided(Decision::Reject | Decision::Never) => Output::failure(REJECTED),
            Permission::Decided(Decision::Cancelled) => Output::failure(CANCELLED),
            Permission::Decided(Decision::Allow | Decision::AllowAlways) => {
                self.run(&id, &invocation, processes, tally).await
            }
        };
        self.send(Update::Other(update::tool_call_ended(&id, &output)))
            .await;
        output.text
    }

    async fn permitted(&self, id: &str, call: &Invocation, processes: &Processes) -> Permission {
        let allow = Permission::Decided(Decision::Allow);
        // A call that cannot be run needs no permission.
        let Some(tool) = call.tool.filter(|tool| tool.asks && call.fault.is_none()) else {
            return allow;
        };
        match self.rule(tool) {
            Rule::Ask => {}
            Rule::Run => return allow,
            Rule::Refuse => return Permission::Refused,
        }
        match self.session.remembered(&call.name) {
            Some(true) => return allow,
            Some(false) => return Permission::Decided(Decision::Reject),
            None => {}
        }
        if fault::is_on(Hook::RunsBeforeAsking) {
            call.run(&self.place(processes)).await;
        }
        let decision = permission::ask(self.client, self.session, id, call, self.cancel).await;
        match decision {
            Decision::AllowAlways => self.session.remember(&call.name, true),
            Decision::Never => self.session.remember(&call.name, false),
            Decision::Allow | Decision::Reject | Decision::Cancelled => {}
        }
        Permission::Decided(decision)
    }

    /// What the session's mode and options say.
    fn rule(&self, tool: &Tool) -> Rule {
        if !self.session.parts.options {
            return Rule::Ask;
        }
        let chosen = self.session.chosen();
        match chosen.mode.rule(tool) {
            Rule::Ask if !chosen.confirm => Rule::Run,
            rule => rule,
        }
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
        let Some(tool) = call.tool.filter(|_| call.fault.is_none()) else {
            return Output::failure(call.fault.as_deref().unwrap_or_default());
        };
        self.send(Update::Other(update::tool_call_running(id)))
            .await;
        tally.count(tool.class);
        if let Some(tool) = self.session.servers.tool(&call.name) {
            return self.call_server(tool, &call.arguments).await;
        }
        let argument = |name: &str| {
            let value = call.arguments.get(name).and_then(Value::as_str);
            value.unwrap_or_default()
        };
        match tool.name {
            "switch_mode" => return self.switch_mode(argument("mode")).await,
            "ask_user" if self.session.parts.questions => {
                let page = call.arguments.get("url").and_then(Value::as_str);
                return self.ask_user(id, argument("question"), page).await;
            }
            "update_plan" => return self.update_plan(argument("steps"), tally).await,
            _ => {}
        }
        if let Some(output) = self.run_on_client(id, call).await {
            return output;
        }
        call.run(&self.place(processes)).await
    }

    fn place<'a>(&'a self, processes: &'a Processes) -> Place<'a> {
        Place {
            cwd: &self.session.cwd,
            settings: &self.session.settings.tools,
            processes,
            cancel: self.cancel,
        }
    }

    async fn call_server(&self, tool: &mcp::Tool, arguments: &Value) -> Output {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let seconds = self.session.settings.tools.timeout_s;
        let called = self.session.servers.call(tool, arguments);
        let called = timeout(Duration::from_secs(seconds), called);
        match self.cancel.run_until_cancelled(called).await {
            None => Output::failure(CANCELLED),
            Some(Err(_)) => Output::failure(format!("[ended after {seconds} s, the time limit]")),
            Some(Ok(output)) => output,
        }
    }

    async fn switch_mode(&self, id: &str) -> Output {
        let Some(mode) = Mode::find(id) else {
            let known = modes::known();
            return Output::failure(format!("there is no mode `{id}`; known: {known}"));
        };
        self.change_mode(mode).await;
        Output::done(format!("the mode is `{id}` now"))
    }

    async fn update_plan(&self, checklist: &str, tally: &mut Tally) -> Output {
        match plan::read(checklist) {
            Ok(entries) => {
                self.send(Update::Other(update::plan(&entries))).await;
                let output = Output::done(format!("the user sees {} step(s)", entries.len()));
                tally.plan = Some(entries);
                output
            }
            Err(reason) => Output::failure(reason),
        }
    }
}

/// Whether a call may run.
enum Permission {
    /// The user decided, or needs not to.
    Decided(Decision),
    /// The mode of the session does not allow it.
    Refused,
}
