//! Plans: their entries, and whether each update holds the whole plan.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::part;
use super::{Moment, Out, Place, Rule};
use crate::hash::HashMap;

/// How many shortened plans of a turn are remembered.
const REMEMBERED: usize = 16;

/// How many entries of a turn are remembered.
const ENTRIES: usize = 10_000;

/// An entry: a number that stands for its content, and how far it is (0 pending, 1 in progress, 2 completed).
type Entry = (u64, u8);

/// A plan that holds only entries whose status had changed, and what it left out.
struct Shortened {
    event: u64,
    dropped: Vec<u64>,
    /// What became of it is known: what it left out came back.
    settled: bool,
}

/// The plans of a turn.
struct Plans {
    /// The prompt of the turn.
    turn: u64,
    first: u64,
    count: u64,
    /// Whether the first plan had several entries, of which some were not completed.
    worth_refreshing: bool,
    last: Vec<Entry>,
    /// Every entry of the turn, as it was told last.
    known: HashMap<u64, u8>,
    shortened: Vec<Shortened>,
}

/// PLAN-01 (schema PlanEntry): entries fit the schema.
///
/// PLAN-02 (docs/protocol/v1/agent-plan.mdx#updating-plans): a plan that holds only entries whose status changed, while
/// what it left out comes back later in the turn, fails if that one too holds changes alone and leaves out others. An agent
/// may take an entry out and put it back, and then the plan is whole. Without the return it proves nothing. Plans of
/// different turns are not compared, nor what a load replays.
///
/// PLAN-03 (the same section): a turn that sent a plan of several entries and ends with end_turn sent a second one. A first
/// plan of which everything is completed leaves nothing to refresh.
///
/// PLAN-04: plans left open, statuses that go back and several entries in progress are noted.
#[derive(Default)]
pub(super) struct Planning {
    /// By session.
    plans: HashMap<String, Plans>,
}

impl Rule for Planning {
    fn judges(&self) -> &'static [&'static str] {
        &["PLAN-01", "PLAN-02", "PLAN-03", "PLAN-04"]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        if let Some(update) = moment.update() {
            if update.kind != "plan" {
                return;
            }
            let Some(entries) = update.body.get("entries") else {
                return;
            };
            part::judge(moment, "PLAN-01", out);
            let live = moment
                .talk
                .session(update.session)
                .filter(|session| session.loading.is_none())
                .and_then(|session| session.turns.front());
            if let (Some(turn), Some(entries)) = (live, read(entries)) {
                self.planned(moment, update.session, turn.event, entries, out);
            }
        } else if let Some(turn) = moment.ended_turn {
            let shared = moment
                .talk
                .session(&turn.session)
                .is_none_or(|session| !session.turns.is_empty());
            if let Some(plans) = self.plans.remove(&turn.session) {
                let ended = moment
                    .message()
                    .and_then(|message| message.result()?.get("stopReason")?.as_str())
                    == Some("end_turn");
                plans.ended(ended && !shared && turn.cancelled.is_none(), out);
            }
        }
    }
}

impl Planning {
    fn planned(
        &mut self,
        moment: &Moment<'_>,
        session: &str,
        turn: u64,
        entries: Vec<Entry>,
        out: &mut Out<'_>,
    ) {
        let running = entries.iter().filter(|(_, status)| *status == 1).count();
        if running > 1 {
            out.note(
                "PLAN-04",
                moment.at("/params/update/entries"),
                format!("{running} entries of the plan are in progress at once"),
            );
        }
        match self
            .plans
            .get_mut(session)
            .filter(|plans| plans.turn == turn)
        {
            Some(plans) => plans.next(moment, entries, out),
            None => {
                let plans = Plans {
                    turn,
                    first: moment.index,
                    count: 1,
                    worth_refreshing: entries.len() > 1
                        && entries.iter().any(|(_, status)| *status < 2),
                    known: entries.iter().copied().collect(),
                    last: entries,
                    shortened: Vec::new(),
                };
                self.plans.insert(session.to_owned(), plans);
            }
        }
    }
}

impl Plans {
    fn next(&mut self, moment: &Moment<'_>, entries: Vec<Entry>, out: &mut Out<'_>) {
        self.count += 1;
        let before: HashMap<u64, u8> = self.last.iter().copied().collect();
        let now: HashMap<u64, u8> = entries.iter().copied().collect();
        if entries
            .iter()
            .any(|(content, status)| before.get(content).is_some_and(|old| status < old))
        {
            out.note(
                "PLAN-04",
                moment.at("/params/update/entries"),
                "the status of an entry goes back",
            );
        }
        let changes_only = !entries.is_empty()
            && entries
                .iter()
                .all(|(content, status)| self.known.get(content).is_some_and(|old| old != status));
        let is_short = changes_only && self.known.keys().any(|content| !now.contains_key(content));
        for shortened in self.shortened.iter_mut().filter(|plan| !plan.settled) {
            if shortened
                .dropped
                .iter()
                .any(|content| now.contains_key(content))
            {
                shortened.settled = true;
                if !is_short {
                    out.inconclusive(
                        "PLAN-02",
                        "a plan holds only entries whose status changed; another came back with the whole plan, and may have been taken out",
                    );
                    continue;
                }
                out.fail(
                    "PLAN-02",
                    Place::new(shortened.event, "/params/update/entries"),
                    format!(
                        "the plan holds only entries whose status changed; {} others are left out, and come back at \
                         event {}",
                        shortened.dropped.len(),
                        moment.index
                    ),
                );
            }
        }
        let dropped: Vec<u64> = self
            .last
            .iter()
            .map(|(content, _)| *content)
            .filter(|content| !now.contains_key(content))
            .collect();
        if dropped.is_empty() {
            out.pass("PLAN-02");
        } else {
            let changes_only = !entries.is_empty()
                && entries
                    .iter()
                    .all(|(content, status)| before.get(content).is_some_and(|old| old != status));
            if changes_only && self.shortened.len() < REMEMBERED {
                self.shortened.push(Shortened {
                    event: moment.index,
                    dropped,
                    settled: false,
                });
            }
        }
        if self.known.len() < ENTRIES {
            self.known.extend(now);
        }
        self.last = entries;
    }

    fn ended(&self, normally: bool, out: &mut Out<'_>) {
        if self.shortened.iter().any(|plan| !plan.settled) {
            out.inconclusive(
                "PLAN-02",
                "a plan holds only entries whose status changed; the others may have been dropped for good",
            );
        }
        if !normally {
            return;
        }
        let place = || Place::new(self.first, "/params/update/entries");
        if self.worth_refreshing {
            out.check("PLAN-03", self.count > 1, place(), || {
                "the plan was never refreshed before the turn ended, expected updates as work goes on".to_owned()
            });
        }
        let open = self.last.iter().filter(|(_, status)| *status < 2).count();
        if open > 0 {
            out.note(
                "PLAN-04",
                place(),
                format!("the turn ended with {open} entries of the plan not completed"),
            );
        }
    }
}

/// The entries of a plan; `None` where they do not fit the schema.
fn read(entries: &Value) -> Option<Vec<Entry>> {
    entries
        .as_array()?
        .iter()
        .map(|entry| {
            let mut hasher = DefaultHasher::new();
            entry.get("content")?.as_str()?.hash(&mut hasher);
            let status = match entry.get("status")?.as_str()? {
                "pending" => 0,
                "in_progress" => 1,
                "completed" => 2,
                _ => return None,
            };
            Some((hasher.finish(), status))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{OPENING, failures, holds, is_inconclusive, judged, notes};

    /// A turn with these plans, of which the first is event 5: each entry is its content and `p`, `i` or `c`.
    fn turn(plans: &[&[&str]]) -> Judgement {
        let plans: Vec<String> = plans
            .iter()
            .map(|entries| {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|entry| {
                        let (content, status) = entry.split_at(1);
                        let status = match status {
                            "p" => "pending",
                            "i" => "in_progress",
                            "c" => "completed",
                            other => other,
                        };
                        format!(r#"{{"content":"{content}","priority":"medium","status":"{status}"}}"#)
                    })
                    .collect();
                format!(
                    r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"plan","entries":[{}]}}}}}}"#,
                    entries.join(",")
                )
            })
            .collect();
        judged(&format!(
            r#"{OPENING}
            > {{"id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"/plan"}}]}}}}
            {}
            < {{"id":2,"result":{{"stopReason":"end_turn"}}}}"#,
            plans.join("\n")
        ))
    }

    #[test]
    fn a_plan_that_is_refreshed_as_a_whole_holds() {
        let it = turn(&[&["ap", "bp"], &["ai", "bp"], &["ac", "bc"]]);
        assert_eq!(failures(&it), [""; 0]);
        for id in ["PLAN-01", "PLAN-02", "PLAN-03"] {
            assert!(holds(&it, id), "{id}");
        }
        assert_eq!(notes(&it, "PLAN-04"), 0);
    }

    #[test]
    fn an_unknown_status_fails() {
        let it = turn(&[&["acancelled"]]);
        let failed: Vec<String> = failures(&it)
            .into_iter()
            .filter(|failure| !failure.starts_with("JSONRPC-11"))
            .collect();
        assert_eq!(failed, ["PLAN-01@5/params/update/entries/0/status"]);
    }

    #[test]
    fn updates_that_hold_changes_only_fail_when_the_rest_comes_back() {
        let it = turn(&[&["ap", "bp"], &["ai"], &["ac"], &["bi"], &["bc"]]);
        assert_eq!(failures(&it), ["PLAN-02@6/params/update/entries"]);
    }

    #[test]
    fn entries_that_are_dropped_for_good_prove_nothing() {
        let it = turn(&[&["ap", "bp"], &["ai"], &["ac"]]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(is_inconclusive(&it, "PLAN-02"));
    }

    #[test]
    fn an_entry_that_is_taken_out_and_put_back_is_lawful() {
        for plans in [
            &[&["ap", "bp"][..], &["ai"], &["ai", "bp"]][..],
            &[&["ap", "bp"], &["ai"], &["ac", "bi"], &["ac", "bc"]],
            &[&["ap", "bp", "cp"], &["ai", "bi"], &["ai", "bi", "cp"]],
        ] {
            assert_eq!(failures(&turn(plans)), [""; 0], "{plans:?}");
        }
        let one_by_one = [
            &["ap", "bp", "cp"][..],
            &["ai"],
            &["ac", "bi"],
            &["bc", "ci"],
        ];
        assert_eq!(
            failures(&turn(&one_by_one)),
            ["PLAN-02@6/params/update/entries"]
        );
    }

    #[test]
    fn a_plan_that_is_replaced_by_another_is_lawful() {
        let it = turn(&[&["ap", "bp"], &["cp", "dp"], &["ap", "dp"]]);
        assert_eq!(failures(&it), [""; 0]);
    }

    #[test]
    fn a_plan_that_is_never_refreshed_fails() {
        let it = turn(&[&["ap", "bp"]]);
        assert_eq!(failures(&it), ["PLAN-03@5/params/update/entries"]);
        assert_eq!(notes(&it, "PLAN-04"), 1);
        assert_eq!(failures(&turn(&[&["ap"]])), [""; 0]);
        assert_eq!(failures(&turn(&[&["ac", "bc"]])), [""; 0]);
        assert!(turn(&[]).get("PLAN-03").is_none());
    }

    #[test]
    fn statuses_that_go_back_and_several_at_once_are_noted() {
        let it = turn(&[&["ai", "bi"], &["ap", "bc"], &["ac", "bc"]]);
        assert_eq!(notes(&it, "PLAN-04"), 2);
    }
}
