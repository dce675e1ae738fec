//! The steps that a file need not write: `initialize`, and `session/new` for each session that it uses.

use std::collections::BTreeSet;

use serde_json::Map;

use super::check;
use crate::scenario::file::{Action, Params, Placeholder, Requests, Step};
use crate::source::{Field, Position, Problem};

/// The steps with the implied ones before those that need them, each with the place it is written at, if it is.
///
/// `initialize` is implied at the beginning unless a step does it itself anywhere in the file, and in any file right after
/// the agent was started again; `session/new` is implied right before the first step that needs the session, unless an
/// earlier step opens it.
pub(super) fn insert<'a>(
    written: Vec<Step>,
    fields: impl Iterator<Item = Field<'a>>,
    implied: bool,
) -> Result<Vec<(Step, Option<Field<'a>>)>, Problem> {
    let mut steps = Vec::new();
    if implied
        && !written
            .iter()
            .any(|step| matches!(step.action, Action::Initialize(_)))
    {
        let position = written
            .first()
            .map(|step| step.position)
            .unwrap_or_default();
        steps.push((
            step(
                Action::Initialize(Params::Over(Map::new())),
                position,
                "initialize",
                "",
            ),
            None,
        ));
    }
    let mut open = BTreeSet::new();
    for (own, field) in written.into_iter().zip(fields) {
        for session in sessions(&own, &field)? {
            if open.contains(&session) {
                continue;
            }
            if !implied {
                return Err(field
                    .problem(format!("no step before this one opens the session `{session}`"))
                    .help("`implied = false` leaves the opening of sessions to the file: write a step with `new`"));
            }
            let new = Action::New {
                params: Params::Over(Map::new()),
                opens: session.clone(),
                times: 1,
            };
            steps.push((
                step(new, own.position, &format!("new:{session}"), &session),
                None,
            ));
            open.insert(session);
        }
        if let Action::New { opens, .. } = &own.action {
            open.insert(opens.clone());
        }
        let again = (implied && own.action == Action::Restart).then_some(own.position);
        steps.push((own, Some(field)));
        if let Some(position) = again {
            let initialize = Action::Initialize(Params::Over(Map::new()));
            steps.push((
                Step {
                    name: None,
                    ..step(initialize, position, "", "")
                },
                None,
            ));
        }
    }
    Ok(steps)
}

/// The sessions whose ids the step needs.
fn sessions(step: &Step, field: &Field<'_>) -> Result<BTreeSet<String>, Problem> {
    let mut sessions = BTreeSet::new();
    if step.action.names_session() && !step.action.gives_session() {
        sessions.insert(step.session.clone());
    }
    for (_, placeholder) in check::placeholders(field)? {
        if let Placeholder::Session(name) = placeholder {
            sessions.insert(name.unwrap_or_else(|| step.session.clone()));
        }
    }
    Ok(sessions)
}

fn step(action: Action, position: Position, name: &str, session: &str) -> Step {
    Step {
        position,
        implied: true,
        name: Some(name.to_owned()),
        action,
        session: if session.is_empty() {
            super::step::MAIN.to_owned()
        } else {
            session.to_owned()
        },
        awaited: true,
        permission: Vec::new(),
        requests: Requests::default(),
        replies: Vec::new(),
        optional: false,
        probe: None,
        id: None,
        within: None,
        meta: None,
        require: Vec::new(),
        expect: Vec::new(),
        note: Vec::new(),
    }
}
