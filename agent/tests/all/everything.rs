//! The everything surface: prompt content, modes, options, commands and what turns tell.

use crate::client::{Bob, Setup, Turn, asks_permission, is_update};
use crate::model_server::{ModelServer, says};
use serde_json::{Value, json};

fn setup() -> Setup {
    Setup::new().args(&["--surface", "everything"])
}

fn with_capabilities(capabilities: Value) -> Bob {
    let mut bob = setup().start();
    bob.result(
        "initialize",
        json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
    );
    bob
}

fn of_kind<'a>(turn: &'a Turn, kind: &str) -> Vec<&'a Value> {
    turn.updates()
        .filter(|update| update["sessionUpdate"] == kind)
        .collect()
}

#[test]
fn a_whole_conversation() {
    let mut bob = setup().start();
    bob.permission = Some("allow");
    bob.result(
        "initialize",
        json!({
            "protocolVersion": 1,
            "clientCapabilities": {"session": {"configOptions": {"boolean": {}}}},
            "clientInfo": {"name": "tests", "version": "1"},
        }),
    );
    let session = bob.session();
    bob.turn(
        &session,
        "think Let me see.\nplan look; change\nwrite note.txt one\ndone 1\nsay Half of it.",
    );
    bob.turn(&session, "done 2");
    bob.turn(&session, "/plan say later\nrun touch out.txt");
    bob.turn(&session, "mode code");
    bob.turn(&session, "run echo unasked");
    insta::assert_snapshot!(bob.transcript());
    assert!(!bob.cwd().join("out.txt").exists());
}

#[test]
fn images_audio_and_resources_are_taken() {
    let mut bob = setup().ready();
    let session = bob.session();
    let prompt = json!([
        {"type": "text", "text": "say See"},
        {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
        {"type": "audio", "mimeType": "audio/wav", "data": "aGk="},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "say what it says"}},
        {"type": "resource", "resource": {"uri": "file:///b.bin", "mimeType": "x/y", "blob": "AAAA"}},
    ]);
    let id = bob.request(
        "session/prompt",
        json!({"sessionId": session, "prompt": prompt}),
    );
    let text = bob.end_of_turn(id).text();
    assert_eq!(
        text,
        "See\n[image: image/png, 5 bytes]\n[audio: audio/wav, 2 bytes]\n\
         [resource: file:///a.txt]\nwhat it says\n[resource: file:///b.bin, x/y, 3 bytes]"
    );
    for block in [
        json!({"type": "image", "mimeType": "image/png"}),
        json!({"type": "resource", "resource": {"uri": "a"}}),
        json!({"type": "resource"}),
    ] {
        let params = json!({"sessionId": session, "prompt": [block]});
        let answer = bob.call("session/prompt", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
fn a_mode_says_which_tools_run_and_which_are_asked_about() {
    let mut bob = setup().ready();
    let session = bob.session();
    bob.permission = Some("allow");
    for (mode, run, read) in [("ask", 1, 1), ("code", 0, 0), ("plan", 0, 1)] {
        let params = json!({"sessionId": session, "modeId": mode});
        assert_eq!(bob.result("session/set_mode", params), json!({}));
        let update = bob.wait(|message| is_update(message, "config_option_update"));
        let options = &update["params"]["update"]["configOptions"];
        assert_eq!(options[0]["currentValue"], mode);
        assert_eq!(
            bob.turn(&session, "run touch a").permissions(),
            run,
            "{mode}"
        );
        let turn = bob.turn(&session, "write b.txt text");
        assert_eq!(turn.permissions(), run, "{mode}");
        let refused = turn.states().last().unwrap().1 == "failed";
        assert_eq!(refused, mode == "plan");
        let turn = bob.turn(&session, "read b.txt");
        assert_eq!(turn.permissions(), read, "{mode}");
        assert_eq!(turn.output(), "text");
    }
    let turn = bob.turn(&session, "run touch c");
    assert_eq!(
        turn.output(),
        "[refused: the mode `plan` allows no commands and no changes to files]"
    );
    assert!(!bob.cwd().join("c").exists());
    for params in [
        json!({"sessionId": session, "modeId": "fly"}),
        json!({"sessionId": session}),
        json!({"sessionId": "unknown", "modeId": "ask"}),
    ] {
        let answer = bob.call("session/set_mode", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
fn the_mode_can_be_changed_while_a_turn_runs() {
    let mut bob = setup().ready();
    let session = bob.session();
    let id = bob.prompt(&session, "run true\nrun true");
    let request = bob.wait(asks_permission);
    let params = json!({"sessionId": session, "modeId": "code"});
    assert_eq!(bob.result("session/set_mode", params), json!({}));
    bob.permit(&request, "allow");
    let turn = bob.end_of_turn(id);
    assert_eq!(turn.permissions(), 0);
    assert_eq!(turn.stop_reason(), "end_turn");
}

#[test]
fn options_are_answered_whole_and_modes_follow() {
    let mut bob = with_capabilities(json!({"session": {"configOptions": {"boolean": {}}}}));
    let session = bob.session();
    let set =
        |id: &str, value: Value| json!({"sessionId": session, "configId": id, "value": value});
    for (index, (id, value)) in [("mode", "plan"), ("model", "embedded"), ("effort", "high")]
        .into_iter()
        .enumerate()
    {
        let result = bob.result("session/set_config_option", set(id, json!(value)));
        let options = result["configOptions"].as_array().unwrap();
        assert_eq!(options.len(), 4);
        assert_eq!(options[index]["id"], id);
        assert_eq!(options[index]["currentValue"], value);
        if id == "mode" {
            let update = bob.wait(|message| is_update(message, "current_mode_update"));
            assert_eq!(update["params"]["update"]["currentModeId"], "plan");
        }
    }
    let turn = bob.turn(&session, "hello");
    assert_eq!(of_kind(&turn, "agent_thought_chunk").len(), 1);
    bob.result("session/set_config_option", set("mode", json!("ask")));
    let mut off = set("confirm", json!(false));
    off["type"] = json!("boolean");
    let result = bob.result("session/set_config_option", off);
    assert_eq!(result["configOptions"][3]["currentValue"], false);
    assert_eq!(bob.turn(&session, "run true").permissions(), 0);
    for params in [
        set("colour", json!("red")),
        set("mode", json!("fly")),
        set("confirm", json!("no")),
        json!({"sessionId": session, "configId": "mode"}),
    ] {
        let answer = bob.call("session/set_config_option", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
fn a_client_without_switches_gets_none() {
    let mut bob = setup().ready();
    let cwd = bob.cwd();
    let result = bob.result("session/new", json!({"cwd": cwd, "mcpServers": []}));
    let options = result["configOptions"].as_array().unwrap();
    assert!(options.iter().all(|option| option["type"] == "select"));
    let params = json!({
        "sessionId": result["sessionId"], "configId": "confirm", "type": "boolean", "value": false,
    });
    let answer = bob.call("session/set_config_option", params);
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn effort_and_model_reach_the_model_server() {
    let server = ModelServer::start(vec![says("a"), says("b")]);
    let mut bob = setup().env("OPENAI_BASE_URL", &server.base_url).ready();
    let session = bob.session();
    let set = |id: &str, value: &str| json!({"sessionId": session, "configId": id, "value": value});
    bob.turn(&session, "one");
    bob.result("session/set_config_option", set("effort", "low"));
    bob.turn(&session, "two");
    bob.result("session/set_config_option", set("model", "embedded"));
    assert_eq!(bob.turn(&session, "say three").text(), "three");
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen[0].body.get("reasoning_effort").is_none());
    assert_eq!(seen[1].body["reasoning_effort"], "low");
    let names: Vec<&str> = seen[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert!(names.ends_with(&["ask_user", "switch_mode", "update_plan"]));
}

#[test]
fn commands_are_sent_again_when_skills_change() {
    let mut bob = setup().ready();
    let session = bob.session();
    assert!(of_kind(&bob.turn(&session, "hello"), "available_commands_update").is_empty());
    bob.write(
        "skills/paint/SKILL.md",
        "---\ndescription: How to paint\n---\n",
    );
    let turn = bob.turn(&session, "/paint it");
    let commands = &of_kind(&turn, "available_commands_update")[0]["availableCommands"];
    assert_eq!(commands[2]["name"], "plan");
    assert_eq!(commands[2]["input"], json!({"hint": "what to plan"}));
    assert_eq!(
        commands[3],
        json!({"name": "paint", "description": "How to paint"})
    );
    assert_eq!(turn.states().len(), 3);
    bob.permission = Some("allow");
    let turn = bob.turn(&session, "run rm -r skills");
    assert_eq!(of_kind(&turn, "available_commands_update").len(), 1);
}

#[test]
fn thoughts_and_texts_are_messages_of_their_own() {
    let mut bob = setup().ready();
    let session = bob.session();
    let turn = bob.turn(&session, "say a\nsay b\nthink c\nsay d");
    let ids: Vec<(&str, &str)> = turn
        .updates()
        .filter(|update| update.get("messageId").is_some())
        .map(|update| {
            let kind = update["sessionUpdate"].as_str().unwrap();
            (kind, update["messageId"].as_str().unwrap())
        })
        .collect();
    let (text, thought) = ("agent_message_chunk", "agent_thought_chunk");
    assert_eq!(
        ids,
        [
            (text, "message_2"),
            (text, "message_2"),
            (thought, "message_3"),
            (text, "message_4"),
        ]
    );
}

#[test]
fn the_cost_of_a_session_grows_and_a_title_comes_once() {
    let mut bob = setup().ready();
    let session = bob.session();
    let first = bob.turn(&session, "Fix the wall\nnow");
    assert_eq!(
        of_kind(&first, "session_info_update")[0]["title"],
        "Fix the wall"
    );
    let second = bob.turn(&session, "say again");
    assert!(of_kind(&second, "session_info_update").is_empty());
    let cost = |turn: &Turn| {
        let update = of_kind(turn, "usage_update")[0]["cost"].clone();
        assert_eq!(update["currency"], "USD");
        update["amount"].as_f64().unwrap()
    };
    assert!(0.0 < cost(&first) && cost(&first) < cost(&second));
    assert!(second.answer["result"].get("usage").is_none());
}

#[test]
fn a_plan_that_is_no_checklist_and_a_mode_that_is_none_fail_their_calls() {
    let mut bob = setup().ready();
    let session = bob.session();
    bob.permission = Some("allow");
    let turn = bob.turn(&session, "mode fly");
    assert!(turn.output().contains("there is no mode `fly`"));
    let turn = bob.turn(&session, "plan ;");
    assert_eq!(turn.output(), "the plan has no step");
    assert!(of_kind(&turn, "plan").is_empty());
    assert_eq!(bob.turn(&session, "/new").stop_reason(), "end_turn");
    assert_eq!(bob.turn(&session, "done 1").text(), "There is no plan.");
}
