//! Servers that run while a test speaks to them.

// Not every file of tests needs all of it.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use does_it_matter::http::{answer_to, request};
use observation::Observation;

use crate::support::{run, seen};

/// Longer than anything here should take, and shorter than the patience of the load generator.
pub const SOON: Duration = Duration::from_secs(4);

/// A server that serves whoever connects, until it is dropped.
pub struct Running {
    /// Its process.
    pub child: Child,
    /// Where it listens.
    pub port: u16,
}

/// A port on which nobody listens, below those that the kernel gives to whoever connects: from one of those a connection can be made to
/// itself. It is not tried by listening there: a program that another test starts at this moment has the listener too, until its own
/// code begins, and would be taken for the server.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(21_000);
    loop {
        let port = NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpStream::connect(("127.0.0.1", port)).is_err() {
            return port;
        }
    }
}

/// Looks until something is so.
pub fn soon(otherwise: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < SOON, "{otherwise}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Each of these programs with a server that it is, one after the other.
pub fn each<'a>(programs: &'a [&'a str]) -> impl Iterator<Item = (&'a str, Running)> {
    programs.iter().map(|program| (*program, Running::start(program)))
}

/// What a program sees, or why it sees nothing, where it may open 60 descriptors.
pub fn with_few_descriptors(program: &str, flags: &str) -> Observation {
    seen(run(&["sh"], &["-c", &format!("ulimit -n 60; exec {program} {flags} --json")]))
}

impl Running {
    pub fn start(program: &str) -> Self {
        Self::start_with(program, &[])
    }

    pub fn start_with(program: &str, further: &[&str]) -> Self {
        Self::start_by(&mut Command::new(program), program, further)
    }

    /// The same within limits, which the words of a shell set before.
    pub fn start_within(limits: &str, program: &str, further: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limits}; exec {program} \"$@\""), "sh"]).stderr(Stdio::piped());
        Self::start_by(&mut shell, program, further)
    }

    fn start_by(command: &mut Command, program: &str, further: &[&str]) -> Self {
        let port = free_port();
        let flags = ["--port", &port.to_string(), "--serve-seconds", "60", "--quiet"];
        let mut child = command.args(flags).args(further).spawn().unwrap();
        soon(&format!("{program} does not listen"), || {
            assert_eq!(child.try_wait().unwrap(), None, "{program} has ended");
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Self { child, port }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream
    }

    /// What comes back for these bytes until the server closes the connection.
    pub fn refusal(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the connection is closed after the answer");
        answer
    }

    pub fn answers(&self, stream: &mut TcpStream, json: &[u8]) {
        stream.write_all(&request(json)).unwrap();
        self.has_answered(stream, json);
    }

    pub fn has_answered(&self, stream: &mut TcpStream, json: &[u8]) {
        let wanted = answer_to(json);
        let mut answer = vec![0; wanted.len()];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), String::from_utf8_lossy(&wanted));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub fn ends_soon(mut child: Child) -> Output {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > SOON {
            child.kill().unwrap();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}
