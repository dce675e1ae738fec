//! Differences between two traces, as a person reads them: one place, two values, what stands around them.

use std::time::Duration;

use similar::{ChangeTag, TextDiffConfig};

use super::{Paint, plain};
use crate::diff::{Change, Class, Comparison, Difference};

/// How long the words of one text may be compared.
const PATIENCE: Duration = Duration::from_millis(200);
/// From so many characters on a text is compared by word.
const LONG: usize = 60;
/// The longest text that is compared by word, in bytes.
const COMPARED: usize = 64 * 1024;
/// So many characters of a value are shown, unless all are asked for.
const SHOWN: usize = 400;
/// So many words around a change are shown.
const AROUND: usize = 6;
/// So many differences are shown, unless all are asked for.
const LISTED: usize = 50;

/// What is shown of differences, and how.
#[derive(Clone, Copy, Debug)]
pub struct Showing {
    /// The lowest class that is shown.
    pub level: Class,
    /// Whether every difference is shown, with whole values.
    pub all: bool,
    /// Colour.
    pub paint: Paint,
}

/// The differences from a class on, each as a paragraph, and a line that counts them.
pub fn differences(comparison: &Comparison, showing: Showing) -> String {
    let mut out = String::new();
    let mut shown: Vec<&Difference> = comparison
        .differences
        .iter()
        .filter(|difference| difference.class >= showing.level)
        .collect();
    // What breaks a rule must not stand below a screen of other things.
    shown.sort_by_key(|difference| difference.class != Class::Breaking);
    let most = if showing.all { usize::MAX } else { LISTED };
    let listed = shown.get(..most).unwrap_or(&shown);
    let left_out = comparison.omitted + shown.len() - listed.len();
    // What stands around several of them is shown once.
    for group in listed.chunk_by(|one, next| one.before == next.before && one.after == next.after) {
        for (index, difference) in group.iter().enumerate() {
            let ends = (index == 0, index + 1 == group.len());
            out.push_str(&one(difference, ends, showing));
            out.push('\n');
        }
    }
    if left_out > 0 {
        let hint = if showing.all {
            ""
        } else {
            " (all that are listed: -v)"
        };
        out.push_str(&format!(
            "… and {left_out} more that are not shown here{hint}\n\n"
        ));
    }
    out.push_str(&counts(comparison, showing.level));
    out.push('\n');
    out
}

/// How many differences there are, by class; those below the level apart.
pub fn counts(comparison: &Comparison, level: Class) -> String {
    let count = |class: Class| {
        comparison
            .differences
            .iter()
            .filter(|difference| difference.class == class)
            .count()
    };
    let listed = |classes: &mut dyn Iterator<Item = Class>| {
        let parts: Vec<String> = classes
            .filter(|class| count(*class) > 0)
            .map(|class| format!("{} {class}", count(class)))
            .collect();
        parts.join(", ")
    };
    let from = Class::ALL.into_iter().rev().filter(|class| *class >= level);
    let below = Class::ALL.into_iter().rev().filter(|class| *class < level);
    let total = comparison.at_least(level);
    let mut line = match total {
        0 => format!("no difference of class {level} or higher"),
        1 => format!("1 difference: {}", listed(&mut from.into_iter())),
        many => format!("{many} differences: {}", listed(&mut from.into_iter())),
    };
    let rest = listed(&mut below.into_iter());
    if !rest.is_empty() {
        let lowest = Class::ALL
            .into_iter()
            .find(|class| count(*class) > 0)
            .unwrap_or(level);
        line.push_str(&format!("; not shown: {rest} (--level {lowest})"));
    }
    line
}

/// One difference; `first` and `last` tell whether what stands before and after it is shown with it.
fn one(difference: &Difference, (first, last): (bool, bool), showing: Showing) -> String {
    let paint = showing.paint;
    let class = match difference.class {
        Class::Breaking => paint.bad(difference.class.as_str()),
        Class::Behaviour => paint.open(difference.class.as_str()),
        Class::Text | Class::Timing => paint.faint(difference.class.as_str()),
    };
    let mut lines = vec![
        format!(
            "{class} · {} · {}",
            difference.change,
            paint.strong(&plain(&difference.place))
        ),
        format!("  {}", plain(&difference.message)),
    ];
    let neighbour = |line: &String| paint.faint(&format!("      {}", plain(line)));
    if first {
        lines.extend(difference.before.iter().map(neighbour));
    }
    lines.extend(values(difference, showing));
    if last {
        lines.extend(difference.after.iter().map(neighbour));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The events of both sides, as far as they are known.
fn both(difference: &Difference) -> String {
    let events = [difference.left_event, difference.right_event].into_iter();
    let known: Vec<String> = events
        .flatten()
        .map(|event| format!("event {event}"))
        .collect();
    known.join(" → ")
}

fn values(difference: &Difference, showing: Showing) -> Vec<String> {
    let paint = showing.paint;
    let event =
        |event: Option<u64>| event.map_or_else(String::new, |event| format!("event {event}"));
    let (left, right) = (difference.left.as_deref(), difference.right.as_deref());
    match (left, right) {
        (Some(left), Some(right)) if difference.change == Change::Moved => {
            let places = both(difference);
            let where_to = if places.is_empty() {
                places
            } else {
                format!("  ({places})")
            };
            let same = if left == right { left } else { right };
            vec![format!(
                "    ~ {}{}",
                cut(same, showing.all),
                paint.faint(&where_to)
            )]
        }
        (Some(left), Some(right)) if by_word(left, right) => {
            let places = paint.faint(&format!("    {}", both(difference)));
            vec![format!("    ± {}", words(left, right, paint)), places]
        }
        _ => {
            let mut lines = Vec::new();
            let mut side = |mark: &str,
                            value: Option<&str>,
                            number: Option<u64>,
                            painted: &dyn Fn(&str) -> String| {
                let Some(value) = value else {
                    return;
                };
                for (index, line) in value.split('\n').enumerate() {
                    let place = if index == 0 {
                        event(number)
                    } else {
                        String::new()
                    };
                    let place = if place.is_empty() {
                        place
                    } else {
                        format!("  ({place})")
                    };
                    lines.push(format!(
                        "{}{}",
                        painted(&format!("    {mark} {}", cut(line, showing.all))),
                        paint.faint(&place)
                    ));
                }
            };
            side("-", left, difference.left_event, &|text| paint.bad(text));
            side("+", right, difference.right_event, &|text| paint.good(text));
            if lines.len() > 2 * AROUND && !showing.all {
                let more = lines.len() - 2 * AROUND;
                lines.truncate(2 * AROUND);
                lines.push(paint.faint(&format!("      … {more} more lines (-v)")));
            }
            lines
        }
    }
}

/// The start of a value, as plain text on one line.
fn cut(value: &str, all: bool) -> String {
    let mut characters = value.chars();
    let mut short: String = if all {
        value.to_owned()
    } else {
        characters.by_ref().take(SHOWN).collect()
    };
    let more = if all { 0 } else { characters.count() };
    if more > 0 {
        short.push_str(&format!("… ({more} more characters: -v)"));
    }
    plain(&short)
}

fn by_word(left: &str, right: &str) -> bool {
    let long = |text: &str| text.len() > LONG && text.contains([' ', '\n']);
    long(left) && long(right) && left.len() + right.len() <= COMPARED
}

/// Two texts as one, with what went and what came marked; far from a change it is left out.
fn words(left: &str, right: &str, paint: Paint) -> String {
    let diff = TextDiffConfig::default()
        .timeout(PATIENCE)
        .diff_words(left, right);
    let mut out = String::new();
    let changes: Vec<(ChangeTag, String)> = diff
        .iter_all_changes()
        .map(|change| (change.tag(), change.value().to_owned()))
        .collect();
    for group in changes.chunk_by(|one, next| one.0 == next.0) {
        let text: String = group.iter().map(|(_, word)| word.as_str()).collect();
        let tag = group.first().map_or(ChangeTag::Equal, |(tag, _)| *tag);
        match tag {
            ChangeTag::Equal => {
                let first = out.is_empty();
                out.push_str(&plain(&middle(&text, first).replace('\n', "↵")));
            }
            ChangeTag::Delete => out.push_str(&marked(paint, &text, ("[-", "-]"), Paint::bad)),
            ChangeTag::Insert => out.push_str(&marked(paint, &text, ("{+", "+}"), Paint::good)),
        }
    }
    out
}

fn marked(
    paint: Paint,
    text: &str,
    marks: (&str, &str),
    painted: fn(Paint, &str) -> String,
) -> String {
    let text = cut(&text.replace('\n', "↵"), false);
    painted(paint, &format!("{}{text}{}", marks.0, marks.1))
}

/// The ends of an unchanged text; of the first one only its end.
fn middle(text: &str, first: bool) -> String {
    let pieces: Vec<&str> = text.split_inclusive(' ').collect();
    if pieces.len() <= 2 * AROUND + 2 {
        return text.to_owned();
    }
    let start: String = if first {
        String::new()
    } else {
        pieces.iter().take(AROUND).copied().collect()
    };
    let end: String = pieces.iter().skip(pieces.len() - AROUND).copied().collect();
    format!("{start}… {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(left: Option<&str>, right: Option<&str>) -> Difference {
        Difference {
            class: Class::Text,
            change: Change::Changed,
            place: "session-1 · turn 1 · agent message".to_owned(),
            left: left.map(str::to_owned),
            right: right.map(str::to_owned),
            left_event: Some(3),
            right_event: Some(4),
            requirements: Vec::new(),
            message: "`text` has another value".to_owned(),
            before: vec!["client: session/prompt `hi`".to_owned()],
            after: Vec::new(),
        }
    }

    fn shown(difference: Difference, level: Class) -> String {
        let comparison = Comparison {
            differences: vec![difference],
            ..Comparison::default()
        };
        differences(
            &comparison,
            Showing {
                level,
                all: false,
                paint: Paint::default(),
            },
        )
    }

    #[test]
    fn a_short_value_is_shown_twice_and_a_long_one_by_word() {
        let text = shown(difference(Some("a"), Some("b\u{1b}[2J")), Class::Text);
        insta::assert_snapshot!(text, @r"
        text · changed · session-1 · turn 1 · agent message
          `text` has another value
              client: session/prompt `hi`
            - a  (event 3)
            + b\u001b[2J  (event 4)

        1 difference: 1 text
        ");
        let long =
            "The quick brown fox jumps over the lazy dog, and then it sleeps for a long while.";
        let text = shown(
            difference(Some(long), Some(&long.replace("brown", "red"))),
            Class::Text,
        );
        assert!(text.contains("± The quick [-brown-]{+red+} fox"), "{text}");
    }

    #[test]
    fn what_is_below_the_level_is_counted() {
        let text = shown(difference(Some("a"), Some("b")), Class::Behaviour);
        assert_eq!(
            text,
            "no difference of class behaviour or higher; not shown: 1 text (--level text)\n"
        );
    }
}
