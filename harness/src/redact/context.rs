//! Secrets that are known by what stands before them: `password=…`, `"apiKey": "…"`, `Bearer …`, `https://user:…@host`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use memchr::memmem;

use super::find::{Mode, Outcome};
use super::form::{Body, Runs, is_random};
use super::name::{is_no_secret, is_secret};

/// Words that a name of a secret holds, and other signs that a secret may follow.
pub(super) const SIGNS: &[(&str, Sign)] = &[
    ("token", Sign::Name),
    ("secret", Sign::Name),
    ("passw", Sign::Name),
    ("passphrase", Sign::Name),
    ("apikey", Sign::Name),
    ("api_key", Sign::Name),
    ("api-key", Sign::Name),
    ("accesskey", Sign::Name),
    ("access_key", Sign::Name),
    ("access-key", Sign::Name),
    ("privatekey", Sign::Name),
    ("private_key", Sign::Name),
    ("private-key", Sign::Name),
    ("authorization", Sign::Name),
    ("cookie", Sign::Name),
    ("credential", Sign::Name),
    ("?key=", Sign::Query),
    ("&key=", Sign::Query),
    ("bearer ", Sign::Bearer),
    ("basic ", Sign::Basic),
    ("://", Sign::Address),
    ("-----begin ", Sign::KeyBlock),
];

/// What a sign announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// A name with a value behind it.
    Name,
    /// The member `key` of a query.
    Query,
    /// A token.
    Bearer,
    /// User and password in base64.
    Basic,
    /// An address, in which a password may stand.
    Address,
    /// A private key.
    KeyBlock,
}

/// The longest name, or space around a separator, that is looked through.
const REACH: usize = 64;

/// How far the end of a private key is looked for.
const LONGEST_KEY: usize = 64 << 10;

impl Sign {
    /// Looks at the sign that stands at `start..end`.
    pub(super) fn look(self, runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
        let text = runs.text;
        match self {
            Self::Name => named(runs, start, end, mode),
            Self::Query => value(runs, end, Body::Open, mode, start, |value| value.len() >= 8),
            Self::Bearer => {
                let announced = is_announced(text, start);
                value(runs, end, Body::Header, mode, start, |value| {
                    is_random(value) || value.len() >= if announced { 4 } else { 24 }
                })
            }
            Self::Basic => {
                let announced = is_announced(text, start);
                value(runs, end, Body::Header, mode, start, |value| {
                    announced && value.len() >= 4 || is_user_and_password(value)
                })
            }
            Self::Address => address(text, start, end, mode),
            Self::KeyBlock => key_block(runs, start, end, mode),
        }
    }
}

/// A value that begins at `from` and is as long as its bytes fit `body`.
fn value(
    runs: &mut Runs<'_>,
    from: usize,
    body: Body,
    mode: Mode,
    sign: usize,
    accept: impl Fn(&[u8]) -> bool,
) -> Outcome {
    let (own, is_open) = runs.run(body, from);
    if is_open && mode == Mode::Open {
        return Outcome::Undecided {
            keep: sign,
            hold: from,
            run: Some(body),
        };
    }
    if is_no_secret(own) || !accept(own) {
        return Outcome::Nothing;
    }
    Outcome::Secret {
        start: from,
        end: from + own.len(),
        body,
    }
}

/// A name of a secret, a separator and a value.
fn named(runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
    let text = runs.text;
    let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let before = text
        .get(start.saturating_sub(REACH)..start)
        .unwrap_or_default();
    let left = start - before.iter().rev().take_while(|byte| of_name(byte)).count();
    let after = text
        .get(end..text.len().min(end + REACH))
        .unwrap_or_default();
    let right = end + after.iter().take_while(|byte| of_name(byte)).count();
    let open = Outcome::context(left, text.len(), mode);
    if right == text.len() {
        return open;
    }
    if !is_secret(text.get(left..right).unwrap_or_default()) {
        return Outcome::Nothing;
    }
    let (at, name_quote) = quote(text, right);
    let (at, space_before) = spaces(text, at);
    let separator = match text.get(at..) {
        None | Some([]) => return open,
        Some([b'=', b'=', ..] | [b':', b':', ..]) => return Outcome::Nothing,
        Some([b'=', b'>', ..] | [b':', b'=', ..]) => 2,
        Some([b'=' | b':', ..]) => 1,
        Some(_) => return Outcome::Nothing,
    };
    let colon = text.get(at) == Some(&b':');
    let (at, space_after) = spaces(text, at + separator);
    let (at, scheme) = scheme(text, at);
    let (at, value_quote) = quote(text, at);
    let (at, scheme) = match scheme {
        false => self::scheme(text, at),
        true => (at, true),
    };
    if at >= text.len() {
        return open;
    }
    match value_quote {
        // A member of an object, an assignment of a text: whatever it holds.
        Some(_) => value_in_quotes(runs, at, mode, left, name_quote.is_some() || scheme),
        // `NAME=value` as in a shell or a query.
        None if !colon && space_before + space_after == 0 => {
            value(runs, at, Body::Open, mode, left, |value| {
                value.len() >= 4 && !is_code(value, text.get(at + value.len()))
            })
        }
        None if scheme => value(runs, at, Body::Header, mode, left, |value| value.len() >= 4),
        // `token = next()`, `password: it must be long`: only what looks like one.
        None => value(runs, at, Body::Open, mode, left, |value| {
            value.len() >= 6
                && value.iter().any(u8::is_ascii_digit)
                && value.iter().any(u8::is_ascii_alphabetic)
        }),
    }
}

/// Whether a value is the name of something in a program: `token=settings.token`, `token=next()`.
fn is_code(value: &[u8], next: Option<&u8>) -> bool {
    next == Some(&b'(')
        || value.contains(&b'.')
            && value
                .iter()
                .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_'))
}

fn value_in_quotes(
    runs: &mut Runs<'_>,
    from: usize,
    mode: Mode,
    sign: usize,
    certain: bool,
) -> Outcome {
    let (mut own, is_open) = runs.run(Body::Quoted, from);
    if is_open && mode == Mode::Open {
        return Outcome::Undecided {
            keep: sign,
            hold: from,
            run: Some(Body::Quoted),
        };
    }
    // The quote may be an escaped one of a text within a text.
    while let [shorter @ .., b'\\'] = own {
        own = shorter;
    }
    if is_no_secret(own) || !certain && own.len() < 6 {
        return Outcome::Nothing;
    }
    Outcome::Secret {
        start: from,
        end: from + own.len(),
        body: Body::Quoted,
    }
}

/// Past a quote with the backslashes before it, if there is one.
fn quote(text: &[u8], from: usize) -> (usize, Option<u8>) {
    let rest = text.get(from..).unwrap_or_default();
    let slashes = rest
        .iter()
        .take(8)
        .take_while(|byte| **byte == b'\\')
        .count();
    match rest.get(slashes) {
        Some(mark @ (b'"' | b'\'' | b'`')) => (from + slashes + 1, Some(*mark)),
        _ => (from, None),
    }
}

fn spaces(text: &[u8], from: usize) -> (usize, usize) {
    let rest = text.get(from..).unwrap_or_default();
    let count = rest
        .iter()
        .take(REACH)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    (from + count, count)
}

/// Past the word that says how the credentials are written.
fn scheme(text: &[u8], from: usize) -> (usize, bool) {
    let rest = text.get(from..).unwrap_or_default();
    for word in ["bearer ", "basic ", "token ", "digest ", "apikey "] {
        if rest
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
        {
            return (from + word.len(), true);
        }
    }
    (from, false)
}

/// Whether what stands before says that credentials follow.
fn is_announced(text: &[u8], at: usize) -> bool {
    let name = b"authorization";
    let before = text.get(at.saturating_sub(REACH)..at).unwrap_or_default();
    let end = before
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\' | b':' | b'='))
        .map_or(0, |last| last + 1);
    before.get(..end).is_some_and(|before| {
        before.len() >= name.len() && before.to_ascii_lowercase().ends_with(name)
    })
}

fn is_user_and_password(value: &[u8]) -> bool {
    value.len() >= 8
        && BASE64.decode(value).is_ok_and(|decoded| {
            decoded.contains(&b':') && decoded.iter().all(|byte| *byte >= b' ')
        })
}

/// The password in an address.
fn address(text: &[u8], start: usize, end: usize, mode: Mode) -> Outcome {
    let rest = text.get(end..).unwrap_or_default();
    let length = rest
        .iter()
        .position(|byte| {
            byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'/' | b'?' | b'#' | b'@' | b'"' | b'\'' | b'<' | b'>' | b'\\'
                )
        })
        .unwrap_or(rest.len());
    let user = rest.get(..length).unwrap_or_default();
    let colon = memchr::memchr(b':', user);
    let from = end + colon.map_or(0, |colon| colon + 1);
    match rest.get(length) {
        Some(b'@') => {
            let own = text.get(from..end + length).unwrap_or_default();
            if is_no_secret(own) || colon.is_none() && !(own.len() >= 16 && is_random(own)) {
                return Outcome::Nothing;
            }
            Outcome::Secret {
                start: from,
                end: end + length,
                body: Body::Open,
            }
        }
        None if mode == Mode::Open => Outcome::Undecided {
            keep: start,
            hold: from,
            run: None,
        },
        _ => Outcome::Nothing,
    }
}

/// The lines of a private key.
fn key_block(runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
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
    if !rest
        .get(..label)
        .unwrap_or_default()
        .ends_with(b"PRIVATE KEY-----")
    {
        return Outcome::Nothing;
    }
    let from = end + label;
    let rest = runs.rest(from);
    let within = rest.get(..LONGEST_KEY).unwrap_or(rest);
    let own = match memmem::find(within, b"-----END ") {
        Some(length) => rest.get(..length).unwrap_or_default(),
        None if mode == Mode::Open => {
            return Outcome::Undecided {
                keep: start,
                hold: from,
                run: None,
            };
        }
        None => runs.run(Body::Key, from).0,
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
