//! The reference agent as a program of its own; see [`bob::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    bob::cli::run(std::env::args_os())
}
