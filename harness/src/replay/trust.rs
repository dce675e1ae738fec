//! The commands that a recording holds, so that a person knows what an agent may run when it is replayed.

use serde_json::Value;

use crate::model::Cassette;
use crate::trace::{Party, Recording};
use crate::wire::Reading;

/// A command in a recording, and what holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// What holds it, in a word or two.
    pub(crate) by: &'static str,
    /// The command.
    pub(crate) command: String,
}

/// Each command that a recording holds, once: of tool calls, terminals and MCP servers in their order, and of what the
/// recorded model calls for.
pub(crate) fn commands(recording: &Recording) -> Vec<Recorded> {
    let mut found = Vec::new();
    for event in &recording.events {
        if !matches!(event.from, Party::Client | Party::Agent) {
            continue;
        }
        let Some(Reading::Message(message)) = event.body.reading() else {
            continue;
        };
        let Some(params) = message.params() else {
            continue;
        };
        let mut put = |by, command: Option<String>| {
            let command = command.filter(|command| !command.trim().is_empty());
            if let Some(command) = command {
                let recorded = Recorded { by, command };
                if !found.contains(&recorded) {
                    found.push(recorded);
                }
            }
        };
        match message.method() {
            Some("terminal/create") => put("terminal", with_arguments(params)),
            Some("session/request_permission") => {
                put("tool call", params.get("toolCall").and_then(of_call));
            }
            Some("session/update") => put("tool call", params.get("update").and_then(of_call)),
            Some(_) => {
                let servers = params.get("mcpServers").and_then(Value::as_array);
                for server in servers.into_iter().flatten() {
                    put("MCP server", with_arguments(server));
                }
            }
            None => {}
        }
    }
    for command in Cassette::of(recording, str::to_owned).commands() {
        let known = found.iter().any(|it: &Recorded| it.command == command);
        if !known {
            found.push(Recorded {
                by: "model",
                command,
            });
        }
    }
    found
}

/// The command of a tool call that executes: of its input, else its title.
fn of_call(call: &Value) -> Option<String> {
    let text = |name: &str| call.get(name).and_then(Value::as_str).map(str::to_owned);
    let input = call.get("rawInput");
    let member = |name: &str| input.and_then(|input| input.get(name));
    let command = member("command").or_else(|| member("cmd"));
    let command = command.and_then(|command| match command {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => Some(
            words
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" "),
        ),
        _ => None,
    });
    command.or_else(|| {
        let executes = text("kind").as_deref() == Some("execute");
        executes.then(|| text("title")).flatten()
    })
}

fn with_arguments(it: &Value) -> Option<String> {
    let command = it.get("command")?.as_str()?;
    let arguments = it.get("args").and_then(Value::as_array);
    let mut words = vec![command.to_owned()];
    words.extend(
        arguments
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned),
    );
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::talking::events;

    #[test]
    fn commands_of_calls_terminals_and_servers_are_each_told_once() {
        let recording = Recording {
            events: events(
                r#"
                > {"id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[{"name":"m","command":"npx","args":["-y","m"],"env":[]},{"type":"http","name":"h","url":"http://x"}]}}
                < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Run","kind":"execute","rawInput":{"command":"rm -rf x"}}}}
                < {"id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","rawInput":{"command":"rm -rf x"}},"options":[]}}
                < {"id":6,"method":"terminal/create","params":{"sessionId":"s","command":"ls","args":["-l"]}}
                < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"d","title":"make all","kind":"execute"}}}
                < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"e","title":"Read","kind":"read"}}}
            "#,
            ),
            ..Recording::default()
        };
        let found: Vec<String> = commands(&recording)
            .into_iter()
            .map(|it| format!("{}: {}", it.by, it.command))
            .collect();
        assert_eq!(
            found,
            [
                "MCP server: npx -y m",
                "tool call: rm -rf x",
                "terminal: ls -l",
                "tool call: make all"
            ]
        );
    }
}
