//! A recorded answer, made to fit the live request that it goes to.

use serde_json::Value;

use super::bindings::Bindings;
use super::places;

/// What a live request has that its answer needs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    /// Its id, as JSON.
    pub(crate) id: Value,
    /// Its parameters.
    pub(crate) params: Value,
}

/// The line of an answer: the recorded one with the live id, ids and folders, and an option that is on offer.
/// `session` is the recorded session. Also gives the sentence on an option that had to be mapped.
pub(crate) fn fitted(
    recorded: &str,
    session: Option<&str>,
    asked_then: &Value,
    asked_now: &Asked,
    bindings: &Bindings,
) -> (String, Option<String>) {
    let (option, note) = match chosen(recorded) {
        Some(chosen) => mapped(&chosen, asked_then, &asked_now.params),
        None => (None, None),
    };
    if let Some(Choice::Cancelled) = option {
        let message = serde_json::json!({
            "jsonrpc": "2.0", "id": asked_now.id, "result": {"outcome": {"outcome": "cancelled"}},
        });
        return (message.to_string(), note);
    }
    // First the places that the answer itself fills, then all others: what was put in must not be replaced again.
    let mut own = Vec::new();
    places::each(recorded, |spot, range| {
        if spot.is_name {
            return;
        }
        if spot.depth == 1 && spot.member == Some("id") {
            own.push((range, asked_now.id.to_string()));
        } else if spot.member == Some("optionId")
            && let Some(Choice::Option(option)) = &option
        {
            own.push((range, Value::from(option.as_str()).to_string()));
        }
    });
    let mut line = String::with_capacity(recorded.len());
    let mut kept = 0;
    for (range, new) in own {
        line.push_str(recorded.get(kept..range.start).unwrap_or_default());
        line.push_str(&new);
        kept = range.end;
    }
    line.push_str(recorded.get(kept..).unwrap_or_default());
    let line = places::replaced(&line, |spot| {
        let own = (spot.depth == 1 && spot.member == Some("id")) || spot.member == Some("optionId");
        if own {
            None
        } else {
            bindings.instead(session, spot)
        }
    });
    (line, note)
}

enum Choice {
    Option(String),
    Cancelled,
}

/// The option that a recorded answer to a permission request chose.
fn chosen(recorded: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(recorded).ok()?;
    let option = answer.pointer("/result/outcome/optionId")?.as_str()?;
    Some(option.to_owned())
}

/// The option on offer that is meant: the same one, or one of its kind, or of the kind that means the same for this once;
/// else the answer is `cancelled`.
fn mapped(chosen: &str, then: &Value, now: &Value) -> (Option<Choice>, Option<String>) {
    let (then, now) = (options(then), options(now));
    let Some(kind) = then
        .iter()
        .find(|option| option.0 == chosen)
        .map(|option| option.1.clone())
    else {
        // An option that was not even offered then: it is sent as it was.
        return (None, None);
    };
    if now
        .iter()
        .any(|option| option.0 == chosen && option.1 == kind)
    {
        return (None, None);
    }
    let beside = match kind.as_str() {
        "allow_once" => "allow_always",
        "allow_always" => "allow_once",
        "reject_once" => "reject_always",
        "reject_always" => "reject_once",
        _ => "",
    };
    let of = |kind: &str| now.iter().find(|option| option.1 == kind);
    match of(&kind).or_else(|| of(beside)) {
        Some((option, other)) if option != chosen || *other != kind => {
            let note = (*other != kind).then(|| {
                format!("option `{chosen}` ({kind}) is not offered: `{option}` ({other}) is chosen")
            });
            (Some(Choice::Option(option.clone())), note)
        }
        Some(_) => (None, None),
        None => (
            Some(Choice::Cancelled),
            Some(format!(
                "option `{chosen}` ({kind}) is not offered, nor any of its kind: the answer is `cancelled`"
            )),
        ),
    }
}

/// The options of a permission request: id and kind.
pub(crate) fn options(params: &Value) -> Vec<(String, String)> {
    let list = params.get("options").and_then(Value::as_array);
    let text = |option: &Value, name: &str| Some(option.get(name)?.as_str()?.to_owned());
    list.into_iter()
        .flatten()
        .filter_map(|option| {
            let kind = text(option, "kind").unwrap_or_default();
            Some((text(option, "optionId")?, kind))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn offered(options: &[(&str, &str)]) -> Value {
        let options: Vec<Value> = options
            .iter()
            .map(|(id, kind)| json!({"optionId": id, "kind": kind}))
            .collect();
        json!({ "options": options })
    }

    fn answered(then: &Value, now: Value) -> (String, Option<String>) {
        let recorded = r#"{"jsonrpc":"2.0", "id":7,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}"#;
        let asked = Asked {
            id: json!("live-7"),
            params: now,
        };
        fitted(recorded, None, then, &asked, &Bindings::default())
    }

    #[test]
    fn an_option_that_is_offered_is_chosen_and_the_rest_stays_as_it_was() {
        let then = offered(&[("yes", "allow_once")]);
        assert_eq!(
            answered(&then, then.clone()),
            (
                r#"{"jsonrpc":"2.0", "id":"live-7","result":{"outcome":{"outcome":"selected","optionId":"yes"}}}"#.to_owned(),
                None
            )
        );
    }

    #[test]
    fn an_option_that_is_not_offered_is_found_by_its_kind() {
        let then = offered(&[("yes", "allow_once"), ("no", "reject_once")]);
        let (line, note) = answered(
            &then,
            offered(&[("no", "reject_once"), ("ok", "allow_once")]),
        );
        assert!(line.contains(r#""optionId":"ok""#), "{line}");
        assert_eq!(note, None);
        let (line, note) = answered(&then, offered(&[("always", "allow_always")]));
        assert!(line.contains(r#""optionId":"always""#), "{line}");
        assert!(note.unwrap().contains("allow_always"));
    }

    #[test]
    fn the_same_name_for_the_opposite_is_not_taken() {
        let then = offered(&[("yes", "allow_once")]);
        let (line, _) = answered(
            &then,
            offered(&[("yes", "reject_once"), ("b", "allow_once")]),
        );
        assert!(line.contains(r#""optionId":"b""#), "{line}");
        let (line, note) = answered(&then, offered(&[("yes", "reject_once")]));
        assert!(line.contains("cancelled"), "{line}");
        assert!(note.is_some());
    }
}
