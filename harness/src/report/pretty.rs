//! JSON over several lines, without reading it as values: what is shown is what was on the wire.

/// The text of one JSON value with each member and entry on a line of its own. Spellings stay as they are; only white space
/// between tokens is put otherwise. What is no JSON comes out in some shape, whole.
pub(crate) fn pretty(json: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut depth = 0_usize;
    let mut in_text = false;
    let mut escaped = false;
    // A bracket of which it is not yet known whether it is empty.
    let mut opened = false;
    for character in json.chars() {
        if in_text {
            line.push(character);
            in_text = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        if matches!(character, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        if opened && !matches!(character, '}' | ']') {
            depth += 1;
            lines.push(std::mem::take(&mut line));
            line = indent(depth);
        }
        let was_open = std::mem::take(&mut opened);
        match character {
            '{' | '[' => {
                line.push(character);
                opened = true;
            }
            '}' | ']' => {
                if !was_open {
                    depth = depth.saturating_sub(1);
                    lines.push(std::mem::take(&mut line));
                    line = indent(depth);
                }
                line.push(character);
            }
            ',' => {
                line.push(',');
                lines.push(std::mem::take(&mut line));
                line = indent(depth);
            }
            ':' => line.push_str(": "),
            _ => {
                in_text = character == '"';
                line.push(character);
            }
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Deeper than this it is not indented further, so that a deep value does not become a wide one.
const DEEPEST: usize = 40;

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(DEEPEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_stay_and_empty_brackets_close_at_once() {
        let json = r#"{"a":1.0e5,"b":{},"c":[ ],"d":[1,{"e":"x, \"y\": {"}]}"#;
        insta::assert_snapshot!(pretty(json).join("\n"), @r#"
        {
          "a": 1.0e5,
          "b": {},
          "c": [],
          "d": [
            1,
            {
              "e": "x, \"y\": {"
            }
          ]
        }
        "#);
    }

    proptest! {
        #[test]
        fn nothing_but_white_space_is_added(json in r#"(\{|\}|\[|\]|,|:|"(a|\\"|\\\\| )*"|1|x){0,30}"#) {
            let shown: String = pretty(&json).concat();
            let dense = |text: &str| text.replace(' ', "");
            prop_assert_eq!(dense(&shown), dense(&json));
        }
    }
}
