//! Your agent. This one is the reference agent with all optional parts of the protocol.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words = ["agent", "--surface", "everything"];
    bob::cli::run(words.map(Into::into).into_iter())
}
