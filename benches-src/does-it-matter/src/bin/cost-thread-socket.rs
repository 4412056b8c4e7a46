//! One operation: one hop of a byte between two threads, each blocking in `read` on its end of a socket pair.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};

fn cost_thread_socket(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    let (mut stream, other) = UnixStream::pair()?;
    placement.pin_participant(0)?;
    let other = thread::spawn(move || {
        placement.pin_participant(1)?;
        pass_back(other)
    });
    let mut passed = 0;
    clock.time(2, |laps| {
        let mut byte = [0];
        for () in laps {
            stream.write_all(&byte)?;
            stream.read_exact(&mut byte)?;
            passed += 1;
        }
        Ok(())
    })?;
    drop(stream);
    Ok(passed + other.join().expect("it does not panic")?)
}

fn pass_back(mut stream: UnixStream) -> Result<u64> {
    let (mut byte, mut passed) = ([0], 0);
    while stream.read(&mut byte)? == byte.len() {
        stream.write_all(&byte)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_thread_socket)
}
