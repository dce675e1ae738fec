//! What the README tells those who write a client: each command comes up, and what is to be typed shows what it says.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;

use crate::client::{Bob, Setup, Turn, asks_permission, is_update};
use crate::mcp_server;
use serde_json::{Value, json};

const README: &str = include_str!("../../../README.md");
const TITLE: &str = "## A reference agent for your client";

/// The section of the README.
fn section() -> &'static str {
    let (_, rest) = README.split_once(TITLE).unwrap();
    rest.split("\n## ").next().unwrap()
}

/// The rows of the table whose first column has this name.
fn table(first: &str) -> Vec<Vec<&'static str>> {
    let head = format!("| {first} |");
    let (_, rest) = section().split_once(&head).unwrap();
    let rows = rest.lines().skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect()
}

/// What stands between backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The arguments of bob wherever a fenced block starts it, in whatever language.
fn commands() -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for block in section().split("```").skip(1).step_by(2) {
        let words: Vec<&str> = block
            .split(|sign: char| sign.is_whitespace() || "\"',:[]{}=()".contains(sign))
            .filter(|word| !word.is_empty())
            .collect();
        for (place, pair) in words.windows(2).enumerate() {
            if pair == ["harness", "bob"] || pair == ["args", "bob"] {
                let flags = words[place + 2..].chunks(2);
                let flags = flags.take_while(|flag| ["--surface", "--auth"].contains(&flag[0]));
                found.insert(flags.flatten().map(ToString::to_string).collect());
            }
        }
    }
    found
}

#[test]
fn each_command_of_the_readme_comes_up() {
    let commands = commands();
    assert!(commands.len() >= 4, "{commands:?}");
    for args in commands {
        // The loop over all surfaces is run as it stands by the test of the README's console blocks.
        let args = args
            .iter()
            .filter(|_| !args.contains(&"$surface".to_owned()));
        let args: Vec<&str> = args.map(String::as_str).collect();
        Setup::new().args(&args).ready();
    }
}

#[test]
fn the_settings_of_the_readme_can_be_read() {
    let blocks = section().split("```json\n").skip(1);
    let servers: Vec<Value> = blocks
        .map(|block| serde_json::from_str(block.split("```").next().unwrap()).unwrap())
        .collect();
    assert_eq!(servers.len(), 2);
    for servers in servers {
        for (name, server) in servers["agent_servers"].as_object().unwrap() {
            assert_eq!(server["command"], "harness", "{name}");
            assert_eq!(server["args"][0], "bob", "{name}");
        }
    }
}

/// A client that has all that bob asks for, and says yes to everything.
fn willing(surface: &str) -> (Bob, String) {
    let mut bob = Setup::new().args(&["--surface", surface]).start();
    bob.permission = Some("allow");
    bob.write("hello.txt", "hello\n");
    bob.write(
        "skills/greet/SKILL.md",
        "---\nname: greet\ndescription: How to greet\n---\nSay hello.\n",
    );
    bob.result(
        "initialize",
        json!({"protocolVersion": 1, "clientCapabilities": {
            "fs": {"readTextFile": true, "writeTextFile": true},
            "terminal": true,
            "elicitation": {"form": {}, "url": {}},
        }}),
    );
    let servers = json!([mcp_server::program("echo")]);
    let cwd = bob.cwd();
    let opened = bob.result("session/new", json!({"cwd": cwd, "mcpServers": servers}));
    bob.wait(|message| is_update(message, "available_commands_update"));
    (bob, opened["sessionId"].as_str().unwrap().to_owned())
}

/// A turn in which the client answers whatever it is asked.
pub(crate) fn turn(bob: &mut Bob, session: &str, text: &str) -> Turn {
    let id = bob.prompt(session, text);
    let mut messages = Vec::new();
    loop {
        let message = bob.wait(|_| true);
        let Some(method) = message["method"].as_str() else {
            if message["id"] == id {
                return Turn {
                    messages,
                    answer: message,
                };
            }
            continue;
        };
        let result = match method {
            "fs/read_text_file" => json!({"content": "hello\n"}),
            "terminal/create" => json!({"terminalId": "t"}),
            "terminal/wait_for_exit" => json!({"exitCode": 0}),
            "terminal/output" => json!({"output": "hello\n", "truncated": false}),
            "elicitation/create" if message["params"]["mode"] == "form" => {
                json!({"action": "accept", "content": {"answer": "blue"}})
            }
            "elicitation/create" => json!({"action": "accept"}),
            _ => json!({}),
        };
        if message.get("id").is_some() && method != "session/request_permission" {
            bob.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        }
        messages.push(message);
    }
}

/// What was seen of a turn, a word or two each: requests by method, updates by kind, parts of tool calls by type.
fn seen(turn: &Turn) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for message in &turn.messages {
        seen.extend(message["method"].as_str().map(str::to_owned));
    }
    for update in turn.updates() {
        for member in ["sessionUpdate", "kind", "status"] {
            seen.extend(update[member].as_str().map(str::to_owned));
        }
        for part in update["content"].as_array().into_iter().flatten() {
            let old = part.get("oldText").map_or("", |_| " with an old text");
            seen.push(format!("{}{old}", part["type"].as_str().unwrap()));
        }
    }
    seen
}

fn assert_seen(what: &str, turn: &Turn, wanted: &[&str]) {
    let seen = seen(turn);
    for wanted in wanted {
        assert!(
            seen.iter().any(|seen| seen == wanted),
            "{what}: no {wanted} in {seen:?}"
        );
    }
}

#[test]
fn what_the_readme_says_to_type_shows_what_is_to_be_seen() {
    let rows = table("to see");
    assert!(rows.len() >= 15, "{rows:?}");
    for row in rows {
        let [what, typed, surface] = row[..] else {
            panic!("{row:?}");
        };
        let text = quoted(typed).join("\n");
        let surfaces: Vec<&str> = ["0.11.0", "1.0.3", "everything"]
            .into_iter()
            .filter(|name| surface == "all" || surface.contains(name))
            .collect();
        assert!(!surfaces.is_empty(), "{surface}");
        for surface in surfaces {
            let (mut bob, session) = willing(surface);
            if what == "a crash" {
                bob.prompt(&session, &text);
                bob.wait(asks_permission);
                assert_eq!(bob.exit().signal(), Some(9), "{surface}");
                continue;
            }
            if what == "work to cancel" {
                let id = bob.prompt(&session, &text);
                bob.cancel(&session);
                assert_eq!(bob.end_of_turn(id).stop_reason(), "cancelled");
                continue;
            }
            let turn = turn(&mut bob, &session, &text);
            let wanted: &[&str] = match what {
                "a permission dialog" => &["session/request_permission"],
                "a permission dialog with four options" => {
                    let asked = turn
                        .messages
                        .iter()
                        .find(|it| it["method"] == "session/request_permission");
                    let options = asked.unwrap()["params"]["options"].as_array().unwrap();
                    assert_eq!(options.len(), 4);
                    &[]
                }
                "a diff of a new file, then of a change" if surface == "everything" => {
                    &["diff with an old text"]
                }
                "a diff of a new file, then of a change" => &["diff", "diff with an old text"],
                // In `everything` the command is the client's, and this client says that it went well.
                "a command that fails" if surface == "everything" => &["terminal"],
                "a command that fails" => &["failed"],
                "a terminal" => &["terminal/create", "terminal", "terminal/release"],
                "the client's own files in use" => &["fs/write_text_file", "fs/read_text_file"],
                "a plan, and how it fills" => &["plan"],
                "a thought" => &["agent_thought_chunk"],
                "a slow stream" => {
                    assert!(turn.updates().count() >= 20, "{surface}");
                    &["agent_message_chunk"]
                }
                "an error" => {
                    let said = turn.answer["error"]["data"]["error"].as_str();
                    assert_eq!(said, Some("the model is out of paper"));
                    &[]
                }
                "an endless loop that is stopped" => {
                    assert_eq!(turn.answer["error"]["code"], -32603);
                    &["execute"]
                }
                "a question" => &["elicitation/create", "completed"],
                "a page to go to, and its completion" => {
                    &["elicitation/create", "elicitation/complete"]
                }
                "a change of mode" => &["current_mode_update", "config_option_update"],
                "a long history made short" => {
                    assert!(turn.text().contains("compact"), "{}", turn.text());
                    &[]
                }
                _ => panic!("no test knows how `{what}` looks"),
            };
            assert_seen(&format!("{what} on {surface}"), &turn, wanted);
        }
    }
}

/// A directive of the table with something in the place of each word in capitals.
fn filled(directive: &str) -> String {
    let words = directive.split(' ').map(|word| match word {
        "TEXT" | "OLD" => "hello",
        "N" | "MS" => "2",
        "COMMAND" => "echo hello",
        "PATH" => "hello.txt",
        "NEW" => "goodbye",
        "NAME" => "greet",
        "ID" => "code",
        "QUESTION" => "Why?",
        "URL" => "https://example.org/a",
        "TOOL" => "echo__say",
        "JSON" => "{}",
        "DIRECTIVE" => "run true",
        "MESSAGE" => "out of paper",
        other => other,
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn each_directive_of_the_readme_is_obeyed() {
    let mut obeyed = BTreeSet::new();
    for row in table("directive") {
        let only_everything = row[1].starts_with("with `everything`");
        for surface in ["0.11.0", "1.0.3", "everything"] {
            if only_everything && surface != "everything" {
                continue;
            }
            let (mut bob, session) = willing(surface);
            for directive in quoted(row[0]) {
                let word = directive.split(' ').next().unwrap();
                let text = filled(directive);
                let turn = turn(&mut bob, &session, &text);
                // What is no directive is said again.
                assert_ne!(turn.text(), text, "{text} on {surface}");
                let wanted: &[&str] = match word {
                    "say" | "stream" => &["agent_message_chunk"],
                    "run" => &["execute", "session/request_permission", "completed"],
                    "read" => &["read", "session/request_permission", "completed"],
                    "write" | "edit" => &[
                        "edit",
                        "session/request_permission",
                        "diff with an old text",
                    ],
                    "skill" => {
                        assert_eq!(turn.permissions(), 0);
                        &["read", "completed"]
                    }
                    "think" => &["agent_thought_chunk"],
                    "plan" | "done" => &["plan"],
                    "mode" => &["session/request_permission", "current_mode_update"],
                    "ask" => &["elicitation/create", "completed"],
                    "ask-url" => &["elicitation/create", "elicitation/complete", "completed"],
                    "mcp" => &["other", "session/request_permission", "completed"],
                    "repeat" => {
                        let calls = turn
                            .updates()
                            .filter(|it| it["sessionUpdate"] == "tool_call");
                        assert_eq!(calls.count(), 2);
                        &["execute"]
                    }
                    "fail" => {
                        assert_eq!(turn.answer["error"]["data"]["error"], "out of paper");
                        &[]
                    }
                    "wait" | "fail-summary" => {
                        assert_eq!(turn.stop_reason(), "end_turn");
                        &[]
                    }
                    _ => panic!("no test knows what `{directive}` shows"),
                };
                assert_seen(&format!("{text} on {surface}"), &turn, wanted);
                obeyed.insert(word);
            }
        }
    }
    let all = "ask ask-url done edit fail fail-summary mcp mode plan read repeat run say skill stream \
               think wait write";
    assert_eq!(obeyed.into_iter().collect::<Vec<_>>().join(" "), all);
}
