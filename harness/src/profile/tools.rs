//! Reading the table `[tools]`.

use crate::model::script::KINDS;
use crate::model::{ToolMap, ToolUse};
use crate::source::{Field, Problem};

/// Reads which tools serve which kinds: a name, a table, or a list of these for each kind.
pub(super) fn read(field: &Field<'_>) -> Result<ToolMap, Problem> {
    let mut map = ToolMap::default();
    for kind in field.table(&KINDS)?.fields() {
        for tool in kind.one_or_more() {
            map.rows.push((kind.name.to_owned(), tool_use(&tool)?));
        }
    }
    Ok(map)
}

fn tool_use(field: &Field<'_>) -> Result<ToolUse, Problem> {
    if field.string().is_ok() {
        return Ok(ToolUse::of(field.filled()?));
    }
    let table = field
        .table(&["tool", "arguments", "with", "text"])
        .map_err(|problem| {
            problem.help("write the tool's name, or `{ tool = \"NAME\", with = {…} }`")
        })?;
    if let (Some(_), Some(text)) = (table.get("arguments"), table.get("text")) {
        return Err(text.problem("a tool takes either `arguments` or `text`"));
    }
    Ok(ToolUse {
        tool: table.need("tool")?.filled()?.to_owned(),
        arguments: table.maybe("arguments", |field| field.object())?,
        with: table
            .maybe("with", |field| field.object())?
            .unwrap_or_default(),
        text: table
            .maybe("text", |field| field.string())?
            .map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::read;
    use super::*;
    use crate::source::Source;

    const HEAD: &str = "name = \"x\"\nabout = \"an agent\"\ncommand = [\"x\"]\n";

    fn read_text(text: &str) -> Result<ToolMap, String> {
        let source = Source::new("profiles/x.toml", format!("{HEAD}{text}"));
        let profile = read(&source, &|_| true).map_err(|problem| problem.to_string())?;
        Ok(profile.tools)
    }

    #[test]
    fn a_kind_is_served_by_a_tool_or_the_first_of_several_in_the_order_of_the_file() {
        let map = read_text(
            "[tools]\nexecute = [{ tool = \"sh\", with = { ask = true } }, \"bash\"]\n\
             edit = { tool = \"put\", arguments = { at = \"{path}\" } }\n\
             delete = { tool = \"patch\", text = \"- {path}\" }",
        )
        .unwrap();
        let all: Vec<_> = map
            .rows
            .iter()
            .map(|(kind, tool)| (kind.as_str(), tool.tool.as_str()))
            .collect();
        assert_eq!(
            all,
            [
                ("execute", "sh"),
                ("execute", "bash"),
                ("edit", "put"),
                ("delete", "patch")
            ]
        );
        let execute: Vec<_> = map.uses("execute").collect();
        assert_eq!(json!(execute[0].with), json!({"ask": true}));
        assert_eq!(execute[1], &ToolUse::of("bash"));
        assert_eq!(
            map.uses("delete").next().unwrap().text.as_deref(),
            Some("- {path}")
        );
    }

    #[test]
    fn what_is_no_kind_or_no_tool_is_refused_at_its_place() {
        for (text, part) in [
            (
                "[tools]\nexec = \"sh\"",
                "profiles/x.toml:5:1: unknown key `exec`",
            ),
            ("[tools]\nread = 5", "write the tool's name"),
            ("[tools]\nread = \"\"", "profiles/x.toml:5:8"),
            ("[tools]\nread = { arguments = {} }", "`tool` is missing"),
            (
                "[tools]\nread = { tool = \"x\", arguments = {}, text = \"\" }",
                "`text`",
            ),
        ] {
            let said = read_text(text).unwrap_err();
            assert!(said.contains(part), "{said}");
        }
    }
}
