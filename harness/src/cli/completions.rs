//! `harness completions`: what a shell offers while a command line is typed.

use clap::Args;
use clap_complete::Shell;

use super::output::{error, print};
use super::{Exit, groups};

/// What `harness completions` is told.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = "\
Examples:
  harness completions bash > ~/.local/share/bash-completion/completions/harness
  harness completions zsh > ~/.zfunc/_harness
  harness completions fish > ~/.config/fish/completions/harness.fish")]
pub(super) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs the command.
pub(super) fn main(arguments: &CompletionsArguments) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut groups::command(),
        "harness",
        &mut script,
    );
    match print(&String::from_utf8_lossy(&script)) {
        Ok(()) => Exit::Fine,
        Err(why) => {
            error(format_args!("the completions could not be written: {why}"));
            Exit::Fault
        }
    }
}
