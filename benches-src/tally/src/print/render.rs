//! What is printed, for a page or for a terminal. Pages get HTML without blank lines, so that a
//! block ends where it should.

use anyhow::Result;

use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::quantities::Asked;
use crate::compute::doubts::{FAILED, Mark};
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::compute::sessions::Sessions;
use crate::print::escape::{html, identifier};
use crate::print::format::{self, Shown};
use crate::print::view::{Kept, View};
use crate::project::Machine;
use crate::record::days;
use crate::record::freshness::Freshness;
use crate::record::known::REWRITTEN;

/// Who reads what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Form {
    /// A person at a terminal
    #[default]
    Text,
    /// A page of the book
    Page,
    /// A script
    Json,
}

/// What is said of numbers and verdicts that stand on other listings than those shown.
pub const CHANGED_SINCE: &str = "by programs that have changed since";

/// The anchor of a cell's row in its experiment's table.
pub fn row_anchor(experiment: &Experiment, cell: &crate::book::cell::Cell) -> String {
    format!("{}-{}", experiment.name, identifier(&cell.to_string()))
}

/// The place of one measure of a cell whose measures stand below each other.
pub fn measure_anchor(row: &str, measure: &str) -> String {
    format!("{row}-{}", identifier(measure))
}

/// A quantity or its box inside a sentence, leading to its experiment's table, where the number can
/// be looked into; with what must stand beside it.
pub fn inline(view: &View, asked: &Asked, measured: &Measured) -> Result<String> {
    let marks = if measured.is_ok() { leading_marks(view, asked)? } else { Vec::new() };
    let marks: String = marks.into_iter().map(|(_, mark)| format!(" {mark}")).collect();
    Ok(with_interval(view, asked, measured)? + &marks)
}

/// The same without what must stand beside it, for a sentence that has it at its end.
pub fn with_interval(view: &View, asked: &Asked, measured: &Measured) -> Result<String> {
    let Asked { plan, experiment, expression } = asked;
    let quantity = match measured {
        // A phone has nothing to point with, and can follow a link.
        Err(missing) => {
            let reason = format!("<span class=\"unseen reason\">: {}</span>", html(&missing.reason));
            // Its row may not be there either.
            return Ok(leading(missing.word, &missing.reason, &view.link_to(plan, experiment)) + &reason);
        }
        Ok(quantity) => quantity,
    };
    let (anchor, shown) = (view.link_to_number(asked)?, format::quantity(quantity));
    let interval = shown
        .beside()
        .map_or(String::new(), |interval| format!(" <span class=\"interval\">[{}]</span>", html(interval)));
    let title = format!("{expression}: {}, {}", stands_on(quantity), context(view, plan, experiment)?);
    Ok(format!("<a class=\"value\" href=\"{anchor}\" title=\"{}\">{}</a>{interval}", html(&title), html(&shown.value)))
}

/// A number as a sentence says it; its interval and all else is said where one points at it, and
/// stands in the table that it leads to.
pub fn rough(view: &View, asked: &Asked, quantity: &Quantity, said: &str) -> Result<String> {
    let Asked { plan, experiment, expression } = asked;
    let (anchor, shown) = (view.link_to_number(asked)?, format::quantity(quantity));
    let (on, context) = (stands_on(quantity), context(view, plan, experiment)?);
    let title = format!("{} [{}]; {expression}: {on}, {context}", shown.value, shown.interval_or_none());
    let said = html(said);
    Ok(format!("<a class=\"value\" href=\"{anchor}\" title=\"{}\">{said}</a>", html(&title)))
}

/// What the reference machine says in the place of something that was not measured here, as HTML:
/// pale, marked, and with how to measure it here.
pub fn instead(said: &str, missing: &Missing) -> String {
    let (word, reason) = (html(missing.word), html(&missing.reason));
    format!(
        "<span class=\"elsewhere\">{said} <span class=\"legend\" tabindex=\"0\" title=\"here {word}; \
         {reason}\">(reference machine)</span></span>"
    )
}

/// The same of a table or a figure.
pub fn instead_of_block(block: &str, missing: &Missing) -> String {
    let (word, reason) = (html(missing.word), html(&missing.reason));
    format!(
        "<div class=\"elsewhere\">\n<p class=\"legend\">Here {word} ({reason}). These are the reference machine’s \
         numbers:</p>\n{block}</div>\n"
    )
}

/// Over how many rounds a number is, and over how many sessions, where these are several.
fn stands_on(quantity: &Quantity) -> String {
    let rounds = quantity.estimate.rounds;
    match quantity.sessions {
        1 => format!("{rounds} rounds"),
        sessions => format!("median of {sessions} sessions, {rounds} rounds in the one shown"),
    }
}

/// What must stand beside a number in a sentence: a word, and the word as it leads to where it is
/// said in full.
pub fn leading_marks(view: &View, asked: &Asked) -> Result<Vec<(String, String)>> {
    let anchor = view.link_to_number(asked)?;
    let stale = stale(view, asked)?.filter(|_| !view.is_said_above(asked.experiment));
    let stale = stale.map(|note| (note.word.to_owned(), leading(note.word, &note.reason, &anchor)));
    let marks = view.marks(asked)?.into_iter().map(|mark| {
        let reason = format!("{}: {}", asked.expression, mark.words);
        let leading = leading(&mark.short, &reason, &anchor);
        (mark.short, leading)
    });
    Ok(stale.into_iter().chain(marks).collect())
}

/// How what stands in the place of a number that is not there begins.
pub const MISSING: &str = "<a class=\"missing\"";

/// A word that must stand beside a number, leading to where the reason is said in full.
fn leading(word: &str, reason: &str, anchor: &str) -> String {
    format!("{MISSING} href=\"{anchor}\" title=\"{}\">{}</a>", html(reason), html(word))
}

/// A quantity for a terminal, with the words that must stand beside it.
pub fn in_words(view: &View, asked: &Asked, measured: &Measured) -> Result<String> {
    if measured.is_err() {
        return Ok(plain(measured));
    }
    let stale = stale(view, asked)?.map_or(String::new(), |note| format!(" ({})", note.word));
    Ok(plain(measured) + &stale + &marks_in_words(&view.marks(asked)?))
}

/// Adds what stands beside a number, for scripts.
pub fn add_marks(object: &mut serde_json::Value, marks: &[Mark]) {
    for mark in marks {
        object[mark.key] = mark.words.clone().into();
    }
}

/// The same at a terminal.
pub fn marks_in_words(marks: &[Mark]) -> String {
    let words = |mark: &Mark| if mark.key == FAILED { mark.words.clone() } else { mark.short.clone() };
    marks.iter().map(|mark| format!(" ({})", words(mark))).collect()
}

/// The same beside a number of a table, under which it is said in full.
pub fn marks_in_table(marks: &[Mark]) -> String {
    let mark =
        |mark: &Mark| format!(" <span class=\"missing\" title=\"{}\">{}</span>", html(&mark.words), html(&mark.short));
    marks.iter().map(mark).collect()
}

/// A quantity for a terminal.
pub fn plain(measured: &Measured) -> String {
    match measured {
        Err(missing) => format!("({missing})"),
        Ok(quantity) => {
            let shown = format::quantity(quantity);
            format!("{} [{}]", shown.value, shown.interval_or_none())
        }
    }
}

/// Why there is no number, inside a sentence or a table: a word, whose reason is shown where one
/// points at it, taps it or comes to it by key, and is said aloud and on paper.
pub fn boxed_inline(missing: &Missing) -> String {
    let word = word(missing, " tabindex=\"0\"");
    format!("{word}<span class=\"unseen reason\">: {}</span>", html(&missing.reason))
}

/// The word alone, where its reason stands nearby.
pub fn boxed_word(missing: &Missing) -> String {
    word(missing, "")
}

/// The same in a cell whose row has other numbers. What a program cannot have is no gap in it: a
/// note under the table says why.
pub fn in_cell(missing: &Missing) -> String {
    match missing.word {
        "unavailable" => format!("<span title=\"{}\">–</span>", html(&missing.reason)),
        _ => boxed_word(missing),
    }
}

fn word(missing: &Missing, attributes: &str) -> String {
    let (word, reason) = (html(missing.word), html(&missing.reason));
    format!("<span class=\"missing\"{attributes} title=\"{reason}\">{word}</span>")
}

/// Why there are no numbers, as notes under the table whose cells have only the words; each reason
/// once.
pub fn reasons<'a>(all: impl Iterator<Item = &'a Measured>) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for missing in all.filter_map(|measured| measured.as_ref().err()) {
        let note = format!("{}: {}.", missing.word, missing.reason.trim_end_matches('.'));
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// The same as a block that says the reason aloud.
pub fn boxed(missing: &Missing) -> String {
    format!("<p class=\"missing\"><strong>{}</strong>: {}</p>\n", html(missing.word), html(&missing.reason))
}

/// The same for whoever reads it.
pub fn missing(missing: &Missing, form: Form) -> String {
    match form {
        Form::Page => boxed(missing),
        Form::Text => format!("({missing})\n"),
        Form::Json => serde_json::json!({ "missing": missing.word, "reason": missing.reason }).to_string() + "\n",
    }
}

/// The beginning of the box in which a wide table scrolls, for keys as well as for fingers; the
/// label, as HTML, says aloud what is in it.
pub fn wide(label: &str) -> String {
    format!("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\">\n")
}

/// What a reader must know about how fresh a record is; nothing where it is.
pub fn freshness(freshness: &Freshness, experiment: &Experiment, machine: &Machine) -> Option<Missing> {
    let again = match machine {
        Machine::Local => format!("To measure again: {}", experiment.command()),
        Machine::Exported(_) | Machine::Session(_) => "Only on that machine could they be measured again".to_owned(),
    };
    match freshness {
        Freshness::Fresh => None,
        Freshness::Stale(_) => {
            let complaint = freshness.complaint()?;
            Some(Missing::new("stale", format!("the numbers were {complaint}. {again}")))
        }
        Freshness::Older(what) => {
            // Of programs that do the same work the notes under a table speak.
            let beneath: Vec<&str> =
                what.iter().map(String::as_str).filter(|reason| !reason.starts_with(REWRITTEN)).collect();
            let words = format!("since this was measured: {}", beneath.join("; "));
            (!beneath.is_empty()).then(|| Missing::new("older", words))
        }
    }
}

/// What must be said of a number of other listings than those that are shown; nothing of any
/// other.
pub fn stale(view: &View, asked: &Asked) -> Result<Option<Missing>> {
    Ok(match view.kept(asked.plan, asked.experiment)?.as_ref() {
        Ok((_, aged)) => stale_only(&aged.of(asked.programs()), asked.experiment, &view.machine),
        Err(_) => None,
    })
}

/// The same of a whole record.
pub fn stale_only(aged: &Freshness, experiment: &Experiment, machine: &Machine) -> Option<Missing> {
    matches!(aged, Freshness::Stale(_)).then(|| freshness(aged, experiment, machine)).flatten()
}

/// Words of a plan for who reads them, with the spaces around them that matter.
pub fn words(text: &str, form: Form) -> String {
    if form != Form::Page {
        return text.to_owned();
    }
    // `html` trims; the spaces around a quantity matter.
    let (start, end) = (text.starts_with(char::is_whitespace), text.ends_with(char::is_whitespace));
    format!("{}{}{}", if start { " " } else { "" }, html(text), if end && !text.trim().is_empty() { " " } else { "" })
}

/// A number of a table as HTML: with its interval, unless both ends of that read as the number
/// itself.
pub fn in_table(shown: &Shown) -> String {
    html(&shown.value) + &beside_in_table(shown)
}

/// What stands beside it there.
pub fn beside_in_table(shown: &Shown) -> String {
    shown.beside().map_or(String::new(), |interval| format!(" <span class=\"interval\">{}</span>", html(interval)))
}

/// Machine, day and effort, in a few words.
pub fn context(view: &View, plan: &Plan, experiment: &Experiment) -> Result<String> {
    Ok(match view.kept(plan, experiment)?.as_ref() {
        Ok((record, _)) => measured_where(view, record),
        Err(_) => view.machine.name().to_owned(),
    })
}

fn measured_where(view: &View, sessions: &Sessions) -> String {
    let effort = sessions.header.effort.word();
    let others = sessions.others().map(|record| &record.header).collect::<Vec<_>>();
    let and = match others.len() {
        0 => String::new(),
        1 => format!(", and another session, {}", days(others)),
        more => format!(", and {more} more sessions, {}", days(others)),
    };
    format!("{}, {}, effort {effort}{and}", view.machine.name(), sessions.day())
}

/// A quantity for scripts.
pub fn json(id: &str, measured: &Measured, machine: &str, state: &str) -> serde_json::Value {
    let mut object = serde_json::json!({ "id": id, "machine": machine, "state": state });
    let fields = object.as_object_mut().expect("made as an object");
    match measured {
        Err(missing) => {
            fields.insert("missing".to_owned(), missing.word.into());
            fields.insert("reason".to_owned(), missing.reason.clone().into());
        }
        Ok(Quantity { unit, estimate, session, sessions, .. }) => {
            let suffix = unit.suffix();
            let (low, high) = estimate.interval.unzip();
            let (session_low, session_high) = session.interval.unzip();
            fields.insert(format!("median{suffix}"), estimate.median.into());
            fields.insert(format!("low{suffix}"), low.into());
            fields.insert(format!("high{suffix}"), high.into());
            fields.insert(format!("session_median{suffix}"), session.median.into());
            fields.insert(format!("session_low{suffix}"), session_low.into());
            fields.insert(format!("session_high{suffix}"), session_high.into());
            fields.insert("rounds".to_owned(), estimate.rounds.into());
            fields.insert("sessions".to_owned(), (*sessions).into());
        }
    }
    object
}

/// A word for how fresh a record is, or for why there is none.
pub fn state_word(kept: &Kept) -> &'static str {
    match kept {
        Err(missing) => missing.word,
        // It will be measured again.
        Ok((record, _)) if record.failures() > 0 => "failed",
        Ok((_, freshness)) => freshness.word(),
    }
}
