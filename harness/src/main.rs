//! The command line of the harness.

use std::process::ExitCode;

fn main() -> ExitCode {
    acp_harness::cli::main(std::env::args_os())
}
