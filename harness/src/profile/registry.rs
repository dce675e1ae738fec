//! The profiles that are built in, and how an agent on the command line finds its own.

use std::fs;
use std::path::Path;

use super::{Profile, ProfileError, read};
use crate::source::Source;

/// The files in `harness/profiles/`: name, path in the repository, text.
const BUILT_IN: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// All known profiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiles {
    profiles: Vec<Profile>,
}

impl Profiles {
    /// The built-in profiles, by name.
    ///
    /// # Errors
    /// The first that is not right. A test of this project holds that there is none.
    pub fn built_in(known_id: &dyn Fn(&str) -> bool) -> Result<Self, ProfileError> {
        let read = |(_, path, text): &(&str, &str, &str)| {
            read(&Source::new(*path, *text), known_id).map_err(ProfileError::Wrong)
        };
        Ok(Self {
            profiles: BUILT_IN.iter().map(read).collect::<Result<_, _>>()?,
        })
    }

    /// Adds a profile from a file; one with the name of another takes its place.
    ///
    /// # Errors
    /// The file cannot be read or is not right.
    pub fn add(
        &mut self,
        path: &Path,
        known_id: &dyn Fn(&str) -> bool,
    ) -> Result<(), ProfileError> {
        let text = fs::read_to_string(path).map_err(|error| ProfileError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        let mut profile = read(&Source::new(path.display().to_string(), text), known_id)
            .map_err(ProfileError::Wrong)?;
        profile.file = Some(path.to_owned());
        self.profiles.retain(|other| other.name != profile.name);
        self.profiles.push(profile);
        Ok(())
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Profile> {
        self.profiles.iter()
    }

    /// The profile of an agent that is given by the words of its command, with the command to start.
    ///
    /// A single word that is a profile's name or one of its programs means that profile and its command. Otherwise the
    /// profile is found by the file name of the first word, and the command is as it was given. An agent without a profile
    /// gets the default one.
    #[must_use]
    pub fn find(&self, words: &[String]) -> Profile {
        let first = words.first().map(String::as_str).unwrap_or_default();
        let program = first.rsplit('/').next().unwrap_or(first);
        let fits = |name: &str| {
            self.profiles.iter().find(|profile| {
                profile.name == name || profile.programs.iter().any(|own| own == name)
            })
        };
        let Some(profile) = fits(program) else {
            return Profile {
                command: words.to_vec(),
                ..Profile::default()
            };
        };
        let by_name = words.len() == 1 && first == program;
        if by_name {
            profile.clone()
        } else {
            Profile {
                command: words.to_vec(),
                ..profile.clone()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(words: &[&str]) -> (String, Vec<String>) {
        let profiles = Profiles::built_in(&|_| true).unwrap();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let profile = profiles.find(&words);
        (profile.name, profile.command)
    }

    #[test]
    fn a_name_alone_means_the_command_of_its_profile() {
        assert_eq!(
            find(&["opencode"]),
            (
                "opencode".to_owned(),
                vec!["opencode".to_owned(), "acp".to_owned()]
            )
        );
    }

    #[test]
    fn a_command_stays_as_it_was_given_and_finds_its_profile_by_its_program() {
        let words = ["/opt/x/opencode", "acp", "--x"];
        assert_eq!(
            find(&words),
            ("opencode".to_owned(), words.map(str::to_owned).to_vec())
        );
        assert_eq!(find(&["./opencode"]).1, ["./opencode"]);
    }

    #[test]
    fn each_profile_says_what_it_was_tried_with_how_that_is_installed_and_what_memory_it_takes() {
        let profiles = Profiles::built_in(&|_| true).unwrap();
        assert_eq!(profiles.iter().len(), 10);
        for profile in profiles.iter().filter(|profile| profile.name != "bob") {
            let name = &profile.name;
            let version = profile.versions.as_deref().unwrap_or_default();
            let pinned = |line: &String| !version.is_empty() && line.contains(version);
            assert!(profile.install.iter().any(pinned), "{name}");
            assert!(profile.memory_mb.is_some(), "{name}");
            assert!(!profile.about.is_empty(), "{name}");
        }
    }

    #[test]
    fn an_unknown_agent_gets_the_default_profile() {
        assert_eq!(
            find(&["./my-agent", "--acp"]),
            (
                "default".to_owned(),
                vec!["./my-agent".to_owned(), "--acp".to_owned()]
            )
        );
        assert_eq!(find(&[]), ("default".to_owned(), Vec::new()));
    }
}
