//! The commands in groups, as the help shows them.

use clap::CommandFactory as _;

use super::Arguments;

/// What a person is about, and the commands for it. Each command stands in one group.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Judge", &["run", "check", "init", "doctor"]),
    (
        "Record and replay",
        &["record", "replay", "diff", "import", "redact"],
    ),
    (
        "For authors of clients",
        &["bob", "play", "model", "mcp-echo"],
    ),
    (
        "Look",
        &["show", "compare", "list", "explain", "report", "merge"],
    ),
    ("Set up", &["completions", "man"]),
];

/// The command line, with help that shows commands in groups.
pub(super) fn command() -> clap::Command {
    let command = Arguments::command();
    let groups = in_groups(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

/// The commands with a sentence each, group by group; those of no group last.
fn in_groups(command: &clap::Command) -> String {
    let named = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let all = || {
        let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
        shown.filter(|it| it.get_name() != "help")
    };
    let width = all().map(|it| it.get_name().len()).max().unwrap_or(0);
    let line = |it: &clap::Command| {
        let about = it.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:width$}  {about}\n", it.get_name())
    };
    let mut out = String::new();
    for (title, names) in GROUPS {
        let lines: String = names
            .iter()
            .filter_map(|name| all().find(|it| it.get_name() == *name))
            .map(line)
            .collect();
        out.push_str(&format!("{title}:\n{lines}\n"));
    }
    let others: String = all().filter(|it| !named(it.get_name())).map(line).collect();
    if !others.is_empty() {
        out.push_str(&format!("Others:\n{others}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_stands_in_one_group_and_each_name_is_a_command() {
        let command = Arguments::command();
        let names: Vec<&str> = command.get_subcommands().map(|it| it.get_name()).collect();
        for name in &names {
            let groups = GROUPS.iter().filter(|(_, all)| all.contains(name));
            assert_eq!(groups.count(), 1, "the groups that hold `{name}`");
        }
        for (_, all) in GROUPS {
            for name in all {
                assert!(names.contains(name), "`{name}` is no command");
            }
        }
    }

    #[test]
    fn the_arguments_are_well_formed() {
        Arguments::command().debug_assert();
    }
}
