//! Known answers.

use super::*;
use crate::compute::quantity::Missing;
use crate::statistics::Estimate;

fn number(unit: Unit, low: f64, median: f64, high: f64) -> Measured {
    let interval = Some((low, high));
    let estimate = Estimate { median, interval, rounds: 6 };
    Ok(Quantity { unit, estimate, session: estimate, sessions: 1, bias: 0.0 })
}

fn ratio(low: f64, high: f64) -> Measured {
    number(Unit::Ratio, low, f64::midpoint(low, high), high)
}

fn verdict(measured: &Measured, expected: &Expectation) -> Verdict {
    judge(measured, expected).verdict
}

/// Published 0.68, agreement between 0.544 and 0.85, no effect at 1.
fn faster() -> Expectation {
    Expectation::About { value: 0.68, within: 1.25, no_effect: Some(1.0) }
}

#[test]
fn an_effect_is_as_claimed_or_has_another_figure_or_is_not_there() {
    use Verdict::{DoesNotHold, Holds, Shifted, Undecided};
    for (low, high, known, shift) in [
        (0.60, 0.70, Holds, None),
        (0.20, 0.30, Shifted, Some(Shift::More)),
        (0.90, 0.95, Shifted, Some(Shift::Less)),
        (0.80, 0.90, Undecided, None),
        (0.99, 1.01, DoesNotHold, None),
        (0.93, 1.00, DoesNotHold, None),
        (1.10, 1.30, DoesNotHold, None),
        // It reaches into what was claimed, whatever else it reaches.
        (0.80, 1.30, Undecided, None),
        // Neither next to no effect nor clear of it.
        (0.90, 1.05, Undecided, None),
    ] {
        assert_eq!(judge(&ratio(low, high), &faster()), Judgement { verdict: known, shift }, "{low}–{high}");
    }
}

#[test]
fn of_a_time_neither_side_is_more_than_was_claimed() {
    let published = Expectation::About { value: 1700.0, within: 1.25, no_effect: Some(0.0) };
    let none = number(Unit::Nanoseconds, -20.0, 10.0, 30.0);
    assert_eq!(verdict(&none, &published), Verdict::DoesNotHold, "no time at all");
    for (low, high) in [(90.0, 100.0), (900.0, 1000.0), (3000.0, 3100.0)] {
        let judged = judge(&number(Unit::Nanoseconds, low, low, high), &published);
        assert_eq!(judged, Judgement { verdict: Verdict::Shifted, shift: Some(Shift::AnotherFigure) });
    }
}

#[test]
fn a_bound_has_one_side_and_better_than_claimed_is_as_claimed() {
    use Verdict::{DoesNotHold, Holds, Undecided};
    for (low, high, at_most, at_least) in [
        (0.2, 0.3, Holds, DoesNotHold),
        (0.9, 1.1, Undecided, Undecided),
        (1.2, 9.0, DoesNotHold, Holds),
        // Met exactly.
        (0.9, 1.0, Holds, Undecided),
        (1.0, 1.1, Undecided, Holds),
        (1.0, 1.0, Holds, Holds),
    ] {
        assert_eq!(verdict(&ratio(low, high), &Expectation::AtMost(1.0)), at_most, "{low}–{high} at most 1");
        assert_eq!(verdict(&ratio(low, high), &Expectation::AtLeast(1.0)), at_least, "{low}–{high} at least 1");
    }
    let between = Expectation::Between(0.9, 1.1);
    assert_eq!(verdict(&ratio(0.95, 1.02), &between), Holds);
    assert_eq!(verdict(&ratio(1.05, 1.2), &between), Undecided);
    assert_eq!(verdict(&ratio(1.2, 1.3), &between), DoesNotHold);
}

#[test]
fn exact_counts_are_compared_exactly() {
    let exactly = |value: f64| number(Unit::Count, value, value, value);
    assert_eq!(verdict(&exactly(257.0), &Expectation::Equals(257.0)), Verdict::Holds);
    assert_eq!(verdict(&exactly(258.0), &Expectation::Equals(257.0)), Verdict::DoesNotHold);
    assert_eq!(verdict(&number(Unit::Count, 257.0, 257.0, 258.0), &Expectation::Equals(257.0)), Verdict::Undecided);
    assert_eq!(verdict(&exactly(0.0), &Expectation::AtMost(0.0)), Verdict::Holds);
}

#[test]
fn a_bias_of_the_instrument_widens_what_is_judged_and_produces_no_contradiction() {
    let biased = |bias: f64| Ok(Quantity { bias, ..ratio(0.93, 0.97).unwrap() });
    assert_eq!(verdict(&biased(0.0), &Expectation::AtLeast(1.0)), Verdict::DoesNotHold);
    assert_eq!(verdict(&biased(0.1), &Expectation::AtLeast(1.0)), Verdict::Undecided);
    // However much it is.
    for bias in [0.5, 5.0, 500.0] {
        for expected in [faster(), Expectation::AtMost(0.5), Expectation::Between(2.0, 8.0)] {
            assert_eq!(
                verdict(&biased(bias), &expected),
                if bias < 1.0 && expected.band() == Some((2.0, 8.0)) {
                    Verdict::DoesNotHold
                } else {
                    Verdict::Undecided
                }
            );
        }
    }
}

#[test]
fn whose_interval_reaches_into_the_claim_is_never_contradicted() {
    // The case that was judged "does not hold" for its noise.
    let wide = ratio(-0.36, 2.87);
    let twice_to_eight = Expectation::About { value: 4.0, within: 2.0, no_effect: Some(1.0) };
    assert_eq!(verdict(&wide, &twice_to_eight), Verdict::Undecided);
    for low in [0.1, 0.5, 0.84] {
        for high in [0.86, 1.0, 3.0] {
            assert_ne!(verdict(&ratio(low, high), &faster()), Verdict::DoesNotHold, "{low}–{high}");
        }
    }
}

#[test]
fn without_a_number_or_an_interval_nothing_is_said() {
    let missing: Measured = Err(Missing::new("failed", "it crashed"));
    assert_eq!(verdict(&missing, &faster()), Verdict::NotMeasured);
    let mut few = ratio(0.6, 0.7).unwrap();
    few.estimate.interval = None;
    assert_eq!(verdict(&Ok(few), &faster()), Verdict::NotMeasured);
    assert_eq!(verdict(&missing, &Expectation::Compared), Verdict::NotMeasured);
    assert_eq!(verdict(&ratio(0.6, 0.7), &Expectation::Compared), Verdict::Compared);
}

#[test]
fn what_could_be_told_and_how_near_the_bound_is() {
    let seen = number(Unit::Ratio, 0.9, 1.0, 1.2).unwrap();
    assert!((resolution(&seen, &Expectation::Compared).unwrap() - 0.2).abs() < 1e-12);
    let (bound, beyond) = nearest_bound(&seen, &Expectation::Between(0.8, 2.0)).unwrap();
    assert!(bound == 0.8 && (beyond.unwrap() - 0.125).abs() < 1e-12, "from the near end of the interval");
    assert_eq!(nearest_bound(&seen, &Expectation::AtMost(1.1)), Some((1.1, None)), "it lies within");
    let over_one = ratio(0.82, 1.30).unwrap();
    let about_1 = Expectation::About { value: 1.0, within: 1.25, no_effect: None };
    assert_eq!(nearest_bound(&over_one, &about_1), Some((1.25, None)), "before a nearer one that lies beyond");
    assert_eq!(nearest_bound(&seen, &Expectation::Compared), None);
    let claimed = |expected: &Expectation, figure| claimed_difference(Unit::Ratio, expected, figure);
    assert!((claimed(&faster(), None).unwrap() - 0.32).abs() < 1e-12);
    assert!((claimed(&Expectation::AtMost(1.05), Some(1.013)).unwrap() - 0.013).abs() < 1e-12, "the figure counts");
    assert_eq!(claimed(&Expectation::AtLeast(1.0), None), Some(0.0), "any difference");
    assert_eq!(claimed_difference(Unit::Bytes, &Expectation::AtMost(8.0), None), None, "of what?");
    let seen = number(Unit::Count, 2.0, 2.0, 2.0).unwrap();
    assert_eq!(resolution(&seen, &Expectation::Compared), Some(0.0), "an exact count tells any difference");
    let none = number(Unit::Count, -0.02, 0.001, 0.02).unwrap();
    assert!((resolution(&none, &Expectation::AtLeast(0.5)).unwrap() - 0.042).abs() < 1e-12);
}

#[test]
fn what_is_alike_and_differs_by_less_than_could_be_seen_is_too_close_to_tell() {
    use Verdict::{DoesNotHold, Holds, TooClose, Undecided};
    let at_most = Expectation::AtMost(1.05);
    for (low, high, figure, known) in [
        (0.99, 1.08, Some(1.013), TooClose),
        // A difference that could be seen: another session may decide it.
        (1.00, 1.10, Some(1.2), Undecided),
        // So may it where they may differ by more than a quarter.
        (0.70, 1.20, Some(1.013), Undecided),
        // What is decided stays so.
        (0.99, 1.04, Some(1.013), Holds),
        (1.06, 1.09, Some(1.013), DoesNotHold),
    ] {
        assert_eq!(judge_figure(&ratio(low, high), &at_most, figure).verdict, known, "{low}–{high}, {figure:?}");
    }
    let bytes = number(Unit::Bytes, 0.99, 1.02, 1.08);
    assert_eq!(judge_figure(&bytes, &at_most, Some(1.013)).verdict, Undecided, "a size has no value for no difference");
}

#[test]
fn what_is_claimed_lies_to_one_side_of_no_difference_or_to_none() {
    let about = |value| Expectation::About { value, within: 1.25, no_effect: None };
    for (expected, figure, more) in [
        (Expectation::AtLeast(1.0), None, Some(true)),
        (Expectation::AtMost(1.0), None, Some(false)),
        (Expectation::AtMost(1.2), Some(1.1), Some(true)),
        (about(1.5), None, Some(true)),
        (about(1.0), None, None),
        (Expectation::Between(0.75, 0.95), None, Some(false)),
        (Expectation::Between(1.1, 1.4), None, Some(true)),
        (Expectation::Between(0.9, 1.1), None, None),
    ] {
        assert_eq!(claims_more(1.0, &expected, figure), more, "{expected:?} {figure:?}");
    }
}

#[test]
fn an_interval_as_narrow_as_said_is_decided() {
    for (low, high, expected) in [
        (1.91, 4.62, Expectation::AtMost(2.0)),
        (0.80, 0.90, faster()),
        (0.88, 1.05, faster()),
        (0.5, 3.0, Expectation::Between(1.0, 2.0)),
    ] {
        let number = ratio(low, high);
        assert_eq!(verdict(&number, &expected), Verdict::Undecided);
        let number = number.unwrap();
        let (median, within) = (number.estimate.median, 0.99 * decided_within(&number, &expected).unwrap());
        assert_ne!(verdict(&ratio(median * (1.0 - within), median * (1.0 + within)), &expected), Verdict::Undecided);
    }
    assert_eq!(decided_within(&ratio(1.0, 2.0).unwrap(), &Expectation::Compared), None);
}

#[test]
fn parts_are_joined_as_the_sentence_joins_them() {
    use Verdict::{DoesNotHold, Holds, NotMeasured, Shifted, Undecided};
    let of = |verdicts: &[Verdict]| verdicts.iter().copied().map(Judgement::of).collect::<Vec<_>>().into_iter();
    for (parts, all, any) in [
        (&[Holds, Holds][..], Holds, Holds),
        (&[Holds, DoesNotHold], DoesNotHold, Holds),
        (&[Undecided, DoesNotHold], DoesNotHold, Undecided),
        (&[Holds, NotMeasured], NotMeasured, Holds),
        (&[DoesNotHold, NotMeasured], DoesNotHold, NotMeasured),
        (&[Holds, Shifted], Shifted, Holds),
        (&[], NotMeasured, NotMeasured),
    ] {
        assert_eq!(all_of(of(parts)).verdict, all, "all of {parts:?}");
        assert_eq!(any_of(of(parts)).verdict, any, "any of {parts:?}");
    }
    let shifted = |shift| Judgement { verdict: Shifted, shift: Some(shift) };
    let both = |a, b| all_of([shifted(a), shifted(b)].into_iter()).shift;
    assert_eq!(both(Shift::More, Shift::More), Some(Shift::More));
    assert_eq!(both(Shift::More, Shift::Less), Some(Shift::AnotherFigure), "they disagree");
}
