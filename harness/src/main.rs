//! The command line of the harness.

use std::process::ExitCode;

/// Traces are millions of small values, made and dropped on several threads at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    acp_harness::cli::main(std::env::args_os())
}
