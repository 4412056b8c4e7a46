//! One operation: one thread held, as `pmap -x` counts it.

use std::io;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context, Result, ensure};
use harness::Unavailable;
use resources::reserve_threads;
use memory::{Climb, Gate, Held, Threads, Units};

struct ToolPmap {
    parameters: Threads,
    gate: Arc<Gate>,
    threads: Vec<JoinHandle<()>>,
}

impl Units for ToolPmap {
    type Parameters = Threads;

    fn set_up(parameters: &Threads) -> Result<Self> {
        parameters.needs_no_touch()?;
        reserve_threads(parameters.most())?;
        pmap()?;
        let threads = Vec::with_capacity(parameters.most());
        Ok(Self { parameters: *parameters, gate: Arc::default(), threads })
    }

    fn add(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let gate = self.gate.clone();
            self.threads.push(self.parameters.builder().spawn(move || gate.wait())?);
        }
        self.gate.await_arrivals(self.threads.len())
    }

    fn read_by_others(&self) -> Result<Vec<(&'static str, f64)>> {
        let [virtual_bytes, resident_bytes] = pmap()?;
        Ok(vec![("pmap_virtual_bytes", virtual_bytes), ("pmap_resident_bytes", resident_bytes)])
    }
}

/// What it says of this process: virtual and resident size.
fn pmap() -> Result<[f64; 2]> {
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
    Ok([1024.0 * size, 1024.0 * resident])
}

impl Drop for ToolPmap {
    fn drop(&mut self) {
        self.gate.open();
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

fn main() -> ExitCode {
    harness::once::<Climb<ToolPmap>>(harness::name!())
}
