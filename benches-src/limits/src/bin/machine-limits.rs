//! One operation: one reading of every limit of this machine, with the ceilings that each implies.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Findings, Nothing, Report};
use limits::{CEILINGS, Ceiling, Limit, Machine, Needs, Roots, bytes, ceilings, count, nearest};
use observation::Measure;

/// Every limit as a number. What is not limited, and what cannot be read, is among the unavailable, as `unlimited` or with the
/// reason: JSON has no number for either.
fn machine_limits(machine: &Machine, report: Report) -> Result<()> {
    let mut found = Findings::default();
    let mut note = |name: &str, limit: &Limit, unit: fn(f64) -> Measure| match (limit.known(), limit.reason()) {
        (Some(value), _) => drop(found.measures.insert(name.to_owned(), unit(value as f64))),
        (None, reason) => drop(found.unavailable.insert(name.to_owned(), reason.unwrap_or_default().to_owned())),
    };
    for (name, limit) in machine.plain_limits() {
        note(name, &limit, count);
    }
    for (name, limit) in machine.limits_in_bytes() {
        note(name, &limit, bytes);
    }
    for needs in Needs::ALL {
        let ceilings = ceilings(machine, &needs);
        for Ceiling { limit, units } in &ceilings {
            note(&format!("{}_by_{limit}", needs.name), units, count);
        }
        let lowest = nearest(&ceilings).map_or(Limit::Unlimited, |(_, units)| Limit::Of(units));
        note(&format!("{}_ceiling", needs.name), &lowest, count);
    }
    report.give(found)
}

fn main() -> ExitCode {
    // Read before the harness raises the soft limit of descriptors.
    let machine = Machine::read(&Roots::default());
    let measures = [&Machine::MEASURES[..], &CEILINGS].concat();
    harness::once(harness::name!(), &measures, |_: Nothing, _, report| machine_limits(&machine, report))
}
