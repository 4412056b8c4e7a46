//! One operation: one future made and measured, but never run: how large the futures of realistic stacks are.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use harness::{Once, Placement};
use observation::Measure;
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);

async fn empty() {}

async fn sleeps() {
    sleep(SECOND).await;
}

async fn reads<const BYTES: usize>(socket: &mut UnixStream) -> io::Result<usize> {
    let mut buffer = [0; BYTES];
    socket.read(&mut buffer).await
}

async fn reads_into_the_heap(socket: &mut UnixStream) -> io::Result<usize> {
    let mut buffer = vec![0; 16_384];
    socket.read(&mut buffer).await
}

/// The buffer is not needed any more when the second await comes, and is still there if the compiler cannot see that.
async fn reads_then_sleeps(socket: &mut UnixStream) -> io::Result<()> {
    {
        let mut buffer = [0; 1024];
        socket.read_exact(&mut buffer).await?;
    }
    sleep(SECOND).await;
    Ok(())
}

/// Three calls deep, each with a little of its own that it needs afterwards.
async fn serves(socket: &mut UnixStream) -> io::Result<usize> {
    let served: [usize; 4] = [0; 4];
    Ok(served.len() + answers(socket).await?)
}

async fn answers(socket: &mut UnixStream) -> io::Result<usize> {
    let head = [0; 64];
    let bytes = reads::<1024>(socket).await?;
    socket.write_all(&head).await?;
    Ok(bytes)
}

async fn limited(socket: &mut UnixStream) -> io::Result<usize> {
    timeout(SECOND, reads::<1024>(socket)).await?
}

async fn boxed(socket: &mut UnixStream) -> io::Result<usize> {
    let reading: Pin<Box<dyn Future<Output = io::Result<usize>> + '_>> = Box::pin(reads::<16_384>(socket));
    reading.await
}

/// Takes another future by value, as a wrapper does.
async fn wraps<T>(inner: impl Future<Output = T>) -> T {
    inner.await
}

fn size<F: Future>(_: F) -> usize {
    size_of::<F>()
}

#[derive(Args, Serialize)]
struct Nothing {}

struct FutureSizes(UnixStream);

impl Once for FutureSizes {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (socket, _) = runtime.block_on(async { UnixStream::pair() })?;
        Ok(Self(socket))
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        let socket = &mut self.0;
        let sizes = [
            ("empty_bytes", size(empty())),
            ("sleep_bytes", size(sleeps())),
            ("read_1_kib_bytes", size(reads::<1024>(socket))),
            ("read_16_kib_bytes", size(reads::<16_384>(socket))),
            ("read_into_heap_bytes", size(reads_into_the_heap(socket))),
            ("read_then_sleep_bytes", size(reads_then_sleeps(socket))),
            ("three_deep_bytes", size(serves(socket))),
            ("timeout_bytes", size(limited(socket))),
            ("boxed_bytes", size(boxed(socket))),
            ("wrapped_once_bytes", size(wraps(reads::<1024>(socket)))),
            ("wrapped_twice_bytes", size(wraps(wraps(reads::<1024>(socket))))),
        ];
        let measure = |(name, bytes): (&str, usize)| {
            (name.to_owned(), Measure { unit: "B".to_owned(), values: vec![bytes as f64] })
        };
        Ok(sizes.map(measure).into())
    }
}

fn main() -> ExitCode {
    harness::once::<FutureSizes>(harness::name!())
}
