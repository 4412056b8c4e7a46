//! The statistics of rounds. The unit of replication is a round, that is a fresh process per cell; nothing here assumes a distribution.

use std::sync::LazyLock;

/// A median over rounds with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The median over the rounds.
    pub median: f64,
    /// The interval's ends, or none where there are fewer than six rounds: the range of five covers the median with probability 0.94 only.
    pub interval: Option<(f64, f64)>,
    /// How many rounds it stands on.
    pub rounds: usize,
}

/// The middle value, or the mean of the two middle ones. `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n.is_multiple_of(2) => Some(f64::midpoint(sorted[half - 1], sorted[half])),
        _ => Some(sorted[half]),
    }
}

/// The median over rounds and the interval between two order statistics. `None` for no rounds.
pub fn estimate(rounds: &[f64]) -> Option<Estimate> {
    let median = median(rounds)?;
    let sorted = sorted(rounds);
    let interval = interval_rank(rounds.len()).map(|rank| (sorted[rank - 1], sorted[sorted.len() - rank]));
    Some(Estimate { median, interval, rounds: rounds.len() })
}

/// The same for ratios, on the logarithmic scale, where a/b and b/a are mirror images. Order is the same on both scales, so
/// only the middle of two values differs; and the ratio of exact counts stays exact.
pub fn estimate_ratio(rounds: &[f64]) -> Option<Estimate> {
    let estimate = estimate(rounds)?;
    let sorted = sorted(rounds);
    let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    Some(Estimate { median: (below * above).sqrt(), ..estimate })
}

/// The largest `k` for which the `k`th smallest and the `k`th largest of `n` values enclose the median with at least 95 %.
///
/// Each value lies below the median with probability one half, so the chance that fewer than `k` do is a binomial tail.
pub fn interval_rank(n: usize) -> Option<usize> {
    let mut outside = 0.0;
    let mut term = 0.5f64.powi(n as i32);
    let mut rank = None;
    for below in 0..n / 2 {
        outside += 2.0 * term;
        if outside > 0.05 {
            break;
        }
        rank = Some(below + 1);
        term *= (n - below) as f64 / (below + 1) as f64;
    }
    rank
}

/// The correlation of each value with the one before it; nothing for fewer than six values, or where they do not vary. That values without any
/// come out at minus one over their number is made up for.
pub fn correlation_with_the_one_before(values: &[f64]) -> Option<f64> {
    const FEWEST: usize = 6;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let together: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    (values.len() >= FEWEST && spread > 0.0).then(|| together / spread + 1.0 / values.len() as f64)
}

/// Whether the first half of these values differs from the second by more than chance: by what share the second half's median lies above the
/// first's, where chance alone would order the two halves so clearly less than once in a thousand times. Nothing for fewer than fourteen values,
/// of which no order is so rare.
pub fn drift(values: &[f64]) -> Option<f64> {
    const FEWEST: usize = 14;
    if values.len() < FEWEST {
        return None;
    }
    // Of an odd number the middle one belongs to neither half.
    let half = values.len() / 2;
    let (first, second) = (&values[..half], &values[values.len() - half..]);
    let above = |a: &f64| {
        second
            .iter()
            .map(|b| {
                if b > a {
                    1.0
                } else if b < a {
                    0.0
                } else {
                    0.5
                }
            })
            .sum::<f64>()
    };
    let pairs: f64 = first.iter().map(above).sum();
    let (before, after) = (median(first)?, median(second)?);
    let fewer = pairs.min((half * half) as f64 - pairs);
    (fewer <= most_by_chance(half) && before != 0.0).then(|| after / before - 1.0)
}

/// Of so many pairs of two samples of `n` values each, the most that may be ordered the other way, so that chance alone orders the two at least
/// as clearly, to either side, less than once in a thousand times: the statistic of Mann and Whitney. Counted exactly up to
/// twenty values, and from there on by the normal distribution, which differs by two or three then.
fn most_by_chance(n: usize) -> f64 {
    const EXACT: usize = 20;
    /// Beyond so many standard deviations to either side lies a thousandth.
    const DEVIATIONS: f64 = 3.2905;
    static COUNTED: LazyLock<Vec<f64>> = LazyLock::new(|| (0..=EXACT).map(most_by_counting).collect());
    let size = n as f64;
    let deviation = (size * size * (2.0 * size + 1.0) / 12.0).sqrt();
    COUNTED.get(n).copied().unwrap_or_else(|| size * size / 2.0 - DEVIATIONS * deviation)
}

/// The same, counted: how many arrangements of the two samples have so many pairs in order. Below 0 where none is so rare.
fn most_by_counting(n: usize) -> f64 {
    const BY_CHANCE: f64 = 0.001;
    // By how many of the first and how many of the second sample are arranged.
    let mut ways = vec![vec![vec![1.0_f64]; n + 1]; n + 1];
    for first in 1..=n {
        for second in 1..=n {
            // The largest value is of the second sample, above all of the first, or of the first.
            let (below, beside) = (&ways[first][second - 1], &ways[first - 1][second]);
            let of_second = |pairs: usize| pairs.checked_sub(first).and_then(|pairs| below.get(pairs)).unwrap_or(&0.0);
            let of_first = |pairs: usize| beside.get(pairs).unwrap_or(&0.0);
            ways[first][second] = (0..=first * second).map(|pairs| of_second(pairs) + of_first(pairs)).collect();
        }
    }
    let all: f64 = ways[n][n].iter().sum();
    let mut most = -1.0;
    let mut rare = 0.0;
    for (pairs, ways) in ways[n][n].iter().enumerate() {
        rare += 2.0 * ways / all;
        if rare >= BY_CHANCE {
            break;
        }
        most = pairs as f64;
    }
    most
}

/// A straight line through points, by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// What y gains with each x.
    pub slope: f64,
    /// Where it is at x = 0.
    pub at_zero: f64,
    /// The largest distance of a point from it, as a share of the range of y; 0 where y does not vary.
    pub residual: f64,
}

/// The line through these points. `None` where there are fewer than two different x.
pub fn line(xs: &[f64], ys: &[f64]) -> Option<Line> {
    let n = xs.len() as f64;
    let (mean_x, mean_y) = (xs.iter().sum::<f64>() / n, ys.iter().sum::<f64>() / n);
    let spread: f64 = xs.iter().map(|x| (x - mean_x).powi(2)).sum();
    if spread.is_nan() || spread <= 0.0 {
        return None;
    }
    let together: f64 = xs.iter().zip(ys).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = together / spread;
    let at_zero = mean_y - slope * mean_x;
    let off = xs.iter().zip(ys).map(|(x, y)| (y - (at_zero + slope * x)).abs()).fold(0.0, f64::max);
    let (low, high) = ys.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(*y), high.max(*y)));
    Some(Line { slope, at_zero, residual: if high > low { off / (high - low) } else { 0.0 } })
}

impl Estimate {
    /// Half the interval's width over the median: what a target of 5 % is compared with. Nothing, for an exact number, be it 0.
    pub fn relative_half_width(&self) -> Option<f64> {
        self.interval.map(|(low, high)| if low == high { 0.0 } else { (high - low) / 2.0 / self.median.abs() })
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::rngs::StdRng;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::book::expression::Expression;
    use crate::record::Record;
    use crate::record::tests::{cell, end, header, run};

    #[test]
    fn ranks_are_those_of_the_binomial_tables() {
        let known = [(5, None), (6, Some(1)), (8, Some(1)), (9, Some(2)), (12, Some(3)), (20, Some(6)), (40, Some(14))];
        for (n, rank) in known {
            assert_eq!(interval_rank(n), rank, "n = {n}");
        }
        assert_eq!(interval_rank(0), None);
    }

    #[test]
    fn known_medians_and_intervals() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        let seen = estimate(&[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]).unwrap();
        assert_eq!((seen.median, seen.interval, seen.rounds), (3.5, Some((1.0, 6.0)), 6));
        assert_eq!(estimate(&[1.0; 5]).unwrap().interval, None);
        let ratio = estimate_ratio(&[1.0, 4.0]).unwrap();
        assert!((ratio.median - 2.0).abs() < 1e-12, "the middle of 1 and 4 is 2 on the log scale");
        let exact = Estimate { median: 1.2, interval: Some((1.2, 1.2)), rounds: 6 };
        assert_eq!(estimate_ratio(&[1.2; 6]), Some(exact));
    }

    #[test]
    fn halves_that_differ_by_more_than_chance_are_told() {
        let falling: Vec<f64> = (0..20).map(|round| if round < 10 { 8.0 } else { 5.0 }).collect();
        assert!((drift(&falling).unwrap() + 0.375).abs() < 1e-12);
        assert_eq!(drift(&[5.0; 20]), None);
        assert_eq!(drift(&falling[5..16]), None, "eleven are too few to tell");
        let bimodal: Vec<f64> = (0..40).map(|round| if round % 2 == 0 { 8.0 } else { 5.0 }).collect();
        assert_eq!(drift(&bimodal), None, "two modes in turns are no drift");
        // Six and six can be arranged in 924 ways, so that even the two clearest come by chance twice in a thousand times; seven and
        // seven in 3,432.
        assert_eq!((most_by_chance(6), most_by_chance(7)), (-1.0, 0.0));
        // By another count, with fractions.
        assert_eq!((most_by_chance(10), most_by_chance(20)), (8.0, 81.0));
        let by_normal = |n: f64| n * n / 2.0 - 3.2905 * (n * n * (2.0 * n + 1.0) / 12.0).sqrt();
        assert!((most_by_chance(20) - by_normal(20.0)).abs() < 3.0, "{}", by_normal(20.0));
        let many: Vec<f64> = (0..4000).map(|round| if round < 2000 { 1.0 } else { 2.0 }).collect();
        assert_eq!(drift(&many), Some(1.0));
    }

    #[test]
    fn chance_alone_is_seldom_taken_for_a_drift() {
        let mut rng = StdRng::seed_from_u64(23);
        for (name, noise) in NOISES {
            let taken =
                (0..2000).filter(|_| drift(&(0..20).map(|_| round(&mut rng, noise)).collect::<Vec<_>>()).is_some());
            assert!(taken.count() <= 6, "{name}");
        }
    }

    #[test]
    fn a_value_like_the_one_before_it_is_correlated_with_it() {
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(correlation_with_the_one_before(&rising).unwrap() > 0.9);
        let turning: Vec<f64> = (0..100).map(|round| f64::from(round % 2)).collect();
        assert!(correlation_with_the_one_before(&turning).unwrap() < -0.9);
        assert_eq!(correlation_with_the_one_before(&[1.0; 9]), None);
        assert_eq!(correlation_with_the_one_before(&[1.0, 2.0]), None);
    }

    #[test]
    fn a_line_and_how_far_its_points_are_from_it() {
        let line_of = |ys: &[f64]| line(&[1.0, 2.0, 3.0], ys).unwrap();
        assert_eq!(line_of(&[12.0, 14.0, 16.0]), Line { slope: 2.0, at_zero: 10.0, residual: 0.0 });
        assert_eq!(line_of(&[5.0; 3]), Line { slope: 0.0, at_zero: 5.0, residual: 0.0 });
        let bent = line_of(&[0.0, 3.0, 0.0]);
        assert_eq!((bent.slope, bent.at_zero), (0.0, 1.0));
        assert!((bent.residual - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(line(&[4.0, 4.0], &[1.0, 2.0]), None, "one count has no slope");
        assert_eq!(line(&[], &[]), None);
    }

    proptest! {
        #[test]
        fn a_line_is_found_again(slope in -1e4..1e4f64, at_zero in -1e6..1e6f64, step in 1.0..1e4f64) {
            let xs: Vec<f64> = (1..=8).map(|i| f64::from(i) * step).collect();
            let ys: Vec<f64> = xs.iter().map(|x| at_zero + slope * x).collect();
            let found = line(&xs, &ys).unwrap();
            prop_assert!((found.slope - slope).abs() <= 1e-6 * (slope.abs() + at_zero.abs() / step + 1.0));
            prop_assert!(found.residual < 1e-3);
        }
    }

    #[test]
    fn half_width_is_relative_to_the_median() {
        let seen = estimate(&[98.0, 99.0, 100.0, 100.0, 101.0, 102.0]).unwrap();
        assert!((seen.relative_half_width().unwrap() - 0.02).abs() < 1e-12);
        assert_eq!(estimate(&[0.0; 6]).unwrap().relative_half_width(), Some(0.0));
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_the_interval_holds_the_median(mut values in prop::collection::vec(0.1f64..1e6, 6..60)) {
            let seen = estimate(&values).unwrap();
            values.reverse();
            prop_assert_eq!(seen, estimate(&values).unwrap());
            let (low, high) = seen.interval.unwrap();
            prop_assert!(low <= seen.median && seen.median <= high);
        }

        #[test]
        fn a_ratio_turned_over_is_its_own_mirror_image(ratios in prop::collection::vec(0.01f64..100.0, 6..40)) {
            let seen = estimate_ratio(&ratios).unwrap();
            let turned = estimate_ratio(&ratios.iter().map(|r| 1.0 / r).collect::<Vec<_>>()).unwrap();
            let (low, high) = seen.interval.unwrap();
            let (turned_low, turned_high) = turned.interval.unwrap();
            prop_assert!((seen.median * turned.median - 1.0).abs() < 1e-9);
            prop_assert!((low * turned_high - 1.0).abs() < 1e-9 && (high * turned_low - 1.0).abs() < 1e-9);
        }
    }

    /// What one round yields: the median of ten samples around a level that differs from process to process.
    type Noise = fn(&mut StdRng) -> f64;

    fn normal(rng: &mut StdRng) -> f64 {
        (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
    }

    const NOISES: [(&str, Noise); 3] = [
        ("normal", |rng| 100.0 + 3.0 * normal(rng)),
        ("skewed", |rng| 100.0 * (0.2 * normal(rng)).exp()),
        ("bimodal", |rng| if rng.random_bool(0.7) { 100.0 + normal(rng) } else { 120.0 + normal(rng) }),
    ];

    fn round(rng: &mut StdRng, noise: Noise) -> f64 {
        let level = noise(rng);
        let samples: Vec<f64> = (0..10).map(|_| level * (1.0 + 0.01 * normal(rng))).collect();
        median(&samples).unwrap()
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let mut rng = StdRng::seed_from_u64(20);
        for (name, noise) in NOISES {
            let truth = median(&(0..40_001).map(|_| round(&mut rng, noise)).collect::<Vec<_>>()).unwrap();
            for rounds in [6, 20] {
                let covered = (0..2000).filter(|_| {
                    let session: Vec<f64> = (0..rounds).map(|_| round(&mut rng, noise)).collect();
                    let (low, high) = estimate(&session).unwrap().interval.unwrap();
                    low <= truth && truth <= high
                });
                let coverage = covered.count() as f64 / 2000.0;
                assert!((0.93..=0.98).contains(&coverage), "{name}, {rounds} rounds: {coverage}");
            }
        }
    }

    /// A session that becomes slower by a twentieth of its beginning with every round, in which a takes half as long again as b.
    fn drifting(rng: &mut StdRng, rounds: u32) -> Record {
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        for number in 0..rounds {
            let drift = 1e6 * (1.0 + 0.05 * f64::from(number));
            of_a.push(run(number, 0, (1.5 + 0.05 * normal(rng)) * drift));
            of_b.push(run(number, 1, (1.0 + 0.03 * normal(rng)) * drift));
        }
        // Which runs belong together is said by their rounds alone.
        of_b.shuffle(rng);
        Record {
            header: header(vec![cell("a", "free"), cell("b", "free")]),
            runs: [of_a, of_b].concat(),
            end: Some(end()),
        }
    }

    #[test]
    fn paired_ratios_cover_the_truth_though_the_session_drifts() {
        let mut rng = StdRng::seed_from_u64(21);
        let ratio = Expression::parse("a / b").unwrap();
        for rounds in [6, 20] {
            let sessions = (0..2000).map(|_| {
                let measured = drifting(&mut rng, rounds).evaluate(&ratio).unwrap();
                measured.unwrap().estimate.interval.unwrap()
            });
            let intervals: Vec<(f64, f64)> = sessions.collect();
            let covered = intervals.iter().filter(|(low, high)| *low <= 1.5 && 1.5 <= *high);
            let coverage = covered.count() as f64 / 2000.0;
            assert!((0.93..=0.98).contains(&coverage), "{rounds} rounds: {coverage}");
            // Rounds that were confused with one another would spread as far as the session drifts.
            let width = intervals.iter().map(|(low, high)| high - low).sum::<f64>() / 2000.0;
            assert!(width < 0.25, "{rounds} rounds: {width}");
        }
    }

    #[test]
    fn an_a_a_pair_differs_no_more_than_chance() {
        let mut rng = StdRng::seed_from_u64(22);
        let told_apart = (0..2000).filter(|_| {
            let noise = NOISES[1].1;
            let ratios: Vec<f64> = (0..20).map(|_| round(&mut rng, noise) / round(&mut rng, noise)).collect();
            let (low, high) = estimate_ratio(&ratios).unwrap().interval.unwrap();
            low > 1.0 || high < 1.0
        });
        let rate = told_apart.count() as f64 / 2000.0;
        assert!((0.02..=0.07).contains(&rate), "{rate}");
    }
}
