//! Everything that is tested on the real binary, and the laws that hold across modules: one program, so that the library is linked once.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by a panic"
)]

mod agent_process;
mod bob_faults;
mod bob_faults_shown;
mod cargo_test;
mod ci_job;
mod citations;
mod cli_check;
mod cli_compare;
mod cli_diff;
mod cli_doctor;
mod cli_faults;
mod cli_formats;
mod cli_help;
mod cli_import;
mod cli_init;
mod cli_lawful;
mod cli_man;
mod cli_merge;
mod cli_model;
mod cli_page;
mod cli_play;
mod cli_progress;
mod cli_record;
mod cli_redact;
mod cli_replay;
mod cli_report;
mod cli_run;
mod cli_show;
mod client_side;
mod command_line;
mod conversation;
mod coverage;
mod diff_laws;
mod golden;
mod incomplete;
mod junit_schema;
mod mcp;
mod model_client;
mod model_gemini;
mod model_messages;
mod model_responses;
mod model_server;
mod own_messages;
mod pseudo_terminal;
mod readme;
mod record_model;
mod recorder;
mod recording;
mod replay_model;
mod scenario_files;
mod schema_against_types;
mod schema_in_step;
mod settings;
mod stored;
mod unknown_agent;
