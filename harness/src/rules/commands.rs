//! COMMANDS-01, -02 and INTEROP-16: the commands that the agent advertises.

use serde_json::Value;

use super::quote::quote;
use super::schema::faults_in;
use super::{Moment, Out, Rule, Update};
use crate::hash::{HashMap, HashSet};

const MEMBERS: &str = "COMMANDS-01";
const WHEN: &str = "COMMANDS-02";
const BARE_WORDS: &str = "INTEROP-16";

const LIST: &str = "/params/update/availableCommands";

/// COMMANDS-01 (schema/v1/schema.json#/$defs/AvailableCommand): each command has name and description, and a hint where it
/// has input.
///
/// COMMANDS-02 (docs/protocol/v1/slash-commands.mdx#advertising-commands): when lists come and how they change is noted.
///
/// INTEROP-16: names are bare words, as clients put the slash in front: not empty, without slash or white space, unique in
/// their list.
#[derive(Default)]
pub(super) struct Commands {
    /// How many commands each session had last.
    last: HashMap<String, usize>,
}

impl Rule for Commands {
    fn judges(&self) -> &'static [&'static str] {
        &[MEMBERS, WHEN, BARE_WORDS]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        let Some(update) = moment
            .update()
            .filter(|update| update.kind == "available_commands_update")
        else {
            return;
        };
        if !moment.talk.is_version_one() {
            return;
        }
        let Some(commands) = update
            .body
            .get("availableCommands")
            .and_then(Value::as_array)
        else {
            return;
        };
        members(moment, out);
        names(moment, commands, out);
        self.when(moment, &update, commands.len(), out);
    }
}

impl Commands {
    fn when(&mut self, moment: &Moment<'_>, update: &Update<'_>, count: usize, out: &mut Out<'_>) {
        let when = match moment.talk.session(update.session) {
            None => "before the session is known",
            Some(session) if session.loading.is_some() => "while the session is loaded",
            Some(session) if !session.turns.is_empty() => "during a turn",
            Some(session) if session.turns_ended == 0 => "before the first turn",
            Some(_) => "between turns",
        };
        let before = match self.last.insert(update.session.to_owned(), count) {
            Some(before) => format!("{before} before"),
            None => "the first list".to_owned(),
        };
        out.note(
            WHEN,
            moment.place(),
            format!("{count} commands ({before}) were announced {when}"),
        );
    }
}

fn members(moment: &Moment<'_>, out: &mut Out<'_>) {
    let mut sound = true;
    for violation in faults_in(moment, LIST) {
        sound = false;
        out.fail(
            MEMBERS,
            moment.at(violation.path.as_str()),
            format!("the list of commands: {}", violation.message),
        );
    }
    if sound {
        out.pass(MEMBERS);
    }
}

fn names(moment: &Moment<'_>, commands: &[Value], out: &mut Out<'_>) {
    let mut seen = HashSet::default();
    for (index, command) in commands.iter().enumerate() {
        let Some(name) = command.get("name").and_then(Value::as_str) else {
            continue;
        };
        let fault = if name.is_empty() {
            Some("is empty")
        } else if name.contains('/') {
            Some("has a slash")
        } else if name.contains(char::is_whitespace) {
            Some("has white space")
        } else if !seen.insert(name) {
            Some("stands twice in the list")
        } else {
            None
        };
        out.check(
            BARE_WORDS,
            fault.is_none(),
            moment.at(format!("{LIST}/{index}/name")),
            || {
                format!(
                    "the command name {} {}, where clients expect unique bare words",
                    quote(name),
                    fault.unwrap_or_default()
                )
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{OPENING, failed, judged};
    use super::*;

    fn list(commands: &str) -> Judgement {
        judged(&format!(
            r#"{OPENING}
            < {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"available_commands_update","availableCommands":{commands}}}}}}}"#
        ))
    }

    fn failures(commands: &str) -> Vec<(&'static str, String)> {
        failed(&list(commands))
            .into_iter()
            .filter(|(id, ..)| [MEMBERS, BARE_WORDS].contains(id))
            .map(|(id, _, path)| (id, path))
            .collect()
    }

    #[test]
    fn commands_with_name_and_description_pass() {
        let judgement = list(
            r#"[{"name":"plan","description":"Make a plan"},{"name":"mcp:ask","description":"Ask","input":{"hint":"what"}}]"#,
        );
        assert!(failed(&judgement).is_empty());
        assert_eq!(judgement.get(MEMBERS).unwrap().passes, 1);
        assert_eq!(judgement.get(BARE_WORDS).unwrap().passes, 2);
        assert_eq!(judgement.get(WHEN).unwrap().notes.len(), 1);
    }

    #[test]
    fn missing_members_fail() {
        assert_eq!(
            failures(r#"[{"name":"plan"}]"#),
            [(MEMBERS, format!("{LIST}/0"))]
        );
        assert!(matches!(
            failures(r#"[{"name":"plan","description":"x","input":{}}]"#).as_slice(),
            [(MEMBERS, path)] if path.starts_with(&format!("{LIST}/0/input"))
        ));
    }

    #[test]
    fn names_that_are_no_bare_words_fail() {
        for name in ["/plan", "make plan", ""] {
            assert_eq!(
                failures(&format!(r#"[{{"name":"{name}","description":"x"}}]"#)),
                [(BARE_WORDS, format!("{LIST}/0/name"))],
                "{name}"
            );
        }
        assert_eq!(
            failures(r#"[{"name":"a","description":"x"},{"name":"a","description":"x"}]"#),
            [(BARE_WORDS, format!("{LIST}/1/name"))]
        );
    }
}
