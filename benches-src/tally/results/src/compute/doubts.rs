//! What a session says against its own numbers.

mod strain;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::kind::Kind;
use crate::book::expression::{Expression, Operator, Selector};
use crate::record::machine::State;
use crate::record::seen::{STOPPED_MS, Usual};
use crate::record::{Record, Run};
use crate::statistics;

/// What scripts call it that processes failed.
pub const FAILED: &str = "failed";

/// What has to stand beside a number: in how few words, and in how many.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// What scripts call it.
    pub key: &'static str,
    pub short: String,
    /// As a sentence without its end.
    pub words: String,
}

/// By how much one request in a hundred was sent late, by the load generator's own account.
const LATE: &str = "load_late_p99_ns";

/// What share of a percentile may be its own lateness.
const LATE_AT_MOST: f64 = 0.1;

/// Less than so much between the halves of a session is not worth a word.
const DRIFTS_BY: f64 = 0.05;

/// Times are written down in whole seconds, one at each end.
const WHOLE_SECONDS: SignedDuration = SignedDuration::from_secs(2);

/// No session spends so long on anything but its processes.
const A_DAY: SignedDuration = SignedDuration::from_hours(24);

impl Record {
    /// What has to stand beside a number: that processes beneath it failed, and that it moved while
    /// it was measured.
    pub fn marks(&self, expression: &Expression) -> Vec<Mark> {
        let lost = self.lost_by(expression).map(|lost| Mark { key: FAILED, short: lost.short(), words: lost.words() });
        lost.into_iter().chain(self.drift(expression)).chain(self.late_generator(expression)).collect()
    }

    /// Said of a percentile where the load generator itself was late by a good part of it.
    fn late_generator(&self, expression: &Expression) -> Option<Mark> {
        let Expression::Leaf(leaf) = expression.formula() else { return None };
        if Kind::of(expression) != Kind::Tail {
            return None;
        }
        let late = Selector { measure: LATE.to_owned(), ..leaf.clone() };
        let share = Expression::binary(Expression::Leaf(late), Operator::Over, expression.clone());
        let share = self.evaluate(&share).ok()?.ok()?.estimate.median;
        (share > LATE_AT_MOST).then(|| Mark {
            key: "late",
            short: "late generator".to_owned(),
            words: format!(
                "one request in a hundred was sent late by {:.0} % of that time, which is the load generator's own \
                 doing",
                100.0 * share
            ),
        })
    }

    /// Said where the first half of a session's rounds differs from the second.
    fn drift(&self, expression: &Expression) -> Option<Mark> {
        let values = self.rounds_of(expression).ok().flatten()?;
        let share = statistics::drift(&values).filter(|share| share.abs() >= DRIFTS_BY)?;
        let (went, percent) = (if share > 0.0 { "rose" } else { "fell" }, (100.0 * share.abs()).round());
        Some(Mark {
            key: "drifts",
            short: format!("{went} by {percent} % meanwhile"),
            words: format!(
                "the second half of the rounds lies {percent} % {} the first, which chance does to one number in a \
                 thousand, if rounds do not depend on each other",
                if share > 0.0 { "above" } else { "below" }
            ),
        })
    }

    /// What the programs themselves distrusted, with how many of the processes said so, and what
    /// the session as a whole says against its numbers.
    pub fn doubts(&self) -> Vec<String> {
        let mut counts = BTreeMap::<&str, usize>::new();
        for doubt in self.runs.iter().filter_map(|run| run.observation.as_ref()).flat_map(|seen| &seen.doubts) {
            // What stands before the colon says which doubt it is.
            let kind = doubt.split(':').next().unwrap_or(doubt);
            *counts.entry(kind).or_default() += 1;
        }
        let say = |(doubt, count): (&str, usize)| format!("{doubt}: in {count} of {} processes", self.runs.len());
        let of_session = [
            self.doubt_of_moving(),
            self.doubt_of_stops(),
            self.doubt_of_interruptions(),
            self.doubt_of_gaps(),
            self.doubt_of_the_clock(),
            self.doubt_of_changes(),
            self.doubt_of_heat(),
            self.doubt_of_a_battery(),
            self.doubt_of_swapping(),
            self.doubt_of_a_slow_clock(),
            self.doubt_of_a_coarse_clock(),
        ];
        counts.into_iter().map(say).chain(of_session.into_iter().flatten()).collect()
    }

    /// Said where processes stood still: a sample, or a whole process, took seconds longer than
    /// others of its kind.
    fn doubt_of_stops(&self) -> Option<String> {
        let mut took: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for run in &self.runs {
            took.entry(run.cell).or_default().extend(run.took_ms.map(|ms| ms as f64));
        }
        let usual: BTreeMap<usize, Usual> = took.into_iter().map(|(cell, all)| (cell, Usual::of(&all))).collect();
        let stopped = |run: &&Run| {
            let timed = run.observation.as_ref().and_then(|seen| seen.timed.as_ref());
            run.took_ms.is_some_and(|ms| usual[&run.cell].is_exceeded(ms as f64, STOPPED_MS))
                || timed.is_some_and(|timed| timed.one_stands_out)
        };
        let stopped = self.runs.iter().filter(stopped).count();
        (stopped > 0).then(|| {
            format!(
                "processes stood still for seconds, stopped by somebody or by the host: {stopped} of {}",
                self.runs.len()
            )
        })
    }

    /// Said where the session was interrupted and gone on with.
    fn doubt_of_interruptions(&self) -> Option<String> {
        let times = self.resumed().count();
        let last = self.resumed().last()?;
        let load = last.load.map_or("an unknown load average".to_owned(), |load| format!("a load average of {load}"));
        let often = if times == 1 { "once".to_owned() } else { format!("{times} times, the last time") };
        Some(format!(
            "the session was begun at {}, interrupted, and gone on with {often} at {}, at {load}: its rounds are not \
             of one piece",
            self.header.before.time, last.time
        ))
    }

    /// Said where rounds lack a process that no interruption accounts for: a line of the record has
    /// gone, or an older tally was interrupted and wrote nothing of it.
    fn doubt_of_gaps(&self) -> Option<String> {
        let rounds = self.runs.iter().map(|run| run.round).collect::<BTreeSet<_>>().len();
        let lacking = rounds - self.complete_rounds().len();
        (lacking > self.resumed().count()).then(|| {
            format!("rounds lack a process, and no interruption is noted: {lacking} of {rounds}, which are left out")
        })
    }

    /// Said where the machine's clock was set while the session ran: it says other times than the
    /// processes took. Numbers are of another clock, which cannot be set, but the dates of the
    /// session may be wrong.
    fn doubt_of_the_clock(&self) -> Option<String> {
        let states: Vec<&State> = self.states().collect();
        let times: Vec<Timestamp> = states.iter().filter_map(|state| state.time.parse().ok()).collect();
        let passed = times.last()?.duration_since(*times.first()?);
        let ran = SignedDuration::from_millis(self.runs.iter().filter_map(|run| run.took_ms).sum::<u64>() as i64);
        let went_back = times.windows(2).any(|pair| pair[1] < pair[0]) || passed + WHOLE_SECONDS < ran;
        // An interruption lasts as long as it does.
        let went_on = self.resumed().next().is_none() && passed > ran + A_DAY;
        let how = if went_back { "back" } else { "forward" };
        (went_back || went_on).then(|| {
            format!(
                "the machine's clock was put {how} while the session ran: by it, the session began at {} and ended at \
                 {}",
                states[0].time,
                states[states.len() - 1].time
            )
        })
    }

    /// Said where somebody set the machine otherwise while the session ran.
    fn doubt_of_changes(&self) -> Option<String> {
        let changed = &self.end.as_ref()?.changed;
        let before = |name: &String| self.header.machine.known.get(name).map_or("unknown", String::as_str);
        let each = changed.iter().map(|(name, now)| format!("{name} (from {} to {now})", before(name)));
        let each = each.collect::<Vec<_>>().join(", ");
        (!changed.is_empty()).then(|| format!("the machine was set otherwise while the session ran: {each}"))
    }
}
