//! Several sessions in one process.

use crate::client::{Bob, Setup, is_update};
use crate::model_server::{ModelServer, says};

#[test]
fn turns_of_two_sessions_run_one_after_the_other_in_the_order_of_their_prompts() {
    let mut bob = Bob::ready();
    let sessions = [bob.session(), bob.session()];
    let ids: Vec<i64> = (0..6)
        .map(|turn| bob.prompt(&sessions[turn % 2], "stream 5 2"))
        .collect();
    let last = *ids.last().unwrap();
    let messages = bob.wait_all(|message| message["id"] == last);
    let mut expected = Vec::new();
    for (turn, id) in ids.iter().enumerate() {
        expected.extend(std::iter::repeat_n(sessions[turn % 2].clone(), 5));
        expected.push(id.to_string());
    }
    let seen: Vec<String> = messages
        .iter()
        .map(|message| match message["params"]["sessionId"].as_str() {
            Some(session) => session.to_owned(),
            None => message["id"].to_string(),
        })
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn each_session_has_its_own_folder_instructions_and_skills() {
    let server = ModelServer::start(vec![says("a"), says("b")]);
    let mut bob = Setup::new()
        .env("OPENAI_BASE_URL", &server.base_url)
        .ready();
    for name in ["red", "blue"] {
        bob.write(&format!("{name}/AGENTS.md"), &format!("Always say {name}."));
        bob.write(
            &format!("{name}/skills/paint/SKILL.md"),
            &format!("---\nname: paint-{name}\ndescription: How to paint {name}\n---\n"),
        );
    }
    let (red, blue) = (bob.cwd().join("red"), bob.cwd().join("blue"));
    let (first, second) = (bob.session_in(&red), bob.session_in(&blue));
    bob.turn(&first, "hi");
    bob.turn(&second, "hi");
    let seen = server.seen();
    for (index, (name, other, folder)) in [("red", "blue", &red), ("blue", "red", &blue)]
        .into_iter()
        .enumerate()
    {
        let prompt = seen[index].body["messages"][0]["content"].as_str().unwrap();
        assert!(prompt.contains(&folder.display().to_string()), "{prompt}");
        assert!(prompt.contains(&format!("Always say {name}.")), "{prompt}");
        assert!(prompt.contains(&format!("- paint-{name}: How to paint {name}")));
        assert!(!prompt.contains(other), "{prompt}");
    }
}

#[test]
fn tools_work_in_the_folder_of_their_session() {
    let mut bob = Bob::ready();
    bob.permission = Some("allow");
    for name in ["red", "blue"] {
        bob.write(&format!("{name}/colour.txt"), name);
    }
    let (red, blue) = (bob.cwd().join("red"), bob.cwd().join("blue"));
    let sessions = [bob.session_in(&red), bob.session_in(&blue)];
    for (session, name) in sessions.iter().zip(["red", "blue"]) {
        assert_eq!(bob.turn(session, "read colour.txt").output(), name);
        assert_eq!(bob.turn(session, "run cat colour.txt").output(), name);
    }
}

#[test]
fn histories_are_apart() {
    let mut bob = Bob::ready();
    let (first, second) = (bob.session(), bob.session());
    bob.turn(&first, "one");
    bob.turn(&first, "two");
    bob.turn(&second, "three");
    let forgotten = bob.turn(&first, "/new").text();
    assert_eq!(forgotten, "🆕 New session: 4 message(s) forgotten.");
    let forgotten = bob.turn(&second, "/new").text();
    assert_eq!(forgotten, "🆕 New session: 2 message(s) forgotten.");
}

#[test]
fn a_command_waits_for_a_running_turn() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let running = bob.prompt(&session, "say begun\nwait 100\nsay ended");
    bob.wait(|message| is_update(message, "agent_message_chunk"));
    let waiting = bob.prompt(&session, "/new");
    assert_eq!(bob.end_of_turn(running).text(), "\nended");
    let turn = bob.end_of_turn(waiting);
    assert_eq!(turn.text(), "🆕 New session: 2 message(s) forgotten.");
}
