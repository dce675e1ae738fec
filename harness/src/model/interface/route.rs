//! Which interface a request is for, by its method, path and headers.

use super::Interface;
use super::chat::Chat;
use super::gemini::Gemini;
use super::messages::Messages;
use super::responses::Responses;

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
    /// Whether anybody is there.
    Greeting,
}

/// A request that is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served<'a> {
    /// By which interface.
    pub(crate) interface: &'static dyn Interface,
    /// What it wants.
    pub(crate) purpose: Purpose<'a>,
}

/// What is posted to, by the end of its path, with the interface and what is wanted.
const POSTED: &[(&str, &dyn Interface, Purpose<'static>)] = &[
    ("/chat/completions", &Chat, Purpose::Reply),
    ("/responses", &Responses, Purpose::Reply),
    ("/responses/input_tokens", &Responses, Purpose::Count),
    ("/messages", &Messages, Purpose::Reply),
    ("/messages/count_tokens", &Messages, Purpose::Count),
    (":generateContent", &Gemini, Purpose::Reply),
    (":streamGenerateContent", &Gemini, Purpose::Reply),
    (":countTokens", &Gemini, Purpose::Count),
];

/// By what a client shows its family in a request that all families have, such as the list of models: a header, or the
/// beginning of the path, or of a parameter of its query. Who shows nothing is of OpenAI's.
const SHOWN: &[(Shown, &dyn Interface)] = &[
    (Shown::Path("/v1beta"), &Gemini),
    (Shown::Path("/v1alpha"), &Gemini),
    (Shown::Header("x-goog-api-key"), &Gemini),
    (Shown::Header("x-goog-api-client"), &Gemini),
    (Shown::Query("key="), &Gemini),
    (Shown::Path("/v1/messages"), &Messages),
    (Shown::Header("anthropic-version"), &Messages),
    (Shown::Header("x-api-key"), &Messages),
];

#[derive(Clone, Copy, Debug)]
enum Shown {
    Path(&'static str),
    Header(&'static str),
    Query(&'static str),
}

/// What a request is for; `None` where it is not served. `path` may have a query; `has` says whether there is a header
/// of that name.
pub(crate) fn served<'a>(
    method: &str,
    path: &'a str,
    has: impl Fn(&str) -> bool,
) -> Option<Served<'a>> {
    let plain = plain(path);
    if method == "POST" {
        let row = POSTED.iter().find(|(end, ..)| plain.ends_with(end));
        return row.map(|(_, interface, purpose)| Served {
            interface: *interface,
            purpose: *purpose,
        });
    }
    if method != "GET" && method != "HEAD" {
        return None;
    }
    let purpose = match plain.split_once("/models/") {
        _ if plain.is_empty() => Purpose::Greeting,
        Some((_, name)) => Purpose::Model(name),
        None if plain.ends_with("/models") => Purpose::Models,
        None => return None,
    };
    Some(Served {
        interface: family(path, has),
        purpose,
    })
}

/// Whose client sends a request that is of no interface in particular.
pub(crate) fn family(path: &str, has: impl Fn(&str) -> bool) -> &'static dyn Interface {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let shown = SHOWN.iter().find(|(shown, _)| match shown {
        Shown::Path(start) => path.starts_with(start),
        Shown::Header(name) => has(name),
        Shown::Query(start) => query.split('&').any(|pair| pair.starts_with(start)),
    });
    shown.map_or(&Chat, |(_, interface)| *interface)
}

/// By which interface a request is made, whether it is served or not: its path tells, else what it shows.
pub(crate) fn of_request(path: &str, has: impl Fn(&str) -> bool) -> &'static dyn Interface {
    match served("POST", path, &has) {
        Some(served) => served.interface,
        None => family(path, has),
    }
}

/// The interface of a recorded request for a reply; `None` where it is another request.
pub(crate) fn replying(path: &str) -> Option<&'static dyn Interface> {
    served("POST", path, |_| false)
        .filter(|served| served.purpose == Purpose::Reply)
        .map(|served| served.interface)
}

/// The path without its query, and without `/` at its end.
fn plain(path: &str) -> &str {
    let path = path.split('?').next().unwrap_or_default();
    path.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(method: &str, path: &str, header: &str) -> Option<String> {
        let served = served(method, path, |name| name == header)?;
        Some(format!("{:?} {:?}", served.interface, served.purpose))
    }

    #[test]
    fn paths_and_headers_tell_interface_and_purpose() {
        for (method, path, header, wanted) in [
            ("POST", "/v1/chat/completions", "", "Chat Reply"),
            ("POST", "/chat/completions/", "", "Chat Reply"),
            ("POST", "/v1/responses", "", "Responses Reply"),
            ("POST", "/v1/responses/input_tokens", "", "Responses Count"),
            ("POST", "/v1/messages?beta=true", "", "Messages Reply"),
            (
                "POST",
                "/v1/messages/count_tokens?beta=true",
                "",
                "Messages Count",
            ),
            (
                "POST",
                "/v1beta/models/x:generateContent",
                "",
                "Gemini Reply",
            ),
            (
                "POST",
                "/v1/models/x:streamGenerateContent?alt=sse",
                "",
                "Gemini Reply",
            ),
            ("POST", "/v1beta/models/x:countTokens", "", "Gemini Count"),
            ("GET", "/v1/models", "", "Chat Models"),
            ("GET", "/models?limit=5", "", "Chat Models"),
            ("GET", "/v1/models", "anthropic-version", "Messages Models"),
            ("GET", "/v1/models", "x-goog-api-key", "Gemini Models"),
            ("GET", "/v1beta/models?pageSize=5", "", "Gemini Models"),
            ("GET", "/v1/models?key=k", "", "Gemini Models"),
            ("GET", "/v1/models/a/b", "", "Chat Model(\"a/b\")"),
            ("HEAD", "/", "", "Chat Greeting"),
        ] {
            let found = interface(method, path, header);
            assert_eq!(found.as_deref(), Some(wanted), "{method} {path} {header}");
        }
    }

    #[test]
    fn other_requests_are_not_served() {
        for (method, path) in [
            ("GET", "/v1/responses/resp_1"),
            ("POST", "/v1/embeddings"),
            ("POST", "/v1/models/x:embedContent"),
            ("DELETE", "/v1/models/x"),
        ] {
            assert_eq!(interface(method, path, ""), None, "{method} {path}");
        }
    }

    #[test]
    fn a_recorded_path_is_enough_for_a_reply() {
        assert!(replying("/v1/messages?beta=true").is_some());
        assert!(replying("/v1/messages/count_tokens").is_none());
        assert!(replying("/v1/models").is_none());
    }
}
