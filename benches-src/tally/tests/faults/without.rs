//! A command on a machine that lacks something: a system call that a filter refuses, as a service
//! manager's or a sandbox's does, or files of /proc and /sys. Nobody needs privileges for that.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use regex::Regex;
use syscalls::{Errno, Sysno, syscall};

/// What a machine lacks.
#[derive(Clone)]
pub enum Lacking {
    /// It is refused with EPERM.
    Call(Sysno),
    /// They are not there. All that are asked for are noted down, and the path of one of them is
    /// matched from its beginning.
    Files(Regex),
}

/// What became of a command, and which files below /proc and /sys it and what it started asked for
/// in vain.
pub struct Ran {
    pub output: Output,
    pub missed: BTreeSet<String>,
    pub asked: BTreeSet<String>,
}

/// Runs a command to its end on a machine that lacks this; none where the kernel allows no such
/// filter.
pub fn run(lacking: &Lacking, mut command: Command) -> io::Result<Ran> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match lacking {
        Lacking::Call(call) => {
            let filter = filter(&[(*call, ERRNO | Errno::EPERM.into_raw() as u32)]);
            // SAFETY: between fork and exec it makes two system calls, and allocates nothing.
            unsafe { command.pre_exec(move || install(&filter, 0).map(drop)) };
            Ok(Ran { output: command.output()?, missed: BTreeSet::new(), asked: BTreeSet::new() })
        }
        Lacking::Files(files) => {
            let (send, receive) = mpsc::channel();
            // A filter is a thread's and its children's, and what it lets decide is decided by
            // another thread.
            let running = thread::spawn(move || {
                let opening = opening();
                let filter = filter(&opening.iter().map(|(call, _)| (*call, NOTIFY)).collect::<Vec<_>>());
                // SAFETY: the kernel has just opened it, and nobody else knows it.
                let listener = install(&filter, NEW_LISTENER).map(|fd| unsafe { OwnedFd::from_raw_fd(fd as i32) });
                let is_there = listener.is_ok();
                send.send(listener).expect("it is waited for");
                if is_there { command.output() } else { Err(io::Error::other("no filter")) }
            });
            let listener = receive.recv().expect("it is sent")?;
            let [missed, asked] = serve(&listener, files, || running.is_finished())?;
            Ok(Ran { output: running.join().expect("it cannot panic")?, missed, asked })
        }
    }
}

/// The calls that look for a file by its path, and which argument that is.
fn opening() -> Vec<(Sysno, usize)> {
    let named = |name: &str, place| Some((name.parse::<Sysno>().ok()?, place));
    let paths = ["open", "stat", "lstat", "readlink", "access", "execve"].iter().filter_map(|name| named(name, 0));
    let below = ["openat", "openat2", "statx", "newfstatat", "readlinkat", "faccessat", "faccessat2"];
    paths.chain(below.iter().filter_map(|name| named(name, 1))).collect()
}

// The kernel's own words: linux/filter.h, linux/seccomp.h

#[repr(C)]
#[derive(Clone, Copy)]
struct Instruction {
    code: u16,
    if_so: u8,
    if_not: u8,
    operand: u32,
}

#[repr(C)]
struct Program {
    length: u16,
    instructions: *const Instruction,
}

const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;
const NOTIFY: u32 = 0x7fc0_0000;
const NEW_LISTENER: usize = 8;

fn filter(decisions: &[(Sysno, u32)]) -> Vec<Instruction> {
    const LOAD: u16 = 0x20;
    const IS_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let plain = |code, operand| Instruction { code, if_so: 0, if_not: 0, operand };
    let each = |(call, decision): &(Sysno, u32)| {
        [Instruction { code: IS_EQUAL, if_so: 0, if_not: 1, operand: call.id() as u32 }, plain(RETURN, *decision)]
    };
    [plain(LOAD, 0)].into_iter().chain(decisions.iter().flat_map(each)).chain([plain(RETURN, ALLOW)]).collect()
}

/// Has the calling thread filtered, and says the descriptor of who decides, if there is one.
fn install(filter: &[Instruction], flags: usize) -> io::Result<usize> {
    const NO_NEW_PRIVILEGES: usize = 38;
    const SET_FILTER: usize = 1;
    let program = Program { length: filter.len() as u16, instructions: filter.as_ptr() };
    // SAFETY: the kernel copies the program, which lives until the call has returned.
    unsafe {
        syscall!(Sysno::prctl, NO_NEW_PRIVILEGES, 1, 0, 0, 0)?;
        Ok(syscall!(Sysno::seccomp, SET_FILTER, flags, &raw const program)?)
    }
}

#[repr(C)]
#[derive(Default)]
struct Asked {
    id: u64,
    process: u32,
    flags: u32,
    call: i32,
    architecture: u32,
    instruction: u64,
    arguments: [u64; 6],
}

#[repr(C)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// Decides of each file that is asked for, until it is over.
fn serve(listener: &OwnedFd, files: &Regex, is_over: impl Fn() -> bool) -> io::Result<[BTreeSet<String>; 2]> {
    const RECEIVE: usize = 0xc050_2100;
    const SEND: usize = 0xc018_2101;
    const GO_ON: u32 = 1;
    let opening = opening();
    let [mut missed, mut all] = [BTreeSet::new(), BTreeSet::new()];
    while !is_over() {
        if !is_asked(listener)? {
            continue;
        }
        let mut asked = Asked::default();
        // SAFETY: the kernel fills in what it asks, which is as long as it wants.
        if unsafe { syscall!(Sysno::ioctl, listener.as_raw_fd(), RECEIVE, &raw mut asked) }.is_err() {
            // Who asked has ended meanwhile.
            continue;
        }
        let place = opening.iter().find(|(call, _)| call.id() == asked.call).map_or(0, |(_, place)| *place);
        let path = text_at(asked.process, asked.arguments[place]).unwrap_or_default();
        let path = own_name(&path);
        let is_missing = files.is_match(&path);
        if is_missing {
            missed.insert(path.clone());
        }
        if ["/proc", "/sys"].iter().any(|root| path.starts_with(root)) {
            all.insert(path);
        }
        let error = if is_missing { -Errno::ENOENT.into_raw() } else { 0 };
        let answer = Answer { id: asked.id, value: 0, error, flags: if is_missing { 0 } else { GO_ON } };
        // SAFETY: the kernel reads the answer, which is as long as it wants; to one who has ended
        // it says so.
        let _ = unsafe { syscall!(Sysno::ioctl, listener.as_raw_fd(), SEND, &raw const answer) };
    }
    Ok([missed, all])
}

/// Whether somebody asks, within some milliseconds.
fn is_asked(listener: &OwnedFd) -> io::Result<bool> {
    const READABLE: i16 = 1;
    #[repr(C)]
    struct Poll(i32, i16, i16);
    let (mut poll, wait) = (Poll(listener.as_raw_fd(), READABLE, 0), [0_i64, 5_000_000]);
    // SAFETY: one descriptor is waited for, for as long as the two numbers say.
    match unsafe { syscall!(Sysno::ppoll, &raw mut poll, 1, &raw const wait, 0, 0) } {
        Ok(_) => Ok(poll.2 & READABLE != 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The text that begins at an address of another process.
fn text_at(process: u32, address: u64) -> Option<String> {
    const PAGE: usize = 4096;
    let memory = File::open(format!("/proc/{process}/mem")).ok()?;
    let mut text = Vec::new();
    // What follows the page need not be there.
    while !text.contains(&0) && text.len() < 2 * PAGE {
        let at = address + text.len() as u64;
        let mut part = vec![0; PAGE - at as usize % PAGE];
        let read = memory.read_at(&mut part, at).ok().filter(|read| *read > 0)?;
        text.extend(&part[..read]);
    }
    let end = text.iter().position(|byte| *byte == 0)?;
    String::from_utf8(text[..end].to_vec()).ok()
}

/// A path that names a process by its number, as a process names its own.
fn own_name(path: &str) -> String {
    let rest = path.strip_prefix("/proc/").map(|rest| rest.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    match rest {
        Some(rest) if rest.starts_with('/') => format!("/proc/self{rest}"),
        _ => path.to_owned(),
    }
}
