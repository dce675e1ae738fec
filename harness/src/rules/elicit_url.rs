//! ELICIT-07, -09 and -10: the URLs of elicitations.

use serde_json::Value;
use url::{Host, Url};

use super::quote::quote;
use super::{Moment, Out};

const VALID: &str = "ELICIT-07";
const NO_CREDENTIALS: &str = "ELICIT-09";
const HTTPS: &str = "ELICIT-10";

const PLACE: &str = "/params/url";

/// Keys of a query that hold credentials or personal data, in lower case.
const TELLING: [&str; 12] = [
    "token",
    "access_token",
    "refresh_token",
    "id_token",
    "api_key",
    "apikey",
    "api-key",
    "password",
    "passwd",
    "secret",
    "client_secret",
    "email",
];

/// ELICIT-07 (schema/v1/schema.json#/$defs/ElicitationUrlMode): an id, and an absolute URL with scheme and host.
///
/// ELICIT-09 (docs/protocol/v1/elicitation.mdx#url-security): no user or password in the URL, and no value under a key of
/// the query that tells of credentials or personal data.
///
/// ELICIT-10 (same section): http only to the machine itself.
pub(super) fn judge(moment: &Moment<'_>, params: &Value, out: &mut Out<'_>) {
    let has_id = params.get("elicitationId").is_some_and(Value::is_string);
    if !has_id {
        out.fail(
            VALID,
            moment.at("/params"),
            "the request to visit a URL has no `elicitationId`, which must be a string",
        );
    }
    let Some(text) = params.get("url").and_then(Value::as_str) else {
        out.fail(
            VALID,
            moment.at("/params"),
            "the request to visit a URL has no `url`, which must be a string",
        );
        return;
    };
    let url = Url::parse(text).ok().filter(Url::has_host);
    let Some(url) = url else {
        out.fail(
            VALID,
            moment.at(PLACE),
            format!(
                "the URL {} is not absolute with scheme and host, which it must be",
                quote(text)
            ),
        );
        return;
    };
    if has_id {
        out.pass(VALID);
    }
    credentials(moment, &url, out);
    if matches!(url.scheme(), "http" | "https") {
        let sound = url.scheme() == "https" || is_loopback(&url);
        out.check(HTTPS, sound, moment.at(PLACE), || {
            format!(
                "the URL leads to {} without encryption, where https should be used",
                quote(url.host_str().unwrap_or_default())
            )
        });
    }
}

fn credentials(moment: &Moment<'_>, url: &Url, out: &mut Out<'_>) {
    let user = !url.username().is_empty() || url.password().is_some();
    let key = url.query_pairs().find_map(|(key, value)| {
        let telling = TELLING.contains(&key.to_lowercase().as_str()) && !value.is_empty();
        telling.then(|| key.into_owned())
    });
    // The values themselves are not repeated.
    out.check(NO_CREDENTIALS, !user && key.is_none(), moment.at(PLACE), || {
        match key {
            Some(key) => format!(
                "the query of the URL has a value for {}, where URLs must not hold credentials or personal data",
                quote(&key)
            ),
            None => "the URL holds a user name or password, where URLs must not hold credentials".to_owned(),
        }
    });
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Judgement;
    use super::super::talking::{failed, judged};
    use super::*;

    fn asked(members: &str) -> Judgement {
        judged(&format!(
            r#"
            > {{"id":0,"method":"initialize","params":{{"protocolVersion":1,"clientCapabilities":{{"elicitation":{{"url":{{}}}}}}}}}}
            < {{"id":0,"result":{{"protocolVersion":1,"agentCapabilities":{{"mcpCapabilities":{{"http":true}}}},"agentInfo":{{"name":"a","version":"1"}},"authMethods":[]}}}}
            > {{"id":1,"method":"session/new","params":{{"cwd":"/project","mcpServers":[]}}}}
            < {{"id":1,"result":{{"sessionId":"s1"}}}}
            < {{"id":5,"method":"elicitation/create","params":{{"sessionId":"s1","mode":"url","message":"Visit",{members}}}}}
            "#
        ))
    }

    fn failures(members: &str) -> Vec<(&'static str, String)> {
        failed(&asked(members))
            .into_iter()
            .filter(|(id, ..)| id.starts_with("ELICIT"))
            .map(|(id, _, path)| (id, path))
            .collect()
    }

    fn of(url: &str) -> Vec<(&'static str, String)> {
        failures(&format!(r#""elicitationId":"e","url":"{url}""#))
    }

    #[test]
    fn a_plain_https_url_passes() {
        let judgement =
            asked(r#""elicitationId":"e","url":"https://example.org/auth?state=x&token=""#);
        assert!(failed(&judgement).is_empty(), "{:?}", failed(&judgement));
        for id in [VALID, NO_CREDENTIALS, HTTPS] {
            assert_eq!(judgement.get(id).unwrap().passes, 1, "{id}");
        }
    }

    #[test]
    fn a_missing_member_or_a_url_without_host_fails() {
        assert_eq!(
            failures(r#""url":"https://example.org""#),
            [(VALID, "/params".to_owned())]
        );
        assert_eq!(
            failures(r#""elicitationId":"e""#),
            [(VALID, "/params".to_owned())]
        );
        for url in [
            "/auth",
            "example.org",
            "mailto:x@example.org",
            "",
            "https://",
        ] {
            assert_eq!(of(url), [(VALID, PLACE.to_owned())], "{url}");
        }
    }

    #[test]
    fn credentials_in_a_url_fail() {
        for url in [
            "https://me:pass@example.org/",
            "https://me@example.org/",
            "https://example.org/?access_token=x",
            "https://example.org/?a=b&API_KEY=x",
            "https://example.org/?email=me%40example.org",
        ] {
            assert_eq!(of(url), [(NO_CREDENTIALS, PLACE.to_owned())], "{url}");
        }
    }

    #[test]
    fn http_is_for_the_machine_itself() {
        assert_eq!(of("http://example.org/"), [(HTTPS, PLACE.to_owned())]);
        for url in [
            "http://localhost:8080/",
            "http://127.0.0.1/",
            "http://[::1]:9/",
        ] {
            assert!(of(url).is_empty(), "{url}");
        }
    }
}
