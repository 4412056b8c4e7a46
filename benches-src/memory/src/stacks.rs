//! Realistic stacks of async calls, whose futures are measured and never run.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use harness::{Described, described};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

/// What their sizes are called.
pub const MEASURES: [Described; 11] = [
    described("empty_bytes", "B", "the size of a future that does nothing"),
    described("sleep_bytes", "B", "of one that waits for a timer"),
    described("read_1_kib_bytes", "B", "of one that reads into a buffer of 1 KiB of its own"),
    described("read_16_kib_bytes", "B", "of one that reads into a buffer of 16 KiB of its own"),
    described("read_into_heap_bytes", "B", "of one that reads into a buffer of 16 KiB on the heap"),
    described("read_then_sleep_bytes", "B", "of one that reads into 1 KiB, is done with it, and waits for a timer"),
    described("three_deep_bytes", "B", "of one that calls another, which reads into 1 KiB"),
    described("timeout_bytes", "B", "of one that reads into 1 KiB with a timeout around it"),
    described("boxed_bytes", "B", "of one that reads into 16 KiB with a box around it"),
    described("wrapped_once_bytes", "B", "of one that reads into 1 KiB, taken by value by another"),
    described("wrapped_twice_bytes", "B", "of the same taken by value by a third"),
];

const SECOND: Duration = Duration::from_secs(1);

/// Does nothing.
pub async fn empty() {}

/// Waits for a timer.
pub async fn sleeps() {
    sleep(SECOND).await;
}

/// Reads into a buffer of its own.
pub async fn reads<const BYTES: usize>(socket: &mut UnixStream) -> io::Result<usize> {
    let mut buffer = [0; BYTES];
    socket.read(&mut buffer).await
}

/// The same with the buffer on the heap.
pub async fn reads_into_the_heap(socket: &mut UnixStream) -> io::Result<usize> {
    let mut buffer = vec![0; 16_384];
    socket.read(&mut buffer).await
}

/// The buffer is gone when the second await comes, so that the timer may have its place.
pub async fn reads_then_sleeps(socket: &mut UnixStream) -> io::Result<()> {
    {
        let mut buffer = [0; 1024];
        socket.read_exact(&mut buffer).await?;
    }
    sleep(SECOND).await;
    Ok(())
}

/// Three calls deep, each with a little of its own that it needs afterwards.
pub async fn serves(socket: &mut UnixStream) -> io::Result<usize> {
    let served: [usize; 4] = [0; 4];
    let answered = answers(socket).await?;
    Ok(answered + served.iter().sum::<usize>())
}

async fn answers(socket: &mut UnixStream) -> io::Result<usize> {
    let head = [0; 64];
    let bytes = reads::<1024>(socket).await?;
    socket.write_all(&head).await?;
    Ok(bytes)
}

/// With a timeout around it.
pub async fn limited(socket: &mut UnixStream) -> io::Result<usize> {
    timeout(SECOND, reads::<1024>(socket)).await?
}

/// With a box around it.
pub async fn boxed(socket: &mut UnixStream) -> io::Result<usize> {
    let reading: Pin<Box<dyn Future<Output = io::Result<usize>> + '_>> = Box::pin(reads::<16_384>(socket));
    reading.await
}

/// Takes another future by value, as a wrapper does.
pub async fn wraps<T>(inner: impl Future<Output = T>) -> T {
    inner.await
}
