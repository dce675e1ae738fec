//! Reading profiles, and the known failures of an agent's own `harness.toml`.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::{Consent, Known, Profile, ProfileFile, tools};
use crate::source::{Field, Problem, Source, Table, Value, parse};

const KEYS: [&str; 15] = [
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
    "known",
    "allow",
    "auth",
    "commands",
    "tools",
];

/// The steering keys that an agent's repository may set in its `harness.toml`.
const STEERING: [&str; 5] = ["known", "allow", "auth", "commands", "tools"];

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
        ..Profile::default()
    };
    steering(&mut profile, &table, known_id)?;
    Ok(profile)
}

/// Lays what an agent's own `harness.toml` says over its profile: known failures are added, the other keys take the place
/// of the profile's.
///
/// # Errors
/// The first thing that is wrong in it, at its place.
pub fn steer(
    profile: &mut Profile,
    source: &Source,
    known_id: &dyn Fn(&str) -> bool,
) -> Result<(), Problem> {
    let document = parse(source)?;
    let table = Field {
        source,
        name: "harness",
        node: &document,
    }
    .table(&STEERING)?;
    steering(profile, &table, known_id)
}

fn steering(
    profile: &mut Profile,
    table: &Table<'_>,
    known_id: &dyn Fn(&str) -> bool,
) -> Result<(), Problem> {
    if let Some(field) = table.get("known") {
        for entry in field.list()? {
            profile.known.push(known(&entry, known_id)?);
        }
    }
    if let Some(field) = table.get("allow") {
        profile.allow = field
            .list()?
            .map(|item| item.word(&Consent::WORDS))
            .collect::<Result<_, _>>()?;
    }
    if let Some(field) = table.get("auth") {
        profile.auth = Some(field.filled()?.to_owned());
    }
    if let Some(field) = table.get("commands") {
        profile.commands = field.strings()?;
    }
    if let Some(field) = table.get("tools") {
        profile.tools = tools::read(&field)?;
    }
    Ok(())
}

fn strings(table: &Table<'_>, name: &str) -> Result<Vec<String>, Problem> {
    Ok(table
        .maybe(name, |field| field.strings())?
        .unwrap_or_default())
}

fn env(field: Field<'_>) -> Result<Vec<(String, String)>, Problem> {
    field
        .free_table()?
        .fields()
        .map(|variable| {
            if variable.name.is_empty() || variable.name.contains(['=', '\0']) {
                return Err(
                    variable.problem(format!("`{}` is no name of a variable", variable.name))
                );
            }
            Ok((variable.name.to_owned(), variable.string()?.to_owned()))
        })
        .collect()
}

fn file(field: Field<'_>) -> Result<ProfileFile, Problem> {
    let table = field.table(&["path", "text"])?;
    let path = table.need("path")?;
    let text = path.string()?;
    let inside = text
        .strip_prefix("{home}/")
        .or_else(|| text.strip_prefix("{cwd}/"));
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

fn known(field: &Field<'_>, known_id: &dyn Fn(&str) -> bool) -> Result<Known, Problem> {
    let table = field.table(&["id", "scenario", "versions", "reason", "link", "until"])?;
    let id = table.need("id")?;
    if !known_id(id.string()?) {
        return Err(id
            .problem(format!("there is no requirement `{}`", id.string()?))
            .help("`harness list requirements` shows all of them"));
    }
    let text = |name: &str| {
        Ok::<_, Problem>(
            table
                .maybe(name, |field| field.filled())?
                .map(str::to_owned),
        )
    };
    Ok(Known {
        file: field.source.name.clone(),
        position: table.position(),
        id: id.string()?.to_owned(),
        scenario: text("scenario")?,
        versions: strings(&table, "versions")?,
        reason: table.need("reason")?.filled()?.to_owned(),
        link: text("link")?,
        until: table.maybe("until", |field| day(&field))?,
    })
}

/// A day, as a TOML date or as a string.
fn day(field: &Field<'_>) -> Result<String, Problem> {
    let text = match &field.node.value {
        Value::Date(text) | Value::String(text) => text,
        _ => return Err(field.problem("`until` must be a day such as 2027-01-31")),
    };
    match text.parse::<jiff::civil::Date>() {
        Ok(day) => Ok(day.to_string()),
        Err(_) => Err(field
            .problem(format!("`{text}` is no day"))
            .help("expected a day such as 2027-01-31")),
    }
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
    fn the_settings_of_an_agents_repository_go_over_its_profile() {
        let mut profile = read_text(&format!(
            "{HEAD}commands = [\"a\"]\n[[known]]\nid = \"MCP-01\"\nreason = \"one\""
        ))
        .unwrap();
        let own = Source::new(
            "harness.toml",
            "commands = [\"b\"]\n[[known]]\nid = \"MCP-01\"\nreason = \"two\"\nuntil = 2027-01-31",
        );
        steer(&mut profile, &own, &|_| true).unwrap();
        assert_eq!(profile.commands, ["b"]);
        let reasons: Vec<_> = profile
            .known
            .iter()
            .map(|known| (known.reason.as_str(), known.until.as_deref()))
            .collect();
        assert_eq!(reasons, [("one", None), ("two", Some("2027-01-31"))]);
    }

    #[test]
    fn settings_of_a_profile_are_refused_in_an_agents_repository() {
        let own = Source::new("harness.toml", "command = [\"x\"]");
        let said = steer(&mut Profile::default(), &own, &|_| true)
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("unknown key `command`") && said.contains("did you mean `commands`?"),
            "{said}"
        );
    }
}
