//! What slowed the machine down while a session ran, and what it says against its numbers.

use crate::record::Record;
use crate::record::machine::State;
use crate::statistics;

/// A clock that is read without the kernel takes a tenth of this.
const DEAR_NS: f64 = 200.0;

/// What a reading may be of the time that it bounds.
const READING_AT_MOST: f64 = 0.05;

/// What a program calls it that one reading of the clock takes.
const COST: &str = "clock_cost";

impl Record {
    /// What was noted of the machine: at the beginning, where the session was gone on with, and at
    /// the end.
    pub(super) fn states(&self) -> impl Iterator<Item = &State> {
        [&self.header.before].into_iter().chain(self.resumed()).chain(self.end.as_ref().map(|end| &end.after))
    }

    /// By how much something that the kernel counts has moved from the first state that has it to
    /// the last.
    fn moved(&self, count: impl Fn(&State) -> Option<u64>) -> Option<u64> {
        let mut counts = self.states().filter_map(count);
        let first = counts.next()?;
        Some(counts.last()?.saturating_sub(first)).filter(|moved| *moved > 0)
    }

    /// Said where a CPU was too hot to run as fast as it can.
    pub(super) fn doubt_of_heat(&self) -> Option<String> {
        let times = self.moved(|state| state.heat)?;
        Some(format!("CPUs were slowed down for their heat while the session ran: {times} times"))
    }

    /// Said where a battery fed the machine at some time.
    pub(super) fn doubt_of_a_battery(&self) -> Option<String> {
        let is_fed = self.states().any(|state| state.on_battery == Some(true));
        is_fed.then(|| "the machine ran on its battery, which slows most of them down".to_owned())
    }

    /// Said where memory was swapped, by whomever.
    pub(super) fn doubt_of_swapping(&self) -> Option<String> {
        let pages = self.moved(|state| state.swapped_pages)?;
        Some(format!(
            "memory was swapped while the session ran, {pages} pages in all: what is swapped out is counted as no \
             memory, and takes time"
        ))
    }

    /// Said where reading the clock takes a good part of what is timed by it, in whichever way.
    pub(super) fn doubt_of_a_slow_clock(&self) -> Option<String> {
        let of_programs: Vec<f64> = self.measured(|name| name == COST).collect();
        let of_states = self.states().filter_map(|state| state.clock_ns).map(|ns| ns as f64);
        // A single process may have been interrupted while it tried.
        let reading = of_states.chain(statistics::median(&of_programs)).reduce(f64::max)?;
        let shortest = self.shortest();
        (reading >= DEAR_NS && reading > READING_AT_MOST * shortest).then(|| {
            format!(
                "one reading of the clock takes {reading:.0} ns, and the shortest time here is {shortest:.0} ns: \
                 times of single operations have as much too much"
            )
        })
    }

    /// Said where the clock moves in steps that are a good part of what is timed by it. A clock
    /// that takes as long to read as it moves by is no coarse one.
    pub(super) fn doubt_of_a_coarse_clock(&self) -> Option<String> {
        let is_coarse = |state: &&State| state.clock_step_ns > state.clock_ns.map(|reading| 4 * reading);
        let step = self.states().filter(is_coarse).filter_map(|state| state.clock_step_ns).max()?;
        let shortest = self.shortest();
        (step as f64 > READING_AT_MOST * shortest).then(|| {
            format!(
                "the clock moves in steps of {step} ns, and the shortest time here is {shortest:.0} ns: a time of a \
                 single operation is a whole number of steps"
            )
        })
    }

    /// The shortest time that is printed of it, in nanoseconds.
    fn shortest(&self) -> f64 {
        let timed = self.runs.iter().filter_map(|run| Some(run.observation.as_ref()?.timed.as_ref()?.ns_per_operation));
        timed.chain(self.measured(|name| !name.starts_with("clock_"))).fold(f64::INFINITY, f64::min)
    }

    /// The middle value of each measure of a time, in each process, that is so called.
    fn measured(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = f64> {
        let measures = self.runs.iter().flat_map(|run| run.observation.iter().flat_map(|seen| &seen.measures));
        let wanted = measures.filter(move |(name, measure)| measure.unit == "ns" && is_wanted(name));
        wanted.filter_map(|(_, measure)| statistics::median(&measure.values)).filter(|ns| *ns > 0.0)
    }
}
