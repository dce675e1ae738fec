//! Plausible conversations, and the ways in which one conversation may come out as a trace.

use std::collections::HashMap;

use acp_harness::trace::{Body, Event, Exit, Header, Party, Recording};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Several sessions on one connection.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    pub(crate) sessions: Vec<Vec<Turn>>,
}

/// One prompt and what comes of it.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) prompt: String,
    pub(crate) acts: Vec<Act>,
    /// After how many acts it is cancelled.
    pub(crate) cancel: Option<usize>,
    pub(crate) stop: &'static str,
}

/// What an agent does in a turn.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Say(Vec<String>),
    Think(String),
    Run {
        command: String,
        asked: Option<bool>,
        fails: bool,
        output: String,
    },
    /// Two calls at once, whose updates mix.
    Both(String, String),
    Plan(usize),
    Read(String),
    Usage(u64),
    Mode(&'static str),
    Commands(usize),
}

pub(crate) fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "Hello",
            "call",
            "1",
            "the",
            "file.",
            "it is",
            "done,",
            "ünïcode",
            "see /tmp/w/a",
            "x",
        ]),
        1..5,
    )
    .prop_map(|words| words.join(" "))
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => prop::collection::vec(words(), 1..4).prop_map(Act::Say),
        1 => words().prop_map(Act::Think),
        3 => (words(), prop::option::of(any::<bool>()), any::<bool>(), words()).prop_map(
            |(command, asked, fails, output)| Act::Run { command, asked, fails, output }
        ),
        1 => (words(), words()).prop_map(|(one, other)| Act::Both(one, other)),
        1 => (0..3usize).prop_map(Act::Plan),
        1 => words().prop_map(Act::Read),
        1 => (0..1000u64).prop_map(Act::Usage),
        1 => prop::sample::select(vec!["ask", "code"]).prop_map(Act::Mode),
        1 => (1..3usize).prop_map(Act::Commands),
    ]
}

fn turn(cancels: bool) -> impl Strategy<Value = Turn> {
    (
        words(),
        prop::collection::vec(act(), 0..5),
        prop::option::weighted(0.3, 0..4usize),
        prop::sample::select(vec!["end_turn", "max_tokens", "refusal"]),
    )
        .prop_map(move |(prompt, acts, cancel, stop)| Turn {
            prompt,
            acts,
            cancel: cancel.filter(|_| cancels),
            stop,
        })
}

/// A conversation; with `cancels` some of its turns are cancelled.
pub(crate) fn talk(cancels: bool) -> impl Strategy<Value = Talk> {
    prop::collection::vec(prop::collection::vec(turn(cancels), 1..3), 1..4)
        .prop_map(|sessions| Talk { sessions })
}

/// How ids are minted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    /// `1`, `2`, as numbers where that is allowed.
    Counting,
    /// Words that occur in texts too.
    Words,
    Long,
    /// As `call_1`.
    Prefixed,
}

impl Ids {
    pub(crate) const ALL: [Self; 4] = [Self::Counting, Self::Words, Self::Long, Self::Prefixed];

    fn request(self, number: usize) -> Value {
        match self {
            Self::Counting => json!(number),
            Self::Words => json!(
                ["call", "1", "Hello", "x", "0", "end_turn"]
                    .get(number)
                    .map_or_else(|| format!("{number}"), |word| (*word).to_owned())
            ),
            Self::Long => json!(format!("0b7e1c52-aaaa-4bbb-8ccc-{number:012}")),
            Self::Prefixed => json!(-(number as i64) - 1),
        }
    }

    fn other(self, word: &str, number: usize) -> String {
        match self {
            Self::Counting => format!("{number}"),
            Self::Words => ["call", "1", "Hello", "completed", "x"]
                .get(number)
                .map_or_else(|| format!("w{number}"), |word| (*word).to_owned()),
            Self::Long => format!("{word}-5f0c9a-{number:08}"),
            Self::Prefixed => format!("{word}_{number}"),
        }
    }
}

/// How a conversation comes out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) ids: Ids,
    /// How texts are cut: so many characters a chunk.
    pub(crate) cut: usize,
    /// Which session speaks next, by a small generator.
    pub(crate) order: u64,
    /// Whether sessions are created in reverse.
    pub(crate) cwd: &'static str,
}

impl Default for Way {
    fn default() -> Self {
        Self {
            ids: Ids::Counting,
            cut: 1000,
            order: 0,
            cwd: "/tmp/w",
        }
    }
}

/// A line before its ids are known.
#[derive(Clone, Debug)]
struct Line {
    from: Party,
    /// What it asks or answers, as a key of its session.
    request: Option<usize>,
    value: Value,
}

/// The trace of a conversation that comes out in this way.
pub(crate) fn record(talk: &Talk, way: Way) -> Recording {
    let mut streams: Vec<Vec<Line>> = talk
        .sessions
        .iter()
        .enumerate()
        .map(|(number, turns)| session(number, turns, way))
        .collect();
    let mut lines: Vec<(usize, Line)> = Vec::new();
    let connection = [
        Line {
            from: Party::Client,
            request: Some(0),
            value: json!({"jsonrpc":"2.0","id":null,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}),
        },
        Line {
            from: Party::Agent,
            request: Some(0),
            value: json!({"jsonrpc":"2.0","id":null,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":false},"agentInfo":{"name":"a","version":"1"}}}),
        },
    ];
    lines.extend(connection.map(|line| (usize::MAX, line)));
    let mut state = way.order;
    for stream in &mut streams {
        stream.reverse();
    }
    loop {
        let open: Vec<usize> = (0..streams.len())
            .filter(|index| !streams[*index].is_empty())
            .collect();
        if open.is_empty() {
            break;
        }
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let pick = if way.order == 0 {
            0
        } else {
            (state >> 33) as usize % open.len()
        };
        let line = streams[open[pick]].pop().unwrap();
        lines.push((open[pick], line));
    }
    let mut ids: HashMap<(usize, Party, usize), Value> = HashMap::new();
    let mut events = Vec::new();
    for (
        session,
        Line {
            from,
            request,
            mut value,
        },
    ) in lines
    {
        if let Some(request) = request {
            let asker = match (from, value.get("method")) {
                (from, Some(_)) => from,
                (Party::Client, None) => Party::Agent,
                _ => Party::Client,
            };
            let number = ids.keys().filter(|(_, party, _)| *party == asker).count();
            let id = ids
                .entry((session, asker, request))
                .or_insert_with(|| way.ids.request(number));
            value["id"] = id.clone();
        }
        let text = value.to_string();
        events.push(Event::new(
            events.len() as f64 / 1000.0,
            from,
            Body::Message {
                text,
                partial: false,
            },
        ));
    }
    events.push(Event::new(9.0, Party::Client, Body::Eof));
    events.push(Event::new(9.1, Party::Agent, Body::Exit(Exit::Code(0))));
    Recording {
        header: Header::new(),
        events,
        damage: Vec::new(),
    }
}

struct Writer {
    lines: Vec<Line>,
    session: String,
    requests: usize,
    tools: usize,
    way: Way,
    number: usize,
}

impl Writer {
    fn client(&mut self, method: &str, params: Value) -> usize {
        self.requests += 1;
        self.lines.push(Line {
            from: Party::Client,
            request: Some(self.requests),
            value: json!({"jsonrpc":"2.0","id":0,"method":method,"params":params}),
        });
        self.requests
    }

    fn agent(&mut self, method: &str, params: Value) -> usize {
        self.requests += 1;
        self.lines.push(Line {
            from: Party::Agent,
            request: Some(self.requests),
            value: json!({"jsonrpc":"2.0","id":0,"method":method,"params":params}),
        });
        self.requests
    }

    fn answer(&mut self, from: Party, request: usize, result: Value) {
        self.lines.push(Line {
            from,
            request: Some(request),
            value: json!({"jsonrpc":"2.0","id":0,"result":result}),
        });
    }

    fn update(&mut self, update: Value) {
        let params = json!({"sessionId": self.session, "update": update});
        self.lines.push(Line {
            from: Party::Agent,
            request: None,
            value: json!({"jsonrpc":"2.0","method":"session/update","params":params}),
        });
    }

    fn tool(&mut self) -> String {
        self.tools += 1;
        self.way.ids.other("tool", self.tools + 10 * self.number)
    }

    fn text(&mut self, kind: &str, text: &str) {
        let characters: Vec<char> = text.chars().collect();
        for chunk in characters.chunks(self.way.cut.max(1)) {
            let text: String = chunk.iter().collect();
            self.update(json!({"sessionUpdate":kind,"content":{"type":"text","text":text}}));
        }
    }
}

fn session(number: usize, turns: &[Turn], way: Way) -> Vec<Line> {
    let mut out = Writer {
        lines: Vec::new(),
        session: way.ids.other("session", number),
        requests: 0,
        tools: 0,
        way,
        number,
    };
    let cwd = format!(
        "{}{}",
        way.cwd,
        if number == 0 {
            String::new()
        } else {
            number.to_string()
        }
    );
    let new = out.client("session/new", json!({"cwd": cwd, "mcpServers": []}));
    let id = out.session.clone();
    out.answer(Party::Agent, new, json!({"sessionId": id}));
    for turn in turns {
        let id = out.session.clone();
        let prompt = out.client(
            "session/prompt",
            json!({"sessionId": id, "prompt":[{"type":"text","text":turn.prompt}]}),
        );
        let cancel = turn.cancel.map(|at| at.min(turn.acts.len()));
        for (index, act) in turn.acts.iter().enumerate() {
            if cancel == Some(index) {
                out.lines.push(cancelled(&id));
            }
            perform(&mut out, act, &cwd);
        }
        if cancel == Some(turn.acts.len()) {
            out.lines.push(cancelled(&id));
        }
        let stop = if cancel.is_some() {
            "cancelled"
        } else {
            turn.stop
        };
        out.answer(Party::Agent, prompt, json!({"stopReason": stop}));
    }
    out.lines
}

fn cancelled(session: &str) -> Line {
    Line {
        from: Party::Client,
        request: None,
        value: json!({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":session}}),
    }
}

fn perform(out: &mut Writer, act: &Act, cwd: &str) {
    let session = out.session.clone();
    match act {
        Act::Say(parts) => {
            for part in parts {
                out.text("agent_message_chunk", part);
            }
        }
        Act::Think(text) => out.text("agent_thought_chunk", text),
        Act::Run {
            command,
            asked,
            fails,
            output,
        } => {
            let tool = out.tool();
            out.update(json!({"sessionUpdate":"tool_call","toolCallId":tool,"title":format!("run {command}"),"kind":"execute","status":"pending","rawInput":{"command":command,"in":format!("{cwd}/a")}}));
            let mut allowed = true;
            if let Some(yes) = asked {
                let asked = out.agent("session/request_permission", json!({"sessionId":session,"toolCall":{"toolCallId":tool,"title":format!("run {command}")},
                    "options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}));
                out.answer(
                    Party::Client,
                    asked,
                    json!({"outcome":{"outcome":"selected","optionId": if *yes {"y"} else {"n"}}}),
                );
                allowed = *yes;
            }
            if allowed {
                out.update(json!({"sessionUpdate":"tool_call_update","toolCallId":tool,"status":"in_progress"}));
            }
            let status = if *fails || !allowed {
                "failed"
            } else {
                "completed"
            };
            out.update(json!({"sessionUpdate":"tool_call_update","toolCallId":tool,"status":status,"content":[{"type":"content","content":{"type":"text","text":output}}],"rawOutput":{"output":output}}));
        }
        Act::Both(one, other) => {
            let tools = [out.tool(), out.tool()];
            for (tool, title) in tools.iter().zip([one, other]) {
                out.update(json!({"sessionUpdate":"tool_call","toolCallId":tool,"title":title,"kind":"read","status":"pending"}));
            }
            let reversed = out.way.cut.is_multiple_of(2);
            for index in if reversed { [1, 0] } else { [0, 1] } {
                out.update(json!({"sessionUpdate":"tool_call_update","toolCallId":tools[index],"status":"completed","locations":[{"path":format!("{cwd}/{index}")}]}));
            }
        }
        Act::Plan(done) => {
            let entries: Vec<Value> = (0..3).map(|index| json!({"content":format!("step {index}"),"priority":"medium","status": if index < *done {"completed"} else {"pending"}})).collect();
            out.update(json!({"sessionUpdate":"plan","entries":entries}));
        }
        Act::Read(name) => {
            let asked = out.agent(
                "fs/read_text_file",
                json!({"sessionId":session,"path":format!("{cwd}/{name}")}),
            );
            out.answer(
                Party::Client,
                asked,
                json!({"content":format!("content of {name}")}),
            );
        }
        Act::Usage(used) => {
            out.update(json!({"sessionUpdate":"usage_update","used":used,"size":1000}))
        }
        Act::Mode(mode) => {
            out.update(json!({"sessionUpdate":"current_mode_update","currentModeId":mode}))
        }
        Act::Commands(count) => {
            let commands: Vec<Value> = (0..*count)
                .map(|index| json!({"name":format!("c{index}"),"description":"d"}))
                .collect();
            out.update(
                json!({"sessionUpdate":"available_commands_update","availableCommands":commands}),
            );
        }
    }
}

/// The message of an event.
pub(crate) fn message(event: &Event) -> Option<Value> {
    match &event.body {
        Body::Message { text, .. } => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// Puts another message into an event.
pub(crate) fn set(event: &mut Event, value: &Value) {
    event.body = Body::Message {
        text: value.to_string(),
        partial: false,
    };
}

/// The kind of update that an event is.
pub(crate) fn update_kind(event: &Event) -> Option<String> {
    Some(
        message(event)?
            .pointer("/params/update/sessionUpdate")?
            .as_str()?
            .to_owned(),
    )
}

/// Whether an event is a state update, which may stand anywhere in its session.
pub(crate) fn is_floating(event: &Event) -> bool {
    matches!(
        update_kind(event).as_deref(),
        Some(
            "available_commands_update"
                | "current_mode_update"
                | "config_option_update"
                | "usage_update"
                | "session_info_update"
        )
    )
}
