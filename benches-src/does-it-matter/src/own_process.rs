//! A service in a process of its own, which says where it listens and is asked.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use resources::fields;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::time::Timespec;

use crate::http;
use crate::order::Order;
use crate::phases::Watch;

/// Such a process. It ends with this.
pub struct Service {
    /// The process itself.
    pub child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

/// Longer than any of them needs for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longer than any of them needs to listen, under valgrind too.
pub(crate) const PATIENCE_AT_THE_START: Duration = Duration::from_secs(60);

impl Service {
    /// Starts it, and returns when it has said where it listens, in its first line.
    pub fn start(command: Command) -> Result<Self> {
        Self::start_within(command, PATIENCE_AT_THE_START)
    }

    fn start_within(mut command: Command, patience: Duration) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the service")?;
        let output = child.stdout.take().context("it is piped")?;
        let address = first_line(output, patience).and_then(|line| {
            line.trim_end().parse().with_context(|| format!("the service said {line:?} and not where it listens"))
        });
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
        self.answer_within(asked, PATIENCE)
    }

    fn answer_within(&self, asked: &Asked, patience: Duration) -> Result<()> {
        let end = Instant::now() + patience;
        let mut stream = TcpStream::connect_timeout(&self.address, patience)?;
        stream.set_write_timeout(Some(patience))?;
        stream.write_all(&asked.request)?;
        let mut answer = Vec::new();
        let mut room = [0; 16 << 10];
        while !answer.ends_with(&asked.body) {
            let otherwise = || format!("the service answers otherwise: {}", String::from_utf8_lossy(&answer));
            let left = end.saturating_duration_since(Instant::now());
            // To wait for no time at all would be to wait for ever.
            ensure!(!left.is_zero(), "{}", otherwise());
            stream.set_read_timeout(Some(left))?;
            let bytes = stream.read(&mut room).with_context(otherwise)?;
            ensure!(bytes > 0, "{}", otherwise());
            answer.extend_from_slice(&room[..bytes]);
        }
        Ok(())
    }
}

/// What comes up to the end of a line, or of all.
fn first_line(mut output: ChildStdout, patience: Duration) -> Result<String> {
    let end = Instant::now() + patience;
    let (mut said, mut room) = (Vec::new(), [0; 64]);
    while !said.contains(&b'\n') {
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now()))?;
        let ready = retry_on_intr(|| poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&left)))?;
        ensure!(ready > 0, "the service has not said where it listens in {patience:?}");
        match output.read(&mut room)? {
            0 => break,
            bytes => said.extend_from_slice(&room[..bytes]),
        }
    }
    Ok(String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned())
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

/// How many it has answered, it does not say.
impl Watch for Service {
    fn memory_bytes(&self) -> Result<Option<u64>> {
        fields::memory_bytes(&self.child.id().to_string()).map(Some)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const SOON: Duration = Duration::from_millis(200);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_service_says_where_it_listens_whatever_it_does_then() {
        let service = Service::start_within(shell("echo 127.0.0.1:80; exec sleep 30"), SOON * 10).unwrap();
        assert_eq!(service.address, SocketAddr::from(([127, 0, 0, 1], 80)));
    }

    #[test]
    fn a_service_that_never_says_where_it_listens_is_not_waited_for() {
        for script in ["exec sleep 30", "printf 127.0.0.1; exec sleep 30"] {
            let error = format!("{:#}", Service::start_within(shell(script), SOON).err().unwrap());
            assert!(error.contains("has not said where it listens in 200ms"), "{error}");
        }
    }

    #[test]
    fn an_answer_that_never_ends_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let endless = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while stream.write_all(b"x").is_ok() {
                thread::sleep(SOON / 20);
            }
        });
        let service = Service { child: shell("exec sleep 30").spawn().unwrap(), address };
        let error = service.answer_within(&Asked::of_bytes(100).unwrap(), SOON).unwrap_err();
        assert!(format!("{error:#}").contains("the service answers otherwise: xx"), "{error:#}");
        endless.join().unwrap();
    }
}
