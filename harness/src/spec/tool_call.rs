//! The closed lists of version 1 about tool calls.

/// The values of a tool call's `kind`.
pub const TOOL_KINDS: [&str; 10] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];

/// The values of a tool call's `status`.
pub const TOOL_STATUSES: [&str; 4] = ["pending", "in_progress", "completed", "failed"];
