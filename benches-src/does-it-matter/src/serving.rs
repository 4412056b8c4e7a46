//! What all servers share: a server listens on a thread of this process, and the load generator is started beside it.

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use harness::{Once, Placement, Unavailable};
use observation::Measure;
use rustls::ServerConfig;
use serde::Serialize;

use crate::count;
use crate::generator::cpu_ns;
use crate::phases::{self, Phases, Results, Watch};
use crate::remote::Remote;
use crate::tls::Identity;

/// A server under test.
pub trait Serve: 'static {
    /// What a reader can vary of it alone.
    type Own: Args + Serialize + Clone + Send;

    /// Whether it is there to show how much load there can be, so that the load generator has to be busy.
    const SHOWS_THE_GENERATOR: bool = false;

    /// Serves whoever connects, until the process ends.
    fn serve(listener: TcpListener, own: Self::Own, shared: Shared) -> Result<()>;
}

/// What every server is given.
#[derive(Clone)]
pub struct Shared {
    /// Where its threads may run.
    pub placement: Placement,
    /// The requests it has answered.
    pub answered: Answered,
    /// Bytes of JSON in a request.
    pub json_bytes: usize,
    /// How to shake hands, if connections are not plain.
    pub tls: Option<Arc<ServerConfig>>,
}

/// A count of answers.
#[derive(Clone, Default)]
pub struct Answered(Arc<AtomicU64>);

impl Answered {
    /// One more is about to be written. It is counted before, so that whoever has read an answer finds it counted.
    pub fn one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn all(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The parameters of a server.
#[derive(Args, Serialize, Clone)]
pub struct Parameters<O: Args> {
    #[command(flatten)]
    #[serde(flatten)]
    phases: Phases,
    #[command(flatten)]
    #[serde(flatten)]
    own: O,
    /// Whether connections are encrypted, by TLS 1.3
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    tls: bool,
    /// The port to listen on; 0 for any
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Serve whoever connects for so many seconds, and measure nothing; 0 to measure
    #[arg(long, default_value_t = 0)]
    serve_seconds: u64,
    /// A file to write the certificate to (DER) that clients of --tls have to trust
    #[arg(long)]
    #[serde(skip)]
    root: Option<PathBuf>,
}

/// A server that listens, before anybody has connected.
pub struct Server<S: Serve> {
    parameters: Parameters<S::Own>,
    placement: Placement,
    address: SocketAddr,
    answered: Answered,
    identity: Option<Identity>,
    thread: Option<JoinHandle<Result<()>>>,
    results: Results,
}

impl<S: Serve> Once for Server<S> {
    type Parameters = Parameters<S::Own>;

    fn set_up(parameters: &Self::Parameters, placement: Placement) -> Result<Self> {
        if placement == Placement::OneCpu {
            return Err(Unavailable::because(
                "the load generator needs a CPU of its own, so that it is not the server that waits for it",
            ));
        }
        if parameters.tls && S::SHOWS_THE_GENERATOR {
            return Err(Unavailable::because("a server that does nothing does not encrypt"));
        }
        ensure!(parameters.tls || parameters.root.is_none(), "--root writes a certificate, which needs --tls true");
        placement.pin_participant(0)?;
        let identity = parameters.tls.then(Identity::new).transpose()?;
        if let (Some(file), Some(identity)) = (&parameters.root, &identity) {
            // Before it listens: whoever can connect can read it.
            fs::write(file, identity.root()).with_context(|| format!("cannot write {}", file.display()))?;
        }
        let port = parameters.port;
        let listener = TcpListener::bind(("127.0.0.1", port))
            .with_context(|| format!("cannot listen on port {port} (another can be given by --port)"))?;
        let address = listener.local_addr()?;
        let answered = Answered::default();
        let json_bytes = parameters.phases.json_bytes as usize;
        let tls = identity.as_ref().map(Identity::server_config).transpose()?;
        let (own, shared) = (parameters.own.clone(), Shared { placement, answered: answered.clone(), json_bytes, tls });
        let thread = Some(thread::spawn(move || S::serve(listener, own, shared)));
        Ok(Self {
            parameters: parameters.clone(),
            placement,
            address,
            answered,
            identity,
            thread,
            results: Results::default(),
        })
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        if self.parameters.serve_seconds > 0 {
            thread::sleep(Duration::from_secs(self.parameters.serve_seconds));
            return Ok([("answered".to_owned(), count(self.answered.all() as f64))].into());
        }
        let mut load = Remote::start(self.placement)?;
        let root = self.identity.as_ref().map(|identity| identity.root().to_vec());
        let ran = phases::run(&mut load, &self.answered, &self.parameters.phases, self.address, root);
        self.results = ran.map_err(|error| self.explain(error))?;
        if !S::SHOWS_THE_GENERATOR {
            self.results.doubt_a_busy_generator()?;
        }
        Ok(self.results.measures.clone())
    }

    fn doubts(&self) -> Vec<String> {
        self.results.doubts.clone()
    }

    fn unavailable(&self) -> BTreeMap<String, String> {
        self.results.unavailable.clone()
    }
}

impl<S: Serve> Server<S> {
    /// Where the server itself has ended, that is the reason.
    fn explain(&mut self, error: anyhow::Error) -> anyhow::Error {
        match self.thread.take_if(|thread| thread.is_finished()).map(JoinHandle::join) {
            None => error,
            Some(Ok(Ok(()))) => error.context("the server ended"),
            Some(Ok(Err(own))) => own.context("the server ended"),
            Some(Err(_)) => anyhow!("the server panicked"),
        }
    }
}

impl Watch for Answered {
    fn used(&self) -> Option<(u64, u64)> {
        Some((self.all(), cpu_ns()))
    }

    fn switches(&self) -> Result<Option<u64>> {
        let mut all = 0;
        for thread in fs::read_dir("/proc/self/task")? {
            // A thread may end while the list is read.
            let Ok(status) = fs::read_to_string(thread?.path().join("status")) else { continue };
            all += field(&status, "voluntary_ctxt_switches")? + field(&status, "nonvoluntary_ctxt_switches")?;
        }
        Ok(Some(all))
    }

    fn memory_bytes(&self) -> Result<Option<u64>> {
        let resident = field(&fs::read_to_string("/proc/self/smaps_rollup")?, "Pss")?;
        let page_tables = field(&fs::read_to_string("/proc/self/status")?, "VmPTE")?;
        Ok(Some((resident + page_tables) * 1024))
    }
}

/// The number of a line such as `Pss:   12 kB`.
fn field(text: &str, name: &str) -> Result<u64> {
    let of = |line: &str| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next()?.parse().ok();
    text.lines().find_map(of).with_context(|| format!("the kernel reports no {name}"))
}

/// The whole of a program's `main`.
pub fn main<S: Serve>(name: &str) -> ExitCode {
    harness::once::<Server<S>>(name)
}
