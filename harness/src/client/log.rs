//! The growing trace of a live conversation, and the judge that reads along.

use std::fs::File;
use std::io::{self, BufWriter};
use std::time::Instant;

use crate::rules::{Conversation, Judge, Judgement, OwnMessages};
use crate::trace::{Body, Event, Header, Party, TraceWriter};
use crate::wire::Reading;

/// A trace that is written to a file.
pub type TraceFile = TraceWriter<BufWriter<File>>;

/// Gives events their place in the trace: file and judge see the same.
pub(crate) struct Log {
    began: Instant,
    last_at: f64,
    trace: Option<TraceFile>,
    fault: Option<io::Error>,
    judge: Judge,
    /// Where the client's messages are the harness's own, and not those of a recording.
    own: Option<OwnMessages>,
}

impl Log {
    pub(crate) fn new(began: Instant, trace: TraceFile) -> Self {
        Self {
            own: Some(OwnMessages::default()),
            ..Self::judged_by(Judge::new(true), began, trace)
        }
    }

    /// The same with a judge of the caller's.
    pub(crate) fn judged_by(judge: Judge, began: Instant, trace: TraceFile) -> Self {
        Self {
            began,
            last_at: 0.0,
            trace: Some(trace),
            fault: None,
            judge,
            own: None,
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
        let reading = body.reading();
        self.write_read(at, from, body, probe, reading.as_ref())
    }

    /// As [`Log::write`], where what the line of the wire holds was read before.
    pub(crate) fn write_read(
        &mut self,
        at: Instant,
        from: Party,
        body: Body,
        probe: Option<String>,
        reading: Option<&Reading>,
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
        let index = self.judge.see_read(&event, reading);
        if let Some(own) = &mut self.own {
            own.see(index, &event, reading);
        }
        index
    }

    /// How many events there are.
    pub(crate) fn len(&self) -> u64 {
        self.judge.seen()
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

    /// Ends the trace: what the rules found, the last state of the conversation, and what is a fault of the harness.
    pub(crate) fn finish(self) -> (Judgement, Conversation, Option<String>) {
        let (judgement, talk) = self.judge.finish();
        let mut faults: Vec<String> = self
            .fault
            .map(|error| format!("the trace could not be written to its end: {error}"))
            .into_iter()
            .collect();
        faults.extend(self.own.into_iter().flat_map(OwnMessages::into_faults));
        let faults = (!faults.is_empty()).then(|| faults.join("; "));
        (judgement, talk, faults)
    }
}
