//! What is shown on stderr while a run takes place.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use super::super::output::say;
use super::areas::Areas;
use super::live::Live;
use crate::report::{Screen, plain};
use crate::scenario::{Outcome, Status};
use crate::spec::{Catalogue, Level};

/// How many columns a line that says how far the run is takes at most.
const WIDTH: usize = 78;

/// How often a run says how far it is where it has no terminal to draw on.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Shows how far a run is: a live area on a terminal, with failures above it as they come; a line for each scenario where it
/// is asked for; and elsewhere a line now and then.
#[derive(Debug)]
pub(super) struct Progress {
    live: Option<Live>,
    lines: bool,
    now_and_then: bool,
    last_told: Cell<Instant>,
    screen: Screen,
    areas: RefCell<Areas>,
    running: RefCell<BTreeSet<String>>,
    /// Requirements of which no further failure is told: they are known to fail, or a failure was told already.
    told: RefCell<BTreeSet<String>>,
}

impl Progress {
    /// The progress of a run of these scenarios, of an agent that is known to fail these requirements.
    pub(super) fn new<'a>(
        ids: impl IntoIterator<Item = &'a str>,
        known: BTreeSet<String>,
        (quiet, verbose): (bool, bool),
        screen: Screen,
    ) -> Self {
        let can_draw = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let draws = can_draw && io::stderr().is_terminal();
        let progress = Self {
            live: (draws && !quiet).then(|| Live::new(screen.paint)),
            lines: verbose,
            now_and_then: !(draws || quiet || verbose),
            last_told: Cell::new(Instant::now()),
            screen,
            areas: RefCell::new(Areas::of(ids)),
            running: RefCell::default(),
            told: RefCell::new(known),
        };
        progress.draw();
        progress
    }

    /// A scenario has begun.
    pub(super) fn started(&self, id: &str) {
        self.running.borrow_mut().insert(id.to_owned());
        self.areas.borrow_mut().started(id);
        if let Some(live) = &self.live {
            live.started(id);
        }
        self.draw();
    }

    /// A scenario is over.
    pub(super) fn finished(&self, outcome: &Outcome) {
        self.running.borrow_mut().remove(&outcome.id);
        self.areas
            .borrow_mut()
            .finished(&outcome.id, outcome.status);
        if let Some(live) = &self.live {
            live.finished(&outcome.id);
            if self.lines {
                live.above(&self.line(outcome));
            }
            for line in self.new_failures(outcome) {
                live.above(&line);
            }
        } else if self.lines {
            say(self.line(outcome));
        }
        if self.now_and_then && self.last_told.get().elapsed() >= PLAIN_EVERY {
            self.last_told.set(Instant::now());
            say(self.so_far());
        }
        self.draw();
    }

    /// A line on each requirement that failed here for the first time.
    fn new_failures(&self, outcome: &Outcome) -> Vec<String> {
        let mut lines = Vec::new();
        for (id, tally) in outcome.judgement.iter() {
            let level = Catalogue::v1().get(id).map(|requirement| requirement.level);
            let Some(level @ (Level::Must | Level::Interop | Level::Should)) = level else {
                continue;
            };
            let Some(first) = tally.findings.first().filter(|_| tally.fails > 0) else {
                continue;
            };
            if !self.told.borrow_mut().insert(id.to_owned()) {
                continue;
            }
            let head = format!("{id} {}", level.as_str());
            let rest = format!("  {}: {}", outcome.id, first.message);
            let room = self.screen.width.saturating_sub(head.len() + 1);
            let rest = self.screen.cut(&self.screen.text(&rest), room);
            lines.push(format!("{}{rest}", self.screen.paint.bad(&head)));
        }
        lines
    }

    fn line(&self, outcome: &Outcome) -> String {
        let word = format!("{:14}", outcome.status.as_str());
        let word = match outcome.status {
            Status::Pass => self.screen.paint.good(&word),
            Status::Fail => self.screen.paint.bad(&word),
            Status::Inconclusive => self.screen.paint.open(&word),
            Status::NotApplicable => self.screen.paint.faint(&word),
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
        let areas = self.areas.borrow();
        let mut line = format!("{}/{}", areas.done(), areas.total());
        if areas.failed() > 0 {
            line.push_str(&format!(", {} failed", areas.failed()));
        }
        let running = self.running.borrow();
        for (number, id) in running.iter().enumerate() {
            line.push_str(if number == 0 { "  " } else { ", " });
            line.push_str(&plain(id));
        }
        line.chars().take(WIDTH).collect()
    }

    /// Draws the live area again.
    fn draw(&self) {
        if let Some(live) = &self.live {
            live.tell(&self.areas.borrow());
        }
    }

    /// Takes the live area away.
    pub(super) fn clear(&self) {
        if let Some(live) = &self.live {
            live.clear();
        }
    }
}
