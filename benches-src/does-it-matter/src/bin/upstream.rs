//! One operation: one question, answered a fixed time after it came: the service that servers ask.

use std::collections::BTreeMap;
use std::io::{Read, Write, stdin};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use does_it_matter::answering::Service;
use does_it_matter::measures::OF_UPSTREAM;
use does_it_matter::question::{ANSWER, answer, question};
use does_it_matter::{count, nanoseconds};
use harness::{Placement, Report};
use serde::Serialize;

fn upstream(parameters: Parameters, _: Placement, report: Report) -> Result<()> {
    let Parameters { microseconds, questions, given } = parameters;
    let listener = if given {
        TcpListener::from(stdin().as_fd().try_clone_to_owned()?)
    } else {
        TcpListener::bind(("127.0.0.1", 0))?
    };
    let address = listener.local_addr().context("--given true needs a listening socket as standard input")?;
    let first = (!given).then(|| TcpStream::connect(address)).transpose()?;
    let asking = first.map(|first| thread::spawn(move || ask(first, questions)));
    let mut service = Service::new(listener, microseconds * 1000)?;
    while service.serve()? {}
    if let Some(asking) = asking {
        asking.join().expect("it does not panic")?;
    }
    let (answered, late) = (service.late.len(), service.late.value_at_quantile(0.99));
    let mut measures = BTreeMap::from([
        ("answered".to_owned(), count(answered as f64)),
        ("cpu_share".to_owned(), count(service.busiest)),
    ]);
    measures.extend((answered > 0).then(|| ("late_p99_ns".to_owned(), nanoseconds(late as f64))));
    report.give(measures)
}

/// Asks so many questions, one after the other. The service ends with the connection.
fn ask(mut service: TcpStream, questions: u64) -> Result<()> {
    service.set_nodelay(true)?;
    let mut answered = [0; ANSWER];
    for number in 0..questions {
        service.write_all(&question(number))?;
        service.read_exact(&mut answered)?;
        ensure!(answered == answer(&question(number)), "an answer to another question");
    }
    Ok(())
}

#[derive(Args, Serialize, Clone)]
struct Parameters {
    /// The time for an answer, in microseconds
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    microseconds: u64,
    /// How many questions to ask oneself
    #[arg(long, default_value_t = 100)]
    questions: u64,
    /// Whether standard input is a socket on which to listen to others instead, until the first of them has gone
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    given: bool,
}

fn main() -> ExitCode {
    harness::once(harness::name!(), &OF_UPSTREAM, upstream)
}
