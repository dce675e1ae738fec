//! MODE-01 and -03: the modes of a session.

use serde_json::Value;

use super::offers::Offers;
use super::quote::quote;
use super::schema::faults_in;
use super::{Moment, Out, Place, Rule};
use crate::hash::{HashMap, HashSet};

const LISTED: &str = "MODE-01";
const AVAILABLE: &str = "MODE-03";

const RESULT: &str = "/result/modes";

/// So many updates that come before the modes are known wait for them.
const WAITING: usize = 100;

/// Requests whose result gives a session and its modes.
const GIVING: [&str; 3] = ["session/new", "session/load", "session/resume"];

/// MODE-01 (docs/protocol/v1/session-modes.mdx#initial-state): ids are unique, each mode has id and name, and the current
/// mode is among them.
///
/// MODE-03 (#from-the-agent): a current_mode_update names a mode of its session. One that comes before the result with the
/// modes (while a session is created or loaded) waits for it. Of a session whose modes were never told, nothing is said; nor of
/// a mode that a later list of options has in its option of the category `mode`.
#[derive(Default)]
pub(super) struct Modes {
    available: HashMap<String, HashSet<String>>,
    offers: Offers,
    waiting: Vec<(String, u64, String)>,
}

impl Rule for Modes {
    fn judges(&self) -> &'static [&'static str] {
        &[LISTED, AVAILABLE]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.offers.see(moment);
        if let Some(update) = moment.update() {
            if update.kind != "current_mode_update" || !moment.talk.is_version_one() {
                return;
            }
            let Some(mode) = update.body.get("currentModeId").and_then(Value::as_str) else {
                return;
            };
            let known = moment.talk.session(update.session);
            let due = known.is_none_or(|session| session.loading.is_some());
            match self.available.get(update.session) {
                Some(_) if !due && self.is_unclear(update.session, mode) => out.inconclusive(
                    AVAILABLE,
                    "the option of the category `mode` has other values than when the modes were told",
                ),
                Some(available) if !due => check(available, moment.index, mode, out),
                _ if due && self.waiting.len() < WAITING => {
                    self.waiting
                        .push((update.session.to_owned(), moment.index, mode.to_owned()))
                }
                _ => out.inconclusive(AVAILABLE, "the modes of a session were not seen"),
            }
            return;
        }
        let Some(open) = moment
            .answers
            .filter(|open| GIVING.contains(&open.method.as_str()))
        else {
            return;
        };
        let result = moment
            .agent_message()
            .and_then(|message| message.result().filter(|_| message.error().is_none()));
        let Some(result) = result.filter(|_| moment.talk.is_version_one()) else {
            return;
        };
        let session = match open.method.as_str() {
            "session/new" => result.get("sessionId").and_then(Value::as_str),
            _ => open.session.as_deref(),
        };
        if let Some(modes) = result.get("modes").filter(|modes| !modes.is_null()) {
            listed(moment, modes, out);
            if let Some(session) = session {
                match ids(modes) {
                    Some(ids) => self.available.insert(session.to_owned(), ids),
                    None => self.available.remove(session),
                };
            }
        }
        if let Some(session) = session {
            self.settle(session, out);
        }
    }
}

impl Modes {
    fn is_unclear(&self, session: &str, mode: &str) -> bool {
        let offer = self.offers.of(session).filter(|it| it.modes.is_some());
        offer.is_some_and(|offer| offer.has_mode(mode).is_none())
    }

    /// Judges the updates that came before the modes of their session.
    fn settle(&mut self, session: &str, out: &mut Out<'_>) {
        if self.waiting.is_empty() {
            return;
        }
        let (ready, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|(waiting, ..)| waiting == session);
        self.waiting = waiting;
        let ready: Vec<(String, u64, String)> = ready;
        for (_, event, mode) in ready {
            match self.available.get(session) {
                Some(available) => check(available, event, &mode, out),
                None => out.inconclusive(AVAILABLE, "the modes of a session were not seen"),
            }
        }
    }
}

fn check(available: &HashSet<String>, event: u64, mode: &str, out: &mut Out<'_>) {
    out.check(
        AVAILABLE,
        available.contains(mode),
        Place::new(event, "/params/update/currentModeId"),
        || {
            format!(
                "the current mode is said to be {}, which is not among the available modes",
                quote(mode)
            )
        },
    );
}

fn entries(modes: &Value) -> impl Iterator<Item = (usize, &Value)> {
    modes
        .get("availableModes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
}

/// The ids of the modes; `None` where they cannot be read, which is MODE-01's.
fn ids(modes: &Value) -> Option<HashSet<String>> {
    let listed = modes.get("availableModes")?.as_array()?.iter();
    listed
        .map(|mode| mode.get("id")?.as_str().map(str::to_owned))
        .collect()
}

fn listed(moment: &Moment<'_>, modes: &Value, out: &mut Out<'_>) {
    let mut sound = true;
    for violation in faults_in(moment, RESULT) {
        sound = false;
        out.fail(
            LISTED,
            moment.at(violation.path.as_str()),
            format!("the modes: {}", violation.message),
        );
    }
    let mut seen = HashSet::default();
    for (index, mode) in entries(modes) {
        if let Some(id) = mode.get("id").and_then(Value::as_str)
            && !seen.insert(id)
        {
            sound = false;
            out.fail(
                LISTED,
                moment.at(format!("{RESULT}/availableModes/{index}/id")),
                format!(
                    "two modes have the id {}, where ids must be unique",
                    quote(id)
                ),
            );
        }
    }
    if let Some(current) = modes.get("currentModeId").and_then(Value::as_str)
        && modes.get("availableModes").is_some_and(Value::is_array)
        && !seen.contains(current)
    {
        sound = false;
        out.fail(
            LISTED,
            moment.at(format!("{RESULT}/currentModeId")),
            format!(
                "the current mode {} is not among the available modes",
                quote(current)
            ),
        );
    }
    if sound {
        out.pass(LISTED);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, judged};
    use super::*;

    const INITIALIZED: &str = r#"
        > {"id":0,"method":"initialize","params":{"protocolVersion":1}}
        < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true}},"agentInfo":{"name":"a","version":"1"},"authMethods":[]}}
    "#;
    const SOUND: &str = r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}"#;

    fn session(modes: &str, rest: &str) -> Judgement {
        judged(&format!(
            r#"{INITIALIZED}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1","modes":{modes}}}}}
            {rest}"#
        ))
    }

    fn failures(judgement: &Judgement) -> Vec<(&'static str, u64, String)> {
        failed(judgement)
            .into_iter()
            .filter(|(id, ..)| id.starts_with("MODE"))
            .collect()
    }

    fn update(session: &str, mode: &str) -> String {
        format!(
            r#"< {{"method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"current_mode_update","currentModeId":"{mode}"}}}}}}"#
        )
    }

    #[test]
    fn sound_modes_and_an_update_to_one_of_them_pass() {
        let judgement = session(SOUND, &update("s1", "code"));
        assert!(failures(&judgement).is_empty());
        assert_eq!(judgement.get(LISTED).unwrap().passes, 1);
        assert_eq!(judgement.get(AVAILABLE).unwrap().passes, 1);
    }

    #[test]
    fn faulty_modes_fail_where_the_fault_stands() {
        for (modes, path) in [
            (
                r#"{"currentModeId":"x","availableModes":[{"id":"ask","name":"Ask"}]}"#,
                "/result/modes/currentModeId",
            ),
            (
                r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"ask","name":"Again"}]}"#,
                "/result/modes/availableModes/1/id",
            ),
            (
                r#"{"currentModeId":"ask","availableModes":[{"id":"ask"}]}"#,
                "/result/modes/availableModes/0",
            ),
            (
                r#"{"availableModes":[{"id":"ask","name":"Ask"}]}"#,
                "/result/modes",
            ),
        ] {
            assert_eq!(
                failures(&session(modes, "")),
                [(LISTED, 3, path.to_owned())],
                "{modes}"
            );
        }
    }

    #[test]
    fn an_update_to_an_unknown_mode_fails() {
        assert_eq!(
            failures(&session(SOUND, &update("s1", "yolo"))),
            [(AVAILABLE, 4, "/params/update/currentModeId".to_owned())]
        );
    }

    #[test]
    fn modes_that_cannot_be_read_say_nothing_of_an_update() {
        for modes in [
            "[]",
            r#"{"currentModeId":"ask","availableModes":{}}"#,
            r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":1,"name":"Code"}]}"#,
        ] {
            let failures = failures(&session(modes, &update("s1", "code")));
            assert!(!failures.is_empty(), "{modes}");
            assert!(
                failures.iter().all(|(id, ..)| *id == LISTED),
                "{failures:?}"
            );
        }
    }

    #[test]
    fn no_modes_and_null_modes_are_fine() {
        assert!(failures(&session("null", "")).is_empty());
    }

    #[test]
    fn an_update_during_a_load_waits_for_the_modes() {
        let load = |mode: &str| {
            judged(&format!(
                r#"{INITIALIZED}
                > {{"id":1,"method":"session/load","params":{{"sessionId":"s1","cwd":"/project","mcpServers":[]}}}}
                {}
                < {{"id":1,"result":{{"modes":{SOUND}}}}}"#,
                update("s1", mode)
            ))
        };
        assert!(failures(&load("code")).is_empty());
        assert_eq!(load("code").get(AVAILABLE).unwrap().passes, 1);
        assert_eq!(
            failures(&load("yolo")),
            [(AVAILABLE, 3, "/params/update/currentModeId".to_owned())]
        );
    }
}
