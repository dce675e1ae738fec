//! Passwords and tokens that are written in ways of their own: tokens of bots, lines of `.pgpass`, the flag of `mysql`, and
//! members of a JSON text inside an address.

use super::around::{REACH, quote};
use super::form::{Body, Runs};
use super::found::{Mode, Outcome};
use super::name::is_no_secret;
use super::value::Value;

/// How long the second half of a Telegram bot's token is.
const TELEGRAM: std::ops::RangeInclusive<usize> = 34..=36;
/// The least lengths of the parts of a Discord bot's token: its number, a time, a signature.
const DISCORD: [usize; 3] = [23, 6, 27];

/// The token of a Telegram bot: its number, a colon, and what begins with `AA`. The sign is `:AA`.
pub(super) fn telegram(runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
    let text = runs.text;
    let before = text
        .get(start.saturating_sub(12)..start)
        .unwrap_or_default();
    let digits = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits < 4 || text.get(start + 1..end) != Some(b"AA") {
        return Outcome::Nothing;
    }
    let from = start + 1;
    let (own, is_open) = runs.run(Body::Dashed, from);
    if is_open && mode == Mode::Open {
        return Outcome::Undecided {
            keep: start - digits,
            hold: from,
            run: Some(Body::Dashed),
        };
    }
    let is_cut = is_open && mode == Mode::Cut && own.len() >= 8;
    if !is_cut && !TELEGRAM.contains(&own.len()) {
        return Outcome::Nothing;
    }
    Outcome::Secret {
        start: from,
        end: from + own.len(),
        body: Body::Dashed,
    }
}

/// The token of a Discord bot, behind `Bot ` or `login(`: three parts with dots between.
pub(super) fn discord(runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
    let (from, _) = quote(runs.text, end);
    let (own, is_open) = runs.run(Body::Dotted, from);
    if is_open && mode == Mode::Open {
        return Outcome::Undecided {
            keep: start,
            hold: from,
            run: Some(Body::Dotted),
        };
    }
    let mut parts = own.split(|byte| *byte == b'.');
    let whole = DISCORD
        .iter()
        .all(|least| parts.next().is_some_and(|part| part.len() >= *least));
    if !whole || parts.next().is_some_and(|rest| !rest.is_empty()) {
        return Outcome::Nothing;
    }
    Outcome::Secret {
        start: from,
        end: from + own.len(),
        body: Body::Dotted,
    }
}

/// A line of `.pgpass`: `host:port:database:user:password`. The sign is `:5432:` or `*:*:*:`.
pub(super) fn pgpass(runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
    let text = runs.text;
    let (line, is_open) = runs.run(Body::Credential, end);
    let line = line.get(..2 * REACH).unwrap_or(line);
    let fields = if text.get(start) == Some(&b'*') { 1 } else { 2 };
    let mut at = 0;
    for _ in 0..fields {
        match memchr::memchr(b':', line.get(at..).unwrap_or_default()) {
            Some(colon) if colon > 0 => at += colon + 1,
            None if is_open => return Outcome::context(start, text.len(), mode),
            _ => return Outcome::Nothing,
        }
    }
    let value = Value {
        body: Body::Credential,
        from: end + at,
        sign: start,
        mode,
    };
    value.find(runs, |value| value.len() >= 4)
}

/// The password behind the flag `-p` of `mysql` and its kin, without a space between. The sign is the command's name.
pub(super) fn mysql(runs: &mut Runs<'_>, start: usize, end: usize, mode: Mode) -> Outcome {
    let text = runs.text;
    let rest = text
        .get(end..text.len().min(end + 2 * REACH))
        .unwrap_or_default();
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'|' | b';' | b'&' | b'\\');
    let command = rest.iter().position(ends);
    let words = rest
        .get(..command.unwrap_or(rest.len()))
        .unwrap_or_default();
    let mut flags = memchr::memmem::find_iter(words, b" -p");
    let attached = flags.find(|at| {
        words
            .get(at + 3)
            .is_some_and(|next| !next.is_ascii_whitespace())
    });
    let Some(flag) = attached else {
        return if command.is_none() && end + rest.len() == text.len() {
            Outcome::context(start, text.len(), mode)
        } else {
            Outcome::Nothing
        };
    };
    let (from, _) = quote(text, end + flag + 3);
    let value = Value {
        body: Body::Credential,
        from,
        sign: start,
        mode,
    };
    value.find(runs, |value| {
        value.len() >= 3 && !matches!(value, [b'<' | b'[' | b'-' | b'$', ..])
    })
}

/// Where the value of a member begins whose name ends at `from` in an address: `%22%3A%22` in one spelling or another.
pub(super) fn member_in_address(text: &[u8], from: usize) -> Option<usize> {
    let past = |at: usize, ways: &[&[u8]]| {
        let rest = text.get(at..)?;
        let way = ways.iter().find(|way| rest.starts_with(way))?;
        Some(at + way.len())
    };
    let at = past(from, &[b"%22"])?;
    let at = past(at, &[b"%3A", b"%3a", b":"])?;
    let at = past(at, &[b"%20", b"+"]).unwrap_or(at);
    past(at, &[b"%22"])
}

/// A value in an address that begins there: it ends at `%22`.
pub(super) fn value_in_address(
    runs: &mut Runs<'_>,
    (sign, from): (usize, usize),
    mode: Mode,
    accept: impl Fn(&[u8]) -> bool,
) -> Outcome {
    let (own, is_open) = runs.run(Body::Query, from);
    let own = match memchr::memmem::find(own, b"%22") {
        Some(end) => own.get(..end).unwrap_or_default(),
        None if is_open && mode == Mode::Open => {
            return Outcome::Undecided {
                keep: sign,
                hold: from,
                run: None,
            };
        }
        None => own,
    };
    if is_no_secret(own) || !accept(own) {
        return Outcome::Nothing;
    }
    Outcome::Secret {
        start: from,
        end: from + own.len(),
        body: Body::Dashed,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use serde_json::json;

    use super::super::{Options, Redactor};
    use crate::trace::{Body, Event, Party};

    fn redacted(lines: &[String]) -> Vec<String> {
        static FRESH: LazyLock<Redactor> =
            LazyLock::new(|| Redactor::new(Options::default()).unwrap());
        let mut redactor = FRESH.clone();
        let mut out = Vec::new();
        for line in lines {
            let body = Body::of_line(line.clone().into_bytes(), false);
            redactor.push(Event::new(0.0, Party::Agent, body), &mut out);
        }
        redactor.finish(&mut out);
        out.iter()
            .map(|event| String::from_utf8(event.body.wire_bytes().unwrap().to_vec()).unwrap())
            .collect()
    }

    fn one(text: &str) -> String {
        let line = json!({ "text": text }).to_string();
        redacted(&[line])[0].clone()
    }

    /// The texts of chunks, cut at each place in turn.
    fn cut(text: &str) -> impl Iterator<Item = String> {
        let chunk = |said: &str| {
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s",
                "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": said}}}})
            .to_string()
        };
        (1..text.len()).map(move |at| {
            let (left, right) = text.split_at(at);
            let out = redacted(&[chunk(left), chunk(right)]);
            let said = out.iter().map(|line| {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                value["params"]["update"]["content"]["text"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            });
            said.collect()
        })
    }

    const DISCORD: &str = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs";
    const TELEGRAM: &str = "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1";

    #[test]
    fn each_way_of_writing_is_found_alone_and_over_two_chunks() {
        for (before, secret, after) in [
            ("bot110201543:", TELEGRAM, "/getMe"),
            ("110201543:", TELEGRAM, " is it"),
            ("Authorization: Bot ", DISCORD, "\n"),
            ("client.login('", DISCORD, "')"),
            ("localhost:5432:app:alice:", "s3cr3t:x", "\n"),
            ("*:*:*:alice:", "s3cr3t", "\n"),
            ("mysql -u root -p", "hunter2", " app"),
            ("mysqldump -uroot -p'", "hunter2", "' app"),
            ("mariadb -h db -p", "hunter2", ""),
            ("admin:", "$apr1$9Cv/OMGj$ZomWQzuQL.3TRCS81A1g8", "\n"),
            (
                "alice:",
                "$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT0r7q1BB8I2s0BRqC",
                "\n",
            ),
            ("bob:", "{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE", "=\n"),
            ("sid ", "SK0123456789abcdef0123456789abcdef", "."),
            ("https://h/?q=%7B%22apiKey%22%3A%22", "s3cr3t99", "%22%7D x"),
            ("https://h/?q=%7B%22password%22:+%22", "hunter2", "%22%2C"),
        ] {
            let text = format!("{before}{secret}{after}");
            let wanted = format!("{before}{{secret-1}}{after}");
            assert_eq!(one(&text), json!({ "text": wanted }).to_string());
            for said in cut(&text) {
                assert!(!said.contains(secret), "{said}");
            }
        }
    }

    #[test]
    fn what_only_looks_alike_stays() {
        for text in [
            "12:AABB and 12345678:AA, 2024:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
            "the bot is here: bot a.b.c, robot installation.of-the-whole.thing-with-a-long-name",
            "127.0.0.1:5432:5432 and postgres://h:5432/db, host:5432: it listens",
            "mysql -p app; mkdir -p a/b && mysql --port 3306 -P 3306 | grep -pattern",
            "mysql -u root -p\"$MYSQL_PWD\"",
            "awk '{print $1$2}' and $2b or not $2b, cost $5$6",
            "SKIP the task, SK0001, SKILL; ask about SKA",
            "https://h/?q=%7B%22name%22%3A%22alice%22%7D and %22token%22",
            "the {SHA} of it",
        ] {
            let line = json!({ "text": text }).to_string();
            assert_eq!(redacted(std::slice::from_ref(&line)), [line]);
        }
    }

    #[test]
    fn a_short_secret_of_a_server_is_found_where_it_stands_alone() {
        let new = json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": [
            {"name": "m", "command": "m", "args": [], "env": [
                {"name": "API_TOKEN", "value": "ab12c"}, {"name": "CHARSET", "value": "utf-8"}]}]}});
        let said = json!({"text": "the token is ab12c, not xab12cx, in utf-8"});
        let out = redacted(&[new.to_string(), said.to_string()]);
        assert_eq!(
            out[1],
            json!({"text": "the token is {secret-1}, not xab12cx, in utf-8"}).to_string()
        );
    }
}
