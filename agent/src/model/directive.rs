//! The directives that the embedded model obeys, a line each.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::plan;

/// What the names of servers' tools begin with.
const SERVER_PREFIX: &str = "mcp__";

/// What one line of a prompt asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Directive {
    /// Text, said as it is: `say TEXT`, or a line that is no directive.
    Say(String),
    /// `stream N MS`: numbered chunks, some milliseconds apart.
    Stream { chunks: u64, pause_ms: u64 },
    /// `think TEXT`.
    Think(String),
    /// A tool call.
    Call {
        tool: Cow<'static, str>,
        arguments: Value,
    },
    /// `done N`: so many steps of the last plan are done.
    Done(usize),
    /// `wait MS`.
    Wait(u64),
    /// `fail MESSAGE`.
    Fail(String),
    /// `fail-summary MESSAGE`: the next summary fails.
    FailSummary(String),
}

/// A directive and how often it is carried out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) directive: Directive,
    pub(crate) times: u64,
}

impl Step {
    /// Whether each time is a tool call, and so ends an answer.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.directive, Directive::Call { .. } | Directive::Done(_))
    }
}

/// Reads a prompt. Lines that are no directive are echoed, neighbours among them as one text.
///
/// `more`: whether directives for tools that not every surface has are known.
pub(crate) fn parse(prompt: &str, more: bool) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut echo: Option<String> = None;
    for line in prompt.lines() {
        match step(line, more) {
            Some(step) => {
                steps.extend(echo.take().map(said));
                steps.push(step);
            }
            None => match &mut echo {
                Some(text) => {
                    text.push('\n');
                    text.push_str(line);
                }
                None => echo = Some(line.to_owned()),
            },
        }
    }
    steps.extend(echo.map(said));
    steps
}

fn said(text: String) -> Step {
    Step {
        directive: Directive::Say(text),
        times: 1,
    }
}

fn step(line: &str, more: bool) -> Option<Step> {
    let mut rest = line.trim_start();
    let mut times: u64 = 1;
    while let Some(repeated) = rest.strip_prefix("repeat ") {
        let (count, directive) = repeated.split_once(' ')?;
        times = times.saturating_mul(count.parse().ok()?);
        rest = directive;
    }
    directive(rest)
        .or_else(|| another(rest).filter(|_| more))
        .map(|directive| Step { directive, times })
}

/// A directive that every surface has.
fn directive(line: &str) -> Option<Directive> {
    let (word, rest) = word(line)?;
    Some(match word {
        "say" => Directive::Say(rest.to_owned()),
        "stream" => {
            let (chunks, pause) = rest.trim().split_once(' ')?;
            Directive::Stream {
                chunks: chunks.parse().ok()?,
                pause_ms: pause.trim().parse().ok()?,
            }
        }
        "think" => Directive::Think(rest.to_owned()),
        "run" => call("bash", json!({ "command": rest })),
        "read" => call("read_file", json!({ "path": rest.trim() })),
        "write" => {
            let (path, content) = rest
                .trim_start()
                .split_once(' ')
                .unwrap_or((rest.trim(), ""));
            call("write_file", json!({ "path": path, "content": content }))
        }
        "edit" => {
            let (path, change) = rest.trim_start().split_once(' ')?;
            let (old, new) = change.split_once(" => ")?;
            call("edit_file", json!({ "path": path, "old": old, "new": new }))
        }
        "skill" => call("read_skill", json!({ "name": rest.trim() })),
        "wait" => Directive::Wait(rest.trim().parse().ok()?),
        "fail" => Directive::Fail(rest.to_owned()),
        "fail-summary" => Directive::FailSummary(rest.to_owned()),
        _ => return None,
    })
}

/// A directive for a tool that not every surface has.
fn another(line: &str) -> Option<Directive> {
    let (word, rest) = word(line)?;
    Some(match word {
        "mode" => call("switch_mode", json!({ "mode": rest.trim() })),
        "plan" => {
            let steps = rest
                .split(';')
                .map(str::trim)
                .filter(|step| !step.is_empty());
            let checklist = plan::checklist(steps, 0);
            call("update_plan", json!({ "steps": checklist }))
        }
        "done" => Directive::Done(rest.trim().parse().ok()?),
        "mcp" => server_call(rest)?,
        "ask-url" => call(
            "ask_user",
            json!({ "question": "Go to this page, please.", "url": rest.trim() }),
        ),
        "ask" => call("ask_user", json!({ "question": rest.trim() })),
        _ => return None,
    })
}

/// The first word of a line, and what stands behind it.
fn word(line: &str) -> Option<(&str, &str)> {
    line.split_once(' ')
        .filter(|(_, rest)| !rest.trim().is_empty())
}

fn call(tool: impl Into<Cow<'static, str>>, arguments: Value) -> Directive {
    Directive::Call {
        tool: tool.into(),
        arguments,
    }
}

/// A call of a server's tool, whose name may be given without the `mcp__` that all have.
fn server_call(text: &str) -> Option<Directive> {
    let text = text.trim();
    let (name, arguments) = text.split_once(' ').unwrap_or((text, "{}"));
    let arguments: Map<String, Value> = serde_json::from_str(arguments).ok()?;
    let own = name.strip_prefix(SERVER_PREFIX).unwrap_or(name);
    Some(call(format!("{SERVER_PREFIX}{own}"), arguments.into()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn each_directive_is_read() {
        let prompt = "say  two  spaces\nstream 3 10\nthink hm\nrun ls -l | wc\nread a b.txt\n\
                      write a.txt one two\nedit a.txt one => 1 => 2\nskill s\nwait 5\nfail no\n\
                      fail-summary later";
        let steps = parse(prompt, false);
        let directives: Vec<Directive> = steps.into_iter().map(|step| step.directive).collect();
        assert_eq!(
            directives,
            [
                Directive::Say(" two  spaces".into()),
                Directive::Stream {
                    chunks: 3,
                    pause_ms: 10
                },
                Directive::Think("hm".into()),
                call("bash", json!({"command": "ls -l | wc"})),
                call("read_file", json!({"path": "a b.txt"})),
                call("write_file", json!({"path": "a.txt", "content": "one two"})),
                call(
                    "edit_file",
                    json!({"path": "a.txt", "old": "one", "new": "1 => 2"})
                ),
                call("read_skill", json!({"name": "s"})),
                Directive::Wait(5),
                Directive::Fail("no".into()),
                Directive::FailSummary("later".into()),
            ]
        );
    }

    #[test]
    fn a_tool_of_a_server_is_called_with_an_object() {
        let step = |line| parse(line, true).remove(0).directive;
        let expected = call("mcp__a__b", json!({"c": 1}));
        assert_eq!(step("mcp mcp__a__b {\"c\": 1}"), expected);
        assert_eq!(step("mcp a__b {\"c\": 1}"), expected);
        assert_eq!(step("mcp a__b"), call("mcp__a__b", json!({})));
        for line in ["mcp a__b [1]", "mcp a__b {"] {
            assert_eq!(step(line), Directive::Say(line.to_owned()));
        }
    }

    #[test]
    fn what_is_no_directive_is_echoed_with_its_line_breaks() {
        let steps = parse("hello\n\n  world\nsay x\nstream many 1\nsay", false);
        let texts: Vec<Directive> = steps.into_iter().map(|step| step.directive).collect();
        assert_eq!(
            texts,
            [
                Directive::Say("hello\n\n  world".into()),
                Directive::Say("x".into()),
                Directive::Say("stream many 1\nsay".into()),
            ]
        );
    }

    #[test]
    fn a_repeated_repeat_multiplies() {
        let steps = parse("repeat 2 repeat 3 run true", false);
        assert_eq!(steps[0].times, 6);
        assert!(steps[0].is_call());
    }
}
