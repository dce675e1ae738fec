//! Draws steps as lines between two lanes.

use unicode_width::UnicodeWidthStr as _;

use super::fold::PAUSE;
use super::narrator::span;
use super::step::{Step, Stroke, Tone, Way};
use crate::report::Screen;
use crate::report::table::wrapped;

/// Columns of the number of an event, of the time, and of session and turn.
const NUMBER: usize = 6;
const SECONDS: usize = 9;
const TURN: usize = 6;
/// From so many columns on there is one for session and turn.
const WITH_TURN: usize = 80;
/// The shortest arrow, with its head.
const ARROW: usize = 3;
/// So many columns of what is in a message count for more than which event it answers.
const LEAST: usize = 12;
/// Columns of an id that is a long text.
const ID: usize = 9;

/// The characters of the picture.
struct Glyphs {
    lane: &'static str,
    busy: &'static str,
    right: &'static str,
    left: &'static str,
    request: &'static str,
    answer: &'static str,
    notice: &'static str,
    gap: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    lane: "│",
    busy: "┃",
    right: "▸",
    left: "◂",
    request: "─",
    answer: "╌",
    notice: "·",
    gap: "⋮",
};

const ASCII: Glyphs = Glyphs {
    lane: "|",
    busy: "#",
    right: ">",
    left: "<",
    request: "-",
    answer: "=",
    notice: ".",
    gap: ":",
};

/// Draws steps, each in a line of its own, and what lies between them: pauses, and events that are left out.
#[derive(Debug)]
pub(crate) struct Lanes {
    screen: Screen,
    /// The last event that was drawn, and when it was.
    last: Option<(u64, f64)>,
    /// Whether client and agent are busy after it.
    busy: (bool, bool),
    /// Whether what comes before the first step is said to be left out.
    whole: bool,
}

impl Lanes {
    /// An empty picture.
    pub(crate) fn new(screen: Screen) -> Self {
        Self {
            screen,
            last: None,
            busy: (false, false),
            whole: true,
        }
    }

    /// An empty picture of a part, which need not begin at the start.
    pub(crate) fn of_part(screen: Screen) -> Self {
        Self {
            whole: false,
            ..Self::new(screen)
        }
    }

    fn glyphs(&self) -> &'static Glyphs {
        if self.screen.ascii { &ASCII } else { &UNICODE }
    }

    fn has_turn(&self) -> bool {
        self.screen.width >= WITH_TURN
    }

    /// Columns left of the lanes.
    fn gutter(&self) -> usize {
        let turn = if self.has_turn() { TURN + 1 } else { 0 };
        NUMBER + 1 + SECONDS + 1 + turn
    }

    /// Columns between the lanes; one is kept free at the right for arrows to and from the model.
    fn between(&self) -> usize {
        self.screen.width.saturating_sub(self.gutter() + 3)
    }

    /// The names of the columns.
    pub(crate) fn head(&self) -> String {
        let turn = if self.has_turn() { "  turn " } else { "" };
        let names = format!("{:>NUMBER$} {:>SECONDS$}{turn} client", "event", "seconds");
        let room = self.gutter() + self.between() + 2;
        let space = room.saturating_sub(names.len() + "agent".len());
        self.screen
            .paint
            .faint(&format!("{names}{}agent", " ".repeat(space)))
    }

    /// The lines of a step; `marked`: it is the one that the picture is about.
    pub(crate) fn step(&mut self, step: &Step, marked: bool) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.since_last(step));
        if self.last.is_none_or(|(last, _)| step.last > last) {
            self.last = Some((step.last, step.until));
        }
        self.busy = (step.client_busy, step.agent_busy);
        lines.push(self.line(step, marked));
        lines
    }

    /// What lies between the last step and this one.
    fn since_last(&self, step: &Step) -> Option<String> {
        let (left_out, passed) = match self.last {
            // A request that is shown late, beside its answer, comes before what was drawn last.
            Some((last, _)) if step.event <= last => return None,
            Some((last, at)) => (step.event - last - 1, step.at - at),
            None if self.whole => (step.event, 0.0),
            None => (0, 0.0),
        };
        let mut words = match left_out {
            0 => Vec::new(),
            1 => vec!["1 event left out".to_owned()],
            many => vec![format!("{many} events left out")],
        };
        if passed >= PAUSE {
            words.push(span(passed));
        }
        if words.is_empty() {
            return None;
        }
        let text = words.join(", ");
        let room = self.between();
        let before = room.saturating_sub(text.len()) / 2;
        let after = room.saturating_sub(text.len() + before);
        let gap = self.glyphs().gap;
        Some(self.screen.paint.faint(&format!(
            "{}{gap}{}{text}{}{gap}",
            " ".repeat(self.gutter()),
            " ".repeat(before),
            " ".repeat(after)
        )))
    }

    fn line(&self, step: &Step, marked: bool) -> String {
        let glyphs = self.glyphs();
        let paint = self.screen.paint;
        let turn = match step.place {
            _ if !self.has_turn() => String::new(),
            Some((session, Some(turn))) => format!(" {:<TURN$}", format!(" {session}.{turn}")),
            Some((session, None)) => format!(" {:<TURN$}", format!(" {session}")),
            None => format!(" {:<TURN$}", ""),
        };
        let number = match (marked, self.screen.ascii) {
            (true, true) => format!("> {}", step.event),
            (true, false) => format!("▸ {}", step.event),
            (false, _) => step.event.to_string(),
        };
        let gutter = format!("{number:>NUMBER$} {:>SECONDS$.3}{turn} ", step.at);
        let gutter = if marked {
            paint.bad(&gutter)
        } else {
            paint.faint(&gutter)
        };
        let lane = |busy: bool| if busy { glyphs.busy } else { glyphs.lane };
        let shaft = match step.stroke {
            Stroke::Request => glyphs.request,
            Stroke::Answer => glyphs.answer,
            Stroke::Notice => glyphs.notice,
        };
        let between = self.between();
        let arrow = match step.way {
            Way::ToAgent | Way::ToClient => ARROW,
            Way::AtAgent | Way::ToModel | Way::FromModel => 0,
        };
        let (text, columns) = self.words(step, between.saturating_sub(arrow + 2));
        let fill = between.saturating_sub(columns + 2);
        let (middle, beyond) = match step.way {
            Way::ToAgent => {
                let shaft = shaft.repeat(fill.saturating_sub(1));
                (format!(" {text} {shaft}{}", glyphs.right), "")
            }
            Way::ToClient => {
                let shaft = shaft.repeat(fill.saturating_sub(1));
                (format!("{}{shaft} {text} ", glyphs.left), "")
            }
            Way::AtAgent => (format!(" {}{text} ", " ".repeat(fill)), ""),
            Way::ToModel => (format!(" {}{text} ", " ".repeat(fill)), glyphs.right),
            Way::FromModel => (format!(" {}{text} ", " ".repeat(fill)), glyphs.left),
        };
        format!(
            "{gutter}{}{middle}{}{beyond}",
            lane(step.client_busy),
            lane(step.agent_busy),
        )
    }

    /// What a step says, in at most so many columns, painted; and how many it takes.
    fn words(&self, step: &Step, room: usize) -> (String, usize) {
        let screen = self.screen;
        let id = step.id.as_ref().map(|id| self.id(id));
        let title = screen.text(&step.title);
        let title = match (&id, step.stroke) {
            (Some(id), Stroke::Answer) => format!("{id} {title}"),
            (Some(id), _) => format!("{title} {id}"),
            (None, _) => title,
        };
        let title = screen.cut(&title, room);
        let suffix = match (&step.answers, &step.run) {
            (Some((event, seconds)), _) => format!("(to {event}, {})", span(*seconds)),
            (None, Some(run)) if run.count > 1 => {
                format!("({}{}, to {})", screen.text("×"), run.count, step.last)
            }
            _ => String::new(),
        };
        let left = room.saturating_sub(title.width());
        let detail = screen.text(&step.detail);
        let detail = detail.trim_end();
        // What is in it says more than what belongs to it.
        let least = detail.width().min(LEAST);
        let fits = !suffix.is_empty() && suffix.width() + 1 + least < left;
        let suffix = if fits { suffix.as_str() } else { "" };
        let left = left.saturating_sub(suffix.width() + usize::from(fits));
        let detail = match left {
            // A letter or two say nothing.
            0..=4 => String::new(),
            _ => screen.cut(detail, left - 1),
        };
        let mut columns = 0;
        let mut painted = Vec::new();
        for (part, paint) in [
            (title.as_str(), Some(step.tone)),
            (
                detail.as_str(),
                (step.tone != Tone::Plain).then_some(step.tone),
            ),
            (suffix, Some(Tone::Faint)),
        ] {
            if part.is_empty() {
                continue;
            }
            columns += part.width() + usize::from(!painted.is_empty());
            painted.push(match paint {
                Some(Tone::Plain) => screen.paint.strong(part),
                Some(Tone::Bad) => screen.paint.bad(part),
                Some(Tone::Faint) => screen.paint.faint(part),
                None => part.to_owned(),
            });
        }
        (painted.join(" "), columns)
    }

    /// The id of a request, of a long one the start.
    fn id(&self, id: &str) -> String {
        let id = self.screen.text(id);
        let bare = id
            .strip_prefix('"')
            .and_then(|id| id.strip_suffix('"'))
            .filter(|bare| bare.len() > ID);
        match bare {
            Some(bare) => format!("#{}", self.screen.cut(bare, ID)),
            None => format!("#{}", self.screen.cut(&id, 2 * ID)),
        }
    }

    /// Words beneath the last step, such as what is wrong with it: a line that stands out, and text.
    pub(crate) fn beneath(&self, title: &str, text: &str) -> Vec<String> {
        let glyphs = self.glyphs();
        let lane = |busy: bool| if busy { glyphs.busy } else { glyphs.lane };
        let mark = if self.screen.ascii { "^" } else { "↑" };
        let gutter = " ".repeat(self.gutter());
        let room = self.between().saturating_sub(4);
        let title = self.screen.cut(&self.screen.text(title), room);
        let text = self.screen.text(text);
        let lines = wrapped(&text, room).into_iter();
        let mut out = vec![(format!("{mark} {title}"), true)];
        out.extend(lines.map(|line| (format!("  {}", self.screen.cut(&line, room)), false)));
        out.into_iter()
            .map(|(line, stands_out)| {
                let space = " ".repeat(self.between().saturating_sub(line.width() + 1));
                let line = if stands_out {
                    self.screen.paint.bad(&line)
                } else {
                    line
                };
                let (left, right) = (lane(self.busy.0), lane(self.busy.1));
                format!("{gutter}{left} {line}{space}{right}")
            })
            .collect()
    }

    /// A line across both lanes that is no event.
    pub(crate) fn across(&self, text: &str) -> String {
        let text = self.screen.text(text);
        let room = self.screen.width.saturating_sub(self.gutter());
        let text = self.screen.cut(&text, room);
        let gutter = " ".repeat(self.gutter());
        self.screen.paint.open(&format!("{gutter}{text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fold, Narrator};
    use super::*;
    use crate::report::Paint;
    use crate::trace::{Body, Event, Exit, Party};

    fn event(at: f64, from: Party, line: &str) -> Event {
        Event::new(at, from, Body::of_line(line.as_bytes().to_vec(), false))
    }

    fn drawn(events: &[Event], width: usize, ascii: bool) -> String {
        let screen = Screen::new(Paint::default(), Some(width), ascii);
        let (mut narrator, mut fold, mut lanes) =
            (Narrator::default(), Fold::default(), Lanes::new(screen));
        let mut lines = vec![lanes.head()];
        for (number, event) in events.iter().enumerate() {
            let (step, _) = narrator.tell(number as u64, event);
            if let Some(step) = fold.push(step) {
                lines.extend(lanes.step(&step, false));
            }
        }
        if let Some(step) = fold.flush() {
            lines.extend(lanes.step(&step, false));
        }
        for line in &lines {
            assert!(line.width() <= width, "{} columns: {line}", line.width());
        }
        lines.join("\n")
    }

    fn turn() -> Vec<Event> {
        use Party::{Agent, Client};
        let chunk = |text: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}"#
            )
        };
        vec![
            event(
                0.0,
                Client,
                r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hello"}]}}"#,
            ),
            event(0.1, Agent, &chunk("Hel")),
            event(0.2, Agent, &chunk("lo, \u{202e}you")),
            event(
                0.3,
                Agent,
                r#"{"jsonrpc":"2.0","id":2,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"yes"}]}}"#,
            ),
            event(
                2.8,
                Client,
                r#"{"jsonrpc":"2.0","id":2,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}"#,
            ),
            Event::new(2.9, Agent, Body::Stderr(b"\x1b[2Jdone".to_vec())),
            event(
                3.0,
                Agent,
                r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
            ),
            event(3.1, Agent, "hello?"),
            Event::new(3.2, Client, Body::Eof),
            Event::new(3.3, Agent, Body::Exit(Exit::Code(0))),
        ]
    }

    #[test]
    fn requests_are_joined_to_their_answers_and_chunks_are_one_text() {
        insta::assert_snapshot!(drawn(&turn(), 100, false));
    }

    #[test]
    fn sixty_columns_are_enough_and_ascii_is_ascii() {
        let text = drawn(&turn(), 60, true);
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!(text);
    }
}
