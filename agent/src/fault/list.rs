//! The tables, for people and for programs.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::Table;
use super::table::Unseen;

/// How a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

/// Prints a table.
///
/// # Errors
///
/// Returns the error of the output.
pub(crate) fn print(table: &Table, form: Form, mut output: impl Write) -> std::io::Result<()> {
    match form {
        Form::Json => {
            serde_json::to_writer_pretty(&mut output, &as_json(table))?;
            writeln!(output)
        }
        Form::Text => {
            for entry in &table.entries {
                let arguments = entry.arguments().join(" ");
                writeln!(output, "{} ({arguments})", entry.name)?;
                writeln!(output, "    {}", entry.about)?;
                if !entry.trips.is_empty() {
                    writeln!(output, "    breaks {}", entry.trips.join(", "))?;
                }
            }
            if !table.unseen.is_empty() {
                writeln!(output, "\nNo fault breaks these:")?;
            }
            for Unseen { ids, why } in &table.unseen {
                writeln!(output, "{}\n    {why}", ids.join(", "))?;
            }
            Ok(())
        }
    }
}

fn as_json(table: &Table) -> Value {
    let entries: Vec<Value> = table
        .entries
        .iter()
        .map(|entry| {
            let mut object = Map::new();
            object.insert("name".to_owned(), entry.name.clone().into());
            object.insert("about".to_owned(), entry.about.clone().into());
            object.insert("breaks".to_owned(), entry.trips.clone().into());
            object.insert("arguments".to_owned(), entry.arguments().into());
            Value::Object(object)
        })
        .collect();
    let mut object = Map::new();
    object.insert(table.noun.to_owned(), entries.into());
    if !table.unseen.is_empty() {
        let unseen = table.unseen.iter();
        let unseen = unseen.map(|unseen| json!({ "ids": unseen.ids, "why": unseen.why }));
        object.insert("unseen".to_owned(), unseen.collect());
    }
    Value::Object(object)
}
