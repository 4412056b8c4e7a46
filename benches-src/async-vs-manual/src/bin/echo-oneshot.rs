//! One operation: one line that a client sends over a socket and gets back, from an event loop that epoll tells of each connection once, until it is armed again.

use std::process::ExitCode;

use anyhow::Result;
use async_vs_manual::watched::echo;
use harness::Placement;
use rustix::event::epoll::EventFlags;

fn echo_oneshot(streams: Vec<std::net::TcpStream>, _: Placement) -> Result<u64> {
    echo(streams, EventFlags::IN | EventFlags::ONESHOT)
}

fn main() -> ExitCode {
    async_vs_manual::sockets::main(harness::name!(), echo_oneshot)
}
