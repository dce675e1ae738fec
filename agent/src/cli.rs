//! Arguments, and the entry for this binary and for others that embed the agent.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::fault::{self, Filter, Hook};
use crate::log;
use crate::login::{self, Auth};
use crate::model::{self, Choice};
use crate::server::{Options, Server};
use crate::settings::{self, Settings};
use crate::surface::Surface;
use crate::transport::Transport;

/// How long a client that does not read may hold the process back at its end.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// Wrong arguments or settings.
const USAGE: u8 = 2;

/// A small coding agent that serves the Agent Client Protocol on stdin and stdout.
#[derive(Debug, Parser)]
#[command(
    name = "bob",
    version,
    after_help = "The openai model is chosen by itself when OPENAI_BASE_URL is set. \
                  OPENAI_API_KEY is its key. RUST_LOG sets what the protocol library logs."
)]
struct Arguments {
    /// Serve ACP, which bob does anyway; `-acp` means the same
    #[arg(value_parser = ["acp"])]
    mode: Option<String>,

    /// The model that answers [default: embedded]
    #[arg(long, value_enum, value_name = "KIND")]
    model: Option<settings::Kind>,

    /// The name by which the openai server knows the model
    #[arg(long, value_name = "NAME")]
    model_name: Option<String>,

    /// Settings to use in place of bob.toml in each session's folder
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The wire behaviour to show: 0.11.0, 1.0.3, or everything, which has every optional part
    /// of the protocol
    #[arg(long, value_name = "VERSION", default_value_t)]
    surface: Surface,

    /// Where `everything` keeps sessions [default: bob in the user's state folder]
    #[arg(long, value_name = "FOLDER")]
    state: Option<PathBuf>,

    /// How the user of `everything` logs in before a session: not at all, by `authenticate`, or in
    /// a terminal, where the client has one for it
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    auth: Auth,

    /// Log in in this terminal and end, as clients do it by `--auth terminal`
    #[arg(long)]
    login: bool,

    /// Do one thing wrong; `--list-faults` shows what there is
    #[arg(long, value_name = "NAME")]
    fault: Option<String>,

    /// Do one thing oddly, but right; `--list-quirks` shows what there is
    #[arg(long, value_name = "NAME")]
    quirk: Option<String>,

    /// Show the faults, and the requirements that each breaks
    #[arg(long, conflicts_with = "list_quirks")]
    list_faults: bool,

    /// Show the quirks
    #[arg(long)]
    list_quirks: bool,

    /// Show them as JSON
    #[arg(long)]
    json: bool,
}

/// Runs `bob` with these arguments, the program's name first, and returns when it is done. Takes
/// over stdin, stdout and stderr of the process.
///
/// Exit codes: 0 after serving, 1 if serving broke, 2 for wrong arguments or settings.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments = arguments.map(|argument| {
        if argument == "-acp" {
            OsString::from("acp")
        } else {
            argument
        }
    });
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            let code = u8::try_from(error.exit_code()).unwrap_or(USAGE);
            return ExitCode::from(code);
        }
    };
    if arguments.list_faults || arguments.list_quirks {
        return list(&arguments);
    }
    let deviations = match deviations(&arguments) {
        Ok(deviations) => deviations,
        Err(reason) => {
            log::line(format_args!("bob: {reason}"));
            return ExitCode::from(USAGE);
        }
    };
    let settings = match arguments.config.as_deref().map(Settings::read).transpose() {
        Ok(settings) => settings,
        Err(error) => {
            log::line(format_args!("bob: {error}"));
            return ExitCode::from(USAGE);
        }
    };
    let state = arguments.state.or_else(default_state);
    if arguments.auth != Auth::None && !arguments.surface.parts().logins {
        log::line(format_args!("bob: `--auth` needs `--surface everything`"));
        return ExitCode::from(USAGE);
    }
    if arguments.login {
        return log_in(arguments.auth, state.as_deref());
    }
    let options = Options {
        surface: arguments.surface,
        model: model::Flags {
            kind: arguments.model,
            name: arguments.model_name,
        },
        model_server: model::Server::from_environment(),
        settings,
        home: std::env::var_os("HOME").map(PathBuf::from),
        state,
        auth: arguments.auth,
    };
    match serve(options, deviations) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::line(format_args!("bob: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Shows a table, in place of serving.
fn list(arguments: &Arguments) -> ExitCode {
    let table = if arguments.list_faults {
        &fault::FAULTS
    } else {
        &fault::QUIRKS
    };
    let form = if arguments.json {
        fault::Form::Json
    } else {
        fault::Form::Text
    };
    // A reader that has seen enough is no fault.
    let _ = fault::print(table, form, std::io::stdout().lock());
    ExitCode::SUCCESS
}

/// The fault and the quirk that were asked for.
fn deviations(arguments: &Arguments) -> Result<Vec<&'static fault::Deviation>, String> {
    let fault = arguments
        .fault
        .as_deref()
        .map(|name| fault::FAULTS.find(name));
    let quirk = arguments
        .quirk
        .as_deref()
        .map(|name| fault::QUIRKS.find(name));
    let deviations: Vec<_> = fault.into_iter().chain(quirk).collect::<Result<_, _>>()?;
    for deviation in &deviations {
        deviation.check(arguments.surface, arguments.auth)?;
    }
    Ok(deviations)
}

/// The login in a terminal, in place of serving.
fn log_in(auth: Auth, state: Option<&Path>) -> ExitCode {
    let state = match (auth, state) {
        (Auth::Terminal, Some(state)) => state,
        (Auth::Terminal, None) => {
            log::line(format_args!("bob: `--login` needs `--state FOLDER`"));
            return ExitCode::from(USAGE);
        }
        _ => {
            log::line(format_args!("bob: `--login` needs `--auth terminal`"));
            return ExitCode::from(USAGE);
        }
    };
    match login::in_terminal(state, std::io::stdin().lock(), std::io::stdout()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            log::line(format_args!("bob: {}: {error}", state.display()));
            ExitCode::FAILURE
        }
    }
}

/// Starts what a fault leaves behind, in a process group of its own.
fn leave_process() -> std::io::Result<()> {
    let mut left = std::process::Command::new("sleep");
    left.arg("20").process_group(0);
    left.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    left.spawn().map(drop)
}

/// The folder for state of this program, as the XDG base directories have it.
fn default_state() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(folder("HOME")?.join(".local/state")));
    Some(state?.join("bob"))
}

fn serve(options: Options, deviations: Vec<&fault::Deviation>) -> anyhow::Result<()> {
    log_of_the_sdk();
    fault::switch_on(
        deviations
            .iter()
            .filter_map(|deviation| deviation.hook)
            .collect(),
    );
    let edits = deviations
        .iter()
        .flat_map(|deviation| deviation.edits.clone());
    let filter = Filter::new(edits.collect());
    if fault::is_on(Hook::LeavesProcess) {
        leave_process()?;
    }
    let in_settings = options
        .settings
        .as_ref()
        .map(|settings| settings.model.clone())
        .unwrap_or_default();
    log::line(format_args!(
        "bob {} ({}) — {}",
        env!("CARGO_PKG_VERSION"),
        options.surface,
        Choice::new(&options.model, &in_settings, &options.model_server),
    ));
    // One thread: turns are serialised anyway, and the order of tasks is the order of messages.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (transport, channel) = Transport::start(std::io::stdin(), std::io::stdout(), filter)?;
    let served = runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let told_to_stop = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                () = transport.output_lost.cancelled() => {}
            }
        };
        let server = Server::new(options);
        server
            .serve(channel, transport.gate.clone(), told_to_stop)
            .await
            .map_err(anyhow::Error::from)
    });
    // A peer that closed its end is no fault of ours, however the SDK noticed it.
    let lost = transport.output_lost.is_cancelled();
    transport.finish(LAST_OUTPUT);
    // Not waited for: a tool may hang in a file system that does not answer.
    runtime.shutdown_background();
    if lost { Ok(()) } else { served }
}

/// The SDK logs through `tracing`; warnings are shown unless `RUST_LOG` says otherwise.
fn log_of_the_sdk() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    // A program that embeds bob may have a subscriber of its own.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .try_init();
}
