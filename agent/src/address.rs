//! Addresses: of pages that a user is sent to, and of this machine.

use std::net::IpAddr;

use reqwest::Url;

/// Names of members of a query that hold secrets or personal data.
const PRIVATE: [&str; 6] = [
    "token",
    "access_token",
    "api_key",
    "password",
    "secret",
    "email",
];

/// Whether a user may be sent to an address: an absolute one over TLS, or on this machine, without
/// secrets or personal data (ELICIT-07, ELICIT-09, ELICIT-10).
///
/// # Errors
///
/// Says what is wrong, for the model, without the address, which may hold a secret.
pub(crate) fn check(address: &str) -> Result<(), String> {
    let refused = |reason: &str| Err(format!("[the page cannot be shown: {reason}]"));
    let Ok(url) = Url::parse(address) else {
        return refused("its address has to be absolute, like `https://example.org/page`");
    };
    let host = url.host_str().unwrap_or_default();
    match url.scheme() {
        _ if host.is_empty() => return refused("its address has no host"),
        "https" => {}
        "http" if is_on_this_machine(&url) => {}
        _ => return refused("its address has to begin with `https://`"),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused("its address holds a user name or a password");
    }
    let private = url
        .query_pairs()
        .find(|(name, value)| !value.is_empty() && PRIVATE.contains(&&*name.to_lowercase()));
    match private {
        Some((name, _)) => refused(&format!("its address holds `{name}`")),
        None => Ok(()),
    }
}

/// Whether an address leads to the loopback.
pub(crate) fn is_on_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_over_tls_and_on_this_machine_are_shown() {
        for address in [
            "https://example.org",
            "https://example.org/a?step=2&token=",
            "http://localhost:8000/",
            "http://127.0.0.1/a",
            "http://[::1]/",
        ] {
            assert_eq!(check(address), Ok(()), "{address}");
        }
    }

    #[test]
    fn other_addresses_are_refused_and_not_repeated() {
        for address in [
            "",
            "page",
            "/page",
            "https://",
            "http://example.org/",
            "file:///etc/passwd",
            "data:text/html,hello",
            "javascript:alert(1)",
            "https://ann@example.org/",
            "https://:word@example.org/",
            "https://example.org/?Token=abcd",
            "https://example.org/?a=b&email=c",
        ] {
            let reason = check(address).unwrap_err();
            assert!(
                address.len() < 9 || !reason.contains(address),
                "{address}: {reason}"
            );
        }
    }
}
