//! What servers share whose clients connect anew for each request: what a thread does with a connection, the clients as a process of their own, and
//! what is read of the server meanwhile.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use harness::{Findings, Placement, Unavailable};
use observation::Observation;
use serde::Serialize;
use socket2::{Domain, Socket, Type};

use crate::http::Stock;
use crate::measures::OF_BRIEF;
use crate::parameters::{Calling, Listening};
use crate::phases::Watch;
use crate::serving::Answered;
use crate::{count, nanoseconds, remote, told};

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
    #[inline]
    pub fn converse(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut exchange = self.stock.lend(b"");
        loop {
            while let Some(answer) = exchange.answer() {
                self.answered.count(&answer);
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
    #[command(flatten)]
    #[serde(flatten)]
    calling: Calling,
    /// How long the clients ask, in milliseconds, after a quarter of that which does not count
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    milliseconds: u64,
    #[command(flatten)]
    #[serde(flatten)]
    listening: Listening,
}

/// The whole of a server's `main`.
pub fn main<O: Args + Serialize + Send + 'static>(name: &str, serve: Serve<O>) -> ExitCode {
    harness::once(name, &OF_BRIEF, |parameters: Parameters<O>, placement, report| {
        if placement == Placement::OneCpu {
            return Err(Unavailable::because(
                "the clients need a CPU of their own, so that the server does not wait for them",
            ));
        }
        placement.pin_participant(0)?;
        report.give(measured(parameters, placement, serve)?)
    })
}

fn measured<O: Args + Send + 'static>(asked: Parameters<O>, placement: Placement, serve: Serve<O>) -> Result<Findings> {
    let Parameters { own, calling: Calling { clients, request }, milliseconds, listening } = asked;
    resources::reserve_connections(clients as usize)?;
    let listener = listening.bind_by(listen)?;
    let (address, work) = (listener.local_addr()?, Work::default());
    let shared = work.clone();
    let serve = move || serve(listener, own, shared);
    let ask = |milliseconds: u64| {
        let json_bytes = request.json_bytes.into();
        let flags = [("clients", clients.into()), ("json-bytes", json_bytes), ("milliseconds", milliseconds)];
        ask(placement, address, &flags)
    };
    listening.measure(serve, &work.answered, || {
        ask(milliseconds.div_ceil(4))?;
        let before = work.used();
        let seen = ask(milliseconds)?;
        findings(before, &seen, work.used())
    })
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
    let ended = remote::beside("the clients", "callers", placement, |callers| {
        callers.args(["--json", "--address", &address.to_string()]).stderr(Stdio::inherit());
        callers.args(flags.iter().flat_map(|(name, number)| [format!("--{name}"), number.to_string()])).output()
    })?;
    ensure!(ended.status.success(), "the clients ended with {}", ended.status);
    serde_json::from_slice(&ended.stdout).context("the clients ended before they had reported")
}

/// More than this, and the server may have waited for its clients.
const BUSY_AT_MOST: f64 = 0.9;

fn findings(before: (u64, u64), seen: &Observation, after: (u64, u64)) -> Result<Findings> {
    let of = |name| told(seen, name, "the clients' program");
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
