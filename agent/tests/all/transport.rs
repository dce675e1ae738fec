//! Lines that are unusual, or no messages at all.

use crate::client::Bob;
use serde_json::{Value, json};

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;

/// Sends raw bytes and returns the answer to a request after them, with what came before it.
fn answers_to(bytes: &[u8]) -> Vec<Value> {
    let mut bob = Bob::ready();
    bob.send_bytes(bytes);
    let id = bob.request("authenticate", json!({}));
    let mut messages = bob.wait_all(|message| message["id"] == id);
    let last = messages.pop().unwrap();
    assert_eq!(last["result"], json!({}), "the conversation goes on");
    messages
}

#[test]
fn a_line_that_is_no_message_is_answered_once_and_the_conversation_goes_on() {
    for (line, code) in [
        (&b"{not json\n"[..], -32700),
        (b"\xff\xfe\xfa\n", -32700),
        (b"Content-Length: 20\n", -32700),
        (b"\0\n", -32700),
        (b"42\n", -32600),
        (b"{}\n", -32600),
        (b"[]\n", -32600),
        (
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}]\n",
            -32600,
        ),
    ] {
        let answers = answers_to(line);
        assert_eq!(answers.len(), 1, "{line:?}: {answers:?}");
        assert_eq!(answers[0]["error"]["code"], code, "{line:?}");
        assert_eq!(answers[0]["id"], Value::Null);
        let message = answers[0]["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.contains('\n'));
    }
}

#[test]
fn deep_nesting_is_refused_and_not_fatal() {
    let line = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(answers_to(line.as_bytes())[0]["error"]["code"], -32700);
}

#[test]
fn a_request_with_a_faulty_envelope_is_refused_under_its_id() {
    let answers = answers_to(b"{\"jsonrpc\":\"1.0\",\"id\":\"seven\",\"method\":\"initialize\"}\n");
    assert_eq!(answers[0]["id"], "seven");
    assert_eq!(answers[0]["error"]["code"], -32600);
}

#[test]
fn blank_lines_and_stray_responses_are_skipped() {
    let bytes = b"\n\r\n   \n{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n\
        {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":1,\"message\":\"m\"}}\n\
        {\"jsonrpc\":\"2.0\",\"id\":6,\"result\":1,\"error\":2}\n";
    assert_eq!(answers_to(bytes), Vec::<Value>::new());
}

#[test]
fn nothing_that_was_sent_comes_back_in_an_error() {
    let secret = "sk-very-secret-0123456789";
    for line in [
        format!("{{\"key\": \"{secret}\"\n"),
        format!("[\"{secret}\"]\n"),
        format!("\"{secret}\"\n"),
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/new\",\"params\":{{\"cwd\":5,\"env\":\"{secret}\"}}}}\n"
        ),
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/new\",\"params\":{{\"cwd\":\"{secret}\"}}}}\n"
        ),
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"{secret}\"}}}}\n"
        ),
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/prompt\",\"params\":{{\"prompt\":\"{secret}\"}}}}\n"
        ),
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/prompt\",\"params\":[\"{secret}\"]}}\n"
        ),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":7,\"params\":[\"{secret}\"]}}\n"),
    ] {
        let answers = answers_to(line.as_bytes());
        assert_eq!(answers.len(), 1, "{line}");
        assert!(answers[0]["error"].is_object());
        assert!(!answers[0].to_string().contains(secret), "{}", answers[0]);
    }
}

#[test]
fn lines_may_end_in_carriage_return_and_line_feed() {
    let mut bob = Bob::start();
    bob.send_bytes(format!("{INITIALIZE}\r\n").as_bytes());
    assert!(bob.answer(1)["result"].is_object());
}

#[test]
fn the_last_line_needs_no_line_feed() {
    let mut bob = Bob::start();
    bob.send_bytes(INITIALIZE.as_bytes());
    bob.close_stdin();
    assert!(bob.answer(1)["result"].is_object());
    assert!(bob.exit().success());
}

#[test]
fn a_message_may_come_byte_by_byte_and_several_in_one_write() {
    let mut bob = Bob::start();
    for byte in format!("{INITIALIZE}\n").bytes() {
        bob.send_bytes(&[byte]);
    }
    assert!(bob.answer(1)["result"].is_object());
    let three = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"authenticate\"}\n\
        {\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n\
        {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nonsense\"}\n";
    bob.send_bytes(three.as_bytes());
    assert!(bob.answer(2)["result"].is_object());
    assert_eq!(bob.answer(3)["error"]["code"], -32601);
}

#[test]
fn ids_of_every_legal_form_come_back_as_they_are() {
    let mut bob = Bob::ready();
    for id in [
        json!(0),
        json!(-1),
        json!(2_147_483_648_i64),
        json!(i64::MAX),
        json!(""),
        json!("é"),
        json!("5"),
    ] {
        bob.send(json!({"jsonrpc": "2.0", "id": id, "method": "nonsense"}));
        assert_eq!(bob.answer(id)["error"]["code"], -32601);
    }
}

#[test]
fn characters_are_read_raw_and_as_escapes() {
    let mut bob = Bob::ready();
    let session = bob.session();
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"{session}\",\
         \"prompt\":[{{\"type\":\"text\",\"text\":\"é🗜\u{2028} \\u00e9\\ud83d\\udddc\\u2028\"}}]}}}}\n"
    );
    bob.send_bytes(line.as_bytes());
    assert_eq!(bob.end_of_turn(77).text(), "é🗜\u{2028} é🗜\u{2028}");
}

#[test]
fn a_line_of_twenty_megabytes_is_taken() {
    let mut bob = Bob::ready();
    let session = bob.session();
    // Written by hand, as the way through JSON values takes its time in an unoptimised build.
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"{session}\",\
         \"prompt\":[{{\"type\":\"text\",\"text\":\"hello\"}},\
         {{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"{}\"}}]}}}}\n",
        "a".repeat(20 * 1024 * 1024)
    );
    bob.send_bytes(line.as_bytes());
    assert_eq!(bob.end_of_turn(77).text(), "hello");
    let text = "long ".repeat(40_000);
    assert_eq!(bob.turn(&session, &text).text(), text);
}

#[test]
fn a_client_that_closes_its_end_lets_bob_go_quietly() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_bob"))
        .env_remove("OPENAI_BASE_URL")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{INITIALIZE}").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
