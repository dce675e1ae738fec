//! The README is a test: each `console` block is run, and what it shows is what comes out.
//!
//! `BLESS=1 cargo test -p acp-harness --test all readme` writes what comes out into the README. A line `…` in a block stands for
//! any number of lines that are not shown; blessing keeps it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands that the gate runs itself, or that set up a machine.
const NOT_HERE: [&str; 4] = ["cargo test", "cargo install", "git clone", "cargo run"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

/// A block of the README: its command lines with what the README shows for each.
struct Shown {
    command: String,
    output: Vec<String>,
}

/// The `console` blocks of a text, as ranges of lines with what is in them.
fn blocks(text: &str) -> Vec<(usize, usize)> {
    let mut blocks = Vec::new();
    let mut open = None;
    for (number, line) in text.lines().enumerate() {
        match (open, line) {
            (None, "```console") => open = Some(number + 1),
            (Some(start), "```") => {
                blocks.push((start, number));
                open = None;
            }
            _ => {}
        }
    }
    blocks
}

fn commands(lines: &[&str]) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for line in lines {
        match line.strip_prefix("$ ") {
            Some(command) => all.push(Shown {
                command: command.to_owned(),
                output: Vec::new(),
            }),
            None => all
                .last_mut()
                .expect("a block begins with `$ `")
                .output
                .push((*line).to_owned()),
        }
    }
    all
}

/// Runs a command of the README in a folder and gives its standard output, line by line.
fn run(command: &str, folder: &Path) -> Vec<String> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_harness"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let with_binary = std::env::join_paths(
        std::iter::once(binary.parent().unwrap().to_owned()).chain(std::env::split_paths(&path)),
    )
    .unwrap();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", with_binary)
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("COLUMNS", "100")
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let state = folder.join("state");
    text.lines()
        .map(|line| {
            line.replace(state.to_str().unwrap(), "~/.local/state")
                .trim_end()
                .to_owned()
        })
        .collect()
}

/// Whether the lines that came fit the lines that are shown, in which `…` stands for any number of lines.
fn fits(shown: &[String], came: &[String]) -> bool {
    match shown.split_first() {
        None => came.is_empty(),
        Some((first, rest)) if first == "…" => {
            (0..=came.len()).any(|skip| came.get(skip..).is_some_and(|tail| fits(rest, tail)))
        }
        Some((first, rest)) => came
            .split_first()
            .is_some_and(|(line, tail)| line == first && fits(rest, tail)),
    }
}

#[test]
fn every_command_of_the_readme_shows_what_it_says() {
    let path = root().join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let bless = std::env::var_os("BLESS").is_some();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root().join("traces"), folder.path().join("traces")).unwrap();
    let mut written = Vec::new();
    let mut from = 0;
    let mut ran = 0;
    for (start, end) in blocks(&text) {
        written.extend(lines[from..start].iter().map(|line| (*line).to_owned()));
        from = end;
        for shown in commands(&lines[start..end]) {
            written.push(format!("$ {}", shown.command));
            if NOT_HERE
                .iter()
                .any(|other| shown.command.starts_with(other))
            {
                written.extend(shown.output);
                continue;
            }
            ran += 1;
            let came = run(&shown.command, folder.path());
            if bless {
                let whole = !shown.output.iter().any(|line| line == "…");
                written.extend(if whole || !fits(&shown.output, &came) {
                    came
                } else {
                    shown.output
                });
            } else if !fits(&shown.output, &came) {
                similar_asserts::assert_eq!(
                    shown.output.join("\n"),
                    came.join("\n"),
                    "the README shows something else for `{}`; BLESS=1 writes what comes",
                    shown.command
                );
            }
        }
    }
    assert!(ran > 3, "the README shows its commands in `console` blocks");
    if bless {
        written.extend(lines[from..].iter().map(|line| (*line).to_owned()));
        std::fs::write(&path, written.join("\n") + "\n").unwrap();
    }
}
