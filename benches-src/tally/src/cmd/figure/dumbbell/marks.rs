//! The marks of a dumbbell: tidy rows, as `book/charts/dumbbell.vl.json` says them. A row that was
//! not measured here is the reference machine's, and pale.

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
    let rows: Vec<Row> = compared.iter().filter_map(|own| Row::of(view, own)).collect();
    let mut marks: Vec<Value> = rows.iter().flat_map(|row| row.marks(planned)).collect();
    if let Some(row) = rows.first() {
        let ticks = ticks(row.numbers.left.unit, &marks);
        marks.extend(ticks);
    }
    marks
}

/// A pair with every number that its row needs.
struct Row<'a> {
    own: &'a Compared<'a>,
    numbers: Three<Quantity>,
    machine: String,
    /// Whether the numbers are the reference machine's, since this one was not asked for them.
    is_pale: bool,
}

impl<'a> Row<'a> {
    /// Nothing where a number is missing that is not elsewhere either.
    fn of(view: &View, own: &'a Compared) -> Option<Self> {
        let here = &own.here;
        let missing = [&here.left, &here.right, &here.ratio].into_iter().find_map(|measured| measured.as_ref().err());
        let (numbers, machine) = match missing {
            None => (here.map_each(|measured| measured.as_ref().ok().copied()), view.machine.clone()),
            Some(missing) => {
                let machine = view.instead(missing)?.machine;
                let (_, there) = own.others.iter().find(|(other, _)| other.slug() == machine.slug())?;
                (there.map_each(|number| *number), machine)
            }
        };
        Some(Self { own, numbers: numbers?, machine: machine.name().to_owned(), is_pale: missing.is_some() })
    }

    /// What joins the two, a pale dot for each on every other machine, and one for each on this.
    fn marks(&self, planned: &Dumbbell) -> Vec<Value> {
        let Three { left, right, ratio } = &self.numbers;
        let of_both = |there: &Three<Option<Quantity>>| [(&planned.left, there.left), (&planned.right, there.right)];
        let mut marks = Vec::new();
        for (machine, there) in &self.own.others {
            let dots =
                of_both(there).into_iter().filter_map(|(party, number)| Some(dot(machine.name(), party, &number?)));
            marks.extend(dots.map(|dot| with(json!({ "who": "other" }), dot)));
        }
        for (party, number) in [(&planned.left, left), (&planned.right, right)] {
            let (low, high) = number.estimate.interval.unzip();
            let fields = json!({ "who": "here", "low": low, "high": high });
            marks.push(with(fields, dot(&self.machine, party, number)));
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
        let (label, is_pale) = (&self.own.pair.label, self.is_pale);
        let detail = self.own.pair.detail.clone() + if is_pale { ", reference machine" } else { "" };
        let row = json!({ "row": format!("{label}, {detail}"), "label": label, "detail": detail, "pale": is_pale });
        marks.into_iter().map(|mark| with(row.clone(), mark)).collect()
    }
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

/// The ticks of an axis for these marks: on a wide page and on a phone, as many as there is room
/// for what they read.
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
