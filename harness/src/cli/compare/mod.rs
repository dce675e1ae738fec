//! `harness compare`: several agents, or several builds of one, side by side.

mod agents;

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use clap::Args;

use super::Exit;
use super::agent::OUTPUT;
use super::look::LookArguments;
use super::output::{error, print, say};
use super::report::document;
use super::reports::{self, REPORT_FAULT};
use super::run::{self, Ready, RunArguments};
use super::value::{self, Place, Target};
use crate::report::compare::{Table, Way, markdown, text};
use crate::report::{Document, Format, plain};
use crate::spec::Level;

/// What `harness compare` is told.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing became worse, 1 a must became worse, 2 usage, 3 no agent, 4 a fault of the harness."
)]
#[command(after_long_help = "\
What fails on some agents and not on others comes first, with the message and the trace that show it. Of two reports of one \
agent, or with --against, it is said what became better and what became worse.

Examples:
  harness compare old.json new.json
  harness compare main=a.json branch=b.json --report markdown=-
  harness compare --agent ours=\"my-agent --acp\" --agent theirs=opencode -- --only CANCEL
  harness compare --agents agents.toml --report json=table.json --report markdown=table.md
  harness compare today/*.json --against yesterday/table.json

Exit codes, the first that holds of 2, 4, 3, 1:
  0  the table is there, and no must became worse
  1  a must became worse; with --strict a should or an interop entry too
  2  usage: flags, files, or a file that is no report
  3  an agent could not be started, or never answered `initialize`
  4  a fault of the harness itself")]
pub(super) struct CompareArguments {
    /// Reports, as `--report json=FILE` of `harness run` wrote them; NAME is the head of the column
    ///
    /// Without a name it is that of the file, without its ending.
    #[arg(value_name = "[NAME=]FILE")]
    reports: Vec<String>,

    /// Run an agent now and compare it: its name in the table, and the command as for `harness run`
    ///
    /// May be repeated. The agents run one after the other; flags behind `--` go to each run.
    #[arg(long, value_name = "NAME=CMD")]
    agent: Vec<String>,

    /// Run the agents of a file: `[[agent]]` with `name`, `command`, `profile`, `env`
    #[arg(long, value_name = "FILE")]
    agents: Option<PathBuf>,

    /// Say what changed since an earlier table, as `--report json=FILE` of this command wrote it
    #[arg(long, value_name = "TABLE")]
    against: Option<PathBuf>,

    /// Flags of `harness run` for each agent that is run, such as `--only CANCEL`
    #[arg(last = true, value_name = "FLAG")]
    flags: Vec<String>,

    /// Let `should` and `interop` count for the exit code
    #[arg(long)]
    strict: bool,

    /// Write the table: `json=FILE` or `markdown=FILE`, with `-` to stdout
    ///
    /// May be repeated. With `-` as the file the text goes to stderr.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = value::target, help_heading = OUTPUT)]
    report: Vec<Target>,

    /// Show each requirement that any agent exercised, and every trace
    #[arg(short, long, help_heading = OUTPUT)]
    verbose: bool,

    #[command(flatten)]
    look: LookArguments,
}

/// A column of the table, and where it is from.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    from: From,
}

/// Where a column is from.
#[derive(Clone, Debug)]
enum From {
    /// A report that exists.
    Report(PathBuf),
    /// A run with these arguments of `harness run`.
    Agent(Vec<String>),
}

impl Column {
    fn of_agent(name: String, words: Vec<String>) -> Self {
        Self {
            name,
            from: From::Agent(words),
        }
    }
}

/// What is compared, once all of it is known to be usable.
struct Plan {
    columns: Vec<(String, Source)>,
    earlier: Option<Table>,
}

/// A report, or a run that is still to be made.
enum Source {
    Report(Box<Document>),
    Run(Box<RunArguments>),
}

/// Runs the command.
pub(super) fn main(arguments: &CompareArguments) -> Exit {
    let plan = match plan(arguments) {
        Ok(plan) => plan,
        Err(why) => {
            error(why);
            return Exit::Usage;
        }
    };
    let documents = match documents(plan.columns, arguments.strict) {
        Ok(documents) => documents,
        Err(exit) => return exit,
    };
    let mut table = Table::of(&documents.all);
    if let Some(earlier) = &plan.earlier {
        table.hold_against(earlier);
    }
    if let Err(why) = show(arguments, &table) {
        error(format_args!("{why}; {REPORT_FAULT}"));
        return Exit::Fault;
    }
    match documents.exit {
        Exit::Fault | Exit::NoAgent => documents.exit,
        _ if is_worse(&table, arguments.strict) => Exit::Findings,
        _ => Exit::Fine,
    }
}

/// Finds out what is compared before anything is run.
fn plan(arguments: &CompareArguments) -> Result<Plan, String> {
    let mut columns: Vec<Column> = arguments.reports.iter().map(|it| report(it)).collect();
    for agent in &arguments.agent {
        let (name, command) = agent
            .split_once('=')
            .filter(|(name, command)| !name.is_empty() && !command.is_empty())
            .ok_or_else(|| {
                format!("`{agent}` is no agent: a name and a command are expected, as in `ours=my-agent --acp`")
            })?;
        let words = vec!["--agent".to_owned(), command.to_owned()];
        columns.push(Column::of_agent(name.to_owned(), words));
    }
    if let Some(path) = &arguments.agents {
        columns.extend(agents::read(path)?);
    }
    let least = if arguments.against.is_some() { 1 } else { 2 };
    if columns.len() < least {
        return Err(format!(
            "there is nothing to compare: give two reports or agents at least, or one and --against; {} given",
            columns.len()
        ));
    }
    let mut names = HashSet::new();
    if let Some(twice) = columns.iter().find(|column| !names.insert(&column.name)) {
        return Err(format!(
            "two columns are called `{}`: give each a name of its own, as in `new={0}.json`",
            plain(&twice.name)
        ));
    }
    let runs = columns.iter().any(|it| matches!(it.from, From::Agent(_)));
    if !runs && !arguments.flags.is_empty() {
        return Err(
            "the flags behind `--` are for runs, and no agent is run: leave them out, or give --agent"
                .to_owned(),
        );
    }
    let columns: Vec<(String, Source)> = columns
        .into_iter()
        .map(|column| Ok((column.name, source(column.from, &arguments.flags)?)))
        .collect::<Result<_, String>>()?;
    let other = |target: &&Target| !matches!(target.format, Format::Json | Format::Markdown);
    if let Some(target) = arguments.report.iter().find(other) {
        return Err(format!(
            "a comparison is written as `json` or `markdown`, not as `{}`",
            target.format.as_str()
        ));
    }
    let earlier = arguments.against.as_ref().map(|path| {
        let named = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("`{named}` cannot be read: {error}"))?;
        Table::parse(&text)
            .map_err(|error| format!("`{named}` is no table of `harness compare`: {error}"))
    });
    let earlier = earlier.transpose()?;
    reports::prepare(&arguments.report)?;
    Ok(Plan { columns, earlier })
}

/// A report and its name: `NAME=FILE`, or a file by whose name it goes.
fn report(text: &str) -> Column {
    let named = text
        .split_once('=')
        .filter(|(name, file)| !name.is_empty() && !file.is_empty() && !name.contains('/'));
    let (name, path) = match named {
        Some((name, file)) if !PathBuf::from(text).exists() => (name.to_owned(), file),
        _ => {
            let path = PathBuf::from(text);
            let stem = path.file_stem().unwrap_or(path.as_os_str());
            (stem.to_string_lossy().into_owned(), text)
        }
    };
    Column {
        name,
        from: From::Report(PathBuf::from(path)),
    }
}

fn source(from: From, flags: &[String]) -> Result<Source, String> {
    match from {
        From::Report(path) => Ok(Source::Report(Box::new(document(&path)?))),
        From::Agent(words) => {
            let words: Vec<String> = words.into_iter().chain(flags.iter().cloned()).collect();
            let arguments = RunArguments::of_words(words.iter().map(String::as_str))?;
            if arguments.writes_reports() || arguments.is_part() {
                return Err(
                    "behind `--`, --report and --partition have no place: `harness run` writes the report of one agent"
                        .to_owned(),
                );
            }
            Ok(Source::Run(Box::new(arguments)))
        }
    }
}

/// The reports of all columns, and the exit code of the runs.
struct Documents {
    all: Vec<(String, Document)>,
    exit: Exit,
}

/// Makes the runs that are wanted, after all of them are known to be possible.
fn documents(columns: Vec<(String, Source)>, strict: bool) -> Result<Documents, Exit> {
    let ready = columns.iter().map(|(_, source)| match source {
        Source::Report(_) => Ok(None),
        Source::Run(arguments) => Ready::new(arguments).map(Some),
    });
    let ready: Vec<Option<Ready<'_>>> = ready.collect::<Result<_, String>>().map_err(|why| {
        error(why);
        Exit::Usage
    })?;
    let mut exit = Exit::Fine;
    let mut all = Vec::new();
    for ((name, source), ready) in columns.iter().zip(&ready) {
        let document = match (source, ready) {
            (Source::Report(document), _) => (**document).clone(),
            (Source::Run(_), None) => continue,
            (Source::Run(_), Some(ready)) => {
                say(format_args!("running {}", plain(name)));
                let run = ready.play()?;
                exit = match (exit, run::exit(&run, strict)) {
                    (Exit::Fault, _) | (_, Exit::Fault) => Exit::Fault,
                    (Exit::NoAgent, _) | (_, Exit::NoAgent) => Exit::NoAgent,
                    (before, _) => before,
                };
                Document::of(&run, strict)
            }
        };
        all.push((name.clone(), document));
    }
    Ok(Documents { all, exit })
}

/// Shows the table, and writes it where it is wanted.
fn show(arguments: &CompareArguments, table: &Table) -> Result<(), String> {
    if reports::to_stdout(&arguments.report) {
        let screen = arguments.look.screen(&io::stderr());
        say(text(table, arguments.verbose, screen.paint).trim_end());
    } else {
        let screen = arguments.look.screen(&io::stdout());
        print(&text(table, arguments.verbose, screen.paint))
            .map_err(|error| format!("the table could not be written to stdout: {error}"))?;
    }
    for target in &arguments.report {
        // Links lead from the folder of the file on, so that it can be looked at where it is.
        let folder = match &target.place {
            Place::File(path) => path.parent().map(PathBuf::from).unwrap_or_default(),
            Place::Stdout => PathBuf::new(),
        };
        let written = match target.format {
            Format::Markdown => markdown(&table.from_folder(&folder)),
            _ => table
                .to_json()
                .map_err(|error| format!("no table could be made: {error}"))?,
        };
        target.place.write(&written)?;
    }
    Ok(())
}

/// Whether anything that counts became worse.
fn is_worse(table: &Table, strict: bool) -> bool {
    let counts = |level| match level {
        Level::Must => true,
        Level::Should | Level::Interop => strict,
        Level::May | Level::Observe => false,
    };
    let changes = table.changes.iter().flatten();
    changes
        .filter(|change| change.way == Way::Worse)
        .any(|change| counts(change.level))
}
