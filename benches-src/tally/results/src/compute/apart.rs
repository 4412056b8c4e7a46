//! Numbers that were measured apart, in other sessions or on other machines: nothing pairs their
//! rounds, so that what one is over another is as uncertain as both together. Within one record a
//! ratio is paired instead, see [`super::quantity`].

use crate::book::unit::Unit;
use crate::compute::quantity::Quantity;
use crate::statistics::{self, Estimate};

/// What one is over the other; nothing where either is not above 0, or its interval is not. Both
/// are taken to be off by chance, independently and by factors: the ends of the interval are as far
/// away as both factors come to together.
pub fn over(above: &Quantity, below: &Quantity) -> Option<Quantity> {
    let (top, bottom) = (above.estimate.median, below.estimate.median);
    let positive = |own: &Quantity| own.estimate.interval.map_or(own.estimate.median, |(low, _)| low) > 0.0;
    if !(positive(above) && positive(below)) {
        return None;
    }
    let median = top / bottom;
    let ends = above.estimate.interval.zip(below.estimate.interval);
    let interval = ends.map(|((top_low, top_high), (bottom_low, bottom_high))| {
        let down = (top / top_low).ln().hypot((bottom_high / bottom).ln());
        let up = (top_high / top).ln().hypot((bottom / bottom_low).ln());
        (median * (-down).exp(), median * up.exp())
    });
    let rounds = above.estimate.rounds.min(below.estimate.rounds);
    let alone = Estimate { median, interval: None, rounds };
    Some(Quantity {
        unit: Unit::Ratio,
        estimate: Estimate { interval, ..alone },
        session: alone,
        sessions: above.sessions.min(below.sessions),
        bias: (above.bias / top + below.bias / bottom) * median,
    })
}

/// How many times the smallest of these the largest is; nothing of none.
pub fn times_apart(all: impl Iterator<Item = f64>) -> Option<f64> {
    statistics::ends(all).map(|(low, high)| high / low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(median: f64, interval: Option<(f64, f64)>) -> Quantity {
        let estimate = Estimate { median, interval, rounds: 6 };
        Quantity { unit: Unit::Nanoseconds, estimate, session: estimate, sessions: 1, bias: 0.0 }
    }

    fn about(value: f64, known: f64) {
        assert!((value / known - 1.0).abs() < 1e-9, "{value} is not {known}");
    }

    #[test]
    fn what_is_exact_adds_nothing_to_the_other_interval() {
        let (wide, exact) = (quantity(6.0, Some((4.0, 9.0))), quantity(2.0, Some((2.0, 2.0))));
        let ratio = over(&wide, &exact).unwrap();
        about(ratio.estimate.median, 3.0);
        let (low, high) = ratio.estimate.interval.unwrap();
        about(low, 2.0);
        about(high, 4.5);
        let (low, high) = over(&exact, &wide).unwrap().estimate.interval.unwrap();
        about(low, 2.0 / 9.0);
        about(high, 0.5);
    }

    #[test]
    fn two_factors_of_the_same_size_come_to_its_power_of_the_root_of_two() {
        let number = quantity(10.0, Some((5.0, 20.0)));
        let (low, high) = over(&number, &number).unwrap().estimate.interval.unwrap();
        about(high, 2f64.powf(2f64.sqrt()));
        about(low, 1.0 / high);
    }

    #[test]
    fn what_is_not_above_nothing_has_no_ratio_and_no_interval_stays_none() {
        let (number, none) = (quantity(1.0, Some((0.5, 2.0))), quantity(1.0, None));
        for wrong in [quantity(0.0, None), quantity(-1.0, None), quantity(1.0, Some((-1.0, 2.0)))] {
            assert_eq!(over(&number, &wrong), None);
            assert_eq!(over(&wrong, &number), None);
        }
        assert_eq!(over(&number, &none).unwrap().estimate.interval, None);
    }

    #[test]
    fn bias_is_carried_as_a_share() {
        let biased = Quantity { bias: 0.1, ..quantity(1.0, Some((0.9, 1.1))) };
        about(over(&biased, &biased).unwrap().bias, 0.2);
    }

    #[test]
    fn how_far_apart_numbers_are() {
        assert_eq!(times_apart([3.0, 2.0, 8.0].into_iter()), Some(4.0));
        assert_eq!(times_apart([3.0].into_iter()), Some(1.0));
        assert_eq!(times_apart([].into_iter()), None);
    }
}
