//! What counts as a secret, by flags and by the environment.

use std::env;
use std::fs;

use clap::Args;
use regex::bytes::Regex;

use crate::redact::{Options, Redactor, is_secret_name};
use crate::trace::{Event, Recording};

/// Flags of the commands that write recordings.
#[derive(Clone, Debug, Args)]
pub(super) struct Redaction {
    /// Keep secrets and the home folder as they are
    ///
    /// By default these are replaced in the file, never in the traffic: keys and tokens by their form (`sk-…`, `ghp_…`, `eyJ…`,
    /// `Bearer …`, `password=…`, private keys, passwords in addresses), values by their place (`env` and `headers` of MCP
    /// servers; members such as `apiKey`, `token`, `authorization`, `cookie`), the values of variables such as
    /// `*_API_KEY`, `*_TOKEN` and `*PASSWORD*` of this process, and the home folder. Equal secrets become equal
    /// placeholders: `{secret-1}`, `{secret-2}`, `{home}`.
    #[arg(long, conflicts_with = "redact_also")]
    no_redact: bool,

    /// Replace also what this regular expression matches; may be repeated
    ///
    /// It is matched against texts as they read, without the escapes of JSON, and over the ends of chunks as far as 256 bytes.
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    redact_also: Vec<Regex>,
}

impl Redaction {
    /// What is replaced; `None`: nothing.
    pub(super) fn options(&self) -> Option<Options> {
        (!self.no_redact).then(|| options(self.redact_also.clone()))
    }
}

/// What is replaced by default, in the environment of this process, and what these patterns match.
pub(super) fn options(patterns: Vec<Regex>) -> Options {
    let mut home = Vec::new();
    if let Ok(own) = env::var("HOME") {
        // The folder may be known by the name that a link leads to.
        let real = fs::canonicalize(&own).ok();
        let real = real.and_then(|path| path.into_os_string().into_string().ok());
        home.extend(real.filter(|real| *real != own));
        home.push(own);
    }
    let secrets = env::vars_os()
        .filter(|(name, _)| is_secret_name(name.as_encoded_bytes()))
        .filter_map(|(_, value)| value.into_string().ok())
        .collect();
    Options {
        home,
        secrets,
        patterns,
    }
}

/// A regular expression.
pub(super) fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| error.to_string())
}

/// Redacts a recording as `harness redact` does. Placeholders that are in it stay.
///
/// # Errors
/// A sentence on why that cannot be done.
pub(super) fn redact(recording: &mut Recording) -> Result<(), String> {
    let mut redactor = Redactor::new(options(Vec::new())).map_err(|error| error.to_string())?;
    redactor.note(highest_placeholder(&recording.events));
    redactor.header(&mut recording.header);
    let mut redacted = Vec::with_capacity(recording.events.len());
    for event in recording.events.drain(..) {
        redactor.push(event, &mut redacted);
    }
    redactor.finish(&mut redacted);
    recording.events = redacted;
    Ok(())
}

/// The highest number of a placeholder in these events; 0 without any.
fn highest_placeholder(events: &[Event]) -> u64 {
    let mut highest = 0;
    for event in events {
        let line = event.to_line();
        for rest in line.split("{secret-").skip(1) {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            highest = highest.max(digits.parse().unwrap_or(0));
        }
    }
    highest
}
