//! Reading a scenario file.

mod check;
mod condition;
mod each;
mod implied;
mod mcp;
mod model;
mod replies;
mod step;

use super::{ClientSettings, Needs, Scenario, StartFolder};
use crate::model::script::Script;
use crate::profile::Consent;
use crate::source::{Field, Problem, Source, Table, parse};
use crate::spec::{Condition, Methods, Side};

/// The keys of a scenario file.
const KEYS: [&str; 14] = [
    "title",
    "about",
    "covers",
    "when",
    "allow",
    "needs",
    "client",
    "agent",
    "workspace",
    "implied",
    "each",
    "mcp",
    "model",
    "step",
];

/// Reads the scenario in `source`, which has the id `id`: one run, or one for each `[[each]]` table. `known_id` says whether
/// a requirement exists.
///
/// # Errors
/// The first thing that is wrong in the file, at its place.
pub fn read(
    id: &str,
    source: &Source,
    known_id: &dyn Fn(&str) -> bool,
) -> Result<Vec<Scenario>, Problem> {
    let document = parse(source)?;
    let mut scenarios = Vec::new();
    for run in each::runs(source, document)? {
        let field = Field {
            source,
            name: "scenario",
            node: &run.document,
        };
        let scenario = scenario(id, run.name.as_deref(), &field.table(&KEYS)?, known_id);
        scenarios.push(scenario.map_err(|problem| match &run.name {
            Some(name) => problem.help(format!("in the run `{name}` of `[[each]]`")),
            None => problem,
        })?);
    }
    Ok(scenarios)
}

/// Reads a file that has nothing but the replies of a model, under `[[model]]` as in a scenario.
///
/// # Errors
/// The first thing that is wrong in the file, at its place.
pub fn read_script(source: &Source) -> Result<Script, Problem> {
    let document = parse(source)?;
    let field = Field {
        source,
        name: "script",
        node: &document,
    };
    let table = field.table(&["model"])?;
    table.need("model")?.list()?.map(model::reply).collect()
}

fn scenario(
    id: &str,
    run: Option<&str>,
    table: &Table<'_>,
    known_id: &dyn Fn(&str) -> bool,
) -> Result<Scenario, Problem> {
    let title = table.need("title")?.filled()?.to_owned();
    let covers = covers(table, known_id)?;
    let model = match table.get("model") {
        Some(field) => field.list()?.map(model::reply).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let servers = table.maybe("mcp", mcp::servers)?.unwrap_or_default();
    let steps = table.need("step").map_err(|problem| {
        problem.help("a scenario does something: write at least one `[[step]]`")
    })?;
    let written = steps
        .list()?
        .map(|field| step::step(&field, &covers, &servers))
        .collect::<Result<Vec<_>, _>>()?;
    let implied = table
        .maybe("implied", |field| field.boolean())?
        .unwrap_or(true);
    let steps = implied::insert(written, steps.list()?, implied)?;
    check::check(table, &steps, &model, &servers)?;
    Ok(Scenario {
        id: run.map_or_else(|| id.to_owned(), |run| format!("{id}[{run}]")),
        file: id.to_owned(),
        title,
        about: table
            .maybe("about", |field| field.filled())?
            .map(str::to_owned),
        covers,
        when: table.maybe("when", when)?,
        allow: match table.get("allow") {
            Some(field) => field
                .list()?
                .map(|item| item.word(&Consent::WORDS))
                .collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
        needs: table
            .maybe("needs", |field| needs(&field, !model.is_empty()))?
            .unwrap_or(Needs {
                model: !model.is_empty(),
                ..Needs::default()
            }),
        client: table.maybe("client", client)?.unwrap_or_default(),
        start_folder: table.maybe("agent", agent)?.unwrap_or_default(),
        workspace: table.maybe("workspace", workspace)?.unwrap_or_default(),
        servers,
        model,
        steps: steps.into_iter().map(|(step, _)| step).collect(),
    })
}

fn covers(table: &Table<'_>, known_id: &dyn Fn(&str) -> bool) -> Result<Vec<String>, Problem> {
    let field = table.need("covers").map_err(|problem| {
        problem.help(
            "name the requirements that the scenario exercises, such as `covers = [\"CANCEL-01\"]`",
        )
    })?;
    let mut covers: Vec<String> = Vec::new();
    for item in field.list()? {
        let id = item.string()?;
        if !known_id(id) {
            return Err(item
                .problem(format!("there is no requirement `{id}`"))
                .help("`harness list requirements` shows all of them"));
        }
        if covers.iter().any(|other| other == id) {
            return Err(item.problem(format!("`{id}` is named twice")));
        }
        covers.push(id.to_owned());
    }
    if covers.is_empty() {
        Err(field.problem("`covers` must name at least one requirement"))
    } else {
        Ok(covers)
    }
}

fn when(field: Field<'_>) -> Result<Condition, Problem> {
    Condition::parse(field.filled()?).map_err(|error| {
        field.problem(error.to_string()).help(
            "a condition is a path such as `agentCapabilities.loadSession`; `!` before it turns it round, ` & ` joins several",
        )
    })
}

fn needs(field: &Field<'_>, scripted: bool) -> Result<Needs, Problem> {
    let table = field.table(&[
        "permission",
        "model",
        "tool",
        "held",
        "text",
        "auth_methods",
        "requests",
    ])?;
    Ok(Needs {
        permission: table.flag("permission")?,
        model: table
            .maybe("model", |field| field.boolean())?
            .unwrap_or(scripted),
        tool: table.flag("tool")?,
        held: table.flag("held")?,
        text: table.flag("text")?,
        auth_methods: table.flag("auth_methods")?,
        requests: table
            .maybe("requests", |field| {
                field.one_or_more().iter().map(client_method).collect()
            })?
            .unwrap_or_default(),
    })
}

/// A method that agents call.
fn client_method(field: &Field<'_>) -> Result<String, Problem> {
    let name = field.string()?;
    let known = Methods::v1().get(name);
    match known.is_some_and(|known| known.called_by(Side::Agent)) {
        true => Ok(name.to_owned()),
        false => Err(field.problem(format!("`{name}` is no method that agents call"))),
    }
}

fn client(field: Field<'_>) -> Result<ClientSettings, Problem> {
    let table = field.table(&["capabilities", "info"])?;
    Ok(ClientSettings {
        capabilities: table.maybe("capabilities", |field| field.object())?,
        info: table.maybe("info", |field| field.object())?,
    })
}

fn agent(field: Field<'_>) -> Result<StartFolder, Problem> {
    let table = field.table(&["cwd"])?;
    let words = [
        ("session", StartFolder::Session),
        ("elsewhere", StartFolder::Elsewhere),
    ];
    Ok(table
        .maybe("cwd", |field| field.word(&words))?
        .unwrap_or_default())
}

fn workspace(field: Field<'_>) -> Result<Vec<(String, String)>, Problem> {
    field
        .free_table()?
        .fields()
        .map(|file| Ok((inside(&file, file.name)?, file.string()?.to_owned())))
        .collect()
}

/// A path that stays in the session's folder.
fn inside(field: &Field<'_>, path: &str) -> Result<String, Problem> {
    let outside = path.is_empty()
        || path.starts_with('/')
        || path.contains('\\')
        || path.split('/').any(|part| part == "..");
    if outside {
        return Err(field
            .problem(format!("`{path}` is no path inside the session's folder"))
            .help("write it relative to that folder, with `/` and without `..`"));
    }
    Ok(path.to_owned())
}
