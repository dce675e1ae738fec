//! A text that comes in pieces, each in an event of its own.

use std::collections::VecDeque;
use std::ops::Range;

use super::escape::{Places, decoded};
use super::find::Finder;
use super::form::Body;
use super::found::{Found, Mode, Span};
use super::known::{Known, StandsFor};
use super::slots::{Edit, Slots, With};

/// How much text is held back at most.
const LONGEST: usize = 16 << 10;

/// How much of a text is compared to tell whether the next one holds it again.
const HEAD: usize = 64;

/// Where a piece of a text stands.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The number of the event.
    pub(super) event: u64,
    /// Where the string stands in the event's text, without its quotes.
    pub(super) raw: Range<usize>,
    /// Whether it is the inside of a JSON string, or text as it is.
    pub(super) is_escaped: bool,
}

#[derive(Clone, Debug)]
struct Part {
    source: Source,
    /// Where it begins in the tail.
    start: usize,
    /// Where the tail's part of it begins in what the source says.
    inner: usize,
    held: bool,
    /// How far the places in the raw text were looked up.
    places: (usize, usize),
}

/// What belongs to a secret that was replaced before its end was seen.
#[derive(Clone, Debug)]
enum Rest {
    /// As long as it goes on like this.
    Run(Body),
    /// These bytes.
    Bytes(Vec<u8>),
}

/// The end of a text that is not decided yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    tail: Vec<u8>,
    parts: VecDeque<Part>,
    /// Where in the tail that begins which may be secret.
    hold: usize,
    /// Where in the tail that begins which is needed to tell.
    keep: usize,
    run: Option<Body>,
    rest: Option<Rest>,
    /// The beginning of the last piece, and its length.
    head: (Vec<u8>, usize),
    /// The number of the event of the last piece.
    last: u64,
}

/// What is needed to decide.
pub(super) struct Tools<'a> {
    pub(super) finder: &'a Finder,
    pub(super) known: &'a Known,
    pub(super) slots: &'a mut Slots,
}

impl Joined {
    /// Whether something is undecided.
    pub(super) fn is_open(&self) -> bool {
        self.keep < self.tail.len() || self.rest.is_some()
    }

    /// Whether the next piece is looked through together with the end of what came before it.
    pub(super) fn is_undecided(&self) -> bool {
        self.keep < self.tail.len() && self.run.is_none() && self.rest.is_none()
    }

    /// Whether a piece says all again that the piece before it said.
    pub(super) fn is_again(&self, said: &[u8]) -> bool {
        let (head, length) = &self.head;
        !head.is_empty() && said.len() >= *length && said.starts_with(head)
    }

    /// Takes the next piece. `suspect` is whether anything in it gives reason to look, `repeats` whether the piece after it may
    /// say it again.
    pub(super) fn add(
        &mut self,
        said: &[u8],
        source: Source,
        suspect: bool,
        repeats: bool,
        tools: &mut Tools<'_>,
    ) {
        if !self.is_open() && source.event != self.last + 1 {
            // Something else came between: a word may begin here.
            self.forget();
        }
        self.last = source.event;
        if repeats {
            self.head = (said.get(..HEAD).unwrap_or(said).to_vec(), said.len());
        }
        let swallowed = self.swallow(said, &source, tools);
        let said = said.get(swallowed..).unwrap_or_default();
        if said.is_empty() {
            return;
        }
        let was_open = self.keep < self.tail.len();
        self.parts.push_back(Part {
            source,
            start: self.tail.len(),
            inner: swallowed,
            held: false,
            places: (0, 0),
        });
        self.tail.extend_from_slice(said);
        let goes_on = self
            .run
            .is_some_and(|run| said.iter().all(|byte| run.holds(*byte)));
        if !goes_on {
            let found = if was_open || suspect || tools.finder.has_patterns() {
                tools.finder.find(&self.tail, Mode::Open, tools.known)
            } else {
                tools.finder.end(&self.tail)
            };
            self.apply(&found, tools);
            self.run = found.run;
            (self.keep, self.hold) = (found.keep, found.hold);
        }
        self.hold_back(tools.slots);
        self.trim();
        if self.tail.len() - self.hold > LONGEST {
            self.decide(Mode::Cut, tools);
        }
    }

    /// Decides on what is undecided, as if nothing more came (`Ended`) or what comes is seen too late (`Cut`).
    pub(super) fn decide(&mut self, mode: Mode, tools: &mut Tools<'_>) {
        let found = tools.finder.find(&self.tail, mode, tools.known);
        self.apply(&found, tools);
        let at_end = found
            .spans
            .last()
            .filter(|span| span.end == self.tail.len());
        self.rest = match (mode, at_end) {
            (Mode::Cut, Some(span)) => self.rest_of(span),
            _ => None,
        };
        self.run = None;
        self.hold = self.tail.len();
        self.keep = match at_end {
            Some(_) => self.tail.len(),
            None => self.keep.max(self.tail.len().saturating_sub(HEAD)),
        };
        self.hold_back(tools.slots);
        match mode {
            Mode::Ended => self.forget(),
            Mode::Cut | Mode::Open => self.trim(),
        }
    }

    /// Begins anew. Nothing is held back at this time.
    fn forget(&mut self) {
        self.tail.clear();
        self.parts.clear();
        (self.keep, self.hold) = (0, 0);
    }

    /// What goes on behind a span at the end of the tail.
    fn rest_of(&self, span: &Span) -> Option<Rest> {
        match (&span.stands_for, span.body) {
            (Some(StandsFor::Secret(secret)), None) => {
                let seen = self.tail.get(span.start..span.end)?;
                let rest = secret.strip_prefix(seen)?;
                (!rest.is_empty()).then(|| Rest::Bytes(rest.to_vec()))
            }
            (_, Some(body)) => Some(Rest::Run(body)),
            _ => None,
        }
    }

    /// Takes out what belongs to a secret that was replaced before. Returns how much.
    fn swallow(&mut self, said: &[u8], source: &Source, tools: &mut Tools<'_>) -> usize {
        let length = match &mut self.rest {
            None => return 0,
            Some(Rest::Run(body)) => said.iter().take_while(|byte| body.holds(**byte)).count(),
            Some(Rest::Bytes(rest)) => {
                let length = rest
                    .iter()
                    .zip(said)
                    .take_while(|(left, right)| left == right)
                    .count();
                rest.drain(..length);
                length
            }
        };
        let goes_on = match &self.rest {
            Some(Rest::Bytes(rest)) => !rest.is_empty(),
            _ => true,
        };
        if length < said.len() || !goes_on {
            self.rest = None;
        }
        if length > 0 {
            edit(source, &mut (0, 0), 0..length, With::Nothing, tools.slots);
        }
        length
    }

    /// Replaces what was found.
    fn apply(&mut self, found: &Found, tools: &mut Tools<'_>) {
        for span in &found.spans {
            let with = replacement(span, &self.tail);
            self.replace(span.start..span.end, with, tools.slots);
        }
    }

    /// Puts a text into the first event that is still there, and takes the rest of the range out of those behind it.
    fn replace(&mut self, range: Range<usize>, with: With, slots: &mut Slots) {
        let mut with = Some(with);
        let first = self
            .parts
            .partition_point(|part| part.start <= range.start)
            .saturating_sub(1);
        for index in first..self.parts.len() {
            let end = self
                .parts
                .get(index + 1)
                .map_or(self.tail.len(), |next| next.start);
            let Some(part) = self.parts.get_mut(index) else {
                break;
            };
            if part.start >= range.end {
                break;
            }
            let own = range.start.max(part.start)..range.end.min(end);
            if own.is_empty() || slots.text(part.source.event).is_none() {
                continue;
            }
            let said = part.inner + (own.start - part.start)..part.inner + (own.end - part.start);
            edit(
                &part.source,
                &mut part.places,
                said,
                with.take().unwrap_or(With::Nothing),
                slots,
            );
        }
    }

    /// Holds the events that have undecided text in them, and lets the others go.
    fn hold_back(&mut self, slots: &mut Slots) {
        let first = self
            .parts
            .partition_point(|part| part.start <= self.hold)
            .saturating_sub(1);
        let open = self.hold < self.tail.len();
        for (index, part) in self.parts.iter_mut().enumerate() {
            let holds = open && index >= first;
            if holds != part.held {
                part.held = holds;
                if holds {
                    slots.hold(part.source.event);
                } else {
                    slots.let_go(part.source.event);
                }
            }
        }
    }

    /// Forgets what is not needed any more.
    fn trim(&mut self) {
        let keep = self.keep.min(self.hold).saturating_sub(8);
        if keep == 0 {
            return;
        }
        while self.parts.get(1).is_some_and(|next| next.start <= keep) {
            self.parts.pop_front();
        }
        for part in &mut self.parts {
            part.inner += keep.saturating_sub(part.start);
            part.start = part.start.saturating_sub(keep);
        }
        self.tail.drain(..keep);
        self.keep -= keep;
        self.hold -= keep;
    }
}

/// What comes in the place of a span.
pub(super) fn replacement(span: &Span, text: &[u8]) -> With {
    match &span.stands_for {
        Some(StandsFor::Home) => With::Home,
        Some(StandsFor::Secret(secret)) => With::Secret(secret.clone()),
        None => {
            let own = text.get(span.start..span.end).unwrap_or_default();
            // Inside a text within a text it may stand in escapes.
            With::Secret(decoded(own).into_owned())
        }
    }
}

/// Replaces a part of what a source says.
fn edit(
    source: &Source,
    at: &mut (usize, usize),
    said: Range<usize>,
    with: With,
    slots: &mut Slots,
) {
    let Some(raw) = slots
        .text(source.event)
        .and_then(|text| text.get(source.raw.clone()))
    else {
        return;
    };
    let (start, end) = if source.is_escaped {
        let mut places = Places::from(raw, *at);
        let range = places.range(said.start, said.end);
        *at = places.at();
        range
    } else {
        (said.start, said.end)
    };
    let raw = source.raw.start + start..source.raw.start + end;
    slots.edit(source.event, Edit { raw, with });
}
