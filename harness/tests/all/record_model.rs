//! `harness record --model-upstream`: what passes between an agent and its model passes unchanged, and is in the file.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use acp_harness::trace::{Body, ExchangeEnd, ExchangePart};

use crate::recorder::Recorder;

const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;

/// A message of HTTP as it came: head and body.
struct Heard {
    head: String,
    body: Vec<u8>,
}

impl Heard {
    fn of(stream: &TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse().unwrap())
        });
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        Self { head, body }
    }

    fn has(&self, line: &str) -> bool {
        let mut lines = self.head.lines();
        lines.any(|it| it.eq_ignore_ascii_case(line))
    }
}

/// A model server for one connection: `serve` gets what was asked and the way back.
fn upstream(
    serve: impl FnOnce(&Heard, TcpStream) + Send + 'static,
) -> (String, thread::JoinHandle<Heard>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let heard = Heard::of(&stream);
        serve(&heard, stream);
        heard
    });
    (address, served)
}

/// An agent that says where its model is, and lives until its stdin is closed.
struct Agent {
    recorder: Recorder,
    child: Child,
    model: String,
}

impl Agent {
    fn start(flags: &[&str]) -> Self {
        Self::saying("$OPENAI_BASE_URL", flags)
    }

    fn saying(variable: &str, flags: &[&str]) -> Self {
        let recorder = Recorder::new();
        let words = format!("echo \"{variable}\"; cat > /dev/null");
        let mut child = recorder.start(flags, &["sh", "-c", &words]);
        let mut model = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut model)
            .unwrap();
        Self {
            recorder,
            child,
            model: model.trim().to_owned(),
        }
    }

    /// Asks the model; the reply is still to be read.
    fn ask(&self, path: &str, headers: &str, body: &[u8]) -> TcpStream {
        let address = self.model.strip_prefix("http://").unwrap();
        let (host, root) = address.split_once('/').unwrap_or((address, ""));
        let root = if root.is_empty() {
            String::new()
        } else {
            format!("/{root}")
        };
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "POST {root}{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n",
            body.len()
        )
        .unwrap();
        stream.write_all(body).unwrap();
        stream
    }

    /// Ends the agent and gives the parts of the exchanges that were recorded, and the text of the file.
    fn end(self) -> (Vec<(u64, ExchangePart)>, String) {
        let (parts, text, _) = self.end_saying();
        (parts, text)
    }

    /// The same, with what the recorder said on stderr.
    fn end_saying(mut self) -> (Vec<(u64, ExchangePart)>, String, String) {
        drop(self.child.stdin.take());
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        assert!(self.child.wait().unwrap().success());
        let parts = self
            .recorder
            .events()
            .into_iter()
            .filter_map(|event| match event.body {
                Body::Model(exchange) => Some((exchange.exchange, exchange.part)),
                _ => None,
            })
            .collect();
        let text = std::fs::read_to_string(self.recorder.file()).unwrap();
        (parts, text, said)
    }
}

fn all(mut stream: TcpStream) -> String {
    let mut reply = Vec::new();
    // What came before a break counts.
    let _ = stream.read_to_end(&mut reply);
    String::from_utf8(reply).unwrap()
}

fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut read = String::new();
    let mut byte = [0];
    while !read.contains(wanted) {
        stream.read_exact(&mut byte).unwrap();
        read.push(char::from(byte[0]));
    }
    read
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: r-1\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(stream: &mut TcpStream, text: &str) {
    write!(stream, "{:x}\r\n{text}\r\n", text.len()).unwrap();
}

#[test]
fn a_stream_passes_event_by_event_and_is_kept_without_its_headers() {
    let (go_on, wait) = mpsc::channel::<()>();
    let (address, served) = upstream(move |_, mut stream| {
        stream.write_all(STREAM.as_bytes()).unwrap();
        chunk(
            &mut stream,
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
        );
        // Goes on only when the agent has seen the first event.
        wait.recv().unwrap();
        chunk(&mut stream, "data: {\"choices\":[{\"delta\":");
        chunk(&mut stream, "{\"content\":\"b\"}}]}\n\ndata: [DONE]\n\n");
        stream.write_all(b"0\r\n\r\n").unwrap();
    });
    let agent = Agent::start(&["--model-upstream", &format!("{address}/prefix/v1")]);
    assert!(agent.model.ends_with("/v1"), "{}", agent.model);
    let headers = "authorization: Bearer my-own-key-of-nothing\r\nx-own: 1\r\naccept-encoding: gzip\r\nte: trailers\r\n";
    let mut reply = agent.ask("/chat/completions", headers, CHAT.as_bytes());
    let head = read_until(&mut reply, "\"a\"");
    assert!(head.contains("x-request-id: r-1"), "{head}");
    go_on.send(()).unwrap();
    assert!(all(reply).contains("[DONE]"));

    let heard = served.join().unwrap();
    assert!(
        heard.has("POST /prefix/v1/chat/completions HTTP/1.1"),
        "{}",
        heard.head
    );
    assert!(heard.has("authorization: Bearer my-own-key-of-nothing"));
    assert!(heard.has("x-own: 1"));
    assert!(heard.has("accept-encoding: identity"));
    assert!(!heard.head.contains("trailers"), "{}", heard.head);
    assert_eq!(heard.body, CHAT.as_bytes());

    let (parts, text) = agent.end();
    let wanted = [
        ExchangePart::Request {
            path: "/v1/chat/completions".into(),
            body: CHAT.into(),
            side: None,
        },
        ExchangePart::Status(200),
        ExchangePart::Chunk("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n".into()),
        ExchangePart::Chunk("data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n".into()),
        ExchangePart::Chunk("data: [DONE]\n\n".into()),
        ExchangePart::End(ExchangeEnd::Complete),
    ];
    assert_eq!(parts, wanted.map(|part| (1, part)));
    assert!(!text.contains("my-own-key-of-nothing"), "{text}");
}

#[test]
fn an_agent_that_hangs_up_cancels_the_request_upstream() {
    let (address, served) = upstream(|_, mut stream| {
        stream.write_all(STREAM.as_bytes()).unwrap();
        chunk(&mut stream, "data: {}\n\n");
        // The connection ends although the stream has not.
        assert_eq!(stream.read(&mut [0; 64]).unwrap_or(0), 0);
    });
    let agent = Agent::start(&["--model-upstream", &address]);
    let mut reply = agent.ask("/chat/completions", "", CHAT.as_bytes());
    read_until(&mut reply, "data: {}");
    drop(reply);
    served.join().unwrap();
    let (parts, _) = agent.end();
    assert_eq!(
        parts.last().unwrap().1,
        ExchangePart::End(ExchangeEnd::Cancelled)
    );
}

#[test]
fn an_agent_that_hangs_up_before_the_reply_cancels_too() {
    let (seen, is_seen): (_, Receiver<()>) = mpsc::channel();
    let (address, served) = upstream(move |_, mut stream| {
        seen.send(()).unwrap();
        assert_eq!(stream.read(&mut [0; 64]).unwrap_or(0), 0);
    });
    let agent = Agent::start(&["--model-upstream", &address]);
    let reply = agent.ask("/chat/completions", "", CHAT.as_bytes());
    is_seen.recv().unwrap();
    drop(reply);
    served.join().unwrap();
    let (parts, _) = agent.end();
    assert_eq!(parts.len(), 2);
    assert_eq!(parts[1].1, ExchangePart::End(ExchangeEnd::Cancelled));
}

#[test]
fn a_server_that_is_not_there_is_a_502_with_a_sentence() {
    let nobody = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let agent = Agent::start(&["--model-upstream", &format!("http://{nobody}/v1")]);
    let reply = all(agent.ask("/chat/completions?key=not-to-be-told", "", CHAT.as_bytes()));
    assert!(reply.starts_with("HTTP/1.1 502 "), "{reply}");
    assert!(
        reply.contains(&format!(
            "the model server `http://{nobody}` could not be reached: "
        )),
        "{reply}"
    );
    assert!(!reply.contains("not-to-be-told"), "{reply}");
    let (parts, text, said) = agent.end_saying();
    assert!(
        said.contains("the one request to the model was not answered: the model server"),
        "{said}"
    );
    assert_eq!(parts[1].1, ExchangePart::Status(502));
    assert_eq!(parts.last().unwrap().1, ExchangePart::End(ExchangeEnd::Cut));
    assert!(!text.contains("not-to-be-told"), "{text}");
}

#[test]
fn a_stream_that_breaks_upstream_breaks_for_the_agent_too() {
    let (address, _) = upstream(|_, mut stream| {
        stream.write_all(STREAM.as_bytes()).unwrap();
        chunk(&mut stream, "data: {}\n\n");
    });
    let agent = Agent::start(&["--model-upstream", &address]);
    let reply = all(agent.ask("/chat/completions", "", CHAT.as_bytes()));
    assert!(reply.contains("data: {}"), "{reply}");
    assert!(!reply.ends_with("0\r\n\r\n"), "{reply}");
    let (parts, _) = agent.end();
    assert_eq!(parts.last().unwrap().1, ExchangePart::End(ExchangeEnd::Cut));
}

#[test]
fn secrets_in_bodies_are_replaced_in_the_file_and_not_in_the_traffic() {
    const SECRET: &str = "sk-proj-Zx81kQpLmN42vBtR7wYs3dHf";
    let (address, served) = upstream(|heard, mut stream| {
        assert!(String::from_utf8_lossy(&heard.body).contains(SECRET));
        stream.write_all(STREAM.as_bytes()).unwrap();
        let (one, two) = SECRET.split_at(13);
        for half in [one, two] {
            let event =
                format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{half}\"}}}}]}}\n\n");
            chunk(&mut stream, &event);
        }
        stream.write_all(b"0\r\n\r\n").unwrap();
    });
    let agent = Agent::start(&["--model-upstream", &address]);
    let asked = CHAT.replace("hi", &format!("my key is {SECRET}"));
    let reply = all(agent.ask("/chat/completions", "", asked.as_bytes()));
    assert!(
        reply.contains(&SECRET[..13]) && reply.contains(&SECRET[13..]),
        "{reply}"
    );
    served.join().unwrap();
    let (_, text) = agent.end();
    assert!(
        !text.contains(&SECRET[..13]) && !text.contains(&SECRET[13..]),
        "{text}"
    );
    assert!(text.contains("{secret-1}"), "{text}");
}

#[test]
fn a_request_longer_than_the_queue_passes_and_is_kept() {
    let (address, served) = upstream(|_, mut stream| {
        stream
            .write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
            )
            .unwrap();
    });
    let agent = Agent::start(&["--model-upstream", &address, "--no-redact"]);
    let asked = CHAT.replace("hi", &"x".repeat(12 << 20));
    let reply = all(agent.ask("/chat/completions", "", asked.as_bytes()));
    assert!(reply.ends_with("{}"), "{reply}");
    assert_eq!(served.join().unwrap().body.len(), asked.len());
    let (parts, _) = agent.end();
    assert!(matches!(&parts[0].1, ExchangePart::Request { body, .. } if *body == asked));
    assert_eq!(parts[2].1, ExchangePart::Chunk("{}".into()));
}

/// A reply with this encoding and body.
fn encoded(encoding: &'static str, body: Vec<u8>) -> (String, Vec<(u64, ExchangePart)>) {
    let (address, served) = upstream(move |_, mut stream| {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .unwrap();
        stream.write_all(&body).unwrap();
    });
    let agent = Agent::start(&["--model-upstream", &address]);
    let mut reply = Vec::new();
    let mut stream = agent.ask("/chat/completions", "", CHAT.as_bytes());
    stream.read_to_end(&mut reply).unwrap();
    served.join().unwrap();
    (String::from_utf8_lossy(&reply).into_owned(), agent.end().0)
}

#[test]
fn a_reply_that_comes_compressed_passes_as_it_is_and_is_recorded_in_plain() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(b"data: {\"a\":1}\n\ndata: [DONE]\n\n")
        .unwrap();
    let (reply, parts) = encoded("gzip", gzip.finish().unwrap());
    assert!(reply.contains("content-encoding: gzip"), "{reply}");
    let kept: Vec<_> = parts.into_iter().skip(2).map(|(_, part)| part).collect();
    assert_eq!(
        kept,
        [
            ExchangePart::Chunk("data: {\"a\":1}\n\n".into()),
            ExchangePart::Chunk("data: [DONE]\n\n".into()),
            ExchangePart::End(ExchangeEnd::Complete),
        ]
    );
}

#[test]
fn a_reply_in_an_encoding_that_cannot_be_read_is_said_to_be_missing() {
    let (_, parts) = encoded("br", vec![0x0b, 0x02, 0x80]);
    assert_eq!(parts[2].1, ExchangePart::Unreadable("br".into()));
    assert_eq!(parts[3].1, ExchangePart::End(ExchangeEnd::Complete));
    let (_, parts) = encoded("gzip", b"data: {}\n\n".to_vec());
    assert_eq!(parts[2].1, ExchangePart::Unreadable("gzip".into()));
}

#[test]
fn bytes_that_are_not_utf_8_are_recorded_as_they_are() {
    let body = b"data: {\"a\":\"\xff\"}\n\ndata: [DONE]\n\n".to_vec();
    let (_, parts) = encoded("identity", body);
    assert_eq!(
        parts[2].1,
        ExchangePart::Bytes(b"data: {\"a\":\"\xff\"}\n\n".to_vec())
    );
    assert_eq!(parts[3].1, ExchangePart::Chunk("data: [DONE]\n\n".into()));
}

#[test]
fn only_the_families_that_have_a_server_are_led_to_the_proxy() {
    let agent = Agent::saying(
        "$OPENAI_BASE_URL-",
        &["--model-upstream", "anthropic=http://127.0.0.1:9"],
    );
    assert_eq!(agent.model, "-");
    assert_eq!(agent.end().0, []);
}

#[test]
fn a_recording_that_cannot_be_written_leaves_the_traffic_alone() {
    let (address, served) = upstream(|_, mut stream| {
        stream.write_all(STREAM.as_bytes()).unwrap();
        chunk(&mut stream, "data: {}\n\n");
        stream.write_all(b"0\r\n\r\n").unwrap();
    });
    let mut agent = Agent::start(&[
        "-o",
        "/nowhere/to/be/found.jsonl",
        "--model-upstream",
        &address,
    ]);
    let reply = all(agent.ask("/chat/completions", "", CHAT.as_bytes()));
    assert!(reply.contains("data: {}"), "{reply}");
    served.join().unwrap();
    drop(agent.child.stdin.take());
    assert!(agent.child.wait().unwrap().success());
}

#[test]
fn a_word_that_is_no_address_is_refused() {
    let recorder = Recorder::new();
    for words in [
        &["--model-upstream", "api.example.com"][..],
        &[
            "--model-upstream",
            "http://a/",
            "--model-upstream",
            "http://b/",
        ],
    ] {
        let words = [&["record"], words, &["--", "true"]].concat();
        assert_eq!(
            recorder.plain(&words).output().unwrap().status.code(),
            Some(2)
        );
    }
}
