//! What servers share whose requests ask another service before they are answered: what is asked, the service as a process of its own, and
//! the check that nothing was forgotten.
//!
//! The programs that need it take it in by its path. In the library its name would make every record of this chapter stale.

// Each of them takes what it needs.
#![allow(dead_code)]

mod question;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use does_it_matter::http::Stock;
use does_it_matter::phases::{self, Phases, SEEN_BY_CLIENTS, SEEN_INSIDE, Watch};
use does_it_matter::remote::Remote;
use does_it_matter::serving::Answered;
use does_it_matter::{count, nanoseconds};
use harness::{Described, Findings, Placement, Report, Unavailable, described};
use observation::Observation;
use serde::Serialize;

pub use question::{ANSWER, QUESTION};
use question::{answer, question};

/// What is answered where the service does not.
pub const BAD_GATEWAY: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// The service as a server sees it: where it is, and how often a request asks it.
#[derive(Clone)]
pub struct Upstream {
    /// Where it answers.
    pub address: SocketAddr,
    /// Questions for each request, one after the other.
    pub calls: u32,
    asked: Arc<AtomicU64>,
}

impl Upstream {
    /// The next question.
    pub fn question(&self) -> [u8; QUESTION] {
        question(self.asked.fetch_add(1, Ordering::Relaxed))
    }

    /// An error where this is no answer to that question.
    pub fn check(question: &[u8; QUESTION], answered: &[u8; ANSWER]) -> io::Result<()> {
        if *answered == answer(question) { Ok(()) } else { Err(io::Error::other("an answer to another question")) }
    }

    /// Asks all that a request has to ask, and waits for each answer, on a connection that is kept.
    pub fn ask(&self, kept: &mut Option<TcpStream>) -> io::Result<()> {
        let mut answer = [0; ANSWER];
        for _ in 0..self.calls {
            let service = match kept {
                Some(service) => service,
                None => kept.insert(self.connect()?),
            };
            let question = self.question();
            service.write_all(&question)?;
            service.read_exact(&mut answer)?;
            Self::check(&question, &answer)?;
        }
        Ok(())
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let service = TcpStream::connect(self.address)?;
        service.set_nodelay(true)?;
        Ok(service)
    }
}

/// What a server needs for its requests, whoever answers them.
#[derive(Clone)]
pub struct Work {
    /// Buffers for requests and answers, lent to whoever has something to put into them.
    pub stock: Stock,
    /// The requests that were answered.
    pub answered: Answered,
    /// Whom to ask before.
    pub upstream: Upstream,
}

/// A server under test. `O` is what a reader can vary of it alone.
pub type Serve<O> = fn(TcpListener, O, Placement, Work) -> Result<()>;

/// The parameters of a server.
#[derive(Args, Serialize, Clone)]
pub struct Parameters<O: Args> {
    #[command(flatten)]
    #[serde(flatten)]
    phases: Phases,
    #[command(flatten)]
    #[serde(flatten)]
    own: O,
    /// How often a request asks the service, one question after the other
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=100))]
    calls: u32,
    /// The time that the service takes for an answer, in microseconds
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    microseconds: u64,
    /// Where another service answers; one of our own is started otherwise
    #[arg(long)]
    #[serde(skip)]
    upstream: Option<SocketAddr>,
    /// The port to listen on; 0 for any
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Serve whoever connects for so many seconds, and measure nothing; 0 to measure
    #[arg(long, default_value_t = 0)]
    serve_seconds: u64,
}

/// What is known of the service, and of who waits for it.
const SEEN_OF_ASKING: [Described; 5] = [
    described("answered", "1", "requests answered where whoever connects was served for --serve-seconds"),
    described("threads", "1", "threads of the server at 80 % of the rate"),
    described("asked", "1", "questions that the service answered"),
    described("upstream_cpu_share", "1", "the CPU time that the service took in its busiest tenth of a second"),
    described("upstream_late_p99_ns", "ns", "how late the service answered, 99th percentile"),
];

/// The whole of a server's `main`.
pub fn main<O: Args + Serialize + Send + 'static>(name: &str, serve: Serve<O>) -> ExitCode {
    let measures = [&SEEN_BY_CLIENTS[..], &SEEN_INSIDE, &SEEN_OF_ASKING].concat();
    harness::once(name, &measures, |parameters, placement, report| program(serve, parameters, placement, report))
}

fn program<O: Args + Send + 'static>(
    serve: Serve<O>,
    parameters: Parameters<O>,
    placement: Placement,
    report: Report,
) -> Result<()> {
    let Parameters { phases, own, calls, microseconds, upstream, port, serve_seconds } = parameters;
    if placement == Placement::OneCpu {
        return Err(Unavailable::because("the load generator and the service need a CPU beside the server's"));
    }
    placement.pin_participant(0)?;
    // A connection of a client's may have another to the service.
    let connections = 2 * (phases.connections + phases.idle) as usize;
    resources::reserve_connections(connections)?;
    resources::reserve_descriptors(connections)?;
    let service = upstream.is_none().then(|| Service::start(placement, microseconds)).transpose()?;
    let address = upstream.or(service.as_ref().map(|own| own.address)).context("one of the two is there")?;
    let upstream = Upstream { address, calls, asked: Arc::default() };
    let listener = TcpListener::bind(("127.0.0.1", port))
        .with_context(|| format!("cannot listen on port {port} (another can be given by --port)"))?;
    let (address, watched) = (listener.local_addr()?, Watched::default());
    let work = Work { stock: Stock::default(), answered: watched.answered.clone(), upstream: upstream.clone() };
    let server = thread::spawn(move || serve(listener, own, placement, work));
    if serve_seconds > 0 {
        thread::sleep(Duration::from_secs(serve_seconds));
        let answered = watched.requests();
        let answered = [("answered".to_owned(), count(answered as f64))];
        return report.give(BTreeMap::from(answered));
    }
    let loaded = generator(placement).and_then(|mut load| phases::run(&mut load, &watched, &phases, address, None));
    let mut found = loaded.map_err(|error| explain(server, error))?;
    phases::doubt_a_busy_generator(&mut found)?;
    let asked = upstream.asked.load(Ordering::Relaxed);
    let wanted = watched.requests() * u64::from(calls);
    ensure!(asked == wanted, "the requests asked {asked} questions and should have asked {wanted}");
    found.measures.insert("threads".to_owned(), count(watched.threads.load(Ordering::Relaxed) as f64));
    if let Some(service) = service {
        service.end(asked, &mut found)?;
    }
    report.give(found)
}

/// The load generator, which never sleeps while requests are due: where it shares its CPU with the service, it gives way.
fn generator(placement: Placement) -> Result<Remote> {
    // A process inherits how nice the thread is that starts it. That thread ends here, and no other becomes nicer.
    let start = move || -> Result<Remote> {
        rustix::process::nice(19)?;
        Remote::start(placement)
    };
    thread::spawn(start).join().expect("it does not panic")
}

/// Where the server itself has ended, that is the reason.
fn explain(server: JoinHandle<Result<()>>, error: anyhow::Error) -> anyhow::Error {
    match server.is_finished().then(|| server.join()) {
        Some(Ok(Err(own))) => own.context("the server ended"),
        Some(_) => error.context("the server ended"),
        None => error,
    }
}

/// The program `upstream`, which lies beside this one, as a process of its own.
struct Service {
    child: Child,
    address: SocketAddr,
    /// The first connection, with which it ends.
    first: TcpStream,
}

impl Service {
    /// Starts it beside the load generator. Its standard input is the socket on which it listens.
    fn start(placement: Placement, microseconds: u64) -> Result<Self> {
        let program = std::env::current_exe()?.with_file_name("upstream");
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let flags = ["--json", "--given", "true", "--microseconds", &microseconds.to_string()];
        // A process inherits the place of the thread that starts it.
        placement.pin_participant(1)?;
        let spawned = Command::new(&program).args(flags).stdin(OwnedFd::from(listener)).stdout(Stdio::piped()).spawn();
        placement.pin_participant(0)?;
        let child = spawned.with_context(|| {
            format!("the service {} cannot be started (cargo build --release --bins)", program.display())
        })?;
        Ok(Self { child, address, first: TcpStream::connect(address)? })
    }

    /// Has it end, and takes down what it saw.
    fn end(mut self, asked: u64, found: &mut Findings) -> Result<()> {
        self.first.shutdown(Shutdown::Both)?;
        let mut printed = String::new();
        self.child.stdout.take().context("it is piped")?.read_to_string(&mut printed)?;
        let seen: Observation = serde_json::from_str(&printed).context("the service ended before it had reported")?;
        let of = |name: &str| Some(*seen.measures.get(name)?.values.first()?);
        let answered = of("answered").context("the service does not say what it answered")?;
        ensure!(answered == asked as f64, "the service answered {answered} questions of {asked}");
        let share = of("cpu_share").context("the service does not say how busy it was")?;
        let beside = found.measures.get("load_cpu_share").map_or(0.0, |measure| measure.values[0]);
        if share + beside > CPU_OF_BOTH_AT_MOST {
            let percent = (share + beside) * 100.0;
            found.doubts.push(format!(
                "generator and service were short of their CPU: together they took {percent:.0} % of it"
            ));
        }
        found.measures.insert("asked".to_owned(), count(answered));
        found.measures.insert("upstream_cpu_share".to_owned(), count(share));
        let late = of("late_p99_ns").map(|late| ("upstream_late_p99_ns".to_owned(), nanoseconds(late)));
        found.measures.extend(late);
        Ok(())
    }
}

/// On a machine of two CPUs the load generator and the service share one.
const CPU_OF_BOTH_AT_MOST: f64 = 0.9;

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is read of the server in this process.
#[derive(Default)]
struct Watched {
    answered: Answered,
    threads: AtomicU64,
}

impl Watched {
    fn requests(&self) -> u64 {
        self.answered.used().map_or(0, |(answered, _)| answered)
    }
}

impl Watch for Watched {
    fn used(&self) -> Option<(u64, u64)> {
        self.answered.used()
    }

    fn switches(&self) -> Result<Option<u64>> {
        self.threads.store(std::fs::read_dir("/proc/self/task")?.count() as u64, Ordering::Relaxed);
        self.answered.switches()
    }

    fn memory_bytes(&self) -> Result<Option<u64>> {
        self.answered.memory_bytes()
    }
}
