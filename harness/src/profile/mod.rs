//! Profiles: how a certain agent is started and steered, and its known failures. `docs/profiles.md` describes the file.

mod known;
mod read;
mod registry;
mod settings;
mod steering;
mod tools;
mod versions;

pub use known::Known;
pub use read::{ProfileError, read};
pub use registry::Profiles;
pub use settings::{SETTINGS_FILE, Settings};
pub use versions::Versions;

use std::path::PathBuf;

use crate::model::ToolMap;

/// How to start and steer an agent.
///
/// Texts may hold `{home}` (the agent's home folder), `{cwd}` (the session's folder) and `{model}` (the address of the
/// scripted model, such as `http://127.0.0.1:40123`, without a path).
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name: that of its file.
    pub name: String,
    /// One line about the agent.
    pub about: String,
    /// Command lines that install it, for people to read; nothing runs them.
    pub install: Vec<String>,
    /// The words that start it.
    pub command: Vec<String>,
    /// File names of programs that mean this agent in `--agent`, beside the profile's name.
    pub programs: Vec<String>,
    /// Environment variables, over those that each agent gets.
    pub env: Vec<(String, String)>,
    /// Files that are written before the start.
    pub files: Vec<ProfileFile>,
    /// By how much quiet periods and delays are multiplied; 1 for most.
    pub slow: f64,
    /// Memory that one process of it takes at most, in MB.
    pub memory_mb: Option<u64>,
    /// The versions with which the profile was tried, for people to read.
    pub versions: Option<String>,
    /// The versions of Node.js that it needs, where it runs on that.
    pub node: Option<Versions>,
    /// Failures that are known.
    pub known: Vec<Known>,
    /// What its operator allows the harness to do.
    pub allow: Vec<Consent>,
    /// The id of the method to authenticate with.
    pub auth: Option<String>,
    /// The id of the mode to put each session into before its first prompt, so that permissions are asked for.
    pub set_mode: Option<String>,
    /// Slash commands that may be tried without harm, without the slash.
    pub commands: Vec<String>,
    /// Which of its tools serve the kinds of calls that a scenario makes.
    pub tools: ToolMap,
    /// The file that it was read from; `None` for one that is built in.
    pub file: Option<PathBuf>,
    /// The `harness.toml` that was laid over it, if one was.
    pub settings: Option<PathBuf>,
}

impl Default for Profile {
    /// That of an agent that nothing is known of.
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            about: "An agent that has no profile of its own".to_owned(),
            install: Vec::new(),
            command: Vec::new(),
            programs: Vec::new(),
            env: Vec::new(),
            files: Vec::new(),
            slow: 1.0,
            memory_mb: None,
            versions: None,
            node: None,
            known: Vec::new(),
            allow: Vec::new(),
            auth: None,
            set_mode: None,
            commands: Vec::new(),
            tools: ToolMap::default(),
            file: None,
            settings: None,
        }
    }
}

/// A file that an agent needs before it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFile {
    /// Where; begins with `{home}/` or `{cwd}/`.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// What an operator can allow, because it may cost or break something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// `logout`, which may drop real credentials.
    Logout,
    /// A login that needs a person.
    Login,
    /// Modes in which the agent asks for no permission.
    UnsafeModes,
}

impl Consent {
    /// The words for them in a file.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("logout", Self::Logout),
        ("login", Self::Login),
        ("unsafe-modes", Self::UnsafeModes),
    ];

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, consent)| *consent == self)
            .map_or("consent", |(word, _)| word)
    }
}
