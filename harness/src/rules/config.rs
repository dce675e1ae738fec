//! CONFIG-01 to -03, -06, -10 and -12: the configuration options of a session.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::quote::quote;
use super::schema::faults_in;
use super::{Moment, Out, Place, Rule};

const SOUND: &str = "CONFIG-01";
const CURRENT: &str = "CONFIG-02";
const NO_BOOLEAN: &str = "CONFIG-03";
const COMPLETE: &str = "CONFIG-06";
const BOTH: &str = "CONFIG-10";
const CATEGORY: &str = "CONFIG-12";

const CATEGORIES: [&str; 4] = ["mode", "model", "model_config", "thought_level"];

/// So many options that updates of a session lacked are remembered.
const REMEMBERED: usize = 100;

/// Requests whose result holds options, and those that give a session.
const HOLDING: [&str; 4] = [
    "session/new",
    "session/load",
    "session/resume",
    "session/set_config_option",
];

/// CONFIG-01 (docs/protocol/v1/session-config-options.mdx#configoption; schema/v1/schema.json#/$defs/SessionConfigOption):
/// shape, unique ids, unique values in a select. What concerns `currentValue` is CONFIG-02's.
///
/// CONFIG-02 (#default-values-and-graceful-degradation): a current value, which a select offers and a boolean is.
///
/// CONFIG-03 (#boolean-config-options): no boolean for a client that did not announce them.
///
/// CONFIG-06 (#from-the-agent): a config_option_update is complete. Options may vanish, as when another model has fewer, so
/// an update that lacks options fails only if they are back later though nothing else has changed, or if it holds the
/// changed option alone; the latter not where the model changed and only options that a model brings vanished.
///
/// CONFIG-10 (#relationship-to-session-modes): `modes` and an option of the category `mode`, or neither.
///
/// CONFIG-12 (#option-categories): categories are known ones or begin with an underscore.
#[derive(Default)]
pub(super) struct Config {
    sessions: HashMap<String, Known>,
}

/// The options of one session.
#[derive(Default)]
struct Known {
    options: Vec<Brief>,
    missing: Vec<Missing>,
}

/// An option that an update lacked.
struct Missing {
    id: String,
    /// The update.
    event: u64,
    /// What the update held.
    beside: Vec<Brief>,
}

#[derive(Clone, PartialEq)]
struct Brief {
    id: String,
    category: Option<String>,
    value: Value,
}

impl Rule for Config {
    fn judges(&self) -> &'static [&'static str] {
        &[SOUND, CURRENT, NO_BOOLEAN, COMPLETE, BOTH, CATEGORY]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if moment.agent_message().is_none() || !moment.talk.is_version_one() {
            return;
        }
        if let Some(update) = moment.update() {
            if update.kind == "config_option_update"
                && let Some(options) = update.body.get("configOptions").and_then(Value::as_array)
            {
                judge_list(moment, options, "/params/update/configOptions", out);
                self.updated(moment.index, update.session, options, out);
            }
            return;
        }
        let Some(open) = moment
            .answers
            .filter(|open| HOLDING.contains(&open.method.as_str()))
        else {
            return;
        };
        let Some(result) = moment
            .agent_message()
            .and_then(|message| message.result().filter(|_| message.error().is_none()))
        else {
            return;
        };
        let options = result.get("configOptions").and_then(Value::as_array);
        if open.method != "session/set_config_option" {
            both(moment, result, options, out);
        }
        let Some(options) = options else {
            return;
        };
        judge_list(moment, options, "/result/configOptions", out);
        let session = match open.method.as_str() {
            "session/new" => result.get("sessionId").and_then(Value::as_str),
            _ => open.session.as_deref(),
        };
        if let Some(session) = session {
            let known = self.sessions.entry(session.to_owned()).or_default();
            known.replace(briefs(options), out);
        }
    }
}

impl Config {
    fn updated(&mut self, event: u64, session: &str, options: &[Value], out: &mut Out<'_>) {
        let Some(known) = self.sessions.get_mut(session) else {
            // The first list that is seen cannot be compared.
            let known = self.sessions.entry(session.to_owned()).or_default();
            known.options = briefs(options);
            return;
        };
        let new = briefs(options);
        let gone: Vec<Brief> = known
            .options
            .iter()
            .filter(|old| new.iter().all(|option| option.id != old.id))
            .cloned()
            .collect();
        if gone.is_empty() {
            known.replace(new, out);
            out.pass(COMPLETE);
            return;
        }
        if is_only_the_change(&known.options, &new, &gone) {
            // The rest is taken to be as it was.
            for old in &mut known.options {
                if let Some(option) = new.iter().find(|option| option.id == old.id) {
                    *old = option.clone();
                }
            }
            out.fail(
                COMPLETE,
                Place::new(event, "/params/update/configOptions"),
                format!(
                    "the update holds the changed option alone and lacks {}, where the complete configuration is expected",
                    names(&gone)
                ),
            );
            return;
        }
        known.replace(new, out);
        let beside = known.options.clone();
        known.missing.truncate(REMEMBERED);
        known.missing.extend(gone.into_iter().map(|option| Missing {
            id: option.id,
            event,
            beside: beside.clone(),
        }));
    }
}

impl Known {
    /// Takes a new list. An option in it that an update lacked was not gone, if nothing else has changed since.
    fn replace(&mut self, options: Vec<Brief>, out: &mut Out<'_>) {
        let mut blamed = HashSet::new();
        self.missing.retain(|missing| {
            let back = options.iter().any(|option| option.id == missing.id);
            let same = missing.beside.iter().all(|old| options.contains(old));
            if back && same && blamed.insert(missing.event) {
                out.fail(
                    COMPLETE,
                    Place::new(missing.event, "/params/update/configOptions"),
                    format!(
                        "the update lacks the option {}, which is there later though nothing else has changed; the complete configuration is expected",
                        quote(&missing.id)
                    ),
                );
            }
            !back
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
    let depends = |option: &Brief| {
        matches!(
            option.category.as_deref(),
            Some("thought_level" | "model_config")
        )
    };
    let by_model = option.category.as_deref() == Some("model") && gone.iter().all(depends);
    changed && !by_model
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
    let mut ids = HashSet::new();
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
        let mut seen = HashSet::new();
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
        _ => value.as_str().is_some_and(|value| offered.contains(&value)),
    };
    out.check(
        CURRENT,
        holds,
        moment.at(format!("{path}/currentValue")),
        || {
            format!(
                "the current value {} of the option {} is none that it offers",
                quote(&value.to_string()),
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
        .any(|option| option.get("category").and_then(Value::as_str) == Some("mode"));
    match (modes, option) {
        (true, true) => out.pass(BOTH),
        (false, false) => {
            out.not_applicable(BOTH, "the session has neither modes nor an option for them");
        }
        (true, false) => out.fail(
            BOTH,
            moment.at("/result/modes"),
            "the session has `modes` and no option of the category `mode`, where both should be sent",
        ),
        (false, true) => out.fail(
            BOTH,
            moment.at("/result/configOptions"),
            "the session has an option of the category `mode` and no `modes`, where both should be sent",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, judged};
    use super::*;

    fn session(capabilities: &str, members: &str, rest: &str) -> Judgement {
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{capabilities}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/work","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1",{members}}}}}
            {rest}"#
        ))
    }

    const WITH_BOOLEAN: &str = r#"{"session":{"configOptions":{"boolean":{}}}}"#;

    fn with(options: &str) -> Judgement {
        session(WITH_BOOLEAN, &format!(r#""configOptions":[{options}]"#), "")
    }

    fn failures(judgement: &Judgement) -> Vec<(&'static str, u64, String)> {
        failed(judgement)
            .into_iter()
            .filter(|(id, ..)| id.starts_with("CONFIG"))
            .collect()
    }

    fn one(id: &'static str, event: u64, path: &str) -> Vec<(&'static str, u64, String)> {
        vec![(id, event, path.to_owned())]
    }

    fn select(id: &str, category: &str, value: &str) -> String {
        format!(
            r#"{{"id":"{id}","name":"N","category":"{category}","type":"select","currentValue":"{value}","options":[{{"value":"a","name":"A"}},{{"value":"b","name":"B"}}]}}"#
        )
    }

    fn update(options: &[String]) -> String {
        format!(
            r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"config_option_update","configOptions":[{}]}}}}}}"#,
            options.join(",")
        )
    }

    #[test]
    fn sound_options_pass() {
        let judgement = with(&format!(
            "{},{}",
            select("model", "model", "a"),
            r#"{"id":"g","name":"G","type":"select","currentValue":"y","options":[{"group":"one","name":"One","options":[{"value":"x","name":"X"}]},{"group":"two","name":"Two","options":[{"value":"y","name":"Y"}]}]},
               {"id":"b","name":"B","type":"boolean","currentValue":true}"#
                .replace('\n', " ")
        ));
        assert!(
            failures(&judgement).is_empty(),
            "{:?}",
            failures(&judgement)
        );
        for (id, passes) in [(SOUND, 1), (CURRENT, 3), (CATEGORY, 1)] {
            assert_eq!(judgement.get(id).unwrap().passes, passes, "{id}");
        }
    }

    #[test]
    fn ids_and_values_that_stand_twice_fail() {
        let twice = format!(
            "{},{}",
            select("m", "model", "a"),
            select("m", "model", "a")
        );
        assert_eq!(
            failures(&with(&twice)),
            one(SOUND, 3, "/result/configOptions/1/id")
        );
        let values = r#"{"id":"m","name":"M","type":"select","currentValue":"a","options":[{"value":"a","name":"A"},{"value":"a","name":"B"}]}"#;
        assert_eq!(
            failures(&with(values)),
            one(SOUND, 3, "/result/configOptions/0/options")
        );
    }

    #[test]
    fn unknown_types_and_missing_members_fail() {
        for option in [
            r#"{"id":"m","name":"M","type":"slider","currentValue":5}"#,
            r#"{"id":"m","type":"boolean","currentValue":true}"#,
            r#"{"id":"m","name":"M","type":"select","currentValue":"a","options":[{"value":"a","name":"A"},{"group":"g","name":"G","options":[]}]}"#,
        ] {
            let failures = failures(&with(option));
            assert!(!failures.is_empty(), "{option}");
            assert!(failures.iter().all(|(id, ..)| *id == SOUND), "{failures:?}");
        }
    }

    #[test]
    fn a_current_value_is_there_and_on_offer() {
        assert_eq!(
            failures(&with(&select("m", "model", "c"))),
            one(CURRENT, 3, "/result/configOptions/0/currentValue")
        );
        assert_eq!(
            failures(&with(
                r#"{"id":"m","name":"M","type":"select","options":[{"value":"a","name":"A"}]}"#
            )),
            one(CURRENT, 3, "/result/configOptions/0")
        );
        assert_eq!(
            failures(&with(
                r#"{"id":"m","name":"M","type":"boolean","currentValue":"yes"}"#
            )),
            one(CURRENT, 3, "/result/configOptions/0/currentValue")
        );
    }

    #[test]
    fn booleans_need_a_client_that_announced_them() {
        let boolean =
            r#""configOptions":[{"id":"b","name":"B","type":"boolean","currentValue":true}]"#;
        assert_eq!(
            failures(&session("{}", boolean, "")),
            one(NO_BOOLEAN, 3, "/result/configOptions/0/type")
        );
        assert!(failures(&session(WITH_BOOLEAN, boolean, "")).is_empty());
    }

    #[test]
    fn an_update_with_the_changed_option_alone_fails() {
        let members = format!(
            r#""configOptions":[{},{}]"#,
            select("model", "model", "a"),
            select("style", "_style", "a")
        );
        let run = |options: &[String]| session("{}", &members, &update(options));
        assert_eq!(
            failures(&run(&[select("model", "model", "b")])),
            one(COMPLETE, 4, "/params/update/configOptions")
        );
        let whole = run(&[
            select("model", "model", "b"),
            select("style", "_style", "a"),
        ]);
        assert!(failures(&whole).is_empty());
        assert_eq!(whole.get(COMPLETE).unwrap().passes, 1);
    }

    #[test]
    fn an_option_that_a_model_brings_may_vanish_and_come_back_with_the_model() {
        let members = format!(
            r#""configOptions":[{},{}]"#,
            select("model", "model", "a"),
            select("effort", "thought_level", "a")
        );
        let short = update(&[select("model", "model", "b")]);
        assert!(failures(&session("{}", &members, &short)).is_empty());
        let back = update(&[
            select("model", "model", "b"),
            select("effort", "thought_level", "a"),
        ]);
        assert_eq!(
            failures(&session("{}", &members, &format!("{short}\n{back}"))),
            one(COMPLETE, 4, "/params/update/configOptions")
        );
        let with_model = update(&[
            select("model", "model", "a"),
            select("effort", "thought_level", "a"),
        ]);
        let judgement = session("{}", &members, &format!("{short}\n{with_model}"));
        assert!(failures(&judgement).is_empty());
    }

    #[test]
    fn modes_and_their_option_come_together() {
        let modes = r#""modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]}"#;
        let options = format!(r#""configOptions":[{}]"#, select("m", "mode", "a"));
        assert_eq!(
            failures(&session("{}", modes, "")),
            one(BOTH, 3, "/result/modes")
        );
        assert_eq!(
            failures(&session("{}", &options, "")),
            one(BOTH, 3, "/result/configOptions")
        );
        let together = session("{}", &format!("{modes},{options}"), "");
        assert!(failures(&together).is_empty());
        assert_eq!(together.get(BOTH).unwrap().passes, 1);
    }

    #[test]
    fn categories_are_known_or_marked_as_own() {
        assert_eq!(
            failures(&with(&select("m", "style", "a"))),
            one(CATEGORY, 3, "/result/configOptions/0/category")
        );
        assert!(failures(&with(&select("m", "_style", "a"))).is_empty());
    }
}
