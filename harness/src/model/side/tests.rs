//! Tests of `side`.

use super::*;
use crate::model::asked::Tool;

fn without_tools(system: &str, user: &str) -> Asked {
    Asked {
        system: system.into(),
        first_user: user.into(),
        last_user: user.into(),
        ..Asked::default()
    }
}

fn with_tools(user: &str) -> Asked {
    Asked {
        tools: vec![Tool::default()],
        ..without_tools("", user)
    }
}

fn after(prompts: &[&str], turns: &[Asked]) -> Seen {
    let mut seen = Seen::default();
    prompts.iter().for_each(|prompt| seen.prompt(prompt));
    turns.iter().for_each(|turn| seen.turn(turn));
    seen
}

#[test]
fn what_a_request_without_tools_is_for_is_told_by_its_sentences() {
    let cases = [
        (
            "You are a title generator. You output only a thread title.",
            "hi",
            Some("title"),
        ),
        (
            "",
            "Generate a short title for this chat:\nhi",
            Some("title"),
        ),
        (
            "Summarize the conversation so far for a new session.",
            "x",
            Some("summary"),
        ),
        (
            "Analyze if this message indicates a new conversation topic.",
            "x",
            Some("topic"),
        ),
        (
            "You are a helpful assistant. Give short answers.",
            "What is a title?",
            None,
        ),
        (
            "You know many topics. You chat with the user.",
            "hello",
            None,
        ),
    ];
    for (system, user, wanted) in cases {
        let asked = without_tools(system, user);
        assert_eq!(reason(&asked, &Seen::default()), wanted, "{system}");
    }
}

#[test]
fn a_prompt_that_speaks_of_titles_is_a_turn() {
    let asked = without_tools("", "Generate a title for my book\n");
    assert_eq!(reason(&asked, &Seen::default()), Some("title"));
    let seen = after(&["Generate a title for my book"], &[]);
    assert_eq!(reason(&asked, &seen), None);
}

#[test]
fn no_tools_where_tools_were_seen_is_a_side_request() {
    let asked = without_tools("", "hi");
    assert_eq!(
        reason(&asked, &after(&[], &[with_tools("hi")])),
        Some("no tools")
    );
    assert_eq!(reason(&asked, &Seen::default()), None);
}

#[test]
fn other_words_than_the_user_s_are_a_side_request_once_the_agent_has_passed_them_on() {
    let asked = with_tools("Suggest what the user may say next.");
    let turn = with_tools("<now/>\nMake  the file.");
    let prompts = ["Make the file!", "And \u{2028} now?"];
    assert_eq!(
        reason(&asked, &after(&prompts, &[turn])),
        Some("other words")
    );
    // An agent that says it in its own way, or of which no prompt is known, is asking for the turn.
    assert_eq!(
        reason(&asked, &after(&prompts, &[with_tools("do it")])),
        None
    );
    assert_eq!(reason(&asked, &after(&[], &[with_tools("do it")])), None);
}

#[test]
fn a_turn_carries_its_prompt_wrapped_shortened_or_as_a_command() {
    let long = format!("Read this: {}", "x".repeat(5000));
    let prompts = [long.as_str(), "/skill Tell me", "later prompt"];
    let seen = after(&prompts, &[with_tools("later prompt")]);
    for user in [
        "Context: x.\nlater prompt",
        &long[..200],
        "SKILL TEXT\nTell me",
        "",
    ] {
        assert_eq!(reason(&with_tools(user), &seen), None, "{user}");
    }
    let seen = after(&["first", "/compact"], &[with_tools("first")]);
    assert_eq!(reason(&with_tools("Sum it up."), &seen), None);
}

#[test]
fn a_structured_answer_fits_its_schema() {
    let mut asked = without_tools("", "x");
    asked.answer = Answer::Json(Some(json!({
        "type": "object",
        "properties": {"new": {"type": "boolean"}, "title": {"type": ["string", "null"]}},
        "required": ["new", "title"]
    })));
    assert_eq!(reason(&asked, &Seen::default()), Some("structured answer"));
    assert_eq!(
        answer(&asked, "structured answer"),
        r#"{"new":false,"title":null}"#
    );
}

#[test]
fn a_reviewer_is_told_to_ask_and_never_that_something_is_safe() {
    let asked_for = |properties: Value| {
        let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
        let schema = json!({"type": "object", "properties": properties, "required": names});
        let asked = Asked {
            answer: Answer::Json(Some(schema)),
            ..without_tools("You are a guardian that assesses the risk of actions.", "x")
        };
        assert_eq!(reason(&asked, &Seen::default()), Some(REVIEW));
        serde_json::from_str::<Value>(&answer(&asked, REVIEW)).unwrap()
    };
    let of = |values: &[&str]| json!({"type": "string", "enum": values});
    assert_eq!(
        asked_for(
            json!({"outcome": of(&["allow", "deny", "ask_user"]), "why": {"type": "string"}})
        )["outcome"],
        "ask_user"
    );
    assert_eq!(
        asked_for(
            json!({"risk_level": of(&["low", "medium", "high"]), "outcome": of(&["allow", "deny"])})
        ),
        json!({"risk_level": "high", "outcome": "deny"})
    );
    assert_eq!(
        asked_for(
            json!({"risk_score": {"type": "integer", "maximum": 10}, "safe": {"type": "boolean"},
                         "unsafe": {"type": "boolean"}})
        ),
        json!({"risk_score": 10, "safe": false, "unsafe": true})
    );
    let plain = without_tools(
        "You are a reviewer: assess the safety of the command.",
        "ls",
    );
    assert_eq!(
        answer(&plain, reason(&plain, &Seen::default()).unwrap()),
        CAREFUL
    );
}

#[test]
fn an_agent_without_tools_gets_its_script_even_if_its_prompt_speaks_of_titles_further_down() {
    let system = format!(
        "You are a helpful assistant. {} Give each page a title.",
        "x".repeat(HEAD)
    );
    let turn = without_tools(&system, "Make a page.");
    assert_eq!(reason(&turn, &after(&["Make a page."], &[])), None);
    let seen = after(&["Make a page."], std::slice::from_ref(&turn));
    assert_eq!(reason(&turn, &seen), None);
    let other = without_tools("", "Name this in two words.");
    assert_eq!(reason(&other, &seen), Some("other words"));
}

#[test]
fn a_sub_agent_is_told_by_its_model_system_text_and_tools_where_words_do_not_tell() {
    let seen = after(&["Look around."], &[with_tools("I shall see.")]);
    let sub = Asked {
        system: "You are a search agent.".into(),
        tools: vec![Tool {
            name: "grep".into(),
            ..Tool::default()
        }],
        ..with_tools("Search for x.")
    };
    assert_eq!(reason(&sub, &seen), Some("other system prompt"));
    let one_change = Asked {
        system: "It is Monday.".into(),
        ..with_tools("I shall see again.")
    };
    assert_eq!(reason(&one_change, &seen), None);
    let small = Asked {
        max_tokens: Some(1),
        ..with_tools("Look around.")
    };
    assert_eq!(reason(&small, &seen), Some("warm-up"));
}

#[test]
fn what_comes_before_the_first_prompt_is_a_warm_up_where_prompts_are_told() {
    let mut seen = Seen::default();
    let early = with_tools("ping");
    assert_eq!(reason(&early, &seen), None);
    seen.prompts_are_told();
    assert_eq!(reason(&early, &seen), Some("warm-up"));
    seen.prompt("Make the file.");
    assert_eq!(reason(&with_tools("Make the file."), &seen), None);
}

#[test]
fn a_question_around_the_prompt_is_a_side_request_though_it_offers_tools() {
    let seen = after(&["Make the file."], &[]);
    let asks = "Does the following message begin a new topic of conversation? Answer yes or no.\n\nMake the file.";
    assert_eq!(reason(&with_tools(asks), &seen), Some("topic"));
    let notes = "Give each change a title when you create a commit.";
    for turn in [
        format!(
            "<environment>\n{notes}\n</environment>\n<user_query>\nMake the file.\n</user_query>"
        ),
        format!(
            "{notes} {}\nMake the file.",
            "It is Monday. ".repeat(INSTRUCTION / 10)
        ),
        "Make the file.".to_owned(),
    ] {
        assert_eq!(reason(&with_tools(&turn), &seen), None, "{turn}");
    }
}

#[test]
fn a_prompt_that_speaks_of_topics_is_a_turn_of_an_agent_with_tools() {
    let prompt = "Which topic has this conversation? Detect it.";
    let seen = after(&[prompt], &[]);
    for turn in [
        prompt.to_owned(),
        format!("<user_query>{prompt}</user_query> < 3"),
    ] {
        assert_eq!(reason(&with_tools(&turn), &seen), None, "{turn}");
    }
}

#[test]
fn so_short_an_answer_is_asked_for_beside_the_conversation() {
    let seen = after(&["Make the file."], &[]);
    let mut asked = without_tools("", "Name this: Make the file.");
    assert_eq!(reason(&asked, &seen), None);
    asked.max_tokens = Some(64);
    assert_eq!(reason(&asked, &seen), Some("short answer"));
    // The tools say that it is a turn, however little it may say.
    asked.tools.push(Tool::default());
    assert_eq!(reason(&asked, &seen), None);
}
