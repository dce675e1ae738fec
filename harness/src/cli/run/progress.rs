//! What is shown on stderr while a run takes place.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write as _};

use super::super::output::say;
use crate::report::{Paint, plain};
use crate::scenario::{Outcome, Status};

/// How many columns the live line takes at most.
const WIDTH: usize = 78;

/// Shows how far a run is: a live line on a terminal, a line for each scenario where it is asked for.
#[derive(Debug)]
pub(super) struct Progress {
    live: bool,
    lines: bool,
    paint: Paint,
    total: usize,
    done: Cell<usize>,
    failed: Cell<usize>,
    running: RefCell<BTreeSet<String>>,
}

impl Progress {
    pub(super) fn new(total: usize, quiet: bool, verbose: bool, paint: Paint) -> Self {
        Self {
            live: !quiet && io::stderr().is_terminal(),
            lines: verbose,
            paint,
            total,
            done: Cell::new(0),
            failed: Cell::new(0),
            running: RefCell::default(),
        }
    }

    pub(super) fn started(&self, id: &str) {
        self.running.borrow_mut().insert(id.to_owned());
        self.draw();
    }

    pub(super) fn finished(&self, outcome: &Outcome) {
        self.running.borrow_mut().remove(&outcome.id);
        self.done.set(self.done.get() + 1);
        if outcome.status == Status::Fail {
            self.failed.set(self.failed.get() + 1);
        }
        if self.lines {
            self.clear();
            say(self.line(outcome));
        }
        self.draw();
    }

    fn line(&self, outcome: &Outcome) -> String {
        let word = format!("{:14}", outcome.status.as_str());
        let word = match outcome.status {
            Status::Pass => self.paint.good(&word),
            Status::Fail => self.paint.bad(&word),
            Status::Inconclusive => self.paint.open(&word),
            Status::NotApplicable => self.paint.faint(&word),
        };
        let mut line = format!("{word} {:6.2} s  {}", outcome.seconds, plain(&outcome.id));
        for why in &outcome.why {
            line.push_str("\n                 ");
            line.push_str(&plain(why));
        }
        line
    }

    /// Draws the live line again.
    fn draw(&self) {
        if !self.live {
            return;
        }
        let mut line = format!("{}/{}", self.done.get(), self.total);
        if self.failed.get() > 0 {
            line.push_str(&format!(", {} failed", self.failed.get()));
        }
        let running = self.running.borrow();
        for (number, id) in running.iter().enumerate() {
            line.push_str(if number == 0 { "  " } else { ", " });
            line.push_str(&plain(id));
        }
        let line: String = line.chars().take(WIDTH).collect();
        let mut err = io::stderr().lock();
        let _ = write!(err, "\r\u{1b}[2K{line}").and_then(|()| err.flush());
    }

    /// Takes the live line away.
    pub(super) fn clear(&self) {
        if self.live {
            let mut err = io::stderr().lock();
            let _ = write!(err, "\r\u{1b}[2K").and_then(|()| err.flush());
        }
    }
}
