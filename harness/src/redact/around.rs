//! What stands between a name and its value: quotes, spaces, changes of colour.

/// The longest name, or space around a separator, that is looked through.
pub(super) const REACH: usize = 64;

/// Past a quote with the backslashes before it, if there is one.
pub(super) fn quote(text: &[u8], from: usize) -> (usize, Option<(u8, usize)>) {
    let from = from + colour(text, from);
    let rest = text.get(from..).unwrap_or_default();
    let slashes = rest
        .iter()
        .take(8)
        .take_while(|byte| **byte == b'\\')
        .count();
    match rest.get(slashes) {
        Some(mark @ (b'"' | b'\'' | b'`')) => {
            let at = from + slashes + 1;
            (at + colour(text, at), Some((*mark, slashes)))
        }
        _ => (from, None),
    }
}

/// Past spaces, tabs and changes of colour, and how many spaces these were.
pub(super) fn spaces(text: &[u8], from: usize) -> (usize, usize) {
    let (mut at, mut count) = (from, 0);
    while at - from < REACH {
        match text.get(at) {
            Some(b' ' | b'\t') => {
                at += 1;
                count += 1;
            }
            _ => match colour(text, at) {
                0 => break,
                length => at += length,
            },
        }
    }
    (at, count)
}

/// How much of a change of colour, whose digits and letter seem to belong to a name, stands there.
pub(super) fn end_of_colour(text: &[u8], name: usize) -> usize {
    let before = text.get(name.saturating_sub(16)..name).unwrap_or_default();
    let code = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    let is_colour = before
        .get(..before.len() - code)
        .is_some_and(|before| before.ends_with(b"\x1b["));
    if !is_colour {
        return 0;
    }
    let rest = text.get(name..).unwrap_or_default();
    let digits = rest
        .iter()
        .take(4)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if rest.get(digits) == Some(&b'm') {
        digits + 1
    } else {
        0
    }
}

/// How long a change of colour is that stands there.
fn colour(text: &[u8], at: usize) -> usize {
    let Some([b'\x1b', b'[', rest @ ..]) = text.get(at..) else {
        return 0;
    };
    let digits = rest
        .iter()
        .take(16)
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    match rest.get(digits) {
        Some(b'm') => 2 + digits + 1,
        _ => 0,
    }
}
