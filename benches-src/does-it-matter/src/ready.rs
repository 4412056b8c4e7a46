//! Connections that wait for their next request, each of which is given to one of many threads when something has come.

use std::io;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::retry_on_intr;

/// All of them, by their numbers. epoll tells one thread of one that has something, and nobody again until it is told to.
pub struct Ready {
    epoll: OwnedFd,
    all: Mutex<Vec<Option<Arc<TcpStream>>>>,
}

const ONCE: EventFlags = EventFlags::IN.union(EventFlags::ONESHOT);

impl Ready {
    /// None yet.
    pub fn new() -> Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)?, all: Mutex::default() })
    }

    /// One more, in the place of one that has gone if there is such a place.
    #[inline]
    pub fn add(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (mut all, stream) = (self.all(), Arc::new(stream));
        let number = all.iter().position(Option::is_none).unwrap_or(all.len());
        if number == all.len() {
            all.push(None);
        }
        epoll::add(&self.epoll, &stream, EventData::new_u64(number as u64), ONCE)?;
        all[number] = Some(stream);
        Ok(())
    }

    /// Waits for one on which something has come, and lends it out. It waits again if more may come on it, and is closed otherwise.
    #[inline]
    pub fn next(&self, converse: impl FnOnce(&TcpStream) -> bool) -> Result<()> {
        let mut events = Vec::with_capacity(1);
        retry_on_intr(|| epoll::wait(&self.epoll, spare_capacity(&mut events), None))?;
        let [event] = &events[..] else { return Ok(()) };
        let data = event.data;
        let number = data.u64() as usize;
        let Some(stream) = self.all()[number].clone() else { return Ok(()) };
        if !converse(&stream) || epoll::modify(&self.epoll, &stream, data, ONCE).is_err() {
            self.all()[number] = None;
        }
        Ok(())
    }

    #[inline]
    fn all(&self) -> MutexGuard<'_, Vec<Option<Arc<TcpStream>>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
