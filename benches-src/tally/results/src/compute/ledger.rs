//! What a program held and what it cost: a ledger read at several counts, of which the slope is the
//! cost of one unit.
//!
//! An observation with the measure `held` was read once for each of its values. Every measure with
//! as many values is a ledger; `resident_bytes` in an expression is then its slope per unit held,
//! `resident_bytes_at_0` what the line says of none held, and `resident_bytes_residual` how far a
//! point lies from the line at most, as a share of the ledger's range.

use observation::Measure;

use crate::book::reading::{HELD, Part, part};
use crate::record::seen::Seen;
use crate::statistics;

/// Whether a measure of this observation was read at several counts.
pub fn is_ledger(seen: &Seen, measure: &str) -> bool {
    let values = |name: &str| seen.measures.get(name).map(|measure| measure.values.len());
    measure != HELD && values(HELD).is_some_and(|counts| counts > 1 && values(measure) == Some(counts))
}

/// A slope stands on as many counts at least.
const FEWEST_COUNTS: usize = 8;

/// Why a measure has no value although it was read: with too few counts there is no slope, and what
/// one count says is of the whole process.
pub fn too_short(seen: &Seen, measure: &str) -> Option<String> {
    let (base, _) = part(measure);
    let counts = seen.measures.get(HELD)?.values.len();
    let is_short = counts < FEWEST_COUNTS && base != HELD && seen.measures.get(base)?.values.len() == counts;
    is_short.then(|| format!("it was read at {counts} of the {FEWEST_COUNTS} counts that a slope needs"))
}

/// What a measure asks of a named result: of a ledger its part, of any other the median of its
/// values. Nothing of a ledger that is too short.
pub fn value(seen: &Seen, named: &Measure, measure: &str) -> Option<f64> {
    let (base, part) = part(measure);
    if too_short(seen, base).is_some() {
        return None;
    }
    if !is_ledger(seen, base) {
        return statistics::median(&named.values).filter(|_| part == Part::Slope);
    }
    let line = statistics::line(&seen.measures.get(HELD)?.values, &named.values)?;
    Some(match part {
        Part::Slope => line.slope,
        Part::AtNone => line.at_zero,
        Part::Residual => line.residual,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::reading::asking;
    use crate::record::names::named;

    fn seen() -> Seen {
        let counts = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0].map(|hundreds| 100.0 * hundreds);
        let measure = |unit: &str, values: &[f64]| Measure { unit: unit.to_owned(), values: values.to_vec() };
        let measures = [
            ("held", measure("1", &counts)),
            ("resident_bytes", measure("B", &counts.map(|count| 1000.0 + 40.0 * count))),
            ("future_bytes", measure("B", &[48.0])),
        ];
        let measures = measures.map(|(name, measure)| (name.to_owned(), measure));
        Seen { measures: named(measures.into()), ..Seen::default() }
    }

    fn ask(measure: &str) -> Option<f64> {
        let seen = seen();
        value(&seen, seen.measures.get(part(measure).0).unwrap(), measure)
    }

    #[test]
    fn what_was_read_at_too_few_counts_has_no_slope_and_is_no_cost_of_one_unit() {
        for counts in 1..FEWEST_COUNTS {
            let mut seen = seen();
            for measure in ["held", "resident_bytes"] {
                seen.measures.get_mut(measure).unwrap().values.truncate(counts);
            }
            for measure in ["resident_bytes", "resident_bytes_at_0", "resident_bytes_residual"] {
                assert_eq!(
                    value(&seen, seen.measures.get("resident_bytes").unwrap(), measure),
                    None,
                    "{measure} at {counts} counts"
                );
                assert!(too_short(&seen, measure).unwrap().contains("of the 8 counts"));
            }
            assert!(value(&seen, seen.measures.get("held").unwrap(), "held").is_some());
        }
        assert_eq!(too_short(&seen(), "resident_bytes"), None);
        assert_eq!(too_short(&seen(), "future_bytes"), None);
    }

    #[test]
    fn a_ledger_is_a_slope_and_what_was_read_once_is_itself() {
        assert_eq!(ask("resident_bytes"), Some(40.0));
        assert_eq!(ask("resident_bytes_at_0"), Some(1000.0));
        assert_eq!(ask("resident_bytes_residual"), Some(0.0));
        assert_eq!(ask("future_bytes"), Some(48.0));
        assert_eq!(ask("future_bytes_at_0"), None, "nothing was read at other counts");
        assert_eq!(ask("held"), Some(450.0));
        assert_eq!(part(&asking("resident_bytes", Part::Residual)), ("resident_bytes", Part::Residual));
    }
}
