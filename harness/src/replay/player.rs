//! Plays the agent of a recording to a live client on two streams.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use super::bindings::Bindings;
use super::engine::{Engine, Output};
use super::incident::Incident;
use super::plan::{Plan, Unplayable};
use crate::client::Outgoing;
use crate::spec::{Methods, Side};
use crate::trace::{Body, Event, Party, Recording};
use crate::wire::{LineSplitter, Message, Piece};

/// The longest line that is read, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;
/// How long a recorded cancel is waited for before that is said.
const CANCEL: Duration = Duration::from_secs(3);
/// How much of a recorded prompt is shown, in characters.
const SHOWN: usize = 120;
/// How many lines of the client may wait.
const INBOX: usize = 1024;

/// What a play left.
#[derive(Debug)]
pub(crate) struct Performed {
    /// The live trace.
    pub(crate) live: Recording,
    /// The plan that was played.
    pub(crate) plan: Plan,
    /// What went otherwise in ways that no comparison tells.
    pub(crate) incidents: Vec<Incident>,
    /// What is to be known, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// Plays the agent of a recording until the client closes its stream. `say` is told at once what the client does that the
/// recording does not have.
///
/// `lenient`: a request that the recording does not have is answered as well as it can be.
///
/// # Errors
/// Where the recording has no agent.
pub(crate) fn play(
    recording: &Recording,
    lenient: bool,
    input: impl Read + Send + 'static,
    output: impl Write,
    say: impl FnMut(&str),
) -> Result<Performed, Unplayable> {
    let plan = Plan::of(recording, Side::Agent)?;
    let (sender, lines) = sync_channel(INBOX);
    let told = sender.clone();
    std::thread::spawn(move || end_when_told(&told));
    std::thread::spawn(move || read(input, &sender));
    let mut player = Player {
        engine: Engine::new(plan, Bindings::default()),
        lenient,
        output,
        say,
        live: Recording {
            header: recording.header.clone(),
            ..Recording::default()
        },
        began: Instant::now(),
        sessions: 0,
        open: true,
    };
    if !lenient {
        player.engine.be_strict();
    }
    player.run(&lines);
    player.engine.finish();
    let (plan, incidents, notes) = player.engine.into_parts();
    Ok(Performed {
        live: player.live,
        plan,
        incidents,
        notes,
    })
}

/// Reads lines until the stream ends. The thread ends with the process where the stream does not.
fn read(mut input: impl Read, lines: &SyncSender<Body>) {
    let mut splitter = LineSplitter::new(LONGEST);
    let mut buffer = vec![0; 64 * 1024];
    let mut told = true;
    let mut give = |piece: Piece| {
        let body = match piece {
            Piece::Line(bytes) | Piece::TooLong(bytes) => Body::of_line(bytes, false),
            Piece::Partial(bytes) => Body::of_line(bytes, true),
        };
        told &= lines.send(body).is_ok();
    };
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        splitter.push(buffer.get(..count).unwrap_or_default(), &mut give);
    }
    if let Some(piece) = splitter.finish() {
        give(piece);
    }
    // The other end may have gone: then nobody waits for this.
    let _ = lines.send(Body::Eof);
}

/// Many a client ends its agent by a signal: then what it did up to there is told all the same.
fn end_when_told(lines: &SyncSender<Body>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else { return };
    let told = runtime.block_on(async {
        let (Ok(mut term), Ok(mut interrupt), Ok(mut hang_up)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::interrupt()),
            signal(SignalKind::hangup()),
        ) else {
            return false;
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
            _ = hang_up.recv() => {}
        }
        true
    });
    if told {
        // Nobody listens any more: then it is over anyway.
        let _ = lines.send(Body::Eof);
    }
}

struct Player<W, S> {
    engine: Engine,
    lenient: bool,
    output: W,
    say: S,
    live: Recording,
    began: Instant,
    /// How many sessions were opened that the recording does not have.
    sessions: usize,
    /// Whether the client still reads.
    open: bool,
}

impl<W: Write, S: FnMut(&str)> Player<W, S> {
    fn run(&mut self, lines: &Receiver<Body>) {
        loop {
            while let Some(output) = self.engine.next() {
                match output {
                    Output::Send { bytes, partial, .. } => self.send(bytes, partial),
                    Output::Unknown { message, .. } => self.answer(&message),
                    Output::Close => {
                        self.record(Party::Agent, Body::Eof);
                        return;
                    }
                    // Signals go from a client to an agent.
                    Output::Signal(_) => {}
                }
            }
            let body = self.next(lines);
            if body == Body::Eof {
                self.record(Party::Client, Body::Eof);
                return;
            }
            let reading = body.reading();
            let event = self.record(Party::Client, body);
            if let Some(reading) = reading {
                self.engine.see(&reading, event);
            }
        }
    }

    /// The next line of the client. A recorded cancel is waited for; that it does not come is said, and a lenient play goes
    /// on without it.
    fn next(&mut self, lines: &Receiver<Body>) -> Body {
        loop {
            let Some(awaited) = self.engine.awaited_cancel().map(str::to_owned) else {
                return lines.recv().unwrap_or(Body::Eof);
            };
            match lines.recv_timeout(CANCEL) {
                Ok(body) => return body,
                Err(RecvTimeoutError::Disconnected) => return Body::Eof,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.lenient {
                (self.say)(&format!(
                    "`{awaited}` is recorded here and does not come: going on"
                ));
                self.engine.give_up(None);
                while let Some(output) = self.engine.next() {
                    if let Output::Send { bytes, partial, .. } = output {
                        self.send(bytes, partial);
                    }
                }
            } else {
                (self.say)(&format!("waiting for `{awaited}`, which is recorded here"));
                return lines.recv().unwrap_or(Body::Eof);
            }
        }
    }

    fn record(&mut self, from: Party, body: Body) -> u64 {
        let number = self.live.events.len();
        let at = self.began.elapsed().as_secs_f64();
        self.live.events.push(Event::new(at, from, body));
        u64::try_from(number).unwrap_or(u64::MAX)
    }

    fn send(&mut self, bytes: Vec<u8>, partial: bool) {
        let mut line = bytes.clone();
        if !partial {
            line.push(b'\n');
        }
        self.record(Party::Agent, Body::of_line(bytes, partial));
        if self.open {
            // A client that reads no more may still write: what it does is seen until it closes its stream.
            self.open = self
                .output
                .write_all(&line)
                .and_then(|()| self.output.flush())
                .is_ok();
        }
    }

    /// Answers a request that the recording does not have, or not here.
    fn answer(&mut self, message: &Message) {
        let Some(id) = message.members().get("id").cloned() else {
            return;
        };
        let method = message.method().unwrap_or_default();
        let made = if self.lenient {
            self.engine
                .recorded_result(method)
                .map(|result| self.renewed(method, result))
                .or_else(|| made_up(method))
        } else {
            None
        };
        let known = Methods::v1()
            .get(method)
            .is_some_and(|known| known.handled_by(Side::Agent));
        let (line, how) = match made {
            Some(result) => (
                Outgoing::result(&id, &result),
                "answered all the same".to_owned(),
            ),
            None if known => (
                Outgoing::error(
                    &id,
                    -32602,
                    &format!(
                        "the recording has no such `{method}` at this place{}",
                        self.awaited()
                    ),
                ),
                format!("answered with error -32602{}", self.awaited()),
            ),
            None => (
                Outgoing::error(&id, -32601, &format!("method not found: {method}")),
                "answered with error -32601".to_owned(),
            ),
        };
        (self.say)(&format!(
            "`{method}` with id {id} is not in the recording at this place: {how}"
        ));
        self.send(line.text().as_bytes().to_vec(), false);
    }

    /// What is recorded here, as the end of a sentence, and how to go on without it.
    fn awaited(&self) -> String {
        let Some(ask) = self.engine.awaited_request() else {
            return "; nothing more is recorded".to_owned();
        };
        let blocks = ask.params.get("prompt").and_then(Value::as_array);
        let texts = blocks
            .into_iter()
            .flatten()
            .filter_map(|it| it.get("text")?.as_str());
        let said = texts.collect::<Vec<_>>().join(" ");
        let mut short: String = said.chars().take(SHOWN).collect();
        if short.len() < said.len() {
            short.push('…');
        }
        let what = match ask.method.as_str() {
            "session/prompt" => format!("the prompt \"{short}\""),
            method => format!("`{method}`"),
        };
        let way = if self.lenient {
            ""
        } else {
            "; `--lenient` goes on with another"
        };
        format!(
            "; recorded here is {what} (event {} of the recording){way}",
            ask.event
        )
    }

    /// A recorded result, with a fresh id where it opens a session.
    fn renewed(&mut self, method: &str, mut result: Value) -> Value {
        if method == "session/new"
            && let Some(session) = result.get_mut("sessionId")
        {
            self.sessions += 1;
            *session = json!(format!("played-session-{}", self.sessions));
        }
        result
    }
}

/// The least that answers a request of which the recording has no example.
fn made_up(method: &str) -> Option<Value> {
    match method {
        "session/prompt" => Some(json!({"stopReason": "end_turn"})),
        "session/list" => Some(json!({"sessions": []})),
        "authenticate" | "logout" | "session/close" | "session/delete" | "session/load"
        | "session/resume" | "session/set_mode" => Some(json!({})),
        _ => None,
    }
}
