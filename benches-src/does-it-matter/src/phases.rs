//! What a server is put through, and what is made of it: connections, a warm-up, saturation, and then requests that come at fractions of
//! what it could answer.

use std::net::SocketAddr;
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use harness::Findings;
use rustix::process::Resource;
use serde::Serialize;

use crate::generator::{Command, Load, Quantiles, Report, Target};
use crate::parameters::Request;
use crate::{bytes, count, nanoseconds, put};

/// What a reader can vary of the load.
#[derive(Args, Serialize, Clone)]
pub struct Phases {
    /// Connections on which requests are sent
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub connections: u32,
    /// Further connections, open and silent after their first request
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub idle: u32,
    /// What is sent.
    #[command(flatten)]
    #[serde(flatten)]
    pub request: Request,
    /// How long each phase lasts, in milliseconds; one of few requests up to four times as long, for a 99th percentile
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub milliseconds: u64,
    /// Requests per second of a further phase that is the same for all servers; 0 for none
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=10_000_000))]
    pub common_rate: u32,
    /// Where the random times begin at which requests are due
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Whether the generator looks for answers all the time at saturation, so that no server has to
    /// wake it
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    pub load_spins: bool,
}

/// What can be read of a server in this process. Nothing of one elsewhere.
pub trait Watch: Sync {
    /// Requests it has answered, and CPU time it has taken, in nanoseconds.
    fn used(&self) -> Option<(u64, u64)> {
        None
    }

    /// Switches of its threads so far.
    fn switches(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Memory of its process, page tables included.
    fn memory_bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }
}

/// A 99th percentile stands only where a phase had so many requests.
pub(crate) const FOR_A_99TH: u64 = 1_000;

impl Phases {
    /// Milliseconds for a phase of requests at this rate: more than asked for where they would be too few for a 99th percentile, by what
    /// random times may lack, and within bounds for a server that hardly answers.
    fn long_enough(&self, rate: f64) -> u64 {
        let needed = (1.2 * FOR_A_99TH as f64 / rate * 1e3).ceil() as u64;
        needed.clamp(self.milliseconds, 4 * self.milliseconds)
    }
}

/// The generator must have been able to do twice what it did.
pub const BUSY_AT_MOST: f64 = 0.5;

/// Loads a server through all phases.
pub fn run(
    load: &mut dyn Load,
    server: &dyn Watch,
    phases: &Phases,
    address: SocketAddr,
    root: Option<Vec<u8>>,
) -> Result<Findings> {
    let mut found = Findings::default();
    let (connections, idle) = fit(phases, &mut found.doubts);
    let memory_before = server.memory_bytes()?;
    let target = Target { address, connections, idle, json_bytes: phases.request.json_bytes as usize, root };
    load.execute(&Command::Connect(target))?;
    put(&mut found, "connections", count((connections + idle) as f64));
    if let (Some(before), Some(after)) = (memory_before, server.memory_bytes()?) {
        let growth = after.saturating_sub(before) as f64;
        put(&mut found, "user_memory_bytes", bytes(growth / (connections + idle) as f64));
    }

    let closed = |milliseconds| Command::Closed { milliseconds, spins: phases.load_spins };
    load.execute(&closed(phases.milliseconds.div_ceil(4)))?;
    let (full, cpu_ns) = watched(load, server, &closed(phases.milliseconds))?;
    let rate = full.answered_in_time as f64 * 1e9 / full.phase_ns as f64;
    put(&mut found, "rate", count(rate));
    put(&mut found, "saturation_ns", nanoseconds(1e9 / rate));
    put(&mut found, "load_cpu_share", count(full.cpu_ns as f64 / full.elapsed_ns as f64));
    found.measures.extend(cpu_ns.map(|time| ("cpu_ns".to_owned(), nanoseconds(time))));

    let open = |rate: f64, seed| Command::Open { rate, milliseconds: phases.long_enough(rate), seed };
    let (half, _) = watched(load, server, &open(0.5 * rate, phases.seed))?;
    latencies(&mut found, "half", &half);
    let switches_before = server.switches()?;
    let (most, _) = watched(load, server, &open(0.8 * rate, phases.seed + 1))?;
    latencies(&mut found, "most", &most);
    put(&mut found, "load_late_p99_ns", nanoseconds(most.lateness.p99 as f64));
    if let (Some(before), Some(after)) = (switches_before, server.switches()?) {
        put(&mut found, "switches", count(after.saturating_sub(before) as f64 / most.answered.max(1) as f64));
    }
    if phases.common_rate > 0 {
        let (common, cpu_ns) = watched(load, server, &open(phases.common_rate.into(), phases.seed + 2))?;
        latencies(&mut found, "common", &common);
        found.measures.extend(cpu_ns.map(|time| ("common_cpu_ns".to_owned(), nanoseconds(time))));
    }
    Ok(found)
}

/// A phase, and the CPU time that a request took the server while it lasted. What is still under way when it ends is answered too, but
/// with ever fewer requests waiting it is not like the rest.
fn watched(load: &mut dyn Load, server: &dyn Watch, command: &Command) -> Result<(Report, Option<f64>)> {
    let before = server.used();
    let (report, in_time) = thread::scope(|scope| {
        let at_its_end = scope.spawn(|| {
            thread::sleep(command.length());
            server.used()
        });
        (load.execute(command), at_its_end.join().expect("reading two counters does not panic"))
    });
    let report = report?;
    let (Some(before), Some(in_time), Some((all, _))) = (before, in_time, server.used()) else {
        return Ok((report, None));
    };
    let answered = all - before.0;
    ensure!(answered == report.answered, "the server counts {answered} answers, and its clients {}", report.answered);
    Ok((report, Some((in_time.1 - before.1) as f64 / (in_time.0 - before.0).max(1) as f64)))
}

/// Doubts whether the server was what was measured. A generator that never sleeps is busy, whatever
/// the server does.
pub fn doubt_a_busy_generator(found: &mut Findings, spins: bool) -> Result<()> {
    let share = found.measures.get("load_cpu_share").context("a generator's share")?.values[0];
    if share > BUSY_AT_MOST && !spins {
        let percent = share * 100.0;
        found.doubts.push(format!("the load generator was busier than half: {percent:.0} % of the time at saturation"));
    }
    Ok(())
}

/// As many connections as descriptors allow for, in the server or in the generator. Idle ones are given up first.
fn fit(phases: &Phases, doubts: &mut Vec<String>) -> (usize, usize) {
    const OF_A_PROCESS_ITSELF: u64 = 32;
    let (connections, idle) = (phases.connections as usize, phases.idle as usize);
    let limit = resources::limit(Resource::Nofile).map_or(u64::MAX, |limit| limit.rlim_cur);
    let most = limit.saturating_sub(OF_A_PROCESS_ITSELF).max(1) as usize;
    if connections + idle <= most {
        return (connections, idle);
    }
    doubts.push(format!(
        "fewer connections than asked for: {most} of {}, since a process may have {limit} descriptors (as root: prlimit --nofile={} --pid $$)",
        connections + idle,
        (connections + idle) as u64 + OF_A_PROCESS_ITSELF
    ));
    let connections = connections.min(most);
    (connections, most - connections)
}

/// Quantiles, as far as there are requests enough beyond them.
fn latencies(found: &mut Findings, phase: &str, report: &Report) {
    let Quantiles { p50, p99, p999 } = report.latency;
    for (name, value, needed) in [("p50", p50, 20), ("p99", p99, FOR_A_99TH), ("p999", p999, 10_000)] {
        let name = format!("{phase}_{name}_ns");
        put_latency(found, report, &name, value, needed);
    }
}

/// One of them, or why there is none: it takes so many requests.
pub(crate) fn put_latency(found: &mut Findings, report: &Report, name: &str, value: u64, needed: u64) {
    if report.unsent > 0 {
        let due = report.answered + report.unsent;
        let reason =
            format!("{} of {due} requests had to wait for so long that they were not even sent", report.unsent);
        found.unavailable.insert(name.to_owned(), reason);
    } else if report.answered < needed {
        let reason = format!("the phase had {} requests and it needs {needed}", report.answered);
        found.unavailable.insert(name.to_owned(), reason);
    } else {
        put(found, name, nanoseconds(value as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(answered: u64, unsent: u64) -> Report {
        Report { answered, unsent, latency: Quantiles { p50: 10, p99: 20, p999: 30 }, ..Report::default() }
    }

    #[test]
    fn a_phase_of_few_requests_lasts_longer_within_bounds() {
        let request = Request { json_bytes: 500 };
        let phases =
            Phases { connections: 1, idle: 0, request, milliseconds: 150, common_rate: 0, seed: 1, load_spins: false };
        for (rate, milliseconds) in [(1e5, 150), (8_000.0, 150), (4_000.0, 300), (2_001.0, 600), (1.0, 600), (0.0, 600)]
        {
            assert_eq!(phases.long_enough(rate), milliseconds, "at {rate} a second");
        }
    }

    #[test]
    fn a_quantile_stands_only_where_there_are_requests_enough() {
        for (answered, known) in [(10, 0), (100, 1), (1_000, 2), (9_999, 2), (10_000, 3)] {
            let mut found = Findings::default();
            latencies(&mut found, "half", &report(answered, 0));
            assert_eq!((found.measures.len(), found.unavailable.len()), (known, 3 - known), "{answered}");
        }
    }

    #[test]
    fn requests_that_were_never_sent_leave_no_quantile() {
        let mut found = Findings::default();
        latencies(&mut found, "most", &report(20_000, 1));
        assert!(found.measures.is_empty());
        assert!(found.unavailable["most_p50_ns"].contains("1 of 20001"));
    }
}
