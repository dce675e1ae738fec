//! What commands have in common that serve on a port until they are interrupted.

use std::future::Future;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Exit;
use super::output::error;

/// Runs what serves; whatever still goes on at its end is dropped.
pub(super) fn run(serving: impl Future<Output = Exit>) -> Exit {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(why) => {
            error(format_args!("the harness cannot run: {why}"));
            return Exit::Fault;
        }
    };
    let exit = runtime.block_on(serving);
    runtime.shutdown_background();
    exit
}

/// SIGINT and SIGTERM.
pub(super) struct Interrupt {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupt {
    /// Listens to both.
    ///
    /// # Errors
    /// The exit code where that is not possible; why is told already.
    pub(super) fn listen() -> Result<Self, Exit> {
        let both = || {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        };
        both().map_err(|why: io::Error| {
            error(format_args!("the harness cannot listen to signals: {why}"));
            Exit::Fault
        })
    }

    /// One of them came. May be dropped and called again.
    pub(super) async fn came(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Says why the port could not be opened (0: any that is free), and gives the exit code.
pub(super) fn no_port(port: u16, why: &io::Error) -> Exit {
    match why.kind() {
        io::ErrorKind::AddrInUse => {
            error(format_args!(
                "port {port} of 127.0.0.1 is taken; give another one with `--port`, or none to get one that is free"
            ));
            Exit::Usage
        }
        io::ErrorKind::PermissionDenied => {
            error(format_args!(
                "port {port} of 127.0.0.1 may not be opened: {why}"
            ));
            Exit::Usage
        }
        _ => {
            error(format_args!("no port of 127.0.0.1 can be opened: {why}"));
            Exit::Fault
        }
    }
}
