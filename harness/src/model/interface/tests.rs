//! What one interface writes, it reads back: streamed and whole.

use std::path::Path;

use super::chat::Chat;
use super::gemini::Gemini;
use super::messages::Messages;
use super::responses::Responses;
use super::*;
use crate::model::ToolMap;
use crate::model::asked::Tool;
use crate::model::reply::Whole;
use crate::model::script::{Reply, Usage};
use serde_json::Value;

/// Every interface, with a path that streams.
const ALL: [(&dyn Interface, &str); 5] = [
    (&Chat, "/v1/chat/completions"),
    (&Responses, "/v1/responses"),
    (&Messages, "/v1/messages"),
    (&Gemini, "/v1beta/models/x:streamGenerateContent?alt=sse"),
    (&Gemini, "/v1beta/models/x:streamGenerateContent"),
];

fn asked() -> Asked {
    let tool = |name: &str, freeform| Tool {
        name: name.into(),
        freeform,
        ..Tool::default()
    };
    Asked {
        usage: true,
        tools: vec![tool("bash", false), tool("apply_patch", true)],
        ..Asked::default()
    }
}

/// What both forms of a reply say, by each interface.
fn said(toml: &str) -> (Plan, Vec<(String, Said)>) {
    let asked = asked();
    let reply: Reply = toml::from_str(toml).unwrap();
    let plan = Plan::of(
        &reply,
        &asked,
        7,
        &ToolMap::default(),
        Some(Path::new("/s")),
    );
    let mut all = Vec::new();
    for (interface, path) in ALL {
        let opened = Opened {
            number: 7,
            seconds: 0,
            path,
            asked: &asked,
        };
        let mut writer = interface.writer(&opened);
        let mut stream = writer.opening(&plan);
        stream.extend(plan.pieces.iter().flat_map(|piece| writer.piece(piece)));
        stream.extend(writer.closing(&plan));
        let whole = interface.writer(&opened).whole(&plan);
        for body in [stream.concat(), whole] {
            all.push((format!("{interface:?}: {body}"), interface.said(200, &body)));
        }
    }
    (plan, all)
}

#[test]
fn text_thoughts_calls_and_counts_are_read_back() {
    let (plan, all) = said(
        "think = [\"H\", \"m.\"]\nsay = [\"Wörld \", \"✓\"]\nusage = { input = 3, output = 4 }\n\
         call = [{ tool = \"bash\", arguments = { command = \"ls\" } }, { tool = \"bash\", arguments = {} }]",
    );
    let wanted = Whole::of(&plan);
    for (what, said) in all {
        assert_eq!(said.thoughts.concat(), "Hm.", "{what}");
        assert_eq!(said.texts.concat(), "Wörld ✓", "{what}");
        let calls = |it: (&String, &String)| (it.0.clone(), it.1.parse::<Value>().unwrap());
        let found = said
            .calls
            .iter()
            .map(|call| calls((&call.name, &call.arguments)));
        let sent = wanted
            .calls
            .iter()
            .map(|call| calls((&call.name, &call.arguments)));
        assert!(found.eq(sent), "{what}");
        let usage = Usage {
            input: 3,
            output: 4,
        };
        assert_eq!(said.usage, Some(usage), "{what}");
        assert!(
            !said.length && said.refusal.is_none() && said.error.is_none(),
            "{what}"
        );
    }
}

#[test]
fn refusals_and_lengths_are_read_back() {
    for (what, said) in said("refuse = \"No, never.\"").1 {
        assert_eq!(said.refusal.as_deref(), Some("No, never."), "{what}");
    }
    for (what, said) in said("say = \"x\"\nstop = \"length\"").1 {
        assert!(said.length, "{what}");
    }
}

#[test]
fn plain_text_for_a_tool_is_read_back_where_the_interface_has_that() {
    let call = "call = { tool = \"apply_patch\", arguments = { input = \"*** Begin\" } }";
    let freeform = said(call).1.into_iter().take(4);
    for (what, said) in freeform {
        assert!(said.calls[0].freeform, "{what}");
        assert_eq!(said.calls[0].arguments, "*** Begin", "{what}");
    }
}

#[test]
fn errors_are_read_back() {
    for (interface, _) in ALL {
        for trouble in [
            Trouble::RateLimit,
            Trouble::Overloaded,
            Trouble::Context,
            Trouble::Status(418),
        ] {
            let error = interface.error(trouble, Some("Not so fast."));
            assert!(error.status >= 400);
            let said = interface.said(error.status, &error.body);
            assert_eq!(said.error.as_deref(), Some("Not so fast."), "{interface:?}");
        }
    }
}

#[test]
fn damaged_replies_are_read_as_far_as_they_go_without_a_panic() {
    let (_, all) =
        said("think = \"t\"\nsay = \"abc\"\ncall = { tool = \"bash\", arguments = { a = 1 } }");
    for (what, _) in all {
        let (_, body) = what.split_once(": ").unwrap();
        let ends = body.char_indices().map(|(end, _)| end).step_by(7);
        for end in ends {
            for (interface, _) in ALL {
                interface.said(200, &body[..end]);
            }
        }
    }
    for (interface, _) in ALL {
        for odd in [
            "",
            "[",
            "{}",
            "data: 3\n\n",
            "data: {\"type\":\"message_start\"}\n\n",
        ] {
            assert_eq!(
                interface.said(200, odd),
                Said::default(),
                "{interface:?} {odd}"
            );
        }
    }
}
