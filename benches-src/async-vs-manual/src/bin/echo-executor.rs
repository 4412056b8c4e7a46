//! One operation: one line that a client sends over a socket and gets back, from tasks on the executor of this chapter over epoll.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

use anyhow::Result;
use async_vs_manual::reactor::Waiter;
use async_vs_manual::sockets::Line;
use async_vs_manual::tasks::Tasks;
use async_vs_manual::wakers::Embedded;
use harness::Placement;
use mio::net::TcpStream;
use mio::{Events, Interest, Token};

#[path = "echo-executor/waiting.rs"]
mod waiting;

use waiting::{Wait, poll_read, poll_write, readiness};

fn echo_executor(streams: Vec<std::net::TcpStream>, _: Placement) -> Result<u64> {
    let mut poll = mio::Poll::new()?;
    let mut events = Events::with_capacity(1024);
    let waits: Vec<Wait> = streams.iter().map(|_| Wait::default()).collect();
    let (answers, failed) = (Cell::new(0), RefCell::new(None));
    let mut tasks = Tasks::new(Embedded);
    let mut named = Vec::with_capacity(waits.len());
    for ((token, stream), wait) in streams.into_iter().enumerate().zip(&waits) {
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE)?;
        tasks.spawn(|| task(stream, wait, &answers, &failed));
    }
    tasks.run(
        || None,
        |never: std::convert::Infallible| match never {},
        || match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            polled => {
                polled.expect("epoll waits");
                for event in &events {
                    let wait = &waits[event.token().0];
                    wait.becomes(readiness(event));
                    named.push(wait);
                }
                // Who is woken last goes on first: so they are answered in the order in which epoll names them, as by the others.
                named.drain(..).rev().for_each(Waiter::wake);
            }
        },
    );
    drop(tasks);
    failed.into_inner().map_or(Ok(answers.get()), |error: io::Error| Err(error.into()))
}

async fn task(stream: TcpStream, wait: &Wait, answers: &Cell<u64>, failed: &RefCell<Option<io::Error>>) {
    if let Err(error) = answer(stream, wait, answers).await {
        *failed.borrow_mut() = Some(error);
    }
}

async fn answer(stream: TcpStream, wait: &Wait, answers: &Cell<u64>) -> io::Result<()> {
    let mut line = Line::default();
    loop {
        while let Some(complete) = line.complete() {
            let (mut written, bytes) = (0, complete.len());
            while written < bytes {
                written += poll_fn(|context| poll_write(&stream, wait, context, &complete[written..])).await?;
            }
            line.forget(bytes);
            answers.set(answers.get() + 1);
        }
        if line.room().is_empty() {
            return Err(io::Error::other("a line is too long"));
        }
        let bytes = poll_fn(|context| poll_read(&stream, wait, context, line.room())).await?;
        if bytes == 0 {
            return Ok(());
        }
        line.came(bytes);
    }
}

fn main() -> ExitCode {
    async_vs_manual::sockets::main(harness::name!(), echo_executor)
}
