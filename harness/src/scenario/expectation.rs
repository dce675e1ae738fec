//! Holds the expectations of a step against what was seen.

use std::time::Duration;

use super::check::{Marks, Miss, Seen, outcome_of};
use super::drive::{Done, Drive, Judged, Stop, Verdict};
use super::file::{Action, Answer, Condition, Expect, Otherwise, Step};
use super::params::unknown;
use crate::client::Limits;
use crate::rules::Place;
use crate::trace::Exit;
use crate::wire::Message;

/// The error code of an agent that must be logged in first.
const AUTHENTICATION_REQUIRED: i64 = -32000;

/// Whether an error where a result is expected only tells that a login is missing, which shows nothing of what is expected.
/// The requirements on the handshake and on authentication are about just that answer.
fn wants_login(
    step: &Step,
    expect: &Expect,
    condition: &Condition,
    answer: Option<&(u64, Message)>,
) -> bool {
    let result = matches!(
        condition,
        Condition::Result(_) | Condition::Answer(Answer::Result)
    );
    let code = answer.and_then(|(_, message)| message.error_code());
    result
        && code == Some(AUTHENTICATION_REQUIRED)
        && !matches!(step.action, Action::Initialize(_) | Action::Authenticate(_))
        && !expect.covers.iter().any(|id| id.starts_with("AUTH-"))
}

impl Drive<'_> {
    /// Judges a step.
    ///
    /// # Errors
    /// What the rest of the scenario requires and is not so.
    pub(super) async fn judge(&mut self, step: &Step, done: &Done) -> Result<(), Stop> {
        for require in &step.require {
            match self.judge_one(step, require, done).await {
                Verdict::Held | Verdict::Left(_) => {}
                Verdict::Missed(miss) if require.otherwise == Otherwise::NotApplicable => {
                    return Err(Stop::NotApplicable(
                        require.why.clone().unwrap_or(miss.message),
                    ));
                }
                Verdict::Missed(miss) => return Err(Stop::Blocked(miss.message)),
                Verdict::Open(why) => return Err(Stop::Blocked(why)),
            }
        }
        if let (Action::Prompt(_), Some(name)) = (&step.action, &step.name) {
            let session = done.session.as_deref();
            let seen = session.and_then(|session| self.connection.progress().session(session));
            let answer = done.answer.as_ref().map(|(_, message)| message);
            self.turns.insert(name.clone(), outcome_of(answer, seen));
        }
        for (expect, noted) in step
            .expect
            .iter()
            .map(|it| (it, false))
            .chain(step.note.iter().map(|it| (it, true)))
        {
            let verdict = self.judge_one(step, expect, done).await;
            if let (Verdict::Missed(Miss { gone: true, .. }), false) = (&verdict, noted) {
                self.gone = true;
            }
            self.judged.push(Judged {
                expect: expect.clone(),
                verdict,
                noted: noted.then(|| self.noted(expect, done)),
            });
        }
        Ok(())
    }

    pub(super) async fn judge_one(&mut self, step: &Step, expect: &Expect, done: &Done) -> Verdict {
        let other = match &expect.to {
            Some(id) => Some(self.await_other(step, id, expect).await),
            None => None,
        };
        let expect = match expect.fill(&mut |placeholder| self.value_of(step, placeholder)) {
            Ok(expect) => expect,
            Err(missing) => return Verdict::Open(unknown(&missing)),
        };
        if let Some(why) = self.only_unanswered(step, &expect, done) {
            return Verdict::Open(why);
        }
        for condition in &expect.conditions {
            match condition {
                Condition::Left(count) => return Verdict::Left(*count),
                Condition::Exit(wanted) => {
                    if let Err(miss) = self.exits(wanted.within, &wanted.codes).await {
                        return missed(&expect, miss);
                    }
                    continue;
                }
                Condition::Mcp(wanted) => {
                    if let Err(miss) = self.mcp(wanted, done).await {
                        return missed(&expect, miss);
                    }
                    continue;
                }
                _ => {}
            }
            let model = self.connection.model();
            let (answer, missing) = match &other {
                Some(Ok(answer)) => (Some(answer), None),
                Some(Err(end)) => (None, Some(*end)),
                None => (done.answer.as_ref(), done.missing),
            };
            let seen = Seen {
                answer,
                missing,
                event: done.event,
                seconds: done.seconds,
                session: done
                    .session
                    .as_deref()
                    .and_then(|session| self.connection.progress().session(session)),
                before: &done.before,
                messages: self.connection.progress().messages(),
                workspace: &self.workspace,
                model: model.as_ref(),
                turns: &self.turns,
                alive: self.connection.is_alive(),
            };
            if let Err(miss) = seen.check(condition) {
                if wants_login(step, &expect, condition, answer) {
                    return Verdict::Open(format!(
                        "the agent wants to be logged in: {}",
                        miss.message
                    ));
                }
                return missed(&expect, miss);
            }
        }
        Verdict::Held
    }

    /// An `initialize` without an answer is INIT-01's failure, or TRANSPORT-05's where nothing came at all; whatever else
    /// was to be seen in the answer is not missed as well.
    fn only_unanswered(&self, step: &Step, expect: &Expect, done: &Done) -> Option<String> {
        let about = |id: &str| expect.covers.iter().any(|cover| cover == id);
        let unanswered = matches!(step.action, Action::Initialize(_)) && done.missing.is_some();
        let silent = self.connection.progress().messages() == 0;
        (unanswered && !about("INIT-01") && !(silent && about("TRANSPORT-05")))
            .then(|| "initialize was not answered".to_owned())
    }

    pub(super) async fn exits(&mut self, within: Option<f64>, codes: &[i64]) -> Result<(), Miss> {
        let within = within.unwrap_or(5.0);
        let limits = Limits::exactly(Duration::from_secs_f64(within * self.times.slow.max(1.0)));
        let miss = |message: String, place: Option<Place>| Miss {
            message,
            place,
            gone: false,
        };
        let ended = self
            .connection
            .pump(limits, |connection| connection.has_exited().then_some(()))
            .await;
        if ended.is_err() && !self.connection.has_exited() {
            return Err(miss(
                format!("the agent's process is still running after {within} s"),
                None,
            ));
        }
        let end = self.connection.talk().end;
        let fits = match end.exit {
            Some(Exit::Code(code)) => codes.is_empty() || codes.contains(&i64::from(code)),
            _ => codes.is_empty(),
        };
        if fits {
            return Ok(());
        }
        let found = end
            .exit
            .map_or("an end of which nothing is known".to_owned(), |exit| {
                exit.to_string()
            });
        Err(miss(
            format!(
                "expected exit code {}, found {found}",
                codes
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(" or ")
            ),
            end.exited.map(Place::event),
        ))
    }

    pub(super) fn leave_open(&mut self, step: &Step, why: &str) {
        for expect in &step.expect {
            self.judged.push(Judged {
                expect: expect.clone(),
                verdict: Verdict::Open(why.to_owned()),
                noted: None,
            });
        }
    }

    pub(super) fn marks(&self, session: &str) -> Marks {
        let progress = self.connection.progress();
        let seen = self
            .sessions
            .get(session)
            .and_then(|id| progress.session(id));
        Marks {
            updates: seen.map(|seen| seen.updates.clone()).unwrap_or_default(),
            permissions: seen.map_or(0, |seen| seen.permissions),
            messages: progress.messages(),
            model_requests: self.connection.model().map_or(0, |model| model.requests),
        }
    }
}

/// What an expectation comes to whose condition does not hold.
pub(super) fn missed(expect: &Expect, miss: Miss) -> Verdict {
    match expect.otherwise {
        Otherwise::Inconclusive => Verdict::Open(expect.why.clone().unwrap_or(miss.message)),
        Otherwise::Fail | Otherwise::NotApplicable => Verdict::Missed(Miss {
            message: match &expect.why {
                Some(why) => format!("{}: {}", why.trim_end_matches('.'), miss.message),
                None => miss.message,
            },
            ..miss
        }),
    }
}
