//! Servers that lack something: what passes, or ails one connection, ends none of them, and one
//! that cannot go on says so.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::running::{Running, soon};
use crate::support::run;
use does_it_matter::http::{answer_to, request};
use does_it_matter::order::Order;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use socket2::SockRef;

const THREAD: &str = env!("CARGO_BIN_EXE_serve-thread");
/// They wait for connections on a thread or in a task, and open nothing else.
const ALONE: [&str; 10] = [
    THREAD,
    env!("CARGO_BIN_EXE_serve-tokio"),
    env!("CARGO_BIN_EXE_serve-tokio-plain"),
    env!("CARGO_BIN_EXE_brief-thread"),
    env!("CARGO_BIN_EXE_brief-tokio"),
    env!("CARGO_BIN_EXE_brief-pool"),
    env!("CARGO_BIN_EXE_spread-thread"),
    env!("CARGO_BIN_EXE_spread-tokio"),
    env!("CARGO_BIN_EXE_spread-runtimes"),
    env!("CARGO_BIN_EXE_spread-monoio"),
];
/// For a request they connect to another service themselves.
const ASKING: [&str; 3] =
    [env!("CARGO_BIN_EXE_ask-thread"), env!("CARGO_BIN_EXE_ask-tokio"), env!("CARGO_BIN_EXE_ask-pool")];

/// An order as serve-nothing expects it, whose answers are all the same.
fn order() -> Vec<u8> {
    Order::of_bytes(1, 5000).to_json()
}

fn started_within(limits: &str, program: &str) -> Running {
    let few: &[&str] = if program.contains("brief") { &[] } else { &["--connections", "5"] };
    Running::start_within(limits, program, few)
}

#[test]
fn without_descriptors_connections_wait_and_are_accepted_when_others_have_left() {
    for program in ALONE.iter().chain(&ASKING) {
        let mut server = started_within("ulimit -n 50", program);
        let mut first = server.connect();
        answers(&mut first).expect(program);
        let more: Vec<_> = (0..90).map(|_| server.connect()).collect();
        let pool = program.ends_with("brief-pool");
        soon(&format!("{program} has descriptors left"), || pool || server.numbers().len() >= 50);
        let before = server.cpu_time();
        std::thread::sleep(Duration::from_millis(400));
        let busy = server.cpu_time() - before;
        assert!(busy < Duration::from_millis(200), "{program} was busy for {busy:?} with waiting");
        if ALONE.contains(program) {
            answers(&mut first).expect(program);
        }
        drop((first, more));
        soon(&format!("{program} answers nobody who comes later"), || answers(&mut server.connect()).is_ok());
        assert_eq!(server.child.try_wait().unwrap(), None, "{program} has ended");
    }
}

#[test]
fn a_thread_that_cannot_be_started_closes_one_connection_and_its_measurement_says_why() {
    // Address space for three such stacks.
    let (limits, large) = ("ulimit -v 4000000", ["--stack-bytes", "1073741824"]);
    for program in [THREAD, ASKING[0], env!("CARGO_BIN_EXE_brief-thread")] {
        let server = Running::start_within(limits, program, &large);
        let mut first = server.connect();
        answers(&mut first).expect(program);
        let mut more: Vec<_> = (0..6).map(|_| server.connect()).collect();
        match more.last_mut().unwrap().read(&mut [0]) {
            Ok(bytes) => assert_eq!(bytes, 0, "{program}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{program} had room for seven stacks"),
        }
        answers(&mut first).expect(program);
        drop((first, more));
        soon(&format!("{program} answers nobody who comes later"), || answers(&mut server.connect()).is_ok());
    }
    let measured = format!("{limits}; exec {THREAD} {} --connections 9 --milliseconds 40", large.join(" "));
    let output = run(&["sh"], &["-c", &measured]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(error.contains("connections waited or were closed: Resource temporarily unavailable"), "{error}");
}

#[test]
fn a_server_that_cannot_accept_any_more_fails_and_says_so() {
    for program in ALONE.iter().chain(&ASKING) {
        let mut server = started_within("ulimit -n 60", program);
        answers(&mut server.connect()).expect(program);
        server.shut_the_listener_down();
        soon(&format!("{program} goes on"), || server.child.try_wait().unwrap().is_some());
        let mut error = String::new();
        server.child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!(server.child.wait().unwrap().code(), Some(1), "{program}: {error}");
        assert!(error.contains("the server ended: Invalid argument"), "{program}: {error}");
    }
}

/// Whether an order is answered as it should be.
fn answers(stream: &mut TcpStream) -> io::Result<()> {
    let json = order();
    stream.write_all(&request(&json))?;
    let mut answer = vec![0; answer_to(&json).len()];
    stream.read_exact(&mut answer)?;
    if answer == answer_to(&json) { Ok(()) } else { Err(io::Error::other("it is another answer")) }
}

impl Running {
    fn of_its_own(&self, path: &str) -> String {
        format!("/proc/{}/{path}", self.child.id())
    }

    /// Of its descriptors.
    fn numbers(&self) -> Vec<i32> {
        let names = fs::read_dir(self.of_its_own("fd")).unwrap();
        names.map(|name| name.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect()
    }

    /// Of all its threads, those among them that have ended.
    fn cpu_time(&self) -> Duration {
        let stat = fs::read_to_string(self.of_its_own("stat")).unwrap();
        // What comes before is the program's name, which may have anything in it.
        let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        Duration::from_secs(ticks) / clock_ticks_per_second() as u32
    }

    /// As if the server itself had done it: its descriptor of the socket is borrowed.
    fn shut_the_listener_down(&self) {
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()).unwrap();
        let borrowed = |number| pidfd_getfd(&process, number, PidfdGetfdFlags::empty());
        for socket in self.numbers().into_iter().filter_map(|number| borrowed(number).ok()) {
            let socket = SockRef::from(&socket);
            let address = socket.local_addr().ok().and_then(|address| address.as_socket());
            if socket.is_listener().unwrap_or(false) && address.is_some_and(|own| own.port() == self.port) {
                socket.shutdown(Shutdown::Both).unwrap();
                return;
            }
        }
        panic!(
            "no descriptor of a listener could be borrowed, which sandboxes and kernel.yama.ptrace_scope may forbid"
        );
    }
}
