//! Which headers pass.

use hyper::HeaderMap;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING,
};

/// Headers that are about one connection only.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
];

/// The headers of a request as the server upstream is to see them: the agent's own, but that the reply is not to be
/// compressed, since it could not be read then.
pub(super) fn of_request(headers: &HeaderMap) -> HeaderMap {
    let mut passed = end_to_end(headers);
    passed.remove(HOST);
    if headers.contains_key(TRANSFER_ENCODING) {
        passed.remove(CONTENT_LENGTH);
    }
    passed.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    passed
}

/// The headers of a message without those that are about its connection.
pub(super) fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    headers
        .iter()
        .filter(|(name, _)| !HOP_BY_HOP.contains(&name.as_str()) && !named.contains(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_the_connection_stays_and_the_rest_passes() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer x"),
            ("connection", "close, x-mine"),
            ("x-mine", "1"),
            ("host", "127.0.0.1"),
            ("accept-encoding", "gzip, br"),
            ("x-stainless-lang", "js"),
        ] {
            headers.insert(name, value.parse().unwrap());
        }
        let passed = of_request(&headers);
        let mut names: Vec<_> = passed.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["accept-encoding", "authorization", "x-stainless-lang"]
        );
        assert_eq!(passed["accept-encoding"], "identity");
    }
}
