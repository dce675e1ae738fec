//! One test for each scenario of these areas. Without `--only` it is all scenarios.

acp_harness::scenarios_as_tests![
    "--only",
    "init/*,cancel/*",
    "--",
    env!("CARGO_BIN_EXE_agent-under-test"),
];
