//! One operation: one hop of a byte between two threads, each blocking in `read` on its end of a socket pair.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};

use anyhow::Result;
use harness::{Laps, Nothing, Placement, Repeat};

struct CostThreadSocket {
    stream: UnixStream,
    other: JoinHandle<Result<u64>>,
    passed: u64,
}

impl Repeat for CostThreadSocket {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, placement: Placement) -> Result<Self> {
        let (stream, other) = UnixStream::pair()?;
        placement.pin_participant(0)?;
        let other = thread::spawn(move || {
            placement.pin_participant(1)?;
            pass_back(other)
        });
        Ok(Self { stream, other, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        2
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let mut byte = [0];
        for () in laps {
            self.stream.write_all(&byte)?;
            self.stream.read_exact(&mut byte)?;
            self.passed += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.stream);
        Ok(self.passed + self.other.join().expect("it does not panic")?)
    }
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
    harness::repeat::<CostThreadSocket>(harness::name!())
}
