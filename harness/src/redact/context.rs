//! Secrets that are known by what stands before them: `password=…`, `"apiKey": "…"`, `Bearer …`, `https://user:…@host`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::address::{address, user};
use super::around::{REACH, end_of_colour, quote, spaces};
use super::form::{Body, Runs, is_random};
use super::found::{Mode, Outcome};
use super::key_block::{key_block, key_lines};
use super::login;
use super::name::{Says, looks_secret, says};
use super::value::Value;

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
    ("passcode", Sign::Name),
    ("_key", Sign::Name),
    ("-key", Sign::Name),
    ("accountkey", Sign::Name),
    ("_pass", Sign::Name),
    ("pwd", Sign::Name),
    ("_auth", Sign::Name),
    ("\"auth", Sign::Name),
    ("\"bearer", Sign::Name),
    ("\"jwt", Sign::Name),
    ("\"otp", Sign::Name),
    ("sig=", Sign::Name),
    ("signature=", Sign::Name),
    ("cookie", Sign::Name),
    ("credential", Sign::Name),
    ("?key=", Sign::Query),
    ("&key=", Sign::Query),
    ("bearer ", Sign::Bearer),
    ("basic ", Sign::Basic),
    ("://", Sign::Address),
    (":\\/\\/", Sign::Address),
    ("-u ", Sign::User),
    ("--user ", Sign::User),
    ("sshpass -p ", Sign::Word),
    (":aa", Sign::Telegram),
    ("bot ", Sign::Discord),
    (".login(", Sign::Discord),
    (":5432:", Sign::Pgpass),
    ("*:*:*:", Sign::Pgpass),
    ("mysql", Sign::Mysql),
    ("mariadb", Sign::Mysql),
    ("private-lines:", Sign::KeyLines),
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
    /// User and password of a command.
    User,
    /// A password of a command.
    Word,
    /// The token of a Telegram bot.
    Telegram,
    /// The token of a Discord bot.
    Discord,
    /// A line with a password for PostgreSQL.
    Pgpass,
    /// A command with a password for MySQL.
    Mysql,
    /// A private key.
    KeyBlock,
    /// Lines of a private key.
    KeyLines,
}

/// How long `%22%3A%20%22` is.
const PERCENT: usize = 12;

impl Sign {
    /// Looks at the sign that stands at `start..end`.
    pub(super) fn look(self, runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
        let text = runs.text;
        let of = |body, from| Value {
            body,
            from,
            sign: start,
            mode,
        };
        match self {
            Self::Name => {
                // A sign may hold the separator.
                let end = end - usize::from(text.get(end - 1) == Some(&b'='));
                named(runs, start, end, mode)
            }
            Self::Query => of(Body::Query, end).find(runs, |value| value.len() >= 8),
            Self::Bearer => {
                let announced = is_announced(text, start);
                of(Body::Credential, end).find(runs, |value| {
                    is_random(value) || value.len() >= if announced { 4 } else { 24 }
                })
            }
            Self::Basic => {
                let announced = is_announced(text, start);
                of(Body::Header, end).find(runs, |value| {
                    announced && value.len() >= 4 || is_user_and_password(value)
                })
            }
            Self::Address => address(runs, start, end, mode),
            Self::User => user(runs, start, end, mode),
            Self::Word => {
                of(Body::Credential, quote(text, end).0).find(runs, |value| value.len() >= 4)
            }
            Self::Telegram => login::telegram(runs, start, end, mode),
            Self::Discord => login::discord(runs, start, end, mode),
            Self::Pgpass => login::pgpass(runs, start, end, mode),
            Self::Mysql => login::mysql(runs, start, end, mode),
            Self::KeyBlock => key_block(runs, start, end, mode),
            Self::KeyLines => key_lines(runs, start, end, mode),
        }
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
    let left = left + end_of_colour(text, left);
    // The sign may begin with the quote before the name.
    let left = left + usize::from(text.get(left) == Some(&b'"'));
    // In an address it is written as two digits behind a sign.
    let is_escaped = left > 0 && text.get(left - 1..left + 2) == Some(b"%22") && left + 2 <= start;
    let left = left + 2 * usize::from(is_escaped);
    let after = text
        .get(end..text.len().min(end + REACH))
        .unwrap_or_default();
    let right = end + after.iter().take_while(|byte| of_name(byte)).count();
    let open = Outcome::context(left, text.len(), mode);
    if right == text.len() {
        return open;
    }
    let name = text.get(left..right).unwrap_or_default();
    let says = says(name);
    if says == Says::Nothing {
        return Outcome::Nothing;
    }
    let least = match says {
        Says::Secret => 4,
        _ => 8,
    };
    let looks = |value: &[u8]| says == Says::Secret || looks_secret(value, 8);
    if let Some(from) = login::member_in_address(text, right) {
        let accept = |value: &[u8]| value.len() >= least && looks(value);
        return login::value_in_address(runs, (left, from), mode, accept);
    }
    if text.get(right) == Some(&b'%') && text.len() < right + PERCENT {
        return open;
    }
    let (at, name_quote) = quote(text, right);
    // `environ['NAME'] = `
    let at = at + usize::from(name_quote.is_some() && text.get(at) == Some(&b']'));
    let (at, space_before) = spaces(text, at);
    let at = beside(text, at, name_quote.is_some());
    let flag = name.starts_with(b"-");
    let value = |body, from| Value {
        body,
        from,
        sign: left,
        mode,
    };
    let separator = match text.get(at..) {
        None | Some([]) => return open,
        Some([b'=', b'=', ..] | [b':', b':', ..]) => return Outcome::Nothing,
        Some([b'=', b'>', ..] | [b':', b'=', ..]) => 2,
        Some([b'=' | b':', ..]) => 1,
        // `<password>…</password>`
        Some([b'>', ..]) if text.get(left.wrapping_sub(1)) == Some(&b'<') => {
            return value(Body::Element, at + 1)
                .find(runs, |value| value.len() >= least && looks(value));
        }
        // `--api-key …`, `set -gx NAME …`, `login … password …`
        Some(_) if space_before > 0 && (flag || is_set(text, left)) => {
            let (at, mark) = quote(text, at);
            let certain = mark.is_some();
            return match mark {
                Some((mark, slashes)) => {
                    value(in_quotes(mark), at)
                        .find_in_quotes(runs, slashes, |value| value.len() >= least && looks(value))
                }
                None => value(Body::Shell, at).find(runs, |value| {
                    !value.starts_with(b"-")
                        && (certain || is_password(value))
                        && looks(value)
                        && !is_code(value)
                }),
            };
        }
        // A table, a sentence with the value in backticks.
        Some([b'|' | b'`', ..]) if space_before > 0 => {
            let (at, _) = spaces(text, at + 1);
            return value(Body::Credential, at).find(runs, |value| looks_secret(value, 16));
        }
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
    let lower = name.to_ascii_lowercase();
    if colon && (lower.ends_with(b"cookie") || lower.ends_with(b"cookies")) && value_quote.is_none()
    {
        return value(Body::Line, at).find(runs, |value| value.contains(&b'='));
    }
    match value_quote {
        // A member of an object, an assignment of a text: whatever it holds.
        Some((mark, slashes)) => {
            let certain = name_quote.is_some() || scheme;
            value(in_quotes(mark), at).find_in_quotes(runs, slashes, |value| {
                (certain || value.len() >= 6) && looks(value)
            })
        }
        // `NAME=value` as in a shell or a query.
        None if !colon && space_before + space_after == 0 => {
            let (body, is_program) = surroundings(text, left);
            value(body, at).find(runs, |own| {
                own.len() >= least
                    && looks(own)
                    && !is_code(own)
                    && !(is_program && text.get(at + own.len()) == Some(&b'('))
            })
        }
        None if scheme => value(Body::Credential, at).find(runs, |value| value.len() >= 4),
        // `token = next()`, `password: it must be long`: only what looks like one.
        None => {
            let (body, _) = surroundings(text, left);
            value(body, at).find(runs, |value| {
                (value.len() >= 6
                    && value.iter().any(u8::is_ascii_digit)
                    && value.iter().any(u8::is_ascii_alphabetic)
                    || value.len() >= 20 && value.iter().all(u8::is_ascii_alphabetic))
                    && looks(value)
                    && !is_code(value)
            })
        }
    }
}

/// What a value without quotes ends at, as told by what stands before its name; and whether that is a program's list.
fn surroundings(text: &[u8], name: usize) -> (Body, bool) {
    let before = text
        .get(name.saturating_sub(REACH)..name)
        .unwrap_or_default();
    let spaces = before
        .iter()
        .rev()
        .take_while(|byte| **byte == b' ')
        .count();
    let last = before
        .len()
        .checked_sub(spaces + 1)
        .and_then(|at| before.get(at));
    match (before.last(), last) {
        (Some(b'?' | b'&'), _) => (Body::Query, false),
        (Some(b'"'), _) => (Body::Double, false),
        (Some(b'\''), _) => (Body::Single, false),
        (Some(b'`'), _) => (Body::Tick, false),
        (_, Some(b';')) => (Body::Setting, false),
        (_, Some(b',' | b'(' | b'{' | b'[')) => (Body::Open, true),
        _ => (Body::Shell, false),
    }
}

fn in_quotes(mark: u8) -> Body {
    match mark {
        b'"' => Body::Double,
        b'\'' => Body::Single,
        _ => Body::Tick,
    }
}

/// Past the second half of a pair: `"name": "TOKEN", "value": …`, `key="ApiKey" value=…`.
fn beside(text: &[u8], from: usize, quoted: bool) -> usize {
    if !quoted {
        return from;
    }
    let comma = usize::from(text.get(from) == Some(&b','));
    let (at, _) = spaces(text, from + comma);
    let (at, _) = quote(text, at);
    let word = text.get(at..at + 5).unwrap_or_default();
    if !word.eq_ignore_ascii_case(b"value") {
        return from;
    }
    let (at, _) = quote(text, at + 5);
    spaces(text, at).0
}

/// Whether a value follows a name although nothing but a space is between.
fn is_set(text: &[u8], name: usize) -> bool {
    let before = text
        .get(name.saturating_sub(REACH)..name)
        .unwrap_or_default();
    let words: Vec<&[u8]> = before
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .rev()
        .take(4)
        .collect();
    match words.as_slice() {
        [flags, set, ..] if *set == b"set" && flags.starts_with(b"-") => true,
        [setx, ..] if setx.eq_ignore_ascii_case(b"setx") => true,
        // `machine … login … password …`
        [_, login, ..] => *login == b"login",
        _ => false,
    }
}

/// Whether a word behind a flag may be a password.
fn is_password(word: &[u8]) -> bool {
    word.len() >= 4
        && (word.len() >= 16
            || !word
                .iter()
                .all(|byte| byte.is_ascii_alphabetic() || *byte == b'-'))
        && !matches!(word, [b'<' | b'/' | b'.' | b'$' | b'[' | b'(', ..])
}

/// Whether a value is the name of something in a program: `token=settings.token1`, `token=next()`, `password=get("x")`.
fn is_code(value: &[u8]) -> bool {
    let of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_');
    let length = value.iter().take_while(of_name).count();
    let (name, rest) = value.split_at_checked(length).unwrap_or((value, b""));
    match rest {
        [] => {
            let last = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
            let end = last.iter().rposition(|byte| !byte.is_ascii_digit());
            let last = last.get(..end.map_or(0, |end| end + 1)).unwrap_or_default();
            last == b"token"
                || name.contains(&b'.')
                    && (name.iter().all(|byte| !byte.is_ascii_digit())
                        || says(last) > Says::Nothing)
        }
        [b'(', b')' | b'"' | b'\'', ..] => true,
        [b'(', .., b')'] | [b'(', .., b')', b',' | b';'] => {
            name.iter().all(|byte| !byte.is_ascii_digit())
        }
        [b'('] | [b'<', ..] => {
            !name.is_empty()
                && rest.len() < 24
                && rest.iter().all(|byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'(' | b'<' | b'>' | b'_')
                })
                && name.iter().all(|byte| !byte.is_ascii_digit())
        }
        _ => false,
    }
}

/// Past the word that says how the credentials are written.
fn scheme(text: &[u8], from: usize) -> (usize, bool) {
    let rest = text.get(from..).unwrap_or_default();
    for word in ["bearer ", "basic ", "token ", "digest ", "apikey ", "bot "] {
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
