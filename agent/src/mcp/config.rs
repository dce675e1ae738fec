//! What a client says of the MCP servers of a session.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// A server that the client wants for a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) name: String,
    pub(crate) reach: Reach,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reach {
    /// A program that is started, over its stdin and stdout.
    Stdio {
        command: String,
        arguments: Vec<String>,
        /// Variables beside those of this process.
        environment: Vec<(String, String)>,
    },
    /// An address, with headers for each request.
    Http { url: String, headers: HeaderMap },
    /// In a way that is not known here.
    Other(String),
}

/// Reads `mcpServers` of a request; a request without any names none.
///
/// # Errors
///
/// Names the entry and the member that cannot be read, but no value, which may be a secret.
pub(crate) fn read(params: &Map<String, Value>) -> Result<Vec<Config>, String> {
    let entries = match params.get("mcpServers") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err("`mcpServers` must be a list".to_owned()),
    };
    entries
        .iter()
        .enumerate()
        .map(|(index, entry)| {
            config(entry).map_err(|reason| format!("entry {index} of `mcpServers`: {reason}"))
        })
        .collect()
}

fn config(entry: &Value) -> Result<Config, String> {
    let name = text(entry, "name")?;
    let kind = match entry.get("type") {
        None | Some(Value::Null) => "stdio",
        Some(kind) => kind.as_str().ok_or("`type` must be a string")?,
    };
    let reach = match kind {
        "stdio" => Reach::Stdio {
            command: text(entry, "command")?,
            arguments: list(entry, "args")?
                .iter()
                .map(|argument| argument.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or("`args` must be a list of strings")?,
            environment: pairs(entry, "env")?,
        },
        "http" => Reach::Http {
            url: text(entry, "url")?,
            headers: headers(entry)?,
        },
        other => Reach::Other(other.to_owned()),
    };
    Ok(Config { name, reach })
}

fn headers(entry: &Value) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs(entry, "headers")? {
        let name = HeaderName::try_from(name);
        let value = HeaderValue::try_from(value);
        match (name, value) {
            (Ok(name), Ok(value)) => headers.append(name, value),
            _ => return Err("`headers` holds one that no request can carry".to_owned()),
        };
    }
    Ok(headers)
}

fn text(entry: &Value, member: &str) -> Result<String, String> {
    entry
        .get(member)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| format!("`{member}` is needed, a string"))
}

fn list<'a>(entry: &'a Value, member: &str) -> Result<&'a [Value], String> {
    match entry.get(member) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(format!("`{member}` must be a list")),
    }
}

fn pairs(entry: &Value, member: &str) -> Result<Vec<(String, String)>, String> {
    list(entry, member)?
        .iter()
        .map(|pair| {
            let text = |name| pair.get(name).and_then(Value::as_str).map(str::to_owned);
            Some((text("name")?, text("value")?))
        })
        .collect::<Option<_>>()
        .ok_or_else(|| format!("`{member}` must be a list of `name` and `value`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_list(servers: Value) -> Result<Vec<Config>, String> {
        let mut params = Map::new();
        params.insert("mcpServers".into(), servers);
        read(&params)
    }

    #[test]
    fn servers_are_read_by_their_type() {
        let servers = read_list(json!([
            {"name": "a", "command": "/bin/a", "args": ["-v"], "env": [{"name": "K", "value": "V"}]},
            {"name": "b", "type": "http", "url": "http://localhost/", "headers": [{"name": "X-Y", "value": "z"}]},
            {"name": "c", "type": "sse", "url": "http://localhost/", "headers": []},
            {"name": "d", "command": "d"},
        ]))
        .unwrap();
        assert_eq!(
            servers[0].reach,
            Reach::Stdio {
                command: "/bin/a".into(),
                arguments: vec!["-v".into()],
                environment: vec![("K".into(), "V".into())],
            }
        );
        let Reach::Http { url, headers } = &servers[1].reach else {
            panic!("{:?}", servers[1]);
        };
        assert_eq!(url, "http://localhost/");
        assert_eq!(headers["x-y"], "z");
        assert_eq!(servers[2].reach, Reach::Other("sse".into()));
        assert!(matches!(&servers[3].reach, Reach::Stdio { command, .. } if command == "d"));
        assert_eq!(read_list(Value::Null), Ok(Vec::new()));
        assert_eq!(read(&Map::new()), Ok(Vec::new()));
    }

    #[test]
    fn what_cannot_be_read_is_named_without_its_value() {
        for (servers, member) in [
            (json!({}), "`mcpServers`"),
            (json!(["secret"]), "`name`"),
            (json!([{"name": 5}]), "`name`"),
            (json!([{"name": "a"}]), "`command`"),
            (
                json!([{"name": "a", "command": "b", "args": "secret"}]),
                "`args`",
            ),
            (
                json!([{"name": "a", "command": "b", "args": [5]}]),
                "`args`",
            ),
            (
                json!([{"name": "a", "command": "b", "env": {"A": "secret"}}]),
                "`env`",
            ),
            (
                json!([{"name": "a", "command": "b", "env": [{"name": "secret"}]}]),
                "`env`",
            ),
            (json!([{"name": "a", "type": "http"}]), "`url`"),
            (
                json!([{"name": "a", "type": "http", "url": "u", "headers": [{"name": "a", "value": "secret\n"}]}]),
                "`headers`",
            ),
        ] {
            let reason = read_list(servers).unwrap_err();
            assert!(
                reason.contains(member) && !reason.contains("secret"),
                "{reason}"
            );
        }
    }
}
