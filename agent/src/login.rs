//! Logging in: whether it is needed, and how it is done.

use std::fmt;
use std::fs;
use std::io::{self, BufRead, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::announced::Announced;

/// The way in which a user logs in. Chosen with `--auth`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Auth {
    /// Nobody has to.
    #[default]
    None,
    /// By `authenticate`.
    Agent,
    /// By running bob in a terminal, where the client announces that it has one for this.
    Terminal,
}

impl fmt::Display for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Agent => "agent",
            Self::Terminal => "terminal",
        })
    }
}

/// The id of the method that `authenticate` carries out.
const AGENT: &str = "agent";

/// The id of the method that a terminal carries out.
const TERMINAL: &str = "terminal";

/// Whether somebody is logged in.
pub(crate) struct Login {
    auth: Auth,
    /// A login through `authenticate`, which ends with the process.
    done: AtomicBool,
    /// The file that a login in a terminal leaves.
    mark: Option<PathBuf>,
}

/// Why `authenticate` has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no such method for this client.
    Unknown,
    /// The login in the terminal comes first.
    NotYet,
}

impl Login {
    pub(crate) fn new(auth: Auth, state: Option<&Path>) -> Self {
        Self {
            auth,
            done: AtomicBool::new(false),
            mark: state.map(mark),
        }
    }

    /// The way that this client is offered. One that cannot show a terminal needs no login, as it
    /// would have no way forward.
    pub(crate) fn offered(&self, announced: Announced) -> Auth {
        match self.auth {
            Auth::Terminal if !announced.terminal_login => Auth::None,
            auth => auth,
        }
    }

    /// The `authMethods` of `initialize`.
    pub(crate) fn methods(&self, announced: Announced) -> Value {
        match self.offered(announced) {
            Auth::None => json!([]),
            Auth::Agent => json!([{
                "id": AGENT,
                "name": "Log in",
                "description": "Logs in at once, until the agent ends",
            }]),
            Auth::Terminal => json!([{
                "id": TERMINAL,
                "name": "Log in in a terminal",
                "description": "Asks in a terminal, and stays logged in",
                "type": "terminal",
                "args": ["--login"],
            }]),
        }
    }

    /// Whether a session can be opened only after a login.
    pub(crate) fn is_needed(&self, announced: Announced) -> bool {
        match self.offered(announced) {
            Auth::None => false,
            Auth::Agent => !self.done.load(Ordering::Relaxed),
            Auth::Terminal => !self.is_marked(),
        }
    }

    /// Logs in by a method, which is the one that was offered.
    ///
    /// # Errors
    ///
    /// See [`Refusal`].
    pub(crate) fn authenticate(&self, method: &str, announced: Announced) -> Result<(), Refusal> {
        match (self.offered(announced), method) {
            (Auth::Agent, AGENT) => {
                self.done.store(true, Ordering::Relaxed);
                Ok(())
            }
            (Auth::Terminal, TERMINAL) if self.is_marked() => Ok(()),
            (Auth::Terminal, TERMINAL) => Err(Refusal::NotYet),
            _ => Err(Refusal::Unknown),
        }
    }

    /// Ends the login. Without one this does nothing.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub(crate) fn log_out(&self) -> io::Result<()> {
        self.done.store(false, Ordering::Relaxed);
        match self.mark.as_deref().filter(|_| self.auth == Auth::Terminal) {
            None => Ok(()),
            Some(mark) => match fs::remove_file(mark) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        }
    }

    fn is_marked(&self) -> bool {
        self.mark.as_deref().is_some_and(Path::exists)
    }
}

fn mark(state: &Path) -> PathBuf {
    state.join("login")
}

/// The login in a terminal: asks for a line, and remembers in the state folder that it came. Says
/// whether it did.
///
/// # Errors
///
/// Those of the terminal and of the file system.
pub(crate) fn in_terminal(
    state: &Path,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<bool> {
    writeln!(output, "Log in to bob? Enter: yes, end of input: no.")?;
    output.flush()?;
    let came = input.skip_until(b'\n')? > 0;
    if came {
        fs::create_dir_all(state)?;
        fs::write(mark(state), "")?;
    }
    let said = if came { "Logged in." } else { "Not logged in." };
    writeln!(output, "{said}")?;
    Ok(came)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINALS: Announced = Announced {
        reads_files: false,
        writes_files: false,
        terminals: false,
        forms: false,
        urls: false,
        terminal_login: true,
        boolean_options: false,
    };

    #[test]
    fn a_login_by_the_agent_lasts_until_the_logout() {
        let login = Login::new(Auth::Agent, None);
        let client = Announced::default();
        assert!(login.is_needed(client));
        assert_eq!(login.authenticate("other", client), Err(Refusal::Unknown));
        assert_eq!(login.authenticate(AGENT, client), Ok(()));
        assert!(!login.is_needed(client));
        login.log_out().unwrap();
        assert!(login.is_needed(client));
    }

    #[test]
    fn a_login_in_a_terminal_is_left_in_the_state_folder() {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("bob");
        let login = Login::new(Auth::Terminal, Some(&folder));
        assert!(!in_terminal(&folder, &b""[..], io::sink()).unwrap());
        assert!(login.is_needed(TERMINALS));
        assert_eq!(
            login.authenticate(TERMINAL, TERMINALS),
            Err(Refusal::NotYet)
        );
        assert!(in_terminal(&folder, &b"\n"[..], io::sink()).unwrap());
        assert!(!login.is_needed(TERMINALS));
        assert_eq!(login.authenticate(TERMINAL, TERMINALS), Ok(()));
        login.log_out().unwrap();
        login.log_out().unwrap();
        assert!(login.is_needed(TERMINALS));
    }

    #[test]
    fn a_client_without_a_terminal_is_offered_none_and_needs_no_login() {
        let login = Login::new(Auth::Terminal, None);
        assert_eq!(login.methods(Announced::default()), json!([]));
        assert!(!login.is_needed(Announced::default()));
        assert_eq!(
            login.authenticate(TERMINAL, Announced::default()),
            Err(Refusal::Unknown)
        );
    }
}
