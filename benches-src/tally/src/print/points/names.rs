//! What rows and lines of a figure are called, and where on a line its name stands.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::book::cell::Cell;
use crate::book::programs::Programs;
use crate::book::words::{self, Part};
use crate::print::charts::row_height;

/// A name in its parts.
type Named = Vec<(Part, String)>;

/// What the rows of a figure are called.
pub struct Names<'a> {
    pub programs: &'a Programs,
    /// Parameters that all rows share.
    pub shared: Vec<String>,
    /// Whether they differ in where their threads may run.
    pub has_placements: bool,
}

/// What the rows of a figure are called that may have columns.
pub struct Rows<'a> {
    names: Names<'a>,
    /// What its columns differ in, where it has some.
    columns: Option<Part>,
}

impl<'a> Names<'a> {
    /// What this row is called.
    pub fn of(&self, cell: &Cell) -> String {
        joined(&self.parts(cell))
    }

    fn parts(&self, cell: &Cell) -> Named {
        let placement = (Part::Placement, words::placement(&cell.placement).to_owned());
        let own = self.programs.parts(cell, &self.shared).into_iter();
        own.chain(self.has_placements.then_some(placement)).collect()
    }

    /// Names of the rows of these cells, in columns where one column of them would be too high.
    pub fn of_rows(self, cells: &[&Cell]) -> Rows<'a> {
        let lines = |cell: &&Cell| in_lines(&self.of(cell), BESIDE).lines().count();
        let height = cells.len() as f64 * row_height(cells.iter().map(lines).max().unwrap_or(0), 1);
        let columns = if height > HIGHEST { self.columns(cells) } else { None };
        Rows { names: self, columns }
    }

    /// That of few values which leaves the fewest rows if each value has a column.
    fn columns(&self, cells: &[&Cell]) -> Option<Part> {
        let named: Vec<Named> = cells.iter().map(|cell| self.parts(cell)).collect();
        let parts: BTreeSet<&Part> = named.iter().flatten().map(|(part, _)| part).collect();
        let can = |part: &&&Part| {
            let is_said = |own: &Named| own.iter().any(|(other, _)| other == **part);
            let heads: BTreeSet<&str> = named.iter().map(|own| head(own, part)).collect();
            (2..=MOST_COLUMNS).contains(&heads.len())
                && **part != &Part::Program
                && (**part == &Part::Condition || named.iter().all(is_said))
        };
        let rows = |part: &&&Part| named.iter().map(|own| without(own, part)).collect::<BTreeSet<_>>().len();
        parts.iter().filter(can).min_by_key(rows).map(|part| (*part).clone())
    }
}

impl Rows<'_> {
    /// What this row is called, in lines where it is long: beside the plot, above its column, and
    /// both of it above the row on a phone.
    pub fn of(&self, cell: &Cell) -> Value {
        let own = self.names.parts(cell);
        let (label, column) = match &self.columns {
            Some(part) => (in_lines(&without(&own, part), BESIDE_COLUMNS), head(&own, part)),
            None => (in_lines(&joined(&own), BESIDE), ""),
        };
        json!({ "label": label, "column": column, "name": above(&joined(&own)) })
    }
}

fn joined(parts: &Named) -> String {
    parts.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>().join(", ")
}

fn without(parts: &Named, left_out: &Part) -> String {
    joined(&parts.iter().filter(|(part, _)| part != left_out).cloned().collect())
}

/// What stands above a column; of all that may differ, only a condition may be absent.
fn head<'a>(parts: &'a Named, of: &Part) -> &'a str {
    parts.iter().find(|(part, _)| part == of).map_or("as it is", |(_, words)| words)
}

/// So many columns have room side by side.
const MOST_COLUMNS: usize = 3;

/// Of so many pixels a column is seen as a whole, with its axis.
const HIGHEST: f64 = 500.0;

/// So many letters have room beside a plot or above a narrow one, and beside several.
const BESIDE: usize = 44;
const BESIDE_COLUMNS: usize = 36;

/// A name in lines that have room above its row on a phone.
pub fn above(name: &str) -> String {
    in_lines(name, BESIDE)
}

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

/// At which of these shares, which rise, each of some names stands that have so many lines on a
/// phone: below each other, however near to each other what they name lies, and as far apart as
/// there is room.
pub fn shares_for_names(lines: &[usize], shares: &[f64]) -> Vec<f64> {
    // Of a plot's height: where the first name stands, and a line, of which a plot has twenty.
    const FIRST: f64 = 0.9;
    const LINE: f64 = 0.05;
    let taken = LINE * lines.iter().sum::<usize>() as f64;
    let gap = ((FIRST - taken) / lines.len() as f64).max(0.0);
    let with_gap = |gap: f64| {
        let mut free = FIRST;
        let place = |lines: &usize| {
            let height = LINE * *lines as f64;
            let share = *shares.iter().rev().find(|share| **share <= free + 1e-9)?;
            free = share - height - gap;
            // Its middle is at the first line, and its last one above the axis.
            (share > height - LINE).then_some(share)
        };
        lines.iter().map(place).collect::<Option<Vec<f64>>>()
    };
    let found = [gap, gap / 2.0, 0.0].into_iter().find_map(with_gap);
    found.unwrap_or_else(|| shares.iter().rev().cycle().take(lines.len()).copied().collect())
}

/// Says on which side of each point its name stands where there is room only within the plot.
pub fn turn_names_inwards(points: &mut [Value]) {
    let logarithm = |point: &Value| point["median"].as_f64().unwrap_or(1.0).ln();
    let lowest = points.iter().map(logarithm).fold(f64::INFINITY, f64::min);
    let highest = points.iter().map(logarithm).fold(f64::NEG_INFINITY, f64::max);
    for point in points {
        let is_right = logarithm(point) > (lowest + highest) / 2.0;
        point["align"] = if is_right { "right" } else { "left" }.into();
    }
}

/// Says by how many pixels each name at this end of its line has to move up (`first_dy`,
/// `last_dy`), so that none covers another. By how many all of them together.
pub fn set_names_apart(points: &mut [Value], end: &str) -> f64 {
    // The height of a sweep's plot on a phone between its paddings, and of a name.
    const PLOT: f64 = 272.0;
    const NAME: f64 = 15.0;
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

    /// The names of so many cells that differ in their size, on one CPU and unpinned.
    fn names_of(sizes: u64) -> Vec<Value> {
        let cell = |size: u64, placement: &str| {
            let mut cell = crate::record::made_up::cell("x", placement);
            cell.parameters.insert("size".to_owned(), json!(size));
            cell
        };
        let cells: Vec<Cell> = (0..sizes).flat_map(|size| ["one-cpu", "free"].map(|place| cell(size, place))).collect();
        let names = Names { programs: &Programs::default(), shared: Vec::new(), has_placements: true };
        let cells: Vec<&Cell> = cells.iter().collect();
        let rows = names.of_rows(&cells);
        cells.iter().map(|cell| rows.of(cell)).collect()
    }

    #[test]
    fn what_is_too_high_for_one_column_has_several() {
        assert_eq!(
            names_of(2)[1],
            json!({ "label": "x, hops 500, size 0, unpinned", "column": "", "name": "x, hops 500, size 0, unpinned" })
        );
        let many = names_of(20);
        assert_eq!(
            many[1],
            json!({ "label": "x, hops 500, size 0", "column": "unpinned", "name": "x, hops 500, size 0, unpinned" })
        );
        assert_eq!(many[39]["column"], "unpinned");
    }

    #[test]
    fn columns_leave_as_few_rows_as_they_can() {
        let part = |name: &str| Part::Parameter(name.to_owned());
        let cell = |sizes: [u64; 2], condition: Option<&str>, program: &str| Cell {
            parameters: ["a", "b"].map(str::to_owned).into_iter().zip(sizes.map(Value::from)).collect(),
            condition: condition.map(str::to_owned),
            ..crate::record::made_up::cell(program, "free")
        };
        let names = Names { programs: &Programs::default(), shared: Vec::new(), has_placements: false };
        let chosen = |cells: &[Cell]| names.columns(&cells.iter().collect::<Vec<_>>());
        let both = |sizes: &[[u64; 2]]| sizes.iter().map(|sizes| cell(*sizes, None, "x")).collect::<Vec<_>>();
        assert_eq!(
            chosen(&both(&[[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3]])),
            Some(part("b")),
            "three columns, two rows"
        );
        assert_eq!(chosen(&both(&[[1, 1], [1, 2], [1, 3], [1, 4], [2, 1]])), Some(part("a")), "four have no room");
        assert_eq!(chosen(&[cell([1, 1], None, "x"), cell([1, 1], None, "y")]), None, "programs are rows");
        let with = [cell([1, 1], None, "x"), cell([1, 1], Some("spinners"), "x")];
        assert_eq!(chosen(&with), Some(Part::Condition));
        assert_eq!(
            with.each_ref().map(|cell| head(&names.parts(cell), &Part::Condition).to_owned()),
            ["as it is", "with spinners"]
        );
        let mut lacks = both(&[[1, 1], [2, 1]]);
        lacks[1].parameters.remove("a");
        assert_eq!(chosen(&lacks), None, "one that says nothing of it has no column");
    }

    #[test]
    fn names_on_lines_that_lie_together_stand_below_each_other() {
        let shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
        assert_eq!(shares_for_names(&[1, 1], &shares), [0.9, 0.4], "far apart where there is room");
        let lines = [1, 3, 2, 2, 1, 3, 2];
        let found = shares_for_names(&lines, &shares);
        for (pair, lines) in found.windows(2).zip(lines) {
            assert!(pair[0] - pair[1] > 0.05 * lines as f64 - 1e-6, "{found:?}");
        }
        assert_eq!(shares_for_names(&[3; 9], &shares)[8], 0.1, "each at one of its own where there is no room");
    }
}
