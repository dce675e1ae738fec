//! Names whose values are secrets: of members, variables, headers and flags.

/// The longest name that is looked at.
const LONGEST: usize = 80;

/// Parts that make a name one of a secret. Names are compared without case and punctuation.
const ANYWHERE: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "privatekey",
    "accesskey",
    "authorization",
    "credential",
];

/// Ends that make a name one of a secret.
const AT_THE_END: &[&str] = &["token", "cookie", "cookies"];

/// Ends that say that the value only tells something about a secret, or is a token of another kind.
const HARMLESS_ENDS: &[&str] = &[
    // About a secret.
    "name",
    "id",
    "ids",
    "type",
    "file",
    "path",
    "url",
    "uri",
    "policy",
    "length",
    "count",
    "env",
    "var",
    "field",
    "hint",
    "label",
    "description",
    "title",
    "placeholder",
    "required",
    "method",
    "methods",
    "enabled",
    "expiry",
    "expires",
    "helper",
    "scheme",
    "format",
    // Tokens of text.
    "eostoken",
    "bostoken",
    "padtoken",
    "unktoken",
    "masktoken",
    "stoptoken",
    "maxtoken",
    "pertoken",
    "firsttoken",
    "lasttoken",
    "nexttoken",
    // Tokens that identify a page or a task.
    "pagetoken",
    "progresstoken",
    "continuationtoken",
    "canceltoken",
    "cancellationtoken",
    "donetoken",
    "resulttoken",
    "synctoken",
];

/// Whether a value with this name is a secret: `apiKey`, `X-Api-Key`, `GITHUB_TOKEN`, `client_secret`.
///
/// Plurals are not meant: `totalTokens` counts.
pub fn is_secret(name: &[u8]) -> bool {
    if is_everyday(name) || name.len() > LONGEST {
        return false;
    }
    let mut plain = [0; LONGEST];
    let mut length = 0;
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    for (slot, byte) in plain.iter_mut().zip(letters) {
        *slot = byte.to_ascii_lowercase();
        length += 1;
    }
    let plain = plain.get(..length).unwrap_or_default();
    let ends = |ends: &[&str]| ends.iter().any(|end| plain.ends_with(end.as_bytes()));
    let holds = |part: &&str| plain.windows(part.len()).any(|own| own == part.as_bytes());
    (ends(AT_THE_END) || ANYWHERE.iter().any(holds)) && !ends(HARMLESS_ENDS)
}

/// Names that most messages hold; there is no need to look at them closely.
fn is_everyday(name: &[u8]) -> bool {
    matches!(
        name,
        b"jsonrpc"
            | b"id"
            | b"method"
            | b"params"
            | b"result"
            | b"sessionId"
            | b"update"
            | b"sessionUpdate"
            | b"content"
            | b"type"
            | b"text"
            | b"messageId"
            | b"toolCallId"
            | b"title"
            | b"kind"
            | b"status"
    )
}

/// Values that stand in the place of a secret and are none.
const EMPTY_WORDS: &[&str] = &[
    "true",
    "false",
    "null",
    "none",
    "undefined",
    "string",
    "str",
    "number",
    "boolean",
    "object",
    "array",
    "any",
    "optional",
    "required",
    "nil",
];

/// Whether a value is obviously no secret, wherever it stands: empty, a type, a variable (`$TOKEN`), or already replaced.
pub(super) fn is_no_secret(value: &[u8]) -> bool {
    let inner = value.trim_ascii();
    let wrapped = |start: &[u8], end: &[u8]| inner.starts_with(start) && inner.ends_with(end);
    inner.is_empty()
        || EMPTY_WORDS
            .iter()
            .any(|word| inner.eq_ignore_ascii_case(word.as_bytes()))
        || (wrapped(b"{", b"}") || wrapped(b"${", b"}") || wrapped(b"<", b">")) && is_label(inner)
        || inner
            .iter()
            .all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X'))
        || inner.strip_prefix(b"$").is_some_and(is_identifier)
}

/// Whether there is nothing but a name within brackets.
fn is_label(text: &[u8]) -> bool {
    text.len() <= LONGEST
        && text.iter().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(
                    byte,
                    b'{' | b'}' | b'<' | b'>' | b'$' | b'_' | b'-' | b'.' | b':' | b' '
                )
        })
}

fn is_identifier(name: &[u8]) -> bool {
    name.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Whether a value of an innocent name may also stand elsewhere without being meant: a word, a path, a number.
pub(super) fn is_common(value: &[u8]) -> bool {
    let all = |fits: fn(&u8) -> bool| value.iter().all(fits);
    all(u8::is_ascii_lowercase)
        || all(u8::is_ascii_digit)
        || value.starts_with(b"/") && all(|byte| !byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_names_about_them() {
        for name in [
            "authorization",
            "Authorization",
            "apiKey",
            "api_key",
            "X-Api-Key",
            "OPENAI_API_KEY",
            "token",
            "accessToken",
            "GITHUB_TOKEN",
            "client_secret",
            "AWS_SECRET_ACCESS_KEY",
            "password",
            "DB_PASSWORD",
            "Set-Cookie",
            "cookie",
            "SECRET_KEY_BASE",
            "privateKey",
        ] {
            assert!(is_secret(name.as_bytes()), "{name}");
        }
        for name in [
            "sessionId",
            "toolCallId",
            "inputTokens",
            "totalTokens",
            "max_tokens",
            "progressToken",
            "nextPageToken",
            "key",
            "tokenCount",
            "secretName",
            "passwordField",
            "authMethods",
            "auth",
            "tokens",
            "tokenizer",
            "AWS_ACCESS_KEY_ID",
            "author",
            "",
        ] {
            assert!(!is_secret(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn what_stands_for_a_secret_is_none() {
        for value in [
            "",
            "string",
            "${TOKEN}",
            "$TOKEN",
            "{secret-1}",
            "<token>",
            "****",
            "xxxx",
        ] {
            assert!(is_no_secret(value.as_bytes()), "{value}");
        }
        for value in ["hunter2", "abc$", "s3cr3t"] {
            assert!(!is_no_secret(value.as_bytes()), "{value}");
        }
    }
}
