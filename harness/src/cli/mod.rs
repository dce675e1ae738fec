//! The command line: one file per command, and the only place that maps outcomes to exit codes.

mod exit;
mod output;
mod run;
mod tables;
mod value;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use exit::Exit;

/// Judges agents that speak the Agent Client Protocol by the protocol's own requirements.
#[derive(Debug, Parser)]
#[command(name = "harness", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Drive an agent through scenarios and judge every message on the wire.
    Run(Box<run::RunArguments>),
    /// The reference agent that is built in.
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
    match Arguments::try_parse_from(arguments) {
        Ok(Arguments {
            command: Command::Run(run),
        }) => run::main(&run).into(),
        Ok(Arguments {
            command: Command::Bob { arguments },
        }) => bob::cli::run(std::iter::once(OsString::from("bob")).chain(arguments)),
        Err(error) => {
            let _ = error.print();
            if error.use_stderr() {
                Exit::Usage.into()
            } else {
                Exit::Fine.into()
            }
        }
    }
}
