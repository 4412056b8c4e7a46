//! In which order a call measures, and how far it has come.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use super::Wanted;
use crate::book::experiment::Experiment;
use crate::book::plan::Plans;
use crate::book::takeaways::Front;
use crate::measure::budget::{Budget, cells};
use crate::project::Project;
use crate::record::Effort;

/// The experiments that a reader sees first, in that order: those of the front page's figure, then
/// those of the figures that compare in each chapter.
pub fn seen_first(project: &Project, plans: &Plans) -> Vec<String> {
    // What is wrong in it fails where it is printed, and keeps nothing from being measured.
    let front = Front::load(project).unwrap_or_default();
    let rows = front.dumbbells.iter().flat_map(|dumbbell| &dumbbell.rows);
    let ratios = front.ladder.iter().chain(rows).map(|pair| plans.asked(&pair.ratio, None));
    let mut names: Vec<String> = Vec::new();
    for asked in ratios.flatten() {
        let name = &asked.experiment.name;
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// How far a call that measures several experiments has come, by the processes that it starts.
pub struct Progress {
    pub started: Instant,
    experiments: (usize, usize),
    processes: (usize, usize),
}

impl Progress {
    pub fn of(wanted: &[Wanted], effort: Effort) -> Result<Self> {
        let mut processes = 0;
        for own in wanted {
            processes += cells(effort, own.experiment)?.len() * Budget::for_experiment(effort, own.experiment).rounds;
        }
        Ok(Self { started: Instant::now(), experiments: (0, wanted.len()), processes: (0, processes) })
    }

    /// Says where an experiment of so many processes stands among all, before it starts.
    pub fn next(&mut self, processes: usize) -> String {
        let ((nth, of), (done, all)) = (&mut self.experiments, &mut self.processes);
        *nth += 1;
        let left = time_left(self.started, *done, *all).filter(|_| *nth > 2);
        *done += processes;
        let left = left.map_or(String::new(), |left| format!(", about {} left", minutes(left)));
        format!("{nth} of {of}{left}")
    }
}

/// A length of time as people say it: `4 min 10 s`.
pub fn minutes(time: Duration) -> String {
    match (time.as_secs() / 60, time.as_secs() % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// Draws only when told to, never by a thread of its own: on two cores, that would be in the
/// numbers.
pub fn bar(experiment: &Experiment) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("tally: {prefix} [{bar:30}] {pos}/{len} processes, {msg}");
    ProgressBar::new(1).with_prefix(experiment.name.clone()).with_style(style.expect("a literal that is well formed"))
}

/// Guesses how long is left from how long it took so far.
pub fn time_left(started: Instant, done: usize, of: usize) -> Option<Duration> {
    (done > 0).then(|| started.elapsed().mul_f64((of.saturating_sub(done)) as f64 / done as f64))
}
