//! The scenario file: its types and its reader. `docs/scenarios.md` describes the format for those who write one.

mod condition;
mod fill;
mod pattern;
mod placeholder;
mod read;
mod scenario;
mod select;
mod set;
mod step;

pub use condition::{
    Answer, Condition, Count, ErrorCondition, ExitCondition, Expect, McpCondition, ModelCondition,
    Otherwise, TextCondition, ToolCallCondition, UpdatesCondition, WorkspaceCondition,
};
pub use fill::{fill_planned, fill_reply};
pub use pattern::{JsonType, Mismatch, Pattern};
pub use placeholder::{Detail, Placeholder, Which, fill, fill_json_text, fill_value};
pub use read::{read, read_script};
pub use scenario::{ClientSettings, Needs, Scenario, StartFolder};
pub use select::{Selection, SelectionError};
pub use set::{Set, SetError};
pub use step::{Action, Params, Permission, RawInput, Requests, Split, Step, ToolState, Until};
