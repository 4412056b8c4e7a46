//! What servers share that have more than one CPU: which CPUs are theirs and which are left for the load, and what they are put through.
//!
//! The programs that need it take it in by its path. In the library its name would make every record of this chapter stale.

// Each of them takes what it needs.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use does_it_matter::generator::{Command, Load, Report as Seen, Target};
use does_it_matter::phases::{self, Watch};
use does_it_matter::remote::Remote;
use does_it_matter::serving::Answered;
use does_it_matter::{count, nanoseconds};
use harness::{Described, Findings, Placement, Report, Unavailable, described};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;

/// A server under test: serves whoever connects on these CPUs, until the process ends.
pub type Serve = fn(TcpListener, Cpus, Answered) -> Result<()>;

/// The whole of a server's `main`.
pub fn main(name: &str, serve: Serve) -> ExitCode {
    harness::once(name, &MEASURES, |parameters, _, report| program(serve, parameters, report))
}

/// Some of the CPUs that this process may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus(Vec<usize>);

impl Cpus {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Has the calling thread run on one of them, and every thread that it will start.
    pub fn pin(&self, index: usize) -> Result<()> {
        Cpus(vec![self.0[index % self.0.len()]]).enter()
    }

    /// Has the calling thread run on any of them, and every thread that it will start.
    pub fn enter(&self) -> Result<()> {
        let mut set = CpuSet::new();
        self.0.iter().for_each(|&cpu| set.set(cpu));
        Ok(sched_setaffinity(None, &set)?)
    }
}

/// Who has which CPUs.
#[derive(Debug, PartialEq, Eq)]
pub struct Division {
    /// The server's.
    pub server: Cpus,
    /// One for each load generator, as many as the server has, as far as any are left.
    pub load: Vec<Cpus>,
    /// A generator's CPU is of a core of which the server has another.
    pub same_core: bool,
}

impl Division {
    /// Divides the CPUs of this process, as the placement has left them.
    fn of_this_process(wanted: usize) -> Result<Self> {
        let set = sched_getaffinity(None)?;
        let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
        Self::of(&allowed, wanted, core)
    }

    /// Gives the server CPUs of different cores as far as there are any, and the load what comes then.
    pub fn of(allowed: &[usize], wanted: usize, core: impl Fn(usize) -> Option<String>) -> Result<Self> {
        if allowed.len() < 2 {
            return Err(Unavailable::because("the load generator needs a CPU beside the first of the server"));
        }
        if allowed.len() < wanted {
            let there = allowed.len();
            return Err(Unavailable::because(format!(
                "a server on {wanted} CPUs needs as many, and this process may use {there}"
            )));
        }
        // A CPU whose core nobody knows is taken to have one of its own.
        let same = |one: usize, other: usize| core(one).is_some_and(|known| core(other) == Some(known));
        let is_second = |&cpu: &usize| allowed.iter().take_while(|&&before| before != cpu).any(|&it| same(it, cpu));
        let (seconds, firsts): (Vec<_>, Vec<_>) = allowed.iter().copied().partition(is_second);
        let mut server = [firsts, seconds].concat();
        let mut load = server.split_off(wanted);
        load.truncate(wanted);
        let same_core = load.iter().any(|&cpu| server.iter().any(|&it| same(it, cpu)));
        Ok(Self { server: Cpus(server), load: load.into_iter().map(|cpu| Cpus(vec![cpu])).collect(), same_core })
    }

    fn doubt(&self) -> Option<&'static str> {
        if self.load.is_empty() {
            return Some(
                "the load generator had no CPU of its own and ran only while the server's threads left one: latency has that \
                 waiting in it, CPU time what it left in the caches, and both compare with those of servers on as many CPUs alone",
            );
        }
        self.same_core.then_some("server and load generators took from each other: they had CPUs of the same cores")
    }

    /// Starts a load generator on CPUs of its own, or else on the server's.
    fn start(&self, index: usize) -> Result<Remote> {
        let own = self.load.get(index).cloned();
        let place = own.clone().unwrap_or_else(|| self.server.clone());
        // A process inherits the place and the policy of the thread that starts it. That thread ends here.
        let start = move || {
            place.enter()?;
            if own.is_none() {
                give_way()?;
            }
            Remote::start(Placement::Free)
        };
        thread::spawn(start).join().expect("it does not panic")
    }
}

/// Has the calling thread run only while no other can on its CPU. The kernel takes such a CPU for one that is free, as it were without the
/// load generator, which never sleeps while requests are due.
fn give_way() -> Result<()> {
    let priority: libc::c_int = 0;
    // musl has a function of this name that only fails, so the kernel is asked itself.
    // SAFETY: the kernel reads one integer, which outlives the call, and writes no memory of ours.
    let failed = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_IDLE, &raw const priority) };
    ensure!(failed == 0, "the load generator cannot give way: {}", std::io::Error::last_os_error());
    Ok(())
}

/// The CPUs of a core, as the kernel lists them; kernels before 5.3 know the list by its older name.
fn core(cpu: usize) -> Option<String> {
    let list = |name| fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}")).ok();
    list("core_cpus_list").or_else(|| list("thread_siblings_list"))
}

/// The parameters of a server.
#[derive(Args, Serialize, Clone)]
pub struct Parameters {
    /// CPUs that the server has
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    cpus: u32,
    /// Connections of each load generator
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: u32,
    /// Bytes of JSON in a request
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(..=100_000))]
    json_bytes: u32,
    /// How long each phase lasts, in milliseconds; one of few requests up to four times as long, for a 99th percentile
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    milliseconds: u64,
    /// Requests per second where all servers answer as many
    #[arg(long, default_value_t = 6000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    common_rate: u32,
    /// Where the random times begin at which requests are due
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The port to listen on; 0 for any
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Serve whoever connects for so many seconds, and measure nothing; 0 to measure
    #[arg(long, default_value_t = 0)]
    serve_seconds: u64,
}

const MEASURES: [Described; 13] = [
    described("common_cpu_ns", "ns", "the CPU time that one request took the server at --common-rate"),
    described("common_switches", "1", "switches of the server's threads for each request at --common-rate"),
    described("common_p50_ns", "ns", "the median latency at --common-rate, from when a request was due"),
    described("common_p99_ns", "ns", "the 99th percentile of latency at --common-rate, from when a request was due"),
    described(
        "common_late_p99_ns",
        "ns",
        "how late the load generator sent a request at --common-rate, 99th percentile",
    ),
    described("common_load_cpu_share", "1", "the CPU time of the load generator at --common-rate, a part of the time"),
    described("rate", "1", "requests answered in a second at saturation"),
    described("saturation_ns", "ns", "the time of one request at saturation: a second divided by the rate"),
    described("cpu_ns", "ns", "the CPU time that one request took the server at saturation"),
    described("load_cpu_share", "1", "the CPU time of the busiest load generator at saturation, as a part of the time"),
    described("generators", "1", "load generators with a CPU of their own; 0 if one shares the server's CPUs"),
    described("threads", "1", "threads of the server at --common-rate"),
    described("answered", "1", "requests answered where whoever connects was served for --serve-seconds"),
];

/// Those that take load generators with CPUs of their own.
const AT_SATURATION: [&str; 4] = ["rate", "saturation_ns", "cpu_ns", "load_cpu_share"];

fn program(serve: Serve, parameters: Parameters, report: Report) -> Result<()> {
    let division = Division::of_this_process(parameters.cpus as usize)?;
    let connections = parameters.connections as usize * division.load.len().max(1);
    resources::reserve_connections(connections)?;
    resources::reserve_descriptors(connections)?;
    division.server.enter()?;
    let listener = TcpListener::bind(("127.0.0.1", parameters.port))
        .with_context(|| format!("cannot listen on port {} (another can be given by --port)", parameters.port))?;
    let (address, answered) = (listener.local_addr()?, Answered::default());
    let (cpus, own) = (division.server.clone(), answered.clone());
    let server = thread::spawn(move || serve(listener, cpus, own));
    if parameters.serve_seconds > 0 {
        thread::sleep(Duration::from_secs(parameters.serve_seconds));
        return report.give(BTreeMap::from([("answered".to_owned(), count(used(&answered).0 as f64))]));
    }
    let found = load(&division, &parameters, address, &answered).map_err(|error| explain(server, error))?;
    report.give(found)
}

/// Where the server itself has ended, that is the reason.
fn explain(server: JoinHandle<Result<()>>, error: anyhow::Error) -> anyhow::Error {
    match server.is_finished().then(|| server.join()) {
        Some(Ok(Err(own))) => own.context("the server ended"),
        Some(_) => error.context("the server ended"),
        None => error,
    }
}

/// What the server is put through: as many requests a second as every server, and then all that it can answer.
fn load(division: &Division, parameters: &Parameters, address: SocketAddr, answered: &Answered) -> Result<Findings> {
    let Parameters { milliseconds, common_rate, seed, .. } = *parameters;
    let mut found = Findings::default();
    found.doubts.extend(division.doubt().map(str::to_owned));
    let (connections, json_bytes) = (parameters.connections as usize, parameters.json_bytes as usize);
    let connect = Command::Connect(Target { address, connections, idle: 0, json_bytes, root: None });
    let warm_up = Command::Closed { milliseconds: milliseconds.div_ceil(4) };
    let mut first = division.start(0)?;
    first.execute(&connect)?;
    first.execute(&warm_up)?;
    let open = Command::Open { rate: common_rate.into(), milliseconds: long_enough(milliseconds, common_rate), seed };
    at_the_common_rate(&mut found, &mut first, &open, answered)?;
    put(&mut found, "generators", count(division.load.len() as f64));
    if division.load.is_empty() {
        let reason = "no CPU is left for a load generator of its own";
        found.unavailable.extend(AT_SATURATION.map(|name| (name.to_owned(), reason.to_owned())));
        return Ok(found);
    }
    let mut generators = vec![first];
    for index in 1..division.load.len() {
        let mut further = division.start(index)?;
        further.execute(&connect)?;
        generators.push(further);
    }
    together(&mut generators, &warm_up)?;
    at_saturation(&mut found, &mut generators, &Command::Closed { milliseconds }, answered)?;
    phases::doubt_a_busy_generator(&mut found)?;
    Ok(found)
}

/// A 99th percentile stands only where a phase had so many requests.
const FOR_A_99TH: u64 = 1_000;

/// More than asked for where there would be too few requests, by what random times may lack, and within bounds.
fn long_enough(milliseconds: u64, rate: u32) -> u64 {
    (1_200 * FOR_A_99TH).div_ceil(rate.into()).clamp(milliseconds, 4 * milliseconds)
}

/// As one generator can send them, on its connections alone.
fn at_the_common_rate(found: &mut Findings, load: &mut Remote, open: &Command, answered: &Answered) -> Result<()> {
    let (switches, before) = (answered.switches()?, used(answered));
    let seen = load.execute(open)?;
    let cpu_ns = each(answered, before, seen.answered)?;
    if let (Some(before), Some(after)) = (switches, answered.switches()?) {
        put(found, "common_switches", count(after.saturating_sub(before) as f64 / seen.answered.max(1) as f64));
    }
    put(found, "threads", count(fs::read_dir("/proc/self/task")?.count() as f64));
    put(found, "common_cpu_ns", nanoseconds(cpu_ns));
    put(found, "common_load_cpu_share", count(seen.cpu_ns as f64 / seen.elapsed_ns as f64));
    let times = [
        ("common_p50_ns", seen.latency.p50),
        ("common_p99_ns", seen.latency.p99),
        ("common_late_p99_ns", seen.lateness.p99),
    ];
    for (name, time) in times {
        match lacking(&seen) {
            Some(reason) => drop(found.unavailable.insert(name.to_owned(), reason)),
            None => put(found, name, nanoseconds(time as f64)),
        }
    }
    Ok(())
}

/// Why a phase has no latencies, if it has none.
fn lacking(seen: &Seen) -> Option<String> {
    if seen.unsent > 0 {
        let due = seen.answered + seen.unsent;
        return Some(format!("{} of {due} requests had to wait for so long that they were not even sent", seen.unsent));
    }
    let few = seen.answered < FOR_A_99TH;
    few.then(|| format!("the phase had {} requests and it needs {FOR_A_99TH}", seen.answered))
}

/// By all generators, which find together what the server can answer.
fn at_saturation(found: &mut Findings, generators: &mut [Remote], closed: &Command, answered: &Answered) -> Result<()> {
    let before = used(answered);
    let seen = together(generators, closed)?;
    let cpu_ns = each(answered, before, seen.iter().map(|seen| seen.answered).sum())?;
    let rate: f64 = seen.iter().map(|seen| seen.answered_in_time as f64 * 1e9 / seen.phase_ns as f64).sum();
    let busiest = seen.iter().map(|seen| seen.cpu_ns as f64 / seen.elapsed_ns as f64).fold(0.0, f64::max);
    put(found, "rate", count(rate));
    put(found, "saturation_ns", nanoseconds(1e9 / rate));
    put(found, "cpu_ns", nanoseconds(cpu_ns));
    put(found, "load_cpu_share", count(busiest));
    Ok(())
}

/// Has all generators do the same at the same time.
fn together(generators: &mut [Remote], command: &Command) -> Result<Vec<Seen>> {
    thread::scope(|scope| {
        let all: Vec<_> = generators.iter_mut().map(|load| scope.spawn(|| load.execute(command))).collect();
        all.into_iter().map(|one| one.join().expect("a generator's failure is no panic")).collect()
    })
}

/// Requests that the server has answered, and its CPU time in nanoseconds.
fn used(answered: &Answered) -> (u64, u64) {
    answered.used().expect("the server is in this process")
}

/// The CPU time of each request since then, of which the clients count so many.
fn each(answered: &Answered, before: (u64, u64), by_clients: u64) -> Result<f64> {
    let after = used(answered);
    let by_server = after.0 - before.0;
    ensure!(by_server == by_clients, "the server counts {by_server} answers, and its clients {by_clients}");
    Ok((after.1 - before.1) as f64 / by_server.max(1) as f64)
}

fn put(found: &mut Findings, name: &str, measure: observation::Measure) {
    found.measures.insert(name.to_owned(), measure);
}
