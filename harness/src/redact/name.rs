//! Names whose values are secrets: of members, variables, headers and flags.

/// The longest name that is looked at.
const LONGEST: usize = 80;

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Says {
    /// Nothing.
    Nothing,
    /// It is a secret if it looks like one: such names are also used for what is none.
    Perhaps,
    /// It is a secret.
    Secret,
}

/// Where in a name a part must stand. Names are compared without case and punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    /// Anywhere.
    Anywhere,
    /// At its end.
    End,
    /// As its last word: `DB_PASS`, `authPwd`, but not `compass`.
    LastWord,
    /// As the last word of several in capitals: `STRIPE_KEY`.
    Variable,
    /// It is all of the name.
    Whole,
}

/// Parts of names, and what they say.
const PARTS: &[(&str, Where, Says)] = &[
    ("password", Where::Anywhere, Says::Secret),
    ("passwd", Where::Anywhere, Says::Secret),
    ("passphrase", Where::Anywhere, Says::Secret),
    ("passcode", Where::Anywhere, Says::Secret),
    ("secret", Where::Anywhere, Says::Secret),
    ("credential", Where::Anywhere, Says::Secret),
    ("authorization", Where::Anywhere, Says::Secret),
    ("apikey", Where::Anywhere, Says::Secret),
    ("privatekey", Where::Anywhere, Says::Secret),
    ("accesskey", Where::Anywhere, Says::Secret),
    ("accountkey", Where::Anywhere, Says::Secret),
    ("subscriptionkey", Where::Anywhere, Says::Secret),
    ("signingkey", Where::Anywhere, Says::Secret),
    ("encryptionkey", Where::Anywhere, Says::Secret),
    ("masterkey", Where::Anywhere, Says::Secret),
    ("sharedkey", Where::Anywhere, Says::Secret),
    ("token", Where::End, Says::Secret),
    ("tokenvalue", Where::End, Says::Secret),
    ("cookie", Where::End, Says::Secret),
    ("cookies", Where::End, Says::Secret),
    ("xamzsignature", Where::Whole, Says::Secret),
    ("pass", Where::LastWord, Says::Perhaps),
    ("pwd", Where::LastWord, Says::Perhaps),
    ("auth", Where::LastWord, Says::Perhaps),
    ("bearer", Where::LastWord, Says::Perhaps),
    ("jwt", Where::LastWord, Says::Perhaps),
    ("otp", Where::LastWord, Says::Perhaps),
    ("dsn", Where::LastWord, Says::Perhaps),
    ("signature", Where::LastWord, Says::Perhaps),
    ("sig", Where::Whole, Says::Perhaps),
    ("key", Where::Variable, Says::Perhaps),
];

/// Names that say nothing although a part of them would.
const HARMLESS: &[&str] = &["PWD", "OLDPWD"];

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
    "endpoint",
    "server",
    "servers",
    "stdin",
    "publickey",
    "primarykey",
    "foreignkey",
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

/// Whether a value with this name is a secret, or may be: `apiKey`, `X-Api-Key`, `GITHUB_TOKEN`, `DB_PASS`, `STRIPE_KEY`.
///
/// Plurals are not meant: `totalTokens` counts.
pub fn is_secret(name: &[u8]) -> bool {
    says(name) > Says::Nothing
}

/// What a name says about its value.
pub(super) fn says(name: &[u8]) -> Says {
    let is_harmless = HARMLESS.iter().any(|harmless| harmless.as_bytes() == name);
    if is_harmless || is_everyday(name) {
        return Says::Nothing;
    }
    // The end of a long name says what it is.
    let name = name
        .get(name.len().saturating_sub(LONGEST)..)
        .unwrap_or(name);
    let mut plain = [0; LONGEST];
    let mut length = 0;
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    for (slot, byte) in plain.iter_mut().zip(letters) {
        *slot = byte.to_ascii_lowercase();
        length += 1;
    }
    let plain = plain.get(..length).unwrap_or_default();
    let said = PARTS
        .iter()
        .filter(|(part, place, _)| {
            let part = part.as_bytes();
            match place {
                Where::Anywhere => memchr::memmem::find(plain, part).is_some(),
                Where::End => plain.ends_with(part),
                Where::LastWord => plain.ends_with(part) && begins_word(name, part.len()),
                Where::Variable => {
                    plain.ends_with(part)
                        && plain.len() > part.len()
                        && begins_word(name, part.len())
                        && !name.iter().any(u8::is_ascii_lowercase)
                }
                Where::Whole => plain == part,
            }
        })
        .map(|(_, _, says)| *says)
        .max()
        .unwrap_or(Says::Nothing);
    let is_about = HARMLESS_ENDS
        .iter()
        .any(|end| plain.ends_with(end.as_bytes()));
    if is_about { Says::Nothing } else { said }
}

/// Whether the last so many letters of a name are a word of it.
fn begins_word(name: &[u8], length: usize) -> bool {
    let Some(start) = name.len().checked_sub(length) else {
        return false;
    };
    match (
        start.checked_sub(1).and_then(|at| name.get(at)),
        name.get(start),
    ) {
        (None, _) => true,
        (Some(before), Some(first)) => {
            !before.is_ascii_alphanumeric()
                || first.is_ascii_uppercase() && before.is_ascii_lowercase()
        }
        _ => false,
    }
}

/// Whether a value looks like a secret, where its name does not decide: a single word that chance may have made.
pub(super) fn looks_secret(value: &[u8], least: usize) -> bool {
    let start = value.get(..1024).unwrap_or(value);
    let has = |fits: fn(&u8) -> bool| start.iter().any(fits);
    value.len() >= least
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || value.len() >= 20 && has(u8::is_ascii_uppercase))
        && !has(u8::is_ascii_whitespace)
        && !matches!(value, [b'/' | b'.' | b'~', ..])
        && memchr::memmem::find(start, b"://").is_none()
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
        || inner.len() <= LONGEST && inner.starts_with(b"YOUR") && is_identifier(inner)
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

/// The words of the protocol are in its schema.
const SCHEMA: &[u8] = include_bytes!("../../spec/acp-v1/schema.json");

/// The longest word that is taken for one of everyday language.
const LONGEST_WORD: usize = 11;

/// Whether a value is never replaced beyond its own place, as it may be in any message: a word of the protocol, such as
/// `sessionUpdate`, `session/update` or `end_turn`, or a short word of everyday language.
pub(super) fn is_word(value: &[u8]) -> bool {
    let is_short = value.len() <= LONGEST_WORD && value.iter().all(u8::is_ascii_lowercase);
    let letters = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'/' | b'$');
    is_short
        || value.iter().all(letters)
            && memchr::memmem::find(SCHEMA, &[b"\"", value, b"\""].concat()).is_some()
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
            "OPENAI_KEY",
            "STRIPE_KEY",
            "SIGNING_KEY",
            "AccountKey",
            "DB_PASS",
            "MYSQL_PWD",
            "Pwd",
            "_auth",
            "NPM_AUTH",
            "sig",
            "X-Amz-Signature",
            "Ocp-Apim-Subscription-Key",
            "passcode",
            "jwt",
            "tokenValue",
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
            "tokens",
            "maxTokens",
            "tokenizer",
            "authorization_endpoint",
            "publicKey",
            "primaryKey",
            "keyId",
            "PUBLIC_KEY",
            "monkey",
            "compass",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "oauth",
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
