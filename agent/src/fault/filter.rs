//! The filter between the lines and what is made of them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::edit::{Edit, has};
use super::known::{Known, Passing};
use super::message;
use super::selector::{Selector, Sort};
use super::template;

/// What is done with what goes out, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outward {
    /// These bytes are written as they are.
    Write(Vec<u8>),
    /// A line of the client's that was kept is passed on now.
    Deliver(Vec<u8>),
    Wait(Duration),
    Exit(u8),
}

/// What is done with what comes in, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inward {
    /// This line is passed on.
    Line(Vec<u8>),
    Wait(Duration),
    Exit(u8),
    /// The end of the input is not noticed.
    StayOpen,
}

/// Does what the edits say to what passes, and remembers what they need to know for it.
#[derive(Debug)]
pub(crate) struct Filter {
    edits: Vec<Edit>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many messages each edit has selected.
    selected: Vec<u64>,
    /// Which edits have seen the message that they come after.
    begun: Vec<bool>,
    /// Which have seen the message that they come before.
    over: Vec<bool>,
    known: Known,
    /// What is kept until something has been written.
    kept: Vec<(Selector, Outward)>,
}

impl Filter {
    /// A filter, if there is anything to do for it.
    pub(crate) fn new(edits: Vec<Edit>) -> Option<Self> {
        if edits.is_empty() {
            return None;
        }
        let state = State {
            selected: vec![0; edits.len()],
            begun: vec![false; edits.len()],
            over: vec![false; edits.len()],
            known: Known::new(),
            kept: Vec::new(),
        };
        let state = Mutex::new(state);
        Some(Self { edits, state })
    }

    /// Before anything is written.
    pub(crate) fn start(&self) -> Vec<Outward> {
        self.moment(Sort::Start)
    }

    /// After everything was written. What was kept until now goes out first.
    pub(crate) fn end(&self) -> Vec<Outward> {
        let kept = std::mem::take(&mut self.state().kept);
        let mut all: Vec<Outward> = kept.into_iter().map(|(_, outward)| outward).collect();
        all.extend(self.moment(Sort::End));
        all
    }

    fn moment(&self, sort: Sort) -> Vec<Outward> {
        let passing = Passing::at(sort);
        self.state().outward(&self.edits, passing, &[])
    }

    /// A message of the agent's, as it would be written.
    pub(crate) fn outward(&self, value: Value) -> Vec<Outward> {
        let mut state = self.state();
        let passing = state.known.going_out(value);
        let lines = if state.splits(&self.edits, &passing) {
            passing.by_character()
        } else {
            vec![passing]
        };
        let mut all = Vec::new();
        for passing in lines {
            let line = passing.value.to_string().into_bytes();
            all.extend(state.outward(&self.edits, passing, &line));
        }
        all
    }

    /// A line of the client's, without its line feed.
    pub(crate) fn inward(&self, line: &[u8]) -> Vec<Inward> {
        let mut state = self.state();
        match serde_json::from_slice::<Value>(line) {
            Ok(value @ Value::Object(_)) => {
                let given = value.get("id").cloned();
                let passing = state.known.coming_in(value);
                if passing.value.get("id") == given.as_ref() {
                    state.inward(&self.edits, passing, line)
                } else {
                    let line = passing.value.to_string().into_bytes();
                    state.inward(&self.edits, passing, &line)
                }
            }
            _ => {
                let passing = Passing::at(Sort::OddLine);
                state.inward(&self.edits, passing, line)
            }
        }
    }

    /// The input has ended.
    pub(crate) fn closed(&self) -> Vec<Inward> {
        let passing = Passing::at(Sort::Closed);
        let mut all = self.state().inward(&self.edits, passing, &[]);
        all.retain(|step| !matches!(step, Inward::Line(_)));
        all
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn splits(&self, edits: &[Edit], passing: &Passing) -> bool {
        let mut edits = edits.iter().enumerate();
        edits.any(|(at, edit)| {
            edit.by_character
                && edit.on.selects(passing.sort, &passing.name)
                && self.holds(at, edit, passing)
        })
    }

    /// Which edits are about a message, by their places.
    fn chosen<'a>(
        &mut self,
        edits: &'a [Edit],
        passing: &Passing,
        length: usize,
    ) -> Vec<(usize, &'a Edit)> {
        let mut chosen = Vec::new();
        for (at, edit) in edits.iter().enumerate() {
            if edit.on.selects(passing.sort, &passing.name)
                && length >= edit.longer
                && self.holds(at, edit, passing)
            {
                let Some(count) = self.selected.get_mut(at) else {
                    continue;
                };
                *count += 1;
                if edit.nth.is_none_or(|nth| nth == *count)
                    && edit.first.is_none_or(|first| *count <= first)
                {
                    chosen.push((at, edit));
                }
            }
        }
        let passes = |selector: &Option<Selector>| {
            let selector = selector.as_ref();
            selector.is_some_and(|selector| selector.selects(passing.sort, &passing.name))
        };
        let seen = self.begun.iter_mut().zip(&mut self.over);
        for (edit, (begun, over)) in edits.iter().zip(seen) {
            *begun |= passes(&edit.after);
            *over |= passes(&edit.not_after);
        }
        chosen
    }

    fn holds(&self, at: usize, edit: &Edit, passing: &Passing) -> bool {
        let begun = edit.after.is_none() || self.begun.get(at) == Some(&true);
        let over = self.over.get(at) == Some(&true);
        let during = edit.during.as_ref();
        begun
            && !over
            && during.is_none_or(|method| self.known.is_open(method))
            && has(&passing.value, &edit.holds)
            && has(&passing.request, &edit.asked_with)
    }

    /// Changes the message itself.
    fn change(&mut self, at: usize, edit: &Edit, passing: &mut Passing) {
        self.known.places.count = self.selected.get(at).copied().unwrap_or_default();
        for (pointer, text) in &edit.set {
            let now = passing.value.pointer(pointer);
            self.known.places.value = now.map(Value::to_string).unwrap_or_default();
            if let Ok(value) = serde_json::from_str(&template::fill(text, &self.known.places)) {
                message::set(&mut passing.value, pointer, value);
            }
        }
        for (pointer, from) in &edit.copy {
            if let Some(value) = passing.value.pointer(from).cloned() {
                message::set(&mut passing.value, pointer, value);
            }
        }
        for pointer in &edit.remove {
            message::remove(&mut passing.value, pointer);
        }
        for (from, to) in &edit.replace {
            let from = template::fill(from, &self.known.places);
            let to = template::fill(to, &self.known.places);
            message::replace(&mut passing.value, &from, &to);
        }
        if let Some(id) = &edit.renumber {
            self.known.renumber(id, passing);
        }
        if edit.reverse {
            passing.value = message::reversed(std::mem::take(&mut passing.value));
        }
    }

    fn outward(&mut self, edits: &[Edit], mut passing: Passing, line: &[u8]) -> Vec<Outward> {
        let chosen = self.chosen(edits, &passing, line.len());
        for (at, edit) in &chosen {
            self.change(*at, edit, &mut passing);
        }
        let mut line = if chosen.is_empty() || passing.value.is_null() {
            line.to_vec()
        } else {
            passing.value.to_string().into_bytes()
        };
        let is_message = !line.is_empty();
        let (mut before, mut behind, mut own) = (Vec::new(), Vec::new(), Vec::new());
        let (mut times, mut until, mut exit) = (1, None, None);
        for (_, edit) in &chosen {
            self.known.places.message = String::from_utf8_lossy(&line).into_owned();
            if let Some(text) = &edit.line {
                line = template::fill(text, &self.known.places).into_bytes();
            }
            if edit.escaped {
                line = message::escaped(&String::from_utf8_lossy(&line)).into_bytes();
            }
            if edit.latin1 {
                line = latin1(&String::from_utf8_lossy(&line));
            }
            if edit.wait > 0 {
                before.push(Outward::Wait(Duration::from_millis(edit.wait)));
            }
            before.extend(edit.before.iter().map(|text| self.added(text)));
            if edit.pause > 0 {
                behind.push(Outward::Wait(Duration::from_millis(edit.pause)));
            }
            behind.extend(edit.behind.iter().map(|text| self.added(text)));
            times = match (edit.drop, edit.twice) {
                (true, _) => 0,
                (false, true) => 2,
                (false, false) => times,
            };
            if let Some(text) = &edit.stderr {
                crate::log::line(format_args!("{}", template::fill(text, &self.known.places)));
            }
            until = edit.until.clone().or(until);
            exit = edit.exit.or(exit);
        }
        if is_message {
            line.push(b'\n');
            own.extend(std::iter::repeat_n(Outward::Write(line), times));
        }
        match until {
            Some(until) => {
                let kept = own.into_iter().map(|outward| (until.clone(), outward));
                self.kept.extend(kept);
            }
            None => before.extend(own),
        }
        before.extend(behind);
        before.extend(self.released(&passing));
        before.extend(exit.map(Outward::Exit));
        before
    }

    /// A line of the table's own.
    fn added(&self, text: &str) -> Outward {
        Outward::Write((template::fill(text, &self.known.places) + "\n").into_bytes())
    }

    /// What was kept until this message.
    fn released(&mut self, passing: &Passing) -> Vec<Outward> {
        let (released, kept) = std::mem::take(&mut self.kept)
            .into_iter()
            .partition(|(until, _)| until.selects(passing.sort, &passing.name));
        self.kept = kept;
        let released: Vec<(Selector, Outward)> = released;
        released.into_iter().map(|(_, outward)| outward).collect()
    }

    fn inward(&mut self, edits: &[Edit], mut passing: Passing, line: &[u8]) -> Vec<Inward> {
        let chosen = self.chosen(edits, &passing, line.len());
        for (at, edit) in &chosen {
            self.change(*at, edit, &mut passing);
        }
        let mut line = if chosen.is_empty() || passing.value.is_null() {
            line.to_vec()
        } else {
            passing.value.to_string().into_bytes()
        };
        let mut steps = Vec::new();
        let (mut times, mut until) = (1, None);
        for (_, edit) in &chosen {
            self.known.places.message = String::from_utf8_lossy(&line).into_owned();
            if let Some(text) = &edit.line {
                line = template::fill(text, &self.known.places).into_bytes();
            }
            if edit.wait > 0 {
                steps.push(Inward::Wait(Duration::from_millis(edit.wait)));
            }
            if edit.drop {
                steps.push(Inward::StayOpen);
            }
            times = match (edit.drop, edit.twice) {
                (true, _) => 0,
                (false, true) => 2,
                (false, false) => times,
            };
            steps.extend(edit.exit.map(Inward::Exit));
            until = edit.until.clone().or(until);
        }
        match until {
            Some(until) => self.kept.push((until, Outward::Deliver(line))),
            None => steps.extend(std::iter::repeat_n(Inward::Line(line), times)),
        }
        steps
    }
}

/// The text in one byte a character; what does not fit is a question mark.
fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filter(edits: &str) -> Filter {
        #[derive(serde::Deserialize)]
        struct Edits {
            edit: Vec<Edit>,
        }
        let edits: Edits = toml::from_str(edits).unwrap();
        Filter::new(edits.edit).unwrap()
    }

    /// What is written, a line each.
    fn written(steps: Vec<Outward>) -> Vec<String> {
        steps
            .into_iter()
            .map(|step| match step {
                Outward::Write(line) => String::from_utf8(line).unwrap(),
                other => format!("{other:?}"),
            })
            .collect()
    }

    fn answer(id: u64) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}})
    }

    fn asked(filter: &Filter, id: u64, method: &str) -> Vec<Inward> {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}});
        filter.inward(request.to_string().as_bytes())
    }

    #[test]
    fn only_the_answers_to_the_method_are_changed() {
        let filter = filter(
            r#"edit = [{ on = "answer session/prompt", set = { "/result/stopReason" = '"{text}!"' } }]"#,
        );
        asked(&filter, 1, "session/prompt");
        asked(&filter, 2, "session/new");
        let other = written(filter.outward(answer(2)));
        assert_eq!(other, [answer(2).to_string() + "\n"]);
        let changed = written(filter.outward(answer(1)));
        assert!(changed.concat().contains("end_turn!"), "{changed:?}");
    }

    #[test]
    fn what_is_kept_goes_out_behind_what_it_waited_for_or_at_the_end() {
        let filter = filter(r#"edit = [{ on = "update plan", until = "answer session/prompt" }]"#);
        let plan =
            json!({"method": "session/update", "params": {"update": {"sessionUpdate": "plan"}}});
        let plan_line = plan.to_string() + "\n";
        asked(&filter, 1, "session/prompt");
        assert!(filter.outward(plan.clone()).is_empty());
        let both = written(filter.outward(answer(1)));
        assert_eq!(both, [answer(1).to_string() + "\n", plan_line.clone()]);
        assert!(filter.outward(plan).is_empty());
        assert_eq!(written(filter.end()), [plan_line]);
    }

    #[test]
    fn an_answer_finds_its_request_though_that_got_another_id() {
        let filter = filter(r#"edit = [{ on = "request", renumber = "{n}.5" }]"#);
        let request = json!({"jsonrpc": "2.0", "id": "own", "method": "fs/read_text_file"});
        let sent = written(filter.outward(request)).concat();
        assert!(sent.contains(r#""id":1.5"#), "{sent}");
        let answered = filter.inward(br#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#);
        let [Inward::Line(line)] = &*answered else {
            panic!("{answered:?}");
        };
        let line: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(line["id"], "own");
    }

    #[test]
    fn a_message_that_must_not_have_passed_ends_an_edit() {
        let filter = filter(r#"edit = [{ on = "asked a", not_after = "asked b", drop = true }]"#);
        assert_eq!(asked(&filter, 1, "a"), [Inward::StayOpen]);
        asked(&filter, 2, "b");
        assert!(matches!(&*asked(&filter, 3, "a"), [Inward::Line(_)]));
    }

    #[test]
    fn a_chunk_goes_out_character_by_character() {
        let filter =
            filter(r#"edit = [{ on = "update agent_message_chunk", by_character = true }]"#);
        let chunk = json!({
            "method": "session/update",
            "params": {"update": {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": "a😀"},
            }},
        });
        let lines = written(filter.outward(chunk));
        assert_eq!(lines.len(), 2);
        assert!(lines[1].contains("😀"), "{lines:?}");
    }
}
