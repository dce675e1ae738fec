//! What an import could take over, and what could not be told.

/// How many line numbers of one kind are kept.
const KEPT: usize = 20;

/// Numbers of lines (or of messages, where a format has no lines), the first ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// How many there are.
    pub count: u64,
    first: Vec<u64>,
}

impl Places {
    pub(super) fn add(&mut self, place: u64) {
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(place);
        }
    }

    /// The first of them as a list in a sentence.
    fn list(&self) -> String {
        const SHOWN: usize = 8;
        let numbers: Vec<String> = self.first.iter().take(SHOWN).map(u64::to_string).collect();
        let more = if self.count > SHOWN as u64 {
            ", …"
        } else {
            ""
        };
        format!("{}{more}", numbers.join(", "))
    }
}

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Messages of the client.
    pub client: u64,
    /// Messages of the agent.
    pub agent: u64,
    /// Whether the trace begins with `initialize`.
    pub start: bool,
    /// Lines that hold no message and became stderr of the agent.
    pub other: Places,
    /// Messages of which the sender was guessed.
    pub guessed: Places,
    /// Lines that were left out, as they are of no use: of another hop, or of another protocol.
    pub left_out: Places,
    /// Lines that are damaged and were left out.
    pub damaged: Places,
    /// Whether marks of direction mean the reverse of what their words say, as the methods show.
    pub reversed: bool,
    /// Whether no times were found.
    pub timeless: bool,
    /// Whether messages had to be written anew, so that their text is not that of the wire.
    pub rewritten: bool,
}

impl Outcome {
    /// What a person has to know, a sentence each; the first says how much was taken over.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![format!(
            "{} messages: {} of the client, {} of the agent",
            self.client + self.agent,
            self.client,
            self.agent
        )];
        let lines = |places: &Places| if places.count == 1 { "line" } else { "lines" };
        for (places, what) in [
            (
                &self.other,
                "without a message, taken for stderr of the agent",
            ),
            (&self.left_out, "left out: other hops or other protocols"),
            (&self.damaged, "left out, because they cannot be read"),
        ] {
            if places.count > 0 {
                all.push(format!(
                    "{} {} {what}: {}",
                    places.count,
                    lines(places),
                    places.list()
                ));
            }
        }
        if self.guessed.count > 0 {
            all.push(format!(
                "who sent it could not be told for sure of {} messages, and was guessed: {} {}",
                self.guessed.count,
                lines(&self.guessed),
                self.guessed.list()
            ));
        }
        if self.reversed {
            all.push(
                "the marks of direction were read the other way round, as the methods show"
                    .to_owned(),
            );
        }
        if !self.start {
            all.push(
                "the recording does not begin with `initialize`: its header says `\"start\":false`"
                    .to_owned(),
            );
        }
        if self.client == 0 {
            all.push("no message of the client is in it".to_owned());
        }
        if self.agent == 0 {
            all.push("no message of the agent is in it".to_owned());
        }
        if self.timeless {
            all.push("it tells no times: all events are at 0 s".to_owned());
        }
        if self.rewritten {
            all.push(
                "this format does not keep the text of the wire: the messages were written anew"
                    .to_owned(),
            );
        }
        all
    }
}
