//! Libraries that take the place of the C library's allocator in a program that was built without
//! them: the dynamic loader loads them first.

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Allocator {
    /// What loaders call it. A system has one of these, newer ones stand last.
    pub sonames: &'static [&'static str],
    /// The packages of Debian that have it, of which a release has one.
    pub packages: &'static [&'static str],
}

/// jemalloc, as FreeBSD has it.
pub const JEMALLOC: Allocator = Allocator { sonames: &["libjemalloc.so.2"], packages: &["libjemalloc2"] };

/// mimalloc, of Microsoft.
pub const MIMALLOC: Allocator =
    Allocator { sonames: &["libmimalloc.so.2", "libmimalloc.so.3"], packages: &["libmimalloc2.0", "libmimalloc3"] };

impl Allocator {
    /// All that a condition can ask for.
    pub const EVERY: [&'static Self; 2] = [&JEMALLOC, &MIMALLOC];
}
