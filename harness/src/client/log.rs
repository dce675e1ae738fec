//! The growing trace of a live conversation, and the judge that reads along.

use std::fs::File;
use std::io::{self, BufWriter};
use std::time::Instant;

use crate::rules::{Conversation, Judge, Judgement};
use crate::trace::{Body, Event, Header, Party, TraceWriter};

/// A trace that is written to a file.
pub type TraceFile = TraceWriter<BufWriter<File>>;

/// Gives events their place in the trace: file and judge see the same.
pub(crate) struct Log {
    began: Instant,
    last_at: f64,
    trace: Option<TraceFile>,
    fault: Option<io::Error>,
    judge: Judge,
}

impl Log {
    pub(crate) fn new(began: Instant, trace: TraceFile) -> Self {
        Self::judged_by(Judge::new(true), began, trace)
    }

    /// The same with a judge of the caller's.
    pub(crate) fn judged_by(judge: Judge, began: Instant, trace: TraceFile) -> Self {
        Self {
            began,
            last_at: 0.0,
            trace: Some(trace),
            fault: None,
            judge,
        }
    }

    /// Appends an event and gives its number. A trace that cannot be written any more stops, and the conversation goes on.
    pub(crate) fn write(
        &mut self,
        at: Instant,
        from: Party,
        body: Body,
        probe: Option<String>,
    ) -> u64 {
        // Two edges may report out of order by a hair; the trace's clock never runs backwards.
        self.last_at = self
            .last_at
            .max(at.saturating_duration_since(self.began).as_secs_f64());
        let event = Event {
            at: self.last_at,
            from,
            body,
            probe,
            redacted: false,
        };
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.append(&event)
        {
            self.trace = None;
            self.fault = Some(error);
        }
        self.judge.see(&event)
    }

    /// Another process of the agent begins. Its trace is put behind that of the one before; events are counted on.
    pub(crate) fn begins_anew(&mut self, header: &Header) {
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.begin_another(header)
        {
            self.trace = None;
            self.fault = Some(error);
        }
        self.judge.begins_anew(true);
    }

    pub(crate) fn talk(&self) -> &Conversation {
        self.judge.talk()
    }

    pub(crate) fn finish(self) -> (Judgement, Conversation, Option<io::Error>) {
        let (judgement, talk) = self.judge.finish();
        (judgement, talk, self.fault)
    }
}
