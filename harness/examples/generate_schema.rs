//! Writes `harness/spec/acp-v1/schema.json` anew from the protocol's types.
//!
//! Run it after the version of `agent-client-protocol-schema` was changed:
//! `cargo run -p acp-harness --example generate_schema`.

#[path = "schema/document.rs"]
mod document;

fn main() -> std::io::Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/spec/acp-v1/schema.json");
    std::fs::write(path, document::text())
}
