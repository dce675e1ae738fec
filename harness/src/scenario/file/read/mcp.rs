//! Reading `[[mcp]]`.

use crate::mcp::{State, Transport, Wanted};
use crate::source::{Field, Problem};

const TRANSPORTS: [(&str, Transport); 3] = [
    ("stdio", Transport::Stdio),
    ("http", Transport::Http),
    ("sse", Transport::Sse),
];

const STATES: [(&str, State); 3] = [
    ("works", State::Works),
    ("silent", State::Silent),
    ("missing", State::Missing),
];

/// All servers.
pub(super) fn servers(field: Field<'_>) -> Result<Vec<Wanted>, Problem> {
    let mut servers: Vec<Wanted> = Vec::new();
    for entry in field.list()? {
        let server = server(entry)?;
        if servers.iter().any(|other| other.name == server.name) {
            let message = format!("two MCP servers are named `{}`", server.name);
            return Err(entry.problem(message));
        }
        servers.push(server);
    }
    Ok(servers)
}

fn server(field: Field<'_>) -> Result<Wanted, Problem> {
    let table = field.table(&["name", "transport", "args", "env", "headers", "state"])?;
    let name = table.need("name")?;
    let text = name.filled()?;
    if !text.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(name
            .problem(format!("`{text}` is no name of an MCP server here"))
            .help("use letters and digits of ASCII, which no agent writes otherwise in the names of tools"));
    }
    let transport = table
        .maybe("transport", |field| field.word(&TRANSPORTS))?
        .unwrap_or_default();
    for field in table.fields() {
        let fits = match field.name {
            "args" | "env" => transport == Transport::Stdio,
            "headers" => transport != Transport::Stdio,
            _ => true,
        };
        if !fits {
            let message = format!("`{}` means nothing for this transport", field.name);
            return Err(field.problem(message));
        }
    }
    Ok(Wanted {
        name: text.to_owned(),
        transport,
        args: table
            .maybe("args", |field| field.strings())?
            .unwrap_or_default(),
        env: table.maybe("env", pairs)?.unwrap_or_default(),
        headers: table.maybe("headers", pairs)?.unwrap_or_default(),
        state: table
            .maybe("state", |field| field.word(&STATES))?
            .unwrap_or_default(),
    })
}

fn pairs(field: Field<'_>) -> Result<Vec<(String, String)>, Problem> {
    field
        .free_table()?
        .fields()
        .map(|pair| Ok((pair.name.to_owned(), pair.string()?.to_owned())))
        .collect()
}
