//! What the handshake says about MCP servers.

use serde_json::Value;

use super::{Moment, Out, Rule};

/// MCP-06 (docs/protocol/v1/session-setup.mdx#mcp-servers): new agents should support MCP over HTTP, which
/// `mcpCapabilities.http` says.
pub(super) struct McpServers;

impl Rule for McpServers {
    fn judges(&self) -> &'static [&'static str] {
        &["MCP-06"]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let Some((_, message)) = moment.answer_to("initialize") else {
            return;
        };
        let Some(result) = message.result().filter(|_| message.error().is_none()) else {
            return;
        };
        if !moment.talk.is_version_one() {
            return;
        }
        if result.get("agentCapabilities").is_none_or(Value::is_null) {
            out.inconclusive("MCP-06", "the agent spells no capabilities out (INIT-07)");
            return;
        }
        match result.pointer("/agentCapabilities/mcpCapabilities/http") {
            Some(Value::Bool(true)) => out.pass("MCP-06"),
            None | Some(Value::Bool(false) | Value::Null) => out.fail(
                "MCP-06",
                moment.at("/result/agentCapabilities"),
                "`mcpCapabilities.http` is not advertised, where new agents should support MCP servers over HTTP",
            ),
            Some(_) => out.inconclusive("MCP-06", "`mcpCapabilities.http` is no boolean (INIT-08)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::talking::{failures, holds, is_inconclusive, judged};

    fn handshake(capabilities: &str) -> super::super::Judgement {
        judged(&format!(
            r#"> {{"id":0,"method":"initialize","params":{{"protocolVersion":1}}}}
< {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{capabilities},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}"#
        ))
    }

    #[test]
    fn http_is_advertised_or_not() {
        assert!(holds(
            &handshake(r#"{"mcpCapabilities":{"http":true}}"#),
            "MCP-06"
        ));
        for without in [
            "{}",
            r#"{"mcpCapabilities":{}}"#,
            r#"{"mcpCapabilities":{"http":false,"sse":true}}"#,
        ] {
            let failed = failures(&handshake(without));
            assert!(
                failed.contains(&"MCP-06@1/result/agentCapabilities".to_owned()),
                "{failed:?}"
            );
        }
    }

    #[test]
    fn what_fails_another_requirement_leaves_it_open() {
        for capabilities in ["null", r#"{"mcpCapabilities":{"http":"true"}}"#] {
            assert!(is_inconclusive(&handshake(capabilities), "MCP-06"));
        }
    }
}
