//! A service in a process of its own, which says where it listens and is asked.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use does_it_matter::http;
use does_it_matter::order::Order;
use harness::monotonic_ns;

/// Such a process.
pub struct Service {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Service {
    /// Starts it, and returns when it has said where it listens.
    pub fn start(program: &Path) -> Result<Self> {
        let mut child = Command::new(program).stdout(Stdio::piped()).spawn().context("cannot start the service")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it is piped")?).read_line(&mut line)?;
        let address =
            line.trim().parse().with_context(|| format!("the service said {line:?} and not where it listens"));
        match address {
            Ok(address) => Ok(Self { child, address }),
            Err(error) => {
                // It may have ended by itself.
                let _ = child.kill();
                Err(error.context(format!("the service ended with {}", child.wait()?)))
            }
        }
    }

    /// The CPU time of its threads.
    pub fn cpu_ns(&self) -> Result<u64> {
        let mut all = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            // A thread may end while the list is read.
            let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
            all +=
                text.split(' ').next().unwrap_or_default().parse::<u64>().context("the kernel keeps no schedstat")?;
        }
        Ok(all)
    }

    /// Its resident memory, pages that are shared by their share.
    pub fn memory_bytes(&self) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.child.id()))?;
        let pss =
            text.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        Ok(pss.context("the kernel reports no Pss")? * 1024)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// From the start of a program until its first request was answered, in nanoseconds.
pub fn ns_until_answered(program: &Path, order: &Order) -> Result<u64> {
    let json = order.to_json();
    let (request, expected) = (http::request(&json), http::answer_to(&json));
    let body = expected.windows(4).position(|end| end == b"\r\n\r\n").context("an answer has a head")? + 4;
    let body = &expected[body..];
    let before = monotonic_ns();
    let service = Service::start(program)?;
    let mut stream = TcpStream::connect(service.address)?;
    stream.write_all(&request)?;
    let mut answer = Vec::new();
    let mut room = [0; 16 << 10];
    while !answer.ends_with(body) {
        let bytes = stream.read(&mut room)?;
        ensure!(bytes > 0, "the service answers otherwise: {}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&room[..bytes]);
    }
    Ok(monotonic_ns() - before)
}
