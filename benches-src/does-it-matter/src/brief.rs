//! What servers share whose clients connect anew for each request: what a thread does with a connection, the clients as a process of their own, and
//! what is read of the server meanwhile.
//!
//! The programs that need it take it in by its path. In the library its name would make every record of this chapter stale.

// Each of them takes what it needs.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, ExitCode, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use does_it_matter::http::Stock;
use does_it_matter::phases::Watch;
use does_it_matter::serving::Answered;
use does_it_matter::{count, nanoseconds};
use harness::{Described, Findings, Placement, Report, Unavailable, described};
use observation::Observation;
use serde::Serialize;
use socket2::{Domain, Socket, Type};

/// What a server needs for its requests, whoever answers them.
#[derive(Clone, Default)]
pub struct Work {
    /// Buffers for requests and answers, lent to whoever has a connection.
    pub stock: Stock,
    /// The requests that were answered.
    pub answered: Answered,
}

impl Work {
    /// Serves a connection to its end, and has the thread wait for whatever comes on it.
    pub fn converse(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut exchange = self.stock.lend(b"");
        loop {
            while let Some(answer) = exchange.answer() {
                if answer.served {
                    self.answered.one();
                }
                stream.write_all(answer.bytes)?;
                if answer.last {
                    return Ok(());
                }
            }
            match stream.read(exchange.room())? {
                0 => return Ok(()),
                bytes => exchange.came(bytes),
            }
        }
    }

    fn used(&self) -> (u64, u64) {
        self.answered.used().expect("the server is in this process")
    }
}

/// A server under test. `O` is what a reader can vary of it alone.
pub type Serve<O> = fn(TcpListener, O, Work) -> Result<()>;

/// The parameters of a server.
#[derive(Args, Serialize, Clone)]
pub struct Parameters<O: Args> {
    #[command(flatten)]
    #[serde(flatten)]
    own: O,
    /// Clients, each of which connects, asks once, and connects anew
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    clients: u32,
    /// Bytes of JSON in a request
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(..=100_000))]
    json_bytes: u32,
    /// How long the clients ask, in milliseconds, after a quarter of that which does not count
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    milliseconds: u64,
    /// The port to listen on; 0 for any
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Serve whoever connects for so many seconds, and measure nothing; 0 to measure
    #[arg(long, default_value_t = 0)]
    serve_seconds: u64,
}

const MEASURES: [Described; 6] = [
    described("rate", "1", "requests answered in a second, each on a connection of its own"),
    described("cpu_ns", "ns", "the CPU time that one connection with its request took the server"),
    described("p50_ns", "ns", "the median time from the beginning of a connection until its answer was there"),
    described("p99_ns", "ns", "the 99th percentile of that time"),
    described("clients_cpu_share", "1", "the CPU time that the clients took, as a part of the time"),
    described("answered", "1", "requests that were answered, by the server and by its clients' count"),
];

/// The whole of a server's `main`.
pub fn main<O: Args + Serialize + Send + 'static>(name: &str, serve: Serve<O>) -> ExitCode {
    harness::once(name, &MEASURES, |parameters, placement, report| program(serve, parameters, placement, report))
}

fn program<O: Args + Send + 'static>(
    serve: Serve<O>,
    parameters: Parameters<O>,
    placement: Placement,
    report: Report,
) -> Result<()> {
    let Parameters { own, clients, json_bytes, milliseconds, port, serve_seconds } = parameters;
    if placement == Placement::OneCpu {
        return Err(Unavailable::because(
            "the clients need a CPU of their own, so that the server does not wait for them",
        ));
    }
    placement.pin_participant(0)?;
    resources::reserve_connections(clients as usize)?;
    let listener =
        listen(port).with_context(|| format!("cannot listen on port {port} (another can be given by --port)"))?;
    let (address, work) = (listener.local_addr()?, Work::default());
    let server = thread::spawn({
        let work = work.clone();
        move || serve(listener, own, work)
    });
    if serve_seconds > 0 {
        thread::sleep(Duration::from_secs(serve_seconds));
        return report.give(BTreeMap::from([("answered".to_owned(), count(work.used().0 as f64))]));
    }
    let ask = |milliseconds: u64| {
        let flags = [("clients", clients.into()), ("json-bytes", json_bytes.into()), ("milliseconds", milliseconds)];
        ask(placement, address, &flags)
    };
    let measured = ask(milliseconds.div_ceil(4)).and_then(|_| {
        let before = work.used();
        Ok((before, ask(milliseconds)?, work.used()))
    });
    let (before, seen, after) = measured.map_err(|error| explain(server, error))?;
    report.give(findings(before, &seen, after)?)
}

/// Listens with room for all who may be about to connect. The standard library leaves room for 128, and the kernel has others try again after a second.
fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], port)).into())?;
    socket.listen(4096)?;
    Ok(socket.into())
}

/// Has the program `callers`, which lies beside this one, connect again and again at the place of participant 1.
fn ask(placement: Placement, address: SocketAddr, flags: &[(&str, u64)]) -> Result<Observation> {
    let program = std::env::current_exe()?.with_file_name("callers");
    let mut callers = Command::new(&program);
    callers.args(["--json", "--address", &address.to_string()]).stderr(Stdio::inherit());
    callers.args(flags.iter().flat_map(|(name, number)| [format!("--{name}"), number.to_string()]));
    // A process inherits the place of the thread that starts it.
    placement.pin_participant(1)?;
    let ended = callers.output();
    placement.pin_participant(0)?;
    let ended = ended.with_context(|| {
        format!("the clients {} cannot be started (cargo build --release --bins)", program.display())
    })?;
    ensure!(ended.status.success(), "the clients ended with {}", ended.status);
    serde_json::from_slice(&ended.stdout).context("the clients ended before they had reported")
}

/// More than this, and the server may have waited for its clients.
const BUSY_AT_MOST: f64 = 0.9;

fn findings(before: (u64, u64), seen: &Observation, after: (u64, u64)) -> Result<Findings> {
    let of = |name: &str| Some(*seen.measures.get(name)?.values.first()?);
    let of = |name: &str| of(name).with_context(|| format!("the clients do not say their {name}"));
    let (by_server, by_clients) = (after.0 - before.0, of("answered")?);
    ensure!(by_server as f64 == by_clients, "the server counts {by_server} answers, and its clients {by_clients}");
    let share = of("cpu_share")?;
    let mut found = Findings::default();
    if share > BUSY_AT_MOST {
        let percent = share * 100.0;
        found.doubts.push(format!("the clients were short of their CPU: they took {percent:.0} % of it"));
    }
    found.measures = BTreeMap::from([
        ("rate".to_owned(), count(of("rate")?)),
        ("cpu_ns".to_owned(), nanoseconds((after.1 - before.1) as f64 / by_server.max(1) as f64)),
        ("p50_ns".to_owned(), nanoseconds(of("p50_ns")?)),
        ("p99_ns".to_owned(), nanoseconds(of("p99_ns")?)),
        ("clients_cpu_share".to_owned(), count(share)),
        ("answered".to_owned(), count(by_clients)),
    ]);
    Ok(found)
}

/// Where the server itself has ended, that is the reason.
fn explain(server: JoinHandle<Result<()>>, error: anyhow::Error) -> anyhow::Error {
    match server.is_finished().then(|| server.join()) {
        Some(Ok(Err(own))) => own.context("the server ended"),
        Some(_) => error.context("the server ended"),
        None => error,
    }
}
