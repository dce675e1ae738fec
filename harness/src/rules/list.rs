//! LIST-01 to -07, -09 to -11, UPDATE-07: lists of sessions.

use serde_json::Value;

use super::gap;
use super::path::{is_absolute, is_within};
use super::quote::{quote, quote_json};
use super::refusal::excuse;
use super::timestamp::is_timestamp;
use super::{Moment, Open, Out, Rule, Update};
use crate::hash::{HashMap, HashSet};
use crate::wire::Message;

/// More entries than this in one page, without a cursor, are no reasonable page.
const PAGE: usize = 1000;

/// So many ids of one pass, and titles of sessions, are remembered.
const REMEMBERED: usize = 100_000;

/// How long nothing must have happened for a list to be compared with the one before, in seconds.
const QUIET: f64 = 0.3;

/// LIST-01, LIST-02 (docs/protocol/v1/session-list.mdx#listing-sessions): a list without parameters is answered with a
/// list, one of a folder with a list that may be empty.
///
/// LIST-03: what is listed for a folder was not opened by the client in another one. Whether two other paths are one
/// folder cannot be told here.
///
/// LIST-04, LIST-06, LIST-10: folders are absolute, times are in ISO 8601, further folders are told only by those who
/// advertise them.
///
/// LIST-05, LIST-07 (#pagination): over the pages of one pass no id comes twice, a cursor is a string that is taken and
/// leads on. A pass in which the client or a session did anything else proves nothing about ids; nor does a cursor, where
/// the client did anything else, such as to delete a session, or asked for another folder with it.
///
/// LIST-09: a page of more than a thousand ends with a cursor.
///
/// LIST-11 (#interaction-with-other-session-methods): no content comes of a list, and a second list of the same kind right
/// after the first names the same sessions with the same folders, where nothing had happened for a while before both.
/// Another title or time is noted, as a title may be made in the background.
///
/// UPDATE-07 (docs/rfds/session-info-update.mdx): the title that a session was given last stands in a list that was asked
/// for after that.
#[derive(Default)]
pub(super) struct Lists {
    pass: Option<Pass>,
    /// The last list without a cursor, as long as nothing has happened since.
    last: Option<Listed>,
    /// By session: the title of the last `session_info_update` with one, and its event.
    titles: HashMap<String, (String, u64)>,
    /// The last event that was neither a list nor its answer, in seconds.
    stirred: f64,
    /// Requests for lists before which nothing had happened for a while, by event.
    calm: HashSet<u64>,
    /// Whether content in answer to the open list was told already.
    told: bool,
}

/// The pages that follow each other by their cursors.
struct Pass {
    ids: HashSet<String>,
    cursors: HashSet<String>,
    next: String,
    /// The event of the last page.
    page: u64,
    /// The folder that it was asked for.
    cwd: Option<String>,
    /// Whether anything else happened since the first page.
    stirred: bool,
    /// Whether the client did anything else since the last page, by which the cursor may have lost its meaning.
    acted: bool,
}

/// What a list said.
struct Listed {
    cwd: Option<String>,
    entries: Vec<Entry>,
    more: bool,
}

#[derive(PartialEq)]
struct Entry {
    id: String,
    cwd: Option<String>,
    rest: [Option<String>; 2],
}

impl Rule for Lists {
    fn judges(&self) -> &'static [&'static str] {
        &[
            "LIST-01",
            "LIST-02",
            "LIST-03",
            "LIST-04",
            "LIST-05",
            "LIST-06",
            "LIST-07",
            "LIST-09",
            "LIST-10",
            "LIST-11",
            "UPDATE-07",
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if !moment.talk.is_version_one() {
            return;
        }
        if let Some(update) = moment.update() {
            self.updated(moment, &update, out);
        }
        if let Some((open, message)) = moment.answer_to("session/list") {
            if !open.probe {
                self.answered(moment, open, message, out);
            }
        } else if moment.client_call("session/list").is_some() {
            if moment.event.at - self.stirred >= QUIET {
                self.calm.insert(moment.index);
            } else {
                self.last = None;
            }
            self.told = false;
        } else if moment.message().is_some() {
            self.stirred = moment.event.at;
            self.last = None;
            if let Some(pass) = &mut self.pass {
                pass.stirred = true;
                pass.acted |= moment
                    .client_message()
                    .is_some_and(|it| it.method().is_some());
            }
        }
    }
}

impl Lists {
    fn updated(&mut self, moment: &Moment<'_>, update: &Update<'_>, out: &mut Out<'_>) {
        if update.kind == "session_info_update" {
            time(
                moment,
                update.body.get("updatedAt"),
                "/params/update/updatedAt",
                out,
            );
            match update.body.get("title") {
                Some(Value::String(title)) if self.titles.len() < REMEMBERED => {
                    let title = (title.clone(), moment.index);
                    self.titles.insert(update.session.to_owned(), title);
                }
                Some(_) => {
                    self.titles.remove(update.session);
                }
                None => {}
            }
        }
        if self.told || self.calm.is_empty() || !update.is_content() {
            return;
        }
        let asked = moment
            .talk
            .client_requests()
            .any(|open| open.method == "session/list" && self.calm.contains(&open.event));
        let Some(session) = moment.talk.session(update.session) else {
            return;
        };
        let busy =
            !session.turns.is_empty() || session.loading.is_some() || resuming(moment, update);
        if asked && !busy {
            self.told = true;
            out.fail(
                "LIST-11",
                moment.at("/params/update"),
                format!(
                    "the update {} came before the answer to session/list, which only lists sessions",
                    update.kind
                ),
            );
        }
    }

    fn answered(&mut self, moment: &Moment<'_>, open: &Open, message: &Message, out: &mut Out<'_>) {
        let calm = self.calm.remove(&open.event);
        let text = |name: &str| open.params.get(name).and_then(Value::as_str);
        let cursor = text("cursor");
        let pass = self.pass.take();
        let pass = pass.filter(|pass| cursor == Some(pass.next.as_str()));
        let acted = pass.as_ref().is_some_and(|pass| pass.acted);
        // A cursor belongs to the list that it was given for.
        let pass = pass.filter(|pass| pass.cwd.as_deref() == text("cwd"));
        if let Some(error) = message.error() {
            if acted {
                let why =
                    "a cursor was refused, and something else had been done since it was given";
                out.inconclusive("LIST-07", why);
            } else {
                refused(moment, open, message, pass.is_some(), error, out);
            }
            self.last = None;
            return;
        }
        let Some(result) = message.result() else {
            return;
        };
        let sessions = result.get("sessions").and_then(Value::as_array);
        if is_bare(open) {
            out.check("LIST-01", sessions.is_some(), moment.at("/result"), || {
                "the result of session/list holds no list `sessions`".to_owned()
            });
        }
        let Some(sessions) = sessions else {
            if let Some(cwd) = text("cwd").filter(|_| cursor.is_none()) {
                out.fail(
                    "LIST-02",
                    moment.at("/result"),
                    format!(
                        "the result of session/list for {} holds no list `sessions`; it may be empty",
                        quote(cwd)
                    ),
                );
            }
            return;
        };
        if text("cwd").is_some() && sessions.is_empty() && cursor.is_none() {
            out.pass("LIST-02");
        }
        for (index, entry) in sessions.iter().enumerate() {
            self.entry(moment, open, index, entry, out);
        }
        let next = result.get("nextCursor").filter(|next| !next.is_null());
        let listed = Listed {
            cwd: text("cwd").map(str::to_owned),
            entries: sessions.iter().filter_map(Entry::of).collect(),
            more: next.is_some(),
        };
        if sessions.len() <= PAGE {
            out.not_applicable("LIST-09", "no page has more than 1000 sessions");
        } else {
            out.check(
                "LIST-09",
                listed.more,
                moment.at("/result/sessions"),
                || {
                    format!(
                        "one page has {} sessions, expected a cursor after a thousand at most",
                        sessions.len()
                    )
                },
            );
        }
        self.paged(moment, pass, &listed, next, out);
        if cursor.is_none() {
            self.compared(moment, calm, &listed, out);
            self.last = Some(listed);
        }
    }

    fn entry(
        &self,
        moment: &Moment<'_>,
        open: &Open,
        index: usize,
        entry: &Value,
        out: &mut Out<'_>,
    ) {
        let at = |member: &str| format!("/result/sessions/{index}/{member}");
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        if let Some(cwd) = entry.get("cwd") {
            let cwd = cwd.as_str();
            out.check(
                "LIST-04",
                cwd.is_some_and(is_absolute),
                moment.at(at("cwd")),
                || {
                    format!(
                        "the folder is {}, expected an absolute path",
                        cwd.map_or_else(|| "no text".to_owned(), quote)
                    )
                },
            );
        }
        time(moment, entry.get("updatedAt"), &at("updatedAt"), out);
        self.folders(moment, entry, &at("additionalDirectories"), out);
        let Some(id) = text("sessionId") else {
            return;
        };
        if let Some(wanted) = open.params.get("cwd").and_then(Value::as_str) {
            let opened = moment
                .talk
                .session(id)
                .and_then(|known| known.cwd.as_deref());
            match opened {
                Some(opened) if is_absolute(opened) && is_absolute(wanted) => {
                    let same = is_within(opened, wanted) && is_within(wanted, opened);
                    out.check("LIST-03", same, moment.at(at("cwd")), || {
                        format!(
                            "session {} was opened in {}, and is listed for {}",
                            quote(id),
                            quote(opened),
                            quote(wanted)
                        )
                    });
                }
                _ => {}
            }
        }
        if let Some((title, since)) = self.titles.get(id).filter(|(_, since)| *since < open.event) {
            let listed = text("title");
            out.check(
                "UPDATE-07",
                listed == Some(title.as_str()),
                moment.at(at("title")),
                || {
                    format!(
                        "session {} is listed with {}, though its title was told to be {} (event {since})",
                        quote(id),
                        listed.map_or_else(
                            || "no title".to_owned(),
                            |title| format!("the title {}", quote(title))
                        ),
                        quote(title)
                    )
                },
            );
        }
    }

    /// LIST-10.
    fn folders(&self, moment: &Moment<'_>, entry: &Value, place: &str, out: &mut Out<'_>) {
        let folders = entry.get("additionalDirectories").and_then(Value::as_array);
        let Some(folders) = folders.filter(|folders| !folders.is_empty()) else {
            return;
        };
        if !moment
            .talk
            .agent_can(&["sessionCapabilities", "additionalDirectories"])
        {
            out.fail(
                "LIST-10",
                moment.at(place),
                "further folders are listed, which the agent does not advertise",
            );
            return;
        }
        let relative = folders
            .iter()
            .position(|folder| !folder.as_str().is_some_and(is_absolute));
        out.check(
            "LIST-10",
            relative.is_none(),
            moment.at(format!("{place}/{}", relative.unwrap_or_default())),
            || "a further folder is no absolute path".to_owned(),
        );
    }

    /// LIST-05 and LIST-07.
    fn paged(
        &mut self,
        moment: &Moment<'_>,
        pass: Option<Pass>,
        listed: &Listed,
        next: Option<&Value>,
        out: &mut Out<'_>,
    ) {
        if pass.is_some() {
            out.pass("LIST-07");
        }
        let mut pass = pass.unwrap_or_else(|| Pass {
            ids: HashSet::default(),
            cursors: HashSet::default(),
            next: String::new(),
            page: moment.index,
            cwd: listed.cwd.clone(),
            stirred: false,
            acted: false,
        });
        let mut own = HashSet::default();
        let mut sound = true;
        for (index, entry) in listed.entries.iter().enumerate() {
            let place = moment.at(format!("/result/sessions/{index}/sessionId"));
            if !own.insert(entry.id.as_str()) {
                sound = false;
                out.fail(
                    "LIST-05",
                    place,
                    format!("session {} is listed twice on one page", quote(&entry.id)),
                );
            } else if pass.ids.contains(&entry.id) {
                sound = false;
                if pass.stirred {
                    out.inconclusive(
                        "LIST-05",
                        "a session was listed on two pages, between which something else had happened",
                    );
                } else {
                    out.fail(
                        "LIST-05",
                        place,
                        format!(
                            "session {} is listed on this page and on an earlier one (event {})",
                            quote(&entry.id),
                            pass.page
                        ),
                    );
                }
            }
        }
        if sound && !listed.entries.is_empty() {
            out.pass("LIST-05");
        }
        let Some(next) = next else {
            return;
        };
        let Some(next) = next.as_str() else {
            out.fail(
                "LIST-07",
                moment.at("/result/nextCursor"),
                format!("the cursor is {}, expected a string", quote_json(next)),
            );
            return;
        };
        if !pass.cursors.insert(next.to_owned()) {
            if pass.acted {
                out.inconclusive(
                    "LIST-07",
                    "a cursor was given twice, and something else had been done in between",
                );
                return;
            }
            out.fail(
                "LIST-07",
                moment.at("/result/nextCursor"),
                format!(
                    "the cursor {} was given by an earlier page of the same list, which so never ends",
                    quote(next)
                ),
            );
            return;
        }
        if pass.ids.len() + own.len() <= REMEMBERED {
            pass.ids
                .extend(listed.entries.iter().map(|entry| entry.id.clone()));
        }
        pass.page = moment.index;
        pass.next = next.to_owned();
        self.pass = Some(pass);
    }

    /// LIST-11: this list and the one right before it.
    fn compared(&self, moment: &Moment<'_>, calm: bool, listed: &Listed, out: &mut Out<'_>) {
        let Some(last) = self
            .last
            .as_ref()
            .filter(|last| calm && last.cwd == listed.cwd && last.more == listed.more)
        else {
            return;
        };
        let mut before: Vec<(&str, Option<&str>)> = last.entries.iter().map(Entry::name).collect();
        let mut now: Vec<(&str, Option<&str>)> = listed.entries.iter().map(Entry::name).collect();
        before.sort_unstable();
        now.sort_unstable();
        if before != now {
            let gone = before
                .iter()
                .filter(|entry| now.binary_search(entry).is_err());
            let new = now
                .iter()
                .filter(|entry| before.binary_search(entry).is_err());
            let odd: Vec<&str> = gone.chain(new).map(|(id, _)| *id).collect();
            let own = odd.iter().find(|id| moment.talk.session(id).is_some());
            let of_others = odd.iter().any(|id| moment.talk.session(id).is_none());
            // Another process may use the same store, and what it adds moves others to a later page.
            if of_others && (own.is_none() || listed.more) {
                out.inconclusive(
                    "LIST-11",
                    "sessions that this client has not opened came or went between two lists, as where another process uses the same store",
                );
                return;
            }
            out.fail(
                "LIST-11",
                moment.at("/result/sessions"),
                format!(
                    "a second list right after the first names {} sessions and not {}: they differ in {}",
                    now.len(),
                    before.len(),
                    own.map_or_else(|| "how often one is named".to_owned(), |id| quote(id))
                ),
            );
            return;
        }
        out.pass("LIST-11");
        if last.entries != listed.entries {
            out.note(
                "LIST-11",
                moment.at("/result/sessions"),
                "a second list right after the first has other titles, times or another order",
            );
        }
    }
}

impl Entry {
    fn of(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            id: text("sessionId")?,
            cwd: text("cwd"),
            rest: [text("title"), text("updatedAt")],
        })
    }

    fn name(&self) -> (&str, Option<&str>) {
        (&self.id, self.cwd.as_deref())
    }
}

/// Whether a list was asked for without any parameter.
fn is_bare(open: &Open) -> bool {
    match &open.params {
        Value::Null => true,
        Value::Object(members) => members
            .iter()
            .all(|(name, value)| name == "_meta" || value.is_null()),
        _ => false,
    }
}

fn refused(
    moment: &Moment<'_>,
    open: &Open,
    message: &Message,
    fresh: bool,
    error: &Value,
    out: &mut Out<'_>,
) {
    let id = if fresh { "LIST-07" } else { "LIST-01" };
    if let Some(why) = excuse(open, message) {
        out.inconclusive(id, why);
    } else if fresh {
        out.fail(
            id,
            moment.at("/error"),
            format!(
                "the cursor that the page before gave was refused with {}",
                quote_json(error)
            ),
        );
    } else if is_bare(open) {
        out.fail(
            id,
            moment.at("/error"),
            format!(
                "session/list was refused with {}, expected a list",
                quote_json(error)
            ),
        );
    }
}

/// LIST-06.
fn time(moment: &Moment<'_>, value: Option<&Value>, place: &str, out: &mut Out<'_>) {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return;
    };
    let fits = value.as_str().is_some_and(is_timestamp);
    out.check("LIST-06", fits, moment.at(place), || {
        format!(
            "the time is {}, expected one in ISO 8601 such as \"2025-10-29T14:22:15Z\"",
            quote_json(value)
        )
    });
}

/// Whether a request that is open makes the session come back.
fn resuming(moment: &Moment<'_>, update: &Update<'_>) -> bool {
    moment
        .talk
        .client_requests()
        .any(|open| gap::ends_at(&open.method) && open.session.as_deref() == Some(update.session))
}

#[cfg(test)]
mod tests;
