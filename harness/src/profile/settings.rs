//! `harness.toml`: what the repository of an agent says about it.

use std::path::{Path, PathBuf};

use super::read::env;
use super::steering::Steering;
use super::{Profile, ProfileError};
use crate::agent::Command;
use crate::source::{Field, Problem, Source, parse};

/// The name of the file.
pub const SETTINGS_FILE: &str = "harness.toml";

/// The keys that only this file has.
const KEYS: [&str; 3] = ["agent", "profile", "env"];

/// Finds the profile of a name or a path, in a sentence if there is none.
type FindProfile<'a> = &'a dyn Fn(&str, &Path) -> Result<Profile, String>;

/// What the file of a repository says.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The command of the agent, if none is given on the command line. Paths in it begin at the file's folder.
    pub agent: Option<Command>,
    /// How it is started and steered.
    pub profile: Option<Profile>,
    env: Vec<(String, String)>,
    steering: Steering,
    /// Where the file is.
    path: PathBuf,
}

impl Settings {
    /// Where the file is that counts for a folder: in it, else in the nearest folder above.
    #[must_use]
    pub fn find(folder: &Path) -> Option<PathBuf> {
        let mut all = folder.ancestors().map(|above| above.join(SETTINGS_FILE));
        all.find(|path| path.is_file())
    }

    /// Reads the file at a path. `find` looks for a profile by its name, or by a path from the file's folder.
    ///
    /// # Errors
    /// The file cannot be read, or the first thing that is wrong in it, at its place.
    pub fn open(
        path: &Path,
        known_id: &dyn Fn(&str) -> bool,
        find: FindProfile<'_>,
    ) -> Result<Self, ProfileError> {
        let text = std::fs::read_to_string(path).map_err(|error| ProfileError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let source = Source::new(path.display().to_string(), text);
        read(&source, folder, known_id, find).map_err(ProfileError::Wrong)
    }

    /// Lays what the file says over the profile of the agent: known failures are added, variables too, one of the same
    /// name in place of the profile's; the other keys take the place of the profile's.
    pub fn lay_over(&self, profile: &mut Profile) {
        profile.env.extend(self.env.iter().cloned());
        profile.settings = Some(self.path.clone());
        self.steering.lay_over(profile);
    }
}

fn read(
    source: &Source,
    folder: &Path,
    known_id: &dyn Fn(&str) -> bool,
    find: FindProfile<'_>,
) -> Result<Settings, Problem> {
    let document = parse(source)?;
    let table = Field {
        source,
        name: "harness",
        node: &document,
    }
    .table(&[KEYS.as_slice(), &Steering::KEYS].concat())?;
    Ok(Settings {
        agent: table.maybe("agent", |field| {
            let command = Command::parse(field.filled()?);
            command
                .map(|command| command.from_folder(folder))
                .map_err(|error| field.problem(error.to_string()))
        })?,
        profile: table.maybe("profile", |field| {
            find(field.filled()?, folder).map_err(|why| field.problem(why))
        })?,
        env: table.maybe("env", env)?.unwrap_or_default(),
        steering: Steering::read(&table, known_id)?,
        path: PathBuf::from(&source.name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Result<Settings, String> {
        let find = |name: &str, _: &Path| match name {
            "mine" => Ok(Profile::default()),
            name => Err(format!("there is no profile `{name}`")),
        };
        let source = Source::new(SETTINGS_FILE, text);
        read(&source, Path::new("/repo"), &|id| id == "MCP-01", &find)
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn the_settings_of_an_agents_repository_go_over_its_profile() {
        let own = settings(
            "commands = [\"b\"]\nset_mode = \"ask\"\n[env]\nA = \"two\"\n[[known]]\nid = \"MCP-01\"\nreason = \"two\"\nuntil = 2027-01-31",
        )
        .unwrap();
        let mut profile = Profile {
            commands: vec!["a".to_owned()],
            auth: Some("key".to_owned()),
            env: vec![("A".to_owned(), "one".to_owned())],
            ..Profile::default()
        };
        own.lay_over(&mut profile);
        assert_eq!(profile.commands, ["b"]);
        assert_eq!(profile.set_mode.as_deref(), Some("ask"));
        assert_eq!(profile.auth.as_deref(), Some("key"));
        assert_eq!(profile.known[0].until.as_deref(), Some("2027-01-31"));
        assert_eq!(profile.env.last().unwrap().1, "two");
    }

    #[test]
    fn the_command_begins_at_the_folder_of_the_file() {
        let agent = settings("agent = \"./bin/agent --acp\"").unwrap().agent;
        assert_eq!(agent.unwrap().words(), ["/repo/./bin/agent", "--acp"]);
        let agent = settings("agent = \"agent --acp\"").unwrap().agent;
        assert_eq!(agent.unwrap().words(), ["agent", "--acp"]);
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        for (text, said) in [
            ("comand = [\"x\"]", "harness.toml:1:1: unknown key `comand`"),
            (
                "\nprofile = \"other\"",
                "harness.toml:2:11: there is no profile `other`",
            ),
            ("agent = \"x 'y\"", "harness.toml:1:9: the agent's command"),
            ("[env]\nA = 1", "harness.toml:2:5"),
            (
                "[env]\nA = \"x\\u0000y\"",
                "harness.toml:2:5: the value of `A` holds a NUL",
            ),
            (
                "[env]\n\"A\\u0000\" = \"x\"",
                "harness.toml:2:13: `A\u{fffd}` is no name of a variable",
            ),
            (
                "agent = \"x \\u0000\"",
                "harness.toml:1:9: the agent's command `x \u{fffd}` holds a NUL",
            ),
            (
                "[[known]]\nid = \"X-01\"",
                "harness.toml:2:6: there is no requirement",
            ),
        ] {
            let problem = settings(text).unwrap_err();
            assert!(problem.starts_with(said), "{problem}");
        }
    }
}
