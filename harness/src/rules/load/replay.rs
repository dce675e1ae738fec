//! What a load sends before its answer, held against what was said in the session before.

use serde_json::Value;

use crate::hash::HashSet;
use crate::rules::conversation::{Past, Transcript, squeeze, squeezed};
use crate::rules::quote::quote;
use crate::rules::{Out, Place, Update};

/// So much text of one replay is kept, in bytes.
const KEPT: usize = 16 * 1024 * 1024;

/// The text of one role, joined without white space, and which update each part of it came with.
#[derive(Default)]
struct Voice {
    text: String,
    /// The start of each chunk in the text, and its number among all updates of the replay.
    chunks: Vec<(usize, usize)>,
}

impl Voice {
    fn say(&mut self, text: &str, number: usize) {
        self.chunks.push((self.text.len(), number));
        squeeze(text, &mut self.text);
    }

    /// The number of the chunk that holds the byte at this place.
    fn number_at(&self, place: usize) -> usize {
        let next = self.chunks.partition_point(|(start, _)| *start <= place);
        let chunk = next.checked_sub(1).and_then(|last| self.chunks.get(last));
        chunk.map_or(0, |(_, number)| *number)
    }

    /// Where the text of the chunks from this number on begins.
    fn begins(&self, number: usize) -> usize {
        let next = self.chunks.partition_point(|(_, own)| *own < number);
        self.chunks
            .get(next)
            .map_or(self.text.len(), |(start, _)| *start)
    }

    fn find(&self, text: &str, from: usize) -> Option<usize> {
        Some(from + self.text.get(from..)?.find(text)?)
    }
}

/// So many texts of the agent that are not in their place are looked for elsewhere.
const SEARCHES: usize = 100;

/// What is wrong with a replay.
struct Fault {
    id: &'static str,
    message: String,
}

/// What a load has sent so far.
#[derive(Default)]
pub(super) struct Replay {
    user: Voice,
    agent: Voice,
    thought: Voice,
    /// The ids of its tool calls, and their titles without white space.
    calls: HashSet<String>,
    titles: HashSet<String>,
    /// The numbers of the updates that are the agent's.
    agents: Vec<usize>,
    count: usize,
    redacted: bool,
    /// How many loads of the session have no answer yet.
    open: usize,
    /// Whether more than one load was under way at once.
    several: bool,
}

impl Replay {
    /// What came while several loads of one session were under way.
    pub(super) fn of_several() -> Self {
        Self {
            several: true,
            ..Self::default()
        }
    }

    /// A load was sent.
    pub(super) fn load(&mut self) {
        self.several |= self.open > 0;
        self.open += 1;
    }

    /// A load was answered; says whether another one of the session is still under way.
    pub(super) fn answered(&mut self) -> bool {
        self.open = self.open.saturating_sub(1);
        self.open > 0
    }

    pub(super) fn take(&mut self, update: &Update<'_>, redacted: bool) {
        self.redacted |= redacted;
        let number = self.count;
        self.count += 1;
        let text = update
            .body
            .pointer("/content/text")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let voice = match update.kind {
            "user_message_chunk" => &mut self.user,
            "agent_message_chunk" => &mut self.agent,
            "agent_thought_chunk" => &mut self.thought,
            "tool_call" | "tool_call_update" => {
                let member = |name: &str| {
                    let value = update.body.get(name).and_then(Value::as_str);
                    value.unwrap_or_default()
                };
                self.calls.insert(member("toolCallId").to_owned());
                self.titles.insert(squeezed(member("title")));
                self.agents.push(number);
                return;
            }
            _ => return,
        };
        if voice.text.len() + text.len() <= KEPT {
            voice.say(text, number);
        }
        if update.kind != "user_message_chunk" {
            self.agents.push(number);
        }
    }

    /// Why nothing can be said of it, if so.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        let long = |voice: &Voice| voice.text.len() > KEPT / 2;
        if self.several {
            Some("two loads of the session were under way at once")
        } else if self.redacted {
            Some("a part of the replay was redacted")
        } else if [&self.user, &self.agent, &self.thought]
            .into_iter()
            .any(long)
        {
            Some("the replay is longer than what is kept for comparing")
        } else {
            None
        }
    }

    /// Judges LOAD-02, LOAD-04 and LOAD-05, and says whether the conversation is whole. The first fault of a conversation
    /// is told: what follows it may follow from it.
    pub(super) fn compare(&self, past: &Transcript, place: Place, out: &mut Out<'_>) -> bool {
        let found = self.conversation(past).and_then(|()| self.once(past));
        let whole = found.is_ok();
        match found {
            Ok(()) => {
                out.pass("LOAD-02");
                out.pass("LOAD-04");
            }
            Err(Fault { id, message }) => out.fail(id, place.clone(), message),
        }
        // Where words are missing, what is missing beside them has the same cause.
        if whole {
            self.compare_calls(past, place, out);
        }
        whole
    }

    /// Whether the turns come one after the other, each with what the user and then what the agent said.
    fn conversation(&self, past: &Transcript) -> Result<(), Fault> {
        let mut searches = SEARCHES;
        // The update that holds the last text of the user, and where in the user's text that ends.
        let (mut number, mut user) = (0, 0);
        let turns: Vec<&Past> = past.complete().collect();
        for (index, turn) in turns.iter().enumerate() {
            for text in &turn.asked {
                let found = self.user.find(text, user);
                let found = found.ok_or_else(|| self.without_user_text(past, index, text))?;
                number = self.user.number_at(found);
                user = found + text.len();
            }
            if turn.said.is_empty() && turn.calls.is_empty() {
                continue;
            }
            let next = turns
                .get(index + 1)
                .and_then(|next| next.asked.first())
                .and_then(|text| self.user.find(text, user))
                .map_or(self.count, |found| self.user.number_at(found));
            let span = self.agent.begins(number)..self.agent.begins(next);
            let here = self.agent.text.get(span).unwrap_or_default();
            if !turn.said.is_empty() && here.contains(&turn.said) {
                continue;
            }
            if searches > 0 {
                searches -= 1;
                self.agent_elsewhere(past, index, turn)?;
            }
            // Kept in other words, or only its calls: something of the agent's must stand in their place.
            let first = self.agents.partition_point(|own| *own < number);
            if self.agents.get(first).is_none_or(|own| *own >= next) {
                return Err(Fault {
                    id: "LOAD-02",
                    message: format!(
                        "the replay holds nothing that the agent said or did in turn {}",
                        index + 1
                    ),
                });
            }
        }
        Ok(())
    }

    /// Whether the conversation comes only once: not that after its end all of it stands there in the same order again. A
    /// turn that did not end by itself may hold the same words, and short words may be in anything.
    fn once(&self, past: &Transcript) -> Result<(), Fault> {
        const WORTH: usize = 16;
        if past.turns.iter().any(|turn| !turn.complete) {
            return Ok(());
        }
        let asked: usize = past
            .turns
            .iter()
            .flat_map(|turn| &turn.asked)
            .map(String::len)
            .sum();
        let said: usize = past.turns.iter().map(|turn| turn.said.len()).sum();
        if asked == 0 || said == 0 || asked + said < WORTH {
            return Ok(());
        }
        let twice = |voice: &Voice, texts: &mut dyn Iterator<Item = &String>| {
            let texts: Vec<&String> = texts.filter(|text| !text.is_empty()).collect();
            let mut from = 0;
            [&texts, &texts].into_iter().flatten().all(|text| {
                let found = voice.find(text, from);
                from = found.map_or(from, |found| found + text.len());
                found.is_some()
            })
        };
        let again = twice(
            &self.user,
            &mut past.turns.iter().flat_map(|turn| &turn.asked),
        ) && twice(&self.agent, &mut past.turns.iter().map(|turn| &turn.said));
        if !again {
            return Ok(());
        }
        Err(Fault {
            id: "LOAD-04",
            message: "the whole conversation was replayed twice, expected each turn once and in its order"
                .to_owned(),
        })
    }

    /// What it means that a text of the user does not stand behind what came before it.
    fn without_user_text(&self, past: &Transcript, index: usize, text: &str) -> Fault {
        let turn = index + 1;
        let due: usize = past
            .complete()
            .take(turn)
            .flat_map(|turn| &turn.asked)
            .map(|asked| count(asked, text))
            .sum();
        // An agent may have repeated the words itself.
        let said: usize = past.turns.iter().map(|turn| count(&turn.said, text)).sum();
        let elsewhere = count(&self.agent.text, text) + count(&self.thought.text, text);
        let moved = count(&self.user.text, text) >= due;
        let text = quote(text);
        let (id, message) = if moved {
            (
                "LOAD-04",
                format!(
                    "what the user said in turn {turn} stands before what was said earlier: {text}"
                ),
            )
        } else if elsewhere > said {
            (
                "LOAD-04",
                format!("what the user said in turn {turn} came back as the agent's: {text}"),
            )
        } else if self.count == 0 {
            (
                "LOAD-02",
                format!("nothing was replayed, expected what the user said in turn {turn}: {text}"),
            )
        } else {
            (
                "LOAD-02",
                format!("what the user said in turn {turn} is missing in the replay: {text}"),
            )
        };
        Fault { id, message }
    }

    /// Whether what the agent said in a turn, which is not in its place, is in another one.
    fn agent_elsewhere(&self, past: &Transcript, index: usize, turn: &Past) -> Result<(), Fault> {
        let said = turn.said.as_str();
        if said.is_empty() {
            return Ok(());
        }
        let others = |text: &str| count(text, said);
        let live: usize = past.turns.iter().map(|turn| others(&turn.said)).sum();
        let asked: usize = past
            .turns
            .iter()
            .flat_map(|turn| &turn.asked)
            .map(|text| others(text))
            .sum();
        let fault = |where_to: &str| Fault {
            id: "LOAD-04",
            message: format!(
                "what the agent said in turn {} {where_to}: {}",
                index + 1,
                quote(said)
            ),
        };
        if others(&self.user.text) > asked {
            return Err(fault("came back as the user's"));
        }
        // Only where each of its places is taken, so that none can be that of another turn.
        if live > 0 && others(&self.agent.text) >= live {
            return Err(fault("stands at another place of the conversation"));
        }
        Ok(())
    }

    fn compare_calls(&self, past: &Transcript, place: Place, out: &mut Out<'_>) {
        let live: Vec<_> = past.complete().flat_map(|turn| &turn.calls).collect();
        if live.is_empty() {
            return;
        }
        let told = |title: &String| self.titles.contains(&squeezed(title));
        let missing = live
            .iter()
            .find(|(id, titles)| !self.calls.contains(*id) && !titles.iter().any(told));
        match missing {
            // An agent may name its calls anew.
            Some((id, titles)) if self.calls.len() < live.len() => out.fail(
                "LOAD-05",
                place,
                format!(
                    "the replay has {} tool calls of {}, and not {} ({})",
                    self.calls.len(),
                    live.len(),
                    quote(id),
                    quote(titles.first().map_or("", String::as_str))
                ),
            ),
            _ => out.pass("LOAD-05"),
        }
    }
}

fn count(text: &str, part: &str) -> usize {
    if part.is_empty() {
        return 0;
    }
    text.matches(part).count()
}
