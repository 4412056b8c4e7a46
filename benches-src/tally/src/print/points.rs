//! What charts show: tidy rows on one scale. Intervals are computed here, never in a browser.

mod caches;
mod names;

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::book::cell::{Cell, plain};
use crate::book::experiment::{Experiment, Parts};
use crate::book::expression::Expression;
use crate::book::plan::Plan;
use crate::book::unit::Unit;
use crate::compute::quantity::Quantity;
use crate::compute::sessions::Sessions;
use crate::print::charts::set_lanes;
use crate::print::escape::html;
use crate::print::format::{self, Scale};
use crate::print::frame::shared_parameters;
use crate::print::points::caches::cache_marks;
use crate::print::points::names::{Names, Rows, above, set_names_apart, shares_for_names, turn_names_inwards, within};
use crate::print::rows::{Row, scale_of};
use crate::print::view::View;
use crate::project::Machine;
use crate::record::freshness::Freshness;
use crate::statistics::Estimate;

/// Between two points a line would say what nobody measured.
const FEWEST_FOR_A_LINE: usize = 3;

/// The rows of a chart with what is said about them.
pub struct Points {
    /// The specification in `book/charts`.
    pub shape: &'static str,
    pub rows: Vec<Value>,
    /// The title of the axis of values.
    pub axis: String,
    /// The title of the other axis, where it has one.
    pub x: String,
    /// What the marks mean, as HTML.
    pub legend: String,
}

/// Where a chart's numbers come from.
pub struct Source<'a> {
    /// Plans, published figures, other machines.
    pub view: &'a View,
    pub plan: &'a Plan,
    pub experiment: &'a Experiment,
    /// Its record on the machine that is shown.
    pub record: &'a Sessions,
    pub rows: &'a [Row],
}

/// A median on a scale, with the ends of its interval; these are absent where there is none.
fn marks(estimate: Estimate, scale: Scale) -> Value {
    let (low, high) = estimate.interval.map(|(low, high)| (low / scale.size, high / scale.size)).unzip();
    with(json!({ "median": estimate.median / scale.size, "low": low, "high": high }), said(estimate, scale))
}

/// The same in words: the number with its unit, and its interval or that there is none.
fn said(estimate: Estimate, scale: Scale) -> Value {
    let shown = format::on_scale(&estimate, scale);
    let said = format!("{} {}", shown.value, scale.name);
    json!({ "said": said.trim_end(), "interval": shown.interval_or_none() })
}

/// `row` with the fields of `more`.
pub fn with(mut row: Value, more: Value) -> Value {
    let fields = row.as_object_mut().expect("rows are objects");
    fields.extend(more.as_object().expect("rows are objects").clone());
    row
}

impl Points {
    fn none() -> Self {
        Self { shape: "stack", rows: Vec::new(), axis: String::new(), x: String::new(), legend: String::new() }
    }
}

/// Whether it has a place on a logarithmic axis; the table has it in any case.
fn is_above_0(quantity: &Quantity) -> bool {
    quantity.estimate.interval.map_or(quantity.estimate.median, |(low, _)| low) > 0.0
}

/// What an axis shows: "µs per hop", or without a unit "instructions per request".
fn per_operation(scale: Scale, measure: &str, per: &str) -> String {
    let counted = measure.replace('_', " ");
    let what = if scale.name.is_empty() { &counted } else { scale.name };
    format!("{what} per {per}")
}

impl Source<'_> {
    fn kind(&self, cell: &Cell) -> Value {
        json!(self.experiment.group(&cell.program).map(|group| group.series))
    }

    /// Names of rows, without what all of them share and without these parameters.
    fn names(&self, left_out: &[String]) -> Names<'_> {
        let cells = || self.rows.iter().filter(|row| row.main.is_ok()).map(|row| &row.cell);
        let shared = [shared_parameters(cells()), left_out.to_vec()].concat();
        let placements: BTreeSet<&String> = cells().map(|cell| &cell.placement).collect();
        Names { programs: &self.plan.programs, shared, has_placements: placements.len() > 1 }
    }

    /// Names of the rows that these cells have.
    fn row_names(&self, cells: &[&Cell]) -> Rows<'_> {
        self.names(&[]).of_rows(cells)
    }

    fn axis(&self, scale: Scale) -> String {
        format!("{} (logarithmic)", self.linear_axis(scale))
    }

    fn linear_axis(&self, scale: Scale) -> String {
        per_operation(scale, self.experiment.main_measure(), &self.experiment.per)
    }

    fn scale(rows: &[Row]) -> Scale {
        scale_of(rows.iter().map(|row| &row.main))
    }

    /// What its rows show, of this cell.
    fn main(&self, cell: &Cell) -> Result<Expression> {
        Expression::parse(&format!("{cell}.{}", self.experiment.main_measure()))
    }

    fn evaluate(&self, text: &str) -> Result<Option<Quantity>> {
        Ok(self.record.evaluate(&Expression::parse(text)?)?.ok())
    }

    /// A dot and its interval per cell, beside the reference machine's and what was published.
    pub fn dots(&self) -> Result<Points> {
        let scale = Self::scale(self.rows);
        let has_place = |row: &&Row| row.main.as_ref().is_ok_and(is_above_0);
        let rows: Vec<&Row> = self.rows.iter().filter(has_place).collect();
        let names = self.row_names(&rows.iter().map(|row| &row.cell).collect::<Vec<_>>());
        let reference = match self.view.beside() {
            Some(machine) => Some((machine.clone(), self.view.kept_on(&machine, self.plan, self.experiment)?)),
            None => None,
        };
        let mut points = Vec::new();
        let mut publications = BTreeSet::new();
        for row in rows {
            let Ok(quantity) = &row.main else { continue };
            let called = names.of(&row.cell);
            let point = |who: &str, estimate: Estimate, note: &str| {
                let own = json!({ "kind": self.kind(&row.cell), "who": who, "note": note });
                with(with(called.clone(), own), marks(estimate, scale))
            };
            points.push(point("here", quantity.estimate, ""));
            if let Some((_, kept)) = &reference
                && let Ok((record, aged)) = kept.as_ref()
                && !matches!(aged.of([row.cell.program.as_str()]), Freshness::Stale(_))
                && let Ok(quantity) = record.evaluate(&self.main(&row.cell)?)?
                && is_above_0(&quantity)
            {
                points.push(point("reference", quantity.estimate, ""));
            }
            for (publication, figure) in self.view.published.beside(&row.cell)? {
                let alone = Estimate { median: figure.value, interval: None, rounds: 0 };
                points.push(point("published", alone, &figure.label));
                publications.insert(format!("{} ({}; {})", figure.label, figure.machine, publication.title));
            }
        }
        set_lanes(&mut points);
        turn_names_inwards(&mut points);
        let mut parts = vec![format!("● {}.", html(self.view.machine.name()))];
        if let Some((Machine::Exported(slug), _)) = &reference
            && points.iter().any(|point| point["who"] == "reference")
        {
            parts.push(format!("○ {} (reference).", html(slug)));
        }
        if !publications.is_empty() {
            let publications: Vec<&str> = publications.iter().map(String::as_str).collect();
            parts.push(format!("◇ published without an interval: {}.", html(&publications.join(", "))));
        }
        parts.push("The thick line is the 95 % interval.".to_owned());
        Ok(Points { shape: "dots", rows: points, axis: self.axis(scale), x: String::new(), legend: parts.join(" ") })
    }

    /// A line with its band per series, over the one numeric parameter that the plan varies; dots
    /// where no series has points enough.
    pub fn sweep(&self) -> Result<Points> {
        let rows = self.rows;
        let Some(swept) = swept_parameter(rows) else {
            bail!("experiment {} varies no numeric parameter, so it has no sweep", self.experiment.name);
        };
        let names = self.names(std::slice::from_ref(&swept));
        let scale = Self::scale(rows);
        let mut series: Vec<(String, Vec<(f64, &Row)>)> = Vec::new();
        for row in rows.iter().filter(|row| row.main.as_ref().is_ok_and(is_above_0)) {
            let Some(x) = row.cell.parameters.get(&swept).and_then(Value::as_f64) else { continue };
            let label = names.of(&row.cell);
            match series.iter_mut().find(|(name, _)| *name == label) {
                Some((_, points)) => points.push((x, row)),
                None => series.push((label, vec![(x, row)])),
            }
        }
        if series.iter().all(|(_, points)| points.len() < FEWEST_FOR_A_LINE) {
            return self.dots();
        }
        let mut points = Vec::new();
        for (label, mut line) in series {
            line.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            for (index, (x, row)) in line.iter().enumerate() {
                let own = json!({
                    "label": label, "kind": self.kind(&row.cell), "who": "here", "x": x,
                    "first": index == 0, "last": index + 1 == line.len(), "line": line.len() >= FEWEST_FOR_A_LINE,
                });
                let quantity = row.main.as_ref().expect("filtered");
                points.push(with(own, marks(quantity.estimate, scale)));
            }
        }
        let [first, last] = ["first", "last"].map(|end| set_names_apart(&mut points, end));
        // On a phone names have no room beside the lines; they stand at the emptier end.
        let named = if first <= last { "first" } else { "last" };
        for point in points.iter_mut().filter(|point| point[named] == true) {
            point["named"] = named.into();
        }
        let mut parts = vec!["The band is the 95 % interval.".to_owned()];
        if let Some(bytes) = self.experiment.each_touches_bytes {
            let caches = cache_marks(self.record, &points, bytes);
            if !caches.is_empty() {
                let each = Scale::of(Unit::Bytes, bytes).exact(bytes);
                parts.push(format!("The dashed marks say where participants of {each} each would fill a cache."));
            }
            points.extend(caches);
        }
        let has_0 = points.iter().any(|point| point["x"] == 0.0);
        let x = format!(
            "{} ({})",
            self.plan.programs.axis(&swept),
            if has_0 { "logarithmic beyond 1" } else { "logarithmic" }
        );
        Ok(Points { shape: "sweep", rows: points, axis: self.axis(scale), x, legend: parts.join(" ") })
    }

    /// The share of single laps that took at most so long.
    pub fn ecdf(&self) -> Result<Points> {
        const SHARES: [f64; 17] =
            [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999];
        let rows = self.rows;
        let names = self.names(&[]);
        let scale = Self::scale(rows);
        let mut points = Vec::new();
        let measured: Vec<(&Row, String)> =
            rows.iter().filter(|row| row.main.is_ok()).map(|row| (row, names.of(&row.cell))).collect();
        let lines: Vec<usize> = measured.iter().map(|(_, label)| within(label).lines().count()).collect();
        for ((row, label), named_at) in measured.into_iter().zip(shares_for_names(&lines, &SHARES)) {
            for share in SHARES {
                let Some(quantity) = self.evaluate(&format!("{}.quantile_{share}", row.cell))? else { continue };
                let own = json!({
                    "label": label, "name": within(&label), "kind": self.kind(&row.cell), "who": "here", "p": share,
                    "placement": row.cell.placement, "named": share == named_at,
                });
                points.push(with(own, marks(quantity.estimate, scale)));
            }
        }
        turn_names_inwards(&mut points);
        let parts = [
            "Each point is a quantile of single laps, taken within each process; the band is its 95 % interval over \
             rounds.",
            "Solid: one CPU. Dashed: unpinned.",
        ];
        let axis = format!("{} per lap (logarithmic)", scale.name);
        Ok(Points { shape: "ecdf", rows: points, axis, x: String::new(), legend: parts.join(" ") })
    }

    /// What quantities are made of, part after part, or what a baseline explains of each cell.
    pub fn stack(&self) -> Result<Points> {
        if self.experiment.parts.is_empty() { self.beyond_baselines() } else { self.parts() }
    }

    /// Each part begins where the one before it ends; the last row is the whole as measured.
    fn parts(&self) -> Result<Points> {
        let mut taken_apart = Vec::new();
        for parts in &self.experiment.parts {
            // A quantity that was not measured has no place; the table says why.
            if let Some(measured) = self.taken_apart(parts)? {
                taken_apart.push((parts, measured));
            }
        }
        let all = || taken_apart.iter().flat_map(|(_, measured)| measured);
        let largest = all().max_by(|(_, a), (_, b)| a.estimate.median.total_cmp(&b.estimate.median));
        let Some((_, largest)) = largest else { return Ok(Points::none()) };
        let scale = Scale::of(largest.unit, largest.estimate.median);
        let mut rows = Vec::new();
        for (parts, measured) in &taken_apart {
            rows.extend(self.waterfall(parts, measured, scale)?);
        }
        let legend = [
            "Each part begins where the one before it ends.",
            "The thick line is the part's own 95 % interval.",
            "Grey: what the parts leave unexplained; it points backwards if they add up to too much.",
        ];
        Ok(Points { shape: "stack", rows, axis: self.linear_axis(scale), x: String::new(), legend: legend.join(" ") })
    }

    /// The parts, what they leave over, and the whole. Nothing where the whole was not measured; a
    /// part that was not is left to what is unexplained.
    fn taken_apart<'b>(&self, parts: &'b Parts) -> Result<Option<Vec<(&'b str, Quantity)>>> {
        let mut known = Vec::new();
        let mut explained = Vec::new();
        for part in &parts.of {
            if let Some(quantity) = self.evaluate(&part.quantity)? {
                known.push((part.name.as_str(), quantity));
                explained.push(part.quantity.as_str());
            }
        }
        let (whole, rest) = (self.evaluate(&parts.whole)?, self.evaluate(&parts.without(&explained))?);
        let (Some(whole), Some(rest)) = (whole, rest) else { return Ok(None) };
        known.extend([("unexplained", rest), ("as measured", whole)]);
        Ok(Some(known))
    }

    fn waterfall(&self, parts: &Parts, measured: &[(&str, Quantity)], scale: Scale) -> Result<Vec<Value>> {
        let whole = Expression::parse(&parts.whole)?;
        let program = &whole.leaves()[0].name;
        let kind = json!(self.experiment.group(program).map(|group| group.series));
        let mut rows = Vec::new();
        let mut from = 0.0;
        for (index, (name, quantity)) in measured.iter().enumerate() {
            let estimate = quantity.estimate;
            let (is_whole, is_rest) = (index + 1 == measured.len(), index + 2 == measured.len());
            let start = if is_whole { 0.0 } else { from };
            let (low, high) =
                estimate.interval.map(|(low, high)| ((start + low) / scale.size, (start + high) / scale.size)).unzip();
            let whole = parts.name.as_deref();
            let full = whole.map_or((*name).to_owned(), |whole| format!("{whole}: {name}"));
            let own = json!({
                "label": name, "column": whole.unwrap_or_default(), "name": above(&full), "part": name,
                "kind": if is_rest { json!("baseline") } else { kind.clone() },
                "rank": 1, "named": true,
                "from": start / scale.size, "to": (start + estimate.median) / scale.size,
                "low": low, "high": high,
            });
            rows.push(with(own, said(estimate, scale)));
            from += estimate.median;
        }
        Ok(rows)
    }

    /// What a baseline explains of each cell, and what remains.
    fn beyond_baselines(&self) -> Result<Points> {
        let scale = Self::scale(self.rows);
        let is_apart = |row: &&Row| row.main.is_ok() && matches!(row.beyond, Some(Ok(_)));
        let rows: Vec<&Row> = self.rows.iter().filter(is_apart).collect();
        let names = self.row_names(&rows.iter().map(|row| &row.cell).collect::<Vec<_>>());
        let mut points = Vec::new();
        for row in rows {
            let (Ok(whole), Some(Ok(beyond))) = (&row.main, &row.beyond) else { continue };
            let called = names.of(&row.cell);
            let (whole, beyond) = (whole.estimate, beyond.estimate);
            let interval = marks(whole, scale);
            let part = |part: &str, rank: u32, from: f64, own: Estimate| {
                let to = from + own.median;
                let row = json!({
                    "kind": self.kind(&row.cell), "part": part, "rank": rank, "named": rank == 0,
                    "from": from / scale.size, "to": to / scale.size, "low": interval["low"], "high": interval["high"],
                });
                with(with(called.clone(), row), said(own, scale))
            };
            let rest = Estimate { median: whole.median - beyond.median, interval: None, rounds: whole.rounds };
            points.push(part("input and output", 0, 0.0, rest));
            points.push(part("beyond it", 1, rest.median, beyond));
        }
        let parts = [
            "Grey: what the baseline does as well, on the same CPUs.",
            "Coloured: what remains beyond it (the median of the differences within rounds).",
            "The thick line is the 95 % interval of the whole.",
        ];
        let axis = self.linear_axis(scale);
        Ok(Points { shape: "stack", rows: points, axis, x: String::new(), legend: parts.join(" ") })
    }
}

/// The parameter that has different numbers for the same program; of several, the one with the
/// most, and then the first by name. What differs between programs only belongs to them and is not
/// swept.
fn swept_parameter(rows: &[Row]) -> Option<String> {
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.cell.parameters.keys()).collect();
    let programs: BTreeSet<&String> = rows.iter().map(|row| &row.cell.program).collect();
    let numbers = |name: &String, program: &String| {
        let own = rows.iter().filter(|row| row.cell.program == *program);
        let values = own.filter_map(|row| row.cell.parameters.get(name)).filter(|value| value.is_number());
        values.map(plain).collect::<BTreeSet<_>>().len()
    };
    let most = |name: &String| programs.iter().map(|program| numbers(name, program)).max().unwrap_or(0);
    let varied = names.into_iter().map(|name| (most(name), name)).filter(|(values, _)| *values > 1);
    varied.max_by(|(a, first), (b, second)| a.cmp(b).then(second.cmp(first))).map(|(_, name)| name.clone())
}

#[cfg(test)]
mod tests;
