//! Which steps are shown.

use globset::{GlobBuilder, GlobMatcher};

use super::arguments::{Around, ShowArguments};
use super::findings::Findings;
use crate::report::picture::Step;

/// So many names are kept to be told where nothing matches.
const TOLD: usize = 12;

/// Which steps are shown: those that all conditions hold for.
#[derive(Debug)]
pub(super) struct Filter {
    session: Option<String>,
    turn: Option<u64>,
    methods: Vec<GlobMatcher>,
    around: Option<Around>,
    findings: Option<Findings>,
    /// The filter in words, as it was given.
    given: String,
    /// Methods and kinds that were seen.
    seen: Vec<String>,
}

impl Filter {
    /// Reads the patterns.
    ///
    /// # Errors
    /// A sentence on one that is none.
    pub(super) fn new(
        arguments: &ShowArguments,
        findings: Option<Findings>,
    ) -> Result<Self, String> {
        let mut given = Vec::new();
        if let Some(session) = &arguments.session {
            given.push(format!("--session {session}"));
        }
        if let Some(turn) = arguments.turn {
            given.push(format!("--turn {turn}"));
        }
        let mut methods = Vec::new();
        for pattern in &arguments.method {
            given.push(format!("--method {pattern}"));
            let glob = GlobBuilder::new(pattern).literal_separator(true).build();
            methods.push(
                glob.map_err(|error| format!("`--method {pattern}` is no pattern: {error}"))?
                    .compile_matcher(),
            );
        }
        if let Some(around) = arguments.around {
            given.push(format!("--around {}", around.event));
        }
        if arguments.findings {
            given.push("--findings".to_owned());
        }
        Ok(Self {
            session: arguments.session.clone(),
            turn: arguments.turn,
            methods,
            around: arguments.around,
            findings,
            given: given.join(" "),
            seen: Vec::new(),
        })
    }

    /// Whether a step is shown.
    pub(super) fn shows(&self, step: &Step) -> bool {
        let session = self.session.as_ref().is_none_or(|wanted| {
            let number = step.place.map(|(session, _)| session.to_string());
            step.session.as_ref() == Some(wanted) || number.as_ref() == Some(wanted)
        });
        let turn = self
            .turn
            .is_none_or(|wanted| step.place.and_then(|(_, turn)| turn) == Some(wanted));
        let named = |matcher: &GlobMatcher| {
            let names = step.method.iter().chain(&step.kind);
            names.into_iter().any(|name| matcher.is_match(name))
        };
        let method = self.methods.is_empty() || self.methods.iter().any(named);
        session
            && turn
            && method
            && self.around.is_none_or(|around| around.holds(step.event))
            && self
                .findings
                .as_ref()
                .is_none_or(|findings| findings.are_near(step.event))
    }

    /// Remembers what there was, to be told where nothing matches.
    pub(super) fn saw(&mut self, step: &Step) {
        if self.methods.is_empty() || self.seen.len() >= TOLD {
            return;
        }
        for name in step.kind.iter().chain(&step.method).take(1) {
            if !self.seen.contains(name) {
                self.seen.push(name.clone());
            }
        }
    }

    /// What was found, where the recording was judged.
    pub(super) fn findings(&self) -> Option<&Findings> {
        self.findings.as_ref()
    }

    /// Whether nothing that comes from this event on is shown.
    pub(super) fn is_over(&self, event: u64) -> bool {
        self.around.is_some_and(|around| around.is_past(event))
    }

    /// Why nothing was shown of a recording with so many events and sessions.
    pub(super) fn nothing(&self, events: u64, sessions: usize) -> String {
        let given = &self.given;
        let holds = match (events, sessions) {
            (1, _) => "it holds 1 event".to_owned(),
            (events, 1) => format!("it holds {events} events, of 1 session"),
            (events, sessions) => format!("it holds {events} events, of {sessions} sessions"),
        };
        match self.around {
            _ if events == 0 => return "it holds no events".to_owned(),
            Some(around) if around.event >= events => {
                return format!(
                    "there is no event {}: {holds}, numbered from 0",
                    around.event
                );
            }
            _ => {}
        }
        if self.findings.as_ref().is_some_and(Findings::is_empty) {
            return format!(
                "the rules find nothing wrong with it ({holds}); without `--findings` all of it is shown"
            );
        }
        let mut sentence = format!("nothing in it matches `{given}`: {holds}");
        if !self.seen.is_empty() {
            sentence.push_str(&format!("; there are {}", self.seen.join(", ")));
            if self.seen.len() >= TOLD {
                sentence.push_str(", …");
            }
        }
        sentence
    }
}
