//! One operation: one connection to a server that runs already, with one request: clients that connect anew for each.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use does_it_matter::generator::cpu_ns;
use does_it_matter::measures::OF_CALLERS;
use does_it_matter::order::Order;
use does_it_matter::parameters::Calling;
use does_it_matter::{count, http, nanoseconds};
use harness::{Placement, Report, monotonic_ns};
use hdrhistogram::Histogram;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use serde::Serialize;

fn callers(asked: Parameters, placement: Placement, report: Report) -> Result<()> {
    placement.pin_participant(1)?;
    let mut clients = Clients::new(&asked)?;
    let (begin, cpu_before) = (monotonic_ns(), cpu_ns());
    let end = begin + asked.milliseconds * 1_000_000;
    for client in 0..asked.calling.clients as usize {
        clients.connect(client)?;
    }
    let (mut under_way, mut in_time, mut last) = (asked.calling.clients, 0u64, end);
    while under_way > 0 {
        clients.wait()?;
        for client in clients.answered()? {
            let now = monotonic_ns();
            clients.times.record(now - clients.calls[client].as_ref().map_or(now, |call| call.begun))?;
            if now < end {
                in_time += 1;
                clients.connect(client)?;
            } else {
                clients.calls[client] = None;
                under_way -= 1;
                last = now;
            }
        }
        ensure!(monotonic_ns() < end + PATIENCE_NS, "{under_way} of {} clients have no answer", asked.calling.clients);
    }
    let share = (cpu_ns() - cpu_before) as f64 / (last - begin) as f64;
    let at = |quantile| nanoseconds(clients.times.value_at_quantile(quantile) as f64);
    report.give(BTreeMap::from([
        ("answered".to_owned(), count(clients.times.len() as f64)),
        ("rate".to_owned(), count(in_time as f64 * 1e3 / asked.milliseconds as f64)),
        ("p50_ns".to_owned(), at(0.5)),
        ("p99_ns".to_owned(), at(0.99)),
        ("cpu_share".to_owned(), count(share)),
    ]))
}

const PATIENCE_NS: u64 = 5_000_000_000;

/// A loop over events for all clients.
struct Clients {
    poll: Poll,
    events: Events,
    address: SocketAddr,
    request: Vec<u8>,
    answer: Vec<u8>,
    /// The call of each client.
    calls: Vec<Option<Call>>,
    /// From the beginning of a connection until its answer was there.
    times: Histogram<u64>,
}

struct Call {
    stream: TcpStream,
    begun: u64,
    sent: usize,
    input: Vec<u8>,
    came: usize,
}

impl Clients {
    fn new(asked: &Parameters) -> Result<Self> {
        let json = Order::of_bytes(1, asked.calling.request.json_bytes as usize).to_json();
        let request = String::from_utf8(http::request(&json))?.replacen("\r\n", "\r\nconnection: close\r\n", 1);
        let calls = (0..asked.calling.clients).map(|_| None).collect();
        let (answer, times) = (http::answer_to(&json), Histogram::new(3)?);
        let (poll, events) = (Poll::new()?, Events::with_capacity(1024));
        Ok(Self { poll, events, address: asked.address, request: request.into_bytes(), answer, calls, times })
    }

    fn connect(&mut self, client: usize) -> Result<()> {
        let begun = monotonic_ns();
        let mut stream = TcpStream::connect(self.address).with_context(|| format!("cannot reach {}", self.address))?;
        // Closed by a reset, a connection leaves no port behind that must not be used again for a minute.
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
        self.poll.registry().register(&mut stream, Token(client), Interest::READABLE | Interest::WRITABLE)?;
        let input = self.calls[client].take().map_or_else(|| vec![0; self.answer.len() + 1], |call| call.input);
        self.calls[client] = Some(Call { stream, begun, sent: 0, input, came: 0 });
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        match self.poll.poll(&mut self.events, Some(Duration::from_nanos(PATIENCE_NS))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => self.events.clear(),
            polled => polled?,
        }
        Ok(())
    }

    /// The clients that now have their answers.
    fn answered(&mut self) -> Result<Vec<usize>> {
        let mut all = Vec::new();
        for client in self.events.iter().map(|event| event.token().0) {
            let Some(call) = &mut self.calls[client] else { continue };
            if call.go_on(&self.request, &self.answer)? {
                all.push(client);
            }
        }
        Ok(all)
    }
}

impl Call {
    /// Does what can be done without waiting; whether the answer is there.
    fn go_on(&mut self, request: &[u8], answer: &[u8]) -> Result<bool> {
        while self.sent < request.len() {
            match self.stream.write(&request[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                    return Ok(false);
                }
                Err(error) => return Err(error).context("the server does not take a request"),
            }
        }
        while self.came < answer.len() {
            match self.stream.read(&mut self.input[self.came..]) {
                Ok(0) => bail!("the server closed a connection before its answer"),
                Ok(bytes) => self.came += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error).context("the server does not answer"),
            }
        }
        ensure!(self.input[..self.came] == *answer, "an answer is not the order with its total");
        Ok(true)
    }
}

#[derive(Args, Serialize, Clone)]
struct Parameters {
    /// Where the server listens
    #[arg(long, default_value = "127.0.0.1:8080")]
    address: SocketAddr,
    #[command(flatten)]
    #[serde(flatten)]
    calling: Calling,
    /// How long to ask, in milliseconds
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    milliseconds: u64,
}

fn main() -> ExitCode {
    harness::once(harness::name!(), &OF_CALLERS, callers)
}
