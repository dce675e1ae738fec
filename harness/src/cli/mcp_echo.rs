//! `harness mcp-echo`: an MCP server for tests.

use std::path::PathBuf;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::Exit;
use super::output::{error, print};
use super::serving::{self, Interrupt, no_port};
use crate::mcp::{Form, Log, Started, serve_http, serve_stdio};

/// What `harness mcp-echo` is told.
#[derive(Clone, Debug, Args)]
#[command(after_help = "It serves until stdin is closed, over HTTP until it is interrupted.")]
#[command(after_long_help = "\
Its tools do the same at every call:
  echo {\"text\": TEXT}     says the text again
  env  {\"name\": NAME}     tells a variable that `--env` names; without `name`, the words behind `--`
  fail {\"text\": TEXT}     fails with the text (`isError`)
  wait {\"ms\": N}          answers after N milliseconds

To see what a client makes of it, give it to the client as the command of a server, and read the log:
  harness mcp-echo --log mcp.jsonl --env TOKEN -- --any words

The log has a line of JSON for each thing that happens, with the time (`at`), the start or session (`run`) and one of
  start     the transport, the words behind `--`, and the variables that `--env` names
  request   over HTTP: the verb, and the headers that `--header` names
  received  a message from the client
  sent      a message to the client
  end       stdin, the stream or the session was closed

Exit codes:
  0  stdin was closed, or it was interrupted by SIGINT or SIGTERM
  2  usage: flags, a log that cannot be written, a port that is taken
  4  a fault of the harness itself")]
pub(crate) struct McpEchoArguments {
    /// Serve streamable HTTP on 127.0.0.1 in place of stdin and stdout
    #[arg(long, conflicts_with = "sse")]
    http: bool,

    /// Serve the form before streamable HTTP: a stream of events, and an address for messages
    #[arg(long)]
    sse: bool,

    /// The port on 127.0.0.1; if it is not given, one that is free
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,

    /// Write down what happens, at the end of this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Tell this variable to the log and to the tool `env`; may be given several times
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,

    /// Over HTTP, write this header of requests down; may be given several times
    #[arg(long, value_name = "NAME")]
    header: Vec<String>,

    /// Read everything and answer nothing
    #[arg(long)]
    silent: bool,

    /// Words that mean nothing and are told
    #[arg(last = true, value_name = "WORDS")]
    args: Vec<String>,
}

/// Runs the command.
pub(super) fn main(arguments: McpEchoArguments) -> Exit {
    if arguments.port.is_some() && !(arguments.http || arguments.sse) {
        error("`--port` belongs to `--http` or `--sse`");
        return Exit::Usage;
    }
    if !(arguments.header.is_empty() || arguments.http || arguments.sse) {
        error("`--header` belongs to `--http` or `--sse`: over stdin there are no headers");
        return Exit::Usage;
    }
    let log = match Log::open(arguments.log.as_deref()) {
        Ok(log) => log,
        Err(why) => {
            let path = arguments.log.unwrap_or_default();
            error(format_args!("{}: {why}", path.display()));
            return Exit::Usage;
        }
    };
    let variable = |name: &String| Some((name.clone(), std::env::var(name).ok()?));
    let started = Started {
        args: arguments.args,
        env: arguments.env.iter().filter_map(variable).collect(),
    };
    let form = match (arguments.http, arguments.sse) {
        (true, _) => Form::Http,
        (_, true) => Form::Sse,
        _ => {
            return match serve_stdio(&started, &log, arguments.silent) {
                Ok(()) => Exit::Fine,
                Err(why) => {
                    error(why);
                    Exit::Fault
                }
            };
        }
    };
    let where_to = (form, arguments.port.unwrap_or(0));
    serving::run(serve(
        where_to,
        started,
        &arguments.header,
        (log, arguments.silent),
    ))
}

async fn serve(
    (form, port): (Form, u16),
    started: Started,
    told: &[String],
    log: (Log, bool),
) -> Exit {
    let mut interrupt = match Interrupt::listen() {
        Ok(interrupt) => interrupt,
        Err(exit) => return exit,
    };
    let stop = CancellationToken::new();
    let url = match serve_http((form, port), started, told, log, stop.clone()) {
        Ok(url) => url,
        Err(why) => return no_port(port, &why),
    };
    if let Err(why) = print(&format!("{url}\n")) {
        error(format_args!("stdout: {why}"));
        return Exit::Fault;
    }
    interrupt.came().await;
    stop.cancel();
    Exit::Fine
}
