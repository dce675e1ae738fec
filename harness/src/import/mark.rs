//! Words and arrows by which tools tell which way a message goes.

use crate::trace::Party;

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    /// Sent by this side.
    From(Party),
    /// Sent by whoever wrote the log.
    Out,
    /// Received by whoever wrote the log.
    In,
    /// Written to stderr.
    Stderr,
}

const CLIENT: [&str; 7] = [
    "client", "editor", "ide", "host", "frontend", "zed", "stdin",
];
const AGENT: [&str; 4] = ["agent", "server", "backend", "stdout"];
const OUT: [&str; 11] = [
    "send", "sent", "sending", "out", "outgoing", "outbound", "output", "write", "wrote",
    "writing", "tx",
];
const IN: [&str; 11] = [
    "recv",
    "receive",
    "received",
    "receiving",
    "in",
    "incoming",
    "inbound",
    "input",
    "read",
    "reading",
    "rx",
];
const RIGHT: [&str; 8] = [">", ">>", ">>>", "->", "-->", "=>", "→", "⇒"];
const LEFT: [&str; 8] = ["<", "<<", "<<<", "<-", "<--", "<=", "←", "⇐"];

/// A part of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Side(Party),
    To(Party),
    FromSide(Party),
    Both(Party),
    Right,
    Left,
    Out,
    In,
    Stderr,
}

/// What a short text says of the direction: the value of a wrapper's member, or what stands before a message on its line.
pub(super) fn mark(text: &str) -> Option<Mark> {
    let tokens = tokens(text);
    if tokens.contains(&Token::Stderr) {
        return Some(Mark::Stderr);
    }
    let whole = tokens.iter().find_map(|token| match token {
        Token::Both(from) | Token::FromSide(from) => Some(*from),
        Token::To(to) => Some(other(*to)),
        _ => None,
    });
    let by_arrow = tokens.windows(2).find_map(|pair| match pair {
        [Token::Side(from), Token::Right] | [Token::Left, Token::Side(from)] => Some(*from),
        [Token::Right, Token::Side(to)] | [Token::Side(to), Token::Left] => Some(other(*to)),
        _ => None,
    });
    let relative = tokens.iter().find_map(|token| match token {
        Token::Right | Token::Out => Some(Mark::Out),
        Token::Left | Token::In => Some(Mark::In),
        _ => None,
    });
    let side = tokens.iter().find_map(|token| match token {
        Token::Side(side) => Some(Mark::From(*side)),
        _ => None,
    });
    by_arrow.or(whole).map(Mark::From).or(relative).or(side)
}

/// The arrow at the start of a line, and what stands behind it.
pub(super) fn arrow(line: &str) -> Option<(Mark, &str)> {
    let (word, rest) = line.split_once([' ', '\t'])?;
    if RIGHT.contains(&word) {
        Some((Mark::Out, rest))
    } else if LEFT.contains(&word) {
        Some((Mark::In, rest))
    } else {
        None
    }
}

fn other(side: Party) -> Party {
    match side {
        Party::Client => Party::Agent,
        _ => Party::Client,
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let is_word = |character: char| character.is_alphanumeric() || "_-:/.".contains(character);
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let arrow = |list: &[&str]| {
            list.iter()
                .filter(|arrow| rest.starts_with(**arrow))
                .map(|arrow| arrow.len())
                .max()
        };
        if let Some(length) = arrow(&RIGHT) {
            tokens.push(Token::Right);
            rest = rest.get(length..).unwrap_or_default();
        } else if let Some(length) = arrow(&LEFT) {
            tokens.push(Token::Left);
            rest = rest.get(length..).unwrap_or_default();
        } else if is_word(first) {
            let end = word_end(rest, is_word);
            let (word, after) = rest.split_at(end);
            tokens.extend(token(word));
            rest = after;
        } else {
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    tokens
}

/// Where a word ends; an arrow such as `->` ends it too.
fn word_end(text: &str, is_word: impl Fn(char) -> bool) -> usize {
    text.char_indices()
        .find(|(at, character)| {
            !is_word(*character)
                || (*at > 0
                    && RIGHT
                        .iter()
                        .any(|arrow| text.get(*at..).is_some_and(|rest| rest.starts_with(arrow))))
        })
        .map_or(text.len(), |(at, _)| at)
}

fn token(word: &str) -> Option<Token> {
    let word = word.trim_matches([':', '.', '-', '/', '_']);
    // The path of a module or of a file.
    if word.contains("::") || word.contains('/') || word.contains('.') {
        return None;
    }
    let plain: String = word
        .chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let side = |name: &str| {
        if CLIENT.contains(&name) {
            Some(Party::Client)
        } else if AGENT.contains(&name) {
            Some(Party::Agent)
        } else {
            None
        }
    };
    let both = |between: &str| {
        plain.match_indices(between).find_map(|(at, _)| {
            let from = side(plain.get(..at)?)?;
            side(plain.get(at + between.len()..)?)?;
            Some(from)
        })
    };
    if plain == "stderr" {
        return Some(Token::Stderr);
    }
    match plain.as_str() {
        "c2a" | "c2s" => return Some(Token::Both(Party::Client)),
        "a2c" | "s2c" => return Some(Token::Both(Party::Agent)),
        _ => {}
    }
    if let Some(side) = side(&plain) {
        return Some(Token::Side(side));
    }
    if let Some(from) = both("to").or_else(|| both("2")) {
        return Some(Token::Both(from));
    }
    if let Some(to) = plain.strip_prefix("to").and_then(side) {
        return Some(Token::To(to));
    }
    if let Some(from) = plain.strip_prefix("from").and_then(side) {
        return Some(Token::FromSide(from));
    }
    if OUT.contains(&plain.as_str()) {
        return Some(Token::Out);
    }
    IN.contains(&plain.as_str()).then_some(Token::In)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_before_messages_is_understood() {
        let client = Some(Mark::From(Party::Client));
        let agent = Some(Mark::From(Party::Agent));
        for (text, expected) in [
            ("> ", Some(Mark::Out)),
            ("<<<", Some(Mark::In)),
            ("->", Some(Mark::Out)),
            ("<-", Some(Mark::In)),
            ("client→agent", client),
            ("client -> agent:", client),
            ("client->agent", client),
            ("agent → client", agent),
            ("client <- agent", agent),
            ("client-to-agent", client),
            ("agent_to_client", agent),
            ("agent-to-editor", agent),
            ("editor-to-agent", client),
            ("toAgent", client),
            ("to_client", agent),
            ("fromAgent", agent),
            ("from_client", client),
            ("c2a", client),
            ("→ agent", client),
            ("<- agent", agent),
            ("[client]", client),
            ("agent:", agent),
            ("Agent", agent),
            ("stdin", client),
            ("stdout", agent),
            ("[agent stderr]", Some(Mark::Stderr)),
            ("send", Some(Mark::Out)),
            ("recv:", Some(Mark::In)),
            ("outgoing", Some(Mark::Out)),
            (
                "2026-01-02T03:04:05.678Z TRACE agent_client_protocol::rpc: recv",
                Some(Mark::In),
            ),
            ("2026-01-02 03:04:05 [info] agent: sending", Some(Mark::Out)),
            ("request", None),
            ("INFO", None),
            ("", None),
        ] {
            assert_eq!(mark(text), expected, "{text}");
        }
    }
}
