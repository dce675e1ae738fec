//! Secrets that are known by their form: a prefix that tells who gave them out, and what follows it.

/// What may follow a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Letters and digits.
    Letters,
    /// Capitals and digits.
    Capitals,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    Dashed,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// What a header may carry: the characters of base64 in each of its alphabets, `.`, `~` and `-`.
    Header,
    /// The lines of a key in base64, also where the line breaks are written as `\n`.
    Key,
    /// What ends at white space, a quote, a bracket or the like.
    Open,
    /// What ends at a line break or a quote.
    Quoted,
}

impl Body {
    /// Whether a byte may be part of it.
    pub(super) fn holds(self, byte: u8) -> bool {
        match self {
            Self::Letters => byte.is_ascii_alphanumeric(),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Header => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
            }
            Self::Key => {
                byte.is_ascii_alphanumeric()
                    || matches!(
                        byte,
                        b'+' | b'/' | b'=' | b'\\' | b'\n' | b'\r' | b' ' | b':' | b','
                    )
            }
            Self::Open => {
                !byte.is_ascii_whitespace()
                    && !matches!(
                        byte,
                        b'"' | b'\''
                            | b'`'
                            | b','
                            | b';'
                            | b'&'
                            | b'('
                            | b')'
                            | b'['
                            | b']'
                            | b'{'
                            | b'}'
                            | b'<'
                            | b'>'
                            | b'\\'
                            | b'|'
                    )
            }
            Self::Quoted => !matches!(byte, b'"' | b'\'' | b'`' | b'\n' | b'\r'),
        }
    }
}

/// How far bodies reach in a text. Each part of it is looked at once only, however many prefixes are in it.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    pub(super) text: &'a [u8],
    known: [(usize, usize); BODIES],
}

const BODIES: usize = Body::Quoted as usize + 1;

impl<'a> Runs<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        Self {
            text,
            known: [(0, 0); BODIES],
        }
    }

    /// What stands from `from` on.
    pub(super) fn rest(&self, from: usize) -> &'a [u8] {
        self.text.get(from..).unwrap_or_default()
    }

    /// What fits from `from` on, and whether it reaches the end of the text.
    pub(super) fn run(&mut self, body: Body, from: usize) -> (&'a [u8], bool) {
        let Some(known) = self.known.get_mut(body as usize) else {
            return (b"", false);
        };
        if !(known.0..known.1).contains(&from) {
            let rest = self.text.get(from..).unwrap_or_default();
            let length = rest.iter().position(|byte| !body.holds(*byte));
            *known = (from, from + length.unwrap_or(rest.len()));
        }
        let own = self.text.get(from..known.1).unwrap_or_default();
        (own, known.1 >= self.text.len())
    }
}

/// What must hold beside the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing: the prefix says enough.
    Any,
    /// A digit or a capital, as the prefix also begins words.
    Random,
    /// Parts of base64 with dots between.
    Jwt,
}

/// A form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) prefix: &'static str,
    pub(super) body: Body,
    /// The least length of the body.
    pub(super) least: usize,
    look: Look,
}

const fn form(prefix: &'static str, body: Body, least: usize, look: Look) -> Form {
    Form {
        prefix,
        body,
        least,
        look,
    }
}

/// The forms.
pub(super) const FORMS: &[Form] = &[
    // Models.
    form("sk-", Body::Dashed, 8, Look::Random),
    form("sk-ant-", Body::Dashed, 8, Look::Any),
    form("sk-proj-", Body::Dashed, 8, Look::Any),
    form("sk-or-", Body::Dashed, 8, Look::Any),
    form("AIza", Body::Dashed, 30, Look::Any),
    form("hf_", Body::Letters, 16, Look::Any),
    form("gsk_", Body::Letters, 16, Look::Any),
    form("xai-", Body::Letters, 16, Look::Any),
    form("pplx-", Body::Letters, 16, Look::Any),
    form("nvapi-", Body::Dashed, 16, Look::Any),
    form("tvly-", Body::Dashed, 12, Look::Random),
    form("r8_", Body::Letters, 16, Look::Any),
    form("csk-", Body::Letters, 16, Look::Any),
    // Code.
    form("ghp_", Body::Letters, 16, Look::Any),
    form("gho_", Body::Letters, 16, Look::Any),
    form("ghu_", Body::Letters, 16, Look::Any),
    form("ghs_", Body::Letters, 16, Look::Any),
    form("ghr_", Body::Letters, 16, Look::Any),
    form("github_pat_", Body::Word, 16, Look::Any),
    form("glpat-", Body::Dotted, 12, Look::Any),
    form("glptt-", Body::Dotted, 12, Look::Any),
    form("gldt-", Body::Dotted, 12, Look::Any),
    form("glrt-", Body::Dotted, 12, Look::Any),
    form("npm_", Body::Letters, 20, Look::Random),
    form("pypi-", Body::Dashed, 32, Look::Random),
    form("dop_v1_", Body::Letters, 16, Look::Any),
    // Clouds and services.
    form("AKIA", Body::Capitals, 16, Look::Any),
    form("ASIA", Body::Capitals, 16, Look::Any),
    form("ya29.", Body::Dotted, 16, Look::Any),
    form("xoxb-", Body::Dashed, 10, Look::Any),
    form("xoxp-", Body::Dashed, 10, Look::Any),
    form("xoxa-", Body::Dashed, 10, Look::Any),
    form("xoxr-", Body::Dashed, 10, Look::Any),
    form("xoxs-", Body::Dashed, 10, Look::Any),
    form("xoxe-", Body::Dashed, 10, Look::Any),
    form("xapp-", Body::Dashed, 10, Look::Any),
    form("sk_live_", Body::Letters, 10, Look::Any),
    form("sk_test_", Body::Letters, 10, Look::Any),
    form("rk_live_", Body::Letters, 10, Look::Any),
    form("rk_test_", Body::Letters, 10, Look::Any),
    form("whsec_", Body::Header, 16, Look::Any),
    form("SG.", Body::Dotted, 32, Look::Random),
    form("shpat_", Body::Letters, 16, Look::Any),
    form("lin_api_", Body::Letters, 16, Look::Any),
    form("ATATT3x", Body::Header, 32, Look::Any),
    form("AGE-SECRET-KEY-", Body::Capitals, 16, Look::Any),
    // Anything that is signed.
    form("eyJ", Body::Dotted, 20, Look::Jwt),
];

impl Form {
    /// Whether a body that is as long as it will get makes a secret.
    pub(super) fn fits(&self, body: &[u8]) -> bool {
        body.len() >= self.least && self.looks(body)
    }

    /// Whether a body that is not all there yet may be the beginning of one, and is long enough to be worth hiding.
    pub(super) fn may_begin(&self, body: &[u8]) -> bool {
        match self.look {
            Look::Jwt => body.len() >= self.least,
            Look::Any | Look::Random => self.looks(body),
        }
    }

    fn looks(&self, body: &[u8]) -> bool {
        let body = start_of(body);
        match self.look {
            Look::Any => true,
            Look::Random => {
                body.iter().any(u8::is_ascii_digit)
                    || body.len() >= 20
                        && body.iter().any(u8::is_ascii_uppercase)
                        && body.iter().any(u8::is_ascii_lowercase)
                    || body.len() >= 20 && !body.contains(&b'-')
            }
            Look::Jwt => {
                let mut parts = body.split(|byte| *byte == b'.');
                let long = |part: Option<&[u8]>| part.is_some_and(|part| part.len() >= 8);
                long(parts.next()) && long(parts.next())
            }
        }
    }
}

/// As much of a body as is needed to tell what it looks like.
fn start_of(body: &[u8]) -> &[u8] {
    body.get(..1024).unwrap_or(body)
}

/// Whether a word looks like chance made it: letters and digits, eight or more.
pub(super) fn is_random(word: &[u8]) -> bool {
    let word = start_of(word);
    word.len() >= 8
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_a_prefix_of_its_own() {
        for (index, form) in FORMS.iter().enumerate() {
            assert!(form.prefix.len() >= 3);
            assert!(
                FORMS
                    .iter()
                    .skip(index + 1)
                    .all(|other| other.prefix != form.prefix)
            );
        }
    }
}
