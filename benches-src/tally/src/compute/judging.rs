//! What the data say about a claim.

use crate::book::verdict::Verdict;
use crate::compute::quantity::{Measured, Quantity};

/// What the plan says about a part of a claim.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The figure published.
    pub published: f64,
    /// The lowest and highest value that agree with it.
    pub band: (f64, f64),
    /// Where there would be no effect.
    pub no_effect: NoEffect,
}

/// Where there would be no effect.
#[derive(Debug, Clone)]
pub enum NoEffect {
    /// The claim is that there is no difference: all that is outside the band contradicts it.
    IsClaimed,
    /// At this value.
    At(f64),
    /// At another measured quantity.
    Measured {
        /// The first over it: then no effect is 1.
        over: Measured,
        /// Whether the published figure was above what was published of the other. Here it may be on either side.
        claimed_above: bool,
    },
}

/// The verdict on one part. Where the noise floor is not known, nothing is told from noise.
pub fn verdict(measured: &Measured, expected: &Expectation) -> Verdict {
    let Ok(Quantity { estimate, floor, .. }) = measured else {
        return Verdict::NotMeasured;
    };
    let Some((low, high)) = estimate.interval else {
        return Verdict::NotMeasured;
    };
    let inside = expected.band.0 <= low && high <= expected.band.1;
    let outside = high < expected.band.0 || expected.band.1 < low;
    let reaches_published = low <= expected.published && expected.published <= high;
    let effect = match &expected.no_effect {
        NoEffect::IsClaimed => {
            // What is claimed is that nothing differs from the published figure.
            let differs = floor.is_some_and(|floor| distance((low, high), expected.published) > floor);
            return match (inside, outside) {
                _ if floor.is_none() => Verdict::Inconclusive,
                (true, _) => Verdict::Holds,
                (_, true) if differs => Verdict::DoesNotHold,
                _ => Verdict::Inconclusive,
            };
        }
        NoEffect::At(value) => match effect((low, high), *value, *floor, expected.published > *value) {
            // An effect that would drown in the noise cannot be missed.
            Effect::None | Effect::BelowNoise if drowns(expected.published - value, *floor) => Effect::BelowNoise,
            Effect::BelowNoise if near_none((low, high), *value, expected) => Effect::None,
            effect => effect,
        },
        NoEffect::Measured { over: Err(_), .. } => return Verdict::NotMeasured,
        NoEffect::Measured { over: Ok(ratio), claimed_above } => {
            let Some(interval) = ratio.estimate.interval else { return Verdict::NotMeasured };
            let none = estimate.median / ratio.estimate.median;
            let agrees = expected.band.0 <= none && none <= expected.band.1;
            // Where no effect itself would agree, or is nothing of something, no side of it is the published one.
            if agrees || !none.is_finite() {
                return Verdict::Inconclusive;
            }
            match effect(interval, 1.0, ratio.floor, *claimed_above) {
                Effect::None if drowns(expected.published / none - 1.0, ratio.floor) => Effect::BelowNoise,
                effect => effect,
            }
        }
    };
    match effect {
        Effect::BelowNoise | Effect::Unknown => Verdict::Inconclusive,
        // Who cannot tell no effect from the published one has not found that there is none.
        Effect::None if reaches_published => Verdict::Inconclusive,
        Effect::None => Verdict::DoesNotHold,
        Effect::Opposite => Verdict::DoesNotHold,
        Effect::AsClaimed if inside => Verdict::Holds,
        Effect::AsClaimed if outside => Verdict::Shifted,
        Effect::AsClaimed => Verdict::Inconclusive,
    }
}

enum Effect {
    AsClaimed,
    Opposite,
    None,
    BelowNoise,
    /// Nobody knows how much is noise.
    Unknown,
}

fn effect((low, high): (f64, f64), none: f64, floor: Option<f64>, claimed_above: bool) -> Effect {
    let Some(floor) = floor else { return Effect::Unknown };
    let (above, below) = (low > none + floor, high < none - floor);
    let at_none = low <= none && none <= high;
    match (above, below) {
        (true, _) if claimed_above => Effect::AsClaimed,
        (_, true) if !claimed_above => Effect::AsClaimed,
        (true, _) | (_, true) => Effect::Opposite,
        // An interval that holds "no effect" and is no wider than the noise says that there is none.
        _ if at_none && high - low <= 2.0 * floor => Effect::None,
        _ => Effect::BelowNoise,
    }
}

/// How far the nearer end of an interval is from a value; 0 where it holds it.
fn distance((low, high): (f64, f64), value: f64) -> f64 {
    (low - value).max(value - high).max(0.0)
}

/// Whether an effect of this size cannot be told from none.
fn drowns(published: f64, floor: Option<f64>) -> bool {
    floor.is_none_or(|floor| floor > 0.0 && published.abs() <= floor)
}

/// Whether all of an interval lies nearer to no effect than to whatever would agree with the claim.
fn near_none((low, high): (f64, f64), none: f64, expected: &Expectation) -> bool {
    let (lowest, highest) = expected.band;
    let nearest = if expected.published > none { lowest - none } else { none - highest };
    (low - none).abs().max((high - none).abs()) < nearest / 2.0
}

/// A compound claim is as good as its worst part.
pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    verdicts.into_iter().max().unwrap_or(Verdict::NotMeasured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::unit::Unit;
    use crate::compute::quantity::Missing;
    use crate::statistics::Estimate;

    fn quantity(low: f64, high: f64) -> Measured {
        let estimate = Estimate { median: f64::midpoint(low, high), interval: Some((low, high)), rounds: 6 };
        Ok(Quantity { unit: Unit::Ratio, estimate, floor: Some(0.03) })
    }

    /// Published 0.68, agreement between 0.54 and 0.85, no effect at 1.
    fn faster() -> Expectation {
        Expectation { published: 0.68, band: (0.54, 0.85), no_effect: NoEffect::At(1.0) }
    }

    #[test]
    fn the_table_of_verdicts() {
        for (low, high, verdict_expected) in [
            (0.60, 0.70, Verdict::Holds),
            (0.20, 0.30, Verdict::Shifted),
            (0.88, 0.93, Verdict::Shifted),
            (0.80, 0.90, Verdict::Inconclusive),
            (0.93, 1.06, Verdict::DoesNotHold),
            (0.90, 1.06, Verdict::Inconclusive),
            (0.95, 1.10, Verdict::Inconclusive),
            (0.985, 0.995, Verdict::DoesNotHold),
            (0.98, 1.02, Verdict::DoesNotHold),
            (1.10, 1.20, Verdict::DoesNotHold),
            (0.50, 1.50, Verdict::Inconclusive),
        ] {
            assert_eq!(verdict(&quantity(low, high), &faster()), verdict_expected, "{low}–{high}");
        }
    }

    #[test]
    fn an_interval_that_reaches_both_no_effect_and_the_published_one_tells_neither() {
        let mut wide = quantity(0.64, 3.0).unwrap();
        wide.floor = Some(1.5);
        let larger = Expectation { published: 1.5, band: (1.2, 1.88), no_effect: NoEffect::At(1.0) };
        assert_eq!(verdict(&Ok(wide), &larger), Verdict::Inconclusive);
    }

    #[test]
    fn within_the_noise_only_what_is_far_from_the_claim_is_said_not_to_hold() {
        let from = |lowest| Expectation { published: 1.5, band: (lowest, 1.8), no_effect: NoEffect::At(1.0) };
        for (low, high) in [(0.95, 1.0), (0.99, 1.02), (1.001, 1.015)] {
            let mut measured = quantity(low, high).unwrap();
            measured.floor = Some(0.01);
            let measured = Ok(measured);
            assert_eq!(verdict(&measured, &from(1.25)), Verdict::DoesNotHold, "{low}–{high}");
            for lowest in [1.02, 1.0, 0.98] {
                assert_eq!(verdict(&measured, &from(lowest)), Verdict::Inconclusive, "{low}–{high}, {lowest}");
            }
        }
    }

    #[test]
    fn a_claim_that_there_is_no_difference_holds_in_its_band_and_is_contradicted_beyond_the_noise() {
        let same = Expectation { published: 1.0, band: (0.9, 1.1), no_effect: NoEffect::IsClaimed };
        assert_eq!(verdict(&quantity(0.95, 1.02), &same), Verdict::Holds);
        assert_eq!(verdict(&quantity(1.08, 1.2), &same), Verdict::Inconclusive);
        assert_eq!(verdict(&quantity(1.2, 1.3), &same), Verdict::DoesNotHold);
        let narrow = Expectation { published: 1.0, band: (0.99, 1.01), no_effect: NoEffect::IsClaimed };
        for (low, high, known) in [
            (0.995, 1.005, Verdict::Holds),
            (1.015, 1.025, Verdict::Inconclusive),
            (1.02, 1.20, Verdict::Inconclusive),
            (0.975, 0.985, Verdict::Inconclusive),
            (1.04, 1.05, Verdict::DoesNotHold),
            (0.94, 0.96, Verdict::DoesNotHold),
        ] {
            assert_eq!(verdict(&quantity(low, high), &narrow), known, "{low}–{high}");
        }
    }

    #[test]
    fn who_could_not_have_seen_an_effect_has_not_found_that_there_is_none() {
        let small = |published| Expectation { published, band: (1.01, 1.2), no_effect: NoEffect::At(1.0) };
        for (low, high) in [(0.99, 1.01), (0.998, 1.002)] {
            assert_eq!(verdict(&quantity(low, high), &small(1.02)), Verdict::Inconclusive, "{low}–{high}");
            assert_eq!(verdict(&quantity(low, high), &small(1.05)), Verdict::DoesNotHold, "{low}–{high}");
        }
        assert_eq!(verdict(&quantity(0.90, 0.95), &small(1.02)), Verdict::DoesNotHold, "the opposite is seen");
    }

    #[test]
    fn no_effect_may_itself_be_measured() {
        // Published: pinning takes the ratio to 0.95. Here it is 1.4 pinned, and 3.5 (or 1.4, or 1.0) free.
        let pinned = quantity(1.38, 1.42);
        let against = |low, high| Expectation {
            published: 0.95,
            band: (0.76, 1.19),
            no_effect: NoEffect::Measured { over: quantity(low, high), claimed_above: false },
        };
        assert_eq!(verdict(&pinned, &against(0.38, 0.42)), Verdict::Shifted);
        assert_eq!(verdict(&pinned, &against(0.99, 1.01)), Verdict::DoesNotHold);
        assert_eq!(verdict(&pinned, &against(1.3, 1.5)), Verdict::Inconclusive, "the band holds no effect");
        assert_eq!(verdict(&quantity(0.9, 1.0), &against(0.38, 0.42)), Verdict::Holds);
        assert_eq!(verdict(&pinned, &against(0.9, 1.1)), Verdict::Inconclusive);
        // Free it is 0.5 here: pinning takes it to the published ratio, but away from where it was to come from.
        assert_eq!(verdict(&quantity(0.9, 1.0), &against(1.8, 2.0)), Verdict::DoesNotHold);
    }

    #[test]
    fn exact_counts_are_compared_exactly() {
        let exactly = |value: f64| -> Measured {
            let estimate = Estimate { median: value, interval: Some((value, value)), rounds: 6 };
            Ok(Quantity { unit: Unit::Count, estimate, floor: Some(0.0) })
        };
        let two = |no_effect| Expectation { published: 2.0, band: (2.0, 2.0), no_effect };
        assert_eq!(verdict(&exactly(2.0), &two(NoEffect::IsClaimed)), Verdict::Holds);
        assert_eq!(verdict(&exactly(2.002), &two(NoEffect::IsClaimed)), Verdict::DoesNotHold);
        for (value, known) in
            [(2.0, Verdict::Holds), (3.0, Verdict::Shifted), (1.0, Verdict::DoesNotHold), (0.0, Verdict::DoesNotHold)]
        {
            assert_eq!(verdict(&exactly(value), &two(NoEffect::At(1.0))), known, "{value}");
        }
        let none = Expectation { published: 0.0, band: (0.0, 0.0), no_effect: NoEffect::IsClaimed };
        assert_eq!(verdict(&exactly(0.0), &none), Verdict::Holds);
        assert_eq!(
            verdict(&exactly(0.0), &two(NoEffect::Measured { over: exactly(0.0), claimed_above: true })),
            Verdict::Inconclusive
        );
    }

    #[test]
    fn without_a_number_or_an_interval_nothing_is_said() {
        let missing: Measured = Err(Missing::new("failed", "it crashed"));
        assert_eq!(verdict(&missing, &faster()), Verdict::NotMeasured);
        let mut few = quantity(0.6, 0.7).unwrap();
        few.estimate.interval = None;
        assert_eq!(verdict(&Ok(few), &faster()), Verdict::NotMeasured);
        let half = Expectation { no_effect: NoEffect::Measured { over: missing, claimed_above: false }, ..faster() };
        assert_eq!(verdict(&quantity(0.6, 0.7), &half), Verdict::NotMeasured);
    }

    #[test]
    fn without_a_noise_floor_nothing_is_told_from_noise() {
        let unknown = |low, high| Ok(Quantity { floor: None, ..quantity(low, high).unwrap() });
        let same = Expectation { published: 0.68, band: (0.54, 0.85), no_effect: NoEffect::IsClaimed };
        let measured =
            Expectation { no_effect: NoEffect::Measured { over: unknown(0.6, 0.7), claimed_above: false }, ..faster() };
        for (low, high) in [(0.60, 0.70), (0.20, 0.30), (0.99, 1.01), (1.10, 1.20)] {
            for expected in [faster(), same.clone(), measured.clone()] {
                assert_eq!(
                    verdict(&unknown(low, high), &expected),
                    Verdict::Inconclusive,
                    "{low}–{high}, {expected:?}"
                );
            }
        }
    }

    #[test]
    fn the_worst_part_decides() {
        assert_eq!(worst([Verdict::Holds, Verdict::Shifted]), Verdict::Shifted);
        assert_eq!(worst([Verdict::DoesNotHold, Verdict::Inconclusive]), Verdict::DoesNotHold);
        assert_eq!(worst([]), Verdict::NotMeasured);
    }
}
