//! A network in memory, so that nothing but the server is measured: a listener to which clients connect, streams on which each
//! client sends one line and expects it back, and a poller that says who can go on.
//!
//! A source that is asked says [`WouldBlock`] first and is ready from the next [`Network::poll`] on. Every call is counted, and
//! what a call costs can be added to each of them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;

use crate::load::Load;

/// What each client sends, and expects back.
pub const LINE: &[u8] = b"GET /one/line/of/text HTTP/1.1\r\n";

/// More sources than these are never open at once; descriptors are smaller.
pub const SOURCES: usize = crate::slots::SLOTS;

/// What can be done without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readiness(u8);

impl Readiness {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// A connection can be accepted, or bytes can be read.
    pub const READABLE: Self = Self(1);
    /// Bytes can be written.
    pub const WRITABLE: Self = Self(2);
    /// Everything.
    pub const BOTH: Self = Self(3);

    /// Whether any of the other is in this one.
    #[inline]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Either.
    #[inline]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This one but for the other.
    #[inline]
    pub fn but(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// It cannot be done now; [`Network::poll`] will say when it can.
#[derive(Debug, PartialEq, Eq)]
pub struct WouldBlock;

/// A source, and what it is ready for.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// Whose event this is.
    pub descriptor: u32,
    /// What it was told to wait for and need not any longer.
    pub readiness: Readiness,
}

impl Event {
    /// One that is worth a try.
    #[inline]
    pub fn readable(descriptor: u32) -> Self {
        Self { descriptor, readiness: Readiness::READABLE }
    }
}

/// How often each call was made, and how many requests were answered.
#[derive(Debug, Default)]
pub struct Counts {
    register: Cell<u64>,
    unregister: Cell<u64>,
    poll: Cell<u64>,
    accept: Cell<u64>,
    read: Cell<u64>,
    write: Cell<u64>,
    answered: Cell<u64>,
}

impl Counts {
    /// By name.
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        let Self { register, unregister, poll, accept, read, write, answered } = self;
        let named = [("register", register), ("unregister", unregister), ("poll", poll), ("accept", accept)];
        let named = named.into_iter().chain([("read", read), ("write", write), ("answered", answered)]);
        named.map(|(name, count)| (name, count.get())).collect()
    }
}

/// The network and its poller. What a kernel would keep is in cells, since nobody else can look meanwhile.
pub struct Network {
    sources: Box<[Source; SOURCES]>,
    /// Descriptors that are not in use.
    free: Stack<u32, SOURCES>,
    /// What the next poll says, in the order in which sources began to wait: each at most once to read and once to write.
    waiting: Stack<Event, { 2 * SOURCES }>,
    counts: Counts,
    load: Load,
}

/// A power of two in size, so that it is found by a shift.
#[repr(align(16))]
struct Source {
    registered: Cell<bool>,
    ready: Cell<Readiness>,
    /// What it said [`WouldBlock`] to since it was polled last.
    waits_for: Cell<Readiness>,
    /// Clients that are still to connect, or bytes that are still to be read.
    left: Cell<u32>,
    /// Bytes that the client has got back, as long as they were the right ones.
    answered: Cell<u32>,
}

/// As many items as there is room for, in cells.
struct Stack<T, const ROOM: usize> {
    items: [Cell<T>; ROOM],
    count: Cell<usize>,
}

impl<T: Copy, const ROOM: usize> Stack<T, ROOM> {
    #[inline]
    fn push(&self, item: T) {
        let count = self.count.get();
        self.items[count].set(item);
        self.count.set(count + 1);
    }

    #[inline]
    fn pop(&self) -> Option<T> {
        let count = self.count.get().checked_sub(1)?;
        self.count.set(count);
        Some(self.items[count].get())
    }

    fn retain(&self, keep: impl Fn(T) -> bool) {
        for item in &self.items[..self.count.replace(0)] {
            if keep(item.get()) {
                self.push(item.get());
            }
        }
    }
}

impl Network {
    /// An empty one, whose calls cost what the load says.
    pub fn new(load: Load) -> Self {
        let unused = || Source {
            registered: Cell::new(false),
            ready: Cell::new(Readiness::NONE),
            waits_for: Cell::new(Readiness::NONE),
            left: Cell::new(0),
            answered: Cell::new(0),
        };
        Self {
            sources: Box::new(std::array::from_fn(|_| unused())),
            free: Stack {
                items: std::array::from_fn(|at| Cell::new((SOURCES - 1 - at) as u32)),
                count: Cell::new(SOURCES),
            },
            waiting: Stack {
                items: [const { Cell::new(Event { descriptor: 0, readiness: Readiness::NONE }) }; _],
                count: Cell::new(0),
            },
            counts: Counts::default(),
            load,
        }
    }

    /// So far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The work that each request asks for.
    #[inline]
    pub fn work(&self) {
        self.load.work();
    }

    /// A listener to which so many clients connect.
    pub fn listen(&self, clients: u32) -> Listener<'_> {
        Listener { network: self, descriptor: self.open(clients) }
    }

    /// Waits until a source is ready, and replaces the events.
    #[inline]
    pub fn poll(&self, events: &mut Vec<Event>) {
        self.count(&self.counts.poll);
        events.clear();
        events.extend(self.waiting.items[..self.waiting.count.replace(0)].iter().map(|event| {
            let event = event.get();
            let source = self.source(event.descriptor);
            source.ready.set(source.ready.get().and(event.readiness));
            source.waits_for.set(source.waits_for.get().but(event.readiness));
            event
        }));
    }

    #[inline]
    fn register(&self, descriptor: u32) {
        self.count(&self.counts.register);
        assert!(!self.source(descriptor).registered.replace(true), "a source is registered once");
    }

    #[inline]
    fn unregister(&self, descriptor: u32) {
        self.count(&self.counts.unregister);
        let source = self.source(descriptor);
        assert!(source.registered.replace(false), "only what is registered can be unregistered");
        if source.waits_for.replace(Readiness::NONE) != Readiness::NONE {
            self.waiting.retain(|event| event.descriptor != descriptor);
        }
    }

    #[inline]
    fn count(&self, call: &Cell<u64>) {
        call.set(call.get() + 1);
        self.load.at_call();
    }

    #[inline]
    fn source(&self, descriptor: u32) -> &Source {
        &self.sources[descriptor as usize]
    }

    #[inline]
    fn open(&self, left: u32) -> u32 {
        let descriptor = self.free.pop().expect("fewer sources than there is room for");
        let source = self.source(descriptor);
        source.ready.set(Readiness::NONE);
        source.left.set(left);
        source.answered.set(0);
        descriptor
    }

    #[inline]
    fn close(&self, descriptor: u32) {
        let source = self.source(descriptor);
        assert!(!source.registered.get(), "a source is unregistered before it is closed");
        if source.answered.get() as usize == LINE.len() {
            self.counts.answered.set(self.counts.answered.get() + 1);
        }
        self.free.push(descriptor);
    }

    /// The source if it is ready; otherwise it begins to wait.
    #[inline]
    fn ready(&self, descriptor: u32, readiness: Readiness) -> Result<&Source, WouldBlock> {
        let source = self.source(descriptor);
        let (ready, waits_for) = (source.ready.get(), source.waits_for.get());
        if ready.has(readiness) {
            source.ready.set(ready.but(readiness));
            return Ok(source);
        }
        assert!(source.registered.get(), "only what is registered can wait");
        if !waits_for.has(readiness) {
            self.waiting.push(Event { descriptor, readiness });
            source.waits_for.set(waits_for.and(readiness));
        }
        Err(WouldBlock)
    }
}

/// Where clients connect.
pub struct Listener<'n> {
    network: &'n Network,
    descriptor: u32,
}

impl<'n> Listener<'n> {
    /// Its number while it is open.
    #[inline]
    pub fn descriptor(&self) -> u32 {
        self.descriptor
    }

    /// From now on polling says when a client can be accepted.
    #[inline]
    pub fn register(&self) {
        self.network.register(self.descriptor);
    }

    /// Polling says so no longer.
    #[inline]
    pub fn unregister(&self) {
        self.network.unregister(self.descriptor);
    }

    /// The next client.
    #[inline]
    pub fn accept(&self) -> Result<Stream<'n>, WouldBlock> {
        let network = self.network;
        network.count(&network.counts.accept);
        let listener = network.ready(self.descriptor, Readiness::READABLE)?;
        listener.left.set(listener.left.get().checked_sub(1).ok_or(WouldBlock)?);
        Ok(Stream { network, descriptor: network.open(LINE.len() as u32) })
    }
}

impl Drop for Listener<'_> {
    #[inline]
    fn drop(&mut self) {
        self.network.close(self.descriptor);
    }
}

/// The way to a client and back.
pub struct Stream<'n> {
    network: &'n Network,
    descriptor: u32,
}

impl<'n> Stream<'n> {
    /// Its number while it is open.
    #[inline]
    pub fn descriptor(&self) -> u32 {
        self.descriptor
    }

    /// The network that it belongs to.
    #[inline]
    pub fn network(&self) -> &'n Network {
        self.network
    }

    /// From now on polling says when bytes can be read or written.
    #[inline]
    pub fn register(&self) {
        self.network.register(self.descriptor);
    }

    /// Polling says so no longer.
    #[inline]
    pub fn unregister(&self) {
        self.network.unregister(self.descriptor);
    }

    /// Bytes from the client, and how many; none once it has sent all.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, WouldBlock> {
        self.network.count(&self.network.counts.read);
        let source = self.network.ready(self.descriptor, Readiness::READABLE)?;
        let left = source.left.get();
        let unread = &LINE[LINE.len() - left as usize..];
        let bytes = unread.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&unread[..bytes]);
        source.left.set(left - bytes as u32);
        Ok(bytes)
    }

    /// The same into memory that nobody has cleared, of which as much is written as is returned.
    #[inline]
    pub fn read_uninit(&self, buffer: &mut [MaybeUninit<u8>]) -> Result<usize, WouldBlock> {
        self.network.count(&self.network.counts.read);
        let source = self.network.ready(self.descriptor, Readiness::READABLE)?;
        let left = source.left.get();
        let unread = &LINE[LINE.len() - left as usize..];
        let bytes = unread.len().min(buffer.len());
        buffer[..bytes].write_copy_of_slice(&unread[..bytes]);
        source.left.set(left - bytes as u32);
        Ok(bytes)
    }

    /// Bytes for the client, which looks whether they are what it sent, and how many it took.
    #[inline]
    pub fn write(&self, bytes: &[u8]) -> Result<usize, WouldBlock> {
        self.network.count(&self.network.counts.write);
        let source = self.network.ready(self.descriptor, Readiness::WRITABLE)?;
        let answered = source.answered.get();
        let expected = &LINE[answered as usize..];
        let taken = expected.len().min(bytes.len());
        if bytes[..taken] == expected[..taken] {
            source.answered.set(answered + taken as u32);
        }
        Ok(taken)
    }
}

impl Drop for Stream<'_> {
    #[inline]
    fn drop(&mut self) {
        self.network.close(self.descriptor);
    }
}
