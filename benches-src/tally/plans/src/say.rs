//! What a person is told on standard error. Nobody may be there to read it: a pipe that was closed
//! is no reason to stop measuring.

use std::fmt::Arguments;
use std::io::{Write, stderr};

/// Prints a line to standard error, as `eprintln!` does, and goes on where it cannot.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// The function behind [`say!`](crate::say!).
pub fn line(words: Arguments) {
    // Whoever closed it does not want to know.
    let _ = writeln!(stderr(), "{words}");
}
