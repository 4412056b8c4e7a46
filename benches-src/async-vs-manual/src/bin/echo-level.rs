//! One operation: one line that a client sends over a socket and gets back, from an event loop that epoll tells of each connection for as long as it has something.

use std::process::ExitCode;

use anyhow::Result;
use async_vs_manual::watched::echo;
use harness::Placement;
use rustix::event::epoll::EventFlags;

fn echo_level(streams: Vec<std::net::TcpStream>, _: Placement) -> Result<u64> {
    echo(streams, EventFlags::IN)
}

fn main() -> ExitCode {
    async_vs_manual::sockets::main(harness::name!(), echo_level)
}
