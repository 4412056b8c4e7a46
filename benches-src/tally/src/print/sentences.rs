//! Sentences of plans with their numbers filled in.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::book::experiment::Experiment;
use crate::book::quantities::Asked;
use crate::book::sentences::{self, braces};
use crate::book::takeaways::condition::{MACHINES, NOT_CLEAR, NOT_CLEAR_SHORT, RANGE, UNCLEAR, name_in};
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::print::across;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::view::View;

/// Text of a plan with its quantities filled in: what stands in braces is an expression, or a
/// quantity's name with `range` or `machines`. A sentence whose number is not there is left out,
/// unless nothing would be left: then the reason stands in the number's place.
pub fn fill(view: &View, experiment: &Experiment, text: &str, form: Form) -> Result<String> {
    let ask = |name: &str| view.plans.asked_in(experiment, name);
    let show = |asked: &Asked, measured: &Measured, _: &str, _: &str| {
        Ok(match form {
            Form::Page => (render::with_interval(view, asked, measured)?, ""),
            Form::Text | Form::Json => (render::in_words(view, asked, measured)?, ""),
        })
    };
    let (mut all, mut whole) = (String::new(), Vec::new());
    for sentence in sentences::of(text, &braces(text)?) {
        let (filled, lacking) = filled(view, &text[sentence], form, ask, Ok, show)?;
        all += &filled;
        whole.extend(lacking.is_none().then_some(filled));
    }
    Ok(if whole.is_empty() { all } else { whole.concat() })
}

/// A sentence with its numbers filled in, each with as many digits as its interval supports. Where
/// one was not measured there is no sentence, but why.
pub fn sentence(view: &View, say: &str, form: Form) -> Result<Result<String, Missing>> {
    let ask = |name: &str| view.plans.asked(name, None);
    let show = |asked: &Asked, measured: &Measured, name: &str, after: &str| {
        let Ok(quantity) = measured else { return Ok((String::new(), "")) };
        let (said, of_what_follows) = format::said_before(quantity, after);
        let hedge = if after.starts_with('×') && !hedges(say, name) && is_unclear(quantity) { HEDGE } else { "" };
        Ok(match form {
            Form::Page => (render::rough(view, asked, quantity, &said)? + hedge, of_what_follows),
            Form::Text | Form::Json => (said + hedge, of_what_follows),
        })
    };
    let (filled, lacking) = filled(view, say, form, ask, known_well, show)?;
    Ok(lacking.map_or(Ok(filled), Err))
}

/// A number that has an interval: none stands in a finding on fewer rounds than give one.
fn known_well(quantity: Quantity) -> Measured {
    let rounds = quantity.estimate.rounds;
    let few = || Missing::new("too few rounds", format!("it was measured in {rounds}, and six give an interval"));
    if quantity.estimate.interval.is_some() { Ok(quantity) } else { Err(few()) }
}

/// A text with what stands in braces asked for and shown in its place, and why one of them is
/// lacking. A number must be known so well, and is shown with as much of what follows it as belongs
/// to it.
fn filled<'a>(
    view: &'a View,
    text: &str,
    form: Form,
    ask: impl Fn(&str) -> Result<Asked<'a>>,
    known: impl Fn(Quantity) -> Measured,
    show: impl Fn(&Asked, &Measured, &str, &str) -> Result<(String, &'static str)>,
) -> Result<(String, Option<Missing>)> {
    let (mut filled, mut marks, mut lacking, mut from) = (String::new(), Vec::new(), None, 0);
    for place in braces(text)? {
        let inside = &text[place.start + 1..place.end - 1];
        let asked = ask(name_in(inside))?;
        filled += &render::words(&text[from..place.start], form);
        from = place.end;
        let missing = if inside.ends_with(RANGE) || inside.ends_with(MACHINES) {
            let said = across::words(view, &asked, inside.ends_with(MACHINES))?;
            filled += &render::words(&said.as_ref().map_or_else(ToString::to_string, Clone::clone), form);
            said.err()
        } else {
            let measured = view.evaluate(&asked)?.and_then(&known);
            if inside.ends_with(UNCLEAR) {
                let words = if is_in_parentheses(&text[..place.start]) { NOT_CLEAR_SHORT } else { NOT_CLEAR };
                filled += measured.as_ref().map_or("", |own| if is_unclear(own) { words } else { "" });
            } else {
                let (shown, unit) = show(&asked, &measured, inside, &text[from..])?;
                filled += &shown;
                from += unit.len();
                if form == Form::Page && measured.is_ok() {
                    marks.extend(render::leading_marks(view, &asked)?);
                }
            }
            measured.err()
        };
        lacking = lacking.or(missing);
    }
    filled += &render::words(&text[from..], form);
    Ok((with_marks(filled, marks), lacking))
}

/// Whether what follows this text stands in parentheses that it opens.
fn is_in_parentheses(text: &str) -> bool {
    text.matches('(').count() > text.matches(')').count()
}

/// Whether a ratio cannot be told from 1, and is not that within a tenth either.
fn is_unclear(quantity: &Quantity) -> bool {
    !quantity.is_clear() && !format::is_about_1(quantity)
}

/// Behind an unclear ratio of which its sentence says nothing.
const HEDGE: &str = " (unclear)";

/// Words by which a finding says itself how sure its ratios are, or that 1 is what was expected.
const HEDGED: [&str; 7] = ["within a", "less than a", "at most", "at least", "neither", "predicts", "add up to"];

/// Words by which a finding says that it draws no conclusion.
const OPEN: [&str; 3] = ["e cannot", "too close", "too uncertain"];

/// Whether a sentence draws no conclusion where its numbers are unclear.
pub fn is_open(say: &str) -> bool {
    say.contains(UNCLEAR) || OPEN.iter().any(|words| say.contains(words))
}

/// Whether a finding says itself how sure it is of this ratio.
fn hedges(say: &str, name: &str) -> bool {
    say.contains(&format!("{{{name}{UNCLEAR}}}")) || HEDGED.iter().chain(&OPEN).any(|words| say.contains(words))
}

/// A sentence with what must stand beside its numbers, each word once, at its end: elsewhere it
/// would part a number from its words.
fn with_marks(sentence: String, marks: Vec<(String, String)>) -> String {
    let words = sentence.trim_end_matches(' ');
    let space = &sentence[words.len()..];
    let marks: BTreeMap<String, String> = marks.into_iter().rev().collect();
    marks.into_values().fold(words.to_owned(), |said, mark| said + " " + &mark) + space
}
