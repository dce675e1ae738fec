//! The report as one page for a browser: `--report html=FILE`. It needs no network and no other file.
//!
//! The page holds the JSON report as it was written, the catalogue, and the recordings themselves; its views are made from
//! these by the JavaScript beside this file. Nothing of a report becomes markup: the data stand in elements that are not run,
//! the scripts make text nodes alone, and the policy of the page allows no script and no style but its own.

mod catalogue;
mod recordings;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::scenario::file::SetError;
use recordings::Recordings;

const FRAME: &str = include_str!("page.html");

/// In the order in which they are read.
const STYLES: &[&str] = &[
    include_str!("page.css"),
    include_str!("report.css"),
    include_str!("picture.css"),
];

/// In the order in which they are read: each uses what stands before it.
const SCRIPTS: &[&str] = &[
    include_str!("text.js"),
    include_str!("data.js"),
    include_str!("json.js"),
    include_str!("joins.js"),
    include_str!("trace.js"),
    include_str!("rows.js"),
    include_str!("lanes.js"),
    include_str!("log.js"),
    include_str!("detail.js"),
    include_str!("recording.js"),
    include_str!("matrix.js"),
    include_str!("overview.js"),
    include_str!("choosing.js"),
    include_str!("requirements.js"),
    include_str!("scenarios.js"),
    include_str!("differences.js"),
    include_str!("links.js"),
    include_str!("keys.js"),
    include_str!("start.js"),
];

/// What a page shows when it is opened without naming a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// The verdict and all requirements.
    Overview,
    /// The recording, where the report is on a single one.
    Recording,
}

/// Why no page could be made.
#[derive(Debug, Error)]
pub enum PageError {
    /// The report is no JSON.
    #[error("the report is no JSON: {0}")]
    Report(#[from] serde_json::Error),
    /// The scenarios that are built in.
    #[error(transparent)]
    Scenarios(#[from] SetError),
}

/// The page of a JSON report, which is put into it as it is. The recordings that it names are read from their files; of one
/// that cannot be read, the page says why.
///
/// # Errors
/// Where the report is no JSON.
pub fn page(report: &str, front: Front) -> Result<String, PageError> {
    let parsed: Value = serde_json::from_str(report)?;
    let recordings = Recordings::of(&parsed);
    let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPTS.join("\n"));
    let style = STYLES.join("\n");
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        source(&script),
        source(&style)
    );
    let front = match front {
        Front::Overview => "overview",
        Front::Recording => "recording",
    };
    let list = json(&recordings.list)?;
    let catalogue = json(&catalogue::catalogue()?)?;
    let report = inert(report);
    let size = FRAME.len() + script.len() + style.len() + catalogue.len() + report.len();
    let mut page = String::with_capacity(size + list.len() + recordings.elements.len());
    // Each place is filled once: what is filled in is not looked through for places again.
    let mut rest = FRAME;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (name, after) = behind.split_once("}}").unwrap_or((behind, ""));
        page.push_str(before);
        page.push_str(match name {
            "policy" => &policy,
            "style" => &style,
            "front" => front,
            "report" => &report,
            "catalogue" => &catalogue,
            "recordings" => &list,
            "traces" => &recordings.elements,
            "script" => &script,
            _ => "",
        });
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// A script or style as the policy names it.
fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(Sha256::digest(text)))
}

fn json(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(inert(&serde_json::to_string(value)?))
}

/// JSON that no reader of HTML takes for the end of its element: `<` stands only within strings, where it may be an escape.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests;
