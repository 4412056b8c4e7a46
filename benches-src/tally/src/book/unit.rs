//! What numbers count, and what comes of two of them.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::book::expression::Operator;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds per operation.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Bytes per operation.
    #[serde(rename = "B")]
    Bytes,
    /// A count per operation.
    Count,
    /// One quantity over another of the same unit.
    Ratio,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "B",
            Unit::Count => "count",
            Unit::Ratio => "ratio",
        })
    }
}

impl Unit {
    /// Whether numbers of these units may be compared. Counts and ratios are both plain numbers.
    pub fn is_like(self, other: Self) -> bool {
        let is_plain = |unit| matches!(unit, Unit::Count | Unit::Ratio);
        self == other || is_plain(self) && is_plain(other)
    }

    /// How fields and columns for scripts end, so that they say it.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "_ns",
            Unit::Bytes => "_bytes",
            Unit::Count | Unit::Ratio => "",
        }
    }
}

/// The unit of two combined; none where they do not fit.
pub fn unit_of(a: Unit, operator: Operator, b: Unit) -> Option<Unit> {
    use Unit::{Bytes, Count, Nanoseconds, Ratio};
    match (a, operator, b) {
        (a, Operator::Plus | Operator::Minus, b) => (a == b).then_some(a),
        (a, Operator::Over, b) if a == b => Some(Ratio),
        // So much each, times so many.
        (Nanoseconds, Operator::Times, Count | Ratio) | (Count | Ratio, Operator::Times, Nanoseconds) => {
            Some(Nanoseconds)
        }
        (Bytes, Operator::Times, Count | Ratio) | (Count | Ratio, Operator::Times, Bytes) => Some(Bytes),
        (unit @ (Nanoseconds | Bytes), Operator::Over, Count | Ratio) => Some(unit),
        // So many of it in so much.
        (Ratio, Operator::Over, Nanoseconds | Bytes) => Some(Count),
        (Count, Operator::Times | Operator::Over, Ratio) | (Ratio, Operator::Times, Count) => Some(Count),
        (Ratio, Operator::Times, Ratio) => Some(Ratio),
        _ => None,
    }
}
