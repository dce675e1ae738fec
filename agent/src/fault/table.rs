//! The tables of faults and quirks.

use std::sync::LazyLock;

use serde::Deserialize;

use super::Hook;
use super::edit::Edit;
use crate::surface::Surface;

/// The files of the faults, one for some areas each.
const FAULT_FILES: [&str; 4] = [
    include_str!("../../faults/wire.toml"),
    include_str!("../../faults/session.toml"),
    include_str!("../../faults/tool.toml"),
    include_str!("../../faults/unseen.toml"),
];

/// The faults. Tables are built in, and a test shows that they can be read.
pub(crate) static FAULTS: LazyLock<Table> =
    LazyLock::new(|| Table::read("faults", &FAULT_FILES).unwrap_or_default());

/// The quirks.
pub(crate) static QUIRKS: LazyLock<Table> = LazyLock::new(|| {
    let files = [include_str!("../../faults/quirks.toml")];
    Table::read("quirks", &files).unwrap_or_default()
});

/// A table of deviations.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// What its entries are called together.
    pub(super) noun: &'static str,
    pub(super) entries: Vec<Deviation>,
    pub(super) unseen: Vec<Unseen>,
}

/// A fault or a quirk.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deviation {
    pub(crate) name: String,
    /// One sentence: what is done.
    pub(crate) about: String,
    /// The requirements that it breaks: exactly these.
    #[serde(default)]
    pub(crate) trips: Vec<String>,
    /// The surface on which it shows; most show on each, and the first is named.
    #[serde(default)]
    surface: Option<String>,
    /// What `bob` has to be started with besides.
    #[serde(default)]
    with: Vec<String>,
    #[serde(default, rename = "edit")]
    pub(crate) edits: Vec<Edit>,
    #[serde(default)]
    pub(crate) hook: Option<Hook>,
}

/// Requirements that no fault breaks, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Unseen {
    pub(super) ids: Vec<String>,
    pub(super) why: String,
}

/// What a file holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Part {
    fault: Vec<Deviation>,
    quirk: Vec<Deviation>,
    unseen: Vec<Unseen>,
}

impl Table {
    fn read(noun: &'static str, files: &[&str]) -> Result<Self, toml::de::Error> {
        let (mut entries, mut unseen) = (Vec::new(), Vec::new());
        for file in files {
            let part: Part = toml::from_str(file)?;
            entries.extend(part.fault);
            entries.extend(part.quirk);
            unseen.extend(part.unseen);
        }
        Ok(Self {
            noun,
            entries,
            unseen,
        })
    }

    /// The entry of this name.
    ///
    /// # Errors
    ///
    /// Says that there is none, and what helps.
    pub(crate) fn find(&self, name: &str) -> Result<&Deviation, String> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        let noun = self.noun;
        let one = noun.trim_end_matches('s');
        entry.ok_or_else(|| {
            format!("there is no {one} `{name}`; `bob --list-{noun}` shows those that are there")
        })
    }
}

impl Deviation {
    /// What `bob` is started with for it to show, beside its own flag.
    pub(super) fn arguments(&self) -> Vec<String> {
        let surface = self.surface.clone();
        let surface = surface.unwrap_or_else(|| Surface::default().to_string());
        let mut arguments = vec!["--surface".to_owned(), surface];
        arguments.extend(self.with.iter().cloned());
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_tables_can_be_read_and_their_names_are_unique() {
        let faults = Table::read("faults", &FAULT_FILES).unwrap();
        let mut names = BTreeSet::new();
        for entry in faults.entries.iter().chain(&QUIRKS.entries) {
            assert!(names.insert(&entry.name), "{} is there twice", entry.name);
            assert!(
                entry.about.ends_with('.'),
                "{}: {}",
                entry.name,
                entry.about
            );
            assert!(
                entry.hook.is_some() || !entry.edits.is_empty(),
                "{} does nothing",
                entry.name
            );
            let surface = entry.surface.as_deref().map(str::parse::<Surface>);
            assert!(!matches!(surface, Some(Err(_))), "{}", entry.name);
        }
        assert!(faults.entries.iter().all(|fault| !fault.trips.is_empty()));
        assert!(!QUIRKS.entries.is_empty());
        assert!(QUIRKS.entries.iter().all(|quirk| quirk.trips.is_empty()));
    }

    #[test]
    fn a_name_that_is_not_there_is_refused_with_what_helps() {
        let reason = FAULTS.find("none").unwrap_err();
        assert!(reason.contains("no fault `none`"), "{reason}");
        assert!(reason.contains("--list-faults"), "{reason}");
    }
}
