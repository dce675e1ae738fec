//! What a request is to be answered with.

use std::io;

use hyper::StatusCode;
use hyper::http::request;

use super::asked::Asked;
use super::cassette::NOT_RECORDED;
use super::interface::{self, ErrorReply, Headers, Interface, MODEL, Purpose, Trouble};
use super::server::Shared;
use super::turns::Turn;

/// What an exchange has to do.
pub(crate) enum Job {
    /// Send one body, of JSON.
    Send {
        interface: &'static dyn Interface,
        status: StatusCode,
        body: String,
        headers: Headers,
    },
    /// Reply to what was asked; `turn` where the reply is one of the script.
    Reply {
        interface: &'static dyn Interface,
        asked: Box<Asked>,
        turn: Turn,
    },
}

impl Job {
    /// Send an error.
    fn fail(interface: &'static dyn Interface, trouble: Trouble, message: Option<&str>) -> Self {
        let error = interface.error(trouble, message);
        Self::Send {
            interface,
            status: status(&error),
            body: error.body,
            headers: error.headers,
        }
    }
}

pub(crate) fn status(error: &ErrorReply) -> StatusCode {
    StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// What a request is to be answered with, and what it was taken for where it is no turn of the script.
pub(crate) fn job(
    shared: &Shared,
    head: &request::Parts,
    path: &str,
    body: Option<&str>,
) -> io::Result<(Job, Option<&'static str>)> {
    let method = &head.method;
    let has = |name: &str| head.headers.contains_key(name);
    let Some(served) = interface::served(method.as_str(), path, has) else {
        let plain = path.split('?').next().unwrap_or_default();
        let message = format!("{method} {plain} is not served here.");
        shared.state.send_modify(|state| {
            state
                .unserved
                .get_or_insert_with(|| format!("{method} {plain}"));
        });
        let job = Job::fail(
            interface::family(path, has),
            Trouble::Status(404),
            Some(&message),
        );
        return Ok((job, Some("not served")));
    };
    let interface = served.interface;
    let Some(body) = body else {
        let job = Job::fail(interface, Trouble::Status(413), None);
        return Ok((job, Some("too large")));
    };
    let fine = |body: String| Job::Send {
        interface,
        status: StatusCode::OK,
        body,
        headers: &[],
    };
    match served.purpose {
        Purpose::Models => {
            let last = shared.memory().model.clone();
            let mut names: Vec<&str> = last.as_deref().into_iter().chain([MODEL]).collect();
            names.dedup();
            return Ok((fine(interface.models(&names)), Some("models")));
        }
        Purpose::Model(name) => return Ok((fine(interface.model(name)), Some("models"))),
        Purpose::Greeting => return Ok((fine("{}".to_owned()), Some("greeting"))),
        Purpose::Reply | Purpose::Count => {}
    }
    let asked = match interface.asked(path, body) {
        Ok(asked) => Box::new(asked),
        Err(message) => {
            let job = Job::fail(interface, Trouble::Status(400), Some(&message));
            return Ok((job, Some("not understood")));
        }
    };
    if served.purpose == Purpose::Count {
        let count = interface.count(tokens(body)).unwrap_or_default();
        shared.state.send_modify(|state| state.side_requests += 1);
        return Ok((fine(count), Some("token count")));
    }
    let mut memory = shared.memory();
    memory.model = Some(asked.model.clone());
    let turn = memory.take(&asked);
    let aside = match &turn {
        Turn::Side(reason) | Turn::Aside(reason, _) => Some(*reason),
        Turn::Miss(_) => Some(NOT_RECORDED),
        Turn::Reply(..) | Turn::Beyond | Turn::Refuse => None,
    };
    shared.state.send_modify(|state| {
        state.told = memory.told().to_vec();
        if aside.is_some() {
            state.side_requests += 1;
        } else {
            state.requests += 1;
            state.beyond += u64::from(turn == Turn::Beyond);
            state.by_arrival = memory.turns.by_arrival();
            state.offered = asked.tools.as_slice().into();
            state.remember(body);
        }
    });
    shared.follow(&memory)?;
    if turn == Turn::Refuse {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    let job = Job::Reply {
        interface,
        asked,
        turn,
    };
    Ok((job, aside))
}

/// About how many tokens a request has.
fn tokens(body: &str) -> u64 {
    u64::try_from(body.len() / 4).unwrap_or(u64::MAX).max(1)
}
