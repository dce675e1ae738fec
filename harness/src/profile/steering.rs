//! What a profile and the `harness.toml` of an agent's repository have in common: how the agent is steered, and which of
//! its failures are known.

use super::read::strings;
use super::{Consent, Known, Profile, tools};
use crate::model::ToolMap;
use crate::source::{Field, Problem, Table, Value};

/// The keys that both have; a key that is not there leaves things as they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Steering {
    known: Vec<Known>,
    allow: Option<Vec<Consent>>,
    auth: Option<String>,
    set_mode: Option<String>,
    commands: Option<Vec<String>>,
    tools: Option<ToolMap>,
}

impl Steering {
    /// The names of the keys.
    pub(super) const KEYS: [&str; 6] = ["known", "allow", "auth", "set_mode", "commands", "tools"];

    /// Reads them. `known_id` says whether a requirement exists.
    ///
    /// # Errors
    /// The first thing that is wrong in them, at its place.
    pub(super) fn read(
        table: &Table<'_>,
        known_id: &dyn Fn(&str) -> bool,
    ) -> Result<Self, Problem> {
        let known = match table.get("known") {
            Some(field) => field
                .list()?
                .map(|entry| known(&entry, known_id))
                .collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        Ok(Self {
            known,
            allow: table.maybe("allow", |field| {
                field
                    .list()?
                    .map(|item| item.word(&Consent::WORDS))
                    .collect()
            })?,
            auth: text(table, "auth")?,
            set_mode: text(table, "set_mode")?,
            commands: table.maybe("commands", |field| field.strings())?,
            tools: table.maybe("tools", |field| tools::read(&field))?,
        })
    }

    /// Lays them over a profile: known failures are added, the other keys take the place of the profile's.
    pub(super) fn lay_over(&self, profile: &mut Profile) {
        let own = self.clone();
        profile.known.extend(own.known);
        profile.allow = own.allow.unwrap_or_else(|| profile.allow.clone());
        profile.auth = own.auth.or(profile.auth.take());
        profile.set_mode = own.set_mode.or(profile.set_mode.take());
        profile.commands = own.commands.unwrap_or_else(|| profile.commands.clone());
        profile.tools = own.tools.unwrap_or_else(|| profile.tools.clone());
    }
}

fn text(table: &Table<'_>, name: &str) -> Result<Option<String>, Problem> {
    let text = table.maybe(name, |field| field.filled())?;
    Ok(text.map(str::to_owned))
}

fn known(field: &Field<'_>, known_id: &dyn Fn(&str) -> bool) -> Result<Known, Problem> {
    let table = field.table(&["id", "scenario", "versions", "reason", "link", "until"])?;
    let id = table.need("id")?;
    if !known_id(id.string()?) {
        return Err(id
            .problem(format!("there is no requirement `{}`", id.string()?))
            .help("`harness list requirements` shows all of them"));
    }
    Ok(Known {
        file: field.source.name.clone(),
        position: table.position(),
        id: id.string()?.to_owned(),
        scenario: text(&table, "scenario")?,
        versions: strings(&table, "versions")?,
        reason: table.need("reason")?.filled()?.to_owned(),
        link: text(&table, "link")?,
        until: table.maybe("until", |field| day(&field))?,
    })
}

/// A day, as a TOML date or as a string.
fn day(field: &Field<'_>) -> Result<String, Problem> {
    let text = match &field.node.value {
        Value::Date(text) | Value::String(text) => text,
        _ => return Err(field.problem("`until` must be a day such as 2027-01-31")),
    };
    match text.parse::<jiff::civil::Date>() {
        Ok(day) => Ok(day.to_string()),
        Err(_) => Err(field
            .problem(format!("`{text}` is no day"))
            .help("expected a day such as 2027-01-31")),
    }
}
