//! Parts of records that nothing has measured, for tests.

use std::collections::BTreeMap;

use observation::Observation;
use serde_json::json;

use super::machine::{Facts, State};
use super::names::named;
use super::sources::Sources;
use super::{Effort, End, FORMAT, Header, RawRun, Run};
use crate::book::cell::Cell;

/// A cell.
pub fn cell(program: &str, placement: &str) -> Cell {
    Cell {
        program: program.to_owned(),
        parameters: BTreeMap::from([("hops".to_owned(), json!(500))]),
        placement: placement.to_owned(),
        condition: None,
    }
}

/// A header.
pub fn header(cells: Vec<Cell>) -> Header {
    Header {
        format: FORMAT,
        chapter: "switch-cost".to_owned(),
        experiment: "socket".to_owned(),
        effort: Effort::Quick,
        seed: 1,
        cells,
        sources: Sources::default(),
        built: None,
        revision: None,
        machine: Facts::default(),
        before: State { time: "2026-11-20T10:00:00Z".to_owned(), ..State::default() },
    }
}

/// An end.
pub fn end() -> End {
    let after = State { time: "2026-11-20T10:05:00Z".to_owned(), ..State::default() };
    End { after, headline_half_width: Some(0.01), target: 0.05, doubled: false, changed: BTreeMap::new() }
}

/// A run whose every operation took this long.
pub fn run(round: u32, cell: usize, ns_per_operation: f64) -> Run {
    raw_run(round, cell, ns_per_operation).into()
}

/// The same before its samples are summed up.
pub fn raw_run(round: u32, cell: usize, ns_per_operation: f64) -> RawRun {
    let window = |operations: u64| observation::Window {
        operations,
        elapsed_ns: (ns_per_operation * operations as f64) as u64,
        counters: BTreeMap::from([("voluntary_switches".to_owned(), operations)]),
    };
    let observation = Observation { samples: vec![window(1000); 3], ..Observation::default() };
    RawRun {
        round,
        cell,
        environment_bytes: 0,
        link_order: None,
        took_ms: None,
        core_to_core_ns: None,
        resumed: None,
        observation: Some(observation.into()),
        failure: None,
    }
}

/// The same as its cell's program would report it.
pub fn reported(header: &Header, round: u32, cell: usize, ns_per_operation: f64) -> RawRun {
    let mut run = raw_run(round, cell, ns_per_operation);
    let (Some(seen), own) = (&mut run.observation, &header.cells[cell]) else { unreachable!("it is there") };
    seen.program = format!("{}/{}", header.chapter, own.program);
    (seen.parameters, seen.placement) = (named(own.parameters.clone()), own.placement.clone());
    run
}
