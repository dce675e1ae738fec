//! The tables of faults and quirks.

use std::sync::LazyLock;

use serde::Deserialize;

use super::Hook;
use super::edit::Edit;
use crate::login::Auth;
use crate::surface::Surface;

/// The files of the faults, one for some areas each.
const FAULT_FILES: [&str; 8] = [
    include_str!("../../faults/wire.toml"),
    include_str!("../../faults/session.toml"),
    include_str!("../../faults/stored.toml"),
    include_str!("../../faults/choice.toml"),
    include_str!("../../faults/tool.toml"),
    include_str!("../../faults/client.toml"),
    include_str!("../../faults/server.toml"),
    include_str!("../../faults/unseen.toml"),
];

/// The faults. Tables are built in, and a test shows that they can be read.
pub(crate) static FAULTS: LazyLock<Table> =
    LazyLock::new(|| Table::read("faults", &FAULT_FILES).unwrap_or_default());

/// The quirks.
pub(crate) static QUIRKS: LazyLock<Table> = LazyLock::new(|| {
    let files = [
        include_str!("../../faults/quirks.toml"),
        include_str!("../../faults/optional_quirks.toml"),
    ];
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
    /// The surfaces on which it shows, the one that is named first; without any, on each.
    #[serde(default)]
    surfaces: Vec<Surface>,
    /// The ways to log in with which it shows, the one that is named first; without any, with each.
    #[serde(default)]
    auth: Vec<Auth>,
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
        let surface = self.surfaces.first().copied().unwrap_or_default();
        let mut arguments = vec!["--surface".to_owned(), surface.to_string()];
        if let Some(auth) = self.auth.first() {
            arguments.extend(["--auth".to_owned(), auth.to_string()]);
        }
        arguments
    }

    /// Refuses what it cannot show with.
    ///
    /// # Errors
    ///
    /// Names what it shows with.
    pub(crate) fn check(&self, surface: Surface, auth: Auth) -> Result<(), String> {
        let name = &self.name;
        if !self.surfaces.is_empty() && !self.surfaces.contains(&surface) {
            let shows = in_words(&self.surfaces);
            return Err(format!(
                "`{name}` does not show on the surface {surface}; it does with `--surface` {shows}"
            ));
        }
        if !self.auth.is_empty() && !self.auth.contains(&auth) {
            let shows = in_words(&self.auth);
            return Err(format!(
                "`{name}` does not show with `--auth` {auth}; it does with `--auth` {shows}"
            ));
        }
        Ok(())
    }
}

fn in_words(choices: &[impl ToString]) -> String {
    let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
    choices.join(" or ")
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
            // Nobody can log in on the others.
            let everything = entry.surfaces == [Surface::Everything];
            assert!(entry.auth.is_empty() || everything, "{}", entry.name);
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

    #[test]
    fn a_deviation_says_where_it_shows() {
        let choice = FAULTS.find("usage-null").unwrap();
        assert_eq!(choice.arguments(), ["--surface", "1.0.3"]);
        assert!(choice.check(Surface::Everything, Auth::None).is_ok());
        let reason = choice.check(Surface::V0_11_0, Auth::None).unwrap_err();
        assert!(reason.contains("1.0.3 or everything"), "{reason}");
        let login = FAULTS.find("authenticate-is-unknown").unwrap();
        let arguments = login.arguments();
        assert_eq!(arguments, ["--surface", "everything", "--auth", "agent"]);
        let reason = login.check(Surface::Everything, Auth::None).unwrap_err();
        assert!(reason.contains("`--auth` agent"), "{reason}");
    }
}
