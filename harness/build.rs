//! Builds the scenarios, profiles and golden traces of the repository into the binary, as tables of name and text.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    table(
        (&package.join("../scenarios"), ".toml"),
        "scenarios",
        &out.join("scenarios.rs"),
    )?;
    table(
        (&package.join("profiles"), ".toml"),
        "harness/profiles",
        &out.join("profiles.rs"),
    )?;
    table(
        (&package.join("../traces"), ".jsonl"),
        "traces",
        &out.join("traces.rs"),
    )
}

/// Writes the expression `&[("id", "path in the repository", include_str!("…")), …]` for the files below `folder` with this
/// ending, in the order of their ids: a path below the folder, with `/` and without the ending.
fn table((folder, ending): (&Path, &str), shown: &str, out: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    collect((folder, ending), "", &mut files)?;
    files.sort();
    let mut code = String::from("&[\n");
    for (id, path) in files {
        let path = fs::canonicalize(path)?;
        writeln!(
            code,
            "    ({id:?}, {:?}, include_str!({path:?})),",
            format!("{shown}/{id}{ending}")
        )
        .map_err(io::Error::other)?;
    }
    code.push_str("]\n");
    fs::write(out, code)
}

fn collect(
    (folder, ending): (&Path, &str),
    prefix: &str,
    files: &mut Vec<(String, PathBuf)>,
) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            collect((&entry.path(), ending), &format!("{prefix}{name}/"), files)?;
        } else if let Some(stem) = name.strip_suffix(ending) {
            files.push((format!("{prefix}{stem}"), entry.path()));
        }
    }
    Ok(())
}
