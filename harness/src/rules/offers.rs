//! What sessions offer to choose, as the agent told last: modes and configuration options.

use serde_json::Value;

use super::Moment;
use crate::hash::HashMap;

/// What one session offers.
#[derive(Debug, Default)]
pub(super) struct Offer {
    /// The ids of its modes, if it told any.
    pub(super) modes: Option<Vec<String>>,
    /// Its options.
    pub(super) options: Vec<Choice>,
    /// The values of the option of the category `mode` when the modes were told.
    with_modes: Vec<String>,
}

/// One configuration option.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) id: String,
    pub(super) category: Option<String>,
    /// Whether it is a switch.
    pub(super) boolean: bool,
    /// The values that a select offers.
    pub(super) values: Vec<String>,
    pub(super) current: Value,
}

/// What all sessions offer.
#[derive(Debug, Default)]
pub(super) struct Offers {
    sessions: HashMap<String, Offer>,
}

/// What an event told of a session.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The session.
    pub(super) session: String,
    /// `currentModeId`, by a result or an update.
    pub(super) mode: Option<String>,
    /// Whether it told all options.
    pub(super) options: bool,
}

impl Offers {
    /// What is known of a session.
    pub(super) fn of(&self, session: &str) -> Option<&Offer> {
        self.sessions.get(session)
    }

    /// Takes note of an event, and gives what it told of a session, if anything.
    pub(super) fn see(&mut self, moment: &Moment<'_>) -> Option<Told> {
        let (session, told) = match moment.update() {
            Some(update) => match update.kind {
                "current_mode_update" | "config_option_update" => (update.session, update.body),
                _ => return None,
            },
            None => {
                let open = moment.answers?;
                let result = moment.agent_message()?.result()?;
                let session = match open.method.as_str() {
                    "session/new" => result.get("sessionId")?.as_str()?,
                    "session/load" | "session/resume" | "session/set_config_option" => {
                        open.session.as_deref()?
                    }
                    _ => return None,
                };
                (session, result)
            }
        };
        let modes = told.get("modes").filter(|modes| modes.is_object());
        let options = told.get("configOptions").and_then(Value::as_array);
        let current = modes.unwrap_or(told).get("currentModeId");
        let current = current.and_then(Value::as_str).map(str::to_owned);
        if modes.is_none() && options.is_none() && current.is_none() {
            return None;
        }
        let offer = self.sessions.entry(session.to_owned()).or_default();
        if let Some(modes) = modes {
            offer.modes = Some(texts(modes.get("availableModes"), "id"));
        }
        if let Some(options) = options {
            offer.options = options.iter().filter_map(choice).collect();
        }
        if modes.is_some() {
            offer.with_modes = offer.mode_values();
        }
        Some(Told {
            session: session.to_owned(),
            mode: current,
            options: options.is_some(),
        })
    }
}

impl Offer {
    /// The option of this id.
    pub(super) fn option(&self, id: &str) -> Option<&Choice> {
        self.options.iter().find(|option| option.id == id)
    }

    /// Whether a mode can be chosen, where the session told its modes; `None` where that is not clear: a later list of
    /// options has an option of the category `mode` with other values, and nothing but that can tell of other modes.
    pub(super) fn has_mode(&self, id: &str) -> Option<bool> {
        let listed = self.modes.as_ref()?.iter().any(|mode| mode == id);
        let now = self.mode_values();
        let unclear = now != self.with_modes && now.iter().any(|value| value == id) != listed;
        (!unclear).then_some(listed)
    }

    /// The values of the option of the category `mode`, sorted.
    fn mode_values(&self) -> Vec<String> {
        let values = self.mode_option().map(|option| option.values.clone());
        let mut values = values.unwrap_or_default();
        values.sort_unstable();
        values
    }

    /// The option of the category `mode`.
    pub(super) fn mode_option(&self) -> Option<&Choice> {
        let is_mode = |option: &&Choice| option.category.as_deref() == Some("mode");
        self.options.iter().find(is_mode)
    }
}

fn choice(option: &Value) -> Option<Choice> {
    let text = |name: &str| option.get(name).and_then(Value::as_str).map(str::to_owned);
    let listed = option.get("options").and_then(Value::as_array);
    let mut values = texts(option.get("options"), "value");
    for group in listed.into_iter().flatten() {
        values.extend(texts(group.get("options"), "value"));
    }
    Some(Choice {
        id: text("id")?,
        category: text("category"),
        boolean: text("type").as_deref() == Some("boolean"),
        values,
        current: option.get("currentValue").cloned().unwrap_or_default(),
    })
}

/// A member of all entries of a list.
fn texts(list: Option<&Value>, member: &str) -> Vec<String> {
    let entries = list.and_then(Value::as_array).into_iter().flatten();
    entries
        .filter_map(|entry| entry.get(member)?.as_str().map(str::to_owned))
        .collect()
}
