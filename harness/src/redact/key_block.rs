//! Private keys as they are written: what begins them, their lines, their end.

use super::around::REACH;
use super::form::{Body, Runs};
use super::found::{Mode, Outcome};
use super::name::is_no_secret;

/// How far the end of a private key is looked for.
const LONGEST_KEY: usize = 64 << 10;

/// The lines of a private key.
pub(super) fn key_block(runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
    let text = runs.text;
    let rest = runs.rest(end);
    let label = rest
        .iter()
        .take(REACH)
        .take_while(|byte| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'-'))
        .count();
    if label == rest.len() {
        return Outcome::context(start, text.len(), mode);
    }
    let own = rest.get(..label).unwrap_or_default();
    if !own.ends_with(b"PRIVATE KEY-----") && !own.ends_with(b"PRIVATE KEY BLOCK-----") {
        return Outcome::Nothing;
    }
    key_lines(runs, start, end + label, mode)
}

/// The lines of a private key that begin at `from`, up to its end, if that is there.
pub(super) fn key_lines(runs: &mut Runs<'_>, start: usize, from: usize, mode: Mode) -> Outcome {
    let is_near = |end: &usize| *end - from <= LONGEST_KEY;
    let own = match runs.end_of_key(from).filter(is_near) {
        Some(end) => runs.text.get(from..end).unwrap_or_default(),
        None if mode == Mode::Open => {
            return Outcome::Undecided {
                keep: start,
                hold: from,
                run: None,
            };
        }
        None => {
            let rest = runs.rest(from);
            let within = rest.get(..LONGEST_KEY).unwrap_or(rest);
            let length: usize = within
                .split_inclusive(|byte| *byte == b'\n')
                .enumerate()
                .take_while(|(index, line)| {
                    *index == 0 && line.trim_ascii().is_empty() || is_key_line(line)
                })
                .map(|(_, line)| line.len())
                .sum();
            let run = runs.run(Body::Key, from).0;
            rest.get(..length.max(run.len())).unwrap_or_default()
        }
    };
    if is_no_secret(own) {
        return Outcome::Nothing;
    }
    Outcome::Secret {
        start: from,
        end: from + own.len(),
        body: Body::Key,
    }
}

/// Whether a line may be one of a private key: base64 at its end, whatever a listing puts before that, or a header.
pub(super) fn is_key_line(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let length = line
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
        .count();
    let before = line.get(..line.len() - length).unwrap_or_default();
    // What stands before is a number, a sign of a diff, the name of a file.
    let is_listed = before.len() <= REACH;
    let is_whole = before.iter().all(|byte| !byte.is_ascii_alphabetic());
    line.is_empty()
        || is_listed && length >= 24
        || is_whole && length >= 1
        || [&b"Proc-Type:"[..], b"DEK-Info:", b"Version:", b"Comment:"]
            .iter()
            .any(|header| memchr::memmem::find(line, header).is_some())
}

/// Whether a private key begins in a line and does not end in it.
pub(super) fn begins_key(line: &[u8]) -> bool {
    memchr::memmem::rfind(line, b"PRIVATE KEY").is_some_and(|at| {
        memchr::memmem::rfind(line.get(..at).unwrap_or_default(), b"-----BEGIN ").is_some()
            && memchr::memmem::find(line.get(at..).unwrap_or_default(), b"-----END ").is_none()
    })
}
