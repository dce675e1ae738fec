//! The live area of a run: on a terminal, below what is printed, until the run is over.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::areas::Areas;
use crate::report::{Paint, plain};

/// How often times are drawn anew.
const TICK: Duration = Duration::from_millis(200);
/// So many scenarios that run are named.
const NAMED: usize = 8;

/// The live area: how far the run is, how far each area that has begun is, and what is running for how long.
#[derive(Debug)]
pub(super) struct Live {
    all: MultiProgress,
    total: ProgressBar,
    areas: ProgressBar,
    running: RefCell<BTreeMap<String, ProgressBar>>,
    paint: Paint,
}

impl Live {
    pub(super) fn new(paint: Paint) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let total = all.add(bar("{took:>8}  {wide_msg}"));
        total.enable_steady_tick(TICK);
        let areas = all.add(bar("          {wide_msg}"));
        Self {
            all,
            total,
            areas,
            running: RefCell::default(),
            paint,
        }
    }

    /// A scenario has begun.
    pub(super) fn started(&self, id: &str) {
        let mut running = self.running.borrow_mut();
        if running.len() >= NAMED {
            return;
        }
        let bar = self.all.add(bar("{took:>8}  {wide_msg}"));
        bar.set_message(plain(id));
        bar.enable_steady_tick(TICK);
        running.insert(id.to_owned(), bar);
    }

    /// A scenario is over.
    pub(super) fn finished(&self, id: &str) {
        if let Some(bar) = self.running.borrow_mut().remove(id) {
            bar.finish_and_clear();
            self.all.remove(&bar);
        }
    }

    /// Draws how far the run is.
    pub(super) fn tell(&self, areas: &Areas) {
        let mut line = format!("{}/{} scenarios", areas.done(), areas.total());
        if areas.failed() > 0 {
            let failed = self.paint.bad(&format!("{} failed", areas.failed()));
            line.push_str(&format!(", {failed}"));
        }
        self.total.set_message(line);
        self.areas.set_message(areas.in_words(self.paint));
    }

    /// Puts lines above the live area, which stay.
    pub(super) fn above(&self, lines: &str) {
        let _ = self.all.println(lines);
    }

    /// Takes the live area away.
    pub(super) fn clear(&self) {
        for bar in self.running.take().into_values() {
            bar.finish_and_clear();
        }
        self.areas.finish_and_clear();
        self.total.finish_and_clear();
        let _ = self.all.clear();
    }
}

/// A line of the live area; `{took}` is how long it has been there.
fn bar(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key(
            "took",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = out.write_fmt(format_args!("{:.1} s", state.elapsed().as_secs_f64()));
            },
        );
    ProgressBar::new_spinner().with_style(style)
}
