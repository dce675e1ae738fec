//! Every citation of the catalogue leads to a place that the protocol's repository has at the catalogue's commit.

use toml::{Table, Value};

fn read(name: &str) -> Table {
    let path = format!("{}/spec/acp-v1/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// All citations of a file of the catalogue, with the requirement's id.
fn cited(file: &Table) -> Vec<(String, String)> {
    let requirements = file["requirement"].as_array().unwrap();
    let cites = requirements.iter().filter_map(|requirement| {
        let id = requirement["id"].as_str()?.to_owned();
        Some((id, requirement.get("cite")?.as_str()?.to_owned()))
    });
    cites
        .flat_map(|(id, cite)| {
            let parts: Vec<_> = cite.split(';').map(|part| part.trim().to_owned()).collect();
            parts.into_iter().map(move |part| (id.clone(), part))
        })
        .filter(|(_, cite)| !cite.is_empty())
        .collect()
}

#[test]
fn every_citation_resolves_at_the_commit_of_the_catalogue() {
    let requirements = read("requirements.toml");
    let anchors = read("anchors.toml");
    assert_eq!(
        anchors["commit"], requirements["spec_commit"],
        "run scripts/anchors after spec_commit was moved on"
    );
    let all = [cited(&requirements), cited(&read("interop.toml"))].concat();
    assert!(all.len() > 270, "{} citations", all.len());
    let resolves = |cite: &str| {
        let (page, anchor) = cite.split_once('#').unwrap_or((cite, ""));
        let known = anchors["pages"].get(page).and_then(Value::as_array);
        known.is_some_and(|known| {
            anchor.is_empty() || known.iter().any(|one| one.as_str() == Some(anchor))
        })
    };
    let lost: Vec<_> = all.iter().filter(|(_, cite)| !resolves(cite)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}
