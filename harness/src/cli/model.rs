//! `harness model`: serves a script of a model alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use clap::Args;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Exit;
use super::output::{error, print, say};
use super::serving::{self, Interrupt, no_port};
use crate::model::script::{FALLBACK, Failure, NamedFailure, Reply, Script};
use crate::model::{ModelServer, ModelState};
use crate::report::plain;
use crate::scenario::file::{Placeholder, fill_reply, read_script};
use crate::source::Source;
use crate::trace::{Body, Exchange, ExchangeEnd, ExchangePart, Observed};

/// How many parts of exchanges may wait to be told of.
const QUEUE: usize = 1000;
/// How long the exchanges that go on may take to end after a signal.
const LAST: Duration = Duration::from_millis(500);

/// What `harness model` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "It serves until it is interrupted. Exit codes: 0 interrupted, 2 usage, 4 a fault of the harness."
)]
#[command(after_long_help = "\
One script serves OpenAI chat completions and responses, Anthropic messages and Gemini, with their lists of models. The \
addresses and the variables to set go to stdout, in a form that a shell reads; each exchange is a line on stderr.

  harness model script.toml --port 4000
  curl http://127.0.0.1:4000/v1/models

A script is a TOML file with the replies in order, with the keys of `[[model]]` in a scenario:
  [[model]]
  say = \"Hello\"
  [[model]]
  call = { kind = \"execute\", command = \"ls\" }

`{{cwd}}` stands for the folder that this is started in. A stream with `hold` stays open until the client hangs up.

Exit codes:
  0  interrupted by SIGINT or SIGTERM
  2  usage: flags, a script that is not right, a port that is taken
  4  a fault of the harness itself")]
pub(crate) struct ModelArguments {
    /// The script
    #[arg(value_name = "SCRIPT")]
    script: PathBuf,

    /// The port on 127.0.0.1; if it is not given, one that is free
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
}

/// Runs the command.
pub(super) fn main(arguments: &ModelArguments) -> Exit {
    let script = match script(&arguments.script) {
        Ok(script) => script,
        Err(why) => {
            error(why);
            return Exit::Usage;
        }
    };
    serving::run(serve(script, arguments.port.unwrap_or(0)))
}

/// Reads a script.
fn script(path: &Path) -> Result<Script, String> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|why| format!("{name}: {why}"))?;
    let script = read_script(&Source::new(name.to_string(), text)).map_err(|it| it.to_string())?;
    let folder = env::current_dir().map_err(|why| format!("the current folder: {why}"))?;
    let mut known = |placeholder: &Placeholder| match placeholder {
        Placeholder::Cwd => Some(json!(folder.to_string_lossy())),
        _ => None,
    };
    let refused = |reply: &Reply| reply.fail == Some(Failure::Named(NamedFailure::Refused));
    if script.iter().any(refused) {
        return Err(format!(
            "{name}: `fail = \"refused\"` lasts until the next prompt, which nobody announces here; write `fail = \"cut\"`, \
             or interrupt the server"
        ));
    }
    let filled = script.iter().map(|reply| fill_reply(reply, &mut known));
    filled
        .collect::<Result<Script, _>>()
        .map_err(|_| format!("{name}: of the placeholders, `{{{{cwd}}}}` alone has a value here"))
}

async fn serve(script: Script, port: u16) -> Exit {
    let mut interrupt = match Interrupt::listen() {
        Ok(interrupt) => interrupt,
        Err(exit) => return exit,
    };
    let replies = script.len();
    let (out, mut told) = mpsc::channel(QUEUE);
    let server = match ModelServer::start_at(port, script, out) {
        Ok(server) => server,
        Err(why) => return no_port(port, &why),
    };
    if let Ok(folder) = env::current_dir() {
        server.set_folder(&folder);
    }
    if let Err(why) = print(&welcome(&server)) {
        error(why);
        return Exit::Fault;
    }
    let mut lines = Lines::default();
    let mut notes = Notes::default();
    let state = server.watch();
    let mut tell = |event| {
        if let Some(line) = lines.line(event) {
            say(plain(&line));
            for note in notes.of(&state.borrow(), replies) {
                say(plain(&note));
            }
        }
    };
    loop {
        tokio::select! {
            () = interrupt.came() => break,
            event = told.recv() => match event {
                Some(event) => tell(event),
                None => return Exit::Fine,
            },
        }
    }
    // What was answered before the signal is told, and what is cut off by it.
    drop(server);
    while let Ok(Some(event)) = tokio::time::timeout(LAST, told.recv()).await {
        tell(event);
    }
    Exit::Fine
}

/// The addresses, and the variables to set: in a form that a shell reads.
fn welcome(server: &ModelServer) -> String {
    let base = server.base_url();
    let mut text = String::new();
    for (interface, path) in [
        ("OpenAI chat completions", "/v1/chat/completions"),
        ("OpenAI responses", "/v1/responses"),
        ("Anthropic messages", "/v1/messages"),
        ("Gemini", "/v1beta/models/NAME:generateContent"),
    ] {
        let _ = writeln!(text, "# {interface:<24} {base}{path}");
    }
    for (name, value) in server.environment() {
        let _ = writeln!(text, "export {name}={value}");
    }
    text
}

/// What is to be said of the script beside the exchanges: that it is at its end, and which calls found no tool.
#[derive(Debug, Default)]
struct Notes {
    ended: bool,
    beyond: u64,
    unmapped: usize,
}

impl Notes {
    /// What is new since the last time; `replies` is how many the script has.
    fn of(&mut self, state: &ModelState, replies: usize) -> Vec<String> {
        let mut notes = Vec::new();
        for unmapped in state.unmapped.iter().skip(self.unmapped) {
            notes.push(format!(
                "note: {}; the tools that are offered: {}",
                unmapped.wanted,
                unmapped.offered.join(", ")
            ));
        }
        self.unmapped = state.unmapped.len();
        if state.used >= replies && !std::mem::replace(&mut self.ended, true) {
            notes.push(format!(
                "note: the script is at its end: every further turn is answered with \"{FALLBACK}\""
            ));
        }
        if state.beyond > self.beyond {
            let turns = if state.beyond == 1 { "turn" } else { "turns" };
            notes.push(format!(
                "note: {} {turns} beyond the end of the script, answered with \"{FALLBACK}\"",
                state.beyond
            ));
            self.beyond = state.beyond;
        }
        notes
    }
}

/// Makes a line of each exchange, when it has ended.
#[derive(Debug, Default)]
struct Lines {
    open: BTreeMap<u64, Line>,
}

/// What is known of an exchange that has not ended.
#[derive(Debug, Default)]
struct Line {
    path: String,
    model: Option<String>,
    side: Option<String>,
    status: Option<u16>,
    bytes: usize,
}

impl Lines {
    /// Takes in a part; gives the line of an exchange with its last one.
    fn line(&mut self, event: Observed) -> Option<String> {
        let Body::Model(Exchange { exchange, part }) = event.body else {
            return None;
        };
        match part {
            ExchangePart::Request { path, body, side } => {
                let body: Option<Value> = serde_json::from_str(&body).ok();
                let model = body.and_then(|body| Some(body.get("model")?.as_str()?.to_owned()));
                let line = Line {
                    path,
                    model,
                    side,
                    ..Line::default()
                };
                self.open.insert(exchange, line);
                None
            }
            ExchangePart::Status(status) => {
                self.open.entry(exchange).or_default().status = Some(status);
                None
            }
            ExchangePart::Chunk(chunk) => {
                self.open.entry(exchange).or_default().bytes += chunk.len();
                None
            }
            ExchangePart::Bytes(bytes) => {
                self.open.entry(exchange).or_default().bytes += bytes.len();
                None
            }
            ExchangePart::Unreadable(_) => None,
            ExchangePart::End(end) => {
                let line = self.open.remove(&exchange).unwrap_or_default();
                Some(line.ended(exchange, end))
            }
        }
    }
}

impl Line {
    fn ended(self, exchange: u64, end: ExchangeEnd) -> String {
        let mut text = format!("{exchange} {}", self.path);
        if let Some(model) = self.model {
            let _ = write!(text, " {model}");
        }
        match self.side {
            Some(reason) => {
                let _ = write!(text, " (beside the script: {reason})");
            }
            None => text.push_str(" (a turn)"),
        }
        if let Some(status) = self.status {
            let _ = write!(text, " {status}, {} bytes", self.bytes);
        }
        text.push_str(match end {
            ExchangeEnd::Complete => "",
            ExchangeEnd::Cut => ", cut as the script says",
            ExchangeEnd::Cancelled => ", the client hung up",
            ExchangeEnd::Refused => ", connections are refused",
        });
        text
    }
}
