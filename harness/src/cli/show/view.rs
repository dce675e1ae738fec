//! A recording as it is drawn, event by event.

use std::io::{self, Write as _};
use std::path::Path;

use super::super::pager::Pager;
use super::filter::Filter;
use super::source::Item;
use crate::report::picture::{Fold, Lanes, Narrator, Step};
use crate::report::{Screen, wrapped};
use crate::trace::Header;

/// Draws what is read, as far as the filter lets it through. Bounded, however long the recording is.
pub(super) struct View {
    filter: Filter,
    /// Whether runs of chunks are one line.
    folds: bool,
    /// Whether a pager is wanted.
    paged: bool,
    title: Vec<String>,
    narrator: Narrator,
    fold: Fold,
    lanes: Lanes,
    out: Option<Pager>,
    events: u64,
}

impl View {
    pub(super) fn new(
        path: &Path,
        header: &Header,
        filter: Filter,
        screen: Screen,
        (folds, paged): (bool, bool),
    ) -> Self {
        Self {
            filter,
            folds,
            paged,
            title: title(path, header, screen),
            narrator: Narrator::default(),
            fold: Fold::default(),
            lanes: Lanes::new(screen),
            out: None,
            events: 0,
        }
    }

    /// Takes the next line of the recording; gives whether more of it may be shown.
    ///
    /// # Errors
    /// What writing gave.
    pub(super) fn take(&mut self, item: &Item) -> io::Result<bool> {
        match item {
            Item::Event(event) => {
                let number = self.events;
                if self.filter.is_over(number) {
                    return Ok(false);
                }
                self.events += 1;
                let (step, request) = self.narrator.tell(number, event);
                self.filter.saw(&step);
                if self.filter.shows(&step) {
                    // An answer says little without its request.
                    if let Some(request) = request.filter(|request| !self.filter.shows(request)) {
                        self.flush()?;
                        self.draw(&request)?;
                    }
                    self.step(step)?;
                }
            }
            Item::Header => {
                self.narrator.begins_anew();
                if self.out.is_some() {
                    self.flush()?;
                    self.across("another process")?;
                }
            }
            Item::Damage(damage) => {
                if self.out.is_some() {
                    self.flush()?;
                    self.across(&format!("line {}: {}", damage.line, damage.reason))?;
                }
            }
            Item::Idle => {
                self.flush()?;
                if let Some(out) = &mut self.out {
                    out.flush()?;
                }
            }
        }
        Ok(true)
    }

    fn step(&mut self, mut step: Step) -> io::Result<()> {
        let event = step.event;
        let has_findings = self
            .filter
            .findings()
            .is_some_and(|findings| !findings.at(event).is_empty());
        if has_findings || !self.folds {
            step.run = None;
        }
        if let Some(whole) = self.fold.push(step) {
            self.draw(&whole)?;
        }
        if has_findings {
            self.flush()?;
            let found = self.filter.findings().map(|findings| findings.at(event));
            let lines: Vec<String> = found
                .unwrap_or_default()
                .iter()
                .flat_map(|found| self.lanes.beneath(&found.title, &found.message))
                .collect();
            self.write(&lines)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.fold.flush() {
            Some(step) => self.draw(&step),
            None => Ok(()),
        }
    }

    fn draw(&mut self, step: &Step) -> io::Result<()> {
        self.begin()?;
        let has_findings = self
            .filter
            .findings()
            .is_some_and(|findings| !findings.at(step.event).is_empty());
        let lines = self.lanes.step(step, has_findings);
        self.write(&lines)
    }

    fn across(&mut self, text: &str) -> io::Result<()> {
        let line = self.lanes.across(text);
        self.write(&[line])
    }

    /// Opens the output and draws the head, before the first line.
    fn begin(&mut self) -> io::Result<()> {
        if self.out.is_some() {
            return Ok(());
        }
        self.out = Some(Pager::start(self.paged));
        let mut lines = std::mem::take(&mut self.title);
        lines.push(String::new());
        lines.push(self.lanes.head());
        self.write(&lines)
    }

    fn write(&mut self, lines: &[String]) -> io::Result<()> {
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        for line in lines {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// Draws what is held back and what concerns the recording as a whole.
    ///
    /// # Errors
    /// What writing gave; or a sentence on why nothing was shown, inside.
    pub(super) fn end(mut self) -> io::Result<Result<(), String>> {
        self.flush()?;
        if let Some(findings) = self.filter.findings().cloned() {
            if !findings.of_the_whole.is_empty() {
                self.begin()?;
                self.across("of the recording as a whole")?;
            }
            for found in &findings.of_the_whole {
                let lines = self.lanes.beneath(&found.title, &found.message);
                self.write(&lines)?;
            }
            if self.out.is_some() {
                for more in &findings.more {
                    self.across(more)?;
                }
            }
        }
        match &mut self.out {
            Some(out) => out.flush().map(Ok),
            None => Ok(Err(self
                .filter
                .nothing(self.events, self.narrator.sessions()))),
        }
    }
}

/// What the recording is, in a line or two.
fn title(path: &Path, header: &Header, screen: Screen) -> Vec<String> {
    let mut parts = Vec::new();
    if !header.command.is_empty() {
        parts.push(shell_words::join(&header.command));
    }
    if let Some(recorded) = &header.recorded {
        parts.push(format!("recorded {recorded}"));
    }
    if let Some(by) = &header.by {
        parts.push(format!("by {by}"));
    }
    let name = path.display().to_string();
    let first = match parts.is_empty() {
        true => name,
        false => format!("{name}: {}", parts.join(", ")),
    };
    let texts = std::iter::once(&first).chain(&header.about);
    texts
        .flat_map(|text| wrapped(&screen.text(text), screen.width - 1))
        .collect()
}
