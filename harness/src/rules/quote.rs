//! Text of others inside a sentence of ours.

/// The most characters of a text that are shown.
const SHOWN: usize = 60;

/// The text in double quotes, shortened, with control characters as escapes: fit for any terminal and report.
pub(super) fn quote(text: &str) -> String {
    let mut shown = String::from("\"");
    for (count, character) in text.chars().enumerate() {
        if count == SHOWN {
            shown.push('…');
            break;
        }
        match character {
            '"' | '\\' => shown.extend(['\\', character]),
            _ if character.is_control() => shown.extend(character.escape_default()),
            // Marks that turn the direction of writing would reorder the sentence around them.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(character.escape_default());
            }
            _ => shown.push(character),
        }
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_long_texts_cut() {
        assert_eq!(quote("a\u{1b}[31m\n\"b\""), r#""a\u{1b}[31m\n\"b\"""#);
        assert_eq!(quote(&"ä".repeat(61)), format!("\"{}…\"", "ä".repeat(60)));
        assert_eq!(quote(&"ä".repeat(60)), format!("\"{}\"", "ä".repeat(60)));
    }
}
