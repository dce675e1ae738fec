//! Reading profiles.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::steering::Steering;
use super::{Profile, ProfileFile, Versions};
use crate::source::{Field, Problem, Source, Table, parse};

const KEYS: [&str; 17] = [
    "name",
    "about",
    "install",
    "command",
    "programs",
    "env",
    "file",
    "slow",
    "memory_mb",
    "versions",
    "node",
    "known",
    "allow",
    "auth",
    "set_mode",
    "commands",
    "tools",
];

/// Why a profile was not read.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("cannot read `{}`: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is not right.
    #[error("{0}")]
    Wrong(Problem),
}

/// Reads a profile. `known_id` says whether a requirement exists.
///
/// # Errors
/// The first thing that is wrong in it, at its place.
pub fn read(source: &Source, known_id: &dyn Fn(&str) -> bool) -> Result<Profile, Problem> {
    let document = parse(source)?;
    let table = Field {
        source,
        name: "profile",
        node: &document,
    }
    .table(&KEYS)?;
    let command = table.need("command")?;
    let words = command.strings()?;
    let first = words
        .first()
        .filter(|word| !word.is_empty())
        .ok_or_else(|| command.problem("`command` must have a first word"))?;
    if let Some(word) = words.iter().find(|word| word.contains('\0')) {
        return Err(command.problem(format!("the word `{}` holds a NUL", shown(word))));
    }
    let program = first.rsplit('/').next().unwrap_or(first).to_owned();
    let mut profile = Profile {
        name: table.need("name")?.filled()?.to_owned(),
        about: table.need("about")?.filled()?.to_owned(),
        install: strings(&table, "install")?,
        programs: table
            .maybe("programs", |field| field.strings())?
            .unwrap_or_else(|| vec![program]),
        command: words,
        env: table.maybe("env", env)?.unwrap_or_default(),
        files: match table.get("file") {
            Some(field) => field.list()?.map(file).collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
        slow: table
            .maybe("slow", |field| field.positive())?
            .unwrap_or(1.0),
        memory_mb: table.maybe("memory_mb", |field| field.count(1..=1_000_000))?,
        versions: table
            .maybe("versions", |field| field.filled())?
            .map(str::to_owned),
        node: table.maybe("node", range)?,
        ..Profile::default()
    };
    Steering::read(&table, known_id)?.lay_over(&mut profile);
    Ok(profile)
}

pub(super) fn strings(table: &Table<'_>, name: &str) -> Result<Vec<String>, Problem> {
    Ok(table
        .maybe(name, |field| field.strings())?
        .unwrap_or_default())
}

pub(super) fn env(field: Field<'_>) -> Result<Vec<(String, String)>, Problem> {
    field
        .free_table()?
        .fields()
        .map(|variable| {
            if variable.name.is_empty() || variable.name.contains(['=', '\0']) {
                return Err(variable.problem(format!(
                    "`{}` is no name of a variable",
                    shown(variable.name)
                )));
            }
            let value = variable.string()?;
            if value.contains('\0') {
                return Err(variable
                    .problem(format!("the value of `{}` holds a NUL", variable.name))
                    .help("no program can be given one: take it out"));
            }
            Ok((variable.name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// A text with a sign in place of each NUL, which no terminal shows.
fn shown(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Versions of a program that is needed, such as `>=20`.
fn range(field: Field<'_>) -> Result<Versions, Problem> {
    let text = field.filled()?;
    Versions::read(text).ok_or_else(|| {
        field
            .problem(format!("`{text}` names no versions"))
            .help("expected something like `>=20`, `^20.19 || >=22.12`")
    })
}

fn file(field: Field<'_>) -> Result<ProfileFile, Problem> {
    let table = field.table(&["path", "text"])?;
    let path = table.need("path")?;
    let text = path.string()?;
    let inside = text
        .strip_prefix("{home}/")
        .or_else(|| text.strip_prefix("{cwd}/"));
    if text.contains('\0') {
        return Err(path.problem(format!("the path `{}` holds a NUL", shown(text))));
    }
    if inside.is_none_or(|rest| rest.is_empty() || rest.split('/').any(|part| part == "..")) {
        return Err(path
            .problem(format!("`{text}` may lie outside the folders of the run"))
            .help("begin it with `{home}/` or `{cwd}/`, and leave `..` out"));
    }
    Ok(ProfileFile {
        path: text.to_owned(),
        text: table.need("text")?.string()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name = \"x\"\nabout = \"an agent\"\ncommand = [\"bin/x\", \"acp\"]\n";

    fn read_text(text: &str) -> Result<Profile, String> {
        read(&Source::new("profiles/x.toml", text), &|id| id == "MCP-01")
            .map_err(|problem| problem.to_string())
    }

    fn refused(lines: &str) -> String {
        read_text(&format!("{HEAD}{lines}")).unwrap_err()
    }

    #[test]
    fn the_program_of_the_command_finds_the_profile_where_it_names_none() {
        assert_eq!(read_text(HEAD).unwrap().programs, ["x"]);
    }

    #[test]
    fn what_no_program_can_be_given_is_refused_at_its_place() {
        for (lines, said) in [
            (
                "[env]\nA = \"\\u0000\"",
                "profiles/x.toml:5:5: the value of `A` holds a NUL",
            ),
            (
                "[[file]]\npath = \"{home}/a\\u0000\"\ntext = \"\"",
                "profiles/x.toml:5:8: the path `{home}/a\u{fffd}` holds a NUL",
            ),
        ] {
            let problem = refused(lines);
            assert!(problem.starts_with(said), "{problem}");
        }
        let command = "name = \"x\"\nabout = \"y\"\ncommand = [\"x\", \"\\u0000\"]\n";
        let problem = read_text(command).unwrap_err();
        assert!(
            problem.contains(":3:11: the word `\u{fffd}` holds a NUL"),
            "{problem}"
        );
    }

    #[test]
    fn a_file_outside_of_the_folders_of_the_run_is_refused() {
        let said = refused("[[file]]\npath = \"/etc/x\"\ntext = \"\"");
        assert!(
            said.starts_with("profiles/x.toml:5:8: `/etc/x` may lie outside"),
            "{said}"
        );
        assert!(refused("[[file]]\npath = \"{home}/../x\"\ntext = \"\"").contains("outside"));
    }

    #[test]
    fn a_known_failure_needs_an_id_that_exists_and_a_reason() {
        assert!(
            refused("[[known]]\nid = \"MCP-99\"\nreason = \"so\"")
                .contains("no requirement `MCP-99`")
        );
        assert!(refused("[[known]]\nid = \"MCP-01\"").contains("`reason` is missing"));
        assert!(
            refused("[[known]]\nid = \"MCP-01\"\nreason = \"so\"\nuntil = \"soon\"")
                .contains("`soon` is no day")
        );
    }

    #[test]
    fn versions_of_node_that_are_none_are_refused() {
        assert!(refused("node = \"new\"").contains("`new` names no versions"));
        let profile = read_text(&format!("{HEAD}node = \">=20\"")).unwrap();
        assert!(profile.node.unwrap().hold("v22.1.0"));
    }
}
