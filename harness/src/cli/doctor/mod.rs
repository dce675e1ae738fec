//! `harness doctor`: what an agent lacks, what would be started and how, and how its start goes.

mod node;
mod plan;
mod start;

use std::io;

use clap::Args;

use super::Exit;
use super::agent::{
    AgentArguments, LimitArguments, ModelChoice, OUTPUT, Prepared, SURROUNDINGS,
    SurroundingsArguments,
};
use super::output::{error, print};
use super::value::Color;
use crate::agent::StartError;
use crate::profile::Profile;
use crate::report::{Paint, plain, wrapped};
use crate::scenario::Setup;
use node::Node;
use start::Start;

/// Columns of prose.
const WIDTH: usize = 96;
/// Columns of the words at the left.
const LEFT: usize = 12;

/// What `harness doctor` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 it is ready, 1 something stands in the way of a run, 2 usage, \
    3 the agent could not be started or never answered `initialize`, 4 a fault of the harness."
)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    agent: AgentArguments,

    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    surroundings: SurroundingsArguments,

    /// The model that the agent would talk to: the scripted one, or none
    #[arg(long, value_name = "MODEL", value_enum, default_value_t = ModelChoice::Scripted, help_heading = SURROUNDINGS)]
    model: ModelChoice,

    /// Colour: `auto`, `always` or `never`; NO_COLOR is heeded
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, help_heading = OUTPUT)]
    color: Color,
}

/// Runs the command.
pub(super) fn main(arguments: &DoctorArguments) -> Exit {
    let paint = arguments.color.paint(&io::stdout());
    match examine(arguments, paint) {
        Ok(exit) => exit,
        Err(Trouble::Usage(why)) => {
            error(why);
            Exit::Usage
        }
        Err(Trouble::Harness(why)) => {
            error(why);
            Exit::Fault
        }
    }
}

/// Why the agent could not be examined.
enum Trouble {
    Usage(String),
    Harness(String),
}

fn examine(arguments: &DoctorArguments, paint: Paint) -> Result<Exit, Trouble> {
    let fault =
        |what: &str, why: &dyn std::fmt::Display| Trouble::Harness(format!("{what}: {why}"));
    // What is tried here is no run: its trace is not kept among theirs.
    let folder =
        tempfile::tempdir().map_err(|why| fault("no folder for the trace can be made", &why))?;
    let prepared =
        Prepared::new(&arguments.agent, Some(folder.path()), "doctor").map_err(Trouble::Usage)?;
    let scripted = arguments.model == ModelChoice::Scripted;
    let setup = prepared.setup(&arguments.limits, &arguments.surroundings, 1.0, scripted);
    let runtime =
        tokio::runtime::Runtime::new().map_err(|why| fault("the harness cannot run", &why))?;
    let examined = runtime.block_on(async {
        crate::agent::guard::install(|signal| std::process::exit(128 + signal))
            .map_err(|why| fault("the harness cannot listen to signals", &why))?;
        let plan = plan::Plan::of(&setup).map_err(Trouble::Harness)?;
        let node = Node::of(&setup, plan.program.as_deref().ok(), &plan.path);
        let mut page = Page::new(paint);
        plan.show(&mut page, &setup, node.as_ref());
        page.print()?;
        let findings = match &plan.program {
            Ok(_) => {
                let start = start::start(&setup).await.map_err(Trouble::Harness)?;
                start.show(&mut page, &setup);
                findings(&setup, &start, node.as_ref())
            }
            Err(why) => Findings::not_there(&setup.profile, why),
        };
        page.gap();
        findings.show(&mut page, &setup);
        page.print()?;
        Ok(findings.exit)
    });
    runtime.shutdown_background();
    examined
}

/// What was found, with what may help.
struct Findings {
    exit: Exit,
    all: Vec<(String, Vec<String>)>,
}

impl Findings {
    /// The program is not there.
    fn not_there(profile: &Profile, why: &StartError) -> Self {
        let mut help: Vec<String> = Vec::new();
        if !profile.install.is_empty() {
            help.push("Install it:".to_owned());
            let lines = profile.install.iter();
            help.extend(lines.map(|line| format!("    {line}")));
        }
        Self {
            exit: Exit::NoAgent,
            all: vec![(format!("not installed: {why}"), help)],
        }
    }

    fn show(&self, page: &mut Page, setup: &Setup) {
        for (what, help) in &self.all {
            page.line(&page.paint.bad(&plain(what)));
            for line in help {
                page.line(&plain(line));
            }
        }
        let name = plain(&setup.command.to_string());
        let verdict = match self.exit {
            Exit::Fine => page.paint.good("ready"),
            Exit::NoAgent => page.paint.bad("it does not come up"),
            _ => page.paint.bad("not ready"),
        };
        page.line(&format!("{}: {verdict}", page.paint.strong(&name)));
    }
}

/// What a start shows to be missing.
fn findings(setup: &Setup, start: &Start, node: Option<&Node>) -> Findings {
    let mut all = Vec::new();
    let mut exit = Exit::Fine;
    if let Some(fault) = &start.outcome.fault {
        return Findings {
            exit: Exit::Fault,
            all: vec![(format!("fault of the harness: {fault}"), Vec::new())],
        };
    }
    if let Some(why) = start.silence() {
        exit = Exit::NoAgent;
        let mut help = Vec::new();
        if let Some(why) = node.and_then(Node::problem) {
            help.push(format!("{why}. That may be why."));
        }
        if !start.outcome.stderr.is_empty() {
            help.push("Its last lines on stderr:".to_owned());
            let lines = start.outcome.stderr.iter();
            help.extend(lines.map(|line| format!("    {line}")));
        }
        if setup.home == crate::agent::Home::Fresh && !setup.command.is_built_in() {
            help.push(super::run::NEEDS_A_HOME.to_owned());
        }
        all.push((why, help));
    } else if let Some(seconds) = start.late() {
        exit = Exit::Findings;
        let limit = setup.startup_timeout.mul_f64(setup.profile.slow.max(1.0));
        all.push((
            format!(
                "it answered `initialize` after {seconds:.2} s, when it was no longer waited for: the limit is {:.2} s",
                limit.as_secs_f64()
            ),
            vec![
                "Give it more time with `--startup-timeout SECONDS`, or with `slow` in a profile."
                    .to_owned(),
            ],
        ));
    } else if let Some(version) = start.other_version() {
        exit = Exit::Findings;
        all.push((
            format!("it answers version {version} of the protocol; the harness judges version 1"),
            Vec::new(),
        ));
    } else if let Some(why) = start.wants_login() {
        exit = Exit::Findings;
        all.push((
            format!("it needs a login: {why}"),
            super::run::login_advice(start.outcome.handshake.as_ref()),
        ));
    } else if let Some(why) = start.no_session() {
        exit = Exit::Findings;
        all.push((format!("it opens no session: {why}"), Vec::new()));
    }
    if exit == Exit::Fine
        && let Some(mode) = &setup.profile.set_mode
        && !start.modes().iter().any(|offered| offered == mode)
    {
        exit = Exit::Findings;
        all.push((
            format!(
                "the profile puts sessions into the mode `{mode}`, which the agent does not offer"
            ),
            vec![
                "Permissions may not be asked for; put another `set_mode` into a profile."
                    .to_owned(),
            ],
        ));
    }
    let broken = start.broken(setup);
    if !broken.is_empty() && exit != Exit::NoAgent {
        exit = Exit::Findings;
        all.extend(broken.into_iter().map(|what| {
            let id = what.split(':').next().unwrap_or_default();
            let help = format!("`harness explain {id}` shows where that is written.");
            (format!("its answer is not right: {what}"), vec![help])
        }));
    }
    Findings { exit, all }
}

/// Lines to be printed: a word at the left, and what belongs to it.
struct Page {
    paint: Paint,
    lines: Vec<String>,
}

impl Page {
    fn new(paint: Paint) -> Self {
        Self {
            paint,
            lines: Vec::new(),
        }
    }

    /// Adds what belongs to a word; nothing where that is empty.
    fn entry(&mut self, word: &str, text: impl IntoIterator<Item = String>) {
        let lines = text
            .into_iter()
            .flat_map(|text| wrapped(&plain(&text), WIDTH - LEFT));
        for (number, line) in lines.enumerate() {
            let word = if number == 0 { word } else { "" };
            let left = format!("{word:LEFT$}");
            self.lines
                .push(format!("{}{line}", self.paint.faint(&left)));
        }
    }

    fn line(&mut self, text: &str) {
        self.lines.push(text.to_owned());
    }

    fn gap(&mut self) {
        self.lines.push(String::new());
    }

    /// Prints what was added since it was printed last: a start takes its time.
    fn print(&mut self) -> Result<(), Trouble> {
        let mut text = self.lines.join("\n");
        text.push('\n');
        self.lines.clear();
        print(&text)
            .map_err(|why| Trouble::Harness(format!("what was found could not be written: {why}")))
    }
}
