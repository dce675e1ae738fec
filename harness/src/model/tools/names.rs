//! Names of tools and parameters, and the words that they are made of.
//!
//! Names are compared without case, `_` and `-`, so that `read_file`, `readFile` and `ReadFile` are one name here.

/// Whether a list of this name holds whole commands, not the words of one.
pub(super) fn plural(name: &str) -> bool {
    let words = words(name);
    words
        .iter()
        .any(|word| word == "commands" || word == "cmds")
}

/// Whether one of the wanted words is among these, as it is or with an s behind it.
pub(super) fn among(words: &[String], wanted: &[&str]) -> bool {
    words.iter().any(|own| {
        let stem = own.strip_suffix('s').unwrap_or(own);
        wanted.iter().any(|word| own == word || stem == *word)
    })
}

/// Whether two names are one, as this module compares them.
pub(super) fn same(left: &str, right: &str) -> bool {
    plain(left).eq(plain(right))
}

fn plain(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
}

/// The words of a name, in lower case: `runShell_command` is `run`, `shell`, `command`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small_before = false;
    for character in name.chars() {
        let begins = !character.is_alphanumeric() || (character.is_uppercase() && small_before);
        if begins {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
        small_before = character.is_lowercase() || character.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_and_separators() {
        assert!(same("readFile", "read_file"));
        assert!(same("File-Path", "filePath"));
        assert!(!same("read", "read_file"));
    }

    #[test]
    fn a_name_falls_into_words() {
        assert_eq!(words("runShell_command"), ["run", "shell", "command"]);
        assert_eq!(words("mcp__dev__Bash"), ["mcp", "dev", "bash"]);
    }
}
