//! Tests of `delete`.

use super::super::talking::{failures, holds, judged};

const HELLO: &str = r#"
    > {"id":0,"method":"initialize","params":{"protocolVersion":1}}
    < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true},"sessionCapabilities":{"list":{},"delete":{}}},"agentInfo":{"name":"a","version":"1"},"authMethods":[]}}
"#;
const DELETE: &str = r#"
    > {"id":5,"method":"session/delete","params":{"sessionId":"s1"}}
    < {"id":5,"result":{}}
"#;
const LISTED: &str = r#"
    > {"id":6,"method":"session/list","params":{}}
    < {"id":6,"result":{"sessions":[{"sessionId":"s1","cwd":"/p"}]}}
"#;
const EMPTY: &str = r#"
    > {"id":7,"method":"session/list","params":{}}
    < {"id":7,"result":{"sessions":[]}}
"#;

#[test]
fn a_deleted_session_is_gone_from_the_list() {
    let it = judged(&[HELLO, LISTED, DELETE, EMPTY].concat());
    assert_eq!(failures(&it), [""; 0]);
    assert!(holds(&it, "DELETE-02"));
    let it = judged(&[HELLO, DELETE, LISTED].concat());
    assert_eq!(failures(&it), ["DELETE-02@5/result/sessions/0/sessionId"]);
    // Where it was never listed, an empty list shows nothing.
    assert!(!holds(
        &judged(&[HELLO, DELETE, EMPTY].concat()),
        "DELETE-02"
    ));
}

#[test]
fn a_list_that_was_asked_for_before_may_still_hold_it() {
    let it = judged(&format!(
        "{HELLO}\n> {{\"id\":6,\"method\":\"session/list\",\"params\":{{}}}}\n{DELETE}\n{}",
        r#"< {"id":6,"result":{"sessions":[{"sessionId":"s1","cwd":"/p"}]}}"#
    ));
    assert_eq!(failures(&it), [""; 0]);
}

#[test]
fn to_delete_again_succeeds() {
    let refused = r#"
        > {"id":8,"method":"session/delete","params":{"sessionId":"s1"}}
        < {"id":8,"error":{"code":-32002,"message":"gone"}}
    "#;
    assert_eq!(
        failures(&judged(&[HELLO, DELETE, refused].concat())),
        ["DELETE-03@5/error"]
    );
    let again = DELETE.replace(":5,", ":8,");
    assert!(holds(
        &judged(&[HELLO, DELETE, &again].concat()),
        "DELETE-03"
    ));
    // One that the agent never deleted may not be its own.
    assert_eq!(failures(&judged(&[HELLO, refused].concat())), [""; 0]);
}

#[test]
fn to_delete_what_never_existed_succeeds() {
    let refused = |code: i64, message: &str| {
        judged(&format!(
            r#"{HELLO}
            > {{"id":5,"method":"session/delete","params":{{"sessionId":"made-up"}}}}
            < {{"id":5,"error":{{"code":{code},"message":"{message}"}}}}"#
        ))
    };
    for (code, message) in [(-32002, "x"), (-32603, "Session not found: made-up")] {
        assert_eq!(failures(&refused(code, message)), ["DELETE-03@3/error"]);
    }
    for (code, message) in [
        (-32603, "disk full"),
        (-32000, "no such login"),
        (-32800, "not found"),
    ] {
        assert_eq!(failures(&refused(code, message)), [""; 0], "{message}");
    }
    let known = refused(-32002, "x");
    assert!(!holds(&known, "DELETE-03"));
    let listed = judged(&format!(
        "{HELLO}{LISTED}{}",
        r#"
        > {"id":8,"method":"session/delete","params":{"sessionId":"s1"}}
        < {"id":8,"error":{"code":-32002,"message":"not found"}}"#
    ));
    assert_eq!(failures(&listed), [""; 0]);
}
