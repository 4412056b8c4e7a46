//! The climb: adds one unit after the other until enough are alive, until memory runs short, or until something says no. Runs in
//! a process of its own, which dies with the one that started it; what it has reached stands in a file, so that nothing is lost
//! however it ends.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use harness::Unavailable;
use rustix::param::page_size;
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use serde::{Deserialize, Serialize};

use crate::ceilings::Needs;
use crate::counted;
use crate::machine::{Limit, Machine, Roots, memory_to_use, tasks};

/// What a climbing process is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// Where the kernel's files lie.
    pub roots: Roots,
    /// How many to add.
    pub most: u64,
    /// A soft limit of descriptors for this process alone.
    pub nofile: Option<u64>,
    /// A soft limit of threads of this user, for this process alone.
    pub nproc: Option<u64>,
    /// Mappings that are made before anything is added.
    pub occupied_mappings: u64,
    /// A control group to climb in.
    pub group: Option<PathBuf>,
    /// Who started this process, and must outlive it.
    pub parent: u32,
    /// The parameters of the units.
    pub parameters: serde_json::Value,
}

/// Why a climb came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// As many as were asked for are alive.
    Enough,
    /// A quarter of the memory is kept free, and no more than that was left.
    Memory,
    /// Adding one failed, with this number of the system's errors, if it was one.
    Refused(Option<i32>),
    /// A panic ended the process, as the standard library's own threads do when their second stack cannot be made.
    Aborted(Option<i32>),
}

/// What a climbing process uses of what can be limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Its mappings.
    pub mappings: u64,
    /// Threads of the whole system.
    pub tasks: u64,
    /// Ids that can no longer be given, because they are smaller than where the kernel begins again.
    pub ids_reserved: u64,
    /// The largest id among its threads.
    pub largest_id: u64,
    /// Its descriptors.
    pub descriptors: u64,
    /// Threads in each control group, its own first.
    pub in_groups: Vec<u64>,
    /// How often each group has refused one, or one in it was refused: see `OWN_REFUSALS`.
    pub refused_by_groups: Vec<u64>,
    /// Bytes that could still be had.
    pub memory_available: u64,
}

/// What a climbing process says when it has come to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Why it stopped.
    pub end: End,
    /// In the system's words.
    pub said: String,
    /// How many were added.
    pub added: u64,
    /// How many of them counted themselves.
    pub alive: u64,
    /// What it used before.
    pub before: Used,
    /// And when it stopped, with all of them alive.
    pub after: Used,
}

/// The file in which a climb says how far it is: the count at the beginning, the report behind it.
pub struct Ledger(File);

impl Ledger {
    const REPORT_AT: u64 = 32;

    /// Of a file of its own.
    pub fn new(file: File) -> Self {
        Self(file)
    }

    /// Notes that so many were added.
    pub fn note(&self, added: u64) -> io::Result<()> {
        self.0.write_all_at(&added.to_le_bytes(), 0)
    }

    /// Notes the end.
    pub fn report(&self, report: &Report) -> Result<()> {
        Ok(self.0.write_all_at(&serde_json::to_vec(report)?, Self::REPORT_AT)?)
    }

    /// How many were added, and the report if there is one.
    pub fn read(&self) -> Result<(u64, Option<Report>)> {
        let mut added = [0; 8];
        let length = self.0.metadata()?.len();
        if length >= 8 {
            self.0.read_exact_at(&mut added, 0)?;
        }
        let mut text = vec![0; length.saturating_sub(Self::REPORT_AT) as usize];
        self.0.read_exact_at(&mut text, Self::REPORT_AT)?;
        Ok((u64::from_le_bytes(added), serde_json::from_slice(&text).ok()))
    }
}

impl Used {
    /// What this process uses now.
    pub fn read(roots: &Roots) -> Self {
        let own = roots.proc.join("self");
        let entries = |name: &str| fs::read_dir(own.join(name)).into_iter().flatten().flatten();
        let ids = entries("task").filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
        let machine = Machine::read(roots);
        let groups = machine.pids.unwrap_or_default();
        Self {
            mappings: lines(&own.join("maps")),
            tasks: tasks(&roots.proc),
            ids_reserved: machine.ids_reserved,
            largest_id: ids.max().unwrap_or(0),
            descriptors: entries("fd").count() as u64,
            in_groups: groups.iter().map(|group| group.current).collect(),
            refused_by_groups: groups.iter().map(|group| refusals(&group.folder)).collect(),
            memory_available: machine.memory_available.known().unwrap_or(0),
        }
    }
}

/// The file of a group that counts no other group's refusals.
pub const OWN_REFUSALS: &str = "pids.events.local";

/// Counts a file's lines without room for all of it: where mappings have run out, there is none to be had.
fn lines(path: &Path) -> u64 {
    let Ok(mut file) = File::open(path) else { return 0 };
    let (mut buffer, mut lines) = ([0; 1 << 14], 0);
    while let Ok(length @ 1..) = file.read(&mut buffer) {
        lines += buffer[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    lines
}

/// How often a group has refused somebody, where it says so of itself alone: since Linux 6.11, in the second version. Elsewhere, how often
/// somebody in it was refused, by it or by one above.
fn refusals(group: &Path) -> u64 {
    let read = |name| fs::read_to_string(group.join(name));
    let events = read(OWN_REFUSALS).or_else(|_| read("pids.events")).unwrap_or_default();
    events.lines().find_map(|line| line.strip_prefix("max ")?.trim().parse().ok()).unwrap_or(0)
}

/// What a program is handed in a climbing process. Everything that it says stands in the ledger.
pub struct Climb {
    order: Order,
    ledger: Ledger,
    /// Whether a unit takes ids: then each of them is noted, and only now and then otherwise.
    takes_ids: bool,
    /// How many units are added between two looks at the memory that is left.
    stride: u64,
}

impl Climb {
    /// In this process, which has been prepared for it. `needs` are what one unit takes.
    pub(crate) fn new(order: Order, ledger: Ledger, needs: &Needs) -> Self {
        Self { order, ledger, takes_ids: needs.ids > 0, stride: 256 }
    }

    /// The same with so many units between two looks at the memory that is left, for units that take little of it.
    pub fn in_strides_of(self, stride: u64) -> Self {
        Self { stride, ..self }
    }

    /// Adds one unit after the other, each of which stays, until it may not or cannot go on.
    pub fn add_units(self, mut add: impl FnMut() -> io::Result<()>) -> Result<Top> {
        let Self { order, ledger, takes_ids, stride } = self;
        let ledger: &'static Ledger = Box::leak(Box::new(ledger));
        let reserve = Reserve::map()?;
        prepare_to_allocate();
        let before = Used::read(&order.roots);
        report_panics(order.roots.clone(), before.clone(), reserve, ledger);
        let mut added = 0;
        let (end, said) = loop {
            if added % stride == 0 && memory_to_use(&order.roots) == Limit::Of(0) {
                break (End::Memory, "no more than a quarter of the memory is free".to_owned());
            }
            if added == order.most {
                break (End::Enough, String::new());
            }
            if let Err(error) = add() {
                break (End::Refused(error.raw_os_error()), error.to_string());
            }
            added += 1;
            ADDED.store(added, Ordering::Relaxed);
            if takes_ids || added % stride == 0 {
                ledger.note(added)?;
            }
        };
        ledger.note(added)?;
        speak_once();
        Ok(Top { added, end, said, before, reserve, roots: order.roots, ledger })
    }
}

/// Where a climb came to its end, with all that were added still there.
pub struct Top {
    /// How many were added.
    pub added: u64,
    end: End,
    said: String,
    before: Used,
    reserve: Reserve,
    roots: Roots,
    ledger: &'static Ledger,
}

impl Top {
    /// Reports how many of them are alive, as counted by themselves. Nothing is taken down: the process ends, and all of them with it.
    pub fn report(self, alive: u64) -> Result<()> {
        let Self { added, end, said, before, reserve, roots, ledger } = self;
        // Nobody has left meanwhile, so everything is as it was when something said no.
        let after = reserve.read_without(&roots);
        ledger.report(&Report { end, said, added, alive, before, after })?;
        std::process::exit(0)
    }
}

/// How many have been added, for whoever panics.
static ADDED: AtomicU64 = AtomicU64::new(0);

/// A thread of the standard library that cannot have its stack for signals panics before it runs anything, where a panic ends the
/// process. What it knows then is all that anybody will know.
fn report_panics(roots: Roots, before: Used, reserve: Reserve, ledger: &'static Ledger) {
    std::panic::set_hook(Box::new(move |panic| {
        let errno = io::Error::last_os_error().raw_os_error();
        speak_once();
        let said = panic.payload_as_str().unwrap_or("a panic").to_owned();
        let added = ADDED.load(Ordering::Relaxed);
        let after = reserve.read_without(&roots);
        let report = Report { end: End::Aborted(errno), said, added, alive: counted(), before: before.clone(), after };
        let _ = ledger.report(&report);
        // Such a panic ends the process in any case, but on its way there it may come here a second time.
        std::process::abort();
    }));
}

/// Lets one thread go on to report, which then ends the process; others wait for that. Several may panic at once, while the climb
/// itself is refused.
fn speak_once() {
    const LONG_ENOUGH: Duration = Duration::from_secs(120);
    static SOMEBODY_SPEAKS: AtomicBool = AtomicBool::new(false);
    if SOMEBODY_SPEAKS.swap(true, Ordering::Relaxed) {
        // Not parked: that may take memory, and there may be none. And not for ever, whatever becomes of the one who speaks.
        std::thread::sleep(LONG_ENOUGH);
    }
}

/// Mappings that nobody needs until there are no others: to report takes memory, and memory may take a mapping.
#[derive(Clone, Copy)]
struct Reserve {
    start: usize,
}

impl Reserve {
    const MAPPINGS: u64 = 16;

    fn map() -> Result<Self> {
        Ok(Self { start: occupy(Self::MAPPINGS)? })
    }

    /// What this process uses, the reserve included, which is given back before.
    fn read_without(self, roots: &Roots) -> Used {
        let length = Self::MAPPINGS as usize * page_size();
        // SAFETY: the whole of what `map` made, which holds nothing, and which only the one who speaks gives back.
        let given_back = unsafe { libc::munmap(std::ptr::without_provenance_mut(self.start), length) } == 0;
        let used = Used::read(roots);
        Used { mappings: used.mappings + if given_back { Self::MAPPINGS } else { 0 }, ..used }
    }
}

/// The allocator keeps what it once had; where mappings have run out it gets no more, and no heap for one thread more. Each time it asks
/// for more before, it asks for so much that some is left at that moment, whoever needs it then: it is not touched until then.
fn prepare_to_allocate() {
    #[cfg(target_env = "gnu")]
    for (option, value) in [(libc::M_ARENA_MAX, 1), (libc::M_TOP_PAD, 16 << 20)] {
        // SAFETY: it takes two numbers, before there is a second thread.
        unsafe { libc::mallopt(option, value) };
    }
    drop(std::hint::black_box(Vec::<u8>::with_capacity(100 << 10)));
}

/// Makes a climbing process of this one, as it was told.
pub(crate) fn prepare(order: &Order) -> Result<()> {
    // Who started it waits for it as well, so that it only matters where both are killed.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    ensure!([order.parent, NOBODY].contains(&parent_id()), "whoever started this climb has ended");
    // An abort is expected here, and nobody wants a picture of half the memory.
    let _ = limit_softly(Resource::Core, 0);
    for (resource, soft) in [(Resource::Nofile, order.nofile), (Resource::Nproc, order.nproc)] {
        if let Some(soft) = soft {
            let refused = |error| Unavailable::because(format!("a climb may not set limits of its own here: {error}"));
            limit_softly(resource, soft).map_err(refused)?;
        }
    }
    if let Some(group) = &order.group {
        fs::write(group.join("cgroup.procs"), "0").context("a fresh control group cannot be entered")?;
    }
    if order.occupied_mappings > 0 {
        occupy(order.occupied_mappings)?;
    }
    Ok(())
}

/// What a process is told of its parent where a sandbox does not let it ask.
const NOBODY: u32 = u32::MAX;

fn limit_softly(resource: Resource, soft: u64) -> io::Result<()> {
    let limit = resources::limit(resource).ok_or_else(io::Error::last_os_error)?;
    let maximum = (limit.rlim_max != libc::RLIM_INFINITY).then_some(limit.rlim_max);
    Ok(setrlimit(resource, Rlimit { current: Some(soft), maximum })?)
}

/// Makes mappings that cannot be joined, since every other page may not be touched; where they begin.
fn occupy(mappings: u64) -> Result<usize> {
    let (length, page_bytes) = (mappings as usize * page_size(), page_size());
    // SAFETY: a new private mapping at an address of the kernel's choice overlaps nothing that anybody uses.
    let start = unsafe {
        libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    };
    if start == libc::MAP_FAILED {
        bail!("cannot occupy mappings: {}", io::Error::last_os_error());
    }
    for page in (0..mappings as usize).step_by(2) {
        // SAFETY: the page lies in the mapping just made, which nobody else knows.
        let changed = unsafe { libc::mprotect(start.byte_add(page * page_bytes), page_bytes, libc::PROT_READ) };
        ensure!(changed == 0, "cannot occupy mappings: {}", io::Error::last_os_error());
    }
    Ok(start.addr())
}
