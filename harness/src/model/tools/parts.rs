//! What a call carries, as the parameters of tools want it.

use std::path::Path;

use serde_json::{Value, json};

use super::known::Part;
use super::names;
use super::place::Target;
use super::schema::{self, kind_of};
use crate::model::script::Call;

/// The parts of a call.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    call: &'a Call,
}

impl<'a> Parts<'a> {
    /// Those of this call.
    pub(super) fn of(call: &'a Call) -> Self {
        Self { call }
    }

    /// Whether the call has something for each of these parts.
    pub(super) fn has_all(&self, form: &[Part]) -> bool {
        form.iter().all(|part| self.text(*part).is_some())
    }

    /// The text for a part, where a parameter asks for nothing special; of a patch just something.
    fn text(&self, part: Part) -> Option<String> {
        let call = self.call;
        match part {
            Part::Command | Part::Arguments => call.command.clone(),
            Part::Program => call.command.as_ref().map(|_| "sh".to_owned()),
            Part::Path => call.path.clone(),
            Part::Content => call.content.clone(),
            Part::Old => {
                let makes_it = call.content.as_ref().map(|_| String::new());
                call.old.clone().or(makes_it)
            }
            Part::New => call.new.clone().or_else(|| call.content.clone()),
            Part::Patch => call.path.clone(),
            Part::Url => call.url.clone(),
            Part::Question => call
                .url
                .as_ref()
                .map(|url| format!("Say what is at {url} .")),
            Part::Pattern => call.pattern.clone(),
            Part::Ask => call.question.clone(),
        }
    }

    /// What goes into the parameter for a part, in the type that it wants; `None` where it wants something else.
    pub(super) fn carried(
        &self,
        part: Part,
        name: &str,
        property: &Value,
        target: Target<'_>,
    ) -> Option<Value> {
        let text = self.text(part)?;
        let text = match part {
            Part::Command | Part::Arguments | Part::Url => in_folder(&text, target.folder),
            Part::Path => located(&text, name, property, target),
            Part::Patch => self.patch(&in_folder(&text, target.folder)),
            _ => text,
        };
        let strings = || {
            let items = property.get("items");
            items.is_none_or(|items| matches!(kind_of(items), "string" | ""))
        };
        match (part, kind_of(property)) {
            (Part::Arguments, "array") if strings() => Some(json!(["-c", text])),
            (Part::Arguments, _) => None,
            (_, "string" | "") => Some(json!(text)),
            // A list is the words of a program, or commands one by one.
            (Part::Command, "array") if strings() => Some(match names::plural(name) {
                true => json!([text]),
                false => json!(["bash", "-lc", text]),
            }),
            (Part::Path | Part::Url, "array") if strings() => Some(json!([text])),
            _ => None,
        }
    }

    /// The text for a tool that takes plain text: a patch, or the command line.
    pub(super) fn freeform(&self, form: &[Part], folder: Option<&Path>) -> Option<String> {
        let [part] = form else {
            return None;
        };
        let text = in_folder(&self.text(*part)?, folder);
        match part {
            Part::Patch => Some(self.patch(&text)),
            Part::Command => Some(text),
            _ => None,
        }
    }

    /// A patch in the usual form.
    fn patch(&self, path: &str) -> String {
        let call = self.call;
        let lines = |sign: char, text: &str| -> String {
            text.lines().map(|line| format!("{sign}{line}\n")).collect()
        };
        let change = match (&call.old, &call.new, &call.content) {
            (Some(old), Some(new), _) => format!(
                "*** Update File: {path}\n@@\n{}{}",
                lines('-', old),
                lines('+', new)
            ),
            (_, _, Some(content)) => format!("*** Add File: {path}\n{}", lines('+', content)),
            _ => format!("*** Delete File: {path}\n"),
        };
        format!("*** Begin Patch\n{change}*** End Patch\n")
    }

    /// The command line that does the same, where `line` holds the parts in braces; each is quoted.
    pub(super) fn command_line(
        &self,
        form: &[Part],
        line: &str,
        folder: Option<&Path>,
    ) -> Option<String> {
        if !self.has_all(form) {
            return None;
        }
        let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
        let fill = |text: &str| quoted(&in_folder(text, folder));
        self.fill(line, &fill)
    }

    /// A text with what stands in braces replaced by parts of the call; `None` where the call does not have one.
    pub(super) fn given(&self, text: &str, folder: Option<&Path>) -> Option<String> {
        let absolute = self.call.path.as_deref().map(|path| {
            let path = in_folder(path, folder);
            folder.map_or_else(
                || path.clone(),
                |folder| folder.join(&path).to_string_lossy().into_owned(),
            )
        });
        let text = match (text.contains("{absolute_path}"), absolute) {
            (true, None) => return None,
            (true, Some(absolute)) => text.replace("{absolute_path}", &absolute),
            (false, _) => text.to_owned(),
        };
        self.fill(&in_folder(&text, folder), &|text| in_folder(text, folder))
    }

    fn fill(&self, text: &str, write: &dyn Fn(&str) -> String) -> Option<String> {
        let call = self.call;
        let members = [
            ("{command}", &call.command),
            ("{path}", &call.path),
            ("{content}", &call.content),
            ("{old}", &call.old),
            ("{new}", &call.new),
            ("{url}", &call.url),
            ("{pattern}", &call.pattern),
            ("{question}", &call.question),
        ];
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        // One pass, so that what a part holds is not taken for a placeholder.
        while let Some(at) = rest.find('{') {
            let (before, behind) = rest.split_at(at);
            filled.push_str(before);
            match members.iter().find(|(name, _)| behind.starts_with(name)) {
                Some((name, value)) => {
                    filled.push_str(&write(value.as_deref()?));
                    rest = behind.get(name.len()..).unwrap_or_default();
                }
                None => {
                    filled.push('{');
                    rest = behind.get(1..).unwrap_or_default();
                }
            }
        }
        filled.push_str(rest);
        Some(filled)
    }
}

/// A path as the tool wants it: absolute under the session's folder where its parameter says so, as an address where it
/// is to be one.
fn located(path: &str, name: &str, property: &Value, target: Target<'_>) -> String {
    let path = in_folder(path, target.folder);
    let described = schema::description(property);
    let words = names::words(name);
    let is_address = words.iter().any(|word| word == "uri") || described.contains("file://");
    let absolute = is_address
        || words.iter().any(|word| word.starts_with("abs"))
        || name == "filePath"
        || described.contains("absolute")
        || (described.is_empty() && target.description.to_lowercase().contains("absolute"));
    let path = match target.folder {
        // `join` leaves a path that is absolute already as it is.
        Some(folder) if absolute => folder.join(path).to_string_lossy().into_owned(),
        _ => path,
    };
    match is_address && path.starts_with('/') {
        true => format!("file://{path}"),
        false => path,
    }
}

/// A text with `{cwd}` replaced by the session's folder.
pub(super) fn in_folder(text: &str, folder: Option<&Path>) -> String {
    match folder {
        Some(folder) => text.replace("{cwd}", &folder.to_string_lossy()),
        None => text.to_owned(),
    }
}
