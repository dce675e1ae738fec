//! Tests of `redactor`.

use std::sync::LazyLock;

use super::*;
use crate::trace::ExchangeEnd;
use proptest::prelude::*;
use serde_json::json;

const KEY: &str = "sk-ant-api03-Zq81LmXw0TtYv52KdGhB";

fn redactor() -> Redactor {
    static FRESH: LazyLock<Redactor> = LazyLock::new(|| {
        Redactor::new(Options {
            home: vec!["/home/alice".into()],
            secrets: vec!["hunter2hunter2".into()],
            patterns: Vec::new(),
        })
        .unwrap()
    });
    FRESH.clone()
}

fn event(from: Party, text: &str) -> Event {
    Event::new(0.0, from, Body::of_line(text.as_bytes().to_vec(), false))
}

fn all(redactor: &mut Redactor, events: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let mut out = Vec::new();
    for event in events {
        redactor.push(event, &mut out);
    }
    redactor.finish(&mut out);
    out
}

fn text(event: &Event) -> String {
    String::from_utf8(event.body.wire_bytes().unwrap().to_vec()).unwrap()
}

/// What one line of the client becomes.
fn one(line: &str) -> String {
    text(&all(&mut redactor(), [event(Party::Client, line)])[0])
}

fn chunk_of(session: &str, kind: &str, said: &str) -> Event {
    let update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": said}});
    let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}});
    event(Party::Agent, &message.to_string())
}

fn chunk(said: &str) -> Event {
    chunk_of("s", "agent_message_chunk", said)
}

/// What the agent's chunks say together.
fn said(events: &[Event]) -> String {
    events
        .iter()
        .filter_map(|event| serde_json::from_str::<Value>(&text(event)).ok())
        .filter_map(|message| {
            message
                .pointer("/params/update/content/text")
                .and_then(Value::as_str)
                .map(ToOwned::to_owned)
        })
        .collect()
}

fn lines(events: &[Event]) -> String {
    events
        .iter()
        .map(Event::to_line)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn secrets_are_found_by_their_form() {
    for secret in [
        KEY,
        "sk-proj-abcDEF123456789012345678",
        "sk-1234567890abcdef1234567890abcdef",
        "ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
        "glpat-abcDEF123456789012345",
        "xoxb-123456789012-abcdefghijkl",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "AKIAIOSFODNN7EXAMPLE",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAw",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
    ] {
        let line = json!({"text": format!("use {secret}, please")}).to_string();
        assert_eq!(one(&line), r#"{"text":"use {secret-1}, please"}"#);
        assert_eq!(one(&format!("use {secret}.")), "use {secret-1}.");
    }
}

#[test]
fn secrets_are_found_by_what_stands_before_them() {
    for (before, secret, after) in [
        ("Authorization: Bearer ", "abcdef123456", "\n"),
        ("authorization: Bearer ", "abcdefghijkl", ""),
        ("authorization: Basic ", "dXNlcjpwYXNz", ""),
        ("Basic ", "dXNlcjpwYXNz", " it is"),
        ("https://user:", "pa55", "@example.org/x"),
        ("password=", "hunter", " x"),
        ("export API_TOKEN='", "abcdef99", "'"),
        ("?token=", "abc123", "&x=1"),
        ("?key=", "abcdefgh", "&x=1"),
        ("{\"apiKey\": \"", "abc", "\"}."),
        ("x: {\\\"client_secret\\\": \\\"", "abcdef", "\\\"}"),
        ("password: ", "hunter2", "\n"),
        (
            "-----BEGIN RSA PRIVATE KEY-----",
            "\nMIIE\nowIB==\n",
            "-----END RSA PRIVATE KEY-----",
        ),
    ] {
        let line = json!({ "text": format!("{before}{secret}{after}") }).to_string();
        let expected = json!({ "text": format!("{before}{{secret-1}}{after}") }).to_string();
        assert_eq!(one(&line), expected);
    }
}

#[test]
fn what_is_no_secret_stays_as_it_is() {
    let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    for line in [
        json!({"sessionId": "sess_0193a2b4-7c1e-7f00-8000-1234567890ab", "toolCallId": "call_AbCd1234567890"}),
        json!({"inputTokens": 12, "totalTokens": 345, "max_tokens": 4096, "tokens": ["a"], "token": 5}),
        json!({"text": "The token: a unit of text. Each token costs. A secret: tell nobody. The password is long."}),
        json!({"text": "task-management-is-important2 and sk-learn, disk-usage-2024-report"}),
        json!({"text": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}),
        json!({"data": image, "mimeType": "image/png"}),
        json!({"text": "token = next_token(); if token == end: pass; f(token=self.token, password=get())"}),
        json!({"schema": {"properties": {"password": {"type": "string", "title": "Password"}, "token": "string"}}}),
        json!({"text": "https://example.org/a:b@c and git@github.com:a/b.git"}),
        json!({"text": "/home/alice2/x"}),
        json!({"name": "npm_config_registry", "value": "hf_hub_download"}),
    ] {
        let line = line.to_string();
        let redacted = all(&mut redactor(), [event(Party::Client, &line)]);
        assert_eq!(text(&redacted[0]), line);
        assert!(!redacted[0].redacted);
    }
}

#[test]
fn the_rest_of_the_line_keeps_its_bytes() {
    let line =
        r#"{ "b" : 1.0,"a":"\u0041\/x \"sk-ant-api03-\u005aq81LmXw0TtYv52KdGhB\" ü" , "c":[1e2]}"#;
    assert_eq!(
        one(line),
        r#"{ "b" : 1.0,"a":"\u0041\/x \"{secret-1}\" ü" , "c":[1e2]}"#
    );
}

#[test]
fn a_value_that_was_secret_by_its_place_is_replaced_wherever_it_stands_later() {
    let new = json!({"method": "session/new", "params": {"mcpServers": [
        {"name": "m", "env": [{"name": "X", "value": "corr\"ect horse 9"}, {"name": "MODE", "value": "production"}]}]}});
    let update = json!({"result": {"a": "it is corr\"ect horse 9 in production", "b": "{\"c\":\"corr\\\"ect horse 9\"}",
        "d": "corr%22ect%20horse%209"}});
    let out = all(
        &mut redactor(),
        [
            event(Party::Client, &new.to_string()),
            event(Party::Agent, &update.to_string()),
        ],
    );
    assert!(
        text(&out[0])
            .contains(r#"{"name":"X","value":"{secret-1}"},{"name":"MODE","value":"{secret-2}"}"#)
    );
    assert_eq!(
        text(&out[1]),
        r#"{"result":{"a":"it is {secret-1} in production","b":"{\"c\":\"{secret-1}\"}","d":"{secret-1}"}}"#
    );
    assert!(out[0].redacted && out[1].redacted);
}

#[test]
fn a_number_that_is_a_known_secret_stays_json() {
    let out = all(
        &mut redactor(),
        [
            event(Party::Client, r#"{"password":"1234567890123"}"#),
            event(Party::Agent, r#"{"result":1234567890123}"#),
        ],
    );
    assert_eq!(text(&out[1]), r#"{"result":"{secret-1}"}"#);
}

#[test]
fn the_scheme_of_an_authorization_stays() {
    let line =
        r#"{"headers":[{"name":"Authorization","value":"Bearer abcdefgh1"}],"x":"abcdefgh1"}"#;
    assert_eq!(
        one(line),
        r#"{"headers":[{"name":"Authorization","value":"Bearer {secret-1}"}],"x":"{secret-1}"}"#
    );
}

#[test]
fn home_is_replaced_in_longer_texts_too() {
    assert_eq!(
        one(
            r#"{"cwd":"/home/alice","uri":"file:///home/alice/x","a":"-I/home/alice/i","b":"{\"p\":\"\/home\/alice\/y\"}"}"#
        ),
        r#"{"cwd":"{home}","uri":"file://{home}/x","a":"-I{home}/i","b":"{\"p\":\"{home}\/y\"}"}"#
    );
}

#[test]
fn lines_that_are_no_messages_and_stderr_are_redacted_as_they_are() {
    let bodies = [
        Body::Line {
            bytes: format!(" {{\"token\":\"abc\",\"x\":\"{KEY}\"}}\r").into_bytes(),
            partial: false,
        },
        Body::Line {
            bytes: [b"\xff ", KEY.as_bytes()].concat(),
            partial: true,
        },
        Body::Stderr(b"using hunter2hunter2 from /home/alice".to_vec()),
    ];
    let events = bodies.map(|body| Event::new(0.0, Party::Agent, body));
    let out = all(&mut redactor(), events);
    assert_eq!(
        text(&out[0]),
        " {\"token\":\"{secret-1}\",\"x\":\"{secret-2}\"}\r"
    );
    assert_eq!(out[1].body.wire_bytes().unwrap(), b"\xff {secret-2}");
    assert_eq!(
        out[2].body,
        Body::Stderr(b"using {secret-3} from {home}".to_vec())
    );
}

#[test]
fn a_secret_in_two_chunks_is_one_placeholder_in_the_first() {
    let (left, right) = KEY.split_at(9);
    let out = all(
        &mut redactor(),
        [chunk(&format!("a {left}")), chunk(&format!("{right} b"))],
    );
    assert_eq!(said(&out[..1]), "a {secret-1}");
    assert_eq!(said(&out[1..]), " b");
}

#[test]
fn sessions_and_kinds_are_texts_of_their_own() {
    let (left, right) = KEY.split_at(15);
    let out = all(
        &mut redactor(),
        [
            chunk_of("s", "agent_message_chunk", left),
            chunk_of("t", "agent_message_chunk", "x"),
            chunk_of("s", "agent_thought_chunk", "y"),
            chunk_of("s", "agent_message_chunk", right),
        ],
    );
    assert_eq!(said(&out), "{secret-1}xy");
}

#[test]
fn an_event_waits_no_longer_than_a_second_and_the_rest_of_a_secret_is_taken_out_then() {
    let mut redactor = redactor();
    let mut out = Vec::new();
    let (left, right) = KEY.split_at(20);
    redactor.push(chunk(left), &mut out);
    assert!(out.is_empty());
    redactor.release(0.9, &mut out);
    assert!(out.is_empty());
    redactor.release(1.0, &mut out);
    assert_eq!(said(&out), "{secret-1}");
    redactor.push(chunk(&format!("{right} end")), &mut out);
    redactor.finish(&mut out);
    assert_eq!(said(&out), "{secret-1} end");
}

#[test]
fn a_text_that_ends_in_the_beginning_of_a_secret_is_given_at_the_end_of_the_turn() {
    let mut redactor = redactor();
    let mut out = Vec::new();
    redactor.push(prompt_to(1, "s"), &mut out);
    out.clear();
    redactor.push(chunk("this is sk"), &mut out);
    assert!(out.is_empty());
    redactor.push(
        event(
            Party::Agent,
            r#"{"id":1,"result":{"stopReason":"end_turn"}}"#,
        ),
        &mut out,
    );
    assert_eq!(out.len(), 2);
    assert_eq!(said(&out), "this is sk");
    redactor.push(chunk(&format!("{KEY} ")), &mut out);
    assert_eq!(said(&out), "this is sk{secret-1} ");
}

#[test]
fn the_output_of_a_tool_may_repeat_itself_or_go_on() {
    let update = |said: &str| {
        let content = json!([{"type": "content", "content": {"type": "text", "text": said}}]);
        let update =
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content});
        let message =
            json!({"method": "session/update", "params": {"sessionId": "s", "update": update}});
        event(Party::Agent, &message.to_string())
    };
    let random = &KEY[13..];
    for cut in 8..KEY.len() {
        let again = all(
            &mut redactor(),
            [
                update(&format!("a {}", &KEY[..cut])),
                update(&format!("a {KEY} b")),
            ],
        );
        let goes_on = all(
            &mut redactor(),
            [
                update(&format!("a {}", &KEY[..cut])),
                update(&format!("{} b", &KEY[cut..])),
            ],
        );
        for out in [again, goes_on] {
            let lines = lines(&out);
            for start in 0..random.len() - 6 {
                assert!(!lines.contains(&random[start..start + 6]), "{cut}: {lines}");
            }
        }
    }
}

#[test]
fn a_secret_in_the_chunks_of_a_model_is_found() {
    let piece = |part: ExchangePart| {
        Event::new(
            0.0,
            Party::Model,
            Body::Model(Exchange { exchange: 1, part }),
        )
    };
    let delta = |said: &str| {
        let data = json!({"choices": [{"index": 0, "delta": {"content": said}}]});
        piece(ExchangePart::Chunk(format!("data: {data}\n\n")))
    };
    for cut in 1..KEY.len() {
        let out = all(
            &mut redactor(),
            [
                piece(ExchangePart::Request {
                    path: "/v1?key=abcdefgh1".into(),
                    body: json!({"messages": [{"content": KEY}]}).to_string(),
                    side: None,
                }),
                delta(&KEY[..cut]),
                delta(&KEY[cut..]),
                delta("!"),
                piece(ExchangePart::End(ExchangeEnd::Complete)),
            ],
        );
        let lines = lines(&out);
        assert!(
            !lines.contains("Zq81") && !lines.contains("KdGhB") && !lines.contains("abcdefgh1"),
            "{lines}"
        );
        assert_eq!(out.len(), 5);
    }
    let out = all(
        &mut redactor(),
        [
            piece(ExchangePart::Chunk(format!(
                "data: {{\"x\":\"{}",
                &KEY[..20]
            ))),
            piece(ExchangePart::Chunk(format!("{}\"}}\n\n", &KEY[20..]))),
        ],
    );
    assert!(!lines(&out).contains("0TtYv52"), "{}", lines(&out));
}

#[test]
fn patterns_of_the_user_are_found_over_chunks_too() {
    let mut redactor = Redactor::new(Options {
        patterns: vec![Regex::new("ACME-[0-9]{6}").unwrap()],
        ..Options::default()
    })
    .unwrap();
    let out = all(
        &mut redactor,
        [
            chunk("see AC"),
            chunk("ME-12"),
            chunk("3456 and ACME-123456"),
            event(Party::Client, r#"{"a":"ACME-654321"}"#),
        ],
    );
    assert_eq!(said(&out), "see {secret-1} and {secret-1}");
    assert_eq!(text(&out[3]), r#"{"a":"{secret-2}"}"#);
}

#[test]
fn placeholders_that_are_there_stay_and_new_ones_get_higher_numbers() {
    assert_eq!(
        one(&format!(r#"{{"token":"{{secret-4}}","x":"{KEY}"}}"#)),
        r#"{"token":"{secret-4}","x":"{secret-5}"}"#
    );
}

#[test]
fn the_header_is_redacted() {
    let mut header = Header::new();
    header.command = [
        "bob",
        "--api-key",
        "abc",
        &format!("--key={KEY}"),
        "/home/alice/bin",
    ]
    .map(Into::into)
    .to_vec();
    header.cwd = Some("/home/alice/project".into());
    redactor().header(&mut header);
    assert_eq!(
        header.command,
        [
            "bob",
            "--api-key",
            "{secret-1}",
            "--key={secret-2}",
            "{home}/bin"
        ]
    );
    assert_eq!(header.cwd.as_deref(), Some("{home}/project"));
    assert!(header.redacted);
}

#[test]
fn a_flood_of_chunks_that_each_may_begin_a_secret_is_not_held_back_for_long() {
    let mut redactor = redactor();
    let (mut given, mut most) = (0, 0);
    let mut out = Vec::new();
    for number in 0..20_000 {
        redactor.push(chunk(" s"), &mut out);
        given += out.len();
        most = most.max(number + 1 - given);
        out.clear();
    }
    assert!(most <= 2, "{most}");
}

#[test]
fn what_stands_behind_an_undecided_chunk_is_bounded() {
    let mut redactor = redactor();
    let mut out = Vec::new();
    redactor.push(chunk("sk-ant-"), &mut out);
    for _ in 0..10_000 {
        redactor.push(event(Party::Agent, r#"{"method":"x"}"#), &mut out);
    }
    assert!(out.len() > 5_000);
}

#[test]
fn a_secret_without_end_is_cut_and_nothing_of_it_is_written() {
    let out = all(
        &mut redactor(),
        (0..40)
            .map(|_| chunk(&"a1".repeat(500)))
            .chain([chunk(" end")])
            .collect::<Vec<_>>(),
    );
    assert_eq!(out.len(), 41);
    let events: Vec<_> = [chunk("sk-ant-a1")]
        .into_iter()
        .chain((0..40).map(|_| chunk(&"a1".repeat(500))))
        .chain([chunk(" end")])
        .collect();
    assert_eq!(said(&all(&mut redactor(), events)), "{secret-1} end");
}

const WORD: &str = "Zq81LmXw0TtYv52KdGhB";

fn prompt_to(id: u32, session: &str) -> Event {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": session, "prompt": []}});
    event(Party::Client, &message.to_string())
}

fn end_of_turn(id: u32) -> Event {
    let message = json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}});
    event(Party::Agent, &message.to_string())
}

#[test]
fn the_turn_of_another_session_decides_nothing() {
    for secret in [
        format!("key ghp_{WORD}{WORD}"),
        format!("Authorization: Bearer {WORD}"),
        format!("postgres://u:{WORD}@h"),
        format!("DB_PASSWORD={WORD}"),
    ] {
        for between in [
            vec![end_of_turn(2)],
            vec![end_of_turn(9)],
            vec![prompt_to(3, "t"), end_of_turn(3)],
            vec![prompt_to(4, "s")],
        ] {
            let (left, right) = secret.split_at(secret.len() - 17);
            let events = [prompt_to(1, "s"), prompt_to(2, "t"), chunk(left)]
                .into_iter()
                .chain(between)
                .chain([chunk(right), end_of_turn(1)]);
            let out = lines(&all(&mut redactor(), events));
            assert!(!out.contains(right), "{out}");
        }
    }
}

#[test]
fn a_value_goes_to_the_end_of_the_word_the_line_or_the_quote() {
    for (before, secret, after) in [
        ("DB_PASSWORD=", "abcd1(24So", "\n"),
        ("DB_PASSWORD=", "abcd1|24,So;a&b", " x"),
        ("DB_PASSWORD=", "abcd1\\Q4So<a>b{c", "\n"),
        ("PASSWORD=\"", "ab'0 88Xt", "\""),
        ("x {\"password\":\"", "ab\\\"fKJA", "\"}"),
        ("postgres://u:", "abcd#I3r", "@h/d"),
        ("https://u:", "ab@ybU?Z", "@h"),
        ("Authorization: Bearer ", "abc:eTth", "\n"),
        ("Cookie: ", "theme=dark; sid=abc", "\n"),
        ("x?a=1&password=", "abcd", "&b=2"),
        ("Server=x;User Id=a;Pwd=", "abcd1234", ";X=1"),
        (
            "\u{1b}[32mAPI_KEY\u{1b}[0m=\u{1b}[33m",
            "abcd1234",
            "\u{1b}[0m",
        ),
        ("os.environ['OPENAI_API_KEY'] = '", "abcd", "'"),
        ("<password>", "abcd", "</password>"),
        ("<add key=\"ApiKey\" value=\"", "abcd", "\"/>"),
        ("x {\"name\":\"GH_TOKEN\",\"value\":\"", "abcd", "\"}"),
        ("mytool --api-key ", "abcd1234", " run"),
        ("mytool --token=", "abcd1234", " run"),
        ("curl -u admin:", "abcd1", " https://x"),
        ("set -gx OPENAI_API_KEY ", "abcd1234", "\n"),
        ("OPENAI_KEY=", "abcd1234", "\n"),
        ("X-Amz-Signature=", "abcd1234", "\n"),
        ("machine h login bob password ", "abcd1234", "\n"),
    ] {
        let line = json!({ "text": format!("{before}{secret}{after}") }).to_string();
        let expected = json!({ "text": format!("{before}{{secret-1}}{after}") }).to_string();
        assert_eq!(one(&line), expected);
    }
}

#[test]
fn a_password_in_an_address_that_is_cut_is_no_longer_there() {
    for end in ["", "@h", "WORD@h/x"] {
        let line = json!({ "text": format!("postgres://u:pa55word{end}") }).to_string();
        assert!(!one(&line).contains("pa55"), "{line}");
    }
    let line = r#"{"text":"see http://localhost:8080"}"#;
    assert_eq!(one(line), line);
}

#[test]
fn secrets_are_found_by_names_of_members_and_of_what_holds_them() {
    for line in [
        format!(r#"{{"api\u004bey":"{WORD}"}}"#),
        format!(r#"{{"mcp\u0053ervers":[{{"\u0065nv":[{{"name":"A","value":"{WORD}"}}]}}]}}"#),
        format!(r#"{{"x":"https:\/\/u:{WORD}@h\/x"}}"#),
        format!(r#"{{"credentials":{{"user":"x","key":"{WORD}"}}}}"#),
        format!(r#"{{"auth":{{"bearer":"{WORD}"}}}}"#),
        format!(r#"{{"auths":{{"x":{{"auth":"{WORD}"}}}}}}"#),
        format!(r#"{{"secrets":[{{"v":"{WORD}"}}]}}"#),
        format!(r#"{{"env":{{"FOO_KEY":"{WORD}"}}}}"#),
        format!(r#"{{"key":"GH_TOKEN","value":"{WORD}"}}"#),
        format!(r#"{{"Name":"GH_TOKEN","Value":"{WORD}"}}"#),
        format!(r#"{{"tokens":["{WORD}"]}}"#),
        format!(r#"{{"jwt":"{WORD}"}}"#),
        r#"{"password":1234567890123}"#.to_owned(),
    ] {
        let out = one(&line);
        assert!(out.contains("{secret-1}") && !out.contains(WORD), "{out}");
    }
    for line in [
        r#"{"options":[{"name":"Secret","value":"fast-mode1"}]}"#,
        r#"{"authorization_endpoint":"https://a/b","publicKey":"abcd12345678","primaryKey":"user12345678"}"#,
        r#"{"tokenizer":"cl100k_base","maxTokens":4096,"keyId":"abcd12345678","auth":{"terminal":true}}"#,
        r#"{"token":7,"password":"${DB_PASSWORD}","pwd":"/work/project1"}"#,
    ] {
        assert_eq!(one(line), line);
    }
}

#[test]
fn a_private_key_is_found_line_by_line() {
    let body = [
        format!("MIIE{WORD}{WORD}"),
        format!("Aa0{WORD}/{WORD}"),
        "ab0=".into(),
    ];
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let listed = |prefix: &str| {
        let lines: Vec<String> = [begin.to_owned()]
            .iter()
            .chain(&body)
            .map(|line| format!("{prefix}{line}"))
            .collect();
        lines.join("\n")
    };
    for prefix in ["", "   12\t", "12→", "- ", "> ", "key.pem:1:", "+"] {
        let out = one(&json!({ "text": listed(prefix) }).to_string());
        assert!(!out.contains("LmXw"), "{out}");
    }
    let pgp = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
        body[0]
    );
    assert!(!one(&json!({ "text": pgp }).to_string()).contains("LmXw"));
    let stderr = [begin.to_owned()]
        .iter()
        .chain(&body)
        .map(|line| Event::new(0.0, Party::Agent, Body::Stderr(line.clone().into_bytes())))
        .collect::<Vec<_>>();
    let out = lines(&all(&mut redactor(), stderr));
    assert!(!out.contains("LmXw") && !out.contains("ab0="), "{out}");
    let out = one(&json!({ "lines": listed("").lines().collect::<Vec<_>>() }).to_string());
    assert!(!out.contains("LmXw"), "{out}");
}

#[test]
fn words_of_the_protocol_are_replaced_at_their_own_place_only() {
    let mut redactor = Redactor::new(Options {
        secrets: vec![
            "sessionUpdate".into(),
            "session/update".into(),
            "postgres".into(),
        ],
        ..Options::default()
    })
    .unwrap();
    let out = lines(&all(&mut redactor, [chunk("postgres is it")]));
    assert!(
        out.contains("sessionUpdate")
            && out.contains("session/update")
            && out.contains("postgres is"),
        "{out}"
    );
    let out = one(r#"{"password":"toolCallId","toolCallId":"x"}"#);
    assert_eq!(out, r#"{"password":"{secret-1}","toolCallId":"x"}"#);
}

#[test]
fn a_long_text_takes_time_in_proportion_to_its_length() {
    let random = |number: u32| {
        format!(
            "{:x}Q{}",
            u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            number
        )
    };
    let settings: String = (0..4_000)
        .map(|number| format!("DB_PASSWORD={}\n", random(number)))
        .collect();
    let since = std::time::Instant::now();
    for text in [
        "password:".repeat(100_000),
        "-----BEGIN A PRIVATE KEY-----\n".repeat(20_000),
        settings,
    ] {
        let out = one(&json!({ "text": text }).to_string());
        assert!(!out.is_empty());
    }
    // In the square of the length it would be minutes.
    assert!(since.elapsed().as_secs() < 60, "{:?}", since.elapsed());
}

proptest! {
    #[test]
    fn however_a_secret_is_split_no_part_of_it_is_written(
        before in "[a-z .:/-]{0,12}",
        random in "[A-Za-z0-9]{24,40}",
        after in "( [a-z .]{0,12})?",
        prefix in prop_oneof![Just("sk-ant-api03-"), Just("ghp_"), Just("glpat-"), Just("xoxb-1-")],
        cuts in proptest::collection::vec(0usize..80, 0..12),
        pause in 0usize..100,
    ) {
        let before = format!("{before} ");
        let whole = format!("{before}{prefix}{random}{after}");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (whole.len() + 1)).chain([0, whole.len()]).collect();
        cuts.sort_unstable();
        let mut events: Vec<Event> = cuts.windows(2).map(|pair| chunk(&whole[pair[0]..pair[1]])).collect();
        // Without a pause nothing is decided too early; with one, no part must be seen either.
        let paused = pause < events.len();
        if paused {
            for event in &mut events[pause..] {
                event.at = 5.0;
            }
        }
        let count = events.len();
        let out = all(&mut redactor(), events);
        prop_assert_eq!(out.len(), count);
        let written = lines(&out);
        for start in 0..random.len() - 6 {
            prop_assert!(!written.contains(&random[start..start + 6]), "{}", written);
        }
        if !paused {
            prop_assert_eq!(said(&out), format!("{before}{{secret-1}}{after}"));
        }
    }

    #[test]
    fn a_known_value_and_the_home_are_found_however_they_are_split(
        cuts in proptest::collection::vec(0usize..60, 0..12),
    ) {
        let whole = "at /home/alice/x \"hunter2hunter2\" and /home/alicex hunter2hunter3";
        let mut cuts: Vec<usize> = cuts.into_iter().chain([0, whole.len()]).collect();
        cuts.sort_unstable();
        let events = cuts.windows(2).map(|pair| chunk(&whole[pair[0]..pair[1]]));
        let out = all(&mut redactor(), events);
        prop_assert_eq!(said(&out), "at {home}/x \"{secret-1}\" and /home/alicex hunter2hunter3");
    }

    #[test]
    fn no_line_panics_and_messages_stay_messages(line in "[\\PC\"\\\\{}:,\\[\\]]{0,60}", words in proptest::collection::vec(
        prop_oneof![Just("token"), Just("="), Just("\""), Just("sk-ant-a1b2c3d4e5"), Just("://a:b@"), Just(": "),
            Just("Bearer "), Just("/home/alice"), Just("{secret-1}"), Just("\\"), Just("-----BEGIN PRIVATE KEY-----")], 0..12)) {
        let said = format!("{line}{}", words.concat());
        let message = json!({"params": {"update": {"sessionUpdate": "agent_message_chunk", "content": {"text": said}}}, "x": said});
        let lines = [message.to_string(), said];
        for line in lines {
            for from in [Party::Client, Party::Agent] {
                let before = event(from, &line);
                let out = all(&mut redactor(), [before.clone()]);
                prop_assert_eq!(out.len(), 1);
                if matches!(before.body, Body::Message { .. }) {
                    prop_assert!(serde_json::from_str::<Value>(&text(&out[0])).is_ok());
                }
            }
        }
    }
}

#[test]
fn a_redacted_trace_is_not_changed_once_more() {
    let message = json!({"params": {"mcpServers": [{"env": [{"name": "A", "value": "b"}]}]}, "password": "hunter2", "text":
        format!("{KEY} at /home/alice with password=hunter2 and Authorization: Bearer abcdef12345\n-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nhttps://a:b123@c")});
    let events = [
        event(Party::Client, &message.to_string()),
        chunk(KEY),
        chunk(" and https://u:pw1@h/"),
    ];
    let once = all(&mut redactor(), events);
    assert_eq!(all(&mut redactor(), once.clone()), once);
}

#[test]
fn bytes_of_a_reply_that_are_no_text_lose_their_secrets_and_nothing_else() {
    let bytes = |key: &str| [b"\xff \"", key.as_bytes(), b"\" \xfe"].concat();
    let part = |bytes| {
        Body::Model(Exchange {
            exchange: 1,
            part: ExchangePart::Bytes(bytes),
        })
    };
    let out = all(
        &mut redactor(),
        [Event::new(0.0, Party::Model, part(bytes(KEY)))],
    );
    assert_eq!(out[0].body, part(bytes("{secret-1}")));
}
