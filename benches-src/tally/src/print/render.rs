//! What is printed, for a page or for a terminal. Pages get HTML without blank lines, so that a block ends where it should.

use anyhow::Result;

use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::quantities::Asked;
use crate::book::unit::Unit;
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::print::escape::{html, identifier};
use crate::print::format::{self, Shown};
use crate::print::view::{Kept, View};
use crate::project::Machine;
use crate::record::sources::Freshness;
use crate::record::{Lost, Record};

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

/// A quantity or its box inside a sentence, leading to its experiment's table, where the number can be looked into.
pub fn inline(view: &View, asked: &Asked, measured: &Measured) -> Result<String> {
    let Asked { plan, experiment, expression } = asked;
    let quantity = match measured {
        // A phone has nothing to point with, and can follow a link.
        Err(missing) => {
            let reason = format!("<span class=\"unseen reason\">: {}</span>", html(&missing.reason));
            return Ok(leading(missing, &anchor(plan, experiment)) + &reason);
        }
        Ok(quantity) => quantity,
    };
    let (anchor, shown) = (anchor(plan, experiment), format::quantity(quantity));
    let interval = shown
        .beside()
        .map_or(String::new(), |interval| format!(" <span class=\"interval\">[{}]</span>", html(interval)));
    let title = format!("{expression}: {} rounds, {}", quantity.estimate.rounds, context(view, plan, experiment)?);
    let stale = stale(view, plan, experiment)?.map_or(String::new(), |note| format!(" {}", leading(&note, &anchor)));
    let lost = lost(view, asked)?.map_or(String::new(), |lost| {
        let (reason, word) = (html(&format!("{expression}: {}", lost.words())), html(&lost.short()));
        format!(" <a class=\"missing\" href=\"{anchor}\" title=\"{reason}\">{word}</a>")
    });
    Ok(format!(
        "<a class=\"value\" href=\"{anchor}\" title=\"{}\">{}</a>{interval}{stale}{lost}",
        html(&title),
        html(&shown.value)
    ))
}

/// A number as large letters say it, with its unit; its interval and all else is said where one points at it, and stands in the table that it leads to.
pub fn rough(view: &View, asked: &Asked, quantity: &Quantity, unit: &str) -> Result<String> {
    let Asked { plan, experiment, expression } = asked;
    let (anchor, shown) = (anchor(plan, experiment), format::quantity(quantity));
    let rounds = quantity.estimate.rounds;
    let context = context(view, plan, experiment)?;
    let title = format!("{} [{}]; {expression}: {rounds} rounds, {context}", shown.value, shown.interval_or_none());
    let mark = |note: &Missing| format!(" {}", leading(note, &anchor));
    let stale = stale(view, plan, experiment)?.as_ref().map_or(String::new(), mark);
    let lost = lost(view, asked)?.map(|lost| Missing::new("failed", lost.words()));
    let lost = lost.as_ref().map_or(String::new(), mark);
    let value = html(&format!("{}{unit}", format::rough(quantity)));
    Ok(format!("<a class=\"value\" href=\"{anchor}\" title=\"{}\">{value}</a>{stale}{lost}", html(&title)))
}

/// A word that must stand beside a number, leading to where the reason is said in full.
fn leading(note: &Missing, anchor: &str) -> String {
    format!("<a class=\"missing\" href=\"{anchor}\" title=\"{}\">{}</a>", html(&note.reason), html(note.word))
}

/// A quantity for a terminal, with the words that must stand beside it.
pub fn in_words(view: &View, asked: &Asked, measured: &Measured) -> Result<String> {
    if measured.is_err() {
        return Ok(plain(measured));
    }
    let stale = stale(view, asked.plan, asked.experiment)?.map_or(String::new(), |note| format!(" ({})", note.word));
    let lost = lost(view, asked)?;
    Ok(plain(measured) + &stale + &lost.map_or(String::new(), |lost| format!(" ({})", lost.words())))
}

/// Of the processes beneath a number, those that died: what is left may be what survives.
pub fn lost(view: &View, asked: &Asked) -> Result<Option<Lost>> {
    let kept = view.kept(asked.plan, asked.experiment)?;
    Ok(kept.as_ref().as_ref().ok().and_then(|(record, _)| record.lost_by(&asked.expression)))
}

/// How many died, beside a number of rounds in a table; how they did is said under it.
pub fn lost_in_table(lost: Option<&Lost>) -> String {
    lost.map_or(String::new(), |lost| {
        format!(" <span class=\"missing\" title=\"{}\">{}</span>", html(&lost.words()), html(&lost.short()))
    })
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

/// Why there is no number, inside a sentence or a table: a word, whose reason is shown where one points at it, taps it or comes to it by key, and is
/// said aloud and on paper.
pub fn boxed_inline(missing: &Missing) -> String {
    let word = word(missing, " tabindex=\"0\"");
    format!("{word}<span class=\"unseen reason\">: {}</span>", html(&missing.reason))
}

/// The word alone, where its reason stands nearby.
pub fn boxed_word(missing: &Missing) -> String {
    word(missing, "")
}

fn word(missing: &Missing, attributes: &str) -> String {
    let (word, reason) = (html(missing.word), html(&missing.reason));
    format!("<span class=\"missing\"{attributes} title=\"{reason}\">{word}</span>")
}

/// Why there are no numbers, as notes under the table whose cells have only the words; each reason once.
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

/// The beginning of the box in which a wide table scrolls, for keys as well as for fingers; the label, as HTML, says aloud what is in it.
pub fn wide(label: &str) -> String {
    format!("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\">\n")
}

/// What a reader must know about how fresh a record is; nothing where it is.
pub fn freshness(freshness: &Freshness, experiment: &Experiment, machine: &Machine) -> Option<Missing> {
    let again = match machine {
        Machine::Local => format!("To measure again: {}", experiment.command()),
        Machine::Exported(_) => "Only on that machine could they be measured again".to_owned(),
    };
    match freshness {
        Freshness::Fresh => None,
        Freshness::Stale(_) => {
            let complaint = freshness.complaint()?;
            Some(Missing::new("stale", format!("the numbers were {complaint}. {again}")))
        }
        Freshness::Older(what) => Some(Missing::new(
            "older",
            format!("the listings are the same, but what stands beneath them has changed since: {}", what.join(", ")),
        )),
    }
}

/// What must be said of a record of another listing or plan than the one that is shown; nothing of any other.
pub fn stale(view: &View, plan: &Plan, experiment: &Experiment) -> Result<Option<Missing>> {
    Ok(match view.kept(plan, experiment)?.as_ref() {
        Ok((_, aged @ Freshness::Stale(_))) => freshness(aged, experiment, &view.machine),
        _ => None,
    })
}

/// Text of a plan with its quantities filled in: what stands in braces is an expression.
pub fn fill(view: &View, experiment: &Experiment, text: &str, form: Form) -> Result<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (expression, after) =
            after.split_once('}').ok_or_else(|| anyhow::anyhow!("a brace that is not closed in {text:?}"))?;
        filled += &words(before, form);
        filled += &filled_in(view, experiment, expression, form)?;
        rest = after;
    }
    Ok(filled + &words(rest, form))
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

fn filled_in(view: &View, experiment: &Experiment, text: &str, form: Form) -> Result<String> {
    let asked = view.plans.asked_in(experiment, text)?;
    let measured = view.evaluate(&asked)?;
    match form {
        Form::Page => inline(view, &asked, &measured),
        Form::Text | Form::Json => in_words(view, &asked, &measured),
    }
}

/// Where an experiment's table stands.
pub fn anchor(plan: &Plan, experiment: &Experiment) -> String {
    format!("{}.md#{}", plan.chapter, experiment.name)
}

/// A number of a table as HTML: with its interval, unless both ends of that read as the number itself.
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

fn measured_where(view: &View, record: &Record) -> String {
    let effort = record.header.effort.word();
    format!("{}, {}, effort {effort}", view.machine.name(), record.day())
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
        Ok(Quantity { unit, estimate, .. }) => {
            let suffix = unit_suffix(*unit);
            let (low, high) = estimate.interval.unzip();
            fields.insert(format!("median{suffix}"), estimate.median.into());
            fields.insert(format!("low{suffix}"), low.into());
            fields.insert(format!("high{suffix}"), high.into());
            fields.insert("rounds".to_owned(), estimate.rounds.into());
        }
    }
    object
}

/// How fields and columns for scripts end, so that they say their unit.
pub fn unit_suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "_ns",
        Unit::Bytes => "_bytes",
        Unit::Count | Unit::Ratio => "",
    }
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
