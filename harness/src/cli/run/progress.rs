//! What is shown on stderr while a run takes place.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write as _};
use std::time::{Duration, Instant};

use super::super::output::say;
use crate::report::{Paint, plain};
use crate::scenario::{Outcome, Status};

/// How many columns the live line takes at most.
const WIDTH: usize = 78;

/// How often a run says how far it is where it has no terminal to draw on.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Shows how far a run is: a live line on a terminal, a line for each scenario where it is asked for, and elsewhere a line
/// now and then.
#[derive(Debug)]
pub(super) struct Progress {
    live: bool,
    lines: bool,
    now_and_then: bool,
    last_told: Cell<Instant>,
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
            now_and_then: !quiet && !verbose && !io::stderr().is_terminal(),
            last_told: Cell::new(Instant::now()),
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
        if self.now_and_then && self.last_told.get().elapsed() >= PLAIN_EVERY {
            self.last_told.set(Instant::now());
            say(self.so_far());
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

    /// How far the run is, and what is running.
    fn so_far(&self) -> String {
        let mut line = format!("{}/{}", self.done.get(), self.total);
        if self.failed.get() > 0 {
            line.push_str(&format!(", {} failed", self.failed.get()));
        }
        let running = self.running.borrow();
        for (number, id) in running.iter().enumerate() {
            line.push_str(if number == 0 { "  " } else { ", " });
            line.push_str(&plain(id));
        }
        line.chars().take(WIDTH).collect()
    }

    /// Draws the live line again.
    fn draw(&self) {
        if !self.live {
            return;
        }
        let line = self.so_far();
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
