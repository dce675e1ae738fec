//! Secrets that are known by now, and their numbers.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

/// How many values are looked for everywhere.
const MOST: usize = 1_000;

/// How many bytes all of these have.
const MOST_BYTES: usize = 256 << 10;

/// How many secrets keep their number. What comes after so many gets a new number each time.
const MOST_NUMBERS: usize = 1 << 20;

/// A value that is replaced wherever it stands.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// One way in which it is written.
    pub(super) bytes: Vec<u8>,
    pub(super) stands_for: StandsFor,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StandsFor {
    /// The home folder.
    Home,
    /// The secret that is written like this.
    Secret(Vec<u8>),
}

/// What is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    values: Vec<Value>,
    bytes: usize,
    numbers: HashMap<[u64; 2], u64>,
    hashers: [RandomState; 2],
    last: u64,
}

impl Known {
    /// The values that are looked for everywhere.
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    /// The home folder, in each way in which it is written.
    pub(super) fn add_home(&mut self, home: &[u8]) {
        for bytes in written(home) {
            self.values.push(Value {
                bytes,
                stands_for: StandsFor::Home,
            });
        }
    }

    /// A secret that is looked for everywhere from now on. Returns whether that is new.
    pub(super) fn add_secret(&mut self, secret: &[u8]) -> bool {
        let is_known = self.values.iter().any(|value| value.bytes == secret);
        if is_known || self.values.len() >= MOST || self.bytes + secret.len() > MOST_BYTES {
            return false;
        }
        for bytes in written(secret) {
            self.bytes += bytes.len();
            self.values.push(Value {
                bytes,
                stands_for: StandsFor::Secret(secret.to_vec()),
            });
        }
        true
    }

    /// What stands in the place of a secret.
    pub(super) fn placeholder(&mut self, secret: &[u8]) -> String {
        let key = self
            .hashers
            .each_ref()
            .map(|hasher| hasher.hash_one(secret));
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => {
                self.last += 1;
                if self.numbers.len() < MOST_NUMBERS {
                    self.numbers.insert(key, self.last);
                }
                self.last
            }
        };
        format!("{{secret-{number}}}")
    }

    /// Takes note of a placeholder that was there before: new ones get higher numbers.
    pub(super) fn note(&mut self, number: u64) {
        self.last = self.last.max(number);
    }
}

/// The ways in which a value is written: as it is, inside a JSON text within a text, in an address.
fn written(value: &[u8]) -> Vec<Vec<u8>> {
    let mut ways = vec![value.to_vec()];
    let mut add = |way: Vec<u8>| {
        if !ways.contains(&way) {
            ways.push(way);
        }
    };
    if let Ok(text) = std::str::from_utf8(value) {
        let mut way = text.to_owned();
        for _ in 0..2 {
            let quoted = serde_json::Value::from(way.as_str()).to_string();
            way = quoted
                .get(1..quoted.len() - 1)
                .unwrap_or_default()
                .to_owned();
            add(way.clone().into_bytes());
        }
        if !text.is_ascii() {
            add(in_ascii(text).into_bytes());
        }
        if text.contains('/') {
            add(text.replace('/', "\\/").into_bytes());
        }
    }
    add(percent_encoded(value, |byte| byte == b'/'));
    add(percent_encoded(value, |_| false));
    ways
}

/// As encoders write it that keep to ASCII.
fn in_ascii(text: &str) -> String {
    let mut out = String::new();
    let mut units = [0; 2];
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

fn percent_encoded(value: &[u8], keep: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for byte in value {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(byte) || keep(*byte) {
            out.push(*byte);
        } else {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_secrets_have_equal_numbers_and_old_placeholders_keep_theirs() {
        let mut known = Known::default();
        known.note(7);
        assert_eq!(known.placeholder(b"a"), "{secret-8}");
        assert_eq!(known.placeholder(b"b"), "{secret-9}");
        assert_eq!(known.placeholder(b"a"), "{secret-8}");
    }

    #[test]
    fn a_value_is_looked_for_in_each_way_in_which_it_is_written() {
        let ways = written("p\"ß/x".as_bytes());
        for way in [
            r#"p\"ß/x"#,
            r#"p\\\"ß/x"#,
            r#"p"\u00df/x"#,
            "p%22%C3%9F%2Fx",
        ] {
            assert!(ways.iter().any(|known| known == way.as_bytes()), "{way}");
        }
        assert_eq!(written(b"abc"), [b"abc"]);
    }
}
