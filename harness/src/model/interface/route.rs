//! Which interface a request is for, by its method, path and headers.

use super::{Interface, chat::Chat};

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose<'a> {
    /// A reply of the model.
    Reply,
    /// How many tokens a request has.
    Count,
    /// The list of models.
    Models,
    /// One model.
    Model(&'a str),
}

/// A request that is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served<'a> {
    /// By which interface.
    pub(crate) interface: &'static dyn Interface,
    /// What it wants.
    pub(crate) purpose: Purpose<'a>,
}

/// The end of a path that is posted to, with the interface and what is wanted.
const POSTED: &[(&str, &dyn Interface, Purpose<'static>)] =
    &[("/chat/completions", &Chat, Purpose::Reply)];

/// What a request is for; `None` where it is not served. `path` may have a query.
pub(crate) fn served<'a>(method: &str, path: &'a str) -> Option<Served<'a>> {
    let path = path.split('?').next().unwrap_or_default();
    let path = path.trim_end_matches('/');
    match method {
        "POST" => {
            let row = POSTED.iter().find(|(end, ..)| path.ends_with(end));
            row.map(|(_, interface, purpose)| Served {
                interface: *interface,
                purpose: *purpose,
            })
        }
        "GET" => {
            let purpose = match path.split_once("/models/") {
                Some((_, name)) => Purpose::Model(name),
                None if path.ends_with("/models") => Purpose::Models,
                None => return None,
            };
            Some(Served {
                interface: &Chat,
                purpose,
            })
        }
        _ => None,
    }
}

/// The interface of a recorded request for a reply; `None` where it is another request.
pub(crate) fn replying(path: &str) -> Option<&'static dyn Interface> {
    served("POST", path)
        .filter(|served| served.purpose == Purpose::Reply)
        .map(|served| served.interface)
}

/// The interface that answers what is not served.
pub(crate) fn usual() -> &'static dyn Interface {
    &Chat
}
