//! CONFIG-01 to -04, -06, -10 and -12: the configuration options of a session.

use std::sync::Arc;

use serde_json::Value;

use super::overlap::Overlap;
use super::quote::{quote, quote_json};
use super::schema::faults_in;
use super::{Moment, Out, Place, Rule};
use crate::hash::{HashMap, HashSet};
use crate::wire::Message;

const SOUND: &str = "CONFIG-01";
const CURRENT: &str = "CONFIG-02";
const NO_BOOLEAN: &str = "CONFIG-03";
const WHOLE_ANSWER: &str = "CONFIG-04";
const COMPLETE: &str = "CONFIG-06";
const BOTH: &str = "CONFIG-10";
const CATEGORY: &str = "CONFIG-12";

const CATEGORIES: [&str; 4] = ["mode", "model", "model_config", "thought_level"];

const SET: &str = "session/set_config_option";
const NO_METHOD: i64 = -32601;

/// What the client sends in a session by which options may come or go, besides a change of an option.
const CHANGING: [&str; 4] = [
    "session/prompt",
    "session/set_mode",
    "session/load",
    "session/resume",
];

/// The same for all sessions.
const OF_ALL: [&str; 2] = ["authenticate", "logout"];

/// So many options that lists of a session lacked are remembered.
const REMEMBERED: usize = 100;

/// Requests whose result holds options, and those that give a session.
const HOLDING: [&str; 4] = ["session/new", "session/load", "session/resume", SET];

/// CONFIG-01 (docs/protocol/v1/session-config-options.mdx#configoption; schema/v1/schema.json#/$defs/SessionConfigOption):
/// shape, unique ids, unique values in a select. What concerns `currentValue` is CONFIG-02's.
///
/// CONFIG-02 (#default-values-and-graceful-degradation): a current value, which a select offers and a boolean is. Values that
/// cannot be read offer nothing to hold it against.
///
/// CONFIG-03 (#boolean-config-options): no boolean for a client that did not announce them.
///
/// CONFIG-04 (#from-the-client): the answer to session/set_config_option has the complete list, judged as CONFIG-06. A method
/// that is not there fails too. Where two changes were under way at once, their lists are not compared.
///
/// CONFIG-06 (#from-the-agent): a config_option_update is complete. Options may vanish, as when another model has fewer, and
/// which of them depend on which no text says, so a list that lacks options fails only
/// - if it holds the changed option alone, unless what vanished may depend on that one: by the categories, which need not be
///   given, no model or mode vanishes, and a thought level or a part of a model's configuration makes nothing vanish;
/// - if they are back later though nothing else has changed: no login or logout, no turn, no change of mode, no custom
///   message. The answer to a change may be followed by an update with what depends on it, and an empty list by one that
///   has all, as when the agent did not know them yet;
/// - if a change took them away, and they are not back when it was undone.
///
/// CONFIG-10 (#relationship-to-session-modes): `modes` and an option of the category `mode`, or neither.
///
/// CONFIG-12 (#option-categories): categories are known ones or begin with an underscore.
#[derive(Default)]
pub(super) struct Config {
    sessions: HashMap<String, Known>,
    overlap: Overlap,
}

/// The options of one session.
#[derive(Default)]
struct Known {
    options: Arc<[Brief]>,
    missing: Vec<Missing>,
}

/// An option that a list lacked.
struct Missing {
    id: String,
    /// The list that lacked it.
    list: List,
    /// What that list held.
    beside: Arc<[Brief]>,
    /// The list before it, which held the option.
    before: Arc<[Brief]>,
}

/// A list that must be complete.
#[derive(Clone, Copy)]
struct List {
    event: u64,
    /// The requirement that it must be complete.
    id: &'static str,
    path: &'static str,
    /// What it is called.
    name: &'static str,
}

impl List {
    fn update(event: u64) -> Self {
        Self {
            event,
            id: COMPLETE,
            path: "/params/update/configOptions",
            name: "update",
        }
    }

    fn answer(event: u64) -> Self {
        Self {
            event,
            id: WHOLE_ANSWER,
            path: "/result/configOptions",
            name: "answer",
        }
    }

    fn place(self) -> Place {
        Place::new(self.event, self.path)
    }
}

#[derive(Clone, PartialEq)]
struct Brief {
    id: String,
    category: Option<String>,
    value: Value,
}

impl Rule for Config {
    fn judges(&self) -> &'static [&'static str] {
        &[
            SOUND,
            CURRENT,
            NO_BOOLEAN,
            WHOLE_ANSWER,
            COMPLETE,
            BOTH,
            CATEGORY,
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        let shared = self.overlap.see(moment);
        if let Some(message) = moment.client_message() {
            self.client_sent(message);
        } else if let Some(turn) = moment.ended_turn {
            self.may_change(&turn.session);
        }
        if moment.agent_message().is_none() {
            return;
        }
        if let Some(update) = moment.update() {
            if update.kind == "config_option_update"
                && let Some(options) = update.body.get("configOptions").and_then(Value::as_array)
            {
                judge_list(moment, options, "/params/update/configOptions", out);
                self.listed(List::update(moment.index), update.session, options, out);
            }
            return;
        }
        let Some(open) = moment
            .answers
            .filter(|open| HOLDING.contains(&open.method.as_str()))
        else {
            return;
        };
        if open.method == SET
            && let Some(error) = moment
                .agent_message()
                .filter(|it| it.error_code() == Some(NO_METHOD))
        {
            self.no_method(moment, open.session.as_deref(), error, out);
        }
        let Some(result) = moment
            .agent_message()
            .and_then(|message| message.result().filter(|_| message.error().is_none()))
        else {
            return;
        };
        let options = result.get("configOptions").filter(|it| !it.is_null());
        let odd = options.is_some_and(|options| !options.is_array());
        let options = options.and_then(Value::as_array);
        if odd {
            out.fail(
                SOUND,
                moment.at("/result/configOptions"),
                "`configOptions` is no list",
            );
        } else if open.method != SET {
            both(moment, result, options, out);
        }
        let Some(options) = options else {
            if open.method == SET && self.offers(open.session.as_deref()) {
                out.fail(
                    WHOLE_ANSWER,
                    moment.at("/result"),
                    "the answer has no list `configOptions`, where the complete configuration is expected",
                );
            }
            return;
        };
        judge_list(moment, options, "/result/configOptions", out);
        let session = match open.method.as_str() {
            "session/new" => result.get("sessionId").and_then(Value::as_str),
            _ => open.session.as_deref(),
        };
        match session {
            Some(session) if open.method == SET && !shared => {
                self.listed(List::answer(moment.index), session, options, out);
            }
            Some(session) => {
                let known = self.sessions.entry(session.to_owned()).or_default();
                known.options = briefs(options).into();
                known.missing.clear();
            }
            None => {}
        }
    }
}

impl Config {
    /// What the client sends may change which options there are.
    fn client_sent(&mut self, message: &Message) {
        let Some(method) = message.method() else {
            return;
        };
        match message.session() {
            Some(session) if CHANGING.contains(&method) || method.starts_with('_') => {
                self.may_change(session);
            }
            None if OF_ALL.contains(&method) || method.starts_with('_') => {
                for known in self.sessions.values_mut() {
                    known.missing.clear();
                }
            }
            _ => {}
        }
    }

    /// Something happened in a session by which options may come.
    fn may_change(&mut self, session: &str) {
        if let Some(known) = self.sessions.get_mut(session) {
            known.missing.clear();
        }
    }

    /// Whether the session is known to have options.
    fn offers(&self, session: Option<&str>) -> bool {
        let known = session.and_then(|session| self.sessions.get(session));
        known.is_some_and(|known| !known.options.is_empty())
    }

    fn no_method(
        &self,
        moment: &Moment<'_>,
        session: Option<&str>,
        error: &Message,
        out: &mut Out<'_>,
    ) {
        if self.offers(session) {
            let error = error.error().map(quote_json).unwrap_or_default();
            out.fail(
                WHOLE_ANSWER,
                moment.at("/error"),
                format!(
                    "the session has options, and session/set_config_option is answered with {}",
                    error
                ),
            );
        }
    }

    /// A list that must be complete.
    fn listed(&mut self, list: List, session: &str, options: &[Value], out: &mut Out<'_>) {
        let Some(known) = self.sessions.get_mut(session) else {
            // The first list that is seen cannot be compared.
            let known = self.sessions.entry(session.to_owned()).or_default();
            known.options = briefs(options).into();
            return;
        };
        let new: Arc<[Brief]> = briefs(options).into();
        let gone: Vec<Brief> = known
            .options
            .iter()
            .filter(|old| new.iter().all(|option| option.id != old.id))
            .cloned()
            .collect();
        if gone.is_empty() {
            known.replace(new, list, out);
            out.pass(list.id);
            return;
        }
        if is_only_the_change(&known.options, &new, &gone) {
            // The rest is taken to be as it was.
            let now = |old: &Brief| {
                let own = new.iter().find(|option| option.id == old.id);
                own.unwrap_or(old).clone()
            };
            known.options = known.options.iter().map(now).collect();
            out.fail(
                list.id,
                list.place(),
                format!(
                    "the {} holds the changed option alone and lacks {}, where the complete configuration is expected",
                    list.name,
                    names(&gone)
                ),
            );
            return;
        }
        let before = known.options.clone();
        known.replace(new, list, out);
        let beside = known.options.clone();
        known.missing.truncate(REMEMBERED);
        known.missing.extend(gone.into_iter().map(|option| Missing {
            id: option.id,
            list,
            beside: beside.clone(),
            before: before.clone(),
        }));
    }
}

impl Known {
    /// Takes a new list, and judges by it those that lacked an option.
    fn replace(&mut self, options: Arc<[Brief]>, list: List, out: &mut Out<'_>) {
        let mut blamed = HashSet::default();
        self.missing.retain(|missing| {
            let back = options.iter().any(|option| option.id == missing.id);
            let why = if back {
                let same = missing.beside.iter().all(|old| options.contains(old));
                // An update may bring what depends on a change, or what was not known yet.
                let may_be_new = list.id == COMPLETE
                    && (missing.list.id == WHOLE_ANSWER || missing.beside.is_empty());
                (same && !may_be_new).then_some("is there later though nothing else has changed")
            } else {
                let within = |list: &[Brief]| list.iter().all(|it| missing.before.contains(it));
                // Where nothing had changed when it vanished, it did not vanish by a change.
                let undone = !within(&missing.beside) && within(&options);
                (undone && missing.list.id == WHOLE_ANSWER && !options.is_empty())
                    .then_some("was there before the change, and is not when the change was undone")
            };
            if let Some(why) = why
                && blamed.insert(missing.list.event)
            {
                out.fail(
                    missing.list.id,
                    missing.list.place(),
                    format!(
                        "the {} lacks the option {}, which {why}; the complete configuration is expected",
                        missing.list.name,
                        quote(&missing.id)
                    ),
                );
            }
            !back && why.is_none()
        });
        self.options = options;
    }
}

/// Whether an update that lacks options is the bare change: one option, of which the value is another.
fn is_only_the_change(old: &[Brief], new: &[Brief], gone: &[Brief]) -> bool {
    let [option] = new else {
        return false;
    };
    let changed = old
        .iter()
        .any(|before| before.id == option.id && before.value != option.value);
    let may_bring = !option.is_of(&["thought_level", "model_config"]);
    let may_depend = |option: &Brief| !option.is_of(&["mode", "model"]);
    changed && !(may_bring && gone.iter().all(may_depend))
}

impl Brief {
    fn is_of(&self, categories: &[&str]) -> bool {
        let own = self.category.as_deref();
        own.is_some_and(|category| categories.contains(&category))
    }
}

fn names(options: &[Brief]) -> String {
    let names: Vec<String> = options.iter().take(5).map(|it| quote(&it.id)).collect();
    names.join(", ")
}

fn briefs(options: &[Value]) -> Vec<Brief> {
    options
        .iter()
        .filter_map(|option| {
            Some(Brief {
                id: option.get("id")?.as_str()?.to_owned(),
                category: option
                    .get("category")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
                value: option.get("currentValue").cloned().unwrap_or(Value::Null),
            })
        })
        .collect()
}

fn judge_list(moment: &Moment<'_>, options: &[Value], path: &str, out: &mut Out<'_>) {
    let mut sound = true;
    for violation in faults_in(moment, path) {
        let of_current = violation.path.ends_with("/currentValue")
            || (violation.keyword == "required" && violation.message.contains("currentValue"));
        if !of_current {
            sound = false;
            out.fail(
                SOUND,
                moment.at(violation.path.as_str()),
                format!("the configuration options: {}", violation.message),
            );
        }
    }
    let mut ids = HashSet::default();
    for (index, option) in options.iter().enumerate() {
        let at = |member: &str| moment.at(format!("{path}/{index}{member}"));
        if let Some(id) = option.get("id").and_then(Value::as_str)
            && !ids.insert(id)
        {
            sound = false;
            out.fail(
                SOUND,
                at("/id"),
                format!(
                    "two options have the id {}, where ids must be unique",
                    quote(id)
                ),
            );
        }
        let values = offered(option);
        let mut seen = HashSet::default();
        if let Some(twice) = values.iter().find(|value| !seen.insert(**value)) {
            sound = false;
            out.fail(
                SOUND,
                at("/options"),
                format!(
                    "the value {} stands twice in one select, where values must be unique",
                    quote(twice)
                ),
            );
        }
        let boolean = option.get("type").and_then(Value::as_str) == Some("boolean");
        out.check(NO_BOOLEAN, !boolean, at("/type"), || {
            "an option of type `boolean` is sent to a client that did not announce them".to_owned()
        });
        current(moment, option, &values, &format!("{path}/{index}"), out);
        if let Some(category) = option.get("category").and_then(Value::as_str) {
            out.check(
                CATEGORY,
                CATEGORIES.contains(&category) || category.starts_with('_'),
                at("/category"),
                || {
                    format!(
                        "the category {} is none of {} and does not begin with an underscore",
                        quote(category),
                        CATEGORIES.join(", ")
                    )
                },
            );
        }
    }
    if sound && !options.is_empty() {
        out.pass(SOUND);
    }
}

/// The values that a select offers, those in groups too.
fn offered(option: &Value) -> Vec<&str> {
    let mut values = Vec::new();
    let list = option.get("options").and_then(Value::as_array);
    for entry in list.into_iter().flatten() {
        values.extend(entry.get("value").and_then(Value::as_str));
        let group = entry.get("options").and_then(Value::as_array);
        for entry in group.into_iter().flatten() {
            values.extend(entry.get("value").and_then(Value::as_str));
        }
    }
    values
}

/// Whether each value that a select offers can be read, also in groups. What cannot is CONFIG-01's.
fn is_readable(select: &Value) -> bool {
    let has_value = |entry: &Value| entry.get("value").is_some_and(Value::is_string);
    let list = select.get("options").and_then(Value::as_array);
    list.is_some_and(|list| {
        list.iter().all(|entry| match entry.get("options") {
            Some(group) => group.as_array().is_some_and(|it| it.iter().all(has_value)),
            None => has_value(entry),
        })
    })
}

fn current(moment: &Moment<'_>, option: &Value, offered: &[&str], path: &str, out: &mut Out<'_>) {
    let kind = option.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("select" | "boolean")) {
        return;
    }
    let name = || quote(option.get("id").and_then(Value::as_str).unwrap_or_default());
    let Some(value) = option.get("currentValue") else {
        out.fail(
            CURRENT,
            moment.at(path),
            format!(
                "the option {} has no `currentValue`, which every option must have",
                name()
            ),
        );
        return;
    };
    let holds = match kind {
        Some("boolean") => value.is_boolean(),
        _ if !is_readable(option) => return,
        _ => value.as_str().is_some_and(|value| offered.contains(&value)),
    };
    out.check(
        CURRENT,
        holds,
        moment.at(format!("{path}/currentValue")),
        || {
            format!(
                "the current value {} of the option {} is none that it offers",
                quote_json(value),
                name()
            )
        },
    );
}

fn both(moment: &Moment<'_>, result: &Value, options: Option<&Vec<Value>>, out: &mut Out<'_>) {
    let modes = result.get("modes").is_some_and(|modes| !modes.is_null());
    let option = options
        .into_iter()
        .flatten()
        .position(|option| option.get("category").and_then(Value::as_str) == Some("mode"));
    match (modes, option) {
        (true, Some(_)) => out.pass(BOTH),
        (false, None) => {
            out.not_applicable(BOTH, "the session has neither modes nor an option for them");
        }
        (true, None) => out.fail(
            BOTH,
            moment.at("/result/modes"),
            "the session has `modes` and no option of the category `mode`, where both should be sent",
        ),
        (false, Some(place)) => out.fail(
            BOTH,
            moment.at(format!("/result/configOptions/{place}/category")),
            "the session has an option of the category `mode` and no `modes`, where both should be sent",
        ),
    }
}

#[cfg(test)]
mod tests;
