//! What JUnit and Markdown say about one failure: its weight, its place, and the command that shows it.

use super::document::{Document, Finding, Requirement, Scenario};
use super::plain;
use crate::spec::{Basis, Level};

impl Requirement {
    /// Its level and on what that rests.
    pub(super) fn weight(&self) -> String {
        let rests = match (self.level, self.basis) {
            (Level::Interop, _) => "no text demands it, but clients are known to break on it",
            (_, Basis::Prose) => "by the sense of the text, which has no keyword here",
            (_, Basis::Schema) => "by the schema",
            (_, Basis::Jsonrpc) => "by JSON-RPC 2.0",
            (_, Basis::Rfd) => "by a design document",
            (_, Basis::Keyword) => "by a keyword in the text",
            (level, Basis::None) => return level.as_str().to_owned(),
        };
        format!("{} ({rests})", self.level.as_str())
    }
}

impl Finding {
    /// Whether it was seen in this scenario or recording.
    pub(super) fn is_in(&self, scenario: &Scenario) -> bool {
        match &self.scenario {
            Some(own) => *own == scenario.id,
            None => self.trace.is_some() && self.trace == scenario.trace,
        }
    }

    /// Where it was seen: scenario or file, event, member.
    pub(super) fn place(&self) -> String {
        let mut place = match (&self.scenario, &self.trace, self.line) {
            (Some(scenario), _, _) => scenario.clone(),
            (None, Some(trace), Some(line)) => format!("{trace}:{line}"),
            (None, Some(trace), None) => trace.clone(),
            (None, None, _) => "the trace".to_owned(),
        };
        if let Some(event) = self.event {
            place.push_str(&format!(", event {event}"));
        }
        if let Some(path) = self.path.as_ref().filter(|path| !path.is_empty()) {
            place.push_str(&format!(", {path}"));
        }
        plain(&place)
    }
}

impl Document {
    /// Why there is no verdict on what was judged.
    pub(super) fn lacking(&self) -> String {
        let missing: Vec<String> = self
            .missing
            .iter()
            .map(|it| format!("{} is {}", it.id, it.status))
            .collect();
        match &self.blocked {
            Some(blocked) => blocked.clone(),
            None if missing.is_empty()
                || self.scenarios.is_empty()
                || !self.recordings.is_empty() =>
            {
                "Nothing that was asked for could be judged.".to_owned()
            }
            None => format!(
                "A verdict needs a handshake, a session and a turn that really took place: {}.",
                missing.join(", ")
            ),
        }
    }

    /// The command that runs a scenario again.
    pub(super) fn repeat_scenario(&self, scenario: &str) -> Option<String> {
        self.repeat_only(scenario, None)
    }

    /// The command that shows a finding again.
    pub(super) fn repeat_finding(&self, id: &str, finding: &Finding) -> Option<String> {
        match (&finding.scenario, &finding.trace) {
            (Some(scenario), _) => self.repeat_scenario(scenario),
            (None, Some(trace)) if trace == "-" => None,
            (None, Some(trace)) if self.recordings.is_empty() => {
                // What a replay left behind is judged as any recording is.
                let words = ["harness", "check", "-v", "--only", id, trace];
                Some(plain(&shell_words::join(words)))
            }
            (None, Some(trace)) => self.repeat_only(id, Some(trace)),
            (None, None) => None,
        }
    }

    fn repeat_only(&self, only: &str, file: Option<&str>) -> Option<String> {
        let repeat = &self.repeat;
        if repeat.before.is_empty() {
            return None;
        }
        let before = repeat.before.iter().map(String::as_str);
        let words = before
            .chain(["--only", only])
            .chain(file)
            .chain(repeat.after.iter().map(String::as_str));
        Some(plain(&shell_words::join(words)))
    }
}
