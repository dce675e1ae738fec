//! `harness compare`: agents side by side, and what became better or worse.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::command_line::Harness;

/// Reports of agents, made once for a test.
struct Reports {
    harness: Harness,
}

impl Reports {
    fn new() -> Self {
        Self {
            harness: Harness::new(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.harness.state.path().join(name)
    }

    /// Runs an agent, and gives the path of its report.
    fn run(&self, name: &str, agent: &str) -> String {
        let path = self.path(&format!("{name}.json")).display().to_string();
        let report = format!("json={path}");
        let words = ["--agent", agent, "--only", "CANCEL-01,CANCEL-05", "-q"];
        self.harness
            .run(&[&words[..], &["--report", &report]].concat());
        path
    }
}

const FAULTY: &str = "bob --fault cancel-ends-the-turn-as-done";

fn changes(table: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = table["changes"].as_array().unwrap().iter();
    all.map(|it| (text(&it["way"]), text(&it["id"]))).collect()
}

#[test]
fn what_became_worse_fails_and_what_became_better_does_not() {
    let reports = Reports::new();
    let (good, bad) = (reports.run("good", "bob"), reports.run("bad", FAULTY));
    let ran = reports
        .harness
        .call(&["compare", &good, &bad, "--report", "json=-"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let expected = ["CANCEL-01", "CANCEL-05"].map(|id| ("worse".to_owned(), id.to_owned()));
    assert_eq!(changes(&ran.json())[..2], expected);
    assert!(ran.stderr.contains("worse: 2"), "{}", ran.stderr);
    assert!(ran.stderr.contains("CANCEL-01 on bad: "), "{}", ran.stderr);

    let ran = reports.harness.call(&["compare", &bad, &good]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("better: 2"), "{}", ran.stdout);
    let ran = reports
        .harness
        .call(&["compare", &format!("a={good}"), &format!("b={good}")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("worse: 0"), "{}", ran.stdout);
}

#[test]
fn the_cell_of_a_failure_leads_to_the_message() {
    let reports = Reports::new();
    let (good, bad) = (reports.run("good", "bob"), reports.run("bad", FAULTY));
    let ran = reports
        .harness
        .call(&["compare", &good, &bad, "--report", "json=-"]);
    let table = ran.json();
    let rows = table["requirements"].as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == "CANCEL-01").unwrap();
    assert_eq!(row["cells"]["good"]["status"], "pass");
    let cell = &row["cells"]["bad"];
    assert_eq!(cell["status"], "fail");
    let trace = fs::read_to_string(cell["trace"].as_str().unwrap()).unwrap();
    let event = usize::try_from(cell["event"].as_u64().unwrap()).unwrap();
    let line = trace.lines().nth(event + 1).unwrap();
    assert!(line.contains("end_turn"), "{line}");

    let ran = reports
        .harness
        .call(&["compare", &good, &bad, "--report", "markdown=-"]);
    let before = ran.stdout.split("\n## must").next().unwrap();
    assert!(before.contains("## Fails on some"), "{}", ran.stdout);
    assert!(before.contains("| CANCEL-01 must | [pass]("), "{before}");
}

#[test]
fn an_earlier_table_says_what_changed_since() {
    let reports = Reports::new();
    let table = reports.path("table.json").display().to_string();
    let good = reports.run("agent", "bob");
    let target = format!("json={table}");
    let ran = reports.harness.call(&[
        "compare",
        &good,
        &good.replace("agent.json", "./agent.json"),
    ]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("two columns are called `agent`"),
        "{}",
        ran.stderr
    );
    let two = format!("other={good}");
    let ran = reports
        .harness
        .call(&["compare", &good, &two, "--report", &target]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let bad = reports.run("agent", FAULTY);
    let ran = reports
        .harness
        .call(&["compare", &bad, &two, "--against", &table]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(
        ran.stdout
            .contains("agent CANCEL-01 must: pass -> fail in cancel/"),
        "{}",
        ran.stdout
    );
}

#[test]
fn agents_are_run_where_they_are_named() {
    let reports = Reports::new();
    let file = reports.path("agents.toml");
    fs::write(
        &file,
        "[[agent]]\nname = \"later\"\ncommand = \"bob --surface 1.0.3\"\n",
    )
    .unwrap();
    let file = file.display().to_string();
    let words = [
        "compare",
        "--agent",
        "first=bob",
        "--agents",
        &file,
        "--report",
        "json=-",
    ];
    let flags = ["--", "--only", "init/handshake", "-q"];
    let ran = reports.harness.call(&[&words[..], &flags].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let table = ran.json();
    let names: Vec<&str> = table["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| agent["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["first", "later"]);
    assert_eq!(table["agents"][1]["version"], "1.0.3");
}

#[test]
fn an_agent_that_does_not_come_up_is_told_by_the_exit_code() {
    let ran = Harness::new().call(&[
        "compare",
        "--agent",
        "one=bob",
        "--agent",
        "none=/no/such/agent",
        "--",
        "--only",
        "init/handshake",
        "-q",
    ]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
}

#[test]
fn what_cannot_be_compared_is_told_before_anything_is_run() {
    let reports = Reports::new();
    let good = reports.run("good", "bob");
    let agents = reports.path("agents.toml");
    fs::write(&agents, "[[agent]]\nname = \"a\"\ncomand = \"b\"\n").unwrap();
    let agents = agents.display().to_string();
    for (words, part) in [
        (vec![good.as_str()], "two reports or agents at least"),
        (vec![&good, &agents], "agents.toml` is no report"),
        (
            vec![&good, "x=/no/such.json"],
            "`/no/such.json` cannot be read",
        ),
        (vec![&good, "--agents", &agents], "agents.toml:3:1"),
        (
            vec![&good, "--agent", "bob"],
            "a name and a command are expected",
        ),
        (
            vec![&good, "--agent", "b=bob", "--report", "junit=x"],
            "not as `junit`",
        ),
        (
            vec![&good, "--agent", "b=bob", "--", "--partition", "1/2"],
            "have no place",
        ),
        (
            vec![&good, "--agent", "b=bob", "--", "--only", "NONE-1"],
            "`NONE-1`",
        ),
        (
            vec![&good, "--against", &good],
            "is no table of `harness compare`",
        ),
    ] {
        let ran = reports.harness.call(&[&["compare"], &words[..]].concat());
        assert_eq!(ran.code, 2, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{words:?}: {}", ran.stderr);
    }
}
