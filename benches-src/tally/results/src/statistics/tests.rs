use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::book::expression::Expression;
use crate::record::Record;
use crate::record::made_up::{cell, end, header, run};

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
    // Six and six can be arranged in 924 ways, so that even the two clearest come by chance
    // twice in a thousand times; seven and seven in 3,432.
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
        let taken = (0..2000).filter(|_| drift(&(0..20).map(|_| round(&mut rng, noise)).collect::<Vec<_>>()).is_some());
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
    fn order_does_not_matter_and_the_interval_holds_the_median(
        mut values in prop::collection::vec(0.1f64..1e6, 6..60),
    ) {
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

/// What one round yields: the median of ten samples around a level that differs from process to
/// process.
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

/// A session that becomes slower by a twentieth of its beginning with every round, in which a
/// takes half as long again as b.
fn drifting(rng: &mut StdRng, rounds: u32) -> Record {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for number in 0..rounds {
        let drift = 1e6 * (1.0 + 0.05 * f64::from(number));
        of_a.push(run(number, 0, (1.5 + 0.05 * normal(rng)) * drift));
        of_b.push(run(number, 1, (1.0 + 0.03 * normal(rng)) * drift));
    }
    // Which runs belong together is said by their rounds alone.
    of_b.shuffle(rng);
    Record { header: header(vec![cell("a", "free"), cell("b", "free")]), runs: [of_a, of_b].concat(), end: Some(end()) }
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
