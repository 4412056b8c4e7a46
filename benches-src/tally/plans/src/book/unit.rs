//! What numbers count, and what comes of two of them.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

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
