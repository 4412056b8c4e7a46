//! A service in a process of its own, which says where it listens and is asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use does_it_matter::http;
use does_it_matter::order::Order;

/// Such a process.
pub struct Service {
    /// The process itself.
    pub child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

/// Longer than any of them needs for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

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

    /// Asks, and returns when that came back which should, and nothing else.
    pub fn answer(&self, asked: &Asked) -> Result<()> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(&asked.request)?;
        let mut answer = Vec::new();
        let mut room = [0; 16 << 10];
        while !answer.ends_with(&asked.body) {
            let otherwise = || format!("the service answers otherwise: {}", String::from_utf8_lossy(&answer));
            let bytes = stream.read(&mut room).with_context(otherwise)?;
            ensure!(bytes > 0, "{}", otherwise());
            answer.extend_from_slice(&room[..bytes]);
        }
        Ok(())
    }
}

/// A request, and the body of the answer to it.
pub struct Asked {
    request: Vec<u8>,
    body: Vec<u8>,
}

impl Asked {
    /// To add up an order of so many bytes of JSON.
    pub fn of_bytes(json_bytes: usize) -> Result<Self> {
        let json = Order::of_bytes(1, json_bytes).to_json();
        let answer = http::answer_to(&json);
        let head = answer.windows(4).position(|end| end == b"\r\n\r\n").context("an answer has a head")?;
        Ok(Self { request: http::request(&json), body: answer[head + 4..].to_vec() })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
