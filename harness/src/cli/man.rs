//! `harness man`: the manual, made from the definitions of the arguments.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_mangen::Man;

use super::output::{error, print};
use super::{Arguments, Exit};

/// What `harness man` is told.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = "\
Examples:
  harness man > harness.1
  harness man ~/.local/share/man/man1 && man harness-run")]
pub(super) struct ManArguments {
    /// The folder for all pages: `harness.1`, and one for each command
    ///
    /// Without it the page on the harness as a whole goes to stdout.
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn main(arguments: &ManArguments) -> Exit {
    let command = Arguments::command();
    let Some(folder) = &arguments.folder else {
        let mut page = Vec::new();
        let written = Man::new(command)
            .render(&mut page)
            .and_then(|()| print(&String::from_utf8_lossy(&page)));
        return match written {
            Ok(()) => Exit::Fine,
            Err(why) => {
                error(format_args!("the manual could not be written: {why}"));
                Exit::Fault
            }
        };
    };
    let written =
        std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    match written {
        Ok(()) => Exit::Fine,
        Err(why) => {
            error(format_args!(
                "the manual could not be written into `{}`: {why}; choose a folder that can be written to",
                folder.display()
            ));
            Exit::Usage
        }
    }
}
