//! Serves `terminal/*` with real processes, in the folders of a session and with the environment of the agent.

use std::ffi::OsString;
use std::path::PathBuf;

use indexmap::IndexMap;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Reply;
use super::terminal::{Terminal, killed};
use crate::agent::{BesideCommand, Variables};
use crate::rules::Conversation;
use crate::wire::Message;

/// So many terminals may be open at once.
const MOST: usize = 64;

/// What an agent may have run.
#[derive(Debug)]
pub struct Terminals {
    /// The folders that commands may be started in; the first is the session's.
    folders: Vec<PathBuf>,
    env: Variables,
    open: IndexMap<String, Terminal>,
    made: u64,
    tell: mpsc::UnboundedSender<String>,
    ends: mpsc::UnboundedReceiver<String>,
    /// Terminals that were released, until nothing is left of them.
    ending: JoinSet<()>,
}

/// An answer to a request that had to wait: its id, and the result.
pub(super) type Late = (Value, Value);

impl Terminals {
    /// Serves these folders, with the environment that commands are to have.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>, env: Variables) -> Self {
        let (tell, ends) = mpsc::unbounded_channel();
        let folders = folders.into_iter();
        Self {
            folders: folders
                .map(|folder| folder.canonicalize().unwrap_or(folder))
                .collect(),
            env,
            open: IndexMap::new(),
            made: 0,
            tell,
            ends,
            ending: JoinSet::new(),
        }
    }

    /// The answer to a request of a client that announced terminals. [`Reply::Nothing`] where it has to wait: then it
    /// comes from [`ended`](Self::ended). Where `instead` is given, it takes the place of the result.
    pub(super) fn answer(
        &mut self,
        request: &Message,
        talk: &Conversation,
        instead: Option<Value>,
    ) -> (Reply, Vec<Late>) {
        let (reply, late) = self.done(request, talk, instead.clone());
        match (reply, instead) {
            (Reply::Result(_), Some(result)) => (Reply::Result(result), late),
            (reply, _) => (reply, late),
        }
    }

    fn done(
        &mut self,
        request: &Message,
        talk: &Conversation,
        instead: Option<Value>,
    ) -> (Reply, Vec<Late>) {
        let method = request.method().unwrap_or_default();
        let params = request.params().unwrap_or(&Value::Null);
        let Some(session) = request.session() else {
            return (invalid("`sessionId` is missing"), Vec::new());
        };
        if method == "terminal/create" {
            return (self.create(session, params, talk), Vec::new());
        }
        let Some(id) = params.get("terminalId").and_then(Value::as_str) else {
            return (invalid("`terminalId` is missing"), Vec::new());
        };
        let Some(terminal) = self
            .open
            .get_mut(id)
            .filter(|terminal| terminal.session == session)
        else {
            let text = format!("no such terminal in this session: {id:?}");
            return (Reply::Error(-32002, text), Vec::new());
        };
        let reply = match method {
            "terminal/output" => Reply::Result(terminal.output()),
            "terminal/wait_for_exit" => match terminal.exit() {
                Some(exit) => Reply::Result(exit),
                None => {
                    let rpc_id = request.members().get("id").cloned().unwrap_or_default();
                    terminal.waiting.push((rpc_id, instead));
                    Reply::Nothing
                }
            },
            "terminal/kill" => {
                terminal.kill();
                Reply::Result(json!({}))
            }
            "terminal/release" => {
                let id = id.to_owned();
                return (Reply::Result(json!({})), self.release(&id));
            }
            _ => Reply::Error(-32601, format!("method not found: {method}")),
        };
        (reply, Vec::new())
    }

    /// Waits until a command has ended, and gives the answers to those who waited for it. Can be dropped and called again
    /// without losing any.
    pub(super) async fn ended(&mut self) -> Vec<Late> {
        let Some(id) = self.ends.recv().await else {
            // Not so, as a sender is kept.
            return std::future::pending().await;
        };
        let Some(terminal) = self.open.get_mut(&id) else {
            return Vec::new();
        };
        let exit = terminal.exit().unwrap_or_else(killed);
        let waiting = std::mem::take(&mut terminal.waiting);
        waiting
            .into_iter()
            .map(|(id, instead)| (id, instead.unwrap_or_else(|| exit.clone())))
            .collect()
    }

    /// Ends all commands.
    pub(super) async fn end(&mut self) {
        for terminal in self.open.values() {
            // All of them first, so that none runs on while another is waited for.
            terminal.kill();
        }
        for (_, terminal) in std::mem::take(&mut self.open) {
            self.ending.spawn(terminal.end());
        }
        while self.ending.join_next().await.is_some() {}
    }

    fn release(&mut self, id: &str) -> Vec<Late> {
        let Some(mut terminal) = self.open.shift_remove(id) else {
            return Vec::new();
        };
        let exit = terminal.exit().unwrap_or_else(killed);
        let waiting = std::mem::take(&mut terminal.waiting);
        // At once; what left the command's group is looked for meanwhile.
        terminal.kill();
        self.ending.spawn(terminal.end());
        waiting
            .into_iter()
            .map(|(id, instead)| (id, instead.unwrap_or_else(|| exit.clone())))
            .collect()
    }

    fn create(&mut self, session: &str, params: &Value, talk: &Conversation) -> Reply {
        let Some(command) = params.get("command").and_then(Value::as_str) else {
            return invalid("`command` is missing");
        };
        if self.open.len() >= MOST {
            let text = format!("{MOST} terminals are open, no more are made");
            return Reply::Error(-32603, text);
        }
        let given = params.get("cwd").and_then(Value::as_str);
        let own = talk
            .session(session)
            .and_then(|session| session.cwd.as_deref());
        let cwd = match given.or(own) {
            Some(cwd) => match self.inside(cwd) {
                Ok(cwd) => cwd,
                Err(reply) => return reply,
            },
            None => match self.folders.first() {
                Some(folder) => folder.clone(),
                None => return invalid("there is no folder to run a command in"),
            },
        };
        let mut env = self.env.clone();
        let variables = params.get("env").and_then(Value::as_array);
        env.extend(variables.into_iter().flatten().filter_map(|variable| {
            let text = |name: &str| variable.get(name).and_then(Value::as_str);
            Some((
                OsString::from(text("name")?),
                OsString::from(text("value")?),
            ))
        }));
        let mut arguments: Vec<String> = params
            .get("args")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect();
        let mut program = command;
        if arguments.is_empty() && is_a_line(command) {
            // Some agents send a whole line for a shell, which the editors that they know give to one.
            program = "sh";
            arguments = vec!["-c".to_owned(), command.to_owned()];
        }
        self.made += 1;
        let id = format!("terminal-{}", self.made);
        let limit = params.get("outputByteLimit").and_then(Value::as_u64);
        let command = BesideCommand {
            program,
            arguments: &arguments,
            cwd: &cwd,
            env: &env,
        };
        match Terminal::start(&id, session, command, limit, self.tell.clone()) {
            Ok(terminal) => {
                self.open.insert(id.clone(), terminal);
                Reply::Result(json!({"terminalId": id}))
            }
            Err(error) => {
                Reply::Error(-32603, format!("{program:?} could not be started: {error}"))
            }
        }
    }

    /// A folder that a command may be started in, with no links on its way.
    fn inside(&self, cwd: &str) -> Result<PathBuf, Reply> {
        let wanted = PathBuf::from(cwd);
        if !wanted.is_absolute() {
            return Err(invalid(&format!("the folder {cwd:?} is not absolute")));
        }
        let folder = wanted
            .canonicalize()
            .map_err(|error| invalid(&format!("the folder {cwd:?}: {error}")))?;
        if self.folders.iter().any(|own| folder.starts_with(own)) {
            Ok(folder)
        } else {
            Err(invalid(&format!(
                "the folder {cwd:?} is outside the session's folders"
            )))
        }
    }
}

/// Whether a command without arguments is a line for a shell rather than a program.
fn is_a_line(command: &str) -> bool {
    let shell = |c: char| c.is_whitespace() || "|&;<>()$`\"'*?~".contains(c);
    command.contains(shell) && !std::path::Path::new(command).is_file()
}

fn invalid(why: &str) -> Reply {
    Reply::Error(-32602, format!("invalid params: {why}"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::wire::Reading;

    /// How often it is looked whether something was written.
    const LOOK: Duration = Duration::from_millis(5);

    struct Served {
        folder: tempfile::TempDir,
        terminals: Terminals,
        talk: Conversation,
    }

    impl Served {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = std::env::var_os("PATH").unwrap();
            let env = Variables::from([("PATH".into(), path), ("OWN".into(), "agent".into())]);
            Self {
                terminals: Terminals::new([folder.path().to_owned()], env),
                folder,
                talk: Conversation::new(true),
            }
        }

        fn ask(&mut self, method: &str, params: Value) -> (Reply, Vec<Late>) {
            let mut whole = json!({"sessionId": "s1"});
            whole
                .as_object_mut()
                .unwrap()
                .extend(params.as_object().unwrap().clone());
            let line = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": whole});
            let reading = Reading::of_text(&line.to_string());
            self.terminals
                .answer(reading.message().unwrap(), &self.talk, None)
        }

        fn made(&mut self, params: Value) -> String {
            match self.ask("terminal/create", params).0 {
                Reply::Result(result) => result["terminalId"].as_str().unwrap().to_owned(),
                other => panic!("{other:?}"),
            }
        }

        fn shell(&mut self, line: &str) -> String {
            self.made(json!({"command": "sh", "args": ["-c", line]}))
        }

        /// How a command ended, as the client answers it.
        async fn exit(&mut self, id: &str) -> Value {
            match self
                .ask("terminal/wait_for_exit", json!({"terminalId": id}))
                .0
            {
                Reply::Result(exit) => exit,
                Reply::Nothing => {
                    let late = tokio::time::timeout(Duration::from_secs(20), async {
                        loop {
                            let late = self.terminals.ended().await;
                            if !late.is_empty() {
                                return late;
                            }
                        }
                    });
                    late.await.unwrap().remove(0).1
                }
                other => panic!("{other:?}"),
            }
        }

        fn output(&mut self, id: &str) -> Value {
            match self.ask("terminal/output", json!({"terminalId": id})).0 {
                Reply::Result(output) => output,
                other => panic!("{other:?}"),
            }
        }
    }

    fn code(reply: &Reply) -> i64 {
        match reply {
            Reply::Error(code, _) => *code,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_command_runs_in_the_session_folder_with_the_agents_environment_and_its_own() {
        let mut served = Served::new();
        let id = served.made(json!({
            "command": "sh",
            "args": ["-c", "pwd; echo \"$OWN $MORE ${HOME-none}\"; echo err >&2; exit 3"],
            "env": [{"name": "MORE", "value": "given"}],
        }));
        assert_eq!(
            served.exit(&id).await,
            json!({"exitCode": 3, "signal": null})
        );
        let folder = served.folder.path().canonicalize().unwrap();
        let expected = format!("{}\nagent given none\nerr\n", folder.display());
        assert_eq!(
            served.output(&id),
            json!({
                "output": expected,
                "truncated": false,
                "exitStatus": {"exitCode": 3, "signal": null},
            })
        );
        // Asked again, the answer is there at once.
        let again = served.ask("terminal/wait_for_exit", json!({"terminalId": id}));
        assert!(matches!(again.0, Reply::Result(_)));
    }

    #[tokio::test]
    async fn output_beyond_the_limit_is_cut_at_the_beginning_between_characters() {
        let mut served = Served::new();
        let id = served.made(json!({"command": "printf", "args": ["aéé"], "outputByteLimit": 3}));
        served.exit(&id).await;
        let output = served.output(&id);
        assert_eq!(output["output"], "é");
        assert_eq!(output["truncated"], true);
    }

    #[tokio::test]
    async fn a_command_that_writes_without_end_is_read_and_ended() {
        let mut served = Served::new();
        let id = served.shell("yes");
        let began = Instant::now();
        while served.output(&id)["truncated"] == false {
            assert!(began.elapsed() < Duration::from_secs(20));
            tokio::time::sleep(LOOK).await;
        }
        let output = served.output(&id);
        assert!(output["output"].as_str().unwrap().len() <= 1024 * 1024);
        assert!(output.get("exitStatus").is_none());
        let (reply, _) = served.ask("terminal/kill", json!({"terminalId": id}));
        assert_eq!(reply, Reply::Result(json!({})));
        // The terminal is still there after the kill.
        let exit = json!({"exitCode": null, "signal": "SIGKILL"});
        assert_eq!(served.exit(&id).await, exit);
        assert_eq!(served.output(&id)["exitStatus"], exit);
    }

    #[tokio::test]
    async fn a_release_ends_all_that_the_command_started_and_answers_who_waits() {
        let mut served = Served::new();
        let id = served.shell("sleep 600 & echo $!; setsid sleep 600 & echo $!; wait");
        let began = Instant::now();
        let pids = loop {
            let output = served.output(&id);
            let lines: Vec<String> = output["output"]
                .as_str()
                .unwrap()
                .lines()
                .map(str::to_owned)
                .collect();
            if lines.len() == 2 {
                break lines;
            }
            assert!(began.elapsed() < Duration::from_secs(20));
            tokio::time::sleep(LOOK).await;
        };
        let named = json!({"terminalId": id});
        let (reply, _) = served.ask("terminal/wait_for_exit", named.clone());
        assert_eq!(reply, Reply::Nothing);
        let (reply, late) = served.ask("terminal/release", named.clone());
        assert_eq!(reply, Reply::Result(json!({})));
        assert_eq!(
            late,
            [(json!(7), json!({"exitCode": null, "signal": "SIGKILL"}))]
        );
        served.terminals.end().await;
        for pid in pids {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            assert!(stat.is_empty() || stat.contains(") Z"), "{stat}");
        }
        for method in ["output", "wait_for_exit", "kill", "release"] {
            let (reply, _) = served.ask(&format!("terminal/{method}"), named.clone());
            assert_eq!(code(&reply), -32002, "{method}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_run_and_what_is_not_known_is_an_error() {
        let mut served = Served::new();
        for (params, expected) in [
            (json!({}), -32602),
            (json!({"command": "no-such-program-here"}), -32603),
            (json!({"command": "ls", "cwd": "relative"}), -32602),
            (json!({"command": "ls", "cwd": "/"}), -32602),
            (json!({"command": "ls", "cwd": "/no/such/folder"}), -32602),
        ] {
            let (reply, _) = served.ask("terminal/create", params.clone());
            assert_eq!(code(&reply), expected, "{params}");
        }
        std::os::unix::fs::symlink("/", served.folder.path().join("out")).unwrap();
        let cwd = served.folder.path().join("out/tmp");
        let (reply, _) = served.ask("terminal/create", json!({"command": "ls", "cwd": cwd}));
        assert_eq!(code(&reply), -32602);
        // A terminal belongs to its session.
        let id = served.shell("true");
        let params = json!({"sessionId": "s2", "terminalId": id});
        assert_eq!(code(&served.ask("terminal/output", params).0), -32002);
    }

    #[tokio::test]
    async fn a_whole_line_is_given_to_a_shell() {
        let mut served = Served::new();
        let id = served.made(json!({"command": "echo one && echo two"}));
        served.exit(&id).await;
        assert_eq!(served.output(&id)["output"], "one\ntwo\n");
    }
}
