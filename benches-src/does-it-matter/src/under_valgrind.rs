//! A server under valgrind's callgrind, which counts the instructions that it runs in user space.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use resources::tool::{first_of, number_after};
use rustix::process::{Pid, Signal, kill_process};

use crate::own_process::{PATIENCE_AT_THE_START, Service};

/// What starts such a process.
pub fn command(program: &Path) -> Result<Command> {
    let valgrind = first_of(&["valgrind"], "valgrind is not installed; on Debian: apt-get install valgrind")?;
    let mut command = Command::new(valgrind);
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    Ok(command)
}

/// Starts a server that listens where it is told, by `--port`; returns when it does.
pub fn told(program: &Path, flags: &[&str]) -> Result<Service> {
    // Nobody listens there now, and hardly anybody will before the server does.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut command = command(program)?;
    command.args(["--port", &address.port().to_string()]).args(flags);
    let mut server = Service { child: command.spawn().context("cannot start valgrind")?, address };
    let end = Instant::now() + PATIENCE_AT_THE_START;
    while TcpStream::connect(address).is_err() {
        ensure!(server.child.try_wait()?.is_none(), "{} ended before it listened", program.display());
        ensure!(Instant::now() < end, "{} does not listen", program.display());
        thread::sleep(Duration::from_millis(20));
    }
    Ok(server)
}

/// Ends it; the instructions that it has run from its start on.
pub fn instructions(mut server: Service) -> Result<f64> {
    kill_process(Pid::from_child(&server.child), Signal::TERM)?;
    let mut said = String::new();
    server.child.stderr.take().context("it is piped")?.read_to_string(&mut said)?;
    number_after("Collected :", &said)
}
