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
    /// Letters, digits, `_`, `-` and `/`.
    Path,
    /// Small letters and digits, as hexadecimal numbers have.
    Hex,
    /// What is in a line of a file of hashed passwords, behind the user.
    Crypt,
    /// The lines of a key in base64, also where the line breaks are written as `\n`.
    Key,
    /// What ends at white space, a quote, a bracket or the like: a value in a program.
    Open,
    /// What ends at white space: a value in a shell.
    Shell,
    /// What ends at white space or a quote.
    Credential,
    /// What ends at `&`, `#`, white space or a quote: a value in a query.
    Query,
    /// What ends at `;`, white space or a quote: a value in a list of settings.
    Setting,
    /// What ends at white space, `/`, `@` or a quote: the user's part of an address.
    Address,
    /// What ends at a line break or a quote: the value of a header.
    Line,
    /// What ends at a line break or `"`.
    Double,
    /// What ends at a line break or `'`.
    Single,
    /// What ends at a line break or a backtick.
    Tick,
    /// What ends at a line break or `<`.
    Element,
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
            Self::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Crypt => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'.' | b'/' | b'$' | b'=' | b',' | b'+' | b'-')
            }
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
                !is_space(byte)
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
            Self::Shell => !is_space(byte),
            Self::Credential => !is_space(byte) && !is_quote(byte) && byte != b'\\',
            Self::Query => {
                !is_space(byte) && !is_quote(byte) && !matches!(byte, b'&' | b'#' | b'<' | b'>')
            }
            Self::Setting => !is_space(byte) && !is_quote(byte) && byte != b';',
            Self::Address => {
                !is_space(byte)
                    && !is_quote(byte)
                    && !matches!(byte, b'/' | b'@' | b'<' | b'>' | b'\\')
            }
            Self::Line => !is_break(byte) && !is_quote(byte) && byte != b'\\',
            Self::Double => !is_break(byte) && byte != b'"',
            Self::Single => !is_break(byte) && byte != b'\'',
            Self::Tick => !is_break(byte) && byte != b'`',
            Self::Element => !is_break(byte) && byte != b'<',
        }
    }
}

/// White space, and what begins a change of colour.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x1b'
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b'\x1b')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// How far bodies reach in a text. Each part of it is looked at once only, however many prefixes are in it.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    pub(super) text: &'a [u8],
    known: [(usize, usize); BODIES],
    /// From where on a word was looked for last, and where it stands; the first is of `-----END `, the second of a line break
    /// that is written as an escape.
    words: [(usize, Option<usize>); 2],
}

const BODIES: usize = Body::Element as usize + 1;

impl<'a> Runs<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        Self {
            text,
            known: [(0, 0); BODIES],
            words: [(usize::MAX, None); 2],
        }
    }

    /// What stands from `from` on.
    pub(super) fn rest(&self, from: usize) -> &'a [u8] {
        self.text.get(from..).unwrap_or_default()
    }

    /// Where the end of a private key is announced, from `from` on.
    pub(super) fn end_of_key(&mut self, from: usize) -> Option<usize> {
        self.word(0, from, |rest| memchr::memmem::find(rest, b"-----END "))
    }

    /// Where a line break, a tab, a change of colour or a quote is written as an escape, from `from` on.
    pub(super) fn escape(&mut self, from: usize) -> Option<usize> {
        self.word(1, from, |rest| {
            memchr::memchr_iter(b'\\', rest).find(|at| {
                matches!(
                    rest.get(at + 1..),
                    Some([b'n' | b'r' | b't' | b'"', ..] | [b'u', b'0', b'0', b'1', ..])
                )
            })
        })
    }

    fn word(
        &mut self,
        which: usize,
        from: usize,
        find: impl Fn(&[u8]) -> Option<usize>,
    ) -> Option<usize> {
        let rest = self.rest(from);
        let (looked, found) = self.words.get_mut(which)?;
        if from < *looked || found.is_some_and(|found| found < from) {
            *looked = from;
            *found = find(rest).map(|at| from + at);
        }
        *found
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
    /// Digits and letters, many of them, as the prefix also begins words and names.
    Mixed,
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
    form("fw_", Body::Letters, 20, Look::Random),
    form("jina_", Body::Word, 20, Look::Random),
    form("pa-", Body::Dashed, 24, Look::Mixed),
    form("lsv2_pt_", Body::Word, 16, Look::Any),
    form("lsv2_sk_", Body::Word, 16, Look::Any),
    form("BSA", Body::Dashed, 24, Look::Mixed),
    form("fc-", Body::Letters, 24, Look::Mixed),
    form("e2b_", Body::Letters, 20, Look::Random),
    form("ctx7sk-", Body::Dashed, 12, Look::Any),
    form("phx_", Body::Letters, 16, Look::Any),
    form("phc_", Body::Letters, 16, Look::Any),
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
    form("gloas-", Body::Dotted, 12, Look::Any),
    form("glft-", Body::Dotted, 12, Look::Any),
    form("glcbt-", Body::Dotted, 12, Look::Any),
    form("glagent-", Body::Dotted, 12, Look::Any),
    form("glsoat-", Body::Dotted, 12, Look::Any),
    form("glimt-", Body::Dotted, 12, Look::Any),
    form("ATBB", Body::Letters, 20, Look::Mixed),
    form("oy2", Body::Letters, 40, Look::Random),
    form("rubygems_", Body::Letters, 20, Look::Any),
    form("cio", Body::Letters, 30, Look::Mixed),
    form("dckr_pat_", Body::Dashed, 16, Look::Any),
    form("dckr_oat_", Body::Dashed, 16, Look::Any),
    form("npm_", Body::Letters, 20, Look::Random),
    form("pypi-", Body::Dashed, 32, Look::Random),
    form("dop_v1_", Body::Letters, 16, Look::Any),
    form("doo_v1_", Body::Letters, 16, Look::Any),
    form("dor_v1_", Body::Letters, 16, Look::Any),
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
    form("GOCSPX-", Body::Dashed, 20, Look::Any),
    form("dapi", Body::Dashed, 30, Look::Random),
    form("hvs.", Body::Dashed, 20, Look::Any),
    form("hvb.", Body::Dashed, 20, Look::Any),
    form("atlasv1.", Body::Dashed, 20, Look::Any),
    form("sntrys_", Body::Header, 20, Look::Any),
    form("sntryu_", Body::Letters, 20, Look::Any),
    form("ntn_", Body::Letters, 20, Look::Any),
    form("figd_", Body::Dashed, 20, Look::Any),
    form("dp.pt.", Body::Letters, 20, Look::Any),
    form("dp.st.", Body::Dotted, 20, Look::Any),
    form("sbp_", Body::Letters, 20, Look::Any),
    form("fm2_", Body::Header, 20, Look::Any),
    form("sq0atp-", Body::Dashed, 16, Look::Any),
    form("sq0csp-", Body::Dashed, 16, Look::Any),
    form("pscale_tkn_", Body::Dotted, 16, Look::Any),
    form("pscale_pw_", Body::Dotted, 16, Look::Any),
    form("HRKU-", Body::Dashed, 20, Look::Any),
    form("ops_eyJ", Body::Header, 20, Look::Any),
    form("glc_eyJ", Body::Header, 16, Look::Any),
    form("glsa_", Body::Word, 20, Look::Any),
    form("NRAK-", Body::Letters, 16, Look::Any),
    form("shpss_", Body::Letters, 16, Look::Any),
    form("shppa_", Body::Letters, 16, Look::Any),
    form("shpca_", Body::Letters, 16, Look::Any),
    form("nfp_", Body::Letters, 20, Look::Any),
    form("pul-", Body::Letters, 30, Look::Random),
    form("rnd_", Body::Letters, 20, Look::Mixed),
    form("key-", Body::Letters, 32, Look::Random),
    form("hooks.slack.com/services/", Body::Path, 20, Look::Any),
    form("discord.com/api/webhooks/", Body::Path, 30, Look::Any),
    form("discordapp.com/api/webhooks/", Body::Path, 30, Look::Any),
    form("ATATT3x", Body::Header, 32, Look::Any),
    // A key of Twilio is a hexadecimal number behind `SK`: with its first digit, since `SK` alone is in many words.
    form("SK0", Body::Hex, 31, Look::Any),
    form("SK1", Body::Hex, 31, Look::Any),
    form("SK2", Body::Hex, 31, Look::Any),
    form("SK3", Body::Hex, 31, Look::Any),
    form("SK4", Body::Hex, 31, Look::Any),
    form("SK5", Body::Hex, 31, Look::Any),
    form("SK6", Body::Hex, 31, Look::Any),
    form("SK7", Body::Hex, 31, Look::Any),
    form("SK8", Body::Hex, 31, Look::Any),
    form("SK9", Body::Hex, 31, Look::Any),
    form("SKa", Body::Hex, 31, Look::Any),
    form("SKb", Body::Hex, 31, Look::Any),
    form("SKc", Body::Hex, 31, Look::Any),
    form("SKd", Body::Hex, 31, Look::Any),
    form("SKe", Body::Hex, 31, Look::Any),
    form("SKf", Body::Hex, 31, Look::Any),
    // Hashed passwords, as files of users hold them.
    form("$apr1$", Body::Crypt, 24, Look::Any),
    form("$2a$", Body::Crypt, 50, Look::Any),
    form("$2b$", Body::Crypt, 50, Look::Any),
    form("$2y$", Body::Crypt, 50, Look::Any),
    form("$5$", Body::Crypt, 40, Look::Any),
    form("$6$", Body::Crypt, 80, Look::Any),
    form("$argon2", Body::Crypt, 40, Look::Any),
    form("{SHA}", Body::Header, 27, Look::Any),
    form("{SSHA}", Body::Header, 30, Look::Any),
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
            Look::Any | Look::Random | Look::Mixed => self.looks(body),
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
            Look::Mixed => {
                body.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
                    && body.iter().any(u8::is_ascii_alphabetic)
                    && !body
                        .split(|byte| *byte == b'-')
                        .any(|part| (1..6).contains(&part.len()))
            }
            Look::Jwt => {
                let mut parts = body.split(|byte| *byte == b'.');
                let long = |part: Option<&[u8]>| part.is_some_and(|part| part.len() >= 8);
                long(parts.next()) && parts.any(|part| part.len() >= 8)
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
            assert!(form.prefix.len() >= 2);
            assert!(
                FORMS
                    .iter()
                    .skip(index + 1)
                    .all(|other| other.prefix != form.prefix)
            );
        }
    }
}
