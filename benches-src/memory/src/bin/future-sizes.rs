//! One operation: one future made and measured, but never run: how large the futures of realistic stacks are.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Once, Placement};
use memory::stacks::{boxed, empty, limited, reads, reads_into_the_heap, reads_then_sleeps, serves, sleeps, wraps};
use observation::Measure;
use serde::Serialize;
use tokio::net::UnixStream;

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
