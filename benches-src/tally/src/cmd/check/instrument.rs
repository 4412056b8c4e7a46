//! Whether plans ask for no more than the reference machine's intervals can show, and whether these
//! are no wider than they can be.

use anyhow::Result;

use crate::book::expression::{Expression, Operator};
use crate::book::published::Kind;
use crate::cmd::claim::part::JudgedPart;
use crate::print::format;
use crate::print::view::View;

/// The predictions that no number could have confirmed: their band is narrower than the interval.
pub fn predictions(view: &View) -> Result<Vec<String>> {
    let Some(reference) = view.project.reference() else { return Ok(Vec::new()) };
    let there = view.of_machine(reference);
    let mut told = Vec::new();
    let mut chapter = None;
    for (plan, claim) in there.plans.claims() {
        // All records of the machine at once would be most of what the check keeps in memory.
        if chapter.replace(&plan.chapter) != Some(&plan.chapter) {
            there.forget_records();
        }
        if there.published.publication(&claim.source)?.kind == Kind::Published {
            continue;
        }
        for part in &claim.parts {
            let judged = JudgedPart::new(&there, claim, part, Kind::Predicted)?;
            let interval = judged.measured.as_ref().ok().and_then(|own| own.estimate.interval);
            let (Some(band), Some(interval)) = (judged.expected.band(), interval) else { continue };
            if let (Some(band), Some(interval)) = (half_width(band), half_width(interval))
                && 0.0 < band
                && band < interval
            {
                told.push(format!(
                    "{}: of part {:?} ±{} would agree, and the reference machine knows it to ±{} only: no number \
                     there confirms it",
                    there.project.place(&there.project.claim(&plan.chapter, &claim.id)),
                    part.name,
                    format::percent(band),
                    format::percent(interval)
                ));
            }
        }
    }
    Ok(told)
}

/// How far both ends lie from the middle, as a share of it; nothing where one end is missing, or
/// the two have no middle above nothing.
fn half_width((low, high): (f64, f64)) -> Option<f64> {
    let middle = f64::midpoint(low, high);
    (low.is_finite() && high.is_finite() && middle > 0.0).then(|| (high - low) / 2.0 / middle)
}

/// The differences with a name whose interval reaches beyond what their terms' intervals allow.
pub fn differences(view: &View) -> Result<Vec<String>> {
    let Some(reference) = view.project.reference() else { return Ok(Vec::new()) };
    let there = view.of_machine(reference);
    let mut wrong = Vec::new();
    for named in there.plans.quantities() {
        let asked = there.plans.asked(&named.name, None)?;
        let Expression::Binary(a, Operator::Minus, b) = asked.expression.formula() else { continue };
        let of = |own: &Expression| -> Result<_> {
            let asked = there.plans.ask(own.clone(), Some(&named.experiment))?;
            Ok(there.evaluate(&asked)?.ok().and_then(|own| own.estimate.interval))
        };
        let whole = there.evaluate(&asked)?.ok().and_then(|own| own.estimate.interval);
        let (Some((low, high)), Some(a), Some(b)) = (whole, of(a)?, of(b)?) else { continue };
        if is_beyond((low, high), a, b) {
            wrong.push(format!("quantity {}: its interval {low} to {high} is wider than its terms allow", named.name));
        }
    }
    Ok(wrong)
}

/// Whether an interval has more in it than one number less another come to, but for rounding.
fn is_beyond((low, high): (f64, f64), a: (f64, f64), b: (f64, f64)) -> bool {
    let slack = 1e-9 * (high - low).abs();
    low < a.0 - b.1 - slack || high > a.1 - b.0 + slack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_a_difference_lies_within_what_its_terms_come_to() {
        let (a, b) = ((2.4, 3.4), (0.1, 0.2));
        for (interval, expected) in [((2.2, 3.3), false), ((2.1, 3.3), true), ((2.3, 3.4), true), ((2.5, 3.0), false)] {
            assert_eq!(is_beyond(interval, a, b), expected, "{interval:?}");
        }
    }

    #[test]
    fn a_band_has_a_width_if_it_has_both_ends() {
        assert_eq!(half_width((0.5, 1.5)), Some(0.5));
        assert_eq!(half_width((1.0, f64::INFINITY)), None);
        assert_eq!(half_width((-1.0, 1.0)), None);
    }
}
