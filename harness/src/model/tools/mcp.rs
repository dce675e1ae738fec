//! Tools of MCP servers: agents offer them under names that they make of the server's and the tool's, or have one tool of
//! their own that calls all of them.

use serde_json::{Map, Value, json};

use super::Mapped;
use super::names::{same, words};
use crate::model::asked::Tool;

/// What an agent's own tool for all MCP tools calls its parameters: for the server, the tool and the arguments.
const SERVER: [&str; 4] = ["server_name", "server", "mcp_server", "server_id"];
const TOOL: [&str; 2] = ["tool_name", "tool"];
const ARGUMENTS: [&str; 6] = [
    "arguments",
    "args",
    "input",
    "tool_input",
    "params",
    "parameters",
];

/// A call of a tool that is wanted as `TOOL` or `SERVER/TOOL`; `None` where it is not offered.
pub(super) fn called(
    wanted: &str,
    arguments: &Map<String, Value>,
    offered: &[Tool],
) -> Option<Mapped> {
    let ranked = offered
        .iter()
        .filter_map(|tool| Some((rank(wanted, &tool.name)?, tool)));
    if let Some((_, tool)) = ranked.min_by_key(|(rank, _)| *rank) {
        return Some(Mapped {
            name: tool.name.clone(),
            arguments: Value::Object(arguments.clone()).to_string(),
        });
    }
    offered
        .iter()
        .find_map(|tool| by_tool_for_all(wanted, arguments, tool))
}

/// Whether a tool that is wanted as `TOOL` or `SERVER/TOOL` can be called.
pub(crate) fn is_offered(wanted: &str, offered: &[Tool]) -> bool {
    called(wanted, &Map::new(), offered).is_some()
}

/// How well a name tells the tool, the less the better; `None` where it tells another one.
fn rank(wanted: &str, name: &str) -> Option<usize> {
    let (server, tool) = wanted.split_once('/').unwrap_or(("", wanted));
    let (own, server, tool) = (words(name), words(server), words(tool));
    let before = own.strip_suffix(tool.as_slice())?;
    if before.ends_with(&server) {
        return Some(before.len());
    }
    // Some agents leave the server out as long as the names of tools do not meet.
    before.is_empty().then_some(usize::MAX)
}

fn by_tool_for_all(wanted: &str, arguments: &Map<String, Value>, tool: &Tool) -> Option<Mapped> {
    let (server, own) = wanted.split_once('/')?;
    let properties = tool.schema.get("properties")?.as_object()?;
    let parameter = |names: &[&str]| {
        let found = properties
            .iter()
            .find(|(own, _)| names.iter().any(|name| same(name, own)));
        found.map(|(name, schema)| (name.clone(), schema))
    };
    let (for_server, _) = parameter(&SERVER)?;
    let (for_tool, _) = parameter(&TOOL)?;
    let (for_arguments, schema) = parameter(&ARGUMENTS)?;
    let given = Value::Object(arguments.clone());
    let as_text = schema.get("type").and_then(Value::as_str) == Some("string");
    let given = match as_text {
        true => Value::String(given.to_string()),
        false => given,
    };
    let all = json!({for_server: server, for_tool: own, for_arguments: given});
    Some(Mapped {
        name: tool.name.clone(),
        arguments: all.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&str]) -> Vec<Tool> {
        let tool = |name: &&str| Tool {
            name: (*name).to_owned(),
            ..Tool::default()
        };
        names.iter().map(tool).collect()
    }

    fn found(wanted: &str, names: &[&str]) -> Option<String> {
        called(wanted, &Map::new(), &tools(names)).map(|mapped| mapped.name)
    }

    #[test]
    fn a_tool_is_found_under_the_names_that_agents_make() {
        for name in [
            "mcp__probe__echo",
            "probe_echo",
            "mcp_probe_echo",
            "probe-echo",
            "probe.echo",
            "echo",
        ] {
            let all = ["bash", name, "mcp__other__echo"];
            assert_eq!(found("probe/echo", &all).as_deref(), Some(name));
            assert_eq!(found("echo", &all[..2]).as_deref(), Some(name));
        }
    }

    #[test]
    fn a_tool_of_another_server_or_name_is_not_it() {
        for name in ["mcp__other__echo", "echo_all", "probe", "mcp__probe__env"] {
            assert_eq!(found("probe/echo", &[name]), None, "{name}");
            assert!(!is_offered("probe/echo", &tools(&[name])), "{name}");
        }
    }

    #[test]
    fn the_name_with_the_server_goes_before_the_bare_one() {
        let name = found("probe/echo", &["echo", "mcp__probe__echo"]);
        assert_eq!(name.as_deref(), Some("mcp__probe__echo"));
    }

    #[test]
    fn a_tool_for_all_servers_gets_server_tool_and_arguments() {
        let arguments = json!({"text": "a"});
        for (kind, given) in [
            ("object", json!({"text": "a"})),
            ("string", json!(r#"{"text":"a"}"#)),
        ] {
            let tool = Tool {
                name: "use_mcp_tool".into(),
                schema: json!({"type": "object", "properties": {
                    "server_name": {"type": "string"},
                    "tool_name": {"type": "string"},
                    "arguments": {"type": kind},
                }}),
                ..Tool::default()
            };
            let mapped = called("probe/echo", arguments.as_object().unwrap(), &[tool]).unwrap();
            let sent: Value = serde_json::from_str(&mapped.arguments).unwrap();
            let wanted = json!({"server_name": "probe", "tool_name": "echo", "arguments": given});
            assert_eq!(sent, wanted);
        }
    }
}
