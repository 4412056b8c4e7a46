//! One operation: one line that a client sends over a socket and gets back, from a thread that has this connection alone.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::thread;

use anyhow::{Result, anyhow, ensure};
use async_vs_manual::sockets::Line;
use harness::Placement;

fn echo_thread(streams: Vec<TcpStream>, _: Placement) -> Result<u64> {
    resources::reserve_threads(streams.len())?;
    let mut threads = Vec::new();
    for stream in streams {
        stream.set_nonblocking(false)?;
        threads.push(thread::Builder::new().spawn(move || answer(stream))?);
    }
    let mut answers = 0;
    for thread in threads {
        answers += thread.join().map_err(|_| anyhow!("a thread panicked"))??;
    }
    Ok(answers)
}

fn answer(mut stream: TcpStream) -> Result<u64> {
    let (mut line, mut answers) = (Line::default(), 0);
    loop {
        while let Some(complete) = line.complete() {
            stream.write_all(complete)?;
            let bytes = complete.len();
            line.forget(bytes);
            answers += 1;
        }
        ensure!(!line.room().is_empty(), "a line is too long");
        let bytes = stream.read(line.room())?;
        if bytes == 0 {
            return Ok(answers);
        }
        line.came(bytes);
    }
}

fn main() -> ExitCode {
    async_vs_manual::sockets::main(harness::name!(), echo_thread)
}
