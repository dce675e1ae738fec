//! User and password in an address, and behind the flag of a command.

use super::around::{REACH, quote};
use super::form::{Body, Runs, is_random};
use super::found::{Mode, Outcome};
use super::name::is_no_secret;
use super::value::{INNER_QUOTES, Value};

/// The password in an address: up to the last `@` before a `/` or white space, as passwords may hold one.
pub(super) fn address(runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
    let mut from = end;
    let mut last = None;
    let mut is_open = true;
    for _ in 0..INNER_QUOTES {
        let (piece, reaches_end) = runs.run(Body::Address, from);
        from += piece.len();
        is_open = reaches_end;
        if reaches_end || runs.text.get(from) != Some(&b'@') {
            break;
        }
        last = Some(from);
        from += 1;
    }
    let text = runs.text;
    let user = text.get(end..last.unwrap_or(from)).unwrap_or_default();
    let colon = memchr::memchr(b':', user);
    let own_from = end + colon.map_or(0, |colon| colon + 1);
    if is_open && mode == Mode::Open {
        return Outcome::Undecided {
            keep: start,
            hold: own_from,
            run: None,
        };
    }
    let own_end = last.unwrap_or(from);
    let own = text.get(own_from..own_end).unwrap_or_default();
    let is_query =
        memchr::memchr(b'?', user).is_some_and(|at| colon.is_none_or(|colon| at < colon));
    let is_secret = match (last, colon) {
        _ if is_no_secret(own) || is_query || user.starts_with(b"[") => false,
        (Some(_), Some(_)) => true,
        (Some(_), None) => own.len() >= 16 && is_random(own),
        // It is cut, and what is there is no port.
        (None, Some(_)) => {
            is_open
                && own.iter().any(|byte| !byte.is_ascii_digit())
                && !matches!(own, [b':' | b'{' | b'$', ..])
        }
        (None, None) => false,
    };
    if !is_secret {
        return Outcome::Nothing;
    }
    Outcome::Secret {
        start: own_from,
        end: own_end,
        body: Body::Address,
    }
}

/// User and password behind the flag of a command.
pub(super) fn user(runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
    let text = runs.text;
    let is_flag = start == 0
        || matches!(text.get(start - 1), Some(byte) if byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''));
    if !is_flag {
        return Outcome::Nothing;
    }
    let (at, _) = quote(text, end);
    let (word, is_open) = runs.run(Body::Credential, at);
    let colon = memchr::memchr(b':', word.get(..REACH).unwrap_or(word));
    let Some(colon) = colon else {
        return if is_open {
            Outcome::context(start, text.len(), mode)
        } else {
            Outcome::Nothing
        };
    };
    let value = Value {
        body: Body::Credential,
        from: at + colon + 1,
        sign: start,
        mode,
    };
    value.find(runs, |value| {
        value.len() >= 4 && value.iter().any(|byte| !byte.is_ascii_digit())
    })
}
