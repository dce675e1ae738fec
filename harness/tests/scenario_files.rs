//! Scenario files: what is read from them, and what is said where one is wrong.

use acp_harness::scenario::file::{Action, Condition, Permission, Scenario, Set, read};
use acp_harness::source::Source;
use acp_harness::spec::Catalogue;

fn scenarios(text: &str) -> Vec<Scenario> {
    match read(
        "area/name",
        &Source::new("scenarios/area/name.toml", text),
        &|id| id != "NOPE-01",
    ) {
        Ok(scenarios) => scenarios,
        Err(problem) => panic!("{problem}"),
    }
}

#[test]
fn the_example_of_the_design_is_read_as_it_is() {
    let read = scenarios(
        r#"
title = "A rejected tool call does not happen"
covers = ["PERM-04"]
needs = { permission = true }                # no permission asked: inconclusive

[[model]]                                    # what the scripted model replies, turn by turn
call = { kind = "execute", command = "touch out.txt" }
[[model]]
say = "Understood."

[[step]]
prompt = "Make the file out.txt"             # initialize and session/new are implied; write them to change them
permission = "reject_once"                   # not offered: reject_always, else inconclusive
expect.workspace.absent = "out.txt"
note.toolCall.status = "failed"              # recorded, not judged: no text demands it
"#,
    );
    assert_eq!(read.len(), 1);
    let scenario = &read[0];
    assert_eq!(scenario.id, "area/name");
    assert!(scenario.needs.permission && scenario.needs.model && !scenario.needs.tool);
    assert_eq!(scenario.model.len(), 2);
    let keys: Vec<_> = scenario
        .steps
        .iter()
        .map(|step| (step.action.key(), step.implied))
        .collect();
    assert_eq!(
        keys,
        [("initialize", true), ("new", true), ("prompt", false)]
    );
    let prompt = &scenario.steps[2];
    assert!(matches!(&prompt.action, Action::Prompt(blocks) if blocks.len() == 1));
    assert_eq!(prompt.permission, [Permission::RejectOnce]);
    assert_eq!(prompt.expect[0].covers, ["PERM-04"]);
    assert!(
        matches!(&prompt.expect[0].conditions[..], [Condition::Workspace(files)] if files.absent == ["out.txt"])
    );
    assert!(
        matches!(&prompt.note[0].conditions[..], [Condition::ToolCall(call)] if call.status == ["failed"])
    );
}

#[test]
fn all_scenarios_of_the_project_are_right() {
    let catalogue = Catalogue::v1();
    let set = match Set::built_in(&|id| catalogue.get(id).is_some()) {
        Ok(set) => set,
        Err(error) => panic!("{error}"),
    };
    assert!(set.iter().count() > 40, "found {}", set.iter().count());
}
