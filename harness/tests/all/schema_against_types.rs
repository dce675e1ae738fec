//! The schema layer against the protocol's own types: what those cannot read is always a violation.
//!
//! The other way round does not hold: the types drop many faulty members in silence. Such a
//! violation is marked so, and the test shows that the mark is right.

use acp_harness::spec::Schema;
use agent_client_protocol_schema::v1;
use serde_json::{Value, json};

macro_rules! readers {
    ($($name:ident),* $(,)?) => {
        /// Whether the type of that name can be read from the value; `None` for no such type.
        fn is_readable(definition: &str, value: &Value) -> Option<bool> {
            // As text: reading from a `Value` would lose how numbers were written.
            let text = value.to_string();
            match definition {
                $(stringify!($name) => Some(serde_json::from_str::<v1::$name>(&text).is_ok()),)*
                _ => None,
            }
        }
    };
}

readers!(
    AuthenticateRequest,
    AuthenticateResponse,
    CancelNotification,
    CancelRequestNotification,
    CloseSessionRequest,
    CloseSessionResponse,
    CompleteElicitationNotification,
    CreateElicitationRequest,
    CreateElicitationResponse,
    CreateTerminalRequest,
    CreateTerminalResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    Error,
    InitializeRequest,
    InitializeResponse,
    KillTerminalRequest,
    KillTerminalResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    LogoutRequest,
    LogoutResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    ReadTextFileRequest,
    ReadTextFileResponse,
    ReleaseTerminalRequest,
    ReleaseTerminalResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionNotification,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
    SetSessionModeResponse,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
    WriteTextFileRequest,
    WriteTextFileResponse,
);

fn samples() -> Vec<Value> {
    serde_json::from_str(include_str!("../../src/spec/schema/samples.json")).unwrap()
}

/// The value itself and each copy of it in which one value is replaced or one member is missing.
fn mutations(value: &Value) -> Vec<Value> {
    let others = [
        json!(null),
        json!(true),
        json!(5),
        json!(1.0),
        json!(-1),
        json!(4_294_967_296_u64),
        json!(9_223_372_036_854_775_808_u64),
        json!("zz"),
        json!([5]),
        json!({}),
    ];
    let mut changed_values: Vec<Value> = others.to_vec();
    match value {
        Value::Object(members) => {
            for (name, inner) in members.iter().filter(|(name, _)| *name != "_meta") {
                let mut without = members.clone();
                without.remove(name);
                changed_values.push(Value::Object(without));
                for mutation in mutations(inner) {
                    let mut changed = members.clone();
                    changed.insert(name.clone(), mutation);
                    changed_values.push(Value::Object(changed));
                }
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                for mutation in mutations(inner) {
                    let mut changed = items.clone();
                    changed[index] = mutation;
                    changed_values.push(Value::Array(changed));
                }
            }
        }
        _ => {}
    }
    changed_values
}

#[test]
fn what_the_types_cannot_read_is_a_violation_that_is_not_silent() {
    let mut refused = 0;
    for sample in samples() {
        let definition = sample["definition"].as_str().unwrap();
        let readable = is_readable(definition, &sample["value"]);
        assert_eq!(readable, Some(true), "{}", sample["name"]);
        for mutation in mutations(&sample["value"]) {
            let violations = Schema::v1().violations(definition, &mutation);
            let mut loud = violations.iter().filter(|violation| !violation.silent);
            let readable = is_readable(definition, &mutation).unwrap();
            refused += usize::from(!readable);
            if readable {
                // The types also read a list as an object, member by member, some results from
                // null, and any text as a URL.
                let other = loud.find(|violation| {
                    let lenient = violation.message.ends_with("array") || violation.path == "/url";
                    !lenient && !mutation.is_null()
                });
                assert_eq!(other, None, "{definition}: the types read {mutation}");
            } else {
                assert!(
                    loud.next().is_some(),
                    "the types refuse {mutation}: {violations:#?}"
                );
            }
        }
    }
    assert!(refused > 1000, "only {refused} mutations were refused");
}
