//! Known answers.

use super::unfinished::differences;
use super::*;
use crate::measure::budget::Budget;
use crate::record::made_up::{cell, header};

#[test]
fn rounds_are_doubled_where_the_target_was_missed_and_there_is_time() {
    let (seconds, quick, full) = (Duration::from_secs, Budget::of(Effort::Quick), Budget::of(Effort::Full));
    assert!(full.doubles(Some(0.03), seconds(54)));
    assert!(!full.doubles(Some(0.03), seconds(56)), "a full run has no more than an hour for all");
    assert!(!full.doubles(Some(0.01), seconds(54)), "the target was reached");
    assert!(!quick.doubles(Some(0.06), Duration::from_millis(1)), "a reader waits for all experiments");
    assert!(!full.doubles(None, seconds(3)), "there is no headline");
    assert!(!Budget::of(Effort::Test).doubles(Some(9.0), Duration::ZERO), "a test has no target");
}

#[test]
fn slow_rounds_end_between_the_least_and_those_wanted() {
    let (seconds, quick, full) = (Duration::from_secs, Budget::of(Effort::Quick), Budget::of(Effort::Full));
    assert!(!full.ends_after(8, seconds(3_000)), "fewer than the least are too few, whatever they take");
    assert!(full.ends_after(9, seconds(56)) && full.ends_after(19, seconds(56)));
    assert!(!full.ends_after(19, seconds(54)), "there is time for another");
    assert!(!full.ends_after(30, seconds(150)), "rounds that are being doubled are doubled");
    assert!(!quick.ends_after(5, seconds(60)) && !quick.ends_after(6, seconds(60)), "a quick run has six");
}

fn budget(effort: Effort, line: &str) -> Budget {
    let text = format!("question = \"?\"\nprediction = \".\"\nper = \"hop\"\n{line}\ncells = []");
    Budget::for_experiment(effort, &toml::from_str(&text).unwrap())
}

#[test]
fn an_experiment_may_say_how_many_rounds_a_full_run_gives_it_whatever_they_take() {
    let of = |line| budget(Effort::Full, line).ends_after(19, Duration::from_secs(3_000));
    assert!(of("") && !of("rounds = 20"));
    let rounds = |effort, line| budget(effort, line).rounds;
    for (line, own) in [("rounds = 6", 6), ("rounds = 20", 20), ("rounds = 80", 80)] {
        assert_eq!(rounds(Effort::Full, line), own);
    }
    assert!(!budget(Effort::Full, "rounds = 6").ends_after(5, Duration::from_secs(3_000)));
    assert_eq!((rounds(Effort::Quick, "rounds = 20"), rounds(Effort::Test, "rounds = 20")), (6, 1));
}

#[test]
fn what_is_counted_exactly_has_fewer_rounds() {
    let of = |effort: Effort, count: &str| budget(effort, count).rounds;
    assert_eq!(of(Effort::Full, "count = \"instructions\"\ncounted_laps = [1, 2]"), 6);
    assert_eq!(of(Effort::Test, "count = \"instructions\"\ncounted_laps = [1, 2]"), 1);
    assert_eq!((of(Effort::Full, "count = \"system-calls\""), of(Effort::Full, "")), (6, 20));
}

#[test]
fn every_round_has_every_cell_once_in_an_order_of_its_own() {
    let orders: Vec<_> = (0..50).map(|round| order(7, round, 6)).collect();
    for order in &orders {
        let mut cells: Vec<usize> = order.iter().map(|(cell, _)| *cell).collect();
        cells.sort_unstable();
        assert_eq!(cells, [0, 1, 2, 3, 4, 5]);
        assert!(order.iter().all(|(_, bytes)| *bytes == order[0].1), "rivals get the same environment");
    }
    assert_eq!(order(7, 3, 6), orders[3]);
    assert!(orders.windows(2).any(|pair| pair[0] != pair[1]));
    let first: std::collections::BTreeSet<_> = orders.iter().map(|order| order[0].0).collect();
    assert_eq!(first.len(), 6, "each cell goes first now and then");
}

#[test]
fn a_session_is_not_gone_on_with_after_the_machine_was_started_anew() {
    let left = header(vec![cell("a", "free")]);
    assert!(differences(&left, &left).is_empty());
    let now = Header { before: State { boot: Some("another".to_owned()), ..left.before.clone() }, ..left.clone() };
    assert_eq!(differences(&left, &now), ["the machine was started anew since"]);
    let now = Header { built: Some([("a".to_owned(), "other".to_owned())].into()), ..left.clone() };
    assert_eq!(differences(&left, &now), ["other program files are built now"], "two programs are not one");
}
