//! What processes beside a program can do.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// On every CPU that this process may use, one never sleeps, so that no CPU goes idle.
    Spinners,
    /// On a CPU that shares its last cache with the first that this process may use, one reads
    /// through more memory than that cache holds, again and again, so that little else stays in it.
    Streamer,
}
