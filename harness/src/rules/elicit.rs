//! ELICIT-01 to -11 and -16: what the agent asks the user through the client.

use serde_json::Value;

use super::elicit_form;
use super::elicit_url;
use super::quote::{quote, quote_json};
use super::session::{Standing, is_creating, standing};
use super::{Conversation, Moment, Open, Out, Rule};
use crate::hash::HashMap;
use crate::wire::{Id, Message};

const FORM_OFFERED: &str = "ELICIT-01";
const URL_OFFERED: &str = "ELICIT-02";
const MODE_AND_SCOPE: &str = "ELICIT-03";
const FLAT: &str = "ELICIT-04";
const STATED: &str = "ELICIT-05";
const SECRETS: &str = "ELICIT-06";
const VALID_URL: &str = "ELICIT-07";
const UNIQUE: &str = "ELICIT-08";
const NO_CREDENTIALS: &str = "ELICIT-09";
const HTTPS: &str = "ELICIT-10";
const NO_LINKS: &str = "ELICIT-11";
const COMPLETED: &str = "ELICIT-16";

/// So many ids of URL elicitations are remembered; beyond them those that are over are forgotten.
const REMEMBERED: usize = 10_000;

/// ELICIT-01, -02 (docs/protocol/v1/elicitation.mdx#checking-support): a mode that the client did not announce. They pass
/// when a turn went by without one.
///
/// ELICIT-03 (#creating-an-elicitation): a mode, and a scope that exists: a known session, and in it a tool call that was
/// announced (by an update or a permission request), or an open request of the client.
///
/// ELICIT-04 to -06 and -11 are on forms, ELICIT-07, -09 and -10 on URLs: see the two files beside this one.
///
/// ELICIT-08 (#url-completion): an id is outstanding until its completion, or until the client declines, cancels or fails.
///
/// ELICIT-16 (#url-completion): a completion names a URL elicitation of this connection; a second one is noted.
#[derive(Default)]
pub(super) struct Elicitations {
    form: bool,
    url: bool,
    /// Every id of a URL elicitation, and how it stands.
    urls: HashMap<String, Url>,
    /// Whether some that were over were forgotten.
    forgot: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Url {
    Outstanding,
    Over,
    Completed,
}

impl Rule for Elicitations {
    fn judges(&self) -> &'static [&'static str] {
        &[
            FORM_OFFERED,
            URL_OFFERED,
            MODE_AND_SCOPE,
            FLAT,
            STATED,
            SECRETS,
            VALID_URL,
            UNIQUE,
            NO_CREDENTIALS,
            HTTPS,
            NO_LINKS,
            COMPLETED,
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if let Some((open, message)) = moment.client_answer_to("elicitation/create") {
            self.client_answered(open, message);
            return;
        }
        let Some(message) = moment.agent_message() else {
            return;
        };
        if !moment.talk.is_version_one() {
            return;
        }
        match message.method() {
            Some("elicitation/create") => self.create(moment, message, out),
            Some("elicitation/complete") => self.complete(moment, message, out),
            _ => {}
        }
    }

    fn end(&mut self, talk: &Conversation, out: &mut Out<'_>) {
        let ran = talk.sessions().any(|(_, session)| session.turns_ended > 0);
        for (id, asked) in [(FORM_OFFERED, self.form), (URL_OFFERED, self.url)] {
            if ran && !asked {
                out.pass(id);
            }
        }
    }
}

impl Elicitations {
    fn create(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        let Some(params) = message.params() else {
            return;
        };
        let mode = params.get("mode").and_then(Value::as_str);
        let mut sound = self.scope(moment, message, params, out);
        match mode {
            Some("form") => {
                self.form = true;
                out.fail(
                    FORM_OFFERED,
                    moment.at("/params/mode"),
                    "a form was asked for though the client did not announce the mode `form`",
                );
                elicit_form::judge(moment, params, out);
            }
            Some("url") => {
                self.url = true;
                out.fail(
                    URL_OFFERED,
                    moment.at("/params/mode"),
                    "a visit to a URL was asked for though the client did not announce the mode `url`",
                );
                elicit_url::judge(moment, params, out);
                self.outstanding(moment, params, out);
            }
            Some(own) if own.starts_with('_') => {}
            other => {
                sound = false;
                out.fail(
                    MODE_AND_SCOPE,
                    moment.at("/params"),
                    match other {
                        Some(mode) => format!(
                            "the mode {} is neither `form` nor `url` and does not begin with an underscore",
                            quote(mode)
                        ),
                        None => "the elicitation says no mode, which must be `form`, `url` or an own one".to_owned(),
                    },
                );
            }
        }
        if sound {
            out.pass(MODE_AND_SCOPE);
        }
    }

    /// Whether the scope is sound, or nothing can be said of it.
    fn scope(
        &self,
        moment: &Moment<'_>,
        message: &Message,
        params: &Value,
        out: &mut Out<'_>,
    ) -> bool {
        let request = params.get("requestId").filter(|id| !id.is_null());
        let session = params.get("sessionId").filter(|id| !id.is_null());
        if request.is_some() && session.is_some() {
            out.note(
                MODE_AND_SCOPE,
                moment.at("/params"),
                "the elicitation names both a session and a request",
            );
        }
        let fault = if session.is_some() {
            match message.session() {
                Some(session) => self.session_fault(moment, session, params, out),
                // Another type is JSONRPC-11's.
                None => None,
            }
        } else if let Some(request) = request {
            request_fault(moment, request, out)
        } else {
            Some((
                "/params",
                "the elicitation names neither a session nor a request that it belongs to"
                    .to_owned(),
            ))
        };
        match fault {
            None => true,
            Some((path, message)) => {
                out.fail(MODE_AND_SCOPE, moment.at(path), message);
                false
            }
        }
    }

    fn session_fault(
        &self,
        moment: &Moment<'_>,
        session: &str,
        params: &Value,
        out: &mut Out<'_>,
    ) -> Option<(&'static str, String)> {
        match standing(moment.talk, session) {
            Standing::Unclear(why) => {
                out.inconclusive(MODE_AND_SCOPE, why);
                return None;
            }
            Standing::Unknown if is_creating(moment.talk) => {
                out.inconclusive(
                    MODE_AND_SCOPE,
                    "an elicitation came while its session may have been under way",
                );
                return None;
            }
            Standing::Unknown => {
                return Some((
                    "/params/sessionId",
                    format!(
                        "the elicitation names the session {}, which is not known on this connection",
                        quote(session)
                    ),
                ));
            }
            Standing::Known => {}
        }
        let call = params.get("toolCallId").and_then(Value::as_str)?;
        let calls = moment.talk.session(session).map(|session| &session.calls);
        let announced =
            calls.is_some_and(|calls| calls.get(call).is_some() || calls.unclear().is_some());
        if announced || !moment.talk.client_can(&["elicitation"]) {
            return None;
        }
        if !moment.talk.whole {
            out.inconclusive(
                MODE_AND_SCOPE,
                "the recording begins late or lacks lines: a tool call may have been announced there",
            );
            return None;
        }
        Some((
            "/params/toolCallId",
            format!(
                "the elicitation names the tool call {}, which was not announced in its session",
                quote(call)
            ),
        ))
    }

    fn outstanding(&mut self, moment: &Moment<'_>, params: &Value, out: &mut Out<'_>) {
        let Some(id) = params.get("elicitationId").and_then(Value::as_str) else {
            return;
        };
        if self.urls.len() >= REMEMBERED {
            self.urls.retain(|_, url| *url == Url::Outstanding);
            self.forgot = true;
        }
        let before = self.urls.insert(id.to_owned(), Url::Outstanding);
        out.check(
            UNIQUE,
            before != Some(Url::Outstanding),
            moment.at("/params/elicitationId"),
            || {
                format!(
                    "the elicitation id {} is used again while it is still outstanding",
                    quote(id)
                )
            },
        );
    }

    fn client_answered(&mut self, open: &Open, message: &Message) {
        let id = open.params.get("elicitationId").and_then(Value::as_str);
        let Some(url) = id.and_then(|id| self.urls.get_mut(id)) else {
            return;
        };
        let accepted = message
            .result()
            .and_then(|result| result.get("action"))
            .and_then(Value::as_str)
            == Some("accept");
        if !accepted && *url == Url::Outstanding {
            *url = Url::Over;
        }
    }

    fn complete(&mut self, moment: &Moment<'_>, message: &Message, out: &mut Out<'_>) {
        let id = message
            .params()
            .and_then(|params| params.get("elicitationId"))
            .and_then(Value::as_str);
        let Some(id) = id else {
            return;
        };
        match self.urls.get_mut(id) {
            Some(url) => {
                if *url == Url::Completed {
                    out.note(
                        COMPLETED,
                        moment.place(),
                        "an elicitation was completed twice",
                    );
                }
                *url = Url::Completed;
                out.pass(COMPLETED);
            }
            None if self.forgot => out.inconclusive(
                COMPLETED,
                "there are so many elicitations that those that were over were forgotten",
            ),
            None if !moment.talk.whole => out.inconclusive(
                COMPLETED,
                "the recording begins late or lacks lines: an elicitation may have been made there",
            ),
            None => out.fail(
                COMPLETED,
                moment.at("/params/elicitationId"),
                format!(
                    "the completion names {}, which is no URL elicitation of this connection",
                    quote(id)
                ),
            ),
        }
    }
}

fn request_fault(
    moment: &Moment<'_>,
    request: &Value,
    out: &mut Out<'_>,
) -> Option<(&'static str, String)> {
    if moment
        .talk
        .client_request(&Id::from_value(request))
        .is_some()
    {
        return None;
    }
    if !moment.talk.whole {
        out.inconclusive(
            MODE_AND_SCOPE,
            "the recording begins late or lacks lines: a request may stand there",
        );
        return None;
    }
    Some((
        "/params/requestId",
        format!(
            "the elicitation belongs to the request {}, which is no open request of the client",
            quote_json(request)
        ),
    ))
}

#[cfg(test)]
mod tests;
