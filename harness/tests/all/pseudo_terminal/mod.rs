//! A terminal that a test reads: what a program writes to it, as it comes.

use std::fs::File;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};

use nix::pty::{OpenptyResult, Winsize, openpty};

/// Which of its streams are the terminal.
#[derive(Clone, Copy)]
pub(crate) enum On {
    Stdout,
    Stderr,
}

/// Runs a command with one of its streams on a terminal of so many columns; gives what the terminal was sent, what the
/// other stream was, and the exit code.
pub(crate) fn on_a_terminal(mut command: Command, on: On, columns: u16) -> (String, String, i32) {
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
    command.stdin(Stdio::null()).env("TERM", "xterm-256color");
    match on {
        On::Stdout => command.stdout(slave).stderr(Stdio::piped()),
        On::Stderr => command.stderr(slave).stdout(Stdio::piped()),
    };
    let mut child = command.spawn().unwrap();
    // The terminal ends when nobody has it open any more: the command holds a copy.
    drop(command);
    let other = other(&mut child, on);
    let mut sent = Vec::new();
    let mut master = File::from(master);
    let mut buffer = [0; 4096];
    // At its end a terminal gives an error on Linux and nothing elsewhere.
    while let Ok(read @ 1..) = master.read(&mut buffer) {
        sent.extend_from_slice(&buffer[..read]);
    }
    let code = child.wait().unwrap().code().unwrap();
    (
        String::from_utf8(sent).unwrap(),
        other.join().unwrap(),
        code,
    )
}

fn other(child: &mut Child, on: On) -> std::thread::JoinHandle<String> {
    let mut stream: Box<dyn std::io::Read + Send> = match on {
        On::Stdout => Box::new(child.stderr.take().unwrap()),
        On::Stderr => Box::new(child.stdout.take().unwrap()),
    };
    std::thread::spawn(move || {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    })
}
