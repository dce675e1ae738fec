//! Which Node.js an agent runs on, and which one it wants.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use crate::profile::Versions;
use crate::scenario::Setup;

/// How much of a program is looked at for its first line, in bytes.
const FIRST_LINE: u64 = 256;

/// The Node.js of an agent.
pub(super) struct Node {
    /// What `node --version` says; `None` where there is no `node`.
    found: Option<String>,
    /// What the package of the agent, or else its profile, wants.
    wanted: Option<Versions>,
}

impl Node {
    /// The Node.js of the agent of `setup`, whose program was found there; `None` where it does not run on Node.js.
    pub(super) fn of(setup: &Setup, program: Option<&Path>, path: &OsStr) -> Option<Self> {
        let by_package = program.and_then(|program| engines(program, setup));
        let wanted = by_package.or_else(|| setup.profile.node.clone());
        if !program.is_some_and(is_for_node) && wanted.is_none() {
            return None;
        }
        let output = Command::new("node")
            .arg("--version")
            .env("PATH", path)
            .output();
        let found = output.ok().filter(|output| output.status.success());
        let found = found.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        Some(Self { found, wanted })
    }

    /// Both in words.
    pub(super) fn in_words(&self) -> String {
        let found = self.found.as_deref().unwrap_or("not found on the PATH");
        match &self.wanted {
            Some(wanted) if self.problem().is_some() => {
                format!("{found}, but {} is wanted", wanted.as_str())
            }
            Some(wanted) => format!("{found} ({} is wanted)", wanted.as_str()),
            None => found.to_owned(),
        }
    }

    /// What is wrong with it, as a sentence without its full stop.
    pub(super) fn problem(&self) -> Option<String> {
        let wanted = self
            .wanted
            .as_ref()
            .map_or("some version", Versions::as_str);
        match (&self.found, &self.wanted) {
            (None, _) => Some(format!(
                "Node.js is not on the PATH, and the agent wants {wanted}"
            )),
            (Some(found), Some(versions)) if !versions.hold(found) => {
                Some(format!("Node.js is {found}, and the agent wants {wanted}"))
            }
            _ => None,
        }
    }
}

/// Whether a program is a script for Node.js, or is Node.js.
fn is_for_node(program: &Path) -> bool {
    if program.file_name().is_some_and(|name| name == "node") {
        return true;
    }
    let mut text = Vec::new();
    let read = File::open(program).and_then(|file| file.take(FIRST_LINE).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or_default();
    read.is_ok() && first.starts_with("#!") && first.split(['/', ' ']).any(|word| word == "node")
}

/// What the npm package that a program is in wants: `engines.node` of the nearest `package.json` above it.
fn engines(program: &Path, setup: &Setup) -> Option<Versions> {
    let script = match program.file_name() {
        Some(name) if name == "node" => setup.command.words().get(1).map(Path::new)?,
        _ => program,
    };
    let script = script.canonicalize().ok()?;
    let mut folders = script.ancestors().skip(1);
    let package = folders.find_map(|folder| {
        let text = std::fs::read_to_string(folder.join("package.json")).ok()?;
        let package: serde_json::Value = serde_json::from_str(&text).ok()?;
        // One without a name only says how the files beside it are read.
        package.get("name").is_some().then_some(package)
    })?;
    Versions::read(package.pointer("/engines/node")?.as_str()?)
}
