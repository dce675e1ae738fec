//! Every sample message is valid; every sample with one fault is reported at that fault and nowhere else.
//!
//! `samples.json` holds valid payloads of every method and every form of every union, with all
//! optional members filled. `free` lists pointers below which members are free.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::spec::methods::Methods;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    name: String,
    definition: String,
    free: Vec<String>,
    value: Value,
}

fn samples() -> Vec<Sample> {
    serde_json::from_str(include_str!("samples.json")).unwrap()
}

fn schema() -> &'static Schema {
    Schema::v1()
}

fn is_valid(definition: &str, value: &Value) -> bool {
    schema().validator(definition).unwrap().is_valid(value)
}

impl Sample {
    /// Pointers to all values in the sample, the root excluded.
    fn places(&self) -> Vec<String> {
        fn below(value: &Value, place: &str, places: &mut Vec<String>) {
            let mut add = |step: &str, inner: &Value| {
                let place = format!("{place}/{}", step.replace('~', "~0").replace('/', "~1"));
                places.push(place.clone());
                below(inner, &place, places);
            };
            match value {
                Value::Object(members) => members.iter().for_each(|(name, inner)| add(name, inner)),
                Value::Array(items) => {
                    for (index, inner) in items.iter().enumerate() {
                        add(&index.to_string(), inner);
                    }
                }
                _ => {}
            }
        }
        let mut places = Vec::new();
        below(&self.value, "", &mut places);
        places
    }

    fn is_free(&self, place: &str) -> bool {
        place.contains("/_meta")
            || self.free.iter().any(|free| {
                place
                    .strip_prefix(free.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }

    fn with(&self, place: &str, value: Value) -> Value {
        let mut changed = self.value.clone();
        *changed.pointer_mut(place).unwrap() = value;
        changed
    }
}

#[test]
fn the_samples_hold_every_payload_and_every_form() {
    let names: BTreeSet<String> = samples()
        .into_iter()
        .map(|sample| sample.definition)
        .collect();
    for method in Methods::v1().iter() {
        for payload in [Some(&method.params), method.result.as_ref()]
            .into_iter()
            .flatten()
        {
            assert!(names.contains(payload), "no sample of {payload}");
        }
    }
    assert!(names.contains("Error"));

    let text = include_str!("samples.json");
    for kind in schema().update_kinds() {
        assert!(
            text.contains(&format!("\"sessionUpdate\": \"{kind}\"")),
            "no sample of {kind}"
        );
    }
    for union in [
        "ContentBlock",
        "ToolCallContent",
        "McpServer",
        "AuthMethod",
        "SessionConfigOption",
    ] {
        for branch in union::branches(schema().definition(union).unwrap()) {
            if let Some(tag) = union::tag_of(branch, "type") {
                assert!(
                    text.contains(&format!("\"type\": \"{tag}\"")),
                    "no sample of {union} {tag}"
                );
            }
        }
    }
}

#[test]
fn the_samples_fill_every_member_that_the_schema_declares() {
    let text = include_str!("samples.json");
    for (definition, content) in schema().definitions() {
        let members = content.get("properties").and_then(Value::as_object);
        for name in members.into_iter().flat_map(Map::keys) {
            assert!(
                text.contains(&format!("\"{name}\":")),
                "no sample of {definition}.{name}"
            );
        }
    }
}

#[test]
fn a_valid_message_has_no_violation_and_no_extra_member() {
    for sample in samples() {
        assert!(
            is_valid(&sample.definition, &sample.value),
            "{}",
            sample.name
        );
        assert_eq!(
            schema().violations(&sample.definition, &sample.value),
            [],
            "{}",
            sample.name
        );
        assert_eq!(
            schema().extra_members(&sample.definition, &sample.value),
            [],
            "{}",
            sample.name
        );
    }
}

/// The tag of a union that also has a form without it: any fault is told as one of that form.
fn is_tag_beside_an_untagged_form(sample: &Sample, place: &str) -> bool {
    place.ends_with("/type")
        && (place.starts_with("/mcpServers/")
            || sample.definition == "SetSessionConfigOptionRequest")
}

#[test]
fn a_value_of_another_type_is_reported_where_it_stands() {
    let others = [
        json!(null),
        json!(true),
        json!(-5),
        json!(1.5),
        json!("zz"),
        json!([]),
        json!({}),
        json!([5]),
    ];
    let mut refused = 0;
    for sample in samples() {
        for place in sample.places() {
            for other in &others {
                let changed = sample.with(&place, other.clone());
                let violations = schema().violations(&sample.definition, &changed);
                let at: BTreeSet<&str> = violations
                    .iter()
                    .map(|violation| violation.path.as_str())
                    .collect();
                if is_valid(&sample.definition, &changed) {
                    assert!(
                        at.is_empty(),
                        "{} {place} {other}: {violations:?}",
                        sample.name
                    );
                    continue;
                }
                refused += 1;
                let mut expected = BTreeSet::from([place.as_str()]);
                let deeper = format!("{place}/0");
                if other == &json!([5]) && at.contains(deeper.as_str()) {
                    expected = BTreeSet::from([deeper.as_str()]);
                }
                if is_tag_beside_an_untagged_form(&sample, &place) {
                    assert!(!at.is_empty(), "{} {place} {other}", sample.name);
                    continue;
                }
                assert_eq!(
                    at, expected,
                    "{} {place} {other}: {violations:?}",
                    sample.name
                );
            }
        }
    }
    assert!(refused > 3000, "only {refused} mutations were refused");
}

#[test]
fn a_missing_member_is_reported_at_its_object() {
    let mut refused = 0;
    for sample in samples() {
        for place in sample.places() {
            let (object, name) = place.rsplit_once('/').unwrap();
            let mut changed = sample.value.clone();
            let Some(members) = changed.pointer_mut(object).unwrap().as_object_mut() else {
                continue;
            };
            members.remove(&name.replace("~1", "/").replace("~0", "~"));
            let violations = schema().violations(&sample.definition, &changed);
            if is_valid(&sample.definition, &changed) {
                assert_eq!(violations, [], "{} {place}", sample.name);
                continue;
            }
            refused += 1;
            assert!(!violations.is_empty(), "{} {place}", sample.name);
            if is_tag_beside_an_untagged_form(&sample, &place) {
                continue;
            }
            assert!(
                violations.iter().all(|violation| violation.path == object),
                "{} {place}: {violations:?}",
                sample.name
            );
        }
    }
    assert!(refused > 200, "only {refused} mutations were refused");
}

#[test]
fn an_integer_that_is_written_as_a_fraction_is_reported_where_it_stands() {
    let mut refused = 0;
    for sample in samples() {
        for place in sample.places() {
            let number = sample.value.pointer(&place).unwrap();
            if !number.is_i64() || sample.is_free(&place) {
                continue;
            }
            let changed = sample.with(&place, json!(number.as_f64().unwrap()));
            let violations = schema().violations(&sample.definition, &changed);
            assert_eq!(
                violations.len(),
                1,
                "{} {place}: {violations:?}",
                sample.name
            );
            assert_eq!(violations.first().unwrap().path, place);
            refused += 1;
        }
    }
    assert!(refused > 10, "only {refused} mutations were refused");
}

#[test]
fn a_member_of_its_own_is_found_in_every_object_whose_type_is_known() {
    let mut found = 0;
    for sample in samples() {
        let objects = sample.places().into_iter().chain([String::new()]);
        for object in objects.filter(|place| sample.value.pointer(place).unwrap().is_object()) {
            let mut changed = sample.value.clone();
            let members = changed
                .pointer_mut(&object)
                .unwrap()
                .as_object_mut()
                .unwrap();
            members.insert("ownMember".to_owned(), json!({"deep": 1}));
            let extras = schema().extra_members(&sample.definition, &changed);
            let paths: Vec<&str> = extras.iter().map(|extra| extra.path.as_str()).collect();
            if sample.is_free(&object) {
                assert!(paths.is_empty(), "{} {object}: {paths:?}", sample.name);
            } else {
                found += 1;
                assert_eq!(paths, [format!("{object}/ownMember")], "{}", sample.name);
                assert_eq!(
                    schema().violations(&sample.definition, &changed),
                    [],
                    "{}",
                    sample.name
                );
            }
        }
    }
    assert!(found > 200, "only {found} members were found");
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let names = || {
        prop_oneof![
            Just("type".to_owned()),
            Just("sessionUpdate".to_owned()),
            Just("content".to_owned()),
            Just("update".to_owned()),
            Just("id".to_owned()),
            Just("~/".to_owned()),
            ".{0,6}",
        ]
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        names().prop_map(Value::from),
        Just(json!("text")),
        Just(json!("tool_call")),
        Just(json!(1.0)),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((names(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Whatever the value: the two readings agree, and what they name is there.
fn readings_agree(definition: &str, value: &Value) -> Result<(), TestCaseError> {
    let violations = schema().violations(definition, value);
    if !is_valid(definition, value) {
        prop_assert!(!violations.is_empty());
        prop_assert!(
            violations
                .iter()
                .all(|it| !it.message.starts_with("does not fit")),
            "{violations:?}"
        );
    } else if !has_notable_number(value) {
        prop_assert_eq!(&violations, &[]);
    }
    for violation in &violations {
        prop_assert!(value.pointer(&violation.path).is_some(), "{violation:?}");
    }
    for extra in schema().extra_members(definition, value) {
        prop_assert!(value.pointer(&extra.path).is_some(), "{extra:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_json_is_judged_by_any_definition(value in arbitrary_json()) {
        for (definition, _) in schema().definitions() {
            readings_agree(definition, &value)?;
        }
    }
}

proptest! {
    #[test]
    fn a_sample_with_any_json_in_it_is_judged(
        sample in prop::sample::select(samples()),
        place in any::<prop::sample::Index>(),
        value in arbitrary_json(),
    ) {
        let places = sample.places();
        if !places.is_empty() {
            readings_agree(&sample.definition, &sample.with(place.get(&places).as_str(), value))?;
        }
    }
}
