//! What a reader can vary of several programs alike.

use clap::Args;
use runtime::Flavor;
use serde::Serialize;

use crate::phases::Phases;

/// How long a request is.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Request {
    /// Bytes of JSON in a request
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub json_bytes: u32,
}

/// Clients that connect anew for each request.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Calling {
    /// Clients, each of which connects, asks once, and connects anew
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub clients: u32,
    /// What each asks.
    #[command(flatten)]
    #[serde(flatten)]
    pub request: Request,
}

/// A server under load: what can be varied of the load, and what of the server alone.
#[derive(Args, Serialize, Clone)]
pub struct Loaded<O: Args> {
    /// The load.
    #[command(flatten)]
    #[serde(flatten)]
    pub phases: Phases,
    /// Of the server alone.
    #[command(flatten)]
    #[serde(flatten)]
    pub own: O,
}

/// A server that listens in this process.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Listening {
    /// The port to listen on; 0 for any
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Serve whoever connects for so many seconds, and measure nothing; 0 to measure
    #[arg(long, default_value_t = 0)]
    pub serve_seconds: u64,
}

/// A server that has a thread for each connection.
#[derive(Args, Serialize, Clone, Copy)]
pub struct OnThreads {
    /// The stack of each connection's thread
    #[arg(long, default_value_t = 256 << 10)]
    pub stack_bytes: usize,
}

/// A server that has a tokio task for each connection.
#[derive(Args, Serialize, Clone, Copy)]
pub struct OnTokio {
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t = Flavor::Current)]
    pub runtime: Flavor,
}
