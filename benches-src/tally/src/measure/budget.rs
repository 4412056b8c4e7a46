//! How much an effort measures.

use std::time::Duration;

use anyhow::Result;

use crate::book::cell::Cell;
use crate::book::experiment::Experiment;
use crate::book::renamed;
use crate::record::{Effort, Record};

/// How much an effort measures.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Rounds before the declared look.
    pub rounds: usize,
    /// As many at min_rounds, however long they take.
    pub min_rounds: usize,
    /// The headline's half width that is aimed at; missed, the rounds are doubled once.
    pub target: f64,
    /// How long rounds may take before no more of them are begun; nothing where there are neither
    /// more nor fewer. How many there are then depends on their time, never on what they showed.
    pub max_time: Option<Duration>,
    /// What each program is asked for.
    pub flags: &'static [&'static str],
}

impl Budget {
    /// The rounds, the target and the flags of this effort.
    pub fn of(effort: Effort) -> Self {
        match effort {
            Effort::Test => Budget {
                rounds: 1,
                min_rounds: 1,
                target: f64::INFINITY,
                max_time: None,
                flags: &["--iters", "3", "--warmups", "1"],
            },
            Effort::Quick => Budget {
                rounds: 6,
                min_rounds: 6,
                target: 0.05,
                // A reader waits for all experiments. Of 964 quick records 269 were doubled, which
                // took 50 s of a session, and 100 of them came to the target.
                max_time: None,
                // Of 254 cells of a session with 50 ms, the first six samples of ten spread the
                // rounds' medians wider by a twentieth.
                flags: &["--samples", "10", "--warm-up-ms", "20", "--measurement-ms", "30"],
            },
            Effort::Full => Budget {
                rounds: 20,
                // The fewest of which the median lies between the second and the last but one with
                // 95 %: one round may be an outlier.
                min_rounds: 9,
                target: 0.02,
                // The whole book within 90 minutes.
                max_time: Some(Duration::from_secs(55)),
                // Rounds differ by more than a longer look at one of them would show: on the
                // machine intel-xeon-amx-2cpu-vm, half as many samples spread the rounds' medians
                // wider by a twentieth.
                flags: &["--samples", "10", "--warm-up-ms", "50", "--measurement-ms", "70"],
            },
        }
    }

    /// The same for one experiment. Instructions are the same in every round, and so are nearly all
    /// system calls: no more are needed than for an interval.
    pub fn for_experiment(effort: Effort, experiment: &Experiment) -> Self {
        let budget = Self::of(effort);
        let enough = experiment.count.map_or(budget.rounds, |_| budget.rounds.min(Self::of(Effort::Quick).rounds));
        let own = experiment.rounds.filter(|_| effort == Effort::Full);
        let rounds = own.unwrap_or(enough);
        let min_rounds = own.map_or(budget.min_rounds, |_| rounds).min(rounds);
        Self { rounds, min_rounds, ..budget }
    }

    /// Whether there are to be as many rounds again, after rounds that took this long and left the
    /// headline this wide.
    pub(super) fn doubles(&self, half_width: Option<f64>, took: Duration) -> bool {
        half_width.is_some_and(|half_width| half_width > self.target) && self.max_time.is_some_and(|most| took <= most)
    }

    /// Whether so many rounds are enough, although there were to be more, because they took this
    /// long.
    pub(super) fn ends_after(&self, rounds: usize, took: Duration) -> bool {
        (self.min_rounds..self.rounds).contains(&rounds) && self.max_time.is_some_and(|most| took > most)
    }
}

/// Whether an effort links an experiment's programs anew for each round.
pub fn relinks(effort: Effort, experiment: &Experiment) -> bool {
    effort == Effort::Full && experiment.relinked
}

/// The cells of an experiment that an effort measures.
pub fn cells(effort: Effort, experiment: &Experiment) -> Result<Vec<Cell>> {
    match effort {
        Effort::Test | Effort::Quick => experiment.quick_cells(),
        Effort::Full => experiment.full_cells().map(<[Cell]>::to_vec),
    }
}

/// Whether a record has what the plan asks for now: every cell, and of each process a count or the
/// laps one by one.
pub fn has_all(record: &Record, effort: Effort, experiment: &Experiment) -> Result<bool> {
    let own: Vec<Cell> = record.header.cells.iter().map(|cell| renamed::now(&experiment.renamed, cell)).collect();
    let observed = record.runs.iter().filter_map(|run| run.observation.as_ref());
    // What this machine does not give is not to be had by measuring again.
    let mut complete = observed.filter(|seen| seen.unavailable.is_empty());
    let was_asked = complete.all(|seen| {
        let is_counted = experiment.count.is_none_or(|count| seen.measures.contains_key(count.all()));
        is_counted && (experiment.histogram_laps.is_none() || seen.histograms.contains_key("lap"))
    });
    Ok(was_asked && cells(effort, experiment)?.iter().all(|cell| own.contains(cell)))
}
