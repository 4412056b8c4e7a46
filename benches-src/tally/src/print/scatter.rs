//! Numbers of every machine beside each other, a dot for each: what one costs, what another costs that may follow it, and a third that may not.

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::book::plan::Plans;
use crate::book::programs::Series;
use crate::book::quantities::Asked;
use crate::book::unit::Unit;
use crate::compute::quantity::{Measured, Missing};
use crate::name;
use crate::print::comparison::elsewhere;
use crate::print::view::View;
use crate::project::Machine;
use crate::record::machine::Known;

/// A figure of machines, as a chapter's `takeaways.toml` has it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scatter {
    /// What directives call it, such as `kernel-price`.
    pub name: String,
    /// What it compares, as the title that is read aloud.
    pub what: String,
    /// What machines differ in, to the right.
    pub x: Column,
    /// What may follow it, upwards; of the same experiment, so that one over the other is paired.
    pub y: Drawn,
    /// The control: what should not follow it.
    pub control: Drawn,
    /// Further quantities, which stand in the table and are not drawn.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// What the table says of each machine.
    #[serde(default)]
    pub facts: Vec<String>,
}

/// A quantity and what a reader calls it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// What a reader calls it, such as `a bare write and read`.
    pub label: String,
    /// The name of the quantity that it is.
    pub quantity: String,
}

/// A quantity that is drawn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// The series whose colour it has.
    pub series: Series,
    /// What a reader calls it, such as `a bare write and read`.
    pub label: String,
    /// The name of the quantity that it is.
    pub quantity: String,
}

impl Scatter {
    /// What is wrong with it by itself.
    pub fn is_whole(&self) -> Result<()> {
        name::check(&self.name, "a scatter")
    }

    /// What is asked of each machine, with its head in the table: x, y, y over x, the control, and what stands in the table alone.
    pub fn asked<'a>(&self, plans: &'a Plans) -> Result<Vec<(String, Asked<'a>)>> {
        let Self { x, y, control, .. } = self;
        let ratio = format!("{} / {}", y.quantity, x.quantity);
        let drawn = [(&x.label, &x.quantity), (&y.label, &y.quantity)];
        let beside = [(&control.label, &control.quantity)].into_iter();
        let beside = beside.chain(self.columns.iter().map(|column| (&column.label, &column.quantity)));
        let drawn = drawn.into_iter().map(|(label, name)| (label.clone(), name.clone()));
        let ratio = [("the second over the first".to_owned(), ratio)];
        let beside = beside.map(|(label, name)| (label.clone(), name.clone()));
        drawn.chain(ratio).chain(beside).map(|(label, text)| Ok((label, plans.asked(&text, None)?))).collect()
    }

    /// Whether all its numbers have names, those that are drawn are times, and the two that are
    /// compared are of one session.
    pub fn is_known(&self, plans: &Plans) -> Result<()> {
        for name in self.drawn() {
            let unit = plans.unit(name)?;
            ensure!(unit == Unit::Nanoseconds, "{name} is no time: its unit is {unit}");
        }
        for Column { quantity, .. } in &self.columns {
            plans.unit(quantity)?;
        }
        self.asked(plans).map(drop)
    }

    /// The names of all quantities that it stands on.
    pub fn quantities(&self) -> impl Iterator<Item = &String> {
        self.drawn().into_iter().chain(self.columns.iter().map(|column| &column.quantity))
    }

    /// The names of those that are drawn.
    fn drawn(&self) -> [&String; 3] {
        [&self.x.quantity, &self.y.quantity, &self.control.quantity]
    }
}

/// A machine with its numbers, in the order in which they were asked for.
pub struct Point {
    /// Whose they are.
    pub machine: Machine,
    /// What it is, in a few words, if that is known.
    pub phrase: Option<String>,
    /// Each, or why it is lacking.
    pub numbers: Vec<Measured>,
    /// What is known of the machine, in the order in which it was asked for.
    pub facts: Vec<Result<String, Missing>>,
}

/// The places of numbers in a [`Point`].
pub const X: usize = 0;
/// See [`X`].
pub const Y: usize = 1;
/// Y over X.
pub const RATIO: usize = 2;
/// See [`X`].
pub const CONTROL: usize = 3;

/// The places of what is drawn.
pub const DRAWN: [usize; 3] = [X, Y, CONTROL];

impl Point {
    /// All machines, from left to right, and last those that lack a number that is drawn.
    pub fn all(view: &View, scatter: &Scatter, asked: &[(String, Asked)]) -> Result<Vec<Self>> {
        let mut points = Vec::new();
        for machine in view.machines()? {
            let number = |(_, asked): &(String, Asked)| everywhere(view, &machine, asked);
            let numbers = asked.iter().map(number).collect::<Result<Vec<_>>>()?;
            let facts = facts(view, &machine, &asked[X].1, &scatter.facts)?;
            let phrase = view.facts(&machine)?.and_then(|facts| facts.phrase());
            points.push(Self { machine, phrase, numbers, facts });
        }
        points.sort_by(|a, b| match (a.x(), b.x()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        Ok(points)
    }

    /// Where it stands to the right, if it has all that is drawn.
    pub fn x(&self) -> Option<f64> {
        self.lacking().next().is_none().then(|| self.median(X)).flatten()
    }

    /// One of its numbers.
    pub fn median(&self, place: usize) -> Option<f64> {
        self.numbers[place].as_ref().ok().map(|number| number.estimate.median)
    }

    /// Which of the numbers that are drawn it lacks, each with its place, and why.
    pub fn lacking(&self) -> impl Iterator<Item = (usize, &Missing)> {
        let drawn = self.numbers.iter().enumerate().filter(|(place, _)| DRAWN.contains(place));
        drawn.filter_map(|(place, number)| Some((place, number.as_ref().err()?)))
    }
}

/// A number on any machine. On that which is shown it may be stale, which the figure says.
fn everywhere(view: &View, machine: &Machine, asked: &Asked) -> Result<Measured> {
    if *machine == view.machine { view.evaluate(asked) } else { elsewhere(view, machine, asked) }
}

/// What a machine's record of this experiment says of it.
fn facts(view: &View, machine: &Machine, asked: &Asked, names: &[String]) -> Result<Vec<Result<String, Missing>>> {
    let header = view.header_on(machine, asked.plan, asked.experiment)?;
    let listed = header.as_ref().map(|(header, _)| header.machine.listed()).unwrap_or_default();
    let fact = |name: &String| match listed.iter().find(|own| own.name == name).map(|own| &own.known) {
        Some(Known::Yes(value)) => Ok(value.clone().into_owned()),
        Some(Known::No(reason)) => Err(Missing::new("not known", *reason)),
        _ => Err(Missing::new("not known", "no record says it")),
    };
    Ok(names.iter().map(fact).collect())
}
