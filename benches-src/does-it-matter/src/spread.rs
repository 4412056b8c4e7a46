//! What servers share that have more than one CPU: which CPUs are theirs and which are left for the load, and what they are put through.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::thread;

use anyhow::{Result, ensure};
use clap::Args;
use harness::{Findings, Placement, Report, Unavailable};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;

use crate::generator::{Command, Load, Report as Seen, Target};
use crate::measures::OF_SPREADING;
use crate::parameters::{Listening, Request};
use crate::phases::{self, FOR_A_99TH, Watch, put_latency};
use crate::remote::Remote;
use crate::serving::Answered;
use crate::{count, nanoseconds, put};

/// A server under test: serves whoever connects on these CPUs, until the process ends.
pub type Serve = fn(TcpListener, Cpus, Answered) -> Result<()>;

/// The whole of a server's `main`.
// Compiled with each program: in the library, the JSON by which a program describes itself would
// share functions with that of orders, and the compiler would inline fewer of these.
#[inline]
pub fn main(name: &str, serve: Serve) -> ExitCode {
    harness::once(name, &OF_SPREADING, |parameters, _, report| program(serve, parameters, report))
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
    #[command(flatten)]
    #[serde(flatten)]
    request: Request,
    /// How long each phase lasts, in milliseconds; one of few requests up to four times as long, for a 99th percentile
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    milliseconds: u64,
    /// Requests per second where all servers answer as many
    #[arg(long, default_value_t = 6000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    common_rate: u32,
    /// Where the random times begin at which requests are due
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    #[serde(flatten)]
    listening: Listening,
}

/// Those that take load generators with CPUs of their own.
const AT_SATURATION: [&str; 4] = ["rate", "saturation_ns", "cpu_ns", "load_cpu_share"];

fn program(serve: Serve, parameters: Parameters, report: Report) -> Result<()> {
    let division = Division::of_this_process(parameters.cpus as usize)?;
    let connections = parameters.connections as usize * division.load.len().max(1);
    resources::reserve_connections(connections)?;
    resources::reserve_descriptors(connections)?;
    division.server.enter()?;
    let listener = parameters.listening.bind()?;
    let (address, answered) = (listener.local_addr()?, Answered::default());
    let (cpus, own) = (division.server.clone(), answered.clone());
    let measured = || load(&division, &parameters, address, &answered);
    report.give(parameters.listening.measure(move || serve(listener, cpus, own), &answered, measured)?)
}

/// What the server is put through: as many requests a second as every server, and then all that it can answer.
fn load(division: &Division, parameters: &Parameters, address: SocketAddr, answered: &Answered) -> Result<Findings> {
    let Parameters { milliseconds, common_rate, seed, .. } = *parameters;
    let mut found = Findings::default();
    found.doubts.extend(division.doubt().map(str::to_owned));
    let (connections, json_bytes) = (parameters.connections as usize, parameters.request.json_bytes as usize);
    let connect = Command::Connect(Target { address, connections, idle: 0, json_bytes, root: None });
    let warm_up = Command::Closed { milliseconds: milliseconds.div_ceil(4), spins: false };
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
    at_saturation(&mut found, &mut generators, &Command::Closed { milliseconds, spins: false }, answered)?;
    phases::doubt_a_busy_generator(&mut found, false)?;
    Ok(found)
}

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
        put_latency(found, &seen, name, time, FOR_A_99TH);
    }
    Ok(())
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
