//! `harness record`: stands between a client and an agent, and writes down what passes.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

use clap::Args;
use jiff::Timestamp;
use nix::sys::prctl;
use signal_hook::low_level::emulate_default_handler;

use super::Exit;
use super::keep;
use super::output::error;
use super::redaction::Redaction;
use crate::model::{Upstream, Upstreams};
use crate::record::{self, Agent, Ended, Models, Place};
use crate::trace::{self, Header};

/// What `harness record` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "In an editor's settings it takes the place of the agent. It ends as the agent ends: with its exit code or by \
    its signal; 2 usage, 3 the agent could not be started."
)]
#[command(after_long_help = "\
In an editor's settings it takes the place of the agent:
  \"command\": \"harness\", \"args\": [\"record\", \"--\", \"my-agent\", \"--acp\"]

Bytes, ends of streams, signals and the exit pass unchanged, and the agent gets the folder and the environment that the \
recorder got. If the recording fails (no such folder, a full disk, a disk that does not keep up), one line on stderr and the \
end of the file say so, and the traffic goes on.

Exit codes: those of the agent; if a signal ends it, the recorder ends by the same signal.
  2  usage
  3  the agent could not be started")]
pub(crate) struct RecordArguments {
    /// The file, or a folder for one file per process
    ///
    /// A folder that is there, or a name that ends in `/`: the file is then `AGENT-TIME-PID.jsonl` in it. A file that holds
    /// something already is not touched: the recording goes into the first of `NAME-2`, `NAME-3`, … that is free, as an
    /// editor starts an agent again and again. Without this the recording goes into the user's state folder under the
    /// agent's name, where the last fifty are kept.
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,

    /// Record the exchanges with the agent's model too: the real model server
    ///
    /// The agent's base URLs (OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL and the like) then lead to a proxy
    /// in the recorder, which passes everything on to this server as it comes. Keys stay the agent's own, and headers are not
    /// recorded. `URL` alone is a server that has all interfaces below it, such as a gateway; `openai=URL`,
    /// `anthropic=URL` and `gemini=URL`, each what the base URL of the family would be, are servers of one family. May
    /// be repeated.
    #[arg(long, value_name = "[FAMILY=]URL")]
    model_upstream: Vec<Upstream>,

    /// The port of that proxy on 127.0.0.1
    ///
    /// For an agent that takes the address of its model from a file rather than from its variables. Without this it is a
    /// port of the system's choice; -v says which.
    #[arg(long, value_name = "PORT", requires = "model_upstream", value_parser = clap::value_parser!(u16).range(1..))]
    model_port: Option<u16>,

    #[command(flatten)]
    redaction: Redaction,

    /// Say on stderr where the recording goes
    #[arg(short, long)]
    verbose: bool,

    /// Move what is left of a stream when the agent has exited; the recorder starts this itself
    #[arg(long, hide = true, conflicts_with_all = ["output", "words"])]
    pass_on: bool,

    /// The agent's command, word by word
    #[arg(
        last = true,
        value_name = "COMMAND",
        required_unless_present = "pass_on"
    )]
    words: Vec<OsString>,
}

/// Runs the command.
pub(super) fn main(arguments: RecordArguments) -> ExitCode {
    if arguments.pass_on {
        return match record::pass_on() {
            Ok(()) => Exit::Fine.into(),
            Err(_) => Exit::Fault.into(),
        };
    }
    let upstreams = match Upstreams::new(arguments.model_upstream.clone()) {
        Ok(upstreams) => upstreams,
        Err(why) => {
            error(why);
            return Exit::Usage.into();
        }
    };
    match record::run(agent(arguments, upstreams)) {
        Ok(Ended(trace::Exit::Code(code))) => process::exit(code),
        Ok(Ended(trace::Exit::Signal(signal))) => end_by(signal),
        Err(why) => {
            error(why);
            Exit::NoAgent.into()
        }
    }
}

fn agent(arguments: RecordArguments, upstreams: Option<Upstreams>) -> Agent {
    let now = Timestamp::now();
    let program = arguments.words.first().map(Path::new);
    let program = program.and_then(Path::file_name).unwrap_or_default();
    let name = keep::file_name(&program.to_string_lossy());
    let place = match arguments.output {
        None => Place::Own(keep::agent_folder(&name)),
        Some(path) if path.is_dir() || is_folder_by_name(&path) => Place::Folder(path),
        Some(path) => Place::File(path),
    };
    let header = Header {
        recorded: Some(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        by: Some(concat!("harness ", env!("CARGO_PKG_VERSION")).to_owned()),
        command: arguments
            .words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        cwd: env::current_dir()
            .ok()
            .map(|folder| folder.to_string_lossy().into_owned()),
        platform: Some(format!("{}-{}", env::consts::OS, env::consts::ARCH)),
        ..Header::new()
    };
    Agent {
        words: arguments.words,
        name,
        place,
        time: now.strftime("%Y-%m-%dT%H-%M-%SZ").to_string(),
        header,
        redaction: arguments.redaction.options(),
        models: upstreams.map(|upstreams| Models {
            upstreams,
            port: arguments.model_port,
        }),
        verbose: arguments.verbose,
    }
}

fn is_folder_by_name(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Ends this process by a signal, so that its parent sees what it would have seen of the agent.
fn end_by(signal: i32) -> ! {
    // Whatever dumps core, it is the agent's core that is of interest.
    let _ = prctl::set_dumpable(false);
    let _ = emulate_default_handler(signal);
    process::exit(128 + signal)
}
