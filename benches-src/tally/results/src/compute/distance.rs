//! How far apart the first two CPUs were, by how long a line of memory takes from one to the other:
//! the host of a virtual machine may move them, within a session and between two.

use std::collections::BTreeMap;

use super::sessions::Sessions;
use crate::book::cell::ONE_CPU;
use crate::record::processors::APART_NS;
use crate::record::{Record, Run};
use crate::statistics::{self, ends};

impl Sessions {
    /// The distance in the session that is shown and in the others, where any cell has two CPUs.
    pub fn distance(&self) -> Option<String> {
        let has_two = self.header.cells.iter().any(|cell| cell.placement != ONE_CPU);
        let here = median_distance(self).filter(|_| has_two)?;
        let others: Vec<f64> = self.others().filter_map(median_distance).collect();
        let elsewhere = match (others.len(), ends(others.iter().copied())) {
            (1, Some((ns, _))) => format!(", and {ns:.0} ns in another session"),
            (many, Some((low, high))) => format!(", and {low:.0} to {high:.0} ns in {many} other sessions"),
            (_, None) => String::new(),
        };
        Some(format!("A line of memory took {here:.0} ns from the first CPU to the second{elsewhere}."))
    }
}

/// In the middle of a session's processes, in nanoseconds.
fn median_distance(record: &Record) -> Option<f64> {
    let known: Vec<f64> = record.runs.iter().filter_map(|run| Some(run.core_to_core_ns? as f64)).collect();
    statistics::median(&known)
}

impl Record {
    /// Said where the first two CPUs shared a cache at times and at others did not, with what that
    /// did to the times of cells that have both.
    pub(super) fn doubt_of_moving(&self) -> Option<String> {
        let known: Vec<u64> = self.runs.iter().filter_map(|run| run.core_to_core_ns).collect();
        let apart = known.iter().filter(|ns| **ns >= APART_NS).count();
        if apart == 0 || apart == known.len() {
            return None;
        }
        let slower = self.times_apart_over_times_together();
        let by = ends(slower.iter().copied()).zip(statistics::median(&slower)).map(|((low, high), middle)| {
            let cells = slower.len();
            format!(
                ". {cells} cells have both, and took {low:.2} to {high:.2} times as long then, {middle:.2} in the \
                 middle"
            )
        });
        Some(format!(
            "the first two CPUs shared a cache at times only: before {apart} of {} processes they took {APART_NS} \
             ns or more to pass on a line of memory{}",
            known.len(),
            by.unwrap_or_default()
        ))
    }

    /// Of each cell that was timed both ways: its time with the CPUs apart, over that with a cache
    /// in common.
    fn times_apart_over_times_together(&self) -> Vec<f64> {
        let mut times: BTreeMap<usize, [Vec<f64>; 2]> = BTreeMap::new();
        for Run { cell, core_to_core_ns, observation, .. } in &self.runs {
            let timed = observation.as_ref().and_then(|seen| seen.timed.as_ref());
            if let Some((ns, timed)) = core_to_core_ns.zip(timed) {
                let [together, apart] = times.entry(*cell).or_default();
                if ns < APART_NS { together } else { apart }.push(timed.ns_per_operation);
            }
        }
        let over = |[together, apart]: &[Vec<f64>; 2]| Some(statistics::median(apart)? / statistics::median(together)?);
        times.values().filter_map(over).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::compute::between::Between;
    use crate::record::made_up::{cell, end, header, run};
    use crate::record::store::Other;

    /// Two cells in ten rounds, before each of whose processes the distance was this.
    fn record(placement: &str, ns: fn(u32) -> Option<u64>) -> Record {
        let process = |round: u32, cell: usize, time: f64| {
            let core_to_core_ns = ns(round);
            let slower = core_to_core_ns.is_some_and(|ns| ns >= APART_NS && cell == 1);
            Run { core_to_core_ns, ..run(round, cell, if slower { 3.0 * time } else { time }) }
        };
        let runs = (0..10).flat_map(|round| [process(round, 0, 1000.0), process(round, 1, 2000.0)]).collect();
        Record { header: header(vec![cell("a", placement), cell("b", placement)]), runs, end: Some(end()) }
    }

    #[test]
    fn that_the_host_moved_the_cpus_is_a_doubt_and_that_they_are_always_apart_is_none() {
        for always in [|_| None, |_| Some(45), |_| Some(200)] {
            assert_eq!(record("free", always).doubt_of_moving(), None);
        }
        let moved = |round: u32| (round > 1).then_some(if round < 5 { 200 } else { 45 });
        assert_eq!(
            record("free", moved).doubt_of_moving().unwrap(),
            "the first two CPUs shared a cache at times only: before 6 of 16 processes they took 75 ns or more to \
             pass on a line of memory. 2 cells have both, and took 1.00 to 3.00 times as long then, 2.00 in the middle"
        );
    }

    #[test]
    fn the_distance_is_said_of_each_session_where_there_are_two_cpus() {
        let said = |placement: &str, others: &[fn(u32) -> Option<u64>]| {
            let other = |ns: &fn(u32) -> Option<u64>| Other { record: record(placement, *ns), programs: [].into() };
            let others = others.iter().map(other).collect();
            let here = record(placement, |_| Some(31));
            Sessions::new(here, others, Rc::new(Between::default())).distance()
        };
        let here = "A line of memory took 31 ns from the first CPU to the second";
        assert_eq!(said("one-cpu", &[]), None);
        assert_eq!(said("free", &[|_| None]).unwrap(), format!("{here}."));
        assert_eq!(said("free", &[|_| Some(200)]).unwrap(), format!("{here}, and 200 ns in another session."));
        let two = said("free", &[|_| Some(200), |_| Some(25)]);
        assert_eq!(two.unwrap(), format!("{here}, and 25 to 200 ns in 2 other sessions."));
    }
}
