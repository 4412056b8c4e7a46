//! What rows and lines of a figure are called, and where on a line its name stands.

use serde_json::{Value, json};

use crate::book::cell::Cell;
use crate::book::programs::Programs;
use crate::book::words;

/// What the rows of a figure are called.
pub struct Names<'a> {
    pub programs: &'a Programs,
    /// Parameters that all rows share.
    pub shared: Vec<String>,
    /// Whether they differ in where their threads may run.
    pub has_placements: bool,
}

impl Names<'_> {
    /// What this row is called, in lines where it is long: beside the plot, and above it on a phone.
    pub fn in_lines(&self, cell: &Cell) -> Value {
        let name = self.of(cell);
        json!({ "label": in_lines(&name, BESIDE), "name": in_lines(&name, ABOVE) })
    }

    /// What this row is called.
    pub fn of(&self, cell: &Cell) -> String {
        let own = self.programs.cell(cell, &self.shared);
        if self.has_placements { format!("{own}, {}", words::placement(&cell.placement)) } else { own }
    }
}

/// So many letters have room beside a plot, and above a narrow one.
const BESIDE: usize = 36;
const ABOVE: usize = 44;

/// So many beside a point within a narrow one.
const WITHIN: usize = 26;

/// A name in lines that have room within a narrow plot.
pub fn within(name: &str) -> String {
    in_lines(name, WITHIN)
}

/// A name with a new line before a part that would make the one before it too long.
fn in_lines(name: &str, letters: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in name.split(", ") {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + part.chars().count() <= letters => *line += &format!(", {part}"),
            Some(line) => {
                line.push(',');
                lines.push(part.to_owned());
            }
            None => lines.push(part.to_owned()),
        }
    }
    lines.join("\n")
}

/// Says on which side of each point its name stands on a phone, where there is room only within the plot.
pub fn turn_names_inwards(points: &mut [Value]) {
    let logarithm = |point: &Value| point["median"].as_f64().unwrap_or(1.0).ln();
    let lowest = points.iter().map(logarithm).fold(f64::INFINITY, f64::min);
    let highest = points.iter().map(logarithm).fold(f64::NEG_INFINITY, f64::max);
    for point in points {
        let is_right = logarithm(point) > (lowest + highest) / 2.0;
        point["align"] = if is_right { "right" } else { "left" }.into();
    }
}

/// Says by how many pixels each name at this end of its line has to move up (`first_dy`, `last_dy`), so that none covers another. By how
/// many all of them together.
pub fn set_names_apart(points: &mut [Value], end: &str) -> f64 {
    // About the height of a sweep's plot, and of a name.
    const PLOT: f64 = 300.0;
    const NAME: f64 = 14.0;
    // Without an interval it is as high as its median.
    let logarithm = |point: &Value, field: &str| point[field].as_f64().or(point["median"].as_f64()).unwrap_or(1.0).ln();
    let lowest = points.iter().map(|point| logarithm(point, "low")).fold(f64::INFINITY, f64::min);
    let highest = points.iter().map(|point| logarithm(point, "high")).fold(f64::NEG_INFINITY, f64::max);
    let height = |point: &Value| PLOT * (logarithm(point, "median") - lowest) / (highest - lowest).max(0.1);
    let mut ends: Vec<&mut Value> = points.iter_mut().filter(|point| point[end] == true).collect();
    ends.sort_by(|a, b| height(a).total_cmp(&height(b)));
    let (mut free_from, mut moved) = (f64::NEG_INFINITY, 0.0);
    for point in ends {
        let (own, taken) = (height(point), free_from.max(height(point)));
        point[format!("{end}_dy")] = (own - taken).round().into();
        free_from = taken + NAME;
        moved += taken - own;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_has_lines() {
        assert_eq!(in_lines("threads, on one CPU", BESIDE), "threads, on one CPU");
        assert_eq!(
            in_lines("threads over a socket, with spinners, pinned to two CPUs", BESIDE),
            "threads over a socket, with spinners,\npinned to two CPUs"
        );
    }
}
