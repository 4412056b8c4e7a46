//! One operation: one thread held, as `pmap -x` counts it.

use std::io;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use harness::{Described, Unavailable, described};
use memory::{Climb, Counting, Gate, Held, Readings, Threads};
use resources::reserve_threads;

fn tool_pmap(parameters: Threads, climb: Climb) -> Result<()> {
    parameters.needs_no_touch()?;
    reserve_threads(parameters.most())?;
    pmap()?;
    let mut threads = Vec::with_capacity(parameters.most());
    let gate = Arc::<Gate>::default();
    let climbed = climb.add_units(|held, next| {
        for _ in held..next {
            let gate = gate.clone();
            threads.push(parameters.builder().spawn(move || gate.wait())?);
        }
        gate.await_arrivals(next)
    });
    gate.open();
    threads.into_iter().for_each(|thread| drop(thread.join()));
    climbed
}

const MEASURES: &[Described] = &[
    described("pmap_virtual_bytes", "B", "address space, as pmap -x adds it up"),
    described("pmap_resident_bytes", "B", "pages that are in memory, as pmap -x adds them up"),
];

/// What it says of this process: virtual and resident size.
fn pmap() -> Result<Readings> {
    let output = match Command::new("pmap").args(["-x", &std::process::id().to_string()]).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Unavailable::because("pmap is not installed; on Debian: apt-get install procps"));
        }
        output => output.context("cannot start pmap")?,
    };
    ensure!(output.status.success(), "pmap ended with {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let total = text.lines().find_map(|line| line.strip_prefix("total kB")).unwrap_or_default();
    let mut kib = total.split_whitespace().map_while(|number| number.parse::<f64>().ok());
    let (Some(size), Some(resident)) = (kib.next(), kib.next()) else {
        anyhow::bail!("pmap -x printed no line of totals");
    };
    Ok(vec![("pmap_virtual_bytes", 1024.0 * size), ("pmap_resident_bytes", 1024.0 * resident)])
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb_beside(harness::name!(), MEASURES, pmap, tool_pmap)
}
