//! One operation: one future made and measured, but never run: how large the futures of realistic stacks are.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Nothing, Placement, Report};
use memory::stacks::{
    self, boxed, empty, limited, reads, reads_into_the_heap, reads_then_sleeps, serves, sleeps, wraps,
};
use observation::Measure;
use tokio::net::UnixStream;

fn future_sizes(_: Nothing, _: Placement, report: Report) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut socket, _) = runtime.block_on(async { UnixStream::pair() })?;
    let socket = &mut socket;
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
    let measure =
        |(name, bytes): (&str, usize)| (name.to_owned(), Measure { unit: "B".to_owned(), values: vec![bytes as f64] });
    report.give(BTreeMap::from(sizes.map(measure)))
}

fn size<F: Future>(_: F) -> usize {
    size_of::<F>()
}

fn main() -> ExitCode {
    harness::once(harness::name!(), &stacks::MEASURES, future_sizes)
}
