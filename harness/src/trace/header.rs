//! The first line of a trace file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The number of the format that this version writes and the highest that it reads.
pub const FORMAT: u32 = 1;

/// What the first line of a trace says about the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The number of the format.
    pub acptrace: u32,
    /// When the recording began, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// What wrote it, as name and version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The command of the agent, word by word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The folder that the agent was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Operating system and processor, such as `linux-x86_64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Whether secrets were replaced before writing.
    #[serde(default)]
    pub redacted: bool,
    /// One line on what the trace shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Small text files of the session's folder before the run, by relative path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workspace: BTreeMap<String, String>,
    /// `false` where the recording began after the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<bool>,
}

impl Header {
    /// A header of this version's format that says nothing else yet.
    pub fn new() -> Self {
        Self {
            acptrace: FORMAT,
            recorded: None,
            by: None,
            command: Vec::new(),
            cwd: None,
            platform: None,
            redacted: false,
            about: None,
            workspace: BTreeMap::new(),
            start: None,
        }
    }

    /// Whether the recording begins with the process, so that what is missing was never sent.
    pub fn from_start(&self) -> bool {
        self.start != Some(false)
    }
}

impl Default for Header {
    fn default() -> Self {
        Self::new()
    }
}
