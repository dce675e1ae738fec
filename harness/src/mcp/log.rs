//! Writing down what a server gets and does.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::tools::Started;

/// A file with a line of JSON for each thing that happened, in one write each, so that several processes can write to it.
///
/// A line has `at` (the time in UTC), `run` (what tells starts and sessions apart) and one of `start`, `request`, `received`,
/// `sent` and `end`. As long as a process of a server lives, it holds a shared lock on the file.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    file: Option<Arc<File>>,
    run: String,
}

impl Log {
    /// A log at the end of a file, which is made if it is not there; `None` writes nowhere.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(|path| OpenOptions::new().create(true).append(true).open(path));
        Ok(Self {
            file: file.transpose()?.map(Arc::new),
            run: std::process::id().to_string(),
        })
    }

    /// Says that this process is a server that lives, as long as the log is open.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn hold(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.lock_shared())
    }

    /// The same file for another run.
    pub(super) fn of_run(&self, run: impl Into<String>) -> Self {
        Self {
            file: self.file.clone(),
            run: run.into(),
        }
    }

    pub(super) fn start(&self, transport: &str, started: &Started) {
        let start = json!({"transport": transport, "args": started.args, "env": started.env});
        self.write("start", &start);
    }

    /// A request over HTTP, with the headers that are told.
    pub(super) fn request(&self, verb: &str, headers: &Value) {
        self.write("request", &json!({"verb": verb, "headers": headers}));
    }

    pub(super) fn received(&self, message: &Value) {
        self.write("received", message);
    }

    pub(super) fn sent(&self, message: &Value) {
        self.write("sent", message);
    }

    pub(super) fn end(&self, why: &str) {
        self.write("end", &json!(why));
    }

    fn write(&self, what: &str, value: &Value) {
        let Some(mut file) = self.file.as_deref() else {
            return;
        };
        let at = Timestamp::try_from(SystemTime::now()).unwrap_or_default();
        let mut line = json!({"at": format!("{at:.3}"), "run": self.run, what: value}).to_string();
        line.push('\n');
        if let Err(error) = file.write_all(line.as_bytes()) {
            // The client is served all the same.
            let _ = writeln!(io::stderr(), "mcp-echo: the log cannot be written: {error}");
        }
    }
}
