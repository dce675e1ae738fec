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

/// What a person sees on a terminal that was sent this: a small part of what terminals do, enough for lines that are drawn
/// anew. What it does not know is a failure of the test.
pub(crate) fn screen(sent: &str, columns: usize) -> String {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0, 0);
    let mut characters = sent.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                assert_eq!(characters.next(), Some('['), "a control sequence");
                let mut number = String::new();
                let end = loop {
                    match characters.next().unwrap() {
                        digit if digit.is_ascii_digit() || "?;".contains(digit) => {
                            number.push(digit);
                        }
                        end => break end,
                    }
                };
                let count: usize = number.parse().unwrap_or(1);
                match end {
                    'A' => row -= count.min(row),
                    'B' => row += count,
                    'C' => column += count,
                    'D' => column -= count.min(column),
                    'K' => lines[row].clear(),
                    'J' => {
                        lines[row].truncate(column);
                        lines.truncate(row + 1);
                    }
                    'm' | 'h' | 'l' => {}
                    other => panic!("`{other}` is not known here"),
                }
            }
            shown => {
                // A line that is full goes on in the next one with the next character.
                if column == columns {
                    (row, column) = (row + 1, 0);
                    lines.resize(lines.len().max(row + 1), Vec::new());
                }
                let line = &mut lines[row];
                if line.len() <= column {
                    line.resize(column + 1, ' ');
                }
                line[column] = shown;
                column += 1;
            }
        }
        if lines.len() <= row {
            lines.resize(row + 1, Vec::new());
        }
    }
    let shown = lines.into_iter().map(|line| {
        let line: String = line.into_iter().collect();
        line.trim_end().to_owned()
    });
    shown.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}
