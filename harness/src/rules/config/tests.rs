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
        select("effort", "thought_level", "a")
    );
    let run = |options: &[String]| session("{}", &members, &update(options));
    assert_eq!(
        failures(&run(&[select("effort", "thought_level", "b")])),
        one(COMPLETE, 4, "/params/update/configOptions")
    );
    let whole = run(&[
        select("model", "model", "a"),
        select("effort", "thought_level", "b"),
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

const SET_MODEL: &str = r#"> {"id":7,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"model","value":"b"}}"#;

fn answer(id: u64, options: &[String]) -> String {
    format!(
        r#"< {{"id":{id},"result":{{"configOptions":[{}]}}}}"#,
        options.join(",")
    )
}

/// A session with a model and two options without category, and these lines.
fn with_own(lines: &[String]) -> Vec<(&'static str, u64, String)> {
    let own = |id: &str| select(id, "", "a").replace(r#""category":"","#, "");
    let members = format!(
        r#""configOptions":[{},{},{}]"#,
        select("model", "model", "a"),
        own("style"),
        own("colour")
    );
    failures(&session("{}", &members, &lines.join("\n")))
}

#[test]
fn what_depends_on_a_change_may_come_right_after_its_answer() {
    let model = select("model", "model", "b");
    let own = |id: &str| select(id, "_x", "a");
    let whole = [model.clone(), own("style"), own("colour")];
    for short in [vec![model.clone()], vec![model.clone(), own("style")]] {
        assert_eq!(
            with_own(&[SET_MODEL.to_owned(), answer(7, &short), update(&whole)]),
            [],
            "{short:?}"
        );
        // In the answer to another change it had been there all the time.
        let again = SET_MODEL.replace(":7,", ":8,");
        let lines = [
            SET_MODEL.to_owned(),
            answer(7, &short),
            again,
            answer(8, &whole),
        ];
        assert_eq!(
            with_own(&lines),
            one(WHOLE_ANSWER, 5, "/result/configOptions"),
            "{short:?}"
        );
    }
}

#[test]
fn an_option_that_stays_away_though_all_is_as_before_is_missing() {
    let short = |value: &str| [select("model", "model", value)];
    let back = SET_MODEL.replace(":7,", ":8,").replace("\"b\"", "\"a\"");
    let lines = [
        SET_MODEL.to_owned(),
        answer(7, &short("b")),
        back,
        answer(8, &short("a")),
    ];
    assert_eq!(
        with_own(&lines),
        one(WHOLE_ANSWER, 5, "/result/configOptions")
    );
}

#[test]
fn options_may_come_back_with_a_login_or_a_turn() {
    let whole = [
        select("model", "model", "a"),
        select("style", "_x", "a"),
        select("colour", "_x", "a"),
    ];
    let set = SET_MODEL.replace("\"b\"", "\"a\"");
    let (login, logout) = (
        r#"> {"id":5,"method":"authenticate","params":{"methodId":"m"}}
           < {"id":5,"result":{}}"#,
        r#"> {"id":5,"method":"logout","params":{}}
           < {"id":5,"result":{}}"#,
    );
    let turn = r#"> {"id":5,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}
        < {"id":5,"result":{"stopReason":"end_turn"}}"#;
    for short in [vec![], whole[..2].to_vec()] {
        for between in [login, logout, turn] {
            let lines = [
                update(&short),
                between.to_owned(),
                set.clone(),
                answer(7, &whole),
            ];
            assert_eq!(with_own(&lines), [], "{between} {short:?}");
        }
        let lines = [update(&short), set.clone(), answer(7, &whole)];
        assert_eq!(
            with_own(&lines),
            one(COMPLETE, 4, "/params/update/configOptions"),
            "{short:?}"
        );
    }
    assert_eq!(with_own(&[update(&[]), update(&whole)]), []);
}

#[test]
fn the_lists_of_two_changes_at_once_are_not_compared() {
    let model = |value: &str| select("model", "model", value);
    let own = |id: &str| select(id, "_x", "a");
    let second = SET_MODEL.replace(":7,", ":8,").replace("\"b\"", "\"a\"");
    let lines = [
        SET_MODEL.to_owned(),
        second,
        answer(8, &[model("a"), own("style"), own("colour")]),
        answer(7, &[model("b"), own("style")]),
        update(&[model("a"), own("style"), own("colour")]),
    ];
    assert_eq!(with_own(&lines), []);
}
