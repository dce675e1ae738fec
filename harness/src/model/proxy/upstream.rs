//! Which real model server gets a request.

use std::str::FromStr;

use hyper::HeaderMap;
use url::Url;

use crate::model::family::Family;
use crate::model::interface;

/// A word of the command line: a real model server, of one family or of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    family: Option<Family>,
    url: Url,
}

impl FromStr for Upstream {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = text
            .split_once('=')
            .filter(|(name, _)| !name.contains([':', '/']));
        let (family, address) = match named {
            None => (None, text),
            Some((name, address)) => {
                let Some(family) = Family::named(name) else {
                    return Err(format!(
                        "`{name}` is none of the families {}",
                        Family::names().join(", ")
                    ));
                };
                (Some(family), address)
            }
        };
        let url = Url::parse(address).map_err(|error| {
            format!("`{address}` is no URL ({error}); write it as `https://api.example.com/v1`")
        })?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(format!("`{address}` is no address of http or https"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(format!(
                "`{address}` has a part behind `?` or `#`; give the address without it"
            ));
        }
        Ok(Self { family, url })
    }
}

/// The real model servers, by family.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upstreams {
    given: Vec<Upstream>,
}

impl Upstreams {
    /// Those that were given; `None` where there is none.
    ///
    /// # Errors
    /// Two of them are for one family.
    pub fn new(given: Vec<Upstream>) -> Result<Option<Self>, String> {
        for (place, one) in given.iter().enumerate() {
            if given.iter().take(place).any(|it| it.family == one.family) {
                let which = one.family.map(Family::name);
                let which = which.map_or("all families".to_owned(), |name| format!("`{name}`"));
                return Err(format!("two model servers are given for {which}"));
            }
        }
        Ok((!given.is_empty()).then_some(Self { given }))
    }

    /// Whether a variable leads to a model server that is given here.
    pub(crate) fn is_led_by(&self, variable: &str) -> bool {
        Family::of_variable(variable).is_some_and(|family| self.of(family).is_some())
    }

    /// The address upstream for a request; `None` where no server is given for its family.
    pub(super) fn address(
        &self,
        path: &str,
        query: Option<&str>,
        headers: &HeaderMap,
    ) -> Option<Url> {
        let family = family(path, query, headers);
        let upstream = self.of(family)?;
        let root = family.root();
        let mut base = upstream.url.path().trim_end_matches('/').to_owned();
        let below = path.strip_prefix(root).unwrap_or(path);
        match upstream.family {
            // What the variable of the family would hold.
            Some(Family::OpenAi) => {}
            // The root of a server that has all of them, with or without the usual end.
            None if family == Family::OpenAi && !base.ends_with(root) => base.push_str(root),
            None if family == Family::OpenAi => {}
            // These paths begin with the version.
            _ => base.truncate(base.strip_suffix("/v1").map_or(base.len(), str::len)),
        }
        let mut url = upstream.url.clone();
        url.set_path(&format!("{base}{below}"));
        url.set_query(query);
        Some(url)
    }

    fn of(&self, family: Family) -> Option<&Upstream> {
        let own = self.given.iter().find(|it| it.family == Some(family));
        own.or_else(|| self.given.iter().find(|it| it.family.is_none()))
    }
}

/// The family of a request, by its path with its query and, where two share it, its headers.
fn family(path: &str, query: Option<&str>, headers: &HeaderMap) -> Family {
    let whole = query.map_or(path.to_owned(), |query| format!("{path}?{query}"));
    interface::of_request(&whole, |name| headers.contains_key(name)).family()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstreams(words: &[&str]) -> Upstreams {
        let given = words.iter().map(|word| word.parse().unwrap()).collect();
        Upstreams::new(given).unwrap().unwrap()
    }

    fn address(words: &[&str], path: &str) -> Option<String> {
        let url = upstreams(words).address(path, None, &HeaderMap::new())?;
        Some(url.to_string())
    }

    #[test]
    fn one_server_for_all_gets_each_family_below_its_usual_path() {
        for root in ["http://h:1", "http://h:1/", "http://h:1/v1"] {
            let at = |path| address(&[root], path).unwrap();
            assert_eq!(at("/v1/chat/completions"), "http://h:1/v1/chat/completions");
            assert_eq!(at("/v1/messages"), "http://h:1/v1/messages");
            assert_eq!(
                at("/v1beta/models/m:generateContent"),
                "http://h:1/v1beta/models/m:generateContent"
            );
        }
        assert_eq!(
            address(&["https://h/api/v1"], "/v1/messages").unwrap(),
            "https://h/api/v1/messages"
        );
    }

    #[test]
    fn a_server_of_a_family_gets_what_its_variable_would_lead_to() {
        let own = ["openai=https://h/v1beta/openai", "anthropic=https://a/x"];
        assert_eq!(
            address(&own, "/v1/chat/completions").unwrap(),
            "https://h/v1beta/openai/chat/completions"
        );
        assert_eq!(
            address(&own, "/v1/messages").unwrap(),
            "https://a/x/v1/messages"
        );
        assert_eq!(address(&own, "/v1beta/models/m:generateContent"), None);
        assert!(upstreams(&own).is_led_by("ANTHROPIC_BASE_URL"));
        assert!(!upstreams(&own).is_led_by("GOOGLE_GEMINI_BASE_URL"));
    }

    #[test]
    fn a_path_that_two_families_share_is_told_by_its_headers() {
        let mut headers = HeaderMap::new();
        assert_eq!(family("/v1/models", None, &headers), Family::OpenAi);
        headers.insert("anthropic-version", "2023-06-01".parse().unwrap());
        assert_eq!(family("/v1/models", None, &headers), Family::Anthropic);
    }

    #[test]
    fn what_is_no_address_is_refused_in_a_sentence() {
        for (word, wanted) in [
            ("api.example.com", "is no URL"),
            ("ftp://h/", "no address of http or https"),
            ("opnai=https://h", "none of the families"),
            ("https://h/v1?key=x", "behind `?`"),
        ] {
            let error = word.parse::<Upstream>().unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
        let twice = vec!["https://a".parse().unwrap(), "https://b".parse().unwrap()];
        assert!(
            Upstreams::new(twice)
                .unwrap_err()
                .contains("two model servers")
        );
    }
}
