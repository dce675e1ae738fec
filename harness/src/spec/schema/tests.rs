//! What is said of a fault: place, words, keyword and whether readers notice.

#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::{Value, json};

use super::*;

fn the_violation(definition: &str, value: &Value) -> Violation {
    let mut violations = Schema::v1().violations(definition, value);
    assert_eq!(violations.len(), 1, "{violations:#?}");
    violations.pop().unwrap()
}

fn update(update: Value) -> Value {
    json!({"sessionId": "s", "update": update})
}

fn of_update(content: Value) -> Violation {
    the_violation("SessionNotification", &update(content))
}

#[test]
fn the_branch_that_the_tag_names_is_explained() {
    let violation = of_update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": 5}));
    assert_eq!(violation.path, "/update/title");
    assert_eq!(violation.message, "expected a string, found the number 5");
    assert_eq!(violation.keyword, "type");
    assert!(!violation.silent);
}

#[test]
fn a_block_without_its_wrapper_is_told_by_its_tag() {
    let violation = of_update(json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t",
        "content": [{"type": "text", "text": "x"}],
    }));
    assert_eq!(violation.path, "/update/content/0/type");
    assert_eq!(
        violation.message,
        r#"expected one of "content", "diff", "terminal", found the string "text""#
    );
    assert_eq!(violation.keyword, "discriminator");
    assert!(violation.silent, "readers skip the item");
}

#[test]
fn an_unknown_update_kind_lists_the_known_ones() {
    let violation = of_update(json!({"sessionUpdate": "hologram"}));
    assert_eq!(violation.path, "/update/sessionUpdate");
    assert!(
        violation
            .message
            .starts_with(r#"expected one of "user_message_chunk", "#),
        "{violation:?}"
    );
    assert!(
        violation
            .message
            .ends_with(r#"found the string "hologram""#),
        "{violation:?}"
    );
    assert_eq!(violation.later, None);
}

#[test]
fn a_later_update_kind_says_where_it_is_known_from() {
    let violation = of_update(json!({"sessionUpdate": "plan_update", "plan": {}}));
    assert_eq!(violation.path, "/update/sessionUpdate");
    assert_eq!(violation.later.as_deref(), Some("draft; schema 1.20.0"));
}

#[test]
fn a_later_form_of_tool_content_says_where_it_is_known_from() {
    let violation = of_update(json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c",
        "content": [{"type": "session", "sessionId": "child"}],
    }));
    assert_eq!(violation.path, "/update/content/0/type");
    assert_eq!(violation.later.as_deref(), Some("schema 1.20.0"));
}

#[test]
fn a_missing_tag_is_told_with_its_values() {
    let violation = the_violation("ContentBlock", &json!({"text": "x"}));
    assert_eq!(violation.path, "");
    assert_eq!(
        violation.message,
        r#"the member "type" is missing; expected one of "text", "image", "audio", "resource_link", "resource""#
    );
}

#[test]
fn a_closed_list_of_words_is_told_whole() {
    let violation = the_violation("PromptResponse", &json!({"stopReason": "done"}));
    assert_eq!(violation.path, "/stopReason");
    assert_eq!(
        violation.message,
        r#"expected one of "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", found the string "done""#
    );
    assert_eq!(violation.keyword, "enum");
}

#[test]
fn an_open_list_of_words_takes_any_word_but_no_number() {
    let option = |category: Value| json!({"configOptions": [{"type": "boolean", "id": "a", "name": "A", "currentValue": true, "category": category}]});
    assert_eq!(
        Schema::v1().violations("SetSessionConfigOptionResponse", &option(json!("own"))),
        []
    );
    let violation = the_violation("SetSessionConfigOptionResponse", &option(json!(5)));
    assert_eq!(violation.path, "/configOptions/0/category");
    assert_eq!(violation.message, "expected a string, found the number 5");
}

#[test]
fn null_is_refused_where_only_absence_is_allowed() {
    let violation = of_update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": null}),
    );
    assert_eq!(violation.path, "/update/kind");
    assert!(
        violation.message.ends_with(r#""other", found null"#),
        "{violation:?}"
    );
    assert!(violation.silent, "readers take the default");
}

#[test]
fn a_null_that_readers_take_for_the_default_is_silent() {
    let request = json!({"sessionId": "s", "command": "ls", "args": null});
    assert!(the_violation("CreateTerminalRequest", &request).silent);
    let request = json!({"sessionId": "s", "command": "ls", "args": "x"});
    assert!(!the_violation("CreateTerminalRequest", &request).silent);
}

#[test]
fn a_whole_number_written_as_a_fraction_is_no_integer() {
    let response = json!({"protocolVersion": 1.0});
    let violation = the_violation("InitializeResponse", &response);
    assert_eq!(violation.path, "/protocolVersion");
    assert_eq!(
        violation.message,
        "expected an integer, found the number 1.0, written as a fraction or beyond 64 bits"
    );
}

#[test]
fn a_whole_number_is_a_number_where_fractions_are_allowed() {
    let cost = |amount: Value| {
        update(
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": amount, "currency": "EUR"}}),
        )
    };
    for amount in [json!(1.0), json!(1), json!(0.5), json!(1e30)] {
        assert_eq!(
            Schema::v1().violations("SessionNotification", &cost(amount)),
            []
        );
    }
}

#[test]
fn numbers_are_held_to_their_bounds_and_widths() {
    let line = |line: Value| {
        update(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "locations": [{"path": "/a", "line": line}]}),
        )
    };
    for (number, words) in [
        (json!(-1), "expected at least 0, found the number -1"),
        (
            json!(4_294_967_296_u64),
            "expected an integer of 32 bits without sign, found the number 4294967296",
        ),
        (
            json!(1.5),
            "expected an integer or null, found the number 1.5",
        ),
    ] {
        let violation = the_violation("SessionNotification", &line(number));
        assert_eq!(violation.path, "/update/locations/0/line");
        assert_eq!(violation.message, words);
    }
    assert_eq!(
        Schema::v1().violations("SessionNotification", &line(json!(4_294_967_295_u64))),
        []
    );
}

#[test]
fn an_id_of_no_legal_type_is_told_with_the_legal_ones() {
    let violation = the_violation("CancelRequestNotification", &json!({"requestId": true}));
    assert_eq!(violation.path, "/requestId");
    assert_eq!(
        violation.message,
        "expected null, an integer or a string, found true"
    );
}

#[test]
fn an_untagged_union_that_nothing_fits_names_each_form() {
    let block = json!({"type": "resource", "resource": {"uri": "file:///a"}});
    let violation = the_violation("ContentBlock", &block);
    assert_eq!(violation.path, "/resource");
    assert_eq!(
        violation.message,
        "fits none of its forms: TextResourceContents (the member \"text\" is missing) \
         or BlobResourceContents (the member \"blob\" is missing)"
    );
}

#[test]
fn the_form_that_fits_best_is_explained() {
    let option = json!({"type": "select", "id": "m", "name": "M", "currentValue": "a", "options": [{"value": "a"}]});
    let violation = the_violation("SessionConfigOption", &option);
    assert_eq!(violation.path, "/options/0");
    assert_eq!(violation.message, "the member \"name\" is missing");
}

#[test]
fn a_url_must_be_absolute() {
    let request = json!({"mode": "url", "message": "m", "sessionId": "s", "elicitationId": "e", "url": "login page"});
    let violation = the_violation("CreateElicitationRequest", &request);
    assert_eq!(
        (violation.path.as_str(), violation.keyword.as_str()),
        ("/url", "format")
    );
}

#[test]
fn an_error_needs_an_integer_code_and_a_message() {
    assert_eq!(
        Schema::v1().violations("Error", &json!({"code": 1001, "message": "m"})),
        []
    );
    let violation = the_violation("Error", &json!({"code": "1", "message": "m"}));
    assert_eq!(violation.path, "/code");
    assert_eq!(
        violation.message,
        "expected an integer, found the string \"1\""
    );
    assert_eq!(
        the_violation("Error", &json!({"code": -32000.0, "message": "m"})).path,
        "/code"
    );
    assert_eq!(
        the_violation("Error", &json!({"code": -32000})).message,
        "the member \"message\" is missing"
    );
}

#[test]
fn several_faults_are_all_told() {
    let request =
        json!({"sessionId": 1, "options": [{"optionId": "a", "name": "A", "kind": "maybe"}]});
    let violations = Schema::v1().violations("RequestPermissionRequest", &request);
    let paths: Vec<&str> = violations
        .iter()
        .map(|violation| violation.path.as_str())
        .collect();
    assert_eq!(paths, ["", "/sessionId", "/options/0/kind"]);
}

#[test]
fn a_flood_of_faults_is_cut() {
    let plan = update(json!({"sessionUpdate": "plan", "entries": vec![Value::Null; 10_000]}));
    assert_eq!(
        Schema::v1().violations("SessionNotification", &plan).len(),
        LISTED_AT_MOST
    );
}

#[test]
fn a_payload_is_never_printed_whole() {
    let secret = json!({"key": "x".repeat(500)});
    let violation = the_violation("PromptResponse", &json!({"stopReason": secret}));
    assert!(
        violation.message.ends_with("found an object"),
        "{violation:?}"
    );
    let violation = the_violation("PromptResponse", &json!({"stopReason": "y".repeat(500)}));
    assert!(violation.message.len() < 200, "{violation:?}");
}

#[test]
fn a_name_that_is_no_definition_judges_nothing() {
    assert_eq!(Schema::v1().violations("Nonsense", &json!(5)), []);
    assert_eq!(Schema::v1().extra_members("Nonsense", &json!({"a": 1})), []);
}

#[test]
fn a_known_later_member_is_listed_with_its_source() {
    let extras = Schema::v1().extra_members(
        "PromptResponse",
        &json!({"stopReason": "end_turn", "usage": {}, "cost": 1}),
    );
    let found: Vec<_> = extras
        .iter()
        .map(|extra| (extra.path.as_str(), extra.later.is_some()))
        .collect();
    assert_eq!(found, [("/usage", true), ("/cost", false)]);
    assert!(
        extras
            .iter()
            .all(|extra| extra.owner_type == "PromptResponse")
    );
}

#[test]
fn the_owner_of_a_member_is_the_type_and_not_the_union() {
    let call =
        update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "icon": "x"}));
    let extras = Schema::v1().extra_members("SessionNotification", &call);
    assert_eq!(extras.first().unwrap().owner_type, "ToolCall");
}

#[test]
fn nothing_is_said_about_an_object_whose_form_cannot_be_told() {
    for unclear in [
        json!({"sessionUpdate": "hologram", "x": 1, "content": {"type": "text", "text": "t", "y": 1}}),
        json!({"x": 1}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram", "x": 1}}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "resource", "resource": {"uri": 5, "x": 1}}}),
    ] {
        let notification = update(unclear);
        assert_eq!(
            Schema::v1().extra_members("SessionNotification", &notification),
            []
        );
    }
    let methods = json!({"protocolVersion": 1, "authMethods": [{"type": "env_var", "id": "k", "name": "K", "vars": []}]});
    assert_eq!(
        Schema::v1().extra_members("InitializeResponse", &methods),
        []
    );
}

#[test]
fn a_null_result_is_tolerated_where_no_member_is_required() {
    for method in [
        "authenticate",
        "logout",
        "session/load",
        "session/resume",
        "session/close",
        "session/delete",
        "session/set_mode",
    ] {
        assert!(Schema::v1().result_tolerates_null(method), "{method}");
    }
    for method in [
        "initialize",
        "session/new",
        "session/prompt",
        "session/list",
        "session/set_config_option",
        "session/update",
        "nonsense",
    ] {
        assert!(!Schema::v1().result_tolerates_null(method), "{method}");
    }
}

#[test]
fn an_update_kind_is_stable_later_an_extension_or_unknown() {
    let schema = Schema::v1();
    assert_eq!(schema.update_kinds().count(), 14);
    assert_eq!(schema.update_kind("usage_update"), Kind::Stable);
    assert!(
        matches!(schema.update_kind("subagent_update"), Kind::Later(entry) if entry.from == "schema 1.20.0")
    );
    assert_eq!(schema.update_kind("_own"), Kind::Extension);
    assert_eq!(schema.update_kind("state_update"), Kind::Unknown);
}
