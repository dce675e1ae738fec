//! Tests of `list`.

use super::super::Judgement;
use super::super::talking::{failures, holds, is_inconclusive, judged, notes};

fn hello(more: &str) -> String {
    format!(
        r#"
        > {{"id":0,"method":"initialize","params":{{"protocolVersion":1}}}}
        < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"mcpCapabilities":{{"http":true}},"loadSession":true,"sessionCapabilities":{{"list":{{}}{more}}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
        > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
        < {{"id":1,"result":{{"sessionId":"s1"}}}}
        "#
    )
}

fn list(id: u64, params: &str, result: &str) -> String {
    format!(
        r#"> {{"id":{id},"method":"session/list","params":{params}}}
        < {{"id":{id},{result}}}"#
    )
}

fn sessions(entries: &str) -> String {
    format!(r#""result":{{"sessions":[{entries}]}}"#)
}

/// What the area's rules find after these lines.
fn faults(lines: &[String]) -> Vec<String> {
    own(&judged(&format!("{}\n{}", hello(""), lines.join("\n"))))
}

fn own(it: &Judgement) -> Vec<String> {
    failures(it)
        .into_iter()
        .filter(|failure| failure.starts_with("LIST") || failure.starts_with("UPDATE-07"))
        .collect()
}

const ONE: &str =
    r#"{"sessionId":"s1","cwd":"/project","title":"T","updatedAt":"2025-10-29T14:22:15Z"}"#;

#[test]
fn a_plain_list_holds() {
    let it = judged(&format!("{}\n{}", hello(""), list(2, "{}", &sessions(ONE))));
    assert_eq!(failures(&it), [""; 0]);
    for id in ["LIST-01", "LIST-04", "LIST-05", "LIST-06"] {
        assert!(holds(&it, id), "{id}");
    }
    assert_eq!(it.get("LIST-09").unwrap().not_applicable.len(), 1);
}

#[test]
fn what_is_no_list_fails() {
    for result in [
        r#""result":{}"#,
        r#""result":{"sessions":null}"#,
        r#""error":{"code":-32603,"message":"no"}"#,
    ] {
        let found = faults(&[list(2, "{}", result)]);
        assert!(found[0].starts_with("LIST-01"), "{found:?}");
    }
    let found = faults(&[list(
        2,
        r#"{"cwd":"/empty"}"#,
        r#""result":{"sessions":null}"#,
    )]);
    assert_eq!(found, ["LIST-02@5/result"]);
    assert_eq!(
        faults(&[list(2, r#"{"cwd":"/empty"}"#, &sessions(""))]),
        [""; 0]
    );
}

#[test]
fn folders_times_and_further_folders_are_judged_in_each_entry() {
    for (entry, fault) in [
        (
            r#"{"sessionId":"a","cwd":"project"}"#,
            "LIST-04@5/result/sessions/0/cwd",
        ),
        (
            r#"{"sessionId":"a","cwd":"/p","updatedAt":"yesterday"}"#,
            "LIST-06@5/result/sessions/0/updatedAt",
        ),
        (
            r#"{"sessionId":"a","cwd":"/p","updatedAt":1761747735}"#,
            "LIST-06@5/result/sessions/0/updatedAt",
        ),
        (
            r#"{"sessionId":"a","cwd":"/p","additionalDirectories":["/x"]}"#,
            "LIST-10@5/result/sessions/0/additionalDirectories",
        ),
    ] {
        assert_eq!(faults(&[list(2, "{}", &sessions(entry))]), [fault]);
    }
    let roots = |path: &str| {
        let entry =
            format!(r#"{{"sessionId":"a","cwd":"/p","additionalDirectories":["/x","{path}"]}}"#);
        own(&judged(&format!(
            "{}\n{}",
            hello(r#","additionalDirectories":{}"#),
            list(2, "{}", &sessions(&entry))
        )))
    };
    assert_eq!(roots("/y"), [""; 0]);
    assert_eq!(
        roots("y"),
        ["LIST-10@5/result/sessions/0/additionalDirectories/1"]
    );
}

#[test]
fn a_time_in_an_update_is_judged_too() {
    let update = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"session_info_update","updatedAt":"soon"}}}"#;
    assert_eq!(
        faults(&[update.to_owned()]),
        ["LIST-06@4/params/update/updatedAt"]
    );
}

#[test]
fn a_session_of_another_folder_fails_where_the_client_opened_it() {
    let asked = |cwd: &str| faults(&[list(2, &format!(r#"{{"cwd":"{cwd}"}}"#), &sessions(ONE))]);
    assert_eq!(asked("/project"), [""; 0]);
    assert_eq!(asked("/project/"), [""; 0]);
    assert_eq!(asked("/other"), ["LIST-03@5/result/sessions/0/cwd"]);
}

#[test]
fn an_id_comes_once_in_all_pages() {
    let page = |entries: &str, next: &str| {
        format!(r#""result":{{"sessions":[{entries}],"nextCursor":{next}}}"#)
    };
    let (a, b) = (
        r#"{"sessionId":"a","cwd":"/p"}"#,
        r#"{"sessionId":"b","cwd":"/p"}"#,
    );
    let first = list(2, "{}", &page(a, r#""c1""#));
    let then = |entries: &str| list(3, r#"{"cursor":"c1"}"#, &sessions(entries));
    let it = judged(&format!("{}\n{first}\n{}", hello(""), then(b)));
    assert_eq!(failures(&it), [""; 0]);
    assert!(holds(&it, "LIST-05") && holds(&it, "LIST-07"));
    assert_eq!(
        faults(&[first.clone(), then(a)]),
        ["LIST-05@7/result/sessions/0/sessionId"]
    );
    assert_eq!(
        faults(&[list(2, "{}", &sessions(&format!("{a},{a}")))]),
        ["LIST-05@5/result/sessions/1/sessionId"]
    );
    // A session that was used meanwhile may have moved.
    let prompt = r#"
        > {"id":9,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}}
        < {"id":9,"result":{"stopReason":"cancelled"}}"#;
    let it = judged(&format!("{}\n{first}\n{prompt}\n{}", hello(""), then(a)));
    assert_eq!(own(&it), [""; 0]);
    assert!(is_inconclusive(&it, "LIST-05"));
}

#[test]
fn a_cursor_is_taken_and_leads_on() {
    let page = |next: &str| format!(r#""result":{{"sessions":[],"nextCursor":{next}}}"#);
    let first = list(2, "{}", &page(r#""c1""#));
    let refused = list(
        3,
        r#"{"cursor":"c1"}"#,
        r#""error":{"code":-32602,"message":"bad"}"#,
    );
    assert_eq!(
        faults(&[first.clone(), refused.clone()]),
        ["LIST-07@7/error"]
    );
    let same = list(3, r#"{"cursor":"c1"}"#, &page(r#""c1""#));
    assert_eq!(
        faults(&[first.clone(), same]),
        ["LIST-07@7/result/nextCursor"]
    );
    assert_eq!(
        faults(&[list(2, "{}", &page("7"))]),
        ["LIST-07@5/result/nextCursor"]
    );
    assert_eq!(faults(&[list(2, "{}", &page("null"))]), [""; 0]);
    // One that nobody gave may be refused.
    assert_eq!(faults(&[refused]), [""; 0]);
}

#[test]
fn a_page_of_more_than_a_thousand_ends_with_a_cursor() {
    let many: Vec<String> = (0..1001)
        .map(|id| format!(r#"{{"sessionId":"{id}","cwd":"/p"}}"#))
        .collect();
    let many = many.join(",");
    assert_eq!(
        faults(&[list(2, "{}", &sessions(&many))]),
        ["LIST-09@5/result/sessions"]
    );
    let more = format!(r#""result":{{"sessions":[{many}],"nextCursor":"c"}}"#);
    assert_eq!(faults(&[list(2, "{}", &more)]), [""; 0]);
}

#[test]
fn a_second_list_says_the_same_where_nothing_happened() {
    let wait = "wait 1".to_owned();
    let first = list(2, "{}", &sessions(ONE));
    let other = list(3, "{}", &sessions(r#"{"sessionId":"n","cwd":"/p"}"#));
    let fails = ["LIST-11@7/result/sessions"];
    assert_eq!(
        faults(&[wait.clone(), first.clone(), list(3, "{}", &sessions(""))]),
        fails
    );
    assert_eq!(
        faults(&[wait.clone(), other.clone(), list(3, "{}", &sessions(ONE))]),
        fails
    );
    // A session that this client has not opened may be of another process that uses the same store.
    let both = format!(r#"{ONE},{{"sessionId":"n","cwd":"/p"}}"#);
    let lines = [
        hello(""),
        wait.clone(),
        first.clone(),
        list(3, "{}", &sessions(&both)),
    ];
    let it = judged(&lines.join("\n"));
    assert_eq!(failures(&it), [""; 0]);
    assert!(is_inconclusive(&it, "LIST-11"));
    // Right behind other traffic the agent may still be writing.
    assert_eq!(faults(&[first.clone(), other]), [""; 0]);
    let later = ONE.replace("14:22", "14:23");
    let it = judged(&format!(
        "{}\nwait 1\n{first}\n{}",
        hello(""),
        list(3, "{}", &sessions(&later))
    ));
    assert_eq!(failures(&it), [""; 0]);
    assert!(holds(&it, "LIST-11"));
    assert_eq!(notes(&it, "LIST-11"), 1);
}

#[test]
fn content_that_a_list_brings_fails() {
    let update = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}}}"#;
    let asked = r#"> {"id":2,"method":"session/list","params":{}}"#;
    let answer = format!("< {{\"id\":2,{}}}", sessions(ONE));
    let lines = ["wait 1", asked, update, update, &answer].map(str::to_owned);
    assert_eq!(faults(&lines), ["LIST-11@5/params/update"]);
}

#[test]
fn the_last_title_is_listed() {
    let title = |title: &str| {
        format!(
            r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"session_info_update","title":{title}}}}}}}"#
        )
    };
    let listed = list(2, "{}", &sessions(ONE));
    let it = judged(&format!("{}\n{}\n{listed}", hello(""), title(r#""T""#)));
    assert!(holds(&it, "UPDATE-07"));
    assert_eq!(
        faults(&[title(r#""Another""#), listed.clone()]),
        ["UPDATE-07@6/result/sessions/0/title"]
    );
    // One that came after the list was asked for need not be in it.
    let (asked, answer) = listed.split_once('\n').unwrap();
    assert_eq!(
        faults(&[asked.to_owned(), title(r#""Another""#), answer.to_owned()]),
        [""; 0]
    );
    assert_eq!(faults(&[title("null"), listed]), [""; 0]);
}

#[test]
fn a_cursor_counts_for_its_own_list_and_as_long_as_nothing_else_was_done() {
    let page = r#""result":{"sessions":[{"sessionId":"a","cwd":"/p"}],"nextCursor":"c"}"#;
    let refused = r#""error":{"code":-32602,"message":"unknown cursor"}"#;
    let delete = r#"> {"id":7,"method":"session/delete","params":{"sessionId":"b"}}
        < {"id":7,"result":{}}"#;
    let with = |more: &str| format!(r#"{{"cursor":"c"{more}}}"#);
    let title = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"session_info_update","title":"T"}}}"#;
    for (first, between, then, faults_there) in [
        ("{}", "", with(""), vec!["LIST-07@7/error"]),
        ("{}", title, with(""), vec!["LIST-07@8/error"]),
        ("{}", delete, with(""), vec![]),
        ("{}", "", with(r#","cwd":"/p""#), vec![]),
        (r#"{"cwd":"/p"}"#, "", with(""), vec![]),
        (
            r#"{"cwd":"/p"}"#,
            "",
            with(r#","cwd":"/p""#),
            vec!["LIST-07@7/error"],
        ),
    ] {
        let lines = [
            list(5, first, page),
            between.to_owned(),
            list(6, &then, refused),
        ];
        assert_eq!(faults(&lines), faults_there, "{first} {between} {then}");
    }
    // The same page once more after a delete.
    assert_eq!(
        faults(&[
            list(5, "{}", page),
            delete.to_owned(),
            list(6, &with(""), page)
        ]),
        [""; 0]
    );
}
