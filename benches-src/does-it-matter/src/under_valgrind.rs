//! A server under valgrind's callgrind, which counts the instructions that it runs in user space.

use std::io::{self, BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use harness::Unavailable;
use resources::tool::number_after;
use rustix::process::{Pid, Signal, kill_process};

/// Such a process.
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts a server that listens where it is told, by `--port`; returns when it does.
    pub fn told(program: &Path, flags: &[&str]) -> Result<Self> {
        // Nobody listens there now, and hardly anybody will before the server does.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let port = address.port().to_string();
        let mut server = Self { child: spawn(program, &[&["--port", &port], flags].concat())?, address };
        while TcpStream::connect(address).is_err() {
            ensure!(server.child.try_wait()?.is_none(), "{} ended before it listened", program.display());
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Starts one that listens anywhere and says where, in its first line.
    pub fn asked(program: &Path) -> Result<Self> {
        let mut child = spawn(program, &[])?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it is piped")?).read_line(&mut line)?;
        match line.trim().parse() {
            Ok(address) => Ok(Self { child, address }),
            Err(error) => {
                // It may have ended by itself.
                let _ = child.kill();
                child.wait()?;
                Err(error).with_context(|| format!("the service said {line:?} and not where it listens"))
            }
        }
    }

    /// Ends it; the instructions that it has run from its start on.
    pub fn instructions(mut self) -> Result<f64> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let mut said = String::new();
        self.child.stderr.take().context("it is piped")?.read_to_string(&mut said)?;
        number_after("Collected :", &said)
    }
}

fn spawn(program: &Path, flags: &[&str]) -> Result<Child> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).args(flags);
    match command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Unavailable::because("valgrind is not installed; on Debian: apt-get install valgrind"))
        }
        child => child.context("cannot start valgrind"),
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
