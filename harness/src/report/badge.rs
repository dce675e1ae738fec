//! The badge: JSON for the endpoint of shields.io.

use serde::Serialize;

use super::Document;
use crate::spec::Level;
use crate::verdict::{Blocker, State, Verdict};

/// What shields.io reads; its members are named as it wants them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u32,
    label: String,
    message: String,
    color: &'static str,
}

/// The badge of a report. Nothing in it is text of the agent.
///
/// # Errors
/// What writing JSON gave; nothing is known to make it fail.
pub(super) fn badge(document: &Document) -> serde_json::Result<String> {
    let failed = |known: bool| {
        let musts = document.requirements.iter().filter(|requirement| {
            requirement.level == Level::Must
                && requirement.status == State::Fail
                && requirement.known == known
        });
        musts.count()
    };
    let (message, color) = match document.verdict {
        Verdict::Conformant => ("conformant".to_owned(), "brightgreen"),
        Verdict::KnownFailures => (counted(failed(true), "known failure"), "green"),
        Verdict::NotConformant => (format!("{} failed", counted(failed(false), "must")), "red"),
        Verdict::Inconclusive => {
            let why = match document.blocked_by {
                Some(Blocker::NoAgent) => "no agent",
                Some(Blocker::Login) => "login wanted",
                Some(Blocker::Version) => "other version",
                Some(Blocker::Model) => "no model",
                None => "inconclusive",
            };
            (why.to_owned(), "lightgrey")
        }
    };
    let badge = Badge {
        schema_version: 1,
        label: format!("ACP v{}", document.spec.version),
        message,
        color,
    };
    let mut text = serde_json::to_string(&badge)?;
    text.push('\n');
    Ok(text)
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
