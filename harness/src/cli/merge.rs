//! `harness merge`: the parts of a run put together as one.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;

use super::Exit;
use super::agent::OUTPUT;
use super::look::LookArguments;
use super::output::error;
use super::report::document;
use super::reports::{self, Output, REPORT_FAULT};
use super::run::conclusion::{Terms, conclude};
use super::run::exit;
use super::value::{self, Target};
use crate::report::document::Document;
use crate::report::part::{Hindrance, Judged, Part};
use crate::report::{Run, Surroundings, plain};
use crate::scenario::{Outcome, Reached};
use crate::verdict::{Blocked, Blocker, Scope};

/// What `harness merge` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: those of `harness run`, for all parts together; 2 where they are not the parts of one run."
)]
#[command(after_long_help = "\
The reports are those of `harness run --partition K/N --report json=FILE`, of every part, in any order. What comes out is \
what one run would have given: the same states, verdict, findings and order. Traces stay where they are.

Examples:
  harness run --agent bob --partition 1/3 --report json=1.json     on three machines, with 1/3, 2/3, 3/3
  harness merge 1.json 2.json 3.json --report json=report.json --report junit=junit.xml

Exit codes, the first that holds of 2, 4, 3, 1:
  0  all holds; failures that are known for the agent too
  1  findings, stale known failures, or an inconclusive verdict
  2  usage: flags, files, or reports that are not all parts of one run
  3  the agent could not be started, or never answered `initialize`
  4  a fault of the harness itself")]
pub(super) struct MergeArguments {
    /// The reports of all parts, as `--report json=FILE` wrote them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Write a report: `json=FILE`, or `json=-` for stdout
    ///
    /// The formats are those of `harness run`. May be repeated. With `-` as the file the text goes to stderr.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = value::target, help_heading = OUTPUT)]
    report: Vec<Target>,

    /// Show failures and the verdict only
    #[arg(short, long, conflicts_with = "verbose", help_heading = OUTPUT)]
    quiet: bool,

    /// Show notes, and why things were not judged
    #[arg(short, long, help_heading = OUTPUT)]
    verbose: bool,

    #[command(flatten)]
    look: LookArguments,
}

/// A part, and the file that it is from.
struct Named {
    file: String,
    document: Document,
    part: Part,
}

/// Runs the command.
pub(super) fn main(arguments: &MergeArguments) -> Exit {
    let merged = read(&arguments.files)
        .and_then(|parts| merge(&parts).map(|run| (run, parts.iter().any(|it| it.document.strict))))
        .and_then(|merged| reports::prepare(&arguments.report).map(|()| merged));
    let (run, strict) = match merged {
        Ok(merged) => merged,
        Err(why) => {
            error(why);
            return Exit::Usage;
        }
    };
    let output = Output {
        quiet: arguments.quiet,
        verbose: arguments.verbose,
        look: arguments.look,
        strict,
        reports: &arguments.report,
    };
    match output.show(&run) {
        Ok(()) => exit(&run, strict),
        Err(why) => {
            error(format_args!("{why}; {REPORT_FAULT}"));
            Exit::Fault
        }
    }
}

/// Reads the parts and finds out whether they are all parts of one run; in their order.
fn read(files: &[PathBuf]) -> Result<Vec<Named>, String> {
    let mut parts = Vec::new();
    for path in files {
        let file = plain(&path.display().to_string());
        let mut document = document(path)?;
        let part = document.part.take().ok_or_else(|| {
            format!("`{file}` is no part of a run: it was made without `--partition`")
        })?;
        parts.push(Named {
            file,
            document,
            part,
        });
    }
    parts.sort_by_key(|named| named.part.number);
    for pair in parts.windows(2) {
        if let [one, two] = pair {
            fit(one, two)?;
        }
    }
    let of = parts.first().map_or(0, |named| named.part.of);
    let lacks = (1..=of).find(|number| parts.iter().all(|named| named.part.number != *number));
    match lacks {
        Some(number) => Err(format!(
            "part {number} of {of} is missing: give the reports of all parts"
        )),
        None => Ok(parts),
    }
}

/// Whether two reports can be parts of one run.
fn fit(one: &Named, two: &Named) -> Result<(), String> {
    let (a, b) = (&one.document, &two.document);
    // An agent that never came up has no name; which one it was the other parts say.
    let silent = |document: &Document| document.blocked_by == Some(Blocker::NoAgent);
    let named = |document: &Document| (document.agent.name.clone(), document.agent.version.clone());
    let different = [
        ("number of parts", one.part.of != two.part.of),
        ("version of the harness", a.harness != b.harness),
        ("revision of the specification", a.spec != b.spec),
        (
            "agent",
            (named(a) != named(b) || a.agent.capabilities != b.agent.capabilities)
                && !silent(a)
                && !silent(b),
        ),
        ("command of the agent", a.agent.command != b.agent.command),
        (
            "surroundings of the agent",
            a.surroundings != b.surroundings,
        ),
        (
            "choice of scenarios",
            one.part.scenarios != two.part.scenarios || one.part.whole != two.part.whole,
        ),
        ("choice of requirements", ids(a) != ids(b)),
        ("known failures", one.part.known != two.part.known),
        ("choice of --strict", a.strict != b.strict),
    ];
    if let Some((what, _)) = different.iter().find(|(_, differs)| *differs) {
        let told = match *what {
            "agent" => format!(
                ": `{}` and `{}`",
                plain(&a.agent.called()),
                plain(&b.agent.called())
            ),
            _ => String::new(),
        };
        return Err(format!(
            "`{}` and `{}` are not parts of one run: they have another {what}{told}",
            one.file, two.file
        ));
    }
    if one.part.number == two.part.number {
        return Err(format!(
            "`{}` and `{}` are both part {} of {}: give each part once",
            one.file, two.file, one.part.number, one.part.of
        ));
    }
    if silent(a) != silent(b) {
        let (silent, other) = if silent(a) { (one, two) } else { (two, one) };
        return Err(format!(
            "the agent never came up in `{}`, and it did in `{}`: run part {} again",
            silent.file, other.file, silent.part.number
        ));
    }
    Ok(())
}

fn ids(document: &Document) -> Vec<&str> {
    let all = document.requirements.iter();
    all.map(|requirement| requirement.id.as_str()).collect()
}

/// Judges all parts together, in the way in which one run is judged.
fn merge(parts: &[Named]) -> Result<Run, String> {
    let Some(first) = parts.first() else {
        return Err("there is no report".to_owned());
    };
    let mut played: HashMap<&str, Outcome> = HashMap::new();
    for named in parts {
        for judged in &named.part.judged {
            let outcome = outcome(named, judged)?;
            played.insert(&judged.scenario, outcome);
        }
    }
    let silent = first.document.blocked_by == Some(Blocker::NoAgent);
    let mut outcomes = Vec::new();
    for id in &first.part.scenarios {
        match played.remove(id.as_str()) {
            Some(outcome) => outcomes.push(outcome),
            // A run without an agent is given up after a few scenarios.
            None if silent => {}
            None => return Err(format!("no part holds the scenario `{}`", plain(id))),
        }
    }
    let no_agent = first
        .document
        .blocked
        .clone()
        .filter(|_| silent)
        .map(|why| Blocked {
            by: Blocker::NoAgent,
            why,
            advice: first.document.advice.clone(),
        });
    let judged = ids(&first.document);
    let days = parts.iter().map(|named| named.part.day.as_str());
    let terms = Terms {
        words: first.document.agent.command.clone(),
        known: &first.part.known,
        day: days.max().unwrap_or_default(),
        scope: match first.part.whole {
            true => Scope::Whole,
            false => Scope::Part,
        },
        judges: &|id| judged.contains(&id),
        surroundings: first.document.surroundings.as_ref().map(Surroundings::from),
        repeat: (
            first.document.repeat.before.clone(),
            first.document.repeat.after.clone(),
        ),
    };
    Ok(conclude(terms, &outcomes, no_agent))
}

/// A scenario as its run left it, as far as judging needs it.
fn outcome(named: &Named, judged: &Judged) -> Result<Outcome, String> {
    let (id, document) = (&judged.scenario, &named.document);
    let scenario = document
        .scenarios
        .iter()
        .find(|scenario| scenario.id == *id)
        .ok_or_else(|| format!("`{}`: there is no scenario `{}`", named.file, plain(id)))?;
    let judgement = judged.judgement().map_err(|id| {
        format!(
            "`{}`: this harness has no requirement `{}`; use the one that made the report",
            named.file,
            plain(&id)
        )
    })?;
    let mut faults = document.faults.iter();
    let fault = faults.find(|fault| fault.scenario.as_ref() == Some(id));
    Ok(Outcome {
        id: id.clone(),
        status: scenario.status,
        why: scenario.why.clone(),
        seconds: scenario.seconds,
        trace: scenario.trace.as_ref().map(PathBuf::from),
        judgement,
        handshake: judged.handshake.clone(),
        reached: match &judged.hindrance {
            Some(Hindrance::Version(version)) => Reached::OtherVersion(*version),
            Some(Hindrance::Login(why)) => Reached::Unauthenticated(why.clone()),
            None => Reached::Conversation,
        },
        stderr: Vec::new(),
        upstream: judged.upstream.clone(),
        ending: None,
        fault: fault.map(|fault| fault.message.clone()),
    })
}
