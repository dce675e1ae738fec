//! The committed schema is the one that the protocol's own types give.

#[path = "../../examples/schema/document.rs"]
mod document;

use similar_asserts::assert_eq;

#[test]
fn the_committed_schema_is_the_one_that_the_types_generate() {
    let committed = include_str!("../../spec/acp-v1/schema.json");
    assert_eq!(
        committed,
        document::text(),
        "run `cargo run -p acp-harness --example generate_schema` and commit the result"
    );
}

#[test]
fn the_schema_crate_is_the_version_that_the_document_names() {
    let lock = include_str!("../../../Cargo.lock");
    let (name, version) = document::SOURCE.split_once(' ').unwrap_or_default();
    let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
    assert!(
        lock.contains(&entry),
        "Cargo.lock holds another version than {}",
        document::SOURCE
    );
}
