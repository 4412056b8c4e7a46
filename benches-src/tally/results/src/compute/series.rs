//! One value for each round: what a measure of one process comes to.

use observation::Histogram;

use super::ledger;
use super::quantity::{Missing, Series, Values};
use crate::book::count::Count;
use crate::book::measure::{ELAPSED, QUANTILE, Scope, counter_named};
use crate::book::reading;
use crate::book::unit::Unit;
use crate::record::names::Named;
use crate::record::seen::Seen;
use crate::statistics;

/// The median of one process's samples.
pub fn nanoseconds_per_operation(seen: &Seen) -> Option<f64> {
    seen.timed.as_ref().map(|timed| timed.ns_per_operation)
}

/// One measure of one cell in each of the rounds.
pub(super) fn per_round<'a>(
    seen: impl Iterator<Item = &'a Seen> + Clone,
    measure: &str,
    bias: f64,
) -> Result<Series, Missing> {
    let (base, part) = reading::part(measure);
    let unit = match seen.clone().find_map(|observation| observation.measures.get(base)) {
        Some(_) if part == reading::Part::Residual => Unit::Ratio,
        Some(named) if named.unit == "ns" => Unit::Nanoseconds,
        Some(named) if named.unit == "B" => Unit::Bytes,
        Some(_) => Unit::Count,
        None if is_time(measure) => Unit::Nanoseconds,
        None => Unit::Count,
    };
    let mut values = Vec::new();
    for observation in seen {
        let named = named_result(observation, measure);
        let value = match measure {
            _ if named.is_some() => named,
            ELAPSED => nanoseconds_per_operation(observation),
            "user_ns" | "system_ns" => cpu_time(observation, measure),
            measure => match measure.strip_prefix(QUANTILE).and_then(|share| share.parse().ok()) {
                Some(share) => quantile(observation.histograms.get("lap"), share)?,
                None => per_operation(observation, measure),
            },
        };
        match value {
            Some(value) => values.push(value),
            None => {
                let reason = observation.unavailable.get(measure).cloned();
                let reason = reason.or_else(|| ledger::too_short(observation, measure));
                let reason = reason.unwrap_or_else(|| match measure {
                    ELAPSED => "its processes timed nothing".to_owned(),
                    measure => format!("the programs do not count {}", measure.replace('_', " ")),
                });
                return Err(Missing::new("unavailable", format!("because {reason}")));
            }
        }
    }
    // An A/A pair carries the bias of both its arms; one cell carries half of it.
    let bias = statistics::median(&values).unwrap_or(0.0).abs() * bias / 2.0;
    Ok(Series { unit, values: Values::Rounds(values), bias })
}

/// Whether a measure that is not a named result is a time.
pub fn is_time(measure: &str) -> bool {
    let counter = counter_named(measure).is_some_and(|counter| counter.unit == Unit::Nanoseconds);
    measure == ELAPSED || counter || measure.starts_with(QUANTILE)
}

/// Whether a counter counts what the whole system does.
fn is_system_wide(counter: &str) -> bool {
    counter_named(counter).is_some_and(|counter| counter.scope == Scope::System)
}

/// A named result. A kind that was not seen while all kinds were counted is an exact 0.
fn named_result(seen: &Seen, measure: &str) -> Option<f64> {
    let counted_none = || {
        let count = Count::named(measure)?;
        seen.measures.contains_key(count.all()).then_some(0.0)
    };
    let (base, _) = reading::part(measure);
    match seen.measures.get(base) {
        Some(named) => ledger::value(seen, named, measure),
        None => counted_none(),
    }
}

/// The value that this share of single laps does not exceed. A tail needs at least two laps beyond
/// it in each process; the interval over rounds says how little that is.
pub(super) fn quantile(laps: Option<&Histogram>, share: f64) -> Result<Option<f64>, Missing> {
    let Some(laps) = laps else { return Ok(None) };
    let count: u64 = laps.buckets.iter().map(|(_, count)| count).sum();
    let wanted = (share * count as f64).ceil() as u64;
    if count.saturating_sub(wanted) < 2 {
        return Err(Missing::new(
            "too few laps",
            format!("{count} laps in a process say nothing about its quantile {share}"),
        ));
    }
    let mut seen = 0;
    let reaches = |(_, here): &&(u64, u64)| {
        seen += here;
        seen >= wanted
    };
    Ok(laps.buckets.iter().find(reaches).map(|(bound, _)| *bound as f64))
}

/// CPU time of the median sample, as the time that stands beside it is, in user or in kernel mode.
/// Its split is that of all samples together, since in a single one it may be estimated from a few
/// ticks of the clock.
pub(super) fn cpu_time(seen: &Seen, mode: &str) -> Option<f64> {
    let timed = seen.timed.as_ref()?;
    let all = timed.counters.get("user_ns")? + timed.counters.get("system_ns")?;
    let in_mode = *timed.counters.get(mode)?;
    Some(timed.cpu_ns_per_operation? * in_mode as f64 / all.max(1) as f64)
}

/// A counter over all samples of one process, or over its whole run. What a system-wide counter
/// does anyway, by the idle window, is taken off.
pub(super) fn per_operation(seen: &Seen, counter: &str) -> Option<f64> {
    let within =
        |operations, elapsed_ns, counters: &Named<u64>| Some((operations, elapsed_ns, *counters.get(counter)?));
    let timed = seen.timed.as_ref().and_then(|own| within(own.operations, own.elapsed_ns, &own.counters));
    let whole_run = || seen.whole_run.as_ref().and_then(|own| within(own.operations, own.elapsed_ns, &own.counters));
    let (operations, elapsed_ns, moved) = timed.or_else(whole_run)?;
    if operations == 0 {
        return None;
    }
    let mut moved = moved as f64;
    if is_system_wide(counter) {
        let idle = seen.idle_window.as_ref()?;
        let rate = *idle.counters.get(counter)? as f64 / idle.elapsed_ns as f64;
        moved = (moved - rate * elapsed_ns as f64).max(0.0);
    }
    Some(moved / operations as f64)
}
