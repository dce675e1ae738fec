//! Tests of `config`.

use super::super::Judgement;
use super::super::talking::{failed, judged};
use super::*;

fn session(capabilities: &str, members: &str, rest: &str) -> Judgement {
    judged(&format!(
        r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{capabilities}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"mcpCapabilities":{{"http":true}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
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
fn what_is_no_list_is_unsound_and_nothing_else() {
    let modes = r#""modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]}"#;
    let judgement = session("{}", &format!(r#"{modes},"configOptions":{{}}"#), "");
    assert_eq!(failures(&judgement), one(SOUND, 3, "/result/configOptions"));
}

#[test]
fn values_that_cannot_be_read_say_nothing_of_the_current_one() {
    for values in [
        r#"["a","b"]"#,
        r#"[{"name":"A"}]"#,
        r#"[{"group":"g","name":"G","options":["a"]}]"#,
    ] {
        let option = format!(
            r#"{{"id":"o","name":"O","type":"select","currentValue":"a","options":{values}}}"#
        );
        let failures = failures(&with(&option));
        assert!(!failures.is_empty(), "{values}");
        assert!(failures.iter().all(|(id, ..)| *id == SOUND), "{failures:?}");
    }
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
    let boolean = r#""configOptions":[{"id":"b","name":"B","type":"boolean","currentValue":true}]"#;
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
        one(BOTH, 3, "/result/configOptions/0/category")
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
