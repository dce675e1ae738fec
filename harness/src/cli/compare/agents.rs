//! `agents.toml`: the agents that are compared, and how each is started.

use std::path::Path;

use super::Column;
use crate::agent::Command;
use crate::source::{Field, Problem, Source, Table, parse};

/// The keys of an entry.
const KEYS: [&str; 4] = ["name", "command", "profile", "env"];

/// Reads the file. Paths in it begin at its folder.
///
/// # Errors
/// A sentence on what is wrong, with line and column.
pub(super) fn read(path: &Path) -> Result<Vec<Column>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let source = Source::new(path.display().to_string(), text);
    columns(&source, folder).map_err(|problem| problem.to_string())
}

fn columns(source: &Source, folder: &Path) -> Result<Vec<Column>, Problem> {
    let document = parse(source)?;
    let table = Field {
        source,
        name: "agents",
        node: &document,
    }
    .table(&["agent"])?;
    let list = table.need("agent")?.list()?;
    list.map(|entry| column(&entry.table(&KEYS)?, folder))
        .collect()
}

fn column(entry: &Table<'_>, folder: &Path) -> Result<Column, Problem> {
    let mut words = Vec::new();
    let command = entry.maybe("command", |field| {
        let command = Command::parse(field.filled()?)
            .map_err(|error| field.problem(error.to_string()))?
            .from_folder(folder);
        let shown = command.words().iter().map(|word| word.to_string_lossy());
        Ok(shell_words::join(shown))
    })?;
    let profile = entry.maybe("profile", |field| {
        let profile = field.filled()?;
        Ok(match profile.contains('/') || profile.ends_with(".toml") {
            true => folder.join(profile).display().to_string(),
            false => profile.to_owned(),
        })
    })?;
    if command.is_none() && profile.is_none() {
        return Err(entry.problem("an agent needs a `command` or a `profile`"));
    }
    words.extend(
        command
            .into_iter()
            .flat_map(|it| ["--agent".to_owned(), it]),
    );
    words.extend(
        profile
            .into_iter()
            .flat_map(|it| ["--profile".to_owned(), it]),
    );
    if let Some(variables) = entry.get("env") {
        for variable in variables.free_table()?.fields() {
            let value = variable.string()?;
            words.extend(["--env".to_owned(), format!("{}={value}", variable.name)]);
        }
    }
    let name = entry.need("name")?.filled()?.to_owned();
    Ok(Column::of_agent(name, words))
}

#[cfg(test)]
mod tests {
    use super::super::From;
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, Vec<String>)>, String> {
        let source = Source::new("agents.toml", text);
        let columns = columns(&source, Path::new("/repo")).map_err(|it| it.to_string())?;
        let told = columns.into_iter().map(|column| match column.from {
            From::Agent(words) => (column.name, words),
            From::Report(path) => panic!("{}", path.display()),
        });
        Ok(told.collect())
    }

    #[test]
    fn an_agent_is_started_from_the_folder_of_the_file() {
        let text = "[[agent]]\nname = \"new\"\ncommand = \"build/agent --acp\"\nenv = { A = \"b\" }\n\
            [[agent]]\nname = \"other\"\nprofile = \"opencode\"\n";
        let expected = [
            (
                "new",
                vec!["--agent", "/repo/build/agent --acp", "--env", "A=b"],
            ),
            ("other", vec!["--profile", "opencode"]),
        ];
        let own = |it: Vec<&str>| it.into_iter().map(str::to_owned).collect();
        let expected: Vec<(String, Vec<String>)> = expected
            .into_iter()
            .map(|(name, words)| (name.to_owned(), own(words)))
            .collect();
        assert_eq!(read(text).unwrap(), expected);
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        for (text, part) in [
            ("[[agent]]\nname = \"a\"\n", "agents.toml:1"),
            ("[[agent]]\ncommand = \"a\"\n", "`name`"),
            (
                "[[agent]]\nname = \"a\"\ncomand = \"b\"\n",
                "agents.toml:3:1",
            ),
            ("[[agents]]\n", "agents.toml:1"),
            ("", "`agent`"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(part), "{text}: {said}");
        }
    }
}
