//! What a figure of machines found, in sentences that its numbers choose.

use std::collections::BTreeSet;

use crate::book::quantities::Asked;
use crate::book::scatter::Scatter;
use crate::compute::apart::times_apart;
use crate::compute::quantity::Quantity;
use crate::print::format;
use crate::print::scatter::{CONTROL, DRAWN, Point, RATIO, X, Y};
use crate::statistics;

/// What is so: the one follows what machines differ in if, of a difference, less than half is left
/// in their ratio, on a scale of factors; and the other stays where it is if it shows less than
/// half of it.
pub fn finding(planned: &Scatter, points: &[Point]) -> String {
    let known: Vec<&Point> = points.iter().filter(|point| point.x().is_some()).collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return "No machine has every number of this figure yet.".to_owned();
    };
    let rough = |point: &Point, place: usize| point.numbers[place].as_ref().map_or(String::new(), format::rough);
    let x = format::capitalized(&planned.x.label);
    if known.len() == 1 {
        return format!(
            "Only {} has every number yet: {} costs {}, {} {}.",
            first.machine.name(),
            planned.x.label,
            rough(first, X),
            planned.y.label,
            rough(first, Y)
        );
    }
    let apart = |place| times_apart(known.iter().filter_map(|point| point.median(place))).unwrap_or(1.0);
    let half = apart(X).sqrt();
    let (follows, stays) = (apart(RATIO) < half, apart(CONTROL) < half);
    // Machines of one kind are told apart by their names.
    let is_alone = |point: &Point| known.iter().filter(|other| other.phrase == point.phrase).count() == 1;
    let [of_first, of_last] = match (&first.phrase, &last.phrase) {
        (Some(one), Some(other)) if is_alone(first) && is_alone(last) => [one.as_str(), other.as_str()],
        _ => [first.machine.name(), last.machine.name()],
    };
    let control = format!("{} differs by {}× at most", planned.control.label, number(apart(CONTROL)));
    format!(
        "{x} costs {} on {} and {} on {}. {} {} times that; {control}{}.",
        rough(first, X),
        of_first,
        rough(last, X),
        of_last,
        format::capitalized(&planned.y.label) + if follows { " follows, at" } else { " does not follow: it costs" },
        ends(&known, RATIO),
        if stays { "" } else { ", which is no small part of it" }
    )
}

/// From the lowest to the highest of these.
fn ends(points: &[&Point], place: usize) -> String {
    let medians = || points.iter().filter_map(|point| point.median(place));
    let (low, high) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    let (low, high) = (number(low), number(high));
    if low == high { low } else { format::range(&low, &high) }
}

/// A number that stands for several, in two digits or three.
fn number(value: f64) -> String {
    let digits = if value >= 10.0 { 0 } else { 1 };
    format::grouped(&format!("{value:.digits$}"))
}

pub fn aloud(planned: &Scatter, points: &[Point]) -> String {
    let words = |point: &Point| {
        let [x, y, control] = [X, Y, CONTROL].map(|place| point.numbers[place].as_ref().ok().map(format::rough));
        let (name, Scatter { x: first, y: second, control: third, .. }) = (point.machine.name(), planned);
        let (first, second, third) = (&first.label, &second.label, &third.label);
        Some(format!("{name}: {first} {}, {second} {}, {third} {}.", x?, y?, control?))
    };
    points.iter().filter_map(words).collect::<Vec<_>>().join(" ")
}

/// Which machines have no dot, and why.
pub fn lacking(asked: &[(String, Asked)], points: &[Point]) -> String {
    let why = |point: &Point| {
        let words: BTreeSet<&str> = point.lacking().map(|(_, missing)| missing.word).collect();
        let each = point.lacking().map(|(place, missing)| format!("{}: {}", asked[place].0, missing.word));
        let why = match Vec::from_iter(&words)[..] {
            [] => return None,
            [word] if point.lacking().count() == DRAWN.len() => (*word).to_owned(),
            _ => each.collect::<Vec<_>>().join("; "),
        };
        Some(format!("{} ({why})", point.machine.name()))
    };
    let all: Vec<String> = points.iter().filter_map(why).collect();
    if all.is_empty() { String::new() } else { format!("No dot: {}.", all.join(", ")) }
}

/// The middle one of the ratios, and how many times the first cost it is.
pub fn middle_ratio(points: &[Point]) -> Option<f64> {
    let ratios = points.iter().filter(|point| point.x().is_some()).filter_map(|point| point.median(RATIO));
    statistics::median(&ratios.collect::<Vec<_>>())
}

/// A number and its interval in words.
pub fn with_interval(number: &Quantity) -> (String, String) {
    (format::rough(number), format::quantity(number).interval_or_none().to_owned())
}
