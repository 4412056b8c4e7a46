//! What all servers share: a server listens on a thread of this process, and the load generator is started beside it.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use harness::{Described, Findings, Placement, Report, Unavailable};
use resources::fields::{self, Fields};
use rustls::ServerConfig;
use serde::Serialize;

use crate::accepting;
use crate::generator::cpu_ns;
use crate::http::Answer;
use crate::measures::{SEEN_BY_CLIENTS, SEEN_INSIDE, SEEN_OF_SERVING};
use crate::parameters::{Listening, Loaded};
use crate::phases::{self, Watch};
use crate::remote::Remote;
use crate::tls::Identity;
use crate::{count, put};

/// A server under test: serves whoever connects, until the process ends. `O` is what a reader can vary of it alone.
pub type Serve<O> = fn(TcpListener, O, Shared) -> Result<()>;

/// The whole of a server's `main`.
pub fn main<O: Args + Serialize + Send + 'static>(name: &str, serve: Serve<O>) -> ExitCode {
    harness::once(name, &measures(), |parameters, placement, report| {
        refuse_one_cpu(placement)?;
        program(serve, parameters, placement, report, phases::doubt_a_busy_generator)
    })
}

/// The same for a server that does nothing with what comes. It shows how much load there can be, so that the generator has to be busy.
pub fn main_of_nothing<O: Args + Serialize + Send + 'static>(name: &str, serve: Serve<O>) -> ExitCode {
    harness::once(name, &measures(), |parameters: Parameters<O>, placement, report| {
        refuse_one_cpu(placement)?;
        if parameters.tls {
            return Err(Unavailable::because("a server that does nothing does not encrypt"));
        }
        program(serve, parameters, placement, report, |_, _| Ok(()))
    })
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

    /// The same of an answer that may be a refusal, which is not counted.
    #[inline]
    pub fn count(&self, answer: &Answer<'_>) {
        if answer.served {
            self.one();
        }
    }

    pub(crate) fn all(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The parameters of a server.
#[derive(Args, Serialize, Clone)]
pub struct Parameters<O: Args> {
    #[command(flatten)]
    #[serde(flatten)]
    loaded: Loaded<O>,
    /// Whether connections are encrypted, by TLS 1.3
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    tls: bool,
    #[command(flatten)]
    #[serde(flatten)]
    listening: Listening,
    /// A file to write the certificate to (DER) that clients of --tls have to trust
    #[arg(long)]
    #[serde(skip)]
    root: Option<PathBuf>,
}

/// What a server's program may report.
fn measures() -> Vec<Described> {
    [&SEEN_BY_CLIENTS[..], &SEEN_INSIDE, &SEEN_OF_SERVING].concat()
}

fn refuse_one_cpu(placement: Placement) -> Result<()> {
    if placement == Placement::OneCpu {
        return Err(Unavailable::because(
            "the load generator needs a CPU of its own, so that it is not the server that waits for it",
        ));
    }
    Ok(())
}

fn program<O: Args + Send + 'static>(
    serve: Serve<O>,
    parameters: Parameters<O>,
    placement: Placement,
    report: Report,
    doubt: impl FnOnce(&mut Findings, bool) -> Result<()>,
) -> Result<()> {
    let Parameters { loaded: Loaded { phases, own }, tls, listening, root } = parameters;
    ensure!(tls || root.is_none(), "--root writes a certificate, which needs --tls true");
    placement.pin_participant(0)?;
    let identity = tls.then(Identity::new).transpose()?;
    if let (Some(file), Some(identity)) = (&root, &identity) {
        // Before it listens: whoever can connect can read it.
        fs::write(file, identity.root()).with_context(|| format!("cannot write {}", file.display()))?;
    }
    let listener = listening.bind()?;
    let (address, answered) = (listener.local_addr()?, Answered::default());
    let tls = identity.as_ref().map(Identity::server_config).transpose()?;
    let json_bytes = phases.request.json_bytes as usize;
    let shared = Shared { placement, answered: answered.clone(), json_bytes, tls };
    let serve = move || serve(listener, own, shared);
    report.give(listening.measure(serve, &answered, || {
        resources::reserve_connections((phases.connections + phases.idle) as usize)?;
        let root = identity.as_ref().map(|identity| identity.root().to_vec());
        let mut found = phases::run(&mut Remote::start(placement)?, &answered, &phases, address, root)?;
        doubt(&mut found, phases.load_spins)?;
        Ok(found)
    })?)
}

impl Listening {
    /// Listens there.
    pub(crate) fn bind(self) -> Result<TcpListener> {
        self.bind_by(|port| TcpListener::bind(("127.0.0.1", port)))
    }

    /// Listens there in some way. The error names the port.
    pub(crate) fn bind_by(self, listen: impl FnOnce(u16) -> io::Result<TcpListener>) -> Result<TcpListener> {
        let port = self.port;
        listen(port).with_context(|| format!("cannot listen on port {port} (another can be given by --port)"))
    }

    /// Measures a server, which runs on a thread of this process, or else lets it serve for as long
    /// as it was asked to, and counts its answers.
    pub(crate) fn measure(
        self,
        serve: impl FnOnce() -> Result<()> + Send + 'static,
        answered: &Answered,
        measured: impl FnOnce() -> Result<Findings>,
    ) -> Result<Findings> {
        // Nothing is ever sent. The server's thread drops its end, whatever ends it.
        let (ends, ended) = mpsc::channel::<()>();
        let server = thread::spawn(move || {
            let _ends = ends;
            serve()
        });
        let found = if self.serve_seconds == 0 { measured() } else { Ok(Findings::default()) };
        if ended.recv_timeout(Duration::from_secs(self.serve_seconds)) == Err(RecvTimeoutError::Disconnected) {
            return Err(why_it_ended(server));
        }
        let lacked = accepting::lacked().map(|lacked| format!("connections waited or were closed: {lacked}"));
        let mut found = match lacked.clone() {
            Some(lacked) => found.context(lacked)?,
            None => found?,
        };
        found.doubts.extend(lacked);
        if self.serve_seconds > 0 {
            put(&mut found, "answered", count(answered.all() as f64));
        }
        Ok(found)
    }
}

/// No server ends on its own account unless it cannot go on.
fn why_it_ended(server: JoinHandle<Result<()>>) -> anyhow::Error {
    match server.join() {
        Ok(Ok(())) => anyhow!("the server ended"),
        Ok(Err(error)) => error.context("the server ended"),
        Err(_) => anyhow!("the server panicked"),
    }
}

/// Has glibc's allocator divide the threads between at most so many arenas; 0 for as many as it likes. Any other allocator has none.
pub fn limit_arenas(most: i32) {
    #[cfg(target_env = "gnu")]
    if most > 0 {
        // SAFETY: it takes two numbers, and the allocator's own lock while it uses them.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, most) };
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
            let Ok(status) = Fields::of(format!("{}/status", thread?.path().display())) else { continue };
            all += status.number("voluntary_ctxt_switches")? + status.number("nonvoluntary_ctxt_switches")?;
        }
        Ok(Some(all))
    }

    fn memory_bytes(&self) -> Result<Option<u64>> {
        fields::memory_bytes("self").map(Some)
    }
}
