//! Tests of `check`.

use super::super::file::{Pattern, WorkspaceCondition};
use super::*;
use crate::wire::Reading;

fn answer(text: &str) -> (u64, Message) {
    (7, Reading::of_text(text).message().unwrap().clone())
}

fn seen<'a>(answer: Option<&'a (u64, Message)>, before: &'a Marks) -> Seen<'a> {
    Seen {
        answer,
        missing: None,
        event: Some(3),
        seconds: Some(1.5),
        session: None,
        before,
        messages: 4,
        workspace: Path::new("/nowhere"),
        model: None,
        turns: Box::leak(Box::default()),
        alive: true,
    }
}

fn error(codes: &[i64], not_codes: &[i64], optional: bool) -> Condition {
    Condition::Error(ErrorCondition {
        codes: codes.to_vec(),
        not_codes: not_codes.to_vec(),
        optional,
        ..ErrorCondition::default()
    })
}

fn count(min: u64, max: u64) -> Count {
    Count {
        min: Some(min),
        max: Some(max),
    }
}

#[test]
fn an_answer_is_told_from_none_and_a_result_from_an_error() {
    let marks = Marks::default();
    let result = answer(r#"{"id":1,"result":{"stopReason":"end_turn"}}"#);
    let failed = answer(r#"{"id":1,"error":{"code":-32601,"message":"no"}}"#);
    let holds = |answer: Option<&(u64, Message)>, wanted| {
        seen(answer, &marks)
            .check(&Condition::Answer(wanted))
            .is_ok()
    };
    assert!(holds(Some(&result), Answer::Result) && !holds(Some(&result), Answer::Error));
    assert!(holds(Some(&failed), Answer::Error) && !holds(Some(&failed), Answer::Result));
    assert!(holds(Some(&failed), Answer::Any) && !holds(Some(&failed), Answer::None));
    assert!(holds(None, Answer::None) && !holds(None, Answer::Any));
}

#[test]
fn a_missing_answer_says_whether_the_agent_has_ended() {
    let marks = Marks::default();
    let gone = Seen {
        missing: Some(PumpEnd::AgentGone),
        ..seen(None, &marks)
    };
    let miss = gone.check(&Condition::Answer(Answer::Any)).unwrap_err();
    assert!(miss.gone, "{miss:?}");
    let late = Seen {
        missing: Some(PumpEnd::TimedOut(2.0)),
        ..seen(None, &marks)
    };
    let miss = late.check(&Condition::Answer(Answer::Any)).unwrap_err();
    assert_eq!(
        (miss.gone, miss.message.as_str()),
        (false, "there is no answer after 2.0 s")
    );
}

#[test]
fn a_result_that_does_not_fit_is_shown_at_its_member() {
    let marks = Marks::default();
    let result = answer(r#"{"id":1,"result":{"stopReason":"end_turn"}}"#);
    let wanted = Pattern::Object(vec![(
        "stopReason".into(),
        Pattern::Equal("cancelled".into()),
    )]);
    let miss = seen(Some(&result), &marks)
        .check(&Condition::Result(wanted))
        .unwrap_err();
    assert_eq!(miss.place, Some(Place::new(7, "/result/stopReason")));
}

#[test]
fn an_optional_error_is_judged_only_where_there_is_one() {
    let marks = Marks::default();
    let result = answer(r#"{"id":1,"result":null}"#);
    let failed = answer(r#"{"id":1,"error":{"code":-32601,"message":"no"}}"#);
    let holds = |answer, condition: &Condition| seen(Some(answer), &marks).check(condition).is_ok();
    assert!(holds(&result, &error(&[], &[-32601], true)));
    assert!(!holds(&failed, &error(&[], &[-32601], true)));
    assert!(!holds(&result, &error(&[], &[], false)));
    assert!(holds(&failed, &error(&[-32601, -32602], &[], false)));
    assert!(!holds(&failed, &error(&[-32602], &[], false)));
}

#[test]
fn what_came_before_the_step_does_not_count() {
    let marks = Marks {
        messages: 3,
        ..Marks::default()
    };
    let it = seen(None, &marks);
    assert!(it.check(&Condition::Messages(count(1, 1))).is_ok());
    let miss = it.check(&Condition::Messages(count(0, 0))).unwrap_err();
    assert_eq!(
        miss.message,
        "expected 0 messages from the agent, there were 1"
    );
}

#[test]
fn one_of_several_ways_is_enough_and_all_are_named_where_none_holds() {
    let marks = Marks::default();
    let failed = answer(r#"{"id":1,"error":{"code":-32603,"message":"no"}}"#);
    let it = seen(Some(&failed), &marks);
    let way = |answer| vec![Condition::Answer(answer)];
    assert!(
        it.check(&Condition::Any(vec![
            way(Answer::Result),
            way(Answer::Error)
        ]))
        .is_ok()
    );
    let miss = it
        .check(&Condition::Any(vec![
            way(Answer::Result),
            way(Answer::None),
        ]))
        .unwrap_err();
    assert!(miss.message.contains("; and "), "{}", miss.message);
}

#[test]
fn a_link_that_leads_nowhere_is_a_file_that_is_there() {
    let marks = Marks::default();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("missing", folder.path().join("link")).unwrap();
    let it = Seen {
        workspace: folder.path(),
        ..seen(None, &marks)
    };
    let files = |absent: &[&str], present: &[&str]| {
        Condition::Workspace(WorkspaceCondition {
            absent: absent.iter().map(ToString::to_string).collect(),
            present: present.iter().map(ToString::to_string).collect(),
            contains: Vec::new(),
        })
    };
    assert!(it.check(&files(&["missing"], &["link"])).is_ok());
    assert!(it.check(&files(&["link"], &[])).is_err());
}

#[test]
fn strings_in_a_request_to_the_model_are_found_however_deep_and_whatever_their_spelling() {
    let strings = strings_of(r#"{"messages":[{"content":[{"text":"caf\u00e9"}]}],"n":1}"#);
    assert!(strings.iter().any(|string| string == "café"), "{strings:?}");
}

#[test]
fn a_quoted_text_is_short_and_holds_no_control_characters() {
    let text = quote(&format!("\u{1b}[31m\"{}", "x".repeat(500)));
    assert!(
        text.chars().count() < 120 && !text.contains('\u{1b}'),
        "{text}"
    );
}
