//! What the published schema of JUnit reports allows (`junit-10.xsd` of the xunit plugin of Jenkins), as a table.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// An element: what it may hold, which attributes it needs, which it may have besides, and whether it may hold text.
struct Kind {
    name: &'static str,
    children: &'static [&'static str],
    needs: &'static [&'static str],
    may: &'static [&'static str],
    text: bool,
}

const RESULT: &[&str] = &["type", "message"];

const KINDS: [Kind; 9] = [
    Kind {
        name: "testsuites",
        children: &["testsuite"],
        needs: &[],
        may: &["name", "time", "tests", "failures", "errors"],
        text: false,
    },
    Kind {
        name: "testsuite",
        children: &["properties", "testcase", "system-out", "system-err"],
        needs: &["name", "tests", "failures", "errors"],
        may: &["time", "skipped", "timestamp", "hostname", "id", "package"],
        text: false,
    },
    Kind {
        name: "properties",
        children: &["property"],
        needs: &[],
        may: &[],
        text: false,
    },
    Kind {
        name: "property",
        children: &[],
        needs: &["name", "value"],
        may: &[],
        text: false,
    },
    Kind {
        name: "testcase",
        children: &["skipped", "error", "failure", "system-out", "system-err"],
        needs: &["name"],
        may: &["time", "classname", "group"],
        text: false,
    },
    Kind {
        name: "failure",
        children: &[],
        needs: &[],
        may: RESULT,
        text: true,
    },
    Kind {
        name: "error",
        children: &[],
        needs: &[],
        may: RESULT,
        text: true,
    },
    Kind {
        name: "skipped",
        children: &[],
        needs: &[],
        may: RESULT,
        text: true,
    },
    Kind {
        name: "system-out",
        children: &[],
        needs: &[],
        may: &[],
        text: true,
    },
];

/// A case of a report that holds to the schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) class: String,
    pub(crate) name: String,
    /// `failure`, `error`, `skipped`, or nothing.
    pub(crate) result: String,
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// A report that holds to the schema.
#[derive(Debug, Default)]
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) cases: Vec<Case>,
}

/// Reads a report; panics where it is no XML or does not hold to the schema, or where its counts are wrong.
pub(crate) fn read(text: &str) -> Suite {
    for character in text.chars() {
        let is_legal = matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        assert!(is_legal, "XML has no {character:?}");
    }
    let mut reader = Reader::from_str(text);
    let mut open: Vec<&Kind> = Vec::new();
    let mut suite = Suite::default();
    let mut counts = BTreeMap::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => {
                let kind = element(&open, &tag, &mut suite, &mut counts);
                open.push(kind);
            }
            Event::Empty(tag) => {
                element(&open, &tag, &mut suite, &mut counts);
            }
            Event::End(_) => {
                open.pop().unwrap();
            }
            Event::Text(part) => add(&mut suite, &open, &part.decode().unwrap()),
            Event::GeneralRef(part) => {
                let reference = format!("&{};", part.decode().unwrap());
                let text = quick_xml::escape::unescape(&reference).unwrap();
                add(&mut suite, &open, &text);
            }
            Event::Eof => break,
            Event::Decl(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(open.is_empty());
    let of = |result: &str| {
        let all = suite.cases.iter();
        all.filter(|case| case.result == result).count().to_string()
    };
    assert_eq!(counts["tests"], suite.cases.len().to_string());
    assert_eq!(counts["failures"], of("failure"));
    assert_eq!(counts["errors"], of("error"));
    assert_eq!(counts["skipped"], of("skipped"));
    suite
}

fn element(
    open: &[&'static Kind],
    tag: &BytesStart<'_>,
    suite: &mut Suite,
    counts: &mut BTreeMap<String, String>,
) -> &'static Kind {
    let name = String::from_utf8(tag.name().as_ref().to_vec()).unwrap();
    let kind = KINDS.iter().find(|kind| kind.name == name);
    let kind = kind.unwrap_or_else(|| panic!("there is no element `{name}`"));
    match open.last() {
        None => assert_eq!(name, "testsuites"),
        Some(parent) => assert!(
            parent.children.contains(&kind.name),
            "`{}` holds no `{name}`",
            parent.name
        ),
    }
    let attributes: BTreeMap<String, String> = tag
        .attributes()
        .map(|attribute| {
            let attribute = attribute.unwrap();
            let name = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
            let value = String::from_utf8(attribute.value.to_vec()).unwrap();
            let value = quick_xml::escape::unescape(&value).unwrap().into_owned();
            (name, value)
        })
        .collect();
    for need in kind.needs {
        assert!(attributes.contains_key(*need), "`{name}` without `{need}`");
    }
    for own in attributes.keys() {
        let is_known = kind.needs.iter().chain(kind.may).any(|known| known == own);
        assert!(is_known, "`{name}` has no `{own}`");
    }
    if let Some(time) = attributes.get("time") {
        let (whole, part) = time.split_once('.').unwrap();
        assert!(
            whole
                .chars()
                .chain(part.chars())
                .all(|c| c.is_ascii_digit())
        );
        assert!(part.len() <= 3, "{time}");
    }
    let value = |name: &str| attributes.get(name).cloned().unwrap_or_default();
    match kind.name {
        "testsuite" => {
            suite.name = value("name");
            counts.clone_from(&attributes);
        }
        "property" => {
            suite.properties.insert(value("name"), value("value"));
        }
        "testcase" => suite.cases.push(Case {
            class: value("classname"),
            name: value("name"),
            ..Case::default()
        }),
        "failure" | "error" | "skipped" => {
            let case = suite.cases.last_mut().unwrap();
            case.result = name;
            case.kind = value("type");
            case.title = value("message");
        }
        _ => {}
    }
    kind
}

fn add(suite: &mut Suite, open: &[&Kind], text: &str) {
    match open.last() {
        Some(kind) if kind.text => suite.cases.last_mut().unwrap().text.push_str(text),
        _ => assert_eq!(text.trim(), "", "text between elements"),
    }
}
