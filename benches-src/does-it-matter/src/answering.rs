//! The service that servers ask: an event loop that answers each question a fixed time after it came.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use harness::monotonic_ns;
use hdrhistogram::Histogram;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::retry_on_intr;
use rustix::time::Timespec;

use crate::generator::cpu_ns;
use crate::question::{QUESTION, answer};

/// The service: one thread for all who ask. It ends with the first of them, who has started it.
///
/// While there is something to answer it looks ten times in a millisecond at most for what has come and what is due: to be woken for each
/// question would cost more than to answer it. So an answer comes up to a tenth of a millisecond before its time, or after.
pub struct Service {
    epoll: OwnedFd,
    listener: TcpListener,
    connections: Vec<Option<Connection>>,
    delay_ns: u64,
    /// What is to be answered, in that order, for all wait equally long.
    waiting: VecDeque<Question>,
    /// How much later than due each was answered, at most: it may have come as soon as it was looked for last.
    pub late: Histogram<u64>,
    /// When the tenth of a second began of which the CPU time is counted, and that time until then.
    tenth: (u64, u64),
    /// The largest part of such a tenth that the CPU was used.
    pub busiest: f64,
}

struct Connection {
    stream: TcpStream,
    question: [u8; QUESTION],
    came: usize,
}

struct Question {
    connection: usize,
    /// The last look at which it had not come.
    after: u64,
}

const LISTENER: u64 = u64::MAX;
const BETWEEN_LOOKS: Duration = Duration::from_micros(100);
const A_TENTH_NS: u64 = 100_000_000;

impl Service {
    /// Answers each question on this socket after that time.
    pub fn new(listener: TcpListener, delay_ns: u64) -> Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        listener.set_nonblocking(true)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        let (connections, waiting, tenth) = (Vec::new(), VecDeque::new(), (monotonic_ns(), cpu_ns()));
        Ok(Self { epoll, listener, connections, delay_ns, waiting, late: Histogram::new(3)?, tenth, busiest: 0.0 })
    }

    /// Waits, and does all that can be done then; whether it goes on.
    #[inline]
    pub fn serve(&mut self) -> Result<bool> {
        let last_look = monotonic_ns();
        let is_idle = self.waiting.is_empty();
        if !is_idle {
            thread::sleep(BETWEEN_LOOKS);
        }
        let timeout = (!is_idle).then_some(Timespec { tv_sec: 0, tv_nsec: 0 });
        let mut events = Vec::with_capacity(4096);
        retry_on_intr(|| epoll::wait(&self.epoll, spare_capacity(&mut events), timeout.as_ref()))?;
        let after = if is_idle { monotonic_ns() } else { last_look };
        for event in events {
            let data = event.data;
            match data.u64() {
                LISTENER => self.accept()?,
                number => match self.read(number as usize) {
                    Ok(true) => self.waiting.push_back(Question { connection: number as usize, after }),
                    Ok(false) => {}
                    Err(_) if number == 0 => return Ok(false),
                    Err(_) => self.connections[number as usize] = None,
                },
            }
        }
        self.answer()?;
        self.look_at_the_time();
        Ok(true)
    }

    #[inline]
    fn accept(&mut self) -> Result<()> {
        let (stream, _) = self.listener.accept()?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        epoll::add(&self.epoll, &stream, EventData::new_u64(self.connections.len() as u64), EventFlags::IN)?;
        self.connections.push(Some(Connection { stream, question: [0; QUESTION], came: 0 }));
        Ok(())
    }

    /// Whether a question has come as a whole; an error if its connection is of no more use.
    #[inline]
    fn read(&mut self, number: usize) -> std::io::Result<bool> {
        let Some(connection) = &mut self.connections[number] else { return Ok(false) };
        match connection.stream.read(&mut connection.question[connection.came..]) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => {
                connection.came = (connection.came + bytes) % QUESTION;
                Ok(connection.came == 0)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Answers all that is due.
    #[inline]
    fn answer(&mut self) -> Result<()> {
        let now = monotonic_ns();
        while let Some(asked) = self.waiting.pop_front_if(|asked| asked.after + self.delay_ns <= now) {
            // Who asks one question at a time has room for its answer.
            if let Some(Connection { stream, question, .. }) = &mut self.connections[asked.connection]
                && stream.write_all(&answer(question)).is_err()
            {
                self.connections[asked.connection] = None;
            }
            self.late.record(monotonic_ns() - (asked.after + self.delay_ns))?;
        }
        Ok(())
    }

    #[inline]
    fn look_at_the_time(&mut self) {
        let (begin, cpu_before) = self.tenth;
        let now = monotonic_ns();
        if now - begin >= A_TENTH_NS {
            let cpu = cpu_ns();
            self.busiest = self.busiest.max((cpu - cpu_before) as f64 / (now - begin) as f64);
            self.tenth = (now, cpu);
        }
    }
}
