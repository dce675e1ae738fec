//! The everything surface: questions to the user, by form and by page.

use crate::client::{Bob, Setup, Turn, is_update};
use serde_json::{Value, json};

fn ready(elicitation: Value) -> Bob {
    let mut bob = Setup::new().args(&["--surface", "everything"]).start();
    bob.result(
        "initialize",
        json!({"protocolVersion": 1, "clientCapabilities": {"elicitation": elicitation}}),
    );
    bob
}

/// Runs a turn that asks one question, and answers it with the member `result` or `error`.
fn asked(bob: &mut Bob, session: &str, prompt: &str, mut answer: Value) -> (Value, Turn) {
    let id = bob.prompt(session, prompt);
    let question = bob.wait(|message| message["method"] == "elicitation/create");
    answer["jsonrpc"] = json!("2.0");
    answer["id"] = question["id"].clone();
    bob.send(answer);
    (question["params"].clone(), bob.end_of_turn(id))
}

#[test]
fn a_question_is_a_form_with_one_answer() {
    let mut bob = ready(json!({"form": {}}));
    let session = bob.session();
    let answer = json!({"result": {"action": "accept", "content": {"answer": "red"}}});
    let (question, turn) = asked(&mut bob, &session, "ask Which colour?\nsay Thanks.", answer);
    assert_eq!(
        question,
        json!({
            "sessionId": session,
            "toolCallId": "call_1",
            "mode": "form",
            "message": "Which colour?",
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "answer": {
                        "type": "string", "title": "Answer", "minLength": 1, "maxLength": 4000,
                    },
                },
                "required": ["answer"],
            },
        })
    );
    assert_eq!(turn.output(), "the user answered: red");
    assert_eq!(turn.states().last().unwrap().1, "completed");
    assert_eq!(turn.text(), "Thanks.");
}

#[test]
fn each_answer_leads_to_its_own_reply_and_the_turn_goes_on() {
    let mut bob = ready(json!({"form": {}, "url": {}}));
    let session = bob.session();
    let form = "ask Why?\nsay on";
    let page = "ask-url https://example.org/a\nsay on";
    let unknown = "[the client answered with an action that is not known]";
    let refused = json!({"error": {"code": -32603, "message": "not now"}});
    for (prompt, answer, said) in [
        (
            form,
            json!({"result": {"action": "decline"}}),
            "[the user declined to answer]",
        ),
        (
            form,
            json!({"result": {"action": "cancel", "content": {"answer": "a"}}}),
            "[the user dismissed the question]",
        ),
        (form, json!({"result": {"action": "_later"}}), unknown),
        (form, json!({"result": null}), unknown),
        (
            form,
            refused.clone(),
            "[the client refused elicitation/create: not now]",
        ),
        (
            form,
            json!({"result": {"action": "accept"}}),
            "[the answer cannot be used: there is none]",
        ),
        (
            form,
            json!({"result": {"action": "accept", "content": null}}),
            "[the answer cannot be used: there is none]",
        ),
        (
            form,
            json!({"result": {"action": "accept", "content": {"answer": ""}}}),
            "[the answer cannot be used: `answer` is empty]",
        ),
        (
            form,
            json!({"result": {"action": "accept", "content": {"answer": 5}}}),
            "[the answer cannot be used: `answer` is no string]",
        ),
        (
            page,
            json!({"result": {"action": "decline"}}),
            "[the user declined to go to the page]",
        ),
        (
            page,
            json!({"result": {"action": "cancel"}}),
            "[the user dismissed the page]",
        ),
        (page, json!({"result": {"action": "_later"}}), unknown),
        (
            page,
            refused,
            "[the client refused elicitation/create: not now]",
        ),
    ] {
        let (_, turn) = asked(&mut bob, &session, prompt, answer.clone());
        assert_eq!(turn.output(), said, "{answer}");
        assert_eq!(turn.states().last().unwrap().1, "failed", "{answer}");
        assert_eq!(
            (turn.text().as_str(), turn.stop_reason()),
            ("on", "end_turn")
        );
        let completed = |message: &Value| message["method"] == "elicitation/complete";
        assert!(!turn.messages.iter().any(completed), "{answer}");
    }
}

#[test]
fn a_page_is_completed_after_the_user_agreed_to_it() {
    let mut bob = ready(json!({"url": {}}));
    let session = bob.session();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let answer = json!({"result": {"action": "accept"}});
        let prompt = "ask-url https://example.org/login";
        let (question, turn) = asked(&mut bob, &session, prompt, answer);
        assert_eq!(question["mode"], "url");
        assert_eq!(question["url"], "https://example.org/login");
        assert_eq!(question["message"], "Go to this page, please.");
        let id = &question["elicitationId"];
        let at = |wanted: &dyn Fn(&Value) -> bool| turn.messages.iter().position(wanted);
        let completed = at(&|message| message["method"] == "elicitation/complete").unwrap();
        let message = &turn.messages[completed];
        assert_eq!(message["params"], json!({"elicitationId": id}));
        assert!(message.get("id").is_none());
        let ended = at(&|message| message["params"]["update"]["status"] == "completed");
        assert!(completed < ended.unwrap());
        assert_eq!(turn.output(), "the user went to https://example.org/login");
        ids.push(id.clone());
    }
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_mode_that_the_client_lacks_becomes_plain_text() {
    for elicitation in [Value::Null, json!({}), json!({"form": null, "url": null})] {
        let mut bob = ready(elicitation);
        let session = bob.session();
        let turn = bob.turn(&session, "ask Why?\nask-url https://example.org/\nsay on");
        let outputs: Vec<&str> = turn
            .updates()
            .filter_map(|update| update["rawOutput"]["output"].as_str())
            .collect();
        assert!(outputs[0].ends_with("ask in plain text and end your answer: Why?]"));
        assert!(outputs[1].ends_with("Go to this page, please. https://example.org/]"));
        assert_eq!(turn.text(), "on");
    }
    let mut bob = ready(json!({"url": {}}));
    let session = bob.session();
    assert!(
        bob.turn(&session, "ask Why?")
            .output()
            .contains("plain text")
    );
    let mut bob = ready(json!({"form": {}}));
    let session = bob.session();
    let turn = bob.turn(&session, "ask-url https://example.org/");
    assert!(turn.output().contains("plain text"));
}

#[test]
fn a_page_that_must_not_be_shown_is_not() {
    let mut bob = ready(json!({"url": {}}));
    let session = bob.session();
    for page in ["page", "http://example.org/", "https://a:b@example.org/"] {
        let turn = bob.turn(&session, &format!("ask-url {page}\nsay on"));
        assert!(turn.output().starts_with("[the page cannot be shown: "));
        assert_eq!(turn.text(), "on");
    }
}

#[test]
fn a_cancel_ends_the_wait_for_an_answer() {
    let mut bob = ready(json!({"form": {}, "url": {}}));
    let session = bob.session();
    for prompt in ["ask Why?", "ask-url https://example.org/"] {
        let id = bob.prompt(&session, prompt);
        bob.wait(|message| message["method"] == "elicitation/create");
        bob.cancel(&session);
        let turn = bob.end_of_turn(id);
        assert_eq!(turn.stop_reason(), "cancelled");
        assert_eq!(turn.output(), "[cancelled]");
        let ended = turn.messages.iter().filter(|message| {
            is_update(message, "tool_call_update")
                && message["params"]["update"]["status"] == "failed"
        });
        assert_eq!(ended.count(), 1);
    }
    assert_eq!(bob.turn(&session, "say on").text(), "on");
}
