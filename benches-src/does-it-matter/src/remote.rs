//! The load generator as a process of its own, told what to do by lines of JSON and answering with as many.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, ExitCode, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use harness::Placement;

use crate::generator::{Command, Generator, Load, Report};

/// How the program `load` is told to wait for commands.
const DIRECTED: &str = "directed";

/// A generator in a process of its own.
pub struct Remote {
    child: Child,
    commands: ChildStdin,
    reports: BufReader<ChildStdout>,
}

impl Remote {
    /// Starts `load`, which lies beside this program, at the place of participant 1.
    pub fn start(placement: Placement) -> Result<Self> {
        let mut child = beside("the load generator", "load", placement, |load| {
            load.arg(DIRECTED).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
        })?;
        let (commands, reports) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Ok(Self { child, commands, reports: BufReader::new(reports) })
    }

    fn ask(&mut self, command: &Command) -> Result<String> {
        writeln!(self.commands, "{}", serde_json::to_string(command)?)?;
        let mut line = String::new();
        self.reports.read_line(&mut line)?;
        Ok(line)
    }
}

impl Load for Remote {
    fn execute(&mut self, command: &Command) -> Result<Report> {
        match self.ask(command) {
            Ok(line) if !line.is_empty() => {
                let report: Result<Report, String> = serde_json::from_str(&line)?;
                report.map_err(|error| anyhow!("the load generator says: {error}"))
            }
            _ => bail!("the load generator ended ({}) before it had reported", self.child.wait()?),
        }
    }
}

/// Starts a program that lies beside this one at the place of participant 1: a process inherits the
/// place of the thread that starts it.
pub(crate) fn beside<S>(
    what: &str,
    name: &str,
    placement: Placement,
    start: impl FnOnce(&mut Process) -> io::Result<S>,
) -> Result<S> {
    let program = std::env::current_exe()?.with_file_name(name);
    placement.pin_participant(1)?;
    let started = start(&mut Process::new(&program));
    placement.pin_participant(0)?;
    started.with_context(|| format!("{what} {} cannot be started (cargo build --release --bins)", program.display()))
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What `load` does instead of its own `main` where a server has started it.
pub fn directed() -> Option<ExitCode> {
    std::env::args().nth(1).filter(|word| word == DIRECTED)?;
    Some(match obey() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    })
}

/// Commands until there are no more, or until one fails.
fn obey() -> Result<()> {
    let mut generator = Generator::new()?;
    for line in io::stdin().lines() {
        let report = generator.execute(&serde_json::from_str(&line?)?);
        let line: Result<&Report, String> = report.as_ref().map_err(|error| format!("{error:#}"));
        println!("{}", serde_json::to_string(&line)?);
        report?;
    }
    Ok(())
}
