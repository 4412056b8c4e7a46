//! Figures with a dot for each machine: what one number costs, what another costs that may follow
//! it, and a third that may not.

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::book::plan::Plans;
use crate::book::programs::Series;
use crate::book::quantities::Asked;
use crate::book::unit::Unit;
use crate::name;

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

    /// What is asked of each machine, with its head in the table: x, y, y over x, the control, and
    /// what stands in the table alone.
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
