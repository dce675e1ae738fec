//! Redaction: events in, events out, with secrets and the home folder replaced.
//!
//! What counts as a secret is told by its place (a member called `apiKey`, the `env` of an MCP server), by its form (`ghp_…`),
//! by what stands before it (`password=`), by the environment of this process, and by patterns of the user. A value that was
//! found by its place is replaced wherever it turns up later. Equal secrets become equal placeholders, `{secret-1}` and so
//! on in the order of first sight; the home folder becomes `{home}`.
//!
//! Text is replaced by position inside the line as it was on the wire; all that is no secret keeps its bytes. Text that an
//! agent sends in chunks is looked at as a whole: the end of a chunk that may begin a secret is held back until it is decided
//! (see [`Redactor`]).
//!
//! One path serves the recorder and `harness redact`. Nothing here reads a clock, a file or the environment.

mod address;
mod around;
mod context;
mod escape;
mod find;
mod form;
mod found;
mod joined;
mod key;
mod key_block;
mod known;
mod login;
mod name;
mod redactor;
mod slots;
mod value;
mod walk;
mod words;

pub use name::is_secret as is_secret_name;
pub use redactor::{Options, Redactor};
