//! Runs the scenarios side by side, and stops early where there is no agent to speak to.

use std::pin::pin;

use futures::StreamExt as _;

use super::arrival::Arrival;
use super::plan::Plan;
use super::progress::Progress;
use crate::agent::{self, Home};
use crate::report::Screen;
use crate::scenario::file::Scenario;
use crate::scenario::{self, Outcome, Reached};
use crate::verdict::{Blocked, Blocker};

/// How many scenarios without an answer are enough to give an agent up that has never answered.
const ENOUGH: usize = 2;

/// What may help an agent that does not come up.
pub(in crate::cli) const NEEDS_A_HOME: &str = "It ran in a fresh home with few variables. If it needs your settings or keys, try `--home keep`, \
    `--env NAME` or `--env-all`.";

/// What came of a run.
pub(super) struct Played {
    /// In the order of the scenarios.
    pub(super) outcomes: Vec<Outcome>,
    /// Where there was no agent to speak to: why.
    pub(super) no_agent: Option<Blocked>,
}

/// Plays all scenarios of the plan.
///
/// # Errors
/// What the system did not give the harness, as a sentence.
pub(super) fn play(
    plan: &Plan,
    quiet: bool,
    verbose: bool,
    screen: Screen,
) -> Result<Played, String> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| format!("the harness cannot run: {error}"))?;
    let ids = plan.scenarios.iter().map(|scenario| scenario.id.as_str());
    let known = &plan.setup.profile.known;
    let known = known.iter().map(|known| known.id.clone()).collect();
    let progress = Progress::new(ids, known, (quiet, verbose), screen);
    let played = runtime.block_on(async {
        agent::guard::install(|signal| std::process::exit(128 + signal))
            .map_err(|error| format!("the harness cannot listen to signals: {error}"))?;
        Ok(all(plan, &progress).await)
    });
    progress.clear();
    // What still blocks there is of no use any more.
    runtime.shutdown_background();
    played
}

async fn all(plan: &Plan, progress: &Progress) -> Played {
    let playing = futures::stream::iter(plan.scenarios.iter().enumerate())
        .map(|(place, scenario)| async move {
            progress.started(&scenario.id);
            (place, scenario::run(scenario, &plan.setup).await)
        })
        .buffer_unordered(plan.jobs);
    let mut playing = pin!(playing);
    let mut outcomes: Vec<(usize, Outcome)> = Vec::new();
    let mut answered = false;
    let mut silent: Vec<Blocked> = Vec::new();
    while let Some((place, outcome)) = playing.next().await {
        progress.finished(&outcome);
        let not_started = matches!(outcome.reached, Reached::NotStarted(_));
        if !answered {
            match Arrival::of(&outcome) {
                Arrival::Answered => answered = true,
                Arrival::Silent(why) => silent.push(no_agent(plan, why, &outcome)),
                Arrival::NotAsked => {}
            }
        }
        outcomes.push((place, outcome));
        if !answered && (not_started || silent.len() >= ENOUGH) {
            break;
        }
    }
    outcomes.sort_by_key(|(place, _)| *place);
    Played {
        outcomes: outcomes.into_iter().map(|(_, outcome)| outcome).collect(),
        no_agent: silent.into_iter().next().filter(|_| !answered),
    }
}

/// Plays one scenario alone.
pub(super) async fn one(plan: &Plan, scenario: &Scenario) -> Played {
    let outcome = scenario::run(scenario, &plan.setup).await;
    let no_agent = match Arrival::of(&outcome) {
        Arrival::Silent(why) => Some(no_agent(plan, why, &outcome)),
        Arrival::Answered | Arrival::NotAsked => None,
    };
    Played {
        outcomes: vec![outcome],
        no_agent,
    }
}

/// Why there is no agent, with the last lines of its stderr and what may help.
fn no_agent(plan: &Plan, why: String, outcome: &Outcome) -> Blocked {
    let mut advice = Vec::new();
    if !outcome.stderr.is_empty() {
        advice.push("Its last lines on stderr:".to_owned());
        advice.extend(outcome.stderr.iter().map(|line| format!("    {line}")));
    }
    let started = !matches!(outcome.reached, Reached::NotStarted(_));
    if started && plan.setup.home == Home::Fresh && !plan.setup.command.is_built_in() {
        advice.push(NEEDS_A_HOME.to_owned());
    }
    Blocked {
        by: Blocker::NoAgent,
        why,
        advice,
    }
}
