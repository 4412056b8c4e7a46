//! What a program held and what it cost: a ledger read at several counts, of which the slope is the cost of one unit.
//!
//! An observation with the measure `held` was read once for each of its values. Every measure with as many values is a ledger;
//! `resident_bytes` in an expression is then its slope per unit held, `resident_bytes_at_0` what the line says of none held,
//! and `resident_bytes_residual` how far a point lies from the line at most, as a share of the ledger's range.

use observation::{Measure, Observation};

use crate::statistics;

/// What is asked of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What one unit adds.
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

/// Whether a measure of this observation was read at several counts.
pub fn is_ledger(seen: &Observation, measure: &str) -> bool {
    let values = |name: &str| seen.measures.get(name).map(|measure| measure.values.len());
    measure != HELD && values(HELD).is_some_and(|counts| counts > 1 && values(measure) == Some(counts))
}

const HELD: &str = "held";

/// What a measure asks of a named result: of a ledger its part, of any other the median of its values.
pub fn value(seen: &Observation, named: &Measure, measure: &str) -> Option<f64> {
    let (base, part) = part(measure);
    if !is_ledger(seen, base) {
        return statistics::median(&named.values).filter(|_| part == Part::Slope);
    }
    let line = statistics::line(&seen.measures[HELD].values, &named.values)?;
    Some(match part {
        Part::Slope => line.slope,
        Part::AtNone => line.at_zero,
        Part::Residual => line.residual,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> Observation {
        let measure = |unit: &str, values: &[f64]| Measure { unit: unit.to_owned(), values: values.to_vec() };
        let measures = [
            ("held", measure("1", &[100.0, 200.0, 300.0])),
            ("resident_bytes", measure("B", &[5_000.0, 9_000.0, 13_000.0])),
            ("future_bytes", measure("B", &[48.0])),
        ];
        let measures = measures.map(|(name, measure)| (name.to_owned(), measure));
        Observation { measures: measures.into(), ..Observation::default() }
    }

    fn ask(measure: &str) -> Option<f64> {
        let seen = seen();
        value(&seen, &seen.measures[part(measure).0], measure)
    }

    #[test]
    fn a_ledger_is_a_slope_and_what_was_read_once_is_itself() {
        assert_eq!(ask("resident_bytes"), Some(40.0));
        assert_eq!(ask("resident_bytes_at_0"), Some(1000.0));
        assert_eq!(ask("resident_bytes_residual"), Some(0.0));
        assert_eq!(ask("future_bytes"), Some(48.0));
        assert_eq!(ask("future_bytes_at_0"), None, "nothing was read at other counts");
        assert_eq!(ask("held"), Some(200.0));
        assert_eq!(part(&asking("resident_bytes", Part::Residual)), ("resident_bytes", Part::Residual));
    }
}
