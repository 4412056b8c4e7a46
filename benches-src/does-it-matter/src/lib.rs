//! What the programs of this chapter share: the document that services are given, and what they do with it.

pub mod accepting;
pub mod answering;
pub mod asking;
pub mod brief;
pub mod clean_build;
pub mod elf;
pub mod generator;
pub mod http;
pub mod measures;
pub mod order;
pub mod own_process;
pub mod parameters;
pub mod phases;
pub mod pieces;
pub mod pipeline;
pub mod question;
pub mod ready;
pub mod remote;
pub mod services;
pub mod serving;
pub mod spread;
pub mod task;
pub mod tls;
pub mod under_valgrind;

use anyhow::{Context, Result};
use harness::Findings;
use observation::{Measure, Observation};

/// A result that is a plain count or a ratio.
pub fn count(value: f64) -> Measure {
    Measure { unit: "1".to_owned(), values: vec![value] }
}

/// A result that is a time.
pub fn nanoseconds(value: f64) -> Measure {
    Measure { unit: "ns".to_owned(), values: vec![value] }
}

/// A result in bytes.
pub fn bytes(value: f64) -> Measure {
    Measure { unit: "B".to_owned(), values: vec![value] }
}

/// Adds a result to those that were found.
fn put(found: &mut Findings, name: &str, measure: Measure) {
    found.measures.insert(name.to_owned(), measure);
}

/// A result of another program, which is called so in what went wrong.
fn told(seen: &Observation, name: &str, who: &str) -> Result<f64> {
    let value = seen.measures.get(name).and_then(|measure| measure.values.first());
    value.copied().with_context(|| format!("{who} says no {name}"))
}
