//! Everything that is tested on the real `bob`: one program, so that the library is linked once.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by a panic"
)]

mod cancel;
mod cli;
mod client;
mod client_tools;
mod everything;
mod everything_transcripts;
mod for_clients;
mod handshake;
mod login;
mod mcp;
mod mcp_server;
mod model_server;
mod openai;
mod prompt;
mod questions;
mod sessions;
mod stored_sessions;
mod surface_1_0_3;
mod tools;
mod transcripts;
mod transport;
