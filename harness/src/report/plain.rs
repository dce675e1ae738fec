//! Text of others on a terminal.

/// The text with every control character and every mark that turns or hides what stands around it as an escape, so that
/// text from an agent is never a control sequence on the terminal.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            out.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            out.push(character);
        }
    }
    out
}

/// Characters that are no visible text: control characters, marks for the direction of writing, those of no width, and those
/// that XML does not know.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00ad}'
                | '\u{061c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'
                | '\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_and_turned_text_are_shown_as_escapes() {
        assert_eq!(plain("a\u{1b}[31mb\r\n"), "a\\u001b[31mb\\u000d\\u000a");
        assert_eq!(plain("x\u{202e}y\u{9b}z"), "x\\u202ey\\u009bz");
        assert_eq!(plain("Ärger ✓"), "Ärger ✓");
    }
}
