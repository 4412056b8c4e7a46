//! What we foretell of the ladder where something that threads or tasks pay for is dearer: of each of its ratios, who pays.

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::name;

/// A prediction, as a chapter's `takeaways.toml` has it: written before any machine's numbers were held against it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dearer {
    /// What directives call it.
    pub name: String,
    /// What is dearer.
    pub what: String,
    /// The quantity that says how dear it is, a time.
    pub cost: String,
    /// The quantity of what does not contain it, a time: a machine that is slower at this is slower at everything, and is not dearer for that.
    pub beside: String,
    /// Within which factor, either way, a ratio is taken to be as foretold.
    pub within: f64,
    /// One for each ratio of the ladder.
    #[serde(rename = "row")]
    pub rows: Vec<Foretold>,
}

/// What is foretold of a ratio, a thread's cost over a task's.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Foretold {
    /// The quantity of the ratio, which is a rung of the ladder.
    pub ratio: String,
    /// Whose cost contains what is dearer.
    pub pays: Payer,
    /// Why that is expected, in a sentence that pages show.
    pub because: String,
}

/// Who pays for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Payer {
    /// The thread alone.
    Thread,
    /// The task alone.
    Task,
    /// Both of them.
    Both,
    /// None of them.
    Neither,
}

impl Payer {
    /// By which power of how much dearer it is a thread's cost over a task's grows.
    pub fn power(self) -> i32 {
        match self {
            Payer::Thread => 1,
            Payer::Task => -1,
            Payer::Both | Payer::Neither => 0,
        }
    }

    /// As pages say it.
    pub fn word(self) -> &'static str {
        match self {
            Payer::Thread => "the thread",
            Payer::Task => "the task",
            Payer::Both => "both",
            Payer::Neither => "neither",
        }
    }
}

impl Dearer {
    /// The names of all quantities that it stands on.
    pub fn quantities(&self) -> impl Iterator<Item = &String> {
        [&self.cost, &self.beside].into_iter().chain(self.rows.iter().map(|row| &row.ratio))
    }

    /// What is wrong with it by itself.
    pub fn is_whole(&self) -> Result<()> {
        name::check(&self.name, "a prediction")?;
        ensure!(self.within > 1.0 && self.within.is_finite(), "within is a factor above 1");
        ensure!(!self.rows.is_empty(), "it has no row");
        Ok(())
    }
}
