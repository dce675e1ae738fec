//! JSONRPC-11, JSONRPC-12 and INTEROP-25: the shape of what the agent sends.

use serde_json::Value;

use super::quote::quote;
use super::{Moment, Out, Rule};
use crate::spec::Violation;

const PARAMS: &str = "JSONRPC-11";
const RESULT: &str = "JSONRPC-12";
const OBJECT: &str = "INTEROP-25";

/// So many violations of one message are told.
const TOLD: usize = 5;

/// Methods whose result INTEROP-25 notes where it is no object, and those where it fails.
const NOTED: [&str; 4] = ["authenticate", "logout", "session/close", "session/delete"];
const FAILED: [&str; 3] = ["session/load", "session/resume", "session/set_mode"];

/// JSONRPC-11, JSONRPC-12 (schema/v1/schema.json#/$defs): params and results fit the definition of their method. What is
/// known from drafts or later revisions is noted, and so is an update kind of the agent's own (it begins with an
/// underscore), as UPDATE-01 has it. The requirement of the area that a fault is in fails beside these two.
///
/// INTEROP-25: a result is an object, also where nothing in it is required. JSONRPC-12 lets a null of such a method pass.
pub(super) struct Shape;

impl Rule for Shape {
    fn judges(&self) -> &'static [&'static str] {
        &[PARAMS, RESULT, OBJECT]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        object(moment, out);
        let Some(payload) = moment.payload() else {
            return;
        };
        let id = if payload.member == "/params" {
            PARAMS
        } else {
            RESULT
        };
        let mut faults = 0;
        for violation in moment.violations() {
            let message = format!("{}: {}", payload.method, violation.message);
            if let Some(later) = &violation.later {
                let message = format!("{message} (known from {later})");
                out.note(id, moment.at(violation.path.as_str()), message);
            } else if is_own_kind(moment, violation) {
                let message = format!("{message} (an extension that version 1 does not foresee)");
                out.note(id, moment.at(violation.path.as_str()), message);
            } else {
                faults += 1;
                if faults <= TOLD {
                    out.fail(id, moment.at(violation.path.as_str()), message);
                }
            }
        }
        if faults == 0 {
            out.pass(id);
        }
    }
}

/// What the schema says against the part of the message at `path`, for the requirement of its area: without forms known
/// from later, and without `_meta`, which EXT-04 judges.
pub(super) fn faults_in<'a>(
    moment: &Moment<'a>,
    path: &str,
) -> impl Iterator<Item = &'a Violation> {
    moment.violations().iter().filter(move |violation| {
        violation.later.is_none()
            && !violation.path.ends_with("/_meta")
            && violation
                .path
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Whether the violation is only that an update is of a kind that begins with an underscore.
fn is_own_kind(moment: &Moment<'_>, violation: &Violation) -> bool {
    violation.path == "/params/update/sessionUpdate"
        && moment
            .update()
            .is_some_and(|update| update.kind.starts_with('_'))
}

fn object(moment: &Moment<'_>, out: &mut Out<'_>) {
    let (Some(open), Some(message)) = (moment.answers, moment.agent_message()) else {
        return;
    };
    let Some(result) = message.result().filter(|_| message.error().is_none()) else {
        return;
    };
    if !moment.talk.is_version_one() {
        return;
    }
    let method = open.method.as_str();
    let said = || {
        format!(
            "{} was answered with {}, where clients expect an object",
            quote(method),
            name(result)
        )
    };
    if FAILED.contains(&method) {
        out.check(OBJECT, result.is_object(), moment.at("/result"), said);
    } else if !result.is_object() && (NOTED.contains(&method) || method.starts_with('_')) {
        out.note(OBJECT, moment.at("/result"), said());
    }
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{OPENING, failed, judged};
    use super::*;

    fn after_opening(lines: &str) -> Judgement {
        judged(&format!("{OPENING}\n{lines}"))
    }

    fn of(judgement: &Judgement, id: &str) -> Vec<(u64, String)> {
        failed(judgement)
            .into_iter()
            .filter(|(failed, ..)| *failed == id)
            .map(|(_, event, path)| (event, path))
            .collect()
    }

    fn update(body: &str) -> String {
        format!(r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{body}}}}}"#)
    }

    #[test]
    fn valid_params_and_results_pass() {
        let judgement = after_opening(&update(r#"{"sessionUpdate":"plan","entries":[]}"#));
        assert_eq!(failed(&judgement), []);
        assert_eq!(judgement.get(PARAMS).unwrap().passes, 1);
        assert_eq!(judgement.get(RESULT).unwrap().passes, 2);
    }

    #[test]
    fn a_fault_in_params_is_told_where_it_stands() {
        let judgement = after_opening(&update(
            r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":5}"#,
        ));
        assert_eq!(
            of(&judgement, PARAMS),
            [(4, "/params/update/title".to_owned())]
        );
    }

    #[test]
    fn missing_params_are_a_fault_of_the_message() {
        let judgement = after_opening(r#"< {"method":"session/update"}"#);
        assert_eq!(of(&judgement, PARAMS), [(4, String::new())]);
    }

    #[test]
    fn a_result_is_judged_by_the_method_of_its_request() {
        let judgement = after_opening(
            r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}
               < {"id":2,"result":{"stopReason":"done"}}"#,
        );
        assert_eq!(
            of(&judgement, RESULT),
            [(5, "/result/stopReason".to_owned())]
        );
    }

    #[test]
    fn a_null_result_is_a_matter_of_practice_where_nothing_is_required() {
        let judgement = after_opening(
            r#"> {"id":2,"method":"session/load","params":{"sessionId":"s1","cwd":"/project","mcpServers":[]}}
               < {"id":2,"result":null}
               > {"id":3,"method":"session/close","params":{"sessionId":"s1"}}
               < {"id":3,"result":null}"#,
        );
        assert_eq!(failed(&judgement), [(OBJECT, 5, "/result".to_owned())]);
        assert_eq!(judgement.get(OBJECT).unwrap().notes.len(), 1);
    }

    #[test]
    fn an_object_as_result_of_a_load_passes() {
        let judgement = after_opening(
            r#"> {"id":2,"method":"session/load","params":{"sessionId":"s1","cwd":"/project","mcpServers":[]}}
               < {"id":2,"result":{}}"#,
        );
        assert_eq!(failed(&judgement), []);
        assert_eq!(judgement.get(OBJECT).unwrap().passes, 1);
    }

    #[test]
    fn a_kind_known_from_later_or_of_the_agents_own_is_noted() {
        for body in [
            r#"{"sessionUpdate":"plan_update","planId":"p"}"#,
            r#"{"sessionUpdate":"_own/kind","x":1}"#,
        ] {
            let judgement = after_opening(&update(body));
            assert_eq!(of(&judgement, PARAMS), []);
            assert_eq!(judgement.get(PARAMS).unwrap().notes.len(), 1, "{body}");
        }
    }

    #[test]
    fn nothing_is_said_about_another_version() {
        let judgement = judged(
            r#"> {"id":0,"method":"initialize","params":{"protocolVersion":2}}
               < {"id":0,"result":{"protocolVersion":2,"capabilities":{"session":5}}}
               < {"method":"session/update","params":{"update":{"sessionUpdate":"state_update"}}}"#,
        );
        assert_eq!(of(&judgement, PARAMS), []);
        assert_eq!(of(&judgement, RESULT), []);
    }
}
