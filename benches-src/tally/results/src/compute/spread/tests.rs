//! Known answers.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::book::expression::Expression;
use crate::compute::numbers::Taken;
use crate::record::Record;
use crate::record::made_up::{cell, end, header, run};

fn normal(rng: &mut StdRng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// Sessions of quantities over a base, of which chance moves each by so much on the logarithmic
/// scale.
fn sessions(rng: &mut StdRng, count: usize, spreads: &[f64]) -> Vec<Taken> {
    let names: Vec<String> = (0..spreads.len()).map(|index| format!("p{index}")).collect();
    let one = |hour: usize| {
        let cells = names.iter().map(String::as_str).chain(["base"]).map(|name| cell(name, "free"));
        let mut header = header(cells.collect());
        header.before.time = format!("2026-11-{:02}T{:02}:00:00Z", 1 + hour / 24, hour % 24);
        let mut runs: Vec<_> = (0..6).map(|round| run(round, spreads.len(), 1e9)).collect();
        for (index, spread) in spreads.iter().enumerate() {
            let level = 2e9 * (spread * normal(rng)).exp();
            runs.extend((0..6).map(|round| run(round, index, level * (1.0 + 1e-4 * f64::from(round)))));
        }
        Taken { record: Record { header, runs, end: Some(end()) }, session: None }
    };
    (0..count).map(one).collect()
}

fn numbers(rng: &mut StdRng, count: usize, spreads: &[f64]) -> Numbers {
    let named = |index: usize| Expression::parse(&format!("p{index} / base")).unwrap();
    let named: Vec<Expression> = (0..spreads.len()).map(named).collect();
    Numbers::of("x", &sessions(rng, count, spreads), &named).unwrap()
}

fn of(numbers: Numbers) -> Spread {
    spread(Kind::Ratio, &[numbers], &|_, _| true).unwrap()
}

fn own(spread: &Spread, index: usize) -> f64 {
    let all = spread.quantities.values().next().unwrap();
    *all.iter().find(|(key, _)| key.contains(&format!("p{index}["))).unwrap().1
}

#[test]
fn a_quantity_that_moves_more_than_its_experiment_has_a_wider_spread_and_not_all_of_it() {
    let mut spreads = vec![0.02; 9];
    spreads.push(0.2);
    let known = of(numbers(&mut StdRng::seed_from_u64(1), 12, &spreads));
    let (steady, moving) = (own(&known, 0), own(&known, 9));
    assert!((0.012..0.03).contains(&steady) && (0.1..0.25).contains(&moving), "{steady} {moving}");
    // Of two sessions nobody knows how far one quantity moves: it has its experiment's.
    let few = of(numbers(&mut StdRng::seed_from_u64(2), 2, &[0.02; 200]));
    assert!(few.quantities.is_empty(), "{few:?}");
    assert!((0.01..0.03).contains(&few.experiments["socket"]), "{:?}", few.experiments);
}

#[test]
fn an_interval_of_as_many_spreads_holds_nineteen_of_twenty_further_sessions() {
    let mut rng = StdRng::seed_from_u64(3);
    let spreads: Vec<f64> = (0..60).map(|index| 0.01 * 1.05_f64.powi(index)).collect();
    let all = numbers(&mut rng, 10, &spreads);
    let known = spread(Kind::Ratio, std::slice::from_ref(&all), &|_, _| true).unwrap();
    let (mut covered, mut tried) = (0, 0);
    for row in all.rows.iter().filter(|row| row.kind == Kind::Ratio) {
        let medians: Vec<f64> = row.values.iter().map(|value| value.unwrap().estimate.median).collect();
        let median = statistics::median(&medians).unwrap();
        let index = all.rows.iter().filter(|row| row.kind == Kind::Ratio).position(|own| own.key == row.key).unwrap();
        let factor = known.factor("socket", &row.key, 10);
        for _ in 0..50 {
            let next = 2.0 * (spreads[index] * normal(&mut rng)).exp();
            covered += usize::from(median / factor <= next && next <= median * factor);
            tried += 1;
        }
    }
    let share = f64::from(u32::try_from(covered).unwrap()) / f64::from(tried);
    assert!((0.92..0.99).contains(&share), "{share}");
}

#[test]
fn the_next_session_lies_nearer_to_the_median_of_many() {
    let known = of(numbers(&mut StdRng::seed_from_u64(4), 5, &[0.05; 30]));
    let [one, ten] = [1, 10].map(|sessions| known.factor("socket", "nothing that is known", sessions));
    assert!(one > ten && ten > 1.0, "{one} {ten}");
    assert_eq!(known.factor("elsewhere", "", 1), (known.reach * known.spread * 2f64.sqrt()).exp());
}

#[test]
fn what_is_exact_or_of_other_listings_or_not_used_says_nothing() {
    let mut rng = StdRng::seed_from_u64(5);
    let all = numbers(&mut rng, 6, &[0.05; 30]);
    assert_eq!(spread(Kind::Memory, std::slice::from_ref(&all), &|_, _| true), None);
    assert_eq!(spread(Kind::Ratio, std::slice::from_ref(&all), &|_, _| false), None);
    let half = all.sessions[2].began.clone();
    let earlier = spread(Kind::Ratio, std::slice::from_ref(&all), &|_, session| session.began <= half).unwrap();
    assert_eq!((earlier.groups, earlier.numbers), (30, 90));
    let mut taken = sessions(&mut rng, 2, &[0.05; 30]);
    taken[1].record.header.sources.own.insert("a listing".to_owned(), "changed".to_owned());
    let named = [Expression::parse("p0 / base").unwrap()];
    let other = Numbers::of("x", &taken, &named).unwrap();
    assert_eq!(spread(Kind::Ratio, &[other], &|_, _| true), None);
}

#[test]
fn what_is_exact_in_each_session_and_differs_between_them_moves() {
    let exact = |hour: usize, level: f64| {
        let mut header = header(vec![cell("p0", "free"), cell("base", "free")]);
        header.before.time = format!("2026-11-01T{hour:02}:00:00Z");
        let runs = (0..6).flat_map(|round| [run(round, 0, level), run(round, 1, 1e9)]).collect();
        Taken { record: Record { header, runs, end: Some(end()) }, session: None }
    };
    let of = |levels: [f64; 3]| {
        let taken: Vec<Taken> = levels.into_iter().enumerate().map(|(hour, level)| exact(hour, level)).collect();
        let numbers = Numbers::of("x", &taken, &[Expression::parse("p0 / base").unwrap()]).unwrap();
        spread(Kind::Ratio, &[numbers], &|_, _| true)
    };
    assert_eq!(of([2e9, 2e9, 2.1e9]).map(|known| (known.groups, known.numbers)), Some((1, 3)));
    assert_eq!(of([2e9, 2e9, 2e9]), None, "one exact number");
}
