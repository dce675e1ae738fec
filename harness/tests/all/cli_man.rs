//! The manual and the completions of shells, made from the definitions of the arguments.

use std::process::Command;

use crate::command_line::Harness;

#[test]
fn the_manual_has_a_page_for_each_command() {
    let harness = Harness::new();
    let folder = harness.state.path().join("man1");
    let ran = harness.call(&["man", folder.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert!(page("harness.1").contains("harness\\-show(1)"));
    assert!(page("harness-run.1").contains("startup\\-timeout"));
    assert!(page("harness-show.1").contains("EVENT[:N]"));
    let one = harness.call(&["man"]);
    assert_eq!(one.code, 0);
    assert!(one.stdout.contains(".TH harness 1"), "{}", one.stdout);
    let file = harness.state.path().join("file");
    std::fs::write(&file, "").unwrap();
    let ran = harness.call(&["man", file.join("x").to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("choose a folder"), "{}", ran.stderr);
}

#[test]
fn each_shell_has_completions_that_know_the_flags() {
    let harness = Harness::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = harness.call(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
        for word in ["startup-timeout", "around", "mcp-echo"] {
            assert!(ran.stdout.contains(word), "{word} for {shell}");
        }
    }
    assert_eq!(harness.call(&["completions", "tcsh"]).code, 2);
}

#[test]
fn bash_completes_a_command_and_a_flag() {
    let harness = Harness::new();
    let script = harness.state.path().join("harness.bash");
    std::fs::write(&script, harness.call(&["completions", "bash"]).stdout).unwrap();
    let completed = |words: &[&str]| {
        let line = format!(
            "source '{}'; COMP_WORDS=({}); COMP_CWORD={}; _harness harness '{}' ''; echo \"${{COMPREPLY[@]}}\"",
            script.display(),
            words.join(" "),
            words.len() - 1,
            words.last().unwrap()
        );
        let output = Command::new("bash").args(["-c", &line]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(completed(&["harness", "sh"]), "show");
    assert_eq!(completed(&["harness", "show", "--arou"]), "--around");
}
