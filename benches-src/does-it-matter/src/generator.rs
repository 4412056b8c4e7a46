//! The load generator: one thread over all its connections. Each has at most one request under way, as HTTP/1.1 without pipelining has.
//!
//! In an *open loop* requests are due at times that are drawn up beforehand, whatever the server does. Latency counts from the time
//! at which a request was due, and not from when it could be sent: a server that stalls is charged for all that waits meanwhile, which
//! a loop that waits for its answers would forget ("coordinated omission").

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use harness::monotonic_ns;
use hdrhistogram::Histogram;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use rustix::time::{ClockId, clock_gettime};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use serde::{Deserialize, Serialize};

use crate::http;
use crate::order::Order;
use crate::tls;

/// What a generator is asked to do, one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Command {
    /// Open all connections, and send one request on each.
    Connect(Target),
    /// Closed loop: the next request as soon as the last is answered.
    Closed {
        /// How long.
        milliseconds: u64,
        /// Whether it looks for answers all the time, so that nobody has to wake it.
        spins: bool,
    },
    /// Open loop: requests due at random, and each on the next connection in turn.
    Open {
        /// How many are due in a second, on average.
        rate: f64,
        /// For how long they are due.
        milliseconds: u64,
        /// Where the random numbers begin.
        seed: u64,
    },
}

impl Command {
    /// How long requests are sent.
    pub fn length(&self) -> Duration {
        match self {
            Self::Connect(_) => Duration::ZERO,
            Self::Closed { milliseconds, .. } | Self::Open { milliseconds, .. } => Duration::from_millis(*milliseconds),
        }
    }
}

/// Whom to connect to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Target {
    /// Where the server listens.
    pub address: SocketAddr,
    /// Connections that will be used.
    pub connections: usize,
    /// Connections that stay silent after their first request.
    pub idle: usize,
    /// Bytes of JSON in a request.
    pub json_bytes: usize,
    /// The root's certificate (DER) to trust; without one the connections are plain.
    pub root: Option<Vec<u8>>,
}

/// What came of a command.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Report {
    /// Requests answered, each as it should be.
    pub answered: u64,
    /// Of these, those whose answers came while the phase lasted.
    pub answered_in_time: u64,
    /// Requests that were due and could not even be sent before time was up.
    pub unsent: u64,
    /// How long the phase lasted; what was still under way was answered after it.
    pub phase_ns: u64,
    /// From its beginning to the last answer.
    pub elapsed_ns: u64,
    /// CPU time that the generator took.
    pub cpu_ns: u64,
    /// Latencies in an open loop.
    pub latency: Quantiles,
    /// In an open loop, how much later than it could have been a request was sent: after it was due and its connection was free.
    pub lateness: Quantiles,
}

/// Of times in nanoseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Quantiles {
    /// Half of them are at most this.
    pub p50: u64,
    /// 99 of 100.
    pub p99: u64,
    /// 999 of 1,000.
    pub p999: u64,
}

/// Who does what a [`Command`] says: a generator in this process, or another process.
pub trait Load {
    /// Does it, and returns when all that was sent has been answered.
    fn execute(&mut self, command: &Command) -> Result<Report>;
}

/// The connections with what is sent and what must come back.
pub struct Generator {
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
    /// How many of them are used; they come first.
    active: usize,
    message: Message,
}

struct Message {
    request: Vec<u8>,
    /// What has to come back after the head.
    body: Vec<u8>,
}

struct Connection {
    stream: Wire,
    /// When requests were due that wait for the connection to be free.
    waiting: VecDeque<u64>,
    /// When the request was due that is under way.
    due: Option<u64>,
    /// Since when there was none under way.
    free_since: u64,
    /// How much of it has been sent.
    sent: usize,
    input: Vec<u8>,
    filled: usize,
}

/// How long answers may be waited for once a phase is over.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long after its last request was due an open loop still sends what has had to wait.
const DELAY_AT_MOST: Duration = Duration::from_secs(1);

/// So many connections are opened before their first requests are sent: fewer than any server's queue of those not yet accepted.
const OPENED_TOGETHER: usize = 100;

impl Generator {
    /// One without connections.
    pub fn new() -> Result<Self> {
        let message = Message { request: Vec::new(), body: Vec::new() };
        let events = Events::with_capacity(1024);
        Ok(Self { poll: Poll::new()?, events, connections: Vec::new(), active: 0, message })
    }

    fn connect(&mut self, target: &Target) -> Result<Report> {
        let json = Order::of_bytes(1, target.json_bytes).to_json();
        let mut body = Vec::new();
        http::handle(&json, &mut body).ok().context("an order of ours is not understood")?;
        self.message = Message { request: http::request(&json), body };
        self.active = target.connections;
        // Every connection shakes hands in full.
        let tls = target.root.as_ref().map(|root| tls::client_config(root, false)).transpose()?;
        let mut all = Report::default();
        while self.connections.len() < target.connections + target.idle {
            let first = self.connections.len();
            for index in first..(first + OPENED_TOGETHER).min(target.connections + target.idle) {
                let mut stream =
                    Wire::connect(target.address, tls.as_ref()).with_context(|| format!("connection {index}"))?;
                let interest = Interest::READABLE | Interest::WRITABLE;
                self.poll.registry().register(stream.socket(), Token(index), interest)?;
                self.connections.push(Connection::new(stream));
            }
            all.answered += self.closed(first..self.connections.len(), 0, PATIENCE)?.answered;
        }
        Ok(all)
    }

    /// One request on each connection, and the next when it is answered until the time is up. A phase that is to last at all lasts
    /// until as many were answered as there are connections, though the machine be busy with something else.
    /// It sleeps for so long at most.
    fn closed(&mut self, range: std::ops::Range<usize>, milliseconds: u64, sleep: Duration) -> Result<Report> {
        let mut clock = Clock::start(milliseconds);
        let mut report = Report::default();
        let mut under_way = range.len();
        let least = if milliseconds > 0 { range.len() as u64 } else { 0 };
        for connection in &mut self.connections[range] {
            connection.begin(clock.now, &self.message)?;
        }
        while under_way > 0 {
            self.wait(Some(sleep))?;
            for event in &self.events {
                let connection = &mut self.connections[event.token().0];
                if connection.go_on(&self.message)?.is_none() {
                    continue;
                }
                clock.read();
                report.answered += 1;
                if clock.now < clock.end || report.answered_in_time < least {
                    report.answered_in_time += 1;
                    report.phase_ns = clock.now - clock.begin;
                    connection.begin(clock.now, &self.message)?;
                } else {
                    under_way -= 1;
                }
            }
            clock.read();
            clock.check_patience(under_way)?;
        }
        clock.note(&mut report);
        report.phase_ns = report.phase_ns.max(clock.end - clock.begin);
        Ok(report)
    }

    /// Requests when they are due. It never sleeps, for then its own wake-ups would stand in every latency.
    fn open(&mut self, rate: f64, milliseconds: u64, seed: u64) -> Result<Report> {
        let mut clock = Clock::start(milliseconds);
        let times = arrivals(clock.begin, clock.end, rate, seed);
        let last_sent = clock.end + DELAY_AT_MOST.as_nanos() as u64;
        let (mut latency, mut lateness) = (Histogram::<u64>::new(3)?, Histogram::<u64>::new(3)?);
        let mut report = Report::default();
        let (mut next, mut waiting, mut under_way) = (0, 0, 0);
        loop {
            clock.read();
            while next < times.len() && times[next] <= clock.now {
                self.connections[next % self.active].waiting.push_back(times[next]);
                waiting += 1;
                let started = self.connections[next % self.active].begin_next(&self.message, &mut lateness)?;
                waiting -= u64::from(started);
                under_way += usize::from(started);
                next += 1;
            }
            if waiting > 0 && clock.now > last_sent {
                report.unsent = waiting;
                waiting = 0;
                self.connections.iter_mut().for_each(|connection| connection.waiting.clear());
            }
            if next == times.len() && waiting == 0 && under_way == 0 {
                break;
            }
            self.wait(Some(Duration::ZERO))?;
            for event in &self.events {
                let connection = &mut self.connections[event.token().0];
                let Some(due) = connection.go_on(&self.message)? else { continue };
                clock.read();
                connection.free_since = clock.now;
                latency.record(clock.now - due)?;
                report.answered += 1;
                report.answered_in_time += u64::from(clock.now < clock.end);
                let started = connection.begin_next(&self.message, &mut lateness)?;
                waiting -= u64::from(started);
                under_way -= usize::from(!started);
            }
            clock.check_patience(under_way)?;
        }
        ensure!(report.answered + report.unsent == times.len() as u64, "a request was answered twice or never");
        (report.latency, report.lateness) = (Quantiles::of(&latency), Quantiles::of(&lateness));
        clock.note(&mut report);
        report.phase_ns = clock.end - clock.begin;
        Ok(report)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<()> {
        match self.poll.poll(&mut self.events, timeout) {
            Err(error) if error.kind() == ErrorKind::Interrupted => self.events.clear(),
            polled => polled?,
        }
        Ok(())
    }
}

impl Load for Generator {
    fn execute(&mut self, command: &Command) -> Result<Report> {
        match command {
            Command::Connect(target) => self.connect(target),
            Command::Closed { milliseconds, spins } => {
                let sleep = if *spins { Duration::ZERO } else { PATIENCE };
                self.closed(0..self.active, *milliseconds, sleep)
            }
            Command::Open { rate, milliseconds, seed } => self.open(*rate, *milliseconds, *seed),
        }
    }
}

impl Connection {
    fn new(stream: Wire) -> Self {
        let (waiting, input) = (VecDeque::new(), Vec::new());
        Self { stream, waiting, due: None, free_since: 0, sent: 0, input, filled: 0 }
    }

    /// Sends the request that was due first, if the connection is free and there is one.
    fn begin_next(&mut self, message: &Message, lateness: &mut Histogram<u64>) -> Result<bool> {
        if self.due.is_some() {
            return Ok(false);
        }
        let Some(due) = self.waiting.pop_front() else { return Ok(false) };
        lateness.record(monotonic_ns() - due.max(self.free_since))?;
        self.begin(due, message)?;
        Ok(true)
    }

    fn begin(&mut self, due: u64, message: &Message) -> Result<()> {
        (self.due, self.sent, self.filled) = (Some(due), 0, 0);
        self.send(message)
    }

    fn send(&mut self, message: &Message) -> Result<()> {
        while self.sent < message.request.len() || self.stream.has_unsent() {
            match self.stream.write(&message.request[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error).context("the server does not take a request"),
            }
        }
        Ok(())
    }

    /// Does what can be done without waiting; when the request was due, if it has now been answered.
    fn go_on(&mut self, message: &Message) -> Result<Option<u64>> {
        if self.due.is_some() {
            self.send(message)?;
        }
        loop {
            let room = message.body.len() + 1024;
            self.input.resize(room, 0);
            match self.stream.read(&mut self.input[self.filled..]) {
                Ok(0) => bail!("the server closed a connection"),
                Ok(bytes) => self.filled += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error).context("the server does not answer"),
            }
            let due = self.due.context("the server sent what nobody asked for")?;
            if is_whole(&self.input[..self.filled], message)? {
                self.due = None;
                return Ok(Some(due));
            }
        }
    }
}

/// Whether all of an answer is there. One that is not what it should be is an error.
fn is_whole(input: &[u8], message: &Message) -> Result<bool> {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(input).context("the server does not speak HTTP")? else {
        ensure!(input.len() < message.body.len() + 1024, "the head of an answer does not end");
        return Ok(false);
    };
    let status = response.code.unwrap_or_default();
    ensure!(status == 200, "the server answered with status {status}");
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = http::body_length(length.map(|header| header.value)).ok().context("an answer has no length")?;
    ensure!(length == message.body.len(), "an answer is of {length} bytes and should be of {}", message.body.len());
    if input.len() < head + length {
        return Ok(false);
    }
    ensure!(input[head..] == message.body, "an answer is not the order with its total");
    Ok(true)
}

/// When requests are due: in a Poisson process, as those of many clients are who do not know of each other. The same seed gives the
/// same times.
fn arrivals(begin: u64, end: u64, rate: f64, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut times = Vec::new();
    let mut at = begin as f64;
    loop {
        // Above 0 and at most 1, since 0 has no logarithm.
        at += -(1.0 - random.f64()).ln() / rate * 1e9;
        if at >= end as f64 {
            return times;
        }
        times.push(at as u64);
    }
}

/// A phase's beginning and end, and the time as last read.
struct Clock {
    begin: u64,
    end: u64,
    now: u64,
    cpu_before: u64,
}

impl Clock {
    fn start(milliseconds: u64) -> Self {
        let begin = monotonic_ns();
        Self { begin, end: begin + milliseconds * 1_000_000, now: begin, cpu_before: cpu_ns() }
    }

    fn read(&mut self) {
        self.now = monotonic_ns();
    }

    fn check_patience(&self, under_way: usize) -> Result<()> {
        let most = self.end + (DELAY_AT_MOST + PATIENCE).as_nanos() as u64;
        ensure!(
            self.now < most,
            "{under_way} requests were not answered in {} s after a phase",
            (DELAY_AT_MOST + PATIENCE).as_secs()
        );
        Ok(())
    }

    fn note(&mut self, report: &mut Report) {
        self.read();
        report.elapsed_ns = self.now - self.begin;
        report.cpu_ns = cpu_ns() - self.cpu_before;
    }
}

/// CPU time of this process so far, by all its threads, in user space and in the kernel.
pub fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Quantiles {
    fn of(times: &Histogram<u64>) -> Self {
        let at = |quantile| times.value_at_quantile(quantile);
        Self { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
    }
}

/// A connection's bytes.
enum Wire {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Wire {
    /// Connects, and shakes hands if there is a configuration for that.
    fn connect(address: SocketAddr, tls: Option<&Arc<ClientConfig>>) -> Result<Self> {
        let mut stream = std::net::TcpStream::connect_timeout(&address, PATIENCE)
            .with_context(|| format!("nobody answers at {address}"))?;
        stream.set_nodelay(true)?;
        // Closed by a reset, a connection leaves no port behind that must not be used again for a minute.
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
        let Some(config) = tls else {
            stream.set_nonblocking(true)?;
            return Ok(Self::Plain(TcpStream::from_std(stream)));
        };
        let mut session = ClientConnection::new(config.clone(), ServerName::try_from(tls::NAME)?)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        while session.is_handshaking() {
            session.complete_io(&mut stream).context("the handshake")?;
        }
        stream.set_nonblocking(true)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(session, TcpStream::from_std(stream)))))
    }

    fn socket(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => &mut stream.sock,
        }
    }

    /// Whether bytes that were taken have not been given to the socket yet. They are when the next are written, be there any.
    fn has_unsent(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.conn.wants_write(),
        }
    }

    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(room),
            Self::Tls(stream) => stream.read(room),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_due_at_random_and_as_many_as_asked() {
        let times = arrivals(1000, 1_000_001_000, 50_000.0, 1);
        // Four standard deviations of a Poisson distribution.
        assert!((49_100..50_900).contains(&times.len()), "{}", times.len());
        assert!(times.is_sorted() && times[0] >= 1000);
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((0.97..1.03).contains(&(deviation / mean)), "an exponential distribution's deviation is its mean");
        assert_eq!(times, arrivals(1000, 1_000_001_000, 50_000.0, 1));
        assert_ne!(times, arrivals(1000, 1_000_001_000, 50_000.0, 2));
    }

    #[test]
    fn an_answer_is_whole_or_not_yet_or_wrong() {
        let json = Order::of_bytes(1, 500).to_json();
        let answer = http::answer_to(&json);
        let head = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        let message = Message { request: http::request(&json), body: answer[head..].to_vec() };
        assert!(is_whole(&answer, &message).unwrap());
        for bytes in [0, 1, head, answer.len() - 1] {
            assert!(!is_whole(&answer[..bytes], &message).unwrap());
        }
        let wrong = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut answer = answer.clone();
            change(&mut answer);
            is_whole(&answer, &message).unwrap_err().to_string()
        };
        assert!(wrong(&|answer| answer[9] = b'5').contains("status 500"));
        assert!(wrong(&|answer| *answer.last_mut().unwrap() = b' ').contains("not the order"));
        assert!(wrong(&|answer| answer.push(b'x')).contains("not the order"));
        assert!(wrong(&|answer| answer[0] = 0).contains("HTTP"));
    }
}
