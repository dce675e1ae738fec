//! Usage figures.

use serde_json::Value;

use super::part;
use super::quote::quote;
use super::{Conversation, Moment, Out, Place, Rule, Update, gap};
use crate::hash::HashMap;

/// The codes of ISO 4217: those in use, and those withdrawn in recent years.
const CURRENCIES: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP \
    BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL \
    GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT \
    LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB \
    PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS \
    TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD XCD \
    XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG ZWL";

/// How long after its answer a load or a resume may bring what is due, in seconds.
const QUIET: f64 = 0.3;

/// USAGE-01 (docs/protocol/v1/prompt-turn.mdx#session-usage-updates): `used` and `size` are whole numbers, a cost has an
/// amount and a currency of ISO 4217. A cost of null is none.
///
/// USAGE-03 (docs/rfds/session-usage.mdx): where a session that was live told its usage, on this connection or in an earlier
/// process of the recording, a usage_update follows a load or a resume of it, before any content or answer of what the
/// client asks for next. Where it asked too soon after the answer, nothing is said.
///
/// USAGE-02: figures that make no sense are noted. What falls in another currency is not compared.
#[derive(Default)]
pub(super) struct Usage {
    /// The last cost by session: currency and amount.
    costs: HashMap<String, (String, f64)>,
    /// Sessions that come back, and so have their usage to tell.
    due: HashMap<String, Due>,
    now: f64,
}

/// A session that was loaded or resumed.
struct Due {
    /// The event of the request, then of its answer.
    event: u64,
    /// When the answer came.
    answered: Option<f64>,
    /// When the client went on.
    went_on: Option<f64>,
}

impl Rule for Usage {
    fn judges(&self) -> &'static [&'static str] {
        &["USAGE-01", "USAGE-02", "USAGE-03"]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        self.now = moment.event.at;
        self.come_back(moment, out);
        let Some(update) = moment
            .update()
            .filter(|update| update.kind == "usage_update")
        else {
            return;
        };
        if !moment.talk.is_version_one() {
            return;
        }
        let currency = update
            .body
            .pointer("/cost/currency")
            .and_then(Value::as_str);
        let known = currency.is_none_or(is_currency);
        if part::faults(moment, "USAGE-01", out) && known {
            out.pass("USAGE-01");
        }
        if !known {
            out.fail(
                "USAGE-01",
                moment.at("/params/update/cost/currency"),
                format!(
                    "the currency is {}, expected a code of ISO 4217 such as \"USD\"",
                    quote(currency.unwrap_or_default())
                ),
            );
        }
        let figure = |name| update.body.get(name).and_then(Value::as_u64);
        let (used, size) = (figure("used"), figure("size"));
        if size == Some(0) {
            out.note(
                "USAGE-02",
                moment.at("/params/update/size"),
                "the size is 0",
            );
        } else if let (Some(used), Some(size)) = (used, size)
            && used > size
        {
            out.note(
                "USAGE-02",
                moment.at("/params/update/used"),
                format!("{used} are used of {size}"),
            );
        }
        if let (Some(currency), Some(amount)) = (
            currency,
            update.body.pointer("/cost/amount").and_then(Value::as_f64),
        ) {
            self.cost(moment, update.session, currency, amount, out);
        }
        if self.due.remove(update.session).is_some() {
            out.pass("USAGE-03");
        }
    }

    fn end(&mut self, _talk: &Conversation, out: &mut Out<'_>) {
        let mut due: Vec<(String, Due)> = self.due.drain().collect();
        due.sort_unstable_by_key(|(_, due)| due.event);
        for (session, due) in due {
            due.missed(&session, self.now, out);
        }
    }
}

impl Due {
    fn missed(&self, session: &str, now: f64, out: &mut Out<'_>) {
        let now = self.went_on.unwrap_or(now);
        match self.answered {
            Some(at) if now - at >= QUIET => out.fail(
                "USAGE-03",
                Place::event(self.event),
                format!(
                    "no usage_update came within {:.1} s after session {} had come back, though it told its usage before",
                    now - at,
                    quote(session)
                ),
            ),
            Some(_) => out.inconclusive(
                "USAGE-03",
                "the client went on too soon after a load or a resume",
            ),
            None => {}
        }
    }
}

impl Usage {
    /// Loads and resumes: what they are answered with, and what ends the wait for the usage.
    fn come_back(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if let Some(message) = moment.client_message() {
            let (Some(session), Some(method)) = (message.session(), message.method()) else {
                return;
            };
            if gap::ends_at(method)
                && let Some(due) = self.due.get_mut(session)
                && due.answered.is_some()
            {
                due.went_on.get_or_insert(moment.event.at);
            }
            let told = moment
                .talk
                .transcript(session)
                .is_some_and(|transcript| transcript.usage);
            if matches!(method, "session/load" | "session/resume") && told && !moment.is_probe() {
                let due = Due {
                    event: moment.index,
                    answered: None,
                    went_on: None,
                };
                self.due.insert(session.to_owned(), due);
            }
        } else if let Some((open, message)) = moment
            .answer_to("session/load")
            .or_else(|| moment.answer_to("session/resume"))
            && let Some(session) = &open.session
        {
            if message.error().is_some() {
                self.due.remove(session);
            } else if let Some(due) = self.due.get_mut(session) {
                due.event = moment.index;
                due.answered = Some(moment.event.at);
            }
        } else {
            // What the client asked for last begins to come: what was due before that is missed.
            let content = moment.update().filter(Update::is_content);
            let session = match (content, moment.answers) {
                (Some(update), _) => Some(update.session),
                (None, Some(open)) if moment.agent_message().is_some() => open.session.as_deref(),
                (None, _) => None,
            };
            if let Some(session) = session
                && self
                    .due
                    .get(session)
                    .is_some_and(|due| due.went_on.is_some())
                && let Some(due) = self.due.remove(session)
            {
                due.missed(session, moment.event.at, out);
            }
        }
    }

    fn cost(
        &mut self,
        moment: &Moment<'_>,
        session: &str,
        currency: &str,
        amount: f64,
        out: &mut Out<'_>,
    ) {
        match self
            .costs
            .get_mut(session)
            .filter(|(last, _)| last == currency)
        {
            Some((_, last)) => {
                if amount < *last {
                    out.note(
                        "USAGE-02",
                        moment.at("/params/update/cost/amount"),
                        format!("the cost falls from {last} to {amount}"),
                    );
                }
                *last = amount;
            }
            None => {
                self.costs
                    .insert(session.to_owned(), (currency.to_owned(), amount));
            }
        }
    }
}

fn is_currency(code: &str) -> bool {
    code.len() == 3
        && CURRENCIES
            .split_ascii_whitespace()
            .any(|known| known == code)
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{OPENING, failures, holds, judged, notes};

    /// These usage updates, of which the first is event 4.
    fn updates(bodies: &[&str]) -> Judgement {
        let lines: Vec<String> = bodies
            .iter()
            .map(|body| {
                format!(
                    r#"< {{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"usage_update"{body}}}}}}}"#
                )
            })
            .collect();
        judged(&format!("{OPENING}\n{}", lines.join("\n")))
    }

    fn of_area(it: &Judgement) -> Vec<String> {
        failures(it)
            .into_iter()
            .filter(|failure| !failure.starts_with("JSONRPC-11"))
            .collect()
    }

    #[test]
    fn whole_figures_and_a_known_currency_hold() {
        let it = updates(&[
            r#","used":1,"size":2"#,
            r#","used":1,"size":2,"cost":null"#,
            r#","used":0,"size":2,"cost":{"amount":0.5,"currency":"EUR"}"#,
        ]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(holds(&it, "USAGE-01"));
        assert_eq!(notes(&it, "USAGE-02"), 0);
    }

    #[test]
    fn figures_that_are_missing_null_or_fractional_fail() {
        for (body, path) in [
            (r#","used":1"#, ""),
            (r#","used":null,"size":2"#, "/used"),
            (r#","used":1.5,"size":2"#, "/used"),
            (r#","used":1,"size":-2"#, "/size"),
            (r#","used":1,"size":2,"cost":{"amount":1}"#, "/cost"),
            (r#","used":1,"size":2,"cost":{"currency":"USD"}"#, "/cost"),
        ] {
            let it = updates(&[body]);
            assert_eq!(
                of_area(&it),
                [format!("USAGE-01@4/params/update{path}")],
                "{body}"
            );
        }
    }

    #[test]
    fn a_currency_that_is_no_code_fails() {
        for code in ["usd", "$", "USDT", "ZZZ", "", "US DOLLAR"] {
            let it = updates(&[&format!(
                r#","used":1,"size":2,"cost":{{"amount":1,"currency":"{code}"}}"#
            )]);
            assert_eq!(
                of_area(&it),
                ["USAGE-01@4/params/update/cost/currency"],
                "{code}"
            );
        }
    }

    #[test]
    fn figures_that_make_no_sense_are_noted() {
        let it = updates(&[
            r#","used":3,"size":2"#,
            r#","used":0,"size":0"#,
            r#","used":1,"size":2,"cost":{"amount":2,"currency":"EUR"}"#,
            r#","used":1,"size":2,"cost":{"amount":1,"currency":"EUR"}"#,
            r#","used":1,"size":2,"cost":{"amount":0.5,"currency":"USD"}"#,
        ]);
        assert_eq!(failures(&it), [""; 0]);
        assert_eq!(notes(&it, "USAGE-02"), 3);
    }

    const LOADABLE: &str = r#"
        > {"id":0,"method":"initialize","params":{"protocolVersion":1}}
        < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true},"loadSession":true},"agentInfo":{"name":"a","version":"1"},"authMethods":[]}}
        > {"id":1,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}
        < {"id":1,"result":{"sessionId":"s1"}}
    "#;
    const TOLD: &str = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"usage_update","used":1,"size":2}}}"#;
    const LOAD: &str = r#"
        > {"id":2,"method":"session/load","params":{"sessionId":"s1","cwd":"/project","mcpServers":[]}}
        < {"id":2,"result":{}}
    "#;

    fn loaded(lines: &[&str]) -> Judgement {
        judged(&format!("{LOADABLE}\n{}", lines.join("\n")))
    }

    #[test]
    fn usage_is_told_again_after_a_load() {
        let it = loaded(&[TOLD, LOAD, TOLD, "wait 1", ">x"]);
        assert_eq!(failures(&it), [""; 0]);
        assert!(holds(&it, "USAGE-03"));
        let it = loaded(&[TOLD, LOAD, "wait 1", ">x"]);
        assert_eq!(failures(&it), ["USAGE-03@6"]);
        // An agent that never told it need not.
        assert_eq!(failures(&loaded(&[LOAD, "wait 1", ">x"])), [""; 0]);
    }

    #[test]
    fn a_client_that_goes_on_at_once_leaves_it_open_whether_usage_would_have_come() {
        let prompt = r#"> {"id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"x"}]}}"#;
        let end = r#"< {"id":3,"result":{"stopReason":"end_turn"}}"#;
        // What comes before anything of the turn was only read late.
        let it = loaded(&[TOLD, LOAD, "wait 1", prompt, TOLD, end]);
        assert!(holds(&it, "USAGE-03"));
        let said = r#"< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}"#;
        let it = loaded(&[TOLD, LOAD, "wait 1", prompt, said, end, TOLD]);
        assert_eq!(failures(&it), ["USAGE-03@6"]);
        let it = loaded(&[TOLD, LOAD, prompt, end]);
        assert_eq!(
            it.get("USAGE-03").map(|tally| tally.inconclusive.len()),
            Some(1)
        );
    }
}
