//! The requirement catalogue of ACP v1: what an agent must, should or may do, and where it is written.
//!
//! Read from `harness/spec/acp-v1/requirements.toml` and `interop.toml`; the README beside them
//! says what each key means.

use std::sync::LazyLock;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::condition::{Condition, ConditionError};
use super::schema::Schema;

/// Web address of the repository in which the protocol is written.
const REPOSITORY_HOST: &str = "https://github.com/";

/// How much a requirement binds, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A failure makes the agent non-conforming.
    Must,
    /// A failure is advice and never changes the verdict.
    Should,
    /// A permission: recorded, never failed.
    May,
    /// No text demands it, but real clients break on it.
    Interop,
    /// The text is silent or leaves it open: what was seen is written down.
    Observe,
}

impl Level {
    /// All levels, strongest first.
    pub const ALL: [Self; 5] = [
        Self::Must,
        Self::Should,
        Self::May,
        Self::Interop,
        Self::Observe,
    ];

    /// The word used in data and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
            Self::Interop => "interop",
            Self::Observe => "observe",
        }
    }
}

/// Why a requirement has its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// A keyword such as MUST in the stable pages or in the schema's text.
    Keyword,
    /// A shape in the schema.
    Schema,
    /// A plain statement without a keyword.
    Prose,
    /// JSON-RPC 2.0, which ACP adopts.
    Jsonrpc,
    /// A completed design document only.
    Rfd,
    /// No text (levels `observe` and `interop`).
    #[default]
    None,
}

impl Basis {
    /// The word used in data and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Schema => "schema",
            Self::Prose => "prose",
            Self::Jsonrpc => "jsonrpc",
            Self::Rfd => "rfd",
            Self::None => "none",
        }
    }
}

/// A place in the protocol's repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// Path and anchor, such as `docs/protocol/v1/transports.mdx#stdio`.
    pub place: String,
    /// The same as a web link at the commit that was read.
    pub url: String,
}

/// One entry of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Name such as `CANCEL-01`; never reused for another requirement.
    pub id: String,
    /// How much it binds.
    pub level: Level,
    /// Why that much.
    pub basis: Basis,
    /// When it applies.
    pub when: Condition,
    /// What is required, in one sentence.
    pub statement: String,
    /// How it is checked and what fails.
    pub check: String,
    /// Whether any recorded traffic can be judged; otherwise the scenario in `check` is needed.
    pub passive: bool,
    /// Where it is written; empty for level `interop`.
    pub cite: Vec<Citation>,
    /// Public reports of the harm, as `project#number`; level `interop` only.
    pub reports: Vec<String>,
    /// Id of the entry that this one makes stricter; level `interop` only.
    pub sharpens: Option<String>,
}

impl Requirement {
    /// The part of the id before the number, such as `CANCEL`.
    #[must_use]
    pub fn area(&self) -> &str {
        self.id
            .rsplit_once('-')
            .map_or(self.id.as_str(), |(area, _)| area)
    }

    /// The area that it is about: its own, or that of the requirement that it sharpens.
    #[must_use]
    pub fn own_area(&self) -> &str {
        let about = self.sharpens.as_deref().unwrap_or(&self.id);
        about.rsplit_once('-').map_or(about, |(area, _)| area)
    }

    /// Web link to the first citation.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.cite.first().map(|citation| citation.url.as_str())
    }
}

/// All requirements of one protocol version.
#[derive(Debug, Clone)]
pub struct Catalogue {
    revision: String,
    protocol_version: u16,
    requirements: IndexMap<String, Requirement>,
}

/// A catalogue that cannot be read.
#[derive(Debug, Error)]
pub enum CatalogueError {
    /// Broken TOML, a missing or unknown key, or an unknown word, with line and column.
    #[error("{file}: {source}")]
    Toml {
        /// Which of the two files.
        file: &'static str,
        /// What is wrong and where.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A `when` outside the grammar.
    #[error("requirement {id}: {source}")]
    When {
        /// The entry.
        id: String,
        /// What is wrong.
        #[source]
        source: ConditionError,
    },
    /// An id that stands twice.
    #[error("requirement {0} stands twice")]
    Twice(String),
}

impl Catalogue {
    /// The catalogue of protocol version 1.
    #[must_use]
    pub fn v1() -> &'static Self {
        static V1: LazyLock<Catalogue> = LazyLock::new(|| {
            #[expect(
                clippy::expect_used,
                reason = "the files are built in, and the tests read them"
            )]
            Catalogue::parse(
                include_str!("../../spec/acp-v1/requirements.toml"),
                include_str!("../../spec/acp-v1/interop.toml"),
            )
            .expect("the catalogue that is built in can be read")
        });
        &V1
    }

    /// Reads the two files of a catalogue.
    ///
    /// # Errors
    ///
    /// Names the file, line and column, or the entry, and what is wrong with it.
    pub fn parse(requirements: &str, interop: &str) -> Result<Self, CatalogueError> {
        let main: MainFile = read("requirements.toml", requirements)?;
        let interop: InteropFile = read("interop.toml", interop)?;
        let base = format!(
            "{REPOSITORY_HOST}{}/blob/{}/",
            main.spec_repository, main.spec_commit
        );

        let mut catalogue = Self {
            revision: main.spec_commit,
            protocol_version: main.protocol_version,
            requirements: IndexMap::new(),
        };
        for entry in main.requirement.into_iter().chain(interop.requirement) {
            let requirement = entry.into_requirement(&base)?;
            let id = requirement.id.clone();
            if catalogue
                .requirements
                .insert(id.clone(), requirement)
                .is_some()
            {
                return Err(CatalogueError::Twice(id));
            }
        }
        Ok(catalogue)
    }

    /// The commit of the protocol's repository that was read.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The crate and version that the schema beside this catalogue was generated from.
    #[must_use]
    pub fn schema_revision(&self) -> &'static str {
        Schema::v1().revision()
    }

    /// The protocol version that is judged, as in `initialize`.
    #[must_use]
    pub const fn protocol_version(&self) -> u16 {
        self.protocol_version
    }

    /// The entry with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Requirement> {
        self.requirements.get(id)
    }

    /// All entries in the order of the file, those of level `interop` last.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Requirement> {
        self.requirements.values()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MainFile {
    spec_repository: String,
    spec_commit: String,
    protocol_version: u16,
    requirement: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InteropFile {
    requirement: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    level: Level,
    #[serde(default)]
    basis: Basis,
    #[serde(default)]
    when: String,
    statement: String,
    check: String,
    passive: bool,
    #[serde(default)]
    cite: String,
    #[serde(default)]
    reports: Vec<String>,
    sharpens: Option<String>,
}

impl Entry {
    fn into_requirement(self, base: &str) -> Result<Requirement, CatalogueError> {
        let when = Condition::parse(&self.when).map_err(|source| CatalogueError::When {
            id: self.id.clone(),
            source,
        })?;
        let cite = self
            .cite
            .split("; ")
            .filter(|place| !place.is_empty())
            .map(|place| Citation {
                place: place.to_owned(),
                url: format!("{base}{place}"),
            })
            .collect();
        Ok(Requirement {
            id: self.id,
            level: self.level,
            basis: self.basis,
            when,
            statement: self.statement,
            check: self.check,
            passive: self.passive,
            cite,
            reports: self.reports,
            sharpens: self.sharpens,
        })
    }
}

fn read<'text, T: Deserialize<'text>>(
    file: &'static str,
    text: &'text str,
) -> Result<T, CatalogueError> {
    toml::from_str(text).map_err(|source| CatalogueError::Toml {
        file,
        source: Box::new(source),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const HEAD: &str =
        "spec_repository = \"o/r\"\nspec_commit = \"c0ffee\"\nprotocol_version = 1\n";

    fn entry(id: &str, more: &str) -> String {
        format!(
            "[[requirement]]\nid = \"{id}\"\nlevel = \"must\"\nbasis = \"prose\"\nstatement = \"s\"\ncheck = \"c\"\npassive = true\n{more}\n"
        )
    }

    fn parse(entries: &str) -> Result<Catalogue, CatalogueError> {
        Catalogue::parse(&format!("{HEAD}{entries}"), "requirement = []")
    }

    #[test]
    fn the_catalogue_that_is_built_in_is_whole() {
        let catalogue = Catalogue::v1();
        assert_eq!(catalogue.protocol_version(), 1);
        assert_eq!(catalogue.revision().len(), 40);
        assert_eq!(
            catalogue.schema_revision(),
            "agent-client-protocol-schema 1.17.0"
        );
        let count = |level| {
            catalogue
                .iter()
                .filter(|entry| entry.level == level)
                .count()
        };
        assert_eq!(Level::ALL.map(count), [161, 48, 5, 25, 59]);
        assert_eq!(catalogue.iter().next().unwrap().id, "TRANSPORT-01");
        assert_eq!(catalogue.iter().last().unwrap().id, "INTEROP-25");
    }

    #[test]
    fn every_entry_keeps_to_the_rules_of_the_readme() {
        let catalogue = Catalogue::v1();
        for entry in catalogue.iter() {
            let id = &entry.id;
            let (area, number) = id.split_once('-').unwrap();
            assert!(area.bytes().all(|byte| byte.is_ascii_uppercase()), "{id}");
            assert!(number.len() == 2 && number.parse::<u8>().is_ok(), "{id}");
            assert!(
                entry.statement.ends_with('.') && !entry.check.is_empty(),
                "{id}"
            );
            let silent = matches!(entry.level, Level::Observe | Level::Interop);
            assert_eq!(
                silent,
                entry.basis == Basis::None,
                "{id}: only a silent text has no basis"
            );
            if entry.basis == Basis::Rfd {
                assert!(
                    entry.level >= Level::Should,
                    "{id}: a design document never gives a must"
                );
            }
            let interop = entry.level == Level::Interop;
            assert_eq!(interop, entry.cite.is_empty(), "{id}");
            assert_eq!(interop, !entry.reports.is_empty(), "{id}");
            assert_eq!(interop, entry.sharpens.is_some(), "{id}");
            if let Some(sharpened) = &entry.sharpens {
                assert!(
                    catalogue.get(sharpened).is_some(),
                    "{id} sharpens {sharpened}"
                );
            }
        }
    }

    #[test]
    fn a_citation_is_a_link_at_the_commit_that_was_read() {
        let two = entry(
            "A-01",
            "cite = \"docs/a.mdx#b; schema/v1/schema.json#/$defs/C\"",
        );
        let catalogue = parse(&two).unwrap();
        let requirement = catalogue.get("A-01").unwrap();
        assert_eq!(requirement.area(), "A");
        assert_eq!(
            requirement.url(),
            Some("https://github.com/o/r/blob/c0ffee/docs/a.mdx#b")
        );
        assert_eq!(
            requirement.cite.last().unwrap().place,
            "schema/v1/schema.json#/$defs/C"
        );
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let error = parse(&entry("A-01", "sevrity = 3"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("requirements.toml") && error.contains("line 11"),
            "{error}"
        );
        assert!(error.contains("sevrity"), "{error}");
    }

    #[test]
    fn an_unknown_level_is_refused() {
        let error = parse(&entry("A-01", "").replace("must", "shall"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("shall"), "{error}");
    }

    #[test]
    fn a_condition_that_cannot_be_read_names_the_entry() {
        let error = parse(&entry("A-01", "when = \"agent.x\""))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("requirement A-01: condition \"agent.x\""),
            "{error}"
        );
    }

    #[test]
    fn an_id_that_stands_twice_is_refused() {
        let error = parse(&(entry("A-01", "") + &entry("A-01", ""))).unwrap_err();
        assert!(matches!(error, CatalogueError::Twice(id) if id == "A-01"));
    }
}
