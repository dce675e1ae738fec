//! Which places hold only what someone worded.

use super::difference::Class;

/// Kind of message (`*` for all), and the members that lead to the place; `*` stands for one of them, `**` for the rest.
///
/// What a model or a person wrote for people, and names and versions of the two programs. What a program put out, and what a
/// tool is called with, carries meaning: it is no text in this sense.
const TEXT: &[(&str, &[&str])] = &[
    // Messages.
    (
        "session/update agent_message_chunk",
        &["params", "update", "content", "text"],
    ),
    (
        "session/update agent_thought_chunk",
        &["params", "update", "content", "text"],
    ),
    (
        "session/update user_message_chunk",
        &["params", "update", "content", "text"],
    ),
    (
        "session/update compaction_summary_chunk",
        &["params", "update", "content", "text"],
    ),
    (
        "session/update compaction_update",
        &["params", "update", "summary", "*", "text"],
    ),
    (
        "session/update compaction_update",
        &["params", "update", "error"],
    ),
    ("session/prompt", &["params", "prompt", "*", "text"]),
    ("*", &["params", "systemPrompt", "content", "*", "text"]),
    // Names and versions of the two programs.
    ("initialize response", &["result", "agentInfo", "**"]),
    ("initialize", &["params", "clientInfo", "**"]),
    (
        "initialize response",
        &["result", "authMethods", "*", "name"],
    ),
    (
        "initialize response",
        &["result", "authMethods", "*", "description"],
    ),
    // What is shown of a call, a plan, a question.
    ("tool call state", &["title"]),
    (
        "session/request_permission",
        &["params", "toolCall", "title"],
    ),
    (
        "session/request_permission",
        &["params", "options", "*", "name"],
    ),
    (
        "session/update plan",
        &["params", "update", "entries", "*", "content"],
    ),
    ("session/update notice", &["params", "update", "title"]),
    (
        "session/update notice",
        &["params", "update", "description"],
    ),
    (
        "session/update session_info_update",
        &["params", "update", "title"],
    ),
    (
        "session/list response",
        &["result", "sessions", "*", "title"],
    ),
    ("elicitation/create", &["params", "message"]),
    (
        "elicitation/create",
        &["params", "requestedSchema", "title"],
    ),
    (
        "elicitation/create",
        &["params", "requestedSchema", "description"],
    ),
    (
        "elicitation/create",
        &["params", "requestedSchema", "properties", "*", "title"],
    ),
    (
        "elicitation/create",
        &[
            "params",
            "requestedSchema",
            "properties",
            "*",
            "description",
        ],
    ),
    // What is shown of commands, modes, options.
    (
        "session/update available_commands_update",
        &["params", "update", "availableCommands", "*", "description"],
    ),
    (
        "session/update available_commands_update",
        &[
            "params",
            "update",
            "availableCommands",
            "*",
            "input",
            "hint",
        ],
    ),
    ("*", &["result", "modes", "availableModes", "*", "name"]),
    (
        "*",
        &["result", "modes", "availableModes", "*", "description"],
    ),
    ("*", &["result", "configOptions", "*", "name"]),
    ("*", &["result", "configOptions", "*", "description"]),
    (
        "*",
        &["result", "configOptions", "*", "options", "**", "name"],
    ),
    (
        "*",
        &[
            "result",
            "configOptions",
            "*",
            "options",
            "**",
            "description",
        ],
    ),
    (
        "session/update config_option_update",
        &["params", "update", "configOptions", "*", "name"],
    ),
    (
        "session/update config_option_update",
        &["params", "update", "configOptions", "*", "description"],
    ),
    (
        "session/update config_option_update",
        &[
            "params",
            "update",
            "configOptions",
            "*",
            "options",
            "**",
            "name",
        ],
    ),
    (
        "session/update config_option_update",
        &[
            "params",
            "update",
            "configOptions",
            "*",
            "options",
            "**",
            "description",
        ],
    ),
    // Why something failed, in words.
    ("*", &["error", "message"]),
    ("*", &["error", "data"]),
    ("*", &["error", "data", "error"]),
    ("*", &["error", "data", "message"]),
    ("*", &["error", "data", "details"]),
    ("*", &["error", "data", "reason"]),
    ("stderr", &[]),
];

/// The class of a difference at a place of a message. `is_text` tells whether all that stands there is strings: a member
/// such as `error.data` may hold anything.
pub(super) fn class_of(message: &str, path: &[String], is_text: bool) -> Class {
    let worded = TEXT.iter().any(|(kind, place)| {
        (is_text || place.last() == Some(&"**"))
            && (*kind == "*" || *kind == message)
            && leads(place, path)
    });
    if worded {
        Class::Text
    } else {
        Class::Behaviour
    }
}

fn leads(place: &[&str], path: &[String]) -> bool {
    match (place.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", [])), _) => true,
        (Some((&"**", rest)), Some((_, deeper))) => leads(rest, path) || leads(place, deeper),
        (Some((step, rest)), Some((name, deeper))) => {
            (*step == "*" || *step == name) && leads(rest, deeper)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(message: &str, pointer: &str) -> Class {
        let path: Vec<String> = pointer.split('/').skip(1).map(str::to_owned).collect();
        class_of(message, &path, true)
    }

    #[test]
    fn words_for_people_are_text_and_what_programs_read_is_behaviour() {
        for (message, pointer) in [
            ("initialize response", "/result/agentInfo/version"),
            ("session/new response", "/error/message"),
            ("tool call state", "/title"),
            (
                "session/set_config_option response",
                "/result/configOptions/mode/options/ask/name",
            ),
            ("session/prompt", "/params/prompt/1/text"),
        ] {
            assert_eq!(class(message, pointer), Class::Text, "{message} {pointer}");
        }
        for (message, pointer) in [
            (
                "initialize response",
                "/result/agentCapabilities/loadSession",
            ),
            ("session/new response", "/error/code"),
            ("session/new response", "/error/data/sessionId"),
            ("tool call state", "/kind"),
            ("tool call state", "/content/1/content/text"),
            (
                "session/update available_commands_update",
                "/params/update/availableCommands/new/name",
            ),
            ("session/prompt response", "/result/stopReason"),
        ] {
            assert_eq!(
                class(message, pointer),
                Class::Behaviour,
                "{message} {pointer}"
            );
        }
    }
}
