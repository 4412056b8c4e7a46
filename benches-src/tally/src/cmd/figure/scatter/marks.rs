//! The marks of a figure of machines: tidy rows, as `book/charts/scatter.vl.json` says them.

use serde_json::{Value, json};

use super::found::{middle_ratio, with_interval};
use crate::book::programs::Series;
use crate::book::scatter::{Drawn, Scatter};
use crate::book::unit::Unit;
use crate::compute::quantity::Quantity;
use crate::print::format;
use crate::print::points::with;
use crate::print::scatter::{CONTROL, Point, X, Y};
use crate::print::view::View;

/// All of them: two dots for each machine that has every number, the names of both kinds, a line of
/// equal ratio, and the ticks of the axes.
pub fn all(view: &View, planned: &Scatter, points: &[Point]) -> Vec<Value> {
    let here = points.iter().find(|point| point.machine == view.machine);
    let mut dots: Vec<Value> = points.iter().flat_map(|point| of_machine(view, planned, point, here)).collect();
    // The one that is shown lies above all others.
    dots.sort_by_key(|dot| dot["who"] == "here");
    let (Some((left, right)), Some((low, high))) = (ends(&dots, "x"), ends(&dots, "y")) else { return Vec::new() };
    let mut marks = ticks("x", left, right);
    marks.extend(ticks("y", low, high));
    marks.extend(
        middle_ratio(points)
            .map(|ratio| json!({ "who": "line", "x": left, "x_to": right, "y": left * ratio, "y_to": right * ratio })),
    );
    marks.extend([name(&planned.y, "right", points, Y), name(&planned.control, "left", points, CONTROL)]);
    marks.extend(dots);
    marks
}

/// What a kind of dots is, where no dot is: below the lowest on the right, since dots rise, or
/// above the highest on the left.
fn name(series: &Drawn, side: &str, points: &[Point], place: usize) -> Value {
    let medians = points.iter().filter(|point| point.x().is_some()).filter_map(|point| point.median(place));
    let at = if side == "right" { medians.fold(f64::INFINITY, f64::min) } else { medians.fold(0.0, f64::max) };
    json!({ "who": "name", "kind": series.series.word(), "y": at, "said": series.label, "side": side })
}

/// So near to each other, as ratios on both axes, two names would lie on one another.
const NEAR: f64 = 1.15;

/// Whether one point's name would lie on the other's.
fn is_near(one: &Point, other: &Point) -> bool {
    [X, Y].iter().all(|place| {
        let medians = one.median(*place).zip(other.median(*place));
        medians.is_some_and(|(one, other)| (one / other).max(other / one) < NEAR)
    })
}

fn of_machine(view: &View, planned: &Scatter, point: &Point, here: Option<&Point>) -> Vec<Value> {
    let numbers = [X, Y, CONTROL].map(|place| point.numbers[place].as_ref().ok());
    let [Some(x), Some(y), Some(control)] = numbers else { return Vec::new() };
    let is_reference = !view.reference_mark(&point.machine).is_empty();
    let who = if point.machine == view.machine { "here" } else { "other" };
    // The reference's name gives way to that of the machine which is shown.
    let gives_way = who == "other" && here.is_some_and(|here| is_near(here, point));
    let name = if is_reference && !gives_way {
        "reference"
    } else if who == "here" {
        point.machine.name()
    } else {
        ""
    };
    let dot = |kind: Series, what: &str, name: &str, y: &Quantity| {
        let own =
            json!({ "who": who, "kind": kind.word(), "what": what, "machine": point.machine.name(), "name": name });
        [("x", x), ("y", y)].into_iter().fold(own, |own, (axis, number)| {
            let (low, high) = number.estimate.interval.unzip();
            let (said, interval) = with_interval(number);
            let fields = [("", json!(number.estimate.median)), ("_low", json!(low)), ("_high", json!(high))];
            let words = [("_said", json!(said)), ("_interval", json!(interval))];
            let named = fields.into_iter().chain(words).map(|(end, value)| (format!("{axis}{end}"), value));
            with(own, named.collect::<serde_json::Map<_, _>>().into())
        })
    };
    vec![
        dot(planned.y.series, &planned.y.label, name, y),
        dot(planned.control.series, &planned.control.label, "", control),
    ]
}

/// The least and the greatest that dots reach on an axis.
fn ends(dots: &[Value], axis: &str) -> Option<(f64, f64)> {
    let fields = ["", "_low", "_high"].map(|end| format!("{axis}{end}"));
    let all = dots.iter().flat_map(|dot| fields.iter().filter_map(|field| dot[field.as_str()].as_f64()));
    all.fold(None, |ends, own| Some(ends.map_or((own, own), |(low, high): (f64, f64)| (low.min(own), high.max(own)))))
}

fn ticks(axis: &str, low: f64, high: f64) -> Vec<Value> {
    let ticks = format::ticks(Unit::Nanoseconds, low, high).into_iter();
    ticks.map(|(at, said)| json!({ "who": format!("{axis}-tick"), axis: at, "said": said })).collect()
}
