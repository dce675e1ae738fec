//! Tests of `event`.

use super::*;
use proptest::prelude::*;

fn back(body: Body) -> Body {
    let event = Event::new(1.25, Party::Agent, body);
    let line = event.to_line();
    assert!(!line.contains('\n'), "{line}");
    let again = Event::from_line(&line).unwrap();
    assert_eq!(again.to_line(), line);
    again.body
}

#[test]
fn a_plain_line_is_read_like_any_other() {
    for (line, at, text) in [
        (
            r#"{"at":1.5,"from":"agent","message":{"id":1,"result":"}"}}"#,
            1.5,
            r#"{"id":1,"result":"}"}"#,
        ),
        (
            r#"{"at":2,"from":"client","message":{ "a":[] }}"#,
            2.0,
            r#"{ "a":[] }"#,
        ),
        (r#"{ "at":0.1, "from":"client", "message":{} }"#, 0.1, "{}"),
        (r#"{"at":1e1,"from":"agent","message":{}}"#, 10.0, "{}"),
        (r#"{"at":1,"from":"agent","message":{} }"#, 1.0, "{}"),
    ] {
        let event = Event::from_line(line).unwrap();
        assert!((event.at - at).abs() < 1e-9, "{line}");
        let partial = false;
        assert_eq!(
            event.body,
            Body::Message {
                text: text.to_owned(),
                partial
            },
            "{line}"
        );
    }
    let probe = Event::from_line(r#"{"at":1,"from":"client","message":{},"probe":"x"}"#).unwrap();
    assert_eq!(probe.probe.as_deref(), Some("x"));
    for line in [
        r#"{"at":1,"from":"agent","message":{"a":}}"#,
        r#"{"at":1,"from":"agent","message":{}"#,
        r#"{"at":1,"from":"agent","message":{}}}"#,
        r#"{"at":.5,"from":"agent","message":{}}"#,
        r#"{"at":01,"from":"agent","message":{}}"#,
    ] {
        assert!(Event::from_line(line).is_err(), "{line}");
    }
}

#[test]
fn a_message_keeps_its_exact_text() {
    let text = r#"{"b" : 0.10,  "a":1e2,"a":"\u0041\/\ud800" }"#;
    let body = Body::of_line(text.as_bytes().to_vec(), false);
    assert_eq!(
        back(body),
        Body::Message {
            text: text.into(),
            partial: false
        }
    );
}

#[test]
fn white_space_or_a_carriage_return_around_a_message_makes_it_a_line() {
    for text in [" {}", "{} ", "{}\r", "[]", "hello", ""] {
        let body = Body::of_line(text.into(), true);
        assert!(
            matches!(&body, Body::Line { partial: true, .. }),
            "{text:?}"
        );
        assert_eq!(back(body.clone()), body);
    }
}

#[test]
fn every_body_comes_back_as_it_was() {
    let bodies = [
        Body::Stderr(b"plain".to_vec()),
        Body::Stderr(vec![b'a', 0xff]),
        Body::Eof,
        Body::Signal(15),
        Body::Exit(Exit::Code(0)),
        Body::Exit(Exit::Signal(9)),
        Body::Left(vec!["12 sleep 60".into()]),
        Body::Unanswered {
            id: serde_json::json!("a"),
            seconds: 30.0,
        },
        Body::Model(Exchange {
            exchange: 1,
            part: ExchangePart::Request {
                path: "/v1/chat/completions".into(),
                body: r#"{"a":1.0}"#.into(),
                side: Some("title".into()),
            },
        }),
        Body::Model(Exchange {
            exchange: 1,
            part: ExchangePart::Status(200),
        }),
        Body::Model(Exchange {
            exchange: 1,
            part: ExchangePart::Chunk("data: x\n\n".into()),
        }),
        Body::Model(Exchange {
            exchange: 1,
            part: ExchangePart::End(ExchangeEnd::Cut),
        }),
        Body::Other(serde_json::json!({"later": {"x": 1}})),
    ];
    for body in bodies {
        assert_eq!(back(body.clone()), body);
    }
}

#[test]
fn the_time_is_written_in_seconds_with_six_decimals() {
    for at in [
        0.0, 0.0000004, 0.000112, 1.25, 59.9999999, 86_400.5, 1e12, 1e300, -1.5,
    ] {
        let line = Event::new(at, Party::Agent, Body::Eof).to_line();
        let expected = format!(r#"{{"at":{at:.6},"from":"agent","eof":true}}"#);
        assert_eq!(line, expected);
    }
}

proptest! {
    #[test]
    fn any_line_of_the_wire_comes_back_byte_by_byte(
        bytes in proptest::collection::vec(any::<u8>().prop_filter("LF ends a line", |b| *b != b'\n'), 0..80),
        partial: bool,
    ) {
        let body = Body::of_line(bytes, partial);
        prop_assert_eq!(back(body.clone()), body);
    }

    #[test]
    fn reading_any_text_as_an_event_does_not_panic(text: String) {
        let _ = Event::from_line(&text);
    }
}

#[test]
fn a_piece_of_a_reply_that_is_no_text_and_one_that_was_not_kept_come_back() {
    for part in [
        ExchangePart::Bytes(vec![0xff, b'{', 0]),
        ExchangePart::Unreadable("br".into()),
    ] {
        let body = Body::Model(Exchange { exchange: 3, part });
        assert_eq!(back(body.clone()), body);
    }
}
