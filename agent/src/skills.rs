//! Skills: instructions on a subject, in `skills/<name>/SKILL.md` under a session's folder.

use std::path::{Path, PathBuf};

/// A skill as its front matter introduces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) path: PathBuf,
}

/// The skills of a folder, by name.
pub(crate) fn of_folder(folder: &Path) -> Vec<Skill> {
    let Ok(entries) = std::fs::read_dir(folder.join("skills")) else {
        return Vec::new();
    };
    let mut skills: Vec<Skill> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let path = entry.path().join("SKILL.md");
            let text = std::fs::read_to_string(&path).ok()?;
            let folder = entry.file_name().to_string_lossy().into_owned();
            let (name, description) = front_matter(&text);
            Some(Skill {
                name: name.unwrap_or(folder),
                description: description.unwrap_or_default(),
                path,
            })
        })
        .collect();
    skills.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.path.cmp(&b.path)));
    skills
}

/// The text of the skill that is called `name`.
pub(crate) fn read(folder: &Path, name: &str) -> Result<String, String> {
    let skills = of_folder(folder);
    let Some(skill) = skills.iter().find(|skill| skill.name == name) else {
        let known: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
        return Err(if known.is_empty() {
            format!("there is no skill `{name}`, and this folder has none")
        } else {
            format!("there is no skill `{name}`; known: {}", known.join(", "))
        });
    };
    std::fs::read_to_string(&skill.path)
        .map_err(|error| format!("{}: cannot be read: {error}", skill.path.display()))
}

/// `name` and `description` between the first two lines of dashes.
fn front_matter(text: &str) -> (Option<String>, Option<String>) {
    let mut lines = text.lines().map(str::trim_end);
    if lines.next() != Some("---") {
        return (None, None);
    }
    let (mut name, mut description) = (None, None);
    for line in lines.take_while(|line| *line != "---") {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = unquoted(value.trim());
        if value.is_empty() {
            continue;
        }
        match key {
            "name" => name = Some(value.to_owned()),
            "description" => description = Some(value.to_owned()),
            _ => {}
        }
    }
    (name, description)
}

fn unquoted(value: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn folder_with(skills: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in skills {
            let skill = folder.path().join("skills").join(name);
            std::fs::create_dir_all(&skill).unwrap();
            std::fs::write(skill.join("SKILL.md"), text).unwrap();
        }
        folder
    }

    #[test]
    fn skills_are_introduced_by_their_front_matter_and_sorted() {
        let folder = folder_with(&[
            (
                "z",
                "---\nname: tests\ndescription: \"How: to test\"\n---\nbody",
            ),
            ("a", "no front matter"),
        ]);
        let skills = of_folder(folder.path());
        let seen: Vec<(&str, &str)> = skills
            .iter()
            .map(|skill| (skill.name.as_str(), skill.description.as_str()))
            .collect();
        assert_eq!(seen, [("a", ""), ("tests", "How: to test")]);
    }

    #[test]
    fn a_folder_without_skills_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(of_folder(folder.path()).is_empty());
        assert!(read(folder.path(), "x").is_err());
    }

    #[test]
    fn a_name_cannot_leave_the_folder() {
        let folder = folder_with(&[("a", "text")]);
        assert_eq!(read(folder.path(), "a").unwrap(), "text");
        assert_eq!(
            read(folder.path(), "../skills/a").unwrap_err(),
            "there is no skill `../skills/a`; known: a"
        );
    }
}
