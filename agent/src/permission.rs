//! Asking the user before a tool runs.

use std::process::Stdio;

use agent_client_protocol::{self as acp, is_incoming_transport_closed};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::fault::{self, Hook};
use crate::session::Session;
use crate::surface::Parts;
use crate::tools::Invocation;
use crate::update;

/// What the user decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Runs the tool.
    Allow,
    /// Runs it, and its name is not asked about again in this session.
    AllowAlways,
    /// Does not run it.
    Reject,
    /// Does not run it, and its name is not asked about again in this session.
    Never,
    /// The turn was cancelled, or the client is gone, before there was a decision.
    Cancelled,
}

/// An option that the client shows: id, kind and effect. Its name is made by [`option_name`].
const OPTIONS: [(&str, &str, Decision); 4] = [
    ("allow", "allow_once", Decision::Allow),
    ("allow_always", "allow_always", Decision::AllowAlways),
    ("reject", "reject_once", Decision::Reject),
    ("never", "reject_always", Decision::Never),
];

/// The options of a surface.
fn options(parts: &Parts) -> impl Iterator<Item = &'static (&'static str, &'static str, Decision)> {
    let never = parts.never;
    OPTIONS
        .iter()
        .filter(move |(_, _, effect)| never || *effect != Decision::Never)
}

fn option_name(effect: Decision, tool: &str) -> String {
    match effect {
        Decision::Allow => "Allow".to_owned(),
        Decision::AllowAlways => format!("Allow {tool} for this session"),
        Decision::Never => format!("Never allow {tool} in this session"),
        Decision::Reject | Decision::Cancelled => "Reject".to_owned(),
    }
}

/// Asks the client about one tool call. Whatever is no clear consent is a rejection.
pub(crate) async fn ask(
    client: &Client,
    session: &Session,
    id: &str,
    call: &Invocation,
    cancel: &CancellationToken,
) -> Decision {
    let options: Vec<Value> = options(session.parts)
        .map(|(id, kind, effect)| {
            let name = option_name(*effect, &call.name);
            json!({ "optionId": id, "name": name, "kind": kind })
        })
        .collect();
    let mut answer = client.ask(
        "session/request_permission",
        json!({
            "sessionId": &*session.id,
            "toolCall": update::permission_subject(id, call),
            "options": options,
        }),
    );
    match cancel.run_until_cancelled(&mut answer).await {
        None => {
            if fault::is_on(Hook::RunsLate) {
                run_when_allowed(answer, session, call);
            }
            Decision::Cancelled
        }
        Some(Ok(Ok(result))) => decision(&result, session.parts),
        Some(Ok(Err(error))) if is_incoming_transport_closed(&error) => Decision::Cancelled,
        Some(_) => Decision::Reject,
    }
}

/// Runs the command of a call once permission comes, whatever has become of the turn: a fault.
fn run_when_allowed(
    answer: oneshot::Receiver<Result<Value, acp::Error>>,
    session: &Session,
    call: &Invocation,
) {
    let (parts, cwd) = (session.parts, session.cwd.clone());
    let command = call.arguments.get("command").and_then(Value::as_str);
    let command = command.unwrap_or_default().to_owned();
    tokio::spawn(async move {
        if let Ok(Ok(result)) = answer.await
            && decision(&result, parts) == Decision::Allow
        {
            let mut bash = std::process::Command::new("bash");
            bash.args(["-c", &command]).current_dir(cwd);
            let _ = bash.stdin(Stdio::null()).stdout(Stdio::null()).status();
        }
    });
}

fn decision(result: &Value, parts: &Parts) -> Decision {
    let outcome = result.get("outcome");
    let member = |name| outcome.and_then(|outcome| outcome.get(name)?.as_str());
    if member("outcome") != Some("selected") {
        return Decision::Reject;
    }
    options(parts)
        .find(|(id, _, _)| member("optionId") == Some(id))
        .map_or(Decision::Reject, |(_, _, effect)| *effect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Surface;

    fn decision(result: &Value) -> Decision {
        super::decision(result, Surface::V0_11_0.parts())
    }

    #[test]
    fn only_an_offered_option_to_allow_is_consent() {
        let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
        assert_eq!(decision(&selected("allow")), Decision::Allow);
        assert_eq!(decision(&selected("allow_always")), Decision::AllowAlways);
        for refusal in [
            selected("reject"),
            selected("never"),
            json!({"outcome": {"outcome": "cancelled"}}),
            json!({"outcome": {"outcome": "approved", "optionId": "allow"}}),
            json!({"outcome": "selected", "optionId": "allow"}),
            json!([]),
            Value::Null,
        ] {
            assert_eq!(decision(&refusal), Decision::Reject, "{refusal}");
        }
    }
}
