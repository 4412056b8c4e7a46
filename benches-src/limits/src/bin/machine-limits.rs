//! One operation: one reading of every limit of this machine, with the ceilings that each implies.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::OnceLock;

use anyhow::Result;
use harness::{Once, Placement};
use limits::{Ceiling, Limit, Machine, Needs, Nothing, Roots, bytes, ceilings, count, nearest};
use observation::Measure;

/// Every limit as a number. What is not limited, and what cannot be read, is among the unavailable, as `unlimited` or with the
/// reason: JSON has no number for either.
#[derive(Default)]
struct MachineLimits {
    measures: BTreeMap<String, Measure>,
    unavailable: BTreeMap<String, String>,
}

impl Once for MachineLimits {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        Ok(Self::default())
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        let machine = MACHINE.get_or_init(read);
        for (name, limit) in machine.plain_limits() {
            self.note(name, &limit, count);
        }
        for (name, limit) in machine.limits_in_bytes() {
            self.note(name, &limit, bytes);
        }
        for needs in Needs::ALL {
            let ceilings = ceilings(machine, &needs);
            for Ceiling { limit, units } in &ceilings {
                self.note(&format!("{}_by_{limit}", needs.name), units, count);
            }
            let lowest = nearest(&ceilings).map_or(Limit::Unlimited, |(_, units)| Limit::Of(units));
            self.note(&format!("{}_ceiling", needs.name), &lowest, count);
        }
        Ok(self.measures.clone())
    }

    fn unavailable(&self) -> BTreeMap<String, String> {
        self.unavailable.clone()
    }
}

impl MachineLimits {
    fn note(&mut self, name: &str, limit: &Limit, unit: fn(f64) -> Measure) {
        match (limit.known(), limit.reason()) {
            (Some(value), _) => drop(self.measures.insert(name.to_owned(), unit(value as f64))),
            (None, reason) => drop(self.unavailable.insert(name.to_owned(), reason.unwrap_or_default().to_owned())),
        }
    }
}

/// Read before the harness raises the soft limit of descriptors.
static MACHINE: OnceLock<Machine> = OnceLock::new();

fn read() -> Machine {
    Machine::read(&Roots::default())
}

fn main() -> ExitCode {
    MACHINE.get_or_init(read);
    harness::once::<MachineLimits>(harness::name!())
}
