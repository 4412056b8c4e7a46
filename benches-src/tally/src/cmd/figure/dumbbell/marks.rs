//! The marks of a dumbbell: tidy rows, as `book/charts/dumbbell.vl.json` says them.

use serde_json::{Value, json};

use crate::book::takeaways::{Dumbbell, Party};
use crate::book::unit::Unit;
use crate::compute::quantity::Quantity;
use crate::print::comparison::{Compared, Three};
use crate::print::format;
use crate::print::points::with;
use crate::print::view::View;

/// All of them: of the rows that have every number, and the ticks of their axis.
pub fn all(view: &View, planned: &Dumbbell, compared: &[Compared]) -> Vec<Value> {
    let mut marks: Vec<Value> = compared.iter().flat_map(|own| of_row(view, planned, own)).collect();
    if let Some(left) = compared.iter().find_map(|own| own.here.left.as_ref().ok()) {
        let ticks = ticks(left.unit, &marks);
        marks.extend(ticks);
    }
    marks
}

/// What joins the two, a pale dot for each on every other machine, and one for each on this. A row that lacks a number has none.
fn of_row(view: &View, planned: &Dumbbell, own: &Compared) -> Vec<Value> {
    let Three { left: Ok(left), right: Ok(right), ratio: Ok(ratio) } = &own.here else { return Vec::new() };
    let of_both = |there: &Three<Option<Quantity>>| [(&planned.left, there.left), (&planned.right, there.right)];
    let mut marks = Vec::new();
    for (machine, there) in &own.others {
        let dots = of_both(there).into_iter().filter_map(|(party, number)| Some(dot(machine.name(), party, &number?)));
        marks.extend(dots.map(|dot| with(json!({ "who": "other" }), dot)));
    }
    for (party, number) in [(&planned.left, left), (&planned.right, right)] {
        let (low, high) = number.estimate.interval.unzip();
        let fields = json!({ "who": "here", "low": low, "high": high });
        marks.push(with(fields, dot(view.machine.name(), party, number)));
    }
    let (low, high) = ends(&marks);
    // Its numbers are written where no mark is.
    let is_left_low = left.estimate.median <= right.estimate.median;
    let places = [("low", low), ("high", high)];
    for (mark, is_low) in marks.iter_mut().rev().zip([!is_left_low, is_left_low]) {
        let (side, place) = places[usize::from(!is_low)];
        *mark = with(mark.take(), json!({ "side": side, "text_at": place }));
    }
    let (one, other) = (left.estimate.median, right.estimate.median);
    let factor = format!("× {}", format::rough(ratio));
    marks.insert(0, json!({ "who": "pair", "x": one.min(other), "to": one.max(other), "factor": factor }));
    let (label, detail) = (&own.pair.label, &own.pair.detail);
    let row = json!({ "row": format!("{label}, {detail}"), "label": label, "detail": detail });
    marks.into_iter().map(|mark| with(row.clone(), mark)).collect()
}

/// A number of one of the two on a machine.
fn dot(machine: &str, party: &Party, number: &Quantity) -> Value {
    let interval = format::quantity(number).interval_or_none().to_owned();
    json!({
        "kind": party.series.word(), "what": party.label, "machine": machine,
        "x": number.estimate.median, "said": format::rough(number), "interval": interval,
    })
}

/// The least and the greatest that marks reach.
fn ends(marks: &[Value]) -> (f64, f64) {
    let all = marks.iter().flat_map(|mark| ["x", "to", "low", "high"].map(|end| mark[end].as_f64())).flatten();
    all.fold((f64::INFINITY, 0.0), |(low, high), end| (low.min(end), high.max(end)))
}

/// The ticks of an axis for these marks: on a wide page and on a phone, as many as there is room for what they read.
fn ticks(unit: Unit, marks: &[Value]) -> Vec<Value> {
    const LETTERS_ON_A_WIDE_PAGE: usize = 26;
    const LETTERS_ON_A_PHONE: usize = 17;
    let (low, high) = ends(marks);
    let ticks = format::ticks(unit, low, high);
    let letters = |step: usize| ticks.iter().rev().step_by(step).map(|(_, said)| said.chars().count()).sum::<usize>();
    let step = |room: usize| (1..=ticks.len()).find(|step| letters(*step) <= room).unwrap_or(1);
    let is_shown = |place: usize, room: usize| (ticks.len() - 1 - place).is_multiple_of(step(room));
    let tick = |(place, (x, said)): (usize, &(f64, String))| {
        let (wide, narrow) = (is_shown(place, LETTERS_ON_A_WIDE_PAGE), is_shown(place, LETTERS_ON_A_PHONE));
        json!({ "who": "tick", "x": x, "said": said, "on_a_wide_page": wide, "on_a_phone": narrow })
    };
    ticks.iter().enumerate().map(tick).collect()
}
