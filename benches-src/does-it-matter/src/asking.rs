//! What servers share whose requests ask another service before they are answered: what is asked, the service as a process of its own, and
//! the check that nothing was forgotten.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use harness::{Findings, Placement, Report, Unavailable};
use observation::Observation;
use serde::Serialize;

use crate::http::Stock;
use crate::measures::{SEEN_BY_CLIENTS, SEEN_INSIDE, SEEN_OF_ASKING};
use crate::own_process;
use crate::parameters::{Listening, Loaded};
use crate::phases::{self, Watch};
use crate::question::{ANSWER, QUESTION, answer, question};
use crate::remote::{self, Remote};
use crate::serving::Answered;
use crate::{count, nanoseconds, put, told};

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
    #[inline]
    pub fn question(&self) -> [u8; QUESTION] {
        question(self.asked.fetch_add(1, Ordering::Relaxed))
    }

    /// An error where this is no answer to that question.
    #[inline]
    pub fn check(question: &[u8; QUESTION], answered: &[u8; ANSWER]) -> io::Result<()> {
        if *answered == answer(question) { Ok(()) } else { Err(io::Error::other("an answer to another question")) }
    }

    /// Asks all that a request has to ask, and waits for each answer, on a connection that is kept.
    #[inline]
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

    #[inline]
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
    loaded: Loaded<O>,
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
    #[command(flatten)]
    #[serde(flatten)]
    listening: Listening,
}

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
    let Parameters { loaded: Loaded { phases, own }, calls, microseconds, upstream, listening } = parameters;
    if placement == Placement::OneCpu {
        return Err(Unavailable::because("the load generator and the service need a CPU beside the server's"));
    }
    placement.pin_participant(0)?;
    // A connection of a client's may have another to the service.
    let connections = 2 * (phases.connections + phases.idle) as usize;
    resources::reserve_connections(connections)?;
    resources::reserve_descriptors(connections)?;
    let service = upstream.is_none().then(|| Service::start(placement, microseconds)).transpose()?;
    let address = upstream.or(service.as_ref().map(|own| own.process.address)).context("one of the two is there")?;
    let upstream = Upstream { address, calls, asked: Arc::default() };
    let listener = listening.bind()?;
    let (address, watched) = (listener.local_addr()?, Watched::default());
    let work = Work { stock: Stock::default(), answered: watched.answered.clone(), upstream: upstream.clone() };
    let serve = move || serve(listener, own, placement, work);
    report.give(listening.measure(serve, &watched.answered, || {
        let mut found = phases::run(&mut generator(placement)?, &watched, &phases, address, None)?;
        phases::doubt_a_busy_generator(&mut found, phases.load_spins)?;
        let asked = upstream.asked.load(Ordering::Relaxed);
        let wanted = watched.answered.all() * u64::from(calls);
        ensure!(asked == wanted, "the requests asked {asked} questions and should have asked {wanted}");
        put(&mut found, "threads", count(watched.threads.load(Ordering::Relaxed) as f64));
        if let Some(service) = service {
            service.end(asked, &mut found)?;
        }
        Ok(found)
    })?)
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

/// The program `upstream`, which lies beside this one, as a process of its own.
struct Service {
    process: own_process::Service,
    /// The first connection, with which it ends.
    first: TcpStream,
}

impl Service {
    /// Starts it beside the load generator. Its standard input is the socket on which it listens.
    fn start(placement: Placement, microseconds: u64) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let flags = ["--json", "--given", "true", "--microseconds", &microseconds.to_string()];
        let child = remote::beside("the service", "upstream", placement, |upstream| {
            upstream.args(flags).stdin(OwnedFd::from(listener)).stdout(Stdio::piped()).spawn()
        })?;
        // From here on it ends with whoever started it.
        let process = own_process::Service { child, address };
        Ok(Self { process, first: TcpStream::connect(address)? })
    }

    /// Has it end, and takes down what it saw.
    fn end(mut self, asked: u64, found: &mut Findings) -> Result<()> {
        self.first.shutdown(Shutdown::Both)?;
        let mut printed = String::new();
        self.process.child.stdout.take().context("it is piped")?.read_to_string(&mut printed)?;
        let seen: Observation = serde_json::from_str(&printed).context("the service ended before it had reported")?;
        let of = |name| told(&seen, name, "the service");
        let answered = of("answered")?;
        ensure!(answered == asked as f64, "the service answered {answered} questions of {asked}");
        let share = of("cpu_share")?;
        let beside = found.measures.get("load_cpu_share").map_or(0.0, |measure| measure.values[0]);
        if share + beside > CPU_OF_BOTH_AT_MOST {
            let percent = (share + beside) * 100.0;
            found.doubts.push(format!(
                "generator and service were short of their CPU: together they took {percent:.0} % of it"
            ));
        }
        put(found, "asked", count(answered));
        put(found, "upstream_cpu_share", count(share));
        // It is not late where nobody asked it.
        if let Ok(late) = of("late_p99_ns") {
            put(found, "upstream_late_p99_ns", nanoseconds(late));
        }
        Ok(())
    }
}

/// On a machine of two CPUs the load generator and the service share one.
const CPU_OF_BOTH_AT_MOST: f64 = 0.9;

/// What is read of the server in this process.
#[derive(Default)]
struct Watched {
    answered: Answered,
    threads: AtomicU64,
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
