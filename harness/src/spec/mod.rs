//! The tables: what ACP v1 demands, in which shape, by which method. Data only, no traffic.
//!
//! The data files lie in `harness/spec/acp-v1` and are built into the binary:
//!
//! - [`catalogue`]: the requirements and where each is written;
//! - [`condition`]: the preconditions of requirements (`when`);
//! - [`methods`]: the methods, who handles each, and the definitions of their payloads;
//! - [`schema`]: judging a payload by its definition;
//! - [`later`]: what drafts, later revisions and version 2 have beyond the stable schema.

pub mod catalogue;
pub mod condition;
mod identifier;
pub mod later;
pub mod methods;
pub mod schema;
mod tool_call;

pub use catalogue::{Basis, Catalogue, Citation, Level, Requirement};
pub use condition::{Condition, Facts, Truth};
pub use identifier::Identifier;
pub use later::Later;
pub use methods::{Form, Method, Methods, Side};
pub use schema::{Extra, Kind, Schema, Violation};
pub use tool_call::{TOOL_KINDS, TOOL_STATUSES};
