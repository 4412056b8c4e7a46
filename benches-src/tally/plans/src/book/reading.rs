//! What a measure asks of a ledger, by its name.

/// The measure that says how many units were held at each reading.
pub const HELD: &str = "held";

/// What is asked of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Slope,
    /// What the line says of none held.
    AtNone,
    /// The largest distance from the line, as a share of the range.
    Residual,
}

const PARTS: [(&str, Part); 2] = [("_at_0", Part::AtNone), ("_residual", Part::Residual)];

/// The ledger that a measure speaks of, and what it asks of it.
pub fn part(measure: &str) -> (&str, Part) {
    let named = PARTS.iter().find_map(|(suffix, part)| Some((measure.strip_suffix(suffix)?, *part)));
    named.unwrap_or((measure, Part::Slope))
}

/// How a measure asks for a part of a ledger.
pub fn asking(ledger: &str, part: Part) -> String {
    let suffix = PARTS.iter().find(|(_, own)| *own == part).map_or("", |(suffix, _)| suffix);
    format!("{ledger}{suffix}")
}
