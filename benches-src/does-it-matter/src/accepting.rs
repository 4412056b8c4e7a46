//! How servers accept: what passes, or ails a single connection, ends none of them.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

/// How long to wait where the kernel has nothing free for another connection. Meanwhile one may
/// end.
const A_WHILE: Duration = Duration::from_millis(5);

/// Why nothing was accepted, where another connection can be.
#[derive(Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// Nobody has connected.
    Nobody,
    /// A connection was lost before it was accepted, or the call was interrupted.
    Lost,
    /// Descriptors or memory are lacking. Whoever has connected waits in the listener's queue.
    Full,
}

impl Hindrance {
    /// The hindrance behind this error; the error itself where nothing can be accepted any more.
    pub fn of(error: io::Error) -> io::Result<Self> {
        match Errno::from_io_error(&error) {
            Some(Errno::AGAIN) => Ok(Self::Nobody),
            Some(Errno::INTR | Errno::CONNABORTED | Errno::CONNRESET) => Ok(Self::Lost),
            // Linux hands on what the network has reported of a connection that waits.
            Some(Errno::PROTO | Errno::NOPROTOOPT | Errno::NONET | Errno::NETDOWN | Errno::NETUNREACH) => {
                Ok(Self::Lost)
            }
            Some(Errno::HOSTDOWN | Errno::HOSTUNREACH) => Ok(Self::Lost),
            // The last of these is epoll's, of a runtime that watches what it accepts.
            Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::NOSPC) => {
                note(&error);
                Ok(Self::Full)
            }
            _ => Err(error),
        }
    }

    /// Has the calling thread wait where that helps.
    pub fn wait(&self) {
        if *self == Self::Full {
            thread::sleep(A_WHILE);
        }
    }
}

/// Waits for a connection. An error is one that stays.
#[inline]
pub fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => return Ok(stream),
            Err(error) => Hindrance::of(error)?.wait(),
        }
    }
}

/// The same for a task of tokio's.
#[inline]
pub async fn accept_on_tokio(listener: &tokio::net::TcpListener) -> io::Result<tokio::net::TcpStream> {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Ok(stream),
            // The thread itself: a runtime that is measured has no timer, which it would look at
            // whenever it has nothing to do.
            Err(error) => Hindrance::of(error)?.wait(),
        }
        // One of the others may end and leave a descriptor.
        tokio::task::yield_now().await;
    }
}

/// Goes on without what could not be started for a connection, which is closed thereby.
#[inline]
pub fn or_close<T>(started: io::Result<T>) {
    if let Err(error) = started {
        note(&error);
    }
}

/// The first that a server of this process had to do without.
static LACKED: OnceLock<String> = OnceLock::new();

#[cold]
fn note(error: &io::Error) {
    LACKED.get_or_init(|| error.to_string());
}

/// What connections had to wait for, or were closed for, if there is such a thing.
pub fn lacked() -> Option<&'static str> {
    LACKED.get().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_from_what_stays() {
        let hindrance = |errno: Errno| Hindrance::of(errno.into()).map_err(|error| error.raw_os_error().unwrap());
        assert_eq!(hindrance(Errno::AGAIN), Ok(Hindrance::Nobody));
        for errno in [Errno::INTR, Errno::CONNABORTED, Errno::HOSTUNREACH] {
            assert_eq!(hindrance(errno), Ok(Hindrance::Lost));
        }
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM] {
            assert_eq!(hindrance(errno), Ok(Hindrance::Full));
        }
        for errno in [Errno::BADF, Errno::INVAL, Errno::PERM] {
            assert_eq!(hindrance(errno), Err(errno.raw_os_error()));
        }
        assert_eq!(lacked().map(str::to_owned), Some(io::Error::from(Errno::MFILE).to_string()));
    }
}
