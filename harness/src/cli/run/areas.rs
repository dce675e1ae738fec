//! How far a run is, area by area.

use crate::report::{Paint, plain};
use crate::scenario::Status;

/// How many scenarios of an area there are, and what has become of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Area {
    name: String,
    total: usize,
    begun: usize,
    done: usize,
    failed: usize,
}

/// How far each area is. Areas are the folders of scenarios.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Areas {
    all: Vec<Area>,
}

impl Areas {
    /// The areas of these scenarios, in their order.
    pub(super) fn of<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut areas = Self::default();
        for id in ids {
            areas.change(id, |area| area.total += 1);
        }
        areas
    }

    /// Does something to the area of a scenario.
    fn change(&mut self, id: &str, change: impl FnOnce(&mut Area)) {
        let name = id.split_once('/').map_or(id, |(area, _)| area);
        if let Some(area) = self.all.iter_mut().find(|area| area.name == name) {
            return change(area);
        }
        let mut area = Area {
            name: name.to_owned(),
            ..Area::default()
        };
        change(&mut area);
        self.all.push(area);
    }

    /// A scenario has begun.
    pub(super) fn started(&mut self, id: &str) {
        self.change(id, |area| area.begun += 1);
    }

    /// A scenario is over.
    pub(super) fn finished(&mut self, id: &str, status: Status) {
        self.change(id, |area| {
            area.done += 1;
            area.failed += usize::from(status == Status::Fail);
        });
    }

    /// How many scenarios are over.
    pub(super) fn done(&self) -> usize {
        self.all.iter().map(|area| area.done).sum()
    }

    /// How many have failed.
    pub(super) fn failed(&self) -> usize {
        self.all.iter().map(|area| area.failed).sum()
    }

    /// How many there are.
    pub(super) fn total(&self) -> usize {
        self.all.iter().map(|area| area.total).sum()
    }

    /// How many areas are done, and how far those are that have begun.
    pub(super) fn in_words(&self, paint: Paint) -> String {
        let is_done = |area: &&Area| area.done >= area.total;
        let done = self.all.iter().filter(is_done).count();
        let mut line = format!("{done}/{} areas", self.all.len());
        let begun = |area: &&Area| area.begun > 0 && !is_done(area);
        for area in self.all.iter().filter(begun) {
            line.push_str(&format!(
                "  {} {}/{}",
                plain(&area.name),
                area.done,
                area.total
            ));
            if area.failed > 0 {
                let failed = paint.bad(&format!("({} failed)", area.failed));
                line.push_str(&format!(" {failed}"));
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_that_have_begun_are_told_with_their_failures() {
        let mut areas = Areas::of(["init/a", "init/b", "cancel/a", "cancel/b", "fs/a"]);
        for id in ["init/a", "init/b", "cancel/a"] {
            areas.started(id);
        }
        areas.finished("init/a", Status::Pass);
        areas.finished("init/b", Status::NotApplicable);
        assert_eq!(areas.in_words(Paint::default()), "1/3 areas  cancel 0/2");
        areas.finished("cancel/a", Status::Fail);
        assert_eq!(
            areas.in_words(Paint::default()),
            "1/3 areas  cancel 1/2 (1 failed)"
        );
        assert_eq!((areas.done(), areas.failed(), areas.total()), (3, 1, 5));
    }
}
