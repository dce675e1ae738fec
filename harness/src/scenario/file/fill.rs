//! Filling in placeholders in the parts of a scenario.

use serde_json::{Map, Value};

use super::{
    Action, Condition, ErrorCondition, Expect, ModelCondition, Params, Pattern, Placeholder,
    RawInput, TextCondition, WorkspaceCondition, fill, fill_json_text, fill_value,
};
use crate::client::{Content, Planned};
use crate::model::script::{Call, Calls, Reply, Text};

/// What is known for a placeholder, if anything.
type Known<'a> = &'a mut dyn FnMut(&Placeholder) -> Option<Value>;

impl Action {
    /// The action with the placeholders in what it sends or writes filled in.
    ///
    /// # Errors
    /// The first placeholder that `known` knows nothing for.
    pub fn fill(&self, known: Known<'_>) -> Result<Self, Placeholder> {
        Ok(match self {
            Self::Initialize(params) => Self::Initialize(fill_params(params, known)?),
            Self::Authenticate(params) => Self::Authenticate(fill_params(params, known)?),
            Self::Logout(params) => Self::Logout(fill_params(params, known)?),
            Self::New {
                params,
                opens,
                times,
            } => Self::New {
                params: fill_params(params, known)?,
                opens: opens.clone(),
                times: *times,
            },
            Self::Load(params) => Self::Load(fill_params(params, known)?),
            Self::Resume(params) => Self::Resume(fill_params(params, known)?),
            Self::List(params) => Self::List(fill_params(params, known)?),
            Self::Close(params) => Self::Close(fill_params(params, known)?),
            Self::Delete(params) => Self::Delete(fill_params(params, known)?),
            Self::SetMode(params) => Self::SetMode(fill_params(params, known)?),
            Self::SetConfigOption(params) => Self::SetConfigOption(fill_params(params, known)?),
            Self::Cancel(params) => Self::Cancel(fill_params(params, known)?),
            Self::Prompt(blocks) => Self::Prompt(
                blocks
                    .iter()
                    .map(|block| fill_value(block, known))
                    .collect::<Result<_, _>>()?,
            ),
            Self::Request { method, params } => Self::Request {
                method: method.clone(),
                params: params
                    .as_ref()
                    .map(|params| fill_params(params, known))
                    .transpose()?,
            },
            Self::Notify { method, params } => Self::Notify {
                method: method.clone(),
                params: params
                    .as_ref()
                    .map(|params| fill_params(params, known))
                    .transpose()?,
            },
            Self::Send(raw) => Self::Send(RawInput {
                lines: raw
                    .lines
                    .iter()
                    .map(|line| fill_line(line, known))
                    .collect::<Result<_, _>>()?,
                ..raw.clone()
            }),
            Self::Write { path, text } => Self::Write {
                path: path.clone(),
                text: fill(text, known)?,
            },
            Self::CancelRequest(_)
            | Self::Wait(_)
            | Self::Until(_)
            | Self::Release
            | Self::Answer(_)
            | Self::Finish(_)
            | Self::CloseStdin
            | Self::Restart
            | Self::Signal(_) => self.clone(),
        })
    }
}

impl Expect {
    /// The expectation with the placeholders in its conditions filled in.
    ///
    /// # Errors
    /// The first placeholder that `known` knows nothing for.
    pub fn fill(&self, known: Known<'_>) -> Result<Self, Placeholder> {
        let conditions = self
            .conditions
            .iter()
            .map(|condition| fill_condition(condition, known));
        Ok(Self {
            conditions: conditions.collect::<Result<_, _>>()?,
            ..self.clone()
        })
    }
}

fn fill_condition(condition: &Condition, known: Known<'_>) -> Result<Condition, Placeholder> {
    Ok(match condition {
        Condition::Result(pattern) => Condition::Result(pattern.fill(known)?),
        Condition::Error(error) => Condition::Error(ErrorCondition {
            message: fill_pattern(error.message.as_ref(), known)?,
            data: fill_pattern(error.data.as_ref(), known)?,
            ..error.clone()
        }),
        Condition::Text(text) => Condition::Text(TextCondition {
            contains: fill_all(&text.contains, known)?,
            contains_once: fill_all(&text.contains_once, known)?,
            lacks: fill_all(&text.lacks, known)?,
            empty: text.empty,
        }),
        Condition::Workspace(files) => Condition::Workspace(WorkspaceCondition {
            contains: files
                .contains
                .iter()
                .map(|(path, text)| Ok((path.clone(), fill(text, known)?)))
                .collect::<Result<_, Placeholder>>()?,
            ..files.clone()
        }),
        Condition::Model(model) => Condition::Model(ModelCondition {
            asked: model.asked,
            saw: fill_all(&model.saw, known)?,
            lacks: fill_all(&model.lacks, known)?,
        }),
        Condition::Any(ways) => Condition::Any(
            ways.iter()
                .map(|way| {
                    way.iter()
                        .map(|condition| fill_condition(condition, known))
                        .collect()
                })
                .collect::<Result<_, _>>()?,
        ),
        Condition::Answer(_)
        | Condition::ToolCall(_)
        | Condition::Updates(_)
        | Condition::Permissions(_)
        | Condition::Messages(_)
        | Condition::Alive(_)
        | Condition::Exit(_)
        | Condition::Left(_)
        | Condition::Mcp(_)
        | Condition::Within(_) => condition.clone(),
    })
}

fn fill_params(params: &Params, known: Known<'_>) -> Result<Params, Placeholder> {
    Ok(match params {
        Params::Over(members) => Params::Over(fill_members(members, known)?),
        Params::Exact(text) => Params::Exact(fill_json_text(text, known)?),
    })
}

fn fill_members(
    members: &Map<String, Value>,
    known: Known<'_>,
) -> Result<Map<String, Value>, Placeholder> {
    members
        .iter()
        .map(|(key, member)| Ok((key.clone(), fill_value(member, known)?)))
        .collect()
}

fn fill_line(line: &[u8], known: Known<'_>) -> Result<Vec<u8>, Placeholder> {
    match std::str::from_utf8(line) {
        Ok(text) => Ok(fill_json_text(text, known)?.into_bytes()),
        Err(_) => Ok(line.to_vec()),
    }
}

fn fill_all(texts: &[String], known: Known<'_>) -> Result<Vec<String>, Placeholder> {
    texts.iter().map(|text| fill(text, known)).collect()
}

fn fill_pattern(
    pattern: Option<&Pattern>,
    known: Known<'_>,
) -> Result<Option<Pattern>, Placeholder> {
    pattern.map(|pattern| pattern.fill(known)).transpose()
}

/// A reply of the scripted model with the placeholders in its texts and calls filled in.
///
/// # Errors
/// As for [`fill`].
pub fn fill_reply(reply: &Reply, known: Known<'_>) -> Result<Reply, Placeholder> {
    Ok(Reply {
        think: reply
            .think
            .as_ref()
            .map(|text| fill_text(text, known))
            .transpose()?,
        say: reply
            .say
            .as_ref()
            .map(|text| fill_text(text, known))
            .transpose()?,
        call: match &reply.call {
            Some(Calls::One(call)) => Some(Calls::One(fill_call(call, known)?)),
            Some(Calls::Many(calls)) => Some(Calls::Many(
                calls
                    .iter()
                    .map(|call| fill_call(call, known))
                    .collect::<Result<_, _>>()?,
            )),
            None => None,
        },
        ..reply.clone()
    })
}

/// An answer to a request of the agent with the placeholders in what it sends filled in.
///
/// # Errors
/// As for [`fill`].
pub fn fill_planned(planned: &Planned, known: Known<'_>) -> Result<Planned, Placeholder> {
    let mut planned = planned.clone();
    match &mut planned {
        Planned::Result { result, .. } => *result = fill_value(result, known)?,
        Planned::Elicited {
            content: Content::Given(content),
            ..
        } => *content = fill_value(content, known)?,
        _ => {}
    }
    Ok(planned)
}

fn fill_text(text: &Text, known: Known<'_>) -> Result<Text, Placeholder> {
    Ok(match text {
        Text::Whole(text) => Text::Whole(fill(text, known)?),
        Text::Chunks(chunks) => Text::Chunks(
            chunks
                .iter()
                .map(|chunk| fill(chunk, known))
                .collect::<Result<_, _>>()?,
        ),
    })
}

fn fill_call(call: &Call, known: Known<'_>) -> Result<Call, Placeholder> {
    let arguments = fill_members(&call.arguments, known)?;
    let or = match &call.or {
        Some(other) => Some(Box::new(fill_call(other, known)?)),
        None => None,
    };
    let mut text =
        |text: &Option<String>| text.as_deref().map(|text| fill(text, known)).transpose();
    Ok(Call {
        kind: call.kind.clone(),
        command: text(&call.command)?,
        path: text(&call.path)?,
        content: text(&call.content)?,
        old: text(&call.old)?,
        new: text(&call.new)?,
        pattern: text(&call.pattern)?,
        url: text(&call.url)?,
        question: text(&call.question)?,
        tool: call.tool.clone(),
        mcp: call.mcp.clone(),
        arguments,
        or,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known(placeholder: &Placeholder) -> Option<Value> {
        match placeholder {
            Placeholder::Cwd => Some(json!("/w")),
            Placeholder::Session(None) => Some(json!("s-1")),
            _ => None,
        }
    }

    #[test]
    fn a_reply_is_filled_in_wherever_it_holds_text() {
        let call = Call {
            kind: Some("read".to_owned()),
            path: Some("{{cwd}}/x".to_owned()),
            ..Call::default()
        };
        let reply = Reply {
            say: Some(Text::Chunks(vec!["{{cwd}}".to_owned()])),
            call: Some(Calls::One(call)),
            ..Reply::default()
        };
        let filled = fill_reply(&reply, &mut known).unwrap();
        assert_eq!(filled.say, Some(Text::Chunks(vec!["/w".to_owned()])));
        assert!(
            matches!(filled.call, Some(Calls::One(call)) if call.path.as_deref() == Some("/w/x"))
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_sent_as_they_are() {
        let raw = |line: &[u8]| RawInput {
            lines: vec![line.to_vec()],
            newline: true,
            split: super::super::Split::Lines,
        };
        let filled = Action::Send(raw(b"{{cwd}}")).fill(&mut known);
        assert_eq!(filled, Ok(Action::Send(raw(b"/w"))));
        let filled = Action::Send(raw(b"{{cwd}}\xff")).fill(&mut known);
        assert_eq!(filled, Ok(Action::Send(raw(b"{{cwd}}\xff"))));
    }

    #[test]
    fn parameters_and_conditions_are_filled_in() {
        let cancel = Action::Cancel(Params::Exact(r#"{"sessionId":"{{session}}"}"#.to_owned()));
        let filled = cancel.fill(&mut known);
        assert_eq!(
            filled,
            Ok(Action::Cancel(Params::Exact(
                r#"{"sessionId":"s-1"}"#.to_owned()
            )))
        );
        let condition = Condition::Result(Pattern::Equal(json!("{{session:b}}")));
        assert_eq!(
            fill_condition(&condition, &mut known),
            Err(Placeholder::Session(Some("b".to_owned())))
        );
    }
}
