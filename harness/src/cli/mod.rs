//! The command line: one file per command, and the only place that maps outcomes to exit codes.

mod agent;
mod check;
mod compare;
mod completions;
mod diff;
mod doctor;
mod exit;
mod explain;
mod groups;
mod import;
mod init;
mod keep;
mod list;
mod look;
mod man;
mod mcp_echo;
mod merge;
mod model;
mod output;
mod pager;
mod play;
mod record;
mod redact;
mod redaction;
mod replay;
mod report;
mod reports;
mod run;
mod serving;
mod show;
mod tables;
mod value;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{FromArgMatches as _, Parser, Subcommand};

pub use exit::Exit;
pub(crate) use output::error;
pub(crate) use run::{Came, Suite};

/// Judges agents that speak the Agent Client Protocol by the protocol's own requirements.
#[derive(Debug, Parser)]
#[command(name = "harness", version, max_term_width = 100)]
#[command(after_help = "`harness COMMAND -h` is short on one, `harness COMMAND --help` says all.")]
#[command(after_long_help = "\
First steps:
  harness run --agent bob                    judge the agent that is built in
  harness run --agent \"my-agent --acp\"      judge yours; what fails comes first
  harness show TRACE --around EVENT          what was near a failure
  harness explain CANCEL-03                  what is required, and where it is written

Exit codes, the first that holds of 2, 4, 3, 1:
  0  all holds
  1  findings, differences, stale known failures, or an inconclusive verdict
  2  usage: flags, files, nothing matched
  3  the agent could not be started, or never answered `initialize`
  4  a fault of the harness itself")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Drive an agent through scenarios and judge every message on the wire
    Run(Box<run::RunArguments>),
    /// Run an agent once, and write a harness.toml that knows what failed
    Init(Box<init::InitArguments>),
    /// Stand between a client and an agent, and write down what passes
    Record(record::RecordArguments),
    /// Judge recordings: what is wrong in them, and where
    Check(check::CheckArguments),
    /// Show a recording: client left, agent right, an event a line
    Show(Box<show::ShowArguments>),
    /// Put several agents, or builds of one, side by side: requirements against agents
    Compare(Box<compare::CompareArguments>),
    /// Compare two recordings: what differs, where, and how much it matters
    Diff(diff::DiffArguments),
    /// Play the client of a recording to an agent, and say what it does otherwise
    Replay(Box<replay::ReplayArguments>),
    /// Put the parts of a run together, as one run would have come out
    Merge(merge::MergeArguments),
    /// Make other formats of a report that was written as JSON
    Report(report::ReportArguments),
    /// Replace secrets in a recording that exists
    Redact(redact::RedactArguments),
    /// Play the agent of a recording to a client on stdin and stdout
    Play(play::PlayArguments),
    /// Serve a scripted model alone, for an agent that is started by hand
    Model(model::ModelArguments),
    /// Be an MCP server for tests, which writes down what a client does with it
    McpEcho(mcp_echo::McpEchoArguments),
    /// Make a trace of a recording of another tool
    Import(import::ImportArguments),
    /// Say what an agent lacks, what would be started, and how its start goes
    Doctor(Box<doctor::DoctorArguments>),
    /// Show what is judged and with what: requirements, scenarios, profiles
    List(list::ListArguments),
    /// Show one requirement, scenario or profile in full
    Explain(explain::ExplainArguments),
    /// Write the completions of a shell to stdout
    Completions(completions::CompletionsArguments),
    /// Write the manual: one page to stdout, or all pages into a folder
    Man(man::ManArguments),
    /// The reference agent that is built in, with its own arguments
    #[command(disable_help_flag = true)]
    Bob {
        /// What `bob` is told.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

/// Runs the command that the arguments name.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // The reference agent reads its own arguments, and starts without anything of the harness.
    if arguments.get(1).is_some_and(|word| word == "bob") {
        return bob::cli::run(arguments.into_iter().skip(1));
    }
    let parsed = groups::command()
        .try_get_matches_from(arguments)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let command = match parsed {
        Ok(arguments) => arguments.command,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Usage.into()
            } else {
                Exit::Fine.into()
            };
        }
    };
    match command {
        Command::Run(arguments) => run::main(&arguments).into(),
        Command::Init(arguments) => init::main(&arguments).into(),
        Command::Record(arguments) => record::main(arguments),
        Command::Check(arguments) => check::main(&arguments).into(),
        Command::Show(arguments) => show::main(&arguments).into(),
        Command::Compare(arguments) => compare::main(&arguments).into(),
        Command::Diff(arguments) => diff::main(&arguments).into(),
        Command::Replay(arguments) => replay::main(&arguments).into(),
        Command::Merge(arguments) => merge::main(&arguments).into(),
        Command::Report(arguments) => report::main(&arguments).into(),
        Command::Redact(arguments) => redact::main(arguments).into(),
        Command::Play(arguments) => play::main(&arguments).into(),
        Command::Model(arguments) => model::main(&arguments).into(),
        Command::McpEcho(arguments) => mcp_echo::main(arguments).into(),
        Command::Import(arguments) => import::main(&arguments).into(),
        Command::Doctor(arguments) => doctor::main(&arguments).into(),
        Command::List(arguments) => list::main(&arguments).into(),
        Command::Explain(arguments) => explain::main(&arguments).into(),
        Command::Completions(arguments) => completions::main(&arguments).into(),
        Command::Man(arguments) => man::main(&arguments).into(),
        Command::Bob { arguments } => {
            bob::cli::run(std::iter::once(OsString::from("bob")).chain(arguments))
        }
    }
}
