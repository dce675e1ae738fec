//! Your agent. This one is the reference agent with all optional parts of the protocol.

use std::process::ExitCode;

fn main() -> ExitCode {
    bob::cli::run(["agent", "--surface", "everything"].map(Into::into))
}
